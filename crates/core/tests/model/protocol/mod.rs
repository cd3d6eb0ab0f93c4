//! The protocol around core's moves, as a transition system: workers that hold grants and write late, people who decide on
//! what they saw, attempts on the wire, a provider with a memory, the switch, time that runs out, crashes at every step.
//! A read and the write that follows from it are two steps; the store's promise (compare-and-set on the journal's length,
//! guards judged at the write) stands in [`State::commit`], and the broken variants take a piece out of it.

mod acts;
mod choices;
mod store;
mod words;

use choices::{of_the_wire, of_time};
use stateright::{Model, Property};
use store::bit;
use words::{Action, One, State, WorkerMove};
pub(crate) use words::{Broken, Protocol};

use crate::moves::{ApprovalWord, Eff, Key, Run};

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
