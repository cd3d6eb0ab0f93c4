//! `[flows.NAME.effects.TYPE]`: provider, gate and rules of one effect type in one flow.

use effectgate_core::{
    flow::{EffectPolicy, Impact, TargetRule},
    gate::{EvidenceRule, Exceptions, Gate},
    ids::ProviderName,
    json::is_pointer,
};
use effectgate_engine::{
    outbound::OUT_TYPE,
    policy::{EffectRules, EvidenceSource},
};
use effectgate_rules::{
    cel::Rule,
    evidence::{EVIDENCE_BYTES_MAX, Unmet, meets},
};

use super::{flow::Schemas, judge::Judge};
use crate::config::{
    Config,
    flow::{EffectConfig, EvidenceConfig, ExceptionsConfig, GateWord, ImpactWord},
    provider::ProviderKind,
};

/// Up to a week: what can be cancelled for longer is not done.
const WINDOW_MS_MAX: i64 = 7 * 86_400_000;

/// One effect type's policy and what was compiled for it.
pub(super) fn effect(
    judge: &mut Judge<'_>,
    config: &Config,
    at: &str,
    name: &str,
    effect: &EffectConfig,
) -> Option<(EffectPolicy, EffectRules)> {
    judge.name(at, name);
    provider(judge, config, at, name, effect);
    pointer(judge, &format!("{at}.to"), effect.to.as_deref());
    pointer(judge, &format!("{at}.payload_from"), effect.payload_from.as_deref());
    misplaced(judge, at, effect);
    description(judge, at, effect);
    let schema = Schemas::read(judge, &format!("{at}.payload_schema"), effect.payload_schema.as_deref());
    let gate = gate(judge, at, effect);
    let rules = effect.exceptions.iter().flat_map(|exceptions| &exceptions.rules).enumerate();
    let rules: Vec<_> = rules.map(|(n, source)| rule(judge, &format!("{at}.exceptions.rules[{n}]"), source)).collect();
    let (gate, evidence) = gate?;
    let schema = schema?;
    let policy = EffectPolicy {
        provider: ProviderName::new(&effect.provider),
        impact: impact(effect.impact),
        reversible: effect.reversible,
        gate,
        target: effect.to.clone().map_or(TargetRule::Proposal, TargetRule::Payload),
        payload_schema: schema.value,
    };
    let rules = EffectRules {
        payload_schema: schema.compiled,
        rules: rules.into_iter().collect::<Option<_>>()?,
        evidence,
        payload_from: effect.payload_from.clone(),
        description: effect.description.clone(),
    };
    Some((policy, rules))
}

const fn impact(word: ImpactWord) -> Impact {
    match word {
        ImpactWord::Low => Impact::Low,
        ImpactWord::Normal => Impact::Normal,
        ImpactWord::High => Impact::High,
    }
}

fn provider(judge: &mut Judge<'_>, config: &Config, at: &str, name: &str, effect: &EffectConfig) {
    let at = format!("{at}.provider");
    let Some(provider) = config.providers.get(&effect.provider) else {
        judge.refuse(&at, format!("there is no provider {:?}", effect.provider), "Name one of [providers.*].");
        return;
    };
    let is_door = name == OUT_TYPE && provider.out.is_some();
    let is_record = provider.kind == ProviderKind::Record;
    if !provider.effects.contains_key(name) && !is_door && !is_record {
        let known: Vec<&str> = provider.effects.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let what = format!("{} has no effect {name}; it has: {known}", effect.provider);
        judge.refuse(&at, what, format!("Add [providers.{}.effects.{name}], or mend the name.", effect.provider));
    }
}

fn pointer(judge: &mut Judge<'_>, at: &str, pointer: Option<&str>) {
    if let Some(pointer) = pointer.filter(|pointer| !is_pointer(pointer)) {
        judge.refuse(at, format!("{pointer:?} is no JSON Pointer"), "Begin it with /, as in /customer/email.");
    }
}

/// A model reads it at every turn of every agent: a sentence or two, not a page.
const DESCRIPTION_CHARS_MAX: usize = 1_000;

fn description(judge: &mut Judge<'_>, at: &str, effect: &EffectConfig) {
    let Some(text) = &effect.description else { return };
    if text.trim().is_empty() || text.chars().count() > DESCRIPTION_CHARS_MAX {
        let what = format!("a description has 1 to {DESCRIPTION_CHARS_MAX} characters");
        judge.refuse(&format!("{at}.description"), what, "Say in a sentence or two what the tool does.");
    }
}

/// Members of another gate: someone meant something by them.
fn misplaced(judge: &mut Judge<'_>, at: &str, effect: &EffectConfig) {
    let members = [
        ("window_ms", effect.window_ms.is_some(), GateWord::CancelWindow, "cancel_window"),
        ("qualification", effect.qualification.is_some(), GateWord::Regulated, "regulated"),
        ("exceptions", effect.exceptions.is_some(), GateWord::Exceptions, "exceptions"),
    ];
    for (member, is_there, gate, word) in members {
        if is_there && effect.gate != gate {
            let what = format!("this has no meaning without gate = \"{word}\"");
            judge.refuse(&format!("{at}.{member}"), what, "Set that gate, or leave this out.");
        }
    }
}

