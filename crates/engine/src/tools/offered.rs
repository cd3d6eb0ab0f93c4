//! Which effect types of a flow are tools, and what they want, as JSON Schema. Made of the policy alone.

use effectgate_core::{
    flow::{EffectPolicy, TargetRule},
    ids::{EffectType, FlowName},
};
use serde_json::{Map, Value, json};

use crate::{
    outbound::OUT_TYPE,
    policy::{EffectRules, Policy},
};

/// The argument that names whom or what an effect is for, where the flow leaves that to the caller.
pub const TARGET: &str = "target";

/// An effect type as an agent sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: EffectType,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub input: Map<String, Value>,
    pub reversible: bool,
}

impl Policy {
    /// The tools of a flow, by name. What came through an outbound door is an HTTP request and no tool. Empty for a flow
    /// that is not there, and for one of the gate's own.
    #[must_use]
    pub fn tools(&self, flow: &FlowName) -> Vec<Tool> {
        let effects = self.flow(flow).into_iter().flat_map(|flow| &flow.flow.effects);
        effects.filter_map(|(name, _)| self.tool(flow, name)).collect()
    }

    /// One tool of a flow.
    #[must_use]
    pub fn tool(&self, flow: &FlowName, name: &EffectType) -> Option<Tool> {
        let flow = self.flow(flow).filter(|_| !self.is_own(flow))?;
        let (effect, rules) = (flow.flow.effects.get(name)?, flow.effects.get(name)?);
        let is_door = name.as_str() == OUT_TYPE && self.provider(&effect.provider).is_some_and(|p| p.out.is_some());
        (!is_door).then(|| Tool {
            name: name.clone(),
            description: description(name, effect, rules),
            input: input(effect),
            reversible: effect.reversible,
        })
    }
}

fn description(name: &EffectType, effect: &EffectPolicy, rules: &EffectRules) -> String {
    let what = match &rules.description {
        Some(text) => text.trim().to_owned(),
        None => format!("Carries out {name} at {}.", effect.provider),
    };
    format!("{what} Call it once for one request; the answer says whether it was done, and is final for you.")
}

/// The schema of the arguments: the payload's, and the target where the caller names it.
fn input(effect: &EffectPolicy) -> Map<String, Value> {
    let mut schema = effect.payload_schema.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| "object".into());
    if !takes_target_out(effect) {
        return schema;
    }
    let has_to = declares(effect, "to");
    if let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        let said = "Whom or what it is for: an address, an id or a path.";
        properties.insert(TARGET.into(), json!({"type": "string", "minLength": 1, "description": said}));
    }
    if !has_to && let Some(required) = schema.entry("required").or_insert_with(|| json!([])).as_array_mut() {
        required.push(TARGET.into());
    }
    schema
}

/// True where [`TARGET`] is an argument of its own: the flow does not say where the target lies, and the payload has no
/// member of that name.
pub(super) fn takes_target_out(effect: &EffectPolicy) -> bool {
    effect.target == TargetRule::Proposal && !declares(effect, TARGET)
}

fn declares(effect: &EffectPolicy, member: &str) -> bool {
    effect.payload_schema.as_ref().is_some_and(|schema| schema["properties"].get(member).is_some())
}
