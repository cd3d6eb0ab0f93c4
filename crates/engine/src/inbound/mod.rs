//! The inbound door: an event that a sender brings by itself (`POST /in/{source}`), kept as a run before it is answered.
//!
//! Here: what a source says ([`SourcePolicy`]), whether a delivery is from whom it says ([`Signature`]), which key it has
//! ([`KeyRule`]), and accepting it (`accept`). What deliberately does not live here: HTTP's server side and unpacking,
//! which are the web room's.

mod accept;
mod call;
mod deliver;
mod deliver_to;
mod event;
mod key;
mod lane;
mod signature;
mod story;

use effectgate_core::ids::FlowName;

pub use accept::{Accepted, Delivery};
pub use deliver::DeliverReport;
pub(crate) use deliver::wants_delivery;
pub use deliver_to::{DeliverPolicy, DeliverSettings};
pub use event::Fault;
pub use key::{KeyRule, KeyWord, Missing, NoKey};
pub(crate) use lane::Lanes;
pub use signature::{Encoding, HmacForm, Scheme, Signature, Unsigned};
pub use story::DeliveryStory;
pub(crate) use story::delivery_story;

/// One inbound source, as the config declares it.
pub struct SourcePolicy {
    pub flow: FlowName,
    pub signature: Signature,
    pub key: KeyRule,
    /// The worker that is called with each run; `None`: workers claim.
    pub deliver: Option<DeliverPolicy>,
}
