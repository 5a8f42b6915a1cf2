//! Parses and checks a planner's answer: a search plan. One invalid part makes the whole answer unusable.

use std::{fmt, ops::Range};

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;

use crate::{
    model::stored_time::StoredTime,
    text::{llm_json, render},
};

/// The maximum size of an answer, in bytes. A longer one is not parsed. A plan has about 1 kB, but some models write their
/// thoughts before it.
const MAX_ANSWER_BYTES: usize = 64 << 10;
/// The maximum number of queries. Each is a separate search.
const MAX_QUERIES: usize = 8;
/// The maximum length of a query, in bytes. A query is a sentence or two.
const MAX_QUERY_BYTES: usize = 300;

/// What a message needs, according to LLM#1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchPlan {
    /// The queries to search for in addition to the message: trimmed, not blank, without duplicates.
    pub(crate) queries: Vec<String>,
    /// The time in which the sought things were said or happened, within the years 1 to 9999. Never an empty range. `None`
    /// if the answer names no time.
    pub(crate) time: Option<Range<DateTime<Utc>>>,
    /// Whether anything older than the last turns is needed. Always true for a plan with a query or a time.
    pub(crate) needs_older: bool,
    /// The numbers, from 1, of the shown wishes that apply. `None` if the answer does not say.
    pub(crate) wishes: Option<Vec<usize>>,
}

/// The reason why an answer is not a plan. Its message contains nothing of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnusablePlan {
    TooLarge,
    NotAPlan,
    Queries,
    Time,
    Wishes,
}

impl fmt::Display for UnusablePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what it said could not be used: ")?;
        match self {
            Self::TooLarge => f.write_str("it was too large"),
            Self::NotAPlan => f.write_str("it was not the JSON object that it was asked for"),
            Self::Queries => write!(
                f,
                "it had more than {MAX_QUERIES} queries, or one of more than {MAX_QUERY_BYTES} bytes or with \
                 control characters"
            ),
            Self::Time => f.write_str("its days are not a range of time"),
            Self::Wishes => f.write_str("it named wishes that it was not shown"),
        }
    }
}

#[derive(Deserialize)]
struct PlanJson {
    queries: Vec<String>,
    first_day: Option<String>,
    last_day: Option<String>,
    older_memory: Option<bool>,
    wishes: Option<Vec<usize>>,
}

/// Parses the answer of a model that was shown `wish_count` wishes. Removes a surrounding code fence, and any thoughts
/// before the plan.
pub(crate) fn read(text: &str, wish_count: usize) -> Result<SearchPlan, UnusablePlan> {
    if text.len() > MAX_ANSWER_BYTES {
        return Err(UnusablePlan::TooLarge);
    }
    // Accepts only an object, because a list could be taken for the fields in their order. Unknown fields are skipped
    // without recursion, so nesting in them does no harm.
    let text =
        Some(llm_json::bare(text)).filter(|text| text.starts_with('{')).ok_or(UnusablePlan::NotAPlan)?;
    let answer: PlanJson = serde_json::from_str(text).map_err(|_| UnusablePlan::NotAPlan)?;
    let queries = queries(&answer.queries)?;
    let time = time(answer.first_day.as_deref(), answer.last_day.as_deref())?;
    let wishes = answer.wishes;
    if wishes.iter().flatten().any(|number| !(1..=wish_count).contains(number)) {
        return Err(UnusablePlan::Wishes);
    }
    let names_something = !queries.is_empty() || time.is_some();
    let needs_older = answer.older_memory.unwrap_or(true) || names_something;
    Ok(SearchPlan { queries, time, needs_older, wishes })
}

fn queries(given: &[String]) -> Result<Vec<String>, UnusablePlan> {
    let is_bad = |query: &&str| {
        let is_odd = |c: char| c.is_control() || render::is_hidden(c) || render::is_line_break(c);
        query.len() > MAX_QUERY_BYTES || query.contains(is_odd)
    };
    let given: Vec<&str> = given.iter().map(|query| query.trim()).collect();
    if given.len() > MAX_QUERIES || given.iter().any(is_bad) {
        return Err(UnusablePlan::Queries);
    }
    let mut queries: Vec<String> = Vec::new();
    for query in given {
        let is_new = queries.iter().all(|known| known.to_lowercase() != query.to_lowercase());
        if is_new && query.contains(char::is_alphanumeric) {
            queries.push(query.to_owned());
        }
    }
    Ok(queries)
}

/// Returns the range from the first day to the end of the last. `None` if neither day is given.
fn time(first: Option<&str>, last: Option<&str>) -> Result<Option<Range<DateTime<Utc>>>, UnusablePlan> {
    let named = [first, last].map(|day| day.map(str::trim).filter(|day| !day.is_empty()));
    let [Some(first), Some(last)] = named else {
        return if named == [None, None] { Ok(None) } else { Err(UnusablePlan::Time) };
    };
    let midnight = |day: NaiveDate| {
        StoredTime::new("the day", day.and_time(NaiveTime::MIN).and_utc()).ok().map(DateTime::from)
    };
    let from = day(first).and_then(midnight);
    let until = day(last).and_then(|day| day.checked_add_days(Days::new(1))).and_then(midnight);
    match (from, until) {
        (Some(from), Some(until)) if from < until => Ok(Some(from..until)),
        _ => Err(UnusablePlan::Time),
    }
}

