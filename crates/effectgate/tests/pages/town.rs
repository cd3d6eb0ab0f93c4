//! A town where all has happened once: several flows, runs in every state, approvals open, half-way, over in each way,
//! effects unknown and in review, a switch that is off, long and hostile texts. For the eye: audits and pictures.

use effectgate_testkit::provider::{Act, Step};
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
        places.extend(town.effects().await);
        places.extend(town.ended());
        places.extend(town.open().await);
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
        let pay = json!({ "charge": "ch_3PqX", "amount": 4200, "currency": "eur", "reason": "arrived broken" });
        let refund = json!({ "type": "refund", "target": "ch_3PqX", "payload": pay });
        let effects = [mail_to("anna@example.test", "Your refund for order 1042", APOLOGY), refund];
        let model = json!({ "provider_class": "local-openai", "name": "small-model", "revision": "2026-08-01" });
        let output = json!({ "label": "refund", "confidence": 0.91, "reply": APOLOGY });
        let more = json!({
            "output": output, "model": model, "summary": SUMMARY, "requested_by": "user:otto",
            "source_url": "https://desk.example.test/t/42",
        });
        let answer = self.0.proposed("refund", key, &effects, &more);
        answer["run"]["id"].as_str().unwrap().to_owned()
    }

    /// Approvals that wait.
    async fn open(&self) -> Vec<Place> {
        let fresh = self.refund("ticket.refund:zendesk:comment_987:1");
        let half = self.refund("ticket.refund:zendesk:comment_988:1");
        self.decided("bert", &half, "approve");
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
        let by_link = self.0.waiting("by-link", "note:shop:order_77:1", &[note("c-77", "prefers mail")]);
        let link = self.0.path("anna", "note:shop:order_77:1").await;
        let _ = by_link;
        vec![
            place("inbox", "anna", "/inbox"),
            place("card-open", "anna", &self.card(&fresh)),
            place("card-half", "anna", &self.card(&half)),
            place("card-hostile", "anna", &self.card(&hostile)),
            place("card-long", "anna", &self.card(&long)),
            place("card-link", "", &link),
            place("card-outsider", "vera", &self.card(&fresh)),
        ]
    }

    /// Approvals that are over, in each way.
    fn ended(&self) -> Vec<Place> {
        let approved =
            self.0.waiting("ticket-reply", "ticket.reply:zendesk:comment_3:1", &[note("c-3", "called back")]);
        self.decided("anna", &approved, "approve");
        let rejected = self.0.waiting("ticket-reply", "ticket.reply:zendesk:comment_4:1", &[note("c-4", "rude")]);
        self.decided("bert", &rejected, "reject");
        vec![
            place("card-approved", "anna", &self.card(&approved)),
            place("card-rejected", "anna", &self.card(&rejected)),
        ]
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
        let _ = scheduled;
        Vec::new()
    }

    fn until_effect(&self, run: &str, state: &str) {
        eventually(&format!("{run} {state}"), || (self.0.run(run)["effects"][0]["state"] == state).then_some(()));
    }
}

fn place(name: &'static str, who: &'static str, path: &str) -> Place {
    Place { name, who, path: path.to_owned() }
}
