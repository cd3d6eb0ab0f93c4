//! Tools for agents: an effect type of a flow, called by a model, kept as one run with one effect.
//!
//! Here: which effect types are tools and what they want (`offered`), the arguments and the key (`arguments`, `key`),
//! reserving and queueing (`begin`), what a run as it stands means for an agent (`stand`), and the words that it is told
//! (`answer`). What deliberately does not live here: the key itself (the workflow sets it where no model writes), HTTP
//! and MCP (the web room and its leaf), sending (the dispatcher).

mod answer;
mod arguments;
mod begin;
mod key;
mod offered;
mod stand;

pub use answer::{ToolAnswer, ToolWord};
pub use begin::{Began, ToolCall, Waiting};
pub use offered::{TARGET, Tool};
