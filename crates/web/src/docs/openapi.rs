//! The OpenAPI 3.1 document: made of the handlers' own documentation, with what holds for all of them added: the bearer
//! key, and for each operation every problem it may answer with, by code, with an example.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Map, Value, json};

use utoipa::OpenApi as _;

use crate::{outbound, problem::Code, router};

/// Problems of any request that wants to know its caller.
const CALLER: &[Code] = &[
    Code::Unauthorized,
    Code::Forbidden,
    Code::TooManyFailures,
    Code::TooManyRequests,
    Code::DatabaseUnavailable,
    Code::Internal,
];
/// Problems of a body.
const BODY: &[Code] = &[
    Code::InvalidJson,
    Code::InvalidUtf8,
    Code::DuplicateMember,
    Code::LoneSurrogate,
    Code::NumberOutOfRange,
    Code::TooDeep,
    Code::BodyTooLarge,
    Code::BodyIncomplete,
    Code::BodyTimeout,
    Code::UnsupportedMediaType,
    Code::UnknownMember,
    Code::MissingMember,
    Code::BadMember,
];
/// Problems of whatever changes state.
const CHANGE: &[Code] = &[Code::CrossSite, Code::Contended, Code::CommitUnknown];
const REASON: &[Code] = &[Code::ReasonRequired, Code::ReasonTooLong];

/// What the outbound door answers for itself.
const OUT: &[Code] = &[
    Code::NoOut,
    Code::OutNotAllowed,
    Code::MissingKey,
    Code::BadKey,
    Code::BadMember,
    Code::InvalidPayload,
    Code::BodyTooLarge,
    Code::BodyIncomplete,
    Code::BodyTimeout,
    Code::PayloadConflict,
    Code::InFlight,
    Code::OutcomeUnknown,
    Code::SwitchOff,
    Code::BudgetUsedUp,
    Code::NotSent,
    Code::NoAnswer,
    Code::AnswerErased,
];

/// What the inbound door answers. It knows no API key, and refuses no body for what is in it.
const IN: &[Code] = &[
    Code::UnknownSource,
    Code::BadSignature,
    Code::StaleSignature,
    Code::BodyTooLarge,
    Code::BodyIncomplete,
    Code::BodyTimeout,
    Code::UnsupportedMediaType,
    Code::TooManyRequests,
    Code::DatabaseUnavailable,
    Code::CommitUnknown,
    Code::Internal,
];

/// What an operation adds of its own.
fn own(operation: &str) -> Vec<Code> {
    use Code::{
        AlreadyDecided, ApprovalOver, BadKey, BadLease, BudgetUsedUp, CannotDecide, CorrectionKey, EffectDiffers,
        EffectNotBegun, EffectsChanged, EffectsOpen, InvalidEdit, InvalidOutput, InvalidPayload, KeyPoisoned,
        LeaseLost, LocalAccountsOff, LoginRequired, NotInAudience, NotQualified, NothingChanged, PayloadConflict,
        ReplayExpired, SeparationOfDuties, SwitchOff, TooManyEdits, UnknownClass, UnknownFlow, WrongState,
    };
    let (own, reason): (&[Code], bool) = match operation {
        "reserve" => (&[BadKey, BadLease, UnknownFlow, InvalidPayload, PayloadConflict], false),
        "claim" => (&[BadLease, UnknownFlow], false),
        "renew" => (&[BadLease, LeaseLost, UnknownFlow], false),
        "propose" => (&[InvalidOutput, LeaseLost, Code::UrlNotAllowed, UnknownFlow], false),
        "complete" => (&[LeaseLost, EffectsOpen], false),
        "fail" => (&[LeaseLost, EffectsOpen, UnknownClass, UnknownFlow], false),
        "begin_effect" => (&[InvalidPayload, EffectDiffers, LeaseLost, SwitchOff, BudgetUsedUp, UnknownFlow], false),
        "settle_effect" => (&[LeaseLost, EffectNotBegun], false),
        "resolve_effect" => (&[WrongState, KeyPoisoned], true),
        "cancel_effect" | "release_run" | "close_run" | "withdraw_approval" => (&[WrongState], true),
        "correct_run" => (&[BadKey, CorrectionKey, InvalidPayload, PayloadConflict, UnknownFlow, WrongState], true),
        "plan_replay" => (&[UnknownFlow], true),
        "execute_replay" => (&[ReplayExpired, Code::ReasonTooLong], false),
        "subscribe" => (&[Code::UrlNotAllowed, UnknownFlow], false),
        "resume_approval" => (&[Code::UrlNotAllowed], false),
        "turn_switch" => (&[], true),
        "decide" => (
            &[
                CannotDecide,
                InvalidEdit,
                NothingChanged,
                TooManyEdits,
                UnknownFlow,
                ApprovalOver,
                EffectsChanged,
                LoginRequired,
                NotInAudience,
                NotQualified,
                SeparationOfDuties,
                AlreadyDecided,
            ],
            true,
        ),
        "sign_in" => (&[LocalAccountsOff], false),
        "send_out" => (OUT, false),
        "call_tool" => (&[Code::NotFound, Code::MissingKey, BadKey], false),
        "serve_mcp" => (&[Code::NotFound], false),
        _ => (&[], false),
    };
    own.iter().chain(if reason { REASON } else { &[] }).copied().collect()
}

