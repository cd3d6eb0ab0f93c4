//! A form for an effect's payload: made from the effect's JSON Schema and from what is in the payload now, and read back
//! into JSON. What a field cannot express stays raw JSON in a field of its own. Whatever is not touched comes back as it
//! was, with every digit. Pure; nothing is validated here but that a number is a number: the engine judges the edit.

use std::collections::HashMap;

use effectgate_core::json::{self, Json, push_segment};
use serde_json::Value;

use super::effect::plain;

/// A member of the payload as a form has it.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// RFC 6901, inside the payload; `""` is the payload itself.
    pub(crate) pointer: String,
    /// The member's name, or the schema's title.
    pub(crate) label: String,
    pub(crate) hint: Option<String>,
    pub(crate) is_required: bool,
    pub(crate) kind: Kind,
    /// What is there now.
    now: Option<Json>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Line,
    Lines,
    /// As text, so that no digit is lost on the way through a browser.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of these JSON values.
    Choice(Vec<Json>),
    /// One item a line: numbers if true, else texts.
    List {
        numbers: bool,
    },
    /// JSON, as it goes out.
    Raw,
    /// Shown, never changed.
    Fixed,
    Group(Vec<Field>),
}

/// Why a field's text is no value. `None` in `detail` where the kind says it all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    NoNumber,
    NoJson(String),
}

/// Nesting and fields of one form; what lies deeper, or comes after, is raw JSON. A page of 200 fields is no form any
/// more, and schemas come from a config that may be generated.
const DEPTH_MAX: usize = 4;
const FIELDS_MAX: usize = 200;
/// A `$ref` to a `$ref` to a …; a circle ends here.
const REFS_MAX: usize = 8;
/// A text that may get longer than this, or has line ends, gets a field of several lines.
const LINE_CHARS: u64 = 200;

/// Plans the form for one payload.
pub(crate) fn plan(schema: Option<&Value>, payload: &str) -> Field {
    let now = json::parse(payload.as_bytes()).ok();
    let mut planner = Planner { root: schema, left: FIELDS_MAX };
    planner.field(schema, now, String::new(), String::new(), true, 0)
}

struct Planner<'a> {
    root: Option<&'a Value>,
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

impl Field {
    /// What the field holds when it is first shown.
    pub(crate) fn text(&self) -> String {
        let Some(now) = &self.now else { return String::new() };
        match (&self.kind, now) {
            (Kind::List { .. }, Json::Array(items)) => items.iter().map(plain).collect::<Vec<String>>().join("\n"),
            (Kind::Line | Kind::Lines | Kind::Fixed, Json::String(text)) => text.clone(),
            _ => now.to_text(),
        }
    }

    /// The payload with what was typed. `typed` holds texts by pointer; a field that did not come stays as it is.
    pub(crate) fn read(&self, typed: &HashMap<String, String>, faults: &mut Vec<(String, Fault)>) -> Option<Json> {
        if let Kind::Group(fields) = &self.kind {
            return self.read_group(fields, typed, faults);
        }
        let Some(text) = typed.get(&self.pointer) else { return self.now.clone() };
        // Browsers send CRLF, whatever was there. What looks the same is the same.
        if matches!(self.kind, Kind::Fixed) || unified(text) == unified(&self.text()) {
            return self.now.clone();
        }
        match self.value(&unified(text)) {
            Ok(value) => value,
            Err(fault) => {
                faults.push((self.pointer.clone(), fault));
                self.now.clone()
            }
        }
    }

    fn read_group(
        &self,
        fields: &[Field],
        typed: &HashMap<String, String>,
        faults: &mut Vec<(String, Fault)>,
    ) -> Option<Json> {
        let members: Vec<(String, Json)> =
            fields.iter().filter_map(|field| Some((field.name(), field.read(typed, faults)?))).collect();
        // An object that was not there and into which nothing was written stays away.
        (self.now.is_some() || !members.is_empty()).then_some(Json::Object(members))
    }

