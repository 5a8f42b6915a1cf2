//! Decides what happens to each turn of an ended session: kept verbatim or summarized, and which anchors it supports. Also
//! says how many turns are processed at once, and how many are replaced in one transaction.

use std::collections::HashMap;

use crate::{
    english::statements::statements,
    model::{
        anchor::FoundAnchor,
        critical::CriticalRule,
        ids::{SnapshotId, TurnId},
        summary::{BUILT_IN, Original},
        turn::{Side, Turn},
    },
    text::tokens::Tokenizer,
};

use super::{Verdict, anchors, critical, learned::LearnedCriticality, sketch};

/// The rules that are the same for all turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanRules {
    /// Turns of at most this many tokens are kept verbatim.
    pub(crate) verbatim_tokens: u32,
    pub(crate) tokenizer: Tokenizer,
    /// The name of the built-in summarizer if it summarizes the turns without a verified verdict; `None` if these wait.
    pub(crate) built_in: Option<&'static str>,
    /// Whether a verified summary by the configured summarizer replaces the original for good; otherwise the original is
    /// archived.
    pub(crate) is_deleting: bool,
}

/// The plan for one turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnPlan {
    /// Why the turn is critical; `None` if it is not.
    pub(crate) rule: Option<CriticalRule>,
    /// The summary that replaces the turn; `None` if the turn is kept verbatim.
    pub(crate) sketch: Option<NewSummary>,
    pub(crate) anchors: Vec<FoundAnchor>,
    /// Who found the anchors: the name of the configured summarizer, or [`BUILT_IN`].
    pub(crate) made_by: String,
}

/// A summary that is not in the file yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewSummary {
    pub(crate) summary_text: String,
    pub(crate) topic_keywords: Vec<String>,
    pub(crate) summary_tokens: u32,
    pub(crate) summarizer: String,
    /// The reliability of the turn's least reliable side, from 0 to 1.
    pub(crate) reliability: f64,
    /// What happens to the original turn.
    pub(crate) original: Original,
}

/// Verified verdicts, by turn, and the name of the summarizer.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) name: String,
    pub(crate) by_turn: HashMap<TurnId, Verdict>,
}

/// Plans consecutive turns of a session; `previous` is the snapshot of the turn before the first. The plan of a turn is
/// `None` if the turn has no verified verdict and waits for one.
pub(crate) fn plan(
    turns: &[Turn],
    mut previous: Option<SnapshotId>,
    verdicts: &Verdicts,
    learned: &LearnedCriticality,
    rules: PlanRules,
) -> Vec<Option<TurnPlan>> {
    let plan = |turn: &Turn| {
        let previous = std::mem::replace(&mut previous, turn.snapshot_id);
        plan_one(turn, previous, verdicts, learned, rules)
    };
    turns.iter().map(plan).collect()
}

fn plan_one(
    turn: &Turn,
    previous: Option<SnapshotId>,
    verdicts: &Verdicts,
    learned: &LearnedCriticality,
    rules: PlanRules,
) -> Option<TurnPlan> {
    let verdict = verdicts.by_turn.get(&turn.id);
    if verdict.is_none() && rules.built_in.is_none() {
        return None;
    }
    // A summarizer can add to the rules, but not overrule them.
    let by_summarizer =
        verdict.is_some_and(|verdict| verdict.is_critical).then_some(CriticalRule::Summarizer);
    let heard = statements(&turn.said.user_message);
    let found = anchors::find(&turn.said, &heard);
    let holding = critical::judge(turn, previous, &heard, &found).into_iter().chain(by_summarizer);
    let rule = learned.rule(turn.seq, holding);
    let is_kept = rule.is_some() || turn.tokens.total_tokens <= rules.verbatim_tokens;
    let sketch = (!is_kept).then(|| summary_of(turn, verdict, &verdicts.name, rules));
    // A summarizer finds more anchors in a turn than the rules do. If it finds none, those of the rules are used.
    let (anchors, made_by) = match verdict {
        Some(verdict) if !verdict.anchors.is_empty() => (verdict.anchors.clone(), verdicts.name.clone()),
        _ => (found, BUILT_IN.to_owned()),
    };
    Some(TurnPlan { rule, sketch, anchors, made_by })
}

/// Returns the verdict's summary, or the built-in one if there is no verdict. A verdict without keywords gets the built-in
/// ones. An original may be deleted only after a verified verdict.
fn summary_of(turn: &Turn, verdict: Option<&Verdict>, name: &str, rules: PlanRules) -> NewSummary {
    let said = verdict.map(|verdict| (verdict.summary_text.clone(), verdict.topic_keywords.clone()));
    let built_in = || sketch::sketch(&turn.said, rules.tokenizer);
    let (summary_text, topic_keywords) = match said {
        Some((text, keywords)) if keywords.is_empty() => (text, built_in().topic_keywords),
        Some(said) => said,
        None => {
            let sketch = built_in();
            (sketch.summary_text, sketch.topic_keywords)
        }
    };
    let is_deleting = rules.is_deleting && verdict.is_some();
    NewSummary {
        summary_tokens: rules.tokenizer.count(&summary_text),
        reliability: reliability(turn),
        summary_text,
        topic_keywords,
        summarizer: if verdict.is_some() { name } else { rules.built_in.unwrap_or(BUILT_IN) }.to_owned(),
        original: if is_deleting { Original::Deleted } else { Original::Archived },
    }
}

/// A summary is as reliable as its least reliable source.
fn reliability(turn: &Turn) -> f64 {
    let said = &turn.said;
    let heard = [Side::User, Side::Reply].into_iter().filter(|side| !said.side(*side).is_empty());
    heard.map(|side| said.voice(side).reliability()).fold(1.0, f64::min)
}

/// How many turns are read and processed at once: bounds the memory of a job, and how much a slow LLM#1 is asked before its
/// first answers are stored.
pub(crate) const CHUNK_TURNS: usize = 16;
/// How many turns are swapped at once and packed into one frame: 1 to 2 ms of the writer (benchmark `compress`). Larger
/// frames would be smaller in total (by 6 % at 64 KiB), but reading one turn unpacks its whole frame. A chunk is cut into
/// slices, so more than [`CHUNK_TURNS`] has no effect.
const SLICE_TURNS: usize = 16;
const _: () = assert!(SLICE_TURNS <= CHUNK_TURNS, "a slice is a part of a chunk");
const SLICE_BYTES: usize = 24 << 10;

/// Splits turns into groups for one swap each: in order, bounded by turns and bytes. A group of one may be larger.
pub(crate) fn slices(sizes: &[usize]) -> Vec<std::ops::Range<usize>> {
    let mut slices: Vec<std::ops::Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, &size) in sizes.iter().enumerate() {
        match slices.last_mut() {
            Some(slice) if slice.len() < SLICE_TURNS && bytes + size <= SLICE_BYTES => slice.end = at + 1,
            _ => {
                slices.push(at..at + 1);
                bytes = 0;
            }
        }
        bytes += size;
    }
    slices
}
