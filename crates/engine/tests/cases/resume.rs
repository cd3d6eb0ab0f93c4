//! A workflow execution that waits for a decision goes on once: whatever n8n answers, however often the word comes, and
//! wherever a process dies in between.

use std::sync::Arc;

use effectgate_core::{
    actor::Actor,
    approval::Verdict,
    gate::Gate,
    ids::{ApprovalId, FlowName, RunId},
    notice::NoticeKind,
    operate::Asker,
    run::RunState,
    switch::Scope,
};
use effectgate_engine::{
    EngineError,
    connect::{http::HttpLimits, tls::Tls},
    connectors::RecordConnector,
    n8n::{FLOW, N8n, N8nSettings},
    propose::Proposal,
    reserve::Request,
    resume::ResumeGiven,
    tally::count::Count,
    view::{ApprovalView, ResumeState},
};
use secrecy::SecretString;

use crate::common::{
    HOUR, Held, Options, TestClock, World, asked, lead,
    n8n::{Fault, ScriptedN8n},
    olga, request,
};

/// A gate with a workflow tool beside it.
struct Pair {
    world: World,
    n8n: ScriptedN8n,
}

async fn pair(api_key: Option<&str>) -> Pair {
    let clock = TestClock::new();
    let n8n = ScriptedN8n::start(clock.clone()).await;
    let settings = N8nSettings {
        url: n8n.url.clone(),
        allow_urls: vec![],
        api_key: api_key.map(SecretString::from),
        limits: HttpLimits { connect_ms: 20_000, first_byte_ms: 20_000, total_ms: 20_000, ..HttpLimits::default() },
        concurrent: 4,
    };
    let tool = Arc::new(N8n::new(settings, Tls::new(None).unwrap()).unwrap());
    let options = Options { gate: Gate::Approve, n8n: Some(tool), ..Options::default() };
    Pair { world: World::on(options, clock), n8n }
}

const LOOKS: Option<&str> = Some("look-key");

