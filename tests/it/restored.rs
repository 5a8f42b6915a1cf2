//! A log that is not the file's destroys nothing, and a backup is put back whole.

use std::{fs, path::PathBuf};

use rusqlite::Connection;
use thermocline::{BackupFile, ErrorKind, ReplacedFile, blocking::Thermocline};

use crate::support::{Fixture, hot, turn};

fn beside(fixture: &Fixture, suffix: &str) -> PathBuf {
    fixture.folder.path().join(format!("memory.db{suffix}"))
}

/// Returns the bytes of the file and of its log.
fn bytes(fixture: &Fixture) -> [Option<Vec<u8>>; 2] {
    ["", "-wal"].map(|suffix| fs::read(beside(fixture, suffix)).ok())
}

/// Records turns in one session, and closes the file.
fn record(fixture: &Fixture, turns: std::ops::RangeInclusive<usize>) {
    let session = fixture.session();
    turns.for_each(|n| drop(session.record(turn(n)).unwrap()));
}

/// Returns the file as a process leaves it that is killed after it has recorded a turn, with a log.
fn crashed(fixture: &Fixture, n: usize) -> Fixture {
    let session = fixture.session();
    session.record(turn(n)).unwrap();
    let crashed = fixture.copy();
    assert!(fs::metadata(beside(&crashed, "-wal")).unwrap().len() > 0);
    crashed
}

/// Checks that the file is refused because of its log, by everybody, and that neither changes.
#[track_caller]
fn check_refused(fixture: &Fixture) {
    let before = bytes(fixture);
    let mut to_read = fixture.config.clone();
    to_read.read_only = true;
    for config in [fixture.config.clone(), to_read] {
        let error = Thermocline::open_with(fixture.path(), config).unwrap_err();
        let said = error.to_string();
        assert!(
            error.kind() == ErrorKind::Corrupt && said.contains("log") && said.contains("restore BACKUP"),
            "{said}"
        );
    }
    assert_eq!(bytes(fixture), before);
}

fn restore(backup: &PathBuf, fixture: &Fixture) -> thermocline::Result<thermocline::RestoredFile> {
    BackupFile::open(backup)?.restore(fixture.path(), ReplacedFile::Keep, |_| {})
}

#[test]
fn a_backup_beside_the_log_of_a_killed_process_is_refused_until_it_is_put_back_rightly() {
    let fixture = Fixture::new();
    record(&fixture, 1..=2);
    let backup = fixture.folder.path().join("backup.db");
    fixture.open().backup(&backup).unwrap();
    let crashed = crashed(&fixture, 3);
    let log = fs::read(beside(&crashed, "-wal")).unwrap();
    fs::copy(&backup, crashed.path()).unwrap();
    check_refused(&crashed);

    let restored = restore(&backup, &crashed).unwrap();
    assert_eq!(hot(&crashed.session()), [1, 2]);
    assert!(crashed.open().doctor().unwrap().is_healthy());
    let replaced = restored.replaced.unwrap();
    assert_eq!(replaced, crashed.folder.path().canonicalize().unwrap().join("memory.db.replaced-1"));
    assert_eq!(fs::read(replaced.with_file_name("memory.db.replaced-1-wal")).unwrap(), log);
}

#[test]
fn what_a_killed_process_left_is_kept_whole_when_a_backup_takes_its_place() {
    let fixture = Fixture::new();
    record(&fixture, 1..=1);
    let backup = fixture.folder.path().join("backup.db");
    fixture.open().backup(&backup).unwrap();
    let crashed = crashed(&fixture, 2);
    for (number, found) in [(1, vec![1, 2]), (2, vec![1])] {
        let restored = restore(&backup, &crashed).unwrap();
        let replaced = Fixture { folder: tempfile::tempdir().unwrap(), ..fixture.copy() };
        fs::copy(restored.replaced.unwrap(), replaced.path()).unwrap();
        assert_eq!(hot(&replaced.session()), found, "what the log had is in file {number}");
        assert_eq!(hot(&crashed.session()), [1]);
    }
    let mut names: Vec<_> =
        fs::read_dir(crashed.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["memory.db", "memory.db.replaced-1", "memory.db.replaced-2"]);

    BackupFile::open(&backup).unwrap().restore(crashed.path(), ReplacedFile::Delete, |_| {}).unwrap();
    assert_eq!(fs::read_dir(crashed.folder.path()).unwrap().count(), 3, "nothing more is kept");
}

