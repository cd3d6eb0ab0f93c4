//! The command line: one enum, a file for each verb. Every command takes `--config` and `--json` and ends with one of
//! the exit codes of [`crate::exit`].

mod approve;
mod bench;
mod certify;
mod check;
mod completions;
mod correct;
mod demo;
mod doctor;
mod effects;
mod explain;
mod journal;
mod key;
mod migrate;
mod providers;
mod relay;
mod replay;
mod review;
mod runs;
mod serve;
mod subscriptions;
mod switch;
mod user;

use std::path::PathBuf;

use crate::{
    exit::{AFTER_HELP, Result},
    output::Out,
};

/// One server beside the workflow tool that owns what must be durable: keys, decisions, effects, outcomes, the record.
#[derive(Debug, clap::Parser)]
#[command(name = "effectgate", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The config file [default: effectgate.toml, if it is there]
    #[arg(long, global = true, env = "EFFECTGATE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show the whole story offline, in seconds: the duplicate without the gate, and not with it
    Demo(demo::Args),
    /// Run the server
    Serve(serve::Args),
    /// Judge a config: every fault at once, each with what to change
    Check(check::Args),
    /// Look at everything a server needs: config, database, disk, providers, switch, open work
    Doctor(doctor::Args),
    /// The database's schema: how it stands, or bring it up to this binary
    Migrate(migrate::Args),
    /// API keys, directly on the database
    Key(key::Args),
    /// Local accounts, directly on the database
    User(user::Args),
    /// List runs
    Runs(runs::Args),
    /// Tell the story of one key: processed, sent, why not, who approved, what would make it go
    Explain(explain::Args),
    /// List effects
    Effects(effects::Args),
    /// The review desk: list what nobody knows the outcome of, and settle it
    Review(review::Args),
    /// Recover many runs: plan it, look at it, execute it once
    Replay(replay::Args),
    /// Correct a run that has ended: a new event with its own key, linked to it
    Correct(correct::Args),
    /// List approvals, and decide one as a signed-in person
    Approve(approve::Args),
    /// Show the kill switch, and turn it
    Switch(switch::Args),
    /// Who hears of events: list them, drop one
    Subscriptions(subscriptions::Args),
    /// Verify or export the journal
    Journal(journal::Args),
    /// Hold the readiness list against a gate from outside: --self for a throwaway one, or a running one
    Certify(Box<certify::Args>),
    /// The provider presets: list them, or say what one knows and what a lost answer leads to there
    Providers(providers::Args),
    /// Measure: reservations, hot keys, batches, whole cycles, effects
    Bench(bench::Args),
    /// Stand between a caller and a provider, and lose on purpose what the crash window loses
    Relay(relay::Args),
    /// Print the completions of a shell
    Completions(completions::Args),
}

impl Command {
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Self::Serve(_))
    }
}

/// What every command may need to know.
pub(crate) struct Here {
    pub(crate) config: Option<PathBuf>,
    pub(crate) out: Out,
}

/// Runs the command that was asked for.
pub(crate) async fn run(cli: Cli) -> Result {
    let out = Out::new(cli.json);
    let here = Here { config: cli.config, out };
    match cli.command {
        Command::Demo(args) => demo::run(&args, out).await,
        Command::Serve(args) => serve::run(&args, &here).await,
        Command::Check(args) => check::run(&args, &here),
        Command::Doctor(args) => doctor::run(&args, &here).await,
        Command::Migrate(args) => migrate::run(&args, &here).await,
        Command::Key(args) => key::run(args, &here).await,
        Command::User(args) => user::run(args, &here).await,
        Command::Runs(args) => runs::run(args, out).await,
        Command::Explain(args) => explain::run(args, out).await,
        Command::Effects(args) => effects::run(args, out).await,
        Command::Review(args) => review::run(args, out).await,
        Command::Replay(args) => replay::run(args, out).await,
        Command::Correct(args) => correct::run(args, out).await,
        Command::Approve(args) => approve::run(args, out).await,
        Command::Switch(args) => switch::run(args, out).await,
        Command::Subscriptions(args) => subscriptions::run(args, out).await,
        Command::Journal(args) => journal::run(args, &here).await,
        Command::Certify(args) => certify::run(*args, out).await,
        Command::Providers(args) => providers::run(&args, out),
        Command::Bench(args) => bench::run(&args, out).await,
        Command::Relay(args) => relay::run(args, out).await,
        Command::Completions(args) => completions::run(&args, out),
    }
}

/// Says that a list was cut, to a person.
fn say_more(out: Out, more: bool) -> Result {
    if more && out.terminal { out.line("There are more; --limit shows them.") } else { Ok(()) }
}
