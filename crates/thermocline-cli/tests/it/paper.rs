//! `thermocline replay FILE.db` with a database that has the tables that the tiering paper prints, and recall by the
//! paper's profile.

use rusqlite::{Connection, OpenFlags};

use crate::shell::Shell;

const TABLES: &str = include_str!("../../../../tests/data/paper/tables.sql");
const INSERTS: &str = include_str!("../../../../tests/data/paper/inserts.sql");

fn connection(shell: &Shell, name: &str) -> Connection {
    Connection::open_with_flags(shell.path(name), OpenFlags::default()).unwrap()
}

/// Opens another program's database, without checks of foreign keys: its tables refer to some that the paper does not
/// print.
fn database(shell: &Shell) -> Connection {
    let conn = connection(shell, "old.db");
    conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA journal_mode = WAL").unwrap();
    conn
}

/// Creates a folder with another program's `old.db`: two sessions, of which the one that started later was written first.
pub fn with_database() -> Shell {
    let shell = Shell::new();
    let conn = database(&shell);
    conn.execute_batch(&format!("{TABLES}{INSERTS}")).unwrap();
    conn.execute_batch(
        "UPDATE conversation_turns SET timestamp = '2026-02-27 09:00:00' WHERE turn_number < 7;
         UPDATE conversation_sessions SET started_at = '2026-02-27 09:00:00';
         INSERT INTO conversation_sessions (id, user_id, started_at, ended_at)
         VALUES (x'22', x'00000000000000000000000000000007', '2026-01-01 08:00:00', '2026-01-01 09:00:00');
         INSERT INTO conversation_turns SELECT x'b1', user_id, x'22', 1, 'The first of all.', 'Yes.', 1, 1, 2,
           '2026-01-01 08:00:00', x'c0000000000000000000000000000001', 'cold', 0
         FROM conversation_turns WHERE turn_number = 1;",
    )
    .unwrap();
    shell
}

#[test]
fn its_conversations_are_recorded_in_order_with_their_times_and_once() {
    let shell = with_database();
    let before = std::fs::read(shell.path("old.db")).unwrap();
    let replay = ["--json", "replay", "old.db", "--user", "alex", "--end"];
    let first = shell.run(&replay).json();
    assert_eq!((&first["turns_new"], &first["sessions"]), (&8.into(), &2.into()));
    let rows = shell.rows();
    let again = shell.run(&replay).json();
    assert_eq!((&again["turns_new"], &again["turns_known"]), (&0.into(), &8.into()));
    assert_eq!(shell.rows(), rows);
    assert_eq!(std::fs::read(shell.path("old.db")).unwrap(), before, "it is only read");

    let conn = connection(&shell, "thermocline.db");
    let turns: Vec<String> = conn
        .prepare(
            "SELECT session || ' ' || caller_id || ' ' || said || ' ' || critical FROM v_turns ORDER BY seq",
        )
        .and_then(|mut stmt| stmt.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    assert_eq!(turns[0], "22 b1 2026-01-01 08:00:00 0");
    let session = "11111111-1111-1111-1111-111111111111";
    assert_eq!(turns[1], format!("{session} a0000000-0000-0000-0000-000000000001 2026-02-27 09:00:00 0"));
    assert_eq!(turns[7], format!("{session} a0000000-0000-0000-0000-000000000007 2026-02-28 09:30:00 1"));
    let snapshots: u32 = conn
        .query_row(
            "SELECT count(*) FROM conversation_turns WHERE snapshot_id = x'c0000000000000000000000000000001'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(snapshots, 1);
}

#[test]
fn of_several_users_one_is_named() {
    let shell = with_database();
    database(&shell)
        .execute_batch(
            "INSERT INTO conversation_turns SELECT x'd1', x'09', x'33', 1, 'Nora speaks.', '', 1, 1, 2, timestamp, NULL, 'hot', 0
             FROM conversation_turns WHERE turn_number = 1 LIMIT 1",
        )
        .unwrap();
    let refused = shell.run(&["replay", "old.db", "--user", "alex"]);
    assert!(refused.code == 3 && refused.stderr.contains("turns of 2 users"), "{}", refused.stderr);
    assert_eq!(shell.run(&["replay", "old.db", "--user", "alex", "--from-user", "0a"]).code, 4);
    assert!(!shell.path("thermocline.db").exists(), "nothing was made");
    let nora = shell.run(&["--json", "replay", "old.db", "--user", "nora", "--from-user", "09"]).json();
    assert_eq!(nora["turns_new"], 1);
    let id = "00000000-0000-0000-0000-000000000007";
    let alex = shell.run(&["--json", "replay", "old.db", "--user", "alex", "--from-user", id]).json();
    assert_eq!(alex["turns_new"], 8);
}

#[test]
fn what_cannot_be_replayed_is_refused_in_words() {
    let shell = with_database();
    let opened = shell.run(&["--db", "old.db", "stats"]);
    assert!(opened.code == 5 && opened.stderr.contains("replay FILE"), "{}", opened.stderr);
    connection(&shell, "other.db").execute_batch("CREATE TABLE t(x)").unwrap();
    let other = shell.run(&["replay", "other.db", "--user", "alex"]);
    assert!(other.code == 3 && other.stderr.contains("tiering paper"), "{}", other.stderr);
    shell.write("talk.jsonl", "");
    assert_eq!(shell.run(&["replay", "talk.jsonl", "--user", "alex", "--from-user", "09"]).code, 3);
    database(&shell)
        .execute_batch("UPDATE conversation_turns SET timestamp = 'noon' WHERE turn_number = 2")
        .unwrap();
    let bad = shell.run(&["replay", "old.db", "--user", "alex"]);
    assert!(
        bad.code == 3 && bad.stderr.contains("turn 3: the turn's timestamp is not a time"),
        "{}",
        bad.stderr
    );
    assert!(bad.stderr.contains("the 2 turns before it stay recorded"), "{}", bad.stderr);
    let own = shell.run(&["replay", "thermocline.db", "--user", "alex"]);
    assert!(own.code == 3 && own.stderr.contains("export and import"), "{}", own.stderr);
}

#[test]
fn lambda_belongs_to_the_profile_paper() {
    let shell = Shell::with_talk();
    let recall = |args: &[&str]| shell.run(&[&["recall", "--user", "alex", "flowers"], args].concat());
    assert_eq!(recall(&["--profile", "paper", "--lambda", "0.02"]).code, 0);
    assert_eq!(recall(&["--profile", "paper", "--lambda", "11"]).code, 3);
    assert_eq!(recall(&["--lambda", "0.02"]).code, 3);
}
