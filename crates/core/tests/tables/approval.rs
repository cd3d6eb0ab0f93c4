//! Approvals: who may decide, what a decision does, and what time does (SPEC section 7; G4 to G7; HC-31, HC-32).

use std::collections::BTreeSet;

use effectgate_core::{
    actor::{Person, SignIn, Subject},
    approval::{self, ApprovalState, REASON_CHARS_MAX, Refused, Verdict, Wish},
    effect::EffectState,
    flow::{ApprovalPolicy, Flow, Login},
    gate::Passage,
    notice::{NoticeKind, Urgency},
    proposal,
    run::{Aggregate, RunState},
    time::Timestamp,
};

use crate::{given::*, invariants::applied};

/// A run that waits for the people of this policy, two effects proposed.
pub(crate) fn asked(policy: &ApprovalPolicy, requested_by: Option<&str>) -> Aggregate {
    asked_with(policy, requested_by, person_decides())
}

fn asked_with(policy: &ApprovalPolicy, requested_by: Option<&str>, passage: Passage) -> Aggregate {
    let before = agg(RunState::Processing, vec![]);
    let flow = Flow { approval: Some(policy.clone()), ..flow() };
    let mut proposal = valid(vec![wanted(1), wanted(2)], passage);
    proposal.requested_by = requested_by.map(str::to_owned);
    applied(&before, &proposal::accept(&before, &flow, &owner(), proposal, at(0)).unwrap())
}

fn wish(agg: &Aggregate, verdict: Verdict) -> Wish {
    Wish { verdict, reason: Some("because".into()), shown: agg.approval().unwrap().effects_hash, edited: None }
}

fn decide(agg: &Aggregate, person: &Person, verdict: Verdict, now: Timestamp) -> Result<Aggregate, Refused> {
    let t = approval::decide(agg, agg.approval().unwrap().id, person, &wish(agg, verdict), now)?;
    Ok(applied(agg, &t))
}

fn code(result: &Result<Aggregate, Refused>) -> &'static str {
    result.as_ref().map_or_else(Refused::code, |_| "taken")
}

#[test]
fn with_a_quorum_of_one_the_first_decision_ends_it() {
    for (verdict, run, approval, outbox) in [
        (Verdict::Approve, "approved", ApprovalState::Approved, 2),
        (Verdict::Reject, "failed_terminal rejected", ApprovalState::Rejected, 0),
    ] {
        let after = decide(&asked(&asks(), None), &person("anna", &["lead"]), verdict, at(1)).unwrap();

        assert_eq!(word(&after.run.state), run);
        assert_eq!(after.approval().unwrap().state, approval);
        assert_eq!(after.effects.len(), outbox, "hc_31: approved <=> in the outbox");
        assert!(after.effects.iter().all(|e| e.is_decided() && e.state == EffectState::Pending { due_at: at(1) }));
    }
}

#[test]
fn an_approval_of_no_effects_completes_the_run() {
    let before = agg(RunState::Processing, vec![]);
    let t = proposal::accept(&before, &flow(), &owner(), valid(vec![], person_decides()), at(0)).unwrap();

    let after = decide(&applied(&before, &t), &person("anna", &["lead"]), Verdict::Approve, at(1)).unwrap();

    assert_eq!(after.run.state, RunState::Completed);
}

#[test]
fn a_quorum_counts_different_people() {
    let two = ApprovalPolicy { quorum: 2, login: Login::Token, audience: leads(), ..asks() };
    let (anna, bert) = (person("anna", &["lead"]), person("bert", &["lead"]));
    let annas_link = by_link("anna@example.test");
    let table = [
        // first        second        second answer      run
        (&anna, &bert, "taken", "approved"),
        (&anna, &anna, "already_decided", "awaiting_human approval"),
        (&anna, &annas_link, "already_decided", "awaiting_human approval"),
        (&annas_link, &anna, "already_decided", "awaiting_human approval"),
        (&annas_link, &bert, "taken", "approved"),
    ];
    for (first, second, expected, run) in table {
        let one = decide(&asked(&two, None), first, Verdict::Approve, at(1)).unwrap();
        assert_eq!(word(&one.run.state), "awaiting_human approval");
        assert!(one.effects.is_empty(), "half a quorum sends nothing");

        let next = decide(&one, second, Verdict::Approve, at(2));

        let what = format!("{} then {}", first.subject, second.subject);
        assert_eq!(code(&next), expected, "{what}");
        assert_eq!(word(&next.unwrap_or(one).run.state), run, "{what}");
    }
}

