//! History and lists, page by page.

use rusqlite::OpenFlags;
use serde_json::{Value, json};

use crate::{dump::ask, shell::Shell};

impl Shell {
    #[track_caller]
    fn listed(&self, args: &[&str], field: &str) -> Vec<Value> {
        let list = self.run(&[&["--json"], args].concat()).json();
        list.as_array().unwrap().iter().map(|entry| entry[field].clone()).collect()
    }
}

#[test]
fn a_sessions_turns_are_read_page_by_page() {
    let shell = Shell::with_talk();
    let numbers = |args: &[&str]| {
        shell.listed(&[&["session", "turns", "--user", "alex", "s1"], args].concat(), "turn_number")
    };
    assert_eq!(numbers(&[]), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(numbers(&["--limit", "3"]), [1, 2, 3]);
    assert_eq!(numbers(&["--limit", "3", "--after", "3"]), [4, 5, 6]);
    assert_eq!(numbers(&["--last", "--limit", "2"]), [6, 7]);
    assert_eq!(numbers(&["--before", "6", "--limit", "2"]), [4, 5]);
    assert_eq!(numbers(&["--after", "7"]), [Value::Null; 0]);
    let text = shell.run(&["session", "turns", "--user", "alex", "s1", "--after", "6"]);
    assert_eq!(
        text.stdout,
        "turn 7, 2026-03-01 12:07 UTC, warm\n\nUser:\nI planted row 7 of beans.\n\nAssistant:\nWater them at dusk.\n"
    );
    for args in [
        &["--limit", "0"][..],
        &["--limit", "1001"],
        &["--last", "--after", "1"],
        &["--after", "1", "--before", "3"],
    ] {
        let refused = shell.run(&[&["session", "turns", "--user", "alex", "s1"], args].concat());
        assert_eq!(refused.code, 2, "{args:?}: {refused:?}");
    }
    let kinds = shell.listed(&["session", "turns", "--user", "alex", "s1", "--limit", "1"], "kind");
    assert_eq!(kinds, ["turn"]);
}

#[test]
fn a_damaged_turn_is_named_among_the_others() {
    let shell = Shell::with_talk();
    let conn = shell.sql(OpenFlags::SQLITE_OPEN_READ_WRITE);
    conn.execute("UPDATE conversation_turns SET user_message = 'row' WHERE turn_number = 2", []).unwrap();
    drop(conn);
    let run = shell.run(&["session", "turns", "--user", "alex", "s1", "--limit", "3"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("\nturn 2 is damaged; doctor says where, and a backup may still have it\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("row 1 of beans") && run.stdout.contains("row 3 of beans"));
}

#[test]
fn lists_begin_behind_what_was_seen_and_end_at_the_limit() {
    let shell = Shell::with_talk();
    assert_eq!(shell.replay(&crate::shell::line("s9", "z1", 50, "Hello.", "")).code, 0);
    assert_eq!(shell.run(&["session", "end", "--user", "alex", "s9"]).code, 0);
    let sessions =
        |args: &[&str]| shell.listed(&[&["session", "list", "--user", "alex"], args].concat(), "caller_id");
    assert_eq!(sessions(&[]), ["s9", "s2", "s1"]);
    assert_eq!(sessions(&["--limit", "2"]), ["s9", "s2"]);
    assert_eq!(sessions(&["--after", "s2"]), ["s1"]);
    assert_eq!(shell.run(&["session", "list", "--user", "alex", "--after", "s7"]).code, 4);

    let jobs = |args: &[&str]| shell.listed(&[&["jobs", "list"], args].concat(), "job_no");
    assert_eq!(jobs(&[]), [1, 2]);
    assert_eq!(jobs(&["--after", "1"]), [2]);
    assert_eq!(jobs(&["--limit", "1"]), [1]);

    for value in ["tea", "boats", "fog"] {
        assert_eq!(shell.run(&["anchor", "set", "--user", "alex", "user.likes", value]).code, 0);
    }
    let anchors = |field: &str, args: &[&str]| {
        shell.listed(&[&["anchor", "list", "--user", "alex"], args].concat(), field)
    };
    assert_eq!(anchors("value", &[]), ["boats", "fog", "tea"]);
    let first = anchors("id", &["--limit", "1"]);
    assert_eq!(anchors("value", &["--after", first[0].as_str().unwrap(), "--limit", "1"]), ["fog"]);
}

#[test]
fn users_are_listed_with_their_names_and_counts() {
    let shell = Shell::with_talk();
    shell.write("other.jsonl", &crate::shell::line("s1", "o1", 1, "Hello.", ""));
    assert_eq!(shell.run(&["replay", "other.jsonl", "--user", "blake"]).code, 0);
    assert_eq!(shell.listed(&["user", "list"], "name"), ["alex", "blake"]);
    assert_eq!(shell.listed(&["user", "list"], "turn_count"), [9, 1]);
    assert_eq!(shell.listed(&["user", "list", "--after", "alex"], "session_count"), [1]);
    assert_eq!(shell.listed(&["user", "list", "--limit", "1"], "name"), ["alex"]);
    let table = shell.run(&["user", "list"]).stdout;
    assert!(table.lines().nth(2).is_some_and(|line| line.ends_with("  blake")), "{table}");
    assert_eq!(shell.run(&["user", "list", "--after", "nobody"]).code, 4);
}

#[test]
fn titles_and_metadata_are_shown_without_what_a_terminal_would_obey() {
    let shell = Shell::with_talk();
    shell.change("UPDATE conversation_sessions SET title = 'Beans' || char(27) || '[2J', metadata = '{\"a\":1}' WHERE caller_id = 's1'");
    shell.change("UPDATE conversation_turns SET metadata = '{\"b\":2}' WHERE turn_number = 1");
    let list = shell.run(&["session", "list", "--user", "alex"]).stdout;
    assert!(list.contains("  Beans\u{fffd}[2J\n") && !list.contains('\u{1b}'), "{list:?}");
    let shown = shell.run(&["session", "show", "--user", "alex", "s1"]).stdout;
    assert!(
        shown.contains("title    Beans\u{fffd}[2J\n") && shown.contains("metadata {\"a\":1}\n"),
        "{shown}"
    );
    assert!(shell.run(&["turn", "show", "--user", "alex", "s1/1"]).stdout.contains("metadata   {\"b\":2}\n"));
    let turns = shell.listed(&["session", "turns", "--user", "alex", "s1", "--limit", "2"], "metadata");
    assert_eq!(turns, [json!({ "b": 2 }), Value::Null]);
    assert_eq!(
        ask::<u32>(&shell.path("thermocline.db"), "SELECT count(*) FROM v_sessions WHERE title IS NOT NULL"),
        1
    );
}
