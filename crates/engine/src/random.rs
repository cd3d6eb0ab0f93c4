//! The only room with randomness: jitter, tokens, names for owners.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::{Rng as _, RngCore as _};

/// From 0 to 1, for jitter.
#[must_use]
pub fn unit() -> f64 {
    rand::rng().random()
}

/// 256 random bits of the operating system's generator, base64url without padding: 43 characters.
#[must_use]
pub fn token() -> String {
    URL_SAFE_NO_PAD.encode(bytes::<32>())
}

/// Random bytes of the operating system's generator.
#[must_use]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}
