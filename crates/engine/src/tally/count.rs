//! What is counted, each with its word in the database and its name at `/metrics`. The words are rows in a table that
//! outlives this binary: a word is never given another meaning, a new meaning gets a new word.

/// One kind of event that is counted per tenant, day and flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Count {
    /// The first grant, or the next one of a run that was free again.
    Granted,
    /// The same owner asked again while its lease lived.
    Repeated,
    Busy,
    Replay,
    Conflict,
    /// Valid at the first try.
    Valid,
    /// Valid after at least one repair.
    ValidRepaired,
    Invalid,
    InvalidRepaired,
    /// The gate let a proposal or an inline effect go by itself.
    Automatic,
    /// The gate sent a proposal to a person.
    Person,
    /// The part of `Person` that only the sample sent there.
    Sampled,
    Approved,
    Rejected,
    Expired,
    /// Expired, and nobody could be told of the question.
    Undeliverable,
    Withdrawn,
    /// From request to decision, in buckets of [`super::wait`].
    Wait,
    RunExhausted,
    EffectExhausted,
    /// Effects whose outcome came into doubt.
    Unknown,
    /// Effects that were handed to a person.
    Review,
    Takeover,
}

impl Count {
    pub const ALL: [Self; 23] = [
        Self::Granted,
        Self::Repeated,
        Self::Busy,
        Self::Replay,
        Self::Conflict,
        Self::Valid,
        Self::ValidRepaired,
        Self::Invalid,
        Self::InvalidRepaired,
        Self::Automatic,
        Self::Person,
        Self::Sampled,
        Self::Approved,
        Self::Rejected,
        Self::Expired,
        Self::Undeliverable,
        Self::Withdrawn,
        Self::Wait,
        Self::RunExhausted,
        Self::EffectExhausted,
        Self::Unknown,
        Self::Review,
        Self::Takeover,
    ];

    /// The word in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "reserve.granted",
            Self::Repeated => "reserve.repeated",
            Self::Busy => "reserve.busy",
            Self::Replay => "reserve.replay",
            Self::Conflict => "reserve.conflict",
            Self::Valid => "proposal.valid",
            Self::ValidRepaired => "proposal.valid_repaired",
            Self::Invalid => "proposal.invalid",
            Self::InvalidRepaired => "proposal.invalid_repaired",
            Self::Automatic => "gate.automatic",
            Self::Person => "gate.person",
            Self::Sampled => "gate.sampled",
            Self::Approved => "approval.approved",
            Self::Rejected => "approval.rejected",
            Self::Expired => "approval.expired",
            Self::Undeliverable => "approval.undeliverable",
            Self::Withdrawn => "approval.withdrawn",
            Self::Wait => "approval.wait",
            Self::RunExhausted => "exhausted.run",
            Self::EffectExhausted => "exhausted.effect",
            Self::Unknown => "effect.unknown",
            Self::Review => "effect.review",
            Self::Takeover => "run.takeover",
        }
    }

    /// The count and the flow of a row's name; `None` for a word of a newer binary.
    pub(crate) fn of_name(name: &str) -> Option<(Self, &str)> {
        let (word, flow) = name.split_once('@')?;
        Self::ALL.into_iter().find(|count| count.as_str() == word).map(|count| (count, flow))
    }

    pub(crate) fn name(self, flow: &str) -> String {
        format!("{}@{flow}", self.as_str())
    }

    /// Counts at `/metrics`. Labels are the flow and words of ours, so their number is bounded by the config.
    pub(crate) fn publish(self, flow: &str, n: u64) {
        let Some((name, label)) = self.metric() else { return };
        let flow = flow.to_owned();
        match label {
            [] => metrics::counter!(name, "flow" => flow),
            [(a, b), rest @ ..] => match rest {
                [(c, d), ..] => metrics::counter!(name, "flow" => flow, *a => *b, *c => *d),
                [] => metrics::counter!(name, "flow" => flow, *a => *b),
            },
        }
        .increment(n);
    }

    /// The counter's name and its own labels; the wait is a histogram of its own.
    const fn metric(self) -> Option<(&'static str, &'static [(&'static str, &'static str)])> {
        const RESERVATIONS: &str = "effectgate_reservations_total";
        const PROPOSALS: &str = "effectgate_proposals_total";
        const PASSAGES: &str = "effectgate_gate_passages_total";
        const APPROVALS: &str = "effectgate_approvals_ended_total";
        const EXHAUSTED: &str = "effectgate_attempts_exhausted_total";
        Some(match self {
            Self::Granted => (RESERVATIONS, &[("answer", "granted")]),
            Self::Repeated => (RESERVATIONS, &[("answer", "repeated")]),
            Self::Busy => (RESERVATIONS, &[("answer", "busy")]),
            Self::Replay => (RESERVATIONS, &[("answer", "replay")]),
            Self::Conflict => (RESERVATIONS, &[("answer", "conflict")]),
            Self::Valid => (PROPOSALS, &[("validation", "valid"), ("try", "first")]),
            Self::ValidRepaired => (PROPOSALS, &[("validation", "valid"), ("try", "repair")]),
            Self::Invalid => (PROPOSALS, &[("validation", "invalid"), ("try", "first")]),
            Self::InvalidRepaired => (PROPOSALS, &[("validation", "invalid"), ("try", "repair")]),
            Self::Automatic => (PASSAGES, &[("to", "outbox")]),
            Self::Person => (PASSAGES, &[("to", "person")]),
            Self::Sampled => ("effectgate_gate_sampled_total", &[]),
            Self::Approved => (APPROVALS, &[("outcome", "approved")]),
            Self::Rejected => (APPROVALS, &[("outcome", "rejected")]),
            Self::Expired => (APPROVALS, &[("outcome", "expired")]),
            Self::Undeliverable => (APPROVALS, &[("outcome", "undeliverable")]),
            Self::Withdrawn => (APPROVALS, &[("outcome", "withdrawn")]),
            Self::Wait => return None,
            Self::RunExhausted => (EXHAUSTED, &[("of", "run")]),
            Self::EffectExhausted => (EXHAUSTED, &[("of", "effect")]),
            Self::Unknown => ("effectgate_effects_unknown_total", &[]),
            Self::Review => ("effectgate_effects_review_total", &[]),
            Self::Takeover => ("effectgate_takeovers_total", &[]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rows_name_is_read_back_whatever_the_flow_is_called() {
        for count in Count::ALL {
            for flow in ["ticket-reply", "", "a@b", "reserve.busy@x"] {
                assert_eq!(Count::of_name(&count.name(flow)), Some((count, flow)));
            }
        }
        assert_eq!(Count::of_name("word.of_a_newer_binary@flow"), None);
        assert_eq!(Count::of_name("reserve.busy"), None);
    }
}
