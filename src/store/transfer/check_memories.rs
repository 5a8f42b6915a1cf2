//! Checks whether the memories of an export may be imported: each line by itself, then all of them together. They must pass
//! the checks of saving, of the tables, and of doctor.

use std::collections::{HashMap, HashSet};

use chrono::Datelike;

use crate::{
    error::{Error, Result},
    memory::{
        bounds::{
            MAX_CONTENT_BYTES, MAX_LINE_BYTES, MAX_QUOTE_BYTES, MAX_TITLE_BYTES, check_line, check_settled,
            check_share, check_terms,
        },
        terms::terms,
    },
    model::{
        change::ChangeOp,
        edge::{Edge, EdgeStatus, EdgeType},
        episode::EpisodeRole,
        ids::{EdgeId, EpisodeId, MemoryId, ReceiptId, ReviewId, SessionId},
        memory::{
            new::NewMemory,
            procedure::Procedure,
            source::MemorySource,
            state::MemoryState,
            trust::Trust,
            words::{MemoryKind, MemoryStatus, Outcome},
        },
        place::MAX_TURN_NUMBER,
        review::ReviewKind,
        turn::Origin,
    },
    store::{
        acts::memories::watch::MAX_EXPECT_BYTES,
        rows::memories::{
            erased::{IdHash, id_hash},
            transfer::{ReviewRow, SensorRow},
        },
        transfer::{
            bounds::{MAX_WORD_BYTES, check_fields, check_text, hash_from_hex, wrong},
            memories::{ChangeLine, EpisodeLine, ErasedLine, ExtractedLine, KnowledgeLine},
        },
    },
    text::measure::{ContentHash, check_name},
};

/// The maximum size of the previous columns that a change keeps, in bytes: every text of a memory at its longest, as JSON.
const MAX_BEFORE_BYTES: usize = 1 << 20;

/// Checks the line of a memory by itself.
pub(super) fn check_knowledge(line: &KnowledgeLine) -> Result<()> {
    check_bounds(line)?;
    check_settled(line.frequency, line.volatility, line.trust)?;
    check_text("memory's maker", &line.made_by, MAX_WORD_BYTES)?;
    check_fields("rest of a memory", &line.extra, MAX_CONTENT_BYTES)?;
    if line.version == 0 || line.revision == 0 {
        return wrong("versions and revisions count from 1");
    }
    let is_superseded = line.status == MemoryStatus::Superseded;
    if is_superseded != line.superseded_by.is_some() || line.superseded_by == Some(line.id) {
        return wrong("a superseded memory needs a successor, and no other memory has one");
    }
    check_state(&line.state)?;
    check_sources(line)?;
    // Everything that raises the revision is recorded as a change.
    if line.changes.is_empty() || line.changes.len() < line.revision as usize {
        return wrong("a memory has no history, or less than its revision says");
    }
    line.changes.iter().try_for_each(check_change)?;
    check_passed(line)?;
    check_sensors(&line.sensors)?;
    line.reviews.iter().try_for_each(|review| check_review(line.id, review))
}

/// Checks a memory's texts and attributes as saving and editing do.
pub(in crate::store) fn check_bounds(line: &KnowledgeLine) -> Result<()> {
    bounds_of(line).check()?;
    let shares =
        [Some(line.importance), Some(line.confidence), line.reliability, line.consolidation_threshold];
    if shares.into_iter().flatten().any(f64::is_sign_negative) {
        return wrong("a share is below 0");
    }
    if line.procedure.as_ref().is_some_and(Procedure::is_empty) {
        return wrong("a procedure has no step");
    }
    check_tidy(&line.tags)?;
    check_tidy(&line.entities)
}

/// Converts the line to a new memory, which has the same bounds. The trust is checked separately.
fn bounds_of(line: &KnowledgeLine) -> NewMemory {
    let new = NewMemory {
        summary: line.summary.clone(),
        procedure: line.procedure.clone(),
        tags: line.tags.clone(),
        entities: Some(line.entities.clone()),
        importance: Some(line.importance),
        confidence: Some(line.confidence),
        reliability: line.reliability,
        consolidation_threshold: line.consolidation_threshold,
        validity_window: line.validity_window_s.map(std::time::Duration::from_secs),
        project: line.project.clone(),
        goal_signature: line.goal_signature.clone(),
        caller_id: line.caller_id.clone(),
        ..NewMemory::new(line.kind, line.title.as_str(), line.content.as_str())
    };
    new.origin(Origin::User)
}

