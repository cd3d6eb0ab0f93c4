//! Dispatch: claim what is due, send it, settle it. Journey (a) ends here. The attempt is on record before the first
//! byte; what the connector saw is classified by core; the settlement is compare-and-set.
//!
//! Every provider has its own lane, so one that is slow or broken holds up nobody else.

use effectgate_core::{
    budget::{self, Plan, Wait},
    effect::{Effect, EffectState},
    ids::ProviderName,
    outcome::{Phase, Report},
    retry::{self, Class, Classified},
    run::Run,
    sending::{self, Charging, Due},
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::{Commit, DueEffect};
use futures_util::future::join_all;

use crate::{
    budget::Planned,
    engine::Engine,
    error::Result,
    outbound::Kept,
    panics::caught,
    policy::ProviderPolicy,
    probe::{self, Guard},
    random,
    switch::Gate,
    traffic::Permit,
};

/// What one tick of the dispatcher saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DispatchReport {
    pub seen: usize,
    pub started: usize,
    /// Turned out not to be sendable: bytes changed, key window over.
    pub diverted: usize,
    /// Wait for room in a budget from now on.
    pub held: usize,
    /// Somebody else was faster, or a switch is off.
    pub lost: usize,
    /// True if there may be more that is due right now.
    pub more: bool,
}

/// An effect that was claimed: what was committed, and the right to send.
struct Claimed {
    run: Run,
    effect: Effect,
    started_at: Timestamp,
    permit: Permit,
}

/// What one attempt came to.
struct Seen {
    report: Report,
    found: Classified,
    /// For the caller at the outbound door.
    kept: Option<Kept>,
}

impl Engine {
    /// Claims what is due at every provider and starts the attempts. They go on in the background; see
    /// [`Engine::dispatch_idle`].
    ///
    /// # Errors
    /// The store. What was claimed before goes on.
    pub async fn dispatch_tick(&self) -> Result<DispatchReport> {
        let mut report = DispatchReport::default();
        let stopped = self.switches_in_force().await;
        if stopped.iter().any(|s| !s.enabled && s.scope == effectgate_core::switch::Scope::All) {
            return Ok(report);
        }
        for (name, provider) in &self.policy().providers {
            self.dispatch_provider(name, provider, &mut report).await?;
        }
        if self.inner().budgets.take_freed() {
            let looked = self.dispatch_waiting(&mut report).await;
            looked.inspect_err(|_| self.inner().budgets.free())?;
        }
        Ok(report)
    }

    /// Waits until no attempt is under way.
    pub async fn dispatch_idle(&self) {
        self.inner().traffic.idle().await;
    }

