//! Summaries that the built-in summarizer made in the place of LLM#1 can be made again, and nothing is lost in the process.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chrono::TimeDelta;
use thermocline::{
    Error, ErrorKind, Extractive, JobKind, MemoryTier, RunJobs,
    blocking::{Session, Thermocline},
};

use crate::{
    dump::{assert_same, dump},
    scripted::{Scripted, first_words},
    support::{Cut, Fixture, long_texts, long_turn},
};

const TURNS: usize = 20;

/// Returns a summarizer that is down while this is set.
fn flaky(is_down: &Arc<AtomicBool>) -> Arc<Scripted> {
    let is_down = Arc::clone(is_down);
    Scripted::new(move |_, turns| {
        if is_down.load(Ordering::SeqCst) {
            return Err(Error::provider("down"));
        }
        Ok(turns.iter().map(first_words).collect())
    })
}

/// Returns a file whose summarizer gets one try per job, a switch that says whether it is down, and the summarizer.
fn fixture() -> (Fixture, Arc<AtomicBool>, Arc<Scripted>) {
    let mut fixture = Fixture::new();
    let is_down = Arc::new(AtomicBool::new(false));
    let summarizer = flaky(&is_down);
    fixture.config.summarizer = Some(summarizer.clone());
    fixture.config.summarizer_tries = 1;
    (fixture, is_down, summarizer)
}

/// Records a session of long turns, ends it, and compresses it.
fn compressed(memory: &Thermocline, key: &str) -> Session {
    let session = memory.user("alex").unwrap().session_named(key).unwrap();
    for n in 1..=TURNS {
        session.record(long_turn(n).caller_id(format!("{key}/{n}"))).unwrap();
    }
    session.end().unwrap();
    run(memory);
    session
}

fn run(memory: &Thermocline) -> u64 {
    memory.run_jobs(RunJobs::default().only(JobKind::Compress)).unwrap().done
}

/// Returns the names of the summarizers that made the session's summaries.
fn summarizers(session: &Session) -> Vec<String> {
    let mut by: Vec<String> =
        session.summaries(None, 1_000).unwrap().into_iter().map(|one| one.summarizer).collect();
    by.dedup();
    by
}

/// Checks that every turn has its original text.
#[track_caller]
fn check_texts(session: &Session) {
    for n in 1..=TURNS {
        let said = session.turn(u32::try_from(n).unwrap()).unwrap().unwrap().said;
        assert_eq!((said.user_message, said.ai_response), long_texts(n), "turn {n}");
    }
}

