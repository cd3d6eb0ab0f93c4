//! What workers, people and the operator say.

use std::collections::BTreeSet;

use effectgate_core::{
    actor::{Actor, Person, SignIn, Subject},
    ids::FlowName,
    run::Origin,
};
use effectgate_engine::{
    propose::{Asked, Output, Request as ProposalRequest},
    reserve::{KeyGiven, PayloadGiven, Request},
    view::{LeaseView, RunView},
};

/// The operator.
pub fn olga() -> Actor {
    Actor::Person(Subject::user("olga"))
}

/// A lease in a test's hand.
#[derive(Debug, Clone)]
pub struct Held {
    pub run: RunView,
    pub lease: LeaseView,
}

pub const PAYLOAD: &str = r#"{"customer":{"email":"a@example.test"},"amount":12.50}"#;

pub fn request(key: &str, payload: &str, owner: &str) -> Request {
    Request {
        flow: FlowName::new("ticket"),
        key: KeyGiven::Whole(key.into()),
        payload: PayloadGiven::Text(payload.into()),
        owner: Some(owner.into()),
        lease_ms: None,
        origin: Origin::default(),
    }
}

pub fn asked(effects: &[(&str, &str, &str)]) -> ProposalRequest {
    let effects = effects.iter().map(|(effect_type, target, payload)| Asked {
        effect_type: (*effect_type).into(),
        target: Some((*target).into()),
        payload: (*payload).into(),
    });
    ProposalRequest { effects: Some(effects.collect()), output: Output::None, ..ProposalRequest::default() }
}

pub fn lead(name: &str) -> Person {
    Person {
        subject: Subject::user(name),
        aliases: BTreeSet::from([Subject::mail(&format!("{name}@example.test"))]),
        roles: BTreeSet::from(["approver".to_owned(), "support-lead".to_owned()]),
        sign_in: SignIn::Login,
    }
}
