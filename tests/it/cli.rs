//! The binary, run as a person or a script runs it: what it prints, what it leaves alone, how it ends.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
};

use rusqlite::{Connection, OpenFlags, types::Value as SqlValue};
use serde_json::{Value, json};
use tempfile::TempDir;
use thermocline::Tokenizer;

/// A folder that the binary runs in, and that goes with the test.
struct Shell {
    folder: TempDir,
}

/// How a run ended, and what it printed.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ended {
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

impl Shell {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder whose `thermocline.db` holds a short talk of alex: `s1` with seven turns, then the open `s2`.
    fn with_talk() -> Self {
        /// Recorded once for all tests: a process that counts tokens reads the tokenizer's tables first.
        static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
        let shell = Self::new();
        shell.write("talk.jsonl", &talk());
        let recorded = RECORDED.get_or_init(|| {
            assert_eq!(shell.run(&["replay", "talk.jsonl", "--user", "alex"]).code, 0);
            assert_eq!(shell.files(), ["talk.jsonl", "thermocline.db"], "all is in the one file");
            fs::read(shell.path("thermocline.db")).unwrap()
        });
        fs::write(shell.path("thermocline.db"), recorded).unwrap();
        shell
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thermocline"));
        command.args(args).current_dir(self.folder.path()).env_remove("THERMOCLINE_DB");
        command.env("TMPDIR", self.folder.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        ended(&self.command(args).output().unwrap())
    }

    /// Replays `transcript` for alex.
    fn replay(&self, transcript: &str) -> Ended {
        self.write("transcript.jsonl", transcript);
        self.run(&["replay", "transcript.jsonl", "--user", "alex"])
    }

    fn sql(&self, flags: OpenFlags) -> Connection {
        Connection::open_with_flags(self.path("thermocline.db"), flags).unwrap()
    }

    fn change(&self, sql: &str) {
        assert!(self.sql(OpenFlags::SQLITE_OPEN_READ_WRITE).execute(sql, []).unwrap() > 0, "{sql}");
    }

    /// Every row of every table.
    fn rows(&self) -> Vec<String> {
        let conn = self.sql(OpenFlags::SQLITE_OPEN_READ_ONLY);
        let of_table = |table: String| {
            let mut stmt = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = stmt.column_count();
            let row = |row: &rusqlite::Row<'_>| {
                let values: Vec<SqlValue> = (0..columns).map(|i| row.get(i).unwrap()).collect();
                Ok(format!("{table} {values:?}"))
            };
            stmt.query_map([], row).unwrap().collect::<rusqlite::Result<Vec<_>>>().unwrap()
        };
        let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
        let tables: Vec<String> =
            tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        tables.into_iter().flat_map(of_table).collect()
    }

