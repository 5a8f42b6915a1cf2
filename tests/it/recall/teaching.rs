//! What use teaches: a turn that was the best in three contexts is never summarized, a rule that keeps nothing useful stops
//! keeping turns, and no count affects ranks.

use std::collections::BTreeMap;

use thermocline::{
    ContextOptions, CriticalRule, Durability, NewTurn, RunJobs,
    blocking::{Session, Thermocline, User},
};

use super::{answers, asked_at, story, tell_all, uses};
use crate::{
    dump::ask,
    support::{Fixture, at, long_texts, long_turn},
    transfer::export,
};

const HERON: &str = "The heron lives at the pond behind the mill.";
const ASKED: &str = "Where does the heron live?";

fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.config.durability = Durability::Relaxed;
    fixture
}

/// Returns a turn that is long enough to be summarized, and unrelated to anything else in these tests.
fn long(text: &str, n: usize) -> NewTurn {
    let (user, reply) = long_texts(n);
    NewTurn::new(format!("{text} {user}"), reply)
}

/// Asks in a session, and records an answer that no query will find.
fn answer(session: &Session, message: &str) {
    let context = session.context(message, ContextOptions::default().now(asked_at())).unwrap();
    session.record(NewTurn::new(".", "").answering(context.receipt)).unwrap();
}

/// Ends a session, and compresses it with everything counted so far.
fn compress(memory: &Thermocline, session: &Session) {
    session.end().unwrap();
    memory.stats().unwrap(); // Waits for what is counted behind the acknowledgements.
    memory.run_jobs(RunJobs::default()).unwrap();
}

/// Returns the rule by which the turn is kept verbatim, if it is by a rule; `Err` if it is summarized.
fn kept(session: &Session, number: u32) -> Result<Option<CriticalRule>, ()> {
    let is_summarized =
        session.summaries(None, 1_000).unwrap().iter().any(|summary| summary.turn_number == number);
    if is_summarized { Err(()) } else { Ok(session.turn(number).unwrap().unwrap().critical_rule) }
}

/// Records some lamps and ladders, with the heron among them; returns that session, and one to ask in.
fn heron(user: &User) -> (Session, Session) {
    let old = user.session_named("old").unwrap();
    for n in 1..=9 {
        old.record(if n == 5 { long(HERON, n) } else { long_turn(n) }).unwrap();
    }
    (old, user.session_named("now").unwrap())
}

#[test]
fn a_turn_that_was_the_best_of_three_contexts_is_never_summarized() {
    for (times, expected) in [(2, Err(())), (3, Ok(Some(CriticalRule::Used)))] {
        let fixture = fixture();
        let memory = fixture.open();
        let (old, now) = heron(&memory.user("alex").unwrap());
        (0..times).for_each(|_| answer(&now, ASKED));
        compress(&memory, &old);
        assert_eq!(kept(&old, 5), expected, "{times} times");
        assert_eq!(kept(&old, 4), Err(()), "what was shown beside it, or never");
        assert!(memory.doctor().unwrap().is_healthy());
    }
}

#[test]
fn use_speaks_for_later_compressions() {
    let fixture = fixture();
    let memory = fixture.open();
    let (old, now) = heron(&memory.user("alex").unwrap());
    compress(&memory, &old);
    (0..3).for_each(|_| answer(&now, ASKED));
    memory.stats().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(kept(&old, 5), Err(()), "it is summarized");
    old.restore().unwrap();
    old.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(kept(&old, 5), Ok(Some(CriticalRule::Used)));
}

/// A requested context alone counts nothing, and neither does one that showed nothing recalled.
#[test]
fn what_answers_no_turn_or_shows_nothing_teaches_nothing() {
    let fixture = fixture();
    let memory = fixture.open();
    let (old, now) = heron(&memory.user("alex").unwrap());
    compress(&memory, &old);
    (0..3).for_each(|_| drop(now.context(ASKED, ContextOptions::default()).unwrap()));
    assert!(memory.stats().unwrap().rules.is_empty() && memory.stats().unwrap().reached.is_empty());
    let unsure = ContextOptions::default().min_confidence(1.0);
    let context = now.context(ASKED, unsure).unwrap();
    now.record(NewTurn::new(".", "").answering(context.receipt)).unwrap();
    assert!(memory.stats().unwrap().rules.is_empty(), "{:?}", memory.stats().unwrap().rules);
}

