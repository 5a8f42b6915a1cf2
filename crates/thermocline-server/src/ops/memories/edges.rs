//! Edges: how two memories relate to each other.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Edge, EdgeId, EdgeType, Neighbour, NewEdge, Origin};

use crate::ops::{
    Operation, Result, Row,
    call::{Call, set},
    memories::{lists::MemoryPageRequest, name::MemoryName},
    page::{Page, PageRequest},
    row,
    spec::{Effect, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<EdgeSet>(), row::<EdgeShow>(), row::<EdgeRemove>(), row::<Neighbours>()]
}

/// An edge to add between two memories.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdgeSetRequest {
    /// The memory at which the edge starts.
    pub from: MemoryName,
    /// The relation: for example, `from` solves `to`. The type `supersedes` is refused: superseding a memory adds that
    /// edge.
    #[serde(rename = "type")]
    pub edge_type: EdgeType,
    /// The memory at which the edge ends.
    pub to: MemoryName,
    /// How strong the relation is. Default: by its type.
    #[schemars(range(min = 0, max = 1))]
    pub strength: Option<f64>,
    /// The reason for the edge, in one line of at most 1,024 bytes.
    pub context: Option<String>,
    /// A longer description, at most 64 KiB.
    pub description: Option<String>,
    /// The origin of the edge. Default: the caller's own. Only that origin, tool, document, or a less trusted origin is
    /// accepted.
    pub origin: Option<Origin>,
}

/// Relates two memories.
#[derive(Debug)]
pub struct EdgeSet;

impl Operation for EdgeSet {
    const SPEC: Spec = Spec::changes(
        "edge_set",
        "Relate one memory to another; an existing edge of this type is overwritten.",
        Route::put("/v1/users/{user}/edges"),
    );
    type Request = EdgeSetRequest;
    type Response = Edge;

    fn run(call: Call, request: EdgeSetRequest) -> Result<Edge> {
        let edge = NewEdge::new(request.edge_type).origin(call.origin(request.origin)?);
        let edge = set(edge, request.strength, NewEdge::strength);
        let edge = set(edge, request.context, NewEdge::context);
        let edge = set(edge, request.description, NewEdge::description);
        let memories = call.memories()?;
        let (from, to) = (request.from.id(&memories)?, request.to.id(&memories)?);
        Ok(memories.relate(from, edge, to)?)
    }
}

/// Names an edge.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfEdge {
    /// The edge's id.
    pub edge: EdgeId,
}

/// Shows an edge.
#[derive(Debug)]
pub struct EdgeShow;

impl Operation for EdgeShow {
    const SPEC: Spec = Spec::reads(
        "edge_show",
        "One edge between two memories.",
        Route::get("/v1/users/{user}/edges/{edge}"),
    );
    type Request = OfEdge;
    type Response = Edge;

    fn run(call: Call, request: OfEdge) -> Result<Edge> {
        Ok(call.memories()?.edge(request.edge)?)
    }
}

/// Removes an edge.
#[derive(Debug)]
pub struct EdgeRemove;

impl Operation for EdgeRemove {
    const SPEC: Spec = Spec {
        effect: Effect::Destroys,
        ..Spec::changes(
            "edge_remove",
            "Remove an edge between two memories permanently, and return it.",
            Route::delete("/v1/users/{user}/edges/{edge}"),
        )
    };
    type Request = OfEdge;
    type Response = Edge;

    fn run(call: Call, request: OfEdge) -> Result<Edge> {
        let memories = call.memories()?;
        let edge = memories.edge(request.edge)?;
        memories.unrelate(request.edge)?;
        Ok(edge)
    }
}

/// Lists a memory's neighbours.
#[derive(Debug)]
pub struct Neighbours;

impl Operation for Neighbours {
    const SPEC: Spec = Spec::reads(
        "memory_neighbours",
        "A memory's neighbours along edges in either direction, the strongest first.",
        Route::get("/v1/users/{user}/memories/{memory}/neighbours"),
    );
    type Request = MemoryPageRequest;
    type Response = Page<Neighbour>;

    fn run(call: Call, request: MemoryPageRequest) -> Result<Page<Neighbour>> {
        let asked: PageRequest<EdgeId> =
            PageRequest::new("memory_neighbours", request.limit, request.cursor.as_ref())?;
        let memories = call.memories()?;
        let memory = request.memory.id(&memories)?;
        let neighbours = memories.neighbours(memory, asked.after, asked.to_read());
        Ok(asked.page(neighbours.map_err(|error| asked.failed(error))?, |neighbour| neighbour.edge.id))
    }
}