#[test]
fn what_fell_back_is_summarized_by_the_summarizer_and_other_sessions_are_left_alone() {
    let (fixture, is_down, summarizer) = fixture();
    let memory = fixture.open();
    let good = compressed(&memory, "before");
    is_down.store(true, Ordering::SeqCst);
    let fell_back = ["one", "two"].map(|key| {
        fixture.clock.advance(TimeDelta::hours(1));
        compressed(&memory, key)
    });
    for session in &fell_back {
        assert_eq!(summarizers(session), ["extractive-fallback"]);
    }
    is_down.store(false, Ordering::SeqCst);
    fixture.clock.advance(TimeDelta::hours(1));

    let (calls, moves) = (summarizer.calls(), good.transitions(None, 1_000).unwrap());
    assert_eq!(good.compress_again().unwrap(), 0, "the summarizer did all of it");
    assert_eq!(fell_back[0].compress_again().unwrap(), TURNS as u64);
    assert_eq!(fell_back[0].info().unwrap().memory_tier, MemoryTier::Warm);
    assert_eq!(run(&memory), 1);
    assert_eq!(summarizers(&fell_back[0]), ["scripted"]);
    assert_eq!(summarizers(&fell_back[1]), ["extractive-fallback"], "that was another session");
    assert_eq!(memory.user("alex").unwrap().compress_again().unwrap(), 1, "the session that is left");
    assert_eq!(run(&memory), 1);
    assert_eq!(memory.user("alex").unwrap().compress_again().unwrap(), 0);
    assert_eq!(memory.stats().unwrap().cold.fallbacks, 0);
    for session in [&good, &fell_back[0], &fell_back[1]] {
        assert_eq!(summarizers(session), ["scripted"]);
        assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
        check_texts(session);
    }
    assert_eq!(good.transitions(None, 1_000).unwrap(), moves, "it was never touched");
    assert_eq!(summarizer.calls() - calls, 4, "two chunks of two sessions");
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn what_was_compressed_before_there_was_a_summarizer_is_done_again_too() {
    let mut fixture = Fixture::new();
    let session = compressed(&fixture.open(), "old");
    assert_eq!(summarizers(&session), ["extractive"]);
    let id = session.id();
    drop(session);
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let memory = fixture.open();
    assert_eq!(memory.user("alex").unwrap().compress_again().unwrap(), 1);
    run(&memory);
    assert_eq!(summarizers(&memory.user("alex").unwrap().session_by_id(id).unwrap()), ["scripted"]);
}

#[test]
fn without_a_summarizer_that_would_do_better_and_while_a_session_is_open_nothing_changes() {
    let mut fixture = Fixture::new();
    let session = compressed(&fixture.open(), "old");
    let id = session.id();
    drop(session);
    let before = dump(&fixture.path());
    for same in [None, Some(Arc::new(Extractive) as _)] {
        fixture.config.summarizer = same;
        let user = fixture.alex();
        for refused in [user.compress_again(), user.session_by_id(id).unwrap().compress_again()] {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains("set Config::summarizer"), "{error}");
        }
    }
    assert_same(&dump(&fixture.path()), &before, "refused");
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let open = fixture.alex().session_named("open").unwrap();
    open.record(long_turn(1)).unwrap();
    assert_eq!(open.compress_again().unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn while_it_is_restored_no_run_compresses_it() {
    let (mut fixture, is_down, _) = fixture();
    is_down.store(true, Ordering::SeqCst);
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    let session = compressed(&memory, "one");
    is_down.store(false, Ordering::SeqCst);
    fixture.clock.advance(TimeDelta::hours(1));
    cut.after(1, "DELETE FROM archived_frames");
    session.compress_again().unwrap_err();
    cut.mend();
    assert_eq!(run(&memory), 0, "whoever restores may go on");
    fixture.clock.advance(TimeDelta::seconds(61));
    assert_eq!(run(&memory), 1, "it has not been heard of for as long as a lease");
    check_texts(&session);
    assert_eq!(
        session.compress_again().unwrap(),
        TURNS as u64,
        "the rest of it is done when it is called again"
    );
    assert_eq!(run(&memory), 1);
    assert_eq!(summarizers(&session), ["scripted"]);
}

#[test]
fn cut_short_at_any_statement_nothing_is_lost_and_the_session_is_compressed_in_the_end() {
    let (mut fixture, is_down, _) = fixture();
    is_down.store(true, Ordering::SeqCst);
    let id = compressed(&fixture.open(), "one").id();
    is_down.store(false, Ordering::SeqCst);
    let cut = Cut::of(&mut fixture.config);
    let undisturbed = fixture.copy();
    let session = undisturbed.alex().session_by_id(id).unwrap();
    cut.places();
    session.compress_again().unwrap();
    let places = cut.places();
    assert!(places.len() > 10, "{places:?}");
    for (statement, at) in places {
        let copy = fixture.copy();
        let memory = copy.open();
        let session = memory.user("alex").unwrap().session_by_id(id).unwrap();
        cut.after(at, &statement);
        session.compress_again().unwrap_err();
        cut.mend();
        drop((session, memory));
        copy.clock.advance(TimeDelta::minutes(10));
        let memory = copy.open();
        run(&memory);
        let session = memory.user("alex").unwrap().session_by_id(id).unwrap();
        check_texts(&session);
        assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold, "at {statement}, {at}");
        session.compress_again().unwrap();
        run(&memory);
        assert_eq!(summarizers(&session), ["scripted"], "at {statement}, {at}");
        check_texts(&session);
    }
}
