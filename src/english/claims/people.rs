//! Reads the names of relatives and pets: `my sister Anna`, `two cats, Miso and Tofu`.

use crate::english::{
    claims::words::{ReadToken, StatementWords, TOOLS},
    lists::{List, list},
    stop_words::is_stop_word,
};

static BEHIND_NAMES: List = list!("behind_names");
static NOT_MINE: List = list!("not_mine");

/// Reads the names that follow a relation, which is the form's last word.
pub(super) fn relatives(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let relation = at.checked_sub(1)?;
    // The words before it, up to `my` or a number, may only describe it.
    let is_start = |at: usize| words.is(at, "my our a an have had got 've two three four five 2 3 4");
    let start = (0..relation).rev().find(|&at| is_start(at))?;
    let is_other = |at: usize| {
        let word = words.lower(at);
        NOT_MINE.contains(word) || is_stop_word(word) && word != "own"
    };
    if (start + 1..relation).any(is_other)
        || words.is(at, "'s is are") && !words.is(at + 1, "name names called named")
    {
        return None;
    }
    let is_many = is_plural(words.lower(relation));
    let is_apart = words.is(at, ", ( - :");
    let (names, end) = names(words, words.skip(at, "is are 's name names called named , ( - :"), is_many)?;
    // `with my son, Theo and I` is a list of three.
    let is_list = if is_many { names.len() < 2 } else { words.is(words.skip(end, ","), "and") };
    if is_apart && (is_list || !words.is_end(end)) {
        return None;
    }
    // `my brother Windows laptop`, `my husband Says no`
    let is_verb = |word: &str| word.ends_with('s') || word.ends_with("ed");
    if !(words.is_end(end) || BEHIND_NAMES.contains(words.lower(end)) || is_verb(words.lower(end)))
        || names.iter().any(|name| TOOLS.contains(&name.to_lowercase()))
    {
        return None;
    }
    let one = singular(words.lower(relation));
    let values = names.iter().map(|name| format!("{one} {name}").trim_start().to_owned()).collect();
    Some(ReadToken { values, end })
}

/// Reads one name, or those of a list. Ages in brackets after the names are skipped.
fn names(words: StatementWords<'_, '_>, from: usize, is_many: bool) -> Option<(Vec<String>, usize)> {
    let mut found = Vec::new();
    let (mut at, mut end) = (from, from);
    while let Some(behind) = words.person(at, 2).filter(|_| is_many || found.is_empty()) {
        found.push(words.slice(at, behind));
        end = behind;
        if is_many && words.is(end, "(") {
            end = (end..end + 6).find(|&at| words.is(at, ")")).map_or(end, |close| close + 1);
        }
        at = words.skip(end, ", and &");
        if at == end {
            break;
        }
    }
    (!found.is_empty()).then_some((found, end))
}

/// Whether the named person or animal is gone: `died`, `is dead`.
pub(super) fn is_gone(words: StatementWords<'_, '_>, end: usize) -> bool {
    let from = words.skip(end, ",");
    (from..from + 3)
        .take_while(|&at| !words.is_end(at))
        .any(|at| words.is(at, "died passed dead deceased gone down killed stillborn"))
}

/// Whether the relation may have more than one name; in `mum to` the relation is `to`.
fn is_plural(relation: &str) -> bool {
    singular(relation) != relation
}

/// Returns the singular of a relation: `son` for `sons`.
fn singular(relation: &str) -> &str {
    match relation {
        "children" | "kids" | "grandkids" | "to" | "of" => "child",
        "boys" => "son",
        "girls" => "daughter",
        "puppies" => "puppy",
        "ponies" => "pony",
        "mice" => "mouse",
        "geese" => "goose",
        "boss" => relation,
        _ => relation.strip_suffix('s').unwrap_or(relation),
    }
}