/// Compresses a session of two long turns, the second marked by the caller or stating a standing wish; returns why each is
/// kept.
fn kept_in(
    memory: &Thermocline,
    user: &User,
    key: &str,
    second: NewTurn,
) -> [Result<Option<CriticalRule>, ()>; 2] {
    let session = user.session_named(key).unwrap();
    session.record(long_turn(1).caller_id(format!("{key}/1"))).unwrap();
    session.record(second).unwrap();
    compress(memory, &session);
    [kept(&session, 1), kept(&session, 2)]
}

#[test]
fn a_rule_whose_turns_were_of_no_use_in_two_hundred_chances_stops_keeping() {
    use CriticalRule::{Caller, FirstTurn, Preference};
    let fixture = fixture();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let (old, now) = heron(&alex);
    compress(&memory, &old);
    let record = || {
        memory.stats().unwrap();
        let of = memory.stats().unwrap().rules.into_iter().find(|of| of.rule == FirstTurn);
        of.map_or((0, 0, 0), |of| (of.chances, of.taken, of.stopped_users))
    };
    assert_eq!(kept(&old, 1), Ok(Some(FirstTurn)));
    answer(&now, ASKED);
    assert_eq!(record(), (1, 0, 0), "it was considered, and fits too badly");
    (1..199).for_each(|_| answer(&now, ASKED));
    assert_eq!(record(), (199, 0, 0));
    let mut wishes = 0;
    let mut wish = || {
        wishes += 1;
        long("From now on, no jokes.", wishes)
    };
    assert_eq!(kept_in(&memory, &alex, "before", wish()), [Ok(Some(FirstTurn)), Ok(Some(Preference))]);
    // Two turns are kept by the rule by now, so there may be two chances.
    answer(&now, ASKED);
    let (chances, taken, stopped) = record();
    assert!(chances >= 200 && (taken, stopped) == (0, 1), "{chances}");

    assert_eq!(kept_in(&memory, &alex, "after", wish()), [Err(()), Ok(Some(Preference))]);
    let marked = long("Mind this.", 7).critical();
    assert_eq!(kept_in(&memory, &alex, "marked", marked), [Err(()), Ok(Some(Caller))]);
    assert_eq!(kept(&old, 1), Ok(Some(FirstTurn)), "what it kept before stays");
    let blake = memory.user("blake").unwrap();
    assert_eq!(kept_in(&memory, &blake, "of another", wish())[0], Ok(Some(FirstTurn)), "users are scopes");

    // After one use of a turn that it kept, the rule keeps turns again.
    let said = old.turn(1).unwrap().unwrap().said.user_message;
    answer(&now, &said);
    let (_, taken, stopped) = record();
    assert!(taken > 0 && stopped == 0);
    assert_eq!(kept_in(&memory, &alex, "again", wish())[0], Ok(Some(FirstTurn)));
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn what_was_taught_goes_along_with_an_export_and_away_with_an_erase() {
    let fixture = fixture();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let (old, now) = heron(&alex);
    (0..3).for_each(|_| answer(&now, ASKED));
    now.end().unwrap(); // Its turns are of no importance.
    memory.stats().unwrap();
    let exported = export(&alex);
    let best =
        exported.lines().filter(|line| line.starts_with(r#"{"line":"use","#) && line.contains(r#""best":3"#));
    assert_eq!(best.count(), 1);

    let target = self::fixture();
    let other = target.open();
    other.user("mira").unwrap().session().unwrap().record(story(1)).unwrap(); // The numbers of the file differ.
    other.import("blake", std::io::Cursor::new(exported.clone())).unwrap();
    let blake = other.user("blake").unwrap();
    assert_eq!(export(&blake), exported);
    let there = blake.find_session("old").unwrap().unwrap();
    compress(&other, &there);
    assert_eq!(kept(&there, 5), Ok(Some(CriticalRule::Used)));
    assert!(other.doctor().unwrap().is_healthy());

    for (wrong, line) in [
        (r#""best":3"#, r#""best":300"#),
        (r#""aspect":"tier""#, r#""aspect":"chance""#),
        (r#""aspect":"tier""#, r#""aspect":"weather""#),
        (r#""aspect":"reached","name":"2026-03 "#, r#""aspect":"reached","name":"2026-13 "#),
    ] {
        assert!(exported.contains(wrong), "{wrong}");
        let changed = exported.replacen(wrong, line, 1);
        assert!(other.import("casey", std::io::Cursor::new(changed)).is_err(), "{line}");
    }

    let uses = |sql: &str| ask::<u32>(&fixture.path(), sql);
    assert!(uses("SELECT count(*) FROM unit_uses WHERE best = 3") == 1);
    alex.erase_turn(old.turn(5).unwrap().unwrap().id).unwrap();
    assert_eq!(uses("SELECT count(*) FROM unit_uses WHERE best = 3"), 0);
    drop((old, now));
    alex.erase().unwrap();
    assert_eq!(uses("SELECT count(*) FROM unit_uses") + uses("SELECT count(*) FROM use_counts"), 0);
}

#[test]
fn nothing_that_is_counted_ranks() {
    let mut fixture = fixture();
    fixture.config.receipts = 0; // What is counted is written into the file by hand.
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 120);
    memory.run_jobs(RunJobs::default()).unwrap();
    let all = |user: &User| {
        let context = user
            .session_named("talk 4")
            .unwrap()
            .context("number 33 on the list", ContextOptions::default().now(asked_at()))
            .unwrap();
        (answers(user), context.text)
    };
    let before = all(&alex);
    assert!(before.0.iter().any(|(_, lines)| lines.len() > 5));
    memory.close().unwrap();
    crate::dump::rewrite(
        &fixture.path(),
        "INSERT INTO unit_uses (user_no, seq, hits, last_hit, best)
           SELECT user_no, seq, seq * 7919 % 1000 + 1, '2026-03-01T00:00:00.000Z', seq * 104729 % 50 FROM recall_units;
         INSERT INTO use_counts (user_no, aspect, name, hits)
           VALUES (1, 'chance', 'first_turn', 900), (1, 'tier', 'cold', 12345), (1, 'reached', '2026-02 warm', 77)",
    );
    let memory = fixture.open();
    assert_eq!(all(&memory.user("alex").unwrap()), before);
    assert_eq!(memory.stats().unwrap().rules[0].stopped_users, 1);
}

#[test]
fn what_is_shown_for_its_place_and_fits_too_badly_counts_as_nothing() {
    let fixture = fixture();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let now = alex.session_named("now").unwrap();
    for n in 0..9 {
        now.record(NewTurn::new(format!("The heron lives, for all I know, on roof {n}."), "Indeed."))
            .unwrap();
    }
    let scores = |min_confidence: f64| {
        let options = ContextOptions::default().now(asked_at()).min_confidence(min_confidence);
        let context = now.context(ASKED, options).unwrap();
        assert!(
            context.items.len() >= 9 && context.items.iter().all(|item| item.score.is_none()),
            "by place"
        );
        let receipt = alex.receipt(context.receipt).unwrap();
        let seqs: Vec<_> = receipt.items.iter().map(|item| item.seq).collect();
        assert!(seqs.iter().all(|seq| seqs.iter().filter(|other| *other == seq).count() == 1), "{seqs:?}");
        now.record(NewTurn::new(".", "").answering(context.receipt)).unwrap();
        memory.stats().unwrap();
        receipt.items.iter().filter(|item| item.score > 0.0).count()
    };
    assert_eq!(scores(1.0), 0);
    assert_eq!(ask::<u32>(&fixture.path(), "SELECT count(*) FROM unit_uses"), 0);
    assert!(scores(0.0) > 0, "what fits as well is of use");
    assert!(ask::<u32>(&fixture.path(), "SELECT count(*) FROM unit_uses") > 0);
    assert_eq!(ask::<u32>(&fixture.path(), "SELECT sum(best) FROM unit_uses"), 1, "one is the best");
}

#[test]
fn stats_says_by_month_which_tiers_were_reached() {
    let fixture = fixture();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let (old, now) = heron(&alex);
    answer(&now, ASKED); // What is shown of the old session is hot and warm.
    answer(&now, "Hm."); // Nothing is recalled; the turn before is hot.
    compress(&memory, &old);
    fixture.clock.set(at("2026-04-02T12:00:00Z"));
    let now = alex.session_named("then").unwrap();
    now.record(NewTurn::new("Good morning.", "")).unwrap();
    (0..3).for_each(|_| answer(&now, ASKED));
    let reached = memory.stats().unwrap().reached;
    let counts: BTreeMap<&str, [u64; 3]> =
        reached.iter().map(|of| (of.month.as_str(), [of.hot, of.warm, of.cold])).collect();
    assert_eq!(counts, BTreeMap::from([("2026-03", [2, 1, 0]), ("2026-04", [3, 0, 3])]));
    assert_eq!(reached[1].shares().map(|share| share.to_string()), ["0.5", "0", "0.5"]);
    assert_eq!(uses::counts(&memory, &fixture).iter().filter(|line| line.starts_with("reached ")).count(), 4);
}
