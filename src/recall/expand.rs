//! Decides what to search for: each question of a message separately. To its words are added the words of what the message
//! tells next to its questions, with at most the same weight, and those of the turns before a follow-up, with less.

use std::collections::HashSet;

use crate::{
    embed::lexicon,
    english::{keywords::keywords, query::Query},
    model::turn::Turn,
    text::{
        plain::plain,
        words::{MAX_QUERY_WORDS, Word, for_each_word, query_words},
    },
};

/// A word to search for, and how much a match of it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weighted {
    pub(crate) word: Word,
    /// 1 for the message's own words, less for those of earlier turns.
    pub(crate) weight: f64,
    /// Whether it names somebody or something, so that it has no synonyms.
    pub(crate) is_name: bool,
    /// Whether it is told next to the question, or borrowed from earlier turns: an answer need not contain it.
    pub(crate) is_told: bool,
    /// Whether it names no topic: `please`, `say`.
    pub(crate) is_dull: bool,
}

/// How many of the last turns are used to understand a follow-up.
const TURNS: usize = 2;
/// The weight of a word of the newest turn's user side, where a word of the message weighs 1, the weight of a word of its
/// reply, and the factor for the turn before. Chosen, not measured: below one half, so that two such words do not outweigh
/// one of the message's own.
const USER_SIDE: f64 = 0.45;
const REPLY_SIDE: f64 = 0.3;
const EARLIER_TURN: f64 = 0.6;
/// Weight of a follow-up's own word that names no topic: `say` in `and what did she say about it?`
const VAGUE: f64 = 0.2;
/// The total weight of everything told next to a question is at most this multiple of the question's own words, however much
/// is told, and no word of it weighs more than one of the question's. Chosen on the sets of docs/recall.md.
const TOLD: f64 = 3.0;
/// The most words that are added from earlier turns: the few that name the topic.
const MOST_ADDED: usize = 16;
/// Only this many bytes of a side are examined: a topic shows at the start.
const LOOKED_AT: usize = 2_048;

/// One separate search: a question of a message, a message without questions, or what is told next to questions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SubQuery {
    /// The words to look for, the query's own first, each once.
    pub(crate) words: Vec<Weighted>,
    /// The text that represents its meaning.
    pub(crate) meaning: String,
    pub(crate) role: Role,
}

/// The role of what is searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// A question or a request.
    #[default]
    Question,
    /// A message that asks nothing.
    Statement,
    /// What a message tells next to its questions. Counts in proportion to how far the message leans on it.
    Background,
}

/// Returns what a message searches for: at least one item. `last_turns` are oldest first; only the last two are used, and
/// only for a follow-up.
pub(crate) fn sought(query: &Query, message: &str, last_turns: &[&Turn]) -> Vec<SubQuery> {
    let added = added_words(query, last_turns);
    let before = before(query, last_turns);
    let told = rarest_words(&query.told);
    let names: Vec<Word> = query.names.iter().flat_map(|name| query_words(name)).collect();
    let weighted = |word: Word, weight: f64, is_told: bool| Weighted {
        word,
        weight,
        is_name: names.contains(&word),
        is_told,
        is_dull: query.vague_words.contains(&word),
    };
    let one = |text: &str, role: Role| {
        let is_vague = |word: &Word| query.is_follow_up && query.vague_words.contains(word);
        let own = |word: Word| weighted(word, if is_vague(&word) { VAGUE } else { 1.0 }, false);
        let mut words: Vec<Weighted> = rarest_words(text).into_iter().map(own).collect();
        let share = (TOLD * count(words.len()) / count(told.len().max(1))).min(1.0);
        let beside = told.iter().map(|&word| weighted(word, share, true));
        for weighted in added.iter().copied().chain(beside) {
            if words.iter().all(|known| known.word != weighted.word) {
                words.push(weighted);
            }
        }
        let own = cut(text, MEANING_BYTES);
        SubQuery {
            words,
            meaning: before.as_ref().map_or(own.clone(), |before| format!("{before} {own}")),
            role,
        }
    };
    if query.asks.is_empty() {
        return vec![one(message, Role::Statement)];
    }
    let mut all: Vec<SubQuery> = query.asks.iter().map(|ask| one(ask, Role::Question)).collect();
    if !told.is_empty() {
        let words = told.iter().map(|&word| weighted(word, 1.0, false)).collect();
        all.push(SubQuery { words, meaning: cut(&query.told, MEANING_BYTES), role: Role::Background });
    }
    all
}

