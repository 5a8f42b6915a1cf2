//! `thermocline replay` records each turn only once, even if the replay is repeated; invalid input stops it.

use std::{io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::shell::{Shell, ended, line, talk};

#[test]
fn replaying_again_changes_no_row() {
    let shell = Shell::with_talk();
    let before = shell.rows();
    let summary = shell.run(&["--json", "replay", "talk.jsonl", "--user", "alex"]).json();
    assert_eq!(
        (&summary["turns_new"], &summary["turns_known"], &summary["sessions"]),
        (&json!(0), &json!(9), &json!(2))
    );
    assert_eq!(shell.rows(), before);
}

#[test]
fn replaying_again_after_a_day_of_silence_changes_no_row() {
    let shell = Shell::with_talk();
    shell.change("UPDATE conversation_sessions SET last_active_at = '2020-01-01T00:00:00.000Z'");
    let before = shell.rows();
    assert_eq!(shell.run(&["replay", "talk.jsonl", "--user", "alex"]).code, 0);
    assert_eq!(shell.rows(), before);
}

#[test]
fn a_session_ends_when_its_last_turn_was_said_and_once() {
    let shell = Shell::with_talk();
    let ends = |shell: &Shell| -> Vec<Value> {
        let sessions = shell.run(&["--json", "session", "list", "--user", "alex"]).json();
        sessions.as_array().unwrap().iter().map(|session| session["ended_at"].clone()).collect()
    };
    assert_eq!(ends(&shell), [Value::Null, json!("2026-03-01T12:07:00Z")]);
    let end = ["replay", "talk.jsonl", "--user", "alex", "--end"];
    assert_eq!(shell.run(&end).code, 0);
    assert_eq!(ends(&shell), [json!("2026-03-01T12:31:00Z"), json!("2026-03-01T12:07:00Z")]);
    let before = shell.rows();
    assert_eq!(shell.run(&end).code, 0);
    assert_eq!(shell.rows(), before);
}

#[test]
fn an_interrupted_replay_goes_on_where_it_stopped() {
    let (whole, broken) = (Shell::with_talk(), Shell::new());
    let lines: Vec<String> = talk().lines().map(|line| line.to_owned() + "\n").collect();
    assert_eq!(broken.replay(&lines[..4].concat()).code, 0);
    assert_eq!(broken.replay(&lines.concat()).code, 0);
    let shown = |shell: &Shell, session| shell.run(&["session", "show", "--user", "alex", session]).stdout;
    for session in ["s1", "s2"] {
        // The lines with ids differ between the two databases.
        let without_id = |text: String| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with("id ")).map(str::to_owned).collect()
        };
        assert_eq!(without_id(shown(&broken, session)), without_id(shown(&whole, session)));
    }
}

