//! One world: a provider, one or two processes of the product on one SQLite file, time, and what people and workers hold
//! in their hands. Here is what moves all of it: time passing, clocks set, crashes, restarts. Who does what stands in
//! [`workers`](crate::workers), [`people`](crate::people) and [`plan`](crate::plan).

use std::sync::Arc;

use effectgate_core::{
    flow::Retention,
    gate::Gate,
    ids::{Fence, FlowName, Owner, RunId, Tenant},
    provider::{Class, Lookup},
    retry::Backoff,
    run::Aggregate,
    switch::Scope,
    transition::Transition,
};
use effectgate_engine::{Caller, Engine, call::LeaseCall, clock::Clock as _};
use effectgate_store::Store as _;

use crate::{
    broken::Broken,
    common::{self, HOUR, Held, Options, TestClock},
    crash::Crash,
    dice::Dice,
    file::File,
    history::{Event, History},
    ledger::Ledger,
    provider::SimProvider,
    replica::Replica,
    tap::Tap,
};

/// Events of one world. Few, so that everybody meets everybody.
pub const KEYS: usize = 3;
/// Of so many deaths of a process one is a power cut: all processes die, and the file is opened anew.
const POWER_CUT: usize = 4;

pub struct World {
    pub dice: Dice,
    pub history: History,
    pub provider: SimProvider,
    pub caller: Caller,
    pub crash: Crash,
    pub broken: Option<Broken>,
    /// Leases that workers believe in, the newest last.
    pub held: Vec<Held>,
    /// What somebody decided on an old reading and has not written yet.
    pub stale: Vec<Transition>,
    pub off: Option<(Scope, &'static str)>,
    pub replicas: Vec<Replica>,
    pub tap: Arc<Tap>,
    options: Options,
    /// The gate's wall clock: the true time and an error that jumps.
    wall: TestClock,
    true_time: TestClock,
    skew_ms: i64,
    skew_ms_max: i64,
    /// What is known from the first `seen` events.
    ledger: Ledger,
    seen: usize,
    pub file: File,
}

impl World {
    /// A world of its own tenant on a file that other worlds may have used before it, one after the other.
    pub fn new(seed: u64, broken: Option<Broken>, file: File) -> Self {
        let mut dice = Dice::new(seed);
        let (class, lookup, skew_ms_max) = kind(&mut dice);
        let (wall, true_time) = (file.wall.clone(), TestClock::new());
        true_time.set(wall.now());
        let (history, crash) = (History::default(), Crash::default());
        let provider = SimProvider::new(class, &dice, true_time.clone(), history.clone(), crash.clone(), broken);
        let tap = Tap::new(wall.clone(), dice.named("turns"), history.clone(), crash.clone(), broken);
        let mut world = Self {
            options: options(class, lookup, &provider),
            caller: Caller { tenant: Tenant::new(format!("t{seed}")), api_key: "n8n".into() },
            held: Vec::new(),
            stale: Vec::new(),
            off: None,
            replicas: Vec::new(),
            tap: Arc::new(tap),
            skew_ms: 0,
            ledger: Ledger::default(),
            seen: 0,
            file,
            dice,
            history,
            provider,
            crash,
            broken,
            wall,
            true_time,
            skew_ms_max,
        };
        world.tap.put(world.file.store());
        let processes = 1 + world.dice.below(2);
        (0..processes).for_each(|_| world.start());
        world
    }

    fn start(&mut self) {
        let policy = common::policy(&self.options, &common::Scripted::default());
        let replica = Replica::start(self.tap.clone(), policy, self.wall.clone(), self.crash.clone());
        self.replicas.push(replica);
    }

    /// A world in which a worker has queued one note, and nothing else has happened.
    pub fn with_one_queued(seed: u64) -> Self {
        let mut world = Self::new(seed, None, File::new());
        let (caller, request) = (world.caller.clone(), common::request("k0", common::PAYLOAD, "w0"));
        let answer = world.run(async |engine| engine.reserve(&caller, request).await.unwrap());
        let Some(effectgate_engine::reserve::Reserved::Granted { run, lease, .. }) = answer else {
            panic!("{answer:?}")
        };
        let held = Held { run: *run, lease };
        let call = world.call(&held, "proposal", "one");
        let effects = common::asked(&[("note", "c-1", "{}")]);
        world.run(async |engine| engine.propose(&call, &effects).await.unwrap());
        world
    }

    /// Does something in one of the processes. `None` if that process died of it.
    pub fn run<T>(&mut self, work: impl AsyncFnOnce(&Engine) -> T) -> Option<T> {
        let n = self.dice.below(self.replicas.len());
        let done = self.replicas[n].run(work);
        let struck = self.crash.take();
        if struck {
            self.die(n);
        }
        done.filter(|_| !struck)
    }

