//! Rows to test with. Built with core's own types; nothing here decides what the engine would do.

use std::sync::Arc;

use effectgate_core::{
    actor::{Actor, Subject},
    approval::{Approval, ApprovalState, Edit, LoginRule, Terms, TokenGrant},
    digest::Digest,
    effect::{Attempt, Effect, EffectState, Executor, decided_hash, provider_key},
    facts,
    ids::{ApprovalId, EffectId, EffectType, Fence, FlowName, Owner, ProviderName, RunId, Tenant},
    journal::{self, EntryKind, Head},
    notice::{Alert, Notice, NoticeKind},
    payload::PayloadHash,
    proposal::{Proposed, effects_hash},
    run::{Aggregate, AwaitReason, EffectCounts, Lease, Origin, Run, RunState},
    time::Timestamp,
    transition::{ContentWrite, Draft, Transition},
};
use effectgate_store::{Commit, HouseWrite, NewRun, Reserved, Store};

/// The newest migration of both twins.
pub const SCHEMA: i64 = 6;
pub const LEASE_MS: i64 = 60_000;
pub const DAY_MS: i64 = 86_400_000;

pub fn tenant() -> Tenant {
    Tenant::new("acme")
}

pub fn flow() -> FlowName {
    FlowName::new("reply")
}

pub fn owner(n: usize) -> Owner {
    Owner::new(format!("worker-{n}"))
}

pub fn system() -> Actor {
    Actor::System("sweeper")
}

pub fn id(key: &str) -> RunId {
    RunId::derive(&tenant(), &flow(), key)
}

/// A run in processing under a lease of [`LEASE_MS`], by `worker-1` with fence 1.
pub fn reserved(key: &str, now: Timestamp) -> NewRun {
    reserved_in(&tenant(), &flow(), key, now)
}

pub fn reserved_in(tenant: &Tenant, flow: &FlowName, key: &str, now: Timestamp) -> NewRun {
    let mut new = queued_in(tenant, flow, key, now);
    new.run.state = RunState::Processing;
    new.run.owner = Some(owner(1));
    new.run.fence = Fence(1);
    new.run.attempts = 1;
    new.lease_ms = Some(LEASE_MS);
    new
}

pub fn queued(key: &str, now: Timestamp) -> NewRun {
    queued_in(&tenant(), &flow(), key, now)
}

pub fn queued_in(tenant: &Tenant, flow: &FlowName, key: &str, now: Timestamp) -> NewRun {
    let id = RunId::derive(tenant, flow, key);
    let mut head = Head::EMPTY;
    let entry = journal::seal(&mut head, id, now, EntryKind::Reserved, &system(), &facts! { "key" => key });
    let run = Run {
        id,
        tenant: tenant.clone(),
        flow: flow.clone(),
        flow_revision: "sha256:1".into(),
        key: key.into(),
        state: RunState::Queued,
        version: 1,
        payload_hash: PayloadHash::from_bytes([7; 32]),
        identity_rule: "v1:whole".into(),
        owner: None,
        fence: Fence(0),
        attempts: 0,
        attempts_max: 5,
        repairs_used: 0,
        takeovers: 0,
        effects: EffectCounts::default(),
        refusals: 0,
        head,
        origin: Origin { correlation_id: Some("c-1".into()), ..Origin::default() },
        created_at: now,
        updated_at: now,
        expires_at: None,
        content_expires_at: None,
    };
    let content = ContentWrite { payload: Some(format!("{{\"key\":\"{key}\"}}")), ..ContentWrite::default() };
    NewRun { run, lease_ms: None, entry, content }
}

/// Reserves and loads.
pub async fn start(store: &Arc<dyn Store>, new: NewRun) -> Aggregate {
    let (tenant, id) = (new.run.tenant.clone(), new.run.id);
    assert!(matches!(store.run_reserve(new).await.unwrap(), Reserved::Created { .. }));
    store.run_load(&tenant, id).await.unwrap().unwrap()
}

pub async fn load(store: &Arc<dyn Store>, run: &Run) -> Aggregate {
    store.run_load(&run.tenant, run.id).await.unwrap().unwrap()
}