/// Parses a day such as `2026-02-01`. Rejects every other form, because chrono accepts signs and years of any length.
fn day(text: &str) -> Option<NaiveDate> {
    let has_form = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    has_form.then(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(queries: &[&str], days: Option<(&str, &str)>, needs_older: bool) -> SearchPlan {
        let midnight = |day: &str| format!("{day}T00:00:00Z").parse().unwrap();
        SearchPlan {
            queries: queries.iter().map(ToString::to_string).collect(),
            time: days.map(|(from, until)| midnight(from)..midnight(until)),
            needs_older,
            wishes: None,
        }
    }

    #[track_caller]
    fn check(answer: &str, expected: Result<&SearchPlan, UnusablePlan>) {
        assert_eq!(
            read(answer, 0).as_ref().map_err(|why| *why),
            expected,
            "{}",
            &answer[..answer.floor_char_boundary(200)]
        );
    }

    #[test]
    fn a_plan_is_queries_days_and_whether_older_memory_is_needed() {
        check(
            r#"{"queries":[" the boat ","The Boat","","..."],"first_day":"2026-02-01","last_day":"2026-02-28","older_memory":true}"#,
            Ok(&plan(&["the boat"], Some(("2026-02-01", "2026-03-01")), true)),
        );
        check(
            r#"{"queries":[],"first_day":"","last_day":null,"older_memory":false}"#,
            Ok(&plan(&[], None, false)),
        );
        check(r#"{"queries":[],"reason":[7]}"#, Ok(&plan(&[], None, true)));
        check(
            "<think>{boat?}</think>\n```json\n{\"queries\":[\"boat\"]}\n```",
            Ok(&plan(&["boat"], None, true)),
        );
        // A plan with a query needs older memory, even if it says that it does not.
        check(r#"{"queries":["boat"],"older_memory":false}"#, Ok(&plan(&["boat"], None, true)));
    }

    #[test]
    fn what_is_no_plan_is_none() {
        for answer in [
            "",
            "null",
            "{}",
            "[]",
            "I would search for the boat.",
            r#"{"queries":["boat"]} I hope this helps!"#,
            r#"Sure: {"queries":["boat"]}"#,
            r#"{"queries":"boat"}"#,
            r#"{"queries":[1]}"#,
            r#"{"queries":["boat"],"queries":["car"]}"#,
            r#"[["boat"],null,null,true]"#,
            r#"{"queries":["boat"],"older_memory":"no"}"#,
            r#"{"queries":["boat"],"first_day":20260201,"last_day":20260202}"#,
        ] {
            check(answer, Err(UnusablePlan::NotAPlan));
        }
        check(&"[".repeat(50_000), Err(UnusablePlan::NotAPlan));
        let deep = |name: &str| format!("{{\"{name}\":{}{}}}", "[".repeat(9_000), "]".repeat(9_000));
        check(&deep("queries"), Err(UnusablePlan::NotAPlan));
        check(&deep("x"), Err(UnusablePlan::NotAPlan));
        check(&deep("x").replacen('{', "{\"queries\":[],", 1), Ok(&plan(&[], None, true)));
    }

    #[test]
    fn one_query_too_many_too_long_or_with_control_characters_costs_the_plan() {
        let of = |queries: &[String]| serde_json::json!({ "queries": queries }).to_string();
        let same = |count: usize| (0..count).map(|n| format!("query {n}")).collect::<Vec<_>>();
        assert_eq!(read(&of(&same(8)), 0).unwrap().queries.len(), 8);
        check(&of(&same(9)), Err(UnusablePlan::Queries));
        check(&of(&same(200)), Err(UnusablePlan::Queries));
        assert!(read(&of(&["a".repeat(300)]), 0).is_ok());
        check(&of(&["a".repeat(301)]), Err(UnusablePlan::Queries));
        check(&of(&["a".repeat(1 << 20)]), Err(UnusablePlan::TooLarge));
        for odd in ["a\nb", "a\tb", "a\u{0}b", "a\u{1b}[2Jb", "a\u{202e}b", "a\u{2028}b"] {
            check(&of(&[odd.to_owned()]), Err(UnusablePlan::Queries));
        }
    }

    #[test]
    fn wishes_that_were_not_shown_cost_the_plan() {
        let of =
            |wishes: &str| read(&format!(r#"{{"queries":[],"wishes":{wishes}}}"#), 3).map(|plan| plan.wishes);
        assert_eq!(of("[1,3]"), Ok(Some(vec![1, 3])));
        assert_eq!(of("[]"), Ok(Some(Vec::new())));
        assert_eq!(of("null"), Ok(None));
        assert_eq!(of("[0]"), Err(UnusablePlan::Wishes));
        assert_eq!(of("[1,4]"), Err(UnusablePlan::Wishes));
        for no_numbers in ["[-1]", "[1.5]", "\"1\"", "[\"1\"]"] {
            assert_eq!(of(no_numbers), Err(UnusablePlan::NotAPlan));
        }
    }

    #[test]
    fn days_that_are_no_range_cost_the_plan() {
        let of = |first: &str, last: &str| {
            format!(r#"{{"queries":[],"first_day":"{first}","last_day":"{last}"}}"#)
        };
        check(&of("2026-02-01", "2026-02-01"), Ok(&plan(&[], Some(("2026-02-01", "2026-02-02")), true)));
        for (first, last) in [
            ("0000-01-01", "10000-01-01"),
            ("0000-01-01", "2026-01-01"),
            ("0001-01-01", "9999-12-31"),
            ("+2026-01-01", "2026-02-01"),
            ("2026-02-02", "2026-02-01"),
            ("2026-02-30", "2026-03-01"),
            ("2026-2-1", "2026-2-2"),
            ("2026-02-01", ""),
            ("", "2026-02-01"),
            ("yesterday", "today"),
        ] {
            check(&of(first, last), Err(UnusablePlan::Time));
        }
    }
}
