//! `check [FILE]`: every fault of a config at once, each with what to change; what is read and not in force yet; on
//! request the config in force, secrets masked. Nothing is opened and nothing is sent.

use std::path::PathBuf;

use serde_json::json;

use crate::{
    commands::Here,
    config::{ConfigErrors, Environment, effective},
    exit::{Exit, Failure, Result},
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
    let (faults, notes) = match loaded.resolve() {
        Ok(resolved) => (None, resolved.notes),
        Err(faults) => (Some(faults), Vec::new()),
    };
    if out.json {
        let list = faults.iter().flat_map(|f| &f.0);
        let list: Vec<_> = list.map(|f| json!({ "path": f.path, "what": f.what, "change": f.advice })).collect();
        out.value(&json!({ "ok": faults.is_none(), "faults": list, "notes": notes, "effective": shown }))?;
        return verdict(faults.as_ref());
    }
    if let Some(shown) = shown {
        out.line(shown)?;
    }
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
