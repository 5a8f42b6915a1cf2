//! An ended session is compressed, and no turn is lost in the process, whatever LLM#1 answers.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chrono::TimeDelta;
use thermocline::{
    CriticalRule, MemoryTier, MoveReason, NewTurn, Original, Originals, RecordOutcome, RunJobs, Summarizer,
    Summary, Turn, Verdict,
    blocking::{Session, Thermocline},
};

use crate::{
    dump::{assert_same, dump, dump_without},
    scripted::{Scripted, failure, first_words},
    support::{Fixture, long_texts, long_turn, turn, turn_of},
};

const BOTH: [Originals; 2] = [Originals::Archive, Originals::Delete];

/// Records an ended session of long turns that is not compressed yet.
fn ended(fixture: &Fixture, turns: usize) -> (Thermocline, Session) {
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session_named("chat").unwrap();
    for n in 1..=turns {
        session.record(long_turn(n)).unwrap();
    }
    session.end().unwrap();
    (memory, session)
}

/// Does what [`first_words`] does, but gives a different sentence to each turn that contains only x.
fn told_apart(turn: &Turn) -> Verdict {
    let is_of_x = turn.said.user_message.starts_with("x x");
    if is_of_x { says(turn, &"x ".repeat(turn.turn_number as usize)) } else { first_words(turn) }
}

/// Checks that every turn has its original text, and is found by its number.
#[track_caller]
fn check_all_there(session: &Session, turns: usize) {
    for n in 1..=turns {
        let said = session.turn(u32::try_from(n).unwrap()).unwrap().unwrap().said;
        assert_eq!((said.user_message, said.ai_response), long_texts(n), "turn {n}");
        let found = session.search(&format!("number {n}"), 1).unwrap();
        assert_eq!(found[0].turn.turn_number as usize, n);
    }
}

#[test]
fn an_ended_session_is_compressed_and_every_turn_can_still_be_read() {
    for originals in BOTH {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(told_apart));
        let memory = fixture.open();
        let session = memory.user("alex").unwrap().session().unwrap();
        for n in 0..40 {
            session.record(turn_of(10 + 10 * n)).unwrap();
        }
        session.end().unwrap();
        let report = memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!((report.done, report.turns), (1, 40));
        assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
        assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
        let summaries = session.summaries(None, 1_000).unwrap();
        assert_eq!(summaries.len(), 34, "those of more than 60 tokens");
        for n in 1..=40 {
            let found = session.turn(n).unwrap();
            let is_deleted = originals == Originals::Delete && n > 6;
            assert_eq!(found.is_none(), is_deleted, "turn {n}");
        }
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{:#?}", diagnosis.checks);
    }
}

#[test]
fn every_turn_is_found_before_and_after_compression() {
    let fixture = Fixture::new();
    let (memory, session) = ended(&fixture, 70);
    check_all_there(&session, 70);
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(session.summaries(None, 1_000).unwrap().len() > 60);
    check_all_there(&session, 70);
    check_all_there(&fixture.alex().session_named("chat").unwrap(), 70);
}

#[test]
fn short_turns_stay_verbatim_and_only_marked_ones_are_critical() {
    for originals in BOTH {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(told_apart));
        let memory = fixture.open();
        let session = memory.user("alex").unwrap().session().unwrap();
        session.record(turn(0)).unwrap(); // The first turn of a session is critical.
        for told in
            [turn(1), turn(2).critical(), long_turn(3), long_turn(4).critical(), turn_of(60), turn_of(61)]
        {
            session.record(told).unwrap();
        }
        session.end().unwrap();
        memory.run_jobs(RunJobs::default()).unwrap();
        let kept = |n| session.turn(n).unwrap().filter(|turn| summary_of(&session, turn).is_none());
        let rules: Vec<_> = (2..=7).map(|n| kept(n).map(|turn: Turn| turn.critical_rule)).collect();
        let caller = Some(Some(CriticalRule::Caller));
        assert_eq!(rules, [Some(None), caller, None, caller, Some(None), None], "{originals:?}");
        let critical = |n| kept(n).map(|turn| (turn.is_identity_critical, turn.memory_tier));
        assert_eq!(critical(2), Some((false, MemoryTier::Cold)));
        assert_eq!(critical(5), Some((true, MemoryTier::Cold)));
    }
}

