//! The environment as a layer over the file: `EFFECTGATE__SERVER__LISTEN` is `server.listen`. Two underscores part the
//! names because one is part of them. A value that reads as a number, truth value or JSON list is one; quote it
//! (`"123"`) to make it a text.
//!
//! Read once and passed on, so that a test can bring its own.

use std::collections::BTreeMap;

use config::{ConfigError, Map, Source, Value, ValueKind};

use super::error::ConfigErrors;

const PREFIX: &str = "EFFECTGATE__";
/// What it looks like if one underscore was forgotten: ignored in silence by most programs, an error here.
const ALMOST: &str = "EFFECTGATE_";

/// Environment variables at the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    /// Secrets that are not here are stood in for, and noted: for judging a config away from the machine it is for.
    pub(super) stands_in: bool,
}

impl Environment {
    /// The process's own.
    pub(crate) fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The same, with something in the place of secrets that are not here. A config judged so must not be started.
    pub(crate) fn standing_in(self) -> Self {
        Self { stands_in: true, ..self }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Refuses names that miss an underscore.
    pub(super) fn check(&self) -> Result<(), ConfigErrors> {
        let is_wrong = |name: &&String| {
            name.strip_prefix(ALMOST).is_some_and(|rest| !rest.starts_with('_') && rest.contains("__"))
        };
        match self.variables.keys().find(is_wrong) {
            None => Ok(()),
            Some(name) => Err(ConfigErrors::one(
                name.as_str(),
                "this variable would be ignored",
                format!("Write two underscores after EFFECTGATE: {PREFIX}{}.", &name[ALMOST.len()..]),
            )),
        }
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(vars: I) -> Self {
        Self { variables: vars.into_iter().collect(), stands_in: false }
    }
}

impl Source for Environment {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        let ours = self.variables.iter().filter_map(|(name, text)| Some((name.strip_prefix(PREFIX)?, text)));
        Ok(ours.map(|(name, text)| (name.to_lowercase().replace("__", "."), value(text))).collect())
    }
}

fn value(text: &str) -> Value {
    let origin = "the environment".to_owned();
    Value::new(Some(&origin), kind(text))
}

fn kind(text: &str) -> ValueKind {
    let json = text.starts_with(['[', '{', '"']).then(|| serde_json::from_str(text).ok()).flatten();
    if let Some(json) = json {
        return of_json(json);
    }
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => return ValueKind::I64(number),
        _ => {}
    }
    match (text, text.parse::<f64>()) {
        ("true", _) => ValueKind::Boolean(true),
        ("false", _) => ValueKind::Boolean(false),
        (_, Ok(number)) if number.is_finite() && number.to_string() == text => ValueKind::Float(number),
        _ => ValueKind::String(text.to_owned()),
    }
}

fn of_json(json: serde_json::Value) -> ValueKind {
    use serde_json::Value as Json;
    let inner = |json: Json| Value::new(None, of_json(json));
    match json {
        Json::Null => ValueKind::Nil,
        Json::Bool(fact) => ValueKind::Boolean(fact),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => ValueKind::I64(whole),
            None => ValueKind::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => ValueKind::String(text),
        Json::Array(items) => ValueKind::Array(items.into_iter().map(inner).collect()),
        Json::Object(members) => {
            ValueKind::Table(members.into_iter().map(|(name, json)| (name, inner(json))).collect())
        }
    }
}
