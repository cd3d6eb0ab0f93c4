//! Taking back: the question before it is decided, the effect before it leaves; and questions that reached nobody
//! (SPEC sections 6 and 7).

use effectgate_core::{
    actor::{Actor, Person, SignIn, Subject},
    approval::{self, ApprovalState, Outcome, Telling},
    effect::EffectState,
    flow::{ApprovalPolicy, Login},
    ids::ApprovalId,
    notice::Urgency,
    operate::{self, Asker, Refused},
    run::{Aggregate, RunState},
};

use crate::{approval::asked, given::*, invariants::applied};

fn asker(person: Person, is_operator: bool) -> Asker {
    Asker { actor: Actor::Person(person.subject.clone()), person: Some(person), is_operator }
}

fn key(is_operator: bool) -> Asker {
    Asker { actor: Actor::ApiKey("n8n".into()), person: None, is_operator }
}

#[test]
fn operators_and_whoever_asked_take_a_question_back() {
    let table = [
        // who                                                       may
        (asker(person("olga", &["operator"]), true), true),
        (key(true), true),
        (asker(person("anna", &[]), false), true),
        (asker(by_link("anna@example.test"), false), true),
        // The key behind the run asked too, but a key wants the scope.
        (key(false), false),
        (asker(person("bert", &["lead", "admin"]), false), false),
        (asker(person("boss", &[]), false), false),
    ];
    for (who, may) in table {
        let before = asked(&asks(), Some("anna@example.test"));

        let t = approval::withdraw(&before, before.approval().unwrap().id, &who, " a mistake ", at(1));

        let Ok(t) = t else {
            assert_eq!((t.unwrap_err(), may), (Refused::NotEntitled, false), "{who:?}");
            continue;
        };
        assert!(may, "{who:?}");
        let after = applied(&before, &t);
        let approval = after.approval().unwrap();
        assert_eq!(word(&after.run.state), "failed_terminal approval_withdrawn");
        assert_eq!((approval.state, approval.outcome()), (ApprovalState::Withdrawn, Some(Outcome::Withdrawn)));
        assert_eq!(approval.terms.withdrawn.as_ref().unwrap().reason, "a mistake");
        assert_eq!((kinds(&t), after.effects.len()), (vec!["approval_withdrawn"], 0));
    }
}

#[test]
fn what_has_ended_is_not_taken_back_and_nothing_is_without_a_reason() {
    let open = asked(&asks(), None);
    let id = open.approval().unwrap().id;
    let withdrawn = applied(&open, &approval::withdraw(&open, id, &key(true), "x", at(1)).unwrap());
    let expired = applied(&open, &approval::expire(&open, at(8 * HOUR_MS)).unwrap());
    let table = [
        (&open, 1, " \n", Refused::ReasonRequired),
        (&open, 8 * HOUR_MS, "x", Refused::WrongState("expired")),
        (&withdrawn, 2, "x", Refused::WrongState("withdrawn")),
        (&expired, 9 * HOUR_MS, "x", Refused::WrongState("expired")),
    ];
    for (agg, now, reason, expected) in table {
        assert_eq!(approval::withdraw(agg, id, &key(true), reason, at(now)).unwrap_err(), expected);
    }
}

/// A try that told `who`, or nobody.
fn telling(id: ApprovalId, who: &str) -> Telling {
    let who: Vec<String> = Some(who.to_owned()).filter(|who| !who.is_empty()).into_iter().collect();
    let failed = if who.is_empty() { vec![("role:lead".to_owned(), "no answer".to_owned())] } else { vec![] };
    Telling { approval: id, urgency: Urgency::First, told: who, failed, are_the_rest: false, is_late: true }
}

