//! One file of the registry: its facts, what is not promised, and the part of a config that follows from them.

use std::collections::BTreeMap;

use config::{File, FileFormat};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::ProviderConfig;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preset {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Pages of the documentation; the first is the one that the facts rest on.
    pub(crate) sources: Vec<String>,
    /// Pages, or parts of them, that could not be read.
    #[serde(default)]
    pub(crate) unread: Vec<String>,
    /// What the documentation says, in our words.
    pub(crate) says: Vec<String>,
    /// What it does not, in our words.
    pub(crate) not_promised: Vec<String>,
    /// What a section has to say itself, with an example in TOML.
    #[serde(default)]
    pub(crate) needs: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) key: Key,
    /// What `[providers.X]` gets where it is silent.
    pub(crate) config: Value,
}

/// About the provider's keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Key {
    /// The longest one that is taken.
    pub(crate) chars_max: Option<usize>,
    /// The requests for which the documentation speaks of keys: method and path, `*` for one segment, `**` at the end
    /// for any more. Empty: none, or nothing is said.
    pub(crate) covers: Vec<String>,
}

impl Preset {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no TOML, or a member has another name or type.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let layers = config::Config::builder().add_source(File::from_str(text, FileFormat::Toml)).build();
        let value = layers.and_then(config::Config::try_deserialize::<Value>).map_err(|e| e.to_string())?;
        serde_json::from_value(value).map_err(|e| e.to_string())
    }

    /// Its part of a config, in the config's own shape.
    ///
    /// # Errors
    /// A member that no provider has.
    pub(crate) fn section(&self) -> Result<ProviderConfig, String> {
        serde_json::from_value(self.config.clone()).map_err(|e| e.to_string())
    }

    /// The least section that works, for people to copy.
    pub(crate) fn snippet(&self) -> String {
        let needs = self.needs.iter().map(|(name, example)| format!("{name} = {example}\n"));
        format!("[providers.{0}]\npreset = \"{0}\"\n{1}", self.name, needs.collect::<String>())
    }

    /// True if the documentation speaks of keys for this request. `path` may hold templates.
    pub(crate) fn covers(&self, method: &str, path: &str) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        self.key.covers.iter().any(|pattern| match pattern.split_once(' ') {
            Some((verb, pattern)) => verb == method && fits(pattern, path),
            None => false,
        })
    }

    /// True if it does for every request below this beginning, however deep.
    pub(crate) fn covers_below(&self, method: &str, beginning: &str) -> bool {
        let beginning = beginning.trim_end_matches('/');
        // Of two depths a pattern covers both only if it ends with `**`.
        ["a", "a/a"].iter().all(|rest| self.covers(method, &format!("{beginning}/{rest}")))
    }
}

fn fits(pattern: &str, path: &str) -> bool {
    let mut wanted = pattern.trim_matches('/').split('/');
    let mut given = path.trim_matches('/').split('/');
    loop {
        match (wanted.next(), given.next()) {
            (Some("**"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return false,
        }
    }
}
