//! The auditor: G1 to G12 by name, each a function over what was known just before an event, and the event. It goes by
//! what was committed and by what the provider did, never by what the product says of itself. G13 (the chains verify) is
//! checked by the world's end, G14 by comparing every restart with what was acknowledged before it.

use effectgate_core::{
    approval::{ApprovalState, Verdict},
    effect::{Attempt, Effect, EffectState, Executor, decided_hash},
    journal,
    proposal::effects_hash,
    retry::{self, Outcome},
    run::{AwaitReason, RunState},
    sending,
    switch::{Applies, Scope},
    transition::{EffectWrite, LeaseGuard, LeaseWrite, SendingGuard, Transition},
};

use crate::{
    history::{Arrival, Event},
    ledger::{Ledger, Row, entries, entry},
};

/// What became of a guarantee: held, or broken in these words.
type Held = Result<(), String>;

/// A guarantee that fell.
#[derive(Debug, Clone)]
pub struct Violation {
    pub guarantee: &'static str,
    pub words: String,
}

type Guarantee = fn(&Ledger, &Event) -> Held;

pub const GUARANTEES: [(&str, Guarantee); 14] = [
    ("g1_one_lease", g1_one_lease),
    ("g2_fenced_writes", g2_fenced_writes),
    ("g3_one_payload", g3_one_payload),
    ("g4_no_restart", g4_no_restart),
    ("g5_decided_bytes", g5_decided_bytes),
    ("g6_single_use", g6_single_use),
    ("g7_atomic_decision", g7_atomic_decision),
    ("g8_intent_first", g8_intent_first),
    ("g9_honest_outcome", g9_honest_outcome),
    ("g10_no_blind_resend", g10_no_blind_resend),
    ("g11_switch_holds", g11_switch_holds),
    ("g12_monotonic", g12_monotonic),
    ("g13_whole_record", g13_whole_record),
    ("g14_durable_ack", g14_durable_ack),
];

/// Holds every guarantee against a history; the first that falls of each.
pub fn audit(events: &[Event]) -> Vec<Violation> {
    let mut found: Vec<Violation> = Vec::new();
    let mut ledger = Ledger::default();
    for (n, event) in events.iter().enumerate() {
        for (guarantee, holds) in GUARANTEES {
            if found.iter().all(|v| v.guarantee != guarantee)
                && let Err(words) = holds(&ledger, event)
            {
                found.push(Violation { guarantee, words: format!("event {n}: {words}\n{event:?}") });
            }
        }
        ledger.apply(event);
    }
    found
}

fn demand(holds: bool, words: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(words()) }
}

fn committed<'a>(before: &'a Ledger, event: &'a Event) -> Option<(&'a Row, &'a Transition)> {
    let Event::Committed { transition, .. } = event else { return None };
    before.rows.get(&transition.run.id).map(|row| (row, transition))
}

/// A lease is granted only where the one before has ended or is over, by the store's clock at the write; and whoever is
/// told that the run is its own is the one the row names.
pub fn g1_one_lease(before: &Ledger, event: &Event) -> Held {
    match event {
        Event::Committed { transition, lease: Some(new), .. }
            if matches!(transition.lease, LeaseWrite::Grant { .. }) =>
        {
            let old = before.rows.get(&transition.run.id).and_then(|row| row.lease);
            demand(old.is_none_or(|old| old.expires_at <= new.since), || format!("granted while {old:?} lives"))
        }
        Event::Granted { run, owner, fence } => {
            let row = before.rows.get(run).ok_or("granted and not there")?;
            // By the time it is told another may have it; never an older one.
            demand(row.run.fence > *fence || row.run.owner.as_ref() == Some(owner), || format!("told {owner}: {row:?}"))
        }
        _ => Ok(()),
    }
}

