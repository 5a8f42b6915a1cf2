//! `context`: what an LLM needs from the memory to answer a message.

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

/// The maximum number of additional queries.
const MOST_QUERIES: usize = 8;
/// The maximum number of tokens in a context: more than any model reads.
const MOST_TOKENS: u32 = 1_000_000;

/// Makes the context for a message.
#[derive(Debug)]
pub struct ContextOperation;

/// A message, and what its context should contain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// The user's message.
    pub message: String,
    /// The running session, by its key, or `id:` and its id. Its newest turns get room first. Default: none.
    pub session: Option<String>,
    /// Maximum number of tokens. Default: 4,400, or as the server is configured.
    #[schemars(range(min = 0, max = MOST_TOKENS))]
    pub budget_tokens: Option<u32>,
    /// The time of the message (RFC 3339). Default: now.
    pub now: Option<DateTime<Utc>>,
    /// How to rank what is recalled. Default: as the server is configured.
    pub profile: Option<Profile>,
    /// What may be recalled. Default: everything.
    #[serde(default)]
    pub filter: Filter,
    /// The minimum confidence, from 0 to 1: if no result reaches it, nothing is recalled. Default: 0.1.
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// Additional search queries, at most 8.
    #[serde(default)]
    #[schemars(length(max = MOST_QUERIES))]
    pub queries: Vec<String>,
    /// Sections to leave out.
    #[serde(default)]
    pub without: Vec<Section>,
    /// Which memories to recall. Default: active ones and, at half their weight, archived ones.
    pub memories: Option<MemoryFilter>,
    /// Whether memories lend score to related memories. Default: no.
    #[serde(default)]
    pub graph: bool,
    /// Whether the recent turns are returned as separate messages in `recent`, and not in `text`. Default: no.
    #[serde(default)]
    pub for_messages: bool,
}

/// The context of a user, who may not exist yet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ContextAnswer {
    /// The context of a user who exists.
    Known(thermocline::Context),
    /// The context of a user who does not exist yet.
    Empty(EmptyContext),
}

/// An empty context without a receipt.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct EmptyContext {
    /// Always empty.
    pub text: String,
    /// Always 0.
    pub tokens: u32,
    /// The requested budget; null if the request has none.
    pub budget_tokens: Option<u32>,
    /// Always empty.
    pub items: Vec<()>,
    /// Always empty.
    pub left_out: Vec<u32>,
    /// Always 0.
    pub confidence: f64,
    /// Always empty.
    pub missing: Vec<String>,
    /// Always null.
    pub receipt: Option<()>,
}

impl Operation for ContextOperation {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_context", title: "Context for a message" }),
        class: Class::Recall,
        ..Spec::reads(
            "context",
            "Build the context for a message: recent turns, what is known and what is recalled, within a token budget.",
            Route::post("/v1/users/{user}/context"),
        )
    };
    type Request = ContextRequest;
    type Response = ContextAnswer;

    fn run(call: Call, request: ContextRequest) -> Result<ContextAnswer> {
        // The library is not called for an unknown user, so its checks are repeated here.
        if request.queries.len() > MOST_QUERIES {
            return Err(Problem::invalid("queries", "a context takes at most 8 queries besides the message"));
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
        // If there is a key but no such session yet, the session is about to start, so the context has no turns of it.
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
