//! Reserve: the one question every delivery of an event asks first. Answers exactly one of granted, busy, replay,
//! conflict; what is refused is an error. Journey (a) begins here.

use effectgate_core::{
    actor::Actor,
    facts,
    ids::{FlowName, Owner, RunId},
    journal::{EntryKind, seal},
    json::{self, Json},
    key::{Key, KeyParts},
    lease::{self, Claim, Standing},
    payload::{IdentityRule, PayloadHash, differing_members, hash_payload},
    run::{Aggregate, Lease, Origin, Run, RunState},
    transition::ContentWrite,
};
use effectgate_store::{Commit, NewRun, Reserved as Stored};

use crate::{
    call,
    engine::{Caller, Engine},
    error::{EngineError, Result},
    hot::Ticket,
    policy::FlowPolicy,
    probe::{self, Guard},
    pulse::{Topic, Touched},
    view::{self, FindingView, LeaseView, RunView},
};

/// A reservation as it was asked for.
#[derive(Debug, Clone)]
pub struct Request {
    pub flow: FlowName,
    pub key: KeyGiven,
    pub payload: PayloadGiven,
    pub owner: Option<String>,
    pub lease_ms: Option<i64>,
    pub origin: Origin,
}

#[derive(Debug, Clone)]
pub enum KeyGiven {
    Whole(String),
    Parts(KeyParts),
}

#[derive(Debug, Clone)]
pub enum PayloadGiven {
    /// The JSON text as it came in; stored, hashed under the flow's identity rule.
    Text(String),
    /// Only the hash; nothing of the payload is stored.
    Hash(PayloadHash),
}

/// The answer.
#[derive(Debug, Clone)]
pub enum Reserved {
    Granted { repeated: bool, run: Box<RunView>, lease: LeaseView },
    Busy { run: Box<RunView>, retry_after_ms: i64 },
    Replay { run: Box<RunView> },
    Conflict { run: Box<RunView>, stored: String, came: String, differs: Vec<String> },
}

/// A request after every check that needs no database.
struct Checked<'a> {
    flow: &'a FlowPolicy,
    key: Key,
    id: RunId,
    owner: Owner,
    lease_ms: i64,
    hash: PayloadHash,
    json: Option<Json>,
}

/// As in `change`: a run that keeps moving under sixteen looks is a fault.
const TRIES_MAX: usize = 16;

impl Engine {
    /// Reserves the key of one business event for one worker.
    ///
    /// Guarantees: at most one live lease per key; durable before it is answered; the same owner asking again gets the
    /// same grant.
    ///
    /// # Errors
    /// Unknown flow, bad key, bad lease, bad or invalid payload, the store.
    pub async fn reserve(&self, caller: &Caller, request: Request) -> Result<Reserved> {
        // What tells waiting executions is nobody's to reserve but ours.
        if self.policy().is_own(&request.flow) {
            return Err(EngineError::UnknownFlow);
        }
        self.reserve_own(caller, request).await
    }

    /// [`Engine::reserve`], in the flows that are our own too.
    pub(crate) async fn reserve_own(&self, caller: &Caller, request: Request) -> Result<Reserved> {
        let answer = self.answer(caller, &request).await?;
        self.inner().tally.answered(&caller.tenant, &request.flow, &answer, self.now());
        Ok(answer)
    }