/// What a worker changes is guarded by its owner and fence, they are the row's, and their lease has not run out by the
/// store's clock at the write. What the dispatcher settles is under its own living lease on the effect, and what the
/// sweeper gives up is not.
pub fn g2_fenced_writes(before: &Ledger, event: &Event) -> Held {
    let Event::Committed { transition: t, clock, .. } = event else { return Ok(()) };
    let Some(row) = before.rows.get(&t.run.id) else { return Ok(()) };
    let is_claim = matches!(t.lease, LeaseWrite::Grant { .. });
    let changes = t.run.state != row.run.state || !t.effects.is_empty() || t.lease != LeaseWrite::Keep;
    let by_worker = entries(t).iter().any(|e| e["actor"].as_str().is_some_and(|a| a.starts_with("worker:")));
    if by_worker && changes && !is_claim {
        let LeaseGuard::Live { owner, fence } = &t.lease_guard else {
            return Err("a worker's write without guard".into());
        };
        let is_theirs = row.run.owner.as_ref() == Some(owner) && row.run.fence == *fence;
        let lives = row.run.state == RunState::Processing && row.lease.is_some_and(|l| l.expires_at > *clock);
        demand(is_theirs && lives, || format!("{owner} {fence:?} wrote at {clock}, {:?}", row.lease))?;
    }
    match t.sending_guard {
        SendingGuard::Any => Ok(()),
        SendingGuard::Live { effect, fence } => sends(row, effect.n, fence, |until| until > *clock),
        SendingGuard::Over { effect, fence } => sends(row, effect.n, fence, |until| until <= *clock),
    }
}

fn sends(
    row: &Row,
    n: i32,
    fence: effectgate_core::ids::Fence,
    fits: impl Fn(effectgate_core::time::Timestamp) -> bool,
) -> Held {
    let is_theirs = row.effects.get(&n).is_some_and(|e| e.fence == fence && e.state == EffectState::Sending);
    let until = row.sending_until.get(&n).copied();
    demand(is_theirs && until.is_some_and(fits), || {
        format!("effect {n} {fence:?} at {until:?}: {:?}", row.effects.get(&n))
    })
}

/// A run's payload hash never changes, and a delivery with another payload is answered as a conflict, never as a grant.
pub fn g3_one_payload(before: &Ledger, event: &Event) -> Held {
    if let Some((row, t)) = committed(before, event) {
        return demand(row.run.payload_hash == t.run.payload_hash, || "another payload hash".into());
    }
    let Event::Delivered { other: true, answer, .. } = event else { return Ok(()) };
    demand(*answer == "conflict", || format!("another payload was answered {answer}"))
}

/// From completed, failed_terminal and approved, and from waiting for a decision, no way leads back to work; what waits
/// for an unknown effect goes on by a person's word alone. A duplicate of what is over is answered by its state.
pub fn g4_no_restart(before: &Ledger, event: &Event) -> Held {
    if let Event::Delivered { run, answer, state, .. } = event {
        let is_over = before.rows.get(run).is_some_and(|row| row.run.state.is_final());
        let replays = matches!(*answer, "replay" | "conflict" | "busy") || state == "processing";
        return demand(!is_over || replays, || format!("answered {answer}"));
    }
    let Some((row, t)) = committed(before, event) else { return Ok(()) };
    let starts = matches!(t.run.state, RunState::Processing | RunState::Queued | RunState::FailedRetryable { .. });
    let waits = |reason| RunState::AwaitingHuman { reason };
    let is_settled = row.run.state.is_final()
        || row.run.state == RunState::Approved
        || row.run.state == waits(AwaitReason::Approval)
        || (row.run.state == waits(AwaitReason::UnknownEffect) && entry(t, "effect_resolved").is_none());
    demand(!(is_settled && starts), || format!("from {:?} to {:?}", row.run.state, t.run.state))
}

/// Every request's bytes are those of a row that entered the outbox (or was begun) by a decision that covers exactly
/// them: a person's, where the gate says so, about the hash of all effects shown; a rule's, by name.
pub fn g5_decided_bytes(before: &Ledger, event: &Event) -> Held {
    if let Some((row, t)) = committed(before, event) {
        return t.effects.iter().filter(|w| w.is_new).try_for_each(|w| is_decided(row, t, &w.effect));
    }
    let Event::Arrived(arrival) = event else { return Ok(()) };
    let effect = before.effect(arrival.effect).ok_or("arrived, and no such effect is on record")?;
    let hash = decided_hash(&effect.effect_type, &effect.target, &arrival.payload);
    demand(effect.decided == Some(hash), || format!("other bytes than decided: {effect:?}"))
}

