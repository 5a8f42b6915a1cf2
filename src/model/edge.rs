//! Edges: how two memories of one user relate.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{EdgeId, MemoryId},
    memory::words::{MemoryKind, MemoryStatus},
    turn::Origin,
    word_enum::word_enum,
};

word_enum! {
    /// How one memory relates to another: `from` solves `to`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum EdgeType {
        /// The first memory solves the second.
        Solves = "solves",
        /// The first memory causes the second.
        Causes = "causes",
        /// The first memory builds on the second.
        BuildsOn = "builds_on",
        /// The two memories are alternatives.
        AlternativeTo = "alternative_to",
        /// The first memory needs the second.
        DependsOn = "depends_on",
        /// The first memory follows the second.
        Follows = "follows",
        /// The two memories are related.
        RelatedTo = "related_to",
        /// The first memory is part of the second.
        PartOf = "part_of",
        /// The two memories say something similar.
        SimilarTo = "similar_to",
        /// The two memories cannot both hold.
        Contradicts = "contradicts",
        /// The first memory superseded the second.
        Supersedes = "supersedes",
    }
    pub fn from_word;
}

impl EdgeType {
    /// Every type.
    pub const ALL: &[Self] = &Self::EVERY;

    /// Returns whether the relation holds in both directions. If it does, an edge is stored once, whichever direction is
    /// given.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::AlternativeTo | Self::RelatedTo | Self::SimilarTo | Self::Contradicts)
    }

    /// Returns the strength, from 0 to 1, of an edge for which none is stated: the middle of the range that the entry
    /// paper calls typical. That paper has no `solves`, `builds_on` or `follows`. `solves` has the strength in the
    /// cognitive paper's own examples, `builds_on` that of `causes`, and `follows` that of `related_to`.
    pub fn default_strength(self) -> f64 {
        match self {
            Self::Supersedes => 1.0,
            Self::PartOf | Self::Contradicts => 0.9,
            Self::DependsOn | Self::Solves => 0.8,
            Self::Causes | Self::AlternativeTo | Self::BuildsOn => 0.7,
            Self::SimilarTo => 0.65,
            Self::RelatedTo | Self::Follows => 0.5,
        }
    }
}

word_enum! {
    /// Whether an edge holds.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum EdgeStatus {
        /// The edge holds.
        #[default]
        Accepted = "accepted",
        /// [`Memories::reflect`](crate::Memories::reflect) proposed the edge; recall does not follow it. Stating the same
        /// edge ([`Memories::relate`](crate::Memories::relate)) accepts it.
        Proposed = "proposed",
    }
    pub fn from_word;
}

/// An edge to add between two memories.
///
/// ```
/// use thermocline::{EdgeType, NewEdge};
/// let edge = NewEdge::new(EdgeType::Solves).context("Keepalive prevents idle disconnections");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewEdge {
    pub(crate) edge_type: EdgeType,
    pub(crate) strength: Option<f64>,
    pub(crate) origin: Origin,
    pub(crate) context: String,
    pub(crate) description: String,
    /// The edge's own id, if it has one already. Otherwise, or if another edge has it, it gets a new one.
    pub(crate) id: Option<EdgeId>,
}

impl NewEdge {
    /// Creates an edge of this type.
    pub fn new(edge_type: EdgeType) -> Self {
        Self {
            edge_type,
            strength: None,
            origin: Origin::Assistant,
            context: String::new(),
            description: String::new(),
            id: None,
        }
    }

    /// Sets how strong the edge is, from 0 to 1. Default: [`EdgeType::default_strength`].
    #[must_use]
    pub fn strength(mut self, strength: f64) -> Self {
        self.strength = Some(strength);
        self
    }

    /// Sets whose statement the edge is. Default: [`Origin::Assistant`].
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the reason for the edge, at most 1,024 bytes. It should be one line; line breaks are not
    /// refused.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }

    /// Sets a description, at most 64 KiB.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

/// A relation from one memory to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Edge {
    /// The edge's id.
    pub id: EdgeId,
    /// The memory at which the edge begins.
    pub from: MemoryId,
    /// The memory at which the edge ends.
    pub to: MemoryId,
    /// How `from` relates to `to`.
    #[serde(rename = "type")]
    pub edge_type: EdgeType,
    /// How strong the edge is, from 0 to 1.
    pub strength: f64,
    /// Whether the edge holds or is only proposed.
    pub status: EdgeStatus,
    /// Whose statement the edge is.
    pub origin: Origin,
    /// When the edge was added, by the system clock.
    pub created_at: DateTime<Utc>,
    /// When the edge was last changed, by the system clock.
    pub updated_at: DateTime<Utc>,
    /// The reason for the edge, usually one line; empty if none was given.
    pub context: String,
    /// A description of the edge; empty if there is none.
    pub description: String,
}

word_enum! {
    /// The direction of an edge, as seen from a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Direction {
        /// The edge leads from this memory to the other.
        Outgoing = "outgoing",
        /// The edge leads from the other memory to this one.
        Incoming = "incoming",
    }
    pub fn from_word;
}

/// A memory related to another one, and the edge between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Neighbour {
    /// The other memory.
    pub memory_id: MemoryId,
    /// The other memory's title.
    pub title: String,
    /// The other memory's kind.
    pub kind: MemoryKind,
    /// The other memory's status: whether it holds.
    pub status: MemoryStatus,
    /// The direction of the edge; meaningless for a symmetric edge.
    pub direction: Direction,
    /// The edge between the two memories.
    pub edge: Edge,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry paper gives typical ranges for eight types; its `caused_by` is `causes` in the other direction.
    #[test]
    fn an_edge_has_the_middle_of_what_is_typical_of_its_type() {
        let typical = [
            (EdgeType::RelatedTo, 0.3, 0.7),
            (EdgeType::DependsOn, 0.7, 0.9),
            (EdgeType::PartOf, 0.8, 1.0),
            (EdgeType::Causes, 0.6, 0.8),
            (EdgeType::SimilarTo, 0.5, 0.8),
            (EdgeType::Contradicts, 0.8, 1.0),
            (EdgeType::Supersedes, 1.0, 1.0),
            (EdgeType::AlternativeTo, 0.6, 0.8),
        ];
        for (edge_type, least, most) in typical {
            let off = edge_type.default_strength() - f64::midpoint(least, most);
            assert!(off.abs() < 1e-9, "{edge_type:?}");
        }
    }
}