/// A change that only adds an entry.
pub fn touch(run: &Run, now: Timestamp) -> Transition {
    moved(run, now, |_| {})
}

/// A change with one entry, made by `change`.
pub fn moved(run: &Run, now: Timestamp, change: impl FnOnce(&mut Draft)) -> Transition {
    let mut draft = Draft::on(run, now);
    draft.entry(EntryKind::Renewed, &system(), facts! {});
    change(&mut draft);
    draft.changed()
}

/// Commits what must succeed and loads.
pub async fn commit(store: &Arc<dyn Store>, transition: Transition) -> Aggregate {
    let run = transition.run.clone();
    let commit = store.commit(transition).await.unwrap();
    assert!(matches!(commit, Commit::Committed { .. }), "{commit:?}");
    load(store, &run).await
}

pub async fn committed_lease(store: &Arc<dyn Store>, transition: Transition) -> Option<Lease> {
    match store.commit(transition).await.unwrap() {
        Commit::Committed { lease } => lease,
        other => panic!("{other:?}"),
    }
}

/// Asserts that a transition is lost and the run stands as before.
pub async fn assert_lost(store: &Arc<dyn Store>, transition: Transition) {
    let before = load(store, &transition.run).await;
    let run = transition.run.clone();
    assert_eq!(store.commit(transition).await.unwrap(), Commit::Lost);
    let after = load(store, &run).await;
    assert_eq!((before.run, before.effects, before.approvals), (after.run, after.effects, after.approvals));
}

/// A decided mail that is due now.
pub fn effect(run: RunId, n: i32, now: Timestamp) -> Effect {
    let (effect_type, target, payload) =
        (EffectType::new("mail"), format!("p{n}@example.test"), format!("{{\"n\":{n}}}"));
    Effect {
        id: EffectId { run, n },
        provider: ProviderName::new("smtp"),
        executor: Executor::Dispatcher,
        state: EffectState::Pending { due_at: now },
        reason: None,
        decided: Some(decided_hash(&effect_type, &target, &payload)),
        provider_key: provider_key(run, &effect_type, &target),
        external_id: None,
        fence: Fence(0),
        attempts: 0,
        first_sent_at: None,
        unknown_since: None,
        charged: Vec::new(),
        created_at: now,
        updated_at: now,
        effect_type,
        target,
        payload,
    }
}

/// A run that is approved, with effects as `make` gives them, numbered from 1.
pub async fn approved(
    store: &Arc<dyn Store>,
    new: NewRun,
    effects: i32,
    now: Timestamp,
    make: impl Fn(&mut Effect),
) -> Aggregate {
    let agg = start(store, new).await;
    let transition = moved(&agg.run, now, |draft| {
        draft.state(RunState::Approved);
        for n in 1..=effects {
            let mut new = effect(agg.run.id, n, now);
            make(&mut new);
            draft.effect(None, new, None);
        }
    });
    commit(store, transition).await
}

/// Claims an effect for the dispatcher, as `core::sending::claim` does.
pub fn sending(agg: &Aggregate, n: usize, ms: i64, now: Timestamp) -> Transition {
    let before = &agg.effects[n - 1];
    let mut after = before.clone();
    after.state = EffectState::Sending;
    after.fence = before.fence.next();
    after.attempts += 1;
    after.updated_at = now;
    let attempt = Attempt { effect: after.id, fence: after.fence, started_at: now, end: None };
    moved(&agg.run, now, |draft| {
        draft.effect(Some(before), after, Some(ms));
        draft.transition_mut().attempts.push(attempt);
    })
}

pub fn with_state(agg: &Aggregate, n: usize, state: EffectState, now: Timestamp) -> Transition {
    let before = &agg.effects[n - 1];
    let mut after = before.clone();
    after.state = state;
    after.updated_at = now;
    if matches!(state, EffectState::Unknown { .. }) {
        after.unknown_since = Some(now);
    }
    moved(&agg.run, now, |draft| {
        draft.effect(Some(before), after, None);
    })
}

