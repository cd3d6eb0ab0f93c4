//! What happened so far: counts, the last log lines, and a signal at each change.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::{broadcast, watch};

use crate::{By, Counts, Fault, LogLine, Outcome, limits, log};

pub(crate) struct Record {
    started: Instant,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
    lines: broadcast::Sender<LogLine>,
}

#[derive(Default)]
struct Inner {
    counts: Counts,
    log: VecDeque<LogLine>,
}

/// One exchange while it goes on. What it has come to is written down by [`Record::end`].
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) number: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fault: Fault,
    pub(crate) by: By,
    pub(crate) status: Option<u16>,
    pub(crate) second_status: Option<u16>,
    pub(crate) request_bytes: u64,
    pub(crate) answer_bytes: u64,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            inner: Mutex::default(),
            changed: watch::Sender::new(0),
            lines: broadcast::Sender::new(limits::LOG_LINES_MAX),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts.clone()
    }

    pub(crate) fn log(&self) -> Vec<LogLine> {
        self.lock().log.iter().cloned().collect()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn lines(&self) -> broadcast::Receiver<LogLine> {
        self.lines.subscribe()
    }

    /// Begins an exchange.
    pub(crate) fn begin(&self, method: &str, target: &str, fault: Fault, by: By) -> Exchange {
        let number = self.count(|counts| {
            counts.seen += 1;
            *counts.faults.entry(fault.word().to_owned()).or_default() += 1;
            counts.seen
        });
        Exchange {
            number,
            method: method.chars().take(limits::PATH_CHARS_MAX).collect(),
            path: log::path_of(target),
            fault,
            by,
            status: None,
            second_status: None,
            request_bytes: 0,
            answer_bytes: 0,
        }
    }

    /// Counts a request whose last byte was written to the upstream.
    pub(crate) fn forwarded(&self) {
        self.count(|counts| counts.forwarded += 1);
    }

    /// Ends an exchange. Called before the caller can see its end, so that whoever saw it finds it counted.
    pub(crate) fn end(&self, exchange: Exchange, outcome: Outcome) {
        let Exchange { number, method, path, fault, by, status, second_status, request_bytes, answer_bytes } = exchange;
        let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = LogLine {
            number,
            at_ms,
            method,
            path,
            fault,
            by,
            outcome,
            status,
            second_status,
            request_bytes,
            answer_bytes,
        };
        {
            let mut inner = self.lock();
            inner.counts.ended(outcome);
            if inner.log.len() == limits::LOG_LINES_MAX {
                inner.log.pop_front();
            }
            inner.log.push_back(line.clone());
        }
        // Nobody may be listening.
        let _ = self.lines.send(line);
        self.changed.send_modify(|n| *n += 1);
    }

    fn count<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> T {
        let out = change(&mut self.lock().counts);
        self.changed.send_modify(|n| *n += 1);
        out
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn ended(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Answered => self.answered += 1,
            Outcome::Duplicated => {
                self.answered += 1;
                self.duplicated += 1;
            }
            Outcome::Dropped => self.dropped += 1,
            Outcome::KeptBack => self.kept_back += 1,
            Outcome::UpstreamUnreachable | Outcome::UpstreamCut => self.upstream_failed += 1,
            Outcome::Refused | Outcome::CallerGone => {}
        }
    }
}
