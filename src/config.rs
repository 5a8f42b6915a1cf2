//! The settings of an open file, each with its unit, default and limits.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    clock::{Clock, SystemClock},
    compress::{Summarizer, digest::ChatModel},
    embed::{Embedder, JOB_TIMEOUT, QUERY_TIMEOUT},
    error::{Error, Result},
    event::OnEvent,
    faults::Faults,
    model::{profile::Profile, tier::MAX_HOT_TURNS},
    planner,
    rerank::{self, Reranker},
    sensors::{self, Sensor},
    text::tokens::Tokenizer,
};

/// The settings of a [`Thermocline`](crate::Thermocline). Start from the default and change what you need:
///
/// ```
/// let mut config = thermocline::Config::default();
/// config.hot_turns = 3;
/// config.durability = thermocline::Durability::Relaxed;
/// ```
///
/// Opening the file fails if a value is outside its limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// What an acknowledgement guarantees. Default: [`Durability::Full`].
    pub durability: Durability,
    /// The tokenizer that counts tokens. Default: [`Tokenizer::O200kBase`]. A row that was counted with another
    /// tokenizer is recounted when it is read.
    pub tokenizer: Tokenizer,
    /// Maximum number of turns in the hot tier. Default 5, limits 1 to 50.
    pub hot_turns: usize,
    /// Maximum tokens in the hot tier; the newest turn stays even if it exceeds this. Default 1,500, limits 1 to
    /// 1,000,000.
    pub hot_tokens: u32,
    /// Maximum number of turns in the warm tier's window. Default 50, limits 1 to 1,000.
    pub warm_turns: usize,
    /// Maximum tokens in the warm tier's window. Default 15,000, limits 1 to 1,000,000. In a context, a turn longer
    /// than an eighth of this counts as an eighth, because the context cuts it and can still show the turns before it.
    pub warm_tokens: u32,
    /// How a context's budget is divided among the tiers. Default: 1,500 hot, 2,000 warm, 900 cold; their sum is from 1
    /// to 1,000,000.
    pub shares: Shares,
    /// Maximum tokens of a context's hot section and the current message together. The limit affects only what the
    /// context shows, not which turns are hot: hot turns that do not fit are shown as the newest of the warm turns. The
    /// hot section gets at least 200 tokens, however long the message is. The limit has no effect for
    /// [messages](crate::ContextOptions::for_messages), where all hot turns stay among the recent ones, and the
    /// message's length does not reduce their room. Default 2,000, limits 200 to 1,000,000.
    pub live_tokens: u32,
    /// How long a session may be silent before it ends, by the system clock. Default 24 hours, at least 1 ms.
    pub session_timeout: Duration,
    /// Maximum size of one side of a turn, in bytes of UTF-8. Default 1 MiB, limits 1 byte to 10 MiB.
    pub max_side_bytes: usize,
    /// A marker, such as `[[remember]]`, that LLM#2 adds to a reply that should be kept. Every occurrence is removed
    /// from the recorded reply, and the turn is [marked](crate::NewTurn::critical); a reply by a tool, a document or
    /// the backend stays as it is. A backend that sets a marker must tell LLM#2 about it and remove it from the replies
    /// that it displays. A marker has 1 to 64 bytes, no control characters, and no whitespace at either end. Default:
    /// none.
    pub remember_marker: Option<String>,
    /// Maximum number of commands in the writer's queue; while it is full, callers wait. Default 1,024, limits 1 to
    /// 65,536.
    pub queue_len: usize,
    /// Maximum bytes of text in the writer's queue; while it is full, callers wait. Commands with less than 1 KiB of
    /// text do not count, and a single turn larger than this is accepted when no other text is queued. Default 64 MiB,
    /// at least 1.
    pub queue_bytes: usize,
    /// How long a command waits in total, for room in the queue and for another process's lock, before it fails with
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy). Default 30 seconds; zero does not wait.
    pub record_timeout: Duration,
    /// How long a read may run before it fails with [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut). Exports, backups,
    /// statistics and checks of the file have no such limit. Default 5 seconds, at least 1 ms.
    pub read_timeout: Duration,
    /// How long dropping the last handle waits for the writer, and how long [`close`](crate::Thermocline::close) waits
    /// for runs of jobs to stop. Default 10 seconds; zero does not wait.
    pub close_timeout: Duration,
    /// Maximum number of sessions whose hot tiers are cached in memory; the least recently used session is dropped
    /// first. Default 1,000, at least 1.
    pub live_sessions: usize,
    /// Maximum bytes of text in all cached hot tiers together. Default 16 MiB, at least 1.
    pub live_bytes: usize,
    /// Number of connections for reading. Default 4, limits 1 to 64.
    pub readers: u32,
    /// The SQLite `application_id` of the backend's own database, if the memory is stored in that database. A file with
    /// any other foreign id is refused, unless it already contains our tables. Default: none.
    pub backend_application_id: Option<i32>,
    /// Whether opening fails with [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no memory at the
    /// path, instead of creating one. For programs that only read. Default: false.
    pub must_exist: bool,
    /// Whether the file is opened read-only, for a file or folder that cannot be written. Nothing is written, created
    /// or migrated, no receipt is kept and no job runs; every write fails with
    /// [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly). Opening fails with the same error for a file of an older
    /// version. It also does if the file's write-ahead log is not empty, and the log's index (`-shm`) cannot be created:
    /// then copy the file and the log to a folder that can be written. A file of up to 1 GiB that no process has open is
    /// read into memory (using twice its size while it is being read), so that SQLite leaves no files next to it; if a
    /// process writes to the file later, reads fail until the memory is reopened. The process keeps one file descriptor
    /// open for each file that it has read into memory. Default: false.
    pub read_only: bool,
    /// LLM#1, which summarizes the turns of ended sessions. Default: none, which uses the built-in summarizer.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// Maximum number of attempts with the summarizer, after which the built-in one does the rest. Default 3, limits 1
    /// to 20. A refusal caused by the summarizer's configuration, such as a wrong key, does not count as an attempt:
    /// the job waits.
    pub summarizer_tries: u32,
    /// How long the summarizer may take for a chunk of at most 16 turns, including its own retries. If it takes longer,
    /// the job is retried later (the last attempt uses the built-in summarizer), and no job asks the summarizer for a
    /// minute; jobs that do not need it continue. Default 10 minutes, at least 1 ms.
    pub summarizer_timeout: Duration,
    /// What happens to the originals of summarized turns. Default: [`Originals::Archive`].
    pub originals: Originals,
    /// How memories are extracted from ended sessions. Default: [`Extract::Off`].
    pub extract: Extract,
    /// Turns of at most this many tokens stay verbatim instead of being summarized. Default 60.
    pub verbatim_tokens: u32,
    /// Whether a thread of the library runs jobs. Default: true. If false, call
    /// [`run_jobs`](crate::Thermocline::run_jobs) regularly.
    pub worker: bool,
    /// How often the worker thread looks for sessions that have been silent for too long. Default 1 minute, at least 1
    /// ms.
    pub worker_interval: Duration,
    /// How long a process holds a job before another process may take it, by the system clock. The process renews this
    /// lease while it works. Default 1 minute, at least 1 second.
    pub lease: Duration,
    /// The embedders, in order of preference. A query uses the first one that answers, unless it lacks the vectors of
    /// too many texts; the built-in embedder comes last. Vectors of different models are never compared: a text that
    /// the used model has not embedded yet is found by words. Default: only the built-in embedder.
    pub embedders: Vec<Arc<dyn Embedder>>,
    /// How long an embedder may take for a query before the next one is asked, the built-in one last. An embedder that takes
    /// longer is not asked again by a query for 10 seconds. Default 2 seconds, at least 1 ms.
    pub query_embed_timeout: Duration,
    /// How long an embedder may take for a job's batch of about 64 texts of one user. If it takes longer, the job is
    /// retried later, and no job asks this embedder for a minute; jobs that do not use it continue. Default 2 minutes,
    /// at least 1 ms.
    pub embed_timeout: Duration,
    /// The reranker, which reads the query together with each of the best candidates and orders them by how well they
    /// answer the query. It is used for recalls and contexts with every profile except [`Profile::Paper`] and
    /// [`Profile::Recency`], unless the query asks only for a time. If it does not answer, recall keeps its own order,
    /// and `missing` says so. Default: none.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// How many of the best candidates the reranker reads, for each recall and each context. Default 50, limits 2 to 200.
    pub rerank_candidates: usize,
    /// How long the reranker may take for the candidates of one recall or context. A reranker that takes longer or
    /// fails is not asked again for 10 seconds, unless it refused only these texts. Default 1 second, at least 1 ms: a
    /// model on a CPU needs more time, or fewer candidates.
    pub rerank_timeout: Duration,
    /// The planner: LLM#1, asked before the search what a context's message needs, given the last turns. It names
    /// queries to search for in addition to the message (those of
    /// [`ContextOptions::queries`](crate::ContextOptions::queries) come first, at most 8 in all), a time that the
    /// message refers to, which of the user's standing wishes apply, and whether older memory is needed at all. Its
    /// answer is verified, and can change what is found but never what may be shown. Without a usable answer, the
    /// context is the same as without a planner, and `missing` says so. Its plan is cached, so that the same message
    /// after the same turns is not planned again, and is in the receipt
    /// ([`Understood::plan`](crate::Understood::plan)). Default: none.
    pub planner: Option<Arc<dyn ChatModel>>,
    /// How long the planner may take for a message. A planner that takes longer or fails is not asked again for 10 seconds,
    /// unless it refused only this message. Default 1.5 seconds, at least 1 ms.
    pub plan_timeout: Duration,
    /// Sensors that can check whether a memory still holds, each with its own name and the subjects it may look at:
    /// only what is configured here is read, run or requested. Once a stale memory was shown, a job checks the user's
    /// stale memories; [`Memories::validate`](crate::Memories::validate) checks immediately. Default: none.
    pub sensors: Vec<Arc<dyn Sensor>>,
    /// How long a sensor may take for one check; after that the check counts as undecided. Default 10 seconds, at least
    /// 1 ms.
    pub sensor_timeout: Duration,
    /// How recalled turns and memories are ranked. Default: [`Profile::Default`].
    pub profile: Profile,
    /// Maximum bytes of memory that recall uses to cache the data of all users together: about 0.6 KB per chat-sized
    /// turn. The data of the user who asked longest ago is dropped first; if a single user exceeds this, that user's
    /// data is read again for each recall. Default 256 MiB.
    pub recall_bytes: usize,
    /// How many receipts are kept per user; the oldest are deleted first. Default 1,000, at most 100,000; with 0 none
    /// are kept, and use is not counted.
    pub receipts: u32,
    /// Receives events about background work: jobs, failing providers, the file. Default: no receiver.
    pub on_event: OnEvent,
    /// The clock that timestamps are read from. Default: [`SystemClock`].
    pub clock: Arc<dyn Clock>,
    /// Makes statements fail in tests.
    #[doc(hidden)]
    pub faults: Faults,
}

