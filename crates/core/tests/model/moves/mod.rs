//! The moves of one key are core's own functions. A state of the model holds a small projection ([`Key`]) of core's rows;
//! here it is lifted to an [`Aggregate`], moved by core, and what the transition writes is lowered again, together with
//! the guards that it demands. Times are two: what lies within the provider's key window less its margin, and what does
//! not; ids, texts and hashes are those of one run.

mod rows;
mod words;

use std::{cell::RefCell, collections::HashMap};

use effectgate_core::{
    approval::{self, Verdict, Wish},
    effect::EffectState,
    ending::{self, FailClass},
    ids::Fence,
    lease::{self, Claim},
    operate::{self, Resolution},
    outcome::{Phase, Report},
    proposal,
    provider::Class,
    retry::{self, Classified},
    run::Aggregate,
    sending::{self, Due},
    time::Timestamp,
    transition::Transition,
};
use rows::{lift, lower, owner};
pub(crate) use words::{Answer, ApprovalWord, Eff, Guard, Key, Move, Run, Sent, Step, Word};

use crate::given::{self, AllOf, ENFORCING, HOUR_MS, at};

thread_local! {
    static KNOWN: RefCell<HashMap<(Key, Move, bool), Option<Step>>> = RefCell::default();
}

/// The step that core makes of a key as it was read; `None` where core refuses. Each is asked for once: core is pure.
pub(crate) fn step(key: Key, wanted: Move, enforcing: bool) -> Option<Step> {
    let asked = (key, wanted, enforcing);
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&asked).copied()) {
        return known;
    }
    let made = transition(&lift(key), wanted, enforcing).map(|t| lower(key, &lift(key), &t));
    KNOWN.with_borrow_mut(|known| known.insert(asked, made));
    made
}

/// Now; everything else lies before it.
fn now() -> Timestamp {
    at(30 * HOUR_MS)
}

fn provider(enforcing: bool) -> effectgate_core::provider::Provider {
    let class = if enforcing { ENFORCING } else { Class::Advisory };
    effectgate_core::provider::Provider { attempts_max: 2, ..given::provider(class) }
}

fn transition(agg: &Aggregate, wanted: Move, enforcing: bool) -> Option<Transition> {
    let (now, provider) = (now(), provider(enforcing));
    let class = AllOf(Some(provider.class));
    let effect = agg.effects.first();
    match wanted {
        Move::Claim { worker } => match lease::claim(agg, &owner(worker), 60_000, now, &class) {
            Claim::Granted(t) | Claim::Ended(t) => Some(t),
            Claim::NotFree => None,
        },
        Move::Propose { worker, fence } => {
            let valid = given::valid(vec![given::wanted(1)], given::person_decides());
            // As the engine asks first: is the lease theirs?
            let holds = agg.holds_lease(&owner(worker), Fence(fence.into())) && agg.effects.is_empty();
            proposal::accept(agg, &given::flow(), &owner(worker), valid, now).ok().filter(|_| holds)
        }
        Move::Complete { worker, fence } => ending::complete(agg, &owner(worker), Fence(fence.into()), "{}", now).ok(),
        Move::Fail { worker, fence } => {
            let (owner, fence) = (owner(worker), Fence(fence.into()));
            ending::fail(agg, &given::flow(), &owner, fence, FailClass::ModelTimeout, None, now, 0.0, &class).ok()
        }
        Move::Decide { person, approves } => {
            let verdict = if approves { Verdict::Approve } else { Verdict::Reject };
            let approval = agg.approval()?;
            let wish = Wish { verdict, reason: Some("so".into()), shown: approval.effects_hash, edited: None };
            let person = given::person(&format!("p{person}"), &["lead"]);
            approval::decide(agg, approval.id, &person, &wish, now).ok()
        }
        Move::ExpireApproval => approval::expire(agg, now.plus_ms(100 * HOUR_MS)),
        Move::Send => match sending::claim(&agg.run, effect?, &provider, now) {
            Due::Send(t) | Due::Divert(t) => Some(t),
            Due::Leave => None,
        },
        Move::Settle { fence, class } => {
            let effect = effect.filter(|e| e.state == EffectState::Sending && e.fence == Fence(fence.into()))?;
            Some(sending::settle(&agg.run, effect, &provider, now, &report(), &found(class), now, 0.0))
        }
        Move::ExpireSending => sending::expire(&agg.run, effect?, now),
        Move::Reconcile => {
            let effect = effect.filter(|e| matches!(e.state, EffectState::Unknown { .. }))?;
            let settlement = retry::reconcile(effect, &provider, None, now);
            sending::reconciled(&agg.run, effect, &settlement, None, now)
        }
        Move::Resolve { how } => {
            let how = match how {
                Word::Happened => Resolution::Happened { external_id: None },
                Word::SendAgain => Resolution::SendAgain,
                Word::Cancel => Resolution::Cancel,
            };
            operate::resolve(agg, effect?, &given::OPERATOR, &how, "seen", now).ok()
        }
        Move::Overtaken => {
            let is_over = agg.lease.is_some_and(|lease| !lease.is_live);
            lease::overtaken(agg, now, &class).filter(|_| is_over)
        }
    }
}

fn report() -> Report {
    Report { phase: Phase::Request, bytes_sent: 1, answer: None, error: None, handle: None }
}

fn found(class: Answer) -> Classified {
    let class = match class {
        Answer::Applied => retry::Class::Applied,
        Answer::Refused => retry::Class::Refused,
        Answer::NotSent => retry::Class::NotSent,
        Answer::Unknown => retry::Class::Unknown,
    };
    Classified { class, external_id: None, retry_after_ms: None, detail: None, repeats: false }
}
