//! Identities with a prefix and a type: no function of the project takes two bare strings.
//!
//! A run's id is derived from (tenant, flow, key), so the primary key is the unique constraint and a caller who knows
//! the key can name the run. The id of an effect or approval is the run's id and its number within the run: every
//! table leads with the run, and no second index is needed to find a child.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 160 bits: two keys that share an id would cost 2^80 hashes to find; 128 bits would cost 2^64, which is in reach.
pub const RUN_ID_BYTES: usize = 20;
const RUN_ID_CHARS: usize = 32;

/// The id of a run: 160 bits of SHA-256 over tenant, flow and key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId([u8; RUN_ID_BYTES]);

impl RunId {
    /// Derives the id. Each part is preceded by its length, so that different part lists never meet.
    #[must_use]
    pub fn derive(tenant: &Tenant, flow: &FlowName, key: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [tenant.as_str(), flow.as_str(), key] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let mut bytes = [0; RUN_ID_BYTES];
        bytes.copy_from_slice(&digest[..RUN_ID_BYTES]);
        Self(bytes)
    }

    /// The chain of a tenant that belongs to no run: switches, keys, people. No flow may have an empty name, so it
    /// meets no run's id.
    #[must_use]
    pub fn house(tenant: &Tenant) -> Self {
        Self::derive(tenant, &FlowName(String::new()), "")
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads what [`as_bytes`](Self::as_bytes) gave; `None` if the length is wrong.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    fn code(&self) -> String {
        code_of(&self.0)
    }

    fn from_code(code: &str) -> Option<Self> {
        bytes_of(code).map(Self)
    }
}

/// The 32 characters of 160 bits.
fn code_of(bytes: &[u8; RUN_ID_BYTES]) -> String {
    let mut text = String::with_capacity(RUN_ID_CHARS);
    for five in bytes.chunks_exact(5) {
        let word = five.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        for shift in (0..8).rev() {
            text.push(char::from(ALPHABET[(word >> (shift * 5) & 31) as usize]));
        }
    }
    text
}

/// Reads what [`code_of`] wrote; there is one text for each id.
fn bytes_of(code: &str) -> Option<[u8; RUN_ID_BYTES]> {
    if code.len() != RUN_ID_CHARS {
        return None;
    }
    let mut bytes = Vec::with_capacity(RUN_ID_BYTES);
    for eight in code.as_bytes().chunks_exact(8) {
        let mut word = 0_u64;
        for c in eight {
            word = word << 5 | ALPHABET.iter().position(|a| a == c)? as u64;
        }
        bytes.extend_from_slice(&word.to_be_bytes()[3..]);
    }
    bytes.try_into().ok()
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run_{}", self.code())
    }
}

impl FromStr for RunId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        text.strip_prefix("run_").and_then(Self::from_code).ok_or(BadId { wanted: "run_" })
    }
}

/// The text is not an id of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id that begins with {wanted}")]
pub struct BadId {
    pub wanted: &'static str,
}

/// Ids of a run's children: the run's id and a number from 1.
macro_rules! child_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            pub run: RunId,
            pub n: i32,
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}{}"), self.run.code(), self.n)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                let bad = BadId { wanted: $prefix };
                let rest = text.strip_prefix($prefix).ok_or(bad.clone())?;
                let (code, number) = rest.split_at_checked(RUN_ID_CHARS).ok_or(bad.clone())?;
                let canonical = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
                match (RunId::from_code(code), number.parse()) {
                    (Some(run), Ok(n)) if canonical => Ok(Self { run, n }),
                    _ => Err(bad),
                }
            }
        }
        text_serde!($name);
    };
}

/// Debug and serde by the text form.
macro_rules! text_serde {
    ($name:ident) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = String::deserialize(d)?;
                text.parse().map_err(D::Error::custom)
            }
        }
    };
}
text_serde!(RunId);
child_id!(
    /// The id of an effect.
    EffectId, "eff_"
);
child_id!(
    /// The id of an approval.
    ApprovalId, "apr_"
);

