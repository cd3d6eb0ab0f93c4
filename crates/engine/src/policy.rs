//! The policy in force: flows, providers and people's routes, resolved from the config and checked before it exists.
//! Immutable while the server runs; a change is a restart.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::{
    budget::Budget,
    flow::Flow,
    gate::EvidenceRule,
    ids::{EffectType, FlowName, ProviderName, SourceName},
    lease::ClassOf,
    notice::Alert,
    provider::{Class, Provider},
    switch::Ceiling,
};
use effectgate_rules::{cel::Rule, schema::Schema};

use crate::{
    connector::Connector,
    inbound::SourcePolicy,
    n8n::{self, N8n},
    notify::Channels,
    outbound::OutPolicy,
    replay::ReplayPolicy,
};

/// Everything the engine goes by.
pub struct Policy {
    pub flows: BTreeMap<FlowName, FlowPolicy>,
    pub providers: BTreeMap<ProviderName, ProviderPolicy>,
    /// The inbound doors.
    pub sources: BTreeMap<SourceName, SourcePolicy>,
    /// How much may leave in a window of time. Empty: no limit, and no question to the database.
    pub budgets: Vec<Budget>,
    pub ceiling: Ceiling,
    /// Links are made from this, in one place (`notify/token.rs`). Without a trailing slash.
    pub public_url: String,
    pub channels: Channels,
    pub alerts: Vec<AlertRoute>,
    pub dispatcher: DispatcherPolicy,
    pub sweeper: SweeperPolicy,
    pub replay: ReplayPolicy,
    /// The workflow tool, where the config names one.
    pub n8n: Option<Arc<N8n>>,
}

/// A flow with what the rules room compiled of it.
pub struct FlowPolicy {
    pub flow: Flow,
    pub payload_schema: Option<Schema>,
    pub output_schema: Option<Schema>,
    pub effects: BTreeMap<EffectType, EffectRules>,
}

/// What was compiled for one effect type.
pub struct EffectRules {
    pub payload_schema: Option<Schema>,
    /// The gate's CEL rules, in order.
    pub rules: Vec<Rule>,
    pub evidence: Option<EvidenceSource>,
    /// Where in the output the payload lies, if a proposal names no effects.
    pub payload_from: Option<String>,
    /// What it does, for the agents that have it as a tool.
    pub description: Option<String>,
}

/// Evaluation evidence is read at each decision, so that a new evaluation counts without a restart.
pub struct EvidenceSource {
    pub rule: EvidenceRule,
    pub path: std::path::PathBuf,
}

/// A provider with its connector.
pub struct ProviderPolicy {
    pub provider: Provider,
    pub connector: Arc<dyn Connector>,
    /// The outbound door, where the section opens one.
    pub out: Option<OutPolicy>,
}

/// Which alerts go where.
#[derive(Debug, Clone)]
pub struct AlertRoute {
    pub on: Vec<Alert>,
    /// `notify.chat`, `notify.mail` with addresses, or a webhook channel's name.
    pub to: String,
    pub dedupe_ms: i64,
}

#[derive(Debug, Clone, Copy)]
pub struct DispatcherPolicy {
    /// Attempts under way at once at one provider that declares no bound of its own (`rate.concurrent`). Providers do
    /// not share: one that hangs holds up nobody else.
    pub workers: usize,
    pub period_ms: u64,
    /// Effects claimed for one provider in one go.
    pub batch: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct SweeperPolicy {
    pub period_ms: u64,
    /// Rows of a kind in one sweep.
    pub batch: u32,
    /// A run that is not final and unchanged for this long raises an alert.
    pub stuck_ms: i64,
}

impl ProviderPolicy {
    /// What holds for effects of this type.
    #[must_use]
    pub fn rules(&self, effect_type: &EffectType) -> &Provider {
        self.connector.rules(effect_type).unwrap_or(&self.provider)
    }
}

impl Policy {
    #[must_use]
    pub fn flow(&self, name: &FlowName) -> Option<&FlowPolicy> {
        self.flows.get(name)
    }

    /// True for a flow that is the gate's own: no caller reserves, claims or calls a tool in it.
    #[must_use]
    pub fn is_own(&self, flow: &FlowName) -> bool {
        self.n8n.is_some() && flow.as_str() == n8n::FLOW
    }

    #[must_use]
    pub fn provider(&self, name: &ProviderName) -> Option<&ProviderPolicy> {
        self.providers.get(name)
    }

    #[must_use]
    pub fn source(&self, name: &SourceName) -> Option<&SourcePolicy> {
        self.sources.get(name)
    }
}

impl ClassOf for Policy {
    fn class_of(&self, provider: &ProviderName) -> Option<Class> {
        self.provider(provider).map(|p| p.provider.class)
    }
}
