//! Where a person can go: the places of the navigation, each with what it asks for. The same needs guard the pages
//! themselves; a place that is not offered here is refused there.

use effectgate_engine::keys::KeyScope;
use effectgate_lang::Msg;

use super::tongue::Tongue;
use crate::auth::{
    Identity,
    allowed::{Audit, Known, Need, Read},
};

/// A link of the navigation.
pub(crate) struct Place {
    pub(crate) path: &'static str,
    pub(crate) title: String,
    /// The page is this place or lies below it.
    pub(crate) is_current: bool,
}

/// Path, title, what is asked for, and the beginnings of the paths that belong to it.
struct Sign(&'static str, Msg, &'static [KeyScope], &'static [&'static str]);

const SIGNS: [Sign; 9] = [
    Sign("/inbox", Msg::NavInbox, Known::ANY_OF, &["/inbox", "/approvals", "/a"]),
    Sign("/runs", Msg::NavRuns, Read::ANY_OF, &["/runs"]),
    Sign("/review", Msg::NavReview, Read::ANY_OF, &["/review"]),
    Sign("/effects", Msg::NavEffects, Read::ANY_OF, &["/effects"]),
    Sign("/replays", Msg::NavReplays, Read::ANY_OF, &["/replays"]),
    Sign("/switches", Msg::NavSwitches, Read::ANY_OF, &["/switches"]),
    Sign("/metrics/weeks", Msg::NavMetrics, Read::ANY_OF, &["/metrics"]),
    Sign("/journal", Msg::NavJournal, Audit::ANY_OF, &["/journal"]),
    Sign("/settings", Msg::NavSettings, Read::ANY_OF, &["/settings"]),
];

/// The places that somebody may open; `path` is the page they are on.
pub(crate) fn places(who: &Identity, path: &str, tongue: &Tongue) -> Vec<Place> {
    let open = SIGNS.iter().filter(|Sign(_, _, any_of, _)| who.need(any_of).is_ok());
    open.map(|Sign(to, title, _, below)| Place {
        path: to,
        title: tongue.say(*title),
        is_current: below.iter().any(|begin| is_below(path, begin)),
    })
    .collect()
}

fn is_below(path: &str, begin: &str) -> bool {
    path.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use effectgate_core::ids::Tenant;

    use super::*;
    use crate::auth::KeyIdentity;

    /// The paths that a role which is named like a scope opens; no scope for a free role.
    fn paths(role: &str) -> Vec<&'static str> {
        let key = KeyIdentity {
            public_id: "0".repeat(12),
            tenant: Tenant::new("default"),
            name: "anna".into(),
            scopes: KeyScope::parse(role).into_iter().collect(),
            flows: vec![],
        };
        places(&Identity::ApiKey(key.into()), "/inbox", &Tongue::default())
            .into_iter()
            .map(|place| place.path)
            .collect()
    }

    #[test]
    fn a_person_is_offered_the_places_that_their_roles_open_and_no_other() {
        let read = ["/inbox", "/runs", "/review", "/effects", "/replays", "/switches", "/metrics/weeks", "/settings"];
        assert_eq!(paths("support-lead"), ["/inbox"]);
        for role in ["viewer", "approver", "switch_owner"] {
            assert_eq!(paths(role), read, "{role}");
        }
        assert!(!paths("operator").contains(&"/journal"));
        assert_eq!(paths("admin").len(), SIGNS.len());
        assert_eq!(paths("auditor").len(), SIGNS.len());
    }

    #[test]
    fn a_page_below_a_place_belongs_to_it_and_a_longer_word_does_not() {
        assert!(is_below("/runs/run_1", "/runs") && is_below("/runs", "/runs") && !is_below("/runsheet", "/runs"));
    }
}
