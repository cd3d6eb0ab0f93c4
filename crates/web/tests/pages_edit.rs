//! Edit and approve: the form, what comes of it, what stands in the way, and that nothing typed is lost.
#![allow(clippy::unwrap_used)]

mod pages_common;

use pages_common::{Browser, MAIL, Options, World};
use serde_json::json;

fn schema() -> serde_json::Value {
    json!({
        "type": "object", "required": ["to", "subject", "text"], "additionalProperties": false,
        "properties": {
            "to": {"type": "string", "readOnly": true},
            "subject": {"type": "string", "minLength": 3, "description": "What the customer sees first"},
            "text": {"type": "string", "maxLength": 5000},
            "copies": {"type": "integer", "minimum": 1}
        }
    })
}

fn options(quorum: i32) -> Options {
    let audience = vec!["role:support-lead".to_owned()];
    Options { audience, quorum, schema: Some(schema()), ..Options::default() }
}

/// A world with a run that waits, and where its card is.
async fn waiting(options: &Options) -> (World, effectgate_core::ids::RunId, String) {
    let world = World::new(options);
    for name in ["anna", "bert", "cleo"] {
        world.user(name, &["support-lead"]).await;
    }
    let run = world.waiting("k", &[MAIL]).await;
    let path = format!("/approvals/{}", world.agg(run).await.approval().unwrap().id);
    (world, run, path)
}

fn payload(agg: &effectgate_core::run::Aggregate) -> String {
    agg.approval().unwrap().proposed[0].payload.clone()
}

#[tokio::test]
async fn the_form_is_made_from_the_schema_and_labelled() {
    let (world, _, path) = waiting(&options(1)).await;

    let page = world.signed_in("anna").await.get(&format!("{path}?edit")).await;

    assert_eq!(page.status, 200);
    for wanted in [
        "<h1>Edit and approve</h1>",
        "name=\"e0/subject\" value=\"Your order\"",
        "What the customer sees first",
        "<textarea id=\"f3\" name=\"e0/text\"",
        "inputmode=\"decimal\"",
        "cannot be changed",
        "Approve with these changes",
        "somebody who edited nothing",
    ] {
        assert!(page.text.to_lowercase().contains(&wanted.to_lowercase()), "{wanted} is missing in {}", page.text);
    }
    assert!(!page.text.contains("name=\"e0/to\""), "a fixed member has no field");
}

#[tokio::test]
async fn an_edit_is_an_approval_of_the_new_version_and_the_card_shows_what_changed() {
    let (world, run, path) = waiting(&options(1)).await;
    let (mut anna, mut bert) = (world.signed_in("anna").await, world.signed_in("bert").await);

    let edited = anna.edit(&path, &[("e0/subject", "Your order 42"), ("e0/text", "Dear Anna,\r\nsorry")]).await;

    assert_eq!((edited.status.as_u16(), edited.header("location")), (303, path.as_str()), "{}", edited.text);
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 1, 0), "the editor is not the only approver");
    let text = "{\"to\":\"anna@example.test\",\"subject\":\"Your order 42\",\"text\":\"Dear Anna,\\nsorry\"}";
    assert_eq!(payload(&world.agg(run).await), text);
    let card = bert.get(&path).await;
    for wanted in ["Edited", "What people changed", "/subject", "Before", "After", "added: ", "nothing"] {
        assert!(card.text.contains(wanted), "{wanted} is missing");
    }
    assert_eq!(bert.decide(&path, "approve", "").await.status, 303);
    let agg = world.agg(run).await;
    assert_eq!((agg.run.state.as_str(), agg.effects[0].payload.as_str()), ("approved", text));
}

