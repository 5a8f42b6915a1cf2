//! Family and animals by their names: `my sister Anna`, `two cats, Miso and Tofu`.

use crate::english::{
    claims::{
        forms::Value,
        words::{Read, Words},
    },
    classes::is_of,
    stop_words::is_stop_word,
};

/// Whom these make somebody else's, or no family any more: `my friend's son`, `my late wife`.
const NOT_MINE: &str = "'s friend friends neighbor neighbour boss colleague coworker client teacher roommate flatmate late ex former dead deceased \
    fur study business gym lab dance training running sparring imaginary no future not host estranged biological virtual favorite and or";

/// Relations with the names behind them. The form's last word is the relation.
pub(super) fn kin(value: Value, words: Words<'_, '_>, at: usize) -> Option<Read> {
    if value == Value::Children {
        let read = names(words, at, true)?;
        return Some(Read {
            values: read.0.iter().map(|name| format!("child {name}")).collect(),
            end: read.1,
        });
    }
    related(words, at)
}

pub(super) fn pet(words: Words<'_, '_>, at: usize) -> Option<Read> {
    related(words, at)
}

fn related(words: Words<'_, '_>, at: usize) -> Option<Read> {
    let relation = at.checked_sub(1)?;
    // What stands before it, up to `my` or a number, must only describe it.
    let is_start = |at: usize| words.is(at, "my our a an have had got 've two three four five 2 3 4");
    let start = (0..relation).rev().find(|&at| is_start(at))?;
    let is_other = |at: usize| {
        let word = words.lower(at);
        words.is(at, NOT_MINE) || (is_stop_word(word) && word != "own")
    };
    if (start + 1..relation).any(is_other)
        || words.lower(at) == "'s" && !words.is(at + 1, "name names called named")
    {
        return None;
    }
    let is_many = is_plural(words.lower(relation));
    let from = match words.lower(at) {
        "'s" if words.is(at + 2, "is are 's") => at + 3,
        "named" | "called" => at + 1,
        "is" | "are" | "'s" if words.is(at + 1, "called named") => at + 2,
        "," | "(" | "-" | ":" => {
            // `with my son, Theo and I` is a list of three.
            let goes_on =
                |end: usize| !is_many && words.lower(end + usize::from(words.lower(end) == ",")) == "and";
            let (names, end) = names(words, at + 1, is_many)?;
            let (names, end) = if is_many && names.len() < 2 { return None } else { (names, end) };
            return (words.is_end(end) && !goes_on(end)).then(|| read(words, relation, &names, end));
        }
        _ => at,
    };
    let (names, end) = names(words, from, is_many)?;
    Some(read(words, relation, &names, end))
}

/// `Theo, our son,`: the name in front of `our`.
pub(super) fn named_before(words: Words<'_, '_>, our: usize) -> Option<Read> {
    let name =
        our.checked_sub(2).filter(|&at| words.lower(at + 1) == "," && words.person(at, 1) == Some(at + 1))?;
    let is_alone = name == 0 || words.is_end(name - 1);
    let relation =
        (our + 1..our + 3).find(|&at| is_of("kin", words.lower(at)) || is_of("close", words.lower(at)))?;
    let is_mine = (our + 1..relation).all(|at| !words.is(at, NOT_MINE)) && words.is_end(relation + 1);
    (is_alone && is_mine).then(|| read(words, relation, &[words.slice(name, name + 1)], relation + 1))
}

fn read(words: Words<'_, '_>, relation: usize, names: &[String], end: usize) -> Read {
    let one = singular(words.lower(relation));
    Read { values: names.iter().map(|name| format!("{one} {name}").trim_start().to_owned()).collect(), end }
}

/// One name, or those of a list; ages in brackets behind them are passed over.
fn names(words: Words<'_, '_>, from: usize, is_many: bool) -> Option<(Vec<String>, usize)> {
    let mut found = Vec::new();
    let (mut at, mut end) = (from, from);
    while let Some(behind) = words.person(at, 2) {
        found.push(words.slice(at, behind));
        end = behind;
        if !is_many {
            break;
        }
        let mut next = behind;
        if words.lower(next) == "(" {
            next = (next..next + 6).find(|&at| words.lower(at) == ")").map_or(next, |close| close + 1);
            end = next;
        }
        let joined = next + usize::from(words.lower(next) == ",");
        at = joined + usize::from(words.is(joined, "and &"));
        if at == next {
            break;
        }
    }
    (!found.is_empty()).then_some((found, end))
}

/// Whether what was read has gone: `died`, `is dead`.
pub(super) fn is_gone(words: Words<'_, '_>, end: usize) -> bool {
    let from = end + usize::from(words.lower(end) == ",");
    (from..from + 3)
        .take_while(|&at| !words.is_end(at))
        .any(|at| words.is(at, "died passed dead deceased gone down"))
}

fn is_plural(relation: &str) -> bool {
    matches!(relation, "children" | "mice" | "geese" | "ponies" | "puppies")
        || (relation.ends_with('s') && !matches!(relation, "boss"))
}

/// `son` of `sons`.
fn singular(relation: &str) -> &str {
    match relation {
        "children" | "kids" | "grandkids" => "child",
        // Whose name this is, but not what they are.
        "eldest" | "oldest" | "youngest" | "firstborn" => "",
        "boys" => "son",
        "girls" => "daughter",
        "puppies" => "puppy",
        "ponies" => "pony",
        "budgies" => "budgie",
        "doggos" => "dog",
        "mice" => "mouse",
        "geese" => "goose",
        _ if is_of("pet", relation) || is_plural(relation) => relation.strip_suffix('s').unwrap_or(relation),
        _ => relation,
    }
}
