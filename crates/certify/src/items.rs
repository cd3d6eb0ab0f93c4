//! The items, a file for each kind of question. Each says what it saw as facts; the verdict follows from them.

mod approval;
mod class;
mod crash;
mod journal;
mod key;
mod lease;
mod link;
mod outbox;
mod person;
mod retention;
mod switch;
mod token;
mod unknown;
mod workflow;

use crate::{
    evidence::{Done, Evidence},
    item::Item,
    stage::Stage,
};

/// Judges one item.
pub(crate) async fn judge(item: Item, stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    match item {
        Item::KeyBeforeModel => key::before_model(stage, seen).await,
        Item::PayloadConflict => key::payload_conflict(stage, seen).await,
        Item::OneLease => lease::one(stage, seen).await,
        Item::Takeover => lease::takeover(stage, seen).await,
        Item::ClassTable => class::table(stage, seen).await,
        Item::TokenHash => token::hash(stage, seen).await,
        Item::TokenExpiry => token::expiry(stage, seen).await,
        Item::TokenReplay => link::replay(stage, seen).await,
        Item::Csrf => link::csrf(stage, seen).await,
        Item::ApproverRole => person::role(stage, seen).await,
        Item::ApprovalOutbox => outbox::only(stage, seen).await,
        Item::DecidedBytes => approval::decided_bytes(stage, seen).await,
        Item::UnknownNoResend => unknown::no_resend(stage, seen).await,
        Item::Crash => crash::found(stage, seen).await,
        Item::JournalNames => journal::names(stage, seen).await,
        Item::Switch => switch::holds(stage, seen).await,
        Item::Retention => retention::set(stage, seen).await,
        Item::WorkflowOnce => workflow::once(stage, seen).await,
        Item::WorkflowDuplicate => workflow::duplicate(stage, seen).await,
        Item::WorkflowLostAnswer => workflow::lost_answer(stage, seen).await,
        Item::WorkflowRetry => workflow::retry(stage, seen).await,
    }
}
