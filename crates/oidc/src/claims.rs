//! What a checked token says about a person, in this house's words. Bounded: an issuer that lists ten thousand groups
//! is not allowed to fill the session table.

use std::fmt;

use serde_json::{Map, Value};

use crate::{error::Refusal, settings::Settings};

/// OpenID Connect Core section 2: a subject has at most 255 ASCII characters.
const SUBJECT_CHARS_MAX: usize = 255;
const NAME_CHARS_MAX: usize = 200;
/// RFC 5321 section 4.5.3.1.3.
const EMAIL_CHARS_MAX: usize = 254;
/// More groups than any directory gives a person who still works; what is beyond is dropped.
const GROUPS_MAX: usize = 1_000;
const GROUP_CHARS_MAX: usize = 256;
/// Kept to sign out with; a larger one is not worth a row of the session table.
const ID_TOKEN_BYTES_MAX: usize = 8_192;

/// A person as the issuer vouches for them.
#[derive(Clone, PartialEq, Eq)]
pub struct Claimed {
    pub issuer: String,
    /// Stable within the issuer, and the only thing that identifies the person.
    pub sub: String,
    pub name: Option<String>,
    /// Only one that the issuer says it has verified: anybody can write any address into a profile.
    pub email: Option<String>,
    pub groups: Vec<String>,
    /// What the tenant's claim says, where the settings name one.
    pub tenant: Option<String>,
    /// To sign out with. A secret: it names the person.
    pub id_token: Option<String>,
}

impl fmt::Debug for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed")
            .field("issuer", &self.issuer)
            .field("groups", &self.groups.len())
            .finish_non_exhaustive()
    }
}

/// True if the ID token says nothing of groups, so that userinfo is worth asking.
pub(crate) fn lacks_groups(claims: &Map<String, Value>, settings: &Settings) -> bool {
    find(claims, &settings.groups_claim).is_none()
}

/// Reads a person from the ID token and, where it was asked, userinfo. The token goes first: it is signed.
pub(crate) fn read(
    token: &Map<String, Value>,
    more: &Map<String, Value>,
    settings: &Settings,
    raw: String,
) -> Result<Claimed, Refusal> {
    let sub = token.get("sub").and_then(Value::as_str).filter(|s| is_subject(s)).ok_or(Refusal::Subject)?;
    let text = |name: &str, max: usize| {
        let either = find(token, name).or_else(|| find(more, name));
        either.and_then(Value::as_str).map(|text| plain(text, max)).filter(|text| !text.is_empty())
    };
    let name = ["name", "preferred_username"].into_iter().find_map(|name| text(name, NAME_CHARS_MAX));
    Ok(Claimed {
        issuer: settings.issuer.clone(),
        sub: sub.to_owned(),
        name,
        email: email(token).or_else(|| email(more)),
        groups: find(token, &settings.groups_claim)
            .or_else(|| find(more, &settings.groups_claim))
            .map(groups)
            .unwrap_or_default(),
        tenant: settings.tenant_claim.as_deref().and_then(|claim| text(claim, NAME_CHARS_MAX)),
        id_token: Some(raw).filter(|raw| raw.len() <= ID_TOKEN_BYTES_MAX),
    })
}

/// A claim by its name or, if it begins with a slash, by JSON Pointer.
fn find<'a>(claims: &'a Map<String, Value>, claim: &str) -> Option<&'a Value> {
    if let Some(found) = claims.get(claim) {
        return Some(found);
    }
    let (first, rest) = claim.strip_prefix('/')?.split_once('/')?;
    claims.get(first)?.pointer(&format!("/{rest}"))
}

/// The address, with the word of the same document that it is verified. Some issuers write the truth value as a text.
fn email(claims: &Map<String, Value>) -> Option<String> {
    let is_verified = match claims.get("email_verified")? {
        Value::Bool(fact) => *fact,
        Value::String(text) => text == "true",
        _ => false,
    };
    let email = claims.get("email").and_then(Value::as_str).filter(|_| is_verified)?;
    let is_address = email.len() <= EMAIL_CHARS_MAX
        && email.contains('@')
        && !email.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, ',' | '<' | '>'));
    is_address.then(|| email.to_lowercase())
}