fn leads() -> Vec<String> {
    vec!["role:lead".into(), "anna@example.test".into()]
}

#[test]
fn one_rejection_outweighs_a_quorum_that_is_not_there_yet() {
    let two = ApprovalPolicy { quorum: 2, ..asks() };
    let one = decide(&asked(&two, None), &person("anna", &["lead"]), Verdict::Approve, at(1)).unwrap();

    let after = decide(&one, &person("bert", &["lead"]), Verdict::Reject, at(2)).unwrap();

    assert_eq!(word(&after.run.state), "failed_terminal rejected");
    assert!(after.effects.is_empty());
}

#[test]
fn the_first_commit_wins_and_later_decisions_are_told_that_it_is_over() {
    for (first, second) in [
        (Verdict::Approve, Verdict::Approve),
        (Verdict::Approve, Verdict::Reject),
        (Verdict::Reject, Verdict::Approve),
        (Verdict::Reject, Verdict::Reject),
    ] {
        let one = decide(&asked(&asks(), None), &person("anna", &["lead"]), first, at(1)).unwrap();

        let late = decide(&one, &person("bert", &["lead"]), second, at(1));

        assert_eq!(code(&late), "approval_over", "{first:?} {second:?}");
        assert_eq!(one.approval().unwrap().decisions.len(), 1);
    }
}

#[test]
fn hc_32_the_requester_is_known_in_every_spelling() {
    let anna = person("anna", &["lead", "admin"]);
    let link = by_link("Boss@example.test ");
    let table = [
        // requested_by                       who        may approve
        (Some("anna"), &anna, false),
        (Some("user:anna"), &anna, false),
        (Some("USER:Anna"), &anna, false),
        (Some(" user: anna "), &anna, false),
        (Some("mail:anna@example.test"), &anna, false),
        (Some("Mail: Anna@Example.TEST"), &anna, false),
        (Some("mailto:anna@example.test"), &anna, false),
        (Some("Anna@example.test"), &anna, false),
        (Some("user:anna@example.test"), &anna, false),
        (Some("Anna A. <anna@example.test>"), &anna, false),
        (Some("\u{ff41}nna"), &anna, false),
        (Some("an\u{200b}na"), &anna, false),
        (Some("user:boss@example.test"), &link, false),
        (Some("boss@EXAMPLE.test"), &link, false),
        // Somebody else, or nobody named.
        (Some("bert"), &anna, true),
        (Some("user:annabel"), &anna, true),
        (Some("anna@other.test"), &anna, true),
        (None, &anna, true),
        (None, &link, true),
    ];
    for (requested_by, who, may) in table {
        let policy = ApprovalPolicy { login: Login::Token, ..asks() };
        let before = asked(&policy, requested_by);

        let approved = decide(&before, who, Verdict::Approve, at(1));
        let rejected = decide(&before, who, Verdict::Reject, at(1));

        let expected = if may { "taken" } else { "separation_of_duties" };
        assert_eq!(code(&approved), expected, "{requested_by:?}");
        assert_eq!(code(&rejected), "taken", "{requested_by:?}: one may take back what one asked for");
    }
}

#[test]
fn the_runs_owner_and_the_key_behind_it_do_not_approve_their_own_run() {
    for subject in ["worker:worker-a", "key:n8n"] {
        let mut who = person("anna", &["lead"]);
        who.aliases.insert(Subject::named(subject));

        assert_eq!(code(&decide(&asked(&asks(), None), &who, Verdict::Approve, at(1))), "separation_of_duties");
    }
}

#[test]
fn a_waived_separation_is_on_record_each_time() {
    let waived = ApprovalPolicy { separation: false, ..asks() };
    for (who, expected) in [("anna", true), ("bert", false)] {
        let before = asked(&waived, Some("anna"));
        let (approval, anna) = (before.approval().unwrap().id, person(who, &["lead"]));

        let t = approval::decide(&before, approval, &anna, &wish(&before, Verdict::Approve), at(1)).unwrap();

        assert_eq!(kinds(&t).contains(&"separation_waived"), expected, "{who}");
    }
}

