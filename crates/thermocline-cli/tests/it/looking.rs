//! Runs the binary on files that it cannot write or that belong to another program. Also tests the binary's help and error
//! messages, and what it says about a turn from the future and about a job that another process holds.

use std::fs;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::shell::{Ended, Shell, ended, line};

/// Verbs that only read, with arguments for the user alex.
const LOOKING: &[&[&str]] = &[
    &["stats"],
    &["doctor"],
    &["session", "list", "--user", "alex"],
    &["session", "show", "--user", "alex", "s1"],
    &["session", "summaries", "--user", "alex", "s1"],
    &["turn", "show", "--user", "alex", "s1/1"],
    &["recall", "--user", "alex", "beans"],
    &["context", "--user", "alex", "hello"],
    &["why", "--user", "alex"],
    &["anchor", "list", "--user", "alex"],
    &["memory", "list", "--user", "alex"],
    &["memory", "episodes", "--user", "alex"],
    &["memory", "tags", "--user", "alex"],
    &["memory", "tend", "--user", "alex", "--dry-run"],
    &["memory", "core", "--user", "alex"],
    &["memory", "reflection", "--user", "alex"],
    &["jobs", "list"],
    &["embed", "status"],
    &["export", "--user", "alex", "-"],
];

/// Verbs that write.
const WRITING: &[&[&str]] = &[
    &["demo"],
    &["replay", "talk.jsonl", "--user", "alex"],
    &["chat", "--user", "alex"],
    &["import", "--user", "bob", "export.jsonl"],
    &["session", "end", "--user", "alex", "s2"],
    &["session", "restore", "--user", "alex", "s1"],
    &["session", "compress", "--user", "alex", "s1"],
    &["anchor", "set", "--user", "alex", "user.name", "Alex"],
    &["anchor", "retract", "--user", "alex", "user.name"],
    &["memory", "save", "--user", "alex", "It rains."],
    &["memory", "save", "--user", "alex", "--batch", "talk.jsonl"],
    &["memory", "pin", "--user", "alex", "beans"],
    &["memory", "forget", "--user", "alex", "beans"],
    &["memory", "note", "--user", "alex", "Rain"],
    &["memory", "tend", "--user", "alex"],
    &["memory", "reflect", "--user", "alex"],
    &["memory", "quarantine", "--user", "alex", "--turn", "s1/1"],
    &["jobs", "run"],
    &["jobs", "retry"],
    &["embed", "rebuild"],
    &["erase", "--user", "alex", "--yes"],
];

impl Shell {
    /// Returns the names and contents of the files in the folder.
    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        self.files().into_iter().map(|name| (name.clone(), fs::read(self.path(&name)).unwrap())).collect()
    }

    /// Runs a copy of the binary as this user, or as the user `nobody` if this user is root, who may write everything.
    #[cfg(unix)]
    fn run_as_nobody(&self, args: &[&str]) -> Ended {
        use std::os::unix::{fs::MetadataExt, fs::PermissionsExt, process::CommandExt};
        // The build folder may be closed to other users, so the binary is copied. Another process copies it: a child that
        // another test starts at the same time inherits the files that this process has open for writing, and such a file
        // cannot be run.
        let binary = tempfile::tempdir().unwrap();
        let copy = binary.path().join("thermocline");
        let mut cp = std::process::Command::new("cp");
        assert!(cp.arg(env!("CARGO_BIN_EXE_thermocline")).arg(&copy).status().unwrap().success());
        for path in [binary.path(), &copy] {
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let mut command = std::process::Command::new(&copy);
        command.args(args).current_dir(self.folder.path()).env_remove("THERMOCLINE_DB");
        if self.folder.path().metadata().unwrap().uid() == 0 {
            command.uid(65_534);
        }
        ended(&command.output().unwrap())
    }
}

#[test]
fn with_read_only_verbs_look_and_leave_everything_as_it_is() {
    let shell = Shell::with_talk();
    shell.write("talk.jsonl", "");
    assert_eq!(shell.run(&["export", "--user", "alex", "export.jsonl"]).code, 0);
    let before = shell.contents();
    for verb in LOOKING {
        let run = shell.run(&[&["--read-only"], *verb].concat());
        assert_eq!(run.code, 0, "{verb:?} {}", run.stderr);
        assert!(
            !run.stdout.contains("thermocline why") && !run.stderr.contains("receipt 0"),
            "{verb:?} {run:?}"
        );
        assert!(shell.contents() == before, "{verb:?}");
    }
    for verb in WRITING {
        let run = shell.run(&[&["--read-only"], *verb].concat());
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{verb:?}");
        assert!(
            run.stderr.contains("this verb writes, so it cannot be used with --read-only"),
            "{verb:?} {}",
            run.stderr
        );
        assert!(shell.contents() == before, "{verb:?}");
    }
    assert_eq!(shell.run(&["--read-only", "stats", "--db", "missing.db"]).code, 4);
}

