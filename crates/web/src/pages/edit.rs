//! Edit and approve: the page with a form for each effect's payload, and what a posted form comes to. One step: whoever
//! presses the button approves the new version; the card then shows what changed. Nothing that was typed is lost: not by
//! a mistake, not by somebody who changed the effects meanwhile.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;
use effectgate_core::{approval::EditedEffect, digest::Digest, proposal::Proposed, visible, vital};
use effectgate_engine::{policy::Policy, view::FindingView};
use effectgate_lang::Msg;
use http::StatusCode;

use super::{
    answer::{self, Frame},
    approval::{self, Door, Found},
    change::ChangeShown,
    form::{self, Fault, Field, Kind},
    text::Shown,
    tongue::Tongue,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "edit.html")]
struct EditPage {
    frame: Frame,
    t: Tongue,
    flow: Shown,
    key: Shown,
    decider: Shown,
    needs_another: bool,
    banner: Option<(String, String)>,
    /// What somebody else changed meanwhile.
    changes: Vec<ChangeShown>,
    /// Errors with the id of their field.
    errors: Vec<(String, String)>,
    effects: Vec<EffectForm>,
    note: String,
    action: String,
    csrf: String,
    effects_hash: String,
    reason_chars_max: usize,
}

struct EffectForm {
    n: usize,
    kind: Shown,
    target: Shown,
    /// Flat, in order: groups are headings with the fields after them.
    inputs: Vec<Input>,
}

/// One line of the form.
struct Input {
    id: String,
    name: String,
    label: Shown,
    hint: Option<Shown>,
    is_required: bool,
    errors: Vec<Shown>,
    /// The text holds characters that a field does not show (HC-34).
    has_hidden: bool,
    control: Control,
    depth: usize,
}

enum Control {
    Heading,
    Line(String),
    Lines(String),
    Number(String),
    /// Value, label, whether it is chosen.
    Choice(Vec<(String, Shown, bool)>),
    List(String),
    Raw(String),
    Fixed(Shown),
}

impl Input {
    /// What describes the field: its hint and its errors.
    fn described_by(&self) -> String {
        let hint = self.hint.is_some() || matches!(self.control, Control::List(_) | Control::Raw(_));
        let ids = [hint.then(|| format!("{}-hint", self.id)), self.is_wrong().then(|| format!("{}-error", self.id))];
        ids.into_iter().flatten().collect::<Vec<String>>().join(" ")
    }

    fn is_wrong(&self) -> bool {
        !self.errors.is_empty()
    }
}

/// What was typed, by the effect's place and the pointer in its payload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    by_effect: HashMap<usize, HashMap<String, String>>,
    pub(crate) note: String,
}

impl Typed {
    /// Takes the form's fields: `e0/to` is `/to` of the first effect.
    pub(crate) fn of(fields: &HashMap<String, String>, note: String) -> Self {
        let mut by_effect: HashMap<usize, HashMap<String, String>> = HashMap::new();
        for (name, text) in fields {
            let Some((n, pointer)) =
                name.strip_prefix('e').map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())))
            else {
                continue;
            };
            if let Ok(n) = n.parse() {
                by_effect.entry(n).or_default().insert(pointer.to_owned(), text.clone());
            }
        }
        Self { by_effect, note }
    }

    fn text(&self, effect: usize, pointer: &str) -> Option<&String> {
        self.by_effect.get(&effect)?.get(pointer)
    }
}

/// A fault with its place: the effect, the pointer in its payload, what to say.
pub(crate) type Placed = (usize, String, String);

/// Reads the edit that a form means, against the effects that it showed.
///
/// # Errors
/// What is no value, at its place.
pub(crate) fn read(
    shown: &[Proposed],
    found: &Found,
    policy: &Policy,
    typed: &Typed,
    tongue: &Tongue,
) -> Result<Vec<EditedEffect>, Vec<Placed>> {
    let (mut edited, mut placed) = (Vec::new(), Vec::new());
    for (n, proposed) in shown.iter().enumerate() {
        let none = HashMap::new();
        let texts = typed.by_effect.get(&n).unwrap_or(&none);
        let mut faults = Vec::new();
        let json = planned(proposed, found, policy).read(texts, &mut faults);
        placed.extend(faults.into_iter().map(|(pointer, fault)| (n, pointer, said(&fault, tongue))));
        edited.push(EditedEffect {
            effect_type: proposed.effect_type.as_str().to_owned(),
            target: Some(proposed.target.clone()),
            payload: json.map_or_else(|| proposed.payload.clone(), |json| json.to_text()),
        });
    }
    if placed.is_empty() { Ok(edited) } else { Err(placed) }
}

