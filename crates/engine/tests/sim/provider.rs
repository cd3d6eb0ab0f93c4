//! The scripted provider: what it does with an attempt is dealt by the attempt's name; what it executed is the truth that
//! the auditor goes by. Enforcing: a known key is answered again within its window, and executed anew after it. It lives
//! by the true time, the gate by the wall clock.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::{Answer, Phase, Report},
    provider::Class,
    retry::{Look, Success},
    time::Timestamp,
};
use effectgate_engine::{clock::Clock as _, connect::WriteGate, connector::Connector, view::FindingView};
use tokio::sync::Notify;

use crate::{
    broken::Broken,
    common::TestClock,
    crash::Crash,
    dice::Dice,
    history::{Arrival, Event, History},
};

/// What the wire and the provider do with one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Fine,
    Refuse,
    RateLimit,
    Unreachable,
    AnswerLost,
    /// 500, having executed or not.
    Broken {
        executed: bool,
    },
    /// The process stands still before the check of the switch; it may go on much later, or never.
    StallBeforeWrite,
    /// The same between execution and answer.
    StallAfterWrite,
    /// The connector panics, before or after its write.
    Panic {
        executed: bool,
    },
}

/// Each fate at least once, the likely ones more often. Attempts of one key step through it by 7, which no factor of 18
/// divides: a key that is tried again meets another fate.
const DECK: [Fate; 18] = [
    Fate::Fine,
    Fate::Fine,
    Fate::Fine,
    Fate::Fine,
    Fate::Refuse,
    Fate::RateLimit,
    Fate::Unreachable,
    Fate::Unreachable,
    Fate::AnswerLost,
    Fate::AnswerLost,
    Fate::Broken { executed: true },
    Fate::Broken { executed: false },
    Fate::StallBeforeWrite,
    Fate::StallBeforeWrite,
    Fate::StallAfterWrite,
    Fate::StallAfterWrite,
    Fate::Panic { executed: true },
    Fate::Panic { executed: false },
];

#[derive(Default)]
pub struct Ledger {
    /// When each key was executed, by the true time.
    executed: BTreeMap<String, Vec<Timestamp>>,
    pub fates: BTreeMap<String, usize>,
    /// The seat of each key, in the order of their first attempts, and its attempts until now.
    attempts: BTreeMap<String, (usize, usize)>,
    looks: u64,
    healthy: bool,
}

/// One provider with all that it shares with the world.
#[derive(Clone)]
pub struct SimProvider {
    pub ledger: Arc<Mutex<Ledger>>,
    class: Class,
    dice: Dice,
    deck: [Fate; 18],
    true_time: TestClock,
    history: History,
    crash: Crash,
    broken: Option<Broken>,
    go_on: Arc<Notify>,
}

/// The provider's index shows an execution after this; below the settle delay that is configured.
pub const LAG_MS: i64 = 95_000;

impl SimProvider {
    pub fn new(
        class: Class,
        dice: &Dice,
        true_time: TestClock,
        history: History,
        crash: Crash,
        broken: Option<Broken>,
    ) -> Self {
        let (deck, dice) = (dice.named("fates").shuffled(DECK), dice.named("looks"));
        let (ledger, go_on) = (Arc::default(), Arc::default());
        Self { ledger, class, dice, deck, true_time, history, crash, broken, go_on }
    }

    /// From now on every attempt is answered, and what stood still goes on.
    pub fn heal(&self) {
        self.ledger.lock().unwrap().healthy = true;
        self.go_on();
    }

    /// Lets everything that stands still go on.
    pub fn go_on(&self) {
        self.go_on.notify_waiters();
    }

    pub fn executed(&self, key: &str) -> usize {
        self.ledger.lock().unwrap().executed.get(key).map_or(0, Vec::len)
    }

    /// What becomes of the next attempt of a key. Fates are dealt from a shuffled deck and not thrown: a throw leaves one
    /// out now and then, and a simulation in which a fate never struck proves nothing about it.
    pub fn fate(&self, key: &str) -> Fate {
        let mut ledger = self.ledger.lock().unwrap();
        if ledger.healthy {
            return Fate::Fine;
        }
        let seat = ledger.attempts.len();
        let (seat, n) = ledger.attempts.entry(key.to_owned()).or_insert((seat, 0));
        let card = *seat + 7 * *n;
        *n += 1;
        let fate = self.deck[card % self.deck.len()];
        *ledger.fates.entry(format!("{fate:?}")).or_default() += 1;
        fate
    }

