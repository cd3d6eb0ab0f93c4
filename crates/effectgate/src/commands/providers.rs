//! `providers [list|show NAME]`: the presets of the registry, what each knows and what it is not promised, and in words
//! what a lost answer leads to there. Nothing is opened and nothing is sent.

use serde_json::json;

use crate::{
    exit::{Exit, Failure, Result},
    output::Out,
    presets::{self, Preset, words},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Every preset in a line (the default)
    List,
    /// One preset: its facts and sources, what a lost answer leads to, and the section to write
    Show {
        /// As in `preset = "NAME"`
        name: String,
    },
}

pub(crate) fn run(args: &Args, out: Out) -> Result {
    match &args.verb {
        None | Some(Verb::List) => list(out),
        Some(Verb::Show { name }) => show(name, out),
    }
}

fn list(out: Out) -> Result {
    if out.json {
        let items = presets::all().iter().map(whole).collect::<Result<Vec<_>>>()?;
        return out.value(&json!({ "items": items }));
    }
    let rows = presets::all().iter().map(|preset| Ok(words::row(preset, &preset.section().map_err(Failure::failed)?)));
    out.table(&words::HEADS, &rows.collect::<Result<Vec<_>>>()?, "There are no presets.")
}

fn show(name: &str, out: Out) -> Result {
    let Some(preset) = presets::find(name) else { return Err(unknown(name)) };
    if out.json {
        return out.value(&whole(preset)?);
    }
    let section = preset.section().map_err(Failure::failed)?;
    out.line(format!("{}: {}, {}", preset.name, preset.title, words::class(&section)))?;
    for said in words::story(&section) {
        out.line(format!("\n{}:\n  {}", said.when, said.then))?;
    }
    listed(out, "What the documentation says", &preset.says)?;
    listed(out, "Not promised", &preset.not_promised)?;
    listed(out, "Could not be read", &preset.unread)?;
    listed(out, &format!("Read on {} in", words::checked(&section)), &preset.sources)?;
    out.line(format!("\nIn the config:\n{}", indented(&preset.snippet())))
}

fn listed(out: Out, head: &str, items: &[String]) -> Result {
    if items.is_empty() {
        return Ok(());
    }
    out.line(format!("\n{head}:"))?;
    items.iter().try_for_each(|item| out.line(format!("  - {item}")))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The file, and the words.
fn whole(preset: &Preset) -> Result<serde_json::Value> {
    let section = preset.section().map_err(Failure::failed)?;
    let mut value = serde_json::to_value(preset).map_err(Failure::failed)?;
    if let Some(members) = value.as_object_mut() {
        members.insert("class".into(), json!(words::class(&section)));
        members.insert("checked".into(), json!(words::checked(&section)));
        members.insert("story".into(), json!(words::story(&section)));
        members.insert("snippet".into(), json!(preset.snippet()));
    }
    Ok(value)
}

fn unknown(name: &str) -> Failure {
    let meant = match presets::near(name).as_slice() {
        [] => "`effectgate providers` lists them".to_owned(),
        names => format!("did you mean {}?", names.join(" or ")),
    };
    Failure::new(Exit::NotFound, "unknown_preset", format!("there is no preset {name:?}; {meant}"))
}
