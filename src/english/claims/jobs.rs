//! Reads what somebody does for a living: a title whose last word (before `of`, if there is one) is a known profession or
//! looks like one.

use crate::english::{
    claims::words::{ReadToken, StatementWords},
    classes::is_of,
    lists::{List, list},
};

static NOT_JOBS: List = list!("not_jobs");
static TITLE_ENDS: List = list!("title_ends");

/// The most words of a title.
const MOST: usize = 6;
/// Words whose field follows after `of`.
const OF: &str =
    "professor director head chief president lecturer teacher manager dean secretary minister curator keeper";

/// Recognizes professions that are on no list: `colour technologist`, `watchmaker`.
fn ends_like_a_job(word: &str) -> bool {
    const ENDINGS: [&str; 9] =
        ["ologist", "grapher", "smith", "keeper", "maker", "wright", "ician", "therapist", "worker"];
    ENDINGS.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending))
}

/// Reads a title: `a nurse`, `structural engineer`, `head of sales`.
pub(super) fn title(words: StatementWords<'_, '_>, first: usize) -> Option<ReadToken> {
    let is_before = |at: usize| words.is(at, "a an the now new") || words.lower(at).ends_with("-year-old");
    let start = words.skip_while(first, is_before);
    let start = if words.is(start + 1, "year yr") && words.is(start + 2, "old") { start + 3 } else { start };
    let ends_title = |at: usize| {
        words.is_end(at) && !words.is(at, "/")
            || TITLE_ENDS.contains(words.lower(at))
            || words.lower(at).starts_with(|c: char| c.is_ascii_digit()) && !words.lower(at).contains('-')
    };
    let title_end = |start: usize| (start..=start + MOST).find(|&at| ends_title(at));
    let is_title = |at: usize| {
        is_of("job", words.lower(at))
            || ends_like_a_job(words.lower(at))
            || words.is(at, OF) && words.is(at + 1, "of")
    };
    let last = (start..title_end(start)?).rfind(|&at| is_title(at))?;
    // `the bank's QA tester` is a QA tester, `a plumber's apprentice` is the apprentice of a plumber.
    let whose = (start..last).rfind(|&at| words.is(at, "'s") && words.is(first, "the"));
    let start = whose.map_or(start, |whose| whose + 1);
    let mut end = last + 1;
    if words.is(end, "of") {
        end = title_end(end + 1).filter(|&what| words.is(last, OF) && what > end + 1)?;
    }
    // `I'm Sarah Cook`
    let is_surname = first == start && end == start + 2 && words.person(start, 2) == Some(end);
    let is_none = is_surname
        || (start..last).any(|at| NOT_JOBS.contains(words.lower(at)) || words.lower(at).starts_with("ex-"))
        || words.is(end, "at") && words.is(end + 1, "heart night");
    (!is_none && ends_title(words.skip_adverbs(end))).then(|| words.read(start, end))
}
