//! `context`: what an LLM is to be handed with a message.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{ContextOptions, Filter, MemoryFilter, Profile, Section};

use crate::{
    metrics::Metrics,
    ops::{
        Operation, Result,
        call::{self, Call},
        problem::Problem,
        spec::{Class, Route, Spec, Tool},
    },
};

/// Queries beside a message at most.
const MOST_QUERIES: usize = 8;
/// Tokens of a context at most: what no model reads.
const MOST_TOKENS: u32 = 1_000_000;

/// Makes a context.
#[derive(Debug)]
pub struct ContextOperation;

/// A message, and how its context is to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// The user's message.
    pub message: String,
    /// The running conversation, by the caller's key or `id:` and its id: its newest turns come first. Default: none.
    pub session: Option<String>,
    /// Tokens at most. Default 4,400, as the server is configured.
    #[schemars(range(min = 0, max = MOST_TOKENS))]
    pub budget_tokens: Option<u32>,
    /// The moment of asking (RFC 3339). Default: now.
    pub now: Option<DateTime<Utc>>,
    /// How to rank what is recalled. Default: as the server is configured.
    pub profile: Option<Profile>,
    /// What may be recalled. Default: everything.
    #[serde(default)]
    pub filter: Filter,
    /// From 0 to 1: where nothing is so sure to answer, nothing is recalled. Default: 0.1.
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// What is searched for beside the message, at most 8 queries.
    #[serde(default)]
    #[schemars(length(max = MOST_QUERIES))]
    pub queries: Vec<String>,
    /// Sections that are left out.
    #[serde(default)]
    pub without: Vec<Section>,
    /// Which memories are recalled. Default: those that hold, and, at half their weight, those that are archived.
    pub memories: Option<MemoryFilter>,
    /// Whether memories lend to those they are related to. Default: no.
    #[serde(default)]
    pub graph: bool,
    /// Whether the recent turns come as messages of their own, in `recent`, and not in `text`. Default: no.
    #[serde(default)]
    pub for_messages: bool,
}

/// A context.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ContextAnswer {
    /// Of a user whom the file knows.
    Known(thermocline::Context),
    /// Of a user whom nobody knows yet.
    Empty(EmptyContext),
}

/// A context of nothing, and no receipt.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct EmptyContext {
    /// Empty.
    pub text: String,
    /// 0.
    pub tokens: u32,
    /// What was asked for.
    pub budget_tokens: Option<u32>,
    /// Empty.
    pub items: Vec<()>,
    /// Empty.
    pub left_out: Vec<u32>,
    /// 0.
    pub confidence: f64,
    /// Empty.
    pub missing: Vec<String>,
    /// null.
    pub receipt: Option<()>,
}

impl Operation for ContextOperation {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_context", title: "Context for a message" }),
        class: Class::Recall,
        ..Spec::reads(
            "context",
            "Make the context for a message: recent turns, what is known and what is recalled, within a token budget.",
            Route::post("/v1/users/{user}/context"),
        )
    };
    type Request = ContextRequest;
    type Response = ContextAnswer;

    fn run(call: Call, request: ContextRequest) -> Result<ContextAnswer> {
        // Of a user whom nobody knows the library is not asked.
        if request.queries.len() > MOST_QUERIES {
            return Err(Problem::invalid("queries", "at most 8 queries are searched for beside the message"));
        }
        if request.budget_tokens.is_some_and(|tokens| tokens > MOST_TOKENS) {
            return Err(Problem::invalid("budget_tokens", "a context has at most 1,000,000 tokens"));
        }
        if !request.min_confidence.is_none_or(|least| (0.0..=1.0).contains(&least)) {
            return Err(Problem::invalid("min_confidence", "a confidence is a number from 0 to 1"));
        }
        let Some(user) = call.find_user()? else {
            return Ok(ContextAnswer::Empty(EmptyContext {
                budget_tokens: request.budget_tokens,
                ..EmptyContext::default()
            }));
        };
        let session = match &request.session {
            Some(key) => call::find_session(&user, key)?,
            None => None,
        };
        let mut options = ContextOptions::default();
        options.budget_tokens = request.budget_tokens;
        options.now = request.now;
        options.profile = request.profile;
        options.filter = request.filter;
        options.min_confidence = request.min_confidence;
        options.queries = request.queries;
        options.without = request.without;
        options.memories = request.memories;
        options.graph = request.graph;
        options.for_messages = request.for_messages;
        // A key that nobody has recorded under yet is a conversation that is about to begin.
        Ok(ContextAnswer::Known(match session {
            Some(session) => session.context(&request.message, options)?,
            None => user.context(&request.message, options)?,
        }))
    }

    fn count(answer: &ContextAnswer, metrics: &Metrics) {
        if let ContextAnswer::Known(context) = answer {
            metrics.handed_out(context.tokens, context.left_out.len());
            metrics.missing(&context.missing);
        }
    }
}
