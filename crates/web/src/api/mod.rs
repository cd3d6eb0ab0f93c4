//! The API: a file for each noun of SPEC section 18. Each handler reads strictly, calls one verb of the engine in a task
//! of its own, and answers in WIRE's words.

pub(crate) mod approvals;
pub(crate) mod batch;
pub(crate) mod claim;
pub(crate) mod correct;
pub(crate) mod decide;
pub(crate) mod effects;
pub(crate) mod ending;
pub(crate) mod inline;
pub(crate) mod journal;
mod key_given;
pub(crate) mod look;
pub(crate) mod operate;
pub(crate) mod proposal;
pub(crate) mod renew;
pub(crate) mod replays;
mod reply;
pub(crate) mod reserve;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod subscriptions;
pub(crate) mod switches;
pub(crate) mod whoami;

use effectgate_core::ids::{Fence, RunId};
use effectgate_engine::call::{self, LeaseCall};
pub(crate) use key_given::IDEMPOTENCY_KEY;
pub(crate) use reply::{REPLAYED, Reply, detached};

use crate::{
    app::App,
    auth::Identity,
    problem::{Code, Problem, Result},
};

/// A call under a lease: who, which run, and the bytes that make a repeat of it recognisable.
pub(crate) fn lease_call(
    who: &Identity,
    run: RunId,
    owner: &str,
    fence: i64,
    operation: &str,
    body: &[u8],
) -> Result<LeaseCall> {
    let owner = call::owner(owner)?;
    Ok(LeaseCall::new(who.tenant().clone(), run, owner, Fence(fence), operation, body))
}

/// Asks that the run belongs to a flow the caller may touch. Others are not there for this caller.
pub(crate) async fn may_touch(app: &App, who: &Identity, run: RunId) -> Result<()> {
    if !who.is_restricted() {
        return Ok(());
    }
    let run = app.engine.run(who.tenant(), run).await?;
    if who.may_touch(&run.flow) { Ok(()) } else { Err(Problem::new(Code::NotFound, "there is no run of this id")) }
}

/// Asks that the caller may touch the flow it names.
pub(crate) fn may_name(who: &Identity, flow: &str) -> Result<()> {
    if who.may_touch(flow) {
        return Ok(());
    }
    Err(Problem::new(Code::Forbidden, "this API key is restricted to other flows").at("/flow"))
}
