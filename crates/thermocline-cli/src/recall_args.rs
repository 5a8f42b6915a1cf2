//! The arguments of the recall verbs and their help texts.
#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "the comments are the help, which shows no Markdown"
)]

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use thermocline::{
    Filter, MemoryFilter, MemoryKind, MemoryStatus, Of, Profile, RecallOptions, Section, SessionId, Weights,
    blocking::{Session, User},
};

use crate::provider_args::TalkerArgs;
use crate::{
    args::{UserArg, instant},
    exit::Failure,
    find,
    memory::words,
    provider_args::{EmbedderArgs, PlannerArgs, RerankerArgs},
    sensor_file::SensorArgs,
};

#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The message to answer; it does not count against the budget.
    pub(crate) message: String,

    /// The session's key or id [default: the user's newest session].
    ///
    /// A key is followed: if silence ended its session, to the session that continues it.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// The context's maximum size in tokens, counted by o200k_base [default: 4400].
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u32>,

    /// The time of asking, shown in the context: RFC 3339, or a date for its midnight in UTC [default: the current time].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) now: Option<DateTime<Utc>>,

    /// Print the context as messages in the chat API's format: a JSON list of {"role":"...","content":"..."}. First a system
    /// message with what is known and recalled, then the recent turns as the original messages. The budget covers all of
    /// them, including 5 tokens for each message.
    #[arg(long)]
    pub(crate) messages: bool,

    /// Also search for this, in addition to the message: what it means in other words. May be given up to 8 times.
    #[arg(long = "query", value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) queries: Vec<String>,

    /// Show nothing recalled unless some result is at least this confident to answer, from 0 (show whatever fits best) to 1
    /// [default: 0.1].
    #[arg(long, value_name = "N")]
    pub(crate) min_confidence: Option<f64>,

    /// Leave out this section: its content is neither shown nor recalled. May be given several times.
    #[arg(long, value_enum, value_name = "SECTION")]
    pub(crate) without: Vec<SectionArg>,

    #[command(flatten)]
    pub(crate) filter: RecallFilterArgs,

    #[command(flatten)]
    pub(crate) ranking: RankingArgs,

    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,

    #[command(flatten)]
    pub(crate) reranker: RerankerArgs,

    #[command(flatten)]
    pub(crate) planner: PlannerArgs,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SectionArg {
    WhoTheUserIs,
    WhatIsKnown,
    Wishes,
    EarlierConversations,
    EarlierInSession,
    RecentTurns,
}

impl From<SectionArg> for Section {
    fn from(arg: SectionArg) -> Self {
        match arg {
            SectionArg::WhoTheUserIs => Self::WhoTheUserIs,
            SectionArg::WhatIsKnown => Self::WhatIsKnown,
            SectionArg::Wishes => Self::Wishes,
            SectionArg::EarlierConversations => Self::EarlierConversations,
            SectionArg::EarlierInSession => Self::EarlierInSession,
            SectionArg::RecentTurns => Self::RecentTurns,
        }
    }
}

/// What may be recalled.
#[derive(Args, Debug)]
pub(crate) struct RecallFilterArgs {
    /// Recall only what was said in sessions filed under this project.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,

    /// Recall only what was said in this session: its id, or a key, which selects all parts under that key. May be given
    /// several times.
    #[arg(long = "only-session", value_name = "SESSION")]
    pub(crate) only_sessions: Vec<String>,

    /// Recall nothing from this session, by its id or key; if it is the context's own session, nothing of it is shown. May
    /// be given several times.
    #[arg(long = "without-session", value_name = "SESSION")]
    pub(crate) without_sessions: Vec<String>,

    /// Recall only what was said at or after this time: RFC 3339, or a date for its midnight in UTC.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) since: Option<DateTime<Utc>>,

    /// Recall only what was said before this time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) until: Option<DateTime<Utc>>,
}

