//! The gate: the rule that decides whether a person must agree. Strictness is ordered; the strictest of a run's
//! effects wins. Evaluating CEL is the rules crate's work; here its findings become one decision.

use crate::ids::EffectType;

/// The gate of one effect type.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    /// Internal, reversible, declared so: goes by itself.
    None,
    /// Queued with a window in which anyone entitled may cancel.
    CancelWindow { window_ms: i64 },
    /// Goes by itself only if every rule holds, the evidence meets its threshold and the sample did not pick it.
    Exceptions(Exceptions),
    /// A person decides first.
    Approve,
    /// Only a person who holds the named qualification decides; never automatic.
    Regulated { qualification: String },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Exceptions {
    pub rules: Vec<String>,
    pub evidence: Option<EvidenceRule>,
    /// The share of runs that a person sees although every rule holds, 0 to 1.
    pub sample: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceRule {
    pub name: String,
    pub threshold: f64,
    /// Where the evidence lies, relative to the config file.
    pub file: String,
}

impl Gate {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::CancelWindow { .. } => "cancel_window",
            Self::Exceptions(_) => "exceptions",
            Self::Approve => "approve",
            Self::Regulated { .. } => "regulated",
        }
    }
}

/// What the gate found for one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// By itself, now or after the window. Names the rule that allowed it.
    Go { rule: String, window_ms: i64 },
    /// A person decides; `why` is shown on the card.
    Person { why: String, qualification: Option<String> },
}

/// One decision for all effects of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// Every effect may go by itself.
    Go { rules: Vec<String> },
    /// At least one wants a person; all wait.
    Person { why: Vec<String>, qualifications: Vec<String> },
}

/// Joins the findings: one effect that wants a person makes all wait.
#[must_use]
pub fn strictest<'a>(findings: impl IntoIterator<Item = (&'a EffectType, &'a Finding)>) -> Passage {
    let (mut rules, mut why, mut qualifications) = (Vec::new(), Vec::new(), Vec::new());
    for (effect, finding) in findings {
        match finding {
            Finding::Go { rule, .. } => rules.push(format!("{effect}: {rule}")),
            Finding::Person { why: reason, qualification } => {
                why.push(format!("{effect}: {reason}"));
                qualifications.extend(qualification.clone());
            }
        }
    }
    if why.is_empty() { Passage::Go { rules } } else { Passage::Person { why, qualifications } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_effect_that_wants_a_person_makes_all_wait() {
        let (note, mail) = (EffectType::new("note"), EffectType::new("mail"));
        let go = Finding::Go { rule: "none".into(), window_ms: 0 };
        let ask = Finding::Person { why: "approve".into(), qualification: None };

        let passage = strictest([(&note, &go), (&mail, &ask)]);

        assert_eq!(passage, Passage::Person { why: vec!["mail: approve".into()], qualifications: vec![] });
    }
}
