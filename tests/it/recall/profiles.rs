//! Profiles rank exactly, and anybody can recompute a rank.

use chrono::TimeDelta;
use thermocline::{ErrorKind, NewTurn, Profile, RecallOptions, RunJobs, Weights, blocking::User};

use super::{QUESTIONS, asked_at, check_scores, ids, options, story, tell_all};
use crate::{
    dump::meddle,
    scripted::{Scripted, reads_anchors},
    support::Fixture,
};

fn custom(set: &[(&str, f64)]) -> Profile {
    let mut weights = Weights::default();
    for (name, value) in set {
        weights.set(name, *value).unwrap();
    }
    Profile::Custom(weights)
}

/// Tells stories, and records three turns that prove who the user is; all is compressed, except the last session.
fn told() -> (Fixture, User) {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(reads_anchors));
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session_named("who").unwrap();
    let lamp = "The old lamp stands beside the ladder. ".repeat(10);
    for (n, said) in ["The name is Alex.", "Of the likes is tea.", "Of the likes is tea."].iter().enumerate()
    {
        let said = NewTurn::new(format!("{said} {lamp}"), "").caller_id(format!("a{n}"));
        session.record(said.said_at(super::start() + TimeDelta::days(40))).unwrap();
    }
    session.end().unwrap();
    tell_all(&alex, 150);
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(alex.anchors(None, 1_000).unwrap().len(), 2);
    (fixture, alex)
}

#[test]
fn the_papers_formula_is_kept_to_the_letter() {
    let (_fixture, alex) = told();
    let profile = Profile::paper();
    let (mut with_anchor, mut with_meaning) = (0, 0);
    for query in QUESTIONS {
        let recall = alex.recall(query, options().profile(profile).k(1_000)).unwrap();
        assert_eq!(ids(&recall).len(), 153, "everything has a recency");
        check_scores(&recall, &profile);
        for recalled in &recall.items {
            let Some(turn) = recalled.turn() else { continue };
            let parts = recalled.parts;
            #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds")]
            let days = (asked_at() - turn.timestamp).num_milliseconds() as f64 / 86_400_000.0;
            let anchor = match turn.caller_id.as_deref() {
                Some("a0") => 0.5,
                Some("a1" | "a2") => 0.75,
                _ => 0.0,
            };
            assert!((parts.recency - (-0.1 * days).exp()).abs() < 1e-6, "{parts:?}");
            assert!((parts.anchors - anchor).abs() < 1e-6, "{parts:?}");
            assert!((0.0..=1.0).contains(&parts.meaning), "a cosine: {parts:?}");
            let score = 0.5 * (-0.1 * days).exp() + 0.3 * parts.meaning + 0.2 * anchor;
            assert!((recalled.score - score).abs() < 3e-6, "{score}: {recalled:?}");
            assert!((parts.words, parts.neighbours, parts.session, parts.time) == (0.0, 0.0, 0.0, 0.0));
            with_anchor += usize::from(anchor > 0.0);
            with_meaning += usize::from(parts.meaning > 0.3);
        }
    }
    assert!(with_anchor == 3 * QUESTIONS.len() && with_meaning > 50, "{with_anchor}, {with_meaning}");
}

#[test]
fn lambda_says_how_fast_the_papers_formula_forgets() {
    let (fixture, alex) = told();
    for lambda in [0.0, 0.01, 0.1, 10.0] {
        let profile = Profile::Paper { lambda };
        let recall = alex.recall(QUESTIONS[0], options().profile(profile).k(50)).unwrap();
        check_scores(&recall, &profile);
        for recalled in &recall.items {
            #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds")]
            let days =
                (asked_at() - recalled.turn().unwrap().timestamp).num_milliseconds() as f64 / 86_400_000.0;
            assert!((recalled.parts.recency - (-lambda * days).exp()).abs() < 1e-6, "{lambda}: {recalled:?}");
        }
        assert_eq!(alex.receipt(recall.receipt).unwrap().profile, profile, "as its receipt says");
        // A receipt of an older version has no weights.
        meddle(&fixture.path(), "UPDATE recall_receipts SET weights = 'null', row_check = x'00000000'");
    }
    let refused = |lambda| {
        let asked = alex.recall("x", options().profile(Profile::Paper { lambda }));
        assert_eq!(asked.unwrap_err().kind(), ErrorKind::InvalidInput, "{lambda}");
    };
    [-0.1, 10.1, f64::NAN, f64::INFINITY].into_iter().for_each(refused);
    // The profile as it was written when the paper's lambda was the only one, and as it is written now.
    let read = |text: &str| serde_json::from_str::<Profile>(text).unwrap();
    assert_eq!(read("\"paper\""), Profile::Paper { lambda: 0.1 });
    for profile in
        [Profile::Default, Profile::Recency, Profile::Paper { lambda: 0.5 }, custom(&[("words", 0.0)])]
    {
        assert_eq!(read(&serde_json::to_string(&profile).unwrap()), profile);
    }
}

