//! Whether a delivery is from whom it says: the scheme of a source, its secrets, and how old a signed moment may be.
//!
//! Here: the bounds, the clock and the comparing, which are the same for all. What a scheme puts where is in `schemes`;
//! which bytes were signed (as they came, or unpacked) is the caller's to say. Nothing here prints a secret.

mod schemes;

use effectgate_core::time::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::Sha256;

use schemes::Shown;
pub use schemes::{Encoding, HmacForm};

use crate::connectors::SettingError;

/// How a sender shows who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    /// The specification of that name: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
    StandardWebhooks,
    /// `Stripe-Signature: t=…,v1=…`.
    Stripe,
    /// `X-Hub-Signature-256: sha256=…`.
    Github,
    Hmac(HmacForm),
    /// The secret itself in a header; without a name as `Authorization: Bearer`.
    SharedSecret(Option<HeaderName>),
    /// Whoever reaches the door is believed. By name only.
    None,
}

/// A source's scheme with its secrets.
pub struct Signature {
    scheme: Scheme,
    /// The one in force, and while it is changed the one before.
    secrets: Vec<SecretSlice<u8>>,
    tolerance_ms: i64,
}

/// Why a delivery is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    /// No signature, or none that can be read.
    Missing,
    /// Signatures, none of which is ours.
    Wrong,
    /// Rightly signed, and longer ago (or further ahead) than the tolerance: what an eavesdropper sends again.
    Stale { age_ms: i64 },
}

/// What is shorter can be guessed: 128 random bits are 16 bytes, or 22 characters of base64.
const SECRET_BYTES_MIN: usize = 16;

impl Signature {
    /// Takes a scheme with its secrets, the one in force first.
    ///
    /// Units: `tolerance_ms` both ways, for the schemes that sign a moment.
    ///
    /// # Errors
    /// A secret that is missing, needless, too short, or not of the scheme's form.
    pub fn new(scheme: Scheme, secrets: &[SecretString], tolerance_ms: i64) -> Result<Self, SettingError> {
        let fault = |what: &str, advice: &str| Err(SettingError::new("secret", what, advice));
        match (&scheme, secrets.is_empty()) {
            (Scheme::None, false) => {
                return fault("the scheme none has no secret", "Leave it out, or name a scheme that signs.");
            }
            (Scheme::None, true) => {}
            (_, true) => {
                return fault("there is no secret", "Give secret or secret_file: it is the sender's credential.");
            }
            (_, false) => {}
        }
        let secrets = secrets.iter().map(|secret| read_secret(&scheme, secret)).collect::<Result<_, _>>()?;
        Ok(Self { scheme, secrets, tolerance_ms })
    }

    #[must_use]
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Judges a delivery by its headers and the bytes that were signed.
    ///
    /// Guarantees: compared in constant time; what is said of a wrong signature does not depend on how wrong it is; a
    /// moment is judged only after its signature.
    ///
    /// # Errors
    /// [`Unsigned`].
    pub fn judge(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<(), Unsigned> {
        let Some(shown) = self.scheme.shown(headers)? else { return Ok(()) };
        let is_ours = self.secrets.iter().any(|secret| is_signed_with(secret.expose_secret(), &shown, body));
        match shown.at {
            _ if !is_ours => Err(Unsigned::Wrong),
            Some(at) if now.ms_since(at).saturating_abs() > self.tolerance_ms => {
                Err(Unsigned::Stale { age_ms: now.ms_since(at) })
            }
            _ => Ok(()),
        }
    }
}

/// The key bytes of a secret as the scheme writes it.
fn read_secret(scheme: &Scheme, secret: &SecretString) -> Result<SecretSlice<u8>, SettingError> {
    let fault = |what: &str, advice: &str| SettingError::new("secret", what, advice);
    let text = secret.expose_secret();
    let bytes = match scheme {
        Scheme::StandardWebhooks => schemes::whsec(text).ok_or_else(|| {
            let what = "this is not a Standard Webhooks secret";
            fault(what, "Write whsec_ and random bytes in base64, as the sender shows it.")
        })?,
        _ => text.as_bytes().to_vec(),
    };
    if bytes.len() < SECRET_BYTES_MIN {
        return Err(fault(
            "the secret is shorter than 16 bytes and can be guessed",
            "Make one of 32 random characters.",
        ));
    }
    Ok(bytes.into())
}

/// Whether one of the signatures shown was made with this secret. All are looked at: which one fits is nobody's business.
fn is_signed_with(secret: &[u8], shown: &Shown<'_>, body: &[u8]) -> bool {
    let mac = || Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    if shown.is_secret {
        // Both are hashed under one key first, so that neither length nor a common beginning shows in the time taken.
        let ours = mac().chain_update(secret);
        let tags = shown.tags.iter().map(|tag| mac().chain_update(tag).finalize().into_bytes());
        return tags.fold(false, |found, tag| found | ours.clone().verify_slice(&tag).is_ok());
    }
    let mut ours = mac();
    shown.signed.iter().for_each(|piece| ours.update(piece.unwrap_or(body)));
    shown.tags.iter().fold(false, |found, tag| found | ours.clone().verify_slice(tag).is_ok())
}

#[cfg(test)]
mod tests;