#[test]
fn a_transcript_may_come_from_a_pipe() {
    let shell = Shell::new();
    let mut command = shell.command(&["--json", "replay", "-", "--user", "alex"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(("\u{feff}".to_owned() + &talk()).as_bytes()).unwrap();
    assert_eq!(ended(&child.wait_with_output().unwrap_or_else(|e| panic!("{e}"))).json()["turns_new"], 9);
}

#[test]
fn what_may_be_missing_may_also_be_null_and_the_unknown_is_ignored() {
    let shell = Shell::new();
    let line =
        json!({"session": "s", "id": "1", "user": "hi", "assistant": null, "at": null, "mood": [1, {}]});
    assert_eq!(shell.replay(&line.to_string()).code, 0);
    assert_eq!(
        shell.replay(&line.to_string()).stdout.lines().next(),
        Some("1 turn in 1 session: 0 new, 1 known from before.")
    );
    let turn = shell.run(&["--json", "turn", "show", "--user", "alex", "1"]).json();
    assert_eq!(turn["ai_response"], "");
}

/// Checks lines that must stop a replay. A transcript has the bad line between a good one, which the file already contains,
/// and a new one.
struct BadLines {
    shell: Shell,
    good: String,
    rows: Vec<String>,
}

impl BadLines {
    fn new() -> Self {
        let (shell, good) = (Shell::new(), line("s1", "1", 1, "good morning", "good morning to you"));
        assert_eq!(shell.replay(&good).code, 0);
        let rows = shell.rows();
        Self { shell, good, rows }
    }

    #[track_caller]
    fn check(&self, bad: &str, reason: &str) {
        let next = line("s1", "3", 3, "good night", "");
        let run = self.shell.replay(&format!("{}{bad}\n{next}", self.good));
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{}", run.stderr);
        assert!(run.stderr.starts_with("thermocline: failed: line 2: "), "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
        let stays = "; nothing of this line was written, the turn before it stays recorded\n";
        assert!(run.stderr.ends_with(stays), "{}", run.stderr);
        assert!(!run.stderr.contains("SECRET"), "{}", run.stderr);
        assert_eq!(self.shell.rows(), self.rows, "{reason}");
    }
}

/// Returns a line of another session, with one field changed.
fn changed(field: &str, value: &Value) -> String {
    let mut line = json!({"session": "SECRET-s", "id": "SECRET-id", "at": "2026-03-01T12:02:00Z",
        "user": "SECRET-user", "assistant": "SECRET-assistant", "user_name": "SECRET-name"});
    line[field] = value.clone();
    line.to_string()
}

#[test]
fn a_line_that_is_no_json_object_stops_the_replay() {
    let bad = BadLines::new();
    bad.check(r#"{"session": SECRET"#, "not valid JSON: expected value at column 13");
    bad.check(r#"{"session":"SECRET","user":"\ud800","id":"SECRET"}"#, "not valid JSON");
    bad.check(r#"{"session":"SECRET"} SECRET"#, "not valid JSON: trailing characters");
    bad.check("SECRET", "not valid JSON");
    bad.check("[\"SECRET\"]", "not a JSON object");
    bad.check("\"SECRET\"", "not a JSON object");
}

#[test]
fn a_field_of_the_wrong_type_stops_the_replay() {
    let bad = BadLines::new();
    for field in ["session", "id", "user", "assistant", "at", "user_name", "assistant_name"] {
        for value in [json!(17), json!(["SECRET"]), json!({"SECRET": 1}), json!(true)] {
            bad.check(&changed(field, &value), &format!("the field {field} is not a string"));
        }
    }
}

#[test]
fn a_missing_field_stops_the_replay() {
    let bad = BadLines::new();
    for field in ["session", "id", "user"] {
        let mut line: Value = serde_json::from_str(&changed("at", &Value::Null)).unwrap();
        line.as_object_mut().unwrap().remove(field);
        bad.check(&line.to_string(), &format!("the field {field} is missing"));
        bad.check(&changed(field, &Value::Null), &format!("the field {field} is not a string"));
    }
}

#[test]
fn a_time_that_never_was_stops_the_replay() {
    let bad = BadLines::new();
    for at in ["2026-02-30T12:00:00Z", "SECRET", "", "2026-03-01", "2026-03-01T12:00:00", "1772366400"] {
        bad.check(&changed("at", &json!(at)), "the field at is not a time");
    }
    for at in ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-23:59"] {
        bad.check(&changed("at", &json!(at)), "year");
    }
}

#[test]
fn text_beyond_its_bounds_stops_the_replay() {
    let bad = BadLines::new();
    bad.check(&changed("user", &json!("SECRET".repeat(200_000))), "1200000 bytes");
    bad.check(&changed("assistant", &json!("SECRET\0")), "NUL");
    bad.check(&changed("id", &json!("SECRET".repeat(50))), "300 bytes");
    bad.check(&changed("id", &json!("")), "empty");
    bad.check(&changed("session", &json!("SECRET".repeat(50))), "300 bytes");
    bad.check(&changed("session", &json!("")), "empty");
    bad.check(&changed("user_name", &json!("SECRET".repeat(50))), "300 bytes");
    bad.check(r#"{"session":"s2","id":"2","user":""}"#, "empty");
}

#[test]
fn a_line_over_64_mib_stops_the_replay() {
    let bad = BadLines::new();
    bad.check(&"SECRET  ".repeat((8 << 20) + 1), "longer than 64 MiB");
}

#[test]
fn an_id_that_is_taken_stops_the_replay() {
    let bad = BadLines::new();
    bad.check(
        &line("s1", "1", 2, "SECRET", ""),
        "a turn with this caller's id and other text is already recorded",
    );
    bad.check(
        &line("s2", "1", 2, "SECRET", ""),
        "a turn with this caller's id and other text is already recorded",
    );
    let again = line("s2", "1", 2, "good morning", "good morning to you");
    bad.check(&again, "its id is already taken by a turn of another session");
}

#[test]
fn a_session_that_comes_back_after_it_was_ended_stops_the_replay() {
    let shell = Shell::new();
    let (first, second) = (line("s1", "1", 1, "one", ""), line("s2", "2", 2, "two", ""));
    assert_eq!(shell.replay(&(first.clone() + &second)).code, 0);
    let before = shell.rows();
    for back in [line("s1", "3", 3, "SECRET", ""), first.clone()] {
        let run = shell.replay(&(first.clone() + &second + &back));
        assert_eq!(run.code, 3);
        assert!(run.stderr.contains("line 3: an earlier line ended its session"), "{}", run.stderr);
        assert_eq!(shell.rows(), before);
    }
    // In a later run, the session continues in its next part.
    assert_eq!(shell.replay(&(first.clone() + &line("s1", "3", 3, "three", ""))).code, 0);
    let sessions = shell.run(&["--json", "session", "list", "--user", "alex"]).json();
    assert_eq!((&sessions[0]["caller_id"], &sessions[0]["part"]), (&json!("s1"), &json!(2)));
    let after = shell.rows();
    assert_eq!(shell.replay(&(first + &line("s1", "3", 3, "three", ""))).code, 0);
    assert_eq!(shell.rows(), after);
}

#[test]
fn what_is_no_transcript_makes_no_database() {
    let shell = Shell::new();
    let run = shell.replay("SECRET\n");
    assert_eq!(
        (run.code, run.stderr.contains("no turn was recorded before it")),
        (3, true),
        "{}",
        run.stderr
    );
    assert_eq!(shell.files(), ["transcript.jsonl"]);
    assert_eq!(shell.run(&["replay", "missing.jsonl", "--user", "alex"]).code, 4);
    assert_eq!(shell.run(&["replay", ".", "--user", "alex"]).code, 5);
    assert_eq!(shell.files(), ["transcript.jsonl"]);
}
