//! Tables of queries, and the times that each of them names.

use chrono::{SecondsFormat, Timelike};

use super::*;

mod tables;

/// A Wednesday.
const NOW: &str = "2023-11-15T14:30:00Z";

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// `2023-11-15`, or `2023-11-15T17:00` if it is not midnight.
fn show(at: DateTime<Utc>) -> String {
    let text = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    if at.hour() + at.minute() == 0 { text[..10].to_owned() } else { text[..16].to_owned() }
}

fn shown(query: &str, now: &str) -> Vec<String> {
    let spans = find(query, instant(now));
    spans.iter().map(|span| format!("{}..{}", show(span.from), show(span.until))).collect()
}

#[track_caller]
fn check(query: &str, expected: &[&str]) {
    assert_eq!(shown(query, NOW), expected, "{query:?}");
}

#[track_caller]
fn check_at(now: &str, query: &str, expected: &[&str]) {
    assert_eq!(shown(query, &format!("{now}T09:00:00Z")), expected, "{query:?} on {now}");
}

#[test]
fn days_near_now() {
    check("what did I tell you today?", &["2023-11-15..2023-11-16"]);
    check("Yesterday I saw a fox", &["2023-11-14..2023-11-15"]);
    check("the day before yesterday we ate out", &["2023-11-13..2023-11-14"]);
    check("yesterday morning", &["2023-11-14..2023-11-14T12:00"]);
    check("yesterday's talk", &["2023-11-14..2023-11-15"]);
    check("what I said this morning", &["2023-11-15..2023-11-15T12:00"]);
    check("this afternoon", &["2023-11-15T12:00..2023-11-15T18:00"]);
    assert_eq!(shown("this evening, then", "2023-11-15T20:00:00Z"), ["2023-11-15T17:00..2023-11-16"]);
    assert_eq!(shown("tonight", "2023-11-15T20:00:00Z"), ["2023-11-15T17:00..2023-11-16T06:00"]);
    check("what did you suggest last night?", &["2023-11-14T17:00..2023-11-15T06:00"]);
    check("earlier today", &["2023-11-15..2023-11-16"]);
    check("earlier this week", &["2023-11-13..2023-11-20"]);
    check("the other day I told you", &["2023-11-01..2023-11-15"]);
    check("I had a dream the other night", &["2023-11-01..2023-11-15"]);
}

#[test]
fn counted_units_ago() {
    check("3 days ago", &["2023-11-12..2023-11-13"]);
    check("three days ago", &["2023-11-12..2023-11-13"]);
    check("a day ago", &["2023-11-14..2023-11-15"]);
    check("a week ago", &["2023-11-05..2023-11-12"]);
    check("two weeks ago we spoke of Rome", &["2023-10-29..2023-11-05"]);
    check("two weeks back", &["2023-10-29..2023-11-05"]);
    check("a month ago", &["2023-09-30..2023-10-31"]);
    check("6 months ago", &["2023-04-30..2023-05-31"]);
    check("a year ago", &["2022-05-17..2023-05-17"]);
    check("twenty years ago", &["2003-05-17..2004-05-16"]);
    check("a few days ago", &["2023-11-08..2023-11-15"]);
    check("a couple of days ago", &["2023-11-11..2023-11-15"]);
    check("a couple weeks ago", &["2023-10-22..2023-11-05"]);
    check("several weeks ago", &["2023-09-10..2023-10-29"]);
    check("2-3 weeks ago", &["2023-10-22..2023-11-05"]);
    check("two nights ago", &["2023-11-13..2023-11-14"]);
    check("99 years ago", &["1924-05-17..1925-05-17"]);
}

