//! Putting a backup back, also beside the log that a killed process left; and a doctor that changes nothing.

use std::fs;

use rusqlite::OpenFlags;
use serde_json::Value;

use crate::shell::Shell;

/// Returns a folder with a talk and `copy.db`, a backup of it, after which a process that recorded more was killed: its log
/// is still there.
fn killed() -> Shell {
    let shell = Shell::with_talk();
    assert_eq!(shell.run(&["backup", "copy.db"]).code, 0);
    let conn = shell.sql(OpenFlags::SQLITE_OPEN_READ_WRITE);
    conn.execute_batch("PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE").unwrap();
    let number: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    conn.execute_batch(&format!("PRAGMA user_version = {}; COMMIT", number + 1)).unwrap();
    let left =
        ["thermocline.db", "thermocline.db-wal"].map(|name| (name, fs::read(shell.path(name)).unwrap()));
    drop(conn);
    for (name, bytes) in left {
        assert!(!bytes.is_empty(), "{name}");
        fs::write(shell.path(name), bytes).unwrap();
    }
    shell
}

#[test]
fn a_backup_that_was_only_copied_is_refused_with_the_command_that_helps() {
    let shell = killed();
    fs::copy(shell.path("copy.db"), shell.path("thermocline.db")).unwrap();
    let before = ["thermocline.db", "thermocline.db-wal"].map(|name| fs::read(shell.path(name)).unwrap());
    for verb in [&["doctor"][..], &["stats"], &["session", "end", "--user", "alex", "s2"]] {
        let run = shell.run(verb);
        assert!(
            run.code == 5 && run.stderr.contains("log") && run.stderr.contains("restore BACKUP"),
            "{}",
            run.stderr
        );
    }
    assert!(
        before == ["thermocline.db", "thermocline.db-wal"].map(|name| fs::read(shell.path(name)).unwrap())
    );

    let refused = shell.run(&["restore", "copy.db"]);
    assert!(refused.code == 3 && refused.stderr.contains("--yes"), "{}", refused.stderr);
    let restored = shell.run(&["--json", "restore", "copy.db", "--yes"]).json();
    assert_eq!(restored["bytes"], fs::metadata(shell.path("copy.db")).unwrap().len());
    assert!(restored["replaced"].as_str().unwrap().ends_with("thermocline.db.replaced-1"), "{restored}");
    assert_eq!(shell.run(&["doctor"]).code, 0);
    assert_eq!(
        shell.files(),
        [
            "copy.db",
            "talk.jsonl",
            "thermocline.db",
            "thermocline.db.replaced-1",
            "thermocline.db.replaced-1-wal"
        ]
    );
    let again = shell.run(&["--json", "restore", "copy.db", "--yes", "--delete-replaced"]).json();
    assert_eq!(again["replaced"], Value::Null);
}

#[test]
fn restore_replaces_nothing_that_is_open_or_to_be_read_only_and_by_nothing_but_a_backup() {
    let shell = Shell::with_talk();
    shell.run(&["backup", "copy.db"]);
    shell.write("text.db", "No database at all.");
    let rows = shell.rows();
    let code = |args: &[&str]| shell.run(args).code;
    assert_eq!(code(&["restore", "none.db", "--yes"]), 4);
    assert_eq!(code(&["restore", "text.db", "--yes"]), 5);
    assert_eq!(code(&["restore", "thermocline.db", "--yes"]), 3);
    assert_eq!(code(&["--read-only", "restore", "copy.db", "--yes"]), 3);
    let open = shell.sql(OpenFlags::SQLITE_OPEN_READ_ONLY);
    open.query_row("SELECT count(*) FROM jobs", [], |_| Ok(())).unwrap();
    let busy = shell.run(&["restore", "copy.db", "--yes"]);
    assert!(busy.code == 6 && busy.stderr.contains("open in another process"), "{}", busy.stderr);
    drop(open);
    assert_eq!(shell.rows(), rows);
    assert_eq!(code(&["restore", "copy.db", "--yes"]), 0);
    assert_eq!(shell.rows(), rows);
}

#[test]
fn doctor_changes_no_byte_of_the_file_or_of_the_log_that_a_crash_left() {
    let shell = killed();
    let bytes = || ["thermocline.db", "thermocline.db-wal"].map(|name| fs::read(shell.path(name)).unwrap());
    let before = bytes();
    assert_eq!(shell.run(&["doctor"]).code, 0);
    assert!(bytes() == before);
    assert_eq!(shell.run(&["doctor", "--mend"]).code, 0);
    assert!(!shell.path("thermocline.db-wal").exists(), "this one opens for writing");
}

#[test]
fn doctor_names_what_another_program_has_put_into_the_file() {
    let shell = Shell::with_talk();
    let conn = shell.sql(OpenFlags::SQLITE_OPEN_READ_WRITE);
    conn.execute_batch("CREATE TRIGGER leak AFTER INSERT ON conversation_turns BEGIN DELETE FROM jobs; END")
        .unwrap();
    drop(conn);
    let run = shell.run(&["doctor"]);
    assert_eq!(run.code, 7);
    assert!(run.stdout.contains("the trigger leak on conversation_turns"), "{}", run.stdout);
    let refused = shell.run(&["session", "end", "--user", "alex", "s2"]);
    assert!(refused.code == 5 && refused.stderr.contains("DROP TRIGGER"), "{}", refused.stderr);
    assert_eq!(
        shell.run(&["--read-only", "export", "--user", "alex", "-"]).code,
        0,
        "it can still be taken out"
    );
}
