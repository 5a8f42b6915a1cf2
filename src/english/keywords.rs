//! Finds what a text is about: a few of its words or short phrases that name its topic.

use std::{cmp::Reverse, collections::HashMap};

use crate::{
    english::{
        dull_words::is_dull,
        fillers::without_fillers,
        lists::without_possessive,
        sentences::{Sentence, Setting, sentences},
        stop_words::is_stop_word,
    },
    model::summary::{FEWEST_KEYWORDS, MOST_KEYWORDS},
    text::terms::{Term, TermKind, for_each_term, is_hiragana},
};

/// How many different words add one keyword to [`FEWEST_KEYWORDS`].
const WORDS_PER_KEYWORD: usize = 20;
/// The longest keyword, in bytes: longer "words" are data.
const MAX_BYTES: usize = 40;
/// How many bytes of each text are examined: its topic shows there or nowhere.
const MAX_LOOKED_AT: usize = 8 * 1_024;
/// The most words of a phrase; this many only if all of them are one name: `Island Media Group`.
const MOST_WORDS: usize = 3;
/// The most that repetition counts: a word said ten times names the topic no more than one said four times.
const MAX_COUNT: usize = 8;
/// How much a name scores in addition to its count.
const NAME: usize = 3;

/// Returns 3 to 8 topic keywords of these texts, the most telling first; fewer if the texts have too few topics. The first
/// text counts double, because it is the question and the second the answer. The first sentence of each text also counts
/// double.
pub(crate) fn keywords(texts: &[&str]) -> Vec<String> {
    let mut topics = Topics::default();
    for (index, text) in texts.iter().enumerate() {
        let text = &text[..text.floor_char_boundary(MAX_LOOKED_AT)];
        for (place, sentence) in sentences(text).into_iter().enumerate() {
            topics.add(sentence, (1 + usize::from(index == 0)) * (1 + usize::from(place == 0)));
        }
    }
    topics.best()
}

/// The words and phrases of a text that may name its topic, by their folded forms with single blanks between words.
#[derive(Debug, Default)]
struct Topics {
    found: HashMap<String, Topic>,
}

/// A word or phrase that may become a keyword.
#[derive(Debug, Default)]
struct Topic {
    /// The form that is shown: names as in the text, everything else in lower case.
    shown: String,
    /// Its rank by first occurrence.
    order: usize,
    /// Its occurrences, weighted by where they are.
    count: usize,
    is_name: bool,
    /// Whether it occurred at least once as a complete phrase.
    is_whole: bool,
}

/// A term of a sentence.
struct SentenceTerm<'a> {
    term: Term<'a>,
    /// The key by which topics are counted; `None` for a word that names no topic.
    folded: Option<String>,
    is_name: bool,
    /// Whether only a single space separates it from the previous term.
    is_joined: bool,
}

impl Topics {
    fn add(&mut self, sentence: Sentence<'_>, count: usize) {
        let parts = parts(without_fillers(sentence.text), sentence.setting);
        for end in 1..=parts.len() {
            for len in 1..=end.min(MOST_WORDS) {
                let phrase = &parts[end - len..end];
                let is_phrase = phrase.iter().all(|part| part.folded.is_some())
                    && phrase[1..].iter().all(|part| part.is_joined && part.folded != phrase[0].folded);
                if !is_phrase {
                    break;
                }
                let is_name = phrase.iter().all(|part| part.is_name);
                if is_name || len < MOST_WORDS {
                    let topic = self.said(phrase, is_name, count);
                    topic.is_whole |= len == 1 || is_name || is_whole(phrase, parts.get(end));
                }
            }
        }
    }

    fn said(&mut self, phrase: &[SentenceTerm<'_>], is_name: bool, count: usize) -> &mut Topic {
        let words: Vec<&str> = phrase.iter().filter_map(|part| part.folded.as_deref()).collect();
        let order = self.found.len();
        let topic = self.found.entry(words.join(" ")).or_insert(Topic { order, ..Topic::default() });
        topic.count += count;
        if topic.shown.is_empty() || (is_name && !topic.is_name) {
            let shown = |part: &SentenceTerm<'_>| {
                let word = without_possessive(part.term.text);
                if part.is_name { word.to_owned() } else { word.to_lowercase() }
            };
            topic.shown = phrase.iter().map(shown).collect::<Vec<_>>().join(" ");
            topic.is_name = is_name;
        }
        topic
    }

