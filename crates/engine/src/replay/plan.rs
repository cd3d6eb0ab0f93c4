//! Makes a plan: which runs match, what would become of each, and what it may cost. Everything here reads; the one write
//! is the plan with its entry in the house chain, and for a dry run the entry alone. Nothing wakes a worker.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_core::{
    actor::Actor,
    facts,
    ids::{ProviderName, ReplayId, Tenant},
    journal::{EntryKind, Facts},
    json,
    lease::ClassOf as _,
    operate::Refused,
    replay::{self, Found, Refusal},
    run::{Aggregate, Run, RunState},
    time::Timestamp,
};
use effectgate_store::{JournalFilter, ReplayItem, ReplayItemState, ReplayRow, ReplayStage, ReplayWrite};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{
    Cost, Counts, FilterView, KeyView, LIMIT_MAX, PlanRequest, ProviderTouched, ReplayStanding, ReplayView, Standing,
    Summary, Verdict,
};
use crate::{
    engine::Engine,
    error::{EngineError, Result},
    random,
};

/// Runs that are read at once: a plan of a thousand is made within seconds, and leaves the pool to others.
const READS_AT_ONCE: usize = 4;
/// Runs of one page of the search.
const PAGE: u32 = 200;

impl Engine {
    /// Makes a plan, or with `dry_run` only says what one would be.
    ///
    /// Guarantees: nothing is sent and no run is changed. A dry run writes one entry into the house chain and nothing
    /// else; a plan is stored together with its entry and may be executed until it expires.
    ///
    /// # Errors
    /// Unknown flow (in the config, and no run of it), a bad limit or span, no reason, the store.
    pub async fn replay_plan(&self, tenant: &Tenant, actor: &Actor, request: PlanRequest) -> Result<ReplayView> {
        let request = checked(request)?;
        let (runs, more) = self.matching(tenant, &request).await?;
        if runs.is_empty() && self.policy().flow(&request.filter.flow).is_none() {
            return Err(EngineError::UnknownFlow);
        }
        let reads = runs.into_iter().map(|run| self.planned(run));
        let planned: Vec<Option<Planned>> = stream::iter(reads).buffered(READS_AT_ONCE).try_collect().await?;
        let planned: Vec<Planned> = planned.into_iter().flatten().collect();
        let summary = self.summary(&planned, more);
        let keys: Vec<KeyView> = planned.into_iter().map(|p| p.key).collect();
        let view = view_of(&request, actor, self.now(), summary, keys);
        if request.dry_run {
            self.note_dry_run(tenant, actor, view).await
        } else {
            self.keep(tenant, actor, view).await
        }
    }

    /// The runs that match, oldest first, and whether there are more than the limit.
    async fn matching(&self, tenant: &Tenant, request: &PlanRequest) -> Result<(Vec<Run>, bool)> {
        let limit = request.limit as usize;
        let (mut runs, mut cursor): (Vec<Run>, Option<String>) = (Vec::new(), None);
        loop {
            let page = self.store().run_matching(tenant, &request.filter, cursor.as_deref(), PAGE).await?;
            runs.extend(page.items);
            cursor = page.next;
            if runs.len() > limit || cursor.is_none() {
                let more = runs.len() > limit;
                runs.truncate(limit);
                return Ok((runs, more));
            }
        }
    }

    /// What the plan says of one run; `None` if it was purged since it was found.
    async fn planned(&self, run: Run) -> Result<Option<Planned>> {
        let Some(agg) = self.store().run_load(&run.tenant, run.id).await? else { return Ok(None) };
        let refusal = self.refusal(&agg).await?;
        let providers = self.providers_of(&agg);
        let results = replay::results(&agg).into_iter().filter_map(|result| result.external_id).collect();
        let key = KeyView {
            run_id: agg.run.id,
            key: agg.run.key.clone(),
            state: agg.run.state.as_str().to_owned(),
            reason: agg.run.state.reason().map(str::to_owned),
            version: agg.run.version,
            verdict: if refusal.is_none() { Verdict::Recover } else { Verdict::Refused },
            refusal: refusal.map(|refusal| refusal.as_str().to_owned()),
            next: refusal.map(|refusal| refusal.next().to_owned()),
            results,
            providers: providers.into_iter().collect(),
            before: standing(&agg),
            outcome: None,
            why: None,
            after: None,
            now: None,
        };
        Ok(Some(Planned { key, agg }))
    }

