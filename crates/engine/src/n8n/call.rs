//! What is said at a place where an execution waits, and what kind of place it is.

use effectgate_core::approval::Resume;
use serde::{Deserialize, Serialize};
use url::Url;

/// The built-in flow of resumes. Made with `[n8n]`; no file can declare another of this name beside it.
pub const FLOW: &str = "n8n-resume";
/// The built-in provider, with a switch like any other.
pub const PROVIDER: &str = "n8n";
/// A place that asks us for the decision before it goes on: our own node, whose address names it. A second call there
/// does nothing.
pub const RESUME: &str = "resume";
/// A Wait node as it comes: whoever calls it a second time may resume the next one.
pub const RESUME_WAIT: &str = "resume_wait";
/// Who reserves in the built-in flow. No API key can have a name like this.
pub(crate) const CALLER: &str = "system:notifier";

/// The effect's payload: the address, and what is sent there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResumeCall {
    pub url: String,
    pub approval_id: String,
    pub run_id: String,
    /// `approved`, `rejected`, `expired` or `withdrawn`. Only a hint: whoever goes by it reads the decision from us.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl ResumeCall {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("strings always serialise")
    }

    /// What is sent.
    pub(crate) fn body(&self) -> String {
        let Self { approval_id, run_id, state, .. } = self;
        serde_json::json!({ "approval_id": approval_id, "run_id": run_id, "state": state }).to_string()
    }

    /// As people are shown it: without what gives the right to call.
    pub(crate) fn masked(&self) -> String {
        let url = Url::parse(&self.url).map(|mut url| {
            if url.query().is_some() {
                url.set_query(Some("***"));
            }
            url.to_string()
        });
        Self { url: url.unwrap_or_default(), ..self.clone() }.to_text()
    }
}

/// [`RESUME`] where the address ends in the execution and the node, as only addresses of a node do; else
/// [`RESUME_WAIT`].
#[must_use]
pub fn effect_type(place: &Resume) -> &'static str {
    let path = Url::parse(&place.url).map(|url| url.path().to_owned()).unwrap_or_default();
    let ends = |node: &String| path.ends_with(&format!("/{}/{node}", place.execution));
    if place.node.as_ref().is_some_and(ends) { RESUME } else { RESUME_WAIT }
}

/// The execution that an address names: the last number among the segments of its path.
#[must_use]
pub fn execution_in(url: &Url) -> Option<String> {
    let is_number = |segment: &&str| !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit());
    url.path_segments()?.rfind(is_number).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_ends_in_its_node_is_safe_to_repeat() {
        let place = |url: &str, node: Option<&str>| Resume::first(url.into(), "4711".into(), node.map(str::to_owned));
        let at = "http://n8n:5678/webhook-waiting/4711";
        assert_eq!(effect_type(&place(&format!("{at}/n-1?signature=a"), Some("n-1"))), RESUME);
        for (url, node) in [
            (format!("{at}?signature=a"), Some("n-1")),
            (format!("{at}/n-1?signature=a"), None),
            (format!("{at}/n-2?signature=a"), Some("n-1")),
            ("http://n8n:5678/webhook-waiting/4712/n-1".to_owned(), Some("n-1")),
        ] {
            assert_eq!(effect_type(&place(&url, node)), RESUME_WAIT, "{url}");
        }
    }

    #[test]
    fn an_execution_is_found_in_its_address() {
        let found = |url: &str| execution_in(&Url::parse(url).unwrap());
        assert_eq!(found("http://h/webhook-waiting/4711?signature=12").as_deref(), Some("4711"));
        assert_eq!(found("http://h/n8n/webhook-waiting/4711/9f3c").as_deref(), Some("4711"));
        assert_eq!(found("http://h/webhook/x"), None);
    }

    #[test]
    fn what_people_are_shown_gives_nobody_the_right_to_call() {
        let call = ResumeCall {
            url: "http://h/webhook-waiting/1?approved=x&signature=s3cret".into(),
            approval_id: "apr_1".into(),
            run_id: "run_1".into(),
            state: "approved".into(),
            node: None,
        };
        assert!(!call.masked().contains("s3cret") && call.masked().contains("webhook-waiting/1?***"));
        assert!(!call.body().contains("url"));
    }
}
