//! Pictures of every page and state for people to look at: `just screenshots`. Nothing is held against anything here.

use effectgate_testkit::browser::{Browser, Look};

use crate::{eye::Visits, town::Town, world::World};

/// The languages that the card speaks.
const LANGUAGES: [&str; 5] = ["en", "sv", "de", "ru", "fa"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "makes pictures for people: just screenshots"]
async fn screenshots() {
    let folder = std::env::var("EFFECTGATE_SCREENSHOTS").expect("EFFECTGATE_SCREENSHOTS names a folder");
    let Some(browser) = Browser::start(&Look::desktop()).await else { return };
    let world = World::new().await;
    let places = Town::built(&world).await;
    let mut visits = Visits::new(&world, &browser);
    let keep = async |name: String| std::fs::write(format!("{folder}/{name}.png"), browser.picture().await).unwrap();

    for place in &places {
        visits.to(place).await;
        for (look, worn) in [("light", Look::desktop()), ("dark", Look::desktop().dark()), ("phone", Look::phone())] {
            browser.wear(&worn).await;
            keep(format!("{}-{look}", place.name)).await;
        }
    }
    let card = places.iter().find(|place| place.name == "card-open").unwrap();
    for language in LANGUAGES {
        browser.wear(&Look::phone().reading(language)).await;
        visits.to(card).await;
        keep(format!("card-open-phone-{language}")).await;
    }
    if std::env::var_os("EFFECTGATE_SERVE").is_some() {
        // For a look by hand; end it with Ctrl-C.
        places.iter().for_each(|place| println!("{} as {:?}: {}{}", place.name, place.who, world.gate.url, place.path));
        std::future::pending::<()>().await;
    }
}