    /// Attempts under way now.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.inner().traffic.under_way()
    }

    /// Providers whose circuit is open, with the moment of the next try.
    #[must_use]
    pub fn open_circuits(&self) -> Vec<(ProviderName, Timestamp)> {
        self.inner().traffic.open_circuits(self.now())
    }

    async fn dispatch_provider(
        &self,
        name: &ProviderName,
        provider: &ProviderPolicy,
        report: &mut DispatchReport,
    ) -> Result<()> {
        let now = self.now();
        let room = self.inner().traffic.room(name, now).min(self.policy().dispatcher.batch as usize);
        if room == 0 {
            return Ok(());
        }
        let due = self.store().effect_due(name, u32::try_from(room).unwrap_or(u32::MAX)).await?;
        report.seen += due.len();
        report.more |= due.len() == room;
        self.claim_all(name, provider, one_per_run(due), now, report).await
    }

    /// What waits for a budget and may find room before its moment: a charge was given back, or the config is another.
    async fn dispatch_waiting(&self, report: &mut DispatchReport) -> Result<()> {
        let now = self.now();
        for (name, provider) in &self.policy().providers {
            let room = self.inner().traffic.room(name, now).min(self.policy().dispatcher.batch as usize);
            let waiting = self.store().effect_waiting(name, u32::try_from(room.max(1)).unwrap_or(u32::MAX)).await?;
            if waiting.is_empty() {
                continue;
            }
            let (is_full, before) = (waiting.len() >= room, report.started);
            if room > 0 {
                self.claim_all(name, provider, one_per_run(waiting), now, report).await?;
            }
            if is_full && (room == 0 || report.started > before) {
                self.inner().budgets.free();
                report.more |= room > 0;
            }
        }
        Ok(())
    }

    async fn claim_all(
        &self,
        name: &ProviderName,
        provider: &ProviderPolicy,
        due: Vec<DueEffect>,
        now: Timestamp,
        report: &mut DispatchReport,
    ) -> Result<()> {
        let plans = self.plan_batch(&due, now).await?;
        let claims = due.into_iter().zip(plans).map(|(due, plan)| self.claim_effect(name, provider, due, plan, now));
        for outcome in join_all(claims).await {
            match outcome? {
                Outcome::Started => report.started += 1,
                Outcome::Diverted => report.diverted += 1,
                Outcome::Held => report.held += 1,
                Outcome::Lost => report.lost += 1,
            }
        }
        Ok(())
    }

    /// Claims an effect, or lets it wait for a budget. The counts may have moved since they were read: then once more.
    async fn claim_effect(
        &self,
        name: &ProviderName,
        provider: &ProviderPolicy,
        due: DueEffect,
        mut planned: Option<Planned>,
        now: Timestamp,
    ) -> Result<Outcome> {
        for _ in 0..PLANS_MAX {
            let (wants, charging) = match planned.take() {
                None => (Vec::new(), Charging::default()),
                Some(Planned { wants, plan: Plan::Now { charges, charged } }) => {
                    let words = wants.iter().map(|want| want.words.clone()).collect();
                    (wants, Charging { charges, charged, words })
                }
                // It has its moment already, and no better one was found.
                Some(_) if budget::is_waiting(&due.effect, now) => return Ok(Outcome::Lost),
                Some(Planned { wants, plan }) => {
                    let Some(wait) = Wait::of(plan) else { return Ok(Outcome::Lost) };
                    match self.hold_back(&due, wait, now).await? {
                        Commit::Committed { .. } => return Ok(Outcome::Held),
                        Commit::Lost => return Ok(Outcome::Lost),
                        Commit::OverBudget { .. } => planned = Some(self.plan_again(wants, &due.effect, now).await?),
                    }
                    continue;
                }
            };
            match self.start_attempt(name, provider, &due, &charging, now).await? {
                Some(outcome) => return Ok(outcome),
                None => planned = Some(self.plan_again(wants, &due.effect, now).await?),
            }
        }
        Ok(Outcome::Lost)
    }

    /// `None` if a budget had no room after all.
    async fn start_attempt(
        &self,
        name: &ProviderName,
        provider: &ProviderPolicy,
        due: &DueEffect,
        charging: &Charging,
        now: Timestamp,
    ) -> Result<Option<Outcome>> {
        match sending::claim_within(&due.run, &due.effect, provider.rules(&due.effect.effect_type), charging, now) {
            Due::Leave => Ok(Some(Outcome::Lost)),
            Due::Divert(transition) => {
                self.commit(transition).await?;
                Ok(Some(Outcome::Diverted))
            }
            Due::Send(mut transition) => {
                let Some(permit) = self.inner().traffic.take(name) else { return Ok(Some(Outcome::Lost)) };
                let claimed = claimed(&transition, permit, now);
                if probe::is_broken(Guard::Intent) {
                    transition.effects.clear();
                    transition.attempts.clear();
                }
                // Not through `commit`: nobody needs to be woken for what this worker does itself.
                match self.store().commit(transition).await {
                    Ok(Commit::Committed { .. }) => {}
                    other => {
                        self.inner().traffic.give_back(name);
                        let is_over = matches!(other, Ok(Commit::OverBudget { .. }));
                        return other.map(|_| (!is_over).then_some(Outcome::Lost)).map_err(Into::into);
                    }
                }
                probe::at("dispatch.after_attempt").await;
                let engine = self.clone();
                tokio::spawn(async move { engine.attempt(claimed).await });
                Ok(Some(Outcome::Started))
            }
        }
    }

    /// One attempt from the first byte to the settlement.
    async fn attempt(&self, claimed: Claimed) {
        let Claimed { run, effect, started_at, permit } = claimed;
        let Some(provider) = self.policy().provider(&effect.provider) else { return };
        let applies = sending::applies(&run, &effect);
        let gate = Gate::new(self.clone(), applies, started_at, provider.rules(&effect.effect_type).attempt_ms_max);
        let mut seen = match caught(self.perform(provider, &effect, &gate)).await {
            Ok(seen) => seen,
            Err(words) => broken(&words, gate.was_opened()),
        };
        if self.repeats_itself(&seen.report, &seen.found, &effect, provider).await {
            seen.found.mark_repeat();
        }
        self.count(&effect, &seen.found, self.now(), started_at);
        probe::at("dispatch.before_settle").await;
        if let Err(error) = self.settle(run, effect, provider, started_at, &seen).await {
            tracing::error!(%error, "an attempt's end could not be written; the sweeper will find it as unknown");
        }
        drop(permit);
        // A place is free again, and a fast retry may be due.
        self.nudges().dispatcher.notify_one();
    }

    /// Lets the connector write, and says what its report means.
    async fn perform(&self, provider: &ProviderPolicy, effect: &Effect, gate: &Gate) -> Seen {
        let (report, kept) = provider.connector.attempt_kept(effect, gate).await;
        probe::at("dispatch.after_answer").await;
        let success = provider.connector.success(&effect.effect_type);
        let rules = provider.rules(&effect.effect_type);
        let found = provider.connector.means(effect, &report);
        let mut found = found.unwrap_or_else(|| retry::classify(&report, rules, &success, self.now()));
        match found.class {
            Class::Refused if probe::is_broken(Guard::ClassTable) => found.class = Class::Applied,
            Class::Unknown if probe::is_broken(Guard::UnknownIsRetried) => found.class = Class::NotSent,
            Class::Applied if probe::is_broken(Guard::JournalNames) => found.external_id = None,
            Class::Applied if found.external_id.is_none() => {
                found.external_id = kept.as_ref().and_then(|kept| provider.out_id(kept));
            }
            _ => {}
        }
        Seen { report, found, kept }
    }

    /// True where the provider keeps errors without marking them, and gave this one under this key before. A database
    /// that does not answer leaves it at "unknown": the next attempt asks again.
    async fn repeats_itself(
        &self,
        report: &Report,
        found: &Classified,
        effect: &Effect,
        provider: &ProviderPolicy,
    ) -> bool {
        if !retry::wants_earlier(found, effect, provider.rules(&effect.effect_type)) {
            return false;
        }
        let attempts = self.store().attempt_list(effect.id.run).await.unwrap_or_default();
        let earlier = attempts.iter().filter(|a| a.effect == effect.id && a.fence < effect.fence);
        retry::is_same_error(report, earlier.filter_map(|a| a.end.as_ref()))
    }

    async fn settle(
        &self,
        mut run: Run,
        mut effect: Effect,
        provider: &ProviderPolicy,
        started_at: Timestamp,
        seen: &Seen,
    ) -> Result<()> {
        let Seen { report, found, kept } = seen;
        let fence = effect.fence;
        for _ in 0..SETTLE_TRIES_MAX {
            let now = self.now();
            let mut end = sending::settle(
                &run,
                &effect,
                provider.rules(&effect.effect_type),
                started_at,
                report,
                found,
                now,
                random::unit(),
            );
            keep(&mut end, kept.as_ref());
            if self.commit_settlement(end).await? != Commit::Lost {
                return Ok(());
            }
            // The run moved on meanwhile (a sibling effect, a note), or the lease is over.
            let Some(agg) = self.store().run_load(&run.tenant, run.id).await? else { return Ok(()) };
            let Some(now_there) = agg.effects.into_iter().find(|e| e.id == effect.id) else { return Ok(()) };
            (run, effect) = (agg.run, now_there);
            if effect.fence != fence || effect.state != EffectState::Sending {
                break;
            }
        }
        tracing::warn!(effect = %effect.id, class = found.class.as_str(), "a report came after its attempt was given up");
        if let Some(noted) = sending::late_report(&run, &effect, found, self.now()) {
            self.commit(noted).await?;
        }
        Ok(())
    }

    /// A settlement that meets a database that is away waits for it, as long as the lease may live: the outcome is
    /// known here and nowhere else.
    async fn commit_settlement(&self, transition: Transition) -> Result<Commit> {
        let mut wait = SETTLE_WAIT_FIRST;
        for _ in 0..SETTLE_WAITS_MAX {
            match self.commit(transition.clone()).await {
                Err(crate::error::EngineError::Store(error)) if error.is_passing() => tokio::time::sleep(wait).await,
                done => return done,
            }
            wait = (wait * 2).min(SETTLE_WAIT_MAX);
        }
        self.commit(transition).await
    }

    fn count(&self, effect: &Effect, found: &Classified, now: Timestamp, started_at: Timestamp) {
        let provider = effect.provider.as_str().to_owned();
        if self.inner().traffic.count(&effect.provider, found.class, now) {
            tracing::warn!(%provider, class = found.class.as_str(), "circuit opened");
        }
        let labels = [("provider", provider), ("class", found.class.as_str().to_owned())];
        metrics::counter!("effectgate_attempts_total", &labels).increment(1);
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of one attempt")]
        metrics::histogram!("effectgate_attempt_seconds", &labels).record(now.ms_since(started_at) as f64 / 1_000.0);
    }
}