/// A list, or one text.
fn groups(claim: &Value) -> Vec<String> {
    let is_sound = |group: &&str| !group.is_empty() && group.chars().count() <= GROUP_CHARS_MAX;
    match claim {
        Value::String(group) => Some(group.as_str()).filter(is_sound).map(str::to_owned).into_iter().collect(),
        Value::Array(groups) => {
            groups.iter().filter_map(Value::as_str).filter(is_sound).take(GROUPS_MAX).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn is_subject(sub: &str) -> bool {
    !sub.is_empty()
        && sub.len() <= SUBJECT_CHARS_MAX
        && sub.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
        && sub.trim() == sub
}

/// One line of at most `max` characters.
fn plain(text: &str, max: usize) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(max).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(groups_claim: &str) -> Settings {
        Settings {
            issuer: "https://sso.test".into(),
            client_id: "c".into(),
            client_secret: None,
            redirect_url: String::new(),
            signed_out_url: String::new(),
            scopes: vec![],
            groups_claim: groups_claim.into(),
            tenant_claim: Some("org".into()),
        }
    }

    fn claimed(token: &Value, more: &Value, groups_claim: &str) -> Claimed {
        let map = |value: &Value| value.as_object().unwrap().clone();
        read(&map(token), &map(more), &settings(groups_claim), "raw".into()).unwrap()
    }

    #[test]
    fn an_address_counts_only_with_the_word_that_it_is_verified() {
        let of = |claims: Value| claimed(&claims, &json!({}), "groups").email;
        let with = |verified: Value| of(json!({"sub":"1","email":"Anna@Example.test","email_verified":verified}));

        assert_eq!(with(json!(true)), Some("anna@example.test".into()));
        assert_eq!(with(json!("true")), Some("anna@example.test".into()));
        for not in [json!(false), json!("false"), json!("yes"), json!(1), json!(null)] {
            assert_eq!(with(not.clone()), None, "{not}");
        }
        assert_eq!(of(json!({"sub":"1","email":"anna@example.test"})), None);
    }

    #[test]
    fn the_word_of_one_document_does_not_verify_the_address_of_another() {
        let token = json!({"sub":"1","email":"ceo@example.test"});
        let more = json!({"email_verified":true});
        assert_eq!(claimed(&token, &more, "groups").email, None);
    }

    #[test]
    fn groups_are_a_list_or_one_text_under_a_name_or_a_pointer() {
        let of = |claims: Value, claim: &str| claimed(&claims, &json!({"groups":["more"]}), claim).groups;

        assert_eq!(of(json!({"sub":"1","groups":["a","b",7,""]}), "groups"), ["a", "b"]);
        assert_eq!(of(json!({"sub":"1","groups":"a b"}), "groups"), ["a b"]);
        assert_eq!(of(json!({"sub":"1","https://x.test/groups":["c"]}), "https://x.test/groups"), ["c"]);
        assert_eq!(of(json!({"sub":"1","realm_access":{"roles":["d"]}}), "/realm_access/roles"), ["d"]);
        assert_eq!(of(json!({"sub":"1"}), "groups"), ["more"], "userinfo is asked where the token says nothing");
        assert!(of(json!({"sub":"1","groups":{"a":1}}), "groups").is_empty());
    }

    #[test]
    fn a_subject_that_cannot_be_written_down_is_refused() {
        for bad in [
            json!({}),
            json!({"sub":""}),
            json!({"sub":7}),
            json!({"sub":"a\n"}),
            json!({"sub":" a"}),
            json!({"sub":"é"}),
        ] {
            let read = read(bad.as_object().unwrap(), &Map::new(), &settings("groups"), String::new());
            assert_eq!(read.unwrap_err(), Refusal::Subject, "{bad}");
        }
    }
}
