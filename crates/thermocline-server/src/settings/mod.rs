//! A server's settings. They come from a file, then the environment, then flags; a later source overrides an earlier one.
//! None can be read or set over the network: other products have leaked keys because an API could set a provider's
//! address.

mod layers;
mod memory;
mod place;
mod service;

use serde::{Deserialize, Serialize};

pub use layers::{Layers, SettingSource, Wrong};
pub use memory::MemorySettings;
pub use place::own_file;
pub use service::ServiceSettings;

/// All settings, by section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where the server listens, who may call it, and its limits.
    pub service: ServiceSettings,
    /// The library's settings.
    pub memory: MemorySettings,
    /// LLM#1; none by default.
    pub llm: LlmSettings,
    /// Embedders in addition to the built-in one; none by default.
    pub embed: EmbedSettings,
    /// The reranker; none by default.
    pub rerank: RerankSettings,
    /// The logs.
    pub log: LogSettings,
}

/// LLM#1, which summarizes, and plans if asked to; used only if `url` and `model` are set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// The base URL of an `OpenAI`-compatible chat completions API.
    pub url: String,
    /// The model's name in that API.
    pub model: String,
    /// The model's context window, in tokens.
    pub window: u32,
    /// The name of the environment variable that holds the API key.
    pub key_var: String,
    /// Whether LLM#1 plans recalls: it reads the message before the search.
    pub plan: bool,
}

/// Embedders: one from `dir`, then one at `url` if `model` is set too. If neither is set, only the built-in one is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedSettings {
    /// The folder of a sentence transformer.
    pub dir: String,
    /// The base URL of an `OpenAI`-compatible embeddings API.
    pub url: String,
    /// The model's name in that API.
    pub model: String,
    /// The number of dimensions of the vectors from `url`; 0 to ask the model.
    pub dims: u32,
    /// The name of the environment variable that holds the API key.
    pub key_var: String,
    /// The text put before each query.
    pub query_prefix: String,
    /// The text put before each document, that is, each text to be found.
    pub document_prefix: String,
}

/// A reranker; used only if `dir` or `url` is set. If both are, `dir` is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RerankSettings {
    /// The folder of a cross-encoder.
    pub dir: String,
    /// The base URL of a server that answers at `/rerank`.
    pub url: String,
    /// The model's name on that server.
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
    /// A level (`error`, `warn`, `info`, `debug`, `trace`), or levels by target, such as `warn,thermocline=debug`.
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