#[test]
#[cfg(unix)]
fn a_file_in_a_folder_that_cannot_be_written_is_looked_at_and_writing_says_so() {
    use std::os::unix::fs::PermissionsExt;
    for (of_file, of_folder) in [(0o444, 0o555), (0o444, 0o777), (0o666, 0o555)] {
        let shell = Shell::with_talk();
        let before = shell.contents();
        fs::set_permissions(shell.path("thermocline.db"), PermissionsExt::from_mode(of_file)).unwrap();
        fs::set_permissions(shell.folder.path(), PermissionsExt::from_mode(of_folder)).unwrap();
        let runs: Vec<Ended> = LOOKING.iter().map(|verb| shell.run_as_nobody(verb)).collect();
        let end = shell.run_as_nobody(&["--json", "session", "end", "--user", "alex", "s2"]);
        fs::set_permissions(shell.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for (run, verb) in runs.iter().zip(LOOKING) {
            assert_eq!(run.code, 0, "{verb:?} {}", run.stderr);
        }
        assert_eq!(end.code, 5);
        assert!(
            end.error()["kind"] == "read_only" && end.stderr.contains("thermocline.db cannot be written"),
            "{}",
            end.stderr
        );
        assert!(shell.contents() == before, "{of_file:o} {of_folder:o}: {:?}", shell.files());
    }
}

#[test]
fn a_backends_file_is_opened_whatever_its_mark_and_a_foreign_one_is_refused() {
    let shell = Shell::with_talk();
    let mark = |file: &str, sql: &str| {
        let conn = Connection::open_with_flags(shell.path(file), OpenFlags::default()).unwrap();
        conn.execute_batch(sql).unwrap();
    };
    mark("thermocline.db", "PRAGMA application_id = 42");
    for verb in LOOKING {
        assert_eq!(shell.run(verb).code, 0, "{verb:?}");
    }
    assert_eq!(shell.run(&["session", "end", "--user", "alex", "s2"]).code, 0);
    mark("foreign.db", "PRAGMA application_id = 42; CREATE TABLE users(id BLOB PRIMARY KEY)");
    shell.write("talk.jsonl", &line("s", "1", 1, "hello", ""));
    for verb in [&["stats"][..], &["replay", "talk.jsonl", "--user", "alex"]] {
        let run = shell.run(&[&["--db", "foreign.db", "--json"], verb].concat());
        assert_eq!((run.code, run.error()["kind"].clone()), (5, json!("foreign_file")), "{verb:?}");
    }
}

impl Ended {
    /// Returns the last line of stderr, which must be an error.
    #[track_caller]
    fn error(&self) -> Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        let told: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{}", self.stderr));
        assert_eq!(told["error"]["exit_code"], self.code);
        told["error"].clone()
    }
}

#[test]
fn under_json_a_failure_is_a_line_of_json_with_the_same_exit_code() {
    let shell = Shell::with_talk();
    shell.write("bad.jsonl", &(line("s9", "n1", 1, "hello", "") + "SECRET\n"));
    shell.change("UPDATE conversation_sessions SET turn_count = 8 WHERE caller_id = 's1'");
    for (args, kind, code, words) in [
        (&["stats", "--db", "none.db"][..], "not_found", 4, "there is no memory in none.db"),
        (&["session", "list", "--user", "bob"], "not_found", 4, "thermocline.db has no user"),
        (&["anchor", "show", "--user", "alex", "user"], "invalid_input", 3, "SUBJECT.ATTRIBUTE"),
        (&["session", "compress", "--user", "alex", "s2"], "invalid_input", 3, "the session is open"),
        (&["doctor"], "unhealthy", 7, "one check failed"),
        (&["backup", "talk.jsonl"], "conflict", 3, "never replaces"),
        (&["stats", "--db", "talk.jsonl"], "corrupt", 5, "not an SQLite database"),
        (&["sing"], "usage", 2, "unrecognized subcommand"),
        (&["turn"], "usage", 2, "a verb is missing"),
        (&["context", "--user", "alex", "x", "--now", "tomorrow"], "usage", 2, "expected a time"),
    ] {
        let run = shell.run(&[&["--json"], args].concat());
        assert_eq!(run.code, code, "{args:?} {}", run.stderr);
        let error = run.error();
        assert_eq!(error["kind"], kind, "{args:?} {error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{args:?} {error}");
    }
    let error = shell.run(&["--json", "replay", "bad.jsonl", "--user", "alex"]).error();
    assert_eq!((&error["kind"], &error["line"]), (&json!("invalid_input"), &json!(2)));
    assert!(!error.to_string().contains("SECRET"), "{error}");
    assert_eq!(shell.run(&["--json", "--help"]).code, 0, "help is no failure");
}