fn summary_of(session: &Session, turn: &Turn) -> Option<Summary> {
    session.summaries(None, 1_000).unwrap().into_iter().find(|summary| summary.original_turn_id == turn.id)
}

#[test]
fn every_turn_moves_to_cold_for_compression_and_the_move_is_on_record() {
    for originals in BOTH {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(first_words));
        let (memory, session) = ended(&fixture, 20);
        fixture.clock.advance(TimeDelta::minutes(1));
        memory.run_jobs(RunJobs::default()).unwrap();
        let moves = session.transitions(None, 1_000).unwrap();
        let last: Vec<_> = moves.iter().filter(|moved| moved.move_number == 2).collect();
        assert_eq!(
            last.iter().map(|moved| moved.turn_number).collect::<Vec<_>>(),
            (1..=20).collect::<Vec<_>>()
        );
        for moved in last {
            assert_eq!((moved.from, moved.to), (MemoryTier::Warm, MemoryTier::Cold));
            assert_eq!(moved.reason, MoveReason::Compression);
            assert_eq!(moved.moved_at, thermocline::Clock::now(&*fixture.clock));
        }
    }
}

#[test]
fn a_turn_recorded_again_after_compression_is_known_and_no_row_changes() {
    for originals in BOTH {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(first_words));
        let (memory, session) = ended(&fixture, 20);
        let user = memory.user("alex").unwrap();
        let first: Vec<_> = (1..=20).map(|n| session.record(long_turn(n)).unwrap().turn_id).collect();
        memory.run_jobs(RunJobs::default()).unwrap();
        let before = dump(&fixture.path());
        for (n, id) in (1..=20).zip(first) {
            let again = session.record(long_turn(n)).unwrap();
            assert_eq!(
                (again.outcome, again.turn_id, again.turn_number as usize),
                (RecordOutcome::Known, id, n)
            );
            assert_eq!(user.find_recorded(&long_turn(n)).unwrap(), Some(again));
            let other = NewTurn::new("other text", "").caller_id(format!("long/{n}"));
            assert_eq!(session.record(other).unwrap_err().kind(), thermocline::ErrorKind::Conflict);
        }
        assert_same(&dump(&fixture.path()), &before, "recorded again");
    }
}

#[test]
fn running_jobs_again_and_compressing_again_changes_nothing() {
    for originals in BOTH {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(first_words));
        let (memory, session) = ended(&fixture, 20);
        memory.run_jobs(RunJobs::default()).unwrap();
        let before = dump(&fixture.path());
        session.end().unwrap();
        session.compress().unwrap();
        fixture.clock.advance(TimeDelta::days(30));
        assert_eq!(memory.run_jobs(RunJobs::default()).unwrap(), thermocline::JobsReport::default());
        assert_same(&dump(&fixture.path()), &before, "run again");
    }
}

#[test]
fn restoring_gives_the_rows_back_as_they_were_and_compressing_works_again() {
    let fixture = Fixture::new();
    let (memory, session) = ended(&fixture, 70);
    let before = dump(&fixture.path());
    memory.run_jobs(RunJobs::default()).unwrap();
    let compressed = dump_without(&fixture.path(), crate::dump::DRAWN);
    assert_eq!(before["recall_units"], dump(&fixture.path())["recall_units"]);

    assert_eq!(session.restore().unwrap(), 70);
    let restored = dump(&fixture.path());
    for table in ["conversation_turns", "conversation_sessions", "recall_units", "conversation_summaries"] {
        assert_same(&only(&restored, table), &only(&before, table), "restored");
    }
    assert!(restored["archived_turns"].is_empty() && restored["archived_frames"].is_empty());
    assert_eq!(session.restore().unwrap(), 0, "there is nothing to restore any more");
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(
        session.info().unwrap().memory_tier,
        MemoryTier::Warm,
        "only asked for is it compressed again"
    );

    session.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let mut again = dump_without(&fixture.path(), crate::dump::DRAWN);
    again.insert("memory_tier_transitions".into(), compressed["memory_tier_transitions"].clone());
    assert_same(&again, &compressed, "compressed again");
    check_all_there(&session, 70);
    assert!(memory.doctor().unwrap().is_healthy());
}

