//! A filter only removes what does not pass: as many results as requested come, with the same scores as without it.

use chrono::{DateTime, TimeDelta, Utc};
use thermocline::{
    Attribute, ContextOptions, ErrorKind, Filter, NewTurn, Profile, Recalled, RunJobs, SessionId,
    blocking::{Session, User},
};

use super::{QUESTIONS, asked_at, ids, lines, options, start, tell, tell_all};
use crate::support::Fixture;

/// Tells six conversations of 25 stories, of which two are filed under a project and four are compressed.
fn told(fixture: &Fixture) -> (User, Vec<Session>) {
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 100);
    alex.session_named("talk 3").unwrap().end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    for (talk, first) in [(4, 100), (5, 125)] {
        tell(&alex.session_named(&format!("talk {talk}")).unwrap(), first..first + 25);
    }
    let talk = |n: usize| alex.find_session(&format!("talk {n}")).unwrap().unwrap();
    let talks: Vec<Session> = (0..6).map(talk).collect();
    for talk in [1, 4] {
        talks[talk].set_project(Some("boat")).unwrap();
    }
    (alex, talks)
}

/// Returns when the `n`-th story was told.
fn hour(n: i64) -> DateTime<Utc> {
    start() + TimeDelta::hours(8 * n)
}

/// Whether something said in a session at a time passes.
type Passes = Box<dyn Fn(SessionId, DateTime<Utc>) -> bool>;

fn place(recalled: &Recalled) -> (SessionId, DateTime<Utc>) {
    let turn = recalled.turn().unwrap();
    (turn.session_id, turn.timestamp)
}

