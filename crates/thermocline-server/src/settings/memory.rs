//! The section `[memory]`: those settings of the library that a file can state, such as numbers and choices.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thermocline::{Config, Durability, Extract, Originals, Profile, Tokenizer};

/// The section `[memory]`. Each field sets the field of [`Config`] with the same name; durations end in `_ms`, for
/// milliseconds, and `share_*` are the fields of [`Config`]'s `shares`. An empty `remember_marker` means no marker. The
/// library checks the bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "`Config` says what each is")]
pub struct MemorySettings {
    pub durability: DurabilityWord,
    pub tokenizer: TokenizerWord,
    pub hot_turns: usize,
    pub hot_tokens: u32,
    pub warm_turns: usize,
    pub warm_tokens: u32,
    pub share_hot: u32,
    pub share_warm: u32,
    pub share_cold: u32,
    pub live_tokens: u32,
    pub session_timeout_ms: u64,
    pub max_side_bytes: usize,
    pub remember_marker: String,
    pub queue_len: usize,
    pub queue_bytes: usize,
    pub record_timeout_ms: u64,
    pub read_timeout_ms: u64,
    pub close_timeout_ms: u64,
    pub live_sessions: usize,
    pub live_bytes: usize,
    pub readers: u32,
    pub must_exist: bool,
    pub summarizer_tries: u32,
    pub summarizer_timeout_ms: u64,
    pub originals: OriginalsWord,
    pub extract: ExtractWord,
    pub verbatim_tokens: u32,
    pub worker: bool,
    pub worker_interval_ms: u64,
    pub lease_ms: u64,
    pub query_embed_timeout_ms: u64,
    pub embed_timeout_ms: u64,
    pub rerank_candidates: usize,
    pub rerank_timeout_ms: u64,
    pub plan_timeout_ms: u64,
    pub sensor_timeout_ms: u64,
    pub profile: ProfileWord,
    pub recall_bytes: usize,
    pub receipts: u32,
}

/// The names of [`Durability`] in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the library says what each is")]
pub enum DurabilityWord {
    Full,
    Relaxed,
}

/// The names of [`Tokenizer`] in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the library says what each is")]
pub enum TokenizerWord {
    #[serde(rename = "o200k_base")]
    O200kBase,
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}

/// The names of [`Originals`] in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the library says what each is")]
pub enum OriginalsWord {
    Archive,
    Delete,
}

/// The names of [`Extract`] in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the library says what each is")]
pub enum ExtractWord {
    Off,
    Rules,
    Llm,
}

/// The names of [`Profile`] in settings. `paper` is [`Profile::paper`]. Only requests can choose another lambda or custom
/// weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the library says what each is")]
pub enum ProfileWord {
    Default,
    Paper,
    Recency,
    Continuum,
}

/// The default time to wait for the writer. It is shorter than the library's, because a client on the network does not
/// wait that long.
const RECORD_TIMEOUT_MS: u64 = 5_000;

impl Default for MemorySettings {
    fn default() -> Self {
        let config = Config::default();
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            durability: DurabilityWord::Full,
            tokenizer: TokenizerWord::O200kBase,
            hot_turns: config.hot_turns,
            hot_tokens: config.hot_tokens,
            warm_turns: config.warm_turns,
            warm_tokens: config.warm_tokens,
            share_hot: config.shares.hot,
            share_warm: config.shares.warm,
            share_cold: config.shares.cold,
            live_tokens: config.live_tokens,
            session_timeout_ms: ms(config.session_timeout),
            max_side_bytes: config.max_side_bytes,
            remember_marker: String::new(),
            queue_len: config.queue_len,
            queue_bytes: config.queue_bytes,
            record_timeout_ms: RECORD_TIMEOUT_MS,
            read_timeout_ms: ms(config.read_timeout),
            close_timeout_ms: ms(config.close_timeout),
            live_sessions: config.live_sessions,
            live_bytes: config.live_bytes,
            readers: config.readers,
            must_exist: config.must_exist,
            summarizer_tries: config.summarizer_tries,
            summarizer_timeout_ms: ms(config.summarizer_timeout),
            originals: OriginalsWord::Archive,
            extract: ExtractWord::Off,
            verbatim_tokens: config.verbatim_tokens,
            worker: config.worker,
            worker_interval_ms: ms(config.worker_interval),
            lease_ms: ms(config.lease),
            query_embed_timeout_ms: ms(config.query_embed_timeout),
            embed_timeout_ms: ms(config.embed_timeout),
            rerank_candidates: config.rerank_candidates,
            rerank_timeout_ms: ms(config.rerank_timeout),
            plan_timeout_ms: ms(config.plan_timeout),
            sensor_timeout_ms: ms(config.sensor_timeout),
            profile: ProfileWord::Default,
            recall_bytes: config.recall_bytes,
            receipts: config.receipts,
        }
    }
}

