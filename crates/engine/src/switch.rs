//! The kill switch: turning it, reading it, and the check right before the first byte.
//!
//! A switch is read from the database when an attempt is written (inside the commit) and again before the first byte,
//! from a reading that is at most [`FRESH`] old. Turning it answers only after [`SETTLE`], by when every reading that
//! said "on" is too old to write on: after the answer no request leaves, on any replica.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use effectgate_core::{
    actor::Actor,
    facts,
    ids::Tenant,
    journal::EntryKind,
    notice::{Alert, Notice, NoticeKind},
    switch::{Applies, Receipt, Scope, Switch},
    time::Timestamp,
};
use effectgate_store::HouseWrite;
use tokio::time::Instant;

use crate::{
    connect::WriteGate,
    engine::{Engine, off},
    error::{EngineError, Result},
    probe::{Guard, is_broken},
    pulse::{Topic, Touched},
};

/// How old a reading may be when the first byte is written.
const FRESH: Duration = Duration::from_millis(50);
/// How long a turn waits before it answers: a reading's age plus ample time between the check and the write.
const SETTLE: Duration = Duration::from_millis(250);
/// How long a reading may be under way to be gone by: less than a turn waits, with the same time as [`FRESH`] left between
/// the check and the write. A database that takes longer is as good as unreadable, and unreadable means off.
const UNDER_WAY_MAX: Duration = SETTLE.saturating_sub(FRESH);
/// Readings of one check, if they take too long. The attempt is held back after that, and comes again.
const READS_MAX: usize = 3;

/// The last reading, shared by the attempts of this process.
#[derive(Default)]
pub struct Cache(Mutex<Option<(Instant, Vec<Switch>)>>);

impl Cache {
    fn fresh(&self) -> Option<Vec<Switch>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, list)| list.clone())
    }

    fn put(&self, at: Instant, list: Vec<Switch>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, list));
    }

    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A turn of a switch.
#[derive(Debug, Clone)]
pub struct Turn {
    pub scope: Scope,
    pub name: String,
    pub enabled: bool,
    pub reason: String,
}

/// A turn that was made.
#[derive(Debug, Clone)]
pub struct Turned {
    /// The switches as they stand after it, the ceiling included.
    pub switches: Vec<Switch>,
    pub receipt: Receipt,
    /// The number of the receipt's entry in the house chain.
    pub entry: i64,
}

impl Engine {
    /// Turns a switch and says what stood where at that moment.
    ///
    /// Guarantees: after this has answered "off" no new request leaves for the scope. Journalled in the house chain, and
    /// so is the receipt, in an entry of its own.
    ///
    /// # Errors
    /// No reason, a name where the scope has none (or none where it has), the store.
    pub async fn turn_switch(&self, tenant: &Tenant, actor: &Actor, turn: &Turn) -> Result<Turned> {
        if turn.reason.trim().is_empty() {
            return Err(EngineError::ReasonRequired);
        }
        self.check_scope(turn.scope, &turn.name)?;
        let (seq, receipt) = self.commit_turn(tenant, actor, turn).await?;
        self.inner().switches.clear();
        self.tell_pages(&Touched::of(tenant, Topic::Switches));
        if turn.enabled {
            self.nudges().after_commit(true, true);
        } else {
            tokio::time::sleep(SETTLE).await;
        }
        let entry = self.note_receipt(tenant, actor, seq, turn, &receipt).await?;
        Ok(Turned { switches: self.switches_in_force().await, receipt, entry })
    }

    /// A switch nobody can mean is a typing error: it would hold nothing back.
    pub(crate) fn check_scope(&self, scope: Scope, name: &str) -> Result<()> {
        let policy = self.policy();
        let known = match scope {
            Scope::All => name.is_empty(),
            Scope::Tenant => !name.is_empty(),
            Scope::Flow => policy.flows.contains_key(name),
            Scope::Provider => policy.providers.contains_key(name),
            Scope::EffectType => policy.flows.values().any(|f| f.effects.contains_key(name)),
        };
        if known {
            return Ok(());
        }
        let detail = format!("there is no {} of the name {name:?} here", scope.as_str());
        Err(EngineError::BadMember { pointer: "/name".into(), detail })
    }

