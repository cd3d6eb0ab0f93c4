//! `[n8n]`: the workflow tool that waits for decisions and is told of events. Left out, nothing of it exists: no flow,
//! no provider, no address that a worker could name.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::secret::Secret;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct N8nConfig {
    /// What all its addresses begin with. Addresses that workers give are called at this origin and below this path.
    pub(crate) url: String,
    /// Further beginnings, such as the public one (`N8N_WEBHOOK_URL`) where `url` is the inner one.
    #[serde(default)]
    pub(crate) allow_urls: Vec<String>,
    /// For looking at an execution whose resume got no answer; needs the scope `execution:read` and nothing else.
    pub(crate) api_key: Option<Secret>,
    pub(crate) api_key_file: Option<PathBuf>,
    /// Default 10 s for one call.
    #[serde(default = "timeout_ms")]
    pub(crate) timeout_ms: i64,
    /// Default 4 resumes under way at once: each starts an execution over there, and n8n does some ten a second.
    #[serde(default = "concurrent")]
    pub(crate) concurrent: i64,
    /// A PEM file, trusted beside the machine's own roots.
    pub(crate) ca_file: Option<PathBuf>,
}

const fn timeout_ms() -> i64 {
    10_000
}

const fn concurrent() -> i64 {
    4
}
