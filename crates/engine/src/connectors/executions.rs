//! Looking at an execution through n8n's public API, which changes nothing: does it still wait where it was called?
//! What the answer means is said with care, because an execution in a loop comes back to the same node.

use effectgate_core::{
    outcome::{Phase, Report},
    retry::Look,
    starting::is_starting,
    time::Timestamp,
};
use http::Method;
use secrecy::SecretString;
use serde_json::Value;

use crate::{
    connect::{
        AlwaysOpen,
        http::{HttpLimits, HttpRequest},
    },
    n8n::N8n,
};

/// An execution comes with the data of all its nodes; a longer one says nothing here.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Asks for an execution that was called at a node; `called` is when the last call began.
pub(super) async fn look(n8n: &N8n, id: &str, node: Option<&str>, called: Option<Timestamp>) -> Look {
    let Some(api_key) = n8n.api_key() else { return nothing("the config has no n8n.api_key to look with") };
    let mut url = n8n.base().clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["api", "v1", "executions", id]);
    }
    url.set_query(Some("includeData=true"));
    let headers = vec![
        ("X-N8N-API-KEY".to_owned(), api_key.clone()),
        ("Accept".to_owned(), SecretString::from("application/json")),
    ];
    let request = HttpRequest { method: Method::GET, url, headers, body: bytes::Bytes::new() };
    let limits = HttpLimits { answer_bytes_max: ANSWER_BYTES_MAX, ..n8n.limits() };
    read(&n8n.send_within(request, &limits, &AlwaysOpen).await, node, called)
}

/// What an answer says of whether the call was taken.
fn read(report: &Report, node: Option<&str>, called: Option<Timestamp>) -> Look {
    let answer = match &report.answer {
        Some(answer) if report.phase == Phase::Answered => answer,
        _ => return nothing(report.error.as_deref().unwrap_or("n8n did not answer")),
    };
    if is_starting(answer) {
        return nothing("n8n is starting");
    }
    match answer.status {
        200 if answer.body_complete => {}
        // Deleted: nothing is left that could wait.
        404 => return Look::Found { external_id: None },
        status => return nothing(&format!("n8n answered {status}")),
    }
    let Ok(execution) = serde_json::from_slice::<Value>(&answer.body) else { return nothing("the answer is no JSON") };
    match execution["status"].as_str() {
        Some("waiting") => waits(&execution, node, called),
        // Just resumed, or not parked yet.
        Some("running" | "new") => Look::InProgress,
        Some("success" | "error" | "crashed" | "canceled") => Look::Found { external_id: None },
        other => nothing(&format!("n8n says {}", other.unwrap_or("no status"))),
    }
}

fn waits(execution: &Value, node: Option<&str>, called: Option<Timestamp>) -> Look {
    let Some(node) = node else { return nothing("it waits, and which node was called is not known") };
    let Some(at) = execution["data"]["resultData"]["lastNodeExecuted"].as_str() else {
        return nothing("it waits, and n8n does not say where");
    };
    if node != at && id_of(execution, at) != Some(node) {
        return Look::Found { external_id: None };
    }
    let parked = execution["stoppedAt"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    match (parked, called) {
        (Some(parked), Some(called)) if parked < called => Look::Absent,
        // Once more at the same node, be it by our call or by a loop of its own: nobody can tell from here.
        _ => nothing("it waits at that node, and has come there since it was called"),
    }
}

/// The id of the node of this name.
fn id_of<'a>(execution: &'a Value, name: &str) -> Option<&'a str> {
    let nodes = execution["workflowData"]["nodes"].as_array()?;
    nodes.iter().find(|node| node["name"] == name)?["id"].as_str()
}

fn nothing(detail: &str) -> Look {
    Look::Nothing { detail: detail.to_owned() }
}
