//! The page that asks who it is: a button for each person, so that a real browser has something to press.

use super::{Someone, form::Fields};

/// Plain words and buttons; the request's own members go along in hidden fields.
pub(super) fn choose(persons: &[Someone], asked: &Fields) -> String {
    let hidden: String = asked
        .iter()
        .map(|(name, value)| format!(r#"<input type="hidden" name="{}" value="{}">"#, text(name), text(value)))
        .collect();
    let button = |person: &Someone| {
        let (sub, name, groups) = (text(&person.sub), text(&person.name), text(&person.groups.join(", ")));
        format!(r#"<p><button name="chosen" value="{sub}">Sign in as {name}</button> <small>{groups}</small></p>"#)
    };
    let buttons: String = persons.iter().map(button).collect();
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Test issuer</title>\
         <meta name=\"viewport\" content=\"width=device-width\"></head><body><h1>Test issuer</h1>\
         <form method=\"post\" action=\"/authorize\">{hidden}{buttons}\
         <p><button name=\"chosen\" value=\"\">Cancel</button></p></form></body></html>"
    )
}

pub(super) fn signed_out() -> String {
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Test issuer</title></head>\
     <body><h1>Signed out of the test issuer</h1></body></html>"
        .to_owned()
}

fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
