//! Checks whether an export may be imported: each line by itself, then all lines together. An export may come from anybody.
//!
//! Texts must respect the bounds that recording checks. All lines together
//! must satisfy the invariants of a file: every turn is in one place and in a permitted tier, every summary stands for a
//! turn without a row, and every anchor has evidence.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

use crate::{
    compress::fold::value_key,
    error::{Error, Result},
    model::{
        anchor::{Attribute, Stance},
        critical::CriticalRule,
        ids::{AnchorId, SessionId, SummaryId, TurnId},
        metadata,
        place::MAX_TURN_NUMBER,
        receipt::PackedAs,
        session::SessionInfo,
        summary::{Original, Summary},
        tier::{MAX_HOT_TURNS, MemoryTier, Transition},
        turn::{NewTurn, Turn, TurnState},
        uses::Aspect,
    },
    store::transfer::{
        AnchorLine, AsideLine, DeletedTurn, DerivationLine, FORMAT_WITH_MEMORIES, TransferLine, Transferred,
        UseCountLine, UseLine,
        bounds::{MAX_WORD_BYTES, check_text, hash_from_hex, wrong},
        check_memories::{self, CheckedMemories},
    },
    text::measure::{self, MAX_NAME_BYTES, check_name},
};

/// The maximum length of an anchor's subject, in bytes. Larger than that of a name, because folding lengthens a name: a
/// letter of two bytes may become three.
const MAX_SUBJECT_BYTES: usize = 4 * MAX_NAME_BYTES;
/// The maximum length of a summary or a quote, in bytes. Far above what a summarizer may write.
const MAX_SENTENCE_BYTES: usize = 2_000;
/// The maximum number of a summary's keywords.
const MAX_WORDS: usize = 20;
/// The maximum of a use count. Small enough that the counts of all users can be added up.
const MAX_HITS: u64 = 1 << 40;
/// The maximum part number of a session that continues another one under the same key.
const MAX_PART: u32 = 1_000_000;

/// Checks one line by itself.
pub(super) fn check_line(line: &TransferLine, number: usize, max_side_bytes: usize) -> Result<()> {
    match (line, number) {
        (TransferLine::Memory { format, .. }, 1) if (1..=FORMAT_WITH_MEMORIES).contains(format) => Ok(()),
        (TransferLine::Memory { .. }, 1) => wrong("this export was written by a newer version; upgrade"),
        (TransferLine::Memory { .. }, _) => wrong("a second export begins here"),
        (_, 1) => wrong("this is not an export of a memory"),
        (TransferLine::Session(session), _) => check_session(session),
        (TransferLine::Turn(turn) | TransferLine::Archived(turn), _) if turn.state != TurnState::Complete => {
            wrong("a turn that is part of the memory is not complete")
        }
        (TransferLine::Turn(turn) | TransferLine::Archived(turn), _) => check_turn(turn, max_side_bytes),
        (TransferLine::Aside(aside), _) => {
            let is_replaced = aside.turn.state == TurnState::Replaced;
            if [aside.replaced_by.is_some(), aside.replaced_at.is_some()] != [is_replaced; 2] {
                return wrong("a turn beside the memory waits for its reply, or was replaced");
            }
            check_turn(&aside.turn, max_side_bytes)
        }
        (TransferLine::Deleted(turn), _) => check_name("turn's caller id", turn.caller_id.as_deref()),
        (TransferLine::Summary { summary, .. }, _) => check_summary(summary),
        (TransferLine::Anchor(anchor), _) => check_anchor(anchor),
        (TransferLine::Derivation(derivation), _) => {
            check_text("evidence's quote", &derivation.quote, MAX_SENTENCE_BYTES)?;
            check_text("evidence's maker", &derivation.made_by, MAX_WORD_BYTES)?;
            check_name("anchor's value", Some(&derivation.value))
        }
        (TransferLine::Use(of), _) if of.hits == 0 || of.best > of.hits => {
            wrong("how often a turn was of use makes no sense")
        }
        (TransferLine::UseCount(count), _) => check_count(count),
        (TransferLine::Knowledge(memory), _) => check_memories::check_knowledge(memory),
        (TransferLine::Edge(edge), _) => check_memories::check_edge(edge),
        (TransferLine::Episode(episode), _) => check_memories::check_episode(episode),
        (TransferLine::Erased(erased), _) => hash_from_hex(&erased.id_hash).map(drop),
        (
            TransferLine::Transition(_)
            | TransferLine::Use(_)
            | TransferLine::Extracted(_)
            | TransferLine::End(_),
            _,
        ) => Ok(()),
    }
}

