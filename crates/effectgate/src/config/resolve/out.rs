//! `[providers.NAME.out]`: who decides, and what may pass. Where the section names no flow, one is made of it before the
//! flows are judged, so that it is judged by the same rules and at the same place as every other.

use std::collections::BTreeMap;

use effectgate_core::ids::FlowName;
use effectgate_engine::{
    connectors::DoorSettings,
    outbound::{OUT_TYPE, OutPolicy, OutRules},
};
use http::{HeaderName, Method};

use super::{
    judge::{Judge, unsigned},
    provider::attempt_ms_max,
};
use crate::config::{
    Config,
    flow::{ApprovalConfig, EffectConfig, FlowConfig, GateWord},
    out::OutConfig,
    provider::{MethodWord, ProviderConfig, ProviderKind},
};

/// What an attempt may take, and a moment to record it.
const WAIT_MORE_MS: i64 = 5_000;
/// Proxies and workflow tools give up on an idle request after a minute or two.
const WAIT_MS_MAX: i64 = 60_000;
const ANSWER_BYTES: i64 = 256 * 1024;
const ANSWER_BYTES_MAX: i64 = 8 * 1024 * 1024;
/// Two commits in a row; what a crash leaves between them comes free after this.
const LEASE_MS: i64 = 30_000;

/// The name of the flow that is made for a provider. The dot keeps it apart from every flow that a file can declare.
pub(super) fn made_name(provider: &str) -> String {
    format!("out.{provider}")
}

/// The config with a flow for each door that names none, and where in the file each of them was said.
pub(super) fn with_made_flows(judge: &mut Judge<'_>, config: &Config) -> Config {
    let mut whole = config.clone();
    for (name, provider) in &config.providers {
        let Some(out) = provider.out.as_ref().filter(|out| out.flow.is_none()) else { continue };
        let made = made_name(name);
        if config.flows.contains_key(&made) {
            let what = format!("this name is the door's of the provider {name}");
            judge.refuse(
                &format!("flows.{made}"),
                what,
                format!("Name it otherwise, and say so in providers.{name}.out.flow."),
            );
        }
        judge.alias(&format!("flows.{made}"), &format!("providers.{name}.out"));
        whole.flows.insert(made, made_flow(name, out));
    }
    whole
}

fn made_flow(provider: &str, out: &OutConfig) -> FlowConfig {
    let effect = EffectConfig {
        provider: provider.to_owned(),
        impact: out.impact.unwrap_or_default(),
        reversible: out.reversible.unwrap_or_default(),
        gate: out.gate.unwrap_or_default(),
        window_ms: out.window_ms,
        qualification: None,
        exceptions: None,
        to: None,
        payload_from: None,
        payload_schema: None,
        description: None,
        inline: false,
    };
    let approval = ApprovalConfig { audience: out.audience.clone(), ..ApprovalConfig::default() };
    FlowConfig {
        repairs_max: 0,
        lease_ms: LEASE_MS,
        lease_ms_max: LEASE_MS,
        lease_total_ms_max: LEASE_MS,
        retention: out.retention.unwrap_or_default(),
        effects: BTreeMap::from([(OUT_TYPE.to_owned(), effect)]),
        approval: (!out.audience.is_empty()).then_some(approval),
        ..FlowConfig::default()
    }
}

/// The door's settings on the wire, for the connector. `None` without a section, or where it is refused.
pub(super) fn door(judge: &mut Judge<'_>, at: &str, provider: &ProviderConfig) -> Option<DoorSettings> {
    let out = provider.out.as_ref()?;
    let at = format!("{at}.out");
    let answer_bytes_max = judge.within(
        &format!("{at}.answer_bytes_max"),
        out.answer_bytes_max.unwrap_or(ANSWER_BYTES),
        1_024,
        ANSWER_BYTES_MAX,
        "Between 1 KiB and 8 MiB: each answer is kept with its run.",
    );
    Some(DoorSettings { rules: rules(judge, &at, out), answer_bytes_max: unsigned(answer_bytes_max) })
}

/// The door's policy. Judged with the flows it leans on; their own faults are told there.
pub(super) fn policy(
    judge: &mut Judge<'_>,
    config: &Config,
    name: &str,
    provider: &ProviderConfig,
) -> Option<OutPolicy> {
    let out = provider.out.as_ref()?;
    let at = format!("providers.{name}.out");
    if provider.kind != ProviderKind::Http {
        let what = "a door leads to an http provider";
        judge.refuse(&at, what, "Mails go out through a flow's proposal; leave this section out.");
        return None;
    }
    match &out.flow {
        Some(flow) => declared(judge, config, &at, name, flow, out),
        None => own_gate(judge, &at, out),
    }
    let default = attempt_ms_max(provider).saturating_add(WAIT_MORE_MS).min(WAIT_MS_MAX);
    let why = "Up to a minute: proxies and workflow tools give up on a silent request.";
    let wait_ms = judge.within(&format!("{at}.wait_ms"), out.wait_ms.unwrap_or(default), 0, WAIT_MS_MAX, why);
    let policy = OutPolicy {
        flow: FlowName::new(out.flow.clone().unwrap_or_else(|| made_name(name))),
        // What is wrong with them is told with the connector's other settings.
        rules: rules(&mut judge.deaf(), &at, out),
        wait_ms: unsigned(wait_ms),
        external_id: out.external_id.clone(),
    };
    if let Err(fault) = policy.judge() {
        judge.refuse_settings(&format!("providers.{name}"), vec![fault]);
    }
    Some(policy)
}

