//! Finds what fits a query among a user's turns and memories: gathers each kind of evidence separately, ranks, and marks
//! what fits too badly to be shown.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta};

use crate::{
    error::Result,
    index::facts::UnitFacts,
    model::{
        anchor::Anchor,
        place::{Owner, Place},
        profile::{Parts, Profile, rounded},
        receipt::{ItemKind, LEAST_STRENGTH, Newer},
    },
    recall::{
        anchor_evidence, graph,
        later::{self, Newest},
        lexical::{self, LexicalScores},
        memory_evidence,
        message::PreparedQuestion,
        score::{self, LiveFactors, MOST_MEMORIES, RankingEvidence, ScoredUnit, TimeOnlyFit, Wanting},
        semantic::{self, SemanticScores},
        sieve::Sieve,
        user_index::{IndexDamage, UserIndex},
    },
    store::{rows::memories::recalled::UnitMemory, scope::Scope, snapshot::Snapshot},
    text::words::Word,
};

/// The ranked results.
#[derive(Debug)]
pub(crate) struct RankedUnits {
    /// The best units, best first. After the wanted number come the newest units about the things that these tell.
    pub(crate) ranked: Vec<ScoredUnit>,
    /// The origin of each unit of `ranked`.
    pub(crate) origins: Vec<HitOrigin>,
    /// The memories among `ranked`, by their units.
    pub(crate) memories: HashMap<u32, UnitMemory>,
    /// For each unit of `ranked`, by its number: the other units of the same piece of knowledge, which fit less well.
    pub(crate) same_source: HashMap<u32, Vec<ScoredUnit>>,
    /// The weight of each word of the query.
    pub(crate) words: Vec<(Word, f64)>,
    /// The model whose vectors were compared.
    pub(crate) model: Option<String>,
    /// What failed or is not ready yet, so that the search ran without it.
    pub(crate) missing: Vec<String>,
    /// The confidence that something answers the query, from 0 to 1.
    pub(crate) confidence: f64,
    /// Whether the search met damage that a job can repair.
    pub(crate) is_index_damaged: bool,
}

/// The turn or memory of a hit, and its evidence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HitOrigin {
    /// The turn or memory that the unit represents.
    pub(crate) owner: Owner,
    /// The piece that matched best by meaning, and its cosine.
    pub(crate) piece: Option<(u8, f32)>,
    /// Whether the unit fits by itself, not only through its neighbours.
    pub(crate) has_evidence: bool,
    /// Whether the unit fits too badly for a context: every query has a best result, even if nothing answers it.
    pub(crate) is_below_floor: bool,
    /// The newest unit about the same thing, if it is another one.
    pub(crate) newer: Option<Newer>,
}

/// A result fits by itself from this confidence up. Chosen on the sets of docs/recall.md.
const LEAST_SURE: f64 = 0.02;
/// A result that scores below this share of the best is not shown.
const FLOOR: f64 = 0.2;
/// A turn without evidence is shown if a neighbour fits by itself and lends it at least this much.
const BESIDE: f64 = 0.1;

/// Confidence is the maximum over this many of the best units, however many are wanted.
const SUREST_OF: usize = 32;

/// Returns the confidence that something answers: an anchor that the query calls for, or one of the best units.
fn confidence(question: &PreparedQuestion<'_>, index: &UserIndex, ranked: &[ScoredUnit]) -> f64 {
    let anchors = anchor_evidence::relevant(question.query, question.shown(&index.anchors)).into_iter();
    let anchors = anchors.map(|(_, score)| ItemKind::Anchor.confidence(score, &Parts::default()));
    let units = ranked.iter().take(SUREST_OF).map(|unit| unit.parts.confidence());
    anchors.chain(units).fold(0.0, f64::max)
}

/// Marks what is below the floor: everything, if `is_unsure`.
fn set_floor(ranked: &[ScoredUnit], origins: &mut [HitOrigin], is_unsure: bool) {
    let best = ranked.first().map_or(0.0, |unit| unit.score);
    let evident: HashSet<Place> = origins
        .iter()
        .filter(|origin| origin.has_evidence)
        .filter_map(|origin| origin.owner.place())
        .collect();
    let is_beside = |Place { session, turn_number }: Place| {
        [turn_number.wrapping_sub(1), turn_number + 1]
            .iter()
            .any(|&beside| evident.contains(&session.turn(beside)))
    };
    for (unit, origin) in ranked.iter().zip(origins.iter_mut()) {
        // A memory has no neighbouring turn; whatever lends to it fits by itself.
        let is_beside = || origin.owner.place().is_none_or(is_beside);
        let fits = origin.has_evidence || (unit.parts.neighbours >= BESIDE && is_beside());
        origin.is_below_floor = is_unsure || !fits || unit.score < FLOOR * best;
    }
    // If an item is shown, the latest about the same thing is shown too.
    let shown = origins.iter().filter(|origin| !origin.is_below_floor);
    let newest: HashSet<i64> = shown.filter_map(|origin| Some(origin.newer?.seq)).collect();
    for (unit, origin) in ranked.iter().zip(origins) {
        origin.is_below_floor &= !newest.contains(&unit.seq.into());
    }
}

