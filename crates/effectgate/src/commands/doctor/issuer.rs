//! The issuer that people sign in with: does it answer, is it the one it should be, has it keys. Asked as at a sign-in;
//! nobody is signed in.

use effectgate_engine::clock::{Clock as _, SystemClock};

use super::Finding;
use crate::{config::OidcSettings, single_sign_on::single_sign_on};

pub(super) async fn look(oidc: Option<OidcSettings>, public_url: &str) -> Vec<Finding> {
    let Some(oidc) = oidc else { return Vec::new() };
    let (issuer, single_sign_on) = (oidc.issuer.clone(), single_sign_on(oidc, public_url));
    match single_sign_on.provider.look(SystemClock.now()).await {
        Ok(seen) => {
            let out = if seen.signs_out { "" } else { "; it cannot be told that somebody signs out" };
            let back = &single_sign_on.provider.settings().redirect_url;
            vec![Finding::ok("sign-in", format!("{issuer} answers with {} keys{out}; it must know {back}", seen.keys))]
        }
        Err(failed) => {
            let action = "Check auth.oidc.issuer and this machine's way to it; local accounts work without it.";
            vec![Finding::fail("sign-in", format!("{issuer}: {failed}"), action)]
        }
    }
}