/// Plans for one effect in one tick: others take room at the same moment. It is due again in the next tick.
const PLANS_MAX: usize = 4;
/// A run is changed by its siblings' settlements, a person's look, a note: a few in a row at most.
const SETTLE_TRIES_MAX: usize = 16;
/// Twenty waits of up to 2 s: longer than the margin of the sending lease (30 s), after which it is the sweeper's.
const SETTLE_WAITS_MAX: usize = 20;
const SETTLE_WAIT_FIRST: std::time::Duration = std::time::Duration::from_millis(50);
const SETTLE_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(2);

/// What is known of an attempt whose connector panicked: nothing left before the gate was opened, and after that
/// nobody can say. It is settled at once like any other attempt; a payload that breaks a connector holds up nobody.
fn broken(words: &str, was_opened: bool) -> Seen {
    let (phase, class) = if was_opened { (Phase::Request, Class::Unknown) } else { (Phase::Resolve, Class::NotSent) };
    let detail = format!("the connector broke down: {words}");
    let report = Report { phase, bytes_sent: 0, answer: None, error: Some(detail.clone()), handle: None };
    let found = Classified { class, external_id: None, retry_after_ms: None, detail: Some(detail), repeats: false };
    Seen { report, found, kept: None }
}

/// The answer that ends an effect is what its caller gets, then and ever after; one that leaves it open is no answer.
fn keep(end: &mut Transition, kept: Option<&Kept>) {
    let is_over = end.effects.iter().any(|write| write.effect.state.is_final());
    if let Some(kept) = kept.filter(|_| is_over) {
        end.content.result = Some(kept.to_text());
    }
}

enum Outcome {
    Started,
    Diverted,
    Held,
    Lost,
}

/// Two effects of one run would lose against each other; the second is due again in the next tick.
fn one_per_run(due: Vec<DueEffect>) -> Vec<DueEffect> {
    let mut seen = std::collections::BTreeSet::new();
    due.into_iter().filter(|d| seen.insert(d.run.id)).collect()
}

fn claimed(transition: &Transition, permit: Permit, started_at: Timestamp) -> Claimed {
    let effect = transition.effects.first().expect("a claim writes its effect").effect.clone();
    Claimed { run: transition.run.clone(), effect, started_at, permit }
}
