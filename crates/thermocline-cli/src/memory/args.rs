//! The arguments of the verbs that save, show and edit memories, and their help texts.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::Args;
use thermocline::{
    FileFormat, Frequency, InformationType, MemoryKind, Origin, Outcome, Resurfacing, TaskType, Volatility,
};

use crate::{
    args::{UserArg, instant},
    memory::words::{self, CheckWindow},
};

/// A memory of a user.
#[derive(Args, Debug)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The memory: its id (mem_...), the id's first or last digits (4 or more), or the caller's own id.
    pub(crate) memory: String,
}

/// The same, with a format to show it in.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// Show it as a file: entry is the JSON of the entry paper, markdown the file that a vault has for it.
    #[arg(long, value_parser = words::format())]
    pub(crate) format: Option<FileFormat>,
}

/// The same, for verbs that write.
#[derive(Args, Debug)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

/// The origin of a change.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OriginArgs {
    /// Whose words or whose action it is [default: user if a person sits at the terminal, else assistant].
    #[arg(long, value_parser = words::origin())]
    pub(crate) origin: Option<Origin>,
}

/// A memory's text and fields.
#[derive(Args, Debug)]
pub(crate) struct ContentArgs {
    /// Its title, at most 200 bytes. Given alone, it is the memory's text, and its first sentence becomes the title.
    pub(crate) title: Option<String>,

    /// Its text, at most 64 KiB.
    pub(crate) content: Option<String>,

    /// Read its text from a file; - is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    pub(crate) content_file: Option<PathBuf>,

    /// Its kind [default: general; procedure if --step is given].
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Option<MemoryKind>,

    /// One sentence to show instead of a text that is too long.
    #[arg(long)]
    pub(crate) summary: Option<String>,

    /// A step of a procedure; may be given several times, in order.
    #[arg(long, value_name = "TEXT")]
    pub(crate) step: Vec<String>,

    /// A tag, with or without #; may be given several times.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// What it is about, by name; may be given several times [default: the names in its text].
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Vec<String>,

    /// How much it matters, from 0 to 1 [default: by frequency and outcome].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) importance: Option<f64>,

    /// How likely it is true, from 0 to 1 [default: 0.8].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) confidence: Option<f64>,

    /// How good its source is, from 0 to 1 [default: not assessed].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) reliability: Option<f64>,

    /// How settled it is [default: mid].
    #[arg(long, value_parser = words::frequency())]
    pub(crate) frequency: Option<Frequency>,

    /// The type of its information [default: static].
    #[arg(long, value_name = "TYPE", value_parser = words::information())]
    pub(crate) information: Option<InformationType>,

    /// How fast the world outdates it [default: by --information].
    #[arg(long, value_parser = words::volatility())]
    pub(crate) volatility: Option<Volatility>,

    /// How long it, or a check of it, holds: 30s, 90m, 12h, 7d, 2w [default: by volatility; low: forever, medium: 7d, high:
    /// 6h, ephemeral: 1h].
    #[arg(long, value_name = "SPAN", value_parser = words::window)]
    pub(crate) window: Option<CheckWindow>,

    /// Its slot: per kind and project, a slot has one active memory, and one saved into it later replaces it.
    #[arg(long, value_name = "NAME")]
    pub(crate) slot: Option<String>,

    /// Its project [default: it applies to all projects].
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// The type of task it is for.
    #[arg(long, value_name = "TASK", value_parser = words::task())]
    pub(crate) task_type: Option<TaskType>,

    /// Keep it from fading.
    #[arg(long)]
    pub(crate) pin: bool,

    /// A turn it comes from: its id, its caller's id, or SESSION/NUMBER; may be given several times.
    #[arg(long, value_name = "TURN")]
    pub(crate) source: Vec<String>,

    /// How the event it comes from ended.
    #[arg(long, value_parser = words::outcome())]
    pub(crate) outcome: Option<Outcome>,

    /// The session it comes from: its key or id. The memory outlives the session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Your own id for it, unique per user: saving it again changes nothing.
    #[arg(long, value_name = "ID")]
    pub(crate) caller_id: Option<String>,

    /// When it was true: a date or RFC 3339 time [default: now].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) said_at: Option<DateTime<Utc>>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SaveArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    #[command(flatten)]
    pub(crate) content: ContentArgs,

    /// Save the memories in a file, one JSON object per line; - reads stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "title", "content", "content_file", "summary", "step", "entity", "slot", "source", "outcome", "session",
        "caller_id", "said_at",
    ])]
    pub(crate) batch: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SupersedeArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) content: ContentArgs,

    /// Use this memory as the replacement instead of a new one.
    #[arg(long, value_name = "MEMORY", conflicts_with_all = ["title", "content", "content_file"])]
    pub(crate) by: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// The new title.
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// The new text.
    #[arg(long)]
    pub(crate) content: Option<String>,

    /// Read the new text from a file; - is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    pub(crate) content_file: Option<PathBuf>,

    /// The new summary; an empty one removes it.
    #[arg(long)]
    pub(crate) summary: Option<String>,

    /// The new kind.
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Option<MemoryKind>,

    /// A step of a procedure, replacing all existing ones; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) step: Vec<String>,

    /// A tag, replacing all existing ones; may be given several times. One empty tag removes all.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// What it is about, by name, replacing all existing names; may be given several times. One empty name removes all.
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Vec<String>,

    /// The new importance, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) importance: Option<f64>,

    /// The new confidence, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) confidence: Option<f64>,

    /// The new reliability, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) reliability: Option<f64>,

    /// The new frequency, whatever the rules say.
    #[arg(long, value_parser = words::frequency())]
    pub(crate) frequency: Option<Frequency>,

    /// The new volatility.
    #[arg(long, value_parser = words::volatility())]
    pub(crate) volatility: Option<Volatility>,

    /// How long it, or a check of it, holds: 12h, 7d; empty: by its volatility.
    #[arg(long, value_name = "SPAN", value_parser = words::window)]
    pub(crate) window: Option<CheckWindow>,

    /// The new slot; an empty name removes it.
    #[arg(long, value_name = "NAME")]
    pub(crate) slot: Option<String>,

    /// The new project; with an empty name it applies to all projects.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// Whether it becomes due again for a person after a time.
    #[arg(long, value_parser = words::resurfacing())]
    pub(crate) resurfacing: Option<Resurfacing>,

    /// Only if the memory has this revision, as shown by memory show.
    #[arg(long, value_name = "N")]
    pub(crate) expect_revision: Option<u32>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}
