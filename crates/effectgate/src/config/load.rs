//! Reading: the file, the environment over it, and the shape. An error names the member's path. Nothing is judged here
//! beyond types and names; that is [`super::resolve`].

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use config::{File, FileFormat};

use super::{
    Config, Environment,
    error::ConfigErrors,
    resolve::{self, Resolved},
};
use crate::presets::{self, Origins};

/// A larger file is not a config; schemas and rules lie in files of their own or are short.
const FILE_BYTES_MAX: u64 = 1_048_576;

/// A config as it was read, with what is needed to judge it.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// Relative paths in the config start here: the config file's folder, or the current one.
    pub(crate) folder: PathBuf,
    pub(crate) environment: Environment,
    /// Where the members of providers with a preset come from, by provider.
    pub(crate) origins: BTreeMap<String, Origins>,
}

impl Loaded {
    /// Judges everything and makes the policy in force.
    ///
    /// # Errors
    /// All faults at once.
    pub(crate) fn resolve(&self) -> Result<Resolved, ConfigErrors> {
        resolve::resolve(&self.config, &self.folder, &self.environment)
    }
}

/// Reads the config from a file (or, without one, from defaults: SQLite here, loopback, no flows) and the environment.
///
/// # Errors
/// The file cannot be read, is not TOML, or a member has a wrong name or type: then only that one is told, since what
/// stands behind it could not be read.
pub(crate) fn load(path: Option<&Path>, environment: Environment) -> Result<Loaded, ConfigErrors> {
    environment.check()?;
    let text = path.map(read).transpose()?.unwrap_or_default();
    let (config, origins) = merge(&text, &environment)?;
    let folder = path.and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    Ok(Loaded { config, folder, environment, origins })
}

fn read(path: &Path) -> Result<String, ConfigErrors> {
    let failed = |what: String| ConfigErrors::one("", what, "Name a file that can be read, with --config.");
    let unreadable = |e: std::io::Error| failed(format!("the config file {} cannot be read: {e}", path.display()));
    if std::fs::metadata(path).map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(failed(format!("the config file {} is larger than {FILE_BYTES_MAX} bytes", path.display())));
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

/// Layers, then presets, then types. The layers are merged untyped; the shape is then read strictly, so that `1.5` or `"yes"` is
/// never quietly made into what was expected.
fn merge(text: &str, environment: &Environment) -> Result<(Config, BTreeMap<String, Origins>), ConfigErrors> {
    let layers = config::Config::builder()
        .add_source(File::from_str(text, FileFormat::Toml))
        .add_source(environment.clone())
        .build();
    let mut merged = layers.and_then(config::Config::try_deserialize::<serde_json::Value>).map_err(|e| unread(&e))?;
    let origins = presets::apply(&mut merged)?;
    let read = serde_path_to_error::deserialize(merged).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        ConfigErrors::one(path, error.inner().to_string(), "Compare with effectgate.example.toml.")
    });
    read.map(|config| (config, origins))
}

/// A TOML error quotes the line, and a line may hold a secret: only where and what are kept.
fn unread(error: &config::ConfigError) -> ConfigErrors {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let what = match lines.as_slice() {
        [first, .., last] => format!("{first}: {last}"),
        _ => text.clone(),
    };
    ConfigErrors::one("", what, "Mend the TOML; `effectgate check` reads it again.")
}
