//! What the verbs take that save and edit memories, and what the help says of it.
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

    /// The memory: its id (mem_...), its first or last digits (4 or more), or the caller's own id.
    pub(crate) memory: String,
}

/// The same, to be shown.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// Show it as a file: entry is the JSON of the entry paper, markdown what a vault has of it.
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

/// Whose doing it is.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OriginArgs {
    /// Whose words they are, or whose doing [default: user if a person sits at the terminal, else assistant].
    #[arg(long, value_parser = words::origin())]
    pub(crate) origin: Option<Origin>,
}

/// What a memory says and is.
#[derive(Args, Debug)]
pub(crate) struct ContentArgs {
    /// What it is called, at most 200 bytes. If this alone is given it is what the memory says, and its first sentence is
    /// the title.
    pub(crate) title: Option<String>,

    /// What it says, at most 64 KiB.
    pub(crate) content: Option<String>,

    /// Read what it says from a file; - is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    pub(crate) content_file: Option<PathBuf>,

    /// What sort of memory it is [default: general; of a procedure with --step: procedure].
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Option<MemoryKind>,

    /// One sentence that stands for it where it is too long.
    #[arg(long)]
    pub(crate) summary: Option<String>,

    /// A step of a procedure; may be given several times, in order.
    #[arg(long, value_name = "TEXT")]
    pub(crate) step: Vec<String>,

    /// A tag, with or without #; may be given several times.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// What it is about, by name; may be given several times [default: what its text names].
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Vec<String>,

    /// How much it matters, from 0 to 1 [default: by frequency and outcome].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) importance: Option<f64>,

    /// How likely it is true, from 0 to 1 [default: 0.8].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) confidence: Option<f64>,

    /// How good its source is, from 0 to 1 [default: nobody has assessed it].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) reliability: Option<f64>,

    /// How settled it is [default: mid].
    #[arg(long, value_parser = words::frequency())]
    pub(crate) frequency: Option<Frequency>,

    /// What sort of information it has [default: static].
    #[arg(long, value_name = "TYPE", value_parser = words::information())]
    pub(crate) information: Option<InformationType>,

    /// How fast the world outdates it [default: by --information].
    #[arg(long, value_parser = words::volatility())]
    pub(crate) volatility: Option<Volatility>,

    /// For how long it holds unchecked, and a check of it: 30s, 90m, 12h, 7d, 2w [default: by volatility; low: for ever,
    /// medium: 7d, high: 6h, ephemeral: 1h].
    #[arg(long, value_name = "SPAN", value_parser = words::window)]
    pub(crate) window: Option<CheckWindow>,

    /// Its slot: of one kind and project one active memory has it, and what is saved into it later takes its place.
    #[arg(long, value_name = "NAME")]
    pub(crate) slot: Option<String>,

    /// What it is filed under [default: it is for all projects].
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// For what sort of task it is.
    #[arg(long, value_name = "TASK", value_parser = words::task())]
    pub(crate) task_type: Option<TaskType>,

    /// Keep it from fading.
    #[arg(long)]
    pub(crate) pin: bool,

    /// A turn that it comes of: its id, its caller's id, or SESSION/NUMBER; may be given several times.
    #[arg(long, value_name = "TURN")]
    pub(crate) source: Vec<String>,

    /// How what it came of ended.
    #[arg(long, value_parser = words::outcome())]
    pub(crate) outcome: Option<Outcome>,

    /// The session in which it came about: its key or id. The memory outlives the session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Your own id for it, unique per user: saved again, it is known.
    #[arg(long, value_name = "ID")]
    pub(crate) caller_id: Option<String>,

    /// When it was so: a date or RFC 3339 time [default: now].
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

    /// Save the memories of a file, a JSON object a line; - reads stdin.
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

    /// Have this memory take the place instead of a new one.
    #[arg(long, value_name = "MEMORY", conflicts_with_all = ["title", "content", "content_file"])]
    pub(crate) by: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// Another title.
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Another text.
    #[arg(long)]
    pub(crate) content: Option<String>,

    /// Read another text from a file; - is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    pub(crate) content_file: Option<PathBuf>,

    /// Another summary; an empty one takes it away.
    #[arg(long)]
    pub(crate) summary: Option<String>,

    /// Another kind.
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Option<MemoryKind>,

    /// Another step of a procedure in the place of all that are there; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) step: Vec<String>,

    /// A tag in the place of all that are there; may be given several times. One empty tag takes all away.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// What it is about, in the place of all that is there; may be given several times. One empty name takes all away.
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Vec<String>,

    /// Another importance, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) importance: Option<f64>,

    /// Another confidence, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) confidence: Option<f64>,

    /// Another reliability, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) reliability: Option<f64>,

    /// Another frequency, whatever the rules say.
    #[arg(long, value_parser = words::frequency())]
    pub(crate) frequency: Option<Frequency>,

    /// Another volatility.
    #[arg(long, value_parser = words::volatility())]
    pub(crate) volatility: Option<Volatility>,

    /// Another span for which it, and a check of it, holds: 12h, 7d; an empty one: as its volatility says.
    #[arg(long, value_name = "SPAN", value_parser = words::window)]
    pub(crate) window: Option<CheckWindow>,

    /// Another slot; an empty name: none.
    #[arg(long, value_name = "NAME")]
    pub(crate) slot: Option<String>,

    /// Another project; an empty name: it is for all of them.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// Whether it is shown again to a person after a time.
    #[arg(long, value_parser = words::resurfacing())]
    pub(crate) resurfacing: Option<Resurfacing>,

    /// Only if the memory has this revision, as memory show says.
    #[arg(long, value_name = "N")]
    pub(crate) expect_revision: Option<u32>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}
