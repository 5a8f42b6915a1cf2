//! The operations that tend memories: settle or archive them, find similar ones, and check whether they still hold.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{MemoryCheck, Reflected, TendOptions, Tended, ToCheck};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    memories::name::MemoryName,
    page::Page,
    row,
    sessions::Nothing,
    spec::{Again, Class, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<Tend>(), row::<Reflect>(), row::<Validate>()]
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

/// Selects the memories to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateRequest {
    /// The memories, stale or not, at most 1,000; those that cannot be recalled are skipped. Default: all stale memories
    /// that have a configured sensor, or `human`.
    #[schemars(length(max = 1000))]
    pub memories: Option<Vec<MemoryName>>,
}

/// Has sensors check memories.
#[derive(Debug)]
pub struct Validate;

impl Operation for Validate {
    const SPEC: Spec = Spec {
        class: Class::Long,
        again: Again::Another,
        ..Spec::changes(
            "memory_validate",
            "Have sensors check now whether memories still hold; a failure asks a person.",
            Route::post("/v1/users/{user}/validate"),
        )
    };
    type Request = ValidateRequest;
    type Response = Page<MemoryCheck>;

    fn run(call: Call, request: ValidateRequest) -> Result<Page<MemoryCheck>> {
        let memories = call.memories()?;
        let which = match &request.memories {
            Some(names) => ToCheck::Memories(MemoryName::ids(names, &memories)?),
            None => ToCheck::Stale,
        };
        Ok(Page::whole(memories.validate(which)?))
    }
}
