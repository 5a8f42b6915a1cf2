//! What is erased is in no recall of any handle or process, and in no row that recall reads.

use std::{io::Write, process::Command};

use thermocline::{
    Clock, ContextOptions, ErrorKind, NewTurn, Originals, RunJobs,
    blocking::{Session, User},
};

use super::{answers, options, story, tell_all};
use crate::{
    children,
    dump::{ask, reader},
    scripted::{Scripted, first_words},
    support::Fixture,
};

/// Words that are only in what is erased.
const CANARIES: [&str; 3] = ["qwzebrafinch", "qwokapi", "qwaxolotl"];

fn canary(n: usize) -> NewTurn {
    let padding = "The lantern hangs beside the old basket. ".repeat(if n & 1 == 0 { 1 } else { 12 });
    let word = CANARIES[n % CANARIES.len()];
    NewTurn::new(format!("I keep a {word} at home, number {n}. {padding}"), format!("The {word} again?"))
}

/// Tells stories, and records a session of canaries, compressed or open, which recalls and a context then find.
fn told(fixture: &Fixture, user: &User, is_ended: bool) -> Session {
    let key = if is_ended { "secret" } else { "open" };
    let memory = fixture.open();
    tell_all(user, 75);
    let secret = user.session_named(key).unwrap();
    for n in 0..70 {
        secret.record(canary(n)).unwrap();
    }
    if is_ended {
        secret.end().unwrap();
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    // A canary is asked for, and used.
    let session = user.session_named("open").unwrap();
    let context = session.context(CANARIES[0], ContextOptions::default()).unwrap();
    session.record(story(200).answering(context.receipt)).unwrap();
    for word in CANARIES {
        user.receipt(user.recall(word, options()).unwrap().receipt).unwrap();
    }
    secret
}

/// Checks that no canary is found or shown.
#[track_caller]
fn check_gone(user: &User) {
    for word in CANARIES {
        match user.recall(word, options()) {
            Ok(recall) => {
                assert!(
                    recall.items.iter().all(|recalled| recalled.parts.words == 0.0),
                    "{word}: {recall:?}"
                );
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound),
        }
        let context = user
            .session_named("open")
            .and_then(|session| session.context("Well?", ContextOptions::default()));
        assert!(context.is_err() || !context.unwrap().text.contains("qw"), "{word}");
    }
}

/// Checks that the bytes of the file, its log and the log's index contain no canary.
#[track_caller]
fn check_bytes(fixture: &Fixture) {
    for suffix in ["", "-wal", "-shm"] {
        // By another process: closing the file in this one would open the locks of its handles.
        let read = Command::new("cat").arg(format!("{}{suffix}", fixture.path().display())).output().unwrap();
        let bytes = read.stdout;
        for word in CANARIES {
            let is_there =
                bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()));
            assert!(!is_there, "{word} in memory.db{suffix}");
        }
    }
}

