//! An approval's link in wrong hands and in impatient ones: requests that come from another site, and a button that is
//! pressed again.

use futures_util::future::join_all;

use crate::{
    evidence::{Done, Evidence},
    gate::{FOREIGN, Who},
    ground::Flow,
    stage::{Stage, word},
};

const FORM: &str = "application/x-www-form-urlencoded";

/// A page of another site, a script without the form's token, JSON in a form's clothes: none of them decides.
pub(super) async fn csrf(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let waiting = stage.waiting(Flow::Link, "card", seen).await?;
    let form = stage.form(&waiting.link, "approve").await?;
    let json = r#"{"decision":"approve"}"#.to_owned();
    let mut no_cookie = form.clone();
    no_cookie.cookies = None;
    let tries = [
        ("from another origin", &form, Some(FOREIGN), FORM, form.body()),
        ("with another form's token", &form, None, FORM, form.clone().with("csrf", "x").body()),
        ("without a token", &form, None, FORM, form.clone().without("csrf").body()),
        ("without the visit's cookie", &no_cookie, None, FORM, form.body()),
        ("as JSON", &form, None, "application/json", json.clone()),
        ("as plain text", &form, None, "text/plain", json),
    ];
    for (what, form, origin, media, body) in tries {
        let answer = stage.gate.submit_from(form, origin, media, body).await?;
        seen.check(answer.status >= 400, format!("the decision, sent {what}: {}", answer.status));
    }
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after all that", &word(&run, "/state"), &["awaiting_human"]);
    let click = stage.gate.submit(&form).await?;
    seen.check(click.status < 400, format!("the form of the card itself: {}", click.status));
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after it", &word(&run, "/state"), &["approved", "completed"]);
    of_sessions(stage, seen).await
}

/// The same for the session of a person who is signed in.
async fn of_sessions(stage: &Stage<'_>, seen: &mut Evidence) -> Done {
    let Some(login) = stage.maybe_approver() else {
        seen.note("the session of a signed-in person was not tried: nobody was named with --login");
        return Ok(());
    };
    let waiting = stage.waiting(Flow::Role, "session", seen).await?;
    let session = stage.gate.sign_in(&login).await?;
    let foreign = stage.gate.decide(Who::ForeignPage(&session), &waiting.approval, "approve").await?;
    seen.word("another site's page with a person's session", &foreign.word(), &["cross_site"]);
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after it", &word(&run, "/state"), &["awaiting_human"]);
    stage.withdraw(&waiting.approval).await
}

/// One click decides. The same again, even five at once, gets the same answer and no second effect; another decision
/// afterwards is refused.
pub(super) async fn replay(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    stage.far()?;
    let waiting = stage.waiting(Flow::Link, "card", seen).await?;
    let approve = stage.form(&waiting.link, "approve").await?;
    let reject = stage.form(&waiting.link, "reject").await?.with("reason", "changed my mind");
    let clicks = join_all((0..5).map(|_| stage.gate.submit(&approve))).await.into_iter().collect::<Done<Vec<_>>>()?;
    let statuses: Vec<u16> = clicks.iter().map(|click| click.status).collect();
    seen.check(statuses.iter().all(|status| *status < 400), format!("five clicks at once: {statuses:?}"));
    stage.until_effect(&waiting.run, &["completed"]).await?;
    let again = stage.gate.submit(&approve).await?;
    seen.check(again.status < 400, format!("the same click once it is sent: {}", again.status));
    let contrary = stage.gate.submit(&reject).await?;
    seen.count("another decision with the same link", usize::from(contrary.status), 409);
    stage.look_on().await;
    seen.count("effects at the provider", stage.executed(&waiting.path)?, 1);
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run", &word(&run, "/state"), &["completed"]);
    let (_, entries) = stage.gate.journal(&waiting.run).await?;
    seen.count("decisions in the journal", entries.iter().filter(|entry| entry["kind"] == "decided").count(), 1);
    Ok(())
}
