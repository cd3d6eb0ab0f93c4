//! A flow in words: key, leases, gates and rules, who decides, how long what is kept.

use effectgate_core::{
    flow::{ApprovalPolicy, EffectPolicy, Flow, KeyFrom, TargetRule},
    gate::Gate,
};
use effectgate_engine::policy::{EffectRules, FlowPolicy};

use super::{
    super::{
        text::{Shown, plural},
        time::exact,
    },
    Setting,
};

pub(super) struct FlowBlock {
    pub(super) name: Shown,
    pub(super) revision: Shown,
    pub(super) settings: Vec<Setting>,
    pub(super) effects: Vec<EffectLine>,
}

/// One effect type.
pub(super) struct EffectLine {
    pub(super) name: Shown,
    pub(super) provider: Shown,
    pub(super) impact: &'static str,
    pub(super) gate: Shown,
    pub(super) rules: Vec<Shown>,
    pub(super) target: Shown,
}

impl FlowBlock {
    pub(super) fn new(policy: &FlowPolicy) -> Self {
        let flow = &policy.flow;
        let line = |(kind, effect): (&effectgate_core::ids::EffectType, &EffectPolicy)| {
            EffectLine::new(kind.as_str(), effect, policy.effects.get(kind))
        };
        Self {
            name: Shown::new(flow.name.as_str()),
            revision: Shown::new(&flow.revision),
            settings: settings(policy),
            effects: flow.effects.iter().map(line).collect(),
        }
    }
}

fn settings(policy: &FlowPolicy) -> Vec<Setting> {
    let flow = &policy.flow;
    let lease = &flow.lease;
    let has = |is_there: bool| if is_there { "checked against a schema" } else { "no schema" };
    let mut list = vec![
        Setting::new("Key", key(flow)),
        Setting::new("Payload", has(policy.payload_schema.is_some())),
        Setting::new("Model output", has(policy.output_schema.is_some())),
        Setting::new("Asked again after an invalid output", times(flow.repairs_max)),
        Setting::new(
            "Lease",
            format!(
                "{} unless asked otherwise, {} to {}; renewed for {} at most",
                exact(lease.default_ms),
                exact(lease.min_ms),
                exact(lease.max_ms),
                exact(lease.total_ms_max)
            ),
        ),
        Setting::new("Attempts", format!("{} at most", flow.attempts_max)),
        Setting::new(
            "Pause between attempts",
            format!("from {}, doubling up to {}", exact(flow.backoff.base_ms), exact(flow.backoff.max_ms)),
        ),
    ];
    if let Some(iterations) = flow.agent_iterations_max {
        list.push(Setting::new("Iterations of an agent", format!("{iterations} at most")));
    }
    if let Some(approval) = &flow.approval {
        list.extend(approval_settings(approval));
    }
    if let Some(sla) = flow.sla {
        let clock =
            if sla.stops_while_waiting { "stands still while people decide" } else { "runs on while people decide" };
        list.push(Setting::new("Time to answer", format!("{}; the clock {clock}", exact(sla.answer_ms))));
    }
    let kept = flow.retention;
    list.extend([
        Setting::new("A review alerts after", exact(flow.review_alert_ms)),
        Setting::new(
            "Kept",
            format!(
                "content {}, keys and outcomes {}, the journal {}, after the end of a run",
                days(kept.content_days),
                days(kept.key_days),
                days(kept.journal_days)
            ),
        ),
    ]);
    list
}

fn key(flow: &Flow) -> &'static str {
    match flow.key_from {
        KeyFrom::Given => "given whole, or in parts",
        KeyFrom::Parts => "made of source, event type, external id and version",
    }
}

fn approval_settings(approval: &ApprovalPolicy) -> Vec<Setting> {
    let mut list = vec![
        Setting::new("Who decides", approval.audience.join(", ")),
        Setting::new("How many have to agree", approval.quorum.to_string()),
        Setting::new(
            "Signed in",
            if approval.login.as_str() == "required" { "always" } else { "not needed: the link alone decides" },
        ),
        Setting::new(
            "Own requests",
            if approval.separation {
                "never approved by oneself"
            } else {
                "may be approved by oneself (journalled each time)"
            },
        ),
        Setting::new("Expires after", exact(approval.expires_ms)),
    ];
    list.extend(approval.remind_ms.map(|ms| Setting::new("Reminder after", exact(ms))));
    list.extend(approval.escalate.as_ref().map(|next| {
        Setting::new("Then also asked", format!("{}, after {}", next.audience.join(", "), exact(next.after_ms)))
    }));
    list
}

impl EffectLine {
    fn new(name: &str, effect: &EffectPolicy, rules: Option<&EffectRules>) -> Self {
        let compiled = rules.map(|rules| rules.rules.iter().map(|rule| Shown::new(rule.source())).collect());
        Self {
            name: Shown::new(name),
            provider: Shown::new(effect.provider.as_str()),
            impact: effect.impact.as_str(),
            gate: Shown::new(&gate(&effect.gate)),
            rules: compiled.unwrap_or_default(),
            target: Shown::new(&match &effect.target {
                TargetRule::Payload(pointer) => format!("taken from the payload at {pointer}"),
                TargetRule::Proposal => "named by the proposal".into(),
            }),
        }
    }
}

fn gate(gate: &Gate) -> String {
    match gate {
        Gate::None => "goes by itself".into(),
        Gate::CancelWindow { window_ms } => format!("goes after {}; until then it can be cancelled", exact(*window_ms)),
        Gate::Approve => "a person decides".into(),
        Gate::Regulated { qualification } => format!("only a person qualified as {qualification} decides"),
        Gate::Exceptions(exceptions) => {
            let evidence = exceptions.evidence.as_ref();
            let evidence = evidence.map(|e| format!(", the evaluation {} is at least {}", e.name, e.threshold));
            format!(
                "goes by itself only if every rule holds{} and the sample ({} %) did not pick it; else a person decides",
                evidence.unwrap_or_default(),
                exceptions.sample * 100.0
            )
        }
    }
}

fn times(n: i32) -> String {
    let n = usize::try_from(n).unwrap_or_default();
    format!("{n} {}", plural(n, "time", "times"))
}

fn days(n: i64) -> String {
    format!("{n} {}", plural(usize::try_from(n).unwrap_or_default(), "day", "days"))
}
