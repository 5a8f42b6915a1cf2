//! The arguments of the verbs that tend, show or hide many memories at once, and of undo, with their help texts.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args};
use thermocline::{GroupId, Origin};

use crate::{
    args::{UserArg, instant},
    memory::{args::OriginArgs, words},
};

#[derive(Args, Debug)]
pub(crate) struct TendArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Only show what would move, and why; nothing is written.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CoreArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The maximum size in tokens, by the configured tokenizer: 100 or more.
    #[arg(long, value_name = "N", default_value_t = 3_000)]
    pub(crate) max_tokens: u32,

    /// The maximum number of memories per section, from 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) per_section: u32,

    /// Leave out what is trusted less: 2 is the assistant's words, 3 the user's, 4 what a person approved.
    #[arg(long, value_name = "TRUST", default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=4))]
    pub(crate) min_trust: u8,

    /// As of this time: a date or RFC 3339 time [default: now].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) at: Option<DateTime<Utc>>,
}

#[derive(Args, Debug)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("source").required(true)))]
pub(crate) struct QuarantineArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// A turn: its id, its caller's id, or SESSION/NUMBER.
    #[arg(long, group = "source", value_name = "TURN")]
    pub(crate) turn: Option<String>,

    /// A session: its key or id.
    #[arg(long, group = "source", value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// A memory, by any of its names.
    #[arg(long, group = "source", value_name = "MEMORY")]
    pub(crate) memory: Option<String>,

    /// What one call saved, by its group in memory history --json.
    #[arg(long, group = "source", value_name = "GROUP")]
    pub(crate) call: Option<GroupId>,

    /// Everything that contains words of this origin.
    #[arg(long, group = "source", value_name = "ORIGIN", value_parser = words::origin())]
    pub(crate) of: Option<Origin>,

    /// Why, in one line; the history keeps it.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) why: String,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct LiftArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The quarantine, by the group that it returned; memory history shows it too.
    pub(crate) group: GroupId,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The memory: its id (mem_...), the id's first or last digits (4 or more), or the caller's own id.
    #[arg(required_unless_present = "group")]
    pub(crate) memory: Option<String>,

    /// Undo this operation instead, in all the memories that it changed; memory history --json shows groups.
    #[arg(long, value_name = "ID", conflicts_with = "memory")]
    pub(crate) group: Option<GroupId>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}