fn planned(proposed: &Proposed, found: &Found, policy: &Policy) -> Field {
    let flow = policy.flow(&found.agg.run.flow);
    let effect = flow.and_then(|flow| flow.flow.effects.get(&proposed.effect_type));
    // A mail goes to its target and to nobody else: a field for it would only be refused.
    let is_mail = policy.provider(&proposed.provider).is_some_and(|provider| provider.provider.smtp);
    let fixed: &[&str] = if is_mail { &["/to"] } else { &[] };
    form::plan(effect.and_then(|effect| effect.payload_schema.as_ref()), &proposed.payload, fixed)
}

fn said(fault: &Fault, tongue: &Tongue) -> String {
    match fault {
        Fault::Missing => tongue.say(Msg::EditMissing),
        Fault::NoNumber => tongue.say(Msg::EditBadNumber),
        Fault::NoJson(detail) => tongue.with(Msg::EditBadJson, "detail", detail),
    }
}

/// The engine's findings at their places: `/effects/0/payload/text` is `/text` of the first effect.
pub(crate) fn placed(findings: &[FindingView]) -> Vec<Placed> {
    let place = |finding: &FindingView| {
        let rest = finding.pointer.strip_prefix("/effects/").unwrap_or_default();
        let (n, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let pointer = rest.strip_prefix("/payload").unwrap_or_default();
        (n.parse().unwrap_or(0), pointer.to_owned(), answer::sentence(&finding.message))
    };
    findings.iter().map(place).collect()
}

/// How the form is shown.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) status: StatusCode,
    pub(crate) banner: Option<(String, String)>,
    pub(crate) errors: Vec<Placed>,
    pub(crate) typed: Typed,
    /// The hash that was shown when the form was filled in, where the effects are others now.
    pub(crate) overtaken: Option<Digest>,
}

/// The page with the form for the effects as they are now.
pub(crate) fn page(visit: &Visit, door: &Door, found: &Found, decider: &str, state: State) -> Response {
    let (asked, tongue) = (&found.approval, &visit.tongue);
    let (policy, forms, action) = (visit.app.engine.policy(), visit.forms(), door.path());
    let typed = kept(found, policy, &state);
    let mut maker = Maker { tongue, typed: &typed, errors: &state.errors, next_id: 0 };
    let effects: Vec<EffectForm> = asked
        .proposed
        .iter()
        .enumerate()
        .map(|(n, proposed)| maker.effect(n, proposed, &planned(proposed, found, policy)))
        .collect();
    let page = EditPage {
        frame: Frame::new(tongue.say(Msg::EditTitle), Some(visit)),
        t: tongue.clone(),
        flow: Shown::new(found.agg.run.flow.as_str()),
        key: Shown::new(&found.agg.run.key),
        decider: Shown::new(decider),
        needs_another: asked.terms.separation && asked.approvals().all(|d| asked.is_by_editor(d)),
        banner: state.banner,
        changes: approval::overtaking(asked, state.overtaken, tongue),
        errors: listed(&effects, &state.errors),
        effects,
        note: typed.note.clone(),
        csrf: forms.token(&action),
        action,
        effects_hash: asked.effects_hash.to_string(),
        reason_chars_max: effectgate_core::approval::REASON_CHARS_MAX,
    };
    forms.with(answer::page(state.status, &page))
}

/// What was typed, without the fields in which nothing was: where somebody else changed those, their words stand.
fn kept(found: &Found, policy: &Policy, state: &State) -> Typed {
    let shown = state.overtaken.and_then(|shown| found.approval.effects_at(shown));
    let Some(shown) = shown else { return state.typed.clone() };
    let mut typed = state.typed.clone();
    for (n, proposed) in shown.iter().enumerate() {
        let mut then = HashMap::new();
        texts(&planned(proposed, found, policy), &mut then);
        if let Some(texts) = typed.by_effect.get_mut(&n) {
            texts.retain(|pointer, text| {
                then.get(pointer).is_none_or(|then| form::unified(then) != form::unified(text))
            });
        }
    }
    typed
}

fn texts(field: &Field, found: &mut HashMap<String, String>) {
    match &field.kind {
        Kind::Group(fields) => fields.iter().for_each(|field| texts(field, found)),
        _ => {
            found.insert(field.pointer.clone(), field.text());
        }
    }
}

/// Each error with the id of its field, or of the nearest field above it.
fn listed(effects: &[EffectForm], errors: &[Placed]) -> Vec<(String, String)> {
    let id = |(n, pointer, _): &Placed| {
        let inputs = effects.iter().filter(|e| e.n == n + 1).flat_map(|e| &e.inputs);
        let name = field_name(*n, pointer);
        inputs
            .into_iter()
            .find(|input| input.name == name)
            .map_or(format!("effect-{}", n + 1), |input| input.id.clone())
    };
    errors.iter().map(|error| (id(error), error.2.clone())).collect()
}

