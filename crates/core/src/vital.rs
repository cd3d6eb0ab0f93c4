//! What a person wants to see first of a payload: whom it reaches and how much it moves, whatever order the model chose
//! (HC-34). One list for the card, the mail and the chat.

use crate::json::Json;

/// Names under which a payload says whom it reaches and how much it moves, in the order a reader wants them.
const NAMES: [&str; 14] = [
    "to",
    "cc",
    "bcc",
    "recipient",
    "recipients",
    "email",
    "phone",
    "account",
    "iban",
    "customer",
    "amount",
    "total",
    "currency",
    "subject",
];
/// A subject is read like a header, and moves nothing.
const HEADER: &str = "subject";

/// The members of a payload: who and how much first, then the rest in the order it goes out.
#[must_use]
pub fn ordered(members: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut ordered: Vec<&(String, Json)> = members.iter().collect();
    ordered.sort_by_key(|(name, _)| rank(name));
    ordered
}

/// True if the member says whom it reaches or how much it moves.
#[must_use]
pub fn is_vital(name: &str) -> bool {
    NAMES.contains(&name) && name != HEADER
}

/// True for the members that stand first.
#[must_use]
pub fn is_first(name: &str) -> bool {
    NAMES.contains(&name)
}

fn rank(name: &str) -> usize {
    NAMES.iter().position(|first| *first == name).unwrap_or(NAMES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hc_34_recipient_and_amount_come_first_whatever_order_the_model_chose() {
        let json = crate::json::parse(br#"{"text":"amount: 9.99","note":1,"amount":9999.00,"subject":"s","to":"a"}"#);
        let json = json.expect("this is JSON");
        let members = ordered(json.as_object().expect("an object"));

        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["to", "amount", "subject", "text", "note"]);
        assert!(is_vital("amount") && is_first("subject") && !is_vital("subject") && !is_first("text"));
    }
}
