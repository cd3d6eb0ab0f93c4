//! `[providers.NAME.out]`: the outbound door of one provider. With `flow` the named flow's gate and approval hold; without
//! it the section says them itself, and a flow named `out.NAME` is made of it.

use serde::{Deserialize, Serialize};

use super::{
    flow::{GateWord, ImpactWord, RetentionConfig},
    provider::MethodWord,
};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OutConfig {
    /// A flow with an effect `http` at this provider; then it says the gate and all that follows.
    pub(crate) flow: Option<String>,
    /// No default: whoever opens a door says who decides. none, cancel_window or approve.
    pub(crate) gate: Option<GateWord>,
    /// With gate = "cancel_window".
    pub(crate) window_ms: Option<i64>,
    /// Default high, as for every effect.
    pub(crate) impact: Option<ImpactWord>,
    pub(crate) reversible: Option<bool>,
    /// With gate = "approve": `role:NAME` or mail addresses.
    pub(crate) audience: Vec<String>,
    pub(crate) retention: Option<RetentionConfig>,
    /// Beginnings of paths that are let through, segment by segment. No default: `/` allows everything that our
    /// credentials open over there.
    pub(crate) paths: Vec<String>,
    /// Default all four.
    pub(crate) methods: Option<Vec<MethodWord>>,
    /// Headers of the caller that are passed on and belong to the request. `Content-Type` and `Accept` always are.
    pub(crate) headers: Vec<String>,
    /// JSON Pointer to the provider's id in the answer; an answer without one is as good.
    pub(crate) external_id: Option<String>,
    /// How long a request waits for the outcome. Default: the provider's time-out and 5 s, 60 s at most.
    pub(crate) wait_ms: Option<i64>,
    /// Default 256 KiB: an answer is kept with the run and given again.
    pub(crate) answer_bytes_max: Option<i64>,
}
