//! Whether the user speaks of themself, so that who they are matters for the answer.

use crate::english::{
    lists::{List, list},
    query::reading::{Part, Reading},
};

/// True for `my dog`, `what should I eat`, `remember when we ...`; false for `how do I sort a list` and `tell me about
/// Rome`, where `I` and `me` are only how one asks.
pub(super) fn refers_to_self(reading: &Reading<'_>) -> bool {
    reading.parts().any(|part| (0..part.tokens.len()).any(|at| is_self(part, at)))
}

fn is_self(part: Part<'_>, at: usize) -> bool {
    match part.lower(at) {
        "my" | "mine" | "myself" | "our" | "ours" | "ich" | "mein" | "meine" | "meinen" | "meinem"
        | "meiner" | "mich" | "mir" | "je" | "j'ai" | "mes" | "moi" | "yo" | "mis" | "conmigo" | "io"
        | "mio" | "mia" | "eu" | "meu" | "minha" => true,
        "me" => !is_asked_for(part, at),
        "i" => is_word(part, at) && !is_way_of_asking(part, at),
        "we" => is_memory(part, at),
        _ => false,
    }
}

/// `tell me about`, `show me how to`: whom the answer goes to.
fn is_asked_for(part: Part<'_>, at: usize) -> bool {
    static GIVING: List = list!("giving");
    let before = part.before(at);
    let before = if before == "to" || before == "for" { part.before(at - 1) } else { before };
    GIVING.contains(before)
}

/// Not the `i` of `arr[i]`, `i++` or `for i in`.
fn is_word(part: Part<'_>, at: usize) -> bool {
    let is_code = |at: usize| part.tokens.get(at).is_some_and(|token| "+=[]()<>;/".contains(&*token.lower));
    let is_loop = part.before(at) == "for" && part.lower(at + 1) == "in";
    part.is_capital(at) || !(is_loop || is_code(at + 1) || at.checked_sub(1).is_some_and(is_code))
}

/// `how do I`, `can I ask`, `I wonder`, `I would like to know`, `I want you to`.
fn is_way_of_asking(part: Part<'_>, at: usize) -> bool {
    let (before, two_before) = (part.before(at), at.checked_sub(1).map_or("", |at| part.before(at)));
    let (next, second, third) = (part.lower(at + 1), part.lower(at + 2), part.lower(at + 3));
    // What I like or have, even after `how do`, is mine.
    let is_own = matches!(
        next,
        "like" | "love" | "feel" | "look" | "know" | "live" | "have" | "am" | "usually" | "always"
    );
    let is_how =
        two_before == "how" && matches!(before, "do" | "can" | "would" | "could" | "should" | "does" | "to");
    let is_where = two_before == "where" && matches!(before, "can" | "could");
    let is_asking =
        matches!(before, "can" | "could" | "may") && matches!(next, "ask" | "get" | "see" | "have");
    let wonders = matches!(next, "wonder" | "mean" | "guess" | "suppose" | "beg")
        || (next == "am" && matches!(second, "asking" | "wondering" | "curious" | "looking"));
    let is_wish = matches!((next, second), ("want" | "need", "you"))
        || matches!(
            (next, second, third),
            ("would", "like" | "love", "you") | ("want" | "need", "to", "know" | "understand")
        )
        || (next == "would"
            && second == "like"
            && third == "to"
            && matches!(part.lower(at + 4), "know" | "understand" | "learn"));
    ((is_how || is_where) && !is_own) || is_asking || wonders || is_wish
}

/// `remember when we`, `did we`, `have we`: what was lived or said together.
fn is_memory(part: Part<'_>, at: usize) -> bool {
    let tokens = &part.tokens[..at];
    let remembers = tokens.iter().any(|token| matches!(&*token.lower, "remember" | "recall" | "when"));
    remembers || matches!(part.before(at), "did" | "have" | "had" | "were" | "are")
}
