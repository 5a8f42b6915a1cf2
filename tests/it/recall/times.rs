//! Times in a question.

use chrono::{DateTime, TimeDelta, Utc};
use thermocline::{NewTurn, RecallOptions, RunJobs, blocking::User};

use super::ids;
use crate::support::{Fixture, at};

/// Records one session of two turns on each of these days.
fn talks(fixture: &Fixture, days: &[&str]) -> User {
    let alex = fixture.open().user("alex").unwrap();
    for day in days {
        let session = alex.session_named(day).unwrap();
        for n in 1..=2 {
            let said_at: DateTime<Utc> = at(&format!("{day}T10:0{n}:00Z"));
            let said = NewTurn::new(format!("The lamp number {n} is lit."), "So it is.");
            session.record(said.said_at(said_at).caller_id(format!("{day}/{n}"))).unwrap();
        }
        session.end().unwrap();
    }
    alex
}

fn asked(alex: &User, query: &str, now: &str) -> Vec<String> {
    let recall = alex.recall(query, RecallOptions::default().now(at(now)).k(100)).unwrap();
    super::check_scores(&recall, &thermocline::Profile::Default);
    ids(&recall)
}

#[test]
fn a_question_for_a_time_and_nothing_else_gets_its_sessions_the_newest_first() {
    let fixture = Fixture::new();
    // 2026-03-11 is a Wednesday; its last week is 2 to 8 March.
    let days = ["2026-02-28", "2026-03-02", "2026-03-05", "2026-03-08", "2026-03-09", "2026-03-10"];
    let alex = talks(&fixture, &days);
    let expected =
        ["2026-03-08/1", "2026-03-08/2", "2026-03-05/1", "2026-03-05/2", "2026-03-02/1", "2026-03-02/2"];
    for when in ["before", "after"] {
        for query in ["What did we talk about last week?", "Remember last week?"] {
            assert_eq!(asked(&alex, query, "2026-03-11T12:00:00Z"), expected, "{query}, {when} the jobs");
        }
        let yesterday = asked(&alex, "What did we talk about yesterday?", "2026-03-11T12:00:00Z");
        assert_eq!(yesterday, ["2026-03-10/1", "2026-03-10/2"], "{when}");
        let february = asked(&alex, "What did we talk about in February?", "2026-03-11T12:00:00Z");
        assert_eq!(february, ["2026-02-28/1", "2026-02-28/2"], "{when}");
        let nothing = asked(&alex, "What did we talk about last year?", "2026-03-11T12:00:00Z");
        assert_eq!(nothing, Vec::<String>::new(), "{when}");
        fixture.open().run_jobs(RunJobs::default()).unwrap();
    }
    let parts = alex.recall("Remember last week?", RecallOptions::default().now(at("2026-03-11T12:00:00Z")));
    assert!(parts.unwrap().items.iter().all(|recalled| recalled.parts.only_time > 0.99));
    let receipt = alex.receipts(1).unwrap().remove(0);
    assert!(alex.receipt(receipt.id).unwrap().understood.is_only_time);
    assert_eq!(receipt.understood.times, ["2026-03-02/2026-03-09"]);
}

#[test]
fn a_month_that_is_named_lifts_what_was_said_in_it() {
    let fixture = Fixture::new();
    let days = ["2025-10-14", "2025-11-14", "2025-12-14", "2026-01-14"];
    let alex = talks(&fixture, &days);
    for (query, day) in [
        ("Which lamp was lit in November?", "2025-11-14"),
        ("Which lamp was lit in December 2025?", "2025-12-14"),
        ("Which lamp was lit in October?", "2025-10-14"),
    ] {
        let recall = alex.recall(query, RecallOptions::default().now(at("2026-03-11T12:00:00Z"))).unwrap();
        let first = &recall.items[0];
        assert_eq!((&ids(&recall)[0][..10], first.parts.time), (day, 1.0), "{query}");
        let others = recall.items.iter().filter(|recalled| recalled.parts.time == 0.0).count();
        assert_eq!(others, 6, "{query}: it lifts, and hides nothing");
    }
}

