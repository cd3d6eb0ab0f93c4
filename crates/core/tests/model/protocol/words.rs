//! What the protocol is made of: who has read what, what is on the wire, and everything that can happen next.

use crate::moves::{Answer, Key, Move, Word};

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
    pub(super) key: u8,
    pub(super) what: Move,
    pub(super) read: Key,
    /// The row's journal has not grown since.
    pub(super) fresh: bool,
}

/// An attempt in a dispatcher's hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wire {
    pub(super) fence: u8,
    pub(super) written: bool,
}

/// A worker's belief that it owns a key. `live`: its lease has not run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Belief {
    pub(super) key: u8,
    pub(super) fence: u8,
    pub(super) live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct One {
    pub(super) row: Key,
    pub(super) wires: [Option<Wire>; 2],
    /// What the provider did, and whether it still knows the key.
    pub(super) executed: u8,
    pub(super) remembers: bool,
    /// Decisions that went through.
    pub(super) decisions: u8,
    /// Who looked whether the key is there, and saw that it was not.
    pub(super) absent_for: [bool; 2],
}

/// Guarantees by number, as bits: those that have fallen.
pub(super) type Fallen = u16;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(super) keys: Vec<One>,
    pub(super) beliefs: [Option<Belief>; 2],
    pub(super) worker: Option<Pending>,
    pub(super) people: [Option<Pending>; 2],
    pub(super) switch_on: bool,
    pub(super) fallen: Fallen,
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
    pub(super) const fn of(self, worker: u8, fence: u8) -> Move {
        match self {
            Self::Propose => Move::Propose { worker, fence },
            Self::Complete => Move::Complete { worker, fence },
            Self::Fail => Move::Fail { worker, fence },
        }
    }
}
