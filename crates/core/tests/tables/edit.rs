//! Edit and approve: what an edit may touch, whose approval counts afterwards, and what the record says (SPEC section 7;
//! G5, G6; HC-31, HC-32 for edits).

use effectgate_core::{
    actor::Person,
    approval::{self, ApprovalState, EDITS_MAX, EditedEffect, Misfit, Refused, Verdict, Wish, edited},
    flow::{ApprovalPolicy, Login},
    notice::{NoticeKind, Urgency},
    proposal::effects_hash,
    run::Aggregate,
    transition::Transition,
};

use crate::{approval::asked, given::*, invariants::applied};

/// The effects as they are, the first one with another text.
fn with_text(agg: &Aggregate, text: &str) -> Vec<EditedEffect> {
    let mut effects = as_shown(agg);
    effects[0].payload = format!(r#"{{"text":"{text}"}}"#);
    effects
}

fn as_shown(agg: &Aggregate) -> Vec<EditedEffect> {
    let shown = agg.approval().unwrap().proposed.iter().map(|p| EditedEffect {
        effect_type: p.effect_type.as_str().to_owned(),
        target: Some(p.target.clone()),
        payload: p.payload.clone(),
    });
    shown.collect()
}

fn wish(agg: &Aggregate, verdict: Verdict, edited: Option<Vec<EditedEffect>>) -> Wish {
    Wish { verdict, reason: Some("because".into()), shown: agg.approval().unwrap().effects_hash, edited }
}

fn step(agg: &Aggregate, who: &Person, wish: &Wish, ms: i64) -> Result<(Aggregate, Transition), Refused> {
    let t = approval::decide(agg, agg.approval().unwrap().id, who, wish, at(ms))?;
    Ok((applied(agg, &t), t))
}

fn edit(agg: &Aggregate, who: &Person, text: &str) -> Result<(Aggregate, Transition), Refused> {
    step(agg, who, &wish(agg, Verdict::Edit, Some(with_text(agg, text))), 1)
}

fn approve(agg: &Aggregate, who: &Person) -> Result<(Aggregate, Transition), Refused> {
    step(agg, who, &wish(agg, Verdict::Approve, None), 2)
}

fn code<T>(result: &Result<T, Refused>) -> &'static str {
    result.as_ref().map_or_else(Refused::code, |_| "taken")
}

fn quorum(quorum: i32) -> ApprovalPolicy {
    ApprovalPolicy { quorum, ..asks() }
}

