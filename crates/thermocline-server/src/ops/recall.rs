//! `recall`: searches everything that a user ever said, and everything known, for a query.

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

/// Searches everything that a user ever said, and everything known.
#[derive(Debug)]
pub struct RecallOperation;

/// A query, and what to search.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The question or message, in the user's own words.
    pub query: String,
    /// Maximum number of results, from 1 to 1,000. Default: 10.
    #[schemars(range(min = 1, max = 1000))]
    pub k: Option<usize>,
    /// The time of the query (RFC 3339), from which "last week" is measured. Default: now.
    pub now: Option<DateTime<Utc>>,
    /// How to rank. Default: as the server is configured.
    pub profile: Option<Profile>,
    /// What may be recalled. Default: everything.
    #[serde(default)]
    pub filter: Filter,
    /// Which kinds of things to recall. Default: all.
    #[serde(default)]
    pub of: Of,
    /// Which memories to recall. Default: active ones and, at half their weight, archived ones.
    pub memories: Option<MemoryFilter>,
    /// Whether memories lend score to related memories. Default: no.
    #[serde(default)]
    pub graph: bool,
}

/// The results of a recall for a user, who may not exist yet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RecallAnswer {
    /// The results for a user who exists.
    Found(thermocline::Recall),
    /// The results for a user who does not exist yet.
    Nothing(NothingFound),
}

/// A recall without results and without a receipt.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct NothingFound {
    /// Always empty.
    pub items: Vec<()>,
    /// Always 0.
    pub confidence: f64,
    /// Always empty.
    pub missing: Vec<String>,
    /// Always null.
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
            "Search everything the user ever said and everything known for a query, best first, with the reasons.",
            Route::post("/v1/users/{user}/recall"),
        )
    };
    type Request = RecallRequest;
    type Response = RecallAnswer;

    fn run(call: Call, request: RecallRequest) -> Result<RecallAnswer> {
        // The library is not called for an unknown user, so its checks are repeated here.
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
