//! A preset's values under those of a config's section. The section's own members win; what belongs together is taken
//! together, so that half a preset never contradicts what a person wrote.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Preset, find, near};
use crate::config::{ConfigError, ConfigErrors};

/// Where the members of a section with a preset come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    pub(crate) preset: String,
    /// Members, with a dot for those of a table, that the preset gave.
    pub(crate) from_preset: Vec<String>,
    /// Members that the section itself, or the environment, gives.
    pub(crate) own: Vec<String>,
}

/// Tables that are filled up member by member; all others are taken or left as a whole.
const BY_MEMBER: [&str; 5] = ["facts", "rate", "backoff", "breaker", "effects"];

/// Fills up every `[providers.X]` that names a preset. Other shapes are left to whoever reads the types.
///
/// # Errors
/// Every preset that does not exist, with the names that were perhaps meant.
pub(crate) fn apply(config: &mut Value) -> Result<BTreeMap<String, Origins>, ConfigErrors> {
    let mut origins = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, section) in config.get_mut("providers").and_then(Value::as_object_mut).into_iter().flatten() {
        let Some(section) = section.as_object_mut() else { continue };
        let Some(wanted) = section.get("preset").and_then(Value::as_str) else { continue };
        match find(wanted) {
            Some(preset) => {
                origins.insert(name.clone(), fill(section, preset));
            }
            None => faults.push(unknown(name, wanted)),
        }
    }
    if faults.is_empty() { Ok(origins) } else { Err(ConfigErrors(faults)) }
}

fn unknown(name: &str, wanted: &str) -> ConfigError {
    let meant = near(wanted);
    let advice = match meant.as_slice() {
        [] => "`effectgate providers` lists all presets.".to_owned(),
        names => format!("Did you mean {}? `effectgate providers` lists all presets.", names.join(" or ")),
    };
    ConfigError { path: format!("providers.{name}.preset"), what: format!("there is no preset {wanted:?}"), advice }
}

fn fill(section: &mut Map<String, Value>, preset: &Preset) -> Origins {
    let mut origins = Origins { preset: preset.name.clone(), ..Origins::default() };
    origins.own = own(section);
    let contradicted = contradicted(section);
    let given = preset.config.as_object().into_iter().flatten();
    for (member, value) in given.filter(|(member, _)| !contradicted.contains(&member.as_str())) {
        match (section.get_mut(member), value) {
            (None, value) => {
                origins.from_preset.extend(names(member, value));
                section.insert(member.clone(), value.clone());
            }
            (Some(Value::Object(own)), Value::Object(given)) if BY_MEMBER.contains(&member.as_str()) => {
                for (inner, value) in given.iter().filter(|(inner, _)| !own.contains_key(*inner)).collect::<Vec<_>>() {
                    origins.from_preset.push(format!("{member}.{inner}"));
                    own.insert(inner.clone(), value.clone());
                }
            }
            (Some(_), _) => {}
        }
    }
    origins
}

fn own(section: &Map<String, Value>) -> Vec<String> {
    let given = section.iter().filter(|(member, _)| member.as_str() != "preset");
    given.flat_map(|(member, value)| names(member, value)).collect()
}

/// The names under which a member is told: those of a table that is filled up, or its own.
fn names(member: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Object(table) if BY_MEMBER.contains(&member) => {
            table.keys().map(|inner| format!("{member}.{inner}")).collect()
        }
        _ => vec![member.to_owned()],
    }
}

/// Members of a preset that make no sense beside what the section says.
fn contradicted(section: &Map<String, Value>) -> Vec<&'static str> {
    let has = |member: &str| section.contains_key(member);
    let mut out = Vec::new();
    if has("key_header") || has("key_field") {
        out.extend(["key_header", "key_field"]);
    }
    if section.get("class").is_some_and(|class| class == "advisory") {
        out.extend(["key_window_ms", "key_window_margin_ms", "conflict_in_flight", "in_flight"]);
    }
    out
}
