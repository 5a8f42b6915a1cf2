//! Texts about all memories: the core, which says what matters most, and the reflection, which shows patterns across them.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{Core, CoreOptions, Trust};

use crate::ops::{
    Operation, Result, Row,
    call::{Call, set},
    problem::Problem,
    row,
    sessions::Nothing,
    spec::{Class, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<CoreShow>(), row::<ReflectionShow>()]
}

/// Options for the core.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreRequest {
    /// The time as of which the memories are ranked (RFC 3339). Default: now.
    pub at: Option<DateTime<Utc>>,
    /// Maximum number of tokens. Default: 3,000.
    #[schemars(range(min = 100, max = u32::MAX))]
    pub max_tokens: Option<u32>,
    /// Maximum number of memories per section. Default: 15.
    #[schemars(range(min = 1, max = 100))]
    pub per_section: Option<u32>,
    /// The minimum trust: 2 for the assistant's words, 3 for the user's, 4 for what a person approved. Default: 2.
    #[schemars(range(min = 2, max = 4))]
    pub min_trust: Option<u8>,
}

/// Shows the core.
#[derive(Debug)]
pub struct CoreShow;

impl Operation for CoreShow {
    const SPEC: Spec = Spec {
        class: Class::Recall,
        ..Spec::reads(
            "core",
            "The memories that matter most, as a text of limited length.",
            Route::get("/v1/users/{user}/core"),
        )
    };
    type Request = CoreRequest;
    type Response = Core;

    fn run(call: Call, request: CoreRequest) -> Result<Core> {
        let trust = request.min_trust.map(|number| {
            Trust::from_number(number)
                .ok_or_else(|| Problem::invalid("min_trust", "trust is a number from 2 to 4"))
        });
        let options = set(CoreOptions::default(), request.at, CoreOptions::at);
        let options = set(options, request.max_tokens, CoreOptions::max_tokens);
        let options = set(options, request.per_section, CoreOptions::per_section);
        let options = set(options, trust.transpose()?, CoreOptions::min_trust);
        Ok(call.memories()?.core(options)?)
    }
}

/// A text about patterns across all memories.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reflection {
    /// The text, in the form of `REFLECTION.md`.
    pub text: String,
}

/// Shows patterns across all memories.
#[derive(Debug)]
pub struct ReflectionShow;

impl Operation for ReflectionShow {
    const SPEC: Spec = Spec {
        class: Class::Recall,
        ..Spec::reads(
            "reflection",
            "What the memories have in common, as a text: pairs of tags, what is used most, insights, merges.",
            Route::get("/v1/users/{user}/reflection"),
        )
    };
    type Request = Nothing;
    type Response = Reflection;

    fn run(call: Call, _: Nothing) -> Result<Reflection> {
        Ok(Reflection { text: call.memories()?.reflection()? })
    }
}
