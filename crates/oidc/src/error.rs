//! Why somebody was not signed in: the issuer is away, or something did not fit. Neither text holds a token, a code or
//! a name; both may be logged and shown.

/// Why somebody was not signed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The issuer cannot be reached, or says nothing that can be used. Another try may do.
    #[error("the issuer is not available: {0}")]
    Unavailable(String),
    /// The answer came back and is not taken. Another try may do; the same answer never does.
    #[error("sign-in refused: {0}")]
    Refused(#[from] Refusal),
}

/// What did not fit. Each is a reason of its own in the log, so that a misconfigured issuer is found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The person pressed cancel, or the issuer has a rule against them (RFC 6749 section 4.1.2.1: a word).
    #[error("the issuer says {0}")]
    ByIssuer(String),
    #[error("the answer belongs to another sign-in")]
    State,
    #[error("the answer names another issuer than the one that was asked")]
    AnotherIssuer,
    #[error("the answer names no issuer, and this issuer promised to")]
    NoIssuer,
    #[error("the answer holds no code")]
    NoCode,
    /// The token endpoint's word: `invalid_grant` for a code that is over or was used.
    #[error("the token endpoint says {0}")]
    Code(String),
    #[error("the token endpoint's answer cannot be read")]
    TokenAnswer,
    #[error("the token endpoint gave no ID token")]
    NoIdToken,
    #[error("the ID token is not signed")]
    Unsigned,
    #[error("the ID token is signed by an algorithm that is not allowed")]
    Algorithm,
    #[error("the ID token's signature does not fit the issuer's keys")]
    Signature,
    #[error("no key of the issuer fits the ID token")]
    UnknownKey,
    #[error("the ID token is for another audience")]
    Audience,
    #[error("the ID token is from another issuer")]
    TokenIssuer,
    #[error("the ID token belongs to another sign-in")]
    Nonce,
    #[error("the ID token is over, or from the future: are both clocks right?")]
    Time,
    #[error("the access token does not fit the ID token")]
    AccessToken,
    #[error("the userinfo answer is about somebody else")]
    AnotherPerson,
    #[error("the ID token's subject cannot be used")]
    Subject,
    #[error("the ID token is of a kind that is not taken")]
    Kind,
}

/// A word of RFC 6749: letters and underscores. Anything else that an answer puts there is not repeated.
pub(crate) fn word(text: &str) -> String {
    let is_word = !text.is_empty() && text.len() <= 64 && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if is_word { text.to_owned() } else { "an error".to_owned() }
}
