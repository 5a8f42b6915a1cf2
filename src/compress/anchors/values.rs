//! The value of a claim: a few words of the statement, cut where they stop to belong to it.

use crate::{
    compress::anchors::{
        rules::Value,
        words::{BEFORE_PHRASE, BEHIND_JOB, COMPOUNDS, COUNTS, Extracted, JUDGING, OTHERS, Words, is_in},
    },
    english::{
        classes::is_of, cues::Found, dull_words::is_dull, statements::Statement, stop_words::is_stop_word,
    },
};

/// What a match of a rule says; `None` if the words there are no such value.
pub(crate) fn extract(kind: Value, statement: &Statement<'_>, found: Found) -> Option<Extracted> {
    let words = Words { statement };
    match kind {
        Value::Marked => found.marked.map(|at| words.slice(at, at + 1)),
        Value::Predicate => found.marked.map(|at| words.slice(found.start + 1, at + 1)),
        Value::MarkedPhrase => words.marked_phrase(found),
        Value::Relative => words.relative(found, false),
        Value::NamedRelative => words.relative(found, true),
        Value::PersonName => words.proper_name(found.end, 3).or_else(|| words.low_name(found.end)),
        Value::FirstName => words.first_name(found.end),
        Value::ProperName => words.proper_name(found.end, 4),
        Value::Place => words.place(found.end),
        Value::Thing => words.thing(found.end),
        Value::PlaceBefore => words.place_before(found.start),
        Value::ThingBefore => words.thing_before(found.start),
        Value::AnyDay => (0..statement.tokens.len()).find_map(|at| words.day(at)),
        Value::Aim => words.aim(found.end),
        Value::Number | Value::NumberOfYears | Value::NumberThen => words.age(kind, found.end),
        Value::Day => words.day(found.end),
        Value::PronounList => words.pronouns(found.end),
    }
}

