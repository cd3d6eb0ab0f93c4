//! Engine errors as problems: one exhaustive match, so that a new error cannot be forgotten.

use effectgate_core::{approval::Refused, json::JsonErrorCode, key::KeyError};
use effectgate_engine::{EngineError, operate::MAKE_A_CORRECTION};
use effectgate_store::StoreError;

use super::{Code, Problem};

/// A database that is away is looked at again after a moment; its workers back off likewise.
const RETRY_AFTER_MS: i64 = 1_000;

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let said = error.to_string();
        match error {
            EngineError::UnknownFlow => Self::new(Code::UnknownFlow, said),
            EngineError::BadKey(error) => bad_key(&error),
            EngineError::BadJson { pointer, error } => Self::new(json_code(error.code), said).at(pointer),
            EngineError::BadMember { pointer, .. } => Self::new(Code::BadMember, said).at(pointer),
            EngineError::BadLease(_) => Self::new(Code::BadLease, said).at("/lease_ms"),
            EngineError::InvalidPayload { findings } => {
                let first = findings.first().map(|f| f.pointer.clone()).unwrap_or_default();
                Self::new(Code::InvalidPayload, said).at(first).with("errors", &findings)
            }
            EngineError::InvalidOutput { findings, repairs_left, run } => Self::new(Code::InvalidOutput, said)
                .with("errors", &findings)
                .with("repairs_left", &repairs_left)
                .with("run", &run),
            EngineError::UrlNotAllowed { pointer, .. } => Self::new(Code::UrlNotAllowed, said).at(pointer),
            EngineError::NotFound(_) => Self::new(Code::NotFound, said),
            EngineError::LeaseLost { run } => Self::new(Code::LeaseLost, said).with("run", &run),
            EngineError::EffectsOpen { run } => Self::new(Code::EffectsOpen, said).with("run", &run),
            EngineError::EffectDiffers { effect } => Self::new(Code::EffectDiffers, said).with("effect", &effect),
            EngineError::NotBegun { effect } => Self::new(Code::EffectNotBegun, said).with("effect", &effect),
            EngineError::KeyPoisoned { effect } => {
                Self::new(Code::KeyPoisoned, said).with("effect", &effect).with("next", &MAKE_A_CORRECTION)
            }
            EngineError::WrongState { next, run, .. } => {
                let problem = Self::new(Code::WrongState, said).with("run", &run);
                if let Some(next) = next { problem.with("next", &next) } else { problem }
            }
            EngineError::CorrectionKey { run, .. } => {
                let problem = Self::new(Code::CorrectionKey, said).at("/key");
                if let Some(run) = run { problem.with("run", &run) } else { problem }
            }
            EngineError::ReplayExpired { .. } => Self::new(Code::ReplayExpired, said),
            EngineError::BudgetUsedUp { until: Some((until, wait_ms)), .. } => {
                Self::new(Code::BudgetUsedUp, said).with("until", &until).retry_after_ms(wait_ms)
            }
            EngineError::BudgetUsedUp { until: None, .. } => Self::new(Code::BudgetUsedUp, said),
            EngineError::SwitchOff => Self::new(Code::SwitchOff, said),
            EngineError::NotEntitled => Self::new(Code::Forbidden, said),
            EngineError::ReasonRequired => Self::new(Code::ReasonRequired, said).at("/reason"),
            EngineError::UnknownClass => Self::new(Code::UnknownClass, said).at("/class"),
            EngineError::DecisionRefused { why, findings, changes, approval, run } => {
                let problem = refused(&why).with("approval", &approval).with("run", &run);
                match why {
                    Refused::InvalidEdit => problem.with("errors", &findings),
                    Refused::Changed { .. } => problem.with("changes", &changes),
                    _ => problem,
                }
            }
            EngineError::UnknownToken => Self::new(Code::UnknownToken, said),
            EngineError::Contended => Self::new(Code::Contended, said).retry_after_ms(RETRY_AFTER_MS),
            EngineError::Store(error) => Self::from(error),
        }
    }
}

