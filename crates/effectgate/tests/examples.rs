//! The workflows under `n8n/examples` held to what they say, without Node: every file parses, every node is of a known type
//! and has parameters that this type knows, connections lead somewhere, no key is made of something that is new at each
//! execution, nothing is tried again where that harms, no secret and no credential lies in them, and the one config that
//! serves them all is sound. That they import, publish and run is seen at a real n8n (n8n/e2e), not here.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

const EFFECTGATE: &str = "n8n-nodes-effectgate.";

/// n8n's own nodes as the examples use them, with the versions that were imported and run on n8n 2.41.1, and the names of
/// their parameters.
const THEIRS: [(&str, f64, &[&str]); 17] = [
    ("n8n-nodes-base.stickyNote", 1.0, &["content", "height", "width"]),
    ("n8n-nodes-base.noOp", 1.0, &[]),
    ("n8n-nodes-base.manualTrigger", 1.0, &[]),
    ("n8n-nodes-base.errorTrigger", 1.0, &[]),
    ("n8n-nodes-base.scheduleTrigger", 1.2, &["rule"]),
    ("n8n-nodes-base.webhook", 2.1, &["httpMethod", "path", "responseMode", "options"]),
    ("n8n-nodes-base.respondToWebhook", 1.5, &["respondWith", "responseBody", "options"]),
    ("n8n-nodes-base.set", 3.4, &["assignments", "includeOtherFields", "options"]),
    ("n8n-nodes-base.if", 2.2, &["conditions", "options"]),
    ("n8n-nodes-base.wait", 1.1, &["resume", "httpMethod", "responseMode", "options"]),
    ("n8n-nodes-base.code", 2.0, &["jsCode"]),
    ("n8n-nodes-base.httpRequest", 4.5, HTTP),
    ("n8n-nodes-base.httpRequestTool", 4.5, HTTP),
    ("@n8n/n8n-nodes-langchain.agent", 3.1, &["promptType", "text", "options"]),
    ("@n8n/n8n-nodes-langchain.lmChatOpenAi", 1.2, &["model", "options"]),
    (
        "@n8n/n8n-nodes-langchain.mcpClientTool",
        1.2,
        &["endpointUrl", "serverTransport", "authentication", "include", "options"],
    ),
    ("n8n-nodes-base.splitOut", 1.0, &["fieldToSplitOut", "options"]),
];

const HTTP: &[&str] = &[
    "method",
    "url",
    "authentication",
    "genericAuthType",
    "sendQuery",
    "queryParameters",
    "sendHeaders",
    "headerParameters",
    "sendBody",
    "specifyBody",
    "jsonBody",
    "toolDescription",
    "options",
];

/// What is new at every execution, or written by a model.
const NEW_EACH_TIME: [&str; 9] =
    ["$execution", "$now", "$today", "Date.now", "new Date(", "uuid", "UUID", "Math.random", "$fromAI"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder() -> PathBuf {
    root().join("n8n/examples")
}

struct Workflow {
    file: String,
    text: String,
    json: Value,
}

impl Workflow {
    fn nodes(&self) -> &[Value] {
        self.json["nodes"].as_array().unwrap()
    }

    fn says(&self, what: &Value) -> String {
        format!("{}: {what}", self.file)
    }
}

fn workflows() -> Vec<Workflow> {
    let mut all: Vec<Workflow> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let json = serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
            Workflow { file: path.file_name().unwrap().to_string_lossy().into_owned(), text, json }
        })
        .collect();
    all.sort_by(|a, b| a.file.cmp(&b.file));
    all
}

fn text<'a>(node: &'a Value, member: &str) -> &'a str {
    node[member].as_str().unwrap_or_default()
}

fn is_ours(node: &Value) -> bool {
    text(node, "type").starts_with(EFFECTGATE)
}

#[test]
fn every_example_is_there_in_both_forms_and_has_a_page() {
    let files: BTreeSet<String> = workflows().into_iter().map(|workflow| workflow.file).collect();

    for name in NAMES {
        for form in ["node", "http"] {
            assert!(files.contains(&format!("{name}.{form}.json")), "{name}.{form}.json");
        }
        let page = fs::read_to_string(folder().join(format!("{name}.md"))).unwrap_or_else(|_| panic!("{name}.md"));
        for part in ["## What it protects", "## Import", "## When a step dies"] {
            assert!(page.contains(part), "{name}.md has no part {part:?}");
        }
    }
    assert_eq!(files.len(), NAMES.len() * 2 + 1, "one file more: the far side");
}

