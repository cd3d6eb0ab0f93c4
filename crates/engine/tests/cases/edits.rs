//! Edit and approve: held to the rules of a proposal, one decision per run in every race, nobody's own request.

use std::{collections::BTreeSet, sync::Arc};

use effectgate_core::{
    actor::{Person, SignIn, Subject},
    approval::{EditedEffect, Refused, Verdict, Wish},
    gate::Gate,
    ids::{EffectType, RunId},
};
use effectgate_engine::{
    EngineError, Result,
    connect::{
        smtp::{SmtpLimits, SmtpServer, SmtpTls},
        tls::Tls,
    },
    connectors::{SmtpConnector, SmtpSettings},
    decide::Decided,
    propose::Request,
};
use serde_json::json;

use crate::common::{Held, Options, World, asked, lead};

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

async fn waiting(world: &World, key: &str) -> Held {
    let held = world.grant(key, "w").await;
    world.propose(&held, &[("note", "c-1", r#"{"text":"hello"}"#)]).await;
    held
}

/// The wish to send other payloads, made on the page as it is now.
async fn edit_of(world: &World, run: RunId, payloads: &[&str]) -> Wish {
    let agg = world.agg(run).await;
    let approval = agg.approval().unwrap();
    let effects = approval.proposed.iter().zip(payloads).map(|(shown, payload)| EditedEffect {
        effect_type: shown.effect_type.as_str().to_owned(),
        target: Some(shown.target.clone()),
        payload: (*payload).to_owned(),
    });
    let edited = Some(effects.collect());
    Wish { verdict: Verdict::Edit, reason: None, shown: approval.effects_hash, edited }
}

async fn decide(world: &World, run: RunId, who: &Person, wish: &Wish) -> Result<Decided> {
    let id = world.agg(run).await.approval().unwrap().id;
    world.engine.decide(&world.caller.tenant, id, who, wish).await
}

fn mail_server() -> SmtpConnector {
    let server = SmtpServer {
        host: "127.0.0.1".to_owned(),
        port: 25,
        tls: SmtpTls::None,
        credentials: None,
        hello_name: "gate.example.test".to_owned(),
    };
    let limits = SmtpLimits { connect_ms: 1_000, total_ms: 1_000, final_reply_timeout_ms: 1_000 };
    let effects = BTreeSet::from([EffectType::new("mail")]);
    let from = "gate@example.test".to_owned();
    SmtpConnector::new(SmtpSettings { server, from, allow_private: true, limits, effects }, Tls::new(None).unwrap())
        .unwrap()
}

#[tokio::test]
async fn an_edit_is_held_to_the_rules_of_a_proposal() {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 9}}});
    let options = Options { connector_of_mail: Some(Arc::new(mail_server())), effect_schema: Some(schema), ..asks() };
    let world = World::with(options);
    let held = world.grant("k", "w").await;
    let (note, mail) = (r#"{"text":"hello"}"#, r#"{"to":"a@example.test","subject":"s","text":"t"}"#);
    world.propose(&held, &[("note", "c-1", note), ("mail", "a@example.test", mail)]).await;
    let table = [
        // note, mail, what is wrong
        (r#"{"text":"far too long"}"#, mail, "/effects/0/payload/text maxLength"),
        (r#"{"text":7}"#, mail, "/effects/0/payload/text type"),
        (r#"{"text":"a","text":"b"}"#, mail, "/effects/0/payload/text duplicate_member"),
        (r#"{"text":"#, mail, "/effects/0/payload/text invalid_json"),
        (note, r#"{"to":"b@example.test","subject":"s","text":"t"}"#, "/effects/1/payload/to target"),
        (note, r#"{"to":"a@example.test, b@example.test","subject":"s","text":"t"}"#, "/effects/1/payload/to mail"),
        (
            note,
            r#"{"to":"a@example.test","subject":"s\r\nBcc: b@example.test","text":"t"}"#,
            "/effects/1/payload/subject mail",
        ),
    ];
    for (note, mail, wrong) in table {
        let wish = edit_of(&world, held.run.id, &[note, mail]).await;

        let refused = decide(&world, held.run.id, &lead("anna"), &wish).await;

        let Err(EngineError::DecisionRefused { why: Refused::InvalidEdit, findings, .. }) = refused else {
            panic!("{wrong}: {refused:?}")
        };
        let found: Vec<String> = findings.iter().map(|f| format!("{} {}", f.pointer, f.keyword)).collect();
        assert_eq!(found, [wrong]);
    }
    let agg = world.agg(held.run.id).await;
    assert!(agg.approval().unwrap().decisions.is_empty());
    let tries = world.facts(held.run.id, "decision_refused").await;
    assert!(tries.iter().all(|facts| facts["code"] == "invalid_edit"), "{tries:?}");
    assert_eq!(tries.len(), table.len(), "each try is on record");

    let right = edit_of(&world, held.run.id, &[r#"{"text":"short"}"#, mail]).await;
    decide(&world, held.run.id, &lead("anna"), &right).await.unwrap();
    world.decide(held.run.id, &lead("bo"), Verdict::Approve).await.unwrap();
    assert_eq!(world.agg(held.run.id).await.effects[0].payload, r#"{"text":"short"}"#);
    world.verify(held.run.id).await;
}

#[tokio::test]
async fn whoever_may_not_decide_learns_nothing_of_the_rules_for_effects() {
    let schema = json!({"properties": {"text": {"maxLength": 9}}});
    let world = World::with(Options { effect_schema: Some(schema), ..asks() });
    let held = waiting(&world, "k").await;
    let wish = edit_of(&world, held.run.id, &[r#"{"text":"far too long"}"#]).await;
    let stranger = Person { roles: ["admin".into()].into(), ..lead("dora") };

    let Err(error) = decide(&world, held.run.id, &stranger, &wish).await else { panic!("taken") };

    assert_eq!(error.code(), "not_in_audience");
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_31_an_edit_against_a_rejection_is_one_decision_in_each_of_200_rounds() {
    // An editor alone is enough here, so that each of the two ends the approval.
    let world = World::with(Options { separation: false, ..asks() });
    let mut sent = 0;
    for round in 0..200 {
        let held = waiting(&world, &format!("k{round}")).await;
        let id = held.run.id;
        let (anna, bo) = (lead("anna"), lead("bo"));
        let wish = edit_of(&world, id, &[r#"{"text":"mended"}"#]).await;

        let (edit, other) = match round % 4 {
            0 => tokio::join!(decide(&world, id, &anna, &wish), world.decide(id, &bo, Verdict::Reject)),
            1 => tokio::join!(decide(&world, id, &anna, &wish), world.decide(id, &bo, Verdict::Approve)),
            2 => {
                let edit = decide(&world, id, &anna, &wish).await;
                world.clock.advance_ms(100);
                (edit, world.decide(id, &bo, Verdict::Reject).await)
            }
            // The same person, the same token, twice with different words.
            _ => {
                let no = world.decide(id, &anna, Verdict::Reject).await;
                world.clock.advance_ms(100);
                (decide(&world, id, &anna, &wish).await, no)
            }
        };

        let edited = edit.is_ok();
        let lost = if edited { other } else { edit };
        assert!(
            matches!(lost, Err(EngineError::DecisionRefused { why: Refused::Over | Refused::Changed { .. }, .. })),
            "{round}: {lost:?}"
        );
        let agg = world.agg(id).await;
        let rejected = agg.run.state.reason() == Some("rejected");
        assert_eq!(agg.effects.len(), usize::from(!rejected), "{round}");
        assert_eq!(agg.approval().unwrap().decisions.len(), 1, "{round}");
        if let Some(effect) = agg.effects.first() {
            let text = if edited { "mended" } else { "hello" };
            assert_eq!(effect.payload, format!(r#"{{"text":"{text}"}}"#), "{round}");
            assert!(effect.is_decided());
            sent += 1;
        }
        let kinds = world.kinds(id).await;
        let of = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
        assert_eq!((of("decided"), of("decision_refused"), of("edited")), (1, 1, usize::from(edited)), "{kinds:?}");
    }
    while world.round().await > 0 {}
    assert_eq!(world.provider.executed(), sent);
    world.verify_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_31_an_approval_that_an_edit_overtook_sends_nothing_and_is_told_what_changed() {
    let world = World::with(asks());
    for round in 0..50 {
        let held = waiting(&world, &format!("k{round}")).await;
        let id = held.run.id;
        let shown = world.agg(id).await.approval().unwrap().effects_hash;
        let (edit, yes) = (
            edit_of(&world, id, &[r#"{"text":"mended"}"#]).await,
            Wish { verdict: Verdict::Approve, reason: None, shown, edited: None },
        );
        let (anna, bo) = (lead("anna"), lead("bo"));

        let (edited, approved) = tokio::join!(decide(&world, id, &anna, &edit), decide(&world, id, &bo, &yes));

        let agg = world.agg(id).await;
        if edited.is_err() {
            assert!(approved.is_ok());
            assert_eq!(agg.effects[0].payload, r#"{"text":"hello"}"#);
            continue;
        }
        let Err(EngineError::DecisionRefused { why: Refused::Changed { .. }, changes, approval, .. }) = approved else {
            panic!("{round}: {approved:?}")
        };
        assert!(agg.effects.is_empty());
        assert_eq!((changes.len(), changes[0].place.pointer.as_str()), (1, "/text"));
        assert_eq!(changes[0].after.as_ref().unwrap().get(), r#""mended""#);
        assert_eq!((approval.approvals, approval.wanted, approval.wanted_by_non_editor), (1, 1, true));
        world.decide(id, &bo, Verdict::Approve).await.unwrap();
        assert_eq!(world.agg(id).await.effects[0].payload, r#"{"text":"mended"}"#);
    }
    world.verify_all().await;
}

#[tokio::test]
async fn hc_32_nobody_gets_an_own_request_through_by_editing_it() {
    let audience = vec!["role:support-lead".into(), "t@example.test".into()];
    let world = World::with(Options { audience, login: effectgate_core::flow::Login::Token, ..asks() });
    let held = world.grant("k", "w").await;
    let request =
        Request { requested_by: Some(" S@Example.TEST ".into()), ..asked(&[("note", "c-1", r#"{"amount":0.01}"#)]) };
    world.engine.propose(&world.call(&held, "proposal", "p"), &request).await.unwrap();
    let wish = edit_of(&world, held.run.id, &[r#"{"amount":0.02}"#]).await;
    let s = lead("s");
    let by_link = Person { subject: Subject::mail("S@EXAMPLE.test"), sign_in: SignIn::Token, ..s.clone() };

    for person in [
        s.clone(),
        Person { roles: ["admin".into(), "support-lead".into()].into(), ..s.clone() },
        Person { aliases: [Subject::mail("s@example.test"), Subject::mail("t@example.test")].into(), ..s.clone() },
        by_link,
    ] {
        let refused = decide(&world, held.run.id, &person, &wish).await;
        assert!(
            matches!(&refused, Err(EngineError::DecisionRefused { why: Refused::SeparationOfDuties, .. })),
            "{person:?}: {refused:?}"
        );
    }
    assert_eq!(world.agg(held.run.id).await.approval().unwrap().edits, []);
    assert_eq!(world.facts(held.run.id, "decision_refused").await.len(), 4);

    // T edits, and T alone is not enough: neither by another name nor as an administrator.
    let t = Person { roles: ["admin".into(), "support-lead".into()].into(), ..lead("t") };
    decide(&world, held.run.id, &t, &wish).await.unwrap();
    let link_of_t = Person { subject: Subject::mail("t@example.test"), sign_in: SignIn::Token, ..t };
    for (who, expected) in [(&link_of_t, "already_decided"), (&s, "separation_of_duties")] {
        let Err(error) = world.decide(held.run.id, who, Verdict::Approve).await else { panic!("{who:?}") };
        assert_eq!(error.code(), expected);
    }
    assert!(world.agg(held.run.id).await.effects.is_empty());
    world.decide(held.run.id, &lead("u"), Verdict::Approve).await.unwrap();
    assert_eq!(world.agg(held.run.id).await.effects.len(), 1);
}

#[tokio::test]
async fn hc_32_who_approves_and_edits_back_to_the_same_effects_is_one_of_a_quorum() {
    let world = World::with(Options { quorum: 2, separation: false, ..asks() });
    let held = waiting(&world, "k").await;
    let (anna, bo) = (lead("anna"), lead("bo"));
    world.decide(held.run.id, &anna, Verdict::Approve).await.unwrap();
    let other = edit_of(&world, held.run.id, &[r#"{"text":"other"}"#]).await;
    decide(&world, held.run.id, &bo, &other).await.unwrap();

    let back = edit_of(&world, held.run.id, &[r#"{"text":"hello"}"#]).await;
    decide(&world, held.run.id, &anna, &back).await.unwrap();

    let agg = world.agg(held.run.id).await;
    let approval = agg.approval().unwrap();
    assert_eq!((approval.approvals().count(), approval.wants().more, agg.effects.len()), (1, 1, 0));
    world.decide(held.run.id, &lead("carl"), Verdict::Approve).await.unwrap();
    assert_eq!(world.agg(held.run.id).await.effects.len(), 1);
}

#[tokio::test]
async fn hc_32_an_account_and_a_single_sign_on_with_one_address_are_one_person() {
    let world = World::with(Options { quorum: 2, ..asks() });
    let tenant = &world.caller.tenant;
    let put = effectgate_engine::people::UserPut {
        name: "anna".into(),
        email: Some("Anna@House.test".into()),
        password_hash: Some("x".into()),
        roles: vec!["support-lead".into()],
    };
    world.engine.user_put(tenant, &crate::common::olga(), &put).await.unwrap();
    let held = world.grant("k", "w").await;
    let request = Request { requested_by: Some("anna".into()), ..asked(&[("note", "c-1", r#"{"text":"x"}"#)]) };
    world.engine.propose(&world.call(&held, "proposal", "p"), &request).await.unwrap();
    let signed_on = |address: &str| Person {
        subject: Subject::single_sign_on("https://sso.test", "4711"),
        aliases: BTreeSet::from([Subject::mail(address)]),
        ..lead("x")
    };

    let own = world.decide(held.run.id, &signed_on("anna@house.test"), Verdict::Approve).await;
    assert_eq!(own.unwrap_err().code(), "separation_of_duties");
    world.decide(held.run.id, &signed_on("berta@house.test"), Verdict::Approve).await.unwrap();
}

#[tokio::test]
async fn hc_32_an_account_that_reads_like_another_is_not_made() {
    let world = World::with(asks());
    let put = |name: &str| effectgate_engine::people::UserPut {
        name: name.into(),
        password_hash: Some("x".into()),
        ..effectgate_engine::people::UserPut::default()
    };
    let made = async |name| world.engine.user_put(&world.caller.tenant, &crate::common::olga(), &put(name)).await;

    for same in ["an\u{200b}na", "\u{202e}anna", "\u{ff41}nna", "anna\u{feff}"] {
        assert_eq!(made(same).await.unwrap_err().code(), "bad_member", "{same:?}");
    }
    for plain in ["anna", "Åsa", "maria-josé", "ирина", "anna@house.test"] {
        assert!(made(plain).await.unwrap(), "{plain}");
    }
}

#[tokio::test]
async fn a_repeated_click_on_edit_gets_the_first_answer_whatever_has_happened_since() {
    let world = World::with(asks());
    let held = waiting(&world, "k").await;
    let wish = edit_of(&world, held.run.id, &[r#"{"text":"mended"}"#]).await;
    let anna = lead("anna");

    let first = decide(&world, held.run.id, &anna, &wish).await.unwrap();
    let again = decide(&world, held.run.id, &anna, &wish).await.unwrap();
    world.decide(held.run.id, &lead("bo"), Verdict::Approve).await.unwrap();
    let late = decide(&world, held.run.id, &anna, &wish).await.unwrap();

    assert_eq!((first.repeated, again.repeated, late.repeated), (false, true, true));
    assert_eq!((again.run.state.as_str(), late.run.state.as_str()), ("awaiting_human", "approved"));
    assert_eq!(world.agg(held.run.id).await.approval().unwrap().edits.len(), 1);
}

#[tokio::test]
async fn an_erased_edit_leaves_the_record_and_a_chain_that_verifies() {
    let world = World::with(asks());
    let held = waiting(&world, "k").await;
    let wish = edit_of(&world, held.run.id, &[r#"{"text":"a secret of Anna"}"#]).await;
    decide(&world, held.run.id, &lead("anna"), &wish).await.unwrap();
    world.decide(held.run.id, &lead("bo"), Verdict::Approve).await.unwrap();
    world.round().await;

    world.clock.advance_ms(31 * 24 * crate::common::HOUR);
    world.engine.sweep_tick().await.unwrap();

    let agg = world.agg(held.run.id).await;
    let approval = agg.approval().unwrap();
    assert_eq!((approval.edits.len(), approval.decisions.len()), (0, 2));
    let entries = world.store.journal_read(held.run.id, 0, 1_000).await.unwrap();
    assert!(entries.iter().any(|e| e.kind == "edited"));
    assert!(entries.iter().all(|e| !e.text.contains("secret") && !e.text.contains("hello")));
    world.verify(held.run.id).await;
}
