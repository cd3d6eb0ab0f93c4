//! Sampling: which runs a person looks at although every rule held. Decided by a hash of the key, not by chance, so
//! that a replay of the same key samples alike and nobody can ask again until the answer suits.

use sha2::{Digest, Sha256};

/// Tells whether `key` is picked at `rate`.
///
/// Units: `rate` is a share from 0.0 (none) to 1.0 (all). Anything else, NaN included, is not a rate and picks all:
/// the mistake then costs people's time, not their say.
///
/// Guarantees: stable over time and machines; a key picked at one rate is picked at every higher rate; another salt
/// picks other keys.
///
/// Construction: the first 8 bytes of `SHA-256(len(salt) as u64 big-endian ‖ salt ‖ key)`, read as a big-endian u64,
/// their upper 53 bits divided by 2^53, which gives a number in [0, 1) that a double holds exactly; picked if it is
/// below `rate`. The length keeps (salt, key) pairs apart.
pub fn picked(key: &str, salt: &str, rate: f64) -> bool {
    if !(0.0..=1.0).contains(&rate) {
        return true;
    }
    point(key, salt) < rate
}

fn point(key: &str, salt: &str) -> f64 {
    let mut hasher = Sha256::new();
    hasher.update((salt.len() as u64).to_be_bytes());
    hasher.update(salt.as_bytes());
    hasher.update(key.as_bytes());
    let digest = hasher.finalize();
    let mut first = [0_u8; 8];
    first.copy_from_slice(&digest[..8]);
    (u64::from_be_bytes(first) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::{picked, point};

    fn share(rate: f64) -> usize {
        (0..10_000).filter(|n| picked(&format!("ticket:{n}"), "reply", rate)).count()
    }

    #[test]
    fn the_ends_of_the_scale_pick_none_and_all() {
        assert_eq!(share(0.0), 0);
        assert_eq!(share(1.0), 10_000);
    }

    #[test]
    fn the_share_of_picked_keys_is_near_the_rate() {
        assert!((400..600).contains(&share(0.05)), "{}", share(0.05));
        assert!((4_800..5_200).contains(&share(0.5)), "{}", share(0.5));
    }

    #[test]
    fn a_key_is_picked_alike_every_time_and_at_every_higher_rate() {
        for n in 0..1_000 {
            let key = format!("order:{n}");

            assert_eq!(picked(&key, "s", 0.3), picked(&key, "s", 0.3));
            assert!(!picked(&key, "s", 0.3) || picked(&key, "s", 0.4));
        }
    }

    #[test]
    fn another_salt_picks_other_keys_and_the_border_between_salt_and_key_counts() {
        let picks = |salt: &str| (0..200).filter(|n| picked(&n.to_string(), salt, 0.5)).collect::<Vec<_>>();

        assert_ne!(picks("a"), picks("b"));
        assert_ne!(point("bc", "a"), point("c", "ab"));
    }

    #[test]
    fn something_that_is_no_rate_picks_all() {
        for rate in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
            assert!(picked("k", "s", rate));
        }
    }

    #[test]
    fn the_construction_does_not_change() {
        // Computed apart from this code: printf '\0\0\0\0\0\0\0\5reply''ticket:1' | sha256sum
        assert_eq!((point("ticket:1", "reply") * 1e6) as u64, GOLDEN);
    }

    const GOLDEN: u64 = 830_439;
}
