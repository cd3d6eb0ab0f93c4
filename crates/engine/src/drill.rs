//! Drill: what a switch would hold back if it were turned off now, without turning it. Every open effect is put to the
//! question that the dispatcher asks before the first byte ([`sending::applies`], then
//! [`Applies::stopped_by`](effectgate_core::switch::Applies::stopped_by)), with the switch in question off. Nothing is
//! held, nothing is sent; the counts go into the house chain, so that a drill is on record as a turn is.

use effectgate_core::{
    actor::Actor,
    effect::{Effect, EffectState},
    facts,
    ids::{EffectId, Tenant},
    journal::EntryKind,
    run::Run,
    sending,
    switch::{Scope, Switch},
    time::Timestamp,
};
use effectgate_store::EffectFilter;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{engine::Engine, error::Result};

/// What a drill found. Counts are of this tenant's open effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Drill {
    #[schema(value_type = String)]
    pub scope: Scope,
    pub name: String,
    #[schema(value_type = String)]
    pub at: Timestamp,
    /// Open effects that were looked at.
    pub examined: u64,
    /// False where there were more of one state than a drill looks at.
    pub is_complete: bool,
    /// Pending or scheduled: this turn would hold them.
    pub would_hold: u64,
    /// Pending or scheduled in this scope, and held by another switch already.
    pub held_already: u64,
    /// On the wire, or in the hands of a worker: they would end and be recorded.
    pub in_flight: u64,
    /// Unknown or in review in this scope: nothing leaves by itself, and a re-issue would be held.
    pub in_doubt: u64,
    /// Outside of the scope: they would go on.
    pub goes_on: u64,
    /// The number of its entry in the house chain.
    pub entry: i64,
    /// Some of those in the scope, for a look.
    pub effects: Vec<DrillEffect>,
}

/// One effect of a drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DrillEffect {
    #[schema(value_type = String)]
    pub id: EffectId,
    #[serde(rename = "type")]
    pub effect_type: String,
    pub provider: String,
    pub state: String,
    /// `would_hold`, `held_already`, `in_flight` or `in_doubt`.
    pub finding: Finding,
}

/// What the switch would mean for one effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    WouldHold,
    HeldAlready,
    InFlight,
    InDoubt,
    GoesOn,
}

/// The states in which something may still leave.
const STATES: [&str; 5] = ["scheduled", "pending", "sending", "unknown", "review"];
/// Effects of one state that a drill looks at: some seconds' work.
const EXAMINED_MAX: u64 = 10_000;
const PAGE: u32 = 200;
/// Effects that are named; the rest is counted.
const NAMED_MAX: usize = 50;

impl Engine {
    /// Says what turning this switch off would hold back. Turns nothing.
    ///
    /// # Errors
    /// A name where the scope has none (or none where it has), the store.
    pub async fn drill(&self, tenant: &Tenant, actor: &Actor, scope: Scope, name: &str) -> Result<Drill> {
        self.check_scope(scope, name)?;
        let now = self.now();
        let off = Switch {
            scope,
            name: name.to_owned(),
            enabled: false,
            reason: "drill".into(),
            by: actor.to_string(),
            at: now,
        };
        let mut drill = Drill::new(scope, name, now);
        let in_force = self.switches_in_force().await;
        for state in STATES {
            self.examine(tenant, state, &off, &in_force, &mut drill).await?;
        }
        let facts = facts! {
            "scope" => scope.as_str(), "name" => name, "examined" => drill.examined, "complete" => drill.is_complete,
            "would_hold" => drill.would_hold, "held_already" => drill.held_already, "in_flight" => drill.in_flight,
            "in_doubt" => drill.in_doubt, "goes_on" => drill.goes_on,
        };
        drill.entry = self.house_entry(tenant, actor, EntryKind::SwitchDrill, &facts, |_| {}).await?.0;
        Ok(drill)
    }

    async fn examine(
        &self,
        tenant: &Tenant,
        state: &str,
        off: &Switch,
        in_force: &[Switch],
        drill: &mut Drill,
    ) -> Result<()> {
        let (mut cursor, mut seen) = (None, 0);
        loop {
            let filter =
                EffectFilter { states: vec![state.to_owned()], cursor, limit: PAGE, ..EffectFilter::default() };
            let page = self.store().effect_find(tenant, &filter).await?;
            for item in &page.items {
                drill.add(&item.effect, judge(&item.run, &item.effect, off, in_force));
            }
            seen += page.items.len() as u64;
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
            if seen >= EXAMINED_MAX {
                drill.is_complete = false;
                return Ok(());
            }
        }
    }
}

impl Drill {
    fn new(scope: Scope, name: &str, at: Timestamp) -> Self {
        Self {
            scope,
            name: name.to_owned(),
            at,
            examined: 0,
            is_complete: true,
            would_hold: 0,
            held_already: 0,
            in_flight: 0,
            in_doubt: 0,
            goes_on: 0,
            entry: 0,
            effects: Vec::new(),
        }
    }

    fn add(&mut self, effect: &Effect, finding: Finding) {
        self.examined += 1;
        *match finding {
            Finding::WouldHold => &mut self.would_hold,
            Finding::HeldAlready => &mut self.held_already,
            Finding::InFlight => &mut self.in_flight,
            Finding::InDoubt => &mut self.in_doubt,
            Finding::GoesOn => &mut self.goes_on,
        } += 1;
        if finding != Finding::GoesOn && self.effects.len() < NAMED_MAX {
            self.effects.push(DrillEffect {
                id: effect.id,
                effect_type: effect.effect_type.as_str().to_owned(),
                provider: effect.provider.as_str().to_owned(),
                state: effect.state.as_str().to_owned(),
                finding,
            });
        }
    }
}

/// The dispatcher's question, with the switch off.
fn judge(run: &Run, effect: &Effect, off: &Switch, in_force: &[Switch]) -> Finding {
    let applies = sending::applies(run, effect);
    if applies.stopped_by(std::slice::from_ref(off)).is_none() {
        return Finding::GoesOn;
    }
    match effect.state {
        EffectState::Sending => Finding::InFlight,
        EffectState::Unknown { .. } | EffectState::Review { .. } => Finding::InDoubt,
        _ if applies.stopped_by(in_force).is_some() => Finding::HeldAlready,
        _ => Finding::WouldHold,
    }
}
