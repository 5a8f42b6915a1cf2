//! Arguments that name an LLM, an embedder or a reranker, and their help texts.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::path::PathBuf;

use clap::Args;

/// LLM#1, if one is to summarize sessions.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "LLM#1 (without it, the built-in summarizer is used)")]
pub(crate) struct LlmArgs {
    /// The base URL of an OpenAI-compatible chat completions API: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_LLM_URL", requires = "llm_model")]
    pub(crate) llm_url: Option<String>,

    /// The model's name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_LLM_MODEL")]
    pub(crate) llm_model: Option<String>,

    /// The model's context window, in tokens.
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    pub(crate) llm_window: u32,

    /// The name of the environment variable that holds the API key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_LLM_KEY")]
    pub(crate) llm_key_var: String,
}

/// LLM#1, if it is to plan searches.
#[derive(Debug, Args)]
#[command(next_help_heading = "LLM#1 (only asked with --plan)")]
pub(crate) struct PlannerArgs {
    /// Have LLM#1 first read the message and the last turns, and say what to search for: queries in addition to the message,
    /// a time, or that the last turns are enough. Its answer is verified, and why shows it; without a usable answer the
    /// context is the same as without --plan, and missing says so.
    #[arg(long)]
    pub(crate) plan: bool,

    /// The base URL of an OpenAI-compatible chat completions API: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_LLM_URL", requires = "llm_model")]
    pub(crate) llm_url: Option<String>,

    /// The model's name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_LLM_MODEL")]
    pub(crate) llm_model: Option<String>,

    /// The name of the environment variable that holds the API key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_LLM_KEY")]
    pub(crate) llm_key_var: String,

    /// How long it may take, in milliseconds. After that, the search runs without a plan.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub(crate) plan_timeout_ms: u64,
}

/// LLM#2, if one is to reply.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "LLM#2 (without it, the context that it would get is shown)")]
pub(crate) struct TalkerArgs {
    /// The base URL of an OpenAI-compatible chat completions API: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_LLM_URL", requires = "llm_model")]
    pub(crate) llm_url: Option<String>,

    /// The model's name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_LLM_MODEL")]
    pub(crate) llm_model: Option<String>,

    /// The name of the environment variable that holds the API key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_LLM_KEY")]
    pub(crate) llm_key_var: String,
}

/// Turns text into vectors, in addition to the built-in embedder. jobs run makes its vectors; until then recall works by
/// words and with the built-in embedder.
#[derive(Args, Debug)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "Embedder (without it, the built-in one is used)")]
pub(crate) struct EmbedderArgs {
    /// The base URL of an OpenAI-compatible embeddings API: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_EMBED_URL", requires = "embed_model")]
    pub(crate) embed_url: Option<String>,

    /// The model's name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_EMBED_MODEL")]
    pub(crate) embed_model: Option<String>,

    /// The number of dimensions of its vectors [default: the model is asked].
    #[arg(long, value_name = "N", env = "THERMOCLINE_EMBED_DIMS")]
    pub(crate) embed_dims: Option<u32>,

    /// The name of the environment variable that holds the API key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_EMBED_KEY")]
    pub(crate) embed_key_var: String,

    /// The folder of a sentence transformer, as published on model hubs (model.safetensors, config.json, vocab.txt or
    /// tokenizer.json).
    #[arg(long, value_name = "DIR", env = "THERMOCLINE_EMBED_DIR")]
    pub(crate) embed_dir: Option<PathBuf>,

    /// A prefix for each query, for example "query: " for E5 [default: what the folder says, or nothing].
    #[arg(long, value_name = "TEXT", env = "THERMOCLINE_EMBED_QUERY_PREFIX", allow_hyphen_values = true)]
    pub(crate) embed_query_prefix: Option<String>,

    /// A prefix for each text to be found, for example "passage: " for E5 [default: what the folder says, or nothing]. If it
    /// changes, all vectors are made again.
    #[arg(long, value_name = "TEXT", env = "THERMOCLINE_EMBED_DOCUMENT_PREFIX", allow_hyphen_values = true)]
    pub(crate) embed_document_prefix: Option<String>,
}

/// Reads the query together with each of the best results of recall, and orders them by how well they answer.
#[derive(Args, Debug)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "Reranker (without it, the original order is kept)")]
pub(crate) struct RerankerArgs {
    /// The folder of a cross-encoder, as published on model hubs, for example ms-marco-MiniLM-L-6-v2 (model.safetensors,
    /// config.json, vocab.txt or tokenizer.json).
    #[arg(long, value_name = "DIR", env = "THERMOCLINE_RERANK_DIR", conflicts_with = "rerank_url")]
    pub(crate) rerank_dir: Option<PathBuf>,

    /// The base URL of a server that answers at /rerank: http://localhost:8000/v1. With --rerank-model it is called like
    /// Cohere, Jina and vLLM; without, like Hugging Face's text-embeddings-inference.
    #[arg(long, value_name = "URL", env = "THERMOCLINE_RERANK_URL")]
    pub(crate) rerank_url: Option<String>,

    /// The model's name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_RERANK_MODEL")]
    pub(crate) rerank_model: Option<String>,

    /// The name of the environment variable that holds the API key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_RERANK_KEY")]
    pub(crate) rerank_key_var: String,

    /// How many of the best results it reads, from 2 to 200: fewer take less time.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) rerank_candidates: usize,

    /// How long it may take for all of them, in milliseconds. After that, the original order stays, and missing says so.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub(crate) rerank_timeout_ms: u64,
}