fn rules(judge: &mut Judge<'_>, at: &str, out: &OutConfig) -> OutRules {
    if out.paths.is_empty() {
        let what = "it is not said which paths are let through";
        let advice = "Write paths = [\"/v1/refunds\"]; / alone allows all that our credentials open over there.";
        judge.refuse(&format!("{at}.paths"), what, advice);
    }
    let methods = methods(out);
    if methods.is_empty() {
        judge.refuse(&format!("{at}.methods"), "no method is let through", "Name some, or leave it out for all four.");
    }
    let headers = out.headers.iter().filter_map(|name| {
        let advice = "Use letters, digits and hyphens.";
        let parsed = HeaderName::try_from(name.as_str());
        parsed
            .map_err(|_| judge.refuse(&format!("{at}.headers"), format!("{name:?} is not a header name"), advice))
            .ok()
    });
    let headers = headers.collect();
    OutRules { methods: methods.into_iter().map(method).collect(), paths: out.paths.clone(), headers }
}

/// The methods that are let through.
pub(super) fn methods(out: &OutConfig) -> Vec<MethodWord> {
    let all = [MethodWord::Post, MethodWord::Put, MethodWord::Patch, MethodWord::Delete];
    out.methods.clone().unwrap_or_else(|| all.to_vec())
}

const fn method(word: MethodWord) -> Method {
    match word {
        MethodWord::Post => Method::POST,
        MethodWord::Put => Method::PUT,
        MethodWord::Patch => Method::PATCH,
        MethodWord::Delete => Method::DELETE,
    }
}

/// The section says itself who decides. Whether the gate fits the effect is judged with the flow that is made of it.
fn own_gate(judge: &mut Judge<'_>, at: &str, out: &OutConfig) {
    let at_gate = format!("{at}.gate");
    let simple = "Write \"approve\", \"cancel_window\" or \"none\", or name a flow that says it.";
    match out.gate {
        None => judge.refuse(&at_gate, "it is not said who decides on what goes out here", simple),
        Some(GateWord::Exceptions | GateWord::Regulated) => {
            let what = "a gate with rules or qualifications is a flow's";
            judge.refuse(&at_gate, what, "Declare a flow with an effect http at this provider, and name it here.");
        }
        Some(GateWord::Approve) if out.audience.is_empty() => {
            let advice = "Name them, as in [\"role:support-lead\"], or name a flow that does.";
            judge.refuse(&format!("{at}.audience"), "it is not said who is asked", advice);
        }
        Some(GateWord::None | GateWord::CancelWindow) if !out.audience.is_empty() => {
            let what = "nobody is asked with this gate";
            judge.refuse(&format!("{at}.audience"), what, "Set gate = \"approve\", or leave this out.");
        }
        Some(_) => {}
    }
}

/// A declared flow says everything, and must be one that a plain request can go through.
fn declared(judge: &mut Judge<'_>, config: &Config, at: &str, name: &str, flow_name: &str, out: &OutConfig) {
    let own = [
        ("gate", out.gate.is_some()),
        ("window_ms", out.window_ms.is_some()),
        ("impact", out.impact.is_some()),
        ("reversible", out.reversible.is_some()),
        ("audience", !out.audience.is_empty()),
        ("retention", out.retention.is_some()),
    ];
    for (member, _) in own.into_iter().filter(|(_, is_there)| *is_there) {
        judge.refuse(&format!("{at}.{member}"), format!("the flow {flow_name} says this"), "Keep one of the two.");
    }
    let at = format!("{at}.flow");
    let Some(flow) = config.flows.get(flow_name) else {
        judge.refuse(&at, format!("there is no flow {flow_name:?}"), "Name one of [flows.*], or leave this out.");
        return;
    };
    let effect = flow.effects.get(OUT_TYPE).filter(|effect| effect.provider == name && !effect.inline);
    let Some(effect) = effect else {
        let what = format!("the flow {flow_name} has no effect {OUT_TYPE} at {name} that the gate sends");
        judge.refuse(&at, what, format!("Add [flows.{flow_name}.effects.{OUT_TYPE}] with provider = {name:?}."));
        return;
    };
    let link = flow.approval.as_ref().is_some_and(|approval| approval.link_in_answer);
    let unfit = [
        ("output_schema", flow.output_schema.is_some(), "a request has no model output"),
        ("effects.http.to", effect.to.is_some(), "a request's target is its method and path"),
        ("approval.link_in_answer", link, "there is no worker that could deliver the link"),
    ];
    for (member, _, why) in unfit.into_iter().filter(|(_, is_there, _)| *is_there) {
        judge.refuse(&at, format!("{flow_name} says {member}, and {why}"), "Leave that out, or name another flow.");
    }
}