const NAMES: [&str; 7] = [
    "agent-tools",
    "draft-handover",
    "error-workflow",
    "lead-to-crm",
    "quarantine-and-replay",
    "refund",
    "ticket-reply",
];

#[test]
fn every_connection_of_an_example_leads_from_a_node_to_a_node() {
    for workflow in workflows() {
        let names: Vec<&str> = workflow.nodes().iter().map(|node| text(node, "name")).collect();
        let ids: BTreeSet<&str> = workflow.nodes().iter().map(|node| text(node, "id")).collect();
        assert_eq!(ids.len(), names.len(), "{}: ids are unique", workflow.file);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{}: names are unique", workflow.file);
        for (from, kinds) in workflow.json["connections"].as_object().unwrap() {
            assert!(names.contains(&from.as_str()), "{}: no node {from}", workflow.file);
            for end in kinds
                .as_object()
                .unwrap()
                .values()
                .flat_map(|outputs| outputs.as_array().unwrap())
                .flat_map(|ends| ends.as_array().unwrap())
            {
                assert!(names.contains(&text(end, "node")), "{}", workflow.says(end));
            }
        }
        // Expressions name nodes as well: $('Name').
        for named in workflow.text.split("$('").skip(1) {
            let name = named.split("')").next().unwrap();
            assert!(names.contains(&name), "{}: an expression names {name}", workflow.file);
        }
    }
}

#[test]
fn every_node_of_an_example_is_of_a_known_type_with_parameters_that_it_has() {
    for workflow in workflows() {
        for node in workflow.nodes() {
            let parameters: Vec<&String> = node["parameters"].as_object().unwrap().keys().collect();
            if is_ours(node) {
                ours(&workflow, node, &parameters);
                continue;
            }
            let known = THEIRS.iter().find(|(kind, ..)| *kind == text(node, "type"));
            let (_, version, names) = known.unwrap_or_else(|| panic!("{}", workflow.says(&node["type"])));
            assert_eq!(node["typeVersion"].as_f64(), Some(*version), "{}", workflow.says(&node["name"]));
            for parameter in parameters {
                assert!(names.contains(&parameter.as_str()), "{}: {parameter}", workflow.says(&node["name"]));
            }
        }
    }
}

/// Our own node: type, resource, operation, parameters and options stand in the package's source.
fn ours(workflow: &Workflow, node: &Value, parameters: &[&String]) {
    let kind = text(node, "type").strip_prefix(EFFECTGATE).unwrap();
    let trigger = kind == "effectgateTrigger";
    assert!(trigger || ["effectgate", "effectgateTool", "effectgateHitlTool"].contains(&kind), "{kind}");
    let source = description(if trigger { "nodes/EffectgateTrigger" } else { "nodes/Effectgate/descriptions" });
    let has = |word: &str, name: &str| source.contains(&format!("{word}: '{name}'"));
    for parameter in parameters {
        let known = has("name", parameter) || ["resource", "operation"].contains(&parameter.as_str());
        assert!(known, "{}: {parameter}", workflow.says(&node["name"]));
    }
    for option in node["parameters"]["options"].as_object().into_iter().flat_map(|options| options.keys()) {
        assert!(has("name", option), "{}: option {option}", workflow.says(&node["name"]));
    }
    for choice in
        ["operation", "outputFormat", "effectsFrom", "waitFor", "keyMode", "failClass", "outcome", "leaseFrom"]
    {
        if let Some(value) = node["parameters"][choice].as_str() {
            assert!(has("value", value), "{}: {choice} {value}", workflow.says(&node["name"]));
        }
    }
    for event in node["parameters"]["events"].as_array().into_iter().flatten() {
        assert!(has("value", event.as_str().unwrap()), "{}", workflow.says(event));
    }
}

