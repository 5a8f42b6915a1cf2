//! Extracts by rules what an ended session teaches: what was decided, which problem was fixed and how, and which steps
//! worked. Also rates the memories that the session used. What the rules find is quoted from the session, without bold
//! markup, and shortened for titles.

mod echo;
mod hearing;
pub(crate) mod rating;
mod steps;

use chrono::{DateTime, Utc};

pub(crate) use hearing::Hearing;

use crate::{
    english::lessons,
    memory::copies::Runs,
    model::{
        ids::TurnId,
        memory::{
            new::NewMemory,
            procedure::Procedure,
            trust::Trust,
            words::{Frequency, LearningSource, MemoryKind, Outcome},
        },
        turn::Origin,
    },
};

/// The maximum number of memories from a session: looking for more finds chatter.
pub(crate) const MOST: usize = 5;
/// The maximum length of a title in characters; it is cut at a word.
const TITLE_CHARS: usize = 80;

/// The words of a turn that prove something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) turn_id: TurnId,
    /// The turn's number in `recall_units`.
    pub(crate) seq: i64,
    pub(crate) said_at: DateTime<Utc>,
    /// The origin of the side that says so, or of the tool or document that it repeats.
    pub(crate) origin: Origin,
    pub(crate) quote: String,
}

/// Something that is worth knowing later.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learned {
    pub(crate) new: NewMemory,
    /// The words that prove it; at least one proof.
    pub(crate) proofs: Vec<Proof>,
}

/// Something to keep, with the problem that it solves, if any.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) learned: Learned,
    pub(crate) solves: Option<Learned>,
}

impl Learned {
    /// Creates a memory with a sentence as content, without bold markup.
    fn of(kind: MemoryKind, sentence: &str, proofs: Vec<Proof>) -> Self {
        Self::headed(kind, sentence, sentence, proofs)
    }

    /// Creates the same, with a part of the sentence as title.
    fn headed(kind: MemoryKind, part: &str, sentence: &str, proofs: Vec<Proof>) -> Self {
        let [title, content] = [part, sentence].map(|text| text.replace("**", ""));
        Self::titled(kind, &capitalized(&title), &content, proofs)
    }

    /// Creates a memory with a separate title.
    fn titled(kind: MemoryKind, title: &str, content: &str, proofs: Vec<Proof>) -> Self {
        Self::proposed(NewMemory::new(kind, titled(title), content), proofs)
    }

    fn ended(mut self, outcome: Outcome) -> Self {
        self.new = self.new.outcome(outcome);
        self
    }

    fn in_steps(mut self, steps: Vec<String>) -> Self {
        self.new = self.new.procedure(Procedure::new(steps));
        self
    }

    /// Creates a memory proposed by LLM#1, with the words that prove it.
    pub(crate) fn proposed(new: NewMemory, proofs: Vec<Proof>) -> Self {
        let mut learned = Self { new, proofs };
        learned.new.origin = least_trusted(&learned.proofs);
        learned.new.frequency = Some(Frequency::High);
        learned.new.learning_source = LearningSource::Execution;
        learned.new.said_at = learned.proofs.iter().map(|proof| proof.said_at).max();
        learned
    }

    /// Whether the memory holds only for hours or less.
    pub(crate) fn is_fleeting(&self) -> bool {
        lessons::is_fleeting(&self.new.title) || lessons::is_fleeting(&self.new.content)
    }

    /// Returns the runs of words of the memory's text.
    pub(crate) fn runs(&self) -> Runs {
        Runs::of(&self.said())
    }

    fn said(&self) -> String {
        let steps = self.new.procedure.iter().flat_map(Procedure::lines);
        [self.new.content.as_str()].into_iter().chain(steps).collect::<Vec<_>>().join("\n")
    }
}

impl Finding {
    /// Returns how many memories the finding is: itself, and the problem that it solves.
    pub(crate) fn count(&self) -> usize {
        1 + usize::from(self.solves.is_some())
    }
}

/// Returns the findings of a session that are kept in addition to those in `beside`: fixes first, then procedures, then
/// decisions, the newest of each first, without duplicates. Together they are at most [`MOST`] memories.
pub(crate) fn best(mut found: Vec<Finding>, beside: &[Finding]) -> Vec<Finding> {
    let worth = |found: &Finding| match (&found.solves, found.learned.new.kind) {
        (Some(_), _) => 0,
        (None, MemoryKind::Procedure) => 1,
        _ => 2,
    };
    found.reverse();
    found.sort_by_key(worth);
    let mut room = MOST.saturating_sub(beside.iter().map(Finding::count).sum());
    let mut known: Vec<Runs> = beside.iter().map(|found| found.learned.runs()).collect();
    found.retain(|one| {
        let runs = one.learned.runs();
        let is_known = known.iter().any(|other| runs.is_copy_of(other) || other.is_copy_of(&runs));
        let is_kept = one.count() <= room && !is_known;
        if is_kept {
            room -= one.count();
            known.push(runs);
        }
        is_kept
    });
    found
}

/// Returns the least trusted origin among these.
fn least_trusted(proofs: &[Proof]) -> Origin {
    let least = proofs.iter().map(|proof| proof.origin).min_by_key(|origin| Trust::of(*origin));
    least.unwrap_or(Origin::Document)
}

fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// Returns a sentence as a title: whole, or cut at a word.
fn titled(sentence: &str) -> String {
    let sentence = sentence.trim().trim_end_matches(['.', '!', ':', ';', ',']);
    if sentence.chars().count() <= TITLE_CHARS {
        return sentence.to_owned();
    }
    let end = sentence.char_indices().nth(TITLE_CHARS).map_or(sentence.len(), |(at, _)| at);
    let cut = sentence[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
    format!("{}\u{2026}", sentence[..cut].trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests;