/// What an acknowledgement guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The turn is on the disk: it survives a crash, a kill and a power loss (`synchronous=FULL`).
    Full,
    /// The turn is written to the file but not synced to the disk: it survives a kill (`synchronous=NORMAL`). A power
    /// loss never damages the file, but may lose every turn since the log was last synced: up to 1,000 pages (4 MB) of
    /// log, or hundreds of chat-sized turns, and more if another process reads for a long time.
    Relaxed,
}

/// What happens to the originals of summarized turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Originals {
    /// The originals are kept, compressed, and can be read and restored byte for byte.
    Archive,
    /// The originals are deleted once [`Config::summarizer`] has returned a verified summary. What remains of a turn's
    /// text is that summary with its keywords, and the words that anchors and memories quote. The caller's id stays
    /// too. This is the only mode in which a bad summary can lose what was said. Opening fails if no summarizer is
    /// configured.
    ///
    /// If the configured summarizer failed or gave no usable answer for a turn, the built-in one summarizes it, and the
    /// original is archived as with [`Archive`](Self::Archive): an outage deletes nothing.
    /// [`Session::compress_again`](crate::Session::compress_again) asks the configured summarizer about those turns
    /// again.
    Delete,
}

/// How memories are extracted from ended sessions: at most 5 per session. They say only what was said there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extract {
    /// No extraction: the only memories are those that somebody saves.
    #[default]
    Off,
    /// Extraction by rules for English: decisions, what fixed a problem, steps that worked. Rules also rate the uses of
    /// memories, from what the user says after the reply.
    Rules,
    /// Extraction as with [`Rules`](Self::Rules), and then by [`Config::summarizer`] through
    /// [`Summarizer::propose`](crate::Summarizer::propose): its proposals are verified like summaries, and must quote
    /// the session. Opening fails if no summarizer is configured.
    Llm,
}