/// Checks that tags or entities are as saving writes them: without `#`, each once.
fn check_tidy(names: &[String]) -> Result<()> {
    let is_tidy = terms(names).into_iter().map(|term| term.name).eq(names.iter().cloned());
    if is_tidy {
        Ok(())
    } else {
        wrong("a tag or an entity occurs twice, or is not in the form that is stored")
    }
}

fn check_state(state: &MemoryState) -> Result<()> {
    check_share("share of successes", state.success_rate)?;
    check_text("sensor's name", state.validated_by.as_deref().unwrap_or_default(), MAX_WORD_BYTES)?;
    let is_day = state.resurfaced_on.is_none_or(|day| (1..=9_999).contains(&day.year()));
    if !is_day
        || state.success_rate.is_some_and(f64::is_sign_negative)
        || (state.usage_count == 0) != state.success_rate.is_none()
        || state.access_count < state.usage_count
    {
        return wrong("the use of a memory makes no sense");
    }
    Ok(())
}

/// Checks that the sources are unique, and that the memory is not trusted more than its origin and its sources.
fn check_sources(line: &KnowledgeLine) -> Result<()> {
    let mut seen = HashSet::new();
    for MemorySource { from, made_by, quote, .. } in &line.sources {
        check_text("source's quote", quote, MAX_QUOTE_BYTES)?;
        check_text("source's maker", made_by, MAX_WORD_BYTES)?;
        if !seen.insert(from) {
            return wrong("a source of a memory occurs twice in the file");
        }
    }
    let is_rewritten = line.changes.iter().any(|change| {
        let says_trust = change.before.as_ref().is_none_or(|before| before.contains_key("trust"));
        matches!(change.op, ChangeOp::Edit | ChangeOp::Trust) && change.undone_by.is_none() && says_trust
    });
    // A person may have approved what the assistant said, but not what a tool or a document said.
    let is_over = |origin: Origin| {
        let approved = line.trust == Trust::Approved && Trust::of(origin) > Trust::Foreign;
        line.trust > Trust::of(origin) && !approved
    };
    if is_over(line.origin) || (!is_rewritten && line.sources.iter().any(|source| is_over(source.origin))) {
        return wrong("a memory is trusted more than what it was made from");
    }
    Ok(())
}

fn check_change(change: &ChangeLine) -> Result<()> {
    check_text("change's maker", &change.made_by, MAX_WORD_BYTES)?;
    check_text("change's reason", &change.reason, MAX_LINE_BYTES)?;
    for value in [&change.old_value, &change.new_value].into_iter().flatten() {
        check_text("change's value", value, MAX_LINE_BYTES)?;
    }
    change.before.as_ref().map_or(Ok(()), |before| check_fields("change", before, MAX_BEFORE_BYTES))
}

/// Checks that the memory's state counts every sensor check that the memory passed.
fn check_passed(line: &KnowledgeLine) -> Result<()> {
    let is_pass =
        |change: &&ChangeLine| change.op == ChangeOp::Check && change.new_value.as_deref() == Some("pass");
    let passed = line.changes.iter().filter(is_pass).count();
    let is_counted = line.state.validation_count as usize >= passed && line.state.validated_at.is_some();
    if passed == 0 || is_counted { Ok(()) } else { wrong("a check that a memory passed is not counted") }
}

fn check_sensors(sensors: &[SensorRow]) -> Result<()> {
    let mut seen = HashSet::new();
    for SensorRow { sensor, subject, expect } in sensors {
        check_name("sensor's name", Some(sensor))?;
        check_text("sensor's subject", subject, MAX_LINE_BYTES)?;
        check_fields("sensor's expectation", expect, MAX_EXPECT_BYTES)?;
        if !seen.insert((sensor, subject)) {
            return wrong("a memory has a sensor twice");
        }
    }
    Ok(())
}

fn check_review(memory: MemoryId, review: &ReviewRow) -> Result<()> {
    check_text("review's reason", &review.why, MAX_LINE_BYTES)?;
    check_name("name of who decided", review.decided_by.as_deref())?;
    let is_decided = review.decision.is_some();
    if is_decided != review.decided_at.is_some()
        || (review.decided_by.is_some() && !is_decided)
        || review.other_id == Some(memory)
    {
        return wrong("a review is decided in part, or is about one memory twice");
    }
    Ok(())
}

/// Checks an edge by itself.
pub(super) fn check_edge(edge: &Edge) -> Result<()> {
    check_share("strength", Some(edge.strength))?;
    check_line("context", &edge.context)?;
    check_text("edge's description", &edge.description, MAX_CONTENT_BYTES)?;
    if edge.from == edge.to || edge.strength.is_sign_negative() {
        return wrong("an edge leads from a memory to itself, or has a strength below 0");
    }
    Ok(())
}

