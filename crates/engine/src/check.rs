//! Checks effects, whoever asks for them: a worker in a proposal, a worker inline, a person who edits. One set of rules
//! (type known, target allowed, payload right for schema and connector), so that an edit is no way around them.

use effectgate_core::{
    approval::{Approval, EditedEffect, Misfit, edited},
    budget,
    flow::{EffectPolicy, TargetRule},
    ids::EffectType,
    json::{self, Json},
    proposal::Proposed,
};

use crate::{
    gate,
    policy::{FlowPolicy, Policy},
    view::{FindingView, Findings},
};

/// An effect as it is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub effect_type: String,
    pub target: Option<String>,
    /// The JSON text as it came in.
    pub payload: String,
}

/// No address, id or path that names one receiver is longer; it stands on the card in one piece.
const TARGET_CHARS_MAX: usize = 1_000;

/// Checks one effect: type known, target allowed, payload strict JSON and right for schema and connector.
pub(crate) fn one_effect(
    policy: &Policy,
    flow: &FlowPolicy,
    asked: &Asked,
    run_payload: Option<&str>,
    at: &str,
) -> Result<Proposed, Findings> {
    let one =
        |pointer: &str, keyword: &str, said: String| vec![FindingView::new(format!("{at}{pointer}"), keyword, said)];
    let effect_type = EffectType::new(asked.effect_type.clone());
    let (Some(effect), Some(rules)) = (flow.flow.effects.get(&effect_type), flow.effects.get(&effect_type)) else {
        let known: Vec<&str> = flow.flow.effects.keys().map(EffectType::as_str).collect();
        return Err(one("/type", "enum", format!("this flow knows the effects {}", known.join(", "))));
    };
    let json = json::parse(asked.payload.as_bytes())
        .map_err(|e| one(&format!("/payload{}", e.pointer), e.code.as_str(), e.detail.clone()))?;
    let target = target_of(&effect.target, asked, run_payload, &json).map_err(|said| one("/target", "const", said))?;
    let value = json.to_value();
    let mut findings: Findings = Vec::new();
    if let Some(schema) = &rules.payload_schema {
        let found = schema.validate(&value);
        findings.extend(found.into_iter().map(|f| FindingView::new(f.pointer, &f.keyword, f.message)));
    }
    match policy.provider(&effect.provider) {
        Some(provider) => findings.extend(provider.connector.check(&effect_type, &target, &value)),
        None => findings.push(FindingView::new("", "provider", "the provider of this effect is not configured")),
    }
    findings.extend(uncounted(policy, flow, (&effect_type, effect), &asked.payload));
    if !findings.is_empty() {
        let placed = |f: FindingView| FindingView { pointer: format!("{at}/payload{}", f.pointer), ..f };
        return Err(findings.into_iter().map(placed).collect());
    }
    Ok(Proposed {
        effect_type,
        target,
        provider: effect.provider.clone(),
        payload: asked.payload.clone(),
        window_ms: gate::window_ms(&effect.gate),
        impact: effect.impact.as_str().into(),
        gate: effect.gate.as_str().into(),
    })
}

/// Amounts that a budget is to count and that cannot be read: told now, and not when it waits to be sent.
fn uncounted(
    policy: &Policy,
    flow: &FlowPolicy,
    (effect_type, effect): (&EffectType, &EffectPolicy),
    payload: &str,
) -> Findings {
    let root = policy.provider(&effect.provider).map_or("", |provider| provider.body_root(effect_type));
    let unread = policy.budgets.iter().filter(|b| b.concerns(&flow.flow.name, &effect.provider)).filter_map(|budget| {
        let pointer = format!("{root}{}", budget.amount.as_deref()?);
        let said = format!("the budget of {} counts a whole number of minor units here", budget.words());
        budget::amount_at(payload, &pointer).is_none().then(|| FindingView::new(pointer, "budget", said))
    });
    unread.collect()
}

fn target_of(rule: &TargetRule, asked: &Asked, run_payload: Option<&str>, payload: &Json) -> Result<String, String> {
    let target = match rule {
        TargetRule::Proposal => {
            let named =
                asked.target.clone().or_else(|| payload.pointer("/to").and_then(Json::as_str).map(str::to_owned));
            named.unwrap_or_default()
        }
        TargetRule::Payload(pointer) => {
            let stored = run_payload.and_then(|text| json::parse(text.as_bytes()).ok());
            let stored = stored.as_ref().and_then(|json| json.pointer(pointer)).and_then(text_of);
            let allowed =
                stored.ok_or_else(|| format!("the run's payload has no {pointer} that could be the target"))?;
            match &asked.target {
                Some(named) if *named != allowed => {
                    return Err(format!("the target of this flow is the run's {pointer}, nothing else"));
                }
                _ => allowed,
            }
        }
    };
    let is_bad = target.trim().is_empty() || target.chars().any(char::is_control);
    if is_bad || target.chars().count() > TARGET_CHARS_MAX {
        return Err("a target is a text of 1 to 1000 characters without control characters".into());
    }
    Ok(target)
}

fn text_of(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

/// Checks an edit: that it touches payloads only, and that every effect as it would be keeps the rules of a proposal.
/// What the gate found (provider, window, impact) stays as it was when the question was asked.
pub(crate) fn edit(
    policy: &Policy,
    flow: &FlowPolicy,
    approval: &Approval,
    asked: &[EditedEffect],
    run_payload: Option<&str>,
) -> Findings {
    let after = match edited(&approval.proposed, asked) {
        Ok(after) => after,
        Err(misfits) => return misfits.iter().map(misfit).collect(),
    };
    let found = after.iter().enumerate().flat_map(|(n, effect)| {
        let (at, target) = (format!("/effects/{n}"), Some(effect.target.clone()));
        let asked = Asked { effect_type: effect.effect_type.as_str().into(), target, payload: effect.payload.clone() };
        match one_effect(policy, flow, &asked, run_payload, &at) {
            Ok(checked) => moved(effect, &checked, &at).into_iter().collect(),
            Err(findings) => findings,
        }
    });
    found.collect()
}

fn misfit(misfit: &Misfit) -> FindingView {
    match misfit {
        Misfit::Count { wanted, found } => {
            let said = format!("{found} effects, but {wanted} were shown: an edit changes payloads and nothing else");
            FindingView::new("/effects", "const", said)
        }
        Misfit::Type { effect } => FindingView::new(
            format!("/effects/{effect}/type"),
            "const",
            "an edit does not change the type of an effect",
        ),
        Misfit::Target { effect } => {
            let said = "an edit does not change whom an effect is for: reject, and let the worker propose again";
            FindingView::new(format!("/effects/{effect}/target"), "const", said)
        }
    }
}

/// The config may have changed since the question was asked; then the checks were those of another system.
fn moved(effect: &Proposed, checked: &Proposed, at: &str) -> Option<FindingView> {
    let said = "the provider of this effect is another one by now: reject, and let the worker propose again";
    (effect.provider != checked.provider).then(|| FindingView::new(format!("{at}/type"), "provider", said))
}