pub fn approval(run: RunId, n: i32, now: Timestamp) -> Approval {
    let proposed = vec![Proposed {
        effect_type: EffectType::new("refund"),
        target: "order-1".into(),
        provider: ProviderName::new("shop"),
        payload: "{}".into(),
        window_ms: 0,
        impact: "high".into(),
        gate: "approve".into(),
    }];
    let terms = Terms {
        caller_delivers: false,
        undeliverable: false,
        withdrawn: None,
        resumes: vec![],
        audience: vec!["role:lead".into()],
        quorum: 1,
        login: LoginRule::Required,
        separation: true,
        qualifications: vec![],
        why: vec!["high impact".into()],
        requesters: vec![Subject::user("ada")],
        remind_at: None,
        escalate_at: None,
        escalate_to: vec![],
    };
    Approval {
        id: ApprovalId { run, n },
        state: ApprovalState::Open,
        effects_hash: effects_hash(&proposed),
        proposed,
        terms,
        decisions: vec![],
        edits: vec![],
        created_at: now,
        expires_at: now.plus_ms(DAY_MS),
        next_step_at: None,
        decided_at: None,
    }
}

/// A change of the first effect's payload; moments in JSON have milliseconds.
pub fn edit(approval: &Approval, now: Timestamp) -> Edit {
    let mut after = approval.proposed.clone();
    after[0].payload = "{\"ö\":2}".into();
    Edit {
        by: Subject::user("bo"),
        at: Timestamp::from_micros(now.micros() / 1_000 * 1_000),
        from_hash: approval.effects_hash,
        to_hash: effects_hash(&after),
        before: approval.proposed.clone(),
        after,
    }
}

pub fn token(approval: ApprovalId, word: &str, now: Timestamp) -> TokenGrant {
    let hash = Digest::of(word.as_bytes());
    TokenGrant {
        hash,
        approval,
        audience: "lead@example.test".into(),
        expires_at: now.plus_ms(DAY_MS),
        created_at: now,
    }
}

/// A run that waits for a person, with an approval as `make` gives it.
pub async fn awaiting(
    store: &Arc<dyn Store>,
    new: NewRun,
    now: Timestamp,
    make: impl FnOnce(&mut Approval),
) -> Aggregate {
    let agg = start(store, new).await;
    let mut asked = approval(agg.run.id, 1, now);
    make(&mut asked);
    let transition = moved(&agg.run, now, |draft| {
        draft.state(RunState::AwaitingHuman { reason: AwaitReason::Approval });
        draft.transition_mut().approvals.push(asked);
    });
    commit(store, transition).await
}

/// A run that is completed, whose content and key expire after the days given.
pub async fn completed(
    store: &Arc<dyn Store>,
    new: NewRun,
    content_days: i64,
    key_days: i64,
    now: Timestamp,
) -> Aggregate {
    let agg = start(store, new).await;
    commit(store, completing(&agg.run, content_days, key_days, now)).await
}

pub fn completing(run: &Run, content_days: i64, key_days: i64, now: Timestamp) -> Transition {
    let mut transition = moved(run, now, |draft| {
        draft.state(RunState::Completed);
    });
    transition.retain(&effectgate_core::flow::Retention { content_days, key_days, journal_days: 730 });
    transition
}

pub fn notice(seq: i64, word: &str, now: Timestamp) -> Notice {
    Notice::new(seq, 0, NoticeKind::Alert { alert: Alert::Conflict, detail: "words".into() }, word, now)
}

/// A change of the house with one entry.
pub fn house(tenant: &Tenant, head: Head, now: Timestamp) -> HouseWrite {
    let mut next = head;
    let entry = journal::seal(
        &mut next,
        RunId::house(tenant),
        now,
        EntryKind::SwitchTurned,
        &system(),
        &facts! { "n" => head.seq },
    );
    HouseWrite {
        tenant: tenant.clone(),
        expected_seq: head.seq,
        head: next,
        entries: vec![entry],
        switch: None,
        api_key: None,
        user: None,
        replay: None,
        subscription: None,
        notices: vec![],
    }
}

/// A run's or house's whole chain.
pub async fn chain(store: &Arc<dyn Store>, run: RunId) -> Vec<effectgate_core::journal::SealedEntry> {
    store.journal_read(run, 0, 10_000).await.unwrap()
}

