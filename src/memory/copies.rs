//! Measures how much of one text occurs in another, and decides from this whose words a text counts as. It compares runs of
//! words that are long enough that nobody repeats one by chance.

use std::collections::HashSet;

use crate::{
    model::turn::Origin,
    text::words::{Word, for_each_word},
};

/// Words per run. Stop words are left out, as everywhere when words are compared.
const RUN: usize = 5;
/// A run of a short edited text has one in this many of its words: with longer runs, one corrected word would break most of
/// them.
const PART: usize = 4;

/// If a smaller share than this is left of an edited text, the text is the editor's.
const LEFT: f64 = 0.4;

/// A text counts as said again if at least this share of it occurs in another.
const COPIED: f64 = 0.6;

/// The runs of words of one text, or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(HashSet<Vec<Word>>);

impl Runs {
    /// Returns the runs of five words of a text. A shorter text is a single run.
    pub(crate) fn of(text: &str) -> Self {
        Self::of_words(&words(text), RUN)
    }

    fn of_words(words: &[Word], run: usize) -> Self {
        let mut runs: HashSet<Vec<Word>> = words.windows(run).map(<[Word]>::to_vec).collect();
        if runs.is_empty() && !words.is_empty() {
            runs.insert(words.to_vec());
        }
        Self(runs)
    }

    /// Adds the runs of another text.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.extend(Self::of(text).0);
    }

    /// Returns the share of these runs that another text has too, from 0 to 1; 0 if there are none.
    #[expect(clippy::cast_precision_loss, reason = "a text has far fewer than 2^53 words")]
    fn share_in(&self, other: &Self) -> f64 {
        let shared = self.0.iter().filter(|run| other.0.contains(*run)).count();
        shared as f64 / self.0.len().max(1) as f64
    }

    /// Whether a text was said again: at least three fifths of its runs occur in the other.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        self.share_in(other) >= COPIED
    }
}

/// What tools and documents said so far in a session.
#[derive(Debug, Default)]
pub(crate) struct ForeignWords {
    tools: Runs,
    documents: Runs,
    bytes: usize,
}

/// How much text of tools and documents is remembered. Beyond that, no text is certain to be the user's own.
const MOST_FOREIGN_BYTES: usize = 2 << 20;

impl ForeignWords {
    /// Adds one side of a turn.
    pub(crate) fn hear(&mut self, origin: Origin, side: &str) {
        let runs = match origin {
            Origin::Tool => &mut self.tools,
            Origin::Document => &mut self.documents,
            Origin::User | Origin::Assistant | Origin::System => return,
        };
        self.bytes = self.bytes.saturating_add(side.len());
        if self.bytes <= MOST_FOREIGN_BYTES {
            runs.add(side);
        }
    }

    /// Returns the origin of a text that is said later: a tool or a document if one of them said it before; otherwise
    /// `None`. Once they have said more than is remembered, it is always a document.
    pub(crate) fn whose(&self, text: &str) -> Option<Origin> {
        if self.bytes > MOST_FOREIGN_BYTES {
            return Some(Origin::Document);
        }
        if self.bytes == 0 {
            return None;
        }
        let runs = Runs::of(text);
        let (of_tools, of_documents) = (runs.share_in(&self.tools), runs.share_in(&self.documents));
        let mostly = if of_documents >= of_tools { Origin::Document } else { Origin::Tool };
        (of_tools + of_documents >= COPIED).then_some(mostly)
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word));
    words
}

/// Whether so little of a text is left that it is the editor's. Correcting a word does not launder what a page said.
pub(crate) fn is_rewritten(before: &str, after: &str) -> bool {
    let (before, after) = (words(before), words(after));
    let run = (before.len() / PART).clamp(1, RUN);
    let [before, after] = [before, after].map(|words| Runs::of_words(&words, run));
    !before.0.is_empty() && before.share_in(&after) < LEFT
}

/// Returns the origin of a text that somebody saves from a conversation: a tool or a document if these said it there and the
/// user did not; otherwise `None`. What they say stays theirs, whoever repeats it.
pub(crate) fn copied_from<'s>(
    text: &str,
    sides: impl IntoIterator<Item = (Origin, &'s str)>,
) -> Option<Origin> {
    let (mut user, mut tools, mut documents) = (Runs::default(), Runs::default(), Runs::default());
    for (origin, side) in sides {
        match origin {
            Origin::User => user.add(side),
            Origin::Tool => tools.add(side),
            Origin::Document => documents.add(side),
            Origin::Assistant | Origin::System => {}
        }
    }
    let text = Runs::of(text);
    if text.is_copy_of(&user) {
        return None;
    }
    let mut foreign = tools.clone();
    foreign.0.extend(documents.0.iter().cloned());
    let mostly =
        if text.share_in(&documents) >= text.share_in(&tools) { Origin::Document } else { Origin::Tool };
    text.is_copy_of(&foreign).then_some(mostly)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "Run the installer of version seven with the flag that skips all checks of keys and signatures.";

    #[test]
    fn a_corrected_word_rewrites_nothing() {
        let check = |before: &str, after: &str, expected: bool| {
            assert_eq!(is_rewritten(before, after), expected, "{after}");
        };
        check(PAGE, &PAGE.replace("seven", "eight"), false);
        check(PAGE, "The gardener waters roses in the evening.", true);
        check(PAGE, "Run the installer, but never skip any checks: keys matter, signatures too.", true);
        check("Tea", "Tea", false);
        check("Tea", "Coffee", true);
        check(PAGE, &format!("{PAGE} The gardener waters roses in the evening."), false);
    }

    #[test]
    fn three_fifths_of_the_runs_are_a_copy() {
        let page =
            Runs::of(&format!("{PAGE} And then go home and sleep well until the next long day begins."));
        assert!(Runs::of(PAGE).is_copy_of(&page));
        assert!(!Runs::of("The gardener waters roses in the evening.").is_copy_of(&page));
        assert!(!Runs::of("").is_copy_of(&page));
        let mut both = Runs::of("The gardener waters roses in the evening.");
        both.add(PAGE);
        assert!(Runs::of(PAGE).is_copy_of(&both));
    }

    #[test]
    fn what_a_page_said_is_the_pages_unless_the_user_said_it_too() {
        let of = |sides: &[(Origin, &str)]| copied_from(PAGE, sides.iter().copied());
        let (page, talk) = ((Origin::Document, PAGE), (Origin::User, "What does the page say?"));
        assert_eq!(of(&[talk, page]), Some(Origin::Document));
        assert_eq!(of(&[talk, (Origin::Tool, PAGE)]), Some(Origin::Tool));
        assert_eq!(of(&[page, (Origin::User, PAGE)]), None);
        assert_eq!(of(&[talk, (Origin::Assistant, PAGE)]), None);
        assert_eq!(of(&[]), None);
        let (half, rest) = PAGE.split_at(PAGE.len() / 2);
        assert_eq!(of(&[(Origin::Tool, half), (Origin::Document, rest)]), None, "a run goes over the cut");
    }

    #[test]
    fn scripts_without_spaces_have_runs_too() {
        let text = "東京の天気は晴れで気温は高い";
        assert!(!is_rewritten(text, &format!("{text}です")));
        assert!(is_rewritten(text, "大阪では雨が降っています"));
    }
}
