//! Live updates: who may listen, what is told, and that nothing of what happened is in it.
#![allow(clippy::unwrap_used)]

mod pages_common;

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt as _;
use http::{Request, header};
use pages_common::{MAIL, Options, World};
use tower::ServiceExt as _;

/// Opens the stream with the browser's cookies.
async fn listen(world: &World, browser: &pages_common::Browser) -> (u16, BodyDataStream) {
    let cookies: Vec<String> = browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = Request::get("/live").header(header::COOKIE, cookies.join("; ")).body(Body::empty()).unwrap();
    let response = world.router.clone().oneshot(request).await.unwrap();
    (response.status().as_u16(), response.into_body().into_data_stream())
}

async fn next(stream: &mut BodyDataStream) -> String {
    let part = tokio::time::timeout(Duration::from_secs(60), stream.next()).await.unwrap();
    String::from_utf8(part.unwrap().unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn an_open_page_is_told_the_topics_of_a_commit_and_nothing_else() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let (status, mut stream) = listen(&world, &world.signed_in("anna").await).await;
    assert!(status == 200 && next(&mut stream).await.contains("retry"));

    world.waiting("a-key-of-somebody", &[MAIL]).await;
    let event = next(&mut stream).await;

    assert_eq!(event, "event: changed\ndata: inbox runs\n\n");
}

#[tokio::test]
async fn strangers_hear_nothing_and_a_session_has_three_streams() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let anna = world.signed_in("anna").await;

    assert_eq!(listen(&world, &world.browser()).await.0, 403);
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(listen(&world, &anna).await);
    }
    assert_eq!(listen(&world, &anna).await.0, 429);
    open.pop();
    assert_eq!(listen(&world, &anna).await.0, 200);
}

#[tokio::test]
async fn a_session_that_has_ended_hears_nothing_more() {
    let world = World::new(&Options::default());
    world.user("anna", &["support-lead"]).await;
    let anna = world.signed_in("anna").await;
    let (mut gone, mut stays) = (listen(&world, &anna).await.1, listen(&world, &world.signed_in("anna").await).await.1);
    assert!(next(&mut gone).await.contains("retry") && next(&mut stays).await.contains("retry"));

    world.engine.session_close(&anna.cookies["effectgate-session"]).await.unwrap();
    world.waiting("k", &[MAIL]).await;

    assert!(next(&mut stays).await.contains("changed"), "another session of the same person hears it");
    let end = tokio::time::timeout(Duration::from_secs(60), gone.next()).await.unwrap();
    assert!(end.is_none(), "{end:?}");
}
