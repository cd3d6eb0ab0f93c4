//! The one call that hands a run to its worker: the payload as it came, and in headers everything the worker needs to
//! speak of the run: its id, owner and fence. What the answer means is core's business.

use bytes::Bytes;
use effectgate_core::{
    delivery::{self, Handover},
    ids::SourceName,
    run::{Lease, Run},
    time::Timestamp,
};
use http::Method;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use secrecy::SecretString;

use super::DeliverPolicy;
use crate::connect::{
    AlwaysOpen,
    http::{HttpLimits, HttpRequest, send},
};

/// Says who asks, in the worker's log.
const USER_AGENT: &str = concat!("effectgate/", env!("CARGO_PKG_VERSION"));
/// Name look-up, connection and TLS: a worker that is there answers far sooner.
const CONNECT_MS: u64 = 2_000;
/// What the worker answers is not read beyond its status; this much lets it end its sentence.
const ANSWER_BYTES: usize = 64 * 1024;

/// Makes the call and says what came of it. `now` is read by the caller, for dates in the answer.
pub(super) async fn call(
    to: &DeliverPolicy,
    source: &SourceName,
    run: &Run,
    lease: &Lease,
    payload: String,
    now: Timestamp,
) -> Handover {
    let headers = headers(to, source, run, lease);
    let request = HttpRequest { method: Method::POST, url: to.url.clone(), headers, body: Bytes::from(payload) };
    let limits = HttpLimits {
        connect_ms: CONNECT_MS.min(to.timeout_ms),
        first_byte_ms: to.timeout_ms,
        total_ms: to.timeout_ms,
        answer_bytes_max: ANSWER_BYTES,
    };
    // No switch: a draft is no effect.
    let report = send(request, &limits, &to.guard, &to.tls, &AlwaysOpen).await;
    delivery::handover(&report, now)
}

fn headers(to: &DeliverPolicy, source: &SourceName, run: &Run, lease: &Lease) -> Vec<(String, SecretString)> {
    let owner = run.owner.as_ref().map_or("", |owner| owner.as_str());
    let ours = [
        ("Content-Type", "application/json".to_owned()),
        ("User-Agent", USER_AGENT.to_owned()),
        ("Effectgate-Run", run.id.to_string()),
        ("Effectgate-Owner", owner.to_owned()),
        ("Effectgate-Fence", run.fence.0.to_string()),
        ("Effectgate-Flow", run.flow.to_string()),
        ("Effectgate-Key", in_header(&run.key)),
        ("Effectgate-Attempt", run.attempts.to_string()),
        ("Effectgate-Lease-Expires-At", lease.expires_at.to_string()),
        ("Effectgate-Source", source.to_string()),
    ];
    let ours = ours.into_iter().map(|(name, value)| (name.to_owned(), SecretString::from(value)));
    ours.chain(to.auth.clone()).collect()
}

/// In a key that is not plain ASCII: what a header cannot carry, and `%`, so that there is one way back.
const NOT_PLAIN: &AsciiSet = &CONTROLS.add(b'%').add(b' ');

/// A key as a header can carry it: plain ASCII as it is, else percent-encoded UTF-8.
fn in_header(key: &str) -> String {
    let is_plain = key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if is_plain { key.to_owned() } else { utf8_percent_encode(key, NOT_PLAIN).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_a_header_is_plain_or_percent_encoded() {
        let table = [
            ("shop:order.created:4711:1", "shop:order.created:4711:1"),
            ("a%3Ab:1", "a%3Ab:1"),
            ("заказ-17%", "%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7-17%25"),
        ];
        for (key, wanted) in table {
            assert_eq!(in_header(key), wanted);
        }
    }
}
