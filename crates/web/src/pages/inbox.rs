//! The inbox: the open approvals that wait for a person by name, for their roles, or (for those who may read every
//! card) for anybody; by risk, by age or by what ends first. A page is a seek in the store, whatever lies behind it.

use std::collections::BTreeSet;

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_core::{approval::member_keys_of, ids::FlowName};
use effectgate_engine::EngineError;
use effectgate_lang::Msg;
use effectgate_store::{ApprovalItem, INBOX_COUNT_MAX, INBOX_MEMBERS_MAX, InboxFilter, InboxOrder};
use http::StatusCode;
use serde::Deserialize;

use super::{
    answer::{self, Frame},
    approval::login_path,
    card,
    effect::{Impact, impact, vital_line},
    sla::Clock,
    text::Shown,
    time::When,
    tongue::Tongue,
    visit::Visit,
};
use crate::{
    auth::{
        Identity, SignedIn,
        allowed::{Need as _, ReadContent},
    },
    problem::Result,
};

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    frame: Frame,
    t: Tongue,
    tabs: Vec<Tab>,
    orders: Vec<Tab>,
    view: &'static str,
    order: &'static str,
    flows: Vec<FlowChoice>,
    is_filtered: bool,
    lines: Vec<Line>,
    /// What an empty list means here.
    empty: String,
    next: Option<String>,
    first: Option<String>,
}

struct Tab {
    href: String,
    text: String,
    /// `12`, or `1,000+` where counting stopped.
    count: Option<String>,
    is_current: bool,
}

struct FlowChoice {
    name: String,
    is_chosen: bool,
}

/// One approval that waits.
struct Line {
    href: String,
    flow: Shown,
    key: Shown,
    effects: Vec<EffectLine>,
    more: Option<String>,
    impact: Impact,
    quorum: Option<String>,
    is_edited: bool,
    is_undeliverable: bool,
    is_decided: bool,
    waiting: String,
    asked: When,
    expires: When,
    clock: Option<Clock>,
}

struct EffectLine {
    kind: Shown,
    target: Shown,
    vital: Vec<(Shown, Shown)>,
}

/// Whose approvals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Mine,
    Roles,
    All,
}

impl View {
    const ALL: [Self; 3] = [Self::Mine, Self::Roles, Self::All];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Roles => "roles",
            Self::All => "all",
        }
    }

    const fn title(self) -> Msg {
        match self {
            Self::Mine => Msg::InboxMine,
            Self::Roles => Msg::InboxMyRoles,
            Self::All => Msg::InboxAll,
        }
    }

    const fn empty(self) -> Msg {
        match self {
            Self::Mine => Msg::InboxEmptyMine,
            Self::Roles => Msg::InboxEmptyRoles,
            Self::All => Msg::InboxEmptyAll,
        }
    }

    /// Who is asked; `None` for everybody. Bounded: each member is a seek of its own.
    fn members(self, keys: &BTreeSet<String>) -> Option<Vec<String>> {
        let of = |by_role: bool| keys.iter().filter(move |key| key.starts_with("role:") == by_role).cloned();
        match self {
            Self::Mine => Some(of(false).take(INBOX_MEMBERS_MAX).collect()),
            Self::Roles => Some(of(true).take(INBOX_MEMBERS_MAX).collect()),
            Self::All => None,
        }
    }
}

const ORDERS: [(InboxOrder, &str, Msg); 3] = [
    (InboxOrder::Risk, "risk", Msg::InboxByRisk),
    (InboxOrder::Age, "age", Msg::InboxByAge),
    (InboxOrder::Due, "due", Msg::InboxByDue),
];

/// What the address asks for. Anything that is not known is as if it were not there.
#[derive(Deserialize, Default)]
pub(crate) struct Wanted {
    #[serde(default)]
    view: String,
    #[serde(default)]
    order: String,
    #[serde(default)]
    flow: String,
    #[serde(default)]
    cursor: String,
}

/// Lines of a page: what a person works through before a break.
const PAGE: u32 = 50;
/// A flow is looked for in this many pages of the store before the page is shown with what was found.
const PAGES_MAX: usize = 20;
const EFFECTS_SHOWN: usize = 3;