impl Words<'_, '_> {
    /// Whether a word can be part of a name: a capital, and no day, month or common word.
    fn is_name(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            token.is_capital()
                && token.lower != "'s"
                && !is_of("day", &token.lower)
                && !is_of("month", &token.lower)
                && !is_stop_word(&token.lower.replace('\'', ""))
        })
    }

    fn proper_name(&self, from: usize, most: usize) -> Option<Extracted> {
        let start = from + usize::from(self.lower(from) == "the");
        let joins = |at: usize| matches!(self.lower(at), "of" | "de" | "la" | "upon" | "am" | "&");
        let mut end = start;
        while end - start < most {
            if self.is_name(end) {
                end += 1;
            } else if end > start && joins(end) && self.is_name(end + 1) {
                end += 2;
            } else {
                break;
            }
        }
        (end > start).then(|| self.slice(start, end))
    }

    /// `Hi, I'm Anna!`, but not `Hi, I'm German!`
    fn first_name(&self, from: usize) -> Option<Extracted> {
        let name = self.proper_name(from, 2)?;
        (self.is_end(name.end) && !is_of("language", &name.value.to_lowercase())).then_some(name)
    }

    /// `my name is anna`, as people write who write no capitals.
    fn low_name(&self, at: usize) -> Option<Extracted> {
        let token = self.token(at)?;
        let is_word =
            token.lower.chars().all(|c| c.is_alphabetic() || c == '-') && token.lower.chars().count() > 1;
        let ends = self.is_end(at + 1) || matches!(self.lower(at + 1), "and" | "by" | "but");
        (is_word && ends && !is_dull(&token.lower)).then(|| self.slice(at, at + 1))
    }

    fn place(&self, from: usize) -> Option<Extracted> {
        let has_capitals = self.statement.tokens.iter().any(|token| token.is_capital() && token.lower != "i");
        let Some(name) = self.proper_name(from, 4) else {
            return (!has_capitals).then(|| self.low_name(from)).flatten();
        };
        if self.lower(name.end) != "," {
            return Some(name);
        }
        match self.proper_name(name.end + 1, 3) {
            // `Lisbon, Portugal`, but not `in Lisbon, Anna said`.
            Some(larger) if self.is_end(larger.end) => {
                let start = from + usize::from(self.lower(from) == "the");
                Some(self.slice(start, larger.end))
            }
            _ => Some(name),
        }
    }

    /// `Bonn` of `in Bonn, where I live`.
    fn place_before(&self, end: usize) -> Option<Extracted> {
        let end = end - usize::from(end > 0 && self.lower(end - 1) == ",");
        let start = (0..end).rev().take_while(|&at| self.is_name(at) && !is_dull(self.lower(at))).last()?;
        Some(self.slice(start, end))
    }

    /// The marked word and what describes it: `structural engineer`, `type 2 diabetes`.
    fn marked_phrase(&self, found: Found) -> Option<Extracted> {
        const MOST_BEFORE: usize = 3;
        let marked = found.marked?;
        let mut start = marked;
        while start > found.start && marked - start < MOST_BEFORE {
            let before = self.lower(start - 1);
            if is_in(JUDGING, before) {
                return None;
            }
            let is_common = (is_stop_word(before) || is_dull(before)) && before != "type";
            if is_common || self.is_end(start - 1) || is_in(BEFORE_PHRASE, before) {
                break;
            }
            start -= 1;
        }
        let next = self.lower(marked + 1);
        let ends = self.is_end(marked + 1) || is_stop_word(next) || is_in(BEHIND_JOB, next);
        ends.then(|| self.slice(start, marked + 1))
    }

    /// A relation or animal, and the name that stands with it.
    fn relative(&self, found: Found, needs_name: bool) -> Option<Extracted> {
        let marked = found.marked?;
        // What stands between `my` or `two` and the relation must only describe it.
        let counts = (found.start..marked).rev().find(|&at| is_in(COUNTS, self.lower(at)));
        let is_other = |at: usize| {
            let word = self.lower(at);
            is_in(OTHERS, word) || (is_stop_word(word) && word != "own")
        };
        let next = self.lower(marked + 1);
        let is_compound = is_of("kin", next) || is_of("close", next) || is_in(COMPOUNDS, next);
        if (counts.unwrap_or(found.start) + 1..marked).any(is_other) || next == "'s" || is_compound {
            return None;
        }
        let relation = self.slice(marked, marked + 1);
        let name = self.name_behind(marked).or_else(|| self.name_before(found.start, marked));
        match name {
            Some(name) => {
                let value = format!("{} {}", relation.value, name.value);
                Some(Extracted { value, end: name.end.max(relation.end) })
            }
            None => (!needs_name).then_some(relation),
        }
    }

    /// `my son Theo`, `my son, Theo, is`, `my son called Theo`; not `with my son, Theo and I`.
    fn name_behind(&self, relation: usize) -> Option<Extracted> {
        match self.lower(relation + 1) {
            "named" | "called" => self.proper_name(relation + 2, 2),
            "," | "(" => {
                let goes_on = |at: usize| {
                    self.lower(at) == "and" || (self.lower(at) == "," && self.lower(at + 1) == "and")
                };
                self.proper_name(relation + 2, 2).filter(|name| self.is_end(name.end) && !goes_on(name.end))
            }
            _ => self.proper_name(relation + 1, 2),
        }
    }

    /// `Theo, our son,`
    fn name_before(&self, my: usize, relation: usize) -> Option<Extracted> {
        let name = my.checked_sub(2)?;
        let is_alone = name == 0 || self.is_end(name - 1);
        let is_apposition = self.lower(my - 1) == "," && self.is_end(relation + 1);
        // `Theo is my son`
        let is_said = matches!(self.lower(my - 1), "is" | "was" | "'s");
        (is_alone && (is_apposition || is_said) && self.is_name(name) && !is_dull(self.lower(name)))
            .then(|| self.slice(name, name + 1))
    }
}