/// Cuts to the first `k`, and appends the newest units about the things that these tell.
fn add_newest(ranked: &mut Vec<ScoredUnit>, newest: &Newest, k: usize) {
    let behind = if ranked.len() > k { ranked.split_off(k) } else { Vec::new() };
    let missing = ranked.iter().filter_map(|unit| newest.get(&unit.seq).copied());
    let mut missing: Vec<u32> =
        missing.filter(|newest| ranked.iter().all(|unit| unit.seq != *newest)).collect();
    missing.sort_unstable();
    missing.dedup();
    let unranked = |seq| ScoredUnit { seq, score: 0.0, parts: Parts::default() };
    let scored = |seq| behind.iter().find(|unit| unit.seq == seq).copied().unwrap_or(unranked(seq));
    let mut missing: Vec<ScoredUnit> = missing.into_iter().map(scored).collect();
    missing.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked.extend(missing);
}

/// The results of each kind of evidence.
struct Legs {
    words: LexicalScores,
    meaning: SemanticScores,
    /// The unit number of each unit that proves a relevant anchor, and the strength of its strongest one.
    anchors: Vec<(u32, f64)>,
}

impl Legs {
    /// Removes what was found through outdated texts of memories.
    fn without(&mut self, older: &[u32], index: &UserIndex) {
        self.words.without(older, index);
        self.meaning.without(older);
    }
}

/// Ranks the user's units, and returns the best `k` that pass the sieve, best first. If the user has memories, returns the
/// best `k` turns and the best memories, not yet merged into pieces of knowledge.
pub(crate) fn find(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &mut UserIndex,
    question: &PreparedQuestion<'_>,
    k: usize,
    sieve: &Sieve,
) -> RankedUnits {
    let mut missing = Vec::new();
    let words = lexical::look_up(snapshot, scope, index, &question.sought).unwrap_or_else(|error| {
        missing.push(format!("words: {error}"));
        LexicalScores::default()
    });
    let meaning = semantic::look_up((snapshot, scope), index, question, &words, &mut missing);
    let anchors = anchor_strengths(snapshot, scope, index, question).unwrap_or_else(|error| {
        missing.push(format!("anchors: {error}"));
        Vec::new()
    });
    let mut legs = Legs { words, meaning, anchors };
    let depth = k.max(SUREST_OF);
    let (mut ranked, memories) = if index.memories().is_empty() {
        let wanting = Wanting { turns: depth, memories: 0 };
        (ranks(index, question, &legs, wanting, &sieve.passing(index)), HashMap::new())
    } else {
        with_memories((snapshot, scope), index, question, &mut legs, (depth, sieve), &mut missing)
    };
    let Legs { words, meaning, .. } = legs;
    let IndexDamage { anchors: damaged_anchors, blocks, vectors } = index.damage;
    if damaged_anchors > 0 {
        missing.push(format!("anchors: {damaged_anchors} are damaged; doctor says which"));
    }
    let damaged = [("words", words.is_damaged()), ("index", blocks > 0), ("vectors", vectors > 0)];
    for (part, _) in damaged.iter().filter(|(_, is_damaged)| *is_damaged) {
        missing.push(format!("{part}: a part is damaged; a job makes it anew"));
    }
    let is_index_damaged = damaged.iter().any(|(_, is_damaged)| *is_damaged);
    let query = question.query;
    let of_the_talk = query.refers_back || query.is_follow_up;
    let personal = query.refers_to_self || of_the_talk || words.names_speaker();
    // Nothing answers a message without content.
    for unit in ranked.iter_mut().filter(|_| !query.is_small_talk) {
        (unit.parts.coverage, unit.parts.cosine) = fit(question, &words, &meaning, unit.seq);
        unit.parts.personal = f64::from(u8::from(personal));
    }
    let newest = newest((snapshot, scope), index, (question, &words), (&ranked, sieve), &mut missing);
    let confidence = confidence(question, index, &ranked);
    let behind = if memories.is_empty() { k } else { ranked.len() };
    add_newest(&mut ranked, &newest, behind);
    let proves = |parts: &Parts| parts.anchors > 0.0 && question.profile.weights().is_some();
    let origin = |unit: &ScoredUnit| HitOrigin {
        owner: index.unit(unit.seq).map_or(Owner::Memory, UnitFacts::owner),
        piece: meaning.piece(unit.seq),
        has_evidence: unit.parts.confidence() >= LEAST_SURE || proves(&unit.parts),
        is_below_floor: false,
        newer: newest.get(&unit.seq).and_then(|newer| {
            let UnitFacts { seq, said_at_ms, .. } = *index.unit(*newer)?;
            Some(Newer { seq: seq.into(), said_at: DateTime::from_timestamp_millis(said_at_ms)? })
        }),
    };
    let mut origins: Vec<HitOrigin> = ranked.iter().map(origin).collect();
    set_floor(&ranked, &mut origins, confidence < question.min_confidence);
    let (words, model) = (words.weights(), meaning.model);
    let same_source = HashMap::new();
    RankedUnits {
        ranked,
        origins,
        memories,
        same_source,
        words,
        model,
        missing,
        confidence,
        is_index_damaged,
    }
}

