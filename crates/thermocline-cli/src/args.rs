//! What each verb takes, and what the help says of it.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use thermocline::{AnchorId, Extract, Originals};

use crate::{
    provider_args::{EmbedderArgs, LlmArgs},
    sensor_file::SensorArgs,
};

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

    /// What the file is.
    #[arg(long, value_enum, default_value_t = TranscriptFormat::Jsonl, value_name = "FORMAT")]
    pub(crate) format: TranscriptFormat,

    /// With --format openai, what conversations without an id are called: NAME/1, NAME/2 ... by their place in the file
    /// [default: the file's name, without what follows its last point].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Also record turns that are dated more than a day ahead of the clock.
    #[arg(long)]
    pub(crate) future: bool,

    /// Of a database with turns of several users: the id of the one whose turns are replayed.
    #[arg(long, value_name = "ID")]
    pub(crate) from_user: Option<String>,

    #[command(flatten)]
    pub(crate) user: UserArg,

    /// End the last session too, at the time of its last turn.
    #[arg(long)]
    pub(crate) end: bool,
}

/// How much of a list a verb shows.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LimitArg {
    /// Show so many at most [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct UserListArgs {
    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Begin behind this user.
    #[arg(long, value_name = "NAME")]
    pub(crate) after: Option<String>,
}

/// What a transcript may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranscriptFormat {
    /// JSON Lines, a turn a line
    Jsonl,
    /// An export of ChatGPT (conversations.json), or lists of messages as the chat API takes them
    Openai,
}

#[derive(Args, Debug)]
pub(crate) struct SessionListArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Begin behind this session: its id, or its key, which means the last part of a talk that went on.
    #[arg(long, value_name = "SESSION")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SessionTurnsArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Show so many turns at most, 1 to 1,000.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) limit: u32,

    /// Begin behind the turn with this number.
    #[arg(long, value_name = "NUMBER", conflicts_with = "before")]
    pub(crate) after: Option<u32>,

    /// Show the last turns before the one with this number.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) before: Option<u32>,

    /// Show the newest turns.
    #[arg(long, conflicts_with_all = ["after", "before"])]
    pub(crate) last: bool,
}

#[derive(Args, Debug)]
pub(crate) struct JobsListArgs {
    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Begin behind the job with this number.
    #[arg(long, value_name = "JOB_NO")]
    pub(crate) after: Option<i64>,
}

#[derive(Args, Debug)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The session's key or id.
    pub(crate) session: String,
}

#[derive(Args, Debug)]
pub(crate) struct SessionStateArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// What it is called, 1 to 200 bytes.
    pub(crate) name: Option<String>,

    /// What it says, at most 64 KiB.
    pub(crate) text: Option<String>,
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

    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Begin behind the anchor with this id.
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<AnchorId>,
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

    /// Erase only this session: its id, or a key, which means all parts of a talk that went on under it.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Erase only this turn: its id, its caller's id, or SESSION/NUMBER.
    #[arg(long, value_name = "TURN", conflicts_with = "session")]
    pub(crate) turn: Option<String>,

    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct JobsRunArgs {
    /// Stop after so many jobs [default: when none is due].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,

    /// Wait for the jobs that other processes work on, and for those that they leave.
    #[arg(long)]
    pub(crate) wait: bool,

    /// What becomes of the originals of summarized turns.
    #[arg(long, value_enum, default_value_t = OriginalsArg::Archive, value_name = "WHAT")]
    pub(crate) originals: OriginalsArg,

    /// What ended sessions are looked through for memories by, at most 5 of each; each is looked through once.
    #[arg(long, value_enum, default_value_t = ExtractArg::Off, value_name = "BY")]
    pub(crate) extract: ExtractArg,

    #[command(flatten)]
    pub(crate) llm: LlmArgs,

    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExtractArg {
    /// Nothing: memories are what somebody saves
    Off,
    /// Rules of English: decisions, what mended a problem, steps that worked
    Rules,
    /// The same, and what the LLM proposes and the session proves
    Llm,
}

impl From<ExtractArg> for Extract {
    fn from(arg: ExtractArg) -> Self {
        match arg {
            ExtractArg::Off => Self::Off,
            ExtractArg::Rules => Self::Rules,
            ExtractArg::Llm => Self::Llm,
        }
    }
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
pub(crate) struct CompressAgainArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The key or id of one session [default: all of the user's].
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) llm: LlmArgs,
}

#[derive(Args, Debug)]
pub(crate) struct JobsRetryArgs {
    /// The job's number, as jobs list shows it [default: all jobs that were put off or given up].
    #[arg(value_name = "JOB_NO")]
    pub(crate) job_no: Option<i64>,
}

#[derive(Args, Debug)]
pub(crate) struct UserExportArgs {
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

#[derive(Args, Debug)]
pub(crate) struct HelpArgs {
    /// The verb [default: all of them].
    pub(crate) verb: Vec<String>,
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
