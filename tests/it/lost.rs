//! Files that are deleted or replaced while they are open: no turn is acknowledged that could not be found later, and files
//! in their place stay as they are.
#![cfg(unix)]

use std::{fs, path::PathBuf};

use thermocline::{
    ContextOptions, ErrorKind,
    blocking::{Session, Thermocline},
};

use crate::{
    children,
    support::{Fixture, turn},
};

/// Records twenty turns of alex, most of which are in the log.
fn twenty(fixture: &Fixture) -> (Thermocline, Session) {
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session_named("talk").unwrap();
    for n in 0..20 {
        session.record(turn(n)).unwrap();
    }
    (memory, session)
}

fn beside(fixture: &Fixture, suffix: &str) -> PathBuf {
    fixture.folder.path().join(format!("memory.db{suffix}"))
}

/// Replaces the file with a restored backup in which eve has a turn.
fn replace(fixture: &Fixture) {
    let backup = Fixture::new();
    let memory = backup.open();
    memory.user("eve").unwrap().session_named("talk").unwrap().record(turn(1)).unwrap();
    memory.close().unwrap();
    drop(memory);
    let beside = fixture.folder.path().join("restored.db");
    fs::copy(backup.path(), &beside).unwrap();
    fs::rename(beside, fixture.path()).unwrap();
}

#[track_caller]
fn check_lost<T>(answer: thermocline::Result<T>, what: &str) {
    let error = answer.err().expect(what);
    assert_eq!(error.kind(), ErrorKind::Io, "{what}: {error}");
    assert!(error.to_string().contains("was deleted or replaced while it was open"), "{what}: {error}");
}

/// Checks that calls of all kinds report that the file is lost.
#[track_caller]
fn check_all_lost(fixture: &Fixture, memory: &Thermocline, session: &Session) {
    check_lost(session.record(turn(21)), "record");
    check_lost(session.hot(), "hot");
    check_lost(session.search("question", 5), "search");
    check_lost(session.context("question", ContextOptions::default()), "context");
    check_lost(session.end(), "end");
    check_lost(session.erase(), "erase");
    check_lost(memory.user("alex"), "user");
    check_lost(memory.stats(), "stats");
    check_lost(memory.doctor(), "doctor");
    check_lost(memory.backup(fixture.folder.path().join("backup.db")), "backup");
    check_lost(memory.close(), "close");
}

/// Checks that a new opening finds these users, is healthy, and accepts turns.
#[track_caller]
fn check_opens(fixture: &Fixture, there: &[&str], not_there: &[&str]) {
    let memory = fixture.open();
    let is_there = |name: &&str| memory.find_user(name).unwrap().is_some();
    assert!(there.iter().all(is_there) && !not_there.iter().any(is_there), "{there:?}, not {not_there:?}");
    memory.user("finn").unwrap().session().unwrap().record(turn(1)).unwrap();
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

#[test]
fn in_a_deleted_file_nothing_is_acknowledged() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(beside(&fixture, suffix)).unwrap();
    }
    check_all_lost(&fixture, &memory, &session);
    check_opens(&fixture, &[], &["alex"]);
    drop((memory, session));
    check_opens(&fixture, &["finn"], &["alex"]);
}

#[test]
#[cfg(unix)]
fn a_file_with_two_names_is_refused_for_each_would_have_a_log_of_its_own() {
    let fixture = Fixture::new();
    twenty(&fixture).0.close().unwrap();
    fs::hard_link(fixture.path(), fixture.folder.path().join("other.db")).unwrap();
    let error = Thermocline::open_with(fixture.path(), fixture.config.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("2 names"), "{error}");
}

#[test]
fn closing_an_idle_handle_says_that_its_file_was_deleted() {
    let fixture = Fixture::new();
    let (memory, _) = twenty(&fixture);
    fs::remove_file(fixture.path()).unwrap();
    check_lost(memory.close(), "close");
}

#[test]
fn a_file_that_was_put_in_place_of_ours_stays_as_it_is() {
    for noticed_by in ["a record", "a read", "closing"] {
        let fixture = Fixture::new();
        let (memory, session) = twenty(&fixture);
        replace(&fixture);
        let put_there = fs::read(fixture.path()).unwrap();
        match noticed_by {
            "a record" => check_all_lost(&fixture, &memory, &session),
            "a read" => check_lost(session.search("question", 5), "search"),
            _ => {}
        }
        check_lost(memory.close(), "close");
        drop((memory, session));
        assert_eq!(fs::read(fixture.path()).unwrap(), put_there, "noticed by {noticed_by}");
        let log = fs::metadata(beside(&fixture, "-wal")).map_or(0, |log| log.len());
        assert_eq!(log, 0, "noticed by {noticed_by}");
        check_opens(&fixture, &["eve"], &["alex"]);
    }
}