#[test]
fn only_those_who_were_asked_decide() {
    let table = [
        // who                                            answer
        (person("anna", &["lead"]), "taken"),
        (person("boss", &[]), "taken"),
        (person("anna", &[]), "not_in_audience"),
        (person("anna", &["admin"]), "not_in_audience"),
        (person("anna", &["Lead"]), "not_in_audience"),
        (person("anna", &["role:lead"]), "not_in_audience"),
        (person("anna", &["manager"]), "not_in_audience"),
    ];
    for (who, expected) in table {
        for verdict in [Verdict::Approve, Verdict::Reject] {
            assert_eq!(code(&decide(&asked(&asks(), None), &who, verdict, at(1))), expected, "{who:?}");
        }
    }
}

#[test]
fn a_link_alone_decides_only_where_the_flow_says_so() {
    for (login, sign_in, expected) in [
        (Login::Required, SignIn::Login, "taken"),
        (Login::Required, SignIn::Token, "login_required"),
        (Login::Token, SignIn::Login, "taken"),
        (Login::Token, SignIn::Token, "taken"),
    ] {
        let policy = ApprovalPolicy { login, ..asks() };
        let who = Person { sign_in, ..person("boss", &["lead"]) };

        assert_eq!(
            code(&decide(&asked(&policy, None), &who, Verdict::Approve, at(1))),
            expected,
            "{login:?} {sign_in:?}"
        );
    }
}

#[test]
fn a_regulated_effect_wants_every_qualification_that_is_named() {
    let regulated = Passage::Person { why: vec!["x".into()], qualifications: vec!["nurse".into(), "lawyer".into()] };
    for (roles, expected) in [
        (&["lead", "nurse", "lawyer"][..], "taken"),
        (&["lead", "nurse"][..], "not_qualified"),
        (&["lead"][..], "not_qualified"),
        (&["lead", "admin"][..], "not_qualified"),
        (&["nurse", "lawyer"][..], "not_in_audience"),
    ] {
        let before = asked_with(&asks(), None, regulated.clone());

        assert_eq!(code(&decide(&before, &person("anna", roles), Verdict::Approve, at(1))), expected, "{roles:?}");
    }
}

#[test]
fn a_decision_is_bound_to_what_was_shown_and_to_the_bytes() {
    let anna = person("anna", &["lead"]);
    let before = asked(&asks(), None);
    let id = before.approval().unwrap().id;
    let stale = Wish { shown: digest(7), ..wish(&before, Verdict::Approve) };
    let mut touched = before.clone();
    touched.approvals[0].proposed[0].payload.push(' ');

    for (name, agg, wish) in
        [("other hash", &before, &stale), ("other bytes", &touched, &wish(&before, Verdict::Approve))]
    {
        let refused = approval::decide(agg, id, &anna, wish, at(1)).unwrap_err();
        assert_eq!(refused.code(), "effects_changed", "{name}");
    }
}

#[test]
fn a_rejection_says_why_and_nobody_writes_a_novel() {
    let long = |n: usize| Some("ä".repeat(n));
    let table = [
        // verdict          reason                       answer
        (Verdict::Approve, None, "taken"),
        (Verdict::Approve, Some(" ".into()), "taken"),
        (Verdict::Reject, None, "reason_required"),
        (Verdict::Reject, Some(String::new()), "reason_required"),
        (Verdict::Reject, Some(" \n\t".into()), "reason_required"),
        (Verdict::Reject, long(REASON_CHARS_MAX), "taken"),
        (Verdict::Reject, long(REASON_CHARS_MAX + 1), "reason_too_long"),
        (Verdict::Approve, long(REASON_CHARS_MAX + 1), "reason_too_long"),
    ];
    for (verdict, reason, expected) in table {
        let before = asked(&asks(), None);
        let (id, anna) = (before.approval().unwrap().id, person("anna", &["lead"]));
        let wish = Wish { reason: reason.clone(), ..wish(&before, verdict) };

        let done = approval::decide(&before, id, &anna, &wish, at(1)).map(|t| applied(&before, &t));

        assert_eq!(code(&done), expected, "{verdict:?} {:?}", reason.map(|r| r.len()));
    }
}

#[test]
fn the_end_is_the_promised_moment() {
    let anna = person("anna", &["lead"]);
    let end = 8 * HOUR_MS;
    for (now, decides, expires) in
        [(end - 1, "taken", false), (end, "approval_over", true), (end + 1, "approval_over", true)]
    {
        let before = asked(&asks(), None);

        assert_eq!(code(&decide(&before, &anna, Verdict::Approve, at(now))), decides, "{now}");
        assert_eq!(approval::expire(&before, at(now)).is_some(), expires, "{now}");
        assert!(!(expires && approval::remind(&before, at(now)).is_some()), "nobody is reminded of what is over");
    }
}