    /// Why a run may not be recovered now. Reads its content only where the rest would let it.
    pub(super) async fn refusal(&self, agg: &Aggregate) -> Result<Option<Refusal>> {
        let flow = self.policy().flow(&agg.run.flow);
        let at_first = Found { flow_known: flow.is_some(), content_erased: false, still_invalid: false };
        if let Some(refusal) = replay::refusal(agg, at_first, self.policy()) {
            return Ok(Some(refusal));
        }
        let content = self.store().run_content(&agg.run.tenant, agg.run.id).await?;
        let payload = content.and_then(|content| content.payload);
        let found = Found {
            content_erased: payload.is_none() && self.was_erased(agg).await?,
            // A run that was accepted is its worker's; one that was held back must show that something was mended.
            still_invalid: matches!(agg.run.state, RunState::Quarantined { .. })
                && payload.is_some_and(|text| self.breaks_schema(agg, &text)),
            ..at_first
        };
        Ok(replay::refusal(agg, found, self.policy()))
    }

    /// A run without a payload may never have had one (`payload_hash`): the record knows.
    async fn was_erased(&self, agg: &Aggregate) -> Result<bool> {
        let kind = Some(EntryKind::Purged.as_str().to_owned());
        let filter = JournalFilter { run: Some(agg.run.id), kind, limit: 1, ..JournalFilter::default() };
        Ok(!self.store().journal_search(&agg.run.tenant, &filter).await?.items.is_empty())
    }

    fn breaks_schema(&self, agg: &Aggregate, payload: &str) -> bool {
        let schema = self.policy().flow(&agg.run.flow).and_then(|flow| flow.payload_schema.as_ref());
        let Some(schema) = schema else { return false };
        json::parse(payload.as_bytes()).map_or(true, |json| !schema.validate(&json.to_value()).is_empty())
    }

    fn providers_of(&self, agg: &Aggregate) -> BTreeSet<String> {
        let flow = self.policy().flow(&agg.run.flow);
        let may = flow.into_iter().flat_map(|flow| flow.flow.effects.values());
        let may = may.map(|effect| effect.provider.as_str().to_owned());
        replay::providers(agg).into_iter().chain(may).collect()
    }

    fn summary(&self, planned: &[Planned], more: bool) -> Summary {
        let recovered = || planned.iter().filter(|p| p.key.verdict == Verdict::Recover);
        let replayable = recovered().count();
        let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
        for p in recovered() {
            p.key.providers.iter().for_each(|name| _ = effects.entry(name).or_default());
            p.agg.effects.iter().for_each(|e| *effects.entry(e.provider.as_str()).or_default() += 1);
        }
        let touched = effects.into_iter().map(|(name, effects)| ProviderTouched {
            name: name.to_owned(),
            class: self.policy().class_of(&ProviderName::new(name)).map_or("unknown", |c| c.as_str()).to_owned(),
            effects,
        });
        let open = |p: &Planned| p.agg.effects.iter().filter(|e| !e.state.is_final()).count();
        Summary {
            counts: Counts {
                matching: planned.len(),
                replayable,
                refused: planned.len() - replayable,
                with_results: planned.iter().filter(|p| !replay::results(&p.agg).is_empty()).count(),
            },
            providers: touched.collect(),
            cost: Cost { attempts: replayable, effects_open: recovered().map(open).sum(), model_runs: replayable },
            more,
        }
    }

    async fn note_dry_run(&self, tenant: &Tenant, actor: &Actor, view: ReplayView) -> Result<ReplayView> {
        self.house_entry(tenant, actor, EntryKind::ReplayDryRun, &told(&view, None), |_| {}).await?;
        Ok(ReplayView { dry_run: true, state: ReplayStanding::DryRun, ..view })
    }

