//! The arguments of the verbs that list, forget, erase and relate memories, and of those for episodes and tags, with their
//! help texts.
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

/// Selects memories.
#[derive(Args, Debug, Default)]
pub(crate) struct MemoryFilterArgs {
    /// Only of this kind; may be given several times.
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Vec<MemoryKind>,

    /// Only of this frequency; may be given several times.
    #[arg(long, value_parser = words::frequency())]
    pub(crate) frequency: Vec<Frequency>,

    /// Only with this tag, in any spelling; may be given several times, and a memory must have all of them.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// This project's memories and those without a project; for forget, this project's only.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// Only for this type of task.
    #[arg(long, value_name = "TASK", value_parser = words::task())]
    pub(crate) task_type: Option<TaskType>,

    /// Only with at least this confidence, from 0 to 1.
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

    /// Whether all memories are selected.
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

    /// Start after this memory.
    #[arg(long, value_name = "MEMORY")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The memory: its id (mem_...), the first or last digits of its id, or the caller's own id. Without one, all memories
    /// that match the filter.
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

    /// How the first relates to the second.
    #[arg(value_name = "TYPE", value_parser = words::edge())]
    pub(crate) edge_type: EdgeType,

    /// The other memory, by any of its names.
    pub(crate) to: String,

    /// How strong the edge is, from 0 to 1 [default: by type].
    #[arg(long, value_name = "SHARE", value_parser = words::share)]
    pub(crate) strength: Option<f64>,

    /// Why, in one line.
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<String>,

    /// A longer description.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UnrelateArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The edge's id, as shown by memory neighbours.
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

    /// Only what happened at or after this time: a date or RFC 3339 time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) since: Option<DateTime<Utc>>,

    /// Only what happened before this time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) until: Option<DateTime<Utc>>,

    #[command(flatten)]
    pub(crate) limit: LimitArg,
}

#[derive(Args, Debug)]
pub(crate) struct NoteArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The note's title, at most 200 bytes.
    pub(crate) title: String,

    /// The note's text, at most 1,024 bytes.
    pub(crate) summary: Option<String>,

    /// The note's kind.
    #[arg(long, value_parser = words::kind())]
    pub(crate) kind: Option<MemoryKind>,

    /// A tag; may be given several times.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// The memory it is about, by any of its names.
    #[arg(long)]
    pub(crate) memory: Option<String>,

    /// The session in which it happened: its key or id.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// How it ended.
    #[arg(long, value_parser = words::outcome())]
    pub(crate) outcome: Option<Outcome>,

    /// Its project.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// The task, by name.
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// What triggered it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) trigger: Option<String>,

    /// Your own id for it: noting it again changes nothing.
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

    /// Show the names that memories are about, instead of their tags.
    #[arg(long)]
    pub(crate) entities: bool,

    #[command(flatten)]
    pub(crate) limit: LimitArg,
}
