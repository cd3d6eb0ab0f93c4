//! The commit of a transition: whole or not at all, once.

use std::sync::Arc;

use effectgate_core::{
    approval::ApprovalState,
    digest::Digest,
    effect::{Attempt, AttemptEnd, EffectState},
    ids::{Fence, Tenant},
    outcome::Phase,
    retry::Class,
    run::{AwaitReason, RunState},
    transition::{ContentWrite, EffectWrite, StoredAnswer},
};
use effectgate_store::{Commit, StoreError};

use super::{Bench, fixtures::*};

pub async fn a_transition_is_written_whole(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let mut asked = approval(agg.run.id, 1, now);
    asked.next_step_at = Some(now.plus_ms(5));
    asked.edits = vec![edit(&asked, now)];
    let mut first = effect(agg.run.id, 1, now);
    first.state = EffectState::Completed;
    first.external_id = Some("ext-1".into());
    first.first_sent_at = Some(now);
    let attempt = Attempt { effect: first.id, fence: Fence(1), started_at: now, end: Some(end(now)) };
    let call = Digest::of(b"call");
    let transition = moved(&agg.run, now.plus_ms(1), |draft| {
        draft.state(RunState::AwaitingHuman { reason: AwaitReason::Approval });
        draft.effect(None, first.clone(), None);
        draft.effect(None, effect(agg.run.id, 2, now), None);
        let t = draft.transition_mut();
        t.attempts.push(attempt.clone());
        t.approvals.push(asked.clone());
        t.tokens.push(token(asked.id, "t", now));
        t.content = ContentWrite { output: Some("{\"ö\":1}".into()), ..ContentWrite::default() };
        t.answer = Some(StoredAnswer { call, body: "{\"a\":1}".into() });
        t.notices.push(notice(2, "word", now));
    });
    let wanted = transition.clone();

    let after = commit(&store, transition).await;

    assert_eq!(after.run, wanted.run);
    assert_eq!(after.lease, None);
    assert_eq!(after.effects, wanted.effects.into_iter().map(|w| w.effect).collect::<Vec<_>>());
    assert_eq!(after.approvals, vec![asked.clone()]);
    assert_eq!(store.attempt_list(agg.run.id).await.unwrap(), vec![attempt]);
    assert_eq!(store.approval_by_token(&Digest::of(b"t")).await.unwrap().unwrap().approval, asked.id);
    let content = store.run_content(&tenant(), agg.run.id).await.unwrap().unwrap();
    assert_eq!((content.output.unwrap(), content.payload.unwrap()), ("{\"ö\":1}".into(), "{\"key\":\"k\"}".into()));
    assert_eq!(store.answer_find(agg.run.id, &call).await.unwrap().unwrap(), "{\"a\":1}");
    assert_eq!(store.notice_due(9).await.unwrap()[0].notice, notice(2, "word", now));
    assert_eq!(chain(&store, agg.run.id).await[1..], wanted.entries);
}

fn end(at: effectgate_core::time::Timestamp) -> AttemptEnd {
    AttemptEnd {
        at,
        class: Class::Applied,
        phase: Phase::Answered,
        bytes_sent: 812,
        status: Some(201),
        detail: None,
        handle: Some("<m@example.test>".into()),
    }
}

/// Each row that the schema refuses takes the whole transition with it.
pub async fn a_transition_with_a_bad_row_writes_nothing(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let good = moved(&agg.run, now, |draft| {
        draft.effect(None, effect(agg.run.id, 1, now), None);
        let t = draft.transition_mut();
        t.content.output = Some("out".into());
        t.answer = Some(StoredAnswer { call: Digest::of(b"c"), body: "{}".into() });
        t.notices.push(notice(2, "w", now));
    });
    let mut bad = vec![good.clone(); 6];
    bad[0].effects[0].effect.decided = None;
    bad[1].attempts.push(Attempt {
        effect: effectgate_core::ids::EffectId { run: agg.run.id, n: 9 },
        fence: Fence(1),
        started_at: now,
        end: None,
    });
    bad[2].tokens.push(token(approval(agg.run.id, 3, now).id, "t", now));
    bad[3].notices.push(notice(2, "again", now));
    bad[4].entries[0].seq = 1;
    bad[5].run.effects.open = 9;

    for (n, transition) in bad.into_iter().enumerate() {
        let refused = store.commit(transition).await;

        assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{n}: {refused:?}");
        let after = load(&store, &agg.run).await;
        assert_eq!((&after.run, &after.effects), (&agg.run, &agg.effects), "{n}");
        assert_eq!(store.run_content(&tenant(), agg.run.id).await.unwrap().unwrap().output, None, "{n}");
        assert_eq!(store.answer_find(agg.run.id, &Digest::of(b"c")).await.unwrap(), None, "{n}");
        assert!(store.notice_due(9).await.unwrap().is_empty(), "{n}");
        assert_eq!(chain(&store, agg.run.id).await.len(), 1, "{n}");
    }
    commit(&store, good).await;
}

pub async fn a_stale_journal_length_is_lost(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    commit(&store, touch(&agg.run, now)).await;

    assert_lost(&store, touch(&agg.run, now)).await;

    assert_eq!(chain(&store, agg.run.id).await.len(), 2);
}

pub async fn another_tenants_run_is_never_committed(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let mut foreign = touch(&agg.run, now);
    foreign.run.tenant = Tenant::new("other");

    assert_eq!(store.commit(foreign).await.unwrap(), Commit::Lost);
    assert_eq!(load(&store, &agg.run).await.run, agg.run);
}