    /// A request arrives. True if the provider knew the key and did nothing anew.
    pub fn arrives(&self, mut arrival: Arrival, executes: bool) -> bool {
        let now = self.true_time.now();
        let mut ledger = self.ledger.lock().unwrap();
        let done = ledger.executed.entry(arrival.provider_key.clone()).or_default();
        let known = match (self.class, done.last()) {
            (Class::Enforcing { key_window_ms, .. }, Some(last)) => now.ms_since(*last) < key_window_ms,
            _ => false,
        };
        arrival.executed = executes && !known;
        if arrival.executed {
            done.push(now);
        }
        self.history.push(Event::Arrived(arrival));
        known
    }

    async fn stall(&self) {
        self.go_on.notified().await;
    }

    fn what_it_says_now(&self, effect: &Effect) -> Look {
        let now = self.true_time.now();
        let mut ledger = self.ledger.lock().unwrap();
        ledger.looks += 1;
        let done = ledger.executed.get(&effect.provider_key).map_or(&[][..], Vec::as_slice);
        let seen = done.iter().filter(|at| now.ms_since(**at) >= LAG_MS).count();
        if !ledger.healthy && self.dice.named(("away", ledger.looks)).one_in(4) {
            return Look::Nothing { detail: "503".into() };
        }
        match seen {
            0 => Look::Absent,
            1 => Look::Found { external_id: Some(format!("ext_{}", effect.provider_key)) },
            count => Look::FoundMany { count },
        }
    }
}

/// The request of an attempt by the dispatcher.
fn arrival(effect: &Effect) -> Arrival {
    Arrival {
        effect: effect.id,
        provider_key: effect.provider_key.clone(),
        payload: effect.payload.clone(),
        fence: effect.fence,
        inline: false,
        executed: false,
    }
}

fn answered(status: u16, key: &str) -> Report {
    let body = format!(r#"{{"id":"ext_{key}"}}"#).into_bytes();
    let answer = Answer { status, retry_after: None, body, body_complete: true, replayed: false };
    Report { phase: Phase::Answered, bytes_sent: 100, answer: Some(answer), error: None, handle: None }
}

fn lost() -> Report {
    Report { phase: Phase::Request, bytes_sent: 100, answer: None, error: Some("reset".into()), handle: None }
}

#[async_trait]
impl Connector for SimProvider {
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        let key = effect.provider_key.as_str();
        let fate = self.fate(key);
        match fate {
            Fate::Unreachable => return Report::not_sent(Phase::Connect, "connection refused"),
            Fate::Panic { executed: false } => panic!("simulated"),
            Fate::StallBeforeWrite => self.stall().await,
            _ => {}
        }
        if let Err(reason) = gate.may_write().await {
            return Report::not_sent(Phase::Prepared, reason);
        }
        let mut arrival = arrival(effect);
        if self.broken == Some(Broken::Bytes) {
            arrival.payload.push(' ');
        }
        let executes = !matches!(fate, Fate::Refuse | Fate::RateLimit | Fate::Broken { executed: false });
        // From the gate's word to the first byte nobody else has a turn.
        self.crash.at("wire", "before").await;
        let known = self.arrives(arrival, executes);
        self.crash.at("wire", "after").await;
        match fate {
            Fate::Panic { .. } => panic!("simulated, on the wire"),
            Fate::AnswerLost if self.broken == Some(Broken::Outcome) => Report::not_sent(Phase::Connect, "reset"),
            Fate::AnswerLost => lost(),
            Fate::StallAfterWrite => {
                self.stall().await;
                answered(200, key)
            }
            _ if known => answered(200, key),
            Fate::Refuse => answered(400, key),
            Fate::RateLimit => answered(429, key),
            Fate::Broken { .. } => answered(500, key),
            _ => answered(200, key),
        }
    }

    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: Some("/id".into()), member: None }
    }

    /// What it says is true when it is asked; the answer may be long under way.
    async fn look(&self, effect: &Effect) -> Look {
        let said = self.what_it_says_now(effect);
        let (is_slow, looks) = {
            let ledger = self.ledger.lock().unwrap();
            (!ledger.healthy, ledger.looks)
        };
        if is_slow && self.dice.named(("slow", looks)).one_in(3) {
            self.stall().await;
        }
        said
    }

    fn check(&self, _: &EffectType, _: &str, _: &serde_json::Value) -> Vec<FindingView> {
        Vec::new()
    }
}