/// Checks an episode by itself.
pub(super) fn check_episode(episode: &EpisodeLine) -> Result<()> {
    check_text("episode's title", &episode.title, MAX_TITLE_BYTES)?;
    check_line("summary", &episode.summary)?;
    check_line("trigger", episode.trigger.as_deref().unwrap_or_default())?;
    check_terms("tag", &episode.tags)?;
    check_tidy(&episode.tags)?;
    check_name("project", episode.project.as_deref())?;
    check_name("task id", episode.task_id.as_deref())?;
    check_name("task name", episode.task_name.as_deref())?;
    check_name("episode's caller id", episode.caller_id.as_deref())?;
    let is_number = |number: u32| (1..=MAX_TURN_NUMBER).contains(&number);
    if !episode.turn_number.is_none_or(is_number)
        || (episode.role != EpisodeRole::Note && episode.memory_id.is_none())
    {
        return wrong("an episode names an impossible turn, or lacks its memory");
    }
    Ok(())
}

/// The memories of an export that were read so far, with what must be unique or exist among them.
#[derive(Default)]
pub(super) struct CheckedMemories<'a> {
    known: HashMap<MemoryId, CheckedMemory<'a>>,
    caller_ids: HashSet<&'a str>,
    /// The texts of active memories, by project.
    texts: HashSet<(&'a str, ContentHash)>,
    slots: HashSet<(&'a str, MemoryKind, &'a str)>,
    reviews: HashSet<ReviewId>,
    open_reviews: HashSet<(ReviewKind, MemoryId, Option<MemoryId>)>,
    /// The other memories of reviews, all of which must exist.
    named: Vec<MemoryId>,
    edges: HashSet<EdgeId>,
    between: HashSet<(MemoryId, MemoryId, EdgeType)>,
    /// Memories from which an accepted `contradicts` edge leads to another.
    contradicting: HashSet<MemoryId>,
    episodes: HashSet<EpisodeId>,
    /// Callers' ids of episodes.
    reports: HashSet<&'a str>,
    extracted: HashSet<SessionId>,
    erased: HashSet<IdHash>,
}

/// A memory, with the counts that follow from its episodes.
struct CheckedMemory<'a> {
    line: &'a KnowledgeLine,
    births: u32,
    rated: u32,
    helped: u32,
    receipts: HashSet<ReceiptId>,
    contexts: HashSet<SessionId>,
    projects: HashSet<&'a str>,
}

impl<'a> CheckedMemories<'a> {
    pub(super) fn see(&mut self, line: &'a KnowledgeLine) -> Result<()> {
        let known = CheckedMemory {
            line,
            births: 0,
            rated: 0,
            helped: 0,
            receipts: HashSet::new(),
            contexts: HashSet::new(),
            projects: HashSet::new(),
        };
        let is_new = self.known.insert(line.id, known).is_none();
        if !is_new || !line.caller_id.as_deref().is_none_or(|id| self.caller_ids.insert(id)) {
            return wrong("a memory occurs twice in the file, or two have the same caller's id");
        }
        if line.status == MemoryStatus::Active {
            let project = line.project.as_deref().unwrap_or_default();
            let is_first = self.texts.insert((project, line.text().content_hash()));
            let slot = line.goal_signature.as_deref().map(|slot| (project, line.kind, slot));
            if !is_first || !slot.is_none_or(|slot| self.slots.insert(slot)) {
                return wrong("two active memories have the same text or the same slot");
            }
        }
        for review in &line.reviews {
            let is_open = review.decision.is_none();
            let question = (review.kind, line.id, review.other_id);
            if !self.reviews.insert(review.id) || (is_open && !self.open_reviews.insert(question)) {
                return wrong("a review occurs twice in the file");
            }
            self.named.extend(review.other_id);
        }
        Ok(())
    }

    pub(super) fn see_edge(&mut self, edge: &Edge) -> Result<()> {
        let Edge { id, from, to, edge_type, .. } = *edge;
        if !self.known.contains_key(&from) || !self.known.contains_key(&to) {
            return wrong("an edge leads to a memory that is missing");
        }
        let is_said = edge_type.is_symmetric() && self.between.contains(&(to, from, edge_type));
        if is_said || !self.edges.insert(id) || !self.between.insert((from, to, edge_type)) {
            return wrong("an edge occurs twice in the file");
        }
        if edge_type == EdgeType::Contradicts && edge.status == EdgeStatus::Accepted {
            self.contradicting.insert(from);
        }
        Ok(())
    }

