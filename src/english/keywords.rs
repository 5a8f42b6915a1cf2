//! What a text is about: a few words or short phrases of it that name its topic.

use std::collections::HashMap;

use crate::{
    english::{
        dull_words::is_dull,
        fillers::without_fillers,
        possessive::without_possessive,
        sentences::{Sentence, Setting, sentences},
        stop_words::is_stop_word,
    },
    model::summary::{FEWEST_KEYWORDS, MOST_KEYWORDS},
    text::terms::{Term, TermKind, for_each_term, is_hiragana},
};

/// So many different words ask for one keyword more.
const WORDS_PER_KEYWORD: usize = 20;
/// The longest keyword, in bytes: longer "words" are data.
const MAX_BYTES: usize = 40;
/// No more than this of each text is looked at: its topic shows there or nowhere.
const MAX_LOOKED_AT: usize = 8 * 1_024;

/// 3 to 8 topic keywords of these texts, the most telling first. The first text counts double: it is what was
/// asked, and the second is the answer.
pub(crate) fn keywords(texts: &[&str]) -> Vec<String> {
    let mut topics = Topics::default();
    for (index, text) in texts.iter().enumerate() {
        let text = &text[..text.floor_char_boundary(MAX_LOOKED_AT)];
        for (place, sentence) in sentences(text).into_iter().enumerate() {
            topics.add(sentence, index == 0, place == 0);
        }
    }
    topics.best()
}

/// All words and phrases of a text that may name its topic, folded, with single blanks between the words.
#[derive(Debug, Default)]
struct Topics<'a> {
    found: HashMap<String, Candidate<'a>>,
}

/// A word or phrase that may become a keyword.
#[derive(Debug)]
struct Candidate<'a> {
    /// As it stands in the text, at the first place where it is a name, else at its first place.
    text: &'a str,
    /// The order of first places.
    order: usize,
    /// How often it was said, what was asked counted double.
    count: u32,
    /// For where it stands.
    bonus: u32,
    is_name: bool,
    /// Which of its words are names.
    names: [bool; MOST_WORDS],
    /// Whether a phrase ended somewhere together with its words: not `music affects` in `how music affects us`.
    is_whole: bool,
}

/// No phrase has more words, and so many only where all of them are a name: `Island Media Group`.
const MOST_WORDS: usize = 3;

/// A term of a sentence, and what it can be part of.
struct Part<'a> {
    term: Term<'a>,
    /// `None` for a word that names no topic.
    folded: Option<String>,
    is_name: bool,
    /// Whether one space, and nothing else, stands before it.
    is_joined: bool,
    is_stop_word: bool,
}

impl<'a> Topics<'a> {
    fn add(&mut self, sentence: Sentence<'a>, is_first_text: bool, is_first_sentence: bool) {
        let text = without_fillers(sentence.text);
        let parts = parts(text, sentence.setting);
        // A note in brackets tells what somebody else saw: `[image: a dog on a beach]`.
        let is_note = text.starts_with('[');
        let count = if is_first_text && !is_note { 2 } else { 1 };
        let bonus = match (is_first_sentence, is_first_text) {
            _ if is_note => 0,
            (true, true) => 3,
            (true, false) => 2,
            (false, _) => u32::from(sentence.setting == Setting::Heading),
        };
        for end in 1..=parts.len() {
            for len in 1..=end.min(if is_note { 1 } else { MOST_WORDS }) {
                let phrase = &parts[end - len..end];
                let is_phrase = phrase.iter().all(|part| part.folded.is_some())
                    && phrase[1..].iter().all(|part| part.is_joined && part.folded != phrase[0].folded)
                    && (len < MOST_WORDS || phrase.iter().all(|part| part.is_name));
                if !is_phrase {
                    break;
                }
                let candidate = self.candidate(text, phrase, parts.get(end));
                candidate.count += count;
                candidate.bonus = candidate.bonus.max(bonus);
            }
        }
    }

