//! The arguments of most verbs and their help texts. Verbs of recall, memories, vaults and the service have theirs in files
//! of their own.
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

/// The user whose memory a verb reads or writes.
#[derive(Args, Debug)]
pub(crate) struct UserArg {
    /// The user's name; a UUID is taken as the user's id.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The file to replay, a transcript or a database; - reads a transcript from stdin.
    #[arg(value_name = "FILE")]
    pub(crate) transcript: PathBuf,

    /// The file's format.
    #[arg(long, value_enum, default_value_t = TranscriptFormat::Jsonl, value_name = "FORMAT")]
    pub(crate) format: TranscriptFormat,

    /// With --format openai, the name for conversations without an id: NAME/1, NAME/2 ... by their position in the file
    /// [default: the file's name without its extension].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Also record turns dated more than a day ahead of the clock.
    #[arg(long)]
    pub(crate) future: bool,

    /// For a database with turns of several users: the id of the user whose turns are replayed.
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
    /// Show at most this many [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct UserListArgs {
    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Start after this user.
    #[arg(long, value_name = "NAME")]
    pub(crate) after: Option<String>,
}

/// The formats of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranscriptFormat {
    /// JSON Lines, one turn per line
    Jsonl,
    /// A ChatGPT export (conversations.json), or lists of messages in the chat API's format
    Openai,
}

#[derive(Args, Debug)]
pub(crate) struct SessionListArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Start after this session: its id, or its key, which selects the key's last part.
    #[arg(long, value_name = "SESSION")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SessionTurnsArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Show at most this many turns, 1 to 1,000.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) limit: u32,

    /// Start after the turn with this number.
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

    /// Start after the job with this number.
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

    /// The entry's name, 1 to 200 bytes.
    pub(crate) name: Option<String>,

    /// The entry's text, at most 64 KiB.
    pub(crate) text: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SessionShowArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Show only the newest turns, this many [default: all].
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct TurnShowArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The turn's id, the caller's id for it, or SESSION/NUMBER (its place, from 1).
    pub(crate) turn: String,
}

#[derive(Args, Debug)]
pub(crate) struct AnchorListArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// Also show what was superseded, ended or retracted.
    #[arg(long)]
    pub(crate) all: bool,

    /// Only anchors about this subject: user, assistant, or a name.
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,

    #[command(flatten)]
    pub(crate) limit: LimitArg,

    /// Start after the anchor with this id.
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<AnchorId>,
}

#[derive(Args, Debug)]
pub(crate) struct AnchorShowArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The anchor's id, or its key, like user.name; a key shows all values, including past ones.
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

    /// Erase only this session: its id, or a key, which selects all parts under that key.
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
    /// Stop after this many jobs [default: when none is due].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,

    /// Wait for jobs that other processes are working on, and run those that they leave undone.
    #[arg(long)]
    pub(crate) wait: bool,

    /// What to do with the originals of summarized turns.
    #[arg(long, value_enum, default_value_t = OriginalsArg::Archive, value_name = "WHAT")]
    pub(crate) originals: OriginalsArg,

    /// How ended sessions are searched for memories, at most 5 from each; each session is searched once.
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
    /// No search: only explicitly saved memories exist
    Off,
    /// English rules: decisions, what fixed a problem, steps that worked
    Rules,
    /// Rules, and what the LLM proposes and the session confirms
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
    /// Keep them, compressed: they can be read and restored byte for byte
    Archive,
    /// Delete those that the LLM summarized, permanently: only summary, keywords and the caller's id stay. The others are
    /// kept
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
    /// The job's number, as shown by jobs list [default: all jobs that were postponed or given up].
    #[arg(value_name = "JOB_NO")]
    pub(crate) job_no: Option<i64>,
}

#[derive(Args, Debug)]
pub(crate) struct UserExportArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The file to write; it must not exist yet. - writes to stdout.
    #[arg(value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The user's name here; the user must not have a memory yet.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,

    /// The export to read; - reads stdin.
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct BackupArgs {
    /// The file to write; it must not exist yet.
    pub(crate) to: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    /// The backup to put in the place of the file.
    pub(crate) backup: PathBuf,

    /// Delete the file that is replaced, instead of keeping it beside the new one.
    #[arg(long)]
    pub(crate) delete_replaced: bool,

    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Also queue jobs that rebuild a damaged index or damaged vectors from the texts; jobs run performs them. This opens
    /// the file for writing.
    #[arg(long)]
    pub(crate) mend: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct HelpArgs {
    /// The verb [default: all verbs].
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
