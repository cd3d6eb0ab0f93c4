//! The judge's notebook: every fault and every note, and the few ways in which the outside world is read (files beside
//! the config, secrets). It goes on after a fault, so that all are told at once.

use std::path::{Path, PathBuf};

use effectgate_engine::connectors::SettingError;
use secrecy::SecretString;

use crate::config::{
    Environment,
    error::{ConfigError, ConfigErrors},
    secret::Secret,
};

/// A secret file holds one line; a larger one is another file.
const SECRET_BYTES_MAX: u64 = 65_536;

pub(super) struct Judge<'a> {
    folder: &'a Path,
    environment: &'a Environment,
    errors: Vec<ConfigError>,
    /// Paths that were made of another section, with where that is.
    aliases: Vec<(String, String)>,
    notes: Vec<String>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(folder: &'a Path, environment: &'a Environment) -> Self {
        Self { folder, environment, errors: Vec::new(), aliases: Vec::new(), notes: Vec::new() }
    }

    /// A second notebook whose faults are told elsewhere.
    pub(super) fn deaf(&self) -> Self {
        Self::new(self.folder, self.environment)
    }

    pub(super) fn refuse(&mut self, path: &str, what: impl Into<String>, advice: impl Into<String>) {
        self.errors.push(ConfigError { path: self.as_written(path), what: what.into(), advice: advice.into() });
    }

    /// From now on faults below `made` are told at `written`, where the person wrote what it was made of.
    pub(super) fn alias(&mut self, made: &str, written: &str) {
        self.aliases.push((made.to_owned(), written.to_owned()));
    }

    pub(super) fn is_alias(&self, path: &str) -> bool {
        self.aliases.iter().any(|(made, _)| made == path)
    }

    /// `flows.out.pay.effects.http.gate` is `providers.pay.out.gate` to whoever wrote it.
    fn as_written(&self, path: &str) -> String {
        let place = self.aliases.iter().find_map(|(made, written)| Some((written, path.strip_prefix(made.as_str())?)));
        let Some((written, rest)) = place else { return path.to_owned() };
        let rest = rest.strip_prefix(".effects.http").or_else(|| rest.strip_prefix(".approval")).unwrap_or(rest);
        format!("{written}{rest}")
    }

    /// Takes over the faults of a connector's settings, each below `path`.
    pub(super) fn refuse_settings(&mut self, path: &str, faults: Vec<SettingError>) {
        for fault in faults {
            self.refuse(&format!("{path}.{}", fault.member), fault.what, fault.advice);
        }
    }

    /// Something a person should know that does not stop the start.
    pub(super) fn note(&mut self, path: &str, what: &str) {
        self.notes.push(format!("{}: {what}", self.as_written(path)));
    }

    /// The number, refused where it is out of its bounds. `why` says what the bounds are good for.
    pub(super) fn within(&mut self, path: &str, value: i64, min: i64, max: i64, why: &str) -> i64 {
        if !(min..=max).contains(&value) {
            self.refuse(path, format!("{value} is outside of {min} to {max}"), why);
        }
        value.clamp(min, max)
    }

    /// The value of a fault-free step; otherwise all faults.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<(T, Vec<String>), ConfigErrors> {
        match value {
            Some(value) if self.errors.is_empty() => Ok((value, self.notes)),
            _ if self.errors.is_empty() => {
                Err(ConfigErrors::one("", "the config could not be resolved", "Please report this with the config."))
            }
            _ => Err(ConfigErrors(self.errors)),
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name)
    }

    /// A path of the config, from its folder.
    pub(super) fn place(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }

    /// Reads a file of at most `bytes_max` bytes.
    pub(super) fn read(&mut self, path: &str, file: &Path, bytes_max: u64) -> Option<Vec<u8>> {
        let place = self.place(file);
        let unread = |e: std::io::Error| format!("{} cannot be read: {e}", place.display());
        let text = std::fs::metadata(&place).map_err(unread).and_then(|about| match about.len() {
            bytes if bytes > bytes_max => Err(format!("{} is larger than {bytes_max} bytes", place.display())),
            _ => std::fs::read(&place).map_err(unread),
        });
        text.map_err(|what| self.refuse(path, what, "Paths are relative to the config file's folder.")).ok()
    }

    /// A secret given as text, as `env:NAME` or by `NAME_file`; `None` if it is not given at all, or refused.
    pub(super) fn secret(&mut self, path: &str, text: Option<&Secret>, file: Option<&Path>) -> Option<SecretString> {
        let value = match (text, file) {
            (None, None) => return None,
            (Some(_), Some(_)) => {
                self.refuse(path, "it is given twice", format!("Keep one of {path} and {path}_file."));
                return None;
            }
            (None, Some(file)) => {
                let bytes = self.read(&format!("{path}_file"), file, SECRET_BYTES_MAX)?;
                String::from_utf8(bytes).unwrap_or_default().trim_end_matches(['\r', '\n']).to_owned()
            }
            (Some(text), None) => match text.env_name() {
                None => text.expose().to_owned(),
                Some(name) => self.variable_named(path, name)?,
            },
        };
        if value.is_empty() {
            self.refuse(path, "the secret is empty", "Give it a value, or leave the member out.");
            return None;
        }
        Some(SecretString::from(value))
    }

    fn variable_named(&mut self, path: &str, name: &str) -> Option<String> {
        let value = self.variable(name).map(str::to_owned);
        if value.is_some() {
            return value;
        }
        if self.environment.stands_in {
            self.note(path, &format!("the environment has no {name}; the server does not start without"));
            return Some(stand_in(path).to_owned());
        }
        self.refuse(path, format!("the environment has no {name}"), format!("Set {name}, or use {path}_file."));
        None
    }

    /// Names are lower case, so that the environment can override their members and no two differ by case alone.
    pub(super) fn name(&mut self, path: &str, name: &str) {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        let is_sound = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(is_plain)
            && name.len() <= NAME_CHARS_MAX
            && !name.contains("__");
        if !is_sound {
            let advice = "Use lower-case letters, digits, - and single _, beginning with a letter, at most 64.";
            self.refuse(path, format!("{name:?} is not a name"), advice);
        }
    }
}

/// Names stand in metrics' labels, table rows and URLs.
const NAME_CHARS_MAX: usize = 64;

/// A number that [`Judge::within`] has bounded below, as an unsigned one.
pub(super) fn unsigned<T: TryFrom<i64> + Default>(value: i64) -> T {
    T::try_from(value).unwrap_or_default()
}

/// Something of the right shape in the place of a secret that is not here.
fn stand_in(path: &str) -> &'static str {
    match path {
        "database.url" => "sqlite:stand-in.db",
        // A Standard Webhooks secret, and long enough for every other scheme.
        path if path.starts_with("sources.") && path.contains(".signature.") => {
            "whsec_c3RhbmQtaW4gb2YgdHdlbnR5LWZvdXI="
        }
        _ => "https://stand-in.example.com/secret",
    }
}
