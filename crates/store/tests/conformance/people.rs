//! What is known of people, and what is counted by the day.

use effectgate_core::ids::Tenant;
use effectgate_store::{ProfileRow, ProfileSource, SessionRow, TallyRow};

use super::{Bench, fixtures::*};

fn profile(subject: &str, now: effectgate_core::time::Timestamp) -> ProfileRow {
    ProfileRow {
        tenant: tenant(),
        subject: subject.into(),
        source: ProfileSource::Oidc,
        name: "Ada".into(),
        email: Some("ada@example.test".into()),
        roles: vec!["lead".into(), "viewer".into()],
        language: None,
        zone: Some("Europe/Stockholm".into()),
        created_at: now,
        seen_at: now,
    }
}

pub async fn a_profile_is_what_the_last_sign_in_told(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let first = profile("oidc:https://id#1", now);
    store.profile_put(first.clone()).await.unwrap();
    assert_eq!(store.profile_find(&tenant(), &first.subject).await.unwrap().as_ref(), Some(&first));

    let later = now.plus_ms(DAY_MS);
    let second = ProfileRow {
        roles: vec![],
        email: None,
        language: Some("fa".into()),
        created_at: later,
        seen_at: later,
        ..first.clone()
    };
    store.profile_put(second.clone()).await.unwrap();

    let wanted = ProfileRow { created_at: now, ..second };
    assert_eq!(store.profile_find(&tenant(), &first.subject).await.unwrap(), Some(wanted.clone()));
    let local = ProfileRow { source: ProfileSource::Local, ..profile("user:bo", now) };
    store.profile_put(local.clone()).await.unwrap();
    store.profile_put(ProfileRow { tenant: Tenant::new("other"), ..local.clone() }).await.unwrap();
    assert_eq!(store.profile_list(&tenant()).await.unwrap(), [wanted, local]);
    assert_eq!(store.profile_find(&tenant(), "user:nobody").await.unwrap(), None);
}

pub async fn every_session_of_a_person_ends_at_once(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let session = |word: &str, tenant: Tenant, user: &str| SessionRow {
        hash: effectgate_core::digest::Digest::of(word.as_bytes()),
        tenant,
        user: user.into(),
        data: "{}".into(),
        created_at: now,
        seen_at: now,
        expires_at: now.plus_ms(DAY_MS),
    };
    let theirs = [session("1", tenant(), "ada"), session("2", tenant(), "ada")];
    let others = [session("3", tenant(), "bo"), session("4", Tenant::new("other"), "ada")];
    for session in theirs.iter().chain(&others) {
        store.session_put(session.clone()).await.unwrap();
    }

    let listed = store.session_list_of(&tenant(), "ada").await.unwrap();
    assert!(listed.len() == 2 && theirs.iter().all(|session| listed.contains(session)), "{listed:?}");

    store.session_delete_of(&tenant(), "ada").await.unwrap();

    assert_eq!(store.session_list_of(&tenant(), "ada").await.unwrap(), []);

    for session in &theirs {
        assert_eq!(store.session_find(&session.hash).await.unwrap(), None);
    }
    for session in others {
        assert_eq!(store.session_find(&session.hash).await.unwrap(), Some(session));
    }
}

fn tally(day: i32, name: &str, bucket: i32, count: i64) -> TallyRow {
    TallyRow { tenant: tenant(), day, name: name.into(), bucket, count }
}

pub async fn tallies_add_up_by_day_name_and_bucket(bench: &impl Bench) {
    let store = bench.store();
    let other = TallyRow { tenant: Tenant::new("other"), ..tally(2, "b", 0, 9) };
    store.tally_add(&[]).await.unwrap();
    store.tally_add(&[tally(2, "b", 0, 1), tally(2, "a", 1, 5), tally(2, "b", 0, 2), other]).await.unwrap();
    store.tally_add(&[tally(2, "b", 0, 4), tally(3, "b", -1, 1), tally(-1, "b", 0, 1)]).await.unwrap();

    let found = store.tally_find(&tenant(), 2, 4).await.unwrap();
    assert_eq!(found, [tally(2, "a", 1, 5), tally(2, "b", 0, 7), tally(3, "b", -1, 1)]);
    assert_eq!(store.tally_find(&tenant(), -1, 2).await.unwrap(), [tally(-1, "b", 0, 1)]);
    assert!(store.tally_find(&tenant(), 4, 9).await.unwrap().is_empty());
}

pub async fn tallies_of_many_at_once_lose_nothing(bench: &impl Bench) {
    let store = bench.store();
    let adding: Vec<_> = (0..16)
        .map(|n| {
            let store = std::sync::Arc::clone(&store);
            // In opposite orders, so that two of them would wait for each other if they took rows one by one.
            let mut rows: Vec<_> = (0..20).map(|b| tally(1, "x", b, 1)).collect();
            if n % 2 == 0 {
                rows.reverse();
            }
            tokio::spawn(async move { store.tally_add(&rows).await })
        })
        .collect();
    for added in adding {
        added.await.unwrap().unwrap();
    }

    let found = store.tally_find(&tenant(), 1, 2).await.unwrap();
    assert_eq!(found.iter().map(|t| t.count).collect::<Vec<_>>(), [16; 20]);
}
