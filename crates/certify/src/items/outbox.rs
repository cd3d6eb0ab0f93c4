//! What an approval does: nothing before it, and after it one row in the outbox, which a worker sends. Shown by holding
//! that worker back with the flow's switch: the decision is made, and still nothing has left.

use http::Method;
use serde_json::Value;

use crate::{
    evidence::{Done, Evidence},
    gate::Link,
    ground::Flow,
    stage::{Stage, Waiting, word},
};

pub(super) async fn only(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    stage.far()?;
    let waiting = stage.waiting(Flow::Link, "card", seen).await?;
    looked_at(stage, seen, &waiting.link).await?;
    stage.look_on().await;
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run after them", &word(&run, "/state"), &["awaiting_human"]);
    seen.count("rows of the run in the outbox before the decision", effects(&run), 0);
    seen.count("requests at the provider before the decision", arrived(stage, &waiting.path)?, 0);

    let flow = stage.flow(Flow::Link)?;
    stage.gate.turn(&flow, false).await?;
    let decided = decided(stage, seen, &waiting).await;
    // Whatever came of it, the switch is turned on again.
    stage.gate.turn(&flow, true).await?;
    decided?;
    let run = stage.until_effect(&waiting.run, &["completed"]).await?;
    seen.word("the run with the switch on again", &word(&run, "/state"), &["completed", "approved"]);
    seen.count("effects at the provider", stage.executed(&waiting.path)?, 1);
    in_order(stage, seen, &waiting.run).await
}

/// The link as mail scanners, link previews and people open it.
async fn looked_at(stage: &Stage<'_>, seen: &mut Evidence, link: &Link) -> Done {
    let prefetch: &[(&'static str, &str)] = &[("purpose", "prefetch"), ("sec-purpose", "prefetch")];
    for (method, headers) in
        [(Method::HEAD, &[][..]), (Method::GET, &[]), (Method::GET, prefetch), (Method::OPTIONS, &[])]
    {
        stage.gate.visit(link, method, headers).await?;
    }
    seen.note("the link was opened by HEAD, GET, a prefetching GET and OPTIONS");
    Ok(())
}

/// The decision while the worker that sends is held back.
async fn decided(stage: &Stage<'_>, seen: &mut Evidence, waiting: &Waiting) -> Done {
    let form = stage.form(&waiting.link, "approve").await?;
    let click = stage.gate.submit(&form).await?;
    seen.check(click.status < 400, format!("a person approves while the flow's switch is off: {}", click.status));
    stage.look_on().await;
    let run = stage.gate.run(&waiting.run).await?;
    seen.word("the run then", &word(&run, "/state"), &["approved"]);
    seen.count("its rows in the outbox", effects(&run), 1);
    let stands = format!("{} ({})", word(&run, "/effects/0/state"), word(&run, "/effects/0/reason"));
    seen.word("how that row stands", &stands, &["pending (switch_off)"]);
    seen.count("requests at the provider after the decision, switch off", arrived(stage, &waiting.path)?, 0);
    Ok(())
}

async fn in_order(stage: &Stage<'_>, seen: &mut Evidence, run: &str) -> Done {
    let (_, entries) = stage.gate.journal(run).await?;
    let place = |kind: &str| entries.iter().position(|entry| entry["kind"] == kind);
    let order = [place("decided"), place("effect_queued"), place("attempt_started")];
    let in_order = order.iter().all(Option::is_some) && order.is_sorted();
    seen.check(in_order, "the journal has them in this order: decided, effect_queued, attempt_started");
    Ok(())
}

fn effects(run: &Value) -> usize {
    run["effects"].as_array().map_or(0, Vec::len)
}

fn arrived(stage: &Stage<'_>, path: &str) -> Done<usize> {
    Ok(stage.far()?.arrived(path).len())
}
