//! The `thermocline` command, mostly on the blocking handles of the library. Each verb, or group of related verbs, has a
//! module.

mod again;
mod anchor;
mod args;
mod backup;
mod chat;
mod cli;
mod completions;
mod compressed;
mod context;
mod counts;
mod demo;
mod doctor;
mod embed;
mod erase;
mod eval;
mod exit;
mod find;
mod history;
mod input;
mod jobs;
mod measure;
mod memory;
mod openai;
mod output;
mod pages;
mod paper;
mod places;
mod plain;
mod provider_args;
mod providers;
mod recall;
mod recall_args;
mod replay;
mod restore;
mod sensor_file;
#[cfg(feature = "service")]
mod service;
mod session;
mod session_state;
mod stats;
mod transcript;
mod transfer;
mod turn;
mod users;
mod vault;
mod why;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};

use crate::{
    cli::{AnchorVerb, Cli, EmbedVerb, JobsVerb, SessionVerb, TurnVerb, UserVerb, Verb},
    exit::{Exit, Failure},
    output::Output,
};

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| misused(&error));
    let out = Output::new(cli.json);
    match run(&cli, &out) {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            out.failed(&failure);
            failure.exit().into()
        }
    }
}

/// Answers a request for help or an invalid command line; with `--json`, the error is JSON too.
fn misused(error: &clap::Error) -> ! {
    if !error.use_stderr() || !std::env::args_os().any(|arg| arg == "--json") {
        error.exit();
    }
    // clap shows the help of a group of verbs if the verb is missing.
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a verb is missing; help lists them".to_owned()
        }
        _ => error.to_string().lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" "),
    };
    let message = message.trim_start_matches("error: ");
    Output::new(true).failed(&Failure::new(Exit::Misused, message));
    std::process::exit(Exit::Misused as i32)
}

/// Prints the help of a verb, or says that there is no such verb.
fn help(verb: &[String]) -> ! {
    let args = ["thermocline"].into_iter().chain(verb.iter().map(String::as_str)).chain(["--help"]);
    match Cli::try_parse_from(args) {
        Err(error) => error.exit(),
        Ok(_) => unreachable!("--help is not a verb"),
    }
}

fn run(cli: &Cli, out: &Output) -> Result<(), Failure> {
    let db = cli.db_or_default();
    match &cli.verb {
        Verb::Demo => db.check_writable().and_then(|()| demo::run(cli.db.as_deref(), out)),
        Verb::Replay(args) => replay::run(&db, args, out),
        Verb::Context(args) => context::run(&db, args, out),
        Verb::Recall(args) => recall::run(&db, args, out),
        Verb::Why(args) => why::run(&db, args, out),
        Verb::Chat(args) => chat::run(&db, args, out),
        Verb::Eval(args) => eval::run(&db, args, out),
        Verb::Embed(EmbedVerb::Rebuild(args)) => embed::rebuild(&db, args, out),
        Verb::Embed(EmbedVerb::Status) => embed::status(&db, out),
        Verb::Session(SessionVerb::List(args)) => session::list(&db, args, out),
        Verb::Session(SessionVerb::Show(args)) => session::show(&db, args, out),
        Verb::Session(SessionVerb::Turns(args)) => history::run(&db, args, out),
        Verb::Session(SessionVerb::State(args)) => session_state::run(&db, args, out),
        Verb::Session(SessionVerb::End(args)) => session::end(&db, args, out),
        Verb::Session(SessionVerb::Summaries(args)) => compressed::summaries(&db, args, out),
        Verb::Session(SessionVerb::Restore(args)) => compressed::restore(&db, args, out),
        Verb::Session(SessionVerb::Compress(args)) => compressed::compress(&db, args, out),
        Verb::Turn(TurnVerb::Show(args)) => turn::show(&db, args, out),
        Verb::Anchor(AnchorVerb::List(args)) => anchor::list(&db, args, out),
        Verb::Anchor(AnchorVerb::Show(args)) => anchor::show(&db, args, out),
        Verb::Anchor(AnchorVerb::Set(args)) => anchor::set(&db, args, out),
        Verb::Anchor(AnchorVerb::Retract(args)) => anchor::retract(&db, args, out),
        Verb::Memory(verb) => memory::run(&db, verb, out),
        Verb::Vault(verb) => vault::run(&db, verb, out),
        Verb::Erase(args) => erase::run(&db, args, out),
        Verb::User(UserVerb::List(args)) => users::list(&db, args, out),
        Verb::Jobs(JobsVerb::List(args)) => jobs::list(&db, args, out),
        Verb::Jobs(JobsVerb::Run(args)) => jobs::run(&db, args, out),
        Verb::Jobs(JobsVerb::CompressAgain(args)) => again::run(&db, args, out),
        Verb::Jobs(JobsVerb::Retry(args)) => jobs::retry(&db, args, out),
        Verb::Stats => stats::run(&db, out),
        Verb::Doctor(args) => doctor::run(&db, args, out),
        Verb::Backup(args) => backup::run(&db, args, out),
        Verb::Restore(args) => restore::run(&db, args, out),
        Verb::Export(args) => transfer::export(&db, args, out),
        Verb::Import(args) => transfer::import(&db, args, out),
        #[cfg(feature = "service")]
        Verb::Serve(args) => service::serve::run(&db, args, out),
        #[cfg(feature = "service")]
        Verb::Health(args) => service::health::run(args, out),
        #[cfg(feature = "service")]
        Verb::Key(verb) => service::key::run(verb, out),
        #[cfg(feature = "service")]
        Verb::Mcp(args) => service::mcp::run(&db, args),
        #[cfg(feature = "service")]
        Verb::Call(args) => service::call::run(&db, args, out),
        Verb::Completions(args) => completions::run(args, out),
        Verb::Help(args) => help(&args.verb),
    }
}
