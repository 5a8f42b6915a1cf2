//! Decides whose matter a statement is about: the speaker's, or somebody else's.

use crate::english::{
    classes::is_of,
    lists::{List, is_in, list},
    numbers::cardinal,
    statements::Statement,
    stop_words::is_stop_word,
};

/// Who a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// `my violin`, `I moved it`.
    Own,
    /// `my cousin keeps a violin`, `the landlord of the bakery`.
    Others,
    /// Nobody's: the statement is about the thing itself, `the kitchen is green now`.
    Things,
}

/// Verbs of learning: after `I read that`, only what follows shows whose matter it is.
const LEARNT: &str = "read heard saw know knew think believe learned learnt found";

/// Returns whose matter a statement about a thing is. `is_of_thing` says whether a word identifies the thing.
pub(crate) fn whose(statement: &Statement<'_>, is_of_thing: &dyn Fn(&str) -> bool) -> Whose {
    let lower = |at: usize| statement.tokens.get(at).map_or("", |token| &*token.lower);
    let is_person = |at: usize| is_person(lower(at)) && !is_of_thing(lower(at));
    // `my cousin`, `my old boss`
    let of_person = |at: usize| is_person(at + 1) || is_person(at + 2);
    // Whether a word may precede the thing as the subject: `the kitchen is`, `three cats`, not `the seniors meet`,
    // `Jess lives in apartment 2C`.
    let leads_to = |at: usize| {
        let token = &statement.tokens[at];
        is_stop_word(&token.lower)
            || token.is_passed_over
            || cardinal(&token.lower).is_some()
            || is_of_thing(&token.lower)
    };
    let is_subject = |at: usize| {
        let clause = (0..at).rev().take_while(|before| !statement.tokens[*before].is_mark());
        is_of_thing(lower(at)) && clause.into_iter().all(leads_to)
    };
    // `I read that many people ...`: the words after `that` show whose it is.
    let first = (0..statement.tokens.len()).find(|at| is_of_thing(lower(*at))).unwrap_or(0);
    let is_learnt = |at: &usize| lower(*at) == "that" && is_in(LEARNT, lower(at.wrapping_sub(1)));
    let start = (0..first).rev().find(is_learnt).unwrap_or(0);
    let (mut is_own, mut is_others) = (false, false);
    for at in start..statement.tokens.len() {
        match lower(at) {
            "my" | "our" if of_person(at) => is_others = true,
            "i" | "we" | "me" | "us" | "mine" | "ours" | "myself" | "my" | "our" => is_own = true,
            "his" | "her" | "their" | "'s" => is_others = true,
            "of" | "in" | "at" | "on" | "to" | "for" | "by" | "near" | "behind" | "next" | "down" | "up"
            | "across" | "from" | "above" | "below" | "beside"
                if at > 0 && is_of_thing(lower(at - 1)) =>
            {
                let behind =
                    (at + 1..at + 3).map(lower).find(|word| !is_in("the a an my our his her their", word));
                is_others |= behind.is_some_and(|word| !word.is_empty() && !is_of_thing(word));
            }
            _ if is_person(at) => is_others = true,
            _ => {}
        }
    }
    match (is_own, is_others) {
        (true, _) => Whose::Own,
        (false, false) if (start..statement.tokens.len()).any(is_subject) => Whose::Things,
        (false, _) => Whose::Others,
    }
}

fn is_person(word: &str) -> bool {
    is_of("job", word) || is_relation(word)
}

/// Whether a word means somebody one knows: `sister`, `neighbour`.
pub(crate) fn is_relation(word: &str) -> bool {
    static ACQUAINTANCES: List = list!("acquaintances");
    ["kin", "close"].iter().any(|class| is_of(class, word)) || ACQUAINTANCES.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[test]
    fn a_statement_is_of_the_speaker_of_somebody_else_or_of_the_thing_itself() {
        let is_of_thing = |word: &str| is_in("violin kitchen landlord deadline thesis rent dentist", word);
        for (text, expected) in [
            ("I moved the violin to the cellar.", Whose::Own),
            ("My new dentist is Doctor Okafor.", Whose::Own),
            ("The kitchen is green now.", Whose::Things),
            ("The seniors have a purple kitchen.", Whose::Others),
            ("My cousin keeps a violin in the garage.", Whose::Others),
            ("The landlord of the bakery is Mister Voss.", Whose::Others),
            ("The neighbour has a purple kitchen.", Whose::Others),
            ("My brother pays 700 euros of rent.", Whose::Others),
            ("The deadline of my thesis was pushed.", Whose::Own),
            ("The kitchen at work is purple.", Whose::Others),
            ("My sister lent me her violin.", Whose::Own),
            ("The dentist down the road is Doctor Lund.", Whose::Others),
            ("Jess pays 700 euros rent.", Whose::Others),
            ("I read that many people pay rent.", Whose::Others),
            ("From now on rent is due on Monday.", Whose::Things),
        ] {
            let statements = statements(text);
            assert_eq!(whose(&statements[0], &is_of_thing), expected, "{text}");
        }
    }
}
