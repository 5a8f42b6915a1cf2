//! Decides whether a sentence refers to the future or the past: `the dentist is on Friday`, `I saw the dentist on Friday`.

use crate::{
    english::lists::is_in,
    times::{
        reader::Toward,
        words::{Gap, QueryWord, QueryWords},
    },
};

/// Whose text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeSpeaker {
    /// Somebody asks what was said: any time without a year is past.
    Asking,
    /// Somebody tells something: the sentence shows whether it is past.
    Telling,
}

/// Words that refer to the future, in English and in German, Spanish and French.
const FUTURE: &str = "will won't shall going gonna upcoming plan plans planning scheduled appointment deadline due remind \
    reminder werde werden wird muss voy vamos vais vas irai aurai tengo";
const PAST: &str = "was were went did had saw met got came took made ate bought said told spoke been ago";
const PRESENT: &str = "is are am i'm it's that's there's we're have has do does don't what's when's";
const HAN_FUTURE: [char; 7] = ['将', '將', '要', '会', '會', '予', '算'];

/// Returns, for each word, the direction of a time that its sentence names without a year.
pub(super) fn directions(words: &QueryWords, voice: TimeSpeaker) -> Vec<Toward> {
    let mut directions = vec![Toward::Past; words.len()];
    if voice == TimeSpeaker::Asking {
        return directions;
    }
    let mut start = 0;
    for at in 1..=words.len() {
        let begins = words.get(at).is_none_or(|word| matches!(word.gap, Gap::Break | Gap::Point));
        if begins {
            let sentence: Vec<&QueryWord> = (start..at).filter_map(|at| words.get(at)).collect();
            directions[start..at].fill(direction(&sentence));
            start = at;
        }
    }
    directions
}

fn direction(sentence: &[&QueryWord]) -> Toward {
    let has =
        |is_so: fn(&str) -> bool| sentence.iter().any(|word| is_so(&word.lower.replace('\u{2019}', "'")));
    let is_to_come = has(|word| is_in(FUTURE, word) || word.ends_with("'ll"));
    let is_over = || has(|word| is_in(PAST, word) || (word.len() > 3 && word.ends_with("ed")));
    let is_now = || has(|word| is_in(PRESENT, word));
    if is_to_come || (!is_over() && is_now()) { Toward::Future } else { Toward::Past }
}

/// Returns the direction for a whole text in Chinese or Japanese.
pub(super) fn han_direction(text: &str, voice: TimeSpeaker) -> Toward {
    let is_to_come = voice == TimeSpeaker::Telling && text.contains(HAN_FUTURE);
    if is_to_come { Toward::Future } else { Toward::Past }
}