/// Records turns said on days of January 2024, whose 15th day is a Monday. The text of each is also its caller's id.
fn told(fixture: &Fixture, turns: &[(u32, String)]) -> User {
    let alex = fixture.open().user("alex").unwrap();
    let session = alex.session_named("talk").unwrap();
    for (day, text) in turns {
        let said = NewTurn::new(text.as_str(), "I see.").said_at(at(&format!("2024-01-{day:02}T10:00:00Z")));
        session.record(said.caller_id(text.as_str())).unwrap();
    }
    session.end().unwrap();
    alex
}

#[test]
fn what_is_told_of_a_day_is_found_by_that_day() {
    let fixture = Fixture::new();
    let dentist = "I will see the dentist next Friday.";
    let mut turns =
        vec![(15, dentist.to_owned()), (16, "The lamp is lit.".into()), (19, "The boat is blue.".into())];
    // Enough of them for blocks of the index.
    turns.extend((0..130).map(|n| (22, format!("We painted fence number {n}."))));
    let alex = told(&fixture, &turns);
    for when in ["before", "after"] {
        let was = asked(&alex, "What was on the 19th?", "2024-01-24T12:00:00Z");
        assert_eq!(was, [dentist, "The boat is blue."], "{when} the jobs");
        let said = asked(&alex, "What did I say on the 19th?", "2024-01-24T12:00:00Z");
        assert_eq!(said, ["The boat is blue.", dentist], "{when} the jobs");
        let options = RecallOptions::default().now(at("2024-01-17T12:00:00Z"));
        let next = alex.recall("When do I see the dentist, tomorrow or on Friday?", options).unwrap();
        let found = ids(&next).into_iter().zip(&next.items).find(|(id, _)| id == dentist);
        assert!(found.unwrap().1.parts.time > 0.99, "{when} the jobs");
        let understood = alex.receipts(1).unwrap().remove(0).understood;
        assert!(understood.times.contains(&"2024-01-19/2024-01-20".to_owned()), "{:?}", understood.times);
        fixture.open().run_jobs(RunJobs::default()).unwrap();
    }
}

#[test]
fn who_asks_when_gets_first_what_says_when() {
    let fixture = Fixture::new();
    let said = ["I saw the dentist last Friday.", "I like the dentist very much."];
    let alex = told(&fixture, &[(15, said[0].to_owned()), (16, said[1].to_owned())]);
    let recall =
        |query| alex.recall(query, RecallOptions::default().now(at("2024-03-01T12:00:00Z"))).unwrap();
    let times = |query| recall(query).items.iter().map(|item| item.parts.time > 0.99).collect::<Vec<_>>();
    assert_eq!(ids(&recall("When did I see the dentist?")), said);
    assert_eq!(times("When did I see the dentist?"), [true, false]);
    assert_eq!(times("Do I see the dentist?"), [false, false]);
}

#[test]
fn a_time_is_measured_from_the_moment_of_asking_and_the_future_is_as_new_as_can_be() {
    let fixture = Fixture::new();
    let alex = talks(&fixture, &["2026-03-02", "2026-03-09"]);
    let query = "What did we talk about last week?";
    assert_eq!(asked(&alex, query, "2026-03-10T12:00:00Z"), ["2026-03-02/1", "2026-03-02/2"]);
    assert_eq!(asked(&alex, query, "2026-03-18T12:00:00Z"), ["2026-03-09/1", "2026-03-09/2"]);
    let early = RecallOptions::default().now(at("2026-03-02T10:00:00Z") - TimeDelta::days(400));
    let recall = alex.recall("lamp", early).unwrap();
    assert!(recall.items.iter().all(|recalled| recalled.parts.recency > 0.99));
}