    pub(super) fn see_episode(&mut self, episode: &'a EpisodeLine) -> Result<()> {
        let is_new = self.episodes.insert(episode.id);
        if !is_new || !episode.caller_id.as_deref().is_none_or(|id| self.reports.insert(id)) {
            return wrong("an episode occurs twice in the file, or two have the same caller's id");
        }
        let Some(memory) = episode.memory_id else { return Ok(()) };
        let known = self.known.get_mut(&memory);
        let known = known.ok_or_else(|| Error::invalid("an episode's memory is missing"))?;
        match episode.role {
            EpisodeRole::Birth => known.births += 1,
            EpisodeRole::Use => known.see_use(episode)?,
            EpisodeRole::Note | EpisodeRole::Report => {}
        }
        Ok(())
    }

    pub(super) fn see_extracted(&mut self, extracted: &ExtractedLine) -> Result<()> {
        if self.extracted.insert(extracted.session_id) {
            return Ok(());
        }
        wrong("a session was searched for memories twice")
    }

    pub(super) fn see_erased(&mut self, erased: &ErasedLine) -> Result<()> {
        if self.erased.insert(hash_from_hex(&erased.id_hash)?) {
            return Ok(());
        }
        wrong("a memory was erased twice")
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.known.keys().any(|id| self.erased.contains(&id_hash(*id))) {
            return wrong("an erased memory is in the file");
        }
        if !self.named.iter().all(|id| self.known.contains_key(id)) {
            return wrong("a review is about a memory that is missing");
        }
        for known in self.known.values() {
            if known.births != 1 || !known.has_its_counts() {
                return wrong("a memory has no beginning, or two, or was not used as often as it says");
            }
        }
        let is_unasked = |known: &CheckedMemory<'_>| {
            let was_to_wait = |change: &ChangeLine| {
                change.op == ChangeOp::Save
                    && change.new_value.as_deref() == Some(MemoryStatus::Archived.as_str())
            };
            known.line.status == MemoryStatus::Archived
                && known.line.reviews.is_empty()
                && self.contradicting.contains(&known.line.id)
                && known.line.changes.iter().any(was_to_wait)
        };
        if self.known.values().any(is_unasked) {
            return wrong("a memory waits for a person, but no review asks");
        }
        let has_its_edge = |line: &KnowledgeLine| {
            line.superseded_by.is_none_or(|by| self.between.contains(&(by, line.id, EdgeType::Supersedes)))
        };
        if !self.known.values().all(|known| has_its_edge(known.line)) {
            return wrong("no edge records what took a memory's place");
        }
        self.check_successors()
    }

    /// Checks that every successor exists, and that no chain of successors is a ring.
    fn check_successors(&self) -> Result<()> {
        let mut sound = HashSet::new(); // Memories whose chains are known to end.
        for &start in self.known.keys() {
            let (mut at, mut walked) = (start, HashSet::new());
            while !sound.contains(&at) {
                let Some(known) = self.known.get(&at) else {
                    return wrong("what took a memory's place is missing");
                };
                if !walked.insert(at) {
                    return wrong("a memory supersedes itself");
                }
                match known.line.superseded_by {
                    Some(by) => at = by,
                    None => break,
                }
            }
            sound.extend(walked);
        }
        Ok(())
    }
}

impl<'a> CheckedMemory<'a> {
    fn see_use(&mut self, episode: &'a EpisodeLine) -> Result<()> {
        if !episode.receipt_id.is_none_or(|id| self.receipts.insert(id)) {
            return wrong("one context rates a memory twice");
        }
        self.rated += u32::from(episode.outcome.and_then(Outcome::helped).is_some());
        if episode.outcome == Some(Outcome::Success) {
            self.helped += 1;
            self.contexts.extend(episode.session_id);
            self.projects.extend(episode.project.as_deref());
        }
        Ok(())
    }

    fn has_its_counts(&self) -> bool {
        /// The tolerance per use, because each use rounds the share of successes.
        const TOLERANCE: f64 = 0.001;
        let state = &self.line.state;
        let uses = f64::from(state.usage_count);
        let helped = state.success_rate.unwrap_or_default() * uses;
        state.usage_count == self.rated
            && (helped - f64::from(self.helped)).abs() <= TOLERANCE * uses
            && state.context_count as usize == self.contexts.len()
            && state.project_count as usize == self.projects.len()
    }
}