#[tokio::test]
async fn mistakes_are_named_at_their_fields_and_nothing_typed_is_lost() {
    let (world, run, path) = waiting(&options(1)).await;
    let mut anna = world.signed_in("anna").await;
    let typed = [("e0/subject", "x"), ("e0/text", "kept <b>text</b>"), ("reason", "a note")];

    for (more, said) in [(("e0/copies", "1,5"), "This is no number"), (("e0/copies", "0"), "minimum")] {
        let fields: Vec<(&str, &str)> = typed.into_iter().chain([more]).collect();
        let answer = anna.edit(&path, &fields).await;

        assert_eq!(answer.status, 422, "{}", answer.text);
        assert!(answer.text.contains("kept &#60;b&#62;text") && answer.text.contains("a note"));
        assert!(answer.text.contains(&format!("value=\"{}\"", more.1)) && answer.text.contains("aria-invalid"));
        assert!(answer.text.contains("href=\"#f4\"") && answer.text.contains("aria-describedby=\"f4-error\""));
        assert!(answer.text.contains(said), "{said} is missing in {}", answer.text);
    }
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0));
    let nothing = anna.edit(&path, &[("e0/subject", "Your order"), ("e0/text", "Dear Anna")]).await;
    assert!(nothing.status == 400 && nothing.text.contains("You changed nothing"), "{}", nothing.text);
}

#[tokio::test]
async fn changed_meanwhile_shows_what_changed_and_keeps_what_was_typed() {
    let (world, run, path) = waiting(&options(2)).await;
    let (mut anna, mut bert) = (world.signed_in("anna").await, world.signed_in("bert").await);
    let (opened, card) = (bert.get(&format!("{path}?edit")).await, bert.get(&path).await);
    assert_eq!(anna.edit(&path, &[("e0/subject", "Changed by Anna")]).await.status, 303);

    let late = bert.fill(&opened, &path, &[("e0/subject", "Your order"), ("e0/text", "Text by Bert")]).await;

    assert_eq!(late.status, 409);
    for wanted in ["This is not what you saw", "Changed by Anna", "Text by Bert", "What changed since"] {
        assert!(late.text.contains(wanted), "{wanted} is missing");
    }
    assert!(
        late.text.contains("name=\"e0/subject\" value=\"Changed by Anna\""),
        "an untouched field shows what is there"
    );
    let approved = bert.press(&card, &path, "approve", "fine by me").await;
    assert!(
        approved.status == 409 && approved.text.contains("Changed by Anna") && approved.text.contains("fine by me")
    );
    let again = bert.fill(&late, &path, &[("e0/subject", "Changed by Anna"), ("e0/text", "Text by Bert")]).await;
    assert_eq!(again.status, 303);
    assert!(payload(&world.agg(run).await).contains("Text by Bert"));
    let seen = anna.get(&path).await;
    assert!(seen.text.contains("does not count") && seen.has_form("approve"), "Anna may decide about the new version");
}

#[tokio::test]
async fn a_session_that_ended_while_somebody_typed_decides_nothing_and_loses_nothing() {
    let (world, run, path) = waiting(&options(1)).await;
    let mut anna = world.signed_in("anna").await;
    let opened = anna.get(&format!("{path}?edit")).await;
    anna.cookies.clear();

    let late = anna.fill(&opened, &path, &[("e0/subject", "Typed for long"), ("e0/text", "Dear Anna")]).await;

    assert_eq!(late.status, 403);
    assert!(late.text.contains("Your session ended while you were writing"), "{}", late.text);
    assert!(!late.text.contains("Your order"), "nothing of the approval is shown to somebody who is not signed in");
    let held = late.hidden_of("<form method=\"post\" action");
    let too_early = anna.post(&path, &held).await;
    assert!(too_early.status == 403 && too_early.text.contains("Typed for long"), "held until the sign-in");
    anna.cookies = world.signed_in("anna").await.cookies;
    let back = anna.post(&path, &held).await;
    assert!(back.status == 403 && back.text.contains("What you typed is still here"), "{}", back.text);
    assert!(back.text.contains("name=\"e0/subject\" value=\"Typed for long\""));
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0), "only the button decides");
    let done = anna.fill(&back, &path, &[("e0/subject", "Typed for long"), ("e0/text", "Dear Anna")]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert!(payload(&world.agg(run).await).contains("Typed for long"));
}

