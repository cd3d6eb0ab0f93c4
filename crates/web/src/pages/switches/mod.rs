//! The kill switch as a page: what is in force, who turned what when and why, and for its owners the two forms: turn it,
//! drill it. Receipts and drills are read from the journal, so their pages can be opened again and shown to others.

mod record;
pub(super) mod turn;

use askama::Template;
use axum::response::Response;
use effectgate_core::{
    approval::REASON_CHARS_MAX,
    ids::RunId,
    switch::{Ceiling, Scope, Switch},
};
use effectgate_engine::EngineError;
use http::StatusCode;

pub(crate) use record::{drill, receipt};

use self::turn::TurnForm;
use super::{
    answer::{self, Frame},
    approval::Banner,
    listing::{Choice, Moment},
    run::entries::EntryLine,
    text::Shown,
    visit::{Entitled, Visit},
};
use crate::{
    auth::{
        Identity,
        allowed::{Need as _, Read, Turn},
        switching,
    },
    problem::Result,
};

#[derive(Template)]
#[template(path = "switches.html")]
struct SwitchesPage {
    frame: Frame,
    banner: Option<Banner>,
    headline: Headline,
    ceiling: Headline,
    rows: Vec<Row>,
    turns: Vec<EntryLine>,
    form: Option<Form>,
    zone: String,
}

/// How the whole stands.
struct Headline {
    /// `on` or `off`.
    word: &'static str,
    text: &'static str,
}

/// One switch.
struct Row {
    scope: &'static str,
    name: Shown,
    word: &'static str,
    /// What holds its effects although it is on itself.
    held_by: Option<&'static str>,
    turned: Option<Turned>,
}

struct Turned {
    by: Shown,
    at: Moment,
    reason: Shown,
}

/// The forms of an owner of the switch.
struct Form {
    csrf: String,
    drill_csrf: String,
    groups: Vec<Group>,
    is_on: bool,
    is_off: bool,
    reason: String,
    reason_chars_max: usize,
    error: Option<&'static str>,
}

struct Group {
    title: &'static str,
    choices: Vec<Choice>,
}

/// What came back with an error.
#[derive(Default)]
struct Said {
    banner: Option<Banner>,
    typed: TurnForm,
    error: Option<&'static str>,
}

pub(super) const PATH: &str = "/switches";
pub(super) const DRILL: &str = "/switches/drill";

pub(crate) async fn show(Entitled { visit, who, .. }: Entitled<Read>) -> Response {
    page(&visit, &who, Said::default(), StatusCode::OK).await
}

