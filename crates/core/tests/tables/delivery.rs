//! Handing a run to its worker: what each answer means, and what becomes of a run that no worker took.

use effectgate_core::{
    delivery::{self, Away, Handover},
    effect::EffectState,
    ending::EndRefused,
    ids::{Fence, Owner},
    notice::Alert,
    outcome::{Answer, Phase, Report},
    run::{Aggregate, RunState},
};

use crate::{given::*, invariants::applied};

const DAY_MS: i64 = 24 * HOUR_MS;

fn answered(status: u16, retry_after: Option<&str>) -> Report {
    let retry_after = retry_after.map(str::to_owned);
    let answer = Answer { status, retry_after, body: Vec::new(), body_complete: true, replayed: false };
    Report { phase: Phase::Answered, bytes_sent: 300, answer: Some(answer), error: None, handle: None }
}

fn silent(phase: Phase, bytes_sent: u64) -> Report {
    Report { phase, bytes_sent, answer: None, error: Some("words".into()), handle: None }
}

#[test]
fn a_worker_that_is_still_starting_has_not_taken_the_run() {
    // As n8n 2.41.1 answers every path while it starts: first the one, then the other.
    let table = [
        (200, "n8n is starting up. Please wait", "undelivered"),
        (404, "<!DOCTYPE html>\n<pre>Cannot POST /webhook/ticket</pre>", "undelivered"),
        // A workflow may say what it likes.
        (200, "{\"message\":\"n8n is starting up. Please wait\"}", "delivered"),
        (200, "{\"message\":\"Workflow was started\"}", "delivered"),
    ];
    for (status, body, wanted) in table {
        let mut report = answered(status, None);
        if let Some(answer) = &mut report.answer {
            answer.body = body.as_bytes().to_vec();
        }
        assert_eq!(delivery::handover(&report, at(0)).as_str(), wanted, "{status} {body}");
    }
}

#[test]
fn every_answer_has_one_meaning() {
    let table = [
        (silent(Phase::Prepared, 0), "undelivered"),
        (silent(Phase::Resolve, 0), "undelivered"),
        (silent(Phase::Connect, 0), "undelivered"),
        (silent(Phase::Handshake, 0), "undelivered"),
        (silent(Phase::Request, 0), "undelivered"),
        (silent(Phase::Request, 1), "unknown"),
        (answered(200, None), "delivered"),
        (answered(202, None), "delivered"),
        (answered(204, None), "delivered"),
        // A door that is shut.
        (answered(401, None), "undelivered"),
        (answered(403, None), "undelivered"),
        (answered(404, None), "undelivered"),
        (answered(405, None), "undelivered"),
        (answered(429, None), "undelivered"),
        (answered(503, None), "undelivered"),
        // A proxy that reaches nobody.
        (answered(502, None), "undelivered"),
        (answered(521, None), "undelivered"),
        (answered(523, None), "undelivered"),
        // A proxy that heard no answer in time.
        (answered(408, None), "unknown"),
        (answered(504, None), "unknown"),
        (answered(520, None), "unknown"),
        (answered(524, None), "unknown"),
        // The worker's own.
        (answered(302, None), "failed"),
        (answered(400, None), "failed"),
        (answered(409, None), "failed"),
        (answered(413, None), "failed"),
        (answered(422, None), "failed"),
        (answered(500, None), "failed"),
    ];
    for (report, wanted) in table {
        assert_eq!(delivery::handover(&report, at(0)).as_str(), wanted, "{report:?}");
    }
}

#[test]
fn a_worker_that_names_its_time_is_asked_then_within_bounds() {
    let table = [(Some("7"), Some(7_000)), (Some("86400"), Some(300_000)), (Some("soon"), None), (None, None)];
    for (said, wanted) in table {
        match delivery::handover(&answered(503, said), at(0)) {
            Handover::TurnedAway { retry_after_ms, .. } => assert_eq!(retry_after_ms, wanted, "{said:?}"),
            other => panic!("{other:?}"),
        }
    }
}

fn away(age_ms: i64) -> Away<'static> {
    Away { why: "connection refused", since: at(-age_ms), told: false, retry_after_ms: None, give_up_ms: 3 * DAY_MS }
}

/// The run of a claim for delivery.
fn claimed(attempts: i32) -> Aggregate {
    let mut agg = agg(RunState::Processing, vec![]);
    agg.run.attempts = attempts;
    agg
}

