//! A memory before it is saved: its bounds are checked, and its words, hash, trust and first row are computed.

use crate::{
    error::Result,
    memory::{
        beginning::{Finder, initial_confidence, initial_importance, trust_in_words},
        bounds::check_settled,
        entities::entities,
        slot::{Voice, tidy_slot},
        terms::{MemoryTerm, terms},
    },
    model::{
        ids::MemoryId,
        memory::{new::NewMemory, procedure::Procedure, trust::Trust, words::MemoryStatus},
        place::{MemoryNo, SessionNo},
        profile::rounded,
        stored_time::StoredTime,
    },
    store::rows::memories::{row::MemoryRow, sources::SourceRow},
    text::{measure::ContentHash, memory::MemoryText},
};

/// A memory that may be saved, with everything that can be computed before the transaction.
#[derive(Debug)]
pub(crate) struct MeasuredMemory {
    pub(crate) new: NewMemory,
    pub(super) tags: Vec<MemoryTerm>,
    pub(super) entities: Vec<MemoryTerm>,
    pub(super) content_hash: ContentHash,
    /// The encoded forward list.
    pub(super) words: Vec<u8>,
    /// The turns and the other memories that it is made from.
    pub(super) sources: Vec<SourceRow>,
    pub(super) finder: Finder,
    pub(super) made_by: String,
}

impl MeasuredMemory {
    /// Checks the bounds and computes the rest. `sources` are those that the memory names. Errors: it exceeds a bound.
    pub(crate) fn of(
        mut new: NewMemory,
        sources: Vec<SourceRow>,
        (finder, made_by): (Finder, &str),
    ) -> Result<Self> {
        new.check()?;
        new.procedure = new.procedure.filter(|procedure| !procedure.is_empty());
        // Surrounding whitespace does not make it another memory.
        (new.title, new.content) = (new.title.trim().to_owned(), new.content.trim().to_owned());
        new.goal_signature = new.goal_signature.as_deref().map(tidy_slot);
        let tags = terms(&new.tags);
        let named = || entities(&new.title, &new.content);
        let entities = terms(new.entities.clone().unwrap_or_else(named));
        let text = text_of(&new);
        let words = text.words(tags.iter().chain(&entities).map(|term| term.name.as_str()));
        let content_hash = text.content_hash();
        let made_by = made_by.to_owned();
        let measured = Self { new, tags, entities, content_hash, words, sources, finder, made_by };
        check_settled(measured.new.initial_frequency(), measured.new.initial_volatility(), measured.trust())?;
        Ok(measured)
    }

    /// How far the memory is trusted: as its own origin and its sources, whichever is trusted least.
    pub(super) fn trust(&self) -> Trust {
        let sources = self.sources.iter().map(|source| source.origin);
        let least = trust_in_words(sources.chain([self.new.origin]));
        least.expect("it has an origin of its own")
    }

    /// What the memory says.
    pub(super) fn text(&self) -> MemoryText<'_> {
        text_of(&self.new)
    }

    /// Whose words the memory has.
    pub(super) fn voice(&self) -> Voice {
        Voice { origin: self.new.origin, trust: self.trust() }
    }

    /// The row with which the memory begins, without a number or a unit.
    pub(super) fn row(
        &self,
        id: MemoryId,
        status: MemoryStatus,
        (said_at, now): (StoredTime, StoredTime),
    ) -> MemoryRow {
        let new = &self.new;
        let frequency = new.initial_frequency();
        MemoryRow {
            memory_no: MemoryNo::default(),
            id,
            seq: None,
            session_no: None::<SessionNo>,
            kind: new.kind,
            status,
            superseded_by: None,
            frequency,
            frequency_since: now,
            importance: rounded(initial_importance(frequency, new.birth.outcome, new.importance)),
            confidence: rounded(initial_confidence(new.confidence, self.finder)),
            reliability: new.reliability.map(rounded),
            consolidation_threshold: new.consolidation_threshold.map(rounded),
            information_type: new.information_type,
            volatility: new.initial_volatility(),
            validity_window: new.validity_window,
            origin: new.origin,
            trust: self.trust(),
            learning_source: new.learning_source,
            made_by: self.made_by.clone(),
            pinned: new.pinned,
            project: new.project.clone(),
            goal_signature: new.goal_signature.clone(),
            task_type: new.task_type,
            version: 1,
            revision: 1,
            caller_id: new.caller_id.clone(),
            content_hash: self.content_hash,
            said_at,
            created_at: now,
            updated_at: now,
            title: new.title.clone(),
            summary: new.summary.clone(),
            procedure: new.procedure.clone(),
            extra: new.extra.clone(),
            content: new.content.clone(),
        }
    }
}

fn text_of(new: &NewMemory) -> MemoryText<'_> {
    let NewMemory { kind, title, content, procedure, .. } = new;
    MemoryText {
        kind: *kind,
        title,
        content,
        procedure: procedure.as_ref().filter(|it| !Procedure::is_empty(it)),
    }
}
