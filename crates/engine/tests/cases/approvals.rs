//! People's decisions: looking changes nothing, the first commit wins, nobody approves their own request.

use effectgate_core::{
    actor::{Person, SignIn, Subject},
    approval::{Refused, Verdict},
    gate::Gate,
};
use effectgate_engine::{
    EngineError,
    propose::{Proposal, Request},
};

use crate::common::{Held, Options, World, asked, lead};

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

async fn waiting(world: &World, key: &str) -> Held {
    let held = world.grant(key, "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    held
}

#[tokio::test]
async fn hc_30_a_link_that_is_only_looked_at_changes_nothing_and_then_works_once() {
    let world = World::with(Options { link_in_answer: true, ..asks() });
    let held = world.grant("k", "w").await;
    let answer = world.propose(&held, &[("note", "c-1", "{}")]).await;
    let Proposal::Waiting { approval: Some(approval), .. } = answer else { panic!("{answer:?}") };
    let link = approval.link.unwrap();
    let token = link.rsplit('/').next().unwrap();
    let before = world.agg(held.run.id).await;

    for _ in 0..100 {
        let (hit, _) = world.engine.token(token).await.unwrap();
        assert!(!hit.is_expired);
    }

    assert_eq!(world.agg(held.run.id).await, before);
    world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    let again = world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    assert!(again.repeated);
    world.round().await;
    assert_eq!(world.provider.executed(), 1);
    assert!(matches!(world.engine.token("short").await, Err(EngineError::UnknownToken)));
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_31_approve_against_reject_is_one_decision_in_each_of_200_rounds() {
    let world = World::with(asks());
    let mut approved = 0;
    for round in 0..200 {
        let held = waiting(&world, &format!("k{round}")).await;
        let id = held.run.id;
        let (anna, bo) = (lead("anna"), lead("bo"));

        let (yes, no) = match round % 4 {
            0 | 1 => tokio::join!(world.decide(id, &anna, Verdict::Approve), world.decide(id, &bo, Verdict::Reject)),
            2 => {
                let yes = world.decide(id, &anna, Verdict::Approve).await;
                world.clock.advance_ms(100);
                (yes, world.decide(id, &bo, Verdict::Reject).await)
            }
            // The same person, the same token, twice with different words.
            _ => {
                let no = world.decide(id, &anna, Verdict::Reject).await;
                world.clock.advance_ms(100);
                (world.decide(id, &anna, Verdict::Approve).await, no)
            }
        };

        let (won, lost) = if yes.is_ok() { (yes, no) } else { (no, yes) };
        let won = won.unwrap();
        let Err(EngineError::DecisionRefused { why: Refused::Over, approval, run, .. }) = lost else {
            panic!("{round}: {lost:?}")
        };
        let agg = world.agg(id).await;
        let is_approved = agg.run.state.as_str() == "approved";
        approved += usize::from(is_approved);
        assert_eq!(agg.effects.len(), usize::from(is_approved), "approved means one outbox row, rejected none");
        assert_eq!(approval.decisions.len(), 1, "the loser sees who and when");
        assert_eq!((run.state, won.run.state), (agg.run.state.as_str().to_owned(), agg.run.state.as_str().to_owned()));
        let kinds = world.kinds(id).await;
        let of = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
        assert_eq!((of("decided"), of("decision_refused")), (1, 1), "{kinds:?}");
    }
    while world.round().await > 0 {}
    assert_eq!(world.provider.executed(), approved);
    world.verify_all().await;
}

#[tokio::test]
async fn hc_32_nobody_approves_their_own_request_and_the_question_stays_open() {
    let world = World::with(Options { audience: vec!["role:support-lead".into(), "t@example.test".into()], ..asks() });
    let held = world.grant("k", "w").await;
    let call = world.call(&held, "proposal", "p");
    let request =
        Request { requested_by: Some(" S@Example.TEST ".into()), ..asked(&[("note", "c-1", r#"{"amount":0.01}"#)]) };
    world.engine.propose(&call, &request).await.unwrap();
    let own = |subject: Subject, sign_in| Person { subject, sign_in, ..lead("s") };

    for person in [
        lead("s"),
        own(Subject::mail("S@EXAMPLE.test"), SignIn::Login),
        Person { roles: ["admin".into(), "support-lead".into()].into(), ..lead("s") },
        Person { aliases: [Subject::mail("s@example.test"), Subject::mail("t@example.test")].into(), ..lead("s") },
    ] {
        let refused = world.decide(held.run.id, &person, Verdict::Approve).await;
        assert!(
            matches!(&refused, Err(EngineError::DecisionRefused { why: Refused::SeparationOfDuties, .. })),
            "{person:?}: {refused:?}"
        );
    }
    assert_eq!(world.agg(held.run.id).await.run.state.as_str(), "awaiting_human");
    assert_eq!(world.facts(held.run.id, "decision_refused").await.len(), 4);

    // Denying one's own request is allowed: it makes nothing happen.
    world.decide(held.run.id, &lead("s"), Verdict::Reject).await.unwrap();
    assert_eq!(world.agg(held.run.id).await.run.state.reason(), Some("rejected"));
}

#[tokio::test]
async fn an_approval_ends_at_its_moment_whether_or_not_a_sweep_noticed() {
    let world = World::with(asks());
    let (late, swept) = (waiting(&world, "late").await, waiting(&world, "swept").await);
    world.clock.advance_ms(24 * crate::common::HOUR);

    let refused = world.decide(late.run.id, &lead("anna"), Verdict::Approve).await;
    assert!(matches!(refused, Err(EngineError::DecisionRefused { why: Refused::Over, .. })));
    world.engine.sweep_tick().await.unwrap();

    for held in [late, swept] {
        let agg = world.agg(held.run.id).await;
        assert_eq!(agg.run.state.reason(), Some("approval_expired"));
        assert_eq!(agg.approvals[0].state.as_str(), "expired");
        assert!(agg.effects.is_empty());
    }
}
