//! How long the first page of an inbox takes, with 10,000 approvals waiting and many runs behind them. Used by
//! `bench/inbox.py`: `inbox sqlite:PATH|postgres://… RUNS_BEHIND` fills an empty database and writes a line of JSON.
//!
//! Every run behind had an approval that is decided. What waits is asked of a role and of one of 100 people.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement: it reads the clock, and stops at the first fault"
)]

use std::{sync::Arc, time::Instant};

use effectgate_core::{
    actor::{Actor, Subject},
    approval::{Approval, ApprovalState, LoginRule, Terms},
    facts,
    ids::{ApprovalId, EffectType, Fence, FlowName, Owner, ProviderName, RunId, Tenant},
    journal::{self, EntryKind, Head},
    payload::PayloadHash,
    proposal::{Proposed, effects_hash},
    run::{AwaitReason, EffectCounts, Origin, Run, RunState},
    time::Timestamp,
    transition::{ContentWrite, Draft},
};
use effectgate_store::{
    Commit, InboxFilter, InboxOrder, JournalFilter, NewRun, PgStore, RunFilter, SqliteStore, Store,
};

const WAITING: u64 = 10_000;
/// Writes under way at a time: enough that they share commits.
const AT_ONCE: u64 = 256;
const REPEATS: usize = 300;
/// As the page asks for.
const PAGE: u32 = 50;
const DAY_MS: i64 = 86_400_000;

fn tenant() -> Tenant {
    Tenant::new("default")
}

fn new_run(key: &str, now: Timestamp) -> NewRun {
    let (tenant, flow) = (tenant(), FlowName::new("reply"));
    let id = RunId::derive(&tenant, &flow, key);
    let mut head = Head::EMPTY;
    let actor = Actor::Worker(Owner::new("bench"));
    let entry = journal::seal(&mut head, id, now, EntryKind::Reserved, &actor, &facts! { "key" => key });
    let run = Run {
        id,
        tenant,
        flow,
        flow_revision: "sha256:1".into(),
        key: key.into(),
        state: RunState::Processing,
        version: 1,
        payload_hash: PayloadHash::from_bytes([7; 32]),
        identity_rule: "v1:whole".into(),
        owner: Some(Owner::new("bench")),
        fence: Fence(1),
        attempts: 1,
        attempts_max: 5,
        repairs_used: 0,
        takeovers: 0,
        effects: EffectCounts::default(),
        refusals: 0,
        head,
        origin: Origin::default(),
        created_at: now,
        updated_at: now,
        expires_at: None,
        content_expires_at: None,
    };
    let content = ContentWrite { payload: Some("{\"text\":\"hello\"}".into()), ..ContentWrite::default() };
    NewRun { run, lease_ms: Some(60_000), entry, content }
}

fn approval(run: RunId, n: u64, now: Timestamp) -> Approval {
    let proposed = vec![Proposed {
        effect_type: EffectType::new("mail"),
        target: "a@example.test".into(),
        provider: ProviderName::new("smtp"),
        payload: format!("{{\"subject\":\"About your order\",\"text\":\"{}\"}}", "word ".repeat(100)),
        window_ms: 0,
        impact: ["high", "normal", "low"][(n % 3) as usize].into(),
        gate: "approve".into(),
    }];
    let terms = Terms {
        audience: vec!["role:support-lead".into(), format!("p{}@example.test", n % 100)],
        quorum: 1,
        login: LoginRule::Required,
        separation: true,
        qualifications: vec![],
        why: vec!["mail: approve".into()],
        requesters: vec![Subject::user("ada")],
        remind_at: None,
        escalate_at: None,
        escalate_to: vec![],
        caller_delivers: false,
        undeliverable: false,
        withdrawn: None,
        resumes: vec![],
    };
    Approval {
        id: ApprovalId { run, n: 1 },
        state: ApprovalState::Open,
        effects_hash: effects_hash(&proposed),
        proposed,
        terms,
        decisions: vec![],
        edits: vec![],
        created_at: now.plus_ms(n as i64),
        expires_at: now.plus_ms(DAY_MS + n as i64 * 7 % 5_000),
        next_step_at: None,
        decided_at: None,
    }
}

