//! The operations that count uses of memories, list the memories that are due to be shown to a person again, and note how
//! the person responded.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Clock as _, Due, Memory, Outcome as Ended, ReceiptId, SystemClock, Use};

use crate::ops::{
    Operation, Result, Row,
    call::{Call, set},
    memories::{OfMemory, name::MemoryName},
    page::{Limit, Page},
    row,
    spec::{Again, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<MemoryUsed>(), row::<DueList>(), row::<MemoryResurfaced>(), row::<MemoryDismiss>()]
}

/// A report that a memory was used.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UseRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// How the use ended. Default: unknown.
    pub outcome: Option<Ended>,
    /// The session in which the memory was used: the caller's key, or `id:` and its id. Default: the receipt's.
    pub session: Option<String>,
    /// The project for which the memory was used, at most 256 bytes. Default: the session's.
    pub project: Option<String>,
    /// The receipt of the context that showed the memory. Each context rates a memory only once.
    pub receipt: Option<ReceiptId>,
    /// The task in which the memory was used, by the caller's id, at most 256 bytes.
    pub task_id: Option<String>,
    /// The task's name for people, at most 256 bytes.
    pub task_name: Option<String>,
    /// What triggered the use, at most 1,024 bytes.
    pub trigger: Option<String>,
    /// The caller's own id for this report, unique among the user's episodes, at most 256 bytes. A repeated report counts
    /// once.
    pub caller_id: Option<String>,
}

/// Counts a use of a memory.
#[derive(Debug)]
pub struct MemoryUsed;

impl Operation for MemoryUsed {
    const SPEC: Spec = Spec {
        again: Again::WithCallerId,
        ..Spec::changes(
            "memory_used",
            "Count a use of a memory, and rate the memory by its outcome: what helped is believed more.",
            Route::post("/v1/users/{user}/memories/{memory}/uses"),
        )
    };
    type Request = UseRequest;
    type Response = Memory;

    fn run(call: Call, request: UseRequest) -> Result<Memory> {
        let memories = call.memories()?;
        let session = call.session_id(request.session.as_deref())?;
        let report = request.outcome.map_or_else(Use::default, Use::of);
        let report = set(report, session, Use::session);
        let report = set(report, request.project, Use::project);
        let report = set(report, request.receipt, Use::receipt);
        let report = set(report, request.task_id, Use::task_id);
        let report = set(report, request.task_name, Use::task_name);
        let report = set(report, request.trigger, Use::trigger);
        let report = set(report, request.caller_id, Use::caller_id);
        Ok(memories.used(request.memory.id(&memories)?, report)?)
    }
}

/// The day for which due memories are listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DueRequest {
    /// The day (UTC), such as `2026-11-25`. Default: today.
    pub on: Option<NaiveDate>,
    /// Maximum number of memories, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
}

/// Lists the memories that are due to be shown to a person.
#[derive(Debug)]
pub struct DueList;

impl Operation for DueList {
    const SPEC: Spec = Spec::reads(
        "due_list",
        "The memories due to be shown to a person again on a day, longest due first.",
        Route::get("/v1/users/{user}/due"),
    );
    type Request = DueRequest;
    type Response = Page<Due>;

    fn run(call: Call, request: DueRequest) -> Result<Page<Due>> {
        let on = request.on.unwrap_or_else(|| SystemClock.now().date_naive());
        let limit = request.limit.unwrap_or_default().checked()?;
        Ok(Page::whole(call.memories()?.due(on, limit)?))
    }
}

/// Notes that a person looked at a memory.
#[derive(Debug)]
pub struct MemoryResurfaced;

impl Operation for MemoryResurfaced {
    const SPEC: Spec = Spec::changes(
        "memory_resurfaced",
        "Note that a person looked at a memory again; counts once a day.",
        Route::post("/v1/users/{user}/memories/{memory}/resurfaced"),
    );
    type Request = OfMemory;
    type Response = Memory;

    fn run(call: Call, request: OfMemory) -> Result<Memory> {
        let memories = call.memories()?;
        Ok(memories.resurfaced(request.memory.id(&memories)?)?)
    }
}

/// Notes that a person does not want to see a memory now.
#[derive(Debug)]
pub struct MemoryDismiss;

impl Operation for MemoryDismiss {
    const SPEC: Spec = Spec::changes(
        "memory_dismiss",
        "Note that a person does not want to see a memory now; counts once a day, and the third time is final.",
        Route::post("/v1/users/{user}/memories/{memory}/dismiss"),
    );
    type Request = OfMemory;
    type Response = Memory;

    fn run(call: Call, request: OfMemory) -> Result<Memory> {
        let memories = call.memories()?;
        Ok(memories.dismiss(request.memory.id(&memories)?)?)
    }
}