#[test]
fn the_papers_meaning_is_one_cosine_even_where_both_sides_say_the_same() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let said = "The greenhouse has broken windows.";
    session.record(NewTurn::new(said, said)).unwrap();
    let recall = fixture.alex().recall(said, options().profile(Profile::paper())).unwrap();
    let meaning = recall.items[0].parts.meaning;
    assert!((0.95..=1.0).contains(&meaning), "{meaning}");
}

#[test]
fn recency_ranks_the_newest_first_whatever_is_asked() {
    let (_fixture, alex) = told();
    let newest: Vec<String> = (140..150).rev().map(|n| format!("s{n}")).collect();
    for query in ["Who repaired the violin?", "", "number 3 on the list"] {
        let recall = alex.recall(query, options().profile(Profile::Recency)).unwrap();
        assert_eq!(ids(&recall), newest, "{query:?}");
        check_scores(&recall, &Profile::Recency);
    }
}

#[test]
fn every_score_is_that_of_its_parts_under_every_profile() {
    let (_fixture, alex) = told();
    let profiles = [
        Profile::Default,
        Profile::paper(),
        Profile::Recency,
        custom(&[("words", 0.0)]),
        custom(&[("meaning", 0.0), ("neighbours", 0.0), ("session", 0.0), ("answer", 0.0)]),
        custom(&[("time", 10.0), ("quote", 10.0), ("recency", 10.0), ("anchors", 10.0), ("wish", 10.0)]),
    ];
    for profile in profiles {
        for query in QUESTIONS.iter().chain(&["What is my name, and what do I like?"]) {
            let recall = alex.recall(query, options().profile(profile).k(50)).unwrap();
            check_scores(&recall, &profile);
        }
    }
}

#[test]
fn weights_of_the_callers_own_decide_what_counts() {
    let (_fixture, alex) = told();
    let ask = |profile, query: &str| alex.recall(query, options().profile(profile)).unwrap();
    let alone = |leg: &str| {
        let weights = serde_json::to_value(Weights::default()).unwrap();
        let names = weights.as_object().unwrap().keys();
        custom(&names.map(|name| (name.as_str(), f64::from(u8::from(name == leg)))).collect::<Vec<_>>())
    };
    let query = "Who repaired the violin?";
    for recalled in ask(alone("words"), query).items {
        assert!((recalled.score - recalled.parts.words).abs() < 1e-6 && recalled.score > 0.0, "{recalled:?}");
    }
    for recalled in ask(alone("meaning"), query).items {
        assert!(
            (recalled.score - recalled.parts.meaning).abs() < 1e-6 && recalled.score > 0.0,
            "{recalled:?}"
        );
    }
    assert_eq!(ids(&ask(alone("time"), query)), Vec::<String>::new(), "nothing finds");
    // Story 139 is the last about a telescope.
    let soon = options().now(super::start() + TimeDelta::days(50)).profile(custom(&[("recency", 10.0)]));
    assert_eq!(ids(&alex.recall("telescope", soon).unwrap())[0], "s139", "the newest comes first");
    assert_ne!(ids(&ask(custom(&[("recency", 0.0)]), "telescope"))[0], "s139");
    let same = ask(custom(&[]), query);
    assert_eq!(super::lines(&same), super::lines(&ask(Profile::Default, query)), "the default's own weights");
}

#[test]
fn weights_and_numbers_outside_of_their_limits_are_refused() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(story(1)).unwrap();
    let alex = fixture.alex();
    for weight in [-0.1, 10.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for name in ["words", "meaning", "session", "recency"] {
            let profile = custom(&[(name, weight)]);
            let refused = alex.recall("violin", RecallOptions::default().profile(profile)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{name} {weight}");
            assert!(refused.to_string().contains(name), "{refused}");
            let options = thermocline::ContextOptions::default().profile(profile);
            assert_eq!(session.context("violin", options).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
    }
    for k in [0, 1_001, usize::MAX] {
        let refused = alex.recall("violin", RecallOptions::default().k(k)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{k}");
    }
    let refused = Weights::default().set("beauty", 1.0).unwrap_err();
    assert!(refused.to_string().contains("neighbours"), "it says which there are: {refused}");
    assert_eq!(ids(&alex.recall("violin", options().k(1_000)).unwrap()), ["s1"]);
}

#[test]
fn fewer_are_the_first_of_more() {
    let (_fixture, alex) = told();
    for query in QUESTIONS {
        let all = super::lines(&alex.recall(query, options().k(1_000)).unwrap());
        for k in [1, 2, 7, 20] {
            let some = super::lines(&alex.recall(query, options().k(k)).unwrap());
            assert_eq!(some, all[..all.len().min(k)], "{query:?}");
        }
    }
}
