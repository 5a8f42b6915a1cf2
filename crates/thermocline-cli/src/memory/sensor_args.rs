//! What the verbs take that have sensors look at memories, and what the help says of it.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use clap::Args;

use crate::{args::UserArg, memory::args::MemoryArgs, sensor_file::SensorArgs};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The sensor, by its name: fs, code, http, one of the file's own, or human, who is asked by a review.
    pub(crate) sensor: String,

    /// What it looks at, by a name of the file: ROOT:PATH for fs, the name of a command or an address.
    #[arg(default_value = "")]
    pub(crate) subject: String,

    /// What it is to see, as a JSON object: {"exists":true}, {"sha256":"..."}, {"exit_code":0},
    /// {"status":200,"pointer":"/port","equals":8443} [default: that the file is there, that the command ends well, that
    /// the address answers].
    #[arg(long, value_name = "JSON")]
    pub(crate) expect: Option<String>,

    /// It is to see this text, to the letter, in a file or in what a command writes.
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnwatchArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The sensor, by its name.
    pub(crate) sensor: String,

    /// What it looks at [default: whatever it looks at].
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

    /// All that are stale and have a sensor.
    #[arg(long, conflicts_with = "memories")]
    pub(crate) stale: bool,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}