impl Pair {
    /// A run that waits for people, and an execution that waits for them at this address.
    async fn asked(&self, key: &str, url: &str, node: Option<&str>) -> (Held, ApprovalId) {
        let held = self.world.grant(key, "w").await;
        let given = given(url, node);
        let resume = Some(self.world.engine.resume_place(&given, "/resume").unwrap());
        let request = effectgate_engine::propose::Request { resume, ..asked(&[("note", "c-1", r#"{"a":1}"#)]) };
        let call = self.world.call(&held, "proposal", url);
        let answer = self.world.engine.propose(&call, &request).await.unwrap().answer;
        let Proposal::Waiting { approval: Some(approval), .. } = answer else { panic!("{answer:?}") };
        assert_eq!(approval.resume.unwrap().state, ResumeState::Waiting);
        (held, approval.id)
    }

    /// What the workers do: the notifier, the dispatcher, the sweeper with the reconciler, at each step.
    async fn works(&self, steps: usize, step_ms: i64) {
        for _ in 0..steps {
            self.world.engine.notify_tick().await.unwrap();
            self.world.round().await;
            self.world.clock.advance_ms(step_ms);
            self.world.engine.sweep_tick().await.unwrap();
        }
    }

    async fn approve(&self, held: &Held) {
        self.world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    }

    fn resume_run(&self, id: ApprovalId) -> RunId {
        RunId::derive(&self.world.caller.tenant, &FlowName::new(FLOW), &format!("resume:{id}"))
    }

    async fn stands(&self, id: ApprovalId) -> ResumeState {
        let agg = self.world.agg(id.run).await;
        let approval = agg.approvals.iter().find(|a| a.id == id).unwrap();
        self.world.engine.approval_followed(&agg, approval).await.unwrap().resume.unwrap().state
    }

    async fn put(&self, id: ApprovalId, url: &str) -> effectgate_engine::Result<ApprovalView> {
        let worker = Actor::ApiKey("n8n".into());
        self.world.engine.resume_at(&self.world.caller.tenant, id, &worker, &given(url, None)).await
    }
}

fn given(url: &str, node: Option<&str>) -> ResumeGiven {
    ResumeGiven { url: url.into(), execution: None, node: node.map(str::to_owned) }
}

#[tokio::test]
async fn hc_45_one_waiting_run_goes_on_once_whatever_is_sent_twice() {
    let pair = pair(None).await;
    pair.n8n.waits("4711", &["n-1"]);
    let (held, id) = pair.asked("k", &pair.n8n.signed("4711", "n-1"), Some("n-1")).await;
    let poller = pair.world.another_engine();
    // The answer is lost after it went on; then once more before anything happens.
    pair.n8n.fails_with(&[Fault::LostAfter, Fault::LostBefore]);

    pair.approve(&held).await;
    let (one, two) = tokio::join!(pair.world.engine.notify_tick(), poller.notify_tick());
    one.unwrap();
    two.unwrap();
    pair.works(20, 5_000).await;

    let run = pair.world.agg(pair.resume_run(id)).await;
    assert_eq!(pair.n8n.continued("4711"), ["n-1"]);
    assert_eq!((run.effects.len(), run.effects[0].attempts), (1, 3), "one effect, and each try on record");
    assert_eq!((run.run.state.clone(), pair.stands(id).await), (RunState::Completed, ResumeState::Resumed));
    let bodies: std::collections::BTreeSet<String> = pair.n8n.calls().into_iter().collect();
    assert_eq!(bodies.len(), 1, "the same bytes each time: {bodies:?}");
    let body: serde_json::Value = serde_json::from_str(bodies.first().unwrap()).unwrap();
    assert_eq!(body, serde_json::json!({"approval_id": id, "run_id": id.run, "state": "approved"}));
    // The copy that continued does its work again and again: state, effect and result are there once.
    let again = pair.world.engine.decide(&pair.world.caller.tenant, id, &lead("anna"), &wish(&pair, id).await).await;
    assert!(again.unwrap().repeated);
    assert_eq!(pair.world.agg(id.run).await.effects.len(), 1);
    pair.world.verify_all().await;
}

async fn wish(pair: &Pair, id: ApprovalId) -> effectgate_core::approval::Wish {
    let agg = pair.world.agg(id.run).await;
    let shown = agg.approval().unwrap().effects_hash;
    effectgate_core::approval::Wish { verdict: Verdict::Approve, reason: None, shown, edited: None }
}

#[tokio::test]
async fn hc_45_two_calls_to_one_execution_are_never_under_way_at_once() {
    let pair = pair(None).await;
    pair.n8n.waits("4711", &["n-1", "n-2"]);
    let (one, _) = pair.asked("k1", &pair.n8n.plain("4711"), None).await;
    let (two, _) = pair.asked("k2", &pair.n8n.plain("4711"), None).await;
    let hold = Arc::clone(&pair.n8n.gate);
    hold.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);

    pair.approve(&one).await;
    pair.approve(&two).await;
    pair.world.engine.notify_tick().await.unwrap();
    assert_eq!(pair.world.engine.dispatch_tick().await.unwrap().started, 4, "two notes and two resumes");
    while pair.n8n.calls().is_empty() {
        tokio::task::yield_now().await;
    }
    hold.add_permits(2);
    pair.world.engine.dispatch_idle().await;

    assert_eq!((pair.n8n.continued("4711").len(), pair.n8n.most_under_way()), (2, 1));
}

#[tokio::test]
async fn a_word_that_comes_before_the_execution_waits_is_said_again_until_it_does() {
    for node in [None, Some("n-1")] {
        let pair = pair(None).await;
        pair.n8n.waits("4711", &["n-1"]);
        pair.n8n.change("4711", |execution| execution.is_running = true);
        let url = if node.is_some() { pair.n8n.signed("4711", "n-1") } else { pair.n8n.plain("4711") };
        let (held, id) = pair.asked("k", &url, node).await;

        pair.approve(&held).await;
        pair.works(3, 5_000).await;
        assert_eq!(pair.stands(id).await, ResumeState::Queued);
        assert!(pair.n8n.calls().len() > 1 && pair.n8n.continued("4711").is_empty());
        pair.n8n.change("4711", |execution| execution.is_running = false);
        pair.works(20, 5_000).await;

        assert_eq!((pair.n8n.continued("4711").len(), pair.stands(id).await), (1, ResumeState::Resumed));
    }
}

#[tokio::test]
async fn the_loser_of_a_race_is_told_500_and_a_look_says_that_it_still_waits() {
    let pair = pair(LOOKS).await;
    pair.n8n.waits("4711", &["n-1"]);
    let (held, id) = pair.asked("k", &pair.n8n.plain("4711"), Some("n-1")).await;
    pair.world.clock.advance_ms(60_000);
    pair.n8n.fails_with(&[Fault::Loser]);

    pair.approve(&held).await;
    pair.works(10, 5_000).await;

    assert_eq!((pair.n8n.continued("4711").len(), pair.n8n.calls().len()), (1, 2));
    assert_eq!(pair.stands(id).await, ResumeState::Resumed);
    let looked = pair.world.facts(pair.resume_run(id), "looked").await;
    assert_eq!(looked.last().unwrap()["lookup"], "absent");
}

#[tokio::test]
async fn a_lost_answer_of_a_plain_wait_is_looked_at_and_never_sent_again_blindly() {
    let pair = pair(LOOKS).await;
    // The link of the first Wait would resume the second one as well.
    pair.n8n.waits("4711", &["n-1", "n-2"]);
    let (held, id) = pair.asked("k", &pair.n8n.plain("4711"), Some("n-1")).await;
    pair.n8n.fails_with(&[Fault::LostAfter]);

    pair.approve(&held).await;
    pair.works(20, 5_000).await;

    assert_eq!((pair.n8n.continued("4711"), pair.n8n.calls().len()), (vec!["n-1".to_owned()], 1));
    assert_eq!(pair.stands(id).await, ResumeState::Resumed);
}

#[tokio::test]
async fn without_a_key_to_look_with_a_plain_wait_in_doubt_goes_to_a_person() {
    let pair = pair(None).await;
    pair.n8n.waits("4711", &["n-1", "n-2"]);
    let (held, id) = pair.asked("k", &pair.n8n.plain("4711"), Some("n-1")).await;
    pair.n8n.fails_with(&[Fault::LostAfter]);

    pair.approve(&held).await;
    pair.works(20, 60_000).await;

    assert_eq!((pair.n8n.continued("4711").len(), pair.n8n.calls().len()), (1, 1));
    assert_eq!(pair.stands(id).await, ResumeState::Review);
    assert!(pair.world.alerts().await.contains(&"review".to_owned()));
}

#[tokio::test]
async fn an_execution_that_comes_back_to_the_same_wait_is_not_resumed_there_again() {
    let pair = pair(LOOKS).await;
    pair.n8n.waits("4711", &["n-1", "n-1"]);
    let (held, id) = pair.asked("k", &pair.n8n.plain("4711"), Some("n-1")).await;
    pair.world.clock.advance_ms(60_000);
    pair.n8n.fails_with(&[Fault::LostAfter]);

    pair.approve(&held).await;
    pair.works(20, 60_000).await;
    assert_eq!((pair.n8n.continued("4711").len(), pair.n8n.calls().len()), (1, 1));
    pair.works(30, HOUR).await;

    assert_eq!((pair.n8n.continued("4711").len(), pair.n8n.calls().len()), (1, 1), "a day later as well");
    assert_eq!(pair.stands(id).await, ResumeState::Review);
}

#[tokio::test]
async fn an_execution_that_is_over_or_gone_ends_the_matter_and_opens_no_circuit() {
    let pair = pair(None).await;
    pair.n8n.waits("1", &[]);
    pair.n8n.waits("3", &["n-1"]);
    let table = [
        (pair.n8n.plain("1"), ResumeState::Resumed, "the execution has ended already"),
        (pair.n8n.plain("2"), ResumeState::Failed, "there is no such execution any more"),
        (
            pair.n8n.plain("3").replace("s3cret", "forged"),
            ResumeState::Failed,
            "the address carries no valid signature",
        ),
    ];
    for (n, (url, state, said)) in table.into_iter().enumerate() {
        let (held, id) = pair.asked(&format!("k{n}"), &url, None).await;
        pair.approve(&held).await;
        pair.works(3, 5_000).await;
        assert_eq!(pair.stands(id).await, state, "{said}");
        let ended = pair.world.facts(pair.resume_run(id), "attempt_ended").await;
        assert_eq!((ended.len(), ended[0]["detail"].as_str()), (1, Some(said)));
    }
    assert!(pair.world.engine.open_circuits().is_empty());
    assert!(pair.n8n.continued("3").is_empty());
}

#[tokio::test]
async fn every_end_of_an_approval_is_told() {
    let pair = pair(None).await;
    for (n, state) in ["approved", "rejected", "expired", "withdrawn"].into_iter().enumerate() {
        let execution = n.to_string();
        pair.n8n.waits(&execution, &["n-1"]);
        let (held, id) = pair.asked(state, &pair.n8n.signed(&execution, "n-1"), Some("n-1")).await;
        match state {
            "approved" => pair.approve(&held).await,
            "rejected" => drop(pair.world.decide(held.run.id, &lead("anna"), Verdict::Reject).await.unwrap()),
            "expired" => {
                pair.world.clock.advance_ms(25 * HOUR);
                pair.world.engine.sweep_tick().await.unwrap();
            }
            _ => {
                let asker = Asker::operator(olga());
                pair.world.engine.withdraw(&pair.world.caller.tenant, id, &asker, "a mistake").await.unwrap();
            }
        }
        pair.works(3, 1_000).await;
        let last: serde_json::Value = serde_json::from_str(pair.n8n.calls().last().unwrap()).unwrap();
        assert_eq!((last["state"].as_str(), pair.n8n.continued(&execution).len()), (Some(state), 1));
        assert_eq!(pair.stands(id).await, ResumeState::Resumed);
    }
}

#[tokio::test]
async fn a_place_may_be_named_later_and_is_told_at_once_where_the_approval_has_ended() {
    let pair = pair(None).await;
    for id in ["1", "2", "3"] {
        pair.n8n.waits(id, &["n-1"]);
    }
    let (held, id) = pair.asked("k", &pair.n8n.plain("1"), None).await;
    let entries = async || pair.world.kinds(id.run).await.iter().filter(|kind| *kind == "resume_asked").count();

    pair.put(id, &pair.n8n.plain("1")).await.unwrap();
    assert_eq!(entries().await, 0, "the same place changes nothing");
    let view = pair.put(id, &pair.n8n.plain("2")).await.unwrap();
    assert_eq!((entries().await, view.resume.unwrap().execution.as_str()), (1, "2"));
    pair.approve(&held).await;
    pair.works(3, 1_000).await;
    let view = pair.put(id, &pair.n8n.plain("3")).await.unwrap();
    assert_eq!(view.resume.unwrap().state, ResumeState::Queued);
    pair.put(id, &pair.n8n.plain("3")).await.unwrap();
    pair.put(id, &pair.n8n.plain("2")).await.unwrap();
    pair.works(3, 1_000).await;

    let went_on = ["1", "2", "3"].map(|execution| pair.n8n.continued(execution).len());
    assert_eq!((went_on, pair.n8n.calls().len()), ([0, 1, 1], 2), "the first place gave way to the second");
}

#[tokio::test]
async fn a_place_that_is_named_after_the_end_counts_no_second_decision() {
    let pair = pair(None).await;
    let (held, id) = pair.asked("k", &pair.n8n.plain("1"), None).await;
    pair.world.clock.advance_ms(60_000);
    pair.approve(&held).await;

    pair.put(id, &pair.n8n.plain("2")).await.unwrap();
    pair.put(id, &pair.n8n.plain("3")).await.unwrap();

    pair.world.engine.tally_flush().await.unwrap();
    let week = pair.world.engine.weeks(&pair.world.caller.tenant, 1, None).await.unwrap().weeks.remove(0);
    assert_eq!((week.of(Count::Person), week.of(Count::Approved)), (1, 1));
}

#[tokio::test]
async fn an_address_that_is_not_the_workflow_tools_is_refused_and_no_address_is_shown_or_journalled() {
    let pair = pair(None).await;
    pair.n8n.waits("1", &["n-1"]);
    let (held, id) = pair.asked("k", &pair.n8n.plain("1"), None).await;
    for url in ["http://169.254.169.254/1", "https://evil.test/webhook-waiting/1", "not an address"] {
        let refused = pair.put(id, url).await;
        assert!(matches!(refused, Err(EngineError::UrlNotAllowed { .. })), "{url}: {refused:?}");
    }
    let without = World::with(Options { gate: Gate::Approve, ..Options::default() });
    let refused = without.engine.resume_place(&given("http://127.0.0.1:5678/webhook-waiting/1", None), "");
    assert!(matches!(refused, Err(EngineError::UrlNotAllowed { .. })));

    pair.approve(&held).await;
    pair.works(3, 1_000).await;

    for run in [id.run, pair.resume_run(id)] {
        let journal = pair.world.store.journal_read(run, 0, 1_000).await.unwrap();
        assert!(journal.iter().all(|entry| !entry.text.contains("s3cret") && !entry.text.contains("webhook-waiting")));
        let view = serde_json::to_string(&pair.world.engine.run(&pair.world.caller.tenant, run).await.unwrap());
        assert!(!view.unwrap().contains("s3cret"));
    }
}

#[tokio::test]
async fn a_crash_between_the_decision_and_the_call_loses_no_word_and_says_it_once() {
    let pair = pair(None).await;
    pair.n8n.waits("4711", &["n-1"]);
    let (held, id) = pair.asked("k", &pair.n8n.signed("4711", "n-1"), Some("n-1")).await;
    pair.approve(&held).await;

    // The process is killed right after the commit of the decision.
    let world = pair.world.killed();
    let pair = Pair { world, n8n: pair.n8n };
    // The next one has taken the word, and dies before it has done anything with it.
    let due = pair.world.store.notice_due(10).await.unwrap();
    let Some(due) = due.into_iter().find(|due| matches!(due.notice.kind, NoticeKind::Resume { .. })) else {
        panic!("the word is lost")
    };
    assert!(pair.world.store.notice_claim(&due, pair.world.engine.now().plus_ms(11 * 60_000)).await.unwrap());
    let world = pair.world.killed();
    let pair = Pair { world, n8n: pair.n8n };
    pair.works(3, 1_000).await;
    assert!(pair.n8n.calls().is_empty(), "the word is claimed by the dead one");
    pair.works(30, 60_000).await;

    assert_eq!((pair.n8n.continued("4711").len(), pair.n8n.calls().len()), (1, 1));
    assert_eq!(pair.stands(id).await, ResumeState::Resumed);
    pair.world.verify_all().await;
}

#[tokio::test]
async fn with_the_switch_of_n8n_off_the_word_waits_and_goes_when_it_is_on() {
    let pair = pair(None).await;
    pair.n8n.waits("4711", &["n-1"]);
    let (held, id) = pair.asked("k", &pair.n8n.plain("4711"), None).await;
    pair.world.turn(Scope::Provider, "n8n", false).await;

    pair.approve(&held).await;
    pair.works(5, 5_000).await;
    assert!(pair.n8n.calls().is_empty());
    assert_eq!(pair.world.agg(pair.resume_run(id)).await.effects[0].attempts, 0);
    pair.world.turn(Scope::Provider, "n8n", true).await;
    pair.works(3, 5_000).await;

    assert_eq!((pair.n8n.continued("4711").len(), pair.stands(id).await), (1, ResumeState::Resumed));
}

#[tokio::test]
async fn nobody_but_the_notifier_works_in_the_built_in_flow() {
    let pair = pair(None).await;
    let asked = Request { flow: FlowName::new(FLOW), ..request("resume:apr_1", "{}", "w") };

    let reserved = pair.world.engine.reserve(&pair.world.caller, asked).await;
    let claimed = pair.world.engine.claim(&pair.world.caller, &FlowName::new(FLOW), None, None).await;

    assert!(matches!(reserved, Err(EngineError::UnknownFlow)));
    assert!(matches!(claimed, Err(EngineError::UnknownFlow)));
}

#[tokio::test]
async fn at_a_provider_of_kind_record_the_decision_is_the_outcome() {
    let options = Options { gate: Gate::Approve, connector: Some(Arc::new(RecordConnector)), ..Options::default() };
    let world = World::with(options);
    let yes = world.queued("yes", "question").await;
    let no = world.queued("no", "question").await;
    world.turn(Scope::Provider, "crm", false).await;

    world.decide(yes.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    world.decide(no.run.id, &lead("anna"), Verdict::Reject).await.unwrap();
    world.round().await;
    assert_eq!(world.effect_state(yes.run.id).await, "pending", "off is off, also for what leaves nothing");
    world.turn(Scope::Provider, "crm", true).await;
    world.round().await;

    let done = world.agg(yes.run.id).await;
    assert_eq!((done.run.state.clone(), done.effects[0].attempts), (RunState::Completed, 1));
    assert_eq!(world.agg(no.run.id).await.effects.len(), 0);
    let ended = world.facts(yes.run.id, "attempt_ended").await;
    assert_eq!((ended[0]["outcome"].as_str(), ended[0]["bytes_sent"].as_i64()), (Some("applied"), Some(0)));
}