/// Ranks a user's units if there are memories. If an outdated text of a memory comes up, it is removed for good, and
/// everything is ranked again.
fn with_memories(
    at: (&Snapshot<'_>, &Scope),
    index: &mut UserIndex,
    question: &PreparedQuestion<'_>,
    legs: &mut Legs,
    (depth, sieve): (usize, &Sieve),
    missing: &mut Vec<String>,
) -> (Vec<ScoredUnit>, HashMap<u32, UnitMemory>) {
    /// From this round on, outdated texts are only left out of this search.
    const MOST_ROUNDS: usize = 8;
    legs.without(index.older(), index);
    let memories = if sieve.has_turns() { MOST_MEMORIES } else { depth.max(MOST_MEMORIES) };
    // A memory may cover many turns, which form one piece with it.
    let wanting = Wanting { turns: depth + MOST_MEMORIES, memories };
    let mut round = 0;
    loop {
        round += 1;
        let passing = sieve.passing(index);
        let mut ranked = ranks(index, question, legs, wanting, &passing);
        let met = memory_evidence::meet(at, index, (&ranked, round), missing);
        let (mut known, older) = met.unwrap_or_else(|error| {
            missing.push(format!("memories: {error}"));
            Default::default()
        });
        if !older.is_empty() && round < MOST_ROUNDS {
            index.take_out(&older);
            legs.without(&older, index);
            continue;
        }
        let is_memory = |unit: &ScoredUnit| index.memories().binary_search(&unit.seq).is_ok();
        ranked.retain(|unit| known.contains_key(&unit.seq) || !is_memory(unit));
        let profile = &question.profile;
        memory_evidence::apply(&mut ranked, &known, (profile, question.now));
        if profile.weights().is_some() {
            memory_evidence::lend_to_sources(&mut ranked, &known, profile);
            if question.graph {
                graph::lend(at, (index, &passing), (profile, question.now), &mut ranked, &mut known)
                    .unwrap_or_else(|error| missing.push(format!("graph: {error}")));
            }
        }
        if let Err(error) = memory_evidence::read_words(at, &mut known) {
            missing.push(format!("memories: {error}"));
            ranked.retain(|unit| !is_memory(unit));
            known.clear();
        }
        if !is_of_time(question) {
            ranked.sort_by(score::by_rank(index));
        }
        return (ranked, known);
    }
}

/// Whether the query asks for a time and nothing else.
fn is_of_time(question: &PreparedQuestion<'_>) -> bool {
    question.query.is_only_time && question.profile.weights().is_some()
}

/// Returns the best units by the evidence, best first.
fn ranks(
    index: &UserIndex,
    question: &PreparedQuestion<'_>,
    Legs { words, meaning, anchors }: &Legs,
    wanting: Wanting,
    passing: &[bool],
) -> Vec<ScoredUnit> {
    let (spans, ahead) = (&question.query.spans, &question.query.ahead);
    let is_within = |at_ms, or_after| spans.iter().any(|span| span.contains(at_ms, or_after));
    let happens = |unit: &UnitFacts| {
        let falls_into = |event| spans.iter().chain(ahead).any(|span| span.holds(event, unit.said_at_ms));
        unit.event.is_some_and(falls_into)
    };
    if is_of_time(question) {
        let is_said = |unit: &UnitFacts| is_within(unit.said_at_ms, TimeDelta::zero());
        // What is asked for comes first: what happened at that time, or what was said then.
        let wanted = |unit: &UnitFacts| match (question.query.asks_of_events, is_said(unit), happens(unit)) {
            (true, _, true) | (false, true, _) => Some(TimeOnlyFit::First),
            (true, true, false) | (false, false, true) => Some(TimeOnlyFit::Behind),
            _ => None,
        };
        return score::of_time(index, &wanted, wanting, passing);
    }
    let word_scores = words.scores(index.units.len());
    let meaning_scores = meaning.scores(index.units.len(), question.profile);
    // "When did I see the dentist?" is answered by something that states a time.
    let asks_when = question.query.asks_when && spans.is_empty();
    let says_when = |unit: &UnitFacts| asks_when && unit.event.is_some();
    let session_words = words.session_scores(index.session_count());
    let asks_for_many = question.query.asks_for_many;
    // A message that asks for many turns asks for them at any time.
    let leaning = if asks_for_many { 0.0 } else { words.leaning() };
    let evidence = RankingEvidence {
        words: &word_scores,
        live: LiveFactors {
            time: asks_when || !(spans.is_empty() && ahead.is_empty()),
            speaker: words.names_speaker(),
            quote: words.quotes(),
            anchors: !anchors.is_empty(),
            continuation: leaning,
        },
        meaning: &meaning_scores,
        anchors: &|seq| {
            let at = anchors.binary_search_by_key(&seq, |(seq, _)| *seq);
            at.map_or(0.0, |at| anchors[at].1)
        },
        by_speaker: &|seq| words.is_spoken_by_whom_it_names(seq),
        is_quoted: &|seq| words.is_quoted(seq),
        in_time: &|unit| is_within(unit.said_at_ms, TOLD_WITHIN) || happens(unit) || says_when(unit),
        session_words: &session_words,
        leaning,
        asks_for_many,
        now_ms: question.now.timestamp_millis(),
    };
    score::rank(index, &evidence, &question.profile, wanting, passing)
}

/// Finds the newest units about the things that the results tell, if the query asks how things are.
fn newest(
    at: (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    (question, words): (&PreparedQuestion<'_>, &LexicalScores),
    (ranked, sieve): (&[ScoredUnit], &Sieve),
    missing: &mut Vec<String>,
) -> Newest {
    if !question.query.asks_of_now || question.profile.weights().is_none() {
        return Newest::new();
    }
    later::newest(at, index, (question.query, words), ranked, sieve).unwrap_or_else(|error| {
        missing.push(format!("later turns: {error}"));
        Newest::new()
    })
}

/// Returns the unit's share of the words and its nearness, for the search that it fits best. What is told next to a question
/// counts as far as the message leans on it: `What does this mean?` before an error is about the error.
fn fit(
    question: &PreparedQuestion<'_>,
    words: &LexicalScores,
    meaning: &SemanticScores,
    seq: u32,
) -> (f64, f64) {
    let fits = (0..question.sought.len()).map(|at| {
        let share = words.share(at);
        (share * words.coverage(at, seq), share * meaning.nearness(seq, at))
    });
    let best = fits.max_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
    best.map_or((0.0, 0.0), |(coverage, cosine)| (coarse(coverage), coarse(cosine)))
}

/// Rounds to three decimals: receipts store the number, and it is no more precise than that.
fn coarse(number: f32) -> f64 {
    (f64::from(number) * 1e3).round() / 1e3
}

/// People mention a day on the days after it: in a query that also asks for other things, a time includes the week after it.
const TOLD_WITHIN: TimeDelta = TimeDelta::days(7);

/// Returns the unit number of each unit that proves a relevant anchor, ascending, with the strength of its strongest one.
fn anchor_strengths(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &UserIndex,
    question: &PreparedQuestion<'_>,
) -> Result<Vec<(u32, f64)>> {
    let wanted: Vec<(&Anchor, f64)> = match question.profile {
        Profile::Paper { .. } => index
            .anchors
            .iter()
            .filter(|anchor| anchor.is_current())
            .map(|anchor| (anchor, anchor.strength))
            .collect(),
        Profile::Recency => Vec::new(),
        _ => {
            let mut relevant = anchor_evidence::relevant(question.query, &index.anchors);
            relevant.retain(|(_, strength)| *strength >= LEAST_STRENGTH);
            relevant
        }
    };
    let mut strengths = Vec::new();
    for (anchor, strength) in wanted {
        for seq in snapshot.sources_of_anchor(scope, anchor.id)? {
            strengths.push((seq, rounded(strength)));
        }
    }
    strengths.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    strengths.dedup_by_key(|(seq, _)| *seq);
    Ok(strengths)
}
