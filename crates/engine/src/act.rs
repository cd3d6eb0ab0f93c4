//! What a person does from a page: the operators' commands, bound to what the page showed. A form can be old, sent
//! twice, or go round with the back button; a second "send again" on an effect that was tried meanwhile would be a
//! blind resend. So each act names a mark of what was shown, judged in the transaction that would write.
//!
//! Core says what is allowed; the web room checked the role. Callers over the wire use [`crate::operate`].

use effectgate_core::{
    actor::Actor,
    ids::{EffectId, RunId, Tenant},
    journal::{EntryKind, SealedEntry},
    operate::{self, Asker, Refused, Resolution},
    run::Aggregate,
    time::Timestamp,
    transition::Transition,
};
use serde_json::Value;

use crate::{
    engine::{Engine, Step},
    error::Result,
    inline::find,
    operate::refused,
};

/// A command of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Release,
    Close,
    Cancel(EffectId),
    Resolve(EffectId, Resolution),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    Done,
    /// The same person did the same with the same words: a second click on one form.
    Repeated,
    /// It is not any more what the page showed. Nothing was done.
    Moved,
}

/// How far back a repeat is looked for: a second click comes within seconds.
const REPEAT_ENTRIES: i64 = 200;

impl Engine {
    /// Does what an operator asked for on a page. `shown` is the [`mark`] of what the page showed.
    ///
    /// Guarantees: one form acts once, however often it is sent; one that shows what is not so any more does nothing.
    ///
    /// # Errors
    /// No reason, not found, the store.
    pub async fn act(
        &self,
        tenant: &Tenant,
        run: RunId,
        actor: &Actor,
        act: &Act,
        reason: &str,
        shown: i64,
    ) -> Result<Acted> {
        let step = |agg: &Aggregate, now| {
            if mark(agg, act)? != shown {
                return Ok(Step::Answer(false));
            }
            match transition(agg, actor, act, reason, now)? {
                Some(transition) => Ok(Step::Write(Box::new(transition), true)),
                None => Ok(Step::Answer(false)),
            }
        };
        let (is_done, agg) = self.change(tenant, run, step).await?;
        if is_done {
            return Ok(Acted::Done);
        }
        let after = (agg.run.head.seq - REPEAT_ENTRIES).max(0);
        let entries = self.store().journal_read(run, after, REPEAT_ENTRIES as u32).await?;
        let said = Said { actor: actor.to_string(), act, reason: reason.trim(), shown };
        Ok(if said.is_among(&entries) { Acted::Repeated } else { Acted::Moved })
    }
}

/// What changes when that which an act is about changes: an effect's fence rises with each attempt, a run's version
/// with each change.
///
/// # Errors
/// There is no such effect.
pub fn mark(agg: &Aggregate, act: &Act) -> Result<i64> {
    match act {
        Act::Release | Act::Close => Ok(agg.run.version),
        Act::Cancel(id) | Act::Resolve(id, _) => Ok(find(agg, *id)?.fence.0),
    }
}

/// `None` where the state has no such way any more.
fn transition(agg: &Aggregate, actor: &Actor, act: &Act, reason: &str, now: Timestamp) -> Result<Option<Transition>> {
    let made = match act {
        Act::Release => operate::release(agg, actor, reason, now),
        Act::Close => operate::close(agg, actor, reason, now),
        Act::Cancel(id) => {
            let asker = Asker { actor: actor.clone(), person: None, is_operator: true };
            operate::cancel(agg, find(agg, *id)?, &asker, &[], reason, now)
        }
        Act::Resolve(id, resolution) => operate::resolve(agg, find(agg, *id)?, actor, resolution, reason, now),
    };
    match made {
        Ok(transition) => Ok(Some(transition)),
        Err(Refused::WrongState(_)) => Ok(None),
        Err(why) => Err(refused(agg, why)),
    }
}

/// A person's act as the journal tells it.
struct Said<'a> {
    actor: String,
    act: &'a Act,
    reason: &'a str,
    shown: i64,
}

impl Said<'_> {
    /// True if it was done after what was shown: newest first, an attempt that was on the page already ends the search.
    fn is_among(&self, entries: &[SealedEntry]) -> bool {
        let parsed = entries.iter().rev().filter_map(|e| serde_json::from_str::<Value>(&e.text).ok());
        for entry in parsed {
            if self.is(&entry) {
                return true;
            }
            if self.was_shown(&entry) {
                return false;
            }
        }
        false
    }

    fn is(&self, entry: &Value) -> bool {
        let facts = &entry["facts"];
        let (kind, effect) = match self.act {
            Act::Release => (EntryKind::Released, None),
            Act::Close => (EntryKind::Closed, None),
            Act::Cancel(id) => (EntryKind::EffectCancelled, Some(id)),
            Act::Resolve(id, _) => (EntryKind::EffectResolved, Some(id)),
        };
        let is_verdict = match self.act {
            Act::Resolve(_, resolution) => {
                let id = if let Resolution::Happened { external_id } = resolution { external_id.clone() } else { None };
                facts["verdict"] == resolution.as_str() && (id.is_none() || facts["external_id"] == Value::from(id))
            }
            _ => true,
        };
        let is_effect = effect.is_none_or(|id| facts["effect"] == id.to_string());
        let is_person = entry["actor"] == self.actor && facts["reason"] == self.reason;
        entry["kind"] == kind.as_str() && is_effect && is_verdict && is_person
    }

    fn was_shown(&self, entry: &Value) -> bool {
        let (Act::Cancel(id) | Act::Resolve(id, _)) = self.act else { return false };
        let facts = &entry["facts"];
        entry["kind"] == EntryKind::AttemptStarted.as_str()
            && facts["effect"] == id.to_string()
            && facts["fence"].as_i64().is_some_and(|fence| fence <= self.shown)
    }
}