    fn candidate(
        &mut self,
        text: &'a str,
        phrase: &[Part<'a>],
        next: Option<&Part<'a>>,
    ) -> &mut Candidate<'a> {
        let (first, last) = (&phrase[0].term, &phrase[phrase.len() - 1].term);
        let text = &text[first.at..last.at + last.text.len()];
        let words: Vec<&str> = phrase.iter().filter_map(|part| part.folded.as_deref()).collect();
        let order = self.found.len();
        let candidate = self.found.entry(words.join(" ")).or_insert(Candidate {
            text,
            order,
            count: 0,
            bonus: 0,
            is_name: false,
            names: [false; MOST_WORDS],
            is_whole: false,
        });
        let goes_on = next.is_some_and(|next| next.is_joined && !next.is_stop_word);
        candidate.is_whole |= !goes_on && !is_verbal(last.text) && !first.text.ends_with("ly");
        for (is_name, part) in candidate.names.iter_mut().zip(phrase) {
            *is_name |= part.is_name;
        }
        if !candidate.is_name && phrase.iter().all(|part| part.is_name) {
            (candidate.is_name, candidate.text) = (true, text);
        }
        candidate
    }

    fn best(mut self) -> Vec<String> {
        self.found.retain(|_, candidate| candidate.text.len() <= MAX_BYTES);
        let is_word = |key: &str| !key.contains(' ');
        let words: HashMap<&str, u32> = (self.found.iter())
            .filter(|(key, _)| is_word(key))
            .map(|(key, candidate)| (&**key, candidate.score_of_word()))
            .collect();
        let wanted = (FEWEST_KEYWORDS + words.len() / WORDS_PER_KEYWORD).min(MOST_KEYWORDS);
        let mut ranked: Vec<(u32, &str, &Candidate<'_>)> = (self.found.iter())
            .filter(|(key, candidate)| is_word(key) || candidate.is_phrase())
            .map(|(key, candidate)| (candidate.score(key, &words), &**key, candidate))
            .collect();
        ranked.sort_unstable_by_key(|(score, _, candidate)| (std::cmp::Reverse(*score), candidate.order));
        let mut taken: Vec<&str> = Vec::new();
        let mut chosen = Vec::new();
        for (_, key, candidate) in ranked {
            if chosen.len() < wanted && key.split(' ').all(|word| !taken.contains(&word)) {
                taken.extend(key.split(' '));
                chosen.push(candidate.shown());
            }
        }
        chosen
    }
}

fn parts(text: &str, setting: Setting) -> Vec<Part<'_>> {
    let mut terms = Vec::new();
    for_each_term(text, |term| terms.push(term));
    let names_from = names_from(text, setting, &terms);
    let mut last_end = usize::MAX;
    let parts = terms.iter().enumerate().map(|(index, &term)| {
        // `Anna, you won`: whom it is said to is no topic.
        let is_address = index == 0 && text[term.at + term.text.len()..].starts_with(',');
        let (folded, is_topic) = fold_topic(&term);
        let is_topic = is_topic && !is_address;
        let is_joined = text.get(last_end..term.at) == Some(" ");
        last_end = term.at + term.text.len();
        Part {
            is_stop_word: !is_topic && is_stop_word(&folded),
            folded: is_topic.then_some(folded),
            is_name: has_inner_capital(term.text)
                || (index > 0 && term.at >= names_from && has_name_capital(text, &term)),
            is_joined,
            term,
        }
    });
    parts.collect()
}

/// The most that repetition counts for: a word said ten times names the topic no more than one said four times.
const MAX_COUNT: u32 = 8;