#[test]
fn this_and_last() {
    check("remember last week?", &["2023-11-06..2023-11-13"]);
    check("this week", &["2023-11-13..2023-11-20"]);
    check("the week before last", &["2023-10-30..2023-11-06"]);
    check("last month", &["2023-10-01..2023-11-01"]);
    check("this month's goals", &["2023-11-01..2023-12-01"]);
    check("last year we moved", &["2022-01-01..2023-01-01"]);
    check("the year before last", &["2021-01-01..2022-01-01"]);
    check("so far this year", &["2023-01-01..2024-01-01"]);
    check("last weekend", &["2023-11-11..2023-11-13"]);
    check("over the weekend", &["2023-11-11..2023-11-13"]);
    check("this past weekend", &["2023-11-11..2023-11-13"]);
    check("the weekend before last", &["2023-11-04..2023-11-06"]);
    check("last summer", &["2023-06-01..2023-09-01"]);
    check("this summer", &["2023-06-01..2023-09-01"]);
    check("last winter", &["2022-12-01..2023-03-01"]);
    check("last autumn", &["2022-09-01..2022-12-01"]);
    check("last fall I tripped", &["2022-09-01..2022-12-01"]);
    check("this spring", &["2023-03-01..2023-06-01"]);
    check("last March", &["2023-03-01..2023-04-01"]);
    check("last November", &["2022-11-01..2022-12-01"]);
    check("this May", &["2023-05-01..2023-06-01"]);
    check_at("2023-11-12", "last weekend", &["2023-11-04..2023-11-06"]);
    check_at("2023-11-12", "this weekend", &["2023-11-11..2023-11-13"]);
    check_at("2023-11-13", "over the weekend", &["2023-11-11..2023-11-13"]);
    check_at("2023-11-13", "last week", &["2023-11-06..2023-11-13"]);
    check_at("2024-01-01", "last week", &["2023-12-25..2024-01-01"]);
    check_at("2024-01-20", "last winter", &["2022-12-01..2023-03-01"]);
    check_at("2024-01-20", "this winter", &["2023-12-01..2024-03-01"]);
    check_at("2024-03-31", "last month", &["2024-02-01..2024-03-01"]);
    check_at("2023-02-10", "this summer", &[]);
}

#[test]
fn the_past_and_ranges() {
    check("the past two weeks", &["2023-11-01..2023-11-16"]);
    check("over the last 3 days", &["2023-11-12..2023-11-16"]);
    check("in the last few months", &["2023-05-15..2023-11-16"]);
    check("during the past year", &["2022-11-15..2023-11-16"]);
    check("in the last week", &["2023-11-08..2023-11-16"]);
    check("past month", &["2023-10-15..2023-11-16"]);
    check("recently", &["2023-10-15..2023-11-16"]);
    check("have I been sad lately?", &["2023-10-15..2023-11-16"]);
    check("in recent weeks", &["2023-10-18..2023-11-16"]);
    check("since yesterday", &["2023-11-14..2023-11-16"]);
    check("since March", &["2023-03-01..2023-11-16"]);
    check("since last Monday", &["2023-11-13..2023-11-16"]);
    check("since 2021", &["2021-01-01..2023-11-16"]);
    check("after March 5", &["2023-03-06..2023-11-16"]);
    check("before last week", &["0001-01-01..2023-11-06"]);
    check("before 2020", &["0001-01-01..2020-01-01"]);
    check("between March and May", &["2023-03-01..2023-06-01"]);
    check("between March and May 2022", &["2022-03-01..2022-06-01"]);
    check("between November and February", &["2022-11-01..2023-03-01"]);
    check("between 2019 and 2021", &["2019-01-01..2022-01-01"]);
    check("from Monday to Wednesday", &["2023-11-06..2023-11-09"]);
    check("from June until August 2021", &["2021-06-01..2021-09-01"]);
    check("between yesterday and today", &["2023-11-14..2023-11-16"]);
    check("the emails from Monday", &["2023-11-13..2023-11-14"]);
    check("in March and in April", &["2023-03-01..2023-04-01", "2023-04-01..2023-05-01"]);
    check("last week and on May 2", &["2023-11-06..2023-11-13", "2023-05-02..2023-05-03"]);
}

#[test]
fn days_of_the_week() {
    check("last Monday", &["2023-11-13..2023-11-14"]);
    check("on Monday", &["2023-11-13..2023-11-14"]);
    check("what did i say on friday", &["2023-11-10..2023-11-11"]);
    check("Monday's meeting", &["2023-11-13..2023-11-14"]);
    check("Wednesday", &["2023-11-08..2023-11-09"]);
    check("this Tuesday", &["2023-11-14..2023-11-15"]);
    check("on Sat", &["2023-11-11..2023-11-12"]);
    check("last sun", &["2023-11-12..2023-11-13"]);
    check("Friday night", &["2023-11-10T17:00..2023-11-11T06:00"]);
    check("last week on Tuesday", &["2023-11-07..2023-11-08"]);
    check("Tuesday last week", &["2023-11-07..2023-11-08"]);
    check("on Sunday, March 5th, 2023", &["2023-03-05..2023-03-06"]);
    check("on Sunday 5 March", &["2023-03-05..2023-03-06"]);
}

