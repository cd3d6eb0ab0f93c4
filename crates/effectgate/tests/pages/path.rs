//! The whole path, once through everything: a worker proposes, mail arrives, the link is opened on a phone, the person
//! signs in at their organisation's issuer, mends the draft, a second person approves from the mail in three
//! interactions, the effects go out, and an operator reads what happened. With JavaScript and without, on both databases.

use std::cell::Cell;

use effectgate_testkit::{
    browser::{Browser, Look},
    oidc::{CLIENT_ID, CLIENT_SECRET, ScriptedIssuer, Someone},
};
use serde_json::{Value, json};

use crate::{
    ground::Backend,
    world::{World, mail_to, plain},
};

const KEY: &str = "path.refund:zendesk:comment_1:1";
const DRAFT: &str = "Dear Kim, we refund 42.00 EUR.";
const MENDED: &str = "Dear Kim, we are sorry, and refund 42.00 EUR.";

fn config(issuer: &ScriptedIssuer) -> String {
    format!(
        r#"
[auth.oidc]
issuer = "{}"
client_id = "{CLIENT_ID}"
client_secret = "{CLIENT_SECRET}"
allow_private = true
roles = {{ "support-leads" = ["approver"], "ops" = ["operator"] }}
[flows.path.effects.customer_mail]
provider = "mail"
impact = "high"
gate = "approve"
[flows.path.effects.refund]
provider = "pay"
impact = "high"
gate = "approve"
payload_schema = "schemas/refund.json"
[flows.path.approval]
audience = ["agnes@house.test", "boris@house.test"]
quorum = 2
"#,
        issuer.url()
    )
}

/// A person with a browser of their own, whose interactions are counted: an address opened, a thing pressed. Typing
/// and reading count for nothing.
struct Hands {
    browser: Browser,
    count: Cell<u32>,
}

impl Hands {
    async fn new(look: &Look) -> Option<Self> {
        Some(Self { browser: Browser::start(look).await?, count: Cell::new(0) })
    }

    async fn open(&self, url: &str) {
        self.count.set(self.count.get() + 1);
        self.browser.open(url).await;
    }

    /// Presses what leads to another page, and waits for that page.
    async fn press(&self, css: &str) {
        self.count.set(self.count.get() + 1);
        self.browser.script("document.body.dataset.left = '1'", &[]).await;
        self.browser.click(css).await;
        self.browser.until("document.body && !document.body.dataset.left && document.readyState === 'complete'").await;
    }
}

const SIGN_IN: &str = "main a[href*='/auth/oidc/start'], main a[href*='/login']";
const EDIT: &str = "a[href$='?edit']";

async fn mends(hands: &Hands, world: &World) {
    hands.open(&world.link("agnes", KEY).await).await;
    hands.press(SIGN_IN).await;
    let card = hands.browser.text().await;
    assert!(card.contains(DRAFT) && card.contains("ch_77"), "{card}");

    hands.press(EDIT).await;
    hands.browser.fill("[name='e0/text']", MENDED).await;
    hands.press("button[value=edit]").await;

    let card = hands.browser.text().await;
    assert!(card.contains(MENDED) && card.contains(DRAFT), "what changed is on the card: {card}");
}

/// Approves from the mail; the number of interactions that it took.
async fn approves(hands: &Hands, world: &World) -> u32 {
    hands.open(&world.link("boris", MENDED).await).await;
    hands.press(SIGN_IN).await;
    hands.press("button[value=approve]").await;
    assert_eq!(hands.browser.count("button[value=approve]").await, 0);
    hands.count.get()
}

async fn reads(hands: &Hands, world: &World, run: &str) -> String {
    hands.open(&format!("{}/runs/{run}", world.gate.url)).await;
    hands.press("main a[href*='/auth/oidc/start']").await;
    hands.browser.text().await
}

async fn sent(world: &World) {
    let to_kim = |mail: &&effectgate_testkit::smtp::StoredMail| mail.rcpt_to == ["kim@example.test"];
    let ledger = world.mail.until(|ledger| ledger.messages.iter().any(|mail| to_kim(&mail))).await;
    let mails = ledger.messages.iter().filter(to_kim).collect::<Vec<_>>();
    assert_eq!(mails.len(), 1);
    assert!(plain(mails[0]).contains(MENDED), "{}", plain(mails[0]));
    let refunds = world.provider.requests(1).await;
    let body: Value = serde_json::from_slice(&refunds.requests[0].body).unwrap();
    assert_eq!((refunds.executions.len(), &body["amount"]), (1, &json!(4200)));
}

/// None where a part of it is not installed.
async fn walked(backend: Backend, look: Look) -> Option<()> {
    let issuer = ScriptedIssuer::start().await;
    let (agnes, boris, olga) = (Hands::new(&look).await?, Hands::new(&look).await?, Hands::new(&look).await?);
    let world = World::on(backend, &config(&issuer)).await?;
    let pay = json!({ "charge": "ch_77", "amount": 4200, "currency": "eur", "reason": "broken" });
    let refund = json!({ "type": "refund", "target": "ch_77", "payload": pay });
    let run = world.waiting("path", KEY, &[mail_to("kim@example.test", "Your refund", DRAFT), refund]);

    issuer.sign_in(Someone::new("agnes", &["support-leads"]));
    mends(&agnes, &world).await;
    assert_eq!(world.standing(&run), ("awaiting_human".to_owned(), 0), "one of two");
    issuer.sign_in(Someone::new("boris", &["support-leads"]));
    let interactions = approves(&boris, &world).await;
    sent(&world).await;
    world.until_state(&run, "completed");
    issuer.sign_in(Someone::new("olga", &["ops"]));
    let story = reads(&olga, &world, &run).await;

    assert!(interactions <= 3, "approving from the mail took {interactions} interactions");
    for part in ["agnes", "boris", "kim@example.test", "completed"] {
        assert!(story.contains(part), "{part} is not on the run's page: {story}");
    }
    let kinds = world.kinds(&run);
    assert_eq!(kinds.iter().filter(|kind| *kind == "edited").count(), 1, "{kinds:?}");
    Some(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_path_from_the_mail_to_the_timeline_on_a_phone() {
    let _ = walked(Backend::Sqlite, Look::phone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_path_works_without_javascript() {
    let _ = walked(Backend::Sqlite, Look::phone().without_javascript()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_path_on_postgresql() {
    let _ = walked(Backend::Postgres, Look::desktop().dark()).await;
}
