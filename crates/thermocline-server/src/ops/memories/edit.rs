//! The operations that edit, pin and unpin memories by hand, and that undo operations on memories.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{
    Edit, ErrorKind, Frequency, GroupId, InformationType, Memory, MemoryId, MemoryKind, Origin, Procedure,
    Resurfacing, TaskType, Undone, Volatility, blocking::Memories,
};

use crate::ops::{
    Operation, Result, Row,
    call::{Call, set},
    memories::{OfMemory, content::MAX_WINDOW_S, name::MemoryName},
    problem::{Code, Problem},
    row,
    sessions::stated,
    spec::{Again, Route, Spec, Tool},
};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row::<MemoryEdit>(),
        row::<MemoryPin>(),
        row::<MemoryUnpin>(),
        row::<MemoryUndo>(),
        row::<UndoGroup>(),
    ]
}

/// The fields of a memory to change. Fields that are missing or null stay as they are, except where null clears the
/// field. Some changes affect other fields too, as their descriptions say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The revision that the editor has read. If the memory has another revision now, nothing is changed.
    pub expected_revision: Option<u32>,
    /// The origin of the edit. Default: the caller's own. Only that origin, tool, document, or a less trusted origin is
    /// accepted.
    pub origin: Option<Origin>,
    /// The new kind.
    pub kind: Option<MemoryKind>,
    /// The new title, of 1 to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub title: Option<String>,
    /// The new text, at most 64 KiB. The old summary is removed. After a new title or text, entities that nobody set are
    /// derived again.
    #[schemars(length(min = 1))]
    pub content: Option<String>,
    /// The new summary; an empty one removes it.
    pub summary: Option<String>,
    /// The new steps; null removes them.
    #[serde(default, deserialize_with = "stated")]
    pub procedure: Option<Option<Procedure>>,
    /// The new tags, replacing the existing ones.
    pub tags: Option<Vec<String>>,
    /// The new entities, replacing the existing ones.
    pub entities: Option<Vec<String>>,
    /// The new frequency; an edit need not wait until the memory settles by itself. If the memory's trust or volatility
    /// does not allow it, the edit is refused as a conflict.
    pub frequency: Option<Frequency>,
    /// The new importance.
    #[schemars(range(min = 0, max = 1))]
    pub importance: Option<f64>,
    /// The new confidence.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// The new reliability, from 0 to 1; null: not assessed.
    #[serde(default, deserialize_with = "stated")]
    pub reliability: Option<Option<f64>>,
    /// The new consolidation threshold, from 0 to 1; null: by the memory's frequency.
    #[serde(default, deserialize_with = "stated")]
    pub consolidation_threshold: Option<Option<f64>>,
    /// The new type of information. A volatility that is the old type's default becomes the new type's default.
    pub information_type: Option<InformationType>,
    /// The new volatility. A memory that is too volatile for its frequency falls back to the frequency that the volatility
    /// allows.
    pub volatility: Option<Volatility>,
    /// The new validity window, in seconds; null: by the memory's volatility.
    #[serde(default, deserialize_with = "stated")]
    #[schemars(extend("maximum" = MAX_WINDOW_S))]
    pub validity_window_s: Option<Option<u64>>,
    /// Whether the memory is kept from fading.
    pub pinned: Option<bool>,
    /// The new project; null: none, so that the memory applies to all projects.
    #[serde(default, deserialize_with = "stated")]
    pub project: Option<Option<String>>,
    /// The new slot; null: none.
    #[serde(default, deserialize_with = "stated")]
    pub goal_signature: Option<Option<String>>,
    /// The new type of task; null: none.
    #[serde(default, deserialize_with = "stated")]
    pub task_type: Option<Option<TaskType>>,
    /// Whether the memory is shown to a person again after a time.
    pub resurfacing: Option<Resurfacing>,
}

impl EditRequest {
    fn into_edit(self, origin: Origin) -> Edit {
        let edit = Edit::default().origin(origin);
        let edit = set(edit, self.expected_revision, Edit::expected_revision);
        let edit = set(edit, self.kind, Edit::kind);
        let edit = set(edit, self.title, Edit::title);
        let edit = set(edit, self.content, Edit::content);
        let edit = set(edit, self.summary, Edit::summary);
        let edit = set(edit, self.procedure, Edit::procedure);
        let edit = set(edit, self.tags, Edit::tags);
        let edit = set(edit, self.entities, Edit::entities);
        let edit = set(edit, self.frequency, Edit::frequency);
        let edit = set(edit, self.importance, Edit::importance);
        let edit = set(edit, self.confidence, Edit::confidence);
        let edit = set(edit, self.reliability, Edit::reliability);
        let edit = set(edit, self.consolidation_threshold, Edit::consolidation_threshold);
        let edit = set(edit, self.information_type, Edit::information_type);
        let edit = set(edit, self.volatility, Edit::volatility);
        let window = self.validity_window_s.map(|window| window.map(Duration::from_secs));
        let edit = set(edit, window, Edit::validity_window);
        let edit = set(edit, self.pinned, Edit::pinned);
        let edit = set(edit, self.project, |edit, project| edit.project(project.as_deref()));
        let edit = set(edit, self.goal_signature, |edit, slot| edit.goal_signature(slot.as_deref()));
        let edit = set(edit, self.task_type, Edit::task_type);
        set(edit, self.resurfacing, Edit::resurfacing)
    }
}

