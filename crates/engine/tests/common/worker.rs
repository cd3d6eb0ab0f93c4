//! The worker of a source: where its runs are brought, and under which bounds.

use effectgate_core::ids::FlowName;
use effectgate_engine::{
    connect::tls::Tls,
    connectors::Auth,
    inbound::{DeliverPolicy, DeliverSettings, KeyRule, KeyWord, Scheme, Signature, SourcePolicy},
};

use super::options::HOUR;

#[derive(Clone)]
pub struct WorkerAt {
    pub url: String,
    pub timeout_ms: u64,
    pub concurrent: usize,
    pub lease_ms: i64,
    pub give_up_ms: i64,
}

impl WorkerAt {
    pub fn new(url: &str) -> Self {
        let url = format!("{url}/webhook/ticket");
        Self { url, timeout_ms: 10_000, concurrent: 4, lease_ms: 60_000, give_up_ms: 72 * HOUR }
    }

    /// A source whose flow is `ticket`.
    pub(super) fn source(&self) -> SourcePolicy {
        let settings = DeliverSettings {
            url: self.url.parse().unwrap(),
            auth: Some(Auth::Bearer("worker-token".into())),
            timeout_ms: self.timeout_ms,
            concurrent: self.concurrent,
            lease_ms: self.lease_ms,
            give_up_ms: self.give_up_ms,
        };
        SourcePolicy {
            flow: FlowName::new("ticket"),
            signature: Signature::new(Scheme::None, &[], 300_000).unwrap(),
            key: KeyRule::Whole(KeyWord::parse("/id").unwrap()),
            deliver: Some(DeliverPolicy::new(settings, Tls::new(None).unwrap()).map_err(drop).unwrap()),
        }
    }
}
