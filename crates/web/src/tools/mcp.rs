//! POST /mcp/{flow}: the flow's tools over the Model Context Protocol, for agents with an MCP client. One message in, one
//! message out, no session. The protocol is the leaf's (`effectgate-mcp`); here a request is read and a call is made, the
//! same as over plain HTTP.

use axum::{
    body::Body,
    extract::{Path, Request, State},
    response::Response,
};
use effectgate_core::ids::FlowName;
use effectgate_engine::tools::{Tool, ToolAnswer, ToolCall, ToolWord};
use effectgate_mcp::{About, Outcome};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json};

use super::asked::{self, Asked, NO_KEY, ToolQuery};
use crate::{
    app::App,
    auth::{
        Identity,
        allowed::{Allowed, Work},
    },
    problem::{Code, Problem, Result},
    request::{Wire, decode, read_body},
};

const ABOUT: About = About { name: "effectgate", version: env!("CARGO_PKG_VERSION") };

const INSTRUCTIONS: &str = "Each tool does one thing in the world, once for the request you are working on. Every answer \
is final for you: do what its message says, and do not call a tool again to make sure.";

/// A message of any kind, read strictly: what two readers would read differently is refused before the SDK sees it.
#[derive(Deserialize)]
#[serde(transparent)]
struct Message(IgnoredAny);

impl Wire for Message {}

/// The flow's tools over MCP.
///
/// Streamable HTTP without sessions: `initialize`, `tools/list`, `tools/call`, one JSON-RPC message each. The key is set
/// by the workflow, percent-encoded in `?key=` of the endpoint's URL or in the header `Idempotency-Key`; without one the
/// tools are listed and a call is refused. The result of a call is the answer of `POST /v1/tools/{flow}/{effect_type}`,
/// its message as text and all of it as structured content.
#[utoipa::path(post, path = "/mcp/{flow}", tag = "tools", operation_id = "serve_mcp",
    request_body(content = Object, description = "A JSON-RPC message"),
    params(
        ("flow" = String, Path, description = "The flow whose effect types are tools"),
        ("Idempotency-Key" = Option<String>, Header, description = "The key, visible ASCII; or ?key="),
        ("Effectgate-Correlation-Id" = Option<String>, Header, description = "As for a call over plain HTTP"),
        ToolQuery),
    responses((status = 200, description = "A JSON-RPC message", body = Object), (status = 202, description = "A notification, taken")))]
pub(crate) async fn serve(
    State(app): State<App>,
    Allowed { who, .. }: Allowed<Work>,
    Path(flow): Path<String>,
    request: Request,
) -> Result<Response> {
    let flow = FlowName::new(flow);
    let tools = asked::tools_of(&app, &who, &flow)?;
    let (parts, body) = request.into_parts();
    let query = asked::query(&parts.uri)?;
    let asked = Asked::read(&app, &parts.headers, &query)?;
    let key = asked::key_of(&parts.headers, &query);
    let body = read_body(body, &app).await?;
    decode::<Message>(&body)?;
    let offer = Offer { app, who, flow, tools, key, asked };
    let response = effectgate_mcp::answer(offer, ABOUT, http::Request::from_parts(parts, body)).await;
    Ok(response.map(Body::new))
}

/// A flow's tools for one request.
struct Offer {
    app: App,
    who: Identity,
    flow: FlowName,
    tools: Vec<Tool>,
    /// Only a call wants one, so only a call is told what is wrong with it.
    key: Result<Option<String>>,
    asked: Asked,
}

impl effectgate_mcp::Tools for Offer {
    fn instructions(&self) -> String {
        INSTRUCTIONS.into()
    }

    fn tools(&self) -> Vec<effectgate_mcp::Tool> {
        let shown = |tool: &Tool| effectgate_mcp::Tool {
            name: tool.name.to_string(),
            description: tool.description.clone(),
            input: tool.input.clone(),
            output: Some(output_schema()),
            is_destructive: !tool.reversible,
        };
        self.tools.iter().map(shown).collect()
    }

    async fn call(&self, name: &str, arguments: String) -> Option<Outcome> {
        let tool = self.tools.iter().find(|tool| tool.name.as_str() == name)?;
        Some(self.made(tool, arguments).await.map_or_else(|problem| failed(&problem), |answer| told(&answer)))
    }
}

impl Offer {
    async fn made(&self, tool: &Tool, arguments: String) -> Result<ToolAnswer> {
        let key = self.key.clone()?.ok_or_else(|| Problem::new(Code::MissingKey, NO_KEY))?;
        let (flow, effect_type) = (self.flow.clone(), tool.name.clone());
        let correlation_id = self.asked.correlation_id.clone();
        let call = ToolCall { flow, effect_type, key, correlation_id, arguments };
        super::call(&self.app, &self.who, call, self.asked.patience).await
    }
}

/// Only what was not done and will not be is an error to a client: everything else is an answer.
fn told(answer: &ToolAnswer) -> Outcome {
    let structured = serde_json::to_value(answer).expect("an answer is made of strings");
    let is_error = answer.answer == ToolWord::Refused;
    Outcome { text: answer.message.clone(), structured: Some(structured), is_error }
}

/// What could not be taken, in words for a model that cannot mend it.
fn failed(problem: &Problem) -> Outcome {
    let text = format!(
        "The call was not taken ({}): {}. Do not call it again; say so.",
        problem.code().as_str(),
        problem.detail()
    );
    Outcome { text, structured: None, is_error: true }
}

/// What every tool answers, as JSON Schema.
fn output_schema() -> Map<String, Value> {
    let id = json!({"type": ["string", "null"]});
    let schema = json!({
        "type": "object",
        "required": ["answer", "message", "correlation_id"],
        "properties": {
            "answer": {"enum": ["succeeded", "already_succeeded", "awaiting_approval", "accepted", "unknown", "refused"]},
            "message": {"type": "string"},
            "correlation_id": {"type": "string"},
            "run_id": id, "effect_id": id, "result_id": id, "approval_id": id,
            "errors": {"type": "array", "items": {"type": "object"}},
        },
    });
    schema.as_object().cloned().unwrap_or_default()
}
