//! Whether a file can be read and written is reported at once, whatever the writer is doing; and the data version changes
//! with every commit.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use thermocline::{ErrorKind, Faults, Moment};

use crate::{
    dump::meddle,
    support::{Fixture, turn},
};

/// Polls until it is so.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "a test that would wait for ever has failed")]
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        thread::yield_now();
    }
}

#[test]
fn a_file_that_is_well_says_so_and_how_much_there_is() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    memory.user("alex").unwrap().session().unwrap().record(turn(1)).unwrap();
    let health = memory.health().unwrap();
    assert!(health.is_writer_alive && !health.is_read_only);
    assert_eq!(health.queued_commands, 0);
    let before = (health.commits, health.commit_us);
    memory.user("alex").unwrap().session().unwrap().record(turn(2)).unwrap();
    let health = memory.health().unwrap();
    assert!(health.commits > before.0 && health.commit_us > before.1, "{before:?} {health:?}");
    assert_eq!(
        health.log_bytes,
        std::fs::metadata(fixture.folder.path().join("memory.db-wal")).unwrap().len()
    );
    assert_eq!(health.schema_version, memory.stats().unwrap().schema_version);
    #[cfg(all(unix, feature = "files"))]
    assert!(health.free_bytes.unwrap() > 0);
    memory.close().unwrap();
    assert!(!memory.health().unwrap().is_writer_alive, "it takes nothing any more");

    let mut fixture = fixture;
    fixture.config.read_only = true;
    let health = fixture.open().health().unwrap();
    assert!(health.is_read_only && !health.is_writer_alive);
}

#[test]
fn what_waits_for_a_busy_writer_is_counted() {
    let (is_armed, (entered, has_entered), (release, released)) =
        (Arc::new(AtomicBool::new(false)), mpsc::channel(), mpsc::channel());
    let (armed, held) = (Arc::clone(&is_armed), Mutex::new((entered, released)));
    let mut fixture = Fixture::new();
    fixture.config.faults = Faults::new(move |_, _| {
        if armed.swap(false, Ordering::SeqCst) {
            let (entered, released) = &*held.lock().unwrap();
            entered.send(()).unwrap();
            released.recv().unwrap();
        }
        false
    });
    let memory = &fixture.open();
    let alex = &memory.user("alex").unwrap();
    is_armed.store(true, Ordering::SeqCst);
    thread::scope(|scope| {
        let first = scope.spawn(|| alex.session_named("first").map(drop));
        has_entered.recv().unwrap();
        assert_eq!(memory.health().unwrap().queued_commands, 0, "the writer has it");
        let second = scope.spawn(|| alex.session_named("second").map(drop));
        until("the second waits", || memory.health().unwrap().queued_commands == 1);
        assert!(memory.health().unwrap().is_writer_alive);
        release.send(()).unwrap();
        first.join().unwrap().unwrap();
        second.join().unwrap().unwrap();
    });
    assert_eq!(memory.health().unwrap().queued_commands, 0);
}

#[test]
fn a_writer_that_is_gone_and_a_file_that_is_gone_are_seen() {
    let is_armed = Arc::new(AtomicBool::new(false));
    let armed = Arc::clone(&is_armed);
    let mut fixture = Fixture::new();
    fixture.config.faults = Faults::new(move |moment, _| {
        assert!(!(moment == Moment::Before && armed.load(Ordering::SeqCst)), "a test lets the writer panic");
        false
    });
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    is_armed.store(true, Ordering::SeqCst);
    assert_eq!(session.record(turn(1)).unwrap_err().kind(), ErrorKind::Poisoned);
    until("the writer is gone", || !memory.health().unwrap().is_writer_alive);
    drop(catch_unwind(AssertUnwindSafe(|| memory.close())));

    let fixture = Fixture::new();
    let memory = fixture.open();
    std::fs::remove_file(fixture.path()).unwrap();
    assert_eq!(memory.health().unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn the_data_version_changes_with_every_commit_of_anybody_and_with_no_read() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    let mut seen = memory.data_version().unwrap();
    let mut changed = || {
        let before = std::mem::replace(&mut seen, memory.data_version().unwrap());
        before != seen
    };
    session.record(turn(1)).unwrap();
    assert!(changed() && !changed());
    session.turns(None, 10).unwrap();
    session.search("question", 5).unwrap();
    assert!(!changed());
    fixture.alex().session_named("of another opening").unwrap();
    assert!(changed() && !changed());
    meddle(&fixture.path(), "CREATE TABLE backends_own (id INTEGER)");
    assert!(changed() && !changed());
}
