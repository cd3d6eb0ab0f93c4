//! `[providers.NAME]`: one external system. A flat section for both kinds; what does not belong to a kind is refused by
//! name when it is resolved, which reads better than a parser's "no variant matched".

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{budget::BudgetConfig, out::OutConfig, secret::Secret};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderConfig {
    /// A preset of the registry (`effectgate providers`): what this section leaves out is taken from it.
    pub(crate) preset: Option<String>,
    pub(crate) kind: ProviderKind,
    /// Default advisory: what nobody has declared cannot be relied on.
    #[serde(default)]
    pub(crate) class: ClassWord,

    // http
    pub(crate) url: Option<String>,
    pub(crate) auth: Option<AuthConfig>,
    /// Default `Idempotency-Key`; an enforcing provider must name it or `key_field`.
    pub(crate) key_header: Option<String>,
    pub(crate) key_field: Option<String>,
    pub(crate) key_window_ms: Option<i64>,
    /// Default 1 h: clocks differ, and the last re-issue has to arrive inside the window.
    pub(crate) key_window_margin_ms: Option<i64>,
    pub(crate) lookup: Option<LookupConfig>,
    /// Statuses that are a definite refusal over there, beyond 400, 401, 403, 404, 410 and 422.
    #[serde(default)]
    pub(crate) refused: Vec<u16>,
    /// Statuses documented as "nothing was done": 503 (with Retry-After).
    #[serde(default)]
    pub(crate) not_done: Vec<u16>,
    /// 409 means that our key is in use over there right now.
    #[serde(default)]
    pub(crate) conflict_in_flight: bool,
    /// The same, where the status alone does not say it.
    #[serde(default)]
    pub(crate) in_flight: Vec<InFlightConfig>,
    /// A 2xx without the id is not a success.
    #[serde(default)]
    pub(crate) external_id_required: bool,

    // smtp
    pub(crate) host: Option<String>,
    /// Default 587 (starttls, RFC 6409), 465 (tls, RFC 8314), 25 (none).
    pub(crate) port: Option<i64>,
    pub(crate) tls: Option<TlsWord>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<Secret>,
    pub(crate) password_file: Option<PathBuf>,
    /// Default: `notify.mail.from`, where that uses this provider.
    pub(crate) from: Option<String>,
    /// Default 600 s (RFC 5321 section 4.5.3.2.6): cut short, mails are sent twice.
    pub(crate) final_reply_timeout_ms: Option<i64>,

    // both
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// A PEM file, trusted beside the machine's own roots.
    pub(crate) ca_file: Option<PathBuf>,
    /// Default 2 s (http), 10 s (smtp).
    pub(crate) connect_timeout_ms: Option<i64>,
    /// Default: the same as `timeout_ms`.
    pub(crate) first_byte_timeout_ms: Option<i64>,
    /// Default 10 s (http), 300 s (smtp, the dialogue up to the final dot).
    pub(crate) timeout_ms: Option<i64>,
    /// How long an attempt that ended may take to be recorded before it is called lost. Default 30 s: a settlement
    /// waits out a database restart.
    pub(crate) sending_margin_ms: Option<i64>,
    #[serde(default)]
    pub(crate) rate: RateConfig,
    /// Default 5: with the default backoff about a minute; what fails longer wants a person.
    #[serde(default = "five")]
    pub(crate) attempts_max: i64,
    #[serde(default = "BackoffConfig::of_provider")]
    pub(crate) backoff: BackoffConfig,
    /// Default 1 h: a provider that asks for more is not waited for that long.
    #[serde(default = "an_hour")]
    pub(crate) retry_after_ms_max: i64,
    #[serde(default)]
    pub(crate) breaker: BreakerConfig,
    /// How much may leave in a window of time. Default: no limit beyond the rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) budgets: Vec<BudgetConfig>,
    pub(crate) facts: Option<FactsConfig>,
    /// Not a choice; here to be refused with the reason.
    pub(crate) retry_unknown: Option<bool>,
    /// The outbound door; left out: closed.
    pub(crate) out: Option<OutConfig>,
    /// Effect type -> request.
    #[serde(default)]
    pub(crate) effects: BTreeMap<String, RequestConfig>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderKind {
    Http,
    Smtp,
    /// Nothing leaves: the decision itself is the outcome.
    Record,
    /// Made of `[n8n]`; no section can be of it.
    #[serde(skip)]
    N8n,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClassWord {
    Enforcing,
    #[default]
    Advisory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TlsWord {
    None,
    Starttls,
    Tls,
}

/// One of bearer, username and password, or header and value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AuthConfig {
    pub(crate) bearer: Option<Secret>,
    pub(crate) bearer_file: Option<PathBuf>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<Secret>,
    pub(crate) password_file: Option<PathBuf>,
    pub(crate) header: Option<String>,
    pub(crate) value: Option<Secret>,
    pub(crate) value_file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RateConfig {
    /// Default 20: below what most providers allow for one account.
    pub(crate) per_second: f64,
    /// Attempts under way at once at this provider. Default: `dispatcher.workers`.
    pub(crate) concurrent: Option<i64>,
}

impl Default for RateConfig {
    fn default() -> Self {
        Self { per_second: 20.0, concurrent: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackoffConfig {
    pub(crate) base_ms: i64,
    pub(crate) max_ms: i64,
}

impl BackoffConfig {
    /// 1 s doubling to 60 s: a restart over there takes seconds, an outage minutes.
    const fn of_provider() -> Self {
        Self { base_ms: 1_000, max_ms: 60_000 }
    }

    /// 5 s doubling to 5 min: a model that is overloaded stays so for a while.
    pub(crate) const fn of_flow() -> Self {
        Self { base_ms: 5_000, max_ms: 300_000 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BreakerConfig {
    /// Default 5 transport failures in a row: one is weather, five are climate.
    pub(crate) failures: i64,
    /// Default 30 s.
    pub(crate) open_ms: i64,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { failures: 5, open_ms: 30_000 }
    }
}

/// Where what is declared here was read, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactsConfig {
    pub(crate) source: String,
    pub(crate) checked: String,
    /// Whether another body under a known key is refused over there.
    pub(crate) compares_body: Option<bool>,
    /// Whether an error is kept and given again under the same key. True: the same 5xx twice under one key goes to a
    /// person, where no mark (`replayed`) says more.
    pub(crate) replays_errors: Option<bool>,
    /// The header line that marks an answer which was kept.
    pub(crate) replayed: Option<ReplayMarkConfig>,
}

/// `{ header = "Idempotent-Replayed", equals = "true" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayMarkConfig {
    pub(crate) header: String,
    pub(crate) equals: String,
}

/// `{ status = 422, pointer = "/errorCode", equals = "704" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InFlightConfig {
    pub(crate) status: u16,
    pub(crate) pointer: String,
    pub(crate) equals: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RequestConfig {
    /// Default POST.
    pub(crate) method: Option<MethodWord>,
    pub(crate) path: Option<String>,
    /// Default `{{ payload }}`.
    pub(crate) body: Option<String>,
    /// Default json.
    pub(crate) content: Option<ContentWord>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) external_id: Option<String>,
    pub(crate) success: Option<MemberConfig>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum MethodWord {
    Post,
    Put,
    Patch,
    Delete,
}

impl MethodWord {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ContentWord {
    Json,
    Form,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberConfig {
    pub(crate) pointer: String,
    pub(crate) equals: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookupConfig {
    #[serde(default)]
    pub(crate) method: LookupMethodWord,
    pub(crate) path: String,
    pub(crate) found: Option<String>,
    pub(crate) list: Option<String>,
    pub(crate) in_progress: Option<MemberConfig>,
    /// How long the provider's index may lag. Default 2 min: search indexes of CRM and shop systems lag by tens of
    /// seconds.
    #[serde(default = "two_minutes")]
    pub(crate) settle_delay_ms: i64,
    /// True: absent after the settle delay proves that nothing happened. Default false.
    #[serde(default)]
    pub(crate) authoritative: bool,
    /// The pause between looks. Default 30 s.
    #[serde(default = "half_a_minute")]
    pub(crate) period_ms: i64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum LookupMethodWord {
    #[default]
    Get,
    Head,
}

const fn five() -> i64 {
    5
}

const fn an_hour() -> i64 {
    3_600_000
}

const fn two_minutes() -> i64 {
    120_000
}

const fn half_a_minute() -> i64 {
    30_000
}
