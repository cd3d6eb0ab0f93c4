//! A secret as the config writes it: the text itself, or `env:NAME`. Printing it gives three stars, whoever prints.
//! Files (`*_file`) and the environment are read when the config is resolved.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MASK: &str = "***";

/// The text of a secret member.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The environment variable it points at.
    pub(crate) fn env_name(&self) -> Option<&str> {
        self.0.strip_prefix("env:")
    }

    /// The text as written. Only for the place that turns it into a value that hides itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.env_name().is_some() { &self.0 } else { MASK })
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{self:?}"))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or env:NAME")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret::new(text))
    }

    /// A password of digits that came by the environment, where everything that looks like a number is one.
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Secret, E> {
        Ok(Secret::new(number.to_string()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Secret, E> {
        Ok(Secret::new(number.to_string()))
    }

    /// Not repeated in the error, and not guessed: 1.50 would have become 1.5.
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Secret, E> {
        Err(E::custom("a number with a point where a text is expected: put it in quotes"))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Secret, E> {
        Err(E::custom("true or false where a text is expected: put it in quotes"))
    }
}