    async fn answer(&self, caller: &Caller, request: &Request) -> Result<Reserved> {
        let checked = self.check(caller, request)?;
        if let Some(busy) = self.busy_for_certain(&checked)?
            && !probe::is_broken(Guard::Lease)
        {
            return Ok(busy);
        }
        let ticket = self.inner().hot.ticket(&checked.id, self.now());
        let new = self.new_run(caller, request, &checked);
        let mut run = new.run.clone();
        if probe::is_broken(Guard::DurableKey) {
            let end = self.now().plus_ms(checked.lease_ms);
            let lease = Lease { since: self.now(), expires_at: end, is_live: true, left_ms: checked.lease_ms };
            return Ok(granted(false, view::bare_run(&run), &run, &lease));
        }
        probe::at("reserve.before_commit").await;
        let stored = self.store().run_reserve(new).await?;
        if matches!(stored, Stored::Created { .. }) {
            self.tell_pages(&Touched::of(&caller.tenant, Topic::Runs));
        }
        let (found, lease) = match stored {
            Stored::Created { lease: Some(lease) } => {
                probe::at("reserve.after_commit").await;
                run.head.seq = 1;
                return Ok(granted(false, view::bare_run(&run), &run, &lease));
            }
            Stored::Created { lease: None } => return Ok(Reserved::Replay { run: Box::new(view::bare_run(&run)) }),
            Stored::Exists { run, lease } => (*run, lease),
        };
        self.remember(ticket, &found, lease);
        self.existing(caller, request, &checked, found, lease).await
    }

    /// The answer to a key that this process has just seen busy and that nobody can have changed since.
    fn busy_for_certain(&self, checked: &Checked<'_>) -> Result<Option<Reserved>> {
        let seen = self.inner().hot.look(&checked.id, self.now(), |run, lease| {
            let hash = match hash_for(run, checked.flow, checked.hash, checked.json.as_ref()) {
                Ok(hash) => hash,
                Err(error) => return Some(Err(error)),
            };
            match lease::standing(run, Some(&lease), &hash, &checked.owner) {
                Standing::Busy { retry_after_ms } => {
                    Some(Ok(Reserved::Busy { run: Box::new(view::bare_run(run)), retry_after_ms }))
                }
                _ => None,
            }
        });
        seen.transpose()
    }

    /// Keeps what was read of a run that somebody works on. One with effects has more to show than its row.
    fn remember(&self, ticket: Ticket, run: &Run, lease: Option<Lease>) {
        if let Some(lease) = lease.filter(|lease| lease.is_live && run.effects.total == 0) {
            self.inner().hot.keep(ticket, run, lease);
        }
    }

    /// A key that exists: decide, and where it is free claim it, as often as somebody else is faster.
    async fn existing(
        &self,
        caller: &Caller,
        request: &Request,
        checked: &Checked<'_>,
        mut run: Run,
        mut lease: Option<Lease>,
    ) -> Result<Reserved> {
        for _ in 0..TRIES_MAX {
            let hash = hash_for(&run, checked.flow, checked.hash, checked.json.as_ref())?;
            match lease::standing(&run, lease.as_ref(), &hash, &checked.owner) {
                Standing::Conflict => return self.conflicting(caller, checked, &run, &hash).await,
                Standing::Busy { .. } if probe::is_broken(Guard::Lease) => {
                    let Some(lease) = lease else { return Err(EngineError::Contended) };
                    return Ok(granted(false, view::bare_run(&run), &run, &lease));
                }
                Standing::Busy { retry_after_ms } => {
                    let run = Box::new(self.run_of(&run).await?);
                    return Ok(Reserved::Busy { run, retry_after_ms });
                }
                Standing::Replay => return Ok(Reserved::Replay { run: Box::new(self.run_of(&run).await?) }),
                Standing::Repeated => {
                    let Some(lease) = lease else { return Err(EngineError::Contended) };
                    let view = self.run_of(&run).await?;
                    return Ok(granted(true, view, &run, &lease));
                }
                Standing::Claimable => {
                    if let Some(granted) = self.claim_now(&run, &checked.owner, checked.lease_ms).await? {
                        return Ok(granted);
                    }
                }
            }
            // Purged between two looks: the key is new again.
            let Some(agg) = self.store().run_load(&caller.tenant, checked.id).await? else {
                return Box::pin(self.answer(caller, request)).await;
            };
            (run, lease) = (agg.run, agg.lease);
        }
        Err(EngineError::Contended)
    }

