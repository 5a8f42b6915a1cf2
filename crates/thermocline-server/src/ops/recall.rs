//! `recall`: what fits a query among all that a user ever said.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{Filter, MemoryFilter, Of, Profile, RecallOptions, blocking::User};

use crate::{
    metrics::Metrics,
    ops::{
        Operation, Result,
        call::Call,
        problem::Problem,
        spec::{Class, Route, Spec, Tool},
    },
};

/// Recalls.
#[derive(Debug)]
pub struct RecallOperation;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The question or message, in the user's own words.
    pub query: String,
    /// How many results at most, from 1 to 1,000. Default 10.
    #[schemars(range(min = 1, max = 1000))]
    pub k: Option<usize>,
    /// The moment of asking (RFC 3339), from which "last week" is measured. Default: now.
    pub now: Option<DateTime<Utc>>,
    /// How to rank. Default: as the server is configured.
    pub profile: Option<Profile>,
    /// What may be recalled. Default: everything.
    #[serde(default)]
    pub filter: Filter,
    /// Which sorts of things are recalled. Default: all.
    #[serde(default)]
    pub of: Of,
    /// Which memories are recalled. Default: those that hold, and, at half their weight, those that are archived.
    pub memories: Option<MemoryFilter>,
    /// Whether memories lend to those they are related to. Default: no.
    #[serde(default)]
    pub graph: bool,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RecallAnswer {
    /// Of a user whom the file knows.
    Found(thermocline::Recall),
    /// Of a user whom nobody knows yet.
    Nothing(NothingFound),
}

/// Nothing, and no receipt.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct NothingFound {
    /// Empty.
    pub items: Vec<()>,
    /// 0.
    pub confidence: f64,
    /// Empty.
    pub missing: Vec<String>,
    /// null.
    pub receipt: Option<()>,
}

impl RecallRequest {
    fn options(self) -> (String, RecallOptions) {
        let mut options = RecallOptions::default().filter(self.filter).of(self.of).graph(self.graph);
        options.k = self.k;
        options.now = self.now;
        options.profile = self.profile;
        options.memories = self.memories;
        (self.query, options)
    }
}

impl Operation for RecallOperation {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_search", title: "Search" }),
        class: Class::Recall,
        ..Spec::reads(
            "recall",
            "Find what fits a query among all that the user ever said and what is known, best first, with the reasons.",
            Route::post("/v1/users/{user}/recall"),
        )
    };
    type Request = RecallRequest;
    type Response = RecallAnswer;

    fn run(call: Call, request: RecallRequest) -> Result<RecallAnswer> {
        // Of a user whom nobody knows the library is not asked.
        if !(1..=1_000).contains(&request.k.unwrap_or(1)) {
            return Err(Problem::invalid("k", "k is a number from 1 to 1,000"));
        }
        let Some(user) = call.find_user()? else {
            return Ok(RecallAnswer::Nothing(NothingFound::default()));
        };
        Ok(RecallAnswer::Found(recall(&user, request)?))
    }

    fn count(answer: &RecallAnswer, metrics: &Metrics) {
        if let RecallAnswer::Found(found) = answer {
            metrics.missing(&found.missing);
        }
    }
}

fn recall(user: &User, request: RecallRequest) -> Result<thermocline::Recall> {
    let (query, options) = request.options();
    Ok(user.recall(&query, options)?)
}
