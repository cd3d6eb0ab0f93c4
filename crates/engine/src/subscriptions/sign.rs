//! How an event is signed: as Standard Webhooks says, with a key that both sides make of the API key. So the node keeps
//! no secret of its own, and a database that is read gives no API key away.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use effectgate_core::digest::Digest;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What the key is made for, and in which form: another form would be another word.
const PURPOSE: &[u8] = b"effectgate webhook signature v1";

/// The signing key of an API key, of the SHA-256 of its whole token (what is stored of it):
/// `HMAC-SHA256(key = SHA-256(token), "effectgate webhook signature v1")`.
#[must_use]
pub fn signing_key(secret_hash: &Digest) -> [u8; 32] {
    mac(secret_hash.as_bytes(), PURPOSE)
}

/// The value of `webhook-signature`: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.
///
/// Units: `seconds` since 1970. Source: Standard Webhooks, section "Signature scheme".
#[must_use]
pub fn signature(key: &[u8; 32], id: &str, seconds: i64, body: &str) -> String {
    format!("v1,{}", STANDARD.encode(mac(key, format!("{id}.{seconds}.{body}").as_bytes())))
}

fn mac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::secret_hash;

    /// Computed beside this program, with Python's hashlib and hmac.
    #[test]
    fn a_signature_is_what_another_program_computes_of_the_api_key() {
        let token = "eg_0123456789abcdef_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_00000000";
        let key = signing_key(&secret_hash(token));

        assert_eq!(hex::encode(key), "1385d9453cf2e088e321d31d69bf6f7ba539fdc834d1cb3bf6391d3c22afc703");
        assert_eq!(
            signature(&key, "evt_1-0", 1_790_000_000, "{\"type\":\"run.failed\"}"),
            "v1,RFVELnJQLRxqF0SRAB4XIygZsUJjG8tB+VEjQwHPeYQ="
        );
    }
}