#[test]
fn the_file_in_place_of_ours_is_served_while_the_old_handle_is_there() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    replace(&fixture);
    check_lost(session.record(turn(21)), "record");
    let second = fixture.open();
    let eve = second.user("eve").unwrap().session_named("talk").unwrap();
    eve.record(turn(2)).unwrap();
    check_lost(session.record(turn(22)), "record");
    check_lost(memory.close(), "close");
    drop((memory, session));
    eve.record(turn(3)).unwrap();
    assert_eq!(eve.hot().unwrap().len(), 3);
    drop((second, eve));
    check_opens(&fixture, &["eve"], &["alex"]);
}

#[test]
fn what_another_process_has_recorded_into_the_file_in_our_place_is_not_taken_away() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    // With an empty log, the other process opens the file in our place without an error, although it uses our log.
    crate::dump::meddle(&fixture.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    replace(&fixture);
    let mut child = children::start("record", &[fixture.path().to_str().unwrap(), "there"]);
    let acknowledged: Vec<String> = (0..10).map(|_| child.line().unwrap()).collect();
    check_lost(session.record(turn(21)), "record");
    check_lost(memory.close(), "close");
    child.process.kill().unwrap();
    child.process.wait().unwrap();
    drop((memory, session));
    check_opens(&fixture, &["eve", "alex"], &[]);
    let alex = fixture.alex();
    for id in acknowledged {
        alex.turn_by_caller_id(&id).unwrap();
    }
}

#[test]
fn of_a_deleted_log_the_turns_are_saved_into_the_file() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    fs::remove_file(beside(&fixture, "-wal")).unwrap();
    check_all_lost(&fixture, &memory, &session);
    check_opens(&fixture, &["alex"], &[]);
    drop((memory, session));
    assert!(fixture.alex().session_named("talk").unwrap().info().unwrap().turn_count >= 20);
    check_opens(&fixture, &["alex"], &[]);
}

#[test]
fn if_the_logs_index_is_deleted_the_log_is_left_for_the_next_opening() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    fs::remove_file(beside(&fixture, "-shm")).unwrap();
    let log = fs::read(beside(&fixture, "-wal")).unwrap();
    check_all_lost(&fixture, &memory, &session);
    assert_eq!(fs::read(beside(&fixture, "-wal")).unwrap(), log);
    check_opens(&fixture, &["alex"], &[]);
    drop((memory, session));
    assert!(fixture.alex().session_named("talk").unwrap().info().unwrap().turn_count >= 20);
}

#[test]
fn a_file_that_was_moved_away_has_all_its_turns_there() {
    let fixture = Fixture::new();
    let (_memory, session) = twenty(&fixture);
    fs::rename(fixture.path(), fixture.folder.path().join("moved.db")).unwrap();
    check_lost(session.record(turn(21)), "record");
    let moved =
        Thermocline::open_with(fixture.folder.path().join("moved.db"), fixture.config.clone()).unwrap();
    assert_eq!(moved.user("alex").unwrap().session_named("talk").unwrap().info().unwrap().turn_count, 20);
}

#[test]
fn closing_an_idle_handle_takes_no_log_from_the_file_that_is_there_now() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(beside(&fixture, suffix)).unwrap();
    }
    let anew = fixture.open();
    anew.user("eve").unwrap().session_named("talk").unwrap().record(turn(1)).unwrap();
    let log = fs::read(beside(&fixture, "-wal")).unwrap();
    drop((memory, session));
    assert_eq!(fs::read(beside(&fixture, "-wal")).unwrap(), log);
    assert!(anew.user("eve").unwrap().session_named("talk").unwrap().record(turn(2)).is_ok());
}

#[test]
fn closing_removes_no_log_that_is_not_ours() {
    let fixture = Fixture::new();
    let (memory, session) = twenty(&fixture);
    fs::remove_file(beside(&fixture, "-wal")).unwrap();
    fs::write(beside(&fixture, "-wal"), "another's").unwrap();
    drop((memory, session));
    assert_eq!(fs::read(beside(&fixture, "-wal")).unwrap(), b"another's");
}