fn only(dump: &crate::dump::Dump, table: &str) -> crate::dump::Dump {
    [(table.to_owned(), dump[table].clone())].into()
}

/// Runs the jobs every six hours for a week with this summarizer, for a session of 20 turns. Checks that no turn is lost,
/// and how many summaries are by this summarizer in the end.
#[track_caller]
fn check_a_week(what: &str, summarizer: &Arc<Scripted>, by_it: usize) {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Arc::clone(summarizer) as Arc<dyn Summarizer>);
    let (memory, session) = ended(&fixture, 20);
    for look in 0..4 * 7 {
        memory.run_jobs(RunJobs::default()).unwrap();
        if look % 14 == 1 {
            check_all_there(&session, 20);
        }
        fixture.clock.advance(TimeDelta::hours(6));
    }
    // LLM#1 is asked twice about 20 turns.
    assert!(
        summarizer.calls() <= 2 * fixture.config.summarizer_tries as usize,
        "{what}: {}",
        summarizer.calls()
    );
    assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "{what}");
    assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold, "{what}");
    let summaries = session.summaries(None, 1_000).unwrap();
    let by_summarizer = summaries.iter().filter(|summary| summary.summarizer == "scripted").count();
    assert_eq!((summaries.len(), by_summarizer), (19, by_it), "{what}: all but the first, which is critical");
    assert!(memory.doctor().unwrap().is_healthy(), "{what}");
    check_all_there(&session, 20);
}

fn says(turn: &Turn, text: &str) -> Verdict {
    Verdict::summary(turn.id, text)
}

#[test]
fn whatever_a_summarizer_answers_for_a_week_no_turn_is_lost_and_at_last_built_in_means_do_it() {
    check_a_week("errors", &Scripted::new(|_, _| Err(failure())), 0);
    check_a_week("panics", &Scripted::new(|_, _| panic!("on purpose")), 0);
    check_a_week("says nothing", &Scripted::new(|_, _| Ok(Vec::new())), 0);
    check_a_week("empty", &Scripted::each(|turn| says(turn, " ")), 0);
    check_a_week("the same of all", &Scripted::each(|turn| says(turn, "The user spoke of a lamp.")), 0);
    check_a_week("of other things", &Scripted::each(|turn| says(turn, "Elephants dance in Vienna.")), 0);
    let link = |turn: &Turn| says(turn, &format!("{} https://evil.example/", first_words(turn).summary_text));
    check_a_week("an invented link", &Scripted::each(link), 0);
    let number = |turn: &Turn| says(turn, &format!("{} 987654", first_words(turn).summary_text));
    check_a_week("an invented number", &Scripted::each(number), 0);
    let twice = |_: usize, turns: &[Turn]| Ok(turns.iter().chain(turns).map(first_words).collect());
    check_a_week("everything twice", &Scripted::new(twice), 0);
    let foreign = |turn: &Turn| {
        let mut verdict = first_words(turn);
        verdict.turn_id = thermocline::TurnId::from_uuid(uuid::Uuid::from_u128(7));
        verdict
    };
    check_a_week("of foreign turns", &Scripted::each(foreign), 0);
    let recovers = |call: usize, turns: &[Turn]| {
        if call == 1 { Err(failure()) } else { Ok(turns.iter().map(first_words).collect()) }
    };
    check_a_week("an error, then good answers", &Scripted::new(recovers), 19);
    check_a_week("good answers", &Scripted::each(first_words), 19);
}

