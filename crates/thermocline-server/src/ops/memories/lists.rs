//! The operations that show and list memories, their histories and sources, tags, and entities.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{
    Change, Frequency, Memory, MemoryFilter, MemoryId, MemoryKind, MemorySource, MemoryStatus, TaskType,
    TermCount,
};

use crate::ops::{
    Operation, Result, Row,
    call::{Call, set},
    memories::{OfMemory, name::MemoryName},
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Route, Spec},
    turns::ListRequest,
};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row::<MemoryList>(),
        row::<MemoryShow>(),
        row::<MemoryHistory>(),
        row::<MemorySources>(),
        row::<TagList>(),
        row::<EntityList>(),
    ]
}

/// Selects memories; all conditions must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryListRequest {
    /// Only memories of this kind.
    pub kind: Option<MemoryKind>,
    /// Only memories of this frequency.
    pub frequency: Option<Frequency>,
    /// Only memories of this status. Default: active.
    pub status: Option<MemoryStatus>,
    /// Whether to list memories of any status. Default: no.
    #[serde(default)]
    pub any_status: bool,
    /// Only memories for this type of task.
    pub task_type: Option<TaskType>,
    /// Only memories with at least this confidence.
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: Option<f64>,
    /// Only memories in this project, or without a project.
    pub project: Option<String>,
    /// Whether to leave out memories without a project; used with `project`. Default: no.
    #[serde(default)]
    pub project_alone: bool,
    /// Only memories with this tag, in any spelling.
    pub tag: Option<String>,
    /// Maximum number of memories, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

impl MemoryListRequest {
    fn filter(&self) -> MemoryFilter {
        let filter = set(MemoryFilter::default(), self.kind, |filter, kind| filter.kinds([kind]));
        let filter = set(filter, self.frequency, |filter, frequency| filter.frequencies([frequency]));
        let filter = set(filter, self.status, |filter, status| filter.statuses([status]));
        let filter = if self.any_status { filter.statuses([]) } else { filter };
        let filter = set(filter, self.task_type, MemoryFilter::task_type);
        let filter = set(filter, self.min_confidence, MemoryFilter::min_confidence);
        let filter = set(filter, self.project.as_deref(), MemoryFilter::project);
        let filter = if self.project_alone { filter.project_alone() } else { filter };
        set(filter, self.tag.as_deref(), MemoryFilter::tag)
    }
}

/// Lists memories.
#[derive(Debug)]
pub struct MemoryList;

impl Operation for MemoryList {
    const SPEC: Spec = Spec::reads(
        "memory_list",
        "The memories that match a filter, newest first; by default all active ones.",
        Route::get("/v1/users/{user}/memories"),
    );
    type Request = MemoryListRequest;
    type Response = Page<Memory>;

    fn run(call: Call, request: MemoryListRequest) -> Result<Page<Memory>> {
        let asked: PageRequest<MemoryId> =
            PageRequest::new("memory_list", request.limit, request.cursor.as_ref())?;
        let memories = call.memories()?.list(request.filter(), asked.after, asked.to_read());
        Ok(asked.page(memories.map_err(|error| asked.failed(error))?, |memory| memory.id))
    }
}

/// Shows a memory.
#[derive(Debug)]
pub struct MemoryShow;

impl Operation for MemoryShow {
    const SPEC: Spec = Spec::reads(
        "memory_show",
        "One memory, whatever its status.",
        Route::get("/v1/users/{user}/memories/{memory}"),
    );
    type Request = OfMemory;
    type Response = Memory;

    fn run(call: Call, request: OfMemory) -> Result<Memory> {
        request.memory.memory(&call.memories()?)
    }
}

/// Asks for a page of a memory's history or neighbours.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPageRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// Maximum number of entries, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists the changes of a memory.
#[derive(Debug)]
pub struct MemoryHistory;

impl Operation for MemoryHistory {
    const SPEC: Spec = Spec::reads(
        "memory_history",
        "A memory's changes, newest first: by whom, why, and the previous values.",
        Route::get("/v1/users/{user}/memories/{memory}/history"),
    );
    type Request = MemoryPageRequest;
    type Response = Page<Change>;

    fn run(call: Call, request: MemoryPageRequest) -> Result<Page<Change>> {
        let asked: PageRequest<u32> =
            PageRequest::new("memory_history", request.limit, request.cursor.as_ref())?;
        let memories = call.memories()?;
        let changes = memories.history(request.memory.id(&memories)?, asked.after, asked.to_read())?;
        Ok(asked.page(changes, |change| change.change_no))
    }
}

/// Lists a memory's sources.
#[derive(Debug)]
pub struct MemorySources;

impl Operation for MemorySources {
    const SPEC: Spec = Spec::reads(
        "memory_sources",
        "What a memory was made from: turns, other memories, calls.",
        Route::get("/v1/users/{user}/memories/{memory}/sources"),
    );
    type Request = OfMemory;
    type Response = Page<MemorySource>;

    fn run(call: Call, request: OfMemory) -> Result<Page<MemorySource>> {
        let memories = call.memories()?;
        Ok(Page::whole(memories.sources(request.memory.id(&memories)?)?))
    }
}

/// Lists the tags of active memories.
#[derive(Debug)]
pub struct TagList;

impl Operation for TagList {
    const SPEC: Spec = Spec::reads(
        "tag_list",
        "The tags of the user's active memories, with counts.",
        Route::get("/v1/users/{user}/tags"),
    );
    type Request = ListRequest;
    type Response = Page<TermCount>;

    fn run(call: Call, request: ListRequest) -> Result<Page<TermCount>> {
        let asked: PageRequest<String> =
            PageRequest::new("tag_list", request.limit, request.cursor.as_ref())?;
        let tags = call.memories()?.tags(asked.after.as_deref(), asked.to_read())?;
        Ok(asked.page(tags, |tag| tag.term.clone()))
    }
}

/// Lists the entities of active memories.
#[derive(Debug)]
pub struct EntityList;

impl Operation for EntityList {
    const SPEC: Spec = Spec::reads(
        "entity_list",
        "The names that the user's active memories are about, with counts.",
        Route::get("/v1/users/{user}/entities"),
    );
    type Request = ListRequest;
    type Response = Page<TermCount>;

    fn run(call: Call, request: ListRequest) -> Result<Page<TermCount>> {
        let asked: PageRequest<String> =
            PageRequest::new("entity_list", request.limit, request.cursor.as_ref())?;
        let entities = call.memories()?.entities(asked.after.as_deref(), asked.to_read())?;
        Ok(asked.page(entities, |entity| entity.term.clone()))
    }
}
