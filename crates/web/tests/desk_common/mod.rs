//! The pages' world with a provider that can be asked: notes that go by themselves to a CRM whose attempts and lookups
//! are scripted.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    flow::{EffectPolicy, Impact, TargetRule},
    gate::Gate,
    ids::{EffectId, EffectType, FlowName, ProviderName, RunId},
    outcome::{Answer as Reply, Phase, Report},
    provider::{Lookup, Provider},
    retry::{Look, Success},
};
use effectgate_engine::{
    connect::WriteGate,
    connector::Connector,
    policy::{EffectRules, Policy, ProviderPolicy},
    propose::Request as ProposalRequest,
    view::FindingView,
};
use serde_json::Value;

use crate::pages_common::{Browser, Options, Wanted, World};

pub const MINUTE: i64 = 60_000;
pub const NOTE: Wanted<'static> = ("note", "customer-42", r#"{"text":"called <b>twice</b>"}"#);

/// A CRM on strings.
#[derive(Clone, Default)]
pub struct Crm(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    answers: VecDeque<Option<u16>>,
    looks: VecDeque<Look>,
    attempts: usize,
    asked: usize,
}

impl Crm {
    /// The next attempt is answered with this status; without a word an attempt breaks off after its bytes are sent.
    pub fn will_answer(&self, status: u16) {
        self.0.lock().unwrap().answers.push_back(Some(status));
    }
    /// The next look says this; without a word it says "absent".
    pub fn will_say(&self, look: Look) {
        self.0.lock().unwrap().looks.push_back(look);
    }
    pub fn attempts(&self) -> usize {
        self.0.lock().unwrap().attempts
    }
    pub fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }
}

#[async_trait]
impl Connector for Crm {
    async fn attempt(&self, _: &Effect, gate: &dyn WriteGate) -> Report {
        if let Err(why) = gate.may_write().await {
            return Report::not_sent(Phase::Prepared, why);
        }
        let mut state = self.0.lock().unwrap();
        state.attempts += 1;
        let reply =
            |status| Reply { status, retry_after: None, body: b"{}".to_vec(), body_complete: true, replayed: false };
        match state.answers.pop_front().flatten() {
            Some(status) => Report {
                phase: Phase::Answered,
                bytes_sent: 345,
                answer: Some(reply(status)),
                error: None,
                handle: None,
            },
            None => Report {
                phase: Phase::Request,
                bytes_sent: 345,
                answer: None,
                error: Some("the connection was reset".into()),
                handle: None,
            },
        }
    }
    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: None, member: None }
    }
    async fn look(&self, _: &Effect) -> Look {
        let mut state = self.0.lock().unwrap();
        state.asked += 1;
        state.looks.pop_front().unwrap_or(Look::Absent)
    }
    fn check(&self, _: &EffectType, _: &str, _: &Value) -> Vec<FindingView> {
        Vec::new()
    }
}

pub struct Desk {
    pub world: World,
    pub crm: Crm,
}

impl Desk {
    /// With a person for each role, named like it.
    pub async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// The same, with another CRM.
    pub async fn with(change: impl Fn(&mut Provider)) -> Self {
        let crm = Crm::default();
        let world = World::over(&Options::default(), |policy| {
            add_notes(policy, &crm);
            change(&mut policy.providers.get_mut(&ProviderName::new("crm")).unwrap().provider);
        });
        for role in ["viewer", "approver", "operator", "auditor", "switch_owner", "admin", "support-lead"] {
            world.user(role, &[role]).await;
        }
        Self { world, crm }
    }

    pub async fn as_role(&self, role: &str) -> Browser {
        self.world.signed_in(role).await
    }

    /// A run with one note that goes by itself.
    pub async fn noted(&self, key: &str) -> RunId {
        self.world.waiting_by(key, &[NOTE], None, ProposalRequest::default()).await
    }

    /// A note whose attempt broke off.
    pub async fn unknown(&self, key: &str) -> EffectId {
        let run = self.noted(key).await;
        self.dispatch().await;
        EffectId { run, n: 1 }
    }

    /// A note that nobody could find out about.
    pub async fn in_review(&self, key: &str) -> EffectId {
        let effect = self.unknown(key).await;
        self.world.clock.advance_ms(3 * MINUTE);
        self.world.engine.reconcile_tick().await.unwrap();
        assert_eq!(self.state(effect).await, "review");
        effect
    }

    pub async fn dispatch(&self) {
        self.world.engine.dispatch_tick().await.unwrap();
        self.world.engine.dispatch_idle().await;
    }

    pub async fn state(&self, id: EffectId) -> &'static str {
        self.world.agg(id.run).await.effects.iter().find(|e| e.id == id).unwrap().state.as_str()
    }
}

fn add_notes(policy: &mut Policy, crm: &Crm) {
    let mut provider = policy.providers[&ProviderName::new("mail")].provider.clone();
    provider.name = ProviderName::new("crm");
    provider.smtp = false;
    provider.lookup = Some(Lookup { settle_delay_ms: 2 * MINUTE, authoritative: false, period_ms: MINUTE });
    policy
        .providers
        .insert(provider.name.clone(), ProviderPolicy { provider, connector: Arc::new(crm.clone()), out: None });
    let note = EffectType::new("note");
    let flow = policy.flows.get_mut(&FlowName::new("ticket-reply")).unwrap();
    flow.effects.insert(
        note.clone(),
        EffectRules { payload_schema: None, rules: vec![], evidence: None, payload_from: None, description: None },
    );
    flow.flow.effects.insert(
        note,
        EffectPolicy {
            provider: ProviderName::new("crm"),
            impact: Impact::Low,
            reversible: true,
            gate: Gate::None,
            target: TargetRule::Proposal,
            payload_schema: None,
        },
    );
}

/// Fills in the form of this class and sends it.
pub async fn press(
    browser: &mut Browser,
    page: &str,
    class: &str,
    reason: &str,
    more: &[(&str, &str)],
) -> crate::pages_common::browser::Answer {
    let opened = browser.get(page).await;
    let (path, fields) = form(&opened.text, class, reason, more);
    browser.post(&path, &fields).await
}

/// The path and the fields of a form on a page.
pub fn form(page: &str, class: &str, reason: &str, more: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let tag = format!("<form class=\"{class}\"");
    let from = page.find(&tag).unwrap_or_else(|| panic!("no {tag} on {page}"));
    let form = &page[from..from + page[from..].find("</form>").unwrap()];
    let value = |line: &str, name: &str| {
        let at = line.find(&format!("{name}=\""))? + name.len() + 2;
        Some(line[at..].split('"').next()?.to_owned())
    };
    let hidden = form.lines().filter(|line| line.contains("type=\"hidden\""));
    let mut fields: Vec<(String, String)> =
        hidden.filter_map(|line| Some((value(line, "name")?, value(line, "value")?))).collect();
    fields.push(("reason".into(), reason.into()));
    fields.extend(more.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())));
    (value(form, "action").unwrap(), fields)
}
