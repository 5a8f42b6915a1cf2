//! `thermocline call` runs any operation from a shell.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::shell::{Ended, Shell, ended};

/// Runs the command with this on stdin.
fn with_input(mut command: Command, input: &str) -> Ended {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    ended(&child.wait_with_output().unwrap())
}

#[test]
fn an_operation_answers_as_json_what_it_would_over_http() {
    let shell = Shell::with_talk();
    let sessions = shell.run(&["call", "session_list", "--user", "alex"]).json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 2);
    let asked = json!({ "session": "s1", "limit": 3 }).to_string();
    let turns = shell.run(&["call", "turn_list", "--user", "alex", &asked]).json();
    assert_eq!(turns["items"].as_array().unwrap().len(), 3);
    assert!(turns["next_cursor"].is_string());
}

#[test]
fn a_request_may_come_through_stdin() {
    let shell = Shell::with_talk();
    let said =
        json!({ "session": "s3", "caller_id": "m", "user_message": "A boat with a 'quote'." }).to_string();
    let record = || with_input(shell.command(&["call", "record", "--user", "alex", "-"]), &said).json();
    assert_eq!((record()["outcome"].clone(), record()["outcome"].clone()), (json!("new"), json!("known")));
}

#[test]
fn what_a_program_saves_is_no_word_of_the_users() {
    let shell = Shell::with_talk();
    let memory = json!({ "title": "Lamp", "content": "The lamp in the hall is broken." }).to_string();
    let saved = shell.run(&["call", "memory_save", "--user", "alex", &memory]).json();
    assert_eq!(saved["memory"]["origin"], "assistant");
    let memory = json!({ "title": "Kettle", "content": "The kettle leaks.", "origin": "user" }).to_string();
    let refused = shell.run(&["call", "memory_save", "--user", "alex", &memory]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("/origin"), "{}", refused.stderr);
}

#[test]
fn an_export_is_lines_on_stdout_and_an_import_reads_them() {
    let shell = Shell::with_talk();
    let exported = shell.run(&["call", "user_export", "--user", "alex"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let lines: Vec<Value> = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 7);
    let other = Shell::new();
    let imported = with_input(
        other.command(&["call", "user_import", "--user", "alex", "--origin", "user"]),
        &exported.stdout,
    )
    .json();
    assert!(imported["turns"].as_u64().unwrap() >= 7);
    assert_eq!(other.run(&["call", "user_export", "--user", "alex"]).stdout, exported.stdout);
}

#[test]
fn it_runs_no_job_beside_what_it_was_asked() {
    let shell = Shell::with_talk();
    let waiting = || shell.run(&["jobs", "list", "--json"]).json();
    let before = waiting();
    assert_eq!(before.as_array().unwrap().len(), 1, "{before}");
    for _ in 0..5 {
        assert_eq!(shell.run(&["call", "user_export", "--user", "alex"]).code, 0);
    }
    assert_eq!(waiting(), before);
}

#[test]
fn the_list_the_schemas_and_the_document_are_those_of_the_table() {
    let shell = Shell::new();
    let list = shell.run(&["call", "--list", "--json"]).json();
    let document = shell.run(&["call", "--openapi"]).json();
    let text = shell.run(&["call", "--list"]).stdout;
    let listed = list.as_array().unwrap();
    assert!(listed.len() > 80);
    for row in listed {
        let [name, method, path, scope] =
            ["name", "method", "path", "scope"].map(|field| row[field].as_str().unwrap());
        let operation = &document["paths"][path][method.to_lowercase()];
        assert_eq!(operation["operationId"], name);
        assert_eq!(operation["security"][0]["bearer"], json!([scope]));
        let line =
            text.lines().find(|line| line.split_whitespace().next() == Some(name)).expect("it is listed");
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), [name, scope, method, path]);
    }
    let schemas = shell.run(&["call", "record", "--schema"]).json();
    assert_eq!(schemas["request"]["required"], json!(["user_message"]));
    assert!(schemas["response"].to_string().contains("turn_number"));
    assert!(shell.files().is_empty(), "looking makes no file");
}

#[test]
fn what_is_wrong_says_what_to_do_and_ends_with_its_code() {
    let shell = Shell::with_talk();
    for (args, code, says) in [
        (&["call", "session_lst", "--user", "alex"][..], 4, "--list"),
        (&["call", "session_list"], 2, "--user"),
        (&["call", "stats", "--user", "alex"], 2, "takes no --user"),
        (&["call", "session_list", "--user", "alex", "{"], 2, "not valid JSON"),
        (&["call", "session_list", "--user", "alex", "[]"], 2, "not valid for this operation"),
        (
            &["call", "recall", "--user", "alex", r#"{"query":"a","filter":{"projct":"b"}}"#],
            2,
            "/filter/projct",
        ),
        (&["call", "session_list", "--user", "alex", r#"{"limit":0}"#], 3, "/limit"),
        (&["call", "session_list", "--user", "blake"], 4, "no such thing"),
        (&["call", "session_end", "--user", "alex", r#"{"session":"s9"}"#], 4, "no such thing"),
        (&["call", "backup", r#"{"name":"copy.db"}"#], 5, "no folder for backups"),
        (&["call"], 2, "<OPERATION>"),
    ] {
        let refused = shell.run(args);
        assert_eq!(refused.code, code, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{args:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn only_an_operation_that_adds_something_makes_a_file() {
    let shell = Shell::new();
    for args in [
        &["session_list", "--user", "alex"][..],
        &["memory_edit", "--user", "alex", r#"{"memory":"key:m","title":"New"}"#],
        &["user_erase", "--user", "alex"],
        &["stats"],
        &["job_run"],
    ] {
        let refused = shell.run(&[&["--db", "mistyped.db", "call"], args].concat());
        assert_eq!(refused.code, 4, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("there is no memory in mistyped.db"), "{args:?}: {}", refused.stderr);
    }
    assert!(shell.files().is_empty(), "{:?}", shell.files());
    let said = json!({ "user_message": "The boat leaks." }).to_string();
    assert_eq!(shell.run(&["--db", "new.db", "call", "record", "--user", "alex", &said]).code, 0);
    assert!(shell.path("new.db").exists());
}
