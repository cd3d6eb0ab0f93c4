//! A user's own workflow under what happens on real networks: events that come twice, ten at once, again after hours,
//! and a provider whose answer is lost. Whatever the workflow is made of, the sandbox must have had one effect.

use std::time::{Duration, Instant};

use effectgate_relay::Fault;
use futures_util::future::join_all;
use tokio::time::sleep;

use crate::{
    evidence::{Done, Evidence, Stop},
    http::{Answer, NoAnswer},
    stage::Stage,
    workflow::{Mark, Workflow},
};

/// As many as a sender with an impatient retry makes at once.
const DELIVERIES: usize = 10;
/// A workflow with a model in it takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
const PERIOD: Duration = Duration::from_millis(50);

fn workflow<'a>(stage: &'a Stage<'_>) -> Done<&'a Workflow> {
    let none = || Stop::NotApplicable("no workflow was named: --workflow URL --provider-sandbox URL".to_owned());
    stage.workflow().ok_or_else(none)
}

/// One event, one delivery: without this the others would show nothing.
pub(super) async fn once(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = workflow(stage)?;
    let (id, mark) = (stage.event(), flow.mark().await?);
    seen.note(format!("an event was delivered once: {}", said(&flow.deliver(&id).await)));
    settled(stage, flow, mark).await?;
    judged(seen, flow, mark).await
}

pub(super) async fn duplicate(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = workflow(stage)?;
    let (id, mark) = (stage.event(), flow.mark().await?);
    let answers = join_all((0..DELIVERIES).map(|_| flow.deliver(&id))).await;
    let statuses: Vec<String> = answers.iter().map(said).collect();
    seen.note(format!("an event was delivered {DELIVERIES} times at once: {}", statuses.join(", ")));
    settled(stage, flow, mark).await?;
    judged(seen, flow, mark).await
}

/// The provider acts, its answer is lost; whoever sent the event sees a failure or nothing, and sends it again.
pub(super) async fn lost_answer(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = workflow(stage)?;
    let (id, mark) = (stage.event(), flow.mark().await?);
    flow.lose_answer()?;
    let first = async {
        let reached = reached(flow, mark).await;
        flow.lose_no_more();
        reached
    };
    let (answer, reached) = tokio::join!(flow.deliver(&id), first);
    seen.note(format!("an event was delivered: {}", said(&answer)));
    reached?;
    stage.look_on().await;
    let lost = flow.requests(mark).iter().filter(|line| line.fault == Fault::ForwardThenDropResponse).count();
    seen.check(lost > 0, format!("answers of the sandbox that were lost on the way, after it had acted: {lost}"));
    seen.note(format!("the same event was delivered again: {}", said(&flow.deliver(&id).await)));
    stage.look_on().await;
    judged(seen, flow, mark).await
}

pub(super) async fn retry(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = workflow(stage)?;
    let (id, mark) = (stage.event(), flow.mark().await?);
    seen.note(format!("an event was delivered: {}", said(&flow.deliver(&id).await)));
    settled(stage, flow, mark).await?;
    for n in 1..=3 {
        seen.note(format!(
            "it was delivered again ({n} of 3), one after the other: {}",
            said(&flow.deliver(&id).await)
        ));
    }
    stage.look_on().await;
    judged(seen, flow, mark).await
}

fn said(answer: &Result<Answer, NoAnswer>) -> String {
    match answer {
        Ok(answer) => answer.status.to_string(),
        Err(error) => format!("no answer ({})", error.why),
    }
}

/// Waits for the first request at the sandbox, and then for as long as several sweeps take.
async fn settled(stage: &Stage<'_>, flow: &Workflow, mark: Mark) -> Done {
    reached(flow, mark).await?;
    stage.look_on().await;
    Ok(())
}

async fn reached(flow: &Workflow, mark: Mark) -> Done {
    let began = Instant::now();
    while flow.requests(mark).is_empty() {
        if began.elapsed() > PATIENCE {
            let (seconds, relay) = (PATIENCE.as_secs(), flow.relay_url());
            let why = format!("no request went through the relay at {relay} within {seconds} s");
            return Err(Stop::Error(format!("{why}; is it the address of the workflow's provider?")));
        }
        sleep(PERIOD).await;
    }
    Ok(())
}

async fn judged(seen: &mut Evidence, flow: &Workflow, mark: Mark) -> Done {
    for line in flow.requests(mark) {
        seen.note(format!("through the relay: {line}"));
    }
    seen.count("effects at the sandbox", flow.effects(mark).await?, 1);
    Ok(())
}