    /// One process dies, or the power is cut for all of them and the file is opened again.
    pub fn die(&mut self, n: usize) {
        let count = self.replicas.len();
        if !self.dice.one_in(POWER_CUT) {
            drop(self.replicas.remove(n));
            self.start();
            return;
        }
        self.replicas.clear();
        self.tap.let_go();
        self.file.cut_the_power();
        self.tap.put(self.file.store());
        (0..count).for_each(|_| self.start());
        self.note_what_is_there();
    }

    /// What a restart finds.
    pub fn note_what_is_there(&mut self) {
        for agg in self.read_the_file() {
            self.history.push(Event::Found { agg });
        }
    }

    /// Time passes, for everybody.
    pub fn elapse(&mut self, ms: i64) {
        self.wall.advance_ms(ms);
        self.true_time.advance_ms(ms);
        for n in 0..self.replicas.len() {
            if self.replicas[n].elapse(ms).is_none() || self.crash.take() {
                return self.die(n);
            }
        }
    }

    /// The gate's wall clock is set, forward or back; true time goes on as it did. By how much it may be wrong in all is
    /// a condition of the guarantees: less than the provider's margin, or than what the settle delay leaves over the lag.
    pub fn set_the_clock(&mut self) {
        let bound = usize::try_from(self.skew_ms_max).unwrap();
        let skew_ms = i64::try_from(self.dice.below(2 * bound)).unwrap() - self.skew_ms_max;
        self.set_to(skew_ms);
    }

    /// No clock was ever ahead of it: the store's, which never runs back, stands still no more.
    pub fn set_the_clock_ahead(&mut self) {
        self.set_to(self.skew_ms_max);
    }

    fn set_to(&mut self, skew_ms: i64) {
        self.wall.advance_ms(skew_ms - self.skew_ms);
        self.skew_ms = skew_ms;
    }

    /// Everything that is in the background has some turns, here more, there fewer.
    pub fn turns(&mut self, n: usize) {
        for place in 0..self.replicas.len() {
            if self.replicas[place].turns(n).is_none() || self.crash.take() {
                return self.die(place);
            }
        }
    }

    pub fn id_of(&self, n: usize) -> RunId {
        RunId::derive(&self.caller.tenant, &FlowName::new("ticket"), &format!("k{n}"))
    }

    /// Every run as the last commit left it. From the history, because a look by everybody at everything would be most of
    /// what a world does.
    pub fn runs(&mut self) -> Vec<Aggregate> {
        let events = self.history.events();
        events[self.seen..].iter().for_each(|event| self.ledger.apply(event));
        self.seen = events.len();
        let now = self.wall.now();
        self.ledger.rows.values().map(|row| row.aggregate(now)).collect()
    }

    /// Every run as it lies in the file.
    fn read_the_file(&mut self) -> Vec<Aggregate> {
        let ids: Vec<RunId> = (0..KEYS).map(|n| self.id_of(n)).collect();
        let (tap, tenant) = (self.tap.clone(), self.caller.tenant.clone());
        let found = self.run(async |_| {
            let mut runs = Vec::new();
            for id in ids {
                runs.extend(tap.run_load(&tenant, id).await.unwrap());
            }
            runs
        });
        found.unwrap_or_default()
    }

    pub fn call(&self, held: &Held, operation: &str, body: &str) -> LeaseCall {
        let (owner, fence) = (Owner::new(held.lease.owner.clone()), Fence(held.lease.fence));
        LeaseCall::new(self.caller.tenant.clone(), held.run.id, owner, fence, operation, body.as_bytes())
    }
}

/// The provider of a world, and by how much the wall clock may be wrong: what an enforcing one's margin (1 h) and an
/// authoritative lookup's settle delay (120 s, over a lag of 95 s) leave room for.
fn kind(dice: &mut Dice) -> (Class, Option<Lookup>, i64) {
    let lookup = |authoritative| Some(Lookup { settle_delay_ms: 120_000, authoritative, period_ms: 5_000 });
    let enforcing = Class::Enforcing { key_window_ms: 24 * HOUR, margin_ms: HOUR };
    let kinds = [
        (Class::Advisory, None, 3 * HOUR),
        (enforcing, None, 25 * 60_000),
        (Class::Advisory, lookup(true), 10_000),
        (enforcing, lookup(false), 25 * 60_000),
    ];
    *dice.pick(&kinds)
}

fn options(class: Class, lookup: Option<Lookup>, provider: &SimProvider) -> Options {
    Options {
        class,
        lookup,
        mail_gate: Some(Gate::Approve),
        connector: Some(Arc::new(provider.clone())),
        connector_of_mail: Some(Arc::new(provider.clone())),
        claims_max: 40,
        // So short that the jitter, which no seed fixes, comes to nothing.
        backoff: Backoff { base_ms: 2, max_ms: 2 },
        retention: Retention { content_days: 3_650, key_days: 3_650, journal_days: 3_650 },
        ..Options::default()
    }
}
