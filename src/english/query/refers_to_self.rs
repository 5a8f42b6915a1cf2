//! Decides whether the user speaks about themself, so that who they are matters for the answer.

use std::sync::LazyLock;

use crate::english::{
    classes::CLASSES,
    cues::Cues,
    lists::{is_in, list},
    query::reading::{MessageReading, QuerySentence},
};

const OWN: &str = "my mine myself our ours ich mein meine meinen meinem meiner mich mir je j'ai mes moi yo mis conmigo io mio mia \
    eu meu minha";

/// Patterns in which `I` and `me` only belong to the way of asking, or say who gets the answer.
static ASKING: LazyLock<Cues> = LazyLock::new(|| Cues::new(list!("way_of_asking").lines(), CLASSES));

/// Patterns in which `we` refers to what was experienced or said together.
static TOGETHER: LazyLock<Cues> =
    LazyLock::new(|| Cues::new(["did|have|had|were|are we", "remember|recall|when *12 we"], CLASSES));

/// True for `my dog`, `what should I eat`, `remember when we ...`; false for `how do I sort a list` and
/// `tell me about Rome`.
pub(super) fn refers_to_self(reading: &MessageReading<'_>) -> bool {
    reading.parts().any(|part| {
        let asking = ASKING.all(part.sentence);
        let is_asking = |at: usize| asking.iter().any(|place| (place.start..place.end).contains(&at));
        let is_self = |at: usize| match part.lower(at) {
            "i" => is_word(part, at) && !is_asking(at),
            "me" => !is_asking(at),
            word => is_in(OWN, word),
        };
        TOGETHER.any(part.sentence) || (0..part.tokens.len()).any(is_self)
    })
}

/// Whether this `i` is the pronoun, and not the variable of `arr[i]`, `i++` or `for i in`.
fn is_word(part: QuerySentence<'_>, at: usize) -> bool {
    let is_code = |at: usize| part.tokens.get(at).is_some_and(|token| "+=[]()<>;/".contains(&*token.lower));
    let is_loop = part.before(at) == "for" && part.lower(at + 1) == "in";
    part.is_capital(at) || !(is_loop || is_code(at + 1) || at.checked_sub(1).is_some_and(is_code))
}
