//! `thermocline erase`: its confirmation, what it keeps, and when it is complete.

use std::fs;

use rusqlite::OpenFlags;
use serde_json::{Value, json};

use crate::shell::{Shell, line};

const ALL: &[&str] = &["erase", "--user", "alex"];
const S1: &[&str] = &["erase", "--user", "alex", "--session", "s1"];

impl Shell {
    /// Whether the bytes of the file or its log contain this text.
    fn holds(&self, text: &str) -> bool {
        let find = |bytes: Vec<u8>| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        self.files()
            .iter()
            .filter(|name| name.starts_with("thermocline.db"))
            .any(|name| find(fs::read(self.path(name)).unwrap()))
    }
}

#[test]
fn without_yes_and_without_a_terminal_nothing_goes_but_the_counts_are_told() {
    let shell = Shell::with_talk();
    let before = shell.rows();
    for (args, what) in [
        (ALL, "all of this user: 2 sessions, 9 turns, 0 anchors"),
        (S1, "1 session: 7 turns, 0 summaries, and the anchor evidence that only they give"),
    ] {
        let message = format!("nothing was erased without --yes; it would erase {what}");
        let run = shell.run(args);
        assert_eq!((run.code, &*run.stdout), (3, ""));
        assert_eq!(run.stderr, format!("thermocline: failed: {message}\n"));
        let run = shell.run(&[&["--json"], args].concat());
        assert_eq!((run.code, &*run.stdout), (3, ""));
        let error = json!({"kind": "invalid_input", "message": message, "exit_code": 3});
        assert_eq!(serde_json::from_str::<Value>(&run.stderr).unwrap(), json!({ "error": error }));
    }
    assert_eq!(shell.rows(), before);
}

#[test]
fn an_erased_turn_is_out_of_the_bytes_and_its_neighbours_stay() {
    let shell = Shell::with_talk();
    assert!(shell.holds("I planted row 3"));
    let turn = ["erase", "--user", "alex", "--turn", "s1/3"];
    let asked = shell.run(&turn);
    assert_eq!(asked.code, 3);
    assert!(
        asked.stderr.contains("it would erase turn 3 of session s1, said on 2026-03-01 at "),
        "{}",
        asked.stderr
    );
    let run = shell.run(&[&turn[..], &["--yes"]].concat());
    assert_eq!((run.code, &*run.stderr), (0, ""), "{}", run.stdout);
    assert!(!shell.holds("I planted row 3"));
    assert!(shell.holds("I planted row 2") && shell.holds("I planted row 4"));
    assert_eq!(shell.run(&[&turn[..], &["--yes"]].concat()).code, 4);
    assert_eq!(shell.run(&["session", "show", "--user", "alex", "s1"]).code, 0);
    assert_eq!(shell.run(&["doctor"]).code, 0);
}