    /// The names of what lies in the folder.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn ended(output: &std::process::Output) -> Ended {
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// A line of a transcript, said `minute` minutes after noon.
fn line(session: &str, id: &str, minute: u32, user: &str, assistant: &str) -> String {
    let at = format!("2026-03-01T12:{minute:02}:00Z");
    json!({"session": session, "id": id, "at": at, "user": user, "assistant": assistant}).to_string() + "\n"
}

fn talk() -> String {
    let mut text = String::new();
    for n in 1..=7 {
        text +=
            &line("s1", &format!("a{n}"), n, &format!("I planted row {n} of beans."), "Water them at dusk.");
    }
    text + &line("s2", "b1", 30, "The beans are up!", "")
        + "\n"
        + &line("s2", "b2", 31, "All of them.", "Good.")
}

/// The verbs that need a file, as alex would call them.
const VERBS: &[&[&str]] = &[
    &["context", "--user", "alex", "hello"],
    &["session", "list", "--user", "alex"],
    &["session", "show", "--user", "alex", "s1"],
    &["session", "end", "--user", "alex", "s2"],
    &["turn", "show", "--user", "alex", "s1/1"],
    &["stats"],
    &["doctor"],
    &["backup", "copy.db"],
];

#[test]
fn the_demo_reads_the_same_on_every_run() {
    let (first, second) = (Shell::new(), Shell::new());
    let shown = first.run(&["--db", "demo.db", "demo"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert_eq!(shown, second.run(&["--db", "demo.db", "demo"]));
    for word in ["(turn_limit)", "(token_budget)", "(session_end)", "two half hitches", " of 560 tokens"] {
        assert!(shown.stdout.contains(word), "{word}");
    }
    let widest = shown.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns");
}

#[test]
fn what_the_demo_says_to_try_works() {
    let shell = Shell::new();
    let shown = shell.run(&["--db", "thermocline.db", "demo"]).stdout;
    let question =
        shown.lines().find(|line| line.contains("sqlite3 -readonly")).unwrap().split('"').nth(1).unwrap();
    let conn = shell.sql(OpenFlags::SQLITE_OPEN_READ_ONLY);
    assert!(conn.prepare(question).unwrap().exists([]).unwrap(), "{question}");
    assert_eq!(shell.run(&["session", "show", "--user", "demo", "the-letter"]).code, 0);
    assert_eq!(shell.run(&["doctor"]).code, 0);
}

#[test]
fn a_demo_without_a_file_lies_in_a_folder_of_its_own() {
    let shell = Shell::new();
    // The file of every day is not the place for a story.
    let output = shell.command(&["--json", "demo"]).env("THERMOCLINE_DB", "daily.db").output().unwrap();
    let told = ended(&output).json();
    assert!(told["file"].as_str().unwrap().ends_with("demo.db"), "{}", told["file"]);
    assert!(PathBuf::from(told["file"].as_str().unwrap()).exists());
    assert!(!shell.path("daily.db").exists());
    assert!(told["context"]["tokens"].as_u64() <= told["context"]["budget_tokens"].as_u64());
}

#[test]
fn the_demo_does_not_tell_its_story_twice_into_one_file() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["--db", "thermocline.db", "demo"]).code, 0);
    let before = shell.rows();
    assert_eq!(shell.run(&["--db", "thermocline.db", "demo"]).code, 3);
    assert_eq!(shell.rows(), before);
}

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
        // The ids stand in the second line.
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

/// Lines that must stop a replay. Each stands between a good line, which the file already knows, and another one.
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

/// A line of another session, with one field changed.
fn changed(field: &str, value: &Value) -> String {
    let mut line = json!({"session": "SECRET-s", "id": "SECRET-id", "at": "2026-03-01T12:02:00Z",
        "user": "SECRET-user", "assistant": "SECRET-assistant", "user_name": "SECRET-name"});
    line[field] = value.clone();
    line.to_string()
}