/// Takes back what the migrations from 0002 on made in both twins; the data of the first schema stays.
pub const UNDO_PEOPLE: &str = "DROP TABLE deliveries; DROP TABLE subscriptions; DROP INDEX runs_undelivered; DROP INDEX runs_delivered;
ALTER TABLE runs DROP COLUMN inbound; DROP TABLE charges; DROP INDEX effects_waiting; ALTER TABLE effects DROP COLUMN charged;
DROP TABLE replay_items; DROP TABLE replays; DROP INDEX runs_correcting;
ALTER TABLE runs DROP COLUMN corrects; DROP TABLE asked; DROP TABLE flows; DROP TABLE profiles; DROP TABLE tallies;
DROP INDEX sessions_of; ALTER TABLE approvals DROP COLUMN edits; ALTER TABLE runs DROP COLUMN journal_kept_ms; DELETE FROM schema_migrations WHERE number >= 2";

/// Approvals in every state, more than the upgrade takes at a time; gives the keys that wait for the leads, in order.
pub async fn before_people(bench: &impl super::Bench) -> Vec<String> {
    let (store, now) = (bench.store(), bench.now().await);
    for (n, key) in ["low", "high", "mail", "unreadable", "decided"].into_iter().enumerate() {
        awaiting(&store, reserved(key, now), now, |a| {
            a.created_at = now.plus_ms(n as i64);
            a.proposed[0].impact = if key == "low" { "low".into() } else { "high".into() };
            if key == "mail" {
                a.terms.audience = vec!["Bo <BO@Example.test>".into(), "role:lead".into()];
            }
            if key == "decided" {
                (a.state, a.decided_at) = (ApprovalState::Rejected, Some(now));
            }
        })
        .await;
    }
    let copies =
        "INSERT INTO approvals (run_id, n, state, effects_hash, proposed, terms, decisions, created_at, expires_at)
      SELECT r.run_id, 1, 'open', effects_hash, proposed, terms, decisions, p.created_at + 1000000, p.expires_at FROM runs r,
      approvals p WHERE p.n = 1 AND r.key LIKE 'many%' AND p.run_id = (SELECT run_id FROM runs WHERE key = 'high')";
    for n in 0..1_100 {
        store.run_reserve(queued(&format!("many{n}"), now)).await.unwrap();
    }
    bench.sql(copies).await;
    bench
        .sql("UPDATE approvals SET terms = 'x' WHERE run_id = (SELECT run_id FROM runs WHERE key = 'unreadable')")
        .await;
    vec!["high".into(), "mail".into()]
}

pub async fn after_people(store: &Arc<dyn Store>, wanted: &[String]) {
    use effectgate_store::InboxFilter;
    let find = async |member: &str, limit| {
        let members = Some(vec![effectgate_core::approval::member_key(member)]);
        let page =
            store.inbox_find(&tenant(), &InboxFilter { members, limit, ..InboxFilter::default() }).await.unwrap();
        page.items.into_iter().map(|item| item.run.key).collect::<Vec<_>>()
    };
    assert_eq!(find("role:lead", 2).await, wanted);
    assert_eq!(find("bo@example.test", 9).await, ["mail"]);
    assert_eq!(store.inbox_count(&tenant(), None).await.unwrap(), 1_000);
    let mut filter = InboxFilter { limit: 200, members: Some(vec!["role:lead".into()]), ..InboxFilter::default() };
    let mut all = Vec::new();
    loop {
        let page = store.inbox_find(&tenant(), &filter).await.unwrap();
        all.extend(page.items.into_iter().map(|item| item.run.key));
        let Some(next) = page.next else { break };
        filter.cursor = Some(next);
    }
    assert_eq!((all.len(), all.last().map(String::as_str)), (1_103, Some("low")));
    // Flows that had runs before are known.
    let by_key = effectgate_store::RunFilter { key: Some("high".into()), limit: 1, ..Default::default() };
    assert_eq!(store.run_find(&tenant(), &by_key).await.unwrap().items.len(), 1);
}
