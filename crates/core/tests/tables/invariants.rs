//! What holds for every transition, whatever made it. `applied` checks and gives the aggregate as it is afterwards.

use std::collections::BTreeSet;

use effectgate_core::{
    approval::{Approval, ApprovalState, Decision, Verdict},
    effect::{Effect, EffectState},
    journal::{self, Head, SealedEntry},
    proposal::{Proposed, effects_hash},
    run::{Aggregate, RunState},
    transition::{LeaseWrite, Transition},
};

use crate::given::counts;

/// Applies a transition to the aggregate that it was made from.
pub(crate) fn applied(before: &Aggregate, transition: &Transition) -> Aggregate {
    let after = before.after(transition);
    if let Err(broken) = check(before, transition, &after) {
        panic!("{broken}\nbefore: {before:#?}\ntransition: {transition:#?}");
    }
    after
}

/// The first invariant that the transition breaks.
pub(crate) fn check(before: &Aggregate, t: &Transition, after: &Aggregate) -> Result<(), String> {
    let moved = moves(before, after);
    let (old, new) = (&before.run, &after.run);
    let rules: [(&str, bool); 15] = [
        ("expects the journal as it was", t.expected_seq == old.head.seq),
        ("has a journal entry (G13)", !t.entries.is_empty()),
        ("moves the head by its entries", new.head.seq == old.head.seq + i64::try_from(t.entries.len()).unwrap()),
        ("continues the chain", continues(old.head, &t.entries, new.head)),
        ("never lets the version fall", new.version >= old.version),
        ("raises the version with every move", !moved || new.version == old.version + 1),
        ("raises the version by one at most", new.version <= old.version + 1),
        ("keeps a final run as it is (G12)", !old.state.is_final() || new.state == old.state),
        ("keeps the counts true", new.effects == counts(&after.effects)),
        ("leaves nothing open in a final run", !new.state.is_final() || new.effects.open == 0),
        ("ends the lease with processing", ends_lease(&old.state, &new.state, t.lease)),
        (
            "lets the fence rise with a grant only",
            (new.fence > old.fence) == matches!(t.lease, LeaseWrite::Grant { .. }),
        ),
        ("keeps key, payload hash and id", same_event(before, after)),
        ("keeps numbers in bounds", new.attempts >= 0 && new.effects.open >= 0 && new.refusals <= 32),
        ("keeps at most one approval open", open_approvals(after) <= 1),
    ];
    if let Some((rule, _)) = rules.iter().find(|(_, holds)| !holds) {
        return Err(format!("a transition {rule}"));
    }
    for effect in &after.effects {
        effect_holds(before.effects.iter().find(|e| e.id == effect.id), effect)?;
    }
    after.approvals.iter().try_for_each(approval_holds)?;
    unique(&after.effects)
}

fn approval_holds(approval: &Approval) -> Result<(), String> {
    let (edits, hash) = (&approval.edits, approval.effects_hash);
    let rules = [
        ("is bound to its bytes (G5)", effects_hash(&approval.proposed) == hash),
        ("goes through by those whom it wants", approval.state != ApprovalState::Approved || is_agreed(approval)),
        ("has edits that follow one another", edits.windows(2).all(|two| two[0].to_hash == two[1].from_hash)),
        ("ends its edits with what is there", edits.last().is_none_or(|edit| edit.to_hash == hash)),
        ("changes payloads only", edits.iter().all(|edit| gated(&edit.before) == gated(&edit.after))),
    ];
    let broken = rules.into_iter().find(|(_, holds)| !holds);
    broken.map_or(Ok(()), |(rule, _)| Err(format!("an approval {rule}: {approval:?}")))
}

/// Counted here once more by hand: the quorum, of different people, about these bytes, one of them no editor.
fn is_agreed(approval: &Approval) -> bool {
    let now = |d: &Decision| match d.effects_hash {
        Some(hash) => hash == approval.effects_hash,
        None => approval.edits.is_empty(),
    };
    let about = |d: &&Decision| now(d) && d.verdict != Verdict::Reject;
    let names = |wanted: fn(&Decision) -> bool| {
        approval.decisions.iter().filter(|d| wanted(d)).map(|d| d.subject.clone()).collect::<BTreeSet<_>>()
    };
    let agreed: BTreeSet<_> = approval.decisions.iter().filter(about).map(|d| d.subject.clone()).collect();
    let editors = names(|d| d.verdict == Verdict::Edit);
    agreed.len() >= approval.terms.quorum()
        && (!approval.terms.separation || agreed.difference(&editors).next().is_some())
}

fn gated(effects: &[Proposed]) -> Vec<Proposed> {
    effects.iter().map(|p| Proposed { payload: String::new(), ..p.clone() }).collect()
}

fn moves(before: &Aggregate, after: &Aggregate) -> bool {
    let states = |a: &Aggregate| a.effects.iter().map(|e| e.state).collect::<Vec<_>>();
    before.run.state != after.run.state || states(before) != states(after)
}

