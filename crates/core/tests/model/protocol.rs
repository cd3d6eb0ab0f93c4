//! The protocol around core's moves, as a transition system: workers that hold grants and write late, people who decide on
//! what they saw, attempts on the wire, a provider with a memory, the switch, time that runs out, crashes at every step.
//! A read and the write that follows from it are two steps; the store's promise (compare-and-set on the journal's length,
//! guards judged at the write) stands in [`State::commit`], and the broken variants take a piece out of it.

use stateright::{Model, Property};

use crate::moves::{Answer, ApprovalWord, Eff, Guard, Key, Move, Run, Sent, Step, Word, step};

/// Which piece of the protocol is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Broken {
    /// Commits do not ask for the lease, nor whether the row is as it was read.
    NoFence,
    /// The attempt is written after the call.
    AttemptAfterCall,
    /// Is the key there? No? Then it is inserted, in two steps.
    CheckThenInsert,
    /// What is unknown goes back to pending.
    UnknownResent,
    /// A decision is committed whether or not the approval is still open.
    TokenTwice,
}

/// What is checked, over how many keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Protocol {
    pub(crate) keys: usize,
    pub(crate) enforcing: bool,
    pub(crate) broken: Option<Broken>,
    /// Attempts of one effect that are gone through, a person's included.
    pub(crate) sends: u8,
}

/// Somebody who has read a key and will write what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Pending {
    key: u8,
    what: Move,
    read: Key,
    /// The row's journal has not grown since.
    fresh: bool,
}

/// An attempt in a dispatcher's hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wire {
    fence: u8,
    written: bool,
}

/// A worker's belief that it owns a key. `live`: its lease has not run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Belief {
    key: u8,
    fence: u8,
    live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct One {
    row: Key,
    wires: [Option<Wire>; 2],
    /// What the provider did, and whether it still knows the key.
    executed: u8,
    remembers: bool,
    /// Decisions that went through.
    decisions: u8,
    /// Who looked whether the key is there, and saw that it was not.
    absent_for: [bool; 2],
}

