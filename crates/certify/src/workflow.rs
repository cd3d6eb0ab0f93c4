//! A user's own workflow and the sandbox of its provider: where events are delivered, and the relay in front of the
//! sandbox, through which every effect of the workflow must go to be counted.

use std::net::SocketAddr;

use effectgate_relay::{Fault, LogLine, Match, Outcome, Relay, RelayError, RelaySettings, Rule, Upstream};
use http::Method;
use serde_json::Value;
use url::Url;

use crate::{
    evidence::{Done, Stop},
    http::{Answer, Ask, NoAnswer, send},
};

/// What an event looks like where the user gives none: a member that names it, as every webhook has.
pub const EVENT: &str =
    r#"{"id": "{{ id }}", "type": "effectgate.certify", "data": {"note": "a test, please ignore"}}"#;

/// A workflow, and the relay to the sandbox of its provider.
pub struct Workflow {
    settings: WorkflowSettings,
    relay: Relay,
}

/// How a workflow is triggered, and how its effects are counted.
#[derive(Debug, Clone)]
pub struct WorkflowSettings {
    /// Where events are delivered, by POST.
    pub trigger: Url,
    /// JSON text; each `{{ id }}` in it becomes the event's id.
    pub event: String,
    /// The sandbox.
    pub sandbox: String,
    /// Where the relay listens: the address that the workflow, or the gate behind it, has as its provider's.
    pub listen: SocketAddr,
    /// Only requests whose path begins so are effects; empty: all that change something.
    pub effect_path: String,
    /// Asks the sandbox itself how many effects there are, instead of counting requests.
    pub count: Option<Count>,
}

/// A question to the sandbox, and where in its JSON answer the number, or the list to be counted, stands.
#[derive(Debug, Clone)]
pub struct Count {
    pub url: Url,
    /// JSON Pointer; empty: the whole answer.
    pub pointer: String,
}

/// Effects as they stand at a moment, to be compared with a later one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// The number of the last exchange that had ended.
    last: u64,
    counted: usize,
}

impl Workflow {
    /// Starts the relay. `allow_public` allows a sandbox out in the open.
    ///
    /// # Errors
    /// The sandbox cannot be used, the address cannot be listened on.
    pub async fn start(settings: WorkflowSettings, allow_public: bool) -> Result<Self, RelayError> {
        let upstream = Upstream::http(&settings.sandbox)?;
        let relay = RelaySettings { listen: settings.listen, allow_public, ..RelaySettings::to(upstream) };
        let relay = Relay::start(RelaySettings { header_rules: false, ..relay }).await?;
        Ok(Self { settings, relay })
    }

    /// Where the relay listens.
    #[must_use]
    pub fn relay_url(&self) -> String {
        self.relay.url()
    }

    /// Delivers an event once, as its sender would.
    pub(crate) async fn deliver(&self, id: &str) -> Result<Answer, NoAnswer> {
        let event = self.settings.event.replace("{{ id }}", id);
        let ask = Ask::new(Method::POST, self.settings.trigger.clone()).body("application/json", event);
        send(ask).await
    }

    /// Loses the answer to the next request that changes something.
    pub(crate) fn lose_answer(&self) -> Done {
        let matches = |method: &str| Match {
            method: Some(method.to_owned()),
            path_prefix: Some(self.settings.effect_path.clone()).filter(|path| !path.is_empty()),
            ..Match::default()
        };
        self.relay.forget_rules();
        for method in CHANGING {
            let rule = Rule { matches: matches(method), ..Rule::next(Fault::ForwardThenDropResponse) };
            self.relay.add_rule(rule).map_err(|e| Stop::Error(e.to_string()))?;
        }
        Ok(())
    }

    /// Takes back what [`Self::lose_answer`] asked for and was not needed.
    pub(crate) fn lose_no_more(&self) {
        self.relay.forget_rules();
    }

    pub(crate) async fn mark(&self) -> Done<Mark> {
        let last = self.relay.log().iter().map(|line| line.number).max().unwrap_or(0);
        Ok(Mark { last, counted: self.counted().await?.unwrap_or(0) })
    }

    /// Requests that reached the sandbox since the mark and may have changed something there; a doubled one is two.
    pub(crate) fn requests(&self, since: Mark) -> Vec<LogLine> {
        let is_effect = |line: &LogLine| {
            line.number > since.last
                && CHANGING.contains(&line.method.as_str())
                && line.path.starts_with(&self.settings.effect_path)
                && !matches!(line.outcome, Outcome::KeptBack | Outcome::Refused | Outcome::UpstreamUnreachable)
        };
        self.relay.log().into_iter().filter(is_effect).collect()
    }

    /// Effects since the mark: as the sandbox counts them where it can be asked, else requests that it took.
    pub(crate) async fn effects(&self, since: Mark) -> Done<usize> {
        match self.counted().await? {
            Some(now) => Ok(now.saturating_sub(since.counted)),
            None => Ok(self.requests(since).iter().map(taken).sum()),
        }
    }

    /// What the sandbox says that there is; `None` where nobody said how to ask.
    async fn counted(&self) -> Done<Option<usize>> {
        let Some(count) = &self.settings.count else { return Ok(None) };
        let answer = send(Ask::new(Method::GET, count.url.clone())).await?;
        let json = answer.json();
        let number = match json.pointer(&count.pointer) {
            Some(Value::Array(items)) => Some(items.len()),
            Some(Value::Number(number)) => number.as_u64().and_then(|n| usize::try_from(n).ok()),
            _ => None,
        };
        let no_number =
            || Stop::Error(format!("the sandbox answered {} without a count at {:?}", answer.status, count.pointer));
        number.map(Some).ok_or_else(no_number)
    }
}

/// A sandbox that refuses has done nothing; anything else may have.
fn taken(line: &LogLine) -> usize {
    let may_have_acted = |status: Option<u16>| status.is_none_or(|s| !(400..500).contains(&s) || s == 408);
    let second = matches!(line.outcome, Outcome::Duplicated) && may_have_acted(line.second_status);
    usize::from(may_have_acted(line.status)) + usize::from(second)
}

const CHANGING: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];

#[cfg(test)]
mod tests {
    use effectgate_relay::By;

    use super::*;

    fn line(outcome: Outcome, status: Option<u16>, second_status: Option<u16>) -> LogLine {
        LogLine {
            number: 1,
            at_ms: 0,
            method: "POST".to_owned(),
            path: "/v1/refunds".to_owned(),
            fault: Fault::ForwardAndRespond,
            by: By::Mode,
            outcome,
            status,
            second_status,
            request_bytes: 2,
            answer_bytes: 2,
        }
    }

    #[test]
    fn a_request_counts_unless_the_sandbox_refused_it() {
        let table = [
            (Outcome::Answered, Some(201), None, 1),
            (Outcome::Dropped, Some(201), None, 1),
            // Nobody knows what it did.
            (Outcome::UpstreamCut, None, None, 1),
            (Outcome::Answered, Some(500), None, 1),
            (Outcome::Answered, Some(408), None, 1),
            (Outcome::Answered, Some(422), None, 0),
            (Outcome::Duplicated, Some(201), Some(201), 2),
            (Outcome::Duplicated, Some(201), Some(409), 1),
        ];
        for (outcome, status, second, effects) in table {
            assert_eq!(taken(&line(outcome, status, second)), effects, "{outcome:?} {status:?} {second:?}");
        }
    }
}
