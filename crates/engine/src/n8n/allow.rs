//! Which addresses of the workflow tool may be called: the same origin as a base that the operator named, and below its
//! path. A worker names these addresses, so each is judged as text that may try to look like what it is not.
//!
//! Not here: calling them, and the guard on what a name resolves to ([`crate::connect::guard`]).

use url::{Origin, Url};

use crate::connectors::SettingError;

/// An address is a path and a signature; twice as long as browsers and proxies are sure to bear.
const URL_BYTES_MAX: usize = 2_048;

/// Why an address may not be called. In words without the address: it may carry a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    #[error("an address has at most {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("this is no http or https URL, spelled out and without blanks")]
    NoUrl,
    #[error("an address names no user and no password")]
    Userinfo,
    #[error("an address has no fragment (#)")]
    Fragment,
    #[error("the path hides where it leads: dots, doubled or encoded slashes, or an encoded % in it")]
    Disguised,
    #[error("only addresses at a base that the config names in [n8n] and below its path are called")]
    Elsewhere,
}

/// One beginning of addresses.
#[derive(Debug, Clone)]
struct Base {
    origin: Origin,
    /// Ends in a slash, so that `/n8n` lets `/n8n/x` pass and not `/n8nx`.
    path: String,
}

/// The beginnings of addresses that may be called.
#[derive(Debug, Clone)]
pub(super) struct Bases(Vec<Base>);

impl Bases {
    /// Judges the bases themselves by the same rules; `member` names them in a fault.
    pub(super) fn new<'a>(bases: impl IntoIterator<Item = (String, &'a str)>) -> Result<Self, Vec<SettingError>> {
        let (mut sound, mut faults) = (Vec::new(), Vec::new());
        for (member, text) in bases {
            match base(text) {
                Ok(base) => sound.push(base),
                Err(what) => {
                    faults.push(SettingError::new(
                        member,
                        what,
                        "Write it as in https://n8n.example.com/ or http://127.0.0.1:5678.",
                    ));
                }
            }
        }
        if faults.is_empty() { Ok(Self(sound)) } else { Err(faults) }
    }

    /// The address as it will be called.
    pub(super) fn allows(&self, text: &str) -> Result<Url, NotAllowed> {
        let url = plain(text)?;
        let is_below = |base: &Base| base.origin == url.origin() && url.path().starts_with(&base.path);
        if self.0.iter().any(is_below) { Ok(url) } else { Err(NotAllowed::Elsewhere) }
    }
}

fn base(text: &str) -> Result<Base, String> {
    let url = plain(text).map_err(|e| e.to_string())?;
    if url.query().is_some() {
        return Err("a base has no query".to_owned());
    }
    Ok(Base { origin: url.origin(), path: format!("{}/", url.path().trim_end_matches('/')) })
}

/// A URL that says what it means: nothing in its path is read otherwise by the next one who reads it.
fn plain(text: &str) -> Result<Url, NotAllowed> {
    if text.len() > URL_BYTES_MAX {
        return Err(NotAllowed::TooLong);
    }
    // URL parsers drop tabs and line breaks and take a backslash for a slash.
    if !text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
        return Err(NotAllowed::NoUrl);
    }
    let (scheme, rest) = text.split_once("://").ok_or(NotAllowed::NoUrl)?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(NotAllowed::NoUrl);
    }
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.is_empty() {
        return Err(NotAllowed::NoUrl);
    }
    if authority.contains('@') {
        return Err(NotAllowed::Userinfo);
    }
    if tail.contains('#') {
        return Err(NotAllowed::Fragment);
    }
    let path = tail.split('?').next().unwrap_or_default();
    let url = Url::parse(text).map_err(|_| NotAllowed::NoUrl)?;
    let is_as_written = path == url.path() || (path.is_empty() && url.path() == "/");
    if is_as_written && !is_disguised(path) { Ok(url) } else { Err(NotAllowed::Disguised) }
}

/// True where a proxy that decodes or tidies a path would come to another one than we judged.
fn is_disguised(path: &str) -> bool {
    let is_dots = |segment: &str| matches!(segment.split(';').next(), Some("." | ".."));
    path.contains("//") || path.split('/').any(is_dots) || path.split('%').skip(1).any(hides)
}

