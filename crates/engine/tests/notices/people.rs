//! The people of these tests, and their approvals.

use effectgate_core::{actor::Actor, gate::Gate, time::Timestamp};
use effectgate_engine::{notify::Channels, people::UserPut};
use effectgate_store::{ProfileRow, ProfileSource};

use crate::common::{Held, Options, World};

/// Where a person demands approval of everything.
pub(crate) fn asking(channels: Channels) -> Options {
    Options { gate: Gate::Approve, channels, ..Options::default() }
}

/// A local account with a language and a zone of its own.
pub(crate) async fn account(world: &World, name: &str, roles: &[&str], set: Option<(&str, &str)>) {
    let put = UserPut {
        name: name.into(),
        email: Some(format!("{name}@house.test")),
        password_hash: Some("$argon2id$".into()),
        roles: roles.iter().map(|r| (*r).to_owned()).collect(),
    };
    world.engine.user_put(&world.caller.tenant, &Actor::System("test"), &put).await.unwrap();
    if let Some(set) = set {
        let profile = ProfileRow { roles: vec![], email: None, ..profile(world, &format!("user:{name}"), set) };
        world.store.profile_put(ProfileRow { source: ProfileSource::Local, ..profile }).await.unwrap();
    }
}

/// Somebody who signed in by single sign-on.
pub(crate) async fn known_by_oidc(world: &World, name: &str, roles: &[&str], set: (&str, &str)) {
    let roles = roles.iter().map(|r| (*r).to_owned()).collect();
    let row = ProfileRow { roles, ..profile(world, &format!("oidc:{name}"), set) };
    world.store.profile_put(ProfileRow { email: Some(format!("{name}@sso.test")), ..row }).await.unwrap();
}

fn profile(world: &World, subject: &str, (language, zone): (&str, &str)) -> ProfileRow {
    let at = Timestamp::from_micros(1_790_000_000_000_000);
    ProfileRow {
        tenant: world.caller.tenant.clone(),
        subject: subject.to_owned(),
        source: ProfileSource::Oidc,
        name: subject.to_owned(),
        email: None,
        roles: vec![],
        language: Some(language.to_owned()),
        zone: Some(zone.to_owned()),
        created_at: at,
        seen_at: at,
    }
}

pub(crate) const MAIL: &str =
    r#"{"text":"Dear Anna","subject":"Your order","amount":9999.00,"to":"anna@example.test"}"#;

/// A run that waits for a decision about one mail. Nobody has been told yet.
pub(crate) async fn waiting(world: &World, key: &str, payload: &str) -> Held {
    let held = world.grant(key, "worker-1").await;
    world.propose(&held, &[("mail", "anna@example.test", payload)]).await;
    held
}
