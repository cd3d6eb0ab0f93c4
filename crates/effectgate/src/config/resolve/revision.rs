//! The revision of a flow: a hash over everything that was resolved of it, schemas and rules included. It stands in
//! every run and every automatic decision, so that it can be said by which words a run was judged.
//!
//! Not in it: what providers are (their own sections), secrets, and the evidence's value, which is read at each decision.

use std::{collections::BTreeMap, path::PathBuf};

use effectgate_core::{
    digest::Digest,
    flow::EffectPolicy,
    ids::EffectType,
    json::{Json, canonical},
};
use serde_json::{Map, Value, json};

use crate::config::flow::FlowConfig;

/// Changes when the form below does.
const FORM: &str = "flow-revision-1";

/// `sha256:` and 64 hexadecimal digits. The order and layout of the file do not count, defaults written out neither.
pub(super) fn revision(
    name: &str,
    flow: &FlowConfig,
    effects: &BTreeMap<EffectType, EffectPolicy>,
    payload_schema: Option<&Value>,
    output_schema: Option<&Value>,
) -> String {
    let schemas: Map<String, Value> = effects
        .iter()
        .filter_map(|(kind, effect)| Some((kind.as_str().to_owned(), effect.payload_schema.clone()?)))
        .collect();
    let content = json!({
        "form": FORM,
        "name": name,
        "flow": serde_json::to_value(without_files(flow)).unwrap_or_default(),
        "payload_schema": payload_schema,
        "output_schema": output_schema,
        "effect_schemas": schemas,
    });
    format!("sha256:{}", Digest::of(&canonical(&Json::from(&content))))
}

/// Where a schema or evidence lies says nothing about what it says.
fn without_files(flow: &FlowConfig) -> FlowConfig {
    let mut flow = flow.clone();
    flow.payload_schema = None;
    flow.output_schema = None;
    for effect in flow.effects.values_mut() {
        effect.payload_schema = None;
        if let Some(evidence) = effect.exceptions.as_mut().and_then(|exceptions| exceptions.evidence.as_mut()) {
            evidence.file = PathBuf::new();
        }
    }
    flow
}
