//! An agent's world: the tools of the flow `ticket` behind both doors, somebody who dispatches, and a person who decides.

use std::collections::BTreeSet;

use effectgate_core::{
    actor::{Actor, Person, SignIn, Subject},
    approval::{Verdict, Wish},
    ids::ApprovalId,
    switch::Scope,
};
use effectgate_engine::switch::Turn;

use super::{Options, Web};

/// What `note` wants, as the config would say it: bounded, and nothing beside it.
pub fn note_schema() -> serde_json::Value {
    serde_json::json!({
        "type": "object", "required": ["text"], "additionalProperties": false,
        "properties": {"text": {"type": "string", "minLength": 1}, "amount": {"type": "number"}},
    })
}

/// A web side whose effects are dispatched as soon as they are there.
pub async fn agent(options: Options) -> Web {
    let web = Web::with(options).await;
    let engine = web.world.engine.clone();
    tokio::spawn(async move {
        loop {
            engine.nudges().dispatcher.notified().await;
            engine.dispatch_tick().await.unwrap();
        }
    });
    web
}

pub async fn turn(web: &Web, enabled: bool) {
    let turn = Turn { scope: Scope::All, name: String::new(), enabled, reason: "the test".into() };
    web.world.engine.turn_switch(&web.world.caller.tenant, &Actor::System("test"), &turn).await.unwrap();
}

/// A lead's decision on the approval of this id.
pub async fn decide(web: &Web, approval: &str, verdict: Verdict) {
    let (tenant, id) = (&web.world.caller.tenant, approval.parse::<ApprovalId>().unwrap());
    let agg = web.world.store.run_load(tenant, id.run).await.unwrap().unwrap();
    let person = Person {
        subject: Subject::user("lena"),
        aliases: BTreeSet::new(),
        roles: BTreeSet::from(["approver".to_owned(), "support-lead".to_owned()]),
        sign_in: SignIn::Login,
    };
    let shown = agg.approval().unwrap().effects_hash;
    let reason = Some("because".to_owned());
    let wish = Wish { verdict, reason, shown, edited: None };
    web.world.engine.decide(tenant, id, &person, &wish).await.unwrap();
}