    async fn keep(&self, tenant: &Tenant, actor: &Actor, view: ReplayView) -> Result<ReplayView> {
        let id = ReplayId::new(random::bytes());
        let expires_at = view.made_at.plus_ms(self.policy().replay.plan_ms);
        let row = ReplayRow {
            id,
            tenant: tenant.clone(),
            filter: view.filter.clone().into(),
            limit: i32::try_from(view.limit).unwrap_or(i32::MAX),
            summary: text(&view.summary),
            made_by: view.made_by.clone(),
            reason: view.reason.clone(),
            stage: ReplayStage::Planned,
            made_at: view.made_at,
            expires_at,
            started_at: None,
            started_by: None,
            start_reason: None,
            ended_at: None,
            purge_after: view.made_at.plus_ms(self.policy().replay.kept_ms),
        };
        let items: Vec<ReplayItem> = view.keys.iter().flatten().zip(1..).map(|(key, n)| item(key, n)).collect();
        let facts = told(&view, Some((id, expires_at)));
        self.house_entry(tenant, actor, EntryKind::ReplayPlanned, &facts, |write| {
            write.replay = Some(ReplayWrite::Plan(Box::new(row.clone()), items.clone()));
        })
        .await?;
        Ok(ReplayView { id: Some(id), expires_at: Some(expires_at), ..view })
    }
}

/// One run with what the plan says of it.
struct Planned {
    key: KeyView,
    agg: Aggregate,
}

fn checked(mut request: PlanRequest) -> Result<PlanRequest> {
    let bad = |pointer: &str, detail: String| Err(EngineError::BadMember { pointer: pointer.into(), detail });
    if !(1..=LIMIT_MAX).contains(&request.limit) {
        return bad("/limit", format!("a plan holds 1 to {LIMIT_MAX} runs"));
    }
    if request.filter.since >= request.filter.until {
        return bad("/filter/until", "until must be later than since".into());
    }
    if request.filter.event_type.as_deref().is_some_and(|word| word.trim().is_empty()) {
        return bad("/filter/event_type", "an event type, or * for any".into());
    }
    request.reason =
        effectgate_core::operate::reason_given(&request.reason).map_err(|_: Refused| EngineError::ReasonRequired)?;
    Ok(request)
}

fn view_of(request: &PlanRequest, actor: &Actor, now: Timestamp, summary: Summary, keys: Vec<KeyView>) -> ReplayView {
    ReplayView {
        id: None,
        dry_run: false,
        state: ReplayStanding::Planned,
        filter: FilterView::from(&request.filter),
        limit: request.limit,
        reason: request.reason.clone(),
        made_by: actor.to_string(),
        made_at: now,
        expires_at: None,
        started_by: None,
        started_at: None,
        ended_at: None,
        total: i64::try_from(summary.counts.replayable).unwrap_or(i64::MAX),
        summary,
        done: 0,
        skipped: 0,
        keys: Some(keys),
    }
}

pub(super) fn standing(agg: &Aggregate) -> Standing {
    Standing {
        state: agg.run.state.as_str().to_owned(),
        version: agg.run.version,
        effects: replay::effects_by_state(agg),
    }
}

fn item(key: &KeyView, n: i32) -> ReplayItem {
    let state = match &key.refusal {
        Some(why) => ReplayItemState::Refused { why: why.clone() },
        None => ReplayItemState::Waiting,
    };
    ReplayItem { n, run: key.run_id, version: key.version, state, planned: text(key) }
}

/// What the record says of a plan: never a key, which may be personal data and has its own retention.
fn told(view: &ReplayView, kept: Option<(ReplayId, Timestamp)>) -> Facts {
    let counts = view.summary.counts;
    facts! {
        "replay" => kept.map(|(id, _)| id), "expires_at" => kept.map(|(_, at)| at),
        "flow" => view.filter.flow, "event_type" => view.filter.event_type, "since" => view.filter.since,
        "until" => view.filter.until, "state" => view.filter.state.as_str(), "limit" => view.limit,
        "reason" => view.reason, "matching" => counts.matching, "replayable" => counts.replayable,
        "refused" => counts.refused,
    }
}

pub(super) fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("views are made of strings and numbers")
}