impl Candidate<'_> {
    /// Whether these words are one thing: a name, said together again, or the whole of a phrase.
    fn is_phrase(&self) -> bool {
        self.is_name || self.is_whole || self.count > 3
    }

    fn score_of_word(&self) -> u32 {
        let is_long = self.text.chars().count() >= 7 || !self.text.is_ascii();
        let score = self.count.min(MAX_COUNT) * 2 + self.bonus;
        let score = score + u32::from(self.is_name) * 3 + u32::from(is_long) * 2;
        score.saturating_sub(if is_verbal(self.text) { 4 } else { 0 })
    }

    /// A phrase is worth a little more than the mean of its words, and more if it is a name or said again.
    fn score(&self, key: &str, words: &HashMap<&str, u32>) -> u32 {
        let sum: u32 = key.split(' ').filter_map(|word| words.get(word)).sum();
        let mean_and_more = match key.split(' ').count() {
            1 => return sum,
            2 => sum * 5 / 9,
            _ => sum * 5 / 11,
        };
        mean_and_more + self.count.min(MAX_COUNT) + u32::from(self.is_name) * 3
    }

    /// Lower case, but for names.
    fn shown(&self) -> String {
        let words = without_possessive(self.text).split(' ').zip(self.names);
        let shown = words.map(|(word, is_name)| if is_name { word.to_owned() } else { word.to_lowercase() });
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// A term, folded, and whether it can name a topic.
fn fold_topic(term: &Term<'_>) -> (String, bool) {
    let text = term.text;
    match term.kind {
        TermKind::Number | TermKind::Link => (String::new(), false),
        TermKind::Run => (text.to_owned(), !is_hiragana(text) && (2..=8).contains(&text.chars().count())),
        TermKind::Word if is_contraction(text) => (String::new(), false),
        TermKind::Word => {
            let stem = without_possessive(text).trim_end_matches(['\'', '\u{2019}']);
            let mut folded = stem.to_lowercase().replace(['\'', '\u{2019}'], "");
            let chars = folded.chars().count();
            let is_short =
                chars < 3 && !(chars == 2 && stem.chars().all(|c| c.is_uppercase() || c == '#' || c == '+'));
            let is_topic = !is_short && folded.len() <= MAX_BYTES && !is_dull(&folded);
            if is_topic {
                make_singular(&mut folded);
            }
            (folded, is_topic)
        }
    }
}

/// `must've`, `isn't`
fn is_contraction(word: &str) -> bool {
    let joint = word.rfind(['\'', '\u{2019}']).unwrap_or(word.len());
    matches!(word[joint..].trim_start_matches(['\'', '\u{2019}']), "ve" | "re" | "ll" | "d" | "t" | "m")
}

/// One form for one and many, roughly: keywords that differ by it would be twice the same.
fn make_singular(word: &mut String) {
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
    {
        word.truncate(word.len() - 1);
    }
}

/// Whether a word looks like a form of a verb, or an adverb: those seldom name a topic.
fn is_verbal(word: &str) -> bool {
    ["ing", "ed", "ly"].iter().any(|ending| word.ends_with(ending))
}

/// A capital that no sentence asks for: none stands behind a colon or a dash.
fn has_name_capital(text: &str, term: &Term<'_>) -> bool {
    let before = text[..term.at].trim_end_matches(['*', '"', '(', ' ']);
    term.text.starts_with(char::is_uppercase) && !before.ends_with([':', '-', '–', '—', '.', '!', '?'])
}

fn has_inner_capital(word: &str) -> bool {
    word.chars().skip(1).any(char::is_uppercase)
}

/// From where on a capital is the mark of a name: not in a heading, not before the colon of an item, and nowhere
/// in an item most of whose long words have one.
fn names_from(text: &str, setting: Setting, terms: &[Term<'_>]) -> usize {
    match setting {
        Setting::Prose | Setting::Quoted => 0,
        Setting::Heading => usize::MAX,
        Setting::Item => {
            let long = || terms.iter().filter(|term| term.kind == TermKind::Word && term.text.len() >= 4);
            let high = long().filter(|term| term.text.starts_with(char::is_uppercase)).count();
            if high > 1 && high * 2 > long().count() { usize::MAX } else { text.find(':').unwrap_or(0) }
        }
    }
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
            &["Greyhound puppy", "shelter", "adopted"],
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
            &["tuba maintenance", "Yamaha valve", "oil"],
        );
        check("# The Tuba\n\nA tuba.", &["tuba"]);
        check("- Note: Tubas rust", &["tubas rust"]);
    }

    #[test]
    fn what_was_asked_counts_double_and_a_note_less() {
        assert_eq!(keywords(&["tuba", "horn horn"]), ["tuba", "horn"]);
        assert_eq!(keywords(&["horn", "tuba"]), ["horn", "tuba"]);
        check("[image: a photo of a horn]\nThe tuba", &["tuba", "horn"]);
    }

    #[test]
    fn a_phrase_ends_where_its_words_end() {
        check("I know how music affects others.", &["affects", "music"]);
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
