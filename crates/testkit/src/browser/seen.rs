//! What the browser did and said behind the page, from its own log: every request that left, and what a script or a
//! policy wrote to the console.

use serde_json::{Value, json};

use super::Browser;

/// One request that a page made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub url: String,
    /// What asked for it, in Chromium's words: `Document`, `Stylesheet`, `Image`, `Fetch` …
    pub kind: String,
}

impl Browser {
    /// The requests since the last time this was asked.
    pub async fn requests(&self) -> Vec<Request> {
        self.log("performance").await.iter().filter_map(|entry| request_in(entry["message"].as_str()?)).collect()
    }

    /// The lines of the console since the last time this was asked: errors, warnings, refused loads.
    pub async fn console(&self) -> Vec<String> {
        let lines = self.log("browser").await;
        lines.iter().filter_map(|line| line["message"].as_str()).map(str::to_owned).collect()
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.wire.post("/se/log", &json!({ "type": kind })).await.unwrap_or_else(|e| panic!("log: {e:?}"));
        log.as_array().cloned().unwrap_or_default()
    }
}

fn request_in(message: &str) -> Option<Request> {
    let event: Value = serde_json::from_str(message).ok()?;
    let event = &event["message"];
    if event["method"] != "Network.requestWillBeSent" {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (request, kind) = (&event["params"]["request"], text(&event["params"]["type"]));
    let (method, url) = (text(&request["method"]), text(&request["url"]));
    // The empty first page of a window is no request.
    let leaves = url.starts_with("http");
    leaves.then_some(Request { method, url, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_from_the_log_and_other_events_are_not() {
        let event = |method: &str, url: &str| {
            let params = json!({ "type": "Image", "request": { "method": "GET", "url": url } });
            json!({ "message": { "method": method, "params": params } }).to_string()
        };

        let seen = request_in(&event("Network.requestWillBeSent", "http://127.0.0.1:1/x")).unwrap();

        assert_eq!(
            (seen.method.as_str(), seen.url.as_str(), seen.kind.as_str()),
            ("GET", "http://127.0.0.1:1/x", "Image")
        );
        assert_eq!(request_in(&event("Network.requestWillBeSent", "data:,")), None);
        assert_eq!(request_in(&event("Network.loadingFinished", "http://127.0.0.1:1/x")), None);
    }
}
