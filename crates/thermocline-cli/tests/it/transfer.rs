//! `thermocline export` and `import`: they move a user's memory from one file to another, and refuse invalid input.

use std::{fs, io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::shell::{Shell, ended};

const EXPORT: &[&str] = &["export", "--user", "alex", "alex.jsonl"];
const IMPORT: &[&str] = &["--db", "other.db", "import", "--user", "alex", "alex.jsonl"];

impl Shell {
    /// Returns a folder with the memory of alex, and an export of it.
    fn with_export() -> Self {
        let shell = Self::with_talk();
        assert_eq!(shell.run(&["anchor", "set", "--user", "alex", "user.home", "Lisbon"]).code, 0);
        let run = shell.run(EXPORT);
        assert_eq!((run.code, &*run.stderr), (0, ""));
        assert!(run.stdout.starts_with("alex.jsonl\n  sessions                    2\n"), "{}", run.stdout);
        shell
    }

    fn export(&self) -> String {
        fs::read_to_string(self.path("alex.jsonl")).unwrap()
    }
}

#[test]
fn what_was_imported_is_exported_to_the_same_bytes() {
    let shell = Shell::with_export();
    let imported = shell.run(&[&["--json"], IMPORT].concat()).json();
    let counts =
        ["sessions", "turns", "summaries", "anchors", "derivations"].map(|what| imported[what].clone());
    assert_eq!(counts, [2, 9, 0, 1, 1]);
    let again = shell.run(&["--db", "other.db", "export", "--user", "alex", "-"]);
    assert_eq!((again.code, again.stdout), (0, shell.export()));
    assert!(again.stderr.starts_with("sessions 2, turns 9, summaries 0, anchors 1, "), "{}", again.stderr);
    assert_eq!(shell.run(&["--db", "other.db", "doctor"]).code, 0);
    let list = shell.run(&["--db", "other.db", "--json", "anchor", "list", "--user", "alex"]).json();
    assert_eq!(list[0]["value"], "Lisbon");
}

#[test]
fn an_export_may_come_from_a_pipe() {
    let shell = Shell::with_export();
    let mut command = shell.command(&["--db", "other.db", "--json", "import", "--user", "nora", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(shell.export().as_bytes()).unwrap();
    assert_eq!(ended(&child.wait_with_output().unwrap()).json()["turns"], 9);
}

#[test]
fn each_line_of_an_export_is_json_and_only_its_owner_may_read_it() {
    let shell = Shell::with_export();
    let lines: Vec<Value> = shell.export().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["line"], &lines.last().unwrap()["line"]), (&json!("memory"), &json!("end")));
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(shell.path("alex.jsonl")).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
    let written = shell.run(&["--json", "export", "--user", "alex", "again.jsonl"]).json();
    assert_eq!((&written["file"], &written["turns"]), (&json!("again.jsonl"), &json!(9)));
}

#[test]
fn an_export_replaces_nothing() {
    let shell = Shell::with_export();
    let before = shell.export();
    assert_eq!(shell.run(EXPORT).code, 3);
    assert_eq!(shell.export(), before);
    assert_eq!(shell.run(&["export", "--user", "alex", "no/such/folder.jsonl"]).code, 4);
    assert_eq!(shell.run(&["export", "--user", "bob", "bob.jsonl"]).code, 4);
    assert_eq!(shell.files(), ["alex.jsonl", "talk.jsonl", "thermocline.db"]);
}

#[test]
fn what_is_no_export_makes_no_database() {
    let shell = Shell::new();
    for text in ["", "SECRET", "{\"line\":\"turn\",\"user_message\":\"SECRET\"}\n", "[1]\n"] {
        shell.write("alex.jsonl", text);
        let run = shell.run(IMPORT);
        assert_eq!((run.code, &*run.stdout), (3, ""), "{text}");
        assert!(!run.stderr.contains("SECRET"), "{}", run.stderr);
        assert_eq!(shell.files(), ["alex.jsonl"]);
    }
    assert_eq!(shell.run(&["import", "--user", "alex", "missing.jsonl"]).code, 4);
    assert_eq!(shell.run(&["import", "--user", "alex", "."]).code, 5);
}

#[test]
fn an_import_is_whole_or_changes_nothing() {
    let shell = Shell::with_export();
    // The file already has this user.
    let before = shell.rows();
    let run = shell.run(&["import", "--user", "alex", "alex.jsonl"]);
    assert_eq!((run.code, &*run.stdout), (3, ""), "{}", run.stderr);
    assert_eq!(shell.rows(), before);
    // An export that is cut short, or changed, is refused.
    let whole = shell.export();
    let cut = whole.lines().count() - 1;
    let short: String = whole.lines().take(cut).flat_map(|line| [line, "\n"]).collect();
    let wrong = whole.replacen("\"user_message_tokens\":", "\"user_message_tokens\":1", 1);
    for text in [short, wrong] {
        shell.write("alex.jsonl", &text);
        let run = shell.run(IMPORT);
        assert_eq!((run.code, &*run.stdout), (3, ""), "{}", run.stderr);
        assert!(!run.stderr.contains("planted"), "{}", run.stderr);
        assert_eq!(shell.run(&["--db", "other.db", "session", "list", "--user", "alex"]).code, 4);
    }
}
