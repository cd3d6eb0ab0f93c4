//! Who decides: a signed-in person of the audience, and nobody else. Every other way is tried first.

use serde_json::json;

use crate::{
    evidence::{Done, Evidence},
    gate::Who,
    ground::Flow,
    stage::{Stage, payload, word},
};

pub(super) async fn role(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let (approver, stranger) = (stage.approver()?, stage.stranger()?);
    let waiting = stage.waiting(Flow::Role, "card", seen).await?;
    let as_key = stage.gate.decide(Who::Key, &waiting.approval, "approve").await?;
    seen.word("an API key, whatever its scopes", &as_key.word(), &["cannot_decide"]);
    let as_nobody = stage.gate.decide(Who::Nobody, &waiting.approval, "approve").await?;
    seen.count("somebody who is not signed in", usize::from(as_nobody.status), 401);
    let has_form = stage.gate.form(&waiting.link, "approve").await?.is_some();
    seen.check(
        !has_form,
        format!("a form to decide behind the bare link: {}", if has_form { "there" } else { "none" }),
    );
    let other = stage.gate.sign_in(&stranger).await?;
    let as_stranger = stage.gate.decide(Who::Session(&other), &waiting.approval, "approve").await?;
    seen.word("a signed-in person without the role", &as_stranger.word(), &["not_in_audience"]);
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after all that", &word(&run, "/state"), &["awaiting_human"]);

    let session = stage.gate.sign_in(&approver).await?;
    own_request(stage, seen, &approver.user, &session).await?;
    let decided = stage.gate.decide(Who::Session(&session), &waiting.approval, "approve").await?;
    seen.count("a signed-in person of the role", usize::from(decided.status), 200);
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after it", &word(&run, "/state"), &["approved", "completed"]);
    let who = word(&run, "/approval/decisions/0/subject");
    seen.check(who.contains(&approver.user), format!("who decided, as the run names them: {who}"));
    Ok(())
}

/// The same person does not approve what they asked for.
async fn own_request(stage: &Stage<'_>, seen: &mut Evidence, user: &str, session: &crate::gate::Session) -> Done {
    let lease = stage.leased(Flow::Role, "own").await?;
    let effect = stage.effect("own", &payload("own"));
    let proposal = json!({ "output": {}, "effects": [effect], "requested_by": format!("user:{user}") });
    let answer = stage.gate.under(&lease, "proposal", proposal).await?;
    let waiting = stage.as_waiting(Flow::Role, "own", lease, &answer, seen)?;
    let decided = stage.gate.decide(Who::Session(session), &waiting.approval, "approve").await?;
    seen.word("that person, on their own request", &decided.word(), &["separation_of_duties"]);
    stage.withdraw(&waiting.approval).await
}