    async fn commit_turn(&self, tenant: &Tenant, actor: &Actor, turn: &Turn) -> Result<(i64, Receipt)> {
        let facts = facts! { "scope" => turn.scope.as_str(), "name" => turn.name, "enabled" => turn.enabled,
        "reason" => turn.reason };
        let word = if turn.enabled { "on" } else { "off" };
        let detail = format!("{} {} turned {word} by {actor}: {}", turn.scope.as_str(), turn.name, turn.reason);
        let fill = |write: &mut HouseWrite| {
            let (seq, now) = (write.head.seq, self.now());
            let kind = NoticeKind::Alert { alert: Alert::Switch, detail: detail.clone() };
            write.notices.push(Notice::new(seq, 0, kind, format!("switch:{seq}"), now));
            write.switch = Some(Switch {
                scope: turn.scope,
                name: turn.name.clone(),
                enabled: turn.enabled || is_broken(Guard::Switch),
                reason: turn.reason.clone(),
                by: actor.to_string(),
                at: now,
            });
        };
        let (seq, receipt) = self.house_entry(tenant, actor, EntryKind::SwitchTurned, &facts, fill).await?;
        Ok((seq, receipt.unwrap_or_default()))
    }

    /// The counts are made in the turn's own transaction, after its entry was sealed: they are the next entry's.
    async fn note_receipt(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        turned: i64,
        turn: &Turn,
        receipt: &Receipt,
    ) -> Result<i64> {
        let facts = facts! { "turned" => turned, "scope" => turn.scope.as_str(), "name" => turn.name,
        "enabled" => turn.enabled, "reason" => turn.reason, "queued" => receipt.queued,
        "scheduled" => receipt.scheduled, "leased" => receipt.leased, "in_flight" => receipt.in_flight,
        "awaiting" => receipt.awaiting };
        Ok(self.house_entry(tenant, actor, EntryKind::SwitchReceipt, &facts, |_| {}).await?.0)
    }

    /// The switches as they stand, the ceiling included.
    pub async fn switches(&self) -> Vec<Switch> {
        self.switches_in_force().await
    }

    /// The switches for the check before the first byte: from a reading that is fresh, or from one made now that was not
    /// under way for too long. A turn may have been made and answered while it was.
    async fn switches_now(&self) -> Vec<Switch> {
        if let Some(list) = self.inner().switches.fresh() {
            return list;
        }
        for _ in 0..READS_MAX {
            let asked_at = Instant::now();
            let list = self.switches_in_force().await;
            if asked_at.elapsed() < UNDER_WAY_MAX {
                self.inner().switches.put(asked_at, list.clone());
                return list;
            }
        }
        vec![off("the switches could not be read in time".into(), self.now())]
    }
}

/// The question before the first byte of one effect: is a switch off, and does the attempt still have its time? One
/// that stood still for longer than an attempt may take (a suspended machine, a lookup of a name that hung) may have
/// been given up meanwhile, and a person may have been told that nothing was sent.
pub(crate) struct Gate {
    engine: Engine,
    applies: Applies,
    /// Until when the first byte may leave, by the clock of the engine and by one that nobody sets.
    until: (Timestamp, Instant),
    opened: AtomicBool,
}

impl Gate {
    /// The gate of an attempt that started at `started_at` and may take `attempt_ms_max` in all.
    pub(crate) fn new(engine: Engine, applies: Applies, started_at: Timestamp, attempt_ms_max: i64) -> Self {
        let longest = Duration::from_millis(u64::try_from(attempt_ms_max).unwrap_or(0));
        let until = (started_at.plus_ms(attempt_ms_max), Instant::now() + longest);
        Self { engine, applies, until, opened: AtomicBool::new(false) }
    }

    fn is_late(&self) -> bool {
        self.engine.now() > self.until.0 || Instant::now() > self.until.1
    }

    /// True once a connector was told that it may write. Until then nothing can have left.
    pub(crate) fn was_opened(&self) -> bool {
        self.opened.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl WriteGate for Gate {
    async fn may_write(&self) -> std::result::Result<(), String> {
        crate::probe::at("dispatch.before_write").await;
        match self.applies.stopped_by(&self.engine.switches_now().await) {
            Some(_) => Err("switch_off".into()),
            None if self.is_late() => Err("too_late".into()),
            None => {
                self.opened.store(true, Ordering::SeqCst);
                Ok(())
            }
        }
    }
}