#[test]
fn a_line_that_is_no_json_object_stops_the_replay() {
    let bad = BadLines::new();
    bad.check(r#"{"session": SECRET"#, "no JSON: expected value at column 13");
    bad.check(r#"{"session":"SECRET","user":"\ud800","id":"SECRET"}"#, "no JSON");
    bad.check(r#"{"session":"SECRET"} SECRET"#, "no JSON: trailing characters");
    bad.check("SECRET", "no JSON");
    bad.check("[\"SECRET\"]", "no JSON object");
    bad.check("\"SECRET\"", "no JSON object");
}

#[test]
fn a_field_of_the_wrong_type_stops_the_replay() {
    let bad = BadLines::new();
    for field in ["session", "id", "user", "assistant", "at", "user_name", "assistant_name"] {
        for value in [json!(17), json!(["SECRET"]), json!({"SECRET": 1}), json!(true)] {
            bad.check(&changed(field, &value), &format!("the field {field} is no string"));
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
        bad.check(&changed(field, &Value::Null), &format!("the field {field} is no string"));
    }
}

#[test]
fn a_time_that_never_was_stops_the_replay() {
    let bad = BadLines::new();
    for at in ["2026-02-30T12:00:00Z", "SECRET", "", "2026-03-01", "2026-03-01T12:00:00", "1772366400"] {
        bad.check(&changed("at", &json!(at)), "the field at is no time");
    }
    bad.check(&changed("at", &json!("0000-01-01T00:00:00Z")), "year");
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
        assert!(run.stderr.contains("line 3: its session was ended by a line before"), "{}", run.stderr);
        assert_eq!(shell.rows(), before);
    }
    // Ended by an earlier run, that is.
    let run = shell.replay(&line("s1", "3", 3, "SECRET", ""));
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("line 1: its session has ended and never reopens"), "{}", run.stderr);
    assert_eq!(shell.rows(), before);
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

#[test]
fn verbs_on_a_missing_file_create_nothing() {
    let shell = Shell::new();
    for verb in VERBS {
        let run = shell.run(verb);
        assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{verb:?}");
        assert!(run.stderr.contains("thermocline.db") && run.stderr.contains("--db"), "{}", run.stderr);
    }
    assert_eq!(shell.files(), [""; 0]);
    shell.write("thermocline.db", "");
    for verb in VERBS {
        assert_eq!(shell.run(verb).code, 4, "{verb:?}");
    }
    assert_eq!(
        (shell.files(), fs::read(shell.path("thermocline.db")).unwrap()),
        (vec!["thermocline.db".to_owned()], vec![])
    );
}

#[test]
fn verbs_that_read_change_no_row() {
    let shell = Shell::with_talk();
    let before = shell.rows();
    for verb in VERBS.iter().filter(|verb| !verb.contains(&"end")) {
        assert_eq!(shell.run(verb).code, 0, "{verb:?}");
    }
    for nobody in ["bob", "", "01890000-0000-7000-8000-000000000001"] {
        assert_eq!(shell.run(&["context", "--user", nobody, "hello"]).code, 4, "{nobody:?}");
        assert_eq!(shell.run(&["session", "end", "--user", nobody, "s2"]).code, 4, "{nobody:?}");
    }
    assert_eq!(shell.rows(), before);
}

#[test]
fn a_context_never_exceeds_its_budget() {
    let shell = Shell::with_talk();
    for budget in ["0", "60", "90", "300"] {
        let message = "You said earlier that I should water the beans?";
        let args = ["context", "--user", "alex", "--session", "s1", "--budget-tokens", budget, message];
        let context = shell.run(&[&["--json"], &args[..]].concat()).json();
        let (text, tokens) = (context["text"].as_str().unwrap(), context["tokens"].as_u64().unwrap());
        assert_eq!(tokens, u64::from(Tokenizer::O200kBase.count(text)));
        assert!(tokens <= budget.parse().unwrap(), "{tokens} of {budget}");
        assert!(tokens > 0 || budget < "9", "{tokens} of {budget}");
    }
}

#[test]
fn a_context_is_all_of_stdout_and_the_talk_is_one_line() {
    let shell = Shell::with_talk();
    let args = ["context", "--user", "alex", "--session", "s1", "--now", "2026-03-02", "And?"];
    let context = shell.run(&[&["--json"], &args[..]].concat()).json();
    let shown = shell.run(&args);
    assert_eq!((shown.code, shown.stdout.as_str()), (0, context["text"].as_str().unwrap()));
    assert_eq!(shown.stderr, format!("{} of 4,400 tokens, 7 turns\n", context["tokens"]));
}

#[test]
fn a_context_is_of_the_newest_session_unless_another_is_named() {
    let shell = Shell::with_talk();
    let newest = shell.run(&["context", "--user", "alex", "And now?", "--now", "2026-03-02T08:00:00+01:00"]);
    assert!(
        newest.stdout.contains("The beans are up!") && !newest.stdout.contains("I planted"),
        "{}",
        newest.stdout
    );
    assert!(newest.stdout.ends_with("<now: 2026-03-02 07:00 UTC>\n"), "{}", newest.stdout);
    let first = shell.run(&["context", "--user", "alex", "And now?", "--session", "s1"]);
    assert!(first.stdout.contains("I planted row 7 of beans."), "{}", first.stdout);
}

#[test]
fn a_turn_is_found_by_each_of_its_names() {
    let shell = Shell::with_talk();
    let show = |name: &str| shell.run(&["--json", "turn", "show", "--user", "alex", name]);
    let turn = show("s1/3").json();
    assert_eq!(turn["user_message"], "I planted row 3 of beans.");
    assert_eq!(show("a3").json(), turn);
    assert_eq!(show(turn["id"].as_str().unwrap()).json(), turn);
    assert_eq!(show(&format!("{}/3", turn["session_id"].as_str().unwrap())).json(), turn);
    for name in ["s1/0", "s1/8", "s9/1", "x", "s1/", "/3", "01890000-0000-7000-8000-000000000001"] {
        assert_eq!(show(name).code, 4, "{name}");
    }
}

#[test]
fn a_session_shows_its_turns_by_tier_and_why_they_moved() {
    let shell = Shell::with_talk();
    let shown = shell.run(&["session", "show", "--user", "alex", "s1"]).stdout;
    assert!(shown.contains("moved    5 turns hot -> warm (session_end)\n"), "{shown}");
    assert!(shown.contains("moved    2 turns hot -> warm (turn_limit)\n"), "{shown}");
    assert!(shown.contains("\nwarm: 7 turns, "), "{shown}");
    assert!(
        shown.contains("     1  2026-03-01 12:01      13  turn_limit    User: I planted row 1 of beans.\n"),
        "{shown}"
    );
    let json = shell.run(&["--json", "session", "show", "--user", "alex", "s1", "--last", "3"]).json();
    let places: Vec<_> = json["turns"].as_array().unwrap().iter().map(|turn| &turn["turn_number"]).collect();
    assert_eq!(places, [5, 6, 7]);
    assert_eq!(json["transitions"].as_array().unwrap().len(), 3);
}

#[test]
fn ending_a_session_says_so_and_happens_once() {
    let shell = Shell::with_talk();
    let end = || shell.run(&["--json", "session", "end", "--user", "alex", "s2"]).json();
    let info = end();
    assert_eq!(
        (&info["end_reason"], &info["memory_tier"], &info["turn_count"]),
        (&json!("call"), &json!("warm"), &json!(2))
    );
    assert_eq!(end(), info);
}

#[test]
fn a_key_names_its_own_session_and_leads_to_where_it_went_on() {
    let shell = Shell::with_talk();
    shell.change("UPDATE conversation_sessions SET last_active_at = '2020-01-01T00:00:00.000Z'");
    // A day of silence had ended s2: what comes now is the beginning of its successor.
    assert_eq!(shell.replay(&(talk() + &line("s2", "b3", 40, "First flowers.", ""))).code, 0);
    let caller_ids = shell.run(&["--json", "session", "list", "--user", "alex"]).json();
    assert_eq!((&caller_ids[0]["caller_id"], &caller_ids[0]["part"]), (&"s2".into(), &2.into()));
    assert!(shell.run(&["session", "show", "--user", "alex", "s2"]).stdout.contains("First flowers."));
    let first_part = caller_ids[1]["id"].as_str().unwrap();
    assert!(shell.run(&["session", "show", "--user", "alex", first_part]).stdout.contains("All of them."));
    let context = shell.run(&["context", "--user", "alex", "--session", "s2", "And?"]).stdout;
    assert!(context.contains("First flowers.") && !context.contains("All of them."), "{context}");
    // And replaying all of it still changes nothing.
    let before = shell.rows();
    assert_eq!(shell.replay(&(talk() + &line("s2", "b3", 40, "First flowers.", ""))).code, 0);
    assert_eq!(shell.rows(), before);
}

#[test]
fn a_user_can_be_named_by_id() {
    let shell = Shell::new();
    shell.write("talk.jsonl", &talk());
    let id = "01890000-0000-7000-8000-000000000001";
    assert_eq!(shell.run(&["replay", "talk.jsonl", "--user", id]).code, 0);
    assert_eq!(shell.run(&["session", "show", "--user", id, "s1"]).code, 0);
    shell.change(&format!("UPDATE users SET name = '{}'", "01890000-0000-7000-8000-000000000002"));
    // And a name may look like an id.
    assert_eq!(
        shell.run(&["session", "show", "--user", "01890000-0000-7000-8000-000000000002", "s1"]).code,
        0
    );
}

#[test]
fn the_file_may_come_from_the_environment() {
    let shell = Shell::with_talk();
    fs::rename(shell.path("thermocline.db"), shell.path("other.db")).unwrap();
    let with = |value| shell.command(&["stats"]).env("THERMOCLINE_DB", value).output().unwrap().status.code();
    assert_eq!((with("other.db"), with(""), with("missing.db")), (Some(0), Some(4), Some(4)));
    assert_eq!(shell.run(&["stats", "--db", "other.db"]).code, 0);
}

#[test]
fn nothing_that_users_wrote_commands_the_terminal() {
    let shell = Shell::new();
    let evil = "a\u{1b}[31m\u{1b}]0;t\u{7}b\u{9b}2J\u{202e}c\u{7f}\r\n\u{8}d";
    let line = json!({"session": evil, "id": evil, "user": evil, "assistant": evil, "user_name": evil,
        "assistant_name": evil});
    assert_eq!(shell.replay(&line.to_string()).code, 0);
    for verb in [
        &["session", "list", "--user", "alex"][..],
        &["session", "show", "--user", "alex", evil],
        &["turn", "show", "--user", "alex", evil],
        &["context", "--user", "alex", "hello"],
        &["session", "end", "--user", "alex", evil],
    ] {
        for args in [verb.to_vec(), [&["--json"], verb].concat()] {
            let run = shell.run(&args);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let commands = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!run.stdout.contains(commands) && !run.stderr.contains(commands), "{args:?} {run:?}");
        }
    }
    let turn = shell.run(&["--json", "turn", "show", "--user", "alex", evil]).json();
    assert_eq!(turn["user_message"], evil);
}

#[test]
fn each_way_to_fail_has_its_exit_code() {
    let shell = Shell::with_talk();
    shell.write("foreign.db", "this is no database, and long enough to look at, at least for SQLite's header of 100 bytes: it is text");
    shell.write("ended.jsonl", &line("s1", "new", 9, "SECRET", ""));
    for (args, code) in [
        (&["stats"][..], 0),
        (&["--version"], 0),
        (&[], 2),
        (&["sing"], 2),
        (&["context", "--user", "alex"], 2),
        (&["context", "--user", "alex", "x", "--now", "tomorrow"], 2),
        (&["context", "--user", "alex", "x", "--budget-tokens", "-1"], 2),
        (&["replay", "ended.jsonl", "--user", "alex"], 3),
        (&["backup", "talk.jsonl"], 3),
        (&["session", "show", "--user", "alex", "s3"], 4),
        (&["session", "list", "--user", "Alex"], 4),
        (&["stats", "--db", "foreign.db"], 5),
        (&["backup", "no/such/folder/copy.db"], 4),
    ] {
        let run = shell.run(args);
        assert_eq!(run.code, code, "{args:?} {}", run.stderr);
        assert!(code == 0 || code == 2 || run.stderr.starts_with("thermocline: failed: "), "{}", run.stderr);
    }
}

#[test]
fn doctor_exits_with_7_where_a_count_is_wrong() {
    let shell = Shell::with_talk();
    shell.change("UPDATE conversation_sessions SET turn_count = 8 WHERE caller_id = 's1'");
    let run = shell.run(&["doctor"]);
    assert_eq!(run.code, 7);
    assert!(
        run.stdout.contains("1 problem     a session's turn_count counts the turns recorded in it\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("ok            the pages of the file are sound\n"), "{}", run.stdout);
    let json = shell.run(&["--json", "doctor"]);
    assert_eq!(
        (json.code, serde_json::from_str::<Value>(&json.stdout).unwrap()["healthy"].clone()),
        (7, json!(false))
    );
}

#[test]
fn a_backup_is_sound_and_replaces_nothing() {
    let shell = Shell::with_talk();
    let written = shell.run(&["--json", "backup", "copy.db"]).json();
    assert_eq!(written["bytes"], fs::metadata(shell.path("copy.db")).unwrap().len());
    assert_eq!(shell.run(&["--db", "copy.db", "doctor"]).code, 0);
    let show = |db| shell.run(&["--db", db, "--json", "session", "show", "--user", "alex", "s1"]).json();
    assert_eq!(show("copy.db"), show("thermocline.db"));
    assert_eq!(shell.run(&["backup", "copy.db"]).code, 3);
}

#[test]
fn the_help_of_every_verb_has_an_example() {
    let shell = Shell::new();
    for verb in [
        &["demo"][..],
        &["replay"],
        &["context"],
        &["session"],
        &["session", "list"],
        &["session", "show"],
        &["session", "end"],
        &["turn"],
        &["turn", "show"],
        &["stats"],
        &["doctor"],
        &["backup"],
        &["completions"],
        &[],
    ] {
        for help in ["-h", "--help"] {
            let run = shell.run(&[verb, &[help]].concat());
            let example = format!("thermocline {}", verb.join(" "));
            let examples = run.stdout.split("Example").nth(1).unwrap_or_default();
            assert!(run.code == 0 && examples.contains(example.trim_end()), "{verb:?} {help}");
        }
    }
    let help = shell.run(&["--help"]).stdout;
    assert!(help.contains("Exit codes:") && help.contains("THERMOCLINE_DB"), "{help}");
}

#[test]
fn completions_are_made_for_every_shell() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish"] {
        let run = shell.run(&["completions", name]);
        assert!(run.code == 0 && run.stdout.contains("replay"), "{name}");
    }
    assert_eq!(shell.run(&["completions", "cmd.exe"]).code, 2);
}

#[test]
fn a_reader_who_goes_away_is_no_failure() {
    let shell = Shell::with_talk();
    let mut command = shell.command(&["session", "show", "--user", "alex", "s1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}