#[test]
fn an_undelivered_run_waits_half_its_age_and_counts_no_attempt() {
    // since when it has been tried -> the wait
    let table = [
        (-5, 1_000),
        (0, 1_000),
        (2_000, 1_000),
        (20_000, 10_000),
        (10 * MINUTE_MS, 5 * MINUTE_MS),
        (2 * DAY_MS, 5 * MINUTE_MS),
        (3 * DAY_MS - 1, 5 * MINUTE_MS),
    ];
    for (age_ms, wait_ms) in table {
        let before = claimed(3);

        let t = delivery::undelivered(&before, &owner(), Fence(1), &away(age_ms), at(0)).unwrap();
        let after = applied(&before, &t);

        assert_eq!(word(&after.run.state), "failed_retryable undelivered", "{age_ms}");
        assert_eq!(after.run.state.next_attempt_at(), Some(at(wait_ms)), "{age_ms}");
        assert_eq!((after.run.attempts, after.run.fence), (2, Fence(1)), "the fence stays used");
    }
}

#[test]
fn people_are_told_once_that_a_worker_is_away_for_longer_than_a_restart() {
    for (age_ms, told, wanted) in [
        (10 * MINUTE_MS - 1, false, vec![]),
        (10 * MINUTE_MS, false, vec![Alert::Undeliverable]),
        (10 * MINUTE_MS, true, vec![]),
    ] {
        let before = claimed(1);

        let t = delivery::undelivered(&before, &owner(), Fence(1), &Away { told, ..away(age_ms) }, at(0)).unwrap();

        assert_eq!(alerts(&t), wanted, "{age_ms} {told}");
        let says = t.entries[0].text.contains(r#""told":true"#);
        assert_eq!(says, age_ms >= 10 * MINUTE_MS, "the next try reads it in the record");
    }
}

#[test]
fn what_the_other_side_asked_for_lengthens_the_wait_and_never_shortens_it() {
    for (wish, wait_ms) in [(Some(2), 10_000), (Some(60_000), 60_000), (None, 10_000)] {
        let before = claimed(1);

        let t =
            delivery::undelivered(&before, &owner(), Fence(1), &Away { retry_after_ms: wish, ..away(20_000) }, at(0));

        assert_eq!(t.unwrap().run.state.next_attempt_at(), Some(at(wait_ms)), "{wish:?}");
    }
}

#[test]
fn a_run_that_no_worker_took_for_too_long_ends_and_people_are_told() {
    for age_ms in [3 * DAY_MS, 9 * DAY_MS] {
        let before = claimed(1);

        let t = delivery::undelivered(&before, &owner(), Fence(1), &away(age_ms), at(0)).unwrap();

        assert_eq!(word(&applied(&before, &t).run.state), "failed_terminal undeliverable");
        assert_eq!(alerts(&t), [Alert::Undeliverable]);
    }
}

#[test]
fn giving_up_leaves_an_earlier_workers_effect_to_a_person_and_drops_what_did_not_happen() {
    // an inline effect of the worker before -> the run, the effect
    let table = [
        (EffectState::Sending, "awaiting_human unknown_effect", "review"),
        (EffectState::Pending { due_at: at(0) }, "failed_terminal undeliverable", "cancelled"),
    ];
    for (state, run, effect) in table {
        let before = agg(RunState::Processing, vec![inline(1, state)]);

        let t = delivery::undelivered(&before, &owner(), Fence(1), &away(4 * DAY_MS), at(0)).unwrap();
        let after = applied(&before, &t);

        assert_eq!((word(&after.run.state).as_str(), after.effects[0].state.as_str()), (run, effect));
    }
}

#[test]
fn a_claim_that_is_not_held_any_more_is_neither_given_back_nor_noted() {
    let stranger = Owner::new("worker-b");
    let held = claimed(1);
    let over = Aggregate { lease: Some(lease(0)), ..claimed(1) };
    for (before, owner, fence) in
        [(&held, &stranger, 1), (&held, &owner(), 2), (&held, &owner(), 0), (&over, &owner(), 1)]
    {
        let refused = delivery::undelivered(before, owner, Fence(fence), &away(0), at(0));

        assert_eq!(refused.err(), Some(EndRefused::LeaseLost));
        assert!(delivery::delivered(before, owner, Fence(fence), 200, at(0)).is_none());
    }
}

#[test]
fn a_delivery_is_on_record_and_changes_nothing_else() {
    let before = claimed(1);

    let t = delivery::delivered(&before, &owner(), Fence(1), 202, at(5)).unwrap();
    let after = applied(&before, &t);

    assert_eq!(kinds(&t), ["delivered"]);
    assert_eq!(Aggregate { run: before.run.clone(), ..after.clone() }, before);
    assert_eq!((after.run.version, after.run.updated_at), (before.run.version, before.run.updated_at));
}