/// Returns the words of the index, for comparison with a file that never contained the canaries.
fn words(fixture: &Fixture) -> Vec<(u32, u32)> {
    let conn = reader(&fixture.path());
    let mut stmt =
        conn.prepare("SELECT word, sum(unit_count) FROM postings GROUP BY word ORDER BY word").unwrap();
    stmt.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

/// Starts another process, which recalls this word and so has everything of the user in memory.
fn elsewhere(fixture: &Fixture, name: &str, word: &str) -> children::Running {
    let now = fixture.clock.now().to_rfc3339();
    let path = fixture.path();
    children::start("recall", &[path.to_str().unwrap(), &now, name, word])
}

fn ask_again(child: &mut children::Running) -> String {
    writeln!(child.stdin, "again").unwrap();
    child.stdin.flush().unwrap();
    child.line().unwrap()
}

#[test]
fn an_erased_session_is_in_no_recall_of_any_handle_or_process_and_in_no_row() {
    for originals in [Originals::Archive, Originals::Delete] {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(first_words));
        let memory = fixture.open();
        let alex = memory.user("alex").unwrap();
        let secret = told(&fixture, &alex, true);
        let there = fixture.alex();
        let before = there.recall(CANARIES[1], options()).unwrap();
        assert!(before.items[0].parts.words > 0.0);
        let mut child = elsewhere(&fixture, "alex", CANARIES[1]);
        assert_ne!(child.line().unwrap().split(' ').next(), Some("0"), "it is found there too");
        let seqs = "SELECT count(*) FROM recall_units WHERE session_no = (SELECT session_no FROM conversation_sessions WHERE caller_id = 'secret')";
        assert_eq!(ask::<u32>(&fixture.path(), seqs), 70);
        assert!(ask::<u32>(&fixture.path(), "SELECT count(*) FROM unit_uses") > 0);
        let receipts = alex.receipts(100).unwrap();
        assert!(receipts.iter().any(|receipt| receipt.query.contains(CANARIES[1])));

        secret.erase().unwrap();
        check_bytes(&fixture);
        for user in [&alex, &there, &fixture.alex()] {
            check_gone(user);
        }
        assert_eq!(ask_again(&mut child), "0 false", "{originals:?}");
        drop(child.stdin);
        child.process.wait().unwrap();
        assert!(
            receipts.iter().all(|receipt| alex.receipt(receipt.id).is_err()),
            "a query may repeat what was said"
        );
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{diagnosis:?}");
        // What is left is the same as in a file that never contained the session.
        let left = "SELECT count(*) FROM unit_uses WHERE seq NOT IN (SELECT seq FROM recall_units)";
        assert_eq!(ask::<u32>(&fixture.path(), left), 0);
        let bare = bare(&fixture);
        assert_eq!(words(&fixture), words(&bare), "{originals:?}");
    }
}

/// Returns a file that has turns without words in the place of the canaries, so that its index covers the same turns.
fn bare(fixture: &Fixture) -> Fixture {
    let mut other = Fixture::new();
    other.config.originals = fixture.config.originals;
    other.config.summarizer.clone_from(&fixture.config.summarizer);
    let memory = other.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 75);
    let filler = alex.session_named("secret").unwrap();
    for _ in 0..70 {
        filler.record(NewTurn::new(".", "")).unwrap(); // A turn without a word.
    }
    filler.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    other
}

#[test]
fn an_erased_user_is_in_no_recall_of_any_handle_or_process_and_in_no_row() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    tell_all(&blake, 150);
    memory.run_jobs(RunJobs::default()).unwrap();
    let of_blake = answers(&blake);
    told(&fixture, &alex, false);
    let there = fixture.alex();
    assert!(there.recall(CANARIES[1], options()).unwrap().items[0].parts.words > 0.0);
    let mut child = elsewhere(&fixture, "alex", CANARIES[1]);
    assert_ne!(child.line().unwrap().split(' ').next(), Some("0"));
    let user_no: i64 = ask(
        &fixture.path(),
        "SELECT user_no FROM user_scopes JOIN users ON id = user_id WHERE name = 'alex'",
    );

    alex.erase().unwrap();
    check_bytes(&fixture);
    check_gone(&alex);
    check_gone(&there);
    assert_eq!(ask_again(&mut child), "0 false");
    drop(child.stdin);
    child.process.wait().unwrap();
    let conn = reader(&fixture.path());
    let tables: Vec<String> = conn
        .prepare(
            "SELECT s.name FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS c
             WHERE s.type = 'table' AND c.name = 'user_no'",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(tables.len() >= 12, "{tables:?}");
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table} WHERE user_no = ?1");
        let rows: u32 = conn.query_row(&sql, [user_no], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    assert_eq!(answers(&blake), of_blake);
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    check_gone(&memory.user("alex").unwrap()); // The name begins anew.
}

#[test]
fn a_session_erased_before_it_is_indexed_is_not_indexed() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 60);
    let secret = alex.session_named("secret").unwrap();
    (0..70).for_each(|n| drop(secret.record(canary(n)).unwrap()));
    let there = fixture.alex();
    assert!(there.recall(CANARIES[1], options()).unwrap().items[0].parts.words > 0.0);
    secret.erase().unwrap();
    check_bytes(&fixture); // Before anybody asks for it again, which is on record.
    check_gone(&there);
    memory.run_jobs(RunJobs::default()).unwrap();
    for user in [&alex, &there, &fixture.alex()] {
        check_gone(user);
    }
    assert!(memory.doctor().unwrap().is_healthy());
    assert_eq!(ask::<u32>(&fixture.path(), "SELECT indexed_seq FROM user_scopes"), 128);
}