/// The document as text, made once.
pub(crate) fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| openapi().to_string());
    &TEXT
}

/// The OpenAPI document. Members are in the order of their names, so the text of one version is one text.
#[must_use]
pub fn openapi() -> Value {
    let mut api = router::api().into_openapi();
    api.merge(outbound::Door::openapi());
    let mut document = serde_json::to_value(api).expect("the document is made of plain data");
    document["info"] = json!({
        "title": "Effectgate",
        "version": env!("CARGO_PKG_VERSION"),
        "description": INTRODUCTION,
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    });
    document["security"] = json!([{"bearer": []}]);
    document["components"]["securitySchemes"] = json!({"bearer": {
        "type": "http", "scheme": "bearer", "description": "An API key (`effectgate key create`), bound to one tenant."
    }});
    document["components"]["schemas"]["Problem"] = problem_schema();
    let examples: Map<String, Value> = Code::ALL.iter().map(|c| (c.as_str().to_owned(), example(*c))).collect();
    document["components"]["examples"] = Value::Object(examples);
    for (path, item) in members(&mut document["paths"]) {
        for (method, operation) in members(item) {
            add_problems(path, method, operation);
        }
    }
    document
}

const INTRODUCTION: &str = "The gate between a workflow tool and the world: one key, one lease, one decision, one effect. \
Every error is `application/problem+json` with a stable `code`; its `type` leads to a page that says whether anything was \
done to the outside world, and what to do now.";

fn members(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flatten()
}

fn add_problems(path: &str, method: &str, operation: &mut Value) {
    if !["/v1/", "/out/", "/in/", "/mcp/"].iter().any(|ours| path.starts_with(ours)) {
        return;
    }
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes(path, method, operation) {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    for (status, codes) in by_status {
        operation["responses"][status.to_string()] = response(&codes);
    }
}

fn codes(path: &str, method: &str, operation: &Value) -> Vec<Code> {
    if path.starts_with("/in/") {
        return IN.to_vec();
    }
    let mut codes = CALLER.to_vec();
    // The door's body is nobody's to read.
    if operation.get("requestBody").is_some() && !path.starts_with("/out/") {
        codes.extend(BODY);
    }
    if method != "get" {
        codes.extend(CHANGE);
    }
    if path.contains("{id}") {
        codes.push(Code::NotFound);
    }
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    if parameters.into_iter().any(|p| p["in"] == "query") {
        codes.push(Code::BadParameter);
    }
    codes.extend(own(operation["operationId"].as_str().unwrap_or_default()));
    codes
}

fn response(codes: &[Code]) -> Value {
    let words: Vec<String> = codes.iter().map(|code| format!("`{}`", code.as_str())).collect();
    let reference = |code: &Code| json!({"$ref": format!("#/components/examples/{}", code.as_str())});
    let examples: Map<String, Value> = codes.iter().map(|code| (code.as_str().to_owned(), reference(code))).collect();
    json!({
        "description": format!("A problem: {}", words.join(", ")),
        "content": {"application/problem+json": {
            "schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples
        }}
    })
}

fn example(code: Code) -> Value {
    let value = json!({
        "type": format!("https://gate.example.test/errors/{}", code.as_str()),
        "title": code.title(),
        "status": code.status().as_u16(),
        "code": code.as_str(),
        "detail": code.title(),
        "error": {"message": code.title()},
    });
    json!({"summary": code.title(), "value": value})
}

fn problem_schema() -> Value {
    let words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "RFC 9457. Members with the present state (`run`, `errors`, `effect`, `approval` …) are added where they help.",
        "required": ["type", "title", "status", "code", "detail", "error"],
        "properties": {
            "type": {"type": "string", "format": "uri", "description": "Leads to the page of the code."},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "enum": words},
            "detail": {"type": "string"},
            "pointer": {"type": "string", "description": "JSON Pointer to the member at fault, from the request's root."},
            "retry_after_ms": {"type": "integer"},
            "run": {"$ref": "#/components/schemas/RunView"},
            "error": {"type": "object", "properties": {"message": {"type": "string"}}},
        },
        "additionalProperties": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes that belong to no operation: paths that are not there, and pages.
    const ELSEWHERE: [Code; 7] = [
        Code::NoSuchPath,
        Code::MethodNotAllowed,
        Code::UnknownToken,
        Code::SignInExpired,
        Code::SignInRefused,
        Code::NoRole,
        Code::IssuerUnavailable,
    ];

    #[test]
    fn every_code_is_documented_at_an_operation() {
        let text = text();
        for code in Code::ALL.iter().filter(|code| !ELSEWHERE.contains(code)) {
            let reference = format!("#/components/examples/{}\"", code.as_str());
            assert!(text.contains(&reference), "{} is at no operation", code.as_str());
        }
    }

    #[test]
    fn operation_ids_are_unique_and_every_operation_says_what_it_does() {
        let document = openapi();
        let mut seen = std::collections::BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                assert!(seen.insert(operation["operationId"].to_string()), "{method} {path}");
                assert!(operation["summary"].as_str().is_some_and(|s| !s.is_empty()), "{method} {path}");
            }
        }
    }
}