#[test]
fn nothing_is_deleted_while_the_summarizer_is_down_and_later_it_is_asked_again() {
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let answer = move |_: usize, turns: &[Turn]| {
        if down.load(Ordering::SeqCst) { Err(failure()) } else { Ok(turns.iter().map(first_words).collect()) }
    };
    let mut fixture = Fixture::new();
    fixture.config.originals = Originals::Delete;
    fixture.config.summarizer = Some(Scripted::new(answer));
    let (memory, session) = ended(&fixture, 20);
    for _ in 0..24 * 7 {
        memory.run_jobs(RunJobs::default()).unwrap();
        fixture.clock.advance(TimeDelta::hours(1));
    }
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    let summaries = session.summaries(None, 1_000).unwrap();
    let is_safe = |summary: &Summary| summary.original == Original::Archived;
    assert!(summaries.len() == 19 && summaries.iter().all(is_safe), "all but the first, which is critical");
    check_all_there(&session, 20);
    assert!(memory.doctor().unwrap().is_healthy());

    is_down.store(false, Ordering::SeqCst);
    assert_eq!(session.restore().unwrap(), 20);
    session.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let summaries = session.summaries(None, 1_000).unwrap();
    let is_done = |of: &Summary| (&*of.summarizer, of.original) == ("scripted", Original::Deleted);
    assert!(summaries.len() == 19 && summaries.iter().all(is_done), "{summaries:?}");
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn of_one_slice_only_what_the_summarizer_summarized_is_deleted() {
    // Every third turn gets no usable answer, ever.
    let is_answered = |turn: &&Turn| !turn.turn_number.is_multiple_of(3);
    let answer =
        move |_: usize, turns: &[Turn]| Ok(turns.iter().filter(is_answered).map(first_words).collect());
    let mut fixture = Fixture::new();
    fixture.config.originals = Originals::Delete;
    fixture.config.summarizer = Some(Scripted::new(answer));
    fixture.config.summarizer_tries = 1;
    let (memory, session) = ended(&fixture, 15);
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    for summary in session.summaries(None, 1_000).unwrap() {
        let n = summary.turn_number;
        let (by, original) = if n % 3 == 0 {
            ("extractive-fallback", Original::Archived)
        } else {
            ("scripted", Original::Deleted)
        };
        assert_eq!((&*summary.summarizer, summary.original), (by, original), "turn {n}");
        assert_eq!(session.turn(n).unwrap().is_some(), n % 3 == 0, "turn {n}");
    }
    assert_eq!(session.search("number 9", 1).unwrap()[0].turn.turn_number, 9);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn what_a_summarizer_leaves_out_stays_warm_and_found_until_it_is_done_later() {
    for answers_later in [true, false] {
        let answer = move |call: usize, turns: &[Turn]| {
            // The first try asks three times for 40 turns.
            let is_answered =
                |turn: &&Turn| turn.turn_number.is_multiple_of(2) || (call > 3 && answers_later);
            Ok(turns.iter().filter(is_answered).map(first_words).collect())
        };
        let mut fixture = Fixture::new();
        fixture.config.summarizer = Some(Scripted::new(answer));
        let (memory, session) = ended(&fixture, 40);
        let report = memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!((report.done, report.later, report.turns), (0, 1, 20));
        assert_eq!(memory.jobs(None, 1_000).unwrap()[0].done_count, 20);
        assert_eq!(session.summaries(None, 1_000).unwrap().len(), 20);
        assert_eq!(session.turn(7).unwrap().unwrap().memory_tier, MemoryTier::Warm);
        assert_eq!(session.turn(8).unwrap().unwrap().memory_tier, MemoryTier::Cold);
        check_all_there(&session, 40);
        assert!(memory.doctor().unwrap().is_healthy());

        for _ in 0..3 {
            fixture.clock.advance(TimeDelta::hours(2));
            memory.run_jobs(RunJobs::default()).unwrap();
        }
        assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
        let odd = |summary: &&Summary| summary.turn_number % 2 == 1;
        let summaries = session.summaries(None, 1_000).unwrap();
        let by: Vec<&str> = summaries.iter().filter(odd).map(|summary| summary.summarizer.as_str()).collect();
        let expected = if answers_later { "scripted" } else { "extractive-fallback" };
        assert_eq!(by, [expected; 19], "all but the first, which is critical");
        check_all_there(&session, 40);
    }
}
