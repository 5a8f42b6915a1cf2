//! The arguments of the verbs about uses, due memories and reviews, and their help texts.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use chrono::NaiveDate;
use clap::Args;
use thermocline::{Outcome, ReviewKind};

use crate::{
    args::{LimitArg, UserArg},
    memory::{
        args::{MemoryArgs, OriginArgs},
        words,
    },
};

#[derive(Args, Debug)]
pub(crate) struct UsedArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// How it ended: success, failure, or correction if the memory was wrong; decision and observation are neutral [default:
    /// unknown].
    #[arg(value_parser = words::outcome())]
    pub(crate) outcome: Option<Outcome>,

    /// The session in which it was used: its key or id [default: the receipt's].
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// The project for which it was used [default: the session's].
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,

    /// The context that showed it: its receipt's id, as context and why show it. It is counted and rated once.
    #[arg(long, value_name = "RECEIPT")]
    pub(crate) receipt: Option<String>,

    /// The task, by name.
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// What triggered it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) trigger: Option<String>,

    /// Your own id for this report: reported again, it counts once.
    #[arg(long, value_name = "ID")]
    pub(crate) caller_id: Option<String>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DueArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Due on this day, YYYY-MM-DD (UTC) [default: today].
    #[arg(long, value_name = "DATE")]
    pub(crate) on: Option<NaiveDate>,

    /// Show at most this many, 1 to 1,000.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) limit: u32,
}

#[derive(Args, Debug)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Show only this review, by its id, or by its memory's name if that memory has only one open review.
    pub(crate) review: Option<String>,

    /// Only of this kind; may be given several times.
    #[arg(long, value_parser = words::review(), conflicts_with = "review")]
    pub(crate) kind: Vec<ReviewKind>,

    /// Show reviews that were decided or withdrawn, instead of open ones.
    #[arg(long, conflicts_with = "review")]
    pub(crate) decided: bool,

    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Start after this review.
    #[arg(long, value_name = "REVIEW")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The review's id, as shown by memory review; or its memory's name, if that memory has only one open review.
    pub(crate) review: String,

    /// Who decides: a person [default: the user].
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,

    #[command(flatten)]
    pub(crate) origin: OriginArgs,
}
