//! The small words of the model: where a run, an effect, an approval stands, what is done to them, and what a
//! write demands.

/// Where a run stands, without reasons and moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Run {
    Absent,
    Processing,
    AwaitsDecision,
    AwaitsSettlement,
    Approved,
    Completed,
    Retryable,
    Failed,
    Quarantined,
}

impl Run {
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Eff {
    None,
    Pending,
    Sending,
    Unknown,
    Review,
    Completed,
    Failed,
    Cancelled,
}

/// When the first byte may have left, as the gate counts the provider's key window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sent {
    No,
    InWindow,
    Past,
}

/// One key's rows, as far as the protocol goes by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) run: Run,
    pub(crate) owner: u8,
    pub(crate) fence: u8,
    pub(crate) attempts: u8,
    pub(crate) lease_lives: bool,
    pub(crate) effect: Eff,
    pub(crate) effect_fence: u8,
    pub(crate) tries: u8,
    pub(crate) in_doubt: bool,
    pub(crate) sent: Sent,
    pub(crate) sending_lives: bool,
    pub(crate) approval: Option<ApprovalWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ApprovalWord {
    Open,
    Approved,
    Rejected,
    Ended,
}

impl Key {
    pub(crate) const ABSENT: Self = Self {
        run: Run::Absent,
        owner: 0,
        fence: 0,
        attempts: 0,
        lease_lives: false,
        effect: Eff::None,
        effect_fence: 0,
        tries: 0,
        in_doubt: false,
        sent: Sent::No,
        sending_lives: false,
        approval: None,
    };

    /// Reserved for the first time; the store's one atomic insert.
    pub(crate) const fn made(owner: u8) -> Self {
        Self { run: Run::Processing, owner, fence: 1, attempts: 1, lease_lives: true, ..Self::ABSENT }
    }
}

/// What somebody does, by one of core's functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    Claim {
        worker: u8,
    },
    Propose {
        worker: u8,
        fence: u8,
    },
    Complete {
        worker: u8,
        fence: u8,
    },
    Fail {
        worker: u8,
        fence: u8,
    },
    Decide {
        person: u8,
        approves: bool,
    },
    ExpireApproval,
    /// The dispatcher claims the effect and writes its attempt.
    Send,
    /// The attempt with this fence has come to this class.
    Settle {
        fence: u8,
        class: Answer,
    },
    ExpireSending,
    Reconcile,
    Resolve {
        how: Word,
    },
    Overtaken,
}

/// What an attempt came to, as the gate sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Applied,
    Refused,
    NotSent,
    Unknown,
}

/// A person's word on an effect in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    Happened,
    SendAgain,
    Cancel,
}

/// What a transition demands of the row at the moment of the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Guard {
    Nothing,
    LeaseLives {
        worker: u8,
        fence: u8,
    },
    /// The lease is over, or there is none.
    LeaseFree,
    SendingLives {
        fence: u8,
    },
    SendingOver {
        fence: u8,
    },
}

/// A transition of core's, lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) after: Key,
    pub(crate) guard: Guard,
    /// Commit only while the switch is on.
    pub(crate) switched: bool,
}