fn description(below: &str) -> String {
    let place = root().join("n8n/n8n-nodes-effectgate").join(below);
    let mut all = String::new();
    for entry in fs::read_dir(place).unwrap() {
        all.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    all
}

#[test]
fn no_key_of_an_example_is_made_of_what_is_new_at_each_execution() {
    let mut seen = 0;
    for workflow in workflows() {
        for node in workflow.nodes() {
            for key in keys(&node["parameters"]) {
                seen += 1;
                for word in NEW_EACH_TIME {
                    assert!(!key.contains(word), "{}: {word} in {key}", workflow.says(&node["name"]));
                }
            }
        }
    }
    assert!(seen >= 20, "{seen} keys were found");
}

/// Everything in a node that becomes a key: the node's form, the members of a reservation by HTTP, the header, the address.
fn keys(parameters: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for name in ["key", "keySource", "keyEventType", "keyExternalId", "keyVersion"] {
        all.extend(parameters[name].as_str().map(ToOwned::to_owned));
    }
    let body = parameters["jsonBody"].as_str().unwrap_or_default();
    all.extend(body.split("key_parts: {").nth(1).map(|rest| rest.split('}').next().unwrap().to_owned()));
    all.extend(body.split(" key: ").nth(1).map(|rest| rest.split(',').next().unwrap().to_owned()));
    for header in parameters["headerParameters"]["parameters"].as_array().into_iter().flatten() {
        if text(header, "name").eq_ignore_ascii_case("Idempotency-Key") {
            all.push(text(header, "value").to_owned());
        }
    }
    all.extend(parameters["endpointUrl"].as_str().and_then(|url| url.split("key=").nth(1)).map(ToOwned::to_owned));
    all
}

#[test]
fn no_example_carries_a_secret_a_credential_or_data_of_a_run() {
    for workflow in workflows() {
        for member in ["pinData", "staticData", "meta", "shared", "versionId"] {
            assert!(workflow.json.get(member).is_none_or(Value::is_null), "{}: {member}", workflow.file);
        }
        assert_eq!(workflow.json["active"], false, "{}: imported as a draft", workflow.file);
        // `n8n import:workflow` wants an id, of at most 36 characters.
        let id = format!("eg-{}", workflow.file.trim_end_matches(".json").replace('.', "-"));
        assert_eq!(text(&workflow.json, "id"), id);
        assert!(id.len() <= 36, "{id}");
        for node in workflow.nodes() {
            assert!(node.get("credentials").is_none(), "{}: chosen after the import", workflow.says(&node["name"]));
        }
        for secret in ["whsec_", "Bearer ey", "\"sk-", "sk_live", "xoxb-", "AKIA", "BEGIN PRIVATE", "password"] {
            assert!(!workflow.text.contains(secret), "{}: {secret}", workflow.file);
        }
    }
}

#[test]
fn no_example_tries_a_model_an_agent_or_an_effect_again_by_itself() {
    for workflow in workflows() {
        for node in workflow.nodes().iter().filter(|node| node["retryOnFail"] == true) {
            // Only what reads is repeated by n8n; the gate's calls may be, and need not.
            assert_eq!(text(&node["parameters"], "method"), "GET", "{}", workflow.says(&node["name"]));
        }
    }
}

#[test]
fn the_examples_names_stand_in_the_config_that_serves_them() {
    let config = fs::read_to_string(folder().join("effectgate.toml")).unwrap();
    for workflow in workflows() {
        for node in workflow.nodes() {
            let parameters = &node["parameters"];
            if let Some(flow) = parameters["flow"].as_str() {
                assert!(config.contains(&format!("[flows.{flow}]")), "{}: flow {flow}", workflow.says(&node["name"]));
            }
            for effect in parameters["effects"]["values"].as_array().into_iter().flatten() {
                assert!(config.contains(&format!(".effects.{}]", text(effect, "type"))), "{}", workflow.says(effect));
            }
        }
    }
}

#[test]
fn the_config_of_the_examples_is_sound() {
    let told = Command::new(env!("CARGO_BIN_EXE_effectgate"))
        .args(["check", "n8n/examples/effectgate.toml"])
        .current_dir(root())
        .output()
        .unwrap();

    assert!(
        told.status.success(),
        "{}{}",
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr)
    );
}
