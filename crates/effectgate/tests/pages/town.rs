//! A town where all has happened once: several flows, runs in every state, approvals open, half-way, over in each way,
//! effects unknown and in review, a switch that is off, long and hostile texts. For the eye: audits and pictures.

use effectgate_testkit::{
    browser::Browser,
    provider::{Act, Step},
};
use serde_json::{Value, json};

use crate::{
    ground::{Calls as _, eventually},
    world::{World, mail_to, note},
};

/// A page worth a look.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    /// Whose session; empty: nobody's.
    pub(crate) who: &'static str,
    pub(crate) path: String,
}

const APOLOGY: &str = "Dear Anna,\n\nwe are sorry that the kettle arrived broken. We have refunded 42.00 EUR to your \
                       card; it takes up to five days to show.\n\nKind regards\nThe shop";
const SUMMARY: &str = "The customer returned the kettle; the shop's rule allows a refund within 30 days.";

pub(crate) fn hostile_draft() -> Value {
    serde_json::from_str(include_str!("../data/hc34-draft.json")).unwrap()
}

/// The draft of HC-34 as an effect.
pub(crate) fn hostile_mail() -> Value {
    let draft = hostile_draft();
    let text = |member: &str| draft[member].as_str().unwrap().to_owned();
    mail_to(&text("to"), &text("subject"), &text("body"))
}

fn refund_effects() -> [Value; 2] {
    let pay = json!({ "charge": "ch_3PqX", "amount": 4200, "currency": "eur", "reason": "arrived broken" });
    let refund = json!({ "type": "refund", "target": "ch_3PqX", "payload": pay });
    [mail_to("anna@example.test", "Your refund for order 1042", APOLOGY), refund]
}

/// What happened on an ordinary day, and a little more or less on each; the third week had a bad provider.
const PAST: &str = "
    WITH RECURSIVE days(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM days WHERE n < 70),
    usual(name, count, bucket) AS (VALUES
        ('reserve.granted@refund', 40, 0), ('reserve.replay@refund', 6, 0), ('reserve.busy@refund', 2, 0),
        ('reserve.granted@ticket-reply', 160, 0), ('reserve.replay@ticket-reply', 12, 0), ('reserve.conflict@ticket-reply', 1, 0),
        ('proposal.valid@ticket-reply', 150, 0), ('proposal.invalid@ticket-reply', 7, 0), ('proposal.valid@refund', 39, 0),
        ('gate.person@refund', 39, 0), ('gate.person@ticket-reply', 60, 0), ('gate.automatic@ticket-reply', 95, 0),
        ('approval.approved@refund', 30, 0), ('approval.rejected@refund', 6, 0), ('approval.expired@ticket-reply', 2, 0),
        ('approval.wait@refund', 20, 75), ('approval.wait@refund', 12, 84), ('approval.wait@refund', 3, 95),
        ('exhausted.effect@ticket-reply', 1, 0), ('effect.unknown@refund', 2, 0), ('effect.review@refund', 1, 0))
    INSERT INTO tallies (tenant, day, name, bucket, count)
    SELECT 'default', unixepoch('now') / 86400 - n, name, bucket,
        count + count * (n * 7 % 5) / 10 + CASE WHEN n BETWEEN 15 AND 21 AND name LIKE 'effect.%' THEN 9 ELSE 0 END
    FROM days, usual WHERE true
    ON CONFLICT DO NOTHING";

pub(crate) struct Town<'a>(&'a World);

impl<'a> Town<'a> {
    /// Lets everything happen, and gives the pages.
    pub(crate) async fn built(world: &'a World) -> Vec<Place> {
        let town = Self(world);
        let mut places = vec![
            place("login", "", "/login"),
            place("dead-link", "", "/a/nowhere"),
            place("inbox-empty", "vera", "/inbox"),
        ];
        town.past().await;
        places.extend(town.effects().await);
        places.extend(town.ended().await);
        places.extend(town.open().await);
        places.extend(town.replays());
        places.extend(lists());
        places
    }

    /// The approval of a run as the API shows it.
    fn approval(&self, run: &str) -> Value {
        self.0.run(run)["approval"].clone()
    }