fn count(len: usize) -> f64 {
    u32::try_from(len).map_or(f64::MAX, f64::from)
}

/// Returns the words of a text, each once: all in their order if there are few, otherwise those that are rarest in English.
fn rarest_words(text: &str) -> Vec<Word> {
    const MOST: usize = 256;
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    for_each_word(text, |word| {
        if seen.insert(word) {
            words.push(word);
        }
    });
    if words.len() > MAX_QUERY_WORDS {
        words.sort_by(|a, b| lexicon::commonness(*a).total_cmp(&lexicon::commonness(*b)));
        words.truncate(MOST);
    }
    words
}

/// Returns the words that the turns before a follow-up add.
fn added_words(query: &Query, last_turns: &[&Turn]) -> Vec<Weighted> {
    let mut found: Vec<Weighted> = Vec::new();
    if !query.is_follow_up {
        return found;
    }
    let mut turn_weight = 1.0;
    for turn in last_turns.iter().rev().take(TURNS) {
        for (text, weight) in [(&turn.said.user_message, USER_SIDE), (&turn.said.ai_response, REPLY_SIDE)] {
            let topics = keywords(&[&text[..text.floor_char_boundary(LOOKED_AT)]]);
            for word in topics.iter().flat_map(|topic| query_words(topic)) {
                let is_known = query.words.contains(&word) || found.iter().any(|known| known.word == word);
                if found.len() < MOST_ADDED && !is_known {
                    found.push(Weighted {
                        word,
                        weight: weight * turn_weight,
                        is_name: false,
                        is_told: true,
                        is_dull: false,
                    });
                }
            }
        }
        turn_weight *= EARLIER_TURN;
    }
    found
}

/// Embedding models read some hundred tokens; the question takes more of them than the text before it.
const MEANING_BYTES: usize = 2_048;
const BEFORE_BYTES: usize = 512;

fn cut(text: &str, most: usize) -> String {
    plain(&text[..text.floor_char_boundary(most)])
}

