//! The operations that tend memories: settle or archive them, and find similar ones.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Reflected, TendOptions, Tended};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    row,
    sessions::Nothing,
    spec::{Class, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<Tend>(), row::<Reflect>()]
}

/// How to tend all active memories.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TendRequest {
    /// Whether to only show what would change, and why. Default: no.
    #[serde(default)]
    pub dry_run: bool,
}

/// Tends all active memories.
#[derive(Debug)]
pub struct Tend;

impl Operation for Tend {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::changes(
            "tend",
            "Tend all active memories now: some settle, fall back, are archived or put to review; at most once a day.",
            Route::post("/v1/users/{user}/tend"),
        )
    };
    type Request = TendRequest;
    type Response = Tended;

    fn run(call: Call, request: TendRequest) -> Result<Tended> {
        let options = TendOptions::default();
        let options = if request.dry_run { options.dry_run() } else { options };
        Ok(call.memories()?.tend(options)?)
    }
}

/// Finds similar memories, and proposes edges and reviews.
#[derive(Debug)]
pub struct Reflect;

impl Operation for Reflect {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::changes(
            "reflect",
            "Find similar memories, and propose edges and reviews; nothing takes effect by itself.",
            Route::post("/v1/users/{user}/reflect"),
        )
    };
    type Request = Nothing;
    type Response = Reflected;

    fn run(call: Call, _: Nothing) -> Result<Reflected> {
        Ok(call.memories()?.reflect()?)
    }
}
