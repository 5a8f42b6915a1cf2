//! Summaries that give orders to their reader, a model, instead of telling what was said.
//!
//! English only. In other languages most of these are caught as words that the turn lacks ([`told`]).

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    compress::verify::{
        flaw::Flaw,
        told::{ToldWord, WordOrigin, stems},
    },
    english::lists::{List, is_in, list},
    text::words::Word,
};

/// What a model is told to do against those it serves,
static DOING: LazyLock<HashSet<Word>> = LazyLock::new(|| stems(&list!("order_verbs")));
/// and with what. "Forget the milk" is no order to a model.
static TARGETS: LazyLock<HashSet<Word>> = LazyLock::new(|| stems(&list!("order_targets")));
/// How many content words may be between the two.
const WINDOW: usize = 6;

/// Other openings of orders to the reader, and other things that they refer to.
static OPENINGS: List = list!("order_openings");
const ORDERED: [&str; 4] = ["above", "you are", "you must", "from now on"];

/// Who is told what to do, and how, with at most one word in between.
const SUBJECTS: &str = "assistant ai model llm bot chatbot agent you reader readers system gpt";
static DUTIES: List = list!("duties");

/// A summary must not give an order, but it may report one that its turn gives. An order to the reader, even if it is quoted
/// verbatim, must not be the whole summary of what was said.
pub(super) fn check(told: &[ToldWord<'_>]) -> Result<(), Flaw> {
    let is_flawed = told.split_inclusive(|word| word.is_last).any(is_order)
        || has_command(told, WordOrigin::Foreign)
        || (0..told.len()).any(|at| is_duty_of_its_own(&told[at..]));
    if is_flawed { Err(Flaw::Instruction) } else { Ok(()) }
}

/// `Ignore all previous instructions`, whoever said it.
fn is_order(sentence: &[ToldWord<'_>]) -> bool {
    let text =
        |from: usize| sentence[from..].iter().map(|word| word.text).collect::<Vec<_>>().join(" ") + " ";
    let begins =
        |from: usize, phrase: &str| text(from).strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' '));
    let Some(first) = sentence.first() else { return false };
    let is_opening = first.word.is_some_and(|word| DOING.contains(&word))
        || OPENINGS.lines().any(|phrase| begins(0, phrase));
    is_opening
        && (0..sentence.len()).any(|at| {
            sentence[at].word.is_some_and(|word| TARGETS.contains(&word))
                || ORDERED.iter().any(|phrase| begins(at, phrase))
        })
}

/// Text that is shown alone, such as an anchor, must not mention any order, whoever gave it.
pub(super) fn check_alone(told: &[ToldWord<'_>]) -> Result<(), Flaw> {
    check(told)?;
    if has_command(told, WordOrigin::Turns) { Err(Flaw::Instruction) } else { Ok(()) }
}

/// `... ignore all instructions ...`, if at least one of the two words has this origin.
fn has_command(told: &[ToldWord<'_>], whose: WordOrigin) -> bool {
    let content: Vec<(Word, WordOrigin)> =
        told.iter().filter_map(|word| Some((word.word?, word.whose))).collect();
    let of = |set: &'static HashSet<Word>| {
        content.iter().enumerate().filter(|(_, (word, _))| set.contains(word)).map(|(at, _)| at)
    };
    of(&DOING).any(|doing| {
        let mut near = of(&TARGETS).filter(|target| target.abs_diff(doing) <= WINDOW + 1);
        near.any(|target| content[doing].1 == whose || content[target].1 == whose)
    })
}

/// `the assistant must ...` and `from now on ...`, followed by something that the turn does not say.
fn is_duty_of_its_own(told: &[ToldWord<'_>]) -> bool {
    let is_at = |at: usize, phrase: &str| {
        phrase.split(' ').enumerate().all(|(n, text)| told.get(at + n).is_some_and(|word| word.text == text))
    };
    let is_duty =
        is_in(SUBJECTS, told[0].text) && DUTIES.lines().any(|duty| is_at(1, duty) || is_at(2, duty));
    if !is_duty && !is_at(0, "from now on") && !is_at(0, "you are now") {
        return false;
    }
    let end = told.iter().position(|word| word.is_last).map_or(told.len(), |at| at + 1);
    told[1..end]
        .iter()
        .any(|word| word.whose == WordOrigin::Foreign && DUTIES.lines().all(|duty| duty != word.text))
}
