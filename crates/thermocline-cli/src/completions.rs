//! `thermocline completions`: prints a script with which a shell completes the command line.

use clap::CommandFactory;

use crate::{args::CompletionsArgs, cli::Cli, exit::Failure, output::Output};

pub(crate) fn run(args: &CompletionsArgs, out: &Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "thermocline", &mut script);
    out.print(&String::from_utf8_lossy(&script))
}
