//! Checks whether memories still hold: who watches a memory, and looks on request.
//!
//! Over the wire, a check is only named. What it looks at and what it expects stands in the operator's sensor file, and no
//! response says more of it than whether it passed: neither the subject, nor a hash of what was seen.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{
    CheckResult, MemoryCheck, MemoryId, MemorySensor, NewSensor, ReviewId, ToCheck, UnknownReason,
    blocking::Memories,
};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    memories::{OfMemory, name::MemoryName},
    page::Page,
    row,
    spec::{Again, Class, KeyScope, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<SensorList>(), row::<SensorWatch>(), row::<SensorUnwatch>(), row::<Validate>()]
}

/// A check that watches a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Watching {
    /// The sensor's name.
    pub sensor: String,
    /// The check's name.
    pub check: String,
    /// Whether a sensor of this name is configured and serves the user; always true for `human`.
    pub is_configured: bool,
}

fn list(memories: &Memories, id: MemoryId) -> Result<Page<Watching>> {
    let told = |MemorySensor { sensor, subject, is_configured, .. }| Watching {
        sensor,
        check: subject,
        is_configured,
    };
    Ok(Page::whole(memories.sensors(id)?.into_iter().map(told).collect()))
}

/// Lists the checks that watch a memory.
#[derive(Debug)]
pub struct SensorList;

impl Operation for SensorList {
    const SPEC: Spec = Spec::reads(
        "sensor_list",
        "The checks that watch whether a memory still holds.",
        Route::get("/v1/users/{user}/memories/{memory}/sensors"),
    );
    type Request = OfMemory;
    type Response = Page<Watching>;

    fn run(call: Call, request: OfMemory) -> Result<Page<Watching>> {
        let memories = call.memories()?;
        let id = request.memory.id(&memories)?;
        list(&memories, id)
    }
}

/// A check to add to a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The name of a sensor that serves the user, or `human` for a person.
    #[schemars(length(min = 1, max = 200))]
    pub sensor: String,
    /// The name of one of the sensor's checks, such as `api_port`. What it looks at and what it expects stands in the
    /// operator's sensor file. `human` needs none.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub check: String,
}

/// Adds a check to a memory.
#[derive(Debug)]
pub struct SensorWatch;

impl Operation for SensorWatch {
    const SPEC: Spec = Spec {
        scope: KeyScope::Check,
        ..Spec::changes(
            "sensor_watch",
            "Have a named check of a configured sensor watch whether a memory still holds.",
            Route::put("/v1/users/{user}/memories/{memory}/sensors"),
        )
    };
    type Request = WatchRequest;
    type Response = Page<Watching>;

    fn run(call: Call, request: WatchRequest) -> Result<Page<Watching>> {
        let memories = call.memories()?;
        let id = request.memory.id(&memories)?;
        memories.watch(id, NewSensor::new(request.sensor, request.check))?;
        list(&memories, id)
    }
}

/// A check to remove from a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnwatchRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The sensor's name.
    pub sensor: String,
    /// The check's name. Default: all checks of the sensor.
    pub check: Option<String>,
}

/// Removes a check from a memory.
#[derive(Debug)]
pub struct SensorUnwatch;

impl Operation for SensorUnwatch {
    const SPEC: Spec = Spec::changes(
        "sensor_unwatch",
        "Remove a check from a memory.",
        Route::delete("/v1/users/{user}/memories/{memory}/sensors"),
    );
    type Request = UnwatchRequest;
    type Response = Page<Watching>;

    fn run(call: Call, request: UnwatchRequest) -> Result<Page<Watching>> {
        let memories = call.memories()?;
        let id = request.memory.id(&memories)?;
        memories.unwatch(id, &request.sensor, request.check.as_deref())?;
        list(&memories, id)
    }
}

/// Selects the memories to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateRequest {
    /// The memories, stale or not, at most 1,000; those that cannot be recalled are skipped. Default: all stale memories
    /// that have a sensor that serves the user, or `human`.
    #[schemars(length(max = 1000))]
    pub memories: Option<Vec<MemoryName>>,
}

/// One check of a memory, and its effect on the memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// The checked memory.
    pub memory_id: MemoryId,
    /// The sensor's name.
    pub sensor: String,
    /// The check's name.
    pub check: String,
    /// The result.
    pub result: CheckResult,
    /// Why the sensor cannot tell; null if the check passed or failed.
    pub why: Option<UnknownReason>,
    /// When the sensor looked. A check looks at most once a minute, whoever asks; in between, this is the time of its last
    /// look. Null if no sensor looked.
    pub looked_at: Option<DateTime<Utc>>,
    /// The memory's confidence after the check; null if the check changed nothing.
    pub confidence: Option<f64>,
    /// The memory's reliability after the check; null if nobody has assessed it, or if `confidence` is null.
    pub reliability: Option<f64>,
    /// The review that asks a person whether the memory holds.
    pub review: Option<ReviewId>,
}

impl From<MemoryCheck> for Checked {
    fn from(check: MemoryCheck) -> Self {
        Self {
            memory_id: check.memory_id,
            sensor: check.sensor,
            check: check.subject,
            result: check.result,
            why: check.why,
            looked_at: check.looked_at,
            confidence: check.confidence,
            reliability: check.reliability,
            review: check.review,
        }
    }
}

/// Has sensors check memories.
#[derive(Debug)]
pub struct Validate;

impl Operation for Validate {
    const SPEC: Spec = Spec {
        class: Class::Long,
        again: Again::Another,
        scope: KeyScope::Check,
        ..Spec::changes(
            "memory_validate",
            "Have sensors check now whether memories still hold; a failure asks a person.",
            Route::post("/v1/users/{user}/validate"),
        )
    };
    type Request = ValidateRequest;
    type Response = Page<Checked>;

    fn run(call: Call, request: ValidateRequest) -> Result<Page<Checked>> {
        let memories = call.memories()?;
        let which = match &request.memories {
            Some(names) => ToCheck::Memories(MemoryName::ids(names, &memories)?),
            None => ToCheck::Stale,
        };
        Ok(Page::whole(memories.validate(which)?.into_iter().map(Checked::from).collect()))
    }
}