#[test]
fn an_expiry_of_which_nobody_could_be_told_is_an_outcome_of_its_own() {
    let told = asked(&asks(), None);
    let id = told.approval().unwrap().id;
    let noted = |agg: &Aggregate, who: &str| approval::note_telling(agg, &telling(id, who), at(60), at(2)).unwrap();
    let untold = applied(&told, &noted(&told, ""));
    let after_all = applied(&untold, &noted(&untold, "role:lead"));

    for (agg, marked, outcome) in [
        (&told, false, Outcome::Expired),
        (&untold, true, Outcome::Undeliverable),
        (&after_all, false, Outcome::Expired),
    ] {
        assert_eq!((agg.approval().unwrap().terms.undeliverable, agg.approval().unwrap().outcome()), (marked, None));
        let marks = !noted(agg, "role:lead").approvals.is_empty();
        assert_eq!(marks, marked, "only a mark that is there is taken back");
        let over = applied(agg, &approval::expire(agg, at(8 * HOUR_MS)).unwrap());
        assert_eq!(over.approval().unwrap().outcome(), Some(outcome));
        assert_eq!(over.approval().unwrap().state, ApprovalState::Expired);
        assert_eq!(word(&over.run.state), "failed_terminal approval_expired");
    }
}

/// A run with one effect in this state; `asked_before` says whether people had been asked about it.
fn under_way(state: EffectState, login: Login, asked_before: bool) -> Aggregate {
    let mut agg = agg(RunState::Approved, vec![effect(1, state)]);
    if asked_before {
        agg.approvals = asked(&ApprovalPolicy { login, ..asks() }, None).approvals;
        agg.approvals[0].state = ApprovalState::Approved;
        agg.approvals[0].decided_at = Some(at(0));
    }
    agg
}

#[test]
fn within_the_window_whoever_is_asked_takes_an_effect_back_and_operators_until_it_leaves() {
    let window = EffectState::Scheduled { not_before: at(1) };
    let pending = EffectState::Pending { due_at: at(0) };
    let (lead, stranger) = (person("anna", &["lead"]), person("dora", &["admin"]));
    let link = by_link("boss@example.test");
    let olga = asker(person("olga", &["operator"]), true);
    let (ok, not_entitled) = (None, Some(Refused::NotEntitled));
    let late = |word| Some(Refused::WrongState(word));
    let table = [
        // effect          login            asked?  flow asks  who                          refused
        (window, Login::Required, true, false, asker(lead.clone(), false), ok.clone()),
        (window, Login::Required, false, true, asker(lead.clone(), false), ok.clone()),
        (window, Login::Required, false, false, asker(lead.clone(), false), not_entitled.clone()),
        (window, Login::Required, true, true, asker(stranger, false), not_entitled.clone()),
        (window, Login::Token, true, false, asker(link.clone(), false), ok.clone()),
        (window, Login::Required, true, false, asker(link.clone(), false), not_entitled.clone()),
        (window, Login::Token, false, true, asker(link, false), not_entitled.clone()),
        (window, Login::Required, false, false, key(false), not_entitled.clone()),
        (window, Login::Required, false, false, olga.clone(), ok.clone()),
        (pending, Login::Required, true, true, asker(lead.clone(), false), late("pending")),
        (pending, Login::Required, false, false, olga.clone(), ok),
        (EffectState::Sending, Login::Required, true, true, asker(lead, false), late("sending")),
        (EffectState::Completed, Login::Required, false, false, olga, late("completed")),
    ];
    let flows_audience = ["role:lead".to_owned(), "boss@example.test".to_owned()];
    for (state, login, asked_before, flow_asks, who, refused) in table {
        let before = under_way(state, login, asked_before);
        let audience = if flow_asks { &flows_audience[..] } else { &[] };

        let cancelled = operate::cancel(&before, &before.effects[0], &who, audience, "stop", at(0));

        assert_eq!(cancelled.err(), refused, "{state:?} asked {asked_before} flow {flow_asks} {who:?}");
    }
}

#[test]
fn a_name_that_looks_like_a_role_takes_nothing_back() {
    let before = under_way(EffectState::Scheduled { not_before: at(1) }, Login::Required, true);
    let aliases = [Subject::named("role:lead")].into();
    let who = Person { aliases, sign_in: SignIn::Login, ..person("x", &[]) };

    let cancelled = operate::cancel(&before, &before.effects[0], &asker(who, false), &[], "stop", at(0));

    assert_eq!(cancelled.unwrap_err(), Refused::NotEntitled);
}
