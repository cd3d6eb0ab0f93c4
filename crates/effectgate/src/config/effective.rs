//! The config in force as TOML: every default filled in, every secret three stars. For people, and for a diff between
//! two machines.

use serde_json::{Map, Value};

use super::Config;

/// Prints the config.
pub(crate) fn effective(config: &Config) -> String {
    let mut out = String::new();
    if let Ok(Value::Object(root)) = serde_json::to_value(config) {
        table(&mut out, "", &root);
    }
    out
}

/// Plain members first, then the tables below: TOML knows no way back to the parent.
fn table(out: &mut String, path: &str, members: &Map<String, Value>) {
    let (tables, plain): (Vec<_>, Vec<_>) =
        members.iter().filter(|(_, value)| !value.is_null()).partition(|(_, value)| is_table(value));
    if !path.is_empty() && (!plain.is_empty() || tables.is_empty()) {
        out.push_str(&format!("\n[{path}]\n"));
    }
    for (name, value) in plain {
        out.push_str(&format!("{} = {}\n", key(name), inline(value)));
    }
    for (name, value) in tables {
        let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        match value {
            Value::Object(members) => table(out, &path, members),
            Value::Array(items) => {
                items.iter().filter_map(Value::as_object).for_each(|item| list_item(out, &path, item))
            }
            _ => {}
        }
    }
}

fn list_item(out: &mut String, path: &str, members: &Map<String, Value>) {
    out.push_str(&format!("\n[[{path}]]\n"));
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        out.push_str(&format!("{} = {}\n", key(name), inline(value)));
    }
}

fn is_table(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_object),
        _ => false,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members: Vec<String> =
                members.map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// A JSON string is a TOML basic string, apart from DEL.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