/// What an id that stands for itself (no run's, no run's child's) is read from and shown as.
macro_rules! own_id {
    ($name:ident, $prefix:literal) => {
        impl $name {
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            /// Reads what [`as_bytes`](Self::as_bytes) gave; `None` if the length is wrong.
            #[must_use]
            pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), code_of(&self.0))
            }
        }
        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                text.strip_prefix($prefix).and_then(bytes_of).map(Self).ok_or(BadId { wanted: $prefix })
            }
        }
        text_serde!($name);
    };
}

/// The id of a replay plan: 160 random bits, drawn by the engine. Whoever knows it still needs the role.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplayId([u8; RUN_ID_BYTES]);

impl ReplayId {
    #[must_use]
    pub const fn new(bytes: [u8; RUN_ID_BYTES]) -> Self {
        Self(bytes)
    }
}
own_id!(ReplayId, "rpl_");

/// The id of a subscription: derived from the API key and the URL, so that registering again is the same one. Whoever
/// knows it still needs the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId([u8; RUN_ID_BYTES]);

impl SubscriptionId {
    /// Derives the id from a key's public id and the URL. Each part is preceded by its length.
    #[must_use]
    pub fn derive(api_key: &str, url: &str) -> Self {
        let mut hash = Sha256::new();
        for part in ["subscription", api_key, url] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let mut bytes = [0; RUN_ID_BYTES];
        bytes.copy_from_slice(&digest[..RUN_ID_BYTES]);
        Self(bytes)
    }
}
own_id!(SubscriptionId, "sub_");

/// The name of one event: the run, the journal entry that tells of it, and its place among that entry's events. The
/// same however often it is sent. No full stop in it: what is signed is put together with those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    pub run: RunId,
    pub seq: i64,
    pub place: i32,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evt_{}{}-{}", self.run.code(), self.seq, self.place)
    }
}

/// Names that are plain words with a type around them.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}
name!(
    /// Whose data it is. A caller's key or session is bound to one.
    Tenant
);
name!(
    /// The name of a flow in the config.
    FlowName
);
name!(
    /// The name of a provider in the config.
    ProviderName
);
name!(
    /// The name of an inbound source in the config.
    SourceName
);
name!(
    /// The name of an effect type in the config.
    EffectType
);
name!(
    /// Who holds a lease: any word of the caller's choice, usually a UUID. Bounded by [`OWNER_CHARS_MAX`].
    Owner
);

/// Long enough for a UUID with a host's name around it.
pub const OWNER_CHARS_MAX: usize = 200;

/// The number that rises at every claim; every later write names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(pub i64);

impl Fence {
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::derive(&Tenant::new("t"), &FlowName::new("f"), "k")
    }

    #[test]
    fn ids_survive_their_text_form() {
        let effect = EffectId { run: run(), n: 12 };

        assert_eq!(run().to_string().parse(), Ok(run()));
        assert_eq!(effect.to_string().parse(), Ok(effect));
        assert_eq!(run().to_string().len(), 36);
        let replay = ReplayId::new([7; RUN_ID_BYTES]);
        assert_eq!(replay.to_string().parse(), Ok(replay));
        assert!(run().to_string().parse::<ReplayId>().is_err(), "a run is no plan");
        let subscription = SubscriptionId::derive("k1", "http://n8n.test/webhook/a");
        assert_eq!(subscription.to_string().parse(), Ok(subscription));
        assert_ne!(subscription, SubscriptionId::derive("k1h", "ttp://n8n.test/webhook/a"));
    }

    #[test]
    fn an_id_has_one_text_form() {
        let text = EffectId { run: run(), n: 1 }.to_string();
        for bad in
            [text.replace("eff_", "apr_"), format!("{}01", &text[..36]), format!("{text}x"), text[..36].to_owned()]
        {
            assert!(bad.parse::<EffectId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn parts_that_join_alike_give_different_runs() {
        let a = RunId::derive(&Tenant::new("ab"), &FlowName::new("c"), "k");
        let b = RunId::derive(&Tenant::new("a"), &FlowName::new("bc"), "k");
        assert_ne!(a, b);
    }
}
