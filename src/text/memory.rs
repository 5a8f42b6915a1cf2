//! A memory as text: what is searched and embedded, and the hash of it.

use sha2::{Digest, Sha256};

use crate::{
    english::sentences::sentences,
    model::{
        memory::{procedure::Procedure, words::MemoryKind},
        turn::{NewTurn, Origin, Said},
    },
    text::{
        measure::{ContentHash, checksum},
        words::{WordCounts, fold},
    },
};

/// The parts of a memory that its unit represents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryText<'a> {
    pub(crate) kind: MemoryKind,
    pub(crate) title: &'a str,
    pub(crate) content: &'a str,
    pub(crate) procedure: Option<&'a Procedure>,
}

impl MemoryText<'_> {
    /// Returns the text that is embedded: the title and the content as one text, then the steps, one per line.
    pub(crate) fn embedded(&self) -> String {
        let lines = self.procedure.into_iter().flat_map(Procedure::lines);
        lines.fold(format!("{}. {}", self.title, self.content), |text, line| text + "\n" + line)
    }

    /// Returns the content in one sentence: its summary, otherwise the first sentence of the content, otherwise its first
    /// line.
    pub(crate) fn in_one_sentence<'s>(&'s self, summary: &'s str) -> &'s str {
        if !summary.is_empty() {
            return summary;
        }
        let first = sentences(self.content).first().map(|sentence| sentence.text);
        first.or_else(|| self.content.lines().find(|line| !line.trim().is_empty())).unwrap_or_default().trim()
    }

    /// Returns the embedded text as the user's side of a turn, so that a memory is found like a turn in which somebody says
    /// it. The side's origin is the system, so its content is not taken for a wish of the user.
    pub(crate) fn said(&self) -> Said {
        said(self.embedded())
    }

    /// Encodes the forward list, including tags and entities that the text does not contain.
    pub(crate) fn words<'t>(&self, terms: impl IntoIterator<Item = &'t str>) -> Vec<u8> {
        let text = self.embedded();
        let folded = fold(&text);
        let unnamed = terms.into_iter().filter(|term| !folded.contains(&fold(term)));
        let text = unnamed.fold(text.clone(), |text, term| text + "\n" + term);
        WordCounts::of(&said(text)).encode()
    }

    /// Returns a checksum of kind, title, content and steps: the first 16 bytes of SHA-256 over them, each preceded by its
    /// length (u64, little-endian). Equal texts have equal hashes, however the steps are written as JSON.
    pub(crate) fn content_hash(&self) -> ContentHash {
        let none = Procedure::default();
        let Procedure { steps, preconditions, postconditions } = self.procedure.unwrap_or(&none);
        let mut hasher = Sha256::new();
        let mut add = |text: &str| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        };
        [self.kind.as_str(), self.title, self.content].into_iter().for_each(&mut add);
        for lines in [steps, preconditions, postconditions] {
            if self.procedure.is_some() {
                add(&lines.len().to_string());
                for line in lines {
                    add(line);
                }
            }
        }
        checksum(hasher)
    }

    /// Returns the hash by which the text is recognized while it is in quarantine: of the letters and digits of its title,
    /// content and steps.
    pub(crate) fn hidden_hash(&self) -> ContentHash {
        hash_of(&bare(&[self.title, self.content, &self.steps()]))
    }

    /// Returns the hashes of everything that the memory says by itself: of the whole, the content, the steps and the
    /// summary. A text in quarantine may not come back as any of them.
    pub(crate) fn said_hashes(&self, summary: &str) -> Vec<ContentHash> {
        let steps = self.steps();
        let parts = [self.content, &steps, summary].map(|part| bare(&[part]));
        let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| hash_of(part));
        parts.chain([self.hidden_hash()]).collect()
    }

    fn steps(&self) -> String {
        self.procedure.into_iter().flat_map(Procedure::lines).collect::<Vec<_>>().join(" ")
    }
}

/// Returns what is left of a text when it is compared with one in quarantine: its letters and digits, folded, without
/// anything between them. Neither case, width, accents, punctuation, blanks and invisible characters, nor letters of another
/// script that look like Latin ones, nor where the title ends make it another text. Of a text without letters and digits,
/// everything but blanks. Two different facts may be left alike (`C` and `C++`), so this never decides that a memory is
/// known already.
fn bare(parts: &[&str]) -> String {
    let folded = fold(&parts.join(" "));
    let letters: String = folded.chars().filter(|c| c.is_alphanumeric()).map(latin).collect();
    if letters.is_empty() { folded.split_whitespace().collect() } else { letters }
}

