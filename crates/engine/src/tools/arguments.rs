//! What a model wrote: judged by every rule that the flow has, before anything is kept. Read and never mended; what a
//! model writes is a payload and nothing else, so a member named `key` or `flow` names no key and no flow.

use effectgate_core::{
    flow::{EffectPolicy, TargetRule},
    json::{self, Json},
};

use super::offered::{TARGET, takes_target_out};
use crate::{
    check::{self, Asked},
    error::{EngineError, Result},
    policy::{FlowPolicy, Policy},
    reserve,
    view::{FindingView, Findings},
};

/// Arguments that passed: what will be proposed. The run keeps them whole, as they came.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) effect: Asked,
    /// The flow wants an output: what the model wrote is one.
    pub(super) has_output: bool,
}

/// Reads the arguments of a call.
///
/// # Errors
/// What is no JSON that every reader reads alike.
pub(super) fn read(text: &str) -> Result<Json> {
    json::parse(text.as_bytes()).map_err(|error| EngineError::BadJson { pointer: error.pointer.clone(), error })
}

/// Judges arguments by the schemas of the flow and of the effect, by its target rule and by its connector.
///
/// # Errors
/// What is wrong with them; pointers from the arguments' root.
pub(super) fn judge(
    policy: &Policy,
    flow: &FlowPolicy,
    effect: &EffectPolicy,
    asked: (&str, &str, &Json),
) -> Result<Accepted, Findings> {
    let (effect_type, text, json) = asked;
    let Some(members) = json.as_object() else {
        return Err(vec![FindingView::new("", "type", "the arguments of a tool are an object")]);
    };
    let (target, payload) = split(effect, members, text)?;
    let mut findings: Findings = Vec::new();
    let value = json.to_value();
    for schema in flow.payload_schema.iter().chain(&flow.output_schema) {
        let found = schema.validate(&value);
        findings.extend(found.into_iter().map(|f| FindingView::new(f.pointer, &f.keyword, f.message)));
    }
    if reserve::hash_under(&flow.flow.identity, json).is_err() {
        let said = format!("a member that identifies the event is missing: {}", flow.flow.identity.as_text());
        findings.push(FindingView::new("", "required", said));
    }
    let effect = Asked { effect_type: effect_type.into(), target, payload };
    if let Err(found) = check::one_effect(policy, flow, &effect, Some(text), "") {
        findings.extend(found.into_iter().map(in_arguments));
    }
    findings.dedup();
    match findings.is_empty() {
        true => Ok(Accepted { effect, has_output: flow.output_schema.is_some() }),
        false => Err(findings),
    }
}

/// The target as far as the caller names it, and the payload's text: letter by letter what came, unless the target was
/// an argument of its own.
fn split(effect: &EffectPolicy, members: &[(String, Json)], text: &str) -> Result<(Option<String>, String), Findings> {
    let named = members.iter().find(|(name, _)| name == TARGET).map(|(_, value)| value);
    let named = match (&effect.target, named) {
        (TargetRule::Payload(_), _) | (_, None) => return Ok((None, text.to_owned())),
        (TargetRule::Proposal, Some(named)) => named,
    };
    let Some(target) = named.as_str() else {
        return Err(vec![FindingView::new("/target", "type", "a target is a text")]);
    };
    if !takes_target_out(effect) {
        return Ok((Some(target.to_owned()), text.to_owned()));
    }
    let rest = members.iter().filter(|(name, _)| name != TARGET).cloned().collect();
    Ok((Some(target.to_owned()), Json::Object(rest).to_text()))
}

/// A finding about the effect, said of the arguments.
fn in_arguments(finding: FindingView) -> FindingView {
    match finding.pointer.strip_prefix("/payload") {
        Some(rest) => FindingView { pointer: rest.to_owned(), ..finding },
        None => finding,
    }
}