#[test]
fn help_of_a_verb_is_what_the_verb_says_of_itself() {
    let shell = Shell::new();
    for verb in [&["replay"][..], &["session", "show"], &["jobs"], &["help"], &[]] {
        let asked = shell.run(&[&["help"], verb].concat());
        assert_eq!((asked.code, &asked), (0, &shell.run(&[verb, &["--help"]].concat())), "{verb:?}");
    }
    assert_eq!(shell.run(&["help", "sing"]).code, 2);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let shell = Shell::with_talk();
    for args in [
        &["replay", "none.jsonl", "--user", "alex"][..],
        &["replay", "none.jsonl", "--user", "alex", "--format", "openai"],
        &["import", "--user", "bob", "none.jsonl"],
        &["eval", "--user", "alex", "none.jsonl"],
        &["recall", "--user", "alex", "--batch", "none.jsonl"],
        &["export", "--user", "alex", "none.jsonl/export.jsonl"],
    ] {
        let run = shell.run(args);
        assert_eq!((run.code, run.stderr.contains("none.jsonl")), (4, true), "{args:?} {}", run.stderr);
    }
}

#[test]
fn an_error_names_the_llm_that_it_is_about() {
    let shell = Shell::with_talk();
    let said =
        |args: &[&str]| shell.run(&[args, &["--llm-url", "ftp://x", "--llm-model", "m"]].concat()).stderr;
    assert!(said(&["chat", "--user", "alex"]).contains("the base url of LLM#2"));
    assert!(said(&["jobs", "run"]).contains("the base url of LLM#1"));
    assert!(shell.run(&["jobs", "run", "--originals", "delete"]).stderr.contains("no LLM#1 is configured"));
}

#[test]
fn a_turn_of_the_future_is_recorded_only_if_that_is_meant() {
    let shell = Shell::new();
    let (good, slip) =
        (line("s", "1", 1, "hello", ""), line("s", "2", 2, "SECRET", "").replace("2026", "2062"));
    let run = shell.replay(&(good.clone() + &slip));
    assert_eq!(run.code, 3);
    for words in [
        "line 2: its date, 2062-03-01, is more than a day ahead",
        "--future",
        "the turn before it stays recorded",
    ] {
        assert!(run.stderr.contains(words) && !run.stderr.contains("SECRET"), "{}", run.stderr);
    }
    let run = shell.run(&["--json", "replay", "transcript.jsonl", "--user", "alex", "--future"]).json();
    assert_eq!((&run["turns_new"], &run["turns_known"]), (&json!(1), &json!(1)));
    let other = Shell::new();
    assert_eq!(
        (other.replay(&slip).code, other.files()),
        (3, vec!["transcript.jsonl".to_owned()]),
        "no database is made"
    );
}

/// Changes the file as if another process held the job that compresses `s1`, for this time from now.
fn held_for(shell: &Shell, span: &str) {
    let held = format!(
        "UPDATE jobs SET state = 'running', fence = fence + 1, attempts = 1,
                         next_run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '{span}') WHERE kind = 'compress'"
    );
    assert_eq!(shell.sql(OpenFlags::SQLITE_OPEN_READ_WRITE).execute(&held, []).unwrap(), 1);
}

#[test]
fn jobs_run_says_until_when_another_process_has_a_job_or_waits_for_it() {
    let shell = Shell::with_talk();
    held_for(&shell, "+40 minutes");
    let run = shell.run(&["--json", "jobs", "run"]).json();
    let held = run["held"].as_array().unwrap();
    assert_eq!((held.len(), &held[0]["kind"]), (1, &json!("compress")));
    let job = shell.run(&["--json", "jobs", "list"]).json();
    assert_eq!((&held[0]["job_no"], &held[0]["until"]), (&job[0]["job_no"], &job[0]["next_run_at"]));
    let said = shell.run(&["jobs", "run"]).stdout;
    assert!(
        said.contains("Another process holds job ")
            && said.contains(" (compress) until 20")
            && said.contains("--wait"),
        "{said}"
    );

    held_for(&shell, "+0.3 seconds");
    let run = shell.run(&["--json", "jobs", "run", "--wait"]).json();
    assert_eq!((&run["done"], &run["held"]), (&json!(1), &json!([])));
    assert!(shell.run(&["--json", "jobs", "list"]).json().as_array().unwrap().is_empty());
}