fn is_decided(row: &Row, t: &Transition, effect: &Effect) -> Held {
    let by_rule = entry(t, "auto_approved").is_some_and(|e| !e["facts"]["rules"].as_array().unwrap().is_empty());
    if effect.effect_type.as_str() == "note" && by_rule {
        return Ok(());
    }
    let decided = entry(t, "decided").ok_or_else(|| format!("queued without a decision: {effect:?}"))?;
    let by_person = decided["actor"].as_str().is_some_and(|a| a.starts_with("user:"));
    let approval = t.approvals.last().ok_or("a decision without its approval")?;
    let covers = approval.effects_hash == effects_hash(&approval.proposed)
        && decided["facts"]["effects_hash"].as_str() == Some(approval.effects_hash.to_string().as_str());
    let mine = |p: &&effectgate_core::proposal::Proposed| {
        p.effect_type == effect.effect_type && p.target == effect.target && p.payload == effect.payload
    };
    let is_there = approval.proposed.iter().find(mine).is_some();
    demand(by_person && covers && is_there, || format!("decided other effects: {row:?}"))
}

/// An approval that has ended is written no more and decided no more; of two people at most one ends it, and only one
/// approve of those who did not edit.
pub fn g6_single_use(before: &Ledger, event: &Event) -> Held {
    if let Event::Decided { approval, person, verdict: Verdict::Approve, repeated: false } = event {
        // The quorum is one: the first who approves ends it.
        let taken = before.decided.get(approval).into_iter().flatten();
        let other = taken.clone().find(|(_, verdict)| *verdict != Verdict::Edit);
        return demand(other.is_none(), || format!("{person} decided after {other:?}"));
    }
    let Some((row, t)) = committed(before, event) else { return Ok(()) };
    let ended = row.approvals.values().find(|a| a.state != ApprovalState::Open);
    let again = ended.filter(|old| t.approvals.iter().any(|new| new.id == old.id && new != *old));
    demand(again.is_none(), || format!("{again:?} has ended and is decided"))?;
    let open = row.approvals.values().any(|a| a.state == ApprovalState::Open);
    demand(entry(t, "decided").is_none() || open, || "decided, and nothing was open".into())
}

/// A decision that goes through carries in one transaction: the closed approval, the run's new state, every effect and
/// an entry for each. What a restart finds is all of it or nothing of it.
pub fn g7_atomic_decision(before: &Ledger, event: &Event) -> Held {
    if let Event::Found { agg } = event {
        let row = before.rows.get(&agg.run.id).ok_or("found, and nobody made it")?;
        let approvals: Vec<_> = row.approvals.values().cloned().collect();
        return demand(agg.approvals == approvals, || format!("{:?} became {:?}", approvals, agg.approvals));
    }
    let Some((_, t)) = committed(before, event) else { return Ok(()) };
    let Some(approval) = t.approvals.iter().find(|a| a.state == ApprovalState::Approved) else { return Ok(()) };
    let new = t.effects.iter().filter(|w| w.is_new).count();
    let queued = t.entries.iter().filter(|e| e.kind == "effect_queued").count();
    let whole = new == approval.proposed.len() && queued == new && entry(t, "decided").is_some();
    demand(whole && t.run.state == RunState::Approved, || "a part of a decision".into())
}

