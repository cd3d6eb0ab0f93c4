//! Request templates: what goes in keeps every digit and cannot leave its place.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use effectgate_engine::connect::template::{Facts, Place, RenderError, Template, TemplateError};

const HC_09: &str = include_str!("data/hc09-a.json");

fn render(text: &str, place: Place, payload: &str) -> Result<String, RenderError> {
    let facts = Facts { payload, provider_key: "k/1 &\"x\"", target: "anna@example.test", effect_id: "eff_1" };
    Template::parse(text, place).unwrap().render(&facts)
}

#[test]
fn hc_09_the_payload_goes_out_byte_for_byte() {
    let odd = "{ \"a\" : 1e400,\n\t\"b\":0.1000000000000000055511151231257827 }";

    assert_eq!(render("{{ payload }}", Place::Json, HC_09).unwrap(), HC_09);
    assert_eq!(render("{{payload}}", Place::Json, odd).unwrap(), odd);
}

#[test]
fn hc_09_a_member_keeps_every_digit() {
    let body = r#"{"acc": {{ payload.account }}, "text": "no {{ payload.account }}"}"#;

    assert_eq!(
        render(body, Place::Json, HC_09).unwrap(),
        r#"{"acc": 9007199254740993, "text": "no 9007199254740993"}"#
    );
    assert_eq!(render("{{ payload.x }}", Place::Json, r#"{"x":0.10}"#).unwrap(), "0.10");
}

#[test]
fn values_in_paths_are_percent_encoded() {
    assert_eq!(
        render("/notes/{{ payload.id }}?ref={{ provider_key }}&to={{target}}", Place::Path, r#"{"id":"../a?b#c"}"#)
            .unwrap(),
        "/notes/..%2Fa%3Fb%23c?ref=k%2F1%20%26%22x%22&to=anna%40example.test"
    );
}

#[test]
fn values_in_json_stay_one_value_or_one_string() {
    let payload = r#"{"note":"a\"b\\c\n","list":[1,{"deep":[true]}],"none":null}"#;

    assert_eq!(
        render(
            r#"{"n": {{ payload.note }}, "s": "<{{ payload.note }}>", "k": {{ provider_key }}}"#,
            Place::Json,
            payload
        )
        .unwrap(),
        r#"{"n": "a\"b\\c\n", "s": "<a\"b\\c\n>", "k": "k/1 &\"x\""}"#
    );
    assert_eq!(render("{{ payload.list.1.deep.0 }}", Place::Json, payload).unwrap(), "true");
    assert_eq!(
        render(r#"["\"", {{ payload.list }}]"#, Place::Json, payload).unwrap(),
        r#"["\"", [1,{"deep":[true]}]]"#
    );
}

#[test]
fn forms_and_headers_take_single_values_only() {
    let payload = r#"{"n":12,"s":"a b&c","o":{},"z":null,"cr":"a\r\nb"}"#;

    assert_eq!(
        render("amount={{ payload.n }}&note={{ payload.s }}", Place::Form, payload).unwrap(),
        "amount=12&note=a%20b%26c"
    );
    for member in ["o", "z"] {
        let text = format!("{{{{ payload.{member} }}}}");
        assert_eq!(render(&text, Place::Form, payload), Err(RenderError::NotScalar { pointer: format!("/{member}") }));
    }
    assert_eq!(render("{{ payload.cr }}", Place::Header, payload), Err(RenderError::Control));
}

#[test]
fn a_missing_member_is_named() {
    for name in ["payload.a.b", "payload.list.9", "payload.list.x"] {
        let rendered = render(&format!("{{{{ {name} }}}}"), Place::Json, r#"{"a":1,"list":[]}"#);

        assert!(matches!(rendered, Err(RenderError::Missing { .. })), "{name}");
    }
}

#[test]
fn a_template_that_could_never_work_does_not_start() {
    for name in ["run_id", "payload.", "payload..a", "payload.a b", "", "target.x"] {
        let parsed = Template::parse(&format!("/x/{{{{ {name} }}}}"), Place::Path);

        assert_eq!(parsed, Err(TemplateError::UnknownName(name.to_owned())));
    }
    assert_eq!(Template::parse("/x/{{ target", Place::Path), Err(TemplateError::Unclosed));
    assert!(matches!(Template::parse(r#"{"a": {{ payload }}"#, Place::Json), Err(TemplateError::NotJson(_))));
}
