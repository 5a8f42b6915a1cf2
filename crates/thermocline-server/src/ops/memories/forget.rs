//! The operations that forget memories, which can be undone, and that erase them, which cannot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{
    Erased, Forgotten, Frequency, GroupId, Memory, MemoryFilter, MemoryId, MemoryKind, MemoryStatus, Origin,
    TaskType, Trust, blocking::Memories,
};

use crate::ops::{
    Operation, OperationOutcome, Result, Row,
    call::{Call, set},
    memories::{OfMemory, name::MemoryName},
    row,
    spec::{Class, Route, Spec, Tool},
};

/// The number of memories that a dry run reads at a time.
const PAGE: u32 = 1_000;

pub(super) fn rows() -> Vec<Row> {
    vec![row::<MemoryForget>(), row::<ForgetAll>(), row::<MemoryErase>()]
}

/// The result of forgetting, or of a dry run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forgetting {
    /// Whether this was a dry run, which shows what would be forgotten and changes nothing.
    pub dry_run: bool,
    /// The operation's id. Undoing the operation, or the change to any of the memories, brings all of them back. null if
    /// nothing was forgotten.
    pub group: Option<GroupId>,
    /// The memories that were or would be forgotten, newest first.
    pub memories: Vec<MemoryId>,
}

impl From<Forgotten> for Forgetting {
    fn from(Forgotten { group, memories, .. }: Forgotten) -> Self {
        Self { dry_run: false, group, memories }
    }
}

/// A memory to forget.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// Whether to only show what would be forgotten. Default: no.
    #[serde(default)]
    pub dry_run: bool,
}

/// Forgets a memory.
#[derive(Debug)]
pub struct MemoryForget;

impl Operation for MemoryForget {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_forget", title: "Forget" }),
        ..Spec::changes(
            "memory_forget",
            "Forget a memory: it is kept, but hidden from default lists and recall; undo brings it back.",
            Route::post("/v1/users/{user}/memories/{memory}/forget"),
        )
    };
    type Request = ForgetRequest;
    type Response = Forgetting;

    fn run(call: Call, request: ForgetRequest) -> Result<Forgetting> {
        let memories = call.memories()?;
        if !request.dry_run {
            let id = request.memory.id(&memories)?;
            call.note_gone(id);
            return Ok(memories.forget(id)?.into());
        }
        let memory = request.memory.memory(&memories)?;
        let goes = would_forget(call.caller.origin, &memory);
        let memories = if goes { vec![memory.id] } else { Vec::new() };
        Ok(Forgetting { dry_run: true, group: None, memories })
    }
}

/// Whether a call by this origin would forget the memory. A memory that is forgotten or in quarantine stays as it is, and so
/// does one that is trusted more than the caller.
pub(crate) fn would_forget(origin: Origin, memory: &Memory) -> bool {
    let stays = matches!(memory.status, MemoryStatus::Forgotten | MemoryStatus::Quarantined);
    !stays && Trust::of(origin).may_change(memory.trust)
}

/// Selects memories to forget; all conditions must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetAllRequest {
    /// Only memories of these kinds. Default: any.
    #[serde(default)]
    pub kinds: Vec<MemoryKind>,
    /// Only memories of these frequencies. Default: any.
    #[serde(default)]
    pub frequencies: Vec<Frequency>,
    /// Only memories of these statuses; an empty list means any. Default: active.
    pub statuses: Option<Vec<MemoryStatus>>,
    /// Only memories for this type of task.
    pub task_type: Option<TaskType>,
    /// Only memories in this project; memories without a project stay.
    pub project: Option<String>,
    /// Only memories with every one of these tags, in any spelling.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether to only show what would be forgotten. Default: no.
    #[serde(default)]
    pub dry_run: bool,
}

impl ForgetAllRequest {
    fn into_filter(self) -> MemoryFilter {
        let filter = MemoryFilter::default().kinds(self.kinds).frequencies(self.frequencies).project_alone();
        let filter = set(filter, self.statuses, MemoryFilter::statuses);
        let filter = set(filter, self.task_type, MemoryFilter::task_type);
        let filter = set(filter, self.project, MemoryFilter::project);
        self.tags.into_iter().fold(filter, MemoryFilter::tag)
    }
}

/// Forgets all matching memories, except those in quarantine and those that the caller may not change.
#[derive(Debug)]
pub struct ForgetAll;

impl Operation for ForgetAll {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::changes(
            "memory_forget_all",
            "Forget all memories that match a filter, as one operation, which can be undone.",
            Route::post("/v1/users/{user}/memories/forget"),
        )
    };
    type Request = ForgetAllRequest;
    type Response = Forgetting;

    fn run(call: Call, request: ForgetAllRequest) -> Result<Forgetting> {
        let memories = call.memories()?;
        let dry_run = request.dry_run;
        let filter = request.into_filter();
        if !dry_run {
            return Ok(memories.forget_all(filter)?.into());
        }
        let found = all(&memories, &filter, |memory| would_forget(call.caller.origin, memory))?;
        Ok(Forgetting { dry_run, group: None, memories: found })
    }
}

/// Returns the ids of all memories that match the filter and `goes`, newest first.
fn all(memories: &Memories, filter: &MemoryFilter, goes: impl Fn(&Memory) -> bool) -> Result<Vec<MemoryId>> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = memories.list(filter.clone(), after, PAGE)?;
        let is_last = page.len() < PAGE as usize;
        after = page.last().map(|memory| memory.id);
        found.extend(page.iter().filter(|memory| goes(memory)).map(|memory| memory.id));
        if is_last {
            return Ok(found);
        }
    }
}

/// Erases a memory.
#[derive(Debug)]
pub struct MemoryErase;

impl Operation for MemoryErase {
    const SPEC: Spec = Spec::erases(
        "memory_erase",
        "Erase a memory, by its complete id or key: and the caller's own id, from the file's bytes, with its history, \
         edges and episodes.",
        Route::delete("/v1/users/{user}/memories/{memory}"),
    );
    type Request = OfMemory;
    type Response = Erased;

    fn run(call: Call, request: OfMemory) -> Result<Erased> {
        let memories = call.memories()?;
        let id = request.memory.whole_id(&memories)?;
        call.note_gone(id);
        Ok(memories.erase(id)?)
    }

    fn outcome(erased: &Erased) -> OperationOutcome {
        OperationOutcome::of_erase(erased)
    }
}