#[test]
fn a_filter_takes_away_what_does_not_pass_and_changes_no_score() {
    let fixture = Fixture::new();
    let (alex, talks) = told(&fixture);
    let id = |n: usize| talks[n].id();
    let [a, b, c] = [1, 4, 2].map(id);
    let filters: Vec<(Filter, Passes)> = vec![
        (Filter::default().project("boat"), Box::new(move |of, _| of == a || of == b)),
        (Filter::default().sessions([a, c]), Box::new(move |of, _| of == a || of == c)),
        (Filter::default().without_session(a).without_session(c), Box::new(move |of, _| of != a && of != c)),
        (Filter::default().project("boat").without_session(a), Box::new(move |of, _| of == b)),
        (Filter::default().project("boat").sessions([a, c]), Box::new(move |of, _| of == a)),
        (Filter::default().since(hour(30)), Box::new(|_, at| at >= hour(30))),
        (Filter::default().until(hour(30)), Box::new(|_, at| at < hour(30))),
        (
            Filter::default().since(hour(40)).until(hour(60)),
            Box::new(|_, at| hour(40) <= at && at < hour(60)),
        ),
        (Filter::default().since(hour(40)).sessions([a]), Box::new(move |of, at| of == a && at >= hour(40))),
    ];
    let mut found = 0;
    for profile in [Profile::Default, Profile::paper(), Profile::Recency] {
        for query in QUESTIONS {
            let ask = |options| {
                let mut recall = alex.recall(query, options).unwrap();
                assert!(recall.missing.is_empty(), "{:?}", recall.missing);
                recall.items.retain(|item| item.turn().is_some());
                recall
            };
            let options = options().profile(profile);
            let all = ask(options.clone().k(1_000));
            for (filter, passes) in &filters {
                for k in [1, 10] {
                    let filtered = ask(options.clone().k(k).filter(filter.clone()));
                    let mut expected = all.clone();
                    expected.items.retain(|item| {
                        let (session, said_at) = place(item);
                        passes(session, said_at)
                    });
                    expected.items.truncate(k);
                    assert_eq!(lines(&filtered), lines(&expected), "{query:?} {filter:?} {k}");
                    found += filtered.items.len();
                }
            }
        }
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn a_time_begins_with_since_and_ends_before_until() {
    let fixture = Fixture::new();
    let (alex, _) = told(&fixture);
    let told_in = |filter| {
        let mut ids = ids(&alex.recall("number on the list", options().k(1_000).filter(filter)).unwrap());
        ids.sort();
        ids
    };
    assert_eq!(told_in(Filter::default().since(hour(70)).until(hour(72))), ["s70", "s71"]);
    let ms = TimeDelta::milliseconds(1);
    assert_eq!(told_in(Filter::default().since(hour(70) + ms).until(hour(72) + ms)), ["s71", "s72"]);
    assert_eq!(told_in(Filter::default().since(hour(70)).until(hour(70) + ms)), ["s70"]);
}

#[test]
fn a_filter_that_cannot_be_meant_is_refused() {
    let fixture = Fixture::new();
    let (alex, talks) = told(&fixture);
    let check = |filter: Filter, word: &str| {
        let refused = [
            alex.recall("violin", options().filter(filter.clone())).unwrap_err(),
            alex.context("violin", ContextOptions::default().filter(filter.clone())).unwrap_err(),
            talks[5].context("violin", ContextOptions::default().filter(filter)).unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains(word), "{error}");
        }
    };
    check(Filter::default().project(""), "filter's project is empty");
    check(Filter::default().project("x".repeat(257)), "filter's project");
    check(Filter::default().since(hour(3)).until(hour(3)), "since must be before until");
    check(Filter::default().since(hour(4)).until(hour(3)), "since must be before until");
    check(Filter::default().until("+12000-01-01T00:00:00Z".parse().unwrap()), "the year 12000");
    assert_eq!(alex.receipts(100).unwrap().len(), 0, "nothing was asked");
}

#[test]
fn what_a_filter_names_and_nobody_has_finds_nothing_and_is_named() {
    let fixture = Fixture::new();
    let (alex, talks) = told(&fixture);
    let blake = fixture.open().user("blake").unwrap();
    let foreign = blake.session_named("secret").unwrap();
    foreign.record(NewTurn::new("The violin is mine.", "")).unwrap();
    foreign.set_project(Some("garden")).unwrap();
    let ask = |filter: Filter| {
        let recall = alex.recall("violin", options().filter(filter.clone())).unwrap();
        let context = alex.context("violin", ContextOptions::default().filter(filter)).unwrap();
        assert_eq!(context.missing, recall.missing);
        assert_eq!(context.items.is_empty(), recall.items.is_empty());
        (recall.items.len(), recall.missing)
    };
    let unknown = |n| vec![format!("filter: the user does not have {n} of the sessions that it names")];
    assert_eq!(ask(Filter::default().sessions([foreign.id()])), (0, unknown(1)));
    assert_eq!(ask(Filter::default().sessions([foreign.id(), talks[1].id()])), (10, unknown(1)));
    assert_eq!(ask(Filter::default().without_session(foreign.id())), (10, unknown(1)));
    assert_eq!(ask(Filter::default().sessions([])), (0, Vec::new()));
    let no_project = vec!["filter: nothing of the user is filed under its project".to_owned()];
    assert_eq!(ask(Filter::default().project("garden")), (0, no_project));
}

#[test]
fn a_project_is_what_a_session_is_filed_under_now() {
    let fixture = Fixture::new();
    let (alex, talks) = told(&fixture);
    let count = |project: &str| {
        let filter = Filter::default().project(project);
        alex.recall("violin", options().k(1_000).profile(Profile::Recency).filter(filter))
            .unwrap()
            .items
            .len()
    };
    assert_eq!((count("boat"), count("shed")), (50, 0));
    talks[1].set_project(Some("shed")).unwrap();
    assert_eq!((count("boat"), count("shed")), (25, 25));
    talks[4].set_project(None).unwrap();
    assert_eq!((count("boat"), count("shed")), (0, 25));
}

#[test]
fn anchors_have_no_session_a_filtered_recall_gives_none_and_a_context_shows_them() {
    let fixture = Fixture::new();
    let (alex, talks) = told(&fixture);
    alex.set_anchor("user", Attribute::Home, "Lisbon").unwrap();
    let has_anchor = |filter| {
        let recall = alex.recall("Where do I live?", options().k(1_000).filter(filter)).unwrap();
        recall.items.iter().any(|item| item.turn().is_none())
    };
    assert!(has_anchor(Filter::default()));
    assert!(!has_anchor(Filter::default().without_session(talks[0].id())));
    let filter = Filter::default().sessions([]);
    let context = alex.context("Where do I live?", ContextOptions::default().filter(filter)).unwrap();
    assert!(context.text.contains("User home: Lisbon") && context.items.len() == 1);
}

#[test]
fn a_contexts_own_turns_stay_and_what_is_recalled_passes() {
    let fixture = Fixture::new();
    let (_alex, talks) = told(&fixture);
    let question = "Who repaired the violin, and number 33 on the list?";
    let own = talks[5].id();
    let filter = Filter::default().sessions([talks[1].id()]);
    let options = ContextOptions::default().now(asked_at()).filter(filter);
    for options in [options.clone(), options.for_messages()] {
        let context = talks[5].context(question, options).unwrap();
        let of = |session| context.items.iter().filter(move |item| item.session_id == Some(session));
        assert_eq!(of(own).count() + of(talks[1].id()).count(), context.items.len());
        assert!(of(own).count() > 10 && of(own).all(|item| item.score.is_none()), "by their places");
        assert!(of(talks[1].id()).any(|item| item.caller_id.as_deref() == Some("s33")));
    }
}

#[test]
fn a_receipt_says_which_filter_was_applied() {
    let fixture = Fixture::new();
    let (alex, talks) = told(&fixture);
    let filter = Filter::default()
        .project("boat")
        .sessions([talks[1].id()])
        .without_session(talks[2].id())
        .since(hour(26));
    let recall = alex.recall("violin", options().filter(filter.clone())).unwrap();
    let receipt = alex.receipt(recall.receipt).unwrap();
    assert_eq!(receipt.understood.filter, filter);
    let explained = receipt.explain();
    let words = "Filtered: only the project \"boat\"; only 1 session; not 1 session; said since 2025-09-10 01:00 UTC.";
    assert!(explained.contains(words), "{explained}");
    let recall = alex.recall("violin", options()).unwrap();
    let receipt = alex.receipt(recall.receipt).unwrap();
    assert!(receipt.understood.filter.is_open() && !receipt.explain().contains("Filtered"));
}