    /// Returns the best keywords, best first; of two with the same score, the one said more often goes first. A phrase
    /// scores one more than its best word for each further word, and its words are not chosen again.
    fn best(self) -> Vec<String> {
        let score_of_word = |word: &str| {
            let topic = self.found.get(word);
            topic.map_or(0, |topic| topic.count.min(MAX_COUNT) + if topic.is_name { NAME } else { 0 })
        };
        let score =
            |key: &str| key.split(' ').map(score_of_word).max().unwrap_or(0) + key.matches(' ').count();
        let word_count = self.found.keys().filter(|key| !key.contains(' ')).count();
        let wanted = (FEWEST_KEYWORDS + word_count / WORDS_PER_KEYWORD).min(MOST_KEYWORDS);
        let mut ranked: Vec<(&String, &Topic)> =
            self.found.iter().filter(|(_, topic)| topic.is_whole && topic.shown.len() <= MAX_BYTES).collect();
        ranked.sort_by_cached_key(|(key, topic)| (Reverse((score(key), topic.count)), topic.order));
        let mut taken: Vec<&str> = Vec::new();
        let mut chosen = Vec::new();
        for (key, topic) in ranked {
            if chosen.len() < wanted && key.split(' ').all(|word| !taken.contains(&word)) {
                taken.extend(key.split(' '));
                chosen.push(topic.shown.clone());
            }
        }
        chosen
    }
}

/// Whether a phrase is complete: not `music affects` in `how music affects us`, nor `newly opened`.
fn is_whole(phrase: &[SentenceTerm<'_>], next: Option<&SentenceTerm<'_>>) -> bool {
    let goes_on = next.is_some_and(|next| next.is_joined && !is_stop_word(&next.term.text.to_lowercase()));
    let is_verbal =
        |part: &SentenceTerm<'_>| ["ing", "ed", "ly"].iter().any(|end| part.term.text.ends_with(end));
    !goes_on && !phrase.last().is_some_and(is_verbal)
}

fn parts(text: &str, setting: Setting) -> Vec<SentenceTerm<'_>> {
    let mut parts: Vec<SentenceTerm<'_>> = Vec::new();
    let mut last_end = usize::MAX;
    for_each_term(text, |term| {
        let end = term.at + term.text.len();
        // `Anna, you won`: the addressee is not a topic.
        let is_address = parts.is_empty() && text[end..].starts_with(',');
        parts.push(SentenceTerm {
            folded: fold_topic(&term).filter(|_| !is_address),
            is_name: is_name(text, setting, &term, parts.is_empty()),
            is_joined: text.get(last_end..term.at) == Some(" "),
            term,
        });
        last_end = end;
    });
    parts
}

/// Returns the key by which a term is counted; `None` if it cannot name a topic.
fn fold_topic(term: &Term<'_>) -> Option<String> {
    let text = term.text;
    match term.kind {
        TermKind::Number | TermKind::Link => None,
        TermKind::Run => {
            (!is_hiragana(text) && (2..=8).contains(&text.chars().count())).then(|| text.to_owned())
        }
        TermKind::Word if is_contraction(text) => None,
        TermKind::Word => {
            let stem = without_possessive(text).trim_end_matches(['\'', '\u{2019}']);
            let folded = stem.to_lowercase().replace(['\'', '\u{2019}'], "");
            // Two characters are enough in `C#` and `AI`.
            let is_sign = |c: char| c.is_uppercase() || c == '#' || c == '+';
            let is_long = match folded.chars().count() {
                0 | 1 => false,
                2 => stem.chars().all(is_sign),
                _ => folded.len() <= MAX_BYTES,
            };
            (is_long && !is_dull(&folded)).then(|| singular(folded))
        }
    }
}

