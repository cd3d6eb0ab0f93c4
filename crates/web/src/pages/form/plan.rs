//! Planning a form: which field each member of a payload gets, by the schema where there is one, else by what is there.
//! Bounded in depth and number; what lies beyond is raw JSON.

use effectgate_core::json::{self, Json, push_segment};
use serde_json::Value;

use super::{Field, Kind};

/// Nesting and fields of one form; what lies deeper, or comes after, is raw JSON. A page of 200 fields is no form any
/// more, and schemas come from a config that may be generated.
pub(super) const DEPTH_MAX: usize = 4;
const FIELDS_MAX: usize = 200;
/// A `$ref` to a `$ref` to a …; a circle ends here.
const REFS_MAX: usize = 8;
/// A text that may get longer than this, or has line ends, gets a field of several lines.
const LINE_CHARS: u64 = 200;

/// Plans the form for one payload. `fixed`: pointers of members that say where it goes, shown and never changed.
pub(crate) fn plan(schema: Option<&Value>, payload: &str, fixed: &[&str]) -> Field {
    let now = json::parse(payload.as_bytes()).ok();
    let mut planner = Planner { root: schema, fixed, left: FIELDS_MAX };
    planner.field(schema, now, String::new(), String::new(), true, 0)
}

struct Planner<'a> {
    root: Option<&'a Value>,
    fixed: &'a [&'a str],
    left: usize,
}

impl<'a> Planner<'a> {
    fn field(
        &mut self,
        schema: Option<&'a Value>,
        now: Option<Json>,
        pointer: String,
        name: String,
        is_required: bool,
        depth: usize,
    ) -> Field {
        let schema = schema.and_then(|schema| self.resolved(schema));
        self.left = self.left.saturating_sub(1);
        let kind = match schema {
            _ if self.fixed.contains(&pointer.as_str()) => Kind::Fixed,
            _ if self.left == 0 => Kind::Raw,
            Some(schema) => self.kind(schema, now.as_ref(), &pointer, depth),
            None => self.kind_of(now.as_ref(), &pointer, depth),
        };
        let text = |word: &str| schema.and_then(|s| s.get(word)).and_then(Value::as_str).map(str::to_owned);
        let label = text("title").unwrap_or(name);
        Field { pointer, label, hint: text("description"), is_required, kind, now }
    }

