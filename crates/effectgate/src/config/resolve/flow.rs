//! `[flows.NAME]`: keys, schemas, leases and limits; the effects and the approval have files of their own.

use std::{collections::BTreeMap, path::Path};

use effectgate_core::{
    flow::{EffectPolicy, Flow, KeyFrom, LeaseBounds, Sla},
    ids::{EffectType, FlowName},
    json,
    payload::IdentityRule,
};
use effectgate_engine::policy::{EffectRules, FlowPolicy};
use effectgate_rules::schema::{SCHEMA_BYTES_MAX, Schema};
use serde_json::Value;

use super::{
    approval, effect,
    judge::Judge,
    provider::{attempt_ms_max, backoff, unsigned_i32},
    retention, revision,
};
use crate::config::{
    Config,
    flow::{FlowConfig, SlaConfig},
};

const DAY_MS: i64 = 86_400_000;
/// Time for a worker's last call to arrive and be committed before its lease ends.
pub(super) const LEASE_MARGIN_MS: i64 = 5_000;
const KEY_PARTS: [&str; 4] = ["source", "event_type", "external_id", "version"];

/// A schema as it is stored and as it judges.
#[derive(Default)]
pub(super) struct Schemas {
    pub(super) value: Option<Value>,
    pub(super) compiled: Option<Schema>,
}

impl Schemas {
    /// Reads and compiles; empty if none is named, `None` if it is refused.
    pub(super) fn read(judge: &mut Judge<'_>, at: &str, file: Option<&Path>) -> Option<Self> {
        let Some(file) = file else { return Some(Self::default()) };
        // A file may be wider than the schema in it: blanks are free.
        let bytes = judge.read(at, file, 4 * SCHEMA_BYTES_MAX as u64)?;
        let parsed = json::parse(&bytes).map_err(|e| e.to_string()).map(|json| json.to_value());
        let compiled = parsed.and_then(|value| match Schema::compile(&value) {
            Ok(schema) => Ok(Self { value: Some(value), compiled: Some(schema) }),
            Err(e) => Err(e.to_string()),
        });
        let what = |e: String| format!("{}: {e}", file.display());
        compiled.map_err(|e| judge.refuse(at, what(e), "Mend the JSON Schema (2020-12); it stands alone.")).ok()
    }
}

pub(super) fn flows(judge: &mut Judge<'_>, config: &Config) -> Option<BTreeMap<FlowName, FlowPolicy>> {
    let resolved: Vec<_> = config.flows.iter().map(|(name, flow)| one(judge, config, name, flow)).collect();
    resolved.into_iter().collect()
}

fn one(judge: &mut Judge<'_>, config: &Config, name: &str, flow: &FlowConfig) -> Option<(FlowName, FlowPolicy)> {
    let at = format!("flows.{name}");
    if !judge.is_alias(&at) {
        judge.name(&at, name);
    }
    let key_from = key_from(judge, &at, flow);
    let identity = identity(judge, &at, flow);
    let payload = Schemas::read(judge, &format!("{at}.payload_schema"), flow.payload_schema.as_deref());
    let output = Schemas::read(judge, &format!("{at}.output_schema"), flow.output_schema.as_deref());
    let lease = lease(judge, config, &at, flow);
    counts(judge, &at, flow);
    let backoff = backoff(judge, &format!("{at}.backoff"), &flow.backoff);
    let sla = flow.sla.as_ref().map(|sla| self::sla(judge, &at, sla));
    let retention = retention::retention(judge, config, &at, flow);
    let approval = approval::approval(judge, &at, flow);
    let effects = effects(judge, config, &at, flow);
    let (policies, rules) = effects?;
    let (payload, output) = (payload?, output?);
    let revision = revision::revision(name, flow, &policies, payload.value.as_ref(), output.value.as_ref());
    let resolved = Flow {
        name: FlowName::new(name),
        revision,
        key_from: key_from?,
        key_policy: flow.key_policy,
        identity: identity?,
        payload_schema: payload.value,
        output_schema: output.value,
        repairs_max: unsigned_i32(flow.repairs_max),
        agent_iterations_max: Some(flow.agent_iterations_max),
        lease,
        attempts_max: unsigned_i32(flow.attempts_max),
        backoff,
        effects: policies,
        approval,
        sla,
        retention,
        review_alert_ms: flow.review_alert_ms,
    };
    let policy =
        FlowPolicy { flow: resolved, payload_schema: payload.compiled, output_schema: output.compiled, effects: rules };
    Some((FlowName::new(name), policy))
}

type Effects = (BTreeMap<EffectType, EffectPolicy>, BTreeMap<EffectType, EffectRules>);

/// Each effect type's policy, and beside it what was compiled for it.
fn effects(judge: &mut Judge<'_>, config: &Config, at: &str, flow: &FlowConfig) -> Option<Effects> {
    let each = flow.effects.iter().map(|(kind, effect)| {
        let resolved = effect::effect(judge, config, &format!("{at}.effects.{kind}"), kind, effect);
        resolved.map(|(policy, rules)| ((EffectType::new(kind), policy), (EffectType::new(kind), rules)))
    });
    // All are judged before the first fault ends it.
    let each: Vec<_> = each.collect();
    each.into_iter().collect()
}

