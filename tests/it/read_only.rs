//! Reading a file that cannot, or must not, be written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};
use thermocline::{
    Config, ContextOptions, ErrorKind, RecallOptions, RunJobs,
    blocking::{Session, Thermocline, User},
};

use crate::{
    children,
    support::{Fixture, hot, turn},
};

/// Changes the file as another program would.
fn change(fixture: &Fixture, sql: &str) {
    let conn = Connection::open_with_flags(fixture.path(), OpenFlags::default()).unwrap();
    conn.execute_batch(sql).unwrap();
}

fn look(path: impl AsRef<Path>, fixture: &Fixture) -> thermocline::Result<Thermocline> {
    let mut config = fixture.config.clone();
    config.read_only = true;
    config.worker = true; // Has nothing to do.
    Thermocline::open_with(path, config)
}

/// Returns a file that is not open anywhere, with two turns in an open session.
fn with_two_turns() -> Fixture {
    let fixture = Fixture::new();
    let session = fixture.alex().session_named("talk").unwrap();
    session.record(turn(1)).unwrap();
    session.record(turn(2)).unwrap();
    drop(session);
    assert_eq!(files(fixture.folder.path()), ["memory.db"]);
    fixture
}

/// Returns the contents of a folder: names and bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<String> {
    contents(folder).into_iter().map(|(name, _)| name).collect()
}

fn talk(memory: &Thermocline) -> (User, Session) {
    let alex = memory.find_user("alex").unwrap().unwrap();
    let session = alex.find_session("talk").unwrap().unwrap();
    (alex, session)
}

/// Makes calls of all kinds that only read.
fn ask_all(memory: &Thermocline) {
    let (alex, session) = talk(memory);
    assert_eq!(hot(&session), [1, 2]);
    assert_eq!(memory.stats().unwrap().users, 1);
    assert!(memory.doctor().unwrap().is_healthy());
    assert!(!alex.recall("turn 1", RecallOptions::default()).unwrap().items.is_empty());
    assert!(session.context("And then?", ContextOptions::default()).unwrap().text.contains("recent turns"));
    assert_eq!(alex.receipts(10).unwrap().is_empty(), memory.is_read_only());
    assert_eq!(alex.sessions(None, 1_000).unwrap().len(), 1);
    assert!(alex.export(std::io::sink()).unwrap().turns == 2 && memory.jobs(None, 1_000).unwrap().is_empty());
}

#[test]
fn all_that_reads_is_answered_and_neither_the_file_nor_its_folder_changes() {
    let fixture = with_two_turns();
    let before = contents(fixture.folder.path());
    let memory = look(fixture.path(), &fixture).unwrap();
    assert!(memory.is_read_only());
    ask_all(&memory);
    let copies = tempfile::tempdir().unwrap();
    memory.backup(copies.path().join("copy.db")).unwrap();
    let copy = Thermocline::open_with(copies.path().join("copy.db"), fixture.config.clone()).unwrap();
    assert!(!copy.is_read_only());
    ask_all(&copy);
    memory.close().unwrap();
    assert_eq!(contents(fixture.folder.path()), before);
}

#[test]
fn all_that_writes_is_refused_and_says_why() {
    let fixture = with_two_turns();
    fixture.alex().session_named("ended").unwrap().end().unwrap();
    let memory = look(fixture.path(), &fixture).unwrap();
    let (alex, session) = talk(&memory);
    let jobs = RunJobs::default();
    let import: &[u8] = b"";
    for (call, refused) in [
        ("session.record", session.record(turn(3)).map(drop)),
        ("session.end", session.end().map(drop)),
        ("session.restore", session.restore().map(drop)),
        ("session.compress", session.compress()),
        ("session.set_project", session.set_project(Some("boat"))),
        ("session.erase", session.erase().map(drop)),
        ("alex.session", alex.session().map(drop)),
        ("alex.session_named", alex.session_named("new").map(drop)),
        ("alex.new_session", alex.new_session().map(drop)),
        ("alex.erase", alex.erase().map(drop)),
        ("memory.user", memory.user("bob").map(drop)),
        ("memory.run_jobs", memory.run_jobs(jobs).map(drop)),
        ("memory.retry_jobs", memory.retry_jobs(None).map(drop)),
        ("memory.rebuild_vectors", memory.rebuild_vectors().map(drop)),
        ("memory.drop_other_vectors", memory.drop_other_vectors()),
    ] {
        let error = refused.expect_err(call);
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{call}: {error}");
        assert!(error.to_string().contains("memory.db was opened read-only"), "{error}");
    }
    assert_eq!(
        memory.import("eve", import).unwrap_err().kind(),
        ErrorKind::InvalidInput,
        "what is no export is so anywhere"
    );
    // Finding a user and an open session needs no writing.
    assert_eq!(memory.user("alex").unwrap().session_named("talk").unwrap().id(), session.id());
}

