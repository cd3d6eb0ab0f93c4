//! `certify`: the readiness list, held against a gate from outside. With `--self` the gate is a throwaway one of this
//! same executable, else a running one. What is judged and how is `effectgate-certify`'s; here stand the arguments, the
//! house that may be killed, and what is printed.

mod flow;
mod own;
mod running;
mod show;

use std::{path::PathBuf, time::Duration};

use effectgate_certify::{Item, Options, Report, Verdict, ground};
use effectgate_engine::{
    clock::{Clock as _, SystemClock},
    probe,
};

use crate::{
    client::ServerArgs,
    exit::{Exit, Failure, Result},
    output::Out,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Judge a throwaway gate of this executable, in a temporary folder, with a provider that counts
    #[arg(long = "self")]
    own: bool,
    #[command(flatten)]
    server: ServerArgs,
    /// A flow that only certify uses; `--config-snippet` prints the sections. Without it only what disturbs nothing is
    /// judged
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Where certify plays the provider of that flow: the address that the config names
    #[arg(long, value_name = "ADDRESS", default_value = ground::FAR)]
    far: std::net::SocketAddr,
    /// A person with the role certify-approver
    #[arg(long, value_name = "USER")]
    login: Option<String>,
    /// The variable that holds that person's password
    #[arg(long, value_name = "NAME", default_value = "EFFECTGATE_PASSWORD")]
    password_env: String,
    /// A person with an account and without that role
    #[arg(long, value_name = "USER")]
    other_login: Option<String>,
    /// The variable that holds the other person's password
    #[arg(long, value_name = "NAME", default_value = "EFFECTGATE_OTHER_PASSWORD")]
    other_password_env: String,
    /// A workflow of your own, by the address that its events are delivered to
    #[arg(long, value_name = "URL", requires = "provider_sandbox")]
    workflow: Option<String>,
    /// The sandbox of that workflow's provider
    #[arg(long, value_name = "URL", requires = "workflow")]
    provider_sandbox: Option<String>,
    /// Where the relay in front of the sandbox listens: the provider's address in the workflow, or in the gate behind it
    #[arg(long, value_name = "ADDRESS", default_value = ground::RELAY)]
    relay: std::net::SocketAddr,
    /// What the workflow is sent: a file of JSON with {{ id }} where the event's id stands
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
    /// Only requests whose path begins so are effects [default: all that are not GET, HEAD or OPTIONS]
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    effect_path: String,
    /// Ask the sandbox here how many effects there are, instead of counting requests
    #[arg(long, value_name = "URL")]
    count: Option<String>,
    /// Where in that answer the number, or the list to be counted, stands: a JSON Pointer
    #[arg(long, value_name = "POINTER", default_value = "", hide_default_value = true)]
    count_at: String,
    /// The sandbox may be out in the open
    #[arg(long)]
    i_know: bool,
    /// Files or folders to search for tokens: the database and the log. Several times
    #[arg(long, value_name = "PATH")]
    look_in: Vec<PathBuf>,
    /// How long to look on where nothing may happen; several sweeps of the gate [default: 7000, with --self 800]
    #[arg(long, value_name = "MS")]
    look_on_ms: Option<u64>,
    /// Only these items
    #[arg(long, value_delimiter = ',', value_name = "ITEM")]
    only: Vec<Item>,
    /// Not these items
    #[arg(long, value_delimiter = ',', value_name = "ITEM")]
    skip: Vec<Item>,
    /// Items that may be not applicable; any other that could not be judged counts as not passed
    #[arg(long, value_delimiter = ',', value_name = "ITEM")]
    accept: Vec<Item>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print the sections of a config that give certify a flow of its own, and do nothing else
    #[arg(long)]
    config_snippet: bool,
    /// Print the items, and do nothing else
    #[arg(long)]
    list: bool,
}

/// The dispatcher ticks every half second and the sweeper every two by default: this is three sweeps.
const LOOK_ON: Duration = Duration::from_millis(7_000);

pub(crate) async fn run(args: Args, out: Out) -> Result {
    if args.list {
        return show::list(out);
    }
    if args.config_snippet {
        return snippet(&args, out);
    }
    let items = items(&args);
    if items.is_empty() {
        return Err(Failure::usage("no item is left: --only and --skip leave none out of the list"));
    }
    let workflow = flow::workflow(&args).await?;
    let mut target = if args.own { own::target().await? } else { running::target(&args, &items).await? };
    target.workflow = workflow;
    let default = if args.own { own::LOOK_ON } else { LOOK_ON };
    let broken = if args.own { probe::broken().map_err(Failure::usage)? } else { None };
    let options = Options {
        items,
        accepted: args.accept.clone(),
        look_on: args.look_on_ms.map_or(default, Duration::from_millis),
        now: SystemClock.now(),
        broken_guard: broken.map(|guard| guard.as_str().to_owned()),
    };
    show::begin(&target.name, &options, out)?;
    let report = effectgate_certify::run(target, options, |outcome| show::outcome(outcome, out)).await;
    finish(&args, &report, out)
}

fn items(args: &Args) -> Vec<Item> {
    // A workflow alone needs no gate to be named.
    let gate = args.own || args.workflow.is_none() || args.flow.is_some();
    let default = |item: &Item| if item.is_of_gate() { gate } else { args.workflow.is_some() };
    let asked = |item: &Item| if args.only.is_empty() { default(item) } else { args.only.contains(item) };
    Item::ALL.iter().copied().filter(asked).filter(|item| !args.skip.contains(item)).collect()
}

fn finish(args: &Args, report: &Report, out: Out) -> Result {
    if let Some(path) = &args.markdown {
        std::fs::write(path, report.markdown())?;
    }
    if let Some(path) = &args.junit {
        std::fs::write(path, report.junit())?;
    }
    show::end(report, out)?;
    if report.ready {
        return Ok(());
    }
    let failure = Failure::new(Exit::Failed, "not_ready", report.summary());
    Err(match &report.log_tail {
        Some(log) if !out.json && report.count(Verdict::Error) > 0 => {
            failure.hint(format!("The end of the gate's log:\n  {log}"))
        }
        _ => failure,
    })
}

fn snippet(args: &Args, out: Out) -> Result {
    let ground = running::ground(args.flow.as_deref().unwrap_or("certify"))?;
    out.line(ground.config(&format!("http://{}", args.far)).trim_end())
}