fn continues(mut last: Head, entries: &[SealedEntry], head: Head) -> bool {
    for entry in entries {
        let value: serde_json::Value = serde_json::from_str(&entry.text).unwrap();
        let prev = last.hash.map(|h| h.to_string());
        if value["prev_hash"].as_str() != prev.as_deref() || entry.seq != last.seq + 1 {
            return false;
        }
        last = Head { seq: entry.seq, hash: Some(entry.hash) };
    }
    last == head
}

fn ends_lease(old: &RunState, new: &RunState, lease: LeaseWrite) -> bool {
    let (was, is) = (*old == RunState::Processing, *new == RunState::Processing);
    match lease {
        LeaseWrite::Clear => was && !is,
        LeaseWrite::Grant { .. } => is,
        LeaseWrite::Renew { .. } => was && is,
        LeaseWrite::Keep => was == is,
    }
}

fn same_event(before: &Aggregate, after: &Aggregate) -> bool {
    let identity = |a: &Aggregate| (a.run.id, a.run.key.clone(), a.run.payload_hash, a.run.created_at);
    identity(before) == identity(after)
}

fn open_approvals(agg: &Aggregate) -> usize {
    agg.approvals.iter().filter(|a| a.state.as_str() == "open").count()
}

fn effect_holds(before: Option<&Effect>, after: &Effect) -> Result<(), String> {
    let enters_sending = after.state == EffectState::Sending && before.is_none_or(|b| b.fence != after.fence);
    let mut rules = vec![
        ("is sent only as decided (G5)", !enters_sending || after.is_decided()),
        ("starts its key window before the first byte", !enters_sending || after.first_sent_at.is_some()),
        ("counts no negative attempts", after.attempts >= 0),
        ("has no doubt once completed", after.state != EffectState::Completed || after.unknown_since.is_none()),
        ("knows since when it is unknown", !matches!(after.state, EffectState::Unknown { .. }) || after.is_in_doubt()),
    ];
    if let Some(before) = before {
        rules.extend([
            ("stays final (G12)", !before.state.is_final() || before == after),
            ("keeps its provider key (HC-24)", before.provider_key == after.provider_key),
            ("keeps its bytes", before.payload == after.payload && before.target == after.target),
            ("keeps its decision", before.decided.is_none() || before.decided == after.decided),
            ("never lets its fence fall", before.fence <= after.fence),
            ("is never sending and then pending without an answer", !falls_back(before, after)),
        ]);
    }
    let broken = rules.into_iter().find(|(_, holds)| !holds);
    broken.map_or(Ok(()), |(rule, _)| Err(format!("an effect {rule}: {before:?} -> {after:?}")))
}

/// G8: from sending to pending only by a report, which says so in the reason.
fn falls_back(before: &Effect, after: &Effect) -> bool {
    let lost = ["attempt_lost", "worker_lost"];
    before.state == EffectState::Sending
        && matches!(after.state, EffectState::Pending { .. })
        && after.reason.as_deref().is_none_or(|r| lost.contains(&r))
}

fn unique(effects: &[Effect]) -> Result<(), String> {
    let mut names: Vec<_> = effects.iter().map(|e| (e.effect_type.as_str(), e.target.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() == effects.len() { Ok(()) } else { Err("two effects of one type and target".into()) }
}

/// The chain from its first entry.
pub(crate) fn verify(agg: &Aggregate, entries: &[SealedEntry]) {
    assert_eq!(journal::verify(agg.run.id, entries, agg.run.head), Ok(()));
}

#[test]
fn the_invariants_catch_what_they_are_for() {
    use crate::given::{OPERATOR, agg, at, effect};
    use effectgate_core::{facts, journal::EntryKind, transition::Draft};
    let before = agg(RunState::Approved, vec![effect(1, EffectState::Completed), effect(2, EffectState::Sending)]);
    let wrong = |change: fn(&Aggregate, &mut Draft)| {
        let mut draft = Draft::on(&before.run, at(1));
        draft.entry(EntryKind::Looked, &OPERATOR, facts! {});
        change(&before, &mut draft);
        let transition = draft.changed();
        check(&before, &transition, &before.after(&transition))
    };

    let taken_back = wrong(|agg, draft| {
        draft.effect(Some(&agg.effects[0]), Effect { state: EffectState::Failed, ..agg.effects[0].clone() }, None);
    });
    let resent = wrong(|agg, draft| {
        let pending = EffectState::Pending { due_at: at(1) };
        draft.effect(Some(&agg.effects[1]), Effect { state: pending, ..agg.effects[1].clone() }, None);
    });
    let hidden = wrong(|_, draft| {
        draft.state(RunState::Completed);
    });
    let miscounted = wrong(|_, draft| draft.run_mut().effects.open -= 1);
    let silent = check(&before, &Draft::on(&before.run, at(1)).changed(), &before);

    for (name, result) in [
        ("a completion taken back", taken_back),
        ("a blind resend", resent),
        ("a final run with an open effect", hidden),
        ("a wrong count", miscounted),
        ("a change without an entry", silent),
    ] {
        assert!(result.is_err(), "{name} went unseen");
    }
}