    /// The member's name: the last segment of the pointer.
    pub(crate) fn name(&self) -> String {
        let last = self.pointer.rsplit('/').next().unwrap_or_default();
        last.replace("~1", "/").replace("~0", "~")
    }

    fn value(&self, text: &str) -> Result<Option<Json>, Fault> {
        let is_left_out = text.trim().is_empty() && !self.is_required;
        match &self.kind {
            // An emptied text is an empty text; one that never was stays away.
            Kind::Line | Kind::Lines if text.is_empty() && self.now.is_none() => Ok(None),
            Kind::Line | Kind::Lines => Ok(Some(Json::String(text.to_owned()))),
            Kind::List { numbers } => list(text, *numbers).map(Some),
            _ if is_left_out => Ok(None),
            _ if text.trim().is_empty() => Err(Fault::Missing),
            Kind::Number => number(text).map(Some),
            Kind::Bool | Kind::Choice(_) | Kind::Raw => {
                json::parse(text.as_bytes()).map(Some).map_err(|error| Fault::NoJson(error.detail.clone()))
            }
            Kind::Fixed | Kind::Group(_) => Ok(self.now.clone()),
        }
    }
}

pub(crate) fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// JSON's own grammar of numbers, and nothing else: `1,5` is a mistake and no one and a half.
fn number(text: &str) -> Result<Json, Fault> {
    match json::parse(text.trim().as_bytes()) {
        Ok(number @ Json::Number(_)) => Ok(number),
        _ => Err(Fault::NoNumber),
    }
}