pub async fn of_many_commits_on_one_length_one_wins(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut agg = start(&store, reserved("k", now)).await;
    for round in 0..25 {
        let tries: Vec<_> = (0..10)
            .map(|_| {
                let (store, transition) = (Arc::clone(&store), touch(&agg.run, now));
                tokio::spawn(async move { store.commit(transition).await.unwrap() })
            })
            .collect();
        let mut won = 0;
        for task in tries {
            won += i32::from(task.await.unwrap() != Commit::Lost);
        }
        assert_eq!(won, 1, "round {round}");
        agg = load(&store, &agg.run).await;
        assert_eq!(agg.run.head.seq, round + 2);
    }
}

pub async fn a_run_that_is_not_there_is_lost(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let never = reserved("never", now);

    assert_eq!(store.commit(touch(&never.run, now)).await.unwrap(), Commit::Lost);
    assert!(chain(&store, never.run.id).await.is_empty());
}

pub async fn content_that_is_not_given_stays(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut new = reserved("k", now);
    new.content = ContentWrite::default();
    let agg = start(&store, new).await;
    assert_eq!(store.run_content(&tenant(), agg.run.id).await.unwrap(), Some(Default::default()));
    let write = |result: Option<&str>, output: Option<&str>| ContentWrite {
        result: result.map(str::to_owned),
        output: output.map(str::to_owned),
        ..ContentWrite::default()
    };

    let agg = commit(&store, moved(&agg.run, now, |d| d.transition_mut().content = write(Some("r"), None))).await;
    commit(&store, moved(&agg.run, now, |d| d.transition_mut().content = write(None, Some("o")))).await;

    let content = store.run_content(&tenant(), agg.run.id).await.unwrap().unwrap();
    assert_eq!((content.result.as_deref(), content.output.as_deref(), content.payload), (Some("r"), Some("o"), None));
}

pub async fn the_first_answer_to_a_call_stays(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let call = Digest::of(b"call");
    let answer = |body: &str| Some(StoredAnswer { call, body: body.into() });

    let agg = commit(&store, moved(&agg.run, now, |d| d.transition_mut().answer = answer("first"))).await;
    commit(&store, moved(&agg.run, now, |d| d.transition_mut().answer = answer("second"))).await;

    assert_eq!(store.answer_find(agg.run.id, &call).await.unwrap().unwrap(), "first");
    assert_eq!(store.answer_find(agg.run.id, &Digest::of(b"other")).await.unwrap(), None);
}

pub async fn one_transition_may_close_an_approval_and_open_the_next(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    let mut old = agg.approvals[0].clone();
    (old.state, old.decided_at) = (ApprovalState::Withdrawn, Some(now));
    let next = approval(agg.run.id, 2, now);

    // The new one stands first: the order is the store's business.
    let after =
        commit(&store, moved(&agg.run, now, |d| d.transition_mut().approvals = vec![next.clone(), old.clone()]));

    assert_eq!(after.await.approvals, vec![old, next]);
}

pub async fn two_open_approvals_are_refused(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    let next = approval(agg.run.id, 2, now);

    let refused = store.commit(moved(&agg.run, now, |d| d.transition_mut().approvals.push(next))).await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
}

pub async fn one_intention_is_one_effect(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 1, now, |_| {}).await;
    let mut twin = effect(agg.run.id, 2, now);
    twin.target.clone_from(&agg.effects[0].target);

    let refused = store
        .commit(moved(&agg.run, now, |d| {
            d.effect(None, twin, None);
        }))
        .await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
    assert_eq!(load(&store, &agg.run).await.effects.len(), 1);
}

/// G5, in the schema: nothing waits in the outbox that nobody decided.
pub async fn an_undecided_effect_is_refused(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let mut undecided = effect(agg.run.id, 1, now);
    undecided.decided = None;

    let refused = store
        .commit(moved(&agg.run, now, |d| {
            d.effect(None, undecided, None);
        }))
        .await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
}

pub async fn an_effect_that_is_not_there_cannot_be_changed(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let write = EffectWrite { effect: effect(agg.run.id, 1, now), sending_ms: None, is_new: false, before: None };

    let refused = store.commit(moved(&agg.run, now, |d| d.transition_mut().effects.push(write))).await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
    assert_eq!(load(&store, &agg.run).await.run, agg.run);
}

pub async fn an_attempt_ends_once_started(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 1, now, |_| {}).await;
    let agg = commit(&store, sending(&agg, 1, 1_000, now)).await;
    let begun = store.attempt_list(agg.run.id).await.unwrap();
    assert_eq!((begun.len(), begun[0].fence, begun[0].end.clone()), (1, Fence(1), None));

    let mut settle = with_state(&agg, 1, EffectState::Completed, now);
    settle.attempts.push(Attempt { end: Some(end(now)), ..begun[0].clone() });
    commit(&store, settle).await;

    let ended = store.attempt_list(agg.run.id).await.unwrap();
    assert_eq!(ended, vec![Attempt { end: Some(end(now)), ..begun[0].clone() }]);
}

pub async fn a_forked_journal_is_refused(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let agg = commit(&store, touch(&agg.run, now)).await;
    let mut fork = touch(&agg.run, now);
    fork.entries[0].seq = 2;

    let refused = store.commit(fork).await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
    assert_eq!(chain(&store, agg.run.id).await.len(), 2);
}