/// At every request the attempt stands on record, without an end, and is not given up; and what was started and has no
/// end never becomes pending.
pub fn g8_intent_first(before: &Ledger, event: &Event) -> Held {
    if let Event::Arrived(Arrival { effect, fence, inline, .. }) = event {
        let row = before.rows.get(&effect.run).ok_or("a request of a run that is not there")?;
        // A worker that was overtaken may call all the same; the gate is not asked.
        let is_on_record = row.under_way.contains(&(effect.n, *fence)) || *inline;
        let begun = row.effects.get(&effect.n).is_some_and(|e| e.fence >= *fence);
        return demand(is_on_record && begun, || format!("{effect} {fence:?} is not on record: {:?}", row.under_way));
    }
    let Some((_, t)) = committed(before, event) else { return Ok(()) };
    let forgotten = |w: &&EffectWrite| {
        let was_sending = w.before.is_some_and(|b| b.state == EffectState::Sending);
        was_sending && matches!(w.effect.state, EffectState::Pending { .. }) && end_of(t, &w.effect).is_none()
    };
    let forgotten = t.effects.iter().find(forgotten);
    demand(forgotten.is_none(), || format!("pending without an end: {forgotten:?}"))
}

fn end_of<'a>(t: &'a Transition, effect: &Effect) -> Option<&'a Attempt> {
    t.attempts.iter().find(|a| a.effect == effect.id && a.end.is_some())
}

/// Out of sending into pending, completed or failed leads only an end that fits: not sent (or turned away
/// by a limit), applied, refused. And at
/// rest, where no person guessed, what is completed was done and what is failed or cancelled was not.
pub fn g9_honest_outcome(before: &Ledger, event: &Event) -> Held {
    if let Some((_, t)) = committed(before, event) {
        return t.effects.iter().try_for_each(|w| is_honest(t, w));
    }
    let Event::Rest = event else { return Ok(()) };
    let effects = before.rows.values().flat_map(|row| row.effects.values());
    for effect in effects.filter(|e| !before.said_again.contains_key(&e.provider_key)) {
        let executed = before.executed(&effect.provider_key);
        let is_true = match effect.state {
            EffectState::Completed => executed > 0,
            EffectState::Failed | EffectState::Cancelled => executed == 0,
            _ => false,
        };
        demand(is_true, || format!("{executed} executions, and the record says {effect:?}"))?;
    }
    Ok(())
}

fn is_honest(t: &Transition, write: &EffectWrite) -> Held {
    let after = &write.effect;
    if write.before.is_none_or(|b| b.state != EffectState::Sending) {
        return Ok(());
    }
    let class = end_of(t, after).and_then(|a| a.end.as_ref()).map(|end| end.class);
    let outcome = class.map(retry::Class::outcome);
    let not_done = matches!(class, Some(retry::Class::RateLimited | retry::Class::Overloaded));
    let fits = match after.state {
        EffectState::Pending { .. } => outcome == Some(Outcome::NotSent) || not_done,
        EffectState::Completed => outcome == Some(Outcome::Applied),
        EffectState::Failed => matches!(outcome, Some(Outcome::Refused | Outcome::NotSent)),
        EffectState::Cancelled | EffectState::Scheduled { .. } => false,
        // Begun anew by the next owner, at an enforcing provider.
        EffectState::Sending => after.executor == Executor::Inline,
        EffectState::Unknown { .. } | EffectState::Review { .. } => true,
    };
    demand(fits, || format!("{outcome:?} led to {after:?}"))
}

/// The provider never does more than once what nobody said "again" to, and once more for each time a person did. An
/// unknown effect becomes pending by a person's word, by proof of absence, or (with the same key) at an enforcing
/// provider.
pub fn g10_no_blind_resend(before: &Ledger, event: &Event) -> Held {
    if let Event::Arrived(arrival) = event {
        let executed = before.executed(&arrival.provider_key) + usize::from(arrival.executed);
        let again = before.said_again.get(&arrival.provider_key).copied().unwrap_or(0);
        let effect = before.effect(arrival.effect);
        demand(effect.is_none_or(|e| e.provider_key == arrival.provider_key), || "under another key".into())?;
        return demand(executed <= 1 + again, || format!("done {executed} times, {again} times on a person's word"));
    }
    let Some((_, t)) = committed(before, event) else { return Ok(()) };
    let in_doubt = |w: &&EffectWrite| {
        let was = w.before.is_some_and(|b| matches!(b.state, EffectState::Unknown { .. } | EffectState::Review { .. }));
        was && matches!(w.effect.state, EffectState::Pending { .. } | EffectState::Sending)
    };
    let Some(resent) = t.effects.iter().find(in_doubt) else { return Ok(()) };
    let by_person =
        entry(t, "effect_resolved").is_some_and(|e| e["actor"].as_str().is_some_and(|a| a.starts_with("user:")));
    let by_look = entry(t, "looked").is_some_and(|e| {
        let facts = &e["facts"];
        // Re-issued under the same key, still in doubt; or proven absent.
        (facts["reason"] == "reissue" && resent.effect.unknown_since.is_some()) || facts["lookup"] == "absent"
    });
    demand(by_person || by_look, || format!("resent: {resent:?}"))
}

