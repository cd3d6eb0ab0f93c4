//! `completions SHELL`: what the shell needs to complete commands and flags.

use clap::CommandFactory as _;

use crate::{commands::Cli, exit::Result, output::Out};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args, out: Out) -> Result {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "effectgate", &mut text);
    out.bytes(&text)
}