fn key_from(judge: &mut Judge<'_>, at: &str, flow: &FlowConfig) -> Option<KeyFrom> {
    match (&flow.key, &flow.key_parts) {
        (_, None) => Some(KeyFrom::Given),
        (None, Some(parts)) if parts.iter().map(String::as_str).eq(KEY_PARTS) => Some(KeyFrom::Parts),
        (None, Some(_)) => {
            let what = "the parts of a key are source, event_type, external_id and version, in that order";
            judge.refuse(&format!("{at}.key_parts"), what, "Name these four, or say key = \"given\".");
            None
        }
        (Some(_), Some(_)) => {
            judge.refuse(&format!("{at}.key"), "the key is given or made of parts", "Keep key or key_parts.");
            None
        }
    }
}

fn identity(judge: &mut Judge<'_>, at: &str, flow: &FlowConfig) -> Option<IdentityRule> {
    let advice = "Name the members that make two payloads the same event, or [\"\"] for the whole.";
    let rule = IdentityRule::new(flow.payload_identity.clone());
    rule.map_err(|e| judge.refuse(&format!("{at}.payload_identity"), e.to_string(), advice)).ok()
}

fn lease(judge: &mut Judge<'_>, config: &Config, at: &str, flow: &FlowConfig) -> LeaseBounds {
    let why = "A lease lasts a tenth of a second at least and a day at most: zero would mean that nobody holds it.";
    let min_ms = judge.within(&format!("{at}.lease_ms_min"), flow.lease_ms_min, 100, DAY_MS, why);
    let why = "Not less than lease_ms_min, and a day at most.";
    let max_ms = judge.within(&format!("{at}.lease_ms_max"), flow.lease_ms_max, min_ms, DAY_MS, why);
    let why = "The default lies between lease_ms_min and lease_ms_max.";
    let default_ms = judge.within(&format!("{at}.lease_ms"), flow.lease_ms, min_ms, max_ms, why);
    let why = "Not less than lease_ms_max, and a week at most: a crashed worker's run must come free.";
    let least = if max_ms == flow.lease_ms_max { max_ms } else { min_ms };
    let total = judge.within(&format!("{at}.lease_total_ms_max"), flow.lease_total_ms_max, least, 7 * DAY_MS, why);
    outlives_steps(judge, config, at, flow, default_ms);
    LeaseBounds { default_ms, min_ms, max_ms, total_ms_max: total }
}

/// A lease that ends while a step is still under way hands the run to a second worker.
fn outlives_steps(judge: &mut Judge<'_>, config: &Config, at: &str, flow: &FlowConfig, lease_ms: i64) {
    if let Some(step_ms) = flow.step_timeout_ms {
        let why = "Between a millisecond and a day.";
        judge.within(&format!("{at}.step_timeout_ms"), step_ms, 1, DAY_MS, why);
    }
    let step = flow.step_timeout_ms.map(|ms| ("step_timeout_ms".to_owned(), ms));
    let inline = flow.effects.iter().filter(|(_, effect)| effect.inline).filter_map(|(name, effect)| {
        let provider = config.providers.get(&effect.provider)?;
        Some((format!("the inline effect {name} at {}", effect.provider), attempt_ms_max(provider)))
    });
    let longest = step.into_iter().chain(inline).max_by_key(|(_, ms)| *ms);
    if let Some((what, ms)) = longest.filter(|(_, ms)| lease_ms < ms.saturating_add(LEASE_MARGIN_MS)) {
        let what =
            format!("a lease of {lease_ms} ms can end before {what} does ({ms} ms and {LEASE_MARGIN_MS} to spare)");
        judge.refuse(&format!("{at}.lease_ms"), what, "Lengthen the lease, or shorten that time-out.");
    }
}

fn counts(judge: &mut Judge<'_>, at: &str, flow: &FlowConfig) {
    let why = "None to ten: a model that fails again and again will go on failing.";
    judge.within(&format!("{at}.repairs_max"), flow.repairs_max, 0, 10, why);
    let why = "One to a hundred claims before a run is abandoned.";
    judge.within(&format!("{at}.attempts_max"), flow.attempts_max, 1, 100, why);
    let why = "One to a thousand steps of an agent.";
    judge.within(&format!("{at}.agent_iterations_max"), flow.agent_iterations_max, 1, 1_000, why);
    let why = "Between a minute and 90 days.";
    judge.within(&format!("{at}.review_alert_ms"), flow.review_alert_ms, 60_000, 90 * DAY_MS, why);
}

fn sla(judge: &mut Judge<'_>, at: &str, sla: &SlaConfig) -> Sla {
    let why = "Between a second and a year.";
    let answer_ms = judge.within(&format!("{at}.sla.answer_ms"), sla.answer_ms, 1_000, 365 * DAY_MS, why);
    Sla { answer_ms, stops_while_waiting: sla.stops_while_waiting }
}