impl MemorySettings {
    /// The library's configuration, without any providers.
    pub fn config(&self) -> Config {
        let mut config = Config::default();
        config.durability = match self.durability {
            DurabilityWord::Full => Durability::Full,
            DurabilityWord::Relaxed => Durability::Relaxed,
        };
        config.tokenizer = match self.tokenizer {
            TokenizerWord::O200kBase => Tokenizer::O200kBase,
            TokenizerWord::Cl100kBase => Tokenizer::Cl100kBase,
        };
        config.originals = match self.originals {
            OriginalsWord::Archive => Originals::Archive,
            OriginalsWord::Delete => Originals::Delete,
        };
        config.extract = match self.extract {
            ExtractWord::Off => Extract::Off,
            ExtractWord::Rules => Extract::Rules,
            ExtractWord::Llm => Extract::Llm,
        };
        config.profile = match self.profile {
            ProfileWord::Default => Profile::Default,
            ProfileWord::Paper => Profile::paper(),
            ProfileWord::Recency => Profile::Recency,
            ProfileWord::Continuum => Profile::Continuum,
        };
        self.set_sizes(&mut config);
        self.set_spans(&mut config);
        config
    }

    fn set_sizes(&self, config: &mut Config) {
        config.hot_turns = self.hot_turns;
        config.hot_tokens = self.hot_tokens;
        config.warm_turns = self.warm_turns;
        config.warm_tokens = self.warm_tokens;
        config.shares = config.shares.hot(self.share_hot).warm(self.share_warm).cold(self.share_cold);
        config.live_tokens = self.live_tokens;
        config.max_side_bytes = self.max_side_bytes;
        config.remember_marker = Some(self.remember_marker.clone()).filter(|marker| !marker.is_empty());
        config.queue_len = self.queue_len;
        config.queue_bytes = self.queue_bytes;
        config.live_sessions = self.live_sessions;
        config.live_bytes = self.live_bytes;
        config.readers = self.readers;
        config.must_exist = self.must_exist;
        config.summarizer_tries = self.summarizer_tries;
        config.verbatim_tokens = self.verbatim_tokens;
        config.worker = self.worker;
        config.rerank_candidates = self.rerank_candidates;
        config.recall_bytes = self.recall_bytes;
        config.receipts = self.receipts;
    }

    fn set_spans(&self, config: &mut Config) {
        let span = Duration::from_millis;
        config.session_timeout = span(self.session_timeout_ms);
        config.record_timeout = span(self.record_timeout_ms);
        config.read_timeout = span(self.read_timeout_ms);
        config.close_timeout = span(self.close_timeout_ms);
        config.summarizer_timeout = span(self.summarizer_timeout_ms);
        config.worker_interval = span(self.worker_interval_ms);
        config.lease = span(self.lease_ms);
        config.query_embed_timeout = span(self.query_embed_timeout_ms);
        config.embed_timeout = span(self.embed_timeout_ms);
        config.rerank_timeout = span(self.rerank_timeout_ms);
        config.plan_timeout = span(self.plan_timeout_ms);
        config.sensor_timeout = span(self.sensor_timeout_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `Debug` output of a configuration, field by field.
    fn shown(config: &Config) -> Vec<String> {
        format!("{config:#?}").lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_defaults_are_the_librarys_but_for_one() {
        let mut expected = Config::default();
        expected.record_timeout = Duration::from_secs(5);
        assert_eq!(shown(&MemorySettings::default().config()), shown(&expected));
    }

    #[test]
    fn each_number_reaches_the_field_of_its_name() {
        let defaults = toml::Table::try_from(MemorySettings::default()).unwrap();
        for (name, value) in &defaults {
            let toml::Value::Integer(number) = value else { continue };
            let mut changed = defaults.clone();
            changed[name] = (number + 1).into();
            let before = shown(&MemorySettings::default().config());
            let after = shown(&changed.try_into::<MemorySettings>().unwrap().config());
            let field = name.trim_end_matches("_ms").trim_start_matches("share_");
            let differing: Vec<_> =
                before.iter().zip(&after).filter(|(before, after)| before != after).collect();
            assert_eq!(differing.len(), 1, "{name}: {differing:?}");
            assert!(differing[0].1.contains(&format!("{field}: ")), "{name}: {differing:?}");
        }
    }
}
