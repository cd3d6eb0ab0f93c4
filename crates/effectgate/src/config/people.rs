//! `[auth.*]` and `[sources.*]`: sign-in and inbound endpoints. Accepted and judged in shape; later releases put them in
//! force, and `check` says so.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{provider::AuthConfig, secret::Secret};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PeopleConfig {
    pub(crate) oidc: Option<OidcConfig>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OidcConfig {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<Secret>,
    pub(crate) client_secret_file: Option<PathBuf>,
    /// Group of the identity provider -> roles here.
    #[serde(default)]
    pub(crate) roles: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceConfig {
    pub(crate) flow: String,
    pub(crate) signature: SignatureConfig,
    pub(crate) key_parts: KeyPartsConfig,
    pub(crate) deliver: Option<DeliverConfig>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignatureConfig {
    pub(crate) scheme: SchemeWord,
    pub(crate) secret: Option<Secret>,
    pub(crate) secret_file: Option<PathBuf>,
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

/// Each a JSON Pointer into the body, or a fixed text in single quotes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyPartsConfig {
    pub(crate) source: String,
    pub(crate) event_type: String,
    pub(crate) external_id: String,
    pub(crate) version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliverConfig {
    pub(crate) url: String,
    pub(crate) auth: Option<AuthConfig>,
}
