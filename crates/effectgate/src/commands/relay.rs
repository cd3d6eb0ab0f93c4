//! `relay`: the fault proxy as a command. It starts one relay, prints a line for each exchange that ended, and the counts
//! when it is stopped. What a relay does lies in `crates/relay`.

use std::net::SocketAddr;

use effectgate_relay::{Counts, Fault, LogLine, Match, Mode, Relay, RelayError, RelaySettings, Rule, Upstream};
use serde_json::json;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    exit::{Exit, Failure, Result},
    output::{Out, printable},
    stop,
};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("to").required(true).args(["upstream", "smtp"])))]
pub(crate) struct Args {
    /// The provider behind the relay, over HTTP: http://HOST:PORT/PATH or https://…
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// The provider behind the relay, over SMTP without TLS
    #[arg(long, value_name = "HOST:PORT")]
    smtp: Option<String>,
    /// What happens to an exchange: fail-before-forward, forward-then-drop-response, forward-and-respond, duplicate; or
    /// reset, close, silence, each with -before-forward, -after-forward (the default) or -mid-answer
    #[arg(long, env = effectgate_relay::MODE_VARIABLE, default_value_t = Mode::ForwardAndRespond, value_name = "WORD")]
    mode: Mode,
    /// Only the first N exchanges get the mode; those after them pass
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    times: Option<u32>,
    /// Where callers connect; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8788", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Where /counts, /log, /mode and /rules are answered; loopback only, none without
    #[arg(long, value_name = "ADDRESS")]
    control: Option<SocketAddr>,
    /// Do not honour the request header Effectgate-Fault (it is never forwarded)
    #[arg(long)]
    ignore_header: bool,
    /// Allow an upstream that is neither loopback nor private: the faults there are real ones
    #[arg(long)]
    i_know: bool,
    /// Stop when standard input ends: for a parent process that must not leave a relay behind
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let stop = stop::signal(args.until_stdin_closes)?;
    let (times, mode) = (args.times, args.mode);
    let settings = settings(args)?;
    let upstream = settings.upstream.to_string();
    let relay = Relay::start(settings).await?;
    if let Some(times) = times {
        relay.add_rule(Rule { times, matches: Match::default(), fault: mode })?;
    }
    // Before it is said where the relay is: no exchange comes earlier.
    let lines = relay.lines();
    say_where(out, &relay, &upstream, mode)?;
    let told = tokio::select! {
        told = tell(out, lines) => told,
        () = stop => Ok(()),
    };
    let counts = relay.counts();
    relay.shutdown().await;
    told?;
    say_counts(out, &counts)
}

fn settings(args: Args) -> Result<RelaySettings> {
    let upstream = match (args.upstream, args.smtp) {
        (Some(url), _) => Upstream::http(&url)?,
        (None, Some(address)) => Upstream::smtp(&address)?,
        (None, None) => return Err(Failure::usage("give --upstream or --smtp")),
    };
    // With a number of times the mode is a rule, and what comes after them passes.
    let mode = if args.times.is_some() { Mode::ForwardAndRespond } else { args.mode };
    Ok(RelaySettings {
        listen: args.listen,
        upstream,
        mode,
        allow_public: args.i_know,
        header_rules: !args.ignore_header,
        control: args.control,
    })
}

fn say_where(out: Out, relay: &Relay, upstream: &str, mode: Fault) -> Result {
    let (url, control) = (relay.url(), relay.control_addr());
    if out.json {
        let control = control.map(|address| format!("http://{address}"));
        let said = json!({ "listening": url, "upstream": upstream, "mode": mode, "control": control });
        return out.line(said.to_string());
    }
    out.line(format!("relay {url} -> {upstream}, {mode}"))?;
    match control {
        Some(address) => out.line(format!("control http://{address}: /counts, /log, /mode, /rules")),
        None => Ok(()),
    }
}

/// Prints each exchange until nobody reads any more.
async fn tell(out: Out, mut lines: Receiver<LogLine>) -> Result {
    loop {
        match lines.recv().await {
            Ok(line) if out.json => out.line(json!(line).to_string())?,
            Ok(line) => out.line(printable(&line.to_string()))?,
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "exchanges were too fast to print; they are counted")
            }
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}

fn say_counts(out: Out, counts: &Counts) -> Result {
    if out.json {
        return out.line(json!({ "counts": counts }).to_string());
    }
    let Counts { seen, forwarded, answered, dropped, duplicated, kept_back, upstream_failed, .. } = counts;
    out.line(format!(
        "{seen} seen, {forwarded} forwarded, {answered} answered, {dropped} dropped, {duplicated} duplicated, \
         {kept_back} kept back, {upstream_failed} failed by the upstream"
    ))
}

impl From<RelayError> for Failure {
    fn from(error: RelayError) -> Self {
        let (exit, code) = match &error {
            RelayError::BadUpstream(..) | RelayError::BadRule(_) => (Exit::Usage, "usage"),
            RelayError::ControlNotLoopback(_) => (Exit::Refused, "control_not_loopback"),
            RelayError::PublicUpstream { .. } => (Exit::Refused, "public_upstream"),
            RelayError::Unresolved { .. } => (Exit::Unavailable, "upstream_unresolved"),
            RelayError::Listen { .. } => (Exit::Unavailable, "cannot_listen"),
            RelayError::Tls(_) | RelayError::TooManyRules => (Exit::Failed, "failed"),
        };
        let failure = Self::new(exit, code, &error);
        match error {
            RelayError::PublicUpstream { .. } => failure.hint("If that is a sandbox, and meant: --i-know."),
            RelayError::Listen { .. } => failure.hint("--listen and --control name other addresses."),
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::commands::Cli;

    #[test]
    fn every_command_of_the_relays_guide_is_understood() {
        let guide = include_str!("../../../../docs/relay.md");
        let commands: Vec<&str> = guide.lines().filter(|line| line.starts_with("effectgate relay ")).collect();

        assert!(commands.len() > 5, "{commands:?}");
        for command in commands {
            let read = Cli::try_parse_from(command.split_whitespace());
            assert!(read.is_ok(), "{command}: {}", read.err().map(|e| e.to_string()).unwrap_or_default());
        }
    }

    #[test]
    fn one_upstream_is_named_and_a_word_that_is_no_mode_is_refused_with_those_that_are() {
        for bad in [&["effectgate", "relay"][..], &["effectgate", "relay", "--upstream", "http://a", "--smtp", "a:1"]] {
            assert!(Cli::try_parse_from(bad).is_err(), "{bad:?}");
        }
        let refused = Cli::try_parse_from(["effectgate", "relay", "--smtp", "a:1", "--mode", "drop"]);
        assert!(refused.unwrap_err().to_string().contains("forward-then-drop-response"));
    }
}