fn field_name(effect: usize, pointer: &str) -> String {
    format!("e{effect}{pointer}")
}

struct Maker<'a> {
    tongue: &'a Tongue,
    typed: &'a Typed,
    errors: &'a [Placed],
    next_id: usize,
}

impl Maker<'_> {
    fn effect(&mut self, n: usize, proposed: &Proposed, field: &Field) -> EffectForm {
        let mut inputs = Vec::new();
        match &field.kind {
            Kind::Group(fields) => {
                // As on the card: whom it reaches and how much it moves come first.
                let mut ordered: Vec<&Field> = fields.iter().collect();
                ordered.sort_by_key(|field| !vital::is_first(&field.name()));
                ordered.into_iter().for_each(|field| self.push(n, field, 0, &mut inputs));
            }
            _ => self.push(n, field, 0, &mut inputs),
        }
        EffectForm {
            n: n + 1,
            kind: Shown::new(proposed.effect_type.as_str()),
            target: Shown::new(&proposed.target),
            inputs,
        }
    }

    fn push(&mut self, n: usize, field: &Field, depth: usize, inputs: &mut Vec<Input>) {
        self.next_id += 1;
        let label = if field.label.is_empty() { self.tongue.say(Msg::EditWhole) } else { field.label.clone() };
        inputs.push(Input {
            id: format!("f{}", self.next_id),
            name: field_name(n, &field.pointer),
            label: Shown::new(&label),
            hint: field.hint.as_deref().map(Shown::new),
            is_required: field.is_required,
            errors: self.errors_at(n, &field.pointer),
            has_hidden: hides(&field.text()),
            control: self.control(n, field),
            depth,
        });
        if let Kind::Group(fields) = &field.kind {
            fields.iter().for_each(|field| self.push(n, field, depth + 1, inputs));
        }
    }

    fn errors_at(&self, n: usize, pointer: &str) -> Vec<Shown> {
        let here = self.errors.iter().filter(|(effect, at, _)| *effect == n && at == pointer);
        here.map(|(_, _, said)| Shown::new(said)).collect()
    }

    fn control(&self, n: usize, field: &Field) -> Control {
        let text = || self.typed.text(n, &field.pointer).cloned().unwrap_or_else(|| field.text());
        match &field.kind {
            Kind::Group(_) => Control::Heading,
            Kind::Line => Control::Line(text()),
            Kind::Lines => Control::Lines(text()),
            Kind::Number => Control::Number(text()),
            Kind::Bool => self.choice(["true", "false"].map(str::to_owned).to_vec(), field, &text()),
            Kind::Choice(values) => self.choice(values.iter().map(|v| v.to_text()).collect(), field, &text()),
            Kind::List { .. } => Control::List(text()),
            Kind::Raw => Control::Raw(text()),
            Kind::Fixed => Control::Fixed(Shown::new(&field.text())),
        }
    }

    /// What is there now stays a choice, even if the schema does not name it: nothing changes by being looked at.
    fn choice(&self, mut values: Vec<String>, field: &Field, chosen: &str) -> Control {
        if !chosen.is_empty() && !values.iter().any(|value| value == chosen) {
            values.insert(0, chosen.to_owned());
        }
        if !field.is_required || chosen.is_empty() {
            values.insert(0, String::new());
        }
        let label = |value: &str| match value {
            "" => Shown::new(&self.tongue.say(Msg::EditNotGiven)),
            text => Shown::new(text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text)),
        };
        Control::Choice(values.into_iter().map(|value| (value.clone(), label(&value), value == chosen)).collect())
    }
}

/// A field shows a text as it is, so it cannot mark what is not seen; the card does.
fn hides(text: &str) -> bool {
    visible::pieces(text).iter().any(|piece| matches!(piece, visible::Piece::Mark(visible::Mark::Hidden(..))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_placed_at_its_effect_and_member() {
        let found = placed(&[FindingView::new("/effects/1/payload/a~1b", "type", "no")]);
        assert_eq!(found, [(1, "/a~1b".to_owned(), "No.".to_owned())]);
    }

    #[test]
    fn fields_of_a_form_are_told_apart_by_effect_and_pointer() {
        let fields = [("e0/to", "a"), ("e12/to", "b"), ("e1", "{}"), ("ex/to", "x"), ("csrf", "y")];
        let typed = Typed::of(&fields.map(|(n, t)| (n.to_owned(), t.to_owned())).into(), String::new());

        let at = |n, pointer| typed.text(n, pointer).map(String::as_str);
        assert_eq!((at(0, "/to"), at(12, "/to"), at(1, ""), at(2, "/to")), (Some("a"), Some("b"), Some("{}"), None));
    }
}
