//! The operations that quarantine a source (hide its memories and what came of it), and that lift a quarantine.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{QuarantineSource, Quarantined, Undone};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    memories::edit::OfGroup,
    row,
    spec::{Class, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<Quarantine>(), row::<Lift>()]
}

/// The source whose memories are to be hidden.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuarantineRequest {
    /// The source: one of `{"turn": id}`, `{"session": id}`, `{"memory": id}`, `{"call": id}`,
    /// `{"origin": word}`. Turns are not hidden.
    pub source: QuarantineSource,
    /// The reason, for the history: at most 256 bytes, without anything that was said.
    #[serde(default)]
    pub why: String,
}

/// Hides the memories of a source and what came of it.
#[derive(Debug)]
pub struct Quarantine;

impl Operation for Quarantine {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::changes(
            "quarantine",
            "Hide the memories of a source and what came of it, as one operation, which can be lifted; turns stay.",
            Route::post("/v1/users/{user}/quarantines"),
        )
    };
    type Request = QuarantineRequest;
    type Response = Quarantined;

    fn run(call: Call, request: QuarantineRequest) -> Result<Quarantined> {
        Ok(call.memories()?.quarantine(request.source, &request.why)?)
    }
}

/// Lifts a quarantine.
#[derive(Debug)]
pub struct Lift;

impl Operation for Lift {
    const SPEC: Spec = Spec::changes(
        "quarantine_lift",
        "Lift a quarantine: everything is as before, except the history.",
        Route::delete("/v1/users/{user}/quarantines/{group}"),
    );
    type Request = OfGroup;
    type Response = Undone;

    fn run(call: Call, request: OfGroup) -> Result<Undone> {
        Ok(call.memories()?.lift(request.group)?)
    }
}