/// While a switch that applies is off no attempt is committed; after the call that turned it has answered nothing of the
/// dispatcher arrives.
pub fn g11_switch_holds(before: &Ledger, event: &Event) -> Held {
    let stops = |off: &std::collections::BTreeSet<(Scope, String)>, applies: &Applies| {
        applies.pairs().iter().any(|(scope, name)| off.contains(&(*scope, (*name).to_owned())))
    };
    if let Event::Arrived(arrival) = event {
        let row = before.rows.get(&arrival.effect.run).filter(|_| !arrival.inline);
        let effect = row.and_then(|row| row.effects.get(&arrival.effect.n));
        let applies = row.zip(effect).map(|(row, effect)| sending::applies(&row.run, effect));
        let is_stopped = applies.is_some_and(|applies| stops(&before.stopped, &applies));
        return demand(!is_stopped, || "written to after a turn had answered".into());
    }
    let Some((row, t)) = committed(before, event) else { return Ok(()) };
    let starts = entry(t, "attempt_started").is_some() || entry(t, "effect_begun").is_some();
    let effect = t.effects.last().filter(|_| starts);
    let is_stopped = effect.is_some_and(|w| stops(&before.off, &sending::applies(&row.run, &w.effect)));
    demand(!is_stopped, || "an attempt was committed with the switch off".into())
}

/// What is completed or failed for good stays so, runs and effects alike; a late contrary report is written down, told,
/// and changes nothing.
pub fn g12_monotonic(before: &Ledger, event: &Event) -> Held {
    let Some((row, t)) = committed(before, event) else { return Ok(()) };
    demand(!row.run.state.is_final() || row.run.state == t.run.state, || {
        format!("from {:?} to {:?}", row.run.state, t.run.state)
    })?;
    let taken_back = |w: &&EffectWrite| {
        row.effects.get(&w.effect.id.n).is_some_and(|old| old.state.is_final() && old.state != w.effect.state)
    };
    let taken_back = t.effects.iter().find(taken_back);
    demand(taken_back.is_none(), || format!("taken back: {taken_back:?}"))?;
    let is_late = entry(t, "late_report").is_some();
    demand(!is_late || (t.effects.is_empty() && !t.notices.is_empty()), || "a late report changed something".into())
}

/// Every change has an entry in its own transaction, and the entries go on where the chain ended.
pub fn g13_whole_record(before: &Ledger, event: &Event) -> Held {
    let Some((row, t)) = committed(before, event) else { return Ok(()) };
    let mut head = row.run.head;
    for entry in &t.entries {
        demand(entry.seq == head.seq + 1, || format!("entry {} after {}", entry.seq, head.seq))?;
        head = journal::Head { seq: entry.seq, hash: Some(entry.hash) };
    }
    demand(!t.entries.is_empty() && head == t.run.head, || "a change without its entry".into())
}

/// A restart on the same file finds exactly what was acknowledged: the row, its effects, its approvals.
pub fn g14_durable_ack(before: &Ledger, event: &Event) -> Held {
    let Event::Found { agg } = event else { return Ok(()) };
    let row = before.rows.get(&agg.run.id).ok_or("found, and nobody made it")?;
    let effects: Vec<_> = row.effects.values().cloned().collect();
    let same = agg.run.state == row.run.state && agg.run.head == row.run.head && agg.effects == effects;
    demand(same, || format!("committed {row:?}, found {agg:?}"))
}
