//! What is judged, by what means, and how: the arguments of a run.

use std::{path::PathBuf, time::Duration};

use effectgate_core::time::Timestamp;
use secrecy::SecretString;
use url::Url;

use crate::{door::Door, ground::Ground, house::House, item::Item, workflow::Workflow};

/// A person with a local account.
#[derive(Debug, Clone)]
pub struct Login {
    pub user: String,
    pub password: SecretString,
}

/// What is judged, and by what means.
pub struct Target {
    /// What the report calls it.
    pub name: String,
    pub url: Url,
    /// Opens reservations, operators' commands, the switch and the journal: scope admin, or those one by one.
    pub key: SecretString,
    /// The corner of the config that certify may work in. Without it only what changes nothing is judged.
    pub ground: Option<Ground>,
    /// The provider that the corner's effects go to, behind the relay.
    pub door: Option<Door>,
    /// A person of the audience of the corner's role flow, with another part in nothing.
    pub approver: Option<Login>,
    /// A person with an account and without that role.
    pub stranger: Option<Login>,
    pub house: Option<Box<dyn House>>,
    /// A workflow of the user's own, if it is to be judged.
    pub workflow: Option<Workflow>,
    /// Files and folders to search for tokens, besides the house's.
    pub look_in: Vec<PathBuf>,
}

/// How it is judged.
#[derive(Debug, Clone)]
pub struct Options {
    /// The items, in any order.
    pub items: Vec<Item>,
    /// Items that may be not applicable.
    pub accepted: Vec<Item>,
    /// How long to look on where nothing may happen: several sweeps of the gate.
    pub look_on: Duration,
    /// When it began, for the report.
    pub now: Timestamp,
    /// The guard that the judged build lacks on purpose.
    pub broken_guard: Option<String>,
}
