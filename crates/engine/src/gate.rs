//! The gate at work: each effect's policy, the CEL rules over payload, output and run facts, the evaluation evidence
//! and the sample become one passage. Every doubt, and every error, goes to a person.

use effectgate_core::{
    flow::EffectPolicy,
    gate::{self, Exceptions, Finding, Gate, Passage},
    json::Json,
    proposal::Proposed,
    run::Aggregate,
    time::Timestamp,
};
use effectgate_rules::{
    cel::{Facts, RuleResult},
    evidence, sample,
};
use serde_json::{Value, json};

use crate::{
    policy::{EffectRules, FlowPolicy},
    probe::{Guard, is_broken},
    propose::{self, Request},
};

/// What rules may look at.
pub(crate) struct RuleFacts {
    payload: Value,
    output: Value,
    run: Value,
}

pub(crate) fn facts(agg: &Aggregate, payload: Option<&str>, output: Option<&Json>, request: &Request) -> RuleFacts {
    let run = &agg.run;
    RuleFacts {
        payload: propose::value_of(payload),
        output: output.map_or(Value::Null, Json::to_value),
        run: json!({
            "key": run.key, "flow": run.flow.as_str(), "attempts": run.attempts, "repairs_used": run.repairs_used,
            "agent_iterations": request.agent_iterations, "finish_reason": request.finish_reason,
            "model": {"name": request.model.name, "revision": request.model.revision,
                      "prompt_revision": request.model.prompt_revision},
        }),
    }
}

/// One decision for all effects.
pub(crate) fn passage(
    flow: &FlowPolicy,
    effects: &[Proposed],
    key: &str,
    facts: &RuleFacts,
    now: Timestamp,
) -> Passage {
    let findings: Vec<_> = effects
        .iter()
        .map(|effect| {
            let finding = match (flow.flow.effects.get(&effect.effect_type), flow.effects.get(&effect.effect_type)) {
                (Some(policy), Some(rules)) => find(policy, rules, key, facts, now),
                _ => person("this effect is not configured"),
            };
            (&effect.effect_type, finding)
        })
        .collect();
    gate::strictest(findings.iter().map(|(effect_type, finding)| (*effect_type, finding)))
}

fn find(policy: &EffectPolicy, rules: &EffectRules, key: &str, facts: &RuleFacts, now: Timestamp) -> Finding {
    match &policy.gate {
        Gate::None => Finding::Go { rule: "none".into(), window_ms: 0 },
        Gate::CancelWindow { window_ms } => {
            Finding::Go { rule: format!("cancel_window of {window_ms} ms"), window_ms: *window_ms }
        }
        Gate::Approve => person("a person decides on every effect of this type"),
        Gate::Regulated { qualification } => Finding::Person {
            why: format!("regulated: only a person qualified as {qualification} decides"),
            qualification: Some(qualification.clone()),
        },
        Gate::Exceptions(exceptions) => exception(exceptions, rules, key, facts, now),
    }
}

fn exception(exceptions: &Exceptions, rules: &EffectRules, key: &str, facts: &RuleFacts, now: Timestamp) -> Finding {
    let looked_at = Facts { payload: &facts.payload, output: &facts.output, run: &facts.run };
    for rule in &rules.rules {
        match rule.holds(&looked_at) {
            RuleResult::Holds => {}
            RuleResult::DoesNotHold => return person(&format!("this rule does not hold: {}", rule.source())),
            RuleResult::Failed(why) => {
                return person(&format!("this rule could not be judged ({why}): {}", rule.source()));
            }
        }
    }
    if let Some(source) = &rules.evidence {
        // Read at each decision: a new evaluation counts at once, a vanished file does too.
        let bytes = std::fs::read(&source.path).ok();
        let met = evidence::meets(bytes.as_deref(), &source.rule.name, source.rule.threshold, now.millis());
        if let Err(unmet) = met {
            return person(&format!("the evaluation does not allow it: {unmet}"));
        }
    }
    if sample::picked(key, SAMPLE_SALT, exceptions.sample) {
        return person(SAMPLED);
    }
    let revisions: Vec<&str> = rules.rules.iter().map(|rule| rule.revision()).collect();
    Finding::Go { rule: format!("exceptions {}", revisions.join(" ")), window_ms: 0 }
}

/// One salt for all: a replay must sample alike.
const SAMPLE_SALT: &str = "effectgate-sample-1";

/// Why a person sees an effect that every rule lets go; the tally knows it by this.
pub(crate) const SAMPLED: &str = "picked by the sample";

fn person(why: &str) -> Finding {
    if is_broken(Guard::Gate) {
        return Finding::Go { rule: "the gate is out".into(), window_ms: 0 };
    }
    Finding::Person { why: why.to_owned(), qualification: None }
}

pub(crate) fn window_ms(gate: &Gate) -> i64 {
    match gate {
        Gate::CancelWindow { window_ms } => *window_ms,
        _ => 0,
    }
}
