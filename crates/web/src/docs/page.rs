//! GET /docs: the OpenAPI document as a page to read.

use std::sync::LazyLock;

use askama::Template;
use axum::response::Response;
use serde_json::Value;

use super::{html, openapi};

#[derive(Template)]
#[template(path = "docs/api.html")]
struct Page {
    version: String,
    introduction: String,
    groups: Vec<Group>,
    schemas: Vec<Schema>,
}

struct Group {
    tag: String,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    parameters: Vec<Line>,
    request: String,
    responses: Vec<Line>,
}

/// A name, where it stands, and words about it.
struct Line {
    name: String,
    place: String,
    words: String,
}

struct Schema {
    name: String,
    description: String,
    members: Vec<Line>,
    example: String,
}

/// GET /docs
pub(crate) async fn page() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let page = Page::of(&openapi::openapi());
        page.render().expect("the template writes into a string")
    });
    html(TEXT.clone())
}

/// The order in which a reader meets them.
const TAGS: [&str; 14] = [
    "runs",
    "lease",
    "effects",
    "inbound",
    "outbound",
    "tools",
    "approvals",
    "switches",
    "replays",
    "journal",
    "subscriptions",
    "access",
    "health",
    "",
];

impl Page {
    fn of(document: &Value) -> Self {
        let all: Vec<(String, Operation)> = each(&document["paths"])
            .flat_map(|(path, item)| each(item).map(move |(method, operation)| read(path, method, operation)))
            .collect();
        let mut all = all;
        let groups = TAGS.iter().map(|tag| {
            let (of_tag, rest) = all.drain(..).partition(|(t, _)| t == tag);
            all = rest;
            Group { tag: (*tag).to_owned(), operations: of_tag.into_iter().map(|(_, o): (String, _)| o).collect() }
        });
        Self {
            version: text(&document["info"]["version"]),
            introduction: text(&document["info"]["description"]),
            groups: groups.filter(|group| !group.operations.is_empty()).collect(),
            schemas: each(&document["components"]["schemas"]).map(|(name, schema)| schema_of(name, schema)).collect(),
        }
    }
}

fn read(path: &str, method: &str, operation: &Value) -> (String, Operation) {
    let parameters = operation["parameters"].as_array().into_iter().flatten().map(|p| Line {
        name: text(&p["name"]),
        place: text(&p["in"]),
        words: text(&p["description"]),
    });
    let request = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let read = Operation {
        id: text(&operation["operationId"]),
        method: method.to_owned(),
        path: path.to_owned(),
        summary: text(&operation["summary"]),
        description: text(&operation["description"]),
        parameters: parameters.collect(),
        request: last(request),
        responses: each(&operation["responses"]).map(|(status, r)| answer(status, r)).collect(),
    };
    (text(&operation["tags"][0]), read)
}

fn answer(status: &str, response: &Value) -> Line {
    let shape = each(&response["content"]).map(|(_, content)| last(&content["schema"]["$ref"])).next();
    Line { name: status.to_owned(), place: shape.unwrap_or_default(), words: text(&response["description"]) }
}

fn schema_of(name: &str, schema: &Value) -> Schema {
    // A flattened answer is a list of schemas: its own members are in the last.
    let parts: Vec<&Value> = match schema["allOf"].as_array() {
        Some(parts) => parts.iter().collect(),
        None => vec![schema],
    };
    let members = parts.iter().flat_map(|part| {
        let included = part["$ref"].as_str().map(|r| Line {
            name: "…".into(),
            place: r.rsplit('/').next().unwrap_or_default().to_owned(),
            words: "every member of this".into(),
        });
        included.into_iter().chain(each(&part["properties"]).map(|(name, member)| Line {
            name: name.to_owned(),
            place: kind(member),
            words: text(&member["description"]),
        }))
    });
    let example = if schema["example"].is_null() { &schema["examples"][0] } else { &schema["example"] };
    Schema {
        name: name.to_owned(),
        description: text(&schema["description"]),
        members: members.collect(),
        example: if example.is_null() { String::new() } else { format!("{example:#}") },
    }
}

/// What a member holds, in a word.
fn kind(member: &Value) -> String {
    if let Some(reference) = member["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    match &member["type"] {
        Value::String(word) if word == "array" => format!("list of {}", kind(&member["items"])),
        Value::String(word) => word.clone(),
        Value::Array(words) => words.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => member["oneOf"]
            .as_array()
            .map_or_else(|| "any JSON".to_owned(), |list| list.iter().map(kind).collect::<Vec<_>>().join(" or ")),
    }
}

fn each(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn last(reference: &Value) -> String {
    reference.as_str().and_then(|r| r.rsplit('/').next()).unwrap_or_default().to_owned()
}