/// How many tokens of a context each tier gets. The tiers are filled in the order hot, warm, cold, so a smaller budget
/// reduces the cold share first. A tier's unused tokens go to the next tier, and what is left of the whole budget is
/// offered to the tiers again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Shares {
    /// Tokens for recent turns. Default 1,500.
    pub hot: u32,
    /// Tokens for earlier turns of the session. Default 2,000.
    pub warm: u32,
    /// Tokens for what is recalled and for what is known. Default 900.
    pub cold: u32,
}

impl Shares {
    /// Sets the tokens for recent turns.
    #[must_use]
    pub fn hot(mut self, tokens: u32) -> Self {
        self.hot = tokens;
        self
    }

    /// Sets the tokens for earlier turns of the session.
    #[must_use]
    pub fn warm(mut self, tokens: u32) -> Self {
        self.warm = tokens;
        self
    }

    /// Sets the tokens for what is recalled and for what is known.
    #[must_use]
    pub fn cold(mut self, tokens: u32) -> Self {
        self.cold = tokens;
        self
    }

    /// Returns the sum of the three shares: the budget of a context that does not set one. By default 4,400.
    pub fn total(self) -> u32 {
        self.hot.saturating_add(self.warm).saturating_add(self.cold)
    }
}

/// The default size of the hot tier in tokens. A context's hot share has the same size, so that it can show the whole
/// tier.
const HOT_TOKENS: u32 = 1_500;

