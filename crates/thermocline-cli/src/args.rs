//! What each verb takes, and what the help says of it.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use thermocline::Originals;

use crate::provider_args::{EmbedderArgs, LlmArgs};

/// Whose memory a verb reads or writes.
#[derive(Args, Debug)]
pub(crate) struct UserArg {
    /// The user's name; a UUID is taken for the user's id.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The file to replay, a transcript or a database; - reads a transcript from stdin.
    #[arg(value_name = "FILE")]
    pub(crate) transcript: PathBuf,

    /// Of a database with turns of several users: the id of the one whose turns are replayed.
    #[arg(long, value_name = "ID")]
    pub(crate) from_user: Option<String>,

    #[command(flatten)]
    pub(crate) user: UserArg,

    /// End the last session too, at the time of its last turn.
    #[arg(long)]
    pub(crate) end: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SessionListArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,
}

#[derive(Args, Debug)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The session's key or id.
    pub(crate) session: String,
}

#[derive(Args, Debug)]
pub(crate) struct SessionShowArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Show only so many turns, the newest [default: all].
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct TurnShowArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The turn's id, the id that its caller gave it, or SESSION/NUMBER (its place, from 1).
    pub(crate) turn: String,
}

#[derive(Args, Debug)]
pub(crate) struct AnchorListArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Also what was superseded, ended or retracted.
    #[arg(long)]
    pub(crate) all: bool,

    /// Only anchors about this subject: user, assistant, or a name.
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct AnchorShowArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The anchor's id, or its key, like user.name; of a key all values are shown, also those of the past.
    #[arg(value_name = "ID|KEY")]
    pub(crate) anchor: String,
}

#[derive(Args, Debug)]
pub(crate) struct AnchorSetArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// SUBJECT.ATTRIBUTE, like user.name. The subject is user, assistant, or a name.
    pub(crate) key: String,

    /// The value, short: a name, a place, a thing.
    pub(crate) value: String,
}

#[derive(Args, Debug)]
pub(crate) struct AnchorRetractArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The anchor's id, its key (like user.name), or key and value (like user.likes=tea).
    #[arg(value_name = "ID|KEY[=VALUE]")]
    pub(crate) anchor: String,
}

#[derive(Args, Debug)]
pub(crate) struct EraseArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Erase only this session: its id, or a key, which means all parts of a talk that went on after silence.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct JobsRunArgs {
    /// Stop after so many jobs [default: when none is due].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,

    /// What becomes of the originals of summarized turns.
    #[arg(long, value_enum, default_value_t = OriginalsArg::Archive, value_name = "WHAT")]
    pub(crate) originals: OriginalsArg,

    #[command(flatten)]
    pub(crate) llm: LlmArgs,

    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OriginalsArg {
    /// Keep them, compressed: they can be read and restored to the byte
    Archive,
    /// Delete those that the LLM summarized, for ever: only summary, keywords and the caller's id stay. The others are kept
    Delete,
}

impl From<OriginalsArg> for Originals {
    fn from(arg: OriginalsArg) -> Self {
        match arg {
            OriginalsArg::Archive => Self::Archive,
            OriginalsArg::Delete => Self::Delete,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct JobsRetryArgs {
    /// The job's number, as jobs list shows it [default: all jobs that were put off or given up].
    #[arg(value_name = "JOB_NO")]
    pub(crate) job_no: Option<i64>,
}

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Where the export is to lie; nothing may lie there yet. - writes to stdout.
    #[arg(value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The name of the user here, who must not have a memory yet.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,

    /// The export to read; - reads stdin.
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct BackupArgs {
    /// Where the copy is to lie; nothing may lie there yet.
    pub(crate) to: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

/// An instant in RFC 3339, or a date for its midnight in UTC.
pub(crate) fn instant(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Ok(date.and_time(NaiveTime::MIN).and_utc());
    }
    DateTime::parse_from_rfc3339(text)
        .map(|at| at.with_timezone(&Utc))
        .map_err(|_| "expected a time like 2026-06-01T12:00:00Z, or a date like 2026-06-01".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let read = instant(text).ok().map(|at| at.to_rfc3339());
        assert_eq!(read.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn an_instant_is_rfc_3339_or_a_date() {
        check("2026-06-01T14:30:00+02:00", Some("2026-06-01T12:30:00+00:00"));
        check("2026-06-01", Some("2026-06-01T00:00:00+00:00"));
        check("2026-02-30", None);
        check("tomorrow", None);
    }
}
