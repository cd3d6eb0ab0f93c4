//! GET /v1/journal/verify and /export: for auditors. The export is streamed chain by chain, so that neither side holds
//! all of it; its last line says how much it was, so that a cut is seen.

use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use effectgate_core::ids::{RunId, Tenant};
use effectgate_engine::{Engine, audit::Broken};
use effectgate_store::ChainHead;
use futures_util::stream;
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Reply, runs::EntryView};
use crate::{
    app::App,
    auth::allowed::{Allowed, Audit as MayAudit},
    problem::{Code, Problem, Result},
    request::Query,
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VerifyQuery {
    /// `next_cursor` of the answer before.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VerifyAnswer {
    /// True if no chain in this answer is broken.
    verified: bool,
    chains: u64,
    entries: u64,
    broken: Vec<Broken>,
    /// With `cursor=` the next chains; null when every chain was seen.
    #[schema(value_type = Option<String>)]
    next_cursor: Option<RunId>,
}

/// Chains verified in one request: a few seconds' work.
const CHAINS_MAX: u64 = 10_000;

/// Verify the hash chains of every run and of the house.
#[utoipa::path(get, path = "/v1/journal/verify", operation_id = "verify_journal", tag = "journal", params(VerifyQuery),
    responses((status = 200, description = "What was found; at most 10000 chains in one answer", body = VerifyAnswer)))]
pub(crate) async fn verify(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<MayAudit>,
    Query(query): Query<VerifyQuery>,
) -> Result<Reply> {
    let bad = |_| Problem::new(Code::BadParameter, "cursor is the next_cursor of the answer before");
    let after: Option<RunId> = query.cursor.map(|text| text.parse()).transpose().map_err(bad)?;
    let audit = app.engine.audit(who.tenant(), after, CHAINS_MAX).await?;
    Ok(Reply::ok(&VerifyAnswer {
        verified: audit.broken.is_empty(),
        chains: audit.chains,
        entries: audit.entries,
        broken: audit.broken,
        next_cursor: audit.next,
    }))
}

/// Export the journal as NDJSON, one entry a line.
///
/// `hash` is SHA-256 over the bytes of `entry` as they stand. The last line is `{"end": true, "chains": …, "entries": …}`;
/// without it the export was cut off.
#[utoipa::path(get, path = "/v1/journal/export", operation_id = "export_journal", tag = "journal",
    responses((status = 200, description = "One JSON object a line", body = String, content_type = "application/x-ndjson")))]
pub(crate) async fn export(State(app): State<App>, Allowed { who, .. }: Allowed<MayAudit>) -> Response {
    let walk = Walk::new(app.engine.clone(), who.tenant().clone());
    let lines = stream::unfold(walk, |walk| async move { walk.next().await });
    let body = Body::from_stream(lines);
    let ndjson = [(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"))];
    (ndjson, body).into_response()
}

/// A walk over a tenant's chains, one chunk a chain.
struct Walk {
    engine: Engine,
    tenant: Tenant,
    page: std::vec::IntoIter<ChainHead>,
    after: Option<RunId>,
    chains: u64,
    entries: u64,
    is_over: bool,
}

#[derive(Serialize)]
struct End {
    end: bool,
    chains: u64,
    entries: u64,
}

type Chunk = std::result::Result<Bytes, std::io::Error>;

impl Walk {
    fn new(engine: Engine, tenant: Tenant) -> Self {
        Self { engine, tenant, page: Vec::new().into_iter(), after: None, chains: 0, entries: 0, is_over: false }
    }

    /// The next chain's lines, then the end line, then nothing. An error ends the connection without the end line.
    async fn next(mut self) -> Option<(Chunk, Self)> {
        if self.is_over {
            return None;
        }
        let chunk = match self.chain().await {
            Ok(Some(lines)) => Ok(lines),
            Ok(None) => {
                self.is_over = true;
                Ok(line(&End { end: true, chains: self.chains, entries: self.entries }).into())
            }
            Err(error) => {
                self.is_over = true;
                tracing::warn!(%error, "an export of the journal broke off");
                Err(std::io::Error::other("the export broke off"))
            }
        };
        Some((chunk, self))
    }

    async fn chain(&mut self) -> effectgate_engine::Result<Option<Bytes>> {
        let Some(head) = self.head().await? else { return Ok(None) };
        let entries = self.engine.chain(&head).await?;
        self.chains += 1;
        self.entries += entries.len() as u64;
        let lines: Vec<u8> = entries.into_iter().flat_map(|entry| line(&EntryView::from(entry))).collect();
        Ok(Some(lines.into()))
    }

    async fn head(&mut self) -> effectgate_engine::Result<Option<ChainHead>> {
        if let Some(head) = self.page.next() {
            return Ok(Some(head));
        }
        let page = self.engine.chains(&self.tenant, self.after).await?;
        self.after = page.last().map(|head| head.run).or(self.after);
        self.page = page.into_iter();
        Ok(self.page.next())
    }
}

fn line(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).expect("strings, numbers and JSON texts always serialise");
    text.push(b'\n');
    text
}