    /// Tries to claim a free run; `None` if it has to be looked at again.
    pub(crate) async fn claim_now(&self, run: &Run, owner: &Owner, lease_ms: i64) -> Result<Option<Reserved>> {
        let Some(agg) = self.store().run_load(&run.tenant, run.id).await? else { return Ok(None) };
        match lease::claim(&agg, owner, lease_ms, self.now(), self.policy()) {
            Claim::NotFree => Ok(None),
            Claim::Ended(transition) => {
                self.commit(transition).await?;
                Ok(None)
            }
            Claim::Granted(transition) => {
                let after = agg.after(&transition);
                match self.commit(transition).await? {
                    Commit::Committed { lease: Some(lease) } => {
                        let agg = Aggregate { lease: Some(lease), ..after };
                        Ok(Some(granted(false, self.view(&agg).await?, &agg.run, &lease)))
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    fn check<'a>(&'a self, caller: &Caller, request: &Request) -> Result<Checked<'a>> {
        let flow = self.policy().flow(&request.flow).ok_or(EngineError::UnknownFlow)?;
        let key = key_of(flow, &request.key)?;
        let owner = match &request.owner {
            Some(text) => call::owner(text)?,
            None => Owner::new(uuid::Uuid::new_v4().to_string()),
        };
        let lease_ms = flow.flow.lease.pick(request.lease_ms).map_err(EngineError::BadLease)?;
        let json = read_payload(&request.payload)?;
        let hash = match (&request.payload, &json) {
            (PayloadGiven::Hash(hash), _) => *hash,
            (PayloadGiven::Text(_), json) => hash_under(&flow.flow.identity, json.as_ref().unwrap_or(&Json::Null))?,
        };
        if let (Some(schema), Some(json)) = (&flow.payload_schema, &json) {
            refuse_invalid(schema.validate(&json.to_value()))?;
        }
        let id = RunId::derive(&caller.tenant, &request.flow, key.as_str());
        Ok(Checked { flow, key, id, owner, lease_ms, hash, json })
    }

    fn new_run(&self, caller: &Caller, request: &Request, checked: &Checked<'_>) -> NewRun {
        let now = self.now();
        let flow = &checked.flow.flow;
        let event_type = event_type(&request.key);
        let origin = Origin { api_key: Some(caller.api_key.clone()), event_type, ..request.origin.clone() };
        let mut run = Run::queued(checked.id, caller.tenant.clone(), flow, &checked.key, checked.hash, origin, now)
            .held_by(checked.owner.clone());
        let entry = seal(
            &mut run.head,
            run.id,
            now,
            EntryKind::Reserved,
            &Actor::Worker(checked.owner.clone()),
            &facts! {
                "attempt" => run.attempts, "fence" => run.fence, "flow" => flow.name.as_str(),
                "flow_revision" => flow.revision, "key" => checked.key.as_str(), "lease_ms" => checked.lease_ms,
                "payload_hash" => checked.hash.to_string(), "trigger" => run.origin.trigger,
                "execution" => run.origin.execution,
            },
        );
        let payload = match &request.payload {
            PayloadGiven::Text(text) => Some(text.clone()),
            PayloadGiven::Hash(_) => None,
        };
        NewRun { run, lease_ms: Some(checked.lease_ms), entry, content: ContentWrite { payload, ..Default::default() } }
    }

    async fn conflicting(
        &self,
        caller: &Caller,
        checked: &Checked<'_>,
        run: &Run,
        came: &PayloadHash,
    ) -> Result<Reserved> {
        self.note_conflict(run, came, &Actor::ApiKey(caller.api_key.clone())).await?;
        let differs = self.differing(caller, checked, run).await?;
        let (stored, came) = (run.payload_hash.to_string(), came.to_string());
        Ok(Reserved::Conflict { run: Box::new(self.run_of(run).await?), stored, came, differs })
    }

    /// Puts a conflict on record and tells people.
    pub(crate) async fn note_conflict(&self, run: &Run, came: &PayloadHash, actor: &Actor) -> Result<()> {
        metrics::counter!("effectgate_conflicts_total", "flow" => run.flow.as_str().to_owned()).increment(1);
        if let Some(noted) = lease::conflict(run, came, actor, self.now()) {
            // Lost to somebody who changed the run meanwhile: the flag is for people, the answer stands without it.
            self.commit(noted).await?;
        }
        Ok(())
    }

    /// The members that differ, by name; never their values.
    async fn differing(&self, caller: &Caller, checked: &Checked<'_>, run: &Run) -> Result<Vec<String>> {
        let Some(new) = &checked.json else { return Ok(Vec::new()) };
        let content = self.store().run_content(&caller.tenant, run.id).await?;
        let old = content.and_then(|c| c.payload).and_then(|text| json::parse(text.as_bytes()).ok());
        Ok(old.map(|old| differing_members(&old, new, DIFFERING_MAX)).unwrap_or_default())
    }

    /// The whole run where there is more than its row to show.
    async fn run_of(&self, run: &Run) -> Result<RunView> {
        if run.effects.total == 0 && run.state == RunState::Processing {
            return Ok(view::bare_run(run));
        }
        self.run(&run.tenant, run.id).await
    }
}

/// Names of differing members in one answer.
const DIFFERING_MAX: usize = 20;

fn granted(repeated: bool, run: RunView, row: &Run, lease: &Lease) -> Reserved {
    Reserved::Granted { repeated, run: Box::new(run), lease: view::lease_view(row, lease) }
}

/// What a bulk replay is narrowed by; only a key in parts says it.
pub(crate) fn event_type(key: &KeyGiven) -> Option<String> {
    match key {
        KeyGiven::Parts(parts) => Some(parts.event_type.trim().to_owned()),
        KeyGiven::Whole(_) => None,
    }
}

pub(crate) fn key_of(flow: &FlowPolicy, given: &KeyGiven) -> Result<Key> {
    let policy = &flow.flow.key_policy;
    match given {
        KeyGiven::Parts(parts) => Key::from_parts(parts, policy).map_err(EngineError::BadKey),
        KeyGiven::Whole(text) => Key::parse(text, policy).map_err(EngineError::BadKey),
    }
}

pub(crate) fn read_payload(given: &PayloadGiven) -> Result<Option<Json>> {
    match given {
        PayloadGiven::Hash(_) => Ok(None),
        PayloadGiven::Text(text) => match json::parse(text.as_bytes()) {
            Ok(json) => Ok(Some(json)),
            Err(error) => Err(EngineError::BadJson { pointer: format!("/payload{}", error.pointer), error }),
        },
    }
}

pub(crate) fn hash_under(rule: &IdentityRule, json: &Json) -> Result<PayloadHash> {
    hash_payload(json, rule)
        .map_err(|absent| EngineError::BadMember { pointer: "/payload".into(), detail: absent.to_string() })
}

/// The hash of what came to a run that is there, under the rule that was in force when the run was made: a later rule
/// turns no old replay into a conflict. `came` is the hash under the rule of today.
pub(crate) fn hash_for(run: &Run, flow: &FlowPolicy, came: PayloadHash, json: Option<&Json>) -> Result<PayloadHash> {
    if probe::is_broken(Guard::PayloadConflict) {
        return Ok(run.payload_hash);
    }
    if run.identity_rule == flow.flow.identity.as_text() {
        return Ok(came);
    }
    match (json, IdentityRule::parse(&run.identity_rule)) {
        (Some(json), Ok(rule)) => hash_under(&rule, json),
        _ => Ok(came),
    }
}

pub(crate) fn refuse_invalid(findings: Vec<effectgate_rules::schema::Finding>) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    let findings =
        findings.into_iter().map(|f| FindingView::new(format!("/payload{}", f.pointer), &f.keyword, f.message));
    Err(EngineError::InvalidPayload { findings: findings.collect() })
}
