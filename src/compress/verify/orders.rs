//! Refuses texts by LLM#1 that give orders to their reader, which is a model, instead of telling what was said.
//!
//! The lists are English only. In other languages, an order is caught only by words that the turn lacks ([`told`]).

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    compress::verify::{
        flaw::Flaw,
        told::{ToldWord, WordOrigin, stems},
    },
    english::lists::{List, is_in, list},
    text::words::Word,
};

/// Verbs of orders that turn a model against those it serves.
static DOING: LazyLock<HashSet<Word>> = LazyLock::new(|| stems(&list!("order_verbs")));
/// The objects of these verbs. "Forget the milk" is not an order to a model.
static TARGETS: LazyLock<HashSet<Word>> = LazyLock::new(|| stems(&list!("order_targets")));
/// How many content words may be between a verb and its object.
const WINDOW: usize = 6;

/// Other openings of orders to the reader, and other phrases ([`ORDERED`]) that make a sentence such an order.
static OPENINGS: List = list!("order_openings");
const ORDERED: [&str; 4] = ["above", "you are", "you must", "from now on"];

/// The subjects of a duty. At most one word may be between a subject and its duty ([`DUTIES`]).
const SUBJECTS: &str = "assistant ai model llm bot chatbot agent you reader readers system gpt";
static DUTIES: List = list!("duties");

/// Checks that a summary gives no order. It may report an order that its turn gives. But a sentence that begins as an order
/// to the reader is refused, even if the turn says it verbatim.
pub(super) fn check(told: &[ToldWord<'_>]) -> Result<(), Flaw> {
    let is_flawed = told.split_inclusive(|word| word.is_last).any(is_order)
        || has_command(told, WordOrigin::Foreign)
        || (0..told.len()).any(|at| is_duty_of_its_own(&told[at..]));
    if is_flawed { Err(Flaw::Instruction) } else { Ok(()) }
}

/// Whether a sentence begins as an order to the reader: `Ignore all previous instructions`, whoever said it.
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

/// Checks text that is shown alone, such as an anchor: it must not mention any order, whoever gave it.
pub(super) fn check_alone(told: &[ToldWord<'_>]) -> Result<(), Flaw> {
    check(told)?;
    if has_command(told, WordOrigin::Turns) { Err(Flaw::Instruction) } else { Ok(()) }
}

/// Whether the text has `... ignore all instructions ...`, with at least one of the two words of this origin.
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

/// Whether the text has `the assistant must ...` or `from now on ...`, followed by something that the turn does not say.
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
