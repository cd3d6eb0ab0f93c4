//! A form for an effect's payload: made from the effect's JSON Schema and from what is in the payload now, and read back
//! into JSON. What a field cannot express stays raw JSON in a field of its own. Whatever is not touched comes back as it
//! was, with every digit. Pure; nothing is validated here but that a number is a number: the engine judges the edit.

mod plan;

use std::collections::HashMap;

use effectgate_core::json::{self, Json};

use super::effect::plain;

pub(crate) use plan::plan;

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
    use serde_json::{Value, json};

    use super::*;

    fn read(schema: Option<&Value>, payload: &str, typed: &[(&str, &str)]) -> Result<String, Vec<(String, Fault)>> {
        let typed = typed.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
        let mut faults = Vec::new();
        let json = plan(schema, payload, &[]).read(&typed, &mut faults);
        if faults.is_empty() { Ok(json.unwrap().to_text()) } else { Err(faults) }
    }

    fn kinds(schema: Option<&Value>, payload: &str) -> Vec<(String, String)> {
        let Kind::Group(fields) = plan(schema, payload, &[]).kind else { panic!("no group") };
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
    fn where_it_goes_is_shown_and_comes_back_as_it_was() {
        let typed = HashMap::from([("/to".to_owned(), "other@example.test".to_owned())]);

        let read = plan(None, r#"{"to":"anna@example.test","n":1}"#, &["/to"]).read(&typed, &mut Vec::new());

        assert!(read.unwrap().to_text().contains(r#""to":"anna@example.test""#));
    }

    #[test]
    fn a_payload_of_very_many_members_is_one_field() {
        let members: Vec<String> = (0..5_000).map(|n| format!("\"m{n}\":{n}")).collect();
        assert!(matches!(plan(None, &format!("{{{}}}", members.join(",")), &[]).kind, Kind::Raw));
    }

    #[test]
    fn a_circle_of_references_and_a_deep_payload_end_as_raw_json() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
        assert!(matches!(plan(Some(&schema), "{\"a\":1}", &[]).kind, Kind::Group(_)));
        let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
        let text = format!("{:?}", plan(None, &deep, &[]).kind);
        assert!(text.matches("Group").count() <= plan::DEPTH_MAX && text.contains("Raw"));
    }
}
