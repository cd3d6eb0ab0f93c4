//! The readiness list, held against a gate from outside: HTTP calls as any client makes them, counts at a provider that
//! this process plays, the journal as the API gives it, and, where the gate is a throwaway one, its files and its
//! death. Nothing here asks the gate whether it is fine, and nothing here knows how the gate is built.
//!
//! A leaf: it imports core's words and the relay, and no room. What starts and kills a gate is handed in as a [`House`].

mod door;
mod evidence;
pub mod far;
pub mod form;
mod gate;
pub mod ground;
mod house;
pub mod http;
mod item;
mod items;
mod render;
mod report;
mod run;
mod stage;
mod target;
mod workflow;

pub use door::{Door, DoorError};
pub use effectgate_relay::RelayError;
pub use evidence::{Fact, Verdict};
pub use house::{House, HouseError};
pub use item::Item;
pub use report::{Outcome, Report};
pub use run::run;
pub use target::{Login, Options, Target};
pub use workflow::{Count, EVENT, Workflow, WorkflowSettings};