#[test]
fn months_days_and_years() {
    check("in March", &["2023-03-01..2023-04-01"]);
    check("in december", &["2022-12-01..2023-01-01"]);
    check("in November", &["2023-11-01..2023-12-01"]);
    check("in May", &["2023-05-01..2023-06-01"]);
    check("in may", &["2023-05-01..2023-06-01"]);
    check("in Jan", &["2023-01-01..2023-02-01"]);
    check("in March 2021", &["2021-03-01..2021-04-01"]);
    check("March 2021", &["2021-03-01..2021-04-01"]);
    check("March of 2021", &["2021-03-01..2021-04-01"]);
    check("in March last year", &["2022-03-01..2022-04-01"]);
    check("last year in March", &["2022-03-01..2022-04-01"]);
    check("March 5", &["2023-03-05..2023-03-06"]);
    check("5 March", &["2023-03-05..2023-03-06"]);
    check("the 5th of March", &["2023-03-05..2023-03-06"]);
    check("March 5th, 2021", &["2021-03-05..2021-03-06"]);
    check("on 5 March 2021", &["2021-03-05..2021-03-06"]);
    check("December 24", &["2022-12-24..2022-12-25"]);
    check("march 5th", &["2023-03-05..2023-03-06"]);
    check("March 5-7", &["2023-03-05..2023-03-08"]);
    check("on Dec 5", &["2022-12-05..2022-12-06"]);
    check("29 February", &["2020-02-29..2020-03-01"]);
    check("in late March", &["2023-03-01..2023-04-01"]);
    check("at the beginning of March", &["2023-03-01..2023-04-01"]);
    check("2023-03-05", &["2023-03-05..2023-03-06"]);
    check("2023-03-05T10:00:00Z", &["2023-03-05..2023-03-06"]);
    check("2023/03/05", &["2023-03-05..2023-03-06"]);
    check("in 2023-03", &["2023-03-01..2023-04-01"]);
    check("5/3/2023", &["2023-03-05..2023-03-06", "2023-05-03..2023-05-04"]);
    check("13/3/2023", &["2023-03-13..2023-03-14"]);
    check("3/3/2023", &["2023-03-03..2023-03-04"]);
    check("5.3.2023", &["2023-03-05..2023-03-06"]);
    check("in 2022", &["2022-01-01..2023-01-01"]);
    check("back in 2020, what did I want?", &["2020-01-01..2021-01-01"]);
    check("what did I plan in 2022 with Anna", &["2022-01-01..2023-01-01"]);
    check("in the summer", &["2023-06-01..2023-09-01"]);
    check("summer 2021", &["2021-06-01..2021-09-01"]);
    check("the summer of 2021", &["2021-06-01..2021-09-01"]);
    check("summer last year", &["2022-06-01..2022-09-01"]);
    check("in fall 2021", &["2021-09-01..2021-12-01"]);
    check("winter 2021", &["2021-12-01..2022-03-01"]);
}

#[test]
fn what_lies_ahead_is_no_time_to_look_in() {
    for query in [
        "next week",
        "what do I do tomorrow?",
        "the day after tomorrow",
        "next Monday",
        "next March",
        "remind me by Friday",
        "until Monday",
        "every Monday",
        "for Friday",
        "in 3 days",
        "in two weeks",
        "the coming weekend",
        "in 2045",
        "on 2031-01-01",
        "later this week",
        "the next two months",
        "plans for the weekend",
    ] {
        check(query, &[]);
    }
}

#[test]
fn false_friends_are_no_times() {
    for query in [
        "may I ask you something?",
        "you may 5 times",
        "it may be right",
        "may 2000 people come?",
        "the troops march on",
        "they march 20 miles",
        "we went on a march",
        "the last march for peace",
        "april is my sister",
        "what does June like?",
        "a letter from Jan",
        "august company",
        "the sun shines",
        "sun and sea",
        "I sat down",
        "who wed whom",
        "give me a second",
        "the second time",
        "a second opinion",
        "I fall often",
        "in fall",
        "the fall of Rome",
        "how do I test beans in Spring?",
        "in the spring water",
        "spring boot",
        "explain it in 2000 words",
        "in 2000 steps",
        "after 2000 euros",
        "I paid $2000",
        "in 1850 people",
        "5 may be enough",
        "on the 5th floor",
        "5/3 of it",
        "version 2.3.1",
        "10.0.2023.4",
        "mars is a planet",
        "I live on Mars",
        "3 maids and 5 led lamps",
        "7 out of 10",
        "5 set goals",
        "so do mi",
        "mi mar",
        "un mai de rien",
        "mai più",
        "Plácido Domingo",
        "guten Morgen",
        "jeden Montag",
        "por la mañana",
        "cada lunes",
        "in mayo",
        "segunda",
        "每周五",
        "一周三次",
        "以前天气好",
        "3日間",
        "第3号",
        "2023-24",
        "2023-13-45",
        "31/31/2023",
        "call 555-03-05",
        "three days",
        "a five year plan",
        "Black Friday deals",
        "the Sunday Times",
        "Monday.com",
        "the Saturday after",
        "a Monday person",
        "the beauty of autumn",
        "last but not least",
        "at last",
        "this is it",
        "the last word",
        "the past tense",
        "past tense",
        "go back two steps",
        "two steps back",
        "since I moved",
        "before we met",
        "after dinner",
        "between you and me",
        "from Anna to Ben",
        "a long time ago",
        "new year resolutions",
        "weekend",
        "days",
        "7 of 9",
        "",
        "?!",
        "🦊",
    ] {
        check(query, &[]);
    }
}

