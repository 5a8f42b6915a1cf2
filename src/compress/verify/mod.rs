//! LLM#1's answers are untrusted: each verdict is checked against its turn, and cleaned or refused; each proposed memory is
//! checked against its quotes. Pure functions.
//!
//! A verdict is derived from text that may be hostile, by a model that may be careless. The summary of a verdict that passes
//! may replace the turn from then on, so the turn must support the summary's links, numbers and dates, and contain enough of
//! its words; in doubt, the verdict is refused. A turn without a good verdict is asked about again, and finally left to the
//! built-in summarizer, which costs little; accepting a wrong summary costs the truth.

mod anchors;
mod answers;
mod dates;
mod flaw;
mod language;
mod links;
mod numbers;
mod orders;
mod plain;
mod proposals;
mod source;
mod told;

use std::collections::{HashMap, HashSet};

pub(crate) use flaw::Flaw;
pub(crate) use proposals::{Proven, proposals};

use crate::{
    compress::{
        Verdict,
        verify::{plain::tidy, source::SourceText},
    },
    model::{
        ids::TurnId,
        summary::{FEWEST_KEYWORDS, MOST_KEYWORDS},
        turn::Turn,
    },
    text::words,
};

/// About 90 tokens of English, or 60 of a language written in two bytes per letter. Summaries aim at 50 tokens, but one that
/// is a little longer is not wrong. In bytes, so that a hostile megabyte is refused without a tokenizer.
const MAX_SUMMARY_BYTES: usize = 400;
/// Only below this size may a summary be longer than its turn: naming the speaker costs a few words.
const TINY_TURN_BYTES: usize = 200;
/// The longest keyword: a short phrase.
const MAX_KEYWORD_BYTES: usize = 60;
/// How many keywords are examined. A longer list is not a list of keywords, and need not be read.
const MAX_KEYWORDS_READ: usize = 50;

/// A checked answer.
#[derive(Debug)]
pub(crate) struct Sorted {
    /// For each requested turn, in order: its verdict, cleaned, or what was wrong with it.
    pub(crate) turns: Vec<(TurnId, Result<Verdict, Flaw>)>,
    /// How many verdicts were about turns that were not asked for. These are ignored.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests tell by it what was not believed"))]
    pub(crate) foreign_count: usize,
    /// How many anchors of good verdicts were not accepted. The verdicts stay good.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests tell by it what was not believed"))]
    pub(crate) dropped_anchor_count: usize,
}

impl Sorted {
    /// The good verdicts, in the turns' order.
    pub(crate) fn good(&self) -> impl Iterator<Item = &Verdict> {
        self.turns.iter().filter_map(|(_, verdict)| verdict.as_ref().ok())
    }

    /// The turns without a good verdict, and why.
    pub(crate) fn flawed(&self) -> impl Iterator<Item = (TurnId, Flaw)> {
        self.turns.iter().filter_map(|(id, verdict)| verdict.as_ref().err().map(|&flaw| (*id, flaw)))
    }
}

/// Checks every verdict against its turn. Idempotent.
pub(crate) fn sort(turns: &[Turn], verdicts: Vec<Verdict>) -> Sorted {
    let asked: HashSet<TurnId> = turns.iter().map(|turn| turn.id).collect();
    let mut said: HashMap<TurnId, Result<Verdict, Flaw>> = HashMap::new();
    let mut foreign_count = 0;
    for verdict in verdicts {
        if asked.contains(&verdict.turn_id) {
            said.entry(verdict.turn_id)
                .and_modify(|known| *known = Err(Flaw::Duplicate))
                .or_insert(Ok(verdict));
        } else {
            foreign_count += 1;
        }
    }
    let mut dropped_anchor_count = 0;
    let mut results = Vec::with_capacity(turns.len());
    for turn in turns {
        let said = said.remove(&turn.id).unwrap_or(Err(Flaw::Missing));
        let given = said.as_ref().map_or(0, |verdict| verdict.anchors.len());
        let result = said.and_then(|verdict| clean(turn, verdict));
        dropped_anchor_count += result.as_ref().map_or(0, |cleaned| given - cleaned.anchors.len());
        results.push((turn.id, result));
    }
    refuse_repeated(turns, &mut results);
    Sorted { turns: results, foreign_count, dropped_anchor_count }
}

