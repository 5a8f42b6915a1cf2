//! The operations that save a memory, or put one in the place of another or of several.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{MemoryKind, Merged, SaveOutcome, Saved};

use crate::ops::{
    Operation, OperationOutcome, Result, Row,
    call::Call,
    memories::{content::Content, name::MemoryName},
    row,
    spec::{Again, Replaces, Route, Spec, Tool},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<MemorySave>(), row::<MemorySupersede>(), row::<MemorySupersedeBy>(), row::<MemoryMerge>()]
}

fn outcome(saved: &Saved) -> OperationOutcome {
    match saved.outcome {
        SaveOutcome::Known | SaveOutcome::PutAway => OperationOutcome::Known,
        _ => OperationOutcome::Added,
    }
}

/// Saves a memory.
#[derive(Debug)]
pub struct MemorySave;

impl Operation for MemorySave {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_save", title: "Save" }),
        replaces: Replaces::Something,
        ..Spec::adds(
            "memory_save",
            "Save a memory, once: known text is not saved again; in a taken slot it replaces the old memory or waits.",
            Route::post("/v1/users/{user}/memories"),
        )
    };
    type Request = Content;
    type Response = Saved;

    fn run(call: Call, request: Content) -> Result<Saved> {
        let new = request.into_new(&call, MemoryKind::General)?;
        call.save(new)
    }

    fn outcome(saved: &Saved) -> OperationOutcome {
        outcome(saved)
    }
}

/// A memory to replace, and its replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupersedeRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The replacement. By default it has the kind, project, type of task, importance and slot of the old memory; a
    /// replacement of another kind or project does not inherit the slot.
    pub with: Content,
}

/// Saves a memory in place of another.
#[derive(Debug)]
pub struct MemorySupersede;

impl Operation for MemorySupersede {
    const SPEC: Spec = Spec {
        again: Again::WithCallerId,
        replaces: Replaces::Something,
        ..Spec::adds(
            "memory_supersede",
            "Save a memory in place of another one, which is kept as superseded.",
            Route::post("/v1/users/{user}/memories/{memory}/supersede"),
        )
    };
    type Request = SupersedeRequest;
    type Response = Saved;

    fn run(call: Call, request: SupersedeRequest) -> Result<Saved> {
        let memories = call.memories()?;
        let old = request.memory.memory(&memories)?;
        call.note_gone(old.id);
        let new = request.with.into_new(&call, old.kind)?;
        Ok(memories.supersede(old.id, new)?)
    }

    fn outcome(saved: &Saved) -> OperationOutcome {
        outcome(saved)
    }
}

/// Two memories, one of which replaces the other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupersedeByRequest {
    /// The memory to replace.
    pub memory: MemoryName,
    /// The memory that replaces it.
    pub by: MemoryName,
}

/// Replaces a memory with another.
#[derive(Debug)]
pub struct MemorySupersedeBy;

impl Operation for MemorySupersedeBy {
    const SPEC: Spec = Spec::changes(
        "memory_supersede_by",
        "Replace a memory with an existing one; the old one is kept as superseded.",
        Route::put("/v1/users/{user}/memories/{memory}/successor"),
    );
    type Request = SupersedeByRequest;
    type Response = Saved;

    fn run(call: Call, request: SupersedeByRequest) -> Result<Saved> {
        let memories = call.memories()?;
        let (old, by) = (request.memory.id(&memories)?, request.by.id(&memories)?);
        Ok(memories.supersede_by(old, by)?)
    }
}

/// Memories to merge.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// The memories to merge: 2 to 16.
    #[schemars(length(min = 2, max = 16))]
    pub memories: Vec<MemoryName>,
    /// The memory that replaces them. By default, its project, slot, type of task and importance follow from theirs.
    pub into: Content,
}

/// Saves a memory in place of several.
#[derive(Debug)]
pub struct MemoryMerge;

impl Operation for MemoryMerge {
    const SPEC: Spec = Spec {
        again: Again::Another,
        replaces: Replaces::Something,
        ..Spec::adds(
            "memory_merge",
            "Save a memory in place of 2 to 16 others, which are kept as superseded; undo brings them back.",
            Route::post("/v1/users/{user}/memories/merge"),
        )
    };
    type Request = MergeRequest;
    type Response = Merged;

    fn run(call: Call, request: MergeRequest) -> Result<Merged> {
        let memories = call.memories()?;
        let new = request.into.into_new(&call, MemoryKind::General)?;
        let merged = MemoryName::ids(&request.memories, &memories)?;
        Ok(memories.merge(merged, new)?)
    }
}