impl RecallFilterArgs {
    /// Builds the filter; sessions that it names must exist.
    pub(crate) fn filter(&self, user: &User) -> Result<Filter, Failure> {
        let ids = |named: &[String]| -> Result<Vec<SessionId>, Failure> {
            let mut ids = Vec::new();
            for key_or_id in named {
                ids.extend(find::parts(user, key_or_id)?.iter().map(Session::id));
            }
            Ok(ids)
        };
        let mut filter = Filter::default();
        filter.project.clone_from(&self.project);
        filter.sessions = if self.only_sessions.is_empty() { None } else { Some(ids(&self.only_sessions)?) };
        filter.without_sessions = ids(&self.without_sessions)?;
        (filter.since, filter.until) = (self.since, self.until);
        Ok(filter)
    }
}

#[derive(Args, Debug)]
pub(crate) struct RecallArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// What to search for: any text.
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) query: Option<String>,

    /// Answer many queries, one per line: {"query":"...","now":"...","k":20}; now and k are optional. - reads stdin. The
    /// answers are JSON, one per line, and leave no receipts.
    #[arg(long, value_name = "QUERIES.jsonl")]
    pub(crate) batch: Option<PathBuf>,

    /// The maximum number of results, from 1 to 1000.
    #[arg(short, value_name = "N", default_value_t = 10)]
    pub(crate) k: usize,

    #[command(flatten)]
    pub(crate) filter: RecallFilterArgs,

    #[command(flatten)]
    pub(crate) of: OfArgs,

    #[command(flatten)]
    pub(crate) ranking: RankingArgs,

    /// The time of asking, from which ages and "last week" are measured: RFC 3339, or a date for its midnight in UTC
    /// [default: the current time].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) now: Option<DateTime<Utc>>,

    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,

    #[command(flatten)]
    pub(crate) reranker: RerankerArgs,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The receipt's id, as recall and context print it; last selects the newest one [default: list the newest].
    pub(crate) receipt: Option<String>,

    /// How many to list.
    #[arg(short, value_name = "N", default_value_t = 20)]
    pub(crate) n: u32,
}

#[derive(Args, Debug)]
pub(crate) struct EmbedArgs {
    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,

    /// Remove the vectors of all models except the named one and the built-in one. To get them back, every turn has to be
    /// embedded again.
    #[arg(long)]
    pub(crate) drop_others: bool,
}

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The questions, one per line: {"query":"...","evidence":["D1:3"],"now":"...","category":"..."}. evidence holds your
    /// own ids of the turns that answer it; now and category are optional. - reads stdin.
    #[arg(value_name = "QUESTIONS.jsonl")]
    pub(crate) questions: PathBuf,

    /// Measure only this profile; may be given several times [default: default, paper and recency].
    #[arg(long = "profile", value_enum, value_name = "PROFILE")]
    pub(crate) profiles: Vec<ProfileArg>,

    /// In addition, measure the default formula with this weight of your own, as in recall. May be given several times.
    #[arg(long = "weight", value_name = "NAME=VALUE")]
    pub(crate) weights: Vec<String>,

    /// Find only these things. A memory counts as the turns that it rests on.
    #[arg(long, value_enum, value_name = "THINGS", default_value_t = OfArg::All, hide_possible_values = true)]
    pub(crate) of: OfArg,

    /// Let the best memories lend score to related memories.
    #[arg(long)]
    pub(crate) graph: bool,

    /// Also report each category separately.
    #[arg(long)]
    pub(crate) categories: bool,

    /// The time of asking for questions without one: RFC 3339, or a date [default: the current time].
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) now: Option<DateTime<Utc>>,

    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,

    #[command(flatten)]
    pub(crate) reranker: RerankerArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) user: UserArg,

    /// The session's key; it is started if there is none [default: the newest open session without a key, or a new one].
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,

    /// The maximum size of each context, in tokens [default: 4400].
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u32>,

    #[command(flatten)]
    pub(crate) llm: TalkerArgs,

    #[command(flatten)]
    pub(crate) embedder: EmbedderArgs,

    #[command(flatten)]
    pub(crate) reranker: RerankerArgs,

    #[command(flatten)]
    pub(crate) sensors: SensorArgs,
}

/// Which kinds of things are recalled.
#[derive(Args, Debug)]
pub(crate) struct OfArgs {
    /// Recall only these things: turns, memories, or all.
    #[arg(long, value_enum, value_name = "THINGS", default_value_t = OfArg::All, hide_possible_values = true)]
    pub(crate) of: OfArg,