    /// A local reference, followed. `None` for one that leads nowhere, or out of the schema.
    fn resolved(&self, schema: &'a Value) -> Option<&'a Value> {
        let mut at = schema;
        for _ in 0..REFS_MAX {
            let Some(to) = at.get("$ref").and_then(Value::as_str) else { return Some(at) };
            at = self.root?.pointer(to.strip_prefix('#')?)?;
        }
        None
    }

    fn kind(&mut self, schema: &'a Value, now: Option<&Json>, pointer: &str, depth: usize) -> Kind {
        let says = |word: &str| schema.get(word).is_some();
        if says("const") || schema.get("readOnly") == Some(&Value::Bool(true)) {
            return Kind::Fixed;
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Kind::Choice(values.iter().map(Json::from).collect());
        }
        // Alternatives have no one form.
        if says("oneOf") || says("anyOf") || says("allOf") || says("if") || says("not") {
            return Kind::Raw;
        }
        let Some(kind) = type_of(schema) else { return self.kind_of(now, pointer, depth) };
        // What is there is not what the schema says, `null` for instance: only JSON can show that.
        let fits = now.is_none_or(|now| is_of(now, kind));
        match kind {
            _ if !fits => Kind::Raw,
            "string" => text_kind(schema, now),
            "number" | "integer" => Kind::Number,
            "boolean" => Kind::Bool,
            "array" => list_kind(schema.get("items").and_then(|items| self.resolved(items)), now),
            "object" => self.group(Some(schema), now, pointer, depth),
            _ => Kind::Raw,
        }
    }

    /// Without a schema the value itself says what it is.
    fn kind_of(&mut self, now: Option<&Json>, pointer: &str, depth: usize) -> Kind {
        match now {
            Some(Json::String(text)) if is_long(text) => Kind::Lines,
            Some(Json::String(_)) => Kind::Line,
            Some(Json::Number(_)) => Kind::Number,
            Some(Json::Bool(_)) => Kind::Bool,
            Some(Json::Array(_)) => list_kind(None, now),
            Some(Json::Object(_)) => self.group(None, now, pointer, depth),
            Some(Json::Null) | None => Kind::Raw,
        }
    }

    /// The members there are, then those that the schema allows besides.
    fn group(&mut self, schema: Option<&'a Value>, now: Option<&Json>, pointer: &str, depth: usize) -> Kind {
        let properties = schema.and_then(|s| s.get("properties")).and_then(Value::as_object);
        let members = now.and_then(Json::as_object).unwrap_or_default();
        if depth >= DEPTH_MAX || (members.is_empty() && properties.is_none_or(serde_json::Map::is_empty)) {
            return Kind::Raw;
        }
        let required = schema.and_then(|s| s.get("required")).and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|r| r.as_str() == Some(name)));
        let known = |name: &str| properties.and_then(|all| all.get(name));
        let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        let is_new = |name: &&str| members.iter().all(|(member, _)| member != name);
        names.extend(properties.into_iter().flat_map(|all| all.keys().map(String::as_str)).filter(is_new));
        if names.len() > self.left {
            return Kind::Raw;
        }
        let fields = names.into_iter().map(|name| {
            let mut below = pointer.to_owned();
            push_segment(&mut below, name);
            let value = now.and_then(|now| now.get(name)).cloned();
            self.field(known(name), value, below, name.to_owned(), is_required(name), depth + 1)
        });
        Kind::Group(fields.collect())
    }
}

/// The one type that a schema wants, `null` beside it left out.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(word) => Some(word),
        Value::Array(words) => {
            let mut others = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            others.next().filter(|_| others.next().is_none())
        }
        _ => None,
    }
}

fn is_of(json: &Json, kind: &str) -> bool {
    match json {
        Json::Null => kind == "null",
        Json::Bool(_) => kind == "boolean",
        Json::Number(_) => matches!(kind, "number" | "integer"),
        Json::String(_) => kind == "string",
        Json::Array(_) => kind == "array",
        Json::Object(_) => kind == "object",
    }
}

fn text_kind(schema: &Value, now: Option<&Json>) -> Kind {
    let has_lines = now.and_then(Json::as_str).is_some_and(is_long);
    let is_wide = schema.get("maxLength").and_then(Value::as_u64).is_some_and(|max| max > LINE_CHARS);
    let is_word = schema.get("format").is_some() || schema.get("pattern").is_some();
    if has_lines || (is_wide && !is_word) { Kind::Lines } else { Kind::Line }
}

fn is_long(text: &str) -> bool {
    text.contains(['\n', '\r']) || text.chars().count() as u64 > LINE_CHARS
}

/// A list of scalars, one a line; anything else is raw.
fn list_kind(items: Option<&Value>, now: Option<&Json>) -> Kind {
    let there = now.and_then(Json::as_array).unwrap_or_default();
    let is_line = |json: &Json| json.as_str().is_some_and(|t| !t.trim().is_empty() && !t.contains(['\n', '\r']));
    let is_number = |json: &Json| matches!(json, Json::Number(_));
    match items.and_then(type_of) {
        Some("string") if there.iter().all(is_line) => Kind::List { numbers: false },
        Some("number" | "integer") if there.iter().all(is_number) => Kind::List { numbers: true },
        None if items.is_none() && !there.is_empty() && there.iter().all(is_line) => Kind::List { numbers: false },
        None if items.is_none() && !there.is_empty() && there.iter().all(is_number) => Kind::List { numbers: true },
        _ => Kind::Raw,
    }
}