fn clean(turn: &Turn, verdict: Verdict) -> Result<Verdict, Flaw> {
    if verdict.summary_text.len() > 4 * MAX_SUMMARY_BYTES {
        return Err(Flaw::TooLong); // Checked before anything reads the text.
    }
    let summary_text = tidy(&verdict.summary_text);
    let source = SourceText::of_turn(turn);
    check_summary(&summary_text, turn, &source)?;
    Ok(Verdict {
        turn_id: turn.id,
        is_critical: verdict.is_critical,
        summary_text,
        topic_keywords: clean_keywords(&verdict.topic_keywords, &source),
        anchors: anchors::clean(turn, verdict.anchors),
    })
}

/// Cheap checks first, so that hostile text reaches the costly ones only if it is short and plain.
fn check_summary(summary: &str, turn: &Turn, source: &SourceText) -> Result<(), Flaw> {
    if !summary.chars().any(char::is_alphanumeric) {
        return Err(Flaw::Empty);
    }
    if summary.len() > MAX_SUMMARY_BYTES {
        return Err(Flaw::TooLong);
    }
    plain::check(summary)?;
    plain::check_voice(summary, source)?;
    let folded = told::folded(summary, source);
    let told = told::told(&folded, source);
    orders::check(&told)?;
    let sides = [turn.said.user_message.as_str(), turn.said.ai_response.as_str()];
    let turn_bytes = sides[0].len() + sides[1].len();
    if summary.len() > turn_bytes.max(TINY_TURN_BYTES) {
        return Err(Flaw::LongerThanTurn);
    }
    if !language::fits(&sides, summary) {
        return Err(Flaw::OtherLanguage);
    }
    source.check_facts(summary)?;
    told::check(&told, source)
}

/// Drops keywords that are bad or not in the turn's own words, and truncates the list. If too few are left, returns none, so
/// that the built-in ones are used.
fn clean_keywords(keywords: &[String], source: &SourceText) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut folded: HashSet<String> = HashSet::new();
    for keyword in keywords.iter().take(MAX_KEYWORDS_READ) {
        if keyword.len() > 4 * MAX_KEYWORD_BYTES {
            continue;
        }
        let keyword = tidy(keyword);
        let is_good = keyword.chars().any(char::is_alphanumeric)
            && keyword.len() <= MAX_KEYWORD_BYTES
            && plain::check(&keyword).is_ok()
            && source.check_facts(&keyword).is_ok()
            && source.has_words_of(&keyword);
        if is_good && folded.insert(words::fold(&keyword)) {
            kept.push(keyword);
        }
    }
    kept.truncate(MOST_KEYWORDS);
    if kept.len() < FEWEST_KEYWORDS {
        kept.clear();
    }
    kept
}

/// Refuses a sentence that summarizes two turns that say different things, because it helps to find neither.
fn refuse_repeated(turns: &[Turn], results: &mut [(TurnId, Result<Verdict, Flaw>)]) {
    let mut first_with: HashMap<String, usize> = HashMap::new();
    let mut repeated: Vec<usize> = Vec::new();
    for (at, (_, result)) in results.iter().enumerate() {
        let Ok(verdict) = result else { continue };
        let first = *first_with.entry(words::fold(&verdict.summary_text)).or_insert(at);
        if first != at && turns[first].said != turns[at].said {
            repeated.extend([first, at]);
        }
    }
    for at in repeated {
        results[at].1 = Err(Flaw::Repeated);
    }
}

#[cfg(test)]
mod tests;
