//! Asking a provider what became of an effect, without writing: the question's settings, and how an answer is read.
//!
//! Careful in one direction: an answer that is not clearly "there", "not there" or "on its way" is no information, since
//! "not there" may lead to a second send.

use effectgate_core::{
    outcome::Report,
    retry::{Look, id_text},
};
use http::Method;
use serde_json::Value;

use super::{Faults, request::PathTemplate, request::judge_pointer};

/// How to ask.
#[derive(Debug, Clone)]
pub struct LookupSettings {
    pub method: LookupMethod,
    /// Template, appended to the provider's URL.
    pub path: String,
    /// Pointer to the id in the answer. A number in it (`/items/0/id`) says that what stands before is a list, which is
    /// then counted. None only for HEAD, where a 2xx says "found".
    pub found: Option<String>,
    /// Pointer to the list of matches, where it cannot be seen in `found`.
    pub list: Option<String>,
    /// What says that the provider is still at it.
    pub in_progress: Option<MemberIs>,
}

/// Reads only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupMethod {
    Get,
    Head,
}

/// A member that must have a value.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberIs {
    pub pointer: String,
    pub equals: Value,
}

/// A lookup that passed every check.
#[derive(Debug)]
pub(super) struct Lookup {
    pub method: Method,
    pub path: PathTemplate,
    found: Option<String>,
    list: Option<String>,
    in_progress: Option<MemberIs>,
}

impl Lookup {
    pub(super) fn new(settings: &LookupSettings, faults: &mut Faults) -> Option<Self> {
        let path = PathTemplate::compile(&settings.path, "lookup.path", faults);
        let in_progress = settings.in_progress.as_ref();
        judge_pointer(settings.found.as_deref(), "lookup.found", faults);
        judge_pointer(settings.list.as_deref(), "lookup.list", faults);
        judge_pointer(in_progress.map(|m| m.pointer.as_str()), "lookup.in_progress.pointer", faults);
        let reads_body = settings.found.is_some() || settings.list.is_some() || in_progress.is_some();
        if settings.method == LookupMethod::Head && reads_body {
            faults.add(
                "lookup.method",
                "the answer to HEAD has no body to read",
                "Use GET, or leave out the pointers.",
            );
        }
        if settings.method == LookupMethod::Get && settings.found.is_none() {
            faults.add("lookup.found", "it is not said where the id stands", "Name it, as in /items/0/id.");
        }
        Some(Self {
            method: if settings.method == LookupMethod::Head { Method::HEAD } else { Method::GET },
            path: path?,
            found: settings.found.clone(),
            list: settings.list.clone().or_else(|| list_of(settings.found.as_deref()?)),
            in_progress: settings.in_progress.clone(),
        })
    }

    /// Says what an answer means.
    pub(super) fn read(&self, report: &Report) -> Look {
        let Some(answer) = &report.answer else {
            return nothing(report.error.as_deref().unwrap_or("no answer"));
        };
        match answer.status {
            404 => Look::Absent,
            200..=299 if !answer.body_complete => nothing("the answer was cut off"),
            200..=299 if self.method == Method::HEAD => Look::Found { external_id: None },
            200..=299 => match serde_json::from_slice(&answer.body) {
                Ok(body) => self.read_body(&body),
                Err(_) => nothing("the answer could not be read as JSON"),
            },
            status => nothing(&format!("the provider answered {status}")),
        }
    }

    fn read_body(&self, body: &Value) -> Look {
        if let Some(rule) = &self.in_progress
            && body.pointer(&rule.pointer) == Some(&rule.equals)
        {
            return Look::InProgress;
        }
        match self.list.as_deref().map(|pointer| body.pointer(pointer)) {
            None => {}
            Some(Some(Value::Array(items))) if items.is_empty() => return Look::Absent,
            Some(Some(Value::Array(items))) if items.len() > 1 => return Look::FoundMany { count: items.len() },
            Some(Some(Value::Array(_))) => return self.read_one(body, true),
            Some(_) => return nothing("the answer has no list where one is declared"),
        }
        self.read_one(body, false)
    }

