//! Journal entries in words, for timelines. The entry stays the record; this is how it reads.

use effectgate_core::budget;
use effectgate_lang::{Language, span};
use serde_json::Value;

use crate::outbound;

/// One entry in a sentence. `target` is that of the effect it is about, empty where that is not known.
#[must_use]
pub(crate) fn of(kind: &str, facts: &Value, target: &str) -> String {
    let fact = |name: &str| match &facts[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) if items.iter().all(Value::is_string) => listed(&facts[name]),
        other => other.to_string(),
    };
    let lease = || facts["lease_ms"].as_i64().map_or_else(String::new, |ms| span(ms, Language::En));
    let because = |name: &str| {
        let why = fact(name);
        if why.is_empty() { why } else { format!(" ({why})") }
    };
    match kind {
        "reserved" => format!("reserved the key for {}, attempt 1", lease()),
        "accepted" if !fact("corrects").is_empty() => format!("accepted a correction of {}", fact("corrects")),
        "accepted" if !fact("source").is_empty() => format!("accepted the event from {}", fact("source")),
        "accepted" => "accepted the event".into(),
        "quarantined" if !fact("source").is_empty() => format!(
            "kept the event from {} and holds it back: {}{}",
            fact("source"),
            fact("reason").replace('_', " "),
            details(facts)
        ),
        "quarantined" => format!("holds it back: {}", fact("reason").replace('_', " ")),
        "claimed" if !fact("taken_over_from").is_empty() => {
            format!("took over from {}, attempt {}", fact("taken_over_from"), fact("attempt"))
        }
        "claimed" => format!("claimed it, attempt {}", fact("attempt")),
        "delivered" => format!("its worker took it: answered {}", fact("status")),
        "undelivered" if fact("next") == "undeliverable" => {
            format!("gave it up: no worker took it since {}{}", fact("since"), because("reason"))
        }
        "undelivered" => {
            format!("no worker took it{}; the next call at {}", because("reason"), fact("next_attempt_at"))
        }
        "renewed" => format!("renewed the lease for {}", lease()),
        "conflict" => "refused the same key with another payload".into(),
        "proposal_invalid" => format!("proposed something invalid: {}", fact("findings")),
        "proposed" => format!("proposed {}", counted(facts, "effects", "effect")),
        "auto_approved" => format!("let it go by rule: {}", fact("rules")),
        "approval_requested" => format!("asked {} to decide: {}", fact("audience"), fact("why")),
        "approval_token_issued" => format!("issued a link to {}", fact("audience")),
        "decided" => format!("decided: {}{}", fact("decision"), because("reason")),
        "edited" => format!("edited the effects in {}", counted(facts, "changes_total", "place")),
        "decision_refused" => format!("tried to decide and was refused: {}", fact("code")),
        "separation_waived" => match fact("what").as_str() {
            "own_edit" => "approved an own edit alone, which this flow allows by name".into(),
            _ => "decided on an own request, which this flow allows by name".into(),
        },
        "approval_reminded" => format!("reminded {}", fact("audience")),
        "approval_escalated" => format!("escalated to {}", fact("audience")),
        "approval_withdrawn" => format!("took the question back{}", because("reason")),
        "resume_asked" => format!("execution {} waits for the decision", fact("execution")),
        "notice_failed" => format!("could not tell {}", untold(facts)),
        "notice_delivered" => format!("told {}", listed(&facts["told"])),
        "approval_expired" if fact("outcome") == "undeliverable" => {
            "nobody decided in time: nobody could be told".into()
        }
        "approval_expired" => "nobody decided in time".into(),
        "effect_queued" => {
            format!("put {} into the outbox for {}", outbound::named(&fact("type"), target), fact("provider"))
        }
        "effect_begun" => format!("began {} at {} itself", fact("type"), fact("provider")),
        "budget_used_up" if fact("reason") == budget::TOO_SMALL => {
            format!("waits: it asks for more than the whole budget of {} allows", fact("budget"))
        }
        "budget_used_up" => format!("waits until {}: the budget of {} is used up", fact("until"), fact("budget")),
        "attempt_started" => format!("attempt {} at {}", fact("attempt"), fact("provider")),
        "attempt_ended" => {
            format!("attempt ended: {}{}, now {}", fact("outcome"), because("detail"), fact("next"))
        }
        "attempt_lost" => "an attempt has no end: its outcome is unknown".into(),
        "looked" if fact("reason") == "asked" => {
            format!("asked the provider: {}{}", fact("lookup").replace('_', " "), because("external_id"))
        }
        // Without a lookup nobody was asked, and the entry must not read as if somebody had been.
        "looked" if facts["lookup"].is_null() && fact("next") == "review" => {
            format!("handed it to a person: {}", fact("reason").replace('_', " "))
        }
        "looked" if facts["lookup"].is_null() && fact("reason") == "reissue" => {
            "sends it again under the same provider key".into()
        }
        "looked" => format!("looked{}: {}", because("lookup"), fact("reason").replace('_', " ")),
        "review_overdue" => "is still on the desk: its time to be settled is over".into(),
        "effect_cancelled" => format!("cancelled the effect{}", because("reason")),
        "effect_resolved" => format!("settled the effect: {}{}", fact("verdict"), because("reason")),
        "late_report" => format!("a late report says {}; nothing changed", fact("outcome")),
        "completed" => "completed".into(),
        // The reason is the class itself unless the run ends for another.
        "failed" if fact("class") == fact("reason") => format!("failed{}", because("class")),
        "failed" => format!("failed{}{}", because("class"), because("reason")),
        "abandoned" => format!("abandoned after {}", counted(facts, "attempts", "attempt")),
        "stuck" => format!("stands still in {}", fact("state")),
        "released" | "closed" => format!("{kind}{}", because("reason")),
        "replayed" => format!("recovered it by the replay {}{}", fact("replay"), because("reason")),
        "corrected" => format!("was corrected by {}{}", fact("by"), because("reason")),
        "replay_dry_run" => format!(
            "looked what a replay of {} would do: {} of {} runs",
            fact("flow"),
            fact("replayable"),
            fact("matching")
        ),
        "replay_planned" => format!(
            "planned a replay of {}: {} of {} runs{}",
            fact("flow"),
            fact("replayable"),
            fact("matching"),
            because("reason")
        ),
        "replay_started" => format!("began the replay {}{}", fact("replay"), because("reason")),
        "replay_ended" => {
            format!("ended the replay {}: {} recovered, {} skipped", fact("replay"), fact("done"), fact("skipped"))
        }
        "switch_turned" => format!("turned {}{}", switch(facts), because("reason")),
        "switch_receipt" => format!(
            "receipt for turning {}: {} queued, {} scheduled, {} leased, {} in flight, {} awaiting",
            switch(facts),
            fact("queued"),
            fact("scheduled"),
            fact("leased"),
            fact("in_flight"),
            fact("awaiting")
        ),
        "switch_drill" => format!(
            "drilled the switch {}: {} would be held, {} held already, {} in flight",
            scope(facts),
            fact("would_hold"),
            fact("held_already"),
            fact("in_flight")
        ),
        "subscription_created" | "subscription_changed" => {
            let flow = fact("flow");
            let of = if flow.is_empty() { String::new() } else { format!(" of {flow}") };
            let verb = if kind == "subscription_created" { "subscribed" } else { "changed the subscription of" };
            format!("{verb} {} to {}{of}", fact("to"), fact("events"))
        }
        "subscription_dropped" => format!(
            "dropped the subscription of {}{}",
            fact("to"),
            match fact("reason").as_str() {
                "gone" => " (nobody was there for ten minutes)",
                "key_revoked" => " (its API key was revoked)",
                _ => "",
            }
        ),
        "key_created" | "key_revoked" | "user_created" | "user_changed" => {
            format!("{} {}", kind.replace('_', " "), fact("name"))
        }
        other => other.replace('_', " "),
    }
}

