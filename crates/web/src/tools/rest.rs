//! POST /v1/tools/{flow}/{effect_type}: one call, as plain HTTP. For workflows whose agent has an HTTP tool.

use axum::extract::{Path, State};
use effectgate_core::ids::{EffectType, FlowName};
use effectgate_engine::tools::{ToolAnswer, ToolCall, ToolWord};
use http::{HeaderMap, Uri};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::asked::{self, Asked, NO_KEY, ToolQuery};
use crate::{
    api::Reply,
    app::App,
    auth::allowed::{Allowed, Work},
    problem::{Code, Problem, Result},
    request::{Body, Wire},
};

/// What the model wrote, letter by letter.
#[derive(Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Object, example = json!({"order": "17", "amount_minor": 1250}))]
pub(crate) struct ToolArguments(Box<RawValue>);

impl Wire for ToolArguments {}

/// Call a tool: an effect type of a flow, for an agent.
///
/// The body is the arguments that the model wrote. The key comes from the workflow, in the header `Idempotency-Key` or
/// percent-encoded in `?key=`: it names the request that the agent works on, and one request does each effect type once.
/// Always 200 for a call that could be read; `answer` says what came of it and `message` tells a model what to do now.
/// A decision of a person is never waited for.
#[utoipa::path(post, path = "/v1/tools/{flow}/{effect_type}", tag = "tools", operation_id = "call_tool",
    request_body = ToolArguments,
    params(
        ("flow" = String, Path, description = "The flow whose effect types are tools"),
        ("effect_type" = String, Path, description = "The tool"),
        ("Idempotency-Key" = Option<String>, Header, description = "The key, visible ASCII; or ?key="),
        ("Effectgate-Correlation-Id" = Option<String>, Header, description = "Given back at every call of the request; left out: the run's id"),
        ToolQuery),
    responses((status = 200, description = "What came of it, in words for an agent", body = ToolAnswer)))]
pub(crate) async fn call(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Path((flow, effect_type)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
    body: Body<ToolArguments>,
) -> Result<Reply> {
    let (flow, effect_type) = (FlowName::new(flow), EffectType::new(effect_type));
    let tools = asked::tools_of(&app, &who, &flow)?;
    if !tools.iter().any(|tool| tool.name == effect_type) {
        return Err(Problem::new(Code::NotFound, "this flow has no effect type of this name that is a tool"));
    }
    let query = asked::query(&uri)?;
    let Asked { correlation_id, patience } = Asked::read(&app, &headers, &query)?;
    let key = asked::key_of(&headers, &query)?.ok_or_else(|| Problem::new(Code::MissingKey, NO_KEY))?;
    let arguments = Box::<str>::from(body.value.0).into_string();
    let call = ToolCall { flow, effect_type, key, correlation_id, arguments };
    let answer = super::call(&app, &who, call, patience).await?;
    let reply = Reply::ok(&answer);
    Ok(if answer.answer == ToolWord::AlreadySucceeded { reply.replayed() } else { reply })
}
