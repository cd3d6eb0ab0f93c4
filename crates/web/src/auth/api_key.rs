//! API keys on the wire: one `Authorization: Bearer …` line, read strictly, found by public id, compared in constant
//! time. Failed tries are counted by peer address; an address over its limit is answered without a look-up, unless its
//! token was good before.

use std::{net::IpAddr, sync::Arc};

use effectgate_core::digest::Digest;
use effectgate_engine::keys::{self, KeyScope};
use effectgate_store::ApiKeyRow;
use http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use super::{KeyIdentity, failures};
use crate::{
    app::App,
    problem::{Code, Problem, Result},
};

/// Finds the API key in a request's headers; `None` if there is no `Authorization` line at all.
///
/// # Errors
/// `unauthorized` for anything but one good key, `too_many_failures`, the store.
pub(crate) async fn identify(app: &App, headers: &HeaderMap, peer: IpAddr) -> Result<Option<Arc<KeyIdentity>>> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let token = match (lines.next(), lines.next()) {
        (None, _) => return Ok(None),
        (Some(line), None) => line.to_str().ok().and_then(bearer),
        (Some(_), Some(_)) => None,
    };
    let Some(token) = token else {
        app.failures.count(peer);
        return Err(unauthorized("one line \"Authorization: Bearer <api key>\" is wanted"));
    };
    let hash = keys::secret_hash(token);
    let known = app.keys.get(&hash);
    if let Some((identity, true)) = known {
        return Ok(Some(identity));
    }
    if known.is_none() && app.failures.is_blocked(peer) {
        let said = "too many failed authentications from this address";
        return Err(Problem::new(Code::TooManyFailures, said).retry_after_ms(failures::RETRY_AFTER_MS));
    }
    match look_up(app, token, &hash).await? {
        Some(identity) => {
            let identity = Arc::new(identity);
            app.keys.put(hash, identity.clone());
            Ok(Some(identity))
        }
        None => {
            app.keys.drop_key(&hash);
            app.failures.count(peer);
            Err(unauthorized("this API key is not known here, or was revoked"))
        }
    }
}

/// The token after the scheme. One space, and nothing that a token cannot hold (RFC 6750 section 2.1).
fn bearer(line: &str) -> Option<&str> {
    let (scheme, token) = line.split_once(' ')?;
    let is_token = !token.is_empty() && token.len() <= keys::TOKEN_CHARS_MAX;
    let graphic = token.bytes().all(|b| b.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_token && graphic).then_some(token)
}

async fn look_up(app: &App, token: &str, hash: &Digest) -> Result<Option<KeyIdentity>> {
    let Some(public_id) = keys::public_id(token) else { return Ok(None) };
    let row = app.engine.store().api_key_find(&public_id).await?;
    Ok(row.filter(|row| is_good(row, hash)).map(identity))
}

fn is_good(row: &ApiKeyRow, hash: &Digest) -> bool {
    let same: bool = row.secret_hash.as_bytes().ct_eq(hash.as_bytes()).into();
    same && row.revoked_at.is_none()
}

fn identity(row: ApiKeyRow) -> KeyIdentity {
    KeyIdentity {
        public_id: row.public_id,
        tenant: row.tenant,
        name: row.name,
        scopes: row.scopes.iter().filter_map(|word| KeyScope::parse(word)).collect(),
        flows: row.flows,
    }
}

pub(crate) fn unauthorized(said: &str) -> Problem {
    Problem::new(Code::Unauthorized, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_space_and_a_plain_token_is_a_bearer_line() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer abc"), Some("abc"));
        for bad in ["Bearer", "Bearer ", "Bearer  abc", "Bearer a b", "Basic abc", "Bearer a\tb", "abc", ""] {
            assert_eq!(bearer(bad), None, "{bad:?}");
        }
    }
}
