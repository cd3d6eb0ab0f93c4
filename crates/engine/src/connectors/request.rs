//! The request of one effect type: settings, judged once into compiled templates, then filled in for each attempt. The
//! same effect gives the same bytes every time: nothing here knows the time, the attempt or anything random.

use effectgate_core::{effect::Effect, retry::Success};
use http::{HeaderName, Method};
use secrecy::SecretString;
use serde_json::Value;

use super::{Faults, key, key::KeyPlace, lookup::MemberIs};
use crate::{
    connect::template::{Facts, Place, RenderError, Template},
    view::FindingView,
};

/// How an effect type becomes a request.
#[derive(Debug, Clone)]
pub struct RequestSettings {
    pub method: WriteMethod,
    /// Template, appended to the provider's URL; begins with `/`.
    pub path: String,
    /// Template. Left out: the payload, as JSON.
    pub body: Option<String>,
    pub content: Content,
    /// Names and templates.
    pub headers: Vec<(String, String)>,
    /// JSON Pointer to the provider's id in the answer.
    pub external_id: Option<String>,
    /// For providers that answer 200 to everything: the member that says it worked.
    pub success: Option<MemberIs>,
}

/// GET and HEAD are missing on purpose: an effect that reads is not one, and caches and scanners repeat reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMethod {
    Post,
    Put,
    Patch,
    Delete,
}

/// What the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Json,
    Form,
}

impl WriteMethod {
    pub(super) const fn method(self) -> Method {
        match self {
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

impl Content {
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
        }
    }
}

/// Set by the connection, the content, the credentials or the key; a template that set them too would be a second truth.
const TAKEN: [&str; 8] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "content-type",
    "authorization",
    "user-agent",
    "accept",
];

/// A path template with what its text says about empty segments.
#[derive(Debug)]
pub(super) struct PathTemplate {
    template: Template,
    empty_segments: usize,
}

/// A request that passed every check.
#[derive(Debug)]
pub(super) struct Compiled {
    pub method: Method,
    pub content: Content,
    path: PathTemplate,
    body: Template,
    headers: Vec<(String, Template)>,
    external_id: Option<String>,
    success: Option<MemberIs>,
}

/// The parts of a request that differ from effect to effect.
pub(super) struct Filled {
    pub path: String,
    pub body: String,
    pub headers: Vec<(String, SecretString)>,
}

impl PathTemplate {
    /// Reads a path template; `None`, with the fault kept, if it cannot be one.
    pub(super) fn compile(text: &str, at: &str, faults: &mut Faults) -> Option<Self> {
        if !text.starts_with('/') || text.contains(['#', '\\']) || text.contains(char::is_control) {
            faults.add(at, format!("{text:?} is not a path"), "Begin it with / and leave out # and backslashes.");
            return None;
        }
        let template = Template::parse(text, Place::Path);
        let template = template.map_err(|e| faults.add(at, e, "Name only what a template may speak of.")).ok()?;
        Some(Self { template, empty_segments: empty_segments(text) })
    }

    /// Fills in the values. A value is encoded, so it stays in its segment; but `..` alone would climb out of it, and an
    /// empty one would turn `/customers/{id}` into `/customers/`.
    pub(super) fn render(&self, facts: &Facts<'_>) -> Result<String, RenderError> {
        let text = self.template.render(facts)?;
        let climbs = path_only(&text).split('/').any(|segment| matches!(segment, "." | ".."));
        if climbs || empty_segments(&text) > self.empty_segments {
            return Err(RenderError::NotScalar { pointer: "a value in the path".to_owned() });
        }
        Ok(text)
    }
}

fn path_only(text: &str) -> &str {
    text.split('?').next().unwrap_or_default()
}

fn empty_segments(text: &str) -> usize {
    path_only(text).split('/').filter(|segment| segment.is_empty()).count()
}

impl Compiled {
    /// Judges the settings of one effect type; `at` is their path in the config.
    pub(super) fn new(settings: &RequestSettings, at: &str, key: &KeyPlace, faults: &mut Faults) -> Option<Self> {
        let path = PathTemplate::compile(&settings.path, &format!("{at}.path"), faults);
        let body = compile_body(settings, at, faults);
        let headers = compile_headers(settings, at, key, faults);
        for (member, pointer) in [
            ("external_id", settings.external_id.as_deref()),
            ("success.pointer", settings.success.as_ref().map(|s| s.pointer.as_str())),
        ] {
            judge_pointer(pointer, &format!("{at}.{member}"), faults);
        }
        Some(Self {
            method: settings.method.method(),
            content: settings.content,
            path: path?,
            body: body?,
            headers: headers?,
            external_id: settings.external_id.clone(),
            success: settings.success.clone(),
        })
    }