#[test]
fn beside_a_program_that_writes_what_is_read_is_what_was_written_last() {
    let fixture = with_two_turns();
    let writing = fixture.alex().session_named("talk").unwrap();
    let memory = look(fixture.path(), &fixture).unwrap();
    let (_, session) = talk(&memory);
    assert_eq!(hot(&session), [1, 2]);
    writing.record(turn(3)).unwrap();
    assert_eq!(hot(&session), [1, 2, 3]);
}

#[test]
fn what_somebody_writes_to_after_it_was_read_into_memory_is_not_shown_as_it_was() {
    let fixture = with_two_turns();
    let memory = look(fixture.path(), &fixture).unwrap();
    let (_, session) = talk(&memory);
    assert_eq!(hot(&session), [1, 2]);
    fixture.alex().session_named("talk").unwrap().record(turn(3)).unwrap();
    let error = session.hot().unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("open it again")), (ErrorKind::Io, true), "{error}");
    let memory = look(fixture.path(), &fixture).unwrap();
    assert_eq!(hot(&talk(&memory).1), [1, 2, 3]);
}

#[test]
fn where_there_is_no_memory_none_is_found_and_none_is_made() {
    let fixture = Fixture::new();
    let refused = |fixture: &Fixture| look(fixture.path(), fixture).unwrap_err();
    assert_eq!(refused(&fixture).kind(), ErrorKind::NotFound);
    assert!(!fixture.path().exists());
    fs::write(fixture.path(), "").unwrap();
    assert_eq!(refused(&fixture).kind(), ErrorKind::NotFound);
    fs::write(fixture.path(), "text").unwrap();
    assert_eq!(refused(&fixture).kind(), ErrorKind::Corrupt);
    fs::remove_file(fixture.path()).unwrap();
    change(&fixture, "CREATE TABLE users(id BLOB PRIMARY KEY)");
    assert_eq!(refused(&fixture).kind(), ErrorKind::NotFound);
    change(&fixture, "PRAGMA application_id = 7");
    assert_eq!(refused(&fixture).kind(), ErrorKind::ForeignFile);
}

#[test]
fn a_file_of_an_older_version_is_refused_and_may_be_copied() {
    for older in [
        "DELETE FROM thermocline_schema_history WHERE version = (SELECT max(version) FROM thermocline_schema_history)",
        "UPDATE thermocline_schema_history SET row_check = x'00000000'", // As a migration leaves them.
    ] {
        let fixture = with_two_turns();
        change(&fixture, older);
        let before = contents(fixture.folder.path());
        let error = look(fixture.path(), &fixture).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
        assert!(error.to_string().contains("copy it to a writable place"), "{error}");
        assert_eq!(contents(fixture.folder.path())[0], before[0]);
    }
}

/// Returns the output of a child that looks at `memory.db` in a folder where it may read everything and write nothing.
#[cfg(unix)]
fn looked_at_by_a_stranger(folder: &Path) -> Vec<String> {
    let permit = |path: PathBuf, mode| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    for name in files(folder) {
        permit(folder.join(name), 0o444);
    }
    permit(folder.to_owned(), 0o555);
    let said = children::as_nobody("look", &[folder.join("memory.db").to_str().unwrap()]).lines();
    permit(folder.to_owned(), 0o755);
    said
}

pub fn child_looks(path: &str) {
    let mut config = Config::default();
    config.read_only = true;
    match Thermocline::open_with(path, config) {
        Ok(memory) => {
            ask_all(&memory);
            children::say("read");
        }
        Err(error) => children::say(&format!("{:?}: {error}", error.kind())),
    }
    if path.ends_with("memory.db") {
        children::say(&format!("{:?}", Thermocline::open(path).unwrap_err().kind()));
    }
}

#[test]
#[cfg(unix)]
fn a_file_is_read_in_a_folder_that_cannot_be_written() {
    let fixture = with_two_turns();
    let before = contents(fixture.folder.path());
    assert_eq!(looked_at_by_a_stranger(fixture.folder.path()), ["read", "ReadOnly"]);
    assert_eq!(contents(fixture.folder.path()), before);
}

#[test]
#[cfg(unix)]
fn a_log_that_is_not_empty_is_refused_in_a_folder_that_cannot_take_its_index_and_read_beside_it() {
    let fixture = Fixture::new();
    let session = fixture.alex().session_named("talk").unwrap();
    session.record(turn(1)).unwrap();
    session.record(turn(2)).unwrap();
    let killed = fixture.copy(); // The file and its log, as a kill leaves them, without the index.
    drop(session);
    assert_eq!(files(killed.folder.path()), ["memory.db", "memory.db-wal"]);
    let said = looked_at_by_a_stranger(killed.folder.path());
    assert!(
        said[0].starts_with("ReadOnly: ") && said[0].contains("memory.db-wal, its log, is not empty"),
        "{said:?}"
    );
    assert!(said[0].contains("copy both files to a writable place"), "{said:?}");
    assert_eq!(files(killed.folder.path()), ["memory.db", "memory.db-wal"]);

    let copied = killed.copy();
    ask_all(&look(copied.path(), &copied).unwrap());
}
