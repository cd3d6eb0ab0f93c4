//! Members whose wrong forms have a code of their own: a lease that is `null` is not a lease left out, a key that is the
//! number 17 is not the key "17". They are read whatever they are, and judged afterwards.

use std::collections::BTreeMap;

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use serde_json::value::RawValue;

use crate::problem::{Code, Problem, Result};

/// A member that wants a text, as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    Text(String),
    NotText,
}

/// A lease length as it was given. Units: milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseMs {
    Whole(i64),
    NotWhole,
}

impl LeaseMs {
    /// # Errors
    /// `bad_lease` for anything but a whole number; bounds are the flow's business.
    pub(crate) fn read(given: Option<Self>) -> Result<Option<i64>> {
        match given {
            None => Ok(None),
            Some(Self::Whole(ms)) => Ok(Some(ms)),
            Some(Self::NotWhole) => {
                let said = "a lease is a whole number of milliseconds; left out it is the flow's default";
                Err(Problem::new(Code::BadLease, said).at("/lease_ms"))
            }
        }
    }
}

/// Takes every JSON value, so that the caller can say what is wrong with it.
macro_rules! takes_anything {
    ($kind:ty, $otherwise:expr, { $($right:tt)* }) => {
        impl<'de> Visitor<'de> for Take<$kind> {
            type Value = $kind;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("any value")
            }
            $($right)*
            fn visit_bool<E>(self, _: bool) -> std::result::Result<$kind, E> { Ok($otherwise) }
            fn visit_f64<E>(self, _: f64) -> std::result::Result<$kind, E> { Ok($otherwise) }
            fn visit_unit<E>(self) -> std::result::Result<$kind, E> { Ok($otherwise) }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<$kind, A::Error> {
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok($otherwise)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> std::result::Result<$kind, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok($otherwise)
            }
        }
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
                d.deserialize_any(Take::<$kind>(std::marker::PhantomData))
            }
        }
    };
}

struct Take<T>(std::marker::PhantomData<T>);

takes_anything!(Given, Given::NotText, {
    fn visit_str<E>(self, text: &str) -> std::result::Result<Given, E> {
        Ok(Given::Text(text.to_owned()))
    }
    fn visit_i64<E>(self, _: i64) -> std::result::Result<Given, E> {
        Ok(Given::NotText)
    }
    fn visit_u64<E>(self, _: u64) -> std::result::Result<Given, E> {
        Ok(Given::NotText)
    }
});

takes_anything!(LeaseMs, LeaseMs::NotWhole, {
    fn visit_str<E>(self, _: &str) -> std::result::Result<LeaseMs, E> {
        Ok(LeaseMs::NotWhole)
    }
    fn visit_i64<E>(self, ms: i64) -> std::result::Result<LeaseMs, E> {
        Ok(LeaseMs::Whole(ms))
    }
    fn visit_u64<E>(self, ms: u64) -> std::result::Result<LeaseMs, E> {
        Ok(LeaseMs::Whole(i64::try_from(ms).unwrap_or(i64::MAX)))
    }
});

/// For a member where `null` is a value like others: `Some` whenever it is there.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(d).map(Some)
}

/// For a member of free JSON: its text as it came in, `null` included.
pub(crate) fn raw<'de, D: Deserializer<'de>>(d: D) -> std::result::Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(d).map(Some)
}

/// A flat object of words that goes into the journal: no nesting, no fractions, bounded.
#[derive(Debug, Clone, utoipa::ToSchema)]
#[schema(value_type = Object, example = json!({"source": "zendesk", "delivery_id": "d-77"}))]
pub(crate) struct Words(BTreeMap<String, Word>);

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a text, a whole number, a boolean or null")]
enum Word {
    Text(String),
    Whole(i64),
    Flag(bool),
    None(()),
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        d.deserialize_map(ReadWords)
    }
}

struct ReadWords;

impl<'de> Visitor<'de> for ReadWords {
    type Value = Words;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of texts, whole numbers and booleans")
    }

    /// A name that comes twice is refused here too: the hot path has no other reader for it.
    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> std::result::Result<Words, A::Error> {
        let mut words = BTreeMap::new();
        while let Some((name, word)) = map.next_entry::<String, Word>()? {
            if words.insert(name, word).is_some() {
                return Err(de::Error::custom("one object has this member twice"));
            }
        }
        Ok(Words(words))
    }
}

/// A journal entry is a line, not a document.
const WORDS_MAX: usize = 16;
const WORD_CHARS_MAX: usize = 500;

impl Words {
    /// # Errors
    /// `bad_member` for too many or too long words.
    pub(crate) fn read(words: Option<Self>, pointer: &str) -> Result<Option<serde_json::Value>> {
        let Some(Self(words)) = words else { return Ok(None) };
        if words.len() > WORDS_MAX {
            let said = format!("at most {WORDS_MAX} members");
            return Err(Problem::new(Code::BadMember, said).at(pointer));
        }
        let mut object = serde_json::Map::new();
        for (name, word) in words {
            text(&name, WORD_CHARS_MAX, pointer)?;
            let value = match word {
                Word::Text(word) => text(&word, WORD_CHARS_MAX, &format!("{pointer}/{name}")).map(|()| word.into())?,
                Word::Whole(n) => n.into(),
                Word::Flag(flag) => flag.into(),
                Word::None(()) => continue,
            };
            object.insert(name, value);
        }
        Ok(Some(object.into()))
    }
}

/// Checks a text that is stored beside JSON: bounded, and without U+0000, which PostgreSQL's text cannot hold.
///
/// # Errors
/// `bad_member` with the pointer.
pub(crate) fn text(text: &str, chars_max: usize, pointer: &str) -> Result<()> {
    if text.chars().count() > chars_max {
        return Err(Problem::new(Code::BadMember, format!("at most {chars_max} characters")).at(pointer));
    }
    if text.contains('\0') {
        return Err(Problem::new(Code::BadMember, "the character U+0000 cannot be kept here").at(pointer));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Lease {
        #[serde(default, deserialize_with = "given")]
        lease_ms: Option<LeaseMs>,
    }

    #[test]
    fn only_a_lease_left_out_is_the_default() {
        let read = |text: &str| LeaseMs::read(serde_json::from_str::<Lease>(text).unwrap().lease_ms);

        assert_eq!(read("{}").unwrap(), None);
        assert_eq!(read(r#"{"lease_ms":1000}"#).unwrap(), Some(1000));
        for bad in ["null", "0.4", "\"0\"", "1e9", "true", "[]", "{\"a\":1}"] {
            let problem = read(&format!(r#"{{"lease_ms":{bad}}}"#)).unwrap_err();
            assert_eq!(problem.code(), Code::BadLease, "{bad}");
        }
    }
}
