//! The members of an audience as keys: how a person's inbox finds what was asked of them.
//!
//! A key is equal exactly where [`is_in_audience`](super::is_in_audience) says yes, so that a list made by keys shows
//! what the rule allows. Who may decide is not said here.

use std::collections::BTreeSet;

use crate::actor::{Person, Subject};

const ROLE: &str = "role:";
const MAIL: &str = "mail:";

/// A member of an audience, normalised: `role:NAME` as it is, a mail address as `mail:ADDRESS`.
#[must_use]
pub fn member_key(member: &str) -> String {
    if member.starts_with(ROLE) { member.to_owned() } else { Subject::mail(member).as_str().to_owned() }
}

/// The keys under which a person may have been asked: every role, and every mail address that is known to be theirs.
#[must_use]
pub fn member_keys_of(person: &Person) -> BTreeSet<String> {
    let subjects = std::iter::once(&person.subject).chain(&person.aliases);
    let mails = subjects.map(Subject::as_str).filter(|s| s.starts_with(MAIL)).map(str::to_owned);
    person.roles.iter().map(|role| format!("{ROLE}{role}")).chain(mails).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::SignIn;

    #[test]
    fn keys_meet_where_the_person_is_in_the_audience() {
        let person = Person {
            subject: Subject::user("anna"),
            aliases: [Subject::mail("Anna <ANNA@example.test>")].into(),
            roles: ["lead".to_owned()].into(),
            sign_in: SignIn::Login,
        };
        let keys = member_keys_of(&person);
        let table = [
            ("role:lead", true),
            ("role:Lead", false),
            ("role:anna", false),
            ("anna@example.test", true),
            (" \u{ff21}nna@example.test", true),
            ("user:anna", false),
            ("bo@example.test", false),
        ];
        for (member, wanted) in table {
            assert_eq!(keys.contains(&member_key(member)), wanted, "{member}");
        }
    }
}
