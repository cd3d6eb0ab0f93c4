//! `check [FILE]`: every fault of a config at once, each with what to change; what is read and not in force yet; what a
//! provider's preset gave and what is one's own; on request the config in force, secrets masked. Nothing is opened and nothing is sent.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    commands::Here,
    config::{ConfigErrors, Environment, Loaded, effective},
    exit::{Exit, Failure, Result},
    output::printable,
    wire,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The config file [default: --config, or effectgate.toml]
    file: Option<PathBuf>,
    /// Print the config in force: defaults filled in, secrets masked
    #[arg(long)]
    effective: bool,
    /// Demand the secrets too that the config takes from the environment: on the machine where it is to run
    #[arg(long)]
    secrets: bool,
}

pub(crate) fn run(args: &Args, here: &Here) -> Result {
    let out = here.out;
    let environment = Environment::of_process();
    let environment = if args.secrets { environment } else { environment.standing_in() };
    let loaded = wire::read_config_in(args.file.as_deref().or(here.config.as_deref()), environment)?;
    let shown = args.effective.then(|| effective(&loaded.config));
    let origins = origins(&loaded);
    let (faults, notes) = match loaded.resolve() {
        Ok(resolved) => (None, resolved.notes),
        Err(faults) => (Some(faults), Vec::new()),
    };
    if out.json {
        let list = faults.iter().flat_map(|f| &f.0);
        let list: Vec<_> = list.map(|f| json!({ "path": f.path, "what": f.what, "change": f.advice })).collect();
        out.value(
            &json!({ "ok": faults.is_none(), "faults": list, "notes": notes, "effective": shown, "origins": origins }),
        )?;
        return verdict(faults.as_ref());
    }
    if let Some(shown) = shown {
        out.line(shown)?;
    }
    origins.iter().try_for_each(|origin| out.line(origin.line()))?;
    notes.iter().try_for_each(|note| out.line(format!("note: {note}")))?;
    if let Some(faults) = &faults {
        faults.0.iter().try_for_each(|fault| out.line(format!("fault: {fault}")))?;
    } else {
        out.line("The config is sound.")?;
    }
    verdict(faults.as_ref())
}

fn verdict(faults: Option<&ConfigErrors>) -> Result {
    let Some(faults) = faults else { return Ok(()) };
    Err(Failure::new(Exit::Failed, "bad_config", format!("{} faults: this config does not start", faults.0.len())))
}

/// A member of a provider with a preset, and where its value comes from. Secrets are masked.
#[derive(Debug, serde::Serialize)]
struct Origin {
    path: String,
    value: Value,
    /// The preset's name, or nothing where the config says it itself.
    preset: Option<String>,
}

impl Origin {
    fn line(&self) -> String {
        let from = self.preset.as_ref().map_or_else(|| "yours".to_owned(), |preset| format!("preset {preset}"));
        format!("{} = {}  ({from})", self.path, printable(&self.value.to_string()))
    }
}

/// Every member that a preset gave, or that was written beside it. What is not here has its default.
fn origins(loaded: &Loaded) -> Vec<Origin> {
    let shown = serde_json::to_value(&loaded.config.providers).unwrap_or_default();
    let mut list = Vec::new();
    for (name, origins) in &loaded.origins {
        let value = |member: &String| {
            let pointer = format!("/{name}/{}", member.replacen('.', "/", 1));
            (format!("providers.{name}.{member}"), shown.pointer(&pointer).cloned().unwrap_or_default())
        };
        let given = origins.from_preset.iter().map(|member| (member, Some(origins.preset.clone())));
        for (member, preset) in given.chain(origins.own.iter().map(|member| (member, None))) {
            let (path, value) = value(member);
            list.push(Origin { path, value, preset });
        }
    }
    list
}