impl Default for Shares {
    fn default() -> Self {
        Self { hot: HOT_TOKENS, warm: 2_000, cold: 900 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            tokenizer: Tokenizer::DEFAULT,
            hot_turns: 5,
            hot_tokens: HOT_TOKENS,
            warm_turns: 50,
            warm_tokens: 15_000,
            shares: Shares::default(),
            live_tokens: 2_000,
            session_timeout: Duration::from_hours(24),
            max_side_bytes: 1 << 20,
            remember_marker: None,
            queue_len: 1_024,
            queue_bytes: 64 << 20,
            record_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(5),
            close_timeout: Duration::from_secs(10),
            live_sessions: 1_000,
            live_bytes: 16 << 20,
            readers: 4,
            backend_application_id: None,
            must_exist: false,
            read_only: false,
            summarizer: None,
            summarizer_tries: 3,
            summarizer_timeout: Duration::from_mins(10),
            originals: Originals::Archive,
            extract: Extract::Off,
            verbatim_tokens: 60,
            worker: true,
            worker_interval: Duration::from_mins(1),
            lease: Duration::from_mins(1),
            embedders: Vec::new(),
            query_embed_timeout: QUERY_TIMEOUT,
            embed_timeout: JOB_TIMEOUT,
            reranker: None,
            rerank_candidates: rerank::CANDIDATES,
            rerank_timeout: rerank::TIMEOUT,
            planner: None,
            plan_timeout: planner::TIMEOUT,
            sensors: Vec::new(),
            sensor_timeout: sensors::TIMEOUT,
            profile: Profile::Default,
            recall_bytes: 256 << 20,
            receipts: 1_000,
            on_event: OnEvent::default(),
            clock: Arc::new(SystemClock),
            faults: Faults::default(),
        }
    }
}