fn check_session(session: &SessionInfo) -> Result<()> {
    check_name("session's key", session.caller_id.as_deref())?;
    check_name("project", session.project.as_deref())?;
    check_name("session's title", session.title.as_deref())?;
    session.metadata.as_ref().map_or(Ok(()), metadata::check)?;
    if session.turn_count > MAX_TURN_NUMBER || session.erased_turns > session.turn_count {
        return wrong("a session's counts make no sense");
    }
    if !(1..=MAX_PART).contains(&session.part) || session.ended_at.is_some() != session.end_reason.is_some() {
        return wrong("a session's part or end makes no sense");
    }
    Ok(())
}

fn check_turn(turn: &Turn, max_side_bytes: usize) -> Result<()> {
    NewTurn::of(turn.clone()).check(max_side_bytes)?;
    if !measure::has_its_counts(turn) {
        return wrong("the token counts of a turn are not those of its text");
    }
    if turn.is_identity_critical != turn.critical_rule.is_some() {
        return wrong("a critical turn needs a rule, and another has none");
    }
    Ok(())
}

fn check_count(UseCountLine { aspect, name, hits }: &UseCountLine) -> Result<()> {
    let is_known = match aspect {
        Aspect::Rule | Aspect::Chance | Aspect::Taken => CriticalRule::from_word(name).is_some(),
        Aspect::Tier => MemoryTier::from_word(name).is_some(),
        Aspect::PackedAs => PackedAs::from_word(name).is_some(),
        Aspect::Reached => is_month_and_tier(name),
        Aspect::Profile => name.len() <= MAX_WORD_BYTES && !name.chars().any(char::is_control),
    };
    if is_known && (1..=MAX_HITS).contains(hits) {
        return Ok(());
    }
    wrong("a count has no known name, or makes no sense")
}

/// Returns whether the name is a month and a tier, such as `2026-03 cold`.
fn is_month_and_tier(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(month, tier)| {
        month.len() == 7
            && NaiveDate::parse_from_str(&format!("{month}-01"), "%Y-%m-%d").is_ok()
            && MemoryTier::from_word(tier).is_some()
    })
}

fn check_summary(summary: &Summary) -> Result<()> {
    check_text("summary", &summary.summary_text, MAX_SENTENCE_BYTES)?;
    check_text("summarizer's name", &summary.summarizer, MAX_WORD_BYTES)?;
    let words = &summary.topic_keywords;
    let hidden = |text: &str| text.chars().any(char::is_control);
    if words.len() > MAX_WORDS
        || words.iter().any(|word| word.len() > MAX_WORD_BYTES || hidden(word))
        || hidden(&summary.summary_text)
        || !(0.0..=1.0).contains(&summary.reliability)
    {
        return wrong("a summary is out of bounds");
    }
    Ok(())
}

fn check_anchor(anchor: &AnchorLine) -> Result<()> {
    check_text("anchor's subject", &anchor.subject, MAX_SUBJECT_BYTES)?;
    check_name("anchor's value", Some(&anchor.value))?;
    if anchor.subject.is_empty() || (anchor.retracted_at.is_some() && !anchor.is_retracted_since) {
        return wrong("an anchor's subject or retraction makes no sense");
    }
    Ok(())
}

