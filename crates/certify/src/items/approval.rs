//! Decided bytes: a decision is about the bytes that were shown, and those bytes leave. Held against what the provider
//! received.

use sha2::{Digest as _, Sha256};

use crate::{
    evidence::{Done, Evidence},
    ground::Flow,
    stage::{Stage, word},
};

/// Odd on purpose: an order of members, an escape and a number that a careless hand would write in another way.
const PAYLOAD: &str = r#"{"zeta":1.50, "alpha":"Grüße \u0041","big":9007199254740993}"#;

pub(super) async fn decided_bytes(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    stage.far()?;
    let lease = stage.leased(Flow::Link, "card").await?;
    let (before, after) = stage
        .effect("card", &serde_json::Value::Null)
        .to_string()
        .rsplit_once("null")
        .map_or_else(|| (String::new(), String::new()), |(before, after)| (before.to_owned(), after.to_owned()));
    let effect = format!("{before}{PAYLOAD}{after}");
    let proposal =
        format!(r#"{{"owner":"{}","fence":{},"output":{{}},"effects":[{effect}]}}"#, lease.owner, lease.fence);
    let answer = stage.gate.post_text(&format!("/v1/runs/{}/proposal", lease.run), proposal).await?;
    let waiting = stage.as_waiting(Flow::Link, "card", lease, &answer, seen)?;

    let form = stage.form(&waiting.link, "approve").await?;
    let other = hex::encode(Sha256::digest(b"other bytes"));
    let stale = stage.gate.submit(&form.clone().with("effects_hash", &other)).await?;
    seen.count("a decision about other bytes than those on the card", usize::from(stale.status), 409);
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after it", &word(&run, "/state"), &["awaiting_human"]);
    let click = stage.gate.submit(&form).await?;
    seen.check(click.status < 400, format!("the decision about the card's own bytes: {}", click.status));
    let run = stage.until_effect(&waiting.run, &["completed"]).await?;

    let bodies: Vec<Vec<u8>> =
        stage.far()?.ledger().into_iter().filter(|e| e.path == waiting.path).map(|e| e.body).collect();
    seen.count("requests that the provider executed", bodies.len(), 1);
    let body = bodies.first().cloned().unwrap_or_default();
    let hash = format!("sha256:{}", hex::encode(Sha256::digest(&body)));
    seen.word(
        "SHA-256 of what the provider received, against the decided hash",
        &hash,
        &[&word(&run, "/effects/0/payload_hash")],
    );
    seen.check(
        body == PAYLOAD.as_bytes(),
        format!("the {} bytes are those of the proposal, each as it was", body.len()),
    );
    Ok(())
}