    pub(super) fn success(&self) -> Success {
        let member = self.success.as_ref().map(|s| (s.pointer.clone(), s.equals.clone()));
        Success { external_id: self.external_id.clone(), member }
    }

    /// The request's parts for an effect.
    ///
    /// Errors: in words without values.
    pub(super) fn fill(&self, effect: &Effect, key: &KeyPlace) -> Result<Filled, String> {
        let id = effect.id.to_string();
        let facts = Facts {
            payload: &effect.payload,
            provider_key: &effect.provider_key,
            target: &effect.target,
            effect_id: &id,
        };
        self.fill_from(&facts, key).map_err(|finding| format!("{} {}", finding.pointer, finding.message))
    }

    /// Fills in everything, or says what is in the way as a finding on the payload.
    pub(super) fn fill_from(&self, facts: &Facts<'_>, key: &KeyPlace) -> Result<Filled, FindingView> {
        let path = self.path.render(facts).map_err(|e| finding(&e))?;
        let body = self.body.render(facts).map_err(|e| finding(&e))?;
        let body = match (key, self.content) {
            (KeyPlace::Header(_), _) => Ok(body),
            (KeyPlace::Field(field), Content::Json) => key::into_json(&body, field, facts.provider_key),
            (KeyPlace::Field(field), Content::Form) => key::into_form(&body, field, facts.provider_key),
        };
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, template) in &self.headers {
            let value = template.render(facts).map_err(|e| finding(&e))?;
            headers.push((name.clone(), SecretString::from(value)));
        }
        Ok(Filled { path, body: body.map_err(|words| FindingView::new("", "key_field", words))?, headers })
    }
}

fn compile_body(settings: &RequestSettings, at: &str, faults: &mut Faults) -> Option<Template> {
    let at = format!("{at}.body");
    let (text, place) = match (settings.body.as_deref(), settings.content) {
        (Some(text), Content::Json) => (text, Place::Json),
        (Some(text), Content::Form) => (text, Place::Form),
        (None, Content::Json) => ("{{ payload }}", Place::Json),
        (None, Content::Form) => {
            faults.add(at, "a form has no body template", "Write the fields: amount={{ payload.amount }}&…");
            return None;
        }
    };
    Template::parse(text, place).map_err(|e| faults.add(at, e, "Write JSON with {{ names }} in it.")).ok()
}

fn compile_headers(
    settings: &RequestSettings,
    at: &str,
    key: &KeyPlace,
    faults: &mut Faults,
) -> Option<Vec<(String, Template)>> {
    let is_key = |name: &str| matches!(key, KeyPlace::Header(header) if header.eq_ignore_ascii_case(name));
    let compiled = settings.headers.iter().map(|(name, text)| {
        let at = format!("{at}.headers.{name}");
        if HeaderName::try_from(name.as_str()).is_err() {
            faults.add(at, "not a header name", "Use letters, digits and hyphens.");
            return None;
        }
        if TAKEN.iter().any(|taken| name.eq_ignore_ascii_case(taken)) || is_key(name) {
            faults.add(at, "this header is set by the connector", "Leave it out, or use auth, content or key_header.");
            return None;
        }
        let template = Template::parse(text, Place::Header);
        let template = template.map_err(|e| faults.add(at, e, "Name only what a template may speak of.")).ok()?;
        Some((name.clone(), template))
    });
    compiled.collect::<Vec<_>>().into_iter().collect()
}

pub(super) fn judge_pointer(pointer: Option<&str>, at: &str, faults: &mut Faults) {
    if let Some(pointer) = pointer.filter(|p| !effectgate_core::json::is_pointer(p)) {
        faults.add(at, format!("{pointer:?} is no JSON Pointer"), "Begin it with /, as in /data/id.");
    }
}

fn finding(error: &RenderError) -> FindingView {
    match error {
        RenderError::Missing { pointer } => {
            FindingView::new(pointer.clone(), "required", "the provider's request needs this member")
        }
        RenderError::NotScalar { pointer } if pointer.starts_with('/') => {
            FindingView::new(pointer.clone(), "type", "the provider's request needs a single value here")
        }
        other => FindingView::new("", "request", other.to_string()),
    }
}

/// What a payload lacks for this request; empty if it can be sent.
pub(super) fn check(compiled: &Compiled, key: &KeyPlace, target: &str, payload: &Value) -> Vec<FindingView> {
    let text = payload.to_string();
    let facts = Facts { payload: &text, provider_key: "eg-0", target, effect_id: "eff_0" };
    compiled.fill_from(&facts, key).err().into_iter().collect()
}