/// Returns what the user said before a follow-up; it precedes the follow-up in the text that is embedded.
fn before(query: &Query, last_turns: &[&Turn]) -> Option<String> {
    if !query.is_follow_up {
        return None;
    }
    // A last turn that was itself a follow-up says little, so the one before it comes first.
    let last = last_turns.iter().rev().take(TURNS).map(|turn| cut(&turn.said.user_message, BEFORE_BYTES));
    let last: Vec<String> = last.filter(|said| !said.is_empty()).collect();
    let says_topic = |said: &&String| !keywords(&[said]).is_empty();
    last.iter().find(says_topic).or(last.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understand(message: &str) -> Query {
        Query::understand(message, "2023-11-15T14:30:00Z".parse().unwrap())
    }

    fn turn(user: &str, reply: &str) -> Turn {
        let mut turn = Turn::sample(1, user, 10);
        turn.said.ai_response = reply.to_owned();
        turn
    }

    #[track_caller]
    fn weight_of(found: &[Weighted], word: &str) -> Option<f64> {
        found.iter().find(|weighted| [weighted.word] == query_words(word)[..]).map(|weighted| weighted.weight)
    }

    /// The search of a message that has only one.
    fn one(message: &str, turns: &[&Turn]) -> SubQuery {
        let mut found = sought(&understand(message), message, turns);
        found.retain(|one| one.role != Role::Background);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn a_follow_up_borrows_the_words_of_the_turns_before_it() {
        let turns = [
            turn("I bought a telescope from Tom.", "A fine lens."),
            turn("The tripod is broken.", "Which screw fell out?"),
        ];
        let turns: Vec<&Turn> = turns.iter().collect();
        let found = one("and how much did it weigh?", &turns).words;
        assert_eq!(weight_of(&found, "weigh"), Some(1.0));
        let tripod = weight_of(&found, "tripod").unwrap();
        let (screw, telescope) =
            (weight_of(&found, "screw").unwrap(), weight_of(&found, "telescope").unwrap());
        assert!(tripod > screw && tripod > telescope && tripod < 0.5, "{found:?}");
        assert!(found.iter().all(|weighted| weighted.weight > 0.0));

        let alone = one("How heavy is a tripod?", &turns).words;
        assert!(alone.iter().all(|weighted| weighted.weight >= 1.0), "{alone:?}");
        assert_eq!(one("why?", &[]).words, []);
    }

    #[test]
    fn what_is_borrowed_is_bounded() {
        let sentences: Vec<String> = (0..5_000).map(|n| format!("Topic{n} and Thing{n}. ")).collect();
        let long = sentences.concat();
        let turns = [turn(&long, &long), turn(&long, &long), turn("only the last two count: zebra", "")];
        let turns: Vec<&Turn> = turns.iter().rev().collect();
        let found = one("why?", &turns);
        assert!(found.words.len() <= MOST_ADDED && weight_of(&found.words, "zebra").is_none());
        assert!(found.meaning.len() < 4_096);
    }

    #[test]
    fn each_question_is_sought_by_itself_and_what_is_told_counts_less_the_longer_it_is() {
        let message = "My sister Ida plays chess. Where is the samovar? And who painted the gate?";
        let found = sought(&understand(message), message, &[]);
        let meanings: Vec<&str> = found.iter().map(|one| &*one.meaning).collect();
        let told = "My sister Ida plays chess.";
        assert_eq!(meanings, ["Where is the samovar?", "And who painted the gate?", told]);
        assert_eq!(weight_of(&found[0].words, "samovar"), Some(1.0));
        assert_eq!(weight_of(&found[0].words, "gate"), None);
        assert_eq!(weight_of(&found[0].words, "chess"), Some(0.75));
        assert_eq!(found[2].role, Role::Background);
        assert_eq!(weight_of(&found[2].words, "chess"), Some(1.0));

        let chat: Vec<String> = (0..60).map(|n| format!("It rained on thing{n}. ")).collect();
        let message = chat.concat() + "Where is the samovar?";
        let found = one(&message, &[]);
        assert_eq!(weight_of(&found.words, "samovar"), Some(1.0));
        let told: f64 =
            found.words.iter().map(|weighted| weighted.weight).filter(|weight| *weight < 1.0).sum();
        assert!((told - TOLD).abs() < 0.1, "{told}");
        assert!(found.words.len() > 50 && found.role == Role::Question);
    }

    #[test]
    fn a_long_message_that_asks_nothing_is_sought_by_its_rarest_words() {
        let chat: Vec<String> = (0..400).map(|n| format!("People do thing{n}. ")).collect();
        let message = chat.concat() + "The samovar leaks.";
        let found = one(&message, &[]);
        assert!(found.role == Role::Statement && found.words.len() == 256, "{}", found.words.len());
        assert!(weight_of(&found.words, "people").is_none());
    }

    #[test]
    fn the_text_to_embed_says_what_it_is_about() {
        let turns = [turn("I bought a telescope.", "Nice."), turn("Really?", "Yes.")];
        let turns: Vec<&Turn> = turns.iter().collect();
        let text = |message: &str| one(message, &turns).meaning;
        assert_eq!(text("how much did it weigh?"), "I bought a telescope. how much did it weigh?");
        assert_eq!(text("What is the capital of France?"), "What is the capital of France?");
        assert_eq!(one("why?", &[]).meaning, "why?");
    }
}