    /// `is_counted`: the list holds exactly one, so a missing id is an answer of another shape and not absence.
    fn read_one(&self, body: &Value, is_counted: bool) -> Look {
        match self.found.as_deref().and_then(|pointer| body.pointer(pointer)) {
            None | Some(Value::Null) if !is_counted => Look::Absent,
            there => match there.and_then(id_text) {
                Some(id) => Look::Found { external_id: Some(id) },
                None => nothing("the answer has no id where one is declared"),
            },
        }
    }
}

/// What stands before the first number of a pointer.
fn list_of(found: &str) -> Option<String> {
    let segments: Vec<&str> = found.split('/').collect();
    let at = segments.iter().position(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()))?;
    Some(segments[..at].join("/"))
}

fn nothing(detail: &str) -> Look {
    Look::Nothing { detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use effectgate_core::outcome::{Answer, Phase};
    use serde_json::json;

    fn lookup(found: &str) -> Lookup {
        let settings = LookupSettings {
            method: LookupMethod::Get,
            path: "/notes?ref={{ provider_key }}".into(),
            found: Some(found.into()),
            list: None,
            in_progress: Some(MemberIs { pointer: "/state".into(), equals: json!("running") }),
        };
        let mut faults = Faults::default();
        let lookup = Lookup::new(&settings, &mut faults);
        faults.or(lookup).unwrap()
    }

    fn answer(status: u16, body: &str, body_complete: bool) -> Report {
        let answer =
            Answer { status, retry_after: None, body: body.as_bytes().to_vec(), body_complete, replayed: false };
        Report { phase: Phase::Answered, bytes_sent: 9, answer: Some(answer), error: None, handle: None }
    }

    #[test]
    fn only_a_clear_answer_is_information() {
        let found = |id: &str| Look::Found { external_id: Some(id.into()) };
        let table = [
            ("/items/0/id", 200, r#"{"items":[{"id":"n1"}]}"#, found("n1")),
            ("/items/0/id", 200, r#"{"items":[{"id":7}]}"#, found("7")),
            ("/items/0/id", 200, r#"{"items":[]}"#, Look::Absent),
            ("/items/0/id", 200, r#"{"items":[{"id":"a"},{"id":"b"}]}"#, Look::FoundMany { count: 2 }),
            ("/0/id", 200, r#"[{"id":"a"},{"id":"b"},{"id":"c"}]"#, Look::FoundMany { count: 3 }),
            ("/id", 200, r#"{"id":"n1"}"#, found("n1")),
            ("/id", 200, r#"{"id":"a\u0000b"}"#, found("a\u{fffd}b")),
            ("/id", 200, r#"{"other":1}"#, Look::Absent),
            ("/id", 200, r#"{"id":null}"#, Look::Absent),
            ("/id", 404, "gone", Look::Absent),
            ("/id", 200, r#"{"id":"n1","state":"running"}"#, Look::InProgress),
        ];
        for (pointer, status, body, wanted) in table {
            assert_eq!(lookup(pointer).read(&answer(status, body, true)), wanted, "{pointer} {status} {body}");
        }
    }

    #[test]
    fn an_unclear_answer_is_no_information() {
        let table = [
            ("/items/0/id", 200, r#"{"error":"search is down"}"#, true),
            ("/items/0/id", 200, r#"{"items":[{"name":"x"}]}"#, true),
            ("/items/0/id", 200, r#"{"items":{}}"#, true),
            ("/id", 200, r#"{"id":{"a":1}}"#, true),
            ("/id", 200, r#"{"id":""}"#, true),
            ("/id", 200, r#"{"id":"n"#, false),
            ("/id", 200, "<html>", true),
            ("/id", 200, "", true),
            ("/id", 301, "", true),
            ("/id", 401, "{}", true),
            ("/id", 410, "{}", true),
            ("/id", 429, "{}", true),
            ("/id", 500, "{}", true),
        ];
        for (pointer, status, body, complete) in table {
            let look = lookup(pointer).read(&answer(status, body, complete));
            assert!(matches!(look, Look::Nothing { .. }), "{pointer} {status} {body}: {look:?}");
        }
        let silent = Report::not_sent(Phase::Connect, "refused");
        assert!(matches!(lookup("/id").read(&silent), Look::Nothing { .. }));
    }
}