/// Guarantees by number, as bits: those that have fallen.
type Fallen = u16;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    keys: Vec<One>,
    beliefs: [Option<Belief>; 2],
    worker: Option<Pending>,
    people: [Option<Pending>; 2],
    switch_on: bool,
    fallen: Fallen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// A worker reserves; `hears`: the answer arrives.
    Reserve {
        worker: u8,
        key: u8,
        hears: bool,
    },
    LooksForKey {
        worker: u8,
        key: u8,
    },
    Inserts {
        worker: u8,
        key: u8,
    },
    WorkerReads {
        worker: u8,
        what: WorkerMove,
    },
    WorkerWrites,
    PersonReads {
        person: u8,
        key: u8,
        approves: bool,
    },
    PersonClicks {
        person: u8,
    },
    LeaseRunsOut {
        key: u8,
    },
    Sweep {
        key: u8,
    },
    ApprovalExpires {
        key: u8,
    },
    Claim {
        key: u8,
    },
    Write {
        key: u8,
        place: u8,
        refused: bool,
    },
    Answered {
        key: u8,
        place: u8,
        class: Answer,
    },
    DispatcherDies {
        key: u8,
        place: u8,
    },
    SendingRunsOut {
        key: u8,
    },
    SendingExpires {
        key: u8,
    },
    Reconcile {
        key: u8,
    },
    WindowEnds {
        key: u8,
    },
    ProviderForgets {
        key: u8,
    },
    Resolve {
        key: u8,
        how: Word,
    },
    Switch {
        on: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WorkerMove {
    Propose,
    Complete,
    Fail,
}

impl WorkerMove {
    const fn of(self, worker: u8, fence: u8) -> Move {
        match self {
            Self::Propose => Move::Propose { worker, fence },
            Self::Complete => Move::Complete { worker, fence },
            Self::Fail => Move::Fail { worker, fence },
        }
    }
}

const fn bit(guarantee: u8) -> Fallen {
    1 << guarantee
}

impl State {
    fn one(&mut self, key: u8) -> &mut One {
        &mut self.keys[usize::from(key)]
    }

    fn row(&self, key: u8) -> Key {
        self.keys[usize::from(key)].row
    }

    fn falls(&mut self, guarantee: u8, has_fallen: bool) {
        if has_fallen {
            self.fallen |= bit(guarantee);
        }
    }

    /// The store: all or nothing, if the row is as it was read and the guard holds now. True if it was written.
    fn commit(&mut self, protocol: Protocol, key: u8, fresh: bool, what: Move, made: Step) -> bool {
        let row = self.row(key);
        let decides = matches!(what, Move::Decide { .. });
        let asks_nothing = match protocol.broken {
            Some(Broken::NoFence) => true,
            Some(Broken::TokenTwice) => decides,
            _ => false,
        };
        let guarded = match made.guard {
            Guard::Nothing => true,
            Guard::LeaseLives { worker, fence } => {
                row.run == Run::Processing && row.lease_lives && (row.owner, row.fence) == (worker, fence)
            }
            Guard::LeaseFree => row.run != Run::Processing || !row.lease_lives,
            Guard::SendingLives { fence } => {
                row.effect == Eff::Sending && row.sending_lives && row.effect_fence == fence
            }
            Guard::SendingOver { fence } => {
                row.effect == Eff::Sending && !row.sending_lives && row.effect_fence == fence
            }
        };
        if !asks_nothing && (!fresh || !guarded || (made.switched && !self.switch_on)) {
            return false;
        }
        self.watch(key, row, made, what);
        let mut after = made.after;
        if protocol.broken == Some(Broken::UnknownResent) && matches!(after.effect, Eff::Unknown | Eff::Review) {
            (after.effect, after.in_doubt) = (Eff::Pending, false);
        }
        self.put(protocol, key, after);
        true
    }

    /// Every change is noticed by all who have read: what they would write is lost by compare-and-set, so it may as well
    /// be dropped at once. Where a variant writes it all the same it is kept.
    fn put(&mut self, protocol: Protocol, key: u8, row: Key) {
        let before = self.row(key);
        self.one(key).row = row;
        if row.run != Run::Processing {
            // Given back with the write that ended the work.
            let holders = self.beliefs.iter_mut().flatten();
            holders.filter(|b| b.key == key && b.fence == before.fence).for_each(|b| b.live = false);
        }
        let keeps = matches!(protocol.broken, Some(Broken::NoFence | Broken::TokenTwice));
        for pending in self.people.iter_mut().chain([&mut self.worker]) {
            match pending {
                Some(p) if p.key == key && keeps => p.fresh = false,
                Some(p) if p.key == key => *pending = None,
                _ => {}
            }
        }
    }

    /// What a commit must never do, judged by the row before it and after it.
    fn watch(&mut self, key: u8, before: Key, made: Step, what: Move) {
        let after = made.after;
        if let Move::Propose { worker, fence } | Move::Complete { worker, fence } | Move::Fail { worker, fence } = what
        {
            let is_theirs = before.run == Run::Processing && (before.owner, before.fence) == (worker, fence);
            self.falls(2, !(is_theirs && before.lease_lives));
        }
        let starts = matches!(after.run, Run::Processing | Run::Retryable);
        self.falls(4, starts && (before.run.is_final() || matches!(before.run, Run::Approved | Run::AwaitsDecision)));
        let over = [Eff::Completed, Eff::Failed, Eff::Cancelled];
        let taken_back = over.contains(&before.effect) && after.effect != before.effect;
        self.falls(12, taken_back || (before.run.is_final() && after.run != before.run));
        self.falls(8, before.effect == Eff::Sending && after.effect == Eff::Pending && !is_end(what));
        if matches!(what, Move::Decide { .. }) {
            self.one(key).decisions += 1;
            let decisions = self.one(key).decisions;
            self.falls(6, decisions > 1 || before.approval != Some(ApprovalWord::Open));
        }
        let executed = self.keys[usize::from(key)].executed > 0;
        let lies = match after.effect {
            Eff::Completed => !executed,
            Eff::Failed | Eff::Cancelled => executed,
            _ => false,
        };
        self.falls(9, lies && after.effect != before.effect);
    }

    /// One of core's moves, read and written at once.
    fn at_once(&mut self, protocol: Protocol, key: u8, what: Move) -> Option<bool> {
        let made = step(self.row(key), what, protocol.enforcing)?;
        Some(self.commit(protocol, key, true, what, made))
    }

    fn believe(&mut self, worker: u8, key: u8) {
        let row = self.row(key);
        self.beliefs[usize::from(worker)] = Some(Belief { key, fence: row.fence, live: row.lease_lives });
    }

    fn insert(&mut self, protocol: Protocol, worker: u8, key: u8, hears: bool) {
        self.put(protocol, key, Key::made(worker));
        if hears {
            self.believe(worker, key);
        }
    }
}

const fn is_end(what: Move) -> bool {
    matches!(what, Move::Settle { class: Answer::NotSent, .. })
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let one = One {
            row: Key::ABSENT,
            wires: [None; 2],
            executed: 0,
            remembers: false,
            decisions: 0,
            absent_for: [false; 2],
        };
        let keys = vec![one; self.keys];
        vec![State { keys, beliefs: [None; 2], worker: None, people: [None; 2], switch_on: true, fallen: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for key in 0..u8::try_from(self.keys).expect("few") {
            self.of_workers(state, key, actions);
            self.of_people(state, key, actions);
            of_the_wire(state, key, actions);
            of_time(state, key, actions);
        }
        if state.worker.is_some() {
            actions.push(Action::WorkerWrites);
        }
        for worker in 0..2_u8 {
            if state.beliefs[usize::from(worker)].is_some() && state.worker.is_none() {
                let moves = [WorkerMove::Propose, WorkerMove::Complete, WorkerMove::Fail];
                actions.extend(moves.map(|what| Action::WorkerReads { worker, what }));
            }
        }
        let clicks = (0..2_u8).filter(|p| state.people[usize::from(*p)].is_some());
        actions.extend(clicks.map(|person| Action::PersonClicks { person }));
        actions.push(Action::Switch { on: !state.switch_on });
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.act(&mut state, action)?;
        // What changes nothing is no step.
        (state != *last).then_some(state)
    }

    /// People may say "again" for ever.
    fn within_boundary(&self, state: &State) -> bool {
        state.keys.iter().all(|one| one.row.effect_fence <= self.sends)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::always("g1_one_lease", |_, s: &State| {
                let [Some(a), Some(b)] = s.beliefs else { return true };
                !(a.key == b.key && a.live && b.live)
            }),
            Property::always("g2_fenced_writes", |_, s: &State| s.fallen & bit(2) == 0),
            Property::always("g4_no_restart", |_, s: &State| s.fallen & bit(4) == 0),
            Property::always("g5_decided_bytes", |_, s: &State| s.fallen & bit(5) == 0),
            Property::always("g6_single_use", |_, s: &State| s.fallen & bit(6) == 0),
            Property::always("g8_intent_first", |_, s: &State| s.fallen & bit(8) == 0),
            Property::always("g9_honest_outcome", |_, s: &State| s.fallen & bit(9) == 0),
            Property::always("g10_no_blind_resend", |_, s: &State| s.keys.iter().all(|one| one.executed <= 1)),
            Property::always("g11_switch_holds", |_, s: &State| s.fallen & bit(11) == 0),
            Property::always("g12_monotonic", |_, s: &State| s.fallen & bit(12) == 0),
            // The model is worth something only if it goes everywhere.
            Property::sometimes("a run completes", |_, s: &State| {
                s.keys.iter().any(|one| one.row.run == Run::Completed)
            }),
            Property::sometimes("an effect is reviewed", |_, s: &State| {
                s.keys.iter().any(|one| one.row.effect == Eff::Review)
            }),
            Property::sometimes("an approval expires", |_, s: &State| {
                s.keys.iter().any(|one| one.row.approval == Some(ApprovalWord::Ended))
            }),
            Property::sometimes("a lease is taken over", |_, s: &State| s.keys.iter().any(|one| one.row.fence > 1)),
        ];
        if self.sends > 1 {
            all.push(Property::sometimes("two attempts are on the wire", |_, s: &State| {
                s.keys.iter().any(|one| one.wires.iter().all(Option::is_some))
            }));
        }
        all
    }
}

impl Protocol {
    fn of_workers(&self, state: &State, key: u8, actions: &mut Vec<Action>) {
        let one = state.keys[usize::from(key)];
        for worker in 0..2_u8 {
            if self.broken == Some(Broken::CheckThenInsert) && one.row.run == Run::Absent {
                actions.push(Action::LooksForKey { worker, key });
            } else {
                actions.extend([true, false].map(|hears| Action::Reserve { worker, key, hears }));
            }
            if one.absent_for[usize::from(worker)] {
                actions.push(Action::Inserts { worker, key });
            }
        }
    }

    fn of_people(&self, state: &State, key: u8, actions: &mut Vec<Action>) {
        let one = state.keys[usize::from(key)];
        if one.row.approval == Some(ApprovalWord::Open) {
            for person in (0..2_u8).filter(|p| state.people[usize::from(*p)].is_none()) {
                // The first approves or rejects; the second would reject.
                let verdicts: &[bool] = if person == 0 { &[true, false] } else { &[false] };
                actions.extend(verdicts.iter().map(|approves| Action::PersonReads {
                    person,
                    key,
                    approves: *approves,
                }));
            }
            actions.push(Action::ApprovalExpires { key });
        }
        if matches!(one.row.effect, Eff::Review | Eff::Unknown) {
            // People tell the truth as the provider has it now.
            let words: &[Word] = if one.executed > 0 { &[Word::Happened] } else { &[Word::SendAgain, Word::Cancel] };
            let is_quiet = one.wires.iter().flatten().all(|wire| wire.written || one.row.effect_fence != wire.fence);
            if is_quiet {
                actions.extend(words.iter().map(|how| Action::Resolve { key, how: *how }));
            }
        }
    }

    fn act(&self, state: &mut State, action: Action) -> Option<()> {
        match action {
            Action::Reserve { worker, key, hears } => self.reserve(state, worker, key, hears),
            Action::LooksForKey { worker, key } => {
                state.one(key).absent_for[usize::from(worker)] = true;
                Some(())
            }
            Action::Inserts { worker, key } => {
                state.one(key).absent_for[usize::from(worker)] = false;
                state.insert(*self, worker, key, true);
                Some(())
            }
            Action::WorkerReads { worker, what } => {
                let belief = state.beliefs[usize::from(worker)]?;
                let what = what.of(worker, belief.fence);
                let read = state.row(belief.key);
                step(read, what, self.enforcing)?;
                state.worker = Some(Pending { key: belief.key, what, read, fresh: true });
                Some(())
            }
            Action::WorkerWrites => self.write_pending(state.worker.take()?, state),
            Action::PersonReads { person, key, approves } => {
                let (what, read) = (Move::Decide { person, approves }, state.row(key));
                step(read, what, self.enforcing)?;
                state.people[usize::from(person)] = Some(Pending { key, what, read, fresh: true });
                Some(())
            }
            Action::PersonClicks { person } => {
                let pending = state.people[usize::from(person)].take()?;
                self.write_pending(pending, state)
            }
            Action::LeaseRunsOut { key } => {
                let fence = state.row(key).fence;
                state.one(key).row.lease_lives = false;
                let beliefs = state.beliefs.iter_mut().flatten();
                beliefs.filter(|b| b.key == key && b.fence == fence).for_each(|b| b.live = false);
                Some(())
            }
            Action::Sweep { key } => state.at_once(*self, key, Move::Overtaken).map(drop),
            Action::ApprovalExpires { key } => state.at_once(*self, key, Move::ExpireApproval).map(drop),
            Action::SendingRunsOut { key } => {
                state.one(key).row.sending_lives = false;
                Some(())
            }
            Action::SendingExpires { key } => state.at_once(*self, key, Move::ExpireSending).map(drop),
            Action::Reconcile { key } => state.at_once(*self, key, Move::Reconcile).map(drop),
            Action::Resolve { key, how } => state.at_once(*self, key, Move::Resolve { how }).map(drop),
            Action::WindowEnds { key } => {
                state.one(key).row.sent = Sent::Past;
                Some(())
            }
            Action::ProviderForgets { key } => {
                state.one(key).remembers = false;
                Some(())
            }
            Action::Switch { on } => {
                state.switch_on = on;
                Some(())
            }
            Action::Claim { key } => self.claim(state, key),
            Action::Write { key, place, refused } => self.write(state, key, place, refused),
            Action::Answered { key, place, class } => self.answered(state, key, place, class),
            Action::DispatcherDies { key, place } => {
                state.one(key).wires[usize::from(place)] = None;
                Some(())
            }
        }
    }

    fn reserve(&self, state: &mut State, worker: u8, key: u8, hears: bool) -> Option<()> {
        let row = state.row(key);
        if row.run == Run::Absent {
            state.insert(*self, worker, key, hears);
            return Some(());
        }
        // The same owner asks again while its lease lives.
        if row.run == Run::Processing && row.lease_lives && row.owner == worker {
            state.believe(worker, key);
            return Some(());
        }
        let granted = state.at_once(*self, key, Move::Claim { worker })?;
        let after = state.row(key);
        if granted && hears && after.run == Run::Processing && after.owner == worker {
            state.believe(worker, key);
        }
        Some(())
    }

    /// What was decided on what was read.
    fn write_pending(&self, pending: Pending, state: &mut State) -> Option<()> {
        let made = step(pending.read, pending.what, self.enforcing)?;
        state.commit(*self, pending.key, pending.fresh, pending.what, made);
        Some(())
    }

    /// The dispatcher writes its attempt, and has it in hand; or (broken) has it in hand alone.
    fn claim(&self, state: &mut State, key: u8) -> Option<()> {
        let place = state.keys[usize::from(key)].wires.iter().position(Option::is_none)?;
        let row = state.row(key);
        if self.broken == Some(Broken::AttemptAfterCall) {
            if row.effect != Eff::Pending || !state.switch_on {
                return None;
            }
            state.one(key).wires[place] = Some(Wire { fence: row.effect_fence + 1, written: false });
            return Some(());
        }
        let was_on = state.switch_on;
        if !state.at_once(*self, key, Move::Send)? {
            return Some(());
        }
        let after = state.row(key);
        if after.effect == Eff::Sending {
            state.falls(11, !was_on);
            state.one(key).wires[place] = Some(Wire { fence: after.effect_fence, written: false });
        }
        Some(())
    }

    /// The first byte, after the gate's word: the switch is on, and the attempt still has its time.
    fn write(&self, state: &mut State, key: u8, place: u8, refused: bool) -> Option<()> {
        let (row, on) = (state.row(key), state.switch_on);
        let mut wire = state.keys[usize::from(key)].wires[usize::from(place)]?;
        let is_on_record = row.effect == Eff::Sending && row.effect_fence == wire.fence;
        let has_time = row.sending_lives && is_on_record;
        let broken = self.broken == Some(Broken::AttemptAfterCall);
        if !on || !(has_time || broken) {
            return None;
        }
        state.falls(8, !is_on_record);
        state.falls(5, row.approval != Some(ApprovalWord::Approved));
        state.falls(11, !on);
        wire.written = true;
        let one = state.one(key);
        one.wires[usize::from(place)] = Some(wire);
        let knows = self.enforcing && one.remembers;
        if !refused && !knows {
            (one.executed, one.remembers) = (one.executed + 1, true);
        }
        Some(())
    }

    /// The attempt ends as its dispatcher saw it, and is settled if that still fits.
    fn answered(&self, state: &mut State, key: u8, place: u8, class: Answer) -> Option<()> {
        let one = state.keys[usize::from(key)];
        let wire = one.wires[usize::from(place)]?;
        state.one(key).wires[usize::from(place)] = None;
        if self.broken == Some(Broken::AttemptAfterCall) {
            state.at_once(*self, key, Move::Send);
        }
        state.at_once(*self, key, Move::Settle { fence: wire.fence, class });
        Some(())
    }
}

fn of_the_wire(state: &State, key: u8, actions: &mut Vec<Action>) {
    let one = state.keys[usize::from(key)];
    if one.row.effect == Eff::Pending {
        actions.push(Action::Claim { key });
    }
    for place in 0..2_u8 {
        let Some(wire) = one.wires[usize::from(place)] else { continue };
        actions.push(Action::DispatcherDies { key, place });
        if !wire.written {
            actions.push(Action::Answered { key, place, class: Answer::NotSent });
            actions.extend([false, true].map(|refused| Action::Write { key, place, refused }));
            continue;
        }
        actions.push(Action::Answered { key, place, class: Answer::Unknown });
        // A definite answer tells what is so.
        let told = if one.executed > 0 { Answer::Applied } else { Answer::Refused };
        actions.push(Action::Answered { key, place, class: told });
    }
}

fn of_time(state: &State, key: u8, actions: &mut Vec<Action>) {
    let one = state.keys[usize::from(key)];
    let row = one.row;
    if row.run == Run::Processing {
        actions.push(if row.lease_lives { Action::LeaseRunsOut { key } } else { Action::Sweep { key } });
    }
    if row.effect == Eff::Sending {
        actions.push(if row.sending_lives { Action::SendingRunsOut { key } } else { Action::SendingExpires { key } });
    }
    if row.effect == Eff::Unknown {
        actions.push(Action::Reconcile { key });
    }
    if row.sent == Sent::InWindow && one.wires.iter().all(Option::is_none) {
        // The margin is longer than an attempt.
        actions.push(Action::WindowEnds { key });
    }
    if row.sent == Sent::Past && one.remembers && one.wires.iter().all(Option::is_none) {
        actions.push(Action::ProviderForgets { key });
    }
}
