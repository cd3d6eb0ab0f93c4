//! `[sources.NAME]`: one inbound door, `POST /in/NAME`: who may knock, which key an event has, and which worker is called
//! with it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{provider::AuthConfig, secret::Secret};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceConfig {
    pub(crate) flow: String,
    pub(crate) signature: SignatureConfig,
    /// The whole key: a JSON Pointer, `header:NAME`, or a text in single quotes. This or `key_parts`.
    pub(crate) key: Option<String>,
    pub(crate) key_parts: Option<KeyPartsConfig>,
    /// Left out: workers ask for runs with `POST /v1/runs/claim`.
    pub(crate) deliver: Option<DeliverConfig>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignatureConfig {
    pub(crate) scheme: SchemeWord,
    pub(crate) secret: Option<Secret>,
    pub(crate) secret_file: Option<PathBuf>,
    /// The secret before this one, taken as well while senders are moved over.
    pub(crate) secret_old: Option<Secret>,
    pub(crate) secret_old_file: Option<PathBuf>,
    /// How old a signed moment may be, and how far ahead. Default 5 min, as the Standard Webhooks specification and
    /// Stripe say.
    pub(crate) tolerance_ms: Option<i64>,
    /// hmac: where the signature stands. shared-secret: where the secret stands; default `Authorization: Bearer`.
    pub(crate) header: Option<String>,
    /// hmac: in front of the signature, as in `sha256=`.
    pub(crate) prefix: Option<String>,
    /// hmac: default hex.
    pub(crate) encoding: Option<EncodingWord>,
    /// hmac: where the signed moment stands (seconds, milliseconds or RFC 3339).
    pub(crate) timestamp_header: Option<String>,
    /// hmac: what is signed. Default `{body}`, and with `timestamp_header` `{timestamp}.{body}`.
    pub(crate) signed: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SchemeWord {
    StandardWebhooks,
    Stripe,
    Github,
    Hmac,
    SharedSecret,
    /// By name only: nobody gets it by leaving something out.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EncodingWord {
    Hex,
    Base64,
}

/// Each a JSON Pointer into the body, `header:NAME`, or a fixed text in single quotes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyPartsConfig {
    pub(crate) source: String,
    pub(crate) event_type: String,
    pub(crate) external_id: String,
    pub(crate) version: String,
}

/// The worker that is called with each run. It may lie in the own network: the operator names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliverConfig {
    pub(crate) url: String,
    pub(crate) auth: Option<AuthConfig>,
    /// A PEM file, trusted beside the machine's own roots.
    pub(crate) ca_file: Option<PathBuf>,
    /// Default 10 s: a webhook that answers at once takes milliseconds, one that answers at its end some seconds.
    #[serde(default = "ten_seconds")]
    pub(crate) timeout_ms: i64,
    /// Calls under way at once. Default 4: a workflow tool in its plain form works on about as many.
    #[serde(default = "four")]
    pub(crate) concurrent: i64,
    /// What a delivered run is claimed with. Default: the flow's `lease_ms`.
    pub(crate) lease_ms: Option<i64>,
    /// How long a run is offered to a worker that cannot be reached. Default 3 days: a long weekend.
    #[serde(default = "three_days")]
    pub(crate) give_up_ms: i64,
}

const fn ten_seconds() -> i64 {
    10_000
}

const fn four() -> i64 {
    4
}

const fn three_days() -> i64 {
    259_200_000
}
