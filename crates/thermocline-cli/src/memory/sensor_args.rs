//! The arguments of the verbs that check memories with sensors, and their help texts.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use clap::Args;

use crate::{
    args::UserArg,
    memory::args::{MemoryArgs, OriginArgs},
    sensor_file::SensorArgs,
};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The sensor's name: fs, code, http, one from the file, or human, which asks a person in a review.
    pub(crate) sensor: String,

    /// The name of one of its checks in the file; human needs none.
    #[arg(default_value = "")]
    pub(crate) check: String,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnwatchArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The sensor's name.
    pub(crate) sensor: String,

    /// The check's name [default: all its checks].
    pub(crate) check: Option<String>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
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