/// True for an encoded byte that means something in a path, or is no encoded byte at all.
fn hides(after_percent: &str) -> bool {
    let byte = after_percent.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    byte.is_none_or(|byte| byte.is_ascii_control() || matches!(byte, b'/' | b'\\' | b'.' | b'%' | b';' | b'?' | b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(list: &[&str]) -> Bases {
        Bases::new(list.iter().map(|text| ("url".to_owned(), *text))).unwrap()
    }

    #[test]
    fn addresses_at_the_base_and_below_its_path_are_allowed() {
        let at = bases(&["https://n8n.example.com", "http://127.0.0.1:5678/n8n"]);
        for url in [
            "https://n8n.example.com/webhook-waiting/4711?signature=ab",
            "https://N8N.example.com:443/webhook-waiting/4711/9f3c?approved=true&signature=ab%2F..%2F",
            "HTTPS://n8n.example.com/webhook/a%20b",
            "http://127.0.0.1:5678/n8n/webhook-waiting/1",
            "http://127.0.0.1:5678/n8n/",
        ] {
            assert!(at.allows(url).is_ok(), "{url}: {:?}", at.allows(url));
        }
    }

    #[test]
    fn another_origin_or_path_is_not_allowed() {
        let at = bases(&["https://n8n.example.com/n8n/", "http://127.0.0.1:5678/"]);
        for url in [
            "http://n8n.example.com/n8n/x",
            "https://n8n.example.com:8443/n8n/x",
            "https://n8n.example.com/n8nx",
            "https://n8n.example.com/n8n",
            "https://n8n.example.com/",
            "https://n8n.example.com.evil.test/n8n/x",
            "https://n8n.example.com./n8n/x",
            "http://127.0.0.1:5679/x",
            "http://127.0.0.2:5678/x",
            "http://169.254.169.254/latest",
        ] {
            assert_eq!(at.allows(url), Err(NotAllowed::Elsewhere), "{url}");
        }
    }

    #[test]
    fn an_address_that_hides_where_it_leads_is_not_allowed() {
        let at = bases(&["https://n8n.example.com/n8n/"]);
        for path in [
            "/n8n/../rest/login",
            "/n8n/./x",
            "/n8n/%2e%2e/rest",
            "/n8n/%2E%2E/rest",
            "/n8n/.%2e/rest",
            "/n8n/..%2frest",
            "/n8n/%2e%2e%2frest",
            "/n8n/%252e%252e/rest",
            "/n8n/..;/rest",
            "/n8n/x%5c..%5crest",
            "/n8n//evil.test/x",
            "/n8n/%00",
            "/n8n/%0d%0aHost:x",
            "/n8n/%zz",
            "/n8n/%2",
            "/n8n/..",
        ] {
            let url = format!("https://n8n.example.com{path}");
            assert_eq!(at.allows(&url), Err(NotAllowed::Disguised), "{url}");
        }
    }

    #[test]
    fn an_address_with_a_user_a_blank_or_another_scheme_is_not_allowed() {
        let at = bases(&["https://n8n.example.com/"]);
        let table = [
            ("https://n8n.example.com@evil.test/x", NotAllowed::Userinfo),
            ("https://a:b@n8n.example.com/x", NotAllowed::Userinfo),
            ("https://@n8n.example.com/x", NotAllowed::Userinfo),
            ("https://n8n.example.com/x#y", NotAllowed::Fragment),
            ("https://evil.test#n8n.example.com/", NotAllowed::Fragment),
            ("https://n8n.example.com\\@evil.test/x", NotAllowed::NoUrl),
            ("https://n8n.example.com/\tx", NotAllowed::NoUrl),
            ("https://n8n.example.com/\n", NotAllowed::NoUrl),
            (" https://n8n.example.com/x", NotAllowed::NoUrl),
            ("https:/n8n.example.com/x", NotAllowed::NoUrl),
            ("https:n8n.example.com/x", NotAllowed::NoUrl),
            ("https:///n8n.example.com/x", NotAllowed::NoUrl),
            ("//n8n.example.com/x", NotAllowed::NoUrl),
            ("/webhook-waiting/1", NotAllowed::NoUrl),
            ("file://n8n.example.com/x", NotAllowed::NoUrl),
            ("https://n8n.example.com/ü", NotAllowed::NoUrl),
            ("", NotAllowed::NoUrl),
        ];
        for (url, why) in table {
            assert_eq!(at.allows(url), Err(why), "{url}");
        }
        let long = format!("https://n8n.example.com/{}", "x".repeat(URL_BYTES_MAX));
        assert_eq!(at.allows(&long), Err(NotAllowed::TooLong));
    }

    #[test]
    fn a_base_that_is_no_base_is_refused_by_its_member() {
        for text in ["n8n", "ftp://n8n/", "https://u@n8n/", "https://n8n/?x", "https://n8n/#x", "https://n8n/a/../b"] {
            let faults = Bases::new([("allow_urls[1]".to_owned(), text)]).unwrap_err();
            assert_eq!(faults[0].member, "allow_urls[1]", "{text}");
        }
    }
}
