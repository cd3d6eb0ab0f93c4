//! Corrections: a new event with its own key from upstream, linked to a run that has ended. The new run is an ordinary
//! one: queued, claimed by a worker (who is shown what the original had done), through its own gate and outbox. Nothing
//! of the original changes but its record.

use effectgate_core::{
    actor::Actor,
    correct, facts,
    ids::{FlowName, RunId, Tenant},
    journal::{EntryKind, seal},
    json::Json,
    key::Key,
    lease,
    operate::Refused,
    payload::PayloadHash,
    run::{Aggregate, Origin, Run, RunState},
    time::Timestamp,
    transition::ContentWrite,
};
use effectgate_store::{NewRun, Reserved as Stored};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    inbound::wants_delivery,
    policy::FlowPolicy,
    pulse::{Topic, Touched},
    reserve::{KeyGiven, PayloadGiven, event_type, hash_for, hash_under, key_of, read_payload, refuse_invalid},
    view::{self, RunView},
};

/// A correction as it was asked for.
#[derive(Debug, Clone)]
pub struct CorrectRequest {
    /// The original's, unless another one is named.
    pub flow: Option<FlowName>,
    /// Its own, from upstream.
    pub key: KeyGiven,
    /// The JSON text as it came in.
    pub payload: String,
    pub reason: String,
    pub trigger: Option<Value>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Corrected {
    /// The new run waits for a worker.
    Queued { run: Box<RunView> },
    /// The same correction was asked for before.
    Repeated { run: Box<RunView> },
    /// The key stands for a correction of this run with another payload.
    Conflict { run: Box<RunView>, stored: String, came: String },
}

/// A run that corrects another, for the page of the original.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CorrectionView {
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub flow: String,
    pub key: String,
    pub state: String,
    pub by: String,
    pub reason: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
}

/// Corrections of one run that are shown. One is usual; beyond this the list of runs tells more.
const CORRECTIONS_MAX: u32 = 100;

const IN_DISGUISE: &str = "a correction needs a key of its own from upstream; this one is the original's, spelled \
otherwise or with something put before or behind it";
const STANDS_ALREADY: &str = "this key stands for another run already; a correction needs a key of its own";

/// A correction after every check that writes nothing.
struct Checked<'a> {
    flow: &'a FlowPolicy,
    key: Key,
    id: RunId,
    hash: PayloadHash,
    json: Json,
}

impl Engine {
    /// Makes a new run that corrects one that has ended.
    ///
    /// Guarantees: the same correction twice is one run. The link stands in both records; the original's state, effects
    /// and content stay as they are.
    ///
    /// # Errors
    /// Not found; the original has not ended (`wrong_state`); a key that is the original's in disguise or another run's
    /// (`correction_key`); what a reservation is refused for; the store.
    pub async fn correct(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        original: RunId,
        request: CorrectRequest,
    ) -> Result<Corrected> {
        let agg = self.load(tenant, original).await?;
        let known = correct::correction(&agg, actor, &request.reason).map_err(|why| refused(&agg, &why))?;
        let checked = self.checked(&agg, &request)?;
        self.refuse_disguised(&agg, &checked.key).await?;
        let origin = Origin {
            trigger: request.trigger.clone(),
            event_type: event_type(&request.key),
            corrects: Some(original),
            correction: Some(known),
            correlation_id: agg.run.origin.correlation_id.clone(),
            // The worker that is called with the original is called with its correction; another flow has other workers.
            inbound: agg.run.origin.inbound.clone().filter(|_| checked.flow.flow.name == agg.run.flow),
            api_key: if let Actor::ApiKey(name) = actor { Some(name.clone()) } else { None },
            ..Origin::default()
        };
        let new = new_run(tenant, actor, &checked, &request, origin, self.now());
        let fresh = new.run.clone();
        let (answer, run) = match self.store().run_reserve(new).await? {
            Stored::Created { .. } => {
                self.tell_pages(&Touched::of(tenant, Topic::Runs));
                if wants_delivery(&fresh) {
                    self.nudges().deliverer.notify_one();
                }
                (Corrected::Queued { run: Box::new(view::bare_run(&fresh)) }, fresh)
            }
            Stored::Exists { run, .. } => (self.stands(&checked, original, &run, actor).await?, *run),
        };
        if !matches!(answer, Corrected::Conflict { .. }) {
            self.note_corrected(tenant, actor, original, &run, &request.reason).await?;
        }
        Ok(answer)
    }

    /// The runs that correct this one.
    ///
    /// # Errors
    /// The store.
    pub async fn corrections(&self, tenant: &Tenant, original: RunId) -> Result<Vec<CorrectionView>> {
        let runs = self.store().run_corrections(tenant, original, CORRECTIONS_MAX).await?;
        Ok(runs.into_iter().map(correction_view).collect())
    }