pub(crate) async fn show(visit: Visit, wanted: Result<Query<Wanted>, QueryRejection>) -> Response {
    let Some(signed_in) = &visit.signed_in else { return answer::see(&login_path(&visit, None, "/inbox")) };
    let wanted = wanted.map(|Query(wanted)| wanted).unwrap_or_default();
    match page(&visit, signed_in, &wanted).await {
        Ok(page) => answer::page(StatusCode::OK, &page),
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

async fn page(visit: &Visit, signed_in: &SignedIn, wanted: &Wanted) -> Result<InboxPage> {
    let keys = member_keys_of(&signed_in.person);
    let counts = counts(visit, signed_in, &keys).await?;
    let view = view(&wanted.view, &counts);
    let (order, order_word, _) = ORDERS.into_iter().find(|(_, word, _)| *word == wanted.order).unwrap_or(ORDERS[0]);
    let flow = visit.app.engine.policy().flows.keys().find(|name| name.as_str() == wanted.flow).cloned();
    let (items, next) = found(visit, signed_in, view.members(&keys), order, flow.as_ref(), &wanted.cursor).await?;
    let link = |view: View, order: &str, cursor: Option<&str>| href(view, order, flow.as_ref(), cursor);
    let tab = |(of, count): &(View, u64)| Tab {
        href: link(*of, order_word, None),
        text: visit.tongue.say(of.title()),
        count: Some(counted(*count, &visit.tongue)),
        is_current: *of == view,
    };
    let sorted = |(_, word, title): (InboxOrder, &'static str, Msg)| Tab {
        href: link(view, word, None),
        text: visit.tongue.say(title),
        count: None,
        is_current: word == order_word,
    };
    let choice =
        |name: &FlowName| FlowChoice { name: name.as_str().to_owned(), is_chosen: Some(name) == flow.as_ref() };
    Ok(InboxPage {
        frame: Frame::new(visit.tongue.say(Msg::NavInbox), Some(visit)),
        t: visit.tongue.clone(),
        tabs: counts.iter().map(tab).collect(),
        orders: ORDERS.into_iter().map(sorted).collect(),
        view: view.as_str(),
        order: order_word,
        flows: visit.app.engine.policy().flows.keys().map(choice).collect(),
        is_filtered: flow.is_some(),
        lines: items.iter().map(|item| line(item, visit, signed_in)).collect(),
        empty: visit.tongue.say(view.empty()),
        next: next.map(|cursor| link(view, order_word, Some(&cursor))),
        first: (!wanted.cursor.is_empty()).then(|| link(view, order_word, None)),
    })
}

/// The views that this person has, each with how much waits there.
async fn counts(visit: &Visit, signed_in: &SignedIn, keys: &BTreeSet<String>) -> Result<Vec<(View, u64)>> {
    let may_read_all = Identity::Person(signed_in.clone()).need(ReadContent::ANY_OF).is_ok();
    let mut counts = Vec::new();
    for view in View::ALL.into_iter().filter(|view| *view != View::All || may_read_all) {
        let members = view.members(keys);
        let count = visit.app.engine.store().inbox_count(&signed_in.tenant, members.as_deref()).await;
        counts.push((view, count.map_err(EngineError::from)?));
    }
    Ok(counts)
}

/// The view that was asked for, if it is one of theirs; else the first in which something waits.
fn view(asked: &str, counts: &[(View, u64)]) -> View {
    let named = counts.iter().find(|(view, _)| view.as_str() == asked);
    let waiting = || counts.iter().find(|(_, count)| *count > 0);
    named.or_else(waiting).map_or(View::Mine, |(view, _)| *view)
}

/// One page of open approvals. With a flow the store's pages are looked through until one page is full; it may then be
/// longer, because a cursor stands between two pages of the store.
async fn found(
    visit: &Visit,
    signed_in: &SignedIn,
    members: Option<Vec<String>>,
    order: InboxOrder,
    flow: Option<&FlowName>,
    cursor: &str,
) -> Result<(Vec<ApprovalItem>, Option<String>)> {
    let cursor = Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty());
    let mut filter = InboxFilter { members, order, cursor, limit: PAGE };
    let mut items = Vec::new();
    for _ in 0..PAGES_MAX {
        let page = visit.app.engine.store().inbox_find(&signed_in.tenant, &filter).await.map_err(EngineError::from)?;
        let fits =
            |item: &ApprovalItem| item.approval.is_open(visit.now) && flow.is_none_or(|flow| item.run.flow == *flow);
        items.extend(page.items.into_iter().filter(fits));
        filter.cursor = page.next;
        if filter.cursor.is_none() || items.len() >= PAGE as usize || flow.is_none() {
            break;
        }
    }
    Ok((items, filter.cursor))
}

fn href(view: View, order: &str, flow: Option<&FlowName>, cursor: Option<&str>) -> String {
    let encoded =
        |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    let mut href = format!("/inbox?view={}&order={order}", view.as_str());
    for (name, value) in [("flow", flow.map(FlowName::as_str)), ("cursor", cursor)] {
        if let Some(value) = value {
            href.push_str(&format!("&{name}={}", encoded(value)));
        }
    }
    href
}

fn counted(count: u64, tongue: &Tongue) -> String {
    let text = tongue.number(usize::try_from(count).unwrap_or(usize::MAX));
    if count >= INBOX_COUNT_MAX { format!("{text}+") } else { text }
}

fn line(item: &ApprovalItem, visit: &Visit, signed_in: &SignedIn) -> Line {
    let (approval, tongue) = (&item.approval, &visit.tongue);
    let proposed = &approval.proposed;
    let more = proposed.len().saturating_sub(EFFECTS_SHOWN);
    let highest = ["high", "normal", "low"].into_iter().find(|word| proposed.iter().any(|p| p.impact == *word));
    let sla = visit.app.engine.policy().flow(&item.run.flow).and_then(|flow| flow.flow.sla);
    let waited = tongue.span(visit.now.ms_since(approval.created_at));
    Line {
        href: format!("/approvals/{}", approval.id),
        flow: Shown::new(item.run.flow.as_str()),
        key: Shown::new(&item.run.key),
        effects: proposed
            .iter()
            .take(EFFECTS_SHOWN)
            .map(|p| EffectLine {
                kind: Shown::new(p.effect_type.as_str()),
                target: Shown::new(&p.target),
                vital: vital_line(p),
            })
            .collect(),
        more: (more > 0).then(|| tongue.count(Msg::InboxMoreEffects, more)),
        impact: impact(highest.unwrap_or("normal"), tongue),
        quorum: card::quorum(approval, tongue),
        is_edited: !approval.edits.is_empty(),
        is_undeliverable: approval.terms.undeliverable,
        is_decided: approval.has_decided(&signed_in.person),
        waiting: tongue.around(Msg::InboxWaiting, &[("span", &waited)]),
        asked: When::of(approval.created_at, visit),
        expires: When::of(approval.expires_at, visit),
        clock: sla.map(|sla| Clock::new(&sla, &item.run, approval, visit.now, tongue)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_opens_where_something_waits() {
        let counts = |mine, roles| vec![(View::Mine, mine), (View::Roles, roles)];
        assert_eq!(view("", &counts(0, 3)), View::Roles);
        assert_eq!(view("", &counts(1, 3)), View::Mine);
        assert_eq!(view("", &counts(0, 0)), View::Mine);
        assert_eq!(view("roles", &counts(1, 0)), View::Roles);
        assert_eq!(view("all", &counts(1, 0)), View::Mine, "a view that is not theirs is none");
    }

    #[test]
    fn names_and_roles_are_asked_for_apart() {
        let keys = BTreeSet::from(["mail:anna@house.test".to_owned(), "role:support-lead".to_owned()]);
        assert_eq!(View::Mine.members(&keys).unwrap(), ["mail:anna@house.test"]);
        assert_eq!(View::Roles.members(&keys).unwrap(), ["role:support-lead"]);
        assert_eq!(View::All.members(&keys), None);
    }
}