#[tokio::test]
async fn a_reason_comes_back_after_a_new_sign_in_but_not_to_a_form_of_another_site() {
    let (world, run, path) = waiting(&options(1)).await;
    let mut anna = world.signed_in("anna").await;
    let opened = anna.get(&path).await;
    anna.cookies = world.signed_in("anna").await.cookies;

    let late = anna.press(&opened, &path, "reject", "because of this").await;
    assert!(late.status == 403 && late.text.contains("because of this") && late.has_form("reject"), "{}", late.text);

    let body = "csrf=x&decision=reject&reason=words+of+a+stranger".to_owned();
    let form = ("content-type", "application/x-www-form-urlencoded");
    for headers in [vec![form, ("origin", "null")], vec![form, ("sec-fetch-site", "cross-site")]] {
        let foreign = anna.send("POST", &path, &headers, body.clone()).await;
        assert!(foreign.status == 403 && !foreign.text.contains("stranger"), "{}", foreign.text);
    }
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0));
}

#[tokio::test]
async fn an_edit_by_those_who_may_not_is_refused_and_a_get_changes_nothing() {
    let (world, run, path) = waiting(&options(1)).await;
    world.user("otto", &["operator"]).await;
    let mut anna = world.signed_in("anna").await;
    let page = anna.get(&format!("{path}?edit")).await;
    let mut otto = world.signed_in("otto").await;

    let own = otto.get(&format!("{path}?edit")).await;
    assert!(own.status == 200 && !own.text.contains("e0/subject"), "readers get the card");
    let mut fields = otto.get(&path).await.hidden_of("<form class=\"fields withdraw\"");
    fields.extend([("decision".into(), "edit".into()), ("e0/subject".into(), "by Otto".into())]);
    assert_eq!(otto.post(&path, &fields).await.status, 403);
    assert_eq!(world.browser().get(&format!("{path}?edit")).await.status, 303);
    assert_eq!(page.status, 200);
    assert_eq!(world.standing(run).await, ("awaiting_human", "open", 0, 0));
}

#[tokio::test]
async fn an_operator_takes_the_question_back_with_a_reason() {
    let (world, run, path) = waiting(&options(1)).await;
    world.user("otto", &["operator"]).await;
    let (mut otto, mut anna) = (world.signed_in("otto").await, world.signed_in("anna").await);
    assert!(!anna.get(&path).await.has_form("withdraw"));

    let press = async |browser: &mut Browser, reason: &str| {
        let mut fields = browser.get(&path).await.hidden("withdraw");
        fields.extend([("decision".into(), "withdraw".into()), ("reason".into(), reason.into())]);
        browser.post(&path, &fields).await
    };
    assert_eq!(press(&mut otto, " ").await.status, 400);
    assert_eq!(press(&mut otto, "the customer wrote again").await.status, 303);

    assert_eq!(world.standing(run).await, ("failed_terminal", "withdrawn", 0, 0));
    let card = anna.get(&path).await;
    assert!(card.text.contains("Taken back by user:otto") && card.text.contains("the customer wrote again"));
}

#[tokio::test]
async fn within_its_window_an_approved_effect_is_called_back_from_the_card() {
    let (world, run, path) = {
        let world = World::new(&Options { window_ms: 60_000, ..options(1) });
        world.user("anna", &["support-lead"]).await;
        let run = world.waiting("k", &[MAIL, ("refund", "c-1", r#"{"amount":1}"#)]).await;
        let path = format!("/approvals/{}", world.agg(run).await.approval().unwrap().id);
        (world, run, path)
    };
    let mut anna = world.signed_in("anna").await;
    assert!(anna.get(&path).await.text.contains("can be cancelled until then"));
    assert_eq!(anna.decide(&path, "approve", "").await.status, 303);
    let card = anna.get(&path).await;
    let from = card.text.find("id=\"cancel-2\"").expect("a form at the second effect");
    let of_refund = pages_common::browser::Answer { text: card.text[from..].to_owned(), ..card };
    let mut fields = of_refund.hidden("cancel");
    fields.extend([("decision".into(), "cancel".into()), ("reason".into(), "twice".into())]);

    assert_eq!(anna.post(&path, &fields).await.status, 303);

    let states: Vec<&str> = world.agg(run).await.effects.iter().map(|e| e.state.as_str()).collect();
    assert!(states.contains(&"cancelled"), "{states:?}");
}