    /// Recall only memories of this kind, as in memory list. May be given several times.
    #[arg(long = "kind", value_name = "KIND", value_parser = words::kind())]
    pub(crate) kinds: Vec<MemoryKind>,

    /// Let the best memories lend score to related memories, so that those are found too.
    #[arg(long)]
    pub(crate) graph: bool,
}

impl OfArgs {
    /// Adds these settings to the options. Archived memories are recalled too.
    pub(crate) fn add_to(&self, options: RecallOptions) -> RecallOptions {
        let options = options.of(self.of.into()).graph(self.graph);
        if self.kinds.is_empty() {
            return options;
        }
        let recalled = [MemoryStatus::Active, MemoryStatus::Archived];
        options.memories(MemoryFilter::default().statuses(recalled).kinds(self.kinds.iter().copied()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OfArg {
    All,
    Memories,
    Turns,
}

impl From<OfArg> for Of {
    fn from(arg: OfArg) -> Self {
        match arg {
            OfArg::All => Self::All,
            OfArg::Memories => Self::Memories,
            OfArg::Turns => Self::Turns,
        }
    }
}

/// How to rank.
#[derive(Args, Debug)]
pub(crate) struct RankingArgs {
    /// The ranking: default; paper (0.5 recency + 0.3 meaning + 0.2 anchors); recency (newest first); continuum (only
    /// memories, those first that have proved themselves).
    #[arg(long, value_enum, default_value_t = ProfileArg::Default, hide_possible_values = true)]
    pub(crate) profile: ProfileArg,

    /// How fast the paper profile forgets: its recency is e^(-LAMBDA * days) [default: 0.1].
    #[arg(long, value_name = "LAMBDA")]
    pub(crate) lambda: Option<f64>,

    /// A weight of your own in the default formula, from 0 to 10: words, meaning, neighbours, answer, session,
    /// session_words, time, speaker, quote, wish, anchors, recency, continuation or spread. May be given several times.
    #[arg(long = "weight", value_name = "NAME=VALUE")]
    pub(crate) weights: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    Default,
    Paper,
    Recency,
    Continuum,
}

impl From<ProfileArg> for Profile {
    fn from(arg: ProfileArg) -> Self {
        match arg {
            ProfileArg::Default => Self::Default,
            ProfileArg::Paper => Self::paper(),
            ProfileArg::Recency => Self::Recency,
            ProfileArg::Continuum => Self::Continuum,
        }
    }
}

impl RankingArgs {
    /// The selected profile.
    pub(crate) fn profile(&self) -> Result<Profile, Failure> {
        match self.lambda {
            Some(lambda) if self.profile == ProfileArg::Paper && self.weights.is_empty() => {
                return Ok(Profile::Paper { lambda });
            }
            Some(_) => {
                return Err(Failure::refused("lambda belongs to the profile paper; add --profile paper"));
            }
            None => {}
        }
        if self.weights.is_empty() {
            return Ok(self.profile.into());
        }
        if self.profile != ProfileArg::Default {
            return Err(Failure::refused("weights belong to the default profile; leave out --profile"));
        }
        custom(&self.weights)
    }
}

/// The default formula with the weights from the command line.
pub(crate) fn custom(given: &[String]) -> Result<Profile, Failure> {
    let mut weights = Weights::default();
    for given in given {
        let value = given.split_once('=').and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
        let (name, value) = value.ok_or_else(|| Failure::refused("expected NAME=VALUE, like words=0.5"))?;
        weights.set(name, value)?;
    }
    Ok(Profile::Custom(weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_named_as_in_receipts() {
        for arg in SectionArg::value_variants() {
            let name = arg.to_possible_value().unwrap();
            assert_eq!(name.get_name().replace('-', "_"), Section::from(*arg).as_str());
        }
    }

    #[test]
    fn profiles_are_named_as_in_receipts() {
        for arg in ProfileArg::value_variants() {
            let name = arg.to_possible_value().unwrap();
            assert_eq!(name.get_name(), Profile::from(*arg).as_str());
        }
    }
}