#[test]
fn an_expiry_is_nobodys_decision() {
    let two = ApprovalPolicy { quorum: 2, ..asks() };
    let half = decide(&asked(&two, None), &person("anna", &["lead"]), Verdict::Approve, at(1)).unwrap();

    let t = approval::expire(&half, at(8 * HOUR_MS)).unwrap();
    let after = applied(&half, &t);

    assert_eq!(word(&after.run.state), "failed_terminal approval_expired");
    assert_eq!(after.approval().unwrap().state, ApprovalState::Expired);
    assert_eq!(after.approval().unwrap().decisions.len(), 1, "no decision is made up");
    assert!(t.entries[0].text.contains(r#""actor":"system:sweeper""#));
    assert!(after.effects.is_empty());
    assert!(approval::expire(&after, at(9 * HOUR_MS)).is_none(), "once");
}

#[test]
fn reminder_and_escalation_come_once_each_in_time() {
    let mut run = asked(&asks(), None);
    let table = [
        // now              what happens
        (2 * HOUR_MS - 1, None),
        (2 * HOUR_MS, Some(Urgency::Reminder)),
        (2 * HOUR_MS, None),
        (4 * HOUR_MS - 1, None),
        (4 * HOUR_MS, Some(Urgency::Escalation)),
        (4 * HOUR_MS, None),
        (8 * HOUR_MS - 1, None),
    ];
    for (now, expected) in table {
        let step = approval::remind(&run, at(now));
        let urgency = step.as_ref().map(|t| match &t.notices[0].kind {
            NoticeKind::ApprovalRequest { urgency, .. } => *urgency,
            other => panic!("not a reminder: {other:?}"),
        });
        assert_eq!(urgency, expected, "{now}");
        run = step.map_or(run.clone(), |t| applied(&run, &t));
    }
    assert_eq!(run.approval().unwrap().terms.audience, ["role:lead", "Boss@Example.test", "role:manager"]);
    assert_eq!(code(&decide(&run, &person("carl", &["manager"]), Verdict::Approve, at(5 * HOUR_MS))), "taken");
    assert_eq!(code(&decide(&run, &person("anna", &["lead"]), Verdict::Approve, at(5 * HOUR_MS))), "taken");
}

#[test]
fn a_sweep_that_comes_late_escalates_without_reminding_first() {
    let run = asked(&asks(), None);

    let once = applied(&run, &approval::remind(&run, at(5 * HOUR_MS)).unwrap());

    assert!(approval::remind(&once, at(5 * HOUR_MS)).is_none());
    assert_eq!(once.approval().unwrap().next_step_at, None);
}

#[test]
fn a_refused_try_is_recorded_and_changes_nothing() {
    let before = asked(&asks(), Some("anna"));
    let id = before.approval().unwrap().id;

    let t = approval::refused(&before, id, &person("anna", &["lead"]), &Refused::SeparationOfDuties, at(1)).unwrap();
    let after = applied(&before, &t);

    assert_eq!(kinds(&t), ["decision_refused"]);
    assert_eq!((&after.run.state, after.run.version), (&before.run.state, before.run.version));
    assert_eq!(after.approvals, before.approvals, "the token is not used up");
}

#[test]
fn the_people_are_told_unless_the_caller_delivers_the_link() {
    for (link_in_answer, notices) in [(false, 1), (true, 0)] {
        let before = agg(RunState::Processing, vec![]);
        let policy = ApprovalPolicy { link_in_answer, ..asks() };
        let flow = Flow { approval: Some(policy), ..flow() };

        let t = proposal::accept(&before, &flow, &owner(), valid(vec![wanted(1)], person_decides()), at(0)).unwrap();

        assert_eq!(t.notices.len(), notices);
    }
}

#[test]
fn roles_are_not_names_of_people() {
    let mut who = by_link("x@example.test");
    who.sign_in = SignIn::Login;
    who.aliases = BTreeSet::from([Subject::named("role:lead")]);

    assert_eq!(code(&decide(&asked(&asks(), None), &who, Verdict::Approve, at(1))), "not_in_audience");
}