#[test]
fn whoever_edited_is_never_the_only_one_who_approves() {
    let (anna, bert, carl) = (person("anna", &["lead"]), person("bert", &["lead"]), person("carl", &["lead"]));
    let boss = person("boss", &[]);
    /// Who approves, and with which text if it is an edit.
    type Steps<'a> = &'a [(&'a Person, Option<&'a str>)];
    let table: [(i32, bool, Steps<'_>, &str, usize, bool); 10] = [
        // quorum separation  who does what                              run               more  by non-editor
        (1, true, &[(&anna, Some("a"))], "awaiting_human approval", 1, true),
        (1, true, &[(&anna, Some("a")), (&bert, None)], "approved", 0, false),
        (1, true, &[(&anna, Some("a")), (&bert, Some("b"))], "awaiting_human approval", 1, true),
        (1, true, &[(&anna, Some("a")), (&bert, Some("b")), (&anna, None)], "awaiting_human approval", 1, true),
        (1, true, &[(&anna, Some("a")), (&bert, Some("b")), (&carl, None)], "approved", 0, false),
        (2, true, &[(&anna, Some("a")), (&bert, None)], "approved", 0, false),
        (2, true, &[(&anna, None), (&bert, Some("b"))], "awaiting_human approval", 1, true),
        (2, true, &[(&anna, None), (&bert, Some("b")), (&anna, None)], "approved", 0, false),
        (3, true, &[(&anna, Some("a")), (&bert, None)], "awaiting_human approval", 1, false),
        (3, true, &[(&anna, Some("a")), (&bert, None), (&boss, None)], "approved", 0, false),
    ];
    for (n, separation, steps, run, more, by_non_editor) in table {
        let mut agg = asked(&ApprovalPolicy { separation, ..quorum(n) }, None);
        for (who, text) in steps {
            agg = match text {
                Some(text) => edit(&agg, who, text).unwrap().0,
                None => approve(&agg, who).unwrap().0,
            };
        }

        let approval = agg.approval().unwrap();
        let what = format!("{n} {:?}", steps.iter().map(|(who, t)| (who.subject.as_str(), t)).collect::<Vec<_>>());
        assert_eq!(word(&agg.run.state), run, "{what}");
        assert_eq!((approval.wants().more, approval.wants().by_non_editor), (more, by_non_editor), "{what}");
        assert_eq!(agg.effects.is_empty(), run != "approved", "{what}");
    }
}

#[test]
fn with_separation_off_by_name_an_editor_alone_is_enough_and_it_is_noted() {
    let waived = ApprovalPolicy { separation: false, ..asks() };

    let (after, t) = edit(&asked(&waived, None), &person("anna", &["lead"]), "a").unwrap();

    assert_eq!(word(&after.run.state), "approved");
    assert_eq!(kinds(&t), ["edited", "separation_waived", "decided", "effect_queued", "effect_queued"]);
    assert!(t.entries[1].text.contains(r#""what":"own_edit""#));
}

#[test]
fn what_goes_out_is_the_edited_text_bound_to_its_own_hash() {
    let before = asked(&asks(), None);
    let (half, t) = edit(&before, &person("anna", &["lead"]), "mended").unwrap();

    let (after, _) = approve(&half, &person("bert", &["lead"])).unwrap();

    let approval = after.approval().unwrap();
    assert_eq!(after.effects[0].payload, r#"{"text":"mended"}"#);
    assert_eq!(after.effects[1].payload, before.approval().unwrap().proposed[1].payload);
    assert!(after.effects.iter().all(|e| e.is_decided()));
    assert_eq!(approval.effects_hash, effects_hash(&approval.proposed));
    assert_ne!(approval.effects_hash, before.approval().unwrap().effects_hash);
    assert_eq!(approval.edits.len(), 1);
    assert_eq!(approval.edits[0].before, before.approval().unwrap().proposed);
    assert_eq!(approval.edits[0].after, approval.proposed);
    let text = &t.entries[0].text;
    assert!(text.contains(r#""changes":[{"effect":0,"kind":"changed","pointer":"/text"}]"#), "{text}");
    assert!(!text.contains("mended") && !text.contains("hello"), "the journal names places, never values: {text}");
}

#[test]
fn an_edit_touches_payloads_and_nothing_else() {
    let before = asked(&asks(), None);
    let proposed = &before.approval().unwrap().proposed;
    let change = |f: fn(&mut Vec<EditedEffect>)| {
        let mut effects = with_text(&before, "x");
        f(&mut effects);
        effects
    };
    let table = [
        (change(|e| e.truncate(1)), vec![Misfit::Count { wanted: 2, found: 1 }]),
        (change(|e| e.push(e[0].clone())), vec![Misfit::Count { wanted: 2, found: 3 }]),
        (change(|e| e.clear()), vec![Misfit::Count { wanted: 2, found: 0 }]),
        (change(|e| e.swap(0, 1)), vec![Misfit::Target { effect: 0 }, Misfit::Target { effect: 1 }]),
        (change(|e| e[1].effect_type = "mail".into()), vec![Misfit::Type { effect: 1 }]),
        (change(|e| e[1].target = Some("target-2 ".into())), vec![Misfit::Target { effect: 1 }]),
        (change(|e| e[1].target = None), vec![]),
    ];
    for (asked, misfits) in table {
        let found = edited(proposed, &asked).err().unwrap_or_default();
        assert_eq!(found, misfits);

        let wish = wish(&before, Verdict::Edit, Some(asked));
        let expected = if misfits.is_empty() { "taken" } else { "invalid_edit" };
        assert_eq!(code(&step(&before, &person("anna", &["lead"]), &wish, 1)), expected, "{misfits:?}");
    }
    let silent = wish(&before, Verdict::Edit, None);
    assert_eq!(code(&step(&before, &person("anna", &["lead"]), &silent, 1)), "invalid_edit");
}

#[test]
fn an_edit_that_changes_no_value_is_none() {
    let before = asked(&asks(), None);
    for same in [r#"{"text":"hello"}"#, " {\n\"text\" : \"hello\" }\n", r#"{"text":"hell\u006f"}"#] {
        let mut effects = as_shown(&before);
        effects[0].payload = same.to_owned();

        let wish = wish(&before, Verdict::Edit, Some(effects));

        assert_eq!(code(&step(&before, &person("anna", &["lead"]), &wish, 1)), "nothing_changed", "{same}");
    }
}

#[test]
fn the_rules_of_a_decision_hold_for_an_edit() {
    let lead = person("anna", &["lead"]);
    let admin = person("anna", &["lead", "admin"]);
    let table = [
        // requested by             login             who                                     answer
        (Some("anna"), Login::Required, lead.clone(), "separation_of_duties"),
        (Some("ANNA@example.test"), Login::Required, lead.clone(), "separation_of_duties"),
        (Some("user:anna"), Login::Required, admin, "separation_of_duties"),
        (Some("Boss <boss@example.test>"), Login::Token, by_link("boss@example.test"), "separation_of_duties"),
        (None, Login::Required, by_link("boss@example.test"), "login_required"),
        (None, Login::Token, by_link("boss@example.test"), "taken"),
        (None, Login::Required, person("dora", &["admin"]), "not_in_audience"),
        (None, Login::Required, lead, "taken"),
    ];
    for (requested_by, login, who, expected) in table {
        let before = asked(&ApprovalPolicy { login, ..asks() }, requested_by);
        assert_eq!(code(&edit(&before, &who, "x")), expected, "hc_32 {requested_by:?} {who:?}");
    }
}

#[test]
fn an_edit_supersedes_what_was_decided_before_and_those_people_decide_again() {
    let (anna, bert) = (person("anna", &["lead"]), person("bert", &["lead"]));
    let before = asked(&quorum(2), None);
    let (one, _) = approve(&before, &anna).unwrap();
    assert_eq!(code(&edit(&one, &anna, "x")), "already_decided", "who has agreed waits for the others");

    let (edited, _) = edit(&one, &bert, "x").unwrap();

    let approval = edited.approval().unwrap();
    assert_eq!(approval.decisions.iter().map(|d| approval.counts(d)).collect::<Vec<_>>(), [false, true]);
    assert_eq!(approval.approvals().count(), 1);
    assert_eq!(code(&approve(&edited, &bert)), "already_decided");
    assert_eq!(word(&approve(&edited, &anna).unwrap().0.run.state), "approved");
    let rejected = step(&edited, &anna, &wish(&edited, Verdict::Reject, None), 3).unwrap().0;
    assert_eq!(word(&rejected.run.state), "failed_terminal rejected");
}

#[test]
fn a_page_that_an_edit_overtook_is_told_what_changed() {
    let (anna, bert) = (person("anna", &["lead"]), person("bert", &["lead"]));
    let before = asked(&asks(), None);
    let shown = before.approval().unwrap().effects_hash;
    let (after, _) = edit(&before, &bert, "other").unwrap();
    let now = after.approval().unwrap().effects_hash;

    for verdict in [Verdict::Approve, Verdict::Reject, Verdict::Edit] {
        let late = Wish { shown, ..wish(&after, verdict, Some(with_text(&before, "late"))) };
        assert_eq!(step(&after, &anna, &late, 2).unwrap_err(), Refused::Changed { now }, "{verdict:?}");
    }
    let changes = after.approval().unwrap().changes_between(shown, now).unwrap();
    let one = &changes[0].change;
    assert_eq!((changes.len(), changes[0].effect, one.pointer.as_str()), (1, 0, "/text"));
    assert_eq!((one.before.as_deref(), one.after.as_deref()), (Some(r#""hello""#), Some(r#""other""#)));
    assert_eq!(after.approval().unwrap().changes_between(digest(9), now), None);
}

#[test]
fn rows_from_before_edits_carry_no_hash_and_are_about_what_was_asked_first() {
    let (anna, bert) = (person("anna", &["lead"]), person("bert", &["lead"]));
    let (mut old, _) = approve(&asked(&quorum(2), None), &anna).unwrap();
    old.approvals[0].decisions[0].effects_hash = None;

    assert_eq!(old.approval().unwrap().approvals().count(), 1);
    assert_eq!(word(&approve(&old, &bert).unwrap().0.run.state), "approved");
    let (edited, _) = edit(&old, &bert, "x").unwrap();
    assert_eq!(edited.approval().unwrap().approvals().count(), 1, "anna agreed to another text");
    assert_eq!(code(&approve(&edited, &anna)), "taken");
}

#[test]
fn a_repeated_click_is_known_by_its_words_and_by_what_was_shown() {
    let (anna, bert) = (person("anna", &["lead"]), person("bert", &["lead"]));
    let before = asked(&asks(), None);
    let first = wish(&before, Verdict::Edit, Some(with_text(&before, "x")));
    let (after, _) = step(&before, &anna, &first, 1).unwrap();
    let approval = after.approval().unwrap();

    assert!(approval.repeats(&anna, &first));
    assert!(!approval.repeats(&bert, &first), "another person");
    assert!(!approval.repeats(&anna, &Wish { edited: Some(with_text(&before, "y")), ..first.clone() }), "other words");
    assert!(!approval.repeats(&anna, &Wish { shown: approval.effects_hash, ..first.clone() }), "another page");
    assert!(!approval.repeats(&anna, &Wish { verdict: Verdict::Approve, ..first }), "another button");
}

#[test]
fn the_others_are_told_again_and_the_editor_is_not() {
    let audience = |t: &Transition| match &t.notices.first().expect("a notice").kind {
        NoticeKind::ApprovalRequest { audience, urgency: Urgency::Edited, .. } => audience.clone(),
        other => panic!("{other:?}"),
    };
    let (_, by_lead) = edit(&asked(&asks(), None), &person("anna", &["lead"]), "x").unwrap();
    let (_, by_boss) = edit(&asked(&asks(), None), &person("boss", &[]), "x").unwrap();
    assert_eq!(audience(&by_lead), ["role:lead", "Boss@Example.test"]);
    assert_eq!(audience(&by_boss), ["role:lead"]);

    let own_delivery = ApprovalPolicy { link_in_answer: true, ..asks() };
    let (_, quiet) = edit(&asked(&own_delivery, None), &person("anna", &["lead"]), "x").unwrap();
    assert!(quiet.notices.is_empty(), "the caller delivers");
    let waived = ApprovalPolicy { separation: false, ..asks() };
    let (_, over) = edit(&asked(&waived, None), &person("anna", &["lead"]), "x").unwrap();
    assert!(over.notices.is_empty(), "there is nothing left to decide");
}

#[test]
fn there_is_an_end_to_edits() {
    let people = [person("anna", &["lead"]), person("bert", &["lead"])];
    let mut agg = asked(&asks(), None);
    for n in 0..EDITS_MAX {
        agg = edit(&agg, &people[n % 2], &format!("text {n}")).unwrap().0;
    }

    assert_eq!(code(&edit(&agg, &people[EDITS_MAX % 2], "once more")), "too_many_edits");
    assert_eq!(code(&approve(&agg, &person("carl", &["lead"]))), "taken");
    assert_eq!(agg.approval().unwrap().state, ApprovalState::Open);
}
