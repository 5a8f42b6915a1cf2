//! A server's settings: from a file, then the environment, then flags; later ones override earlier ones. None can be read or
//! set over the network: other products have leaked keys because an API could set a provider's address.

mod layers;
mod memory;
mod service;

use serde::{Deserialize, Serialize};

pub use layers::{Layers, SettingSource, Wrong};
pub use memory::MemorySettings;
pub use service::ServiceSettings;

/// All settings, by section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The server.
    pub service: ServiceSettings,
    /// The library.
    pub memory: MemorySettings,
    /// LLM#1.
    pub llm: LlmSettings,
    /// An embedder in addition to the built-in one.
    pub embed: EmbedSettings,
    /// A reranker.
    pub rerank: RerankSettings,
    /// Logs.
    pub log: LogSettings,
}

/// LLM#1, which summarizes and plans. Empty: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// The base URL of an `OpenAI`-compatible chat completions API.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The model's context window, in tokens.
    pub window: u32,
    /// The name of the environment variable that holds the API key.
    pub key_var: String,
    /// Whether it reads each message before anything is searched.
    pub plan: bool,
}

/// An embedder. Empty: only the built-in one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedSettings {
    /// The folder of a sentence transformer.
    pub dir: String,
    /// The base URL of an `OpenAI`-compatible embeddings API.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The number of dimensions of its vectors; 0: the model is asked.
    pub dims: u32,
    /// The name of the environment variable that holds the API key.
    pub key_var: String,
    /// The prefix of each query.
    pub query_prefix: String,
    /// The prefix of each text to be found.
    pub document_prefix: String,
}

/// A reranker. Empty: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RerankSettings {
    /// The folder of a cross-encoder.
    pub dir: String,
    /// The base URL of a server that answers at `/rerank`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The name of the environment variable that holds the API key.
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