impl From<StoreError> for Problem {
    /// What the database said goes to the log, never to the caller.
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Unavailable { .. } => {
                tracing::warn!(%error, "a request failed because the database is away");
                let said = "the database does not answer; nothing was written";
                Self::new(Code::DatabaseUnavailable, said).retry_after_ms(RETRY_AFTER_MS)
            }
            StoreError::CommitUnknown { .. } => {
                tracing::warn!(%error, "a request's commit has no known outcome");
                let said = "the connection was lost at the commit; ask again with the same key";
                Self::new(Code::CommitUnknown, said).retry_after_ms(RETRY_AFTER_MS)
            }
            StoreError::BadCursor => Self::new(Code::BadParameter, "cursor is the next_cursor of the page before"),
            StoreError::Corrupt { .. }
            | StoreError::Rejected { .. }
            | StoreError::TooNew { .. }
            | StoreError::MigrationChanged { .. }
            | StoreError::InUse { .. }
            | StoreError::Open { .. } => Self::internal(&error),
        }
    }
}

impl Problem {
    /// A fault of ours: logged with its detail, shown without.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed by a fault of ours");
        Self::new(Code::Internal, "something went wrong in here; the log has the detail")
    }
}

pub(crate) fn bad_key(error: &KeyError) -> Problem {
    let pointer = error.part.map_or_else(|| "/key".to_owned(), |part| format!("/key_parts/{part}"));
    Problem::new(Code::BadKey, error.to_string()).at(pointer).with("reason", &error.reason.as_str())
}

pub(crate) fn json_code(code: JsonErrorCode) -> Code {
    match code {
        JsonErrorCode::InvalidJson => Code::InvalidJson,
        JsonErrorCode::InvalidUtf8 => Code::InvalidUtf8,
        JsonErrorCode::DuplicateMember => Code::DuplicateMember,
        JsonErrorCode::LoneSurrogate => Code::LoneSurrogate,
        JsonErrorCode::NumberOutOfRange => Code::NumberOutOfRange,
        JsonErrorCode::TooDeep => Code::TooDeep,
    }
}

/// Why a person's decision was not taken, in words for that person.
pub(crate) fn refused(why: &Refused) -> Problem {
    match why {
        Refused::Over => Problem::new(Code::ApprovalOver, "this approval has ended; see who decided, and when"),
        Refused::Changed { now } => {
            let said = "the effects are not the ones that were shown; look again before deciding";
            Problem::new(Code::EffectsChanged, said).with("effects_hash", &format!("sha256:{now}"))
        }
        Refused::LoginRequired => Problem::new(Code::LoginRequired, "this decision wants a signed-in person"),
        Refused::NotInAudience => Problem::new(Code::NotInAudience, "this person was not asked to decide"),
        Refused::NotQualified { missing } => {
            Problem::new(Code::NotQualified, format!("this decision wants {}", missing.join(", ")))
        }
        Refused::SeparationOfDuties => {
            Problem::new(Code::SeparationOfDuties, "whoever asked for it cannot be the one who approves it")
        }
        Refused::AlreadyDecided => {
            Problem::new(Code::AlreadyDecided, "this person has decided already; others of the quorum are waited for")
        }
        Refused::ReasonRequired => Problem::new(Code::ReasonRequired, "a rejection wants a reason").at("/reason"),
        Refused::InvalidEdit => {
            Problem::new(Code::InvalidEdit, "the edit breaks the rules for effects; nothing was decided").at("/effects")
        }
        Refused::NothingChanged => {
            let said = "every value is as it was: approve it as it is, or change something";
            Problem::new(Code::NothingChanged, said).at("/effects")
        }
        Refused::TooManyEdits => {
            let said = "this approval has been edited too often; reject it and let the worker propose again";
            Problem::new(Code::TooManyEdits, said).at("/decision")
        }
        Refused::ReasonTooLong => {
            Problem::new(Code::ReasonTooLong, "a reason has at most 2000 characters").at("/reason")
        }
    }
}