    fn card(&self, run: &str) -> String {
        format!("/approvals/{}", self.approval(run)["id"].as_str().unwrap())
    }

    fn decided(&self, who: &str, run: &str, verdict: &str) {
        let session = self.0.gate.sign_in(who);
        let answer = self.0.gate.decide(&session, &self.approval(run), verdict).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    fn refund(&self, key: &str) -> String {
        let model = json!({ "provider_class": "local-openai", "name": "small-model", "revision": "2026-08-01" });
        let output = json!({ "label": "refund", "confidence": 0.91, "reply": APOLOGY });
        let more = json!({
            "output": output, "model": model, "summary": SUMMARY, "requested_by": "user:otto",
            "source_url": "https://desk.example.test/t/42",
        });
        let answer = self.0.proposed("refund", key, &refund_effects(), &more);
        answer["run"]["id"].as_str().unwrap().to_owned()
    }

    /// Approvals that wait.
    async fn open(&self) -> Vec<Place> {
        let fresh = self.refund("ticket.refund:zendesk:comment_987:1");
        let half = self.refund("ticket.refund:zendesk:comment_988:1");
        self.decided("bert", &half, "approve");
        let edited = self.refund("ticket.refund:zendesk:comment_989:1");
        self.edited("bert", &edited);
        let hostile = self.0.waiting("ticket-reply", "ticket.reply:zendesk:hostile:1", &[hostile_mail()]);
        let long = (1..400)
            .map(|n| format!("Paragraph {n}: the kettle, its lid, and what became of both.\n"))
            .collect::<String>();
        let target = "a.very.long.address.that.nobody.would.type@subdomain.of.a.subdomain.example.test";
        let long = self.0.waiting(
            "ticket-reply",
            "ticket.reply:zendesk:comment_with_a_rather_long_identifier_000000000000000000000000001:1",
            &[mail_to(target, "Re: Re: Re: a subject that goes on and on", &long), note("contact-1", "see mail")],
        );
        let held = self.refund("ticket.refund:zendesk:comment_990:1");
        let off =
            json!({ "scope": "provider", "name": "pay", "enabled": false, "reason": "It reports double charges." });
        assert_eq!(self.0.gate.call("PUT", "/v1/switches", &off).unwrap().status, 200);
        ["anna", "bert"].into_iter().for_each(|who| self.decided(who, &held, "approve"));
        let by_link = self.0.waiting("by-link", "note:shop:order_77:1", &[note("c-77", "prefers mail")]);
        let link = self.0.path("anna", "note:shop:order_77:1").await;
        let _ = by_link;
        vec![
            place("inbox", "anna", "/inbox"),
            place("card-open", "anna", &self.card(&fresh)),
            place("card-half", "anna", &self.card(&half)),
            place("card-edited", "anna", &self.card(&edited)),
            place("card-edited-by-me", "bert", &self.card(&edited)),
            place("card-form", "anna", &format!("{}?edit", self.card(&fresh))),
            place("run-waiting", "otto", &format!("/runs/{half}")),
            place("run-edited", "otto", &format!("/runs/{edited}")),
            place("run-held", "otto", &format!("/runs/{held}")),
            place("run-hostile", "otto", &format!("/runs/{hostile}")),
            place("card-hostile", "anna", &self.card(&hostile)),
            place("card-long", "anna", &self.card(&long)),
            place("card-link", "", &link),
            place("card-outsider", "vera", &self.card(&fresh)),
        ]
    }

    /// Approvals that are over, in each way.
    async fn ended(&self) -> Vec<Place> {
        let asked = |n: u32, text: &str| {
            let key = format!("ticket.reply:zendesk:comment_{n}:1");
            self.0.waiting("ticket-reply", &key, &[note(&format!("c-{n}"), text)])
        };
        let (approved, rejected) = (asked(3, "called back"), asked(4, "rude"));
        self.decided("anna", &approved, "approve");
        self.decided("bert", &rejected, "reject");
        let (withdrawn, expired, undeliverable) = (asked(5, "a mistake"), asked(6, "too late"), asked(7, "to nobody"));
        let path = format!("/v1/approvals/{}/withdraw", self.approval(&withdrawn)["id"].as_str().unwrap());
        let answer =
            self.0.gate.call("POST", &path, &json!({ "reason": "The ticket was merged into another." })).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        // Beside the server nobody may write while it does.
        [&expired, &undeliverable].into_iter().for_each(|run| self.0.until_told(run));
        // What takes a day in a real town: the end of the time to decide, and eight deliveries that failed.
        let of = |run: &str| format!("run_id = (SELECT run_id FROM runs WHERE key = '{}')", self.key(run));
        let lost = "UPDATE approvals SET terms = json_set(terms, '$.undeliverable', json('true'))";
        self.0.ground.sql(&format!("{lost} WHERE {}", of(&undeliverable))).await;
        let over = "UPDATE approvals SET expires_at = created_at + 1";
        self.0.ground.sql(&format!("{over} WHERE {} OR {}", of(&expired), of(&undeliverable))).await;
        for run in [&expired, &undeliverable] {
            self.0.until_state(run, "failed_terminal");
        }
        vec![
            place("card-approved", "anna", &self.card(&approved)),
            place("card-rejected", "anna", &self.card(&rejected)),
            place("card-withdrawn", "anna", &self.card(&withdrawn)),
            place("card-expired", "anna", &self.card(&expired)),
            place("card-undeliverable", "anna", &self.card(&undeliverable)),
            place("run-rejected", "otto", &format!("/runs/{rejected}")),
            place("run-expired", "otto", &format!("/runs/{expired}")),
        ]
    }

    fn key(&self, run: &str) -> String {
        self.0.run(run)["key"].as_str().unwrap().to_owned()
    }

    /// Edits the refund's mail, as the API does it.
    fn edited(&self, who: &str, run: &str) {
        let (session, approval) = (self.0.gate.sign_in(who), self.approval(run));
        let mut effects = refund_effects();
        effects[0]["payload"]["text"] = json!(APOLOGY.replace("five days", "three days"));
        effects[1]["payload"]["amount"] = json!(3900);
        let answer = self.0.gate.edit(&session, &approval, &effects).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    /// Effects in every state, and runs that have not come to a proposal.
    async fn effects(&self) -> Vec<Place> {
        let auto = |flow: &str, key: &str, effects: &[Value]| {
            self.0.proposed(flow, key, effects, &Value::Null)["run"]["id"].as_str().unwrap().to_owned()
        };
        let ticket =
            |n: u32| json!({ "type": "ticket_note", "target": format!("t-{n}"), "payload": { "text": "seen" } });
        let done = auto("crm-sync", "contact:crm:1:1", &[note("c-1", "moved to Lund")]);
        self.0.until_state(&done, "completed");
        self.0.provider.push(Act::ReadThenClose);
        let review = auto("crm-sync", "contact:crm:2:1", &[note("c-2", "moved to Ghent")]);
        self.until_effect(&review, "review");
        self.0.provider.push(Act::ReadThenClose);
        let unknown = auto("desk-sync", "ticket:desk:3:1", &[ticket(3)]);
        self.until_effect(&unknown, "unknown");
        self.0.provider.push(Step::answer(422, r#"{"error":"no such contact"}"#));
        let failed = auto("crm-sync", "contact:crm:4:1", &[note("c-4", "gone")]);
        self.until_effect(&failed, "failed");
        let scheduled = auto("newsletter", "letter:crm:5:1", &[note("c-5", "wants the letter")]);
        self.0.reserved("ticket-reply", "ticket.reply:zendesk:comment_9:1");
        let desk = format!("/review/{}", self.0.run(&review)["effects"][0]["id"].as_str().unwrap());
        vec![
            place("run-completed", "otto", &format!("/runs/{done}")),
            place("run-review", "otto", &format!("/runs/{review}")),
            place("run-unknown", "otto", &format!("/runs/{unknown}")),
            place("run-failed", "otto", &format!("/runs/{failed}")),
            place("run-scheduled", "otto", &format!("/runs/{scheduled}")),
            place("review-effect", "otto", &desk),
        ]
    }

    /// A plan that waits, one that was executed, and a run with its correction.
    fn replays(&self) -> Vec<Place> {
        let held = ["event:crm:11:1", "event:crm:12:1"].map(|key| gave_up(self.0, key, "semantic"));
        let planned = || {
            let filter = json!({ "flow": "crm-sync", "event_type": "*", "since": "2020-01-01T00:00:00Z",
                "until": "2100-01-01T00:00:00Z", "state": "any" });
            let body = json!({ "filter": filter, "limit": 20, "reason": "the CRM was down", "dry_run": false });
            let answer = self.0.gate.call("POST", "/v1/replays", &body).unwrap();
            assert_eq!(answer.status, 201, "{}", answer.body);
            answer.body["id"].as_str().unwrap().to_owned()
        };
        let (done, waits) = (planned(), planned());
        let path = format!("/v1/replays/{done}/execute");
        assert!(self.0.gate.call("POST", &path, &json!({ "reason": "it is up again" })).unwrap().status < 300);
        held.iter().for_each(|run| self.0.until_state(run, "queued"));
        let ended = gave_up(self.0, "event:crm:13:1", "semantic");
        let close = json!({ "reason": "the wrong contact" });
        assert_eq!(self.0.gate.call("POST", &format!("/v1/runs/{ended}/close"), &close).unwrap().status, 200);
        let correction = json!({ "key": "event:crm:99:1", "payload": { "contact": "c-99" }, "reason": "meant c-99" });
        let made = self.0.gate.call("POST", &format!("/v1/runs/{ended}/correct"), &correction).unwrap();
        assert_eq!(made.status, 201, "{}", made.body);
        vec![
            place("replays", "otto", "/replays"),
            place("replay-planned", "otto", &format!("/replays/{waits}")),
            place("replay-done", "otto", &format!("/replays/{done}")),
            place("run-corrected", "otto", &format!("/runs/{ended}")),
            place("run-correction", "otto", &format!("/runs/{}", made.run_id())),
        ]
    }

    /// Ten weeks of counts, so that the charts have something to show.
    async fn past(&self) {
        self.0.ground.sql(PAST).await;
    }

    fn until_effect(&self, run: &str, state: &str) {
        eventually(&format!("{run} {state}"), || (self.0.run(run)["effects"][0]["state"] == state).then_some(()));
    }
}

/// A run whose worker gave up with this class.
pub(crate) fn gave_up(world: &World, key: &str, class: &str) -> String {
    let (run, fence) = world.reserved("crm-sync", key);
    let answer = world.gate.under_lease("fail", &run, ("worker-1", fence), &json!({ "class": class })).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    run
}

/// Fills in the form of a dry run, for all that there is.
pub(crate) async fn fills_in(browser: &Browser) {
    let set = "const [id, value] = arguments; document.getElementById(id).value = value;";
    let fields = [
        ("flow", "crm-sync"),
        ("event_type", "*"),
        ("since", "2020-01-01T00:00"),
        ("until", "2100-01-01T00:00"),
        ("state", "any"),
        ("limit", "10"),
        ("plan-reason", "the CRM was down"),
    ];
    for (id, value) in fields {
        browser.script(set, &[json!(id), json!(value)]).await;
    }
}

fn place(name: &'static str, who: &'static str, path: &str) -> Place {
    Place { name, who, path: path.to_owned() }
}

/// Pages that show the town as a whole.
fn lists() -> Vec<Place> {
    vec![
        place("runs", "otto", "/runs"),
        place("runs-found", "vera", "/runs?flow=refund&state=awaiting_human"),
        place("effects", "otto", "/effects"),
        place("review", "otto", "/review"),
        place("weeks", "vera", "/metrics/weeks"),
        place("me", "anna", "/me"),
        place("switches", "sven", "/switches"),
        place("settings", "otto", "/settings"),
        place("journal", "audra", "/journal"),
        place("journal-found", "audra", "/journal?kind=edited"),
        place("journal-verify", "audra", "/journal/verify"),
        place("no-such-run", "otto", "/runs/run_nothing"),
        place("not-allowed", "vera", "/journal"),
    ]
}
