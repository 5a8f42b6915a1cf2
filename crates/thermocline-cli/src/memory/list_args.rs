//! What the verbs take that list, forget and relate memories, and what the help says of it.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use chrono::{DateTime, Utc};
use clap::Args;
use thermocline::{
    EdgeType, EpisodeRole, Frequency, MemoryFilter, MemoryKind, MemoryStatus, Outcome, TaskType,
};

use crate::{
    args::{LimitArg, UserArg, instant},
    memory::{
        args::{MemoryArgs, OriginArgs},
        words,
    },
};

/// Which memories are meant.
#[derive(Args, Debug, Default)]
pub(crate) struct MemoryFilterArgs {
    /// Only of this kind; may be given several times.
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Vec<MemoryKind>,

    /// Only of this frequency; may be given several times.
    #[arg(long, value_parser = words::frequency())]
    pub(crate) frequency: Vec<Frequency>,

    /// Only with this tag, however it is spelled; may be given several times, all of which it must have.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// This project's memories and those that belong to none; of forget, this project's alone.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// Only for this sort of task.
    #[arg(long, value_name = "TASK", value_parser = words::task())]
    pub(crate) task_type: Option<TaskType>,

    /// Only of at least this confidence, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) min_confidence: Option<f64>,
}

impl MemoryFilterArgs {
    pub(crate) fn filter(&self) -> MemoryFilter {
        let filter = MemoryFilter::default()
            .kinds(self.kind.iter().copied())
            .frequencies(self.frequency.iter().copied());
        let mut filter = self.tag.iter().fold(filter, |filter, tag| filter.tag(tag));
        filter.project.clone_from(&self.project);
        filter.task_type = self.task_type;
        filter.min_confidence = self.min_confidence;
        filter
    }

    /// Whether all memories are meant.
    pub(crate) fn is_open(&self) -> bool {
        self.filter() == MemoryFilter::default()
    }
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    #[command(flatten)]
    pub(crate) filter: MemoryFilterArgs,

    /// Only of this status; may be given several times [default: active].
    #[arg(long, value_parser = words::status(), conflicts_with = "all")]
    pub(crate) status: Vec<MemoryStatus>,

    /// Of every status.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Begin behind this memory.
    #[arg(long, value_name = "MEMORY")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The memory: its id (mem_...), the first or last digits of that, or the caller's own id. Without one, all that the
    /// filter lets pass.
    pub(crate) memory: Option<String>,

    #[command(flatten)]
    pub(crate) filter: MemoryFilterArgs,

    /// Only show which would be forgotten.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MemoryEraseArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RelateArgs {
    #[command(flatten)]
    pub(crate) from: MemoryArgs,

    /// How the first stands to the second.
    #[arg(value_name = "TYPE", value_parser = words::edge())]
    pub(crate) edge_type: EdgeType,

    /// The other memory, by any of its names.
    pub(crate) to: String,

    /// How strong it is, from 0 to 1 [default: by type].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) strength: Option<f64>,

    /// Why, in one line.
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<String>,

    /// A text of its own.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnrelateArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The edge's id, as memory neighbours shows it.
    pub(crate) edge: String,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct BesideArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) limit: LimitArg,
}

#[derive(Args, Debug)]
pub(crate) struct EpisodesArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Only of this role; may be given several times [default: birth and note].
    #[arg(long, value_parser = words::role())]
    pub(crate) role: Vec<EpisodeRole>,

    /// Only what happened then or later: a date or RFC 3339 time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) since: Option<DateTime<Utc>>,

    /// Only what happened before.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) until: Option<DateTime<Utc>>,

    #[command(flatten)]
    pub(crate) limit: LimitArg,
}

#[derive(Args, Debug)]
pub(crate) struct NoteArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// What the note is called, at most 200 bytes.
    pub(crate) title: String,

    /// What it says, at most 1,024 bytes.
    pub(crate) summary: Option<String>,

    /// What sort of note it is.
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Option<MemoryKind>,

    /// A tag; may be given several times.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// The memory that it is about, by any of its names.
    #[arg(long)]
    pub(crate) memory: Option<String>,

    /// The session in which it happened: its key or id.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// How it ended.
    #[arg(long, value_parser = words::outcome())]
    pub(crate) outcome: Option<Outcome>,

    /// What it is filed under.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// The task, by name.
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// What prompted it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) trigger: Option<String>,

    /// Your own id for it: noted again, it is known.
    #[arg(long, value_name = "ID")]
    pub(crate) caller_id: Option<String>,

    /// When it happened: a date or RFC 3339 time [default: now].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) at: Option<DateTime<Utc>>,
}

#[derive(Args, Debug)]
pub(crate) struct TagsArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Show what memories are about, by name, instead of their tags.
    #[arg(long)]
    pub(crate) entities: bool,

    #[command(flatten)]
    pub(crate) limit: LimitArg,
}
