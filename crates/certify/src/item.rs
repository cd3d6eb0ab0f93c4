//! The readiness list: every item with a stable id, what it proves and what it does not. `docs/certify.md` carries the
//! same lines, and a test holds the two together.

use std::str::FromStr;

use serde::{Serialize, Serializer};

/// One line of the list.
macro_rules! items {
    ($($(#[$doc:meta])* $variant:ident = $id:literal, $title:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Item { $($(#[$doc])* $variant),+ }

        impl Item {
            /// In the order in which they are judged and printed.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Stable, for scripts.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id),+ }
            }

            /// What a pass says, in one line.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),+ }
            }
        }
    };
}

items! {
    KeyBeforeModel = "key_before_model", "The key is stored before the model is called";
    OneLease = "one_lease", "Ten simultaneous deliveries of one event get one lease";
    Takeover = "takeover", "An expired lease is taken over, and its old owner is refused";
    PayloadConflict = "payload_conflict", "One key with another payload is a conflict, and changes nothing";
    ClassTable = "class_table", "Failures are sorted by the class table";
    TokenHash = "token_hash", "The token of an approval is stored nowhere, only its hash";
    TokenExpiry = "token_expiry", "An approval that has expired decides nothing";
    ApproverRole = "approver_role", "Only a signed-in person of the audience decides";
    Csrf = "csrf", "A request from another site decides nothing";
    TokenReplay = "token_replay", "A link decides once, however often it is used";
    ApprovalOutbox = "approval_outbox", "Nothing leaves before the decision, and the decision only fills the outbox";
    DecidedBytes = "decided_bytes", "What leaves is, byte for byte, what was decided";
    UnknownNoResend = "unknown_no_resend", "A lost answer after acceptance is called unknown, and nothing is sent again";
    Crash = "crash", "A crash between the effect and its record is found as unknown, and nothing is sent again";
    JournalNames = "journal_names", "The journal names key, validation, approver and external ids";
    Switch = "switch", "With the switch off nothing leaves; on again, each effect goes once";
    Retention = "retention", "What is over has an end: keys, content and journal are kept for a set time";
    WorkflowOnce = "workflow_once", "One delivery to the workflow makes one effect";
    WorkflowDuplicate = "workflow_duplicate", "Ten simultaneous deliveries to the workflow make one effect";
    WorkflowLostAnswer = "workflow_lost_answer", "An answer lost after acceptance, and a repeat of the event, make one effect";
    WorkflowRetry = "workflow_retry", "A repeat of the event after it was done makes no second effect";
}

impl Item {
    /// True for the items that judge a workflow and not a gate.
    #[must_use]
    pub const fn is_of_workflow(self) -> bool {
        matches!(self, Self::WorkflowOnce | Self::WorkflowDuplicate | Self::WorkflowLostAnswer | Self::WorkflowRetry)
    }

    /// True for the items that judge a gate.
    #[must_use]
    pub const fn is_of_gate(self) -> bool {
        !self.is_of_workflow()
    }
}

/// A word that is no item's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no item {0:?}; the items are {all}", all = all())]
pub struct NoSuchItem(String);

fn all() -> String {
    Item::ALL.iter().map(|item| item.id()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Item {
    type Err = NoSuchItem;

    fn from_str(text: &str) -> Result<Self, NoSuchItem> {
        Self::ALL.iter().copied().find(|item| item.id() == text).ok_or_else(|| NoSuchItem(text.to_owned()))
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_item_and_stands_for_one() {
        for item in Item::ALL {
            assert_eq!(item.id().parse(), Ok(*item));
            assert_eq!(Item::ALL.iter().filter(|other| other.id() == item.id()).count(), 1);
        }
        assert!("nothing".parse::<Item>().unwrap_err().to_string().contains("one_lease"));
    }
}
