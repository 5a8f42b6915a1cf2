//! What a follow-up is searched for by: its own words, and less strongly those of the turns before it.

use crate::{
    english::{keywords::keywords, query::Query},
    model::turn::Turn,
    text::{
        plain::plain,
        words::{MAX_QUERY_WORDS, Word, query_words},
    },
};

/// A word to search for, and how much a match of it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weighted {
    pub(crate) word: Word,
    /// 1 for the message's own words, less for those of earlier turns.
    pub(crate) weight: f64,
    /// It names somebody or something: no other word stands for it.
    pub(crate) is_name: bool,
}

/// How many of the last turns say what a follow-up means.
const TURNS: usize = 2;
/// What a word of the newest turn's user side counts, beside 1 for the message's own; of its reply; and by what the
/// turn before it counts less. Chosen, not measured: below one half, so that two such words do not outweigh an own one.
const USER_SIDE: f64 = 0.45;
const REPLY_SIDE: f64 = 0.3;
const EARLIER_TURN: f64 = 0.6;
/// What an own word of a follow-up counts that tells no topic: `say` of `and what did she say about it?`
const VAGUE: f64 = 0.2;
/// The most words that are added: the few that tell the topic.
const MOST_ADDED: usize = 16;
/// No more of a side is looked at: a topic shows at the start.
const LOOKED_AT: usize = 2_048;

/// The words to search for, the message's own first, each once, at most [`MAX_QUERY_WORDS`].
///
/// `last_turns` are oldest first; only the last two are looked at, and only for a follow-up.
pub(crate) fn expanded(query: &Query, last_turns: &[&Turn]) -> Vec<Weighted> {
    let names: Vec<Word> = query.names.iter().flat_map(|name| query_words(name)).collect();
    let own = |&word: &Word| {
        let is_vague = query.is_follow_up && query.vague_words.contains(&word);
        Weighted { word, weight: if is_vague { VAGUE } else { 1.0 }, is_name: names.contains(&word) }
    };
    let mut found: Vec<Weighted> = query.words.iter().map(own).collect();
    found.truncate(MAX_QUERY_WORDS);
    if !query.is_follow_up {
        return found;
    }
    let most = (found.len() + MOST_ADDED).min(MAX_QUERY_WORDS);
    let mut turn_weight = 1.0;
    for turn in last_turns.iter().rev().take(TURNS) {
        for (text, weight) in [(&turn.said.user_message, USER_SIDE), (&turn.said.ai_response, REPLY_SIDE)] {
            let topics = keywords(&[&text[..text.floor_char_boundary(LOOKED_AT)]]);
            for word in topics.iter().flat_map(|topic| query_words(topic)) {
                if found.len() < most && found.iter().all(|known| known.word != word) {
                    found.push(Weighted { word, weight: weight * turn_weight, is_name: false });
                }
            }
        }
        turn_weight *= EARLIER_TURN;
    }
    found
}

/// The text that stands for a message when meanings are compared: for a follow-up, what the user said before it stands
/// in front.
pub(crate) fn text_to_embed(query: &Query, message: &str, last_turns: &[&Turn]) -> String {
    /// Models read some hundred tokens; the message itself has more of them.
    const MESSAGE_BYTES: usize = 2_048;
    const BEFORE_BYTES: usize = 512;
    let cut = |text: &str, most: usize| plain(&text[..text.floor_char_boundary(most)]);
    let own = cut(message, MESSAGE_BYTES);
    if !query.is_follow_up {
        return own;
    }
    // A turn that was a follow-up itself says little; then the one before it comes first.
    let last = last_turns.iter().rev().take(TURNS).map(|turn| cut(&turn.said.user_message, BEFORE_BYTES));
    let last: Vec<String> = last.filter(|said| !said.is_empty()).collect();
    let says_topic = |said: &&String| !keywords(&[said]).is_empty();
    match last.iter().find(says_topic).or(last.first()) {
        Some(before) => format!("{before} {own}"),
        None => own,
    }
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

    #[test]
    fn a_follow_up_borrows_the_words_of_the_turns_before_it() {
        let turns = [
            turn("I bought a telescope from Tom.", "A fine lens."),
            turn("The tripod is broken.", "Which screw fell out?"),
        ];
        let turns: Vec<&Turn> = turns.iter().collect();
        let found = expanded(&understand("and how much did it weigh?"), &turns);
        assert_eq!(weight_of(&found, "weigh"), Some(1.0));
        let tripod = weight_of(&found, "tripod").unwrap();
        let (screw, telescope) =
            (weight_of(&found, "screw").unwrap(), weight_of(&found, "telescope").unwrap());
        assert!(tripod > screw && tripod > telescope && tripod < 0.5, "{found:?}");
        assert!(found.iter().all(|weighted| weighted.weight > 0.0));

        let alone = expanded(&understand("How heavy is a tripod?"), &turns);
        assert!(alone.iter().all(|weighted| weighted.weight >= 1.0), "{alone:?}");
        assert_eq!(expanded(&understand("why?"), &[]), []);
    }

    #[test]
    fn what_is_borrowed_is_bounded() {
        let sentences: Vec<String> = (0..5_000).map(|n| format!("Topic{n} and Thing{n}. ")).collect();
        let long = sentences.concat();
        let turns = [turn(&long, &long), turn(&long, &long), turn("only the last two count: zebra", "")];
        let turns: Vec<&Turn> = turns.iter().rev().collect();
        let follow_up = understand("why?");
        let found = expanded(&follow_up, &turns);
        assert!(found.len() <= MAX_QUERY_WORDS && weight_of(&found, "zebra").is_none());
        let many = Query { words: (0..64).collect(), is_follow_up: true, ..Query::default() };
        assert_eq!(expanded(&many, &turns).len(), MAX_QUERY_WORDS);
        assert!(text_to_embed(&follow_up, &long, &turns).len() < 4_096);
    }

    #[test]
    fn the_text_to_embed_says_what_it_is_about() {
        let turns = [turn("I bought a telescope.", "Nice."), turn("Really?", "Yes.")];
        let turns: Vec<&Turn> = turns.iter().collect();
        let text = |message: &str| text_to_embed(&understand(message), message, &turns);
        assert_eq!(text("how much did it weigh?"), "I bought a telescope. how much did it weigh?");
        assert_eq!(text("What is the capital of France?"), "What is the capital of France?");
        assert_eq!(text_to_embed(&understand("why?"), "why?", &[]), "why?");
    }
}
