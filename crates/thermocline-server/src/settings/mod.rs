//! What a server is told: a file, then the environment, then flags, the last one counting. Nothing of it can be read or set
//! over the wire: a provider's address that an API can set is how others leaked their keys.

mod layers;
mod memory;
mod service;

use serde::{Deserialize, Serialize};

pub use layers::{Layers, SettingSource, Wrong};
pub use memory::MemorySettings;
pub use service::ServiceSettings;

/// All of it, by sections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The server.
    pub service: ServiceSettings,
    /// The library.
    pub memory: MemorySettings,
    /// LLM#1.
    pub llm: LlmSettings,
    /// An embedder beside the built-in one.
    pub embed: EmbedSettings,
    /// A reranker.
    pub rerank: RerankSettings,
    /// Logs.
    pub log: LogSettings,
}

/// LLM#1: who summarizes, and plans. Empty: nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// Where it answers, in the manner of `OpenAI`'s chat completions.
    pub url: String,
    /// Its name there.
    pub model: String,
    /// Tokens that fit into its window.
    pub window: u32,
    /// The name of the environment variable that holds its key.
    pub key_var: String,
    /// Whether it reads each message before anything is searched for.
    pub plan: bool,
}

/// An embedder. Empty: the built-in one alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedSettings {
    /// The folder of a sentence transformer.
    pub dir: String,
    /// Where one answers, in the manner of `OpenAI`'s embeddings.
    pub url: String,
    /// Its name there.
    pub model: String,
    /// How many numbers its vectors have; 0: it is asked.
    pub dims: u32,
    /// The name of the environment variable that holds its key.
    pub key_var: String,
    /// What stands before each query.
    pub query_prefix: String,
    /// What stands before each text that is to be found.
    pub document_prefix: String,
}

/// A reranker. Empty: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RerankSettings {
    /// The folder of a cross-encoder.
    pub dir: String,
    /// Where one answers at `/rerank`.
    pub url: String,
    /// Its name there.
    pub model: String,
    /// The name of the environment variable that holds its key.
    pub key_var: String,
}

/// Logs, on stderr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// `text` or `json`.
    pub format: String,
    /// `error`, `warn`, `info`, `debug`, `trace`, or some of them by target: `warn,thermocline=debug`.
    pub level: String,
}

impl Default for LlmSettings {
    fn default() -> Self {
        let key_var = "THERMOCLINE_LLM_KEY".to_owned();
        Self { url: String::new(), model: String::new(), window: 8_000, key_var, plan: false }
    }
}

impl Default for EmbedSettings {
    fn default() -> Self {
        Self {
            dir: String::new(),
            url: String::new(),
            model: String::new(),
            dims: 0,
            key_var: "THERMOCLINE_EMBED_KEY".to_owned(),
            query_prefix: String::new(),
            document_prefix: String::new(),
        }
    }
}

impl Default for RerankSettings {
    fn default() -> Self {
        let key_var = "THERMOCLINE_RERANK_KEY".to_owned();
        Self { dir: String::new(), url: String::new(), model: String::new(), key_var }
    }
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { format: "text".to_owned(), level: "info".to_owned() }
    }
}