/// Whether a word is a contraction: `must've`, `isn't`.
fn is_contraction(word: &str) -> bool {
    let ending = word.rsplit_once(['\'', '\u{2019}']).map_or("", |(_, ending)| ending);
    matches!(ending, "ve" | "re" | "ll" | "d" | "t" | "m")
}

/// Returns one form for singular and plural, roughly, so that no two keywords differ only in number.
fn singular(word: String) -> String {
    let is_singular = word.len() <= 3 || ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    match word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        Some(stem) => format!("{stem}y"),
        None if is_singular => word,
        None => word.strip_suffix('s').map(str::to_owned).unwrap_or(word),
    }
}

/// Whether a term has a capital that its position does not explain. A capital is explained by the start of a sentence, a
/// heading, a list item, or a colon before it.
fn is_name(text: &str, setting: Setting, term: &Term<'_>, is_first: bool) -> bool {
    let before = text[..term.at].trim_end_matches(['*', '"', '(', ' ']);
    let is_asked_for = is_first
        || matches!(setting, Setting::Heading | Setting::Item)
        || before.ends_with([':', '-', '–', '—', '.', '!', '?']);
    let has_capital =
        |skipped: usize, most: usize| term.text.chars().skip(skipped).take(most).any(char::is_uppercase);
    has_capital(1, usize::MAX) || (!is_asked_for && has_capital(0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(keywords(&[text]), expected, "{text:?}");
    }

    #[test]
    fn keywords_name_the_topic_in_readable_form() {
        check(
            "I adopted a Greyhound puppy from the shelter; the puppy is tired.",
            &["Greyhound puppy", "adopted", "shelter"],
        );
        check("Garden hoses leak. The garden hose is green.", &["garden hoses", "leak", "green"]);
        check("She works for Island Media Group in Berlin.", &["Island Media Group", "Berlin"]);
        check("Where do I learn C++ or PHP, in a cafe?", &["C++", "PHP", "cafe"]);
        check("Wir haben die Küche und den Balkon.", &["Küche", "Balkon"]);
    }

    #[test]
    fn talk_greetings_code_and_links_are_no_topics() {
        check("Really? That sounds great, thanks!", &[]);
        check("Hey Caroline! Thanks, Caroline! Wow, that's the tuba, Caroline!", &["tuba"]);
        check("Caroline, the tuba must've rusted on Monday at 5 PM.", &["tuba", "rusted"]);
        check("```\nlet tuba = 1;\n```\nhttps://a.example/tuba 2024", &[]);
        check("", &[]);
    }

    #[test]
    fn capitals_of_titles_are_no_names() {
        check(
            "- **Basic Tuba Maintenance**\n- Oil: clean the Yamaha valve",
            &["tuba maintenance", "yamaha valve", "oil"],
        );
        check("# The Tuba\n\nA tuba.", &["tuba"]);
        check("- Note: Tubas rust", &["tubas rust"]);
    }

    #[test]
    fn what_was_asked_counts_double() {
        assert_eq!(keywords(&["tuba", "horn horn"]), ["tuba", "horn"]);
        assert_eq!(keywords(&["horn", "tuba"]), ["horn", "tuba"]);
    }

    #[test]
    fn a_phrase_ends_where_its_words_end() {
        check("I know how music affects others.", &["music", "affects"]);
        check("This is about music theory.", &["music theory"]);
    }

    #[test]
    fn a_longer_text_has_more_keywords_but_no_more_than_eight() {
        let words: Vec<String> = (0..400).map(|n| format!("tuba{n}x.")).collect();
        assert_eq!(keywords(&[&words[..10].join(" ")]).len(), 3);
        assert_eq!(keywords(&[&words[..45].join(" ")]).len(), 5);
        assert_eq!(keywords(&[&words.join(" ")]).len(), 8);
    }

    #[test]
    fn scripts_without_spaces_give_runs_as_keywords() {
        check("京都の寺院とカフェが好きです。", &["京都", "寺院", "カフェ"]);
    }

    #[test]
    fn a_hostile_text_is_read_in_passing() {
        for text in ["a b c d e f g ", "Tuba Horn ", "tuba", "猫犬", "- # > ", "'"] {
            assert!(keywords(&[&text.repeat(100_000)]).len() <= 8);
        }
    }
}