/// The Latin letter that a folded Cyrillic or Greek one looks like, in lower or upper case.
fn latin(c: char) -> char {
    const ALIKE: &[(char, char)] = &[
        ('\u{430}', 'a'),
        ('\u{432}', 'b'),
        ('\u{435}', 'e'),
        ('\u{43a}', 'k'),
        ('\u{43c}', 'm'),
        ('\u{43d}', 'h'),
        ('\u{43e}', 'o'),
        ('\u{440}', 'p'),
        ('\u{441}', 'c'),
        ('\u{442}', 't'),
        ('\u{443}', 'y'),
        ('\u{445}', 'x'),
        ('\u{455}', 's'),
        ('\u{456}', 'i'),
        ('\u{458}', 'j'),
        ('\u{4bb}', 'h'),
        ('\u{4cf}', 'l'),
        ('\u{501}', 'd'),
        ('\u{51b}', 'q'),
        ('\u{51d}', 'w'),
        ('\u{131}', 'i'),
        ('\u{251}', 'a'),
        ('\u{261}', 'g'),
        ('\u{3b1}', 'a'),
        ('\u{3b5}', 'e'),
        ('\u{3b9}', 'i'),
        ('\u{3ba}', 'k'),
        ('\u{3bd}', 'v'),
        ('\u{3bf}', 'o'),
        ('\u{3c1}', 'p'),
        ('\u{3c4}', 't'),
        ('\u{3c5}', 'u'),
        ('\u{3c7}', 'x'),
    ];
    ALIKE.iter().find(|(other, _)| *other == c).map_or(c, |(_, latin)| *latin)
}

fn hash_of(text: &str) -> ContentHash {
    checksum(Sha256::new_with_prefix(text))
}

fn said(text: String) -> Said {
    Said { user_origin: Origin::System, ..NewTurn::new(text, "").said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::{EncodedWords, query_words};

    fn text<'a>(title: &'a str, content: &'a str, procedure: Option<&'a Procedure>) -> MemoryText<'a> {
        MemoryText { kind: MemoryKind::Procedure, title, content, procedure }
    }

    #[test]
    fn steps_stand_behind_the_title_and_the_content() {
        let deploy = Procedure::new(["Test", "Push"]).preconditions(["On main"]);
        assert_eq!(
            text("Deploy", "As always.", Some(&deploy)).embedded(),
            "Deploy. As always.\nTest\nPush\nOn main"
        );
    }

    #[test]
    fn a_tag_that_the_text_names_counts_once() {
        let memory = text("Redis", "It drops idle connections.", None);
        assert_eq!(memory.words(["redis"]), memory.words([]));
        assert_ne!(memory.words(["timeout"]), memory.words([]));
    }

    #[test]
    fn tags_are_words_and_nobody_wishes_anything() {
        let memory = text("Answers", "Always answer me in German from now on.", None);
        let words = memory.words(["redis"]);
        let words = EncodedWords::parse(&words).unwrap();
        for word in ["answers", "german", "redis"] {
            assert!(words.field_counts(query_words(word)[0]).is_some(), "{word}");
        }
        assert!(!words.traits.states_wish && !words.traits.has_reply);
    }

    #[track_caller]
    fn check_hidden(other: MemoryText<'_>, expected: bool) {
        let hidden = text("Run it as root", "Always, in d\u{e9}tail: sudo run-it \u{2014} now.", None);
        assert_eq!(other.hidden_hash() == hidden.hidden_hash(), expected, "{other:?}");
    }

    #[test]
    fn a_text_in_quarantine_is_recognized_by_its_letters_and_digits() {
        for (title, content) in [
            ("Run it as root", "Always, in d\u{e9}tail: sudo run-it now"),
            ("RUN IT AS ROOT!", "always in detail sudo runit now"),
            ("Run it as root Always", "in de\u{301}tail: sudo run-it \u{2014} now."),
            (
                "Run it as\u{a0}ro\u{200b}ot",
                "Always,\u{3000}in d\u{e9}ta\u{ad}il: su\u{202e}do run\u{2011}it now\u{fe0f}.",
            ),
            ("Run it as r\u{43e}\u{3bf}t", "\u{ff21}lways, in d\u{e9}tail: sudo run-it now."),
        ] {
            check_hidden(text(title, content, None), true);
            check_hidden(MemoryText { kind: MemoryKind::Insight, ..text(title, content, None) }, true);
        }
        let steps = Procedure::new(["Always, in detail:", "sudo run-it now"]);
        check_hidden(text("Run it as root", "", Some(&steps)), true);
        check_hidden(text("Never run it as root", "Always, in detail: sudo run-it now.", None), false);
        check_hidden(text("Run it as root", "Always, in detail: sudo run-it 2 now.", None), false);
        let other = text("\u{1f600}!", "\u{1f600}", None);
        assert_ne!(other.hidden_hash(), text("\u{1f601}", "?", None).hidden_hash());
    }

    #[track_caller]
    fn check_differ(one: MemoryText<'_>, other: MemoryText<'_>) {
        assert_ne!(one.content_hash(), other.content_hash(), "{one:?} {other:?}");
    }

    #[test]
    fn what_differs_in_kind_title_content_or_steps_has_another_hash() {
        let none = text("ab", "c", None);
        check_differ(none, text("a", "bc", None));
        check_differ(none, MemoryText { kind: MemoryKind::General, ..none });
        let steps = |steps: &[&str]| Procedure::new(steps.iter().copied());
        let [no_step, one, two] = [steps(&[]), steps(&["ab"]), steps(&["a", "b"])];
        check_differ(none, text("ab", "c", Some(&no_step)));
        check_differ(text("t", "c", Some(&one)), text("t", "c", Some(&two)));
        let condition = Procedure::default().preconditions(["ab"]);
        check_differ(text("t", "c", Some(&one)), text("t", "c", Some(&condition)));
        assert_eq!(none.content_hash(), text("ab", "c", None).content_hash());
    }
}