async fn page(visit: &Visit, who: &Identity, said: Said, status: StatusCode) -> Response {
    match build(visit, who, said).await {
        Ok(page) => answer::page(status, &page),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

async fn build(visit: &Visit, who: &Identity, said: Said) -> Result<SwitchesPage> {
    let engine = &visit.app.engine;
    let mut switches = engine.store().switch_list().await.map_err(EngineError::from)?;
    switches.retain(|switch| switching::may_see(&visit.app, who, switch));
    let ceiling = engine.policy().ceiling;
    let may_turn = who.need(Turn::ANY_OF).is_ok();
    let Said { banner, typed, error } = said;
    Ok(SwitchesPage {
        frame: Frame::english("Switch", visit),
        banner,
        headline: headline(ceiling, &switches),
        ceiling: ceiling_line(ceiling),
        rows: rows(visit, who, &switches),
        turns: turns(visit, who).await?,
        form: may_turn.then(|| form(visit, who, &typed, error)),
        zone: super::listing::zone(visit).to_string(),
    })
}

fn headline(ceiling: Ceiling, switches: &[Switch]) -> Headline {
    let is_off = |s: &Switch| !s.enabled;
    if ceiling == Ceiling::Off || switches.iter().any(|s| s.scope == Scope::All && is_off(s)) {
        return Headline { word: "off", text: "Everything is held back: no effect leaves." };
    }
    if switches.iter().any(is_off) {
        return Headline { word: "off", text: "Some effects are held back, the others go out." };
    }
    Headline { word: "on", text: "Effects go out." }
}

fn ceiling_line(ceiling: Ceiling) -> Headline {
    match ceiling {
        Ceiling::On => Headline {
            word: "on",
            text: "The config and the environment (AI_ACTIONS_ENABLED) allow actions. The switches below decide.",
        },
        Ceiling::Off => Headline {
            word: "off",
            text: "The config or the environment (AI_ACTIONS_ENABLED) says off. No switch lifts that; it takes a restart \
                   with another setting.",
        },
    }
}

/// Everything that has a switch: what is in the config, and what was ever turned.
pub(super) fn known(visit: &Visit, who: &Identity) -> Vec<(Scope, String)> {
    let policy = visit.app.engine.policy();
    let flows = policy.flows.keys().map(|name| (Scope::Flow, name.as_str().to_owned()));
    let providers = policy.providers.keys().map(|name| (Scope::Provider, name.as_str().to_owned()));
    let types: std::collections::BTreeSet<&str> =
        policy.flows.values().flat_map(|flow| flow.effects.keys().map(|kind| kind.as_str())).collect();
    let types = types.into_iter().map(|name| (Scope::EffectType, name.to_owned()));
    [(Scope::All, String::new()), (Scope::Tenant, who.tenant().as_str().to_owned())]
        .into_iter()
        .chain(flows)
        .chain(providers)
        .chain(types)
        .collect()
}

/// What of that this caller may turn.
pub(super) fn own(visit: &Visit, who: &Identity) -> Vec<(Scope, String)> {
    let may = |(scope, name): &(Scope, String)| switching::may_turn(&visit.app, who, *scope, name).is_ok();
    known(visit, who).into_iter().filter(may).collect()
}

fn rows(visit: &Visit, who: &Identity, switches: &[Switch]) -> Vec<Row> {
    let mut all = known(visit, who);
    let strangers = switches.iter().map(|s| (s.scope, s.name.clone())).filter(|pair| !all.contains(pair));
    let strangers: Vec<_> = strangers.collect();
    all.extend(strangers);
    let everything = switches.iter().any(|s| s.scope == Scope::All && !s.enabled);
    let is_capped = visit.app.engine.policy().ceiling == Ceiling::Off;
    let row = |(scope, name): (Scope, String)| {
        let turned = switches.iter().find(|s| s.scope == scope && s.name == name);
        Row {
            scope: scope_words(scope),
            name: Shown::new(&name),
            word: if turned.is_none_or(|s| s.enabled) { "on" } else { "off" },
            held_by: match () {
                () if is_capped => Some("held by the ceiling"),
                () if everything && scope != Scope::All => Some("held by “everything”"),
                () => None,
            },
            turned: turned.map(|s| Turned {
                by: Shown::new(&s.by),
                at: Moment::new(visit, s.at),
                reason: Shown::new(&s.reason),
            }),
        }
    };
    all.into_iter().map(row).collect()
}

pub(super) fn scope_words(scope: Scope) -> &'static str {
    match scope {
        Scope::All => "Everything",
        Scope::Tenant => "Tenant",
        Scope::Flow => "Flow",
        Scope::Provider => "Provider",
        Scope::EffectType => "Effect type",
    }
}

/// Entries of the house chain that are looked through for turns and drills.
const ENTRIES: i64 = 200;
const TURNS_SHOWN: usize = 20;

async fn turns(visit: &Visit, who: &Identity) -> Result<Vec<EntryLine>> {
    let store = visit.app.engine.store();
    let house = RunId::house(who.tenant());
    let head = store.house_head(who.tenant()).await.map_err(EngineError::from)?;
    let entries = store.journal_read(house, (head.seq - ENTRIES).max(0), ENTRIES as u32).await;
    let entries = entries.map_err(EngineError::from)?;
    let of_switches = entries.iter().rev().filter(|e| matches!(e.kind.as_str(), "switch_turned" | "switch_drill"));
    Ok(of_switches.take(TURNS_SHOWN).map(|entry| EntryLine::new(visit, entry, &[])).collect())
}

fn form(visit: &Visit, who: &Identity, typed: &TurnForm, error: Option<&'static str>) -> Form {
    let mut groups: Vec<Group> = Vec::new();
    for (scope, name) in own(visit, who) {
        let title = scope_words(scope);
        let value = format!("{}:{name}", scope.as_str());
        let text = if scope == Scope::All { "everything".into() } else { super::text::one_line(&name) };
        let choice = Choice { is_chosen: value == typed.what, value, text };
        match groups.last_mut().filter(|group| group.title == title) {
            Some(group) => group.choices.push(choice),
            None => groups.push(Group { title, choices: vec![choice] }),
        }
    }
    Form {
        csrf: visit.forms().token(PATH),
        drill_csrf: visit.forms().token(DRILL),
        groups,
        is_on: typed.turn == "on",
        is_off: typed.turn == "off",
        reason: typed.reason.clone(),
        reason_chars_max: REASON_CHARS_MAX,
        error,
    }
}
