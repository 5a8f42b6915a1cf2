//! Values that are phrases: what somebody likes, and what they want.

use crate::{
    compress::anchors::words::{
        AIM_ENDS, ARTICLES, ENDS, Extracted, HALVES, NO_START, VAGUE_AIMS, VAGUE_VERBS, Words, is_in,
    },
    english::dull_words::is_dull,
};

impl Words<'_, '_> {
    /// A phrase without a verb, of things in general: not `it`, `this`, `your idea`, `how you ...`.
    pub(crate) fn thing(&self, from: usize) -> Option<Extracted> {
        /// Longer phrases are sentences.
        const MOST: usize = 6;
        let from = from + usize::from(matches!(self.lower(from), "also" | "really" | "just"));
        let is_infinitive = self.lower(from) == "to";
        let start = from + usize::from(is_infinitive || is_in(ARTICLES, self.lower(from)));
        let first = self.lower(start);
        if self.is_end(start) || is_in(NO_START, first) || (is_infinitive && is_in(VAGUE_VERBS, first)) {
            return None;
        }
        let stops = |at: usize| self.is_end(at) || is_in(ENDS, self.lower(at));
        let mut end = start + 1;
        while end - start < MOST && !stops(end) {
            end += 1;
        }
        end = self.with_second(start, end);
        if self.is_half_a_verb(start, end) {
            return None;
        }
        let is_whole = stops(end);
        while end > start + 1
            && matches!(
                self.lower(end - 1),
                "of" | "in" | "out" | "really" | "up" | "the" | "about" | "around"
            )
        {
            end -= 1;
        }
        (is_whole && self.is_telling(start, end)).then(|| self.slice(start, end))
    }

    /// The end of `cats and dogs`, `electronic and rock music`, where `cats` or `electronic` ends at `end`.
    fn with_second(&self, start: usize, end: usize) -> usize {
        const MOST: usize = 2;
        let stops = |at: &usize| self.is_end(*at) || is_in(ENDS, self.lower(*at));
        let second = end + 1;
        let joins = end == start + 1 && matches!(self.lower(end), "and" | "or");
        match (second..=second + MOST).find(stops) {
            Some(second_end) if joins && second_end > second => second_end,
            _ => end,
        }
    }

    /// `listening` of `listening to jazz`, `playing` of `playing "Go"`: half of what was said.
    fn is_half_a_verb(&self, start: usize, end: usize) -> bool {
        let next = self.lower(end);
        end == start + 1 && self.lower(start).ends_with("ing") && (next == "\"" || is_in(HALVES, next))
    }

    /// What somebody wants to do or be, up to the end of the clause.
    pub(crate) fn aim(&self, from: usize) -> Option<Extracted> {
        /// Longer aims are stories.
        const MOST: usize = 7;
        let start = from + usize::from(matches!(self.lower(from), "to" | "a" | "an" | "the"));
        let stops = |at: usize| self.is_end(at) || is_in(AIM_ENDS, self.lower(at));
        let end = (start..=start + MOST).find(|&at| stops(at))?;
        // `a safe and loving home` is no `a safe`.
        let has_article = (end.saturating_sub(4)..end).any(|at| matches!(self.lower(at), "a" | "an"));
        let is_cut = self.lower(end) == "and" && has_article;
        let is_aim =
            end > start && !is_cut && !is_in(VAGUE_AIMS, self.lower(start)) && self.is_telling(start, end);
        is_aim.then(|| self.slice(start, end))
    }

    /// `Blue` of `Blue is my favorite`: all from the start of the clause, if it is a phrase of things.
    pub(crate) fn thing_before(&self, end: usize) -> Option<Extracted> {
        /// A longer clause has a verb.
        const MOST: usize = 4;
        let start = (0..end).rev().find(|&at| self.is_end(at)).map_or(0, |mark| mark + 1);
        let start = start
            + usize::from(matches!(self.lower(start), "and" | "but" | "because" | "so" | "the" | "also"));
        let is_phrase =
            (start..end).all(|at| at == start || !is_in(ENDS, self.lower(at)) || self.lower(at) == "in");
        let is_thing = start < end && end - start <= MOST && !is_in(NO_START, self.lower(start)) && is_phrase;
        (is_thing && self.is_telling(start, end)).then(|| self.slice(start, end))
    }

    fn is_telling(&self, start: usize, end: usize) -> bool {
        (start..end).any(|at| !is_dull(self.lower(at)))
    }
}
