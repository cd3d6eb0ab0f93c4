//! HC-30: mail scanners and chat previews open a link before the person does. They may look as often as they like.

use crate::{
    person::Person,
    world::{World, note},
};

const KEY: &str = "scan:1";

/// Method, path and user agent of each request in the case's file; `/approve/TOKEN` there is the path of a link here.
fn requests(path: &str) -> Vec<(String, String, String)> {
    let file = include_str!("../data/hc30-scanner.http");
    let one = |text: &str| {
        let mut lines = text.lines();
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?.replace("/approve/TOKEN", path));
        let agent = lines.find_map(|line| line.strip_prefix("User-Agent: "))?.to_owned();
        Some((method, target, agent))
    };
    file.split("\n\n").filter_map(one).collect()
}

/// A robot that fetches the link in every way, and every link on the page it gets. It fills in no form.
async fn scan(world: &World, path: &str, from: u8) {
    let mut robot = Person::new(world).coming_from(from);
    for (method, target, agent) in requests(path) {
        let plain = robot.send(&method, &target, &[("user-agent", &agent)], String::new()).await;
        assert_eq!(plain.status, 200, "{method} {target}");
        assert_eq!((plain.header("cache-control"), plain.header("referrer-policy")), ("no-store", "no-referrer"));
        let early = [("user-agent", agent.as_str()), ("purpose", "prefetch"), ("sec-purpose", "prefetch;prerender")];
        assert_eq!(robot.send(&method, &target, &early, String::new()).await.status, 200);
        for link in plain.links().iter().filter(|link| link.starts_with('/')) {
            let found = robot.get(link).await;
            assert!(found.status < 500, "{link}: {}", found.status);
        }
    }
    // Whatever cookie it was given opens nothing.
    assert_eq!(robot.get("/inbox").await.status, 303, "a robot is signed in: {:?}", robot.cookies);
    assert_eq!(robot.get("/v1/runs").await.status, 401);
}

async fn scanned_a_hundred_times(world: &World, run: &str, path: &str) {
    // All links are out: from now on only people write into the journal.
    world.until_told(run);
    let before = world.kinds(run);
    let ((), ()) = tokio::join!(
        async {
            for n in 0..50 {
                scan(world, path, 2 + n % 9).await;
            }
        },
        async {
            for n in 0..50 {
                scan(world, path, 11 + n % 9).await;
            }
        }
    );
    assert_eq!(world.standing(run), ("awaiting_human".to_owned(), 0));
    assert_eq!(world.kinds(run), before, "a look is no event");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_30_scanners_open_a_link_a_hundred_times_and_then_the_person_decides_once() {
    let world = World::new().await;
    let run = world.waiting("ticket-reply", KEY, &[note("c-1", "hello")]);
    let path = world.path("anna", KEY).await;

    scanned_a_hundred_times(&world, &run, &path).await;
    let mut anna = Person::new(&world).signed_in("anna").await;
    let card = anna.get(&path).await;
    let decided = anna.press(&card, "approve", "").await;

    assert_eq!(decided.status, 303, "{}", decided.text);
    world.until_state(&run, "completed");
    assert_eq!(world.provider.ledger().executions.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_30_a_link_that_needs_no_sign_in_is_as_safe_from_scanners() {
    let world = World::new().await;
    let run = world.waiting("by-link", KEY, &[note("c-1", "hello")]);
    let path = world.path("anna", KEY).await;

    scanned_a_hundred_times(&world, &run, &path).await;
    let mut anna = Person::new(&world);
    let card = anna.get(&path).await;
    let decided = anna.press(&card, "approve", "").await;

    assert_eq!(decided.status, 303, "{}", decided.text);
    world.until_state(&run, "completed");
    assert_eq!(world.provider.ledger().executions.len(), 1);
}
