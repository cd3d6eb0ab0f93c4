//! Reading runs: find, get, explain, journal.

use axum::extract::State;
use effectgate_core::{
    ids::{FlowName, RunId},
    journal::SealedEntry,
    run::RunState,
    time::Timestamp,
};
use effectgate_engine::{EngineError, explain::Explanation, view::RunView};
use effectgate_store::RunFilter;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::{Reply, may_touch};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Need as _, Read, ReadResult},
    },
    problem::{Code, Problem, Result},
    request::{Id, Query, limit, moment},
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunQuery {
    flow: Option<String>,
    /// The whole key, exactly.
    key: Option<String>,
    state: Option<String>,
    /// Created at or after, RFC 3339.
    since: Option<String>,
    /// Created before, RFC 3339.
    until: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; 50 by default.
    limit: Option<u32>,
}

/// A page of runs, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunList {
    runs: Vec<RunView>,
    /// With `cursor=` the next page; null on the last one.
    next_cursor: Option<String>,
}

/// Children are read run by run; this many at once keeps a page quick and the pool free for others.
const READS_AT_ONCE: usize = 4;

/// Find runs.
#[utoipa::path(get, path = "/v1/runs", operation_id = "find_runs", tag = "runs", params(RunQuery),
    responses((status = 200, description = "A page, newest first", body = RunList)))]
pub(crate) async fn find(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Query(query): Query<RunQuery>,
) -> Result<Reply> {
    let page = app.engine.store().run_find(who.tenant(), &query.filter()?).await?;
    let seen = page.items.into_iter().filter(|run| who.may_touch(run.flow.as_str()));
    let views = seen.map(|run| {
        let (engine, tenant) = (app.engine.clone(), who.tenant().clone());
        async move {
            match engine.run(&tenant, run.id).await {
                Ok(view) => Ok(Some(view)),
                // Purged since the page was read.
                Err(EngineError::NotFound(_)) => Ok(None),
                Err(error) => Err(Problem::from(error)),
            }
        }
    });
    let runs: Vec<Option<RunView>> = stream::iter(views).buffered(READS_AT_ONCE).try_collect().await?;
    let runs = runs.into_iter().flatten().map(|run| shown(&who, run)).collect();
    Ok(Reply::ok(&RunList { runs, next_cursor: page.next }))
}

/// The run without its result where that is not the caller's to see.
fn shown(who: &Identity, run: RunView) -> RunView {
    let result = run.result.filter(|_| who.need(ReadResult::ANY_OF).is_ok());
    RunView { result, ..run }
}

impl RunQuery {
    fn filter(self) -> Result<RunFilter> {
        if let Some(state) = &self.state
            && !RunState::WORDS.contains(&state.as_str())
        {
            let said = format!("state must be one of {}", RunState::WORDS.join(", "));
            return Err(Problem::new(Code::BadParameter, said));
        }
        Ok(RunFilter {
            flow: self.flow.map(FlowName::new),
            key: self.key,
            state: self.state,
            since: moment("since", self.since.as_deref())?,
            until: moment("until", self.until.as_deref())?,
            cursor: self.cursor,
            limit: limit(self.limit)?,
        })
    }
}

/// Read a run.
#[utoipa::path(get, path = "/v1/runs/{id}", operation_id = "get_run", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The run as it is now", body = RunView)))]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Id(run): Id<RunId>,
) -> Result<Reply> {
    let run = app.engine.run(who.tenant(), run).await?;
    if !who.may_touch(&run.flow) {
        return Err(Problem::new(Code::NotFound, "there is no run of this id"));
    }
    Ok(Reply::ok(&shown(&who, run)))
}

/// Explain a run: was it processed, was it sent, why not, who approved, what would make it go.
#[utoipa::path(get, path = "/v1/runs/{id}/explain", operation_id = "explain_run", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The story, with one reason code", body = Explanation)))]
pub(crate) async fn explain(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Id(run): Id<RunId>,
) -> Result<Reply> {
    may_touch(&app, &who, run).await?;
    Ok(Reply::ok(&app.engine.explain(who.tenant(), run).await?))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JournalQuery {
    /// Entries after this number.
    after: Option<i64>,
    /// 1 to 200; 50 by default.
    limit: Option<u32>,
}

/// A page of a run's journal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JournalPage {
    entries: Vec<EntryView>,
    /// With `after=` the next page; null on the last one.
    next_after: Option<i64>,
}

/// One entry; `hash` is SHA-256 over the bytes of `entry` exactly as they stand here.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryView {
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub seq: i64,
    #[schema(value_type = String)]
    pub at: Timestamp,
    pub kind: String,
    pub hash: String,
    #[schema(value_type = Object)]
    pub entry: Option<Box<RawValue>>,
}

impl From<SealedEntry> for EntryView {
    fn from(entry: SealedEntry) -> Self {
        Self {
            run_id: entry.run,
            seq: entry.seq,
            at: entry.at,
            kind: entry.kind,
            hash: entry.hash.to_string(),
            entry: RawValue::from_string(entry.text).ok(),
        }
    }
}

/// Read a run's journal.
#[utoipa::path(get, path = "/v1/runs/{id}/journal", operation_id = "read_journal", tag = "runs",
    params(("id" = String, Path, description = "The run"), JournalQuery),
    responses((status = 200, description = "A page, oldest first", body = JournalPage)))]
pub(crate) async fn journal(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Read>,
    Id(run): Id<RunId>,
    Query(query): Query<JournalQuery>,
) -> Result<Reply> {
    may_touch(&app, &who, run).await?;
    let limit = limit(query.limit)?;
    let entries = app.engine.journal(who.tenant(), run, query.after.unwrap_or(0), limit).await?;
    let is_full = entries.len() == limit as usize;
    let next_after = entries.last().map(|entry| entry.seq).filter(|_| is_full);
    Ok(Reply::ok(&JournalPage { entries: entries.into_iter().map(EntryView::from).collect(), next_after }))
}
