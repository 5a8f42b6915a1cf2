//! Sensors that check whether a memory still holds.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use thermocline::{Expect, MemoryId, MemorySensor, NewSensor, blocking::Memories};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    memories::{OfMemory, name::MemoryName},
    page::Page,
    row,
    spec::{Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<SensorList>(), row::<SensorWatch>(), row::<SensorUnwatch>()]
}

fn list(memories: &Memories, id: MemoryId) -> Result<Page<MemorySensor>> {
    Ok(Page::whole(memories.sensors(id)?))
}

/// Lists the sensors of a memory.
#[derive(Debug)]
pub struct SensorList;

impl Operation for SensorList {
    const SPEC: Spec = Spec::reads(
        "sensor_list",
        "The sensors that check whether a memory still holds.",
        Route::get("/v1/users/{user}/memories/{memory}/sensors"),
    );
    type Request = OfMemory;
    type Response = Page<MemorySensor>;

    fn run(call: Call, request: OfMemory) -> Result<Page<MemorySensor>> {
        let memories = call.memories()?;
        let id = request.memory.id(&memories)?;
        list(&memories, id)
    }
}

/// A sensor to add to a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The name of a configured sensor, or `human` for a person.
    #[schemars(length(min = 1, max = 200))]
    pub sensor: String,
    /// The subject, by a name from the configuration, such as `ops:nginx/api.conf`. At most 1,024 bytes.
    #[serde(default)]
    pub subject: String,
    /// The expectation, at most 16 KiB; each sensor has its own fields. Default: the least that the sensor can check.
    #[serde(default)]
    pub expect: Map<String, Value>,
}

/// Adds a sensor to a memory.
#[derive(Debug)]
pub struct SensorWatch;

impl Operation for SensorWatch {
    const SPEC: Spec = Spec::changes(
        "sensor_watch",
        "Have a configured sensor check whether a memory still holds, replacing its earlier expectation.",
        Route::put("/v1/users/{user}/memories/{memory}/sensors"),
    );
    type Request = WatchRequest;
    type Response = Page<MemorySensor>;

    fn run(call: Call, request: WatchRequest) -> Result<Page<MemorySensor>> {
        let memories = call.memories()?;
        let sensor =
            NewSensor::new(request.sensor, request.subject).expect(Expect::new(request.expect.into())?);
        let id = request.memory.id(&memories)?;
        memories.watch(id, sensor)?;
        list(&memories, id)
    }
}

/// A sensor to remove from a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnwatchRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The sensor's name.
    pub sensor: String,
    /// The subject that the sensor should stop checking. Default: all subjects.
    pub subject: Option<String>,
}

/// Removes a sensor from a memory.
#[derive(Debug)]
pub struct SensorUnwatch;

impl Operation for SensorUnwatch {
    const SPEC: Spec = Spec::changes(
        "sensor_unwatch",
        "Remove a sensor from a memory.",
        Route::delete("/v1/users/{user}/memories/{memory}/sensors"),
    );
    type Request = UnwatchRequest;
    type Response = Page<MemorySensor>;

    fn run(call: Call, request: UnwatchRequest) -> Result<Page<MemorySensor>> {
        let memories = call.memories()?;
        let id = request.memory.id(&memories)?;
        memories.unwatch(id, &request.sensor, request.subject.as_deref())?;
        list(&memories, id)
    }
}