impl Config {
    /// Returns the numeric settings that have limits, each with its value, minimum and maximum.
    fn knobs(&self) -> [(&'static str, u64, u64, u64); 15] {
        const MILLION: u64 = 1_000_000;
        [
            ("hot_turns", self.hot_turns as u64, 1, MAX_HOT_TURNS),
            ("hot_tokens", self.hot_tokens.into(), 1, MILLION),
            ("warm_turns", self.warm_turns as u64, 1, 1_000),
            ("warm_tokens", self.warm_tokens.into(), 1, MILLION),
            ("shares", self.shares.total().into(), 1, MILLION),
            ("live_tokens", self.live_tokens.into(), 200, MILLION),
            ("max_side_bytes", self.max_side_bytes as u64, 1, 10 << 20),
            ("queue_len", self.queue_len as u64, 1, 65_536),
            ("queue_bytes", self.queue_bytes as u64, 1, u64::MAX),
            ("live_sessions", self.live_sessions as u64, 1, u64::MAX),
            ("live_bytes", self.live_bytes as u64, 1, u64::MAX),
            ("readers", self.readers.into(), 1, 64),
            ("summarizer_tries", self.summarizer_tries.into(), 1, 20),
            ("rerank_candidates", self.rerank_candidates as u64, 2, 200),
            ("receipts", self.receipts.into(), 0, 100_000),
        ]
    }

    /// Returns the durations that have a minimum, each with its value and minimum.
    fn spans(&self) -> [(&'static str, Duration, Duration); 10] {
        const MS: Duration = Duration::from_millis(1);
        [
            ("session_timeout", self.session_timeout, MS),
            ("read_timeout", self.read_timeout, MS),
            ("summarizer_timeout", self.summarizer_timeout, MS),
            ("worker_interval", self.worker_interval, MS),
            ("lease", self.lease, Duration::from_secs(1)),
            ("query_embed_timeout", self.query_embed_timeout, MS),
            ("embed_timeout", self.embed_timeout, MS),
            ("rerank_timeout", self.rerank_timeout, MS),
            ("plan_timeout", self.plan_timeout, MS),
            ("sensor_timeout", self.sensor_timeout, MS),
        ]
    }

    /// Fails if a setting is outside its limits; the error names the setting.
    pub(crate) fn validate(&self) -> Result<()> {
        for (name, value, least, most) in self.knobs() {
            if value < least || value > most {
                return Err(Error::invalid(format!("{name} is {value}; it must be from {least} to {most}")));
            }
        }
        for (name, span, least) in self.spans() {
            if span < least {
                return Err(Error::invalid(format!("{name} is {span:?}; it must be at least {least:?}")));
            }
        }
        let is_marker = |marker: &str| {
            (1..=64).contains(&marker.len()) && !marker.contains(char::is_control) && marker.trim() == marker
        };
        if self.remember_marker.as_deref().is_some_and(|marker| !is_marker(marker)) {
            return Err(Error::invalid(
                "remember_marker must have 1 to 64 bytes, no control characters, and no space at either end",
            ));
        }
        if self.originals == Originals::Delete && self.summarizer.is_none() {
            return Err(Error::invalid(
                "originals cannot be deleted without a summarizer; set Config::summarizer, \
                 or Config::originals to Archive",
            ));
        }
        if self.extract == Extract::Llm && self.summarizer.is_none() {
            return Err(Error::invalid(
                "memories cannot be proposed without a summarizer; set Config::summarizer, \
                 or Config::extract to Rules",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{
        compress::digest::{DEFAULT_RETRIES, DEFAULT_TIMEOUT},
        cooldown::{JOB_REST, QUERY_REST},
    };

    /// Maps each field to its documentation from the word "default" on.
    fn defaults_in_words() -> HashMap<&'static str, String> {
        let source = include_str!("config.rs");
        let fields = ["pub struct Config {", "pub struct Shares {"]
            .into_iter()
            .flat_map(|start| source.split(start).nth(1).unwrap().lines().take_while(|line| *line != "}"));
        let mut found = HashMap::new();
        let mut text = String::new();
        for line in fields.map(str::trim) {
            if let Some(more) = line.strip_prefix("/// ") {
                text = text + more + " ";
            } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
                let at = text.find("efault").unwrap_or(text.len());
                found.insert(field, text.split_off(at));
                text.clear();
            }
        }
        found
    }

    /// Parses the number after `words`, with its unit: `1,500`, `1 byte`, `16 MiB`. Durations (`24 hours`, `86400s`)
    /// become milliseconds.
    fn number_behind(words: &str, text: &str) -> Option<u64> {
        let (_, rest) = text.split_once(words)?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',')?;
        let number: u64 = rest[..end].replace(',', "").parse().ok()?;
        let units =
            [(" MiB", 1 << 20), (" hour", 3_600_000), (" minute", 60_000), (" second", 1_000), ("s", 1_000)];
        let unit = units.into_iter().find(|(unit, _)| rest[end..].starts_with(unit));
        Some(number * unit.map_or(1, |(_, factor)| factor))
    }

    #[test]
    fn the_documentation_of_a_knob_says_its_default_and_its_limits() {
        let (config, said) = (Config::default(), defaults_in_words());
        let values = format!("{config:?}");
        let numbers = said.iter().filter_map(|(field, text)| Some((field, number_behind("efault ", text)?)));
        for (field, default) in numbers {
            assert_eq!(number_behind(&format!(" {field}: "), &values), Some(default), "{field}");
        }
        for (knob, _, least, most) in config.knobs() {
            let text = &said[knob];
            let least_said =
                ["limits ", "from ", "at least "].iter().find_map(|words| number_behind(words, text));
            let most_said = [" to ", "at most "].iter().find_map(|words| number_behind(words, text));
            assert_eq!(least_said.unwrap_or(0), least, "{knob}: {text}");
            assert_eq!(most_said, Some(most).filter(|most| *most < u64::MAX), "{knob}: {text}");
        }
        for (knob, _, least) in config.spans() {
            let text = &said[knob];
            assert_eq!(
                number_behind("at least ", text).map(Duration::from_millis),
                Some(least),
                "{knob}: {text}"
            );
        }
    }

    #[test]
    fn a_query_waits_less_than_a_request_may_take_a_job_longer_and_who_is_silent_rests_as_long_as_is_said() {
        let config = Config::default();
        let waits = [config.query_embed_timeout, config.rerank_timeout, config.plan_timeout];
        assert!(waits.into_iter().all(|wait| wait < QUERY_REST));
        #[cfg(feature = "llm")]
        {
            assert!(config.query_embed_timeout < crate::embed::REQUEST_TIMEOUT);
            assert!(config.embed_timeout > crate::embed::REQUEST_TIMEOUT);
        }
        let source = include_str!("config.rs").replace("///", " ");
        let words = source.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("by a query for {} seconds.", QUERY_REST.as_secs())));
        assert!(words.contains(&format!("fails is not asked again for {} seconds,", QUERY_REST.as_secs())));
        assert_eq!(JOB_REST.as_secs(), 60, "a minute, as is said");
    }

    #[test]
    fn a_summarizer_has_time_for_every_try_of_a_prompt_and_of_its_repair() {
        let tries = 2 * (1 + DEFAULT_RETRIES);
        assert!(DEFAULT_TIMEOUT * tries < Config::default().summarizer_timeout);
    }
}
