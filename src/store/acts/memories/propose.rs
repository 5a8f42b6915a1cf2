//! Stores what a reflection proposes: edges that recall does not follow until the user, the assistant or the backend states
//! them (see `edges`), and reviews that ask a person whether two memories are one. Changes no memory, and leaves out what is
//! already asked or known.

use crate::{
    error::Result,
    memory::similar::{EDGES, MERGES},
    model::{
        edge::{Edge, EdgeStatus, EdgeType},
        episode::NewNote,
        ids::{EdgeId, EpisodeId, ReviewId},
        memory::{
            reflected::{ProposedMerge, Reflected},
            words::{MemoryKind, MemoryStatus},
        },
        review::ReviewKind,
        turn::Origin,
    },
    store::{
        acts::memories::operation::MemoryOperation,
        memory_pages::{Like, Likes},
        rows::memories::{
            edges, episodes, find,
            pages::REFLECTED,
            reviews::{self, QuestionState},
            uses,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The name used in the history.
const REFLECT: &str = "reflect";

impl WriteTx<'_> {
    /// Proposes edges and merges for the similar pairs that a search found, except pairs of which a memory has changed
    /// since. Records the reflection as a note.
    pub(crate) fn propose(&mut self, scope: &Scope, found: &Likes) -> Result<Reflected> {
        let operation = MemoryOperation::begin(self, scope, REFLECT)?;
        let mut reflected = Reflected {
            memories: found.memories,
            without_vectors: found.without_vectors,
            ..Reflected::default()
        };
        for like in &found.edges {
            if reflected.edges.len() == EDGES {
                break;
            }
            reflected.edges.extend(operation.propose_edge(like)?);
        }
        for like in &found.merges {
            if reflected.merges.len() == MERGES {
                break;
            }
            reflected.merges.extend(operation.propose_merge(like)?);
        }
        let proposed =
            format!("{} edges and {} merges proposed", reflected.edges.len(), reflected.merges.len());
        let note =
            NewNote::new("Reflection").kind(MemoryKind::Insight).task_name(REFLECTED).summary(proposed);
        let (sql, now) = (operation.tx.sql, operation.now);
        episodes::insert_note(sql, scope, (EpisodeId::new(*now), &note), (None, None), (&[], now))?;
        Ok(reflected)
    }
}

impl MemoryOperation<'_, '_> {
    fn propose_edge(&self, like: &Like) -> Result<Option<Edge>> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        let [newer, older] = like.numbers;
        if !self.are_as_they_were(like)? || edges::is_any_between(sql, scope, (newer, older))? {
            return Ok(None);
        }
        let edge = Edge {
            id: EdgeId::new(*self.now),
            from: like.ids[0],
            to: like.ids[1],
            edge_type: EdgeType::SimilarTo,
            strength: EdgeType::SimilarTo.default_strength(),
            status: EdgeStatus::Proposed,
            origin: Origin::System,
            created_at: *self.now,
            updated_at: *self.now,
            context: format!("cosine {:.2}, {} shared terms", like.cosine, like.shared_terms),
            description: String::new(),
        };
        edges::insert(sql, scope, (newer, older), &edge)?;
        Ok(Some(edge))
    }

    fn propose_merge(&self, like: &Like) -> Result<Option<ProposedMerge>> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        let [newer, older] = like.numbers;
        if !self.are_as_they_were(like)? {
            return Ok(None);
        }
        for (one, other) in [(older, newer), (newer, older)] {
            let has_news = |at| {
                Ok(uses::has_news_since(sql, scope, one, at)? || uses::has_news_since(sql, scope, other, at)?)
            };
            let of = (one, Some(other));
            let question = reviews::question(sql, scope, ReviewKind::Merge, of, (self.now, has_news))?;
            if question != QuestionState::Free {
                return Ok(None);
            }
        }
        let (review_id, why) = (ReviewId::new(*self.now), format!("cosine {:.2}", like.cosine));
        let of = (older, Some(newer));
        reviews::insert(sql, scope, (review_id, ReviewKind::Merge), of, (&why, self.now))?;
        Ok(Some(ProposedMerge { review_id, memory_id: like.ids[1], other_id: like.ids[0], why }))
    }

    /// Whether both memories of a pair are still active, with the same texts.
    fn are_as_they_were(&self, like: &Like) -> Result<bool> {
        for (memory_no, seq) in like.numbers.into_iter().zip(like.seqs) {
            let row = find::by_no(self.tx.sql, &self.scope, memory_no)?;
            if row.is_none_or(|row| row.status != MemoryStatus::Active || row.seq != Some(seq)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
