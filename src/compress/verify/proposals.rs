//! Checks the memories that LLM#1 proposes: a proposal is accepted only if its quotes are in their turns and prove what it
//! says.

use crate::{
    compress::{
        Proposal,
        verify::{
            anchors::Normal,
            language, orders,
            plain::{self, tidy},
            source::SourceText,
            told,
        },
    },
    model::{
        memory::{
            new::NewMemory,
            procedure::Procedure,
            words::{InformationType, MemoryKind, Volatility},
        },
        turn::{Origin, Side, Turn},
    },
    text::words,
};

/// How many proposals are examined: only a few per session are kept.
const MOST: usize = 32;
const MAX_TITLE_BYTES: usize = 200;
const MAX_CONTENT_BYTES: usize = 2_000;
const MAX_STEP_BYTES: usize = 500;
const MAX_QUOTE_BYTES: usize = 1_000;
const MOST_QUOTES: usize = 8;
const MOST_STEPS: usize = 20;
const MOST_TAGS: usize = 8;
const MAX_TAG_BYTES: usize = 40;
const MAX_SLOT_BYTES: usize = 100;
/// A quote with fewer words proves nothing.
const LEAST_QUOTED: usize = 3;

/// A proposal that its turns prove.
#[derive(Debug)]
pub(crate) struct Proven {
    pub(crate) new: NewMemory,
    /// For each quote: its turn, the origin of the side that says it, and the words as that side writes them.
    pub(crate) quotes: Vec<(Turn, Origin, String)>,
}

/// Returns the proposals that hold. The others are dropped silently, because they are not asked for again.
pub(crate) fn proposals(turns: &[Turn], proposals: Vec<Proposal>) -> Vec<Proven> {
    proposals.into_iter().take(MOST).filter_map(|proposal| prove(turns, proposal)).collect()
}

fn prove(turns: &[Turn], proposal: Proposal) -> Option<Proven> {
    let Proposal { kind, title, content, quotes, outcome, tags, steps, volatility, slot } = proposal;
    // Sizes first, so that a hostile megabyte is never read.
    let is_in_bounds = title.len() <= MAX_TITLE_BYTES
        && content.len() <= MAX_CONTENT_BYTES
        && (1..=MOST_QUOTES).contains(&quotes.len())
        && quotes.iter().all(|(_, quote)| quote.len() <= MAX_QUOTE_BYTES)
        && steps.len() <= MOST_STEPS
        && steps.iter().all(|step| step.len() <= MAX_STEP_BYTES)
        && slot.as_ref().is_none_or(|slot| slot.len() <= MAX_SLOT_BYTES);
    let is_procedure = kind == MemoryKind::Procedure;
    let holds_for_hours = matches!(volatility, Some(Volatility::High | Volatility::Ephemeral));
    if !is_in_bounds || kind == MemoryKind::Insight || is_procedure == steps.is_empty() || holds_for_hours {
        return None;
    }
    let quotes = quotes.iter().map(|(id, quote)| {
        let turn = turns.iter().find(|turn| turn.id == *id)?;
        let (origin, own) = side_of(turn, quote)?;
        (words::query_words(own).len() >= LEAST_QUOTED).then(|| (turn.clone(), origin, own.to_owned()))
    });
    let quotes: Vec<(Turn, Origin, String)> = quotes.collect::<Option<_>>()?;
    let (title, content) = (tidy(&title), tidy(&content));
    let steps: Vec<String> = steps.iter().map(|step| tidy(step)).collect();
    let proof = QuoteProof::of(&quotes);
    let texts = [&title, &content].into_iter().chain(&steps);
    if content.ends_with('?') || !texts.into_iter().all(|text| proof.proves(text)) {
        return None;
    }
    let mut new = NewMemory::new(kind, title, content);
    new.birth.outcome = outcome;
    new.volatility = volatility.or(Some(InformationType::default().default_volatility()));
    new.tags = tags.into_iter().take(MOST_TAGS).filter(|tag| proof.has_tag(tag)).collect();
    new.goal_signature = slot.filter(|slot| is_slot(slot));
    new.procedure = is_procedure.then(|| Procedure::new(steps));
    Some(Proven { new, quotes })
}

/// Finds the side that says a quote, the user's first: returns its origin, and the quote as it is written there.
fn side_of<'t>(turn: &'t Turn, quote: &str) -> Option<(Origin, &'t str)> {
    let said = &turn.said;
    let sides = [Side::User, Side::Reply].map(|side| (said.voice(side), said.side(side)));
    sides.into_iter().find_map(|(origin, text)| Some((origin, Normal::of(text).find(text, quote)?)))
}

/// What the quotes of a proposal prove: the quoted sentences, and no more of their turns.
struct QuoteProof {
    quoted: Vec<String>,
    source: SourceText,
}

impl QuoteProof {
    fn of(quotes: &[(Turn, Origin, String)]) -> Self {
        let sides: Vec<String> = quotes.iter().map(|(.., quote)| quote.clone()).collect();
        let said_on = quotes.iter().map(|(turn, ..)| turn.timestamp.date_naive()).max().unwrap_or_default();
        let source = SourceText::of_text(&sides.join("\n"), said_on);
        Self { quoted: sides, source }
    }

    /// Whether a text is plain, gives no instruction, is in the language of the quotes, and says nothing that they do not
    /// say.
    fn proves(&self, text: &str) -> bool {
        let is_plain = text.chars().any(char::is_alphanumeric)
            && plain::check(text).is_ok()
            && plain::check_voice(text, &self.source).is_ok();
        if !is_plain {
            return false;
        }
        let quoted: Vec<&str> = self.quoted.iter().map(String::as_str).collect();
        let folded = told::folded(text, &self.source);
        let told = told::told(&folded, &self.source);
        orders::check_alone(&told).is_ok()
            && language::fits(&quoted, text)
            && self.source.check_facts(text).is_ok()
            && told::check(&told, &self.source).is_ok()
    }

    fn has_tag(&self, tag: &str) -> bool {
        tag.len() <= MAX_TAG_BYTES && plain::check(tag).is_ok() && self.source.has_words_of(tag)
    }
}

/// Whether a slot has the form of a slot: lower-case letters, digits and `: _ - .`, beginning with a letter.
fn is_slot(slot: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ":_-.".contains(c);
    slot.starts_with(|c: char| c.is_ascii_lowercase()) && slot.chars().all(is_sign)
}

#[cfg(test)]
mod tests;
