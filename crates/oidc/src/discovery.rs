//! The discovery document (OpenID Connect Discovery 1.0 section 3): what is read of it, and what it must say.

use serde::Deserialize;
use url::Url;

use crate::error::Failed;

/// What is read of the document. Everything else in it is ignored.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Discovery {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    pub(crate) jwks_uri: Url,
    pub(crate) userinfo_endpoint: Option<Url>,
    pub(crate) end_session_endpoint: Option<Url>,
    /// Left out: `client_secret_basic`.
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// RFC 9207 section 3.
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

impl Discovery {
    /// Reads a document and holds it against the issuer that was asked.
    pub(crate) fn read(bytes: &[u8], issuer: &str) -> Result<Self, Failed> {
        let read: Self = serde_json::from_slice(bytes)
            .map_err(|error| unusable(format!("its discovery document cannot be read: {error}")))?;
        if read.issuer != issuer {
            let said: String = read.issuer.chars().take(200).collect();
            return Err(unusable(format!("its discovery document says that its name is {said:?}, not {issuer:?}")));
        }
        read.endpoints_are_safe(issuer)?;
        Ok(read)
    }

    /// An issuer by https names no endpoint in clear: codes and secrets go there.
    fn endpoints_are_safe(&self, issuer: &str) -> Result<(), Failed> {
        let is_local = issuer.starts_with("http://");
        let named = [&self.authorization_endpoint, &self.token_endpoint, &self.jwks_uri].into_iter();
        let all = named.chain(&self.userinfo_endpoint).chain(&self.end_session_endpoint);
        let is_safe = |url: &Url| url.scheme() == "https" || (is_local && url.scheme() == "http");
        match all.into_iter().find(|url| !is_safe(url)) {
            None => Ok(()),
            Some(url) => Err(unusable(format!("it names an endpoint that is not https: {}", place(url)))),
        }
    }

    /// True if the secret goes into the form because the issuer does not take it in a header.
    pub(crate) fn wants_secret_in_form(&self) -> bool {
        let has = |methods: &Vec<String>, word: &str| methods.iter().any(|method| method == word);
        self.token_endpoint_auth_methods_supported
            .as_ref()
            .is_some_and(|methods| !has(methods, "client_secret_basic") && has(methods, "client_secret_post"))
    }
}

/// Where the document is (Discovery section 4.1).
pub(crate) fn document(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
}

/// A URL without what may be secret in it.
pub(crate) fn place(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

pub(crate) fn unusable(why: String) -> Failed {
    Failed::Unavailable(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"{"issuer":"https://sso.test","authorization_endpoint":"https://sso.test/a",
        "token_endpoint":"https://sso.test/t","jwks_uri":"https://sso.test/k","more":1}"#;

    fn refused(document: &str, issuer: &str) -> String {
        Discovery::read(document.as_bytes(), issuer).unwrap_err().to_string()
    }

    #[test]
    fn a_document_of_another_issuer_is_refused() {
        assert!(Discovery::read(SOUND.as_bytes(), "https://sso.test").is_ok());
        for other in ["https://sso.test/", "https://SSO.test", "https://evil.test"] {
            assert!(refused(SOUND, other).contains("says that its name is"), "{other}");
        }
    }

    #[test]
    fn an_endpoint_in_clear_is_refused() {
        let clear = SOUND.replace("https://sso.test/t", "http://sso.test/t");
        assert!(refused(&clear, "https://sso.test").contains("not https"));
    }

    #[test]
    fn the_secret_goes_into_the_form_only_where_the_header_is_not_taken() {
        let with = |methods: &str| {
            let text = SOUND.replace("\"more\":1", &format!("\"token_endpoint_auth_methods_supported\":{methods}"));
            Discovery::read(text.as_bytes(), "https://sso.test").unwrap().wants_secret_in_form()
        };
        assert!(with(r#"["client_secret_post"]"#));
        assert!(!with(r#"["client_secret_post","client_secret_basic"]"#));
        assert!(!with(r#"["private_key_jwt"]"#));
    }
}