#[test]
fn an_older_copy_of_the_file_itself_is_refused_beside_a_later_log_and_the_files_own_log_is_not() {
    let fixture = Fixture::new();
    record(&fixture, 1..=1);
    let older = fs::read(fixture.path()).unwrap();
    record(&fixture, 2..=2);
    let crashed_file = crashed(&fixture, 3);
    assert_eq!(hot(&crashed_file.copy().session()), [1, 2, 3], "its own log is its own");
    fs::write(crashed_file.path(), older).unwrap();
    check_refused(&crashed_file);
}

#[test]
fn another_file_beside_a_log_is_refused_whichever_program_wrote_the_log() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    record(&fixture, 1..=1);
    record(&other, 1..=1);
    // A log in which the first page is not.
    let conn = Connection::open_with_flags(fixture.path(), rusqlite::OpenFlags::default()).unwrap();
    conn.execute("UPDATE user_scopes SET revision = revision + 1", []).unwrap();
    let own = fixture.copy();
    assert_eq!(hot(&own.session()), [1]);
    let foreign = fixture.copy();
    let smaller = Connection::open_with_flags(other.path(), rusqlite::OpenFlags::default()).unwrap();
    smaller.execute_batch("DROP VIEW v_turns; VACUUM").unwrap();
    drop(smaller);
    drop(conn);
    fs::copy(other.path(), foreign.path()).unwrap();
    check_refused(&foreign);
}

#[test]
fn a_backup_replaces_no_file_that_is_open_and_only_one_that_is_sound_and_ours_replaces_any() {
    let fixture = Fixture::new();
    record(&fixture, 1..=1);
    let backup = fixture.folder.path().join("backup.db");
    fixture.open().backup(&backup).unwrap();
    let kind = |backup: &PathBuf| restore(backup, &fixture).unwrap_err().kind();
    let memory = fixture.open();
    assert_eq!(kind(&backup), ErrorKind::Busy);
    drop(memory);
    let before = bytes(&fixture);
    assert_eq!(kind(&fixture.path()), ErrorKind::InvalidInput);
    assert_eq!(kind(&fixture.folder.path().join("none.db")), ErrorKind::NotFound);
    let bad = fixture.folder.path().join("bad.db");
    let spoil = |sql: &str| {
        fs::copy(&backup, &bad).unwrap();
        Connection::open_with_flags(&bad, rusqlite::OpenFlags::default())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
    };
    spoil("CREATE TRIGGER leak AFTER INSERT ON jobs BEGIN SELECT 1; END");
    assert_eq!(kind(&bad), ErrorKind::ForeignFile);
    spoil("DROP TABLE promotions");
    assert_eq!(kind(&bad), ErrorKind::Corrupt);
    let mut pages = fs::read(&backup).unwrap();
    let middle = pages.len() / 2 / 4_096 * 4_096;
    pages[middle..middle + 4_096].fill(0xa5);
    fs::write(&bad, pages).unwrap();
    assert_eq!(kind(&bad), ErrorKind::Corrupt);
    fs::write(&bad, "").unwrap();
    assert_eq!(kind(&bad), ErrorKind::NotFound);
    assert_eq!(bytes(&fixture), before);

    let new = Fixture::new();
    let (mut steps, backup) = (Vec::new(), BackupFile::open(&backup).unwrap());
    let restored = backup.restore(new.path(), ReplacedFile::Keep, |bytes| steps.push(bytes)).unwrap();
    assert_eq!((restored.replaced, steps.last()), (None, Some(&backup.bytes())));
    assert_eq!(hot(&new.session()), [1], "where there was none, there is one");
}
