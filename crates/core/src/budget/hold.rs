//! An effect that waits for a budget: pending, due when there is room, with no attempt counted. Told once a window.

use super::{Charge, Charged, Plan, TOO_SMALL, USED_UP, Want};
use crate::{
    actor::Actor,
    effect::{Effect, EffectState},
    facts,
    journal::EntryKind,
    notice::{Alert, Notice, NoticeKind},
    run::Run,
    time::Timestamp,
    transition::{Draft, Transition},
};

/// True for an effect that waits for a budget and whose moment has not come.
#[must_use]
pub fn is_waiting(effect: &Effect, now: Timestamp) -> bool {
    let waits = matches!(effect.reason.as_deref(), Some(USED_UP | TOO_SMALL));
    waits && matches!(effect.state, EffectState::Pending { due_at } if due_at > now)
}

/// How an effect waits.
#[derive(Debug, Clone)]
pub struct Wait {
    /// [`USED_UP`] or [`TOO_SMALL`].
    pub reason: &'static str,
    pub until: Timestamp,
    /// What stood in the way.
    pub by: Want,
    pub charges: Vec<Charge>,
    pub charged: Vec<Charged>,
}

impl Wait {
    /// The wait that a plan comes to; `None` if there is room now.
    #[must_use]
    pub fn of(plan: Plan) -> Option<Self> {
        match plan {
            Plan::Now { .. } => None,
            Plan::Later { at, charges, charged, by } => Some(Self { reason: USED_UP, until: at, by, charges, charged }),
            Plan::Never { at, charges, by } => {
                Some(Self { reason: TOO_SMALL, until: at, by, charges, charged: Vec::new() })
            }
        }
    }
}

/// Lets an effect wait. `tells`: people are told, once for this word; the caller knows who was told in this window.
#[must_use]
pub fn hold(run: &Run, before: &Effect, wait: Wait, tells: Option<String>, now: Timestamp) -> Transition {
    let Wait { reason, until, by, charges, charged } = wait;
    let mut draft = Draft::on(run, now);
    let mut after = before.clone();
    after.state = EffectState::Pending { due_at: until };
    after.reason = Some(reason.to_owned());
    after.charged = charged;
    after.updated_at = now;
    draft.entry(
        EntryKind::BudgetUsedUp,
        &Actor::System("dispatcher"),
        facts! { "effect" => after.id, "budget" => by.words, "reason" => reason, "until" => until },
    );
    if let Some(dedupe) = tells {
        let detail = match reason {
            TOO_SMALL => format!("effect {} asks for more than the whole budget of {} allows", after.id, by.words),
            _ => format!("the budget of {} is used up: effects wait for the next window", by.words),
        };
        let kind = NoticeKind::Alert { alert: Alert::Budget, detail };
        let notice = Notice::new(draft.run().head.seq, 0, kind, dedupe, now);
        draft.notice(notice);
    }
    draft.transition_mut().charges = charges;
    draft.effect(Some(before), after, None);
    draft.changed()
}
