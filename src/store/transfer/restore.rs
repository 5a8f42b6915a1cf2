//! Converts memories that come from elsewhere, such as a vault, to the lines of an export, so that they are checked in the
//! same way and written by the same act.

use std::collections::HashMap;

use crate::{
    error::Error,
    model::{
        change::{Change, ChangeOp},
        edge::{Edge, EdgeType},
        episode::Episode,
        ids::{GroupId, MemoryId, ReviewId},
        memory::{
            known::Memory,
            source::{MemorySource, SourceName},
            words::MemoryStatus,
        },
        review::ReviewKind,
    },
    store::{
        rows::memories::transfer::ReviewRow,
        transfer::{
            DerivedBy, FORMAT_WITH_MEMORIES, TransferLine, Transferred, check,
            import::Import,
            memories::{ChangeLine, EpisodeLine, KnowledgeLine},
        },
    },
};

/// The name recorded as the maker of restored memories.
const MAKER: &str = "import";

/// Memories to restore, in the order of saving. Each has one birth among the episodes.
#[derive(Debug, Default)]
pub(crate) struct RestoredMemories {
    pub(crate) memories: Vec<Memory>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) episodes: Vec<Episode>,
}

impl RestoredMemories {
    /// Converts the memories to an import, and checks it.
    ///
    /// Errors: the first problem, with the id of the memory that it concerns, if there is one.
    pub(crate) fn into_import(self) -> std::result::Result<Import, (Option<MemoryId>, Error)> {
        // No rules derived any of this.
        let rules = Some(DerivedBy { critical: u32::MAX, anchors: u32::MAX });
        let mut lines = vec![TransferLine::Memory { format: FORMAT_WITH_MEMORIES, rules }];
        let counts = Transferred {
            memories: self.memories.len() as u64,
            edges: self.edges.len() as u64,
            episodes: self.episodes.len() as u64,
            ..Transferred::default()
        };
        let mut add = |line: TransferLine,
                       of: Option<MemoryId>|
         -> std::result::Result<(), (Option<MemoryId>, Error)> {
            check::check_line(&line, lines.len() + 1, 0).map_err(|error| (of, error))?;
            lines.push(line);
            Ok(())
        };
        let mut asked = asked(&self.memories, &self.edges);
        for memory in self.memories {
            let id = memory.id;
            let reviews = asked.remove(&id).unwrap_or_default();
            add(TransferLine::Knowledge(Box::new(knowledge(memory, reviews))), Some(id))?;
        }
        for edge in self.edges {
            let from = edge.from;
            add(TransferLine::Edge(edge), Some(from))?;
        }
        for episode in self.episodes {
            let id = episode.memory_id;
            add(TransferLine::Episode(Box::new(line_of(episode))), id)?;
        }
        check::check_whole(&lines, counts).map_err(|error| (None, error))?;
        Ok(Import { lines, counts })
    }
}

/// Returns the open reviews of the memories, by the archived memory: one for each contradiction between an archived and an
/// active memory.
fn asked(memories: &[Memory], edges: &[Edge]) -> HashMap<MemoryId, Vec<ReviewRow>> {
    let known: HashMap<MemoryId, &Memory> = memories.iter().map(|memory| (memory.id, memory)).collect();
    let mut asked: HashMap<MemoryId, Vec<ReviewRow>> = HashMap::new();
    for edge in edges.iter().filter(|edge| edge.edge_type == EdgeType::Contradicts) {
        let (Some(from), Some(to)) = (known.get(&edge.from), known.get(&edge.to)) else { continue };
        let (waits, holds) = match (from.status, to.status) {
            (MemoryStatus::Archived, MemoryStatus::Active) => (from, to),
            (MemoryStatus::Active, MemoryStatus::Archived) => (to, from),
            _ => continue,
        };
        asked.entry(waits.id).or_default().push(ReviewRow {
            id: ReviewId::new(edge.created_at),
            kind: ReviewKind::Contradiction,
            other_id: Some(holds.id),
            opened_at: edge.created_at,
            why: format!("trust {} against {}", waits.trust.number(), holds.trust.number()),
            decision: None,
            decided_at: None,
            decided_by: None,
        });
    }
    asked
}

/// Converts a memory to a line. The import is its only change and its only source.
fn knowledge(memory: Memory, reviews: Vec<ReviewRow>) -> KnowledgeLine {
    let group = GroupId::new(memory.created_at);
    let saved = Change {
        memory_id: memory.id,
        change_no: 1,
        op: ChangeOp::Save,
        group_id: group,
        made_by: MAKER.to_owned(),
        made_at: memory.created_at,
        old_value: None,
        // Always `active`, because a memory that was saved as `archived` waits for a person.
        new_value: Some(MemoryStatus::Active.as_str().to_owned()),
        reason: String::new(),
        before: None,
        undone_by: None,
    };
    let source = MemorySource {
        from: SourceName::Import(*group.as_uuid()),
        origin: memory.origin,
        made_by: MAKER.to_owned(),
        said_at: memory.said_at,
        quote: String::new(),
    };
    KnowledgeLine {
        id: memory.id,
        kind: memory.kind,
        status: memory.status,
        superseded_by: memory.superseded_by,
        frequency: memory.frequency,
        frequency_since: memory.frequency_since,
        importance: memory.importance,
        confidence: memory.confidence,
        reliability: memory.reliability,
        consolidation_threshold: memory.consolidation_threshold,
        information_type: memory.information_type,
        volatility: memory.volatility,
        validity_window_s: memory.validity_window.map(|window| window.as_secs()),
        origin: memory.origin,
        trust: memory.trust,
        learning_source: memory.learning_source,
        made_by: memory.made_by,
        pinned: memory.pinned,
        project: memory.project,
        goal_signature: memory.goal_signature,
        task_type: memory.task_type,
        version: memory.version,
        revision: memory.revision,
        caller_id: memory.caller_id,
        said_at: memory.said_at,
        created_at: memory.created_at,
        updated_at: memory.updated_at,
        title: memory.title,
        summary: memory.summary,
        procedure: memory.procedure,
        extra: memory.extra,
        content: memory.content,
        tags: memory.tags,
        entities: memory.entities,
        state: memory.state,
        sources: vec![source],
        changes: vec![ChangeLine::of(saved)],
        sensors: Vec::new(),
        reviews,
    }
}

fn line_of(episode: Episode) -> EpisodeLine {
    EpisodeLine {
        id: episode.id,
        role: episode.role,
        memory_id: episode.memory_id,
        session_id: episode.session_id,
        turn_number: episode.turn_number,
        receipt_id: episode.receipt_id,
        happened_at: episode.happened_at,
        outcome: episode.outcome,
        kind: episode.kind,
        project: episode.project,
        task_id: episode.task_id,
        caller_id: episode.caller_id,
        task_name: episode.task_name,
        trigger: episode.trigger,
        title: episode.title,
        tags: episode.tags,
        summary: episode.summary,
    }
}
