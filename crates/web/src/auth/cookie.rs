//! The cookies: `session` (a signed-in person), `visit` (binds the forms of a visitor without a session; grants nothing),
//! and one for each single sign-on under way ([`super::underway`]). All HttpOnly and SameSite=Lax: a link in a mail is a navigation from another site and must find its
//! session, a form on another site must not. `__Host-` and Secure wherever the server is reached by https.

use http::{HeaderMap, HeaderValue, header};

use crate::app::WebSettings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    Session,
    Visit,
}

impl Cookie {
    /// `__Host-` keeps neighbours (other ports, subdomains) from planting one; browsers take it only with Secure.
    const fn name(self, secure: bool) -> &'static str {
        match (self, secure) {
            (Self::Session, true) => "__Host-effectgate-session",
            (Self::Session, false) => "effectgate-session",
            (Self::Visit, true) => "__Host-effectgate-visit",
            (Self::Visit, false) => "effectgate-visit",
        }
    }

    /// The cookie's value. Two different ones of one name were not both set by us, so neither counts.
    pub(crate) fn read(self, headers: &HeaderMap, settings: &WebSettings) -> Option<String> {
        let wanted = self.name(settings.cookie_secure);
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == wanted).map(|(_, value)| value);
        let first = values.next()?;
        values.all(|other| other == first).then(|| first.to_owned())
    }

    /// The header that sets it. `value` is base64url. Kept until the browser ends; the session's own end is the store's.
    pub(crate) fn set(self, value: &str, settings: &WebSettings) -> HeaderValue {
        self.header(value, "", settings)
    }

    /// The header that removes it.
    pub(crate) fn clear(self, settings: &WebSettings) -> HeaderValue {
        self.header("", "; Max-Age=0", settings)
    }

    /// True for the header that [`Cookie::clear`] made, with `Secure` or without.
    pub(crate) fn is_cleared_by(self, set: &HeaderValue) -> bool {
        let is_ours = |secure: bool| {
            set.as_bytes().strip_prefix(self.name(secure).as_bytes()).is_some_and(|rest| rest.starts_with(b"=;"))
        };
        is_ours(true) || is_ours(false)
    }

    fn header(self, value: &str, more: &str, settings: &WebSettings) -> HeaderValue {
        let secure = if settings.cookie_secure { "; Secure" } else { "" };
        let name = self.name(settings.cookie_secure);
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}");
        HeaderValue::from_str(&text).expect("base64url and fixed words are a header value")
    }
}

/// Name and value of every cookie of this family, newest header last. The suffix comes without the family's name.
pub(crate) fn family(family: &str, headers: &HeaderMap, settings: &WebSettings) -> Vec<(String, String)> {
    let begin = format!("{}effectgate-{family}-", prefix(settings));
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter_map(|(name, value)| Some((name.strip_prefix(&begin)?.to_owned(), value.to_owned()))).collect()
}

/// The header that sets one cookie of a family for a while; zero seconds remove it.
pub(crate) fn set_of(family: &str, suffix: &str, value: &str, seconds: u32, settings: &WebSettings) -> HeaderValue {
    let secure = if settings.cookie_secure { "; Secure" } else { "" };
    let name = format!("{}effectgate-{family}-{suffix}", prefix(settings));
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}; Max-Age={seconds}");
    HeaderValue::from_str(&text).expect("base64url and fixed words are a header value")
}

const fn prefix(settings: &WebSettings) -> &'static str {
    if settings.cookie_secure { "__Host-" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(cookie_secure: bool) -> WebSettings {
        WebSettings { cookie_secure, ..WebSettings::default() }
    }

    fn headers(line: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(line))])
    }

    #[test]
    fn hc_33_a_session_cookie_is_http_only_lax_and_secure() {
        let set = Cookie::Session.set("abc", &settings(true));
        assert_eq!(set, "__Host-effectgate-session=abc; Path=/; HttpOnly; SameSite=Lax; Secure");
    }

    #[test]
    fn a_planted_second_cookie_makes_both_worthless() {
        let read = |line| Cookie::Session.read(&headers(line), &settings(false));

        assert_eq!(read("a=1; effectgate-session=x; b=2"), Some("x".into()));
        assert_eq!(read("effectgate-session=x; effectgate-session=y"), None);
        assert_eq!(read("__Host-effectgate-session=x"), None);
    }
}