    fn checked(&self, original: &Aggregate, request: &CorrectRequest) -> Result<Checked<'_>> {
        let name = request.flow.as_ref().unwrap_or(&original.run.flow);
        let flow = self.policy().flow(name).ok_or(EngineError::UnknownFlow)?;
        let key = key_of(flow, &request.key)?;
        let given = PayloadGiven::Text(request.payload.clone());
        let json = read_payload(&given)?.unwrap_or(Json::Null);
        let hash = hash_under(&flow.flow.identity, &json)?;
        if let Some(schema) = &flow.payload_schema {
            refuse_invalid(schema.validate(&json.to_value()))?;
        }
        let id = RunId::derive(&original.run.tenant, name, key.as_str());
        Ok(Checked { flow, key, id, hash, json })
    }

    /// Compares the key with the original's, and with those of the runs that the original itself corrects.
    async fn refuse_disguised(&self, original: &Aggregate, key: &Key) -> Result<()> {
        let mut run = original.run.clone();
        for _ in 0..correct::ANCESTORS_MAX {
            if correct::is_made_from(key.as_str(), &run.key) {
                return Err(EngineError::CorrectionKey { detail: IN_DISGUISE, run: None });
            }
            let Some(before) = run.origin.corrects else { return Ok(()) };
            let Some(agg) = self.store().run_load(&run.tenant, before).await? else { return Ok(()) };
            run = agg.run;
        }
        Ok(())
    }

    /// What a key that exists comes to.
    async fn stands(&self, checked: &Checked<'_>, original: RunId, run: &Run, actor: &Actor) -> Result<Corrected> {
        let view = Box::new(self.run(&run.tenant, run.id).await?);
        if run.origin.corrects != Some(original) {
            return Err(EngineError::CorrectionKey { detail: STANDS_ALREADY, run: Some(view) });
        }
        let came = hash_for(run, checked.flow, checked.hash, Some(&checked.json))?;
        if came == run.payload_hash {
            return Ok(Corrected::Repeated { run: view });
        }
        if let Some(noted) = lease::conflict(run, &came, actor, self.now()) {
            self.commit(noted).await?;
        }
        Ok(Corrected::Conflict { run: view, stored: run.payload_hash.to_string(), came: came.to_string() })
    }

    /// The entry in the original's chain, once for each correction: one that was cut off before it is made up for when
    /// the caller asks again.
    async fn note_corrected(
        &self,
        tenant: &Tenant,
        actor: &Actor,
        original: RunId,
        by: &Run,
        reason: &str,
    ) -> Result<()> {
        if self.is_noted(tenant, original, EntryKind::Corrected, "by", &by.id).await? {
            return Ok(());
        }
        let noted = self.change(tenant, original, |agg, now| {
            let noted = correct::corrected(agg, by.id, &by.key, actor, reason, now);
            Ok(Step::Write(Box::new(noted), ()))
        });
        noted.await.map(drop)
    }
}

/// From a run that has not ended there are other ways.
fn refused(agg: &Aggregate, why: &Refused) -> EngineError {
    if *why == Refused::ReasonRequired {
        return EngineError::ReasonRequired;
    }
    let next = match agg.run.state {
        RunState::Quarantined { .. } => "release it after the fix: POST /v1/runs/{id}/release",
        RunState::AwaitingHuman { .. } => "decide its approval, or settle its effect on the review desk",
        RunState::Approved => "wait until its effects have ended, or settle them on the review desk",
        _ => "it has not ended: a worker goes on with it under its own key, and POST /v1/replays recovers it",
    };
    let run = Box::new(view::run_view(agg, None, &[]));
    EngineError::WrongState { state: agg.run.state.as_str().to_owned(), next: Some(next), run }
}

fn new_run(
    tenant: &Tenant,
    actor: &Actor,
    checked: &Checked<'_>,
    request: &CorrectRequest,
    origin: Origin,
    now: Timestamp,
) -> NewRun {
    let flow = &checked.flow.flow;
    let mut run = Run::queued(checked.id, tenant.clone(), flow, &checked.key, checked.hash, origin, now);
    let entry = seal(
        &mut run.head,
        run.id,
        now,
        EntryKind::Accepted,
        actor,
        &facts! {
            "flow" => flow.name.as_str(), "flow_revision" => flow.revision, "key" => checked.key.as_str(),
            "payload_hash" => checked.hash.to_string(), "trigger" => run.origin.trigger,
            "corrects" => run.origin.corrects,
            "reason" => run.origin.correction.as_ref().map(|known| known.reason.as_str()),
        },
    );
    let content = ContentWrite { payload: Some(request.payload.clone()), ..ContentWrite::default() };
    NewRun { run, lease_ms: None, entry, content }
}

fn correction_view(run: Run) -> CorrectionView {
    let known = run.origin.correction.as_ref();
    CorrectionView {
        run_id: run.id,
        flow: run.flow.as_str().to_owned(),
        state: run.state.as_str().to_owned(),
        by: known.map(|known| known.by.clone()).unwrap_or_default(),
        reason: known.map(|known| known.reason.clone()).unwrap_or_default(),
        created_at: run.created_at,
        key: run.key,
    }
}