/// ` (/data/id: required)`.
fn details(facts: &Value) -> String {
    let named = listed(&facts["details"]);
    if named.is_empty() { named } else { format!(" ({named})") }
}

/// `1 effect`, `2 effects`.
fn counted(facts: &Value, name: &str, noun: &str) -> String {
    let n = facts[name].as_i64().unwrap_or_default();
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `anna@example.test, role:lead`.
fn listed(names: &Value) -> String {
    let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}

/// `anna@example.test (the other side answered 550)`.
fn untold(facts: &Value) -> String {
    let one = |failed: &Value| Some(format!("{} ({})", failed["member"].as_str()?, failed["why"].as_str()?));
    let all: Vec<String> = facts["failed"].as_array().into_iter().flatten().filter_map(one).collect();
    if all.is_empty() { "anybody".to_owned() } else { all.join(", ") }
}

/// `everything` or `provider crm`.
fn scope(facts: &Value) -> String {
    match (facts["scope"].as_str().unwrap_or_default(), facts["name"].as_str().unwrap_or_default()) {
        ("all", _) => "everything".into(),
        (scope, name) => format!("{} {name}", scope.replace('_', " ")),
    }
}

fn switch(facts: &Value) -> String {
    format!("{} {}", scope(facts), if facts["enabled"] == true { "on" } else { "off" })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_settled_without_a_lookup_does_not_read_as_looked() {
        let handed = of("looked", &json!({"effect": "eff_1", "next": "review", "reason": "outcome_unknown"}), "");
        let again = of("looked", &json!({"effect": "eff_1", "next": "pending", "reason": "reissue"}), "");
        let looked = of("looked", &json!({"next": "review", "reason": "not_found", "lookup": "absent"}), "");

        assert_eq!(again, "sends it again under the same provider key");
        assert_eq!(handed, "handed it to a person: outcome unknown");
        assert_eq!(looked, "looked (absent): not found");
    }

    #[test]
    fn the_end_of_a_run_is_told_once_and_counted_in_words() {
        let failed = |reason: &str| of("failed", &json!({"class": "semantic", "reason": reason}), "");
        let abandoned = |attempts: i64| of("abandoned", &json!({ "attempts": attempts }), "");

        assert_eq!(failed("semantic"), "failed (semantic)");
        assert_eq!(failed("attempts_exhausted"), "failed (semantic) (attempts_exhausted)");
        assert_eq!(
            (abandoned(1).as_str(), abandoned(3).as_str()),
            ("abandoned after 1 attempt", "abandoned after 3 attempts")
        );
    }
}
