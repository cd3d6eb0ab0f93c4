//! The SLA clock of a flow: how much of the time to answer is left, and whether it stands still while people decide.

use effectgate_core::{approval::Approval, flow::Sla, run::Run, time::Timestamp};
use effectgate_lang::Msg;

use super::tongue::Tongue;

/// The clock as a reader sees it.
pub(crate) struct Clock {
    /// `3 hours left of 4 hours` or `late by 5 minutes, of 4 hours`.
    pub(crate) text: String,
    /// Whether it stands still while people decide.
    pub(crate) rule: String,
    pub(crate) is_late: bool,
}

impl Clock {
    pub(crate) fn new(sla: &Sla, run: &Run, approval: &Approval, now: Timestamp, tongue: &Tongue) -> Self {
        let left = left_ms(sla, run.created_at, approval, now);
        let (msg, span) = if left >= 0 { (Msg::SlaLeft, left) } else { (Msg::SlaLate, -left) };
        let (span, of) = (tongue.span(span), tongue.span(sla.answer_ms));
        let rule = if sla.stops_while_waiting { Msg::SlaStops } else { Msg::SlaRuns };
        Self { text: tongue.around(msg, &[("span", &span), ("of", &of)]), rule: tongue.say(rule), is_late: left < 0 }
    }
}

/// Milliseconds left of the time to answer; negative if it is over. Where the clock stops while people are asked, only
/// the time before the question counts.
fn left_ms(sla: &Sla, began: Timestamp, approval: &Approval, now: Timestamp) -> i64 {
    let until = approval.decided_at.unwrap_or(now);
    let end = if sla.stops_while_waiting { approval.created_at } else { until };
    sla.answer_ms - end.ms_since(began).max(0)
}
