//! What somebody does for a living: a title, its last word a known one.

use crate::english::{
    claims::{
        forms::Value,
        words::{Read, Words},
    },
    classes::is_of,
    cues::ends_like_a_job,
    lists::{List, list},
};

static NOT_JOBS: List = list!("not_jobs");

/// Words before the last of a title, at most.
const MOST_BEFORE: usize = 5;
/// Titles that say behind `of` what of.
const OF: &str = "professor director head chief vp president lecturer teacher manager chair chairman chairwoman dean secretary minister curator keeper";

/// What ends a title that stands before it.
const PHRASE_ENDS: &str = "a an the of at in from for with who that which and or on to by as the is was am have has i not here based living working \
    specializing specialising since now these but so because there out myself again then until stationed last this over when if any anymore";

/// Titles that with `the` are rather a role of the moment.
const ROLES: &str = "driver author writer guide judge operator host speaker cook officer tester player artist guard partner worker agent \
    model pilot captain dealer student director producer";

/// `a nurse`, `structural engineer`, `head of sales`.
pub(super) fn title(kind: Value, words: Words<'_, '_>, at: usize) -> Option<Read> {
    let mut start = at;
    while words.is(start, "a an now new")
        || (kind == Value::JobSince && words.lower(start) == "the")
        || words.lower(start).ends_with("-year-old")
    {
        start += 1;
    }
    if words.is(start + 1, "year yr") && words.lower(start + 2) == "old" {
        start += 3;
    }
    let ends_phrase = |at: usize| {
        (words.is_end(at) && words.lower(at) != "/")
            || words.is(at, PHRASE_ENDS)
            || words.lower(at).starts_with(|c: char| c.is_ascii_digit()) && !words.lower(at).contains('-')
    };
    let end = (start..start + MOST_BEFORE + 2).find(|&at| ends_phrase(at))?;
    let is_title = |at: usize| {
        is_of("job", words.lower(at))
            || ends_like_a_job(words.lower(at))
            || words.lower(at) == "head" && words.lower(at + 1) == "of"
    };
    let last = (start..end).rfind(|&at| is_title(at))?;
    if (start..last).any(|at| NOT_JOBS.contains(words.lower(at)) || words.lower(at).starts_with("ex-")) {
        return None;
    }
    let mut behind = words.skip_adverbs(last + 1);
    let mut value_end = last + 1;
    if words.lower(behind) == "of" {
        let what = (behind + 1..behind + 5).find(|&at| ends_phrase(at) && words.lower(at) != "the")?;
        let counts = words.lower(behind + 1).starts_with(|c: char| c.is_ascii_digit())
            || crate::english::numbers::small(words.lower(behind + 1)).is_some();
        if words.is(last, OF) && what > behind + 1 && !words.is(what - 1, "month year week day night") {
            (value_end, behind) = (what, what);
        } else if !counts && !words.is(last, "ceo cto cfo coo founder co-founder cofounder owner") {
            return None;
        }
    }
    let ends = ends_phrase(behind);
    let fits = match kind {
        // `I'm the driver` is so tonight, `I'm the Technician` in a book.
        Value::TheJob => {
            let is_title = words
                .token(last)
                .is_some_and(|token| token.is_capital() && token.text.contains(char::is_lowercase));
            !is_title
                && !words.is(last, ROLES)
                && (words.is_end(behind) || words.is(behind, "here at for on and"))
        }
        Value::JobSince => {
            !words.goes_on_with(behind, "then until quit left retired stopped before ago when")
        }
        _ => true,
    };
    let is_said_ironically = words.is(behind, "at") && words.is(behind + 1, "heart night");
    (ends && fits && !is_said_ironically).then(|| words.read(start, value_end))
}

/// `maths` of `I teach maths`, as `maths teacher`.
pub(super) fn taught(words: Words<'_, '_>, at: usize) -> Option<Read> {
    const SUBJECTS: &str = "maths math mathematics physics chemistry biology science english french spanish german italian latin history geography \
        music piano guitar violin singing art drama ballet dance yoga pilates swimming kindergarten preschool philosophy economics computing literature pottery";
    const SCHOOLS: &str = "grade school";
    let end = if words.is(at, SUBJECTS) {
        at + 1
    } else if words.is(at + 1, SCHOOLS) && !words.is(at, "my the a at this") {
        at + 2
    } else {
        return None;
    };
    let ends = words.is_end(end) || words.is(end, "at in to and for here part-time");
    ends.then(|| Read { values: vec![format!("{} teacher", words.slice(at, end))], end })
}
