//! A request as the outbox holds it: one JSON text that is decided on, shown, hashed, and made into the same bytes at
//! every attempt. Only what a provider may see is in it: the caller's credentials never come this far.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    begin::OutRequest,
    body::{BodyText, is_json},
};

/// The text's members. `json` is kept letter by letter.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    method: String,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accept: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// A request read back.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) method: Method,
    /// With the query, as it came.
    pub(crate) path: String,
    pub(crate) content_type: Option<String>,
    pub(crate) accept: Option<String>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Bytes,
}

impl Written {
    /// The text that goes into the outbox.
    pub(crate) fn effect_text(request: &OutRequest) -> String {
        text(request, request.accept.clone())
    }

    /// The text that identifies the event: which form of an answer the caller would like is no part of it.
    pub(crate) fn run_text(request: &OutRequest) -> String {
        text(request, None)
    }

    /// What the effect is aimed at: method and path without the query, which may hold personal data.
    pub(crate) fn target(method: &Method, path: &str) -> String {
        format!("{method} {}", path.split('?').next().unwrap_or_default())
    }

    /// Reads a text back.
    ///
    /// # Errors
    /// In words, without values.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let members: Members = serde_json::from_str(text).map_err(|e| {
            let said = e.to_string();
            said.rsplit_once(" at line ").map_or(said.clone(), |(words, _)| words.to_owned())
        })?;
        let method = Method::from_bytes(members.method.as_bytes()).map_err(|_| "method is no method".to_owned())?;
        let body = BodyText { json: members.json, text: members.text, base64: members.base64 }.bytes()?;
        let (path, content_type, accept) = (members.path, members.content_type, members.accept);
        Ok(Self { method, path, content_type, accept, headers: members.headers, body })
    }
}

fn text(request: &OutRequest, accept: Option<String>) -> String {
    let body = BodyText::of(&request.body, is_json(request.content_type.as_deref()));
    let members = Members {
        method: request.method.as_str().to_owned(),
        path: request.path.clone(),
        content_type: request.content_type.clone(),
        accept,
        headers: request.headers.clone(),
        json: body.json,
        text: body.text,
        base64: body.base64,
    };
    serde_json::to_string(&members).expect("texts and JSON texts always serialise")
}
