//! The arguments of the verbs that check memories with sensors, and their help texts.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use clap::Args;

use crate::{args::UserArg, memory::args::MemoryArgs, sensor_file::SensorArgs};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The sensor's name: fs, code, http, one from the file, or human, which asks a person in a review.
    pub(crate) sensor: String,

    /// What it looks at, by a name from the file: ROOT:PATH for fs, the name of a command or an address.
    #[arg(default_value = "")]
    pub(crate) subject: String,

    /// What it should find, as a JSON object: {"exists":true}, {"sha256":"..."}, {"exit_code":0},
    /// {"status":200,"pointer":"/port","equals":8443} [default: the file exists, the command succeeds, the address answers].
    #[arg(long, value_name = "JSON")]
    pub(crate) expect: Option<String>,

    /// It should find this exact text in a file or in a command's output.
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnwatchArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The sensor's name.
    pub(crate) sensor: String,

    /// What it looks at [default: every subject].
    pub(crate) subject: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct WatchersArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The memories: their ids (mem_...), the first or last digits of these, or the caller's own ids.
    #[arg(required_unless_present = "stale")]
    pub(crate) memories: Vec<String>,

    /// All memories that are stale and have a sensor.
    #[arg(long, conflicts_with = "memories")]
    pub(crate) stale: bool,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}
