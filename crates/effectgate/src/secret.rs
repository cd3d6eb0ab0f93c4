//! Passwords from people: typed without an echo on a terminal, the first line of standard input otherwise, or the
//! environment. Never from the command line, where every user of the machine could read them.

use std::io::{IsTerminal as _, stdin};

use secrecy::SecretString;

use crate::exit::{Failure, Result};

/// Longer lines are not passwords.
const CHARS_MAX: usize = 1_024;

/// Reads a password from the environment variable `name` or, if it is not set, from the terminal or standard input.
///
/// # Errors
/// Nothing was given.
pub(crate) fn password(name: &str, prompt: &str) -> Result<SecretString> {
    let text = match std::env::var(name) {
        Ok(text) => text,
        Err(_) if stdin().is_terminal() => typed(prompt)?,
        Err(_) => first_line()?,
    };
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() || text.chars().count() > CHARS_MAX {
        return Err(Failure::usage("no password was given")
            .hint(format!("Type it on a terminal, pipe it as one line, or set {name}.")));
    }
    Ok(SecretString::from(text))
}

fn typed(prompt: &str) -> Result<String> {
    let terminal = console::Term::stderr();
    terminal.write_str(prompt)?;
    Ok(terminal.read_secure_line()?)
}

fn first_line() -> Result<String> {
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(line)
}
