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
        /// It solves the other.
        Solves = "solves",
        /// It causes the other.
        Causes = "causes",
        /// It builds on the other.
        BuildsOn = "builds_on",
        /// It is an alternative to the other.
        AlternativeTo = "alternative_to",
        /// It needs the other.
        DependsOn = "depends_on",
        /// It follows the other.
        Follows = "follows",
        /// They are related.
        RelatedTo = "related_to",
        /// It is part of the other.
        PartOf = "part_of",
        /// They say something similar.
        SimilarTo = "similar_to",
        /// They cannot both hold.
        Contradicts = "contradicts",
        /// It superseded the other.
        Supersedes = "supersedes",
    }
    pub fn from_word;
}

impl EdgeType {
    /// Every type.
    pub const ALL: &[Self] = &Self::EVERY;

    /// Whether it holds in both directions: such an edge is stored once, whichever direction is given.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::AlternativeTo | Self::RelatedTo | Self::SimilarTo | Self::Contradicts)
    }

    /// The strength if none is stated, from 0 to 1: the middle of what the entry paper calls typical. That paper has no
    /// `solves`, `builds_on` or `follows`: `solves` has the strength of the graph paper's own examples, `builds_on` that of
    /// `causes`, and `follows` that of any other relation.
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
        /// It does.
        #[default]
        Accepted = "accepted",
        /// A job proposed it; recall does not follow it.
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
}

impl NewEdge {
    /// An edge of this type.
    pub fn new(edge_type: EdgeType) -> Self {
        Self {
            edge_type,
            strength: None,
            origin: Origin::Assistant,
            context: String::new(),
            description: String::new(),
        }
    }

    /// How strong it is, from 0 to 1. Default: [`EdgeType::default_strength`].
    #[must_use]
    pub fn strength(mut self, strength: f64) -> Self {
        self.strength = Some(strength);
        self
    }

    /// Whose statement it is. Default: [`Origin::Assistant`].
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Why, in one line of at most 1,024 bytes.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }

    /// A text of its own, at most 64 KiB.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

/// How two memories relate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Edge {
    /// Its id.
    pub id: EdgeId,
    /// Where it begins.
    pub from: MemoryId,
    /// Where it ends.
    pub to: MemoryId,
    /// How `from` relates to `to`.
    #[serde(rename = "type")]
    pub edge_type: EdgeType,
    /// How strong it is, from 0 to 1.
    pub strength: f64,
    /// Whether it holds.
    pub status: EdgeStatus,
    /// Whose statement it is.
    pub origin: Origin,
    /// When it was added, by the system clock.
    pub created_at: DateTime<Utc>,
    /// When it was last changed, by the system clock.
    pub updated_at: DateTime<Utc>,
    /// Why, in one line; empty if nobody said.
    pub context: String,
    /// A text of its own; empty if there is none.
    pub description: String,
}

word_enum! {
    /// Which way an edge goes, as seen from a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Direction {
        /// From this memory to the other.
        Outgoing = "outgoing",
        /// From the other to this one.
        Incoming = "incoming",
    }
    pub fn from_word;
}

/// A memory related to another, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Neighbour {
    /// The other memory.
    pub memory_id: MemoryId,
    /// Its title.
    pub title: String,
    /// Its kind.
    pub kind: MemoryKind,
    /// Whether it holds.
    pub status: MemoryStatus,
    /// Which way the edge goes; meaningless for a symmetric edge.
    pub direction: Direction,
    /// The edge between them.
    pub edge: Edge,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The typical ranges of its eight types (entry paper); `caused_by` is `causes` in the other direction.
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
