//! What a report means: HTTP statuses, bodies, transport ends and SMTP phases (SPEC section 8; HC-19, HC-21, HC-22,
//! HC-28).

use effectgate_core::{
    effect::{AttemptEnd, EffectState},
    outcome::{Answer, Phase, Report},
    provider::{Class as ProviderClass, Declared, InFlight, Provider, ReplayMark},
    retry::{self, Class, Classified, Success},
};
use serde_json::json;

use crate::given::*;

fn answer(status: u16) -> Answer {
    Answer { status, retry_after: None, body: br#"{"id":"x1"}"#.to_vec(), body_complete: true, replayed: false }
}

fn answered(answer: Answer) -> Report {
    Report { phase: Phase::Answered, bytes_sent: 900, answer: Some(answer), error: None, handle: None }
}

fn http(answer: Answer, provider: &Provider) -> Classified {
    let success = Success { external_id: Some("/id".into()), member: None };
    retry::classify(&answered(answer), provider, &success, at(0))
}

/// 503 means "not done" and 409 "key in use" there.
fn declares() -> Provider {
    let in_flight = vec![InFlight { status: 409, member: None }];
    let declared = Declared { in_flight, ..Declared::default() };
    Provider { not_done_statuses: vec![503], declared, ..provider(ENFORCING) }
}

#[test]
fn every_status_of_the_matrix() {
    use Class::*;
    let table: [(&[u16], Class); 12] = [
        (&[200, 201, 202, 204, 226, 299], Applied),
        (&[300, 301, 302, 303, 304, 307, 308, 399], Redirect),
        (&[400, 402, 404, 405, 406, 410, 411, 412, 413, 414, 415, 418, 422, 428, 431, 451, 499], Refused),
        (&[401, 403], Unauthorized),
        (&[429], RateLimited),
        (&[408], Unknown),
        (&[425], Unknown),
        // By rule only: it may be our own earlier attempt.
        (&[409], Unknown),
        (&[500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 524, 529, 599], Unknown),
        (&[100, 101, 102, 103, 199], Unknown),
        (&[600, 700, 999], Unknown),
        (&[0, 1, 99], Unknown),
    ];
    for (statuses, class) in table {
        for status in statuses {
            for provider in [provider(ENFORCING), provider(ProviderClass::Advisory)] {
                assert_eq!(http(answer(*status), &provider).class, class, "{status}");
            }
        }
    }
}

#[test]
fn what_a_provider_declares_counts() {
    let refuses = Provider { refused_statuses: vec![409, 500], ..provider(ENFORCING) };
    let wait = |text: &str| Some(text.to_owned());
    let table = [
        // status  provider        retry-after   class                   wait
        (409, &refuses, None, Class::Refused, None),
        (500, &refuses, None, Class::Refused, None),
        (409, &declares(), None, Class::ConflictInFlight, None),
        (503, &declares(), wait("7"), Class::Overloaded, Some(7_000)),
        (503, &declares(), None, Class::Unknown, None),
        (503, &provider(ENFORCING), wait("7"), Class::Unknown, None),
        (503, &provider(ProviderClass::Advisory), wait("7"), Class::Unknown, None),
        (503, &Provider { class: ProviderClass::Advisory, ..declares() }, wait("7"), Class::Overloaded, Some(7_000)),
        (502, &declares(), wait("7"), Class::Unknown, None),
        (429, &provider(ENFORCING), wait("120"), Class::RateLimited, Some(120_000)),
        (429, &provider(ENFORCING), wait("99999999999999999999"), Class::RateLimited, Some(HOUR_MS)),
        (429, &provider(ENFORCING), wait("soon"), Class::RateLimited, None),
        (429, &provider(ENFORCING), None, Class::RateLimited, None),
        (200, &provider(ENFORCING), wait("120"), Class::Applied, None),
    ];
    for (status, provider, retry_after, class, wait_ms) in table {
        let found = http(Answer { retry_after: retry_after.clone(), ..answer(status) }, provider);

        assert_eq!((found.class, found.retry_after_ms), (class, wait_ms), "{status} {retry_after:?}");
    }
}

#[test]
fn an_id_is_short_and_holds_no_character_that_cannot_be_kept() {
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(9_000));
    for (body, id) in [(r#"{"id":"a\u0000b"}"#, "a\u{fffd}b".to_owned()), (&long, "x".repeat(500))] {
        let found = http(Answer { body: body.into(), ..answer(200) }, &provider(ProviderClass::Advisory));

        assert_eq!((found.class, found.external_id), (Class::Applied, Some(id)));
    }
}

#[test]
fn hc_21_an_error_member_without_a_value_is_no_error() {
    let files = [
        (include_str!("../data/handed/hc21-ok-1.json"), "pred_1"),
        (include_str!("../data/handed/hc21-ok-2.json"), "row_9"),
        (include_str!("../data/handed/hc21-ok-3.json"), "row_9"),
        (include_str!("../data/handed/hc21-ok-4.json"), "row_9"),
    ];
    for (body, id) in files {
        let found = http(Answer { body: body.into(), ..answer(200) }, &provider(ProviderClass::Advisory));

        assert_eq!((found.class, found.external_id.as_deref()), (Class::Applied, Some(id)), "{body}");
    }
}

#[test]
fn a_success_is_what_the_declared_rule_says() {
    let id = || Some("/id".to_owned());
    let ok = || Some(("/ok".to_owned(), json!(true)));
    let table = [
        // body                 id pointer  member  id required  class          id
        ("", None, None, false, Class::Applied, None),
        ("not json", None, None, false, Class::Applied, None),
        ("", id(), None, false, Class::Applied, None),
        ("", id(), None, true, Class::Unknown, None),
        ("not json", id(), None, false, Class::Unknown, None),
        ("not json", id(), None, true, Class::Unknown, None),
        (r#"{"id":"x1""#, id(), None, false, Class::Unknown, None),
        (r#"{"id":"x1"}"#, id(), None, true, Class::Applied, Some("x1")),
        (r#"{"id":17}"#, id(), None, true, Class::Applied, Some("17")),
        (r#"{"id":""}"#, id(), None, true, Class::Unknown, None),
        (r#"{"id":null}"#, id(), None, true, Class::Unknown, None),
        (r#"{"id":{"a":1}}"#, id(), None, true, Class::Unknown, None),
        (r#"{"other":1}"#, id(), None, true, Class::Unknown, None),
        (r#"{"other":1}"#, id(), None, false, Class::Applied, None),
        (r#"{"ok":true,"id":"x1"}"#, id(), ok(), true, Class::Applied, Some("x1")),
        (r#"{"ok":true}"#, None, ok(), false, Class::Applied, None),
        (r#"{"ok":false,"id":"x1"}"#, id(), ok(), true, Class::Refused, None),
        (r#"{"ok":"true"}"#, None, ok(), false, Class::Refused, None),
        (r#"{"id":"x1"}"#, id(), ok(), true, Class::Unknown, None),
        ("", None, ok(), false, Class::Unknown, None),
        ("<html>", None, ok(), false, Class::Unknown, None),
    ];
    for (body, external_id, member, external_id_required, class, expected) in table {
        let provider = Provider { external_id_required, ..provider(ENFORCING) };
        let success = Success { external_id, member };

        let found = retry::classify(&answered(Answer { body: body.into(), ..answer(200) }), &provider, &success, at(0));

        assert_eq!((found.class, found.external_id.as_deref()), (class, expected), "{body} {success:?}");
    }
}

#[test]
fn a_cut_off_success_is_unknown_and_a_cut_off_refusal_is_a_refusal() {
    for (status, class) in [
        (200, Class::Unknown),
        (204, Class::Unknown),
        (400, Class::Refused),
        (422, Class::Refused),
        (401, Class::Unauthorized),
        (429, Class::RateLimited),
        (302, Class::Redirect),
        (500, Class::Unknown),
    ] {
        let found = http(Answer { body_complete: false, ..answer(status) }, &provider(ENFORCING));

        assert_eq!(found.class, class, "{status}");
    }
}

#[test]
fn without_an_answer_the_bytes_decide() {
    use Phase::*;
    let table = [
        // phase     bytes  class
        (Prepared, 0, Class::HeldBack),
        (Resolve, 0, Class::NotSent),
        (Connect, 0, Class::NotSent),
        (Handshake, 0, Class::NotSent),
        (Request, 0, Class::NotSent),
        (Request, 1, Class::Unknown),
        (Request, 900, Class::Unknown),
        (Answered, 900, Class::Unknown),
    ];
    for (phase, bytes_sent, class) in table {
        let report = Report { phase, bytes_sent, answer: None, error: Some("reset".into()), handle: None };
        let success = Success { external_id: None, member: None };

        for provider in [provider(ENFORCING), provider(ProviderClass::Advisory)] {
            assert_eq!(retry::classify(&report, &provider, &success, at(0)).class, class, "{phase:?} {bytes_sent}");
        }
    }
}

#[test]
fn hc_28_every_phase_of_a_mail() {
    use Phase::*;
    let mail = Provider { smtp: true, ..provider(ProviderClass::Advisory) };
    let table = [
        // phase    reply       bytes  class
        (Resolve, None, 0, Class::NotSent),
        (Connect, None, 0, Class::NotSent),
        (Handshake, None, 0, Class::NotSent),
        (Handshake, Some(421), 0, Class::NotSent),
        (Handshake, Some(454), 0, Class::NotSent),
        (Handshake, Some(535), 0, Class::Unauthorized),
        (Handshake, Some(530), 0, Class::Unauthorized),
        (Handshake, Some(554), 0, Class::Refused),
        (Envelope, None, 0, Class::NotSent),
        (Envelope, None, 120, Class::NotSent),
        (Envelope, Some(450), 0, Class::NotSent),
        (Envelope, Some(550), 0, Class::Refused),
        (Envelope, Some(535), 0, Class::Refused),
        // Data began; no reply: silence after the final dot, or a connection that broke.
        (Request, None, 1, Class::Unknown),
        (Request, None, 5_000, Class::Unknown),
        (Answered, Some(250), 5_000, Class::Applied),
        (Answered, Some(451), 5_000, Class::Refused),
        (Answered, Some(421), 5_000, Class::Refused),
        (Answered, Some(429), 5_000, Class::Refused),
        (Answered, Some(552), 5_000, Class::Refused),
        (Answered, Some(554), 5_000, Class::Refused),
        (Answered, Some(354), 5_000, Class::Unknown),
        (Answered, Some(100), 5_000, Class::Unknown),
        (Answered, Some(0), 5_000, Class::Unknown),
        (Answered, Some(999), 5_000, Class::Unknown),
    ];
    for (phase, reply, bytes_sent, class) in table {
        let reply = reply.map(|status| Answer { body: b"Ok: queued".to_vec(), ..answer(status) });
        let report = Report { phase, bytes_sent, answer: reply.clone(), error: None, handle: Some("<id@x>".into()) };
        let success = Success { external_id: None, member: None };

        assert_eq!(retry::classify(&report, &mail, &success, at(0)).class, class, "{phase:?} {reply:?} {bytes_sent}");
    }
}

#[test]
fn a_cut_off_reply_to_the_final_dot_says_nothing() {
    let mail = Provider { smtp: true, ..provider(ProviderClass::Advisory) };
    for status in [250, 550, 451] {
        let success = Success { external_id: None, member: None };
        let report = answered(Answer { body_complete: false, ..answer(status) });

        assert_eq!(retry::classify(&report, &mail, &success, at(0)).class, Class::Unknown, "{status}");
    }
}

#[test]
fn an_id_that_is_no_id_is_cut() {
    let body = format!(r#"{{"id":"{}"}}"#, "å".repeat(10_000));

    let found = http(Answer { body: body.into(), ..answer(200) }, &provider(ENFORCING));

    assert_eq!(found.external_id.unwrap().chars().count(), retry::EXTERNAL_ID_CHARS_MAX);
}

/// A status that means "in use" only with its code, as some providers have it.
fn with_code() -> Provider {
    let rule = |status| InFlight { status, member: Some(("/errorCode".into(), json!("704"))) };
    let declared = Declared { in_flight: vec![rule(422), rule(409)], ..Declared::default() };
    Provider { declared, ..provider(ENFORCING) }
}

#[test]
fn a_key_in_use_is_told_from_a_refusal_of_the_same_status() {
    let table = [
        (422, r#"{"errorCode":"704"}"#, Class::ConflictInFlight),
        (409, r#"{"errorCode":"704"}"#, Class::ConflictInFlight),
        (422, r#"{"errorCode":"100"}"#, Class::Refused),
        (422, r#"{"errorCode":704}"#, Class::Refused),
        (422, "", Class::Refused),
        (422, "<html>704</html>", Class::Refused),
        (409, r#"{"errorCode":"100"}"#, Class::Unknown),
        (400, r#"{"errorCode":"704"}"#, Class::Refused),
        (500, r#"{"errorCode":"704"}"#, Class::Unknown),
    ];
    for (status, body, class) in table {
        let found = http(Answer { body: body.into(), ..answer(status) }, &with_code());

        assert_eq!(found.class, class, "{status} {body}");
    }
}

#[test]
fn a_marked_answer_repeats_and_keeps_its_class() {
    for (status, class) in [(200, Class::Applied), (400, Class::Refused), (500, Class::Unknown), (503, Class::Unknown)]
    {
        let found = http(Answer { replayed: true, ..answer(status) }, &provider(ENFORCING));
        let fresh = http(answer(status), &provider(ENFORCING));

        assert_eq!((found.class, fresh.class, fresh.repeats), (class, class, false), "{status}");
        assert_eq!(found.repeats, class != Class::Applied, "{status}: a success is a success, kept or not");
    }
}

#[test]
fn the_same_5xx_twice_under_one_key_is_the_same_error() {
    let ended = |status: Option<u16>| AttemptEnd {
        at: at(0),
        class: Class::Unknown,
        phase: Phase::Answered,
        bytes_sent: 9,
        status,
        detail: None,
        handle: None,
    };
    let table: [(u16, &[Option<u16>], bool); 8] = [
        (500, &[], false),
        (500, &[Some(500)], true),
        (500, &[Some(502), None, Some(500)], true),
        (500, &[Some(502), Some(503)], false),
        (503, &[Some(503)], true),
        (408, &[Some(408)], false),
        (409, &[Some(409)], false),
        (500, &[None], false),
    ];
    for (status, earlier, is_same) in table {
        let earlier: Vec<AttemptEnd> = earlier.iter().copied().map(ended).collect();

        assert_eq!(retry::is_same_error(&answered(answer(status)), earlier.iter()), is_same, "{status} {earlier:?}");
    }
    let silent = Report { answer: None, phase: Phase::Request, ..answered(answer(500)) };
    assert!(!retry::is_same_error(&silent, [ended(None)].iter()), "silence is no error that could be kept");
}

#[test]
fn earlier_attempts_are_compared_only_where_errors_are_kept_unmarked() {
    let keeps = |replays_errors, marks: bool| {
        let replayed = marks.then(|| ReplayMark { header: "Idempotent-Replayed".into(), equals: "true".into() });
        Provider { declared: Declared { replays_errors, replayed, ..Declared::default() }, ..provider(ENFORCING) }
    };
    let table = [
        // provider          attempts  status  compared
        (keeps(true, false), 2, 500, true),
        (keeps(true, false), 1, 500, false),
        (keeps(true, false), 2, 400, false),
        (keeps(true, true), 2, 500, false),
        (keeps(false, false), 2, 500, false),
    ];
    for (provider, attempts, status, compared) in table {
        let mut effect = effect(1, EffectState::Sending);
        effect.attempts = attempts;
        let found = http(answer(status), &provider);

        assert_eq!(retry::wants_earlier(&found, &effect, &provider), compared, "{attempts} {status}");
    }
}

#[test]
fn a_resume_of_an_n8n_that_is_still_starting_is_made_again() {
    // As n8n 2.41.1 answers every path while it starts.
    let table = [
        (200, "n8n is starting up. Please wait"),
        (404, "<!DOCTYPE html>\n<pre>Cannot POST /webhook-waiting/41</pre>"),
    ];
    for (status, body) in table {
        let report = answered(Answer { body: body.as_bytes().to_vec(), ..answer(status) });
        for is_safe_to_repeat in [true, false] {
            let read = retry::resumed(&report, &effect(1, EffectState::Sending), is_safe_to_repeat);
            assert_eq!(read.map(|read| read.class), Some(Class::Overloaded), "{status}");
        }
    }
}
