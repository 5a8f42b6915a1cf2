//! What verbs take that name an LLM, an embedder or a reranker, and what the help says of it.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::path::PathBuf;

use clap::Args;

/// LLM#1, if sessions are to be summarized by one.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "LLM#1 (without it, built-in means summarize)")]
pub(crate) struct LlmArgs {
    /// Where it answers, in the manner of OpenAI's chat completions: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_LLM_URL", requires = "llm_model")]
    pub(crate) llm_url: Option<String>,

    /// Its name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_LLM_MODEL")]
    pub(crate) llm_model: Option<String>,

    /// Tokens that fit into its window.
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    pub(crate) llm_window: u32,

    /// The name of the environment variable that holds its key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_LLM_KEY")]
    pub(crate) llm_key_var: String,
}

/// LLM#1, if it is to plan what is searched for.
#[derive(Debug, Args)]
#[command(next_help_heading = "LLM#1 (asked with --plan alone)")]
pub(crate) struct PlannerArgs {
    /// Have LLM#1 read the message and the last turns first, and say what to search for: queries beside the message, a
    /// time, or that the last turns are enough. What it says is verified, and why shows it; without a usable answer the
    /// context is the one without --plan, and missing says so.
    #[arg(long)]
    pub(crate) plan: bool,

    /// Where it answers, in the manner of OpenAI's chat completions: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_LLM_URL", requires = "llm_model")]
    pub(crate) llm_url: Option<String>,

    /// Its name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_LLM_MODEL")]
    pub(crate) llm_model: Option<String>,

    /// The name of the environment variable that holds its key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_LLM_KEY")]
    pub(crate) llm_key_var: String,

    /// How long it may take, in milliseconds. Then it is searched without a plan.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub(crate) plan_timeout_ms: u64,
}

/// LLM#2, if somebody is to reply.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "LLM#2 (without it, what it would be sent is shown)")]
pub(crate) struct TalkerArgs {
    /// Where it answers, in the manner of OpenAI's chat completions: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_LLM_URL", requires = "llm_model")]
    pub(crate) llm_url: Option<String>,

    /// Its name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_LLM_MODEL")]
    pub(crate) llm_model: Option<String>,

    /// The name of the environment variable that holds its key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_LLM_KEY")]
    pub(crate) llm_key_var: String,
}

/// What turns text into vectors, beside the built-in embedder. Its vectors are made by jobs run; until then recall goes
/// by words and by the built-in one.
#[derive(Args, Debug)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "Embedder (without it, the built-in one)")]
pub(crate) struct EmbedderArgs {
    /// Where it answers, in the manner of OpenAI's embeddings: http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "THERMOCLINE_EMBED_URL", requires = "embed_model")]
    pub(crate) embed_url: Option<String>,

    /// Its name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_EMBED_MODEL")]
    pub(crate) embed_model: Option<String>,

    /// How many numbers its vectors have [default: it is asked].
    #[arg(long, value_name = "N", env = "THERMOCLINE_EMBED_DIMS")]
    pub(crate) embed_dims: Option<u32>,

    /// The name of the environment variable that holds its key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_EMBED_KEY")]
    pub(crate) embed_key_var: String,

    /// The folder of a sentence transformer, as model hubs have them (model.safetensors, config.json, vocab.txt or
    /// tokenizer.json).
    #[arg(long, value_name = "DIR", env = "THERMOCLINE_EMBED_DIR")]
    pub(crate) embed_dir: Option<PathBuf>,

    /// What stands before each query, "query: " for E5 say [default: what the folder says, or nothing].
    #[arg(long, value_name = "TEXT", env = "THERMOCLINE_EMBED_QUERY_PREFIX", allow_hyphen_values = true)]
    pub(crate) embed_query_prefix: Option<String>,

    /// What stands before each text that is to be found, "passage: " for E5 say [default: what the folder says, or
    /// nothing]. With another one all vectors are made anew.
    #[arg(long, value_name = "TEXT", env = "THERMOCLINE_EMBED_DOCUMENT_PREFIX", allow_hyphen_values = true)]
    pub(crate) embed_document_prefix: Option<String>,
}

/// What reads the query together with each of the best that recall has found, and orders them by how well they answer.
#[derive(Args, Debug)]
#[expect(clippy::struct_field_names, reason = "they name the options")]
#[command(next_help_heading = "Reranker (without it, the order of recall stands)")]
pub(crate) struct RerankerArgs {
    /// The folder of a cross-encoder, as model hubs have them: ms-marco-MiniLM-L-6-v2 say (model.safetensors, config.json,
    /// vocab.txt or tokenizer.json).
    #[arg(long, value_name = "DIR", env = "THERMOCLINE_RERANK_DIR", conflicts_with = "rerank_url")]
    pub(crate) rerank_dir: Option<PathBuf>,

    /// Where one answers at /rerank: http://localhost:8000/v1. With --rerank-model in the manner of Cohere, Jina and vLLM;
    /// without it in that of Hugging Face's text-embeddings-inference.
    #[arg(long, value_name = "URL", env = "THERMOCLINE_RERANK_URL")]
    pub(crate) rerank_url: Option<String>,

    /// Its name there.
    #[arg(long, value_name = "NAME", env = "THERMOCLINE_RERANK_MODEL")]
    pub(crate) rerank_model: Option<String>,

    /// The name of the environment variable that holds its key.
    #[arg(long, value_name = "VARIABLE", default_value = "THERMOCLINE_RERANK_KEY")]
    pub(crate) rerank_key_var: String,

    /// How many of the best it reads, from 2 to 200: fewer take less time.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) rerank_candidates: usize,

    /// How long it may take for them, in milliseconds. Then the order of recall stands, and missing says so.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub(crate) rerank_timeout_ms: u64,
}