/// Edits a memory. If the edit fails because of the expected revision, returns a different problem than for other
/// conflicts.
fn edit(memories: &Memories, id: MemoryId, edit: Edit) -> Result<Memory> {
    let expected = edit.expected_revision;
    match memories.edit(id, edit) {
        Err(error) if error.kind() == ErrorKind::Conflict && expected.is_some() => {
            let now = memories.get(id)?.revision;
            if Some(now) == expected {
                return Err(error.into());
            }
            let detail = format!("the memory is now at revision {now}; read it again");
            Err(Problem {
                pointer: Some("/expected_revision".to_owned()),
                ..Problem::new(Code::ChangedSince, detail)
            })
        }
        edited => Ok(edited?),
    }
}

/// Edits a memory.
#[derive(Debug)]
pub struct MemoryEdit;

impl Operation for MemoryEdit {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_update", title: "Correct" }),
        ..Spec::changes(
            "memory_edit",
            "Change the named fields of a memory, and what follows from them; it can be undone.",
            Route::patch("/v1/users/{user}/memories/{memory}"),
        )
    };
    type Request = EditRequest;
    type Response = Memory;

    fn run(call: Call, request: EditRequest) -> Result<Memory> {
        let origin = call.origin(request.origin)?;
        let memories = call.memories()?;
        let id = request.memory.id(&memories)?;
        edit(&memories, id, request.into_edit(origin))
    }
}

/// A memory to pin or unpin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The revision that the caller has read. If the memory has another revision now, nothing is changed.
    pub expected_revision: Option<u32>,
}

impl PinRequest {
    fn pin(self, call: &Call, pinned: bool) -> Result<Memory> {
        let memories = call.memories()?;
        edit(
            &memories,
            self.memory.id(&memories)?,
            set(Edit::default().pinned(pinned), self.expected_revision, Edit::expected_revision),
        )
    }
}

/// Pins a memory.
#[derive(Debug)]
pub struct MemoryPin;

impl Operation for MemoryPin {
    const SPEC: Spec = Spec::changes(
        "memory_pin",
        "Keep a memory from fading, and from being archived by a rule.",
        Route::put("/v1/users/{user}/memories/{memory}/pin"),
    );
    type Request = PinRequest;
    type Response = Memory;

    fn run(call: Call, request: PinRequest) -> Result<Memory> {
        request.pin(&call, true)
    }
}

/// Unpins a memory.
#[derive(Debug)]
pub struct MemoryUnpin;

impl Operation for MemoryUnpin {
    const SPEC: Spec = Spec::changes(
        "memory_unpin",
        "Let a memory fade again.",
        Route::delete("/v1/users/{user}/memories/{memory}/pin"),
    );
    type Request = PinRequest;
    type Response = Memory;

    fn run(call: Call, request: PinRequest) -> Result<Memory> {
        request.pin(&call, false)
    }
}

/// Undoes a memory's newest operation that is not undone yet.
#[derive(Debug)]
pub struct MemoryUndo;

impl Operation for MemoryUndo {
    const SPEC: Spec = Spec {
        again: Again::Another,
        ..Spec::changes(
            "memory_undo",
            "Undo the newest operation on a memory, in all memories that it changed; repeat to go further back.",
            Route::post("/v1/users/{user}/memories/{memory}/undo"),
        )
    };
    type Request = OfMemory;
    type Response = Undone;

    fn run(call: Call, request: OfMemory) -> Result<Undone> {
        let memories = call.memories()?;
        Ok(memories.undo(request.memory.id(&memories)?)?)
    }
}

/// Names an operation on memories.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfGroup {
    /// The operation's id: the `group` of its response, or of a change in the history of a memory.
    pub group: GroupId,
}

/// Undoes an operation by its id.
#[derive(Debug)]
pub struct UndoGroup;

impl Operation for UndoGroup {
    const SPEC: Spec = Spec::changes(
        "group_undo",
        "Undo one operation on memories by its id, in all that it changed, or in none.",
        Route::post("/v1/users/{user}/groups/{group}/undo"),
    );
    type Request = OfGroup;
    type Response = Undone;

    fn run(call: Call, request: OfGroup) -> Result<Undone> {
        Ok(call.memories()?.undo_group(request.group)?)
    }
}
