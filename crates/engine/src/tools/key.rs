//! The key of a tool's run: the operation and the key that the workflow set, so that one request may use several tools
//! and each of them once.

use effectgate_core::{
    digest::Digest,
    ids::EffectType,
    key::{Key, KeyParts, KeyPolicy, KeyReason},
};

use crate::{
    error::{EngineError, Result},
    reserve::KeyGiven,
};

/// The first part of every such key, and the version of this rule.
const SOURCE: &str = "tool";
const VERSION: &str = "1";

/// Joins `tool`, the effect type, the key and the rule's version, as the parts of any key are joined. A key that has the
/// full length by itself would have none left for the others: then its digest stands in its place. It brings a fifth
/// part, which no four parts can give, because a colon inside of one is encoded.
///
/// # Errors
/// The key breaks a rule for keys: the same ones, with the same length, as at every other way in.
pub(super) fn run_key(effect_type: &EffectType, key: &str, policy: &KeyPolicy) -> Result<(KeyGiven, Key)> {
    let key = Key::parse(key, policy).map_err(EngineError::BadKey)?;
    let parts = KeyParts {
        source: SOURCE.into(),
        event_type: effect_type.as_str().into(),
        external_id: key.as_str().into(),
        version: VERSION.into(),
    };
    match Key::from_parts(&parts, policy) {
        Ok(whole) => Ok((KeyGiven::Parts(parts), whole)),
        Err(error) if error.reason == KeyReason::TooLong => {
            let digest = Digest::of_parts(&[key.as_str().as_bytes()]);
            let text = format!("{SOURCE}:{effect_type}:sha256:{digest}:{VERSION}");
            let whole = Key::parse(&text, policy).map_err(EngineError::BadKey)?;
            Ok((KeyGiven::Whole(text), whole))
        }
        Err(error) => Err(EngineError::BadKey(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str) -> String {
        run_key(&EffectType::new("refund"), key, &KeyPolicy::default()).unwrap().1.as_str().to_owned()
    }

    #[test]
    fn a_key_in_its_full_length_is_taken_and_two_of_them_stay_two() {
        let (long, other) = ("ж".repeat(255), format!("{}д", "ж".repeat(254)));

        assert_eq!(of("order-17"), "tool:refund:order-17:1");
        assert_eq!(of("order:17"), "tool:refund:order%3A17:1");
        assert!(of(&long).starts_with("tool:refund:sha256:") && of(&long) != of(&other));
        let digest = of(&long).trim_start_matches("tool:refund:").trim_end_matches(":1").to_owned();
        assert_ne!(of(&digest), of(&long), "nobody can name another's digest");
        assert!(run_key(&EffectType::new("refund"), &"ж".repeat(256), &KeyPolicy::default()).is_err());
    }

    #[test]
    fn what_is_no_key_elsewhere_is_none_here() {
        for bad in ["", " ", "undefined", "null", "a:undefined", "{{ $json.id }}", "a@example.test", "a\nb"] {
            let refused = run_key(&EffectType::new("refund"), bad, &KeyPolicy::default());
            assert!(matches!(refused, Err(EngineError::BadKey(_))), "{bad:?}");
        }
    }
}
