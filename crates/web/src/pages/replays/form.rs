//! The form that makes a plan: the filter's four members and the limit, none of them filled in for the person, and a
//! reason. Times are in the person's zone. Wrong ones come back with what was typed.

use effectgate_core::{
    approval::REASON_CHARS_MAX,
    ids::FlowName,
    replay::{ReplayFilter, ReplayState},
};
use effectgate_engine::replay::{ANY_EVENT_TYPE, LIMIT_MAX, PlanRequest};
use serde::{Deserialize, Serialize};

use super::super::{
    listing::{self, Choice},
    posted::{Posted, reason},
    visit::Visit,
};

/// The form as it is sent.
#[derive(Deserialize, Serialize, Default, Clone)]
#[serde(default)]
pub(crate) struct PlanForm {
    csrf: String,
    pub(super) flow: String,
    pub(super) event_type: String,
    pub(super) since: String,
    pub(super) until: String,
    pub(super) state: String,
    pub(super) limit: String,
    pub(super) reason: String,
    /// `dry_run` or `plan`: which button was pressed. Anything else is refused, never taken for the one or the other.
    what: String,
}

impl Posted for PlanForm {
    fn csrf(&self) -> &str {
        &self.csrf
    }
}

/// Names of flows and event types.
const NAME_CHARS_MAX: usize = 255;

impl PlanForm {
    /// The request, or what is wrong with the first member that is.
    pub(super) fn read(&self, visit: &Visit) -> Result<PlanRequest, &'static str> {
        let dry_run = match self.what.as_str() {
            "dry_run" => true,
            "plan" => false,
            _ => return Err("The form does not say whether it is a dry run. Open the page again."),
        };
        Ok(PlanRequest { filter: self.filter(visit)?, limit: self.limit()?, reason: reason(&self.reason)?, dry_run })
    }

    fn filter(&self, visit: &Visit) -> Result<ReplayFilter, &'static str> {
        let zone = listing::zone(visit);
        let event_type = name(&self.event_type, "Say which event type, or * for any.")?;
        Ok(ReplayFilter {
            flow: FlowName::new(name(&self.flow, "Choose a flow.")?),
            event_type: (event_type != ANY_EVENT_TYPE).then_some(event_type),
            since: zone.instant(&self.since).ok_or("“Created from” is no date with a time.")?,
            until: zone.instant(&self.until).ok_or("“Created before” is no date with a time.")?,
            state: ReplayState::parse(&self.state).ok_or("Choose a state.")?,
        })
    }

    fn limit(&self) -> Result<u32, &'static str> {
        let limit = self.limit.trim().parse().ok();
        limit.filter(|limit| (1..=LIMIT_MAX).contains(limit)).ok_or("The limit is a number from 1 to 1,000.")
    }
}

fn name(text: &str, missing: &'static str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err(missing),
        text if text.chars().count() > NAME_CHARS_MAX || text.contains('\0') => Err("This is no name of ours."),
        text => Ok(text.to_owned()),
    }
}

/// The form as the page shows it.
pub(super) struct FormBlock {
    pub(super) csrf: String,
    pub(super) typed: PlanForm,
    pub(super) flows: Vec<Choice>,
    pub(super) states: Vec<Choice>,
    pub(super) limit_max: u32,
    pub(super) reason_chars_max: usize,
    pub(super) error: Option<String>,
}

impl FormBlock {
    pub(super) fn new(visit: &Visit, typed: PlanForm, error: Option<String>) -> Self {
        let policy = visit.app.engine.policy();
        Self {
            csrf: visit.forms().token(super::PATH),
            flows: listing::names(policy.flows.keys().map(FlowName::as_str), typed.flow.trim()),
            states: listing::choices(ReplayState::ALL.map(ReplayState::as_str), &typed.state),
            limit_max: LIMIT_MAX,
            reason_chars_max: REASON_CHARS_MAX,
            typed,
            error,
        }
    }
}