fn list(text: &str, numbers: bool) -> Result<Json, Fault> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let item = |line: &str| if numbers { number(line) } else { Ok(Json::String(line.to_owned())) };
    lines.map(item).collect::<Result<Vec<Json>, Fault>>().map(Json::Array)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: Option<&Value>, payload: &str, typed: &[(&str, &str)]) -> Result<String, Vec<(String, Fault)>> {
        let typed = typed.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
        let mut faults = Vec::new();
        let json = plan(schema, payload).read(&typed, &mut faults);
        if faults.is_empty() { Ok(json.unwrap().to_text()) } else { Err(faults) }
    }

    fn kinds(schema: Option<&Value>, payload: &str) -> Vec<(String, String)> {
        let Kind::Group(fields) = plan(schema, payload).kind else { panic!("no group") };
        let word = |kind: &Kind| format!("{kind:?}").split(['(', ' ']).next().unwrap().to_owned();
        fields.iter().map(|field| (field.label.clone(), word(&field.kind))).collect()
    }

    #[test]
    fn each_member_gets_the_field_that_its_schema_asks_for() {
        let schema = json!({
            "type": "object", "required": ["to"],
            "properties": {
                "to": {"type": "string", "format": "email", "maxLength": 320},
                "text": {"type": "string", "maxLength": 5000},
                "amount": {"type": "integer"},
                "express": {"type": "boolean"},
                "currency": {"enum": ["eur", "sek"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "kind": {"const": "refund"},
                "id": {"type": "string", "readOnly": true},
                "address": {"$ref": "#/$defs/address"},
                "either": {"oneOf": [{"type": "string"}, {"type": "number"}]},
                "note": {"type": ["string", "null"]},
                "rows": {"type": "array", "items": {"type": "object"}}
            },
            "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}}
        });

        let found: HashMap<String, String> = kinds(Some(&schema), "{}").into_iter().collect();

        for (name, kind) in [
            ("to", "Line"),
            ("text", "Lines"),
            ("amount", "Number"),
            ("express", "Bool"),
            ("currency", "Choice"),
            ("tags", "List"),
            ("kind", "Fixed"),
            ("id", "Fixed"),
            ("address", "Group"),
            ("either", "Raw"),
            ("note", "Line"),
            ("rows", "Raw"),
        ] {
            assert_eq!(found[name], kind, "{name}");
        }
    }

    #[test]
    fn without_a_schema_the_payload_says_what_it_is() {
        let payload = r#"{"to":"a","text":"a\nb","n":1.50,"on":true,"l":["a","b"],"m":[1,"a"],"x":null,"o":{"y":1}}"#;
        let words: Vec<String> = kinds(None, payload).into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(words, ["Line", "Lines", "Number", "Bool", "List", "Raw", "Raw", "Group"]);
    }

    #[test]
    fn what_is_not_touched_comes_back_with_every_digit() {
        let payload = r#"{"amount":12345678901234567890.10,"text":"a\r\nb","list":["x"],"deep":{"n":1.0}}"#;
        let typed = [("/amount", "12345678901234567890.10"), ("/text", "a\r\nb"), ("/list", "x"), ("/deep/n", "1.0")];
        assert_eq!(read(None, payload, &typed).unwrap(), payload);
        assert_eq!(read(None, payload, &[]).unwrap(), payload);
    }

    #[test]
    fn what_is_typed_becomes_a_value_of_its_kind() {
        let payload = r#"{"to":"a","amount":1,"on":true,"list":["a"],"o":{"n":1}}"#;
        let typed =
            [("/to", "b \"c\""), ("/amount", " 0.10 "), ("/on", "false"), ("/list", "x\r\n\r\n y "), ("/o/n", "2")];
        let wanted = r#"{"to":"b \"c\"","amount":0.10,"on":false,"list":["x","y"],"o":{"n":2}}"#;
        assert_eq!(read(None, payload, &typed).unwrap(), wanted);
    }

    #[test]
    fn an_optional_member_comes_when_something_is_typed_and_goes_when_it_is_emptied() {
        let schema = json!({"type": "object", "required": ["a"], "properties":
            {"a": {"type": "number"}, "b": {"type": "number"}, "c": {"type": "string"}}});
        assert_eq!(read(Some(&schema), r#"{"a":1}"#, &[("/b", "2"), ("/c", "")]).unwrap(), r#"{"a":1,"b":2}"#);
        assert_eq!(read(Some(&schema), r#"{"a":1,"b":2}"#, &[("/b", "")]).unwrap(), r#"{"a":1}"#);
        assert_eq!(read(Some(&schema), r#"{"a":1}"#, &[("/a", "")]), Err(vec![("/a".into(), Fault::Missing)]));
    }

    #[test]
    fn a_mistake_is_named_at_its_field() {
        let faults = read(None, r#"{"n":1,"x":null}"#, &[("/n", "1,5"), ("/x", "{")]).unwrap_err();
        assert_eq!(faults[0], ("/n".into(), Fault::NoNumber));
        assert!(matches!(&faults[1], (at, Fault::NoJson(_)) if at == "/x"));
    }

    #[test]
    fn a_fixed_member_is_never_changed_whatever_was_sent() {
        let schema = json!({"type": "object", "properties": {"id": {"const": 7}}});
        assert_eq!(read(Some(&schema), r#"{"id":7}"#, &[("/id", "8")]).unwrap(), r#"{"id":7}"#);
    }

    #[test]
    fn a_payload_of_very_many_members_is_one_field() {
        let members: Vec<String> = (0..5_000).map(|n| format!("\"m{n}\":{n}")).collect();
        assert!(matches!(plan(None, &format!("{{{}}}", members.join(","))).kind, Kind::Raw));
    }

    #[test]
    fn a_circle_of_references_and_a_deep_payload_end_as_raw_json() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
        assert!(matches!(plan(Some(&schema), "{\"a\":1}").kind, Kind::Group(_)));
        let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
        let text = format!("{:?}", plan(None, &deep).kind);
        assert!(text.matches("Group").count() <= DEPTH_MAX && text.contains("Raw"));
    }
}
