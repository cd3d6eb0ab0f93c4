//! Passwords of local accounts: Argon2id, on blocking threads, a few at a time. The command line hashes with the same
//! function.
//!
//! What deliberately does not live here: who may try how often (`attempts`), and any rule about digits and signs
//! (NIST SP 800-63B section 3.1.1.2 advises against them).

use std::sync::{Arc, OnceLock};

use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _, password_hash::phc::PasswordHash};
use effectgate_engine::random;
use tokio::sync::Semaphore;

use super::common;

/// Of a new one. NIST SP 800-63B section 3.1.1.2 wants 15 where the password is all there is and 8 beside a second
/// factor; OWASP ASVS 5.0 6.2.1 wants 8 and recommends 15. Twelve, tries that are bounded and a list of the commonest
/// are what people bear for an account that is mostly for the first start. Older shorter ones go on working.
pub const CHARS_MIN: usize = 12;
/// Long sentences fit; hashing a megabyte would be work for nothing.
pub const BYTES_MAX: usize = 1_024;
/// Each hash takes 19 MiB and some 30 ms of one core (OWASP's parameters, Argon2id m = 19 MiB, t = 2, p = 1): two at a
/// time leave the other cores and the memory to the gate's own work.
const AT_ONCE: usize = 2;
/// Sign-ins that may wait for a turn: about a second's work. More are told to come back.
const WAITING_MAX: usize = 32;

/// Why a password was not hashed or not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    #[error("a password has at least {CHARS_MIN} characters")]
    TooShort,
    #[error("a password has at most {BYTES_MAX} bytes")]
    TooLong,
    /// Whoever guesses tries it first.
    #[error("this password is one of the first that are guessed; take a few words of your own")]
    Common,
    #[error("the password could not be hashed")]
    Failed,
    /// Too many sign-ins at once.
    #[error("too many people sign in at this moment")]
    Busy,
}

/// Hashes a new password: Argon2id with a random salt, in PHC form. Takes some 30 ms: call it on a blocking thread.
///
/// # Errors
/// Too short, too long, too common, or no randomness.
pub fn hash(password: &str) -> Result<String, PasswordError> {
    if password.chars().count() < CHARS_MIN {
        return Err(PasswordError::TooShort);
    }
    if password.len() > BYTES_MAX {
        return Err(PasswordError::TooLong);
    }
    if common::is_common(password) {
        return Err(PasswordError::Common);
    }
    Argon2::default().hash_password(password.as_bytes()).map(|h| h.to_string()).map_err(|_| PasswordError::Failed)
}

/// The same for somebody's account: their own name is no password.
///
/// # Errors
/// As [`hash`].
pub fn hash_for(name: &str, password: &str) -> Result<String, PasswordError> {
    if common::is_name(password, name) { Err(PasswordError::Common) } else { hash(password) }
}

fn verify(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

/// The turns of people who sign in.
pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)), places: Arc::new(Semaphore::new(WAITING_MAX)) }
    }
}

impl Passwords {
    /// Checks a password. Without a hash (no such account, or disabled) the same work is done against one that nobody
    /// knows the password of, and the answer is false.
    ///
    /// # Errors
    /// [`PasswordError::Busy`] when too many wait.
    pub(crate) async fn check(&self, password: String, hash: Option<String>) -> Result<bool, PasswordError> {
        if password.len() > BYTES_MAX {
            return Ok(false);
        }
        let place = self.places.clone().try_acquire_owned().map_err(|_| PasswordError::Busy)?;
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| PasswordError::Busy)?;
        let work = tokio::task::spawn_blocking(move || {
            // Held until the work is done, also if the caller has hung up.
            let _held = (place, turn);
            let fits = verify(&password, hash.as_deref().unwrap_or_else(|| nobody()));
            hash.is_some() && fits
        });
        work.await.map_err(|_| PasswordError::Failed)
    }
}

/// A hash of a password that was thrown away.
fn nobody() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash(&random::token()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_opens_its_own_hash_and_no_other() {
        let (passwords, kept) = (Passwords::default(), hash("correct horse").unwrap());

        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_eq!(passwords.check("correct horse".into(), Some(kept.clone())).await, Ok(true));
        assert_eq!(passwords.check("Correct horse".into(), Some(kept)).await, Ok(false));
        assert_eq!(passwords.check("correct horse".into(), None).await, Ok(false));
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        assert_eq!(hash("eleven char"), Err(PasswordError::TooShort));
        assert_eq!(hash(&"x".repeat(BYTES_MAX + 1)), Err(PasswordError::TooLong));
    }

    #[test]
    fn a_password_that_is_guessed_first_is_refused_and_nothing_is_asked_of_its_signs() {
        assert_eq!(hash("Password1234!"), Err(PasswordError::Common));
        assert_eq!(hash_for("berta.berg", "bertaberg2026"), Err(PasswordError::Common));
        assert!(hash("a few words of my own").is_ok());
    }

    #[tokio::test]
    async fn more_people_than_there_are_places_are_told_to_come_back() {
        let passwords = Passwords::default();
        let _all = passwords.places.clone().try_acquire_many_owned(u32::try_from(WAITING_MAX).unwrap()).unwrap();

        assert_eq!(passwords.check("whatever it is".into(), None).await, Err(PasswordError::Busy));
    }
}