/// A run with its approval: open and waiting, or decided and over.
async fn put(store: Arc<dyn Store>, n: u64, waits: bool, now: Timestamp) {
    let new = new_run(&format!("{}-{n}", if waits { "waiting" } else { "behind" }), now);
    let run = new.run.clone();
    store.run_reserve(new).await.unwrap();
    let mut asked = approval(run.id, n, now);
    let mut draft = Draft::on(&run, now);
    draft.entry(EntryKind::ApprovalRequested, &Actor::System("policy"), facts! { "approval" => asked.id });
    if waits {
        draft.state(RunState::AwaitingHuman { reason: AwaitReason::Approval });
    } else {
        (asked.state, asked.decided_at) = (ApprovalState::Approved, Some(now));
        draft.state(RunState::Completed);
        draft.run_mut().expires_at = Some(now.plus_ms(90 * DAY_MS));
    }
    draft.transition_mut().approvals.push(asked);
    assert!(matches!(store.commit(draft.changed()).await.unwrap(), Commit::Committed { .. }));
}

async fn fill(store: &Arc<dyn Store>, count: u64, waits: bool, now: Timestamp) {
    let mut n = 0;
    while n < count {
        let upto = count.min(n + AT_ONCE);
        let writes: Vec<_> = (n..upto).map(|n| tokio::spawn(put(Arc::clone(store), n, waits, now))).collect();
        for write in writes {
            write.await.unwrap();
        }
        n = upto;
    }
}

/// Milliseconds: median, 95th of a hundred, worst.
async fn timed<T>(mut ask: impl AsyncFnMut() -> T) -> serde_json::Value {
    ask().await;
    let mut took = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let began = Instant::now();
        ask().await;
        took.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    took.sort_by(f64::total_cmp);
    let at = |part: usize| (took[(REPEATS - 1) * part / 100] * 1_000.0).round() / 1_000.0;
    serde_json::json!({ "p50_ms": at(50), "p95_ms": at(95), "max_ms": at(100) })
}

async fn measure(store: &Arc<dyn Store>) -> serde_json::Value {
    let person = || Some(vec!["role:support-lead".into(), "role:approver".into(), "mail:p7@example.test".into()]);
    let one = || Some(vec!["mail:p7@example.test".into()]);
    let page = async |members: Option<Vec<String>>, order, cursor| {
        let filter = InboxFilter { members, order, cursor, limit: PAGE };
        store.inbox_find(&tenant(), &filter).await.unwrap()
    };
    let mut deep = None;
    for _ in 0..100 {
        deep = page(person(), InboxOrder::Risk, deep).await.next;
    }
    assert!(deep.is_some(), "the hundredth page has a next one");
    let by_key = RunFilter { key: Some("behind-77".into()), limit: PAGE, ..RunFilter::default() };
    let rare = JournalFilter { kind: Some("switch_turned".into()), limit: PAGE, ..JournalFilter::default() };
    serde_json::json!({
        "first page by risk": timed(async || page(person(), InboxOrder::Risk, None).await).await,
        "first page by age": timed(async || page(person(), InboxOrder::Age, None).await).await,
        "first page by due": timed(async || page(person(), InboxOrder::Due, None).await).await,
        "first page of one address": timed(async || page(one(), InboxOrder::Risk, None).await).await,
        "first page of everybody": timed(async || page(None, InboxOrder::Risk, None).await).await,
        "page 101 by risk": timed(async || page(person(), InboxOrder::Risk, deep.clone()).await).await,
        "count": timed(async || store.inbox_count(&tenant(), person().as_deref()).await.unwrap()).await,
        "run by key alone": timed(async || store.run_find(&tenant(), &by_key).await.unwrap()).await,
        "journal, nothing found": timed(async || store.journal_search(&tenant(), &rare).await.unwrap()).await,
    })
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(behind)) = (args.next(), args.next().and_then(|n| n.parse().ok())) else {
        eprintln!("usage: inbox sqlite:PATH|postgres://… RUNS_BEHIND");
        std::process::exit(2);
    };
    let store: Arc<dyn Store> = match url.strip_prefix("sqlite:") {
        Some(path) => Arc::new(SqliteStore::open(path).unwrap()),
        None => Arc::new(PgStore::connect(&url).await.unwrap()),
    };
    let now = store.health().await.unwrap().clock;
    fill(&store, behind, false, now).await;
    fill(&store, WAITING, true, now).await;
    let figures = measure(&store).await;
    println!("{}", serde_json::json!({ "waiting": WAITING, "behind": behind, "figures": figures }));
    store.close().await;
}