type Decided = (Gate, Option<EvidenceSource>);

fn gate(judge: &mut Judge<'_>, at: &str, effect: &EffectConfig) -> Option<Decided> {
    match effect.gate {
        GateWord::Approve => Some((Gate::Approve, None)),
        GateWord::None => none(judge, at, effect),
        GateWord::CancelWindow => cancel_window(judge, at, effect),
        GateWord::Regulated => regulated(judge, at, effect),
        GateWord::Exceptions => {
            let Some(exceptions) = &effect.exceptions else {
                let what = "nothing is said about when it may go by itself";
                judge.refuse(&format!("{at}.exceptions"), what, "Add the section with rules and evidence.");
                return None;
            };
            self::exceptions(judge, &format!("{at}.exceptions"), exceptions)
        }
    }
}

fn none(judge: &mut Judge<'_>, at: &str, effect: &EffectConfig) -> Option<Decided> {
    if !effect.reversible || effect.impact == ImpactWord::High {
        let what = "an effect without a gate must be reversible and must not have high impact";
        let advice = "Declare reversible = true and its true impact, or use gate = \"approve\".";
        judge.refuse(&format!("{at}.gate"), what, advice);
    }
    Some((Gate::None, None))
}

fn cancel_window(judge: &mut Judge<'_>, at: &str, effect: &EffectConfig) -> Option<Decided> {
    if !effect.reversible {
        let what = "a cancel window is only for effects that can be taken back";
        judge.refuse(&format!("{at}.gate"), what, "Declare reversible = true, or use gate = \"approve\".");
    }
    let Some(window_ms) = effect.window_ms else {
        judge.refuse(&format!("{at}.window_ms"), "the window has no length", "Say how long anyone may cancel.");
        return None;
    };
    let why = "Between a second and a week.";
    let window_ms = judge.within(&format!("{at}.window_ms"), window_ms, 1_000, WINDOW_MS_MAX, why);
    Some((Gate::CancelWindow { window_ms }, None))
}

fn regulated(judge: &mut Judge<'_>, at: &str, effect: &EffectConfig) -> Option<Decided> {
    let qualification = effect.qualification.clone().filter(|text| !text.trim().is_empty());
    if qualification.is_none() {
        let what = "it is not said which qualification the approver must hold";
        judge.refuse(&format!("{at}.qualification"), what, "Name it as people's roles name it.");
    }
    qualification.map(|qualification| (Gate::Regulated { qualification }, None))
}

fn exceptions(judge: &mut Judge<'_>, at: &str, config: &ExceptionsConfig) -> Option<Decided> {
    if config.rules.is_empty() {
        let what = "without rules everything would go by itself";
        judge.refuse(&format!("{at}.rules"), what, "Write at least one rule, or use gate = \"approve\".");
    }
    if !(0.0..=1.0).contains(&config.sample) {
        let what = format!("{} is not a share", config.sample);
        judge.refuse(&format!("{at}.sample"), what, "Choose 0 (nobody looks) to 1 (a person looks at all).");
    }
    let Some(evidence) = &config.evidence else {
        let what = "no evaluation says that this may go by itself";
        judge.refuse(&format!("{at}.evidence"), what, "Name evidence and its threshold, or use gate = \"approve\".");
        return None;
    };
    let source = self::evidence(judge, &format!("{at}.evidence"), evidence);
    let rule = source.rule.clone();
    let gate =
        Gate::Exceptions(Exceptions { rules: config.rules.clone(), evidence: Some(rule), sample: config.sample });
    Some((gate, Some(source)))
}

/// Evidence must be there and be for this; whether it is still valid is asked at each decision, so that a date that
/// passes sends runs to people and does not stop the server.
fn evidence(judge: &mut Judge<'_>, at: &str, config: &EvidenceConfig) -> EvidenceSource {
    let bytes = judge.read(&format!("{at}.file"), &config.file, EVIDENCE_BYTES_MAX as u64);
    if let Some(bytes) = bytes {
        match meets(Some(&bytes), &config.name, config.threshold, i64::MIN) {
            Ok(()) | Err(Unmet::Expired { .. }) => {}
            Err(why @ Unmet::Below { .. }) => judge.note(at, &format!("{why}: a person decides")),
            Err(why) => judge.refuse(at, why.to_string(), "Mend the file that the evaluation writes, or the name."),
        }
    }
    let file = config.file.to_string_lossy().into_owned();
    let rule = EvidenceRule { name: config.name.clone(), threshold: config.threshold, file };
    EvidenceSource { rule, path: judge.place(&config.file) }
}

fn rule(judge: &mut Judge<'_>, at: &str, source: &str) -> Option<Rule> {
    let advice = "Write a CEL expression over payload, output and run that is true or false.";
    Rule::compile(source).map_err(|e| judge.refuse(at, e.to_string(), advice)).ok()
}