#[test]
fn a_name_of_two_turns_erases_none() {
    let shell = Shell::with_talk();
    shell.write("more.jsonl", &line("s3", "s1/3", 40, "Its id looks like a place.", ""));
    assert_eq!(shell.run(&["replay", "more.jsonl", "--user", "alex"]).code, 0);
    let before = shell.rows();
    let run = shell.run(&["erase", "--user", "alex", "--turn", "s1/3", "--yes"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("this names two turns"), "{}", run.stderr);
    assert_eq!(shell.rows(), before);
}

#[test]
fn an_erased_session_is_out_of_the_bytes_and_others_stay() {
    let shell = Shell::with_talk();
    assert!(shell.holds("I planted row 3"));
    let run = shell.run(&[S1, &["--yes"]].concat());
    assert_eq!((run.code, &*run.stderr), (0, ""));
    let row = |what: &str| run.stdout.lines().find(|line| line.trim().starts_with(what)).unwrap().to_owned();
    assert!(row("sessions").ends_with(" 1") && row("turns").ends_with(" 7"), "{}", run.stdout);
    let last = "Erased from the rows, and from the bytes of the file and its log.\n";
    assert!(run.stdout.ends_with(last), "{}", run.stdout);
    assert!(!shell.holds("I planted row"));
    assert_eq!(shell.run(&["session", "show", "--user", "alex", "s1"]).code, 4);
    assert_eq!(shell.run(&["session", "show", "--user", "alex", "s2"]).code, 0);
    assert_eq!(shell.run(&[S1, &["--yes"]].concat()).code, 4);
    assert_eq!(shell.run(&["--json", "jobs", "list"]).json(), json!([]));
    assert_eq!(shell.run(&["doctor"]).code, 0);
}

#[test]
fn an_erased_user_is_gone_with_the_anchors() {
    let shell = Shell::with_talk();
    assert_eq!(shell.run(&["anchor", "set", "--user", "alex", "user.pets", "dog Wigglesworth"]).code, 0);
    assert!(shell.holds("Wigglesworth"));
    let erased = shell.run(&[&["--json"], ALL, &["--yes"]].concat()).json();
    let counts = ["sessions", "turns", "anchors", "derivations", "jobs"].map(|what| erased[what].clone());
    assert_eq!(counts, [2, 9, 1, 1, 1]);
    assert_eq!(erased["is_pending"], false);
    for text in ["Wigglesworth", "I planted row", "The beans are up!", "alex"] {
        assert!(!shell.holds(text), "{text}");
    }
    assert_eq!(shell.run(&["session", "list", "--user", "alex"]).code, 4);
    assert_eq!(shell.run(&[ALL, &["--yes"]].concat()).code, 4);
    assert_eq!(shell.run(&["doctor"]).code, 0);
}

#[test]
fn a_key_stands_for_all_parts_of_its_talk_and_an_id_for_one() {
    let shell = Shell::new();
    let (first, second) = (line("s", "1", 1, "before the night", ""), line("s", "2", 2, "after it", ""));
    assert_eq!(shell.replay(&first).code, 0);
    shell.change("UPDATE conversation_sessions SET last_active_at = '2020-01-01T00:00:00.000Z'");
    assert_eq!(shell.replay(&(first + &second)).code, 0);
    let sessions = shell.run(&["--json", "session", "list", "--user", "alex"]).json();
    assert_eq!(sessions.as_array().unwrap().len(), 2);

    let would = |session: &str| shell.run(&["erase", "--user", "alex", "--session", session]).stderr;
    assert!(would("s").contains("it would erase 2 sessions: 2 turns, "), "{}", would("s"));
    let id = sessions[0]["id"].as_str().unwrap();
    assert!(would(id).contains("it would erase 1 session: 1 turn, "), "{}", would(id));
    let erased = shell.run(&["--json", "erase", "--user", "alex", "--session", "s", "--yes"]).json();
    assert_eq!((&erased["sessions"], &erased["turns"]), (&json!(2), &json!(2)));
    assert!(!shell.holds("before the night") && !shell.holds("after it"));
}

#[test]
fn while_somebody_reads_the_erase_says_that_it_is_pending_and_jobs_run_ends_it() {
    for json in [false, true] {
        let shell = Shell::with_talk();
        let reader = shell.sql(OpenFlags::SQLITE_OPEN_READ_ONLY);
        reader.execute_batch("BEGIN; SELECT count(*) FROM conversation_turns").unwrap();
        let run = shell.run(&[if json { &["--json"][..] } else { &[] }, S1, &["--yes"]].concat());
        assert_eq!(run.code, 6, "{}", run.stderr);
        assert!(run.stderr.contains("then run: thermocline jobs run"), "{}", run.stderr);
        if json {
            let receipt: Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!((&receipt["turns"], &receipt["is_pending"]), (&json!(7), &json!(true)));
        } else {
            assert!(run.stdout.ends_with("still holds old bytes: the erase is pending.\n"), "{}", run.stdout);
        }
        assert_eq!(shell.run(&["session", "show", "--user", "alex", "s1"]).code, 4);
        let jobs = shell.run(&["--json", "jobs", "list"]).json();
        assert_eq!((&jobs[0]["kind"], &jobs[0]["user_id"]), (&json!("scrub"), &Value::Null));
        assert!(shell.run(&["jobs", "list"]).stdout.contains("none: the file"));

        drop(reader);
        // Connections that the new process itself opens also read the file, so one try may not be enough.
        let is_done = || {
            let ran = shell.run(&["--json", "jobs", "run"]).json();
            assert_eq!(shell.run(&["jobs", "retry"]).code, 0);
            ran["done"] == 1
        };
        assert!((0..20).any(|_| is_done()));
        assert!(!shell.holds("I planted row"));
        assert_eq!(shell.run(&["--json", "jobs", "list"]).json(), json!([]));
    }
}

#[test]
fn the_help_says_what_erasing_cannot_reach() {
    let help = Shell::new().run(&["erase", "--help"]).stdout;
    for word in ["backups", "exports", "other processes", "below the file"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn a_turn_that_damage_left_nothing_of_is_erased_by_the_id_that_doctor_names() {
    let shell = Shell::with_talk();
    let rows = "DELETE FROM conversation_turns WHERE turn_number = 3 AND memory_tier = 'warm'";
    assert_eq!(shell.sql(OpenFlags::SQLITE_OPEN_READ_WRITE).execute(rows, []).unwrap(), 1);
    let doctor = shell.run(&["doctor"]);
    assert_eq!(doctor.code, 7);
    let (_, id) = doctor.stdout.split_once(": turn ").unwrap();
    let id = id.split_whitespace().next().unwrap();
    let erased = shell.run(&["erase", "--user", "alex", "--turn", id, "--yes"]);
    assert_eq!(erased.code, 0, "{}", erased.stderr);
    assert_eq!(shell.run(&["doctor"]).code, 0);
}
