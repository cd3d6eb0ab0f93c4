//! The settings as they are in force, to read: flows, providers and sources with their limits in words, channels and alerts, the
//! workers' pace, versions. Secrets are not shown. To change something, change the
//! config and restart.

mod budgets;
mod flows;
mod providers;
mod sources;

use askama::Template;
use axum::response::Response;
use effectgate_core::{ids::SourceName, switch::Ceiling};
use effectgate_engine::{EngineError, policy::Policy};
use effectgate_store::Health;
use http::StatusCode;

use self::{budgets::BudgetLine, flows::FlowBlock, providers::ProviderBlock, sources::SourceBlock};
use super::{
    answer::{self, Frame},
    listing::words,
    text::Shown,
    time::exact,
    visit::{Entitled, Visit},
};
use crate::{auth::allowed::Read, problem::Result};

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    flows: Vec<FlowBlock>,
    providers: Vec<ProviderBlock>,
    sources: Vec<SourceBlock>,
    budgets: Vec<BudgetLine>,
    alerts: Vec<AlertLine>,
    house: Vec<Setting>,
}

/// A name and its value in words.
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) value: Shown,
}

impl Setting {
    pub(super) fn new(name: &'static str, value: impl AsRef<str>) -> Self {
        Self { name, value: Shown::new(value.as_ref()) }
    }
}

struct AlertLine {
    on: String,
    to: Shown,
    dedupe: String,
}

pub(crate) async fn show(Entitled { visit, .. }: Entitled<Read>) -> Response {
    match build(&visit).await {
        Ok(page) => answer::page(StatusCode::OK, &page),
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

async fn build(visit: &Visit) -> Result<SettingsPage> {
    let engine = &visit.app.engine;
    let health = engine.store().health().await.map_err(EngineError::from)?;
    let policy = engine.policy();
    let alert = |route: &effectgate_engine::policy::AlertRoute| AlertLine {
        on: route.on.iter().map(|alert| words(alert.as_str())).collect::<Vec<_>>().join(", "),
        to: Shown::new(&route.to),
        dedupe: exact(route.dedupe_ms),
    };
    let away = engine.paused_sources();
    let paused = |name: &SourceName| away.iter().find(|(source, _)| source == name).map(|(_, until)| *until);
    Ok(SettingsPage {
        frame: Frame::english("Settings", visit),
        flows: policy.flows.values().map(FlowBlock::new).collect(),
        providers: policy.providers.values().map(ProviderBlock::new).collect(),
        sources: policy.sources.iter().map(|(name, source)| SourceBlock::new(name, source, paused(name))).collect(),
        budgets: engine.budgets_now().await?.iter().map(BudgetLine::new).collect(),
        alerts: policy.alerts.iter().map(alert).collect(),
        house: house(policy, &health),
    })
}

fn house(policy: &Policy, health: &Health) -> Vec<Setting> {
    let set = |is_set: bool| if is_set { "set up" } else { "not set up" };
    let ms = |ms: u64| exact(i64::try_from(ms).unwrap_or(i64::MAX));
    let ceiling = match policy.ceiling {
        Ceiling::On => "on: the switches decide",
        Ceiling::Off => "off: nothing leaves, whatever the switches say",
    };
    vec![
        Setting::new("Version", env!("CARGO_PKG_VERSION")),
        Setting::new("Database", format!("{}, schema {}", health.backend, health.schema)),
        Setting::new("Public address", &policy.public_url),
        Setting::new("Actions (the ceiling)", ceiling),
        Setting::new("Mail to people", set(policy.channels.mail.is_some())),
        Setting::new("Chat", set(policy.channels.chat.is_some())),
        Setting::new(
            "Dispatcher",
            format!(
                "looks every {}, claims up to {} effects at a time, {} under way at one provider that sets no bound",
                period(policy.dispatcher.period_ms, ms),
                policy.dispatcher.batch,
                policy.dispatcher.workers
            ),
        ),
        Setting::new(
            "Sweeper",
            format!(
                "looks every {}, up to {} rows at a time",
                period(policy.sweeper.period_ms, ms),
                policy.sweeper.batch
            ),
        ),
        Setting::new("A run counts as stuck after", exact(policy.sweeper.stuck_ms)),
    ]
}

/// Periods are often shorter than a second.
fn period(period_ms: u64, longer: impl Fn(u64) -> String) -> String {
    if period_ms < 1_000 { format!("{period_ms} ms") } else { longer(period_ms) }
}
