//! What the operators' forms send: read strictly (form encoding only, from a page of this visit), and checked before the
//! engine sees it. What cannot be taken comes back as words for the page, with what was typed kept.

use axum::{extract::Request, response::Response};
use effectgate_core::approval::REASON_CHARS_MAX;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{answer, decide::form, stale, visit::Visit};
use crate::{
    auth::csrf,
    problem::{Code, Problem},
};

/// A form that carries the token of its page, and can be written out again.
pub(super) trait Posted: DeserializeOwned + Serialize {
    fn csrf(&self) -> &str;
}

/// Reads the form that was posted to `path`. Another encoding is refused before anything else: a foreign page can send
/// text/plain (HC-33).
///
/// # Errors
/// The page that says why: `unsupported_media_type`, a form that is not whole, `cross_site`; to the last one that holds
/// what was typed, if the form came from a page of ours whose visit is over.
pub(super) async fn posted<T: Posted>(visit: &Visit, request: Request, path: &str) -> Result<T, Response> {
    let failed = |problem: Problem| answer::problem(&problem, Some(visit));
    if !csrf::is_media(request.headers(), "application/x-www-form-urlencoded") {
        return Err(failed(Problem::new(Code::UnsupportedMediaType, "only the form on the page does this")));
    }
    let form: T = form(request).await.map_err(failed)?;
    match visit.check_form(path, form.csrf()) {
        Ok(()) => Ok(form),
        Err(_) if stale::is_ours(visit) => Err(stale::kept(visit, path, fields(&form))),
        Err(problem) => Err(failed(problem)),
    }
}

/// Name and text of each field.
fn fields(form: &impl Posted) -> Vec<(String, String)> {
    let Ok(Value::Object(members)) = serde_json::to_value(form) else { return Vec::new() };
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    members.into_iter().map(|(name, value)| (name, text(value))).collect()
}

/// A reason as it can be kept, or what is wrong with it.
pub(super) fn reason(typed: &str) -> Result<String, &'static str> {
    let text = typed.replace("\r\n", "\n");
    let text = text.trim();
    match text.chars().count() {
        0 => Err("Write the reason: it goes into the journal, and the next person goes by it."),
        n if n > REASON_CHARS_MAX => Err("The reason is too long: 2,000 characters are the most."),
        _ if text.contains('\0') => Err("The reason holds a character that cannot be kept (U+0000)."),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_trimmed_and_bounded() {
        assert_eq!(reason(" called\r\noff \n"), Ok("called\noff".to_owned()));
        assert!(reason(" \r\n").is_err() && reason("a\0").is_err());
        assert!(reason(&"x".repeat(REASON_CHARS_MAX)).is_ok() && reason(&"x".repeat(REASON_CHARS_MAX + 1)).is_err());
    }
}