/// What the lines read so far say about one session.
struct SessionLines<'a> {
    info: &'a SessionInfo,
    /// The session's position among the sessions of the export.
    place: usize,
    /// By turn number: the tier that the turn's line states, and the tier that its transitions lead to.
    turns: HashMap<u32, (MemoryTier, MemoryTier)>,
    tokens: u64,
    has_summaries: bool,
    /// The incomplete turn, if there is one.
    waiting: Option<TurnId>,
}

/// Checks all lines together. `counts` are those of the last line.
pub(super) fn check_whole(lines: &[TransferLine], counts: Transferred) -> Result<()> {
    let mut whole = Whole::default();
    for line in lines {
        whole.see(line)?;
    }
    whole.check(counts)
}

#[derive(Default)]
struct Whole<'a> {
    found: Transferred,
    sessions: HashMap<SessionId, SessionLines<'a>>,
    /// The callers' keys of sessions, with the part numbers.
    session_keys: HashSet<(&'a str, u32)>,
    turns: HashSet<TurnId>,
    caller_ids: HashSet<&'a str>,
    summaries: HashSet<SummaryId>,
    /// Turns without a row for which no summary has been seen yet.
    unsummarized: HashMap<TurnId, (SessionId, u32, Original)>,
    /// By anchor: the key of its value, and whether evidence for the anchor was seen.
    anchors: HashMap<AnchorId, (String, bool)>,
    values: HashSet<(&'a str, Attribute, String)>,
    evidence: HashSet<(AnchorId, Option<TurnId>, Stance)>,
    named_anchors: Vec<AnchorId>,
    used: HashSet<TurnId>,
    counted: HashSet<(Aspect, &'a str)>,
    memories: CheckedMemories<'a>,
    /// Whether the first line announces memories.
    has_memories: bool,
}

impl<'a> Whole<'a> {
    fn see(&mut self, line: &'a TransferLine) -> Result<()> {
        match line {
            TransferLine::Session(info) => {
                self.found.sessions += 1;
                let place = self.sessions.len();
                let seen = SessionLines {
                    info,
                    place,
                    turns: HashMap::new(),
                    tokens: 0,
                    has_summaries: false,
                    waiting: None,
                };
                let key = info.caller_id.as_deref().map(|key| (key, info.part));
                if self.sessions.insert(info.id, seen).is_some()
                    || key.is_some_and(|key| !self.session_keys.insert(key))
                {
                    return wrong("a session occurs twice in the file, or two have the same key and part");
                }
                Ok(())
            }
            TransferLine::Turn(turn) => {
                self.caller_id(turn.caller_id.as_deref())?;
                let tokens = turn.tokens.total_tokens;
                self.turn((turn.id, turn.session_id, turn.turn_number), turn.memory_tier, tokens)
            }
            TransferLine::Archived(Turn { id, session_id, turn_number, caller_id, .. }) => {
                self.caller_id(caller_id.as_deref())?;
                self.without_row((*id, *session_id, *turn_number), Original::Archived)
            }
            TransferLine::Deleted(DeletedTurn { id, session_id, turn_number, caller_id, .. }) => {
                self.caller_id(caller_id.as_deref())?;
                self.without_row((*id, *session_id, *turn_number), Original::Deleted)
            }
            TransferLine::Aside(aside) => self.aside(aside),
            TransferLine::Summary { summary, .. } => self.summary(summary),
            TransferLine::Anchor(anchor) => {
                self.found.anchors += 1;
                let key = value_key(&anchor.value);
                let is_new = self.values.insert((&anchor.subject, anchor.attribute, key.clone()));
                if self.anchors.insert(anchor.id, (key, false)).is_some() || !is_new {
                    return wrong("an anchor occurs twice in the file");
                }
                Ok(())
            }
            TransferLine::Derivation(derivation) => self.derivation(derivation),
            TransferLine::Transition(moved) => self.transition(moved),
            TransferLine::Use(UseLine { turn_id, .. }) => {
                self.found.uses += 1;
                if !self.turns.contains(turn_id) || !self.used.insert(*turn_id) {
                    return wrong("a use belongs to no turn, or occurs twice in the file");
                }
                Ok(())
            }
            TransferLine::UseCount(UseCountLine { aspect, name, .. }) => {
                self.found.uses += 1;
                if !self.counted.insert((*aspect, name)) {
                    return wrong("a count occurs twice in the file");
                }
                Ok(())
            }
            TransferLine::Knowledge(memory) => {
                self.found.memories += 1;
                if !memory.turns().all(|turn| self.turns.contains(&turn)) {
                    return wrong("a turn that a memory was made of is missing");
                }
                self.memories.see(memory)
            }
            TransferLine::Edge(edge) => {
                self.found.edges += 1;
                self.memories.see_edge(edge)
            }
            TransferLine::Episode(episode) => {
                self.found.episodes += 1;
                episode.session_id.map_or(Ok(()), |id| self.session(id).map(drop))?;
                self.memories.see_episode(episode)
            }
            TransferLine::Extracted(extracted) => {
                self.found.extracted += 1;
                self.session(extracted.session_id)?;
                self.memories.see_extracted(extracted)
            }
            TransferLine::Erased(erased) => {
                self.found.erased += 1;
                self.memories.see_erased(erased)
            }
            TransferLine::Memory { format, .. } => {
                self.has_memories = *format == FORMAT_WITH_MEMORIES;
                Ok(())
            }
            TransferLine::End(_) => Ok(()),
        }
    }

    fn session(&mut self, id: SessionId) -> Result<&mut SessionLines<'a>> {
        self.sessions.get_mut(&id).ok_or_else(|| Error::invalid("a line's session is missing"))
    }

    fn caller_id(&mut self, caller_id: Option<&'a str>) -> Result<()> {
        if caller_id.is_some_and(|id| !self.caller_ids.insert(id)) {
            return wrong("two turns have the same caller's id");
        }
        Ok(())
    }

    fn turn(
        &mut self,
        (id, session, number): (TurnId, SessionId, u32),
        tier: MemoryTier,
        tokens: u32,
    ) -> Result<()> {
        self.found.turns += 1;
        let is_new = self.turns.insert(id);
        let seen = self.session(session)?;
        seen.tokens += u64::from(tokens);
        let is_free = seen.turns.insert(number, (tier, MemoryTier::Hot)).is_none();
        if !is_new || !is_free || number == 0 || number > seen.info.turn_count {
            return wrong("a turn occurs twice in the file, or outside of its session");
        }
        Ok(())
    }

    fn aside(&mut self, AsideLine { replaced_by, turn, .. }: &'a AsideLine) -> Result<()> {
        self.found.aside += 1;
        self.caller_id(turn.caller_id.as_deref())?;
        let is_new = self.turns.insert(turn.id);
        let seen = self.session(turn.session_id)?;
        let waits = replaced_by.is_none();
        if waits {
            seen.waiting = Some(turn.id);
        }
        if !is_new
            || !(1..=MAX_TURN_NUMBER).contains(&turn.turn_number)
            || waits && turn.turn_number != seen.info.turn_count + 1
        {
            return wrong("a turn beside the memory occurs twice in the file, or out of place");
        }
        Ok(())
    }

    fn without_row(&mut self, place: (TurnId, SessionId, u32), original: Original) -> Result<()> {
        self.turn(place, MemoryTier::Cold, 0)?;
        self.unsummarized.insert(place.0, (place.1, place.2, original));
        Ok(())
    }

    fn summary(&mut self, summary: &'a Summary) -> Result<()> {
        self.found.summaries += 1;
        self.named_anchors.extend(&summary.identity_anchor_ids);
        if !self.summaries.insert(summary.id) {
            return wrong("two summaries have the same id");
        }
        let stands_for = self.unsummarized.remove(&summary.original_turn_id);
        if stands_for != Some((summary.session_id, summary.turn_number, summary.original)) {
            return wrong("a summary stands for no turn, for one that has a row, or for another place");
        }
        let seen = self.session(summary.session_id)?;
        seen.tokens += u64::from(summary.original_tokens);
        seen.has_summaries = true;
        Ok(())
    }

    fn derivation(&mut self, derivation: &DerivationLine) -> Result<()> {
        self.found.derivations += 1;
        let source = derivation.turn_id.or(derivation.source_id);
        if !self.evidence.insert((derivation.anchor_id, source, derivation.stance)) {
            return wrong("a piece of evidence occurs twice in the file");
        }
        match self.anchors.get_mut(&derivation.anchor_id) {
            Some((key, has_evidence)) if *key == value_key(&derivation.value) => {
                *has_evidence = true;
                Ok(())
            }
            _ => wrong("evidence is for no anchor, or for another value"),
        }
    }

    fn transition(&mut self, moved: &Transition) -> Result<()> {
        self.found.transitions += 1;
        match self.session(moved.session_id)?.turns.get_mut(&moved.turn_number) {
            Some((_, last)) if *last == moved.from => {
                *last = moved.to;
                Ok(())
            }
            _ => wrong("a move is of no turn, or does not begin where the one before it ended"),
        }
    }

    fn check(&self, counts: Transferred) -> Result<()> {
        if self.found != counts {
            return wrong("the file lacks some of its lines");
        }
        if !self.unsummarized.is_empty() {
            return wrong("a turn without a row has no summary");
        }
        if self.anchors.values().any(|(_, has_evidence)| !has_evidence)
            || self.named_anchors.iter().any(|id| !self.anchors.contains_key(id))
        {
            return wrong("an anchor has no evidence, or a summary names one that is missing");
        }
        let of_memories =
            self.found.memories + self.found.episodes + self.found.extracted + self.found.erased;
        if !self.has_memories && of_memories > 0 {
            return wrong("an export of this format has no memories");
        }
        self.memories.check()?;
        for seen in self.sessions.values() {
            if !seen.is_sound() || !self.leads_on(seen) {
                return wrong("a session lacks turns, or has some in a tier where they cannot be");
            }
        }
        Ok(())
    }

    /// Returns whether a session with a successor has ended and can be continued, and the successor is a later session of
    /// this export. True for a session without a successor.
    fn leads_on(&self, seen: &SessionLines<'_>) -> bool {
        seen.info.successor_id.is_none_or(|id| {
            let successor = self.sessions.get(&id);
            seen.info.end_reason.is_some()
                && seen.info.can_go_on()
                && successor.is_some_and(|successor| successor.place > seen.place)
        })
    }
}

impl SessionLines<'_> {
    /// Returns whether all of the session's turns are there, and each is in a permitted tier.
    fn is_sound(&self) -> bool {
        let count = u64::from(self.info.turn_count - self.info.erased_turns);
        let in_tier = |tier| self.turns.values().filter(move |(is, _)| *is == tier).count() as u64;
        let hot = in_tier(MemoryTier::Hot);
        let is_whole = self.turns.len() as u64 == count
            && self.tokens == self.info.total_tokens
            && self.waiting == self.info.incomplete_turn
            && (self.waiting.is_none() || self.info.ended_at.is_none());
        let moved_there = self.turns.values().all(|(is, moved)| is == moved);
        let tiers_fit = match self.info.memory_tier {
            MemoryTier::Hot => {
                let numbers = |is_hot: bool| {
                    let of = self.turns.iter().filter(move |(_, (is, _))| (*is == MemoryTier::Hot) == is_hot);
                    of.map(|(number, _)| *number)
                };
                let is_newest = numbers(false).max() < numbers(true).min() || hot == 0;
                let may_be_none = count == 0 || self.waiting.is_some() || self.info.erased_turns > 0;
                self.info.ended_at.is_none()
                    && !self.has_summaries
                    && in_tier(MemoryTier::Cold) == 0
                    && is_newest
                    && hot <= MAX_HOT_TURNS
                    && (hot > 0 || may_be_none)
            }
            MemoryTier::Warm => self.info.ended_at.is_some() && hot == 0,
            MemoryTier::Cold => self.info.ended_at.is_some() && in_tier(MemoryTier::Cold) == count,
        };
        is_whole && moved_there && tiers_fit
    }
}