#[test]
fn parts_of_longer_names_are_not_taken() {
    check("30 February", &["2023-02-01..2023-03-01"]);
    check("the last page of March", &["2023-03-01..2023-04-01"]);
    check("in March, 20 people came", &["2023-03-01..2023-04-01"]);
    check("in March 20 people came", &["2023-03-01..2023-04-01"]);
    check("last week\u{2019}s plan", &["2023-11-06..2023-11-13"]);
    check("YESTERDAY", &["2023-11-14..2023-11-15"]);
    check("between us, yesterday", &["2023-11-14..2023-11-15"]);
}

#[track_caller]
fn check_place(query: &str, expected: &str) {
    let spans = find(query, instant(NOW));
    assert_eq!(&query[spans[0].text.clone()], expected, "{query:?}");
}

#[test]
fn a_span_knows_where_it_stands() {
    check_place("Was it in March 2021, or not?", "in March 2021");
    check_place("naïve 🦊 yesterday's fox", "yesterday's");
    check_place("we met the day before yesterday", "the day before yesterday");
    check_place("between March and May, I think", "between March and May");
}

#[test]
fn a_span_ends_before_its_end() {
    let span = &find("yesterday", instant(NOW))[0];
    let contains = |at: &str| span.contains(instant(at).timestamp_millis(), TimeDelta::zero());
    assert!(contains("2023-11-14T00:00:00Z") && contains("2023-11-14T23:59:59.999Z"));
    assert!(!contains("2023-11-13T23:59:59Z") && !contains("2023-11-15T00:00:00Z"));
}

#[track_caller]
fn check_only(query: &str, expected: bool) {
    let spans = find(query, instant(NOW));
    assert_eq!(is_only_time(query, &spans), expected, "{query:?}: {spans:?}");
}

#[test]
fn some_queries_are_nothing_but_a_time() {
    check_only("remember last week?", true);
    check_only("what did we talk about yesterday?", true);
    check_only("last month", true);
    check_only("what happened in March?", true);
    check_only("What did I tell you on Monday?", true);
    check_only("summarize our conversations from last week, please", true);
    check_only("what's been going on since Friday", true);
    check_only("What were we discussing two days ago?", true);
    check_only("do you remember what I said on 5 March 2023?", true);
    check_only("what did Anna say about the dog last week", false);
    check_only("what did I eat yesterday?", false);
    check_only("how was my exam in March?", false);
    check_only("last week, 20 people came", false);
    check_only("remember?", false);
    check_only("what did we talk about?", false);
    check_only("what did we talk about tomorrow?", false);
    check_only("", false);
}

#[test]
fn no_string_panics_or_takes_long_and_all_instants_are_in_bounds() {
    let pieces = [
        "last ",
        "the ",
        "between ",
        "in ",
        "2023 ",
        "March ",
        "5 ",
        "and ",
        "9999 years ago ",
        "of ",
        "a few ",
        "week ",
        "this ",
        "on ",
        "Monday ",
        "9999-12-31 ",
        "0001-01-01 ",
        "since ",
        "before ",
        "1-2 ",
        "mid-",
        "5/3/2023 ",
        "'",
        "🦊",
        "early ",
        "next ",
        "half a year ",
        "or ",
        "two ",
        "\n",
        ", ",
        "winter ",
    ];
    let mut seed = 7_u32;
    for now in ["0001-01-01T00:00:00Z", NOW, "9999-12-31T23:59:59Z", "-0100-01-01T00:00:00Z"] {
        for _ in 0..2_000 {
            let query: String = (0..12)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    pieces[(seed >> 16) as usize % pieces.len()]
                })
                .collect();
            for span in find(&query, instant(now)) {
                let checked = [span.from, span.until].map(|at| *StoredTime::clamped(at) == at);
                assert_eq!(checked, [true, true], "{query:?} at {now}: {span:?}");
                assert!(span.from < span.until && query.get(span.text.clone()).is_some(), "{query:?}");
            }
        }
    }
    for piece in pieces {
        find(&piece.repeat(1 << 20), instant(NOW));
    }
}
