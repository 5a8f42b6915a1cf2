//! The binary's output, the files that it leaves alone, and its exit codes.

use std::{fs, path::PathBuf, process::Stdio};

use rusqlite::OpenFlags;
use serde_json::{Value, json};
use thermocline::{Config, Tokenizer};

use crate::shell::{Shell, ended, line, talk};

/// Verbs that change nothing in the file except receipts, with arguments for the user alex.
const READING: &[&[&str]] = &[
    &["context", "--user", "alex", "hello"],
    &["recall", "--user", "alex", "beans"],
    &["why", "--user", "alex"],
    &["embed", "status"],
    &["session", "list", "--user", "alex"],
    &["session", "show", "--user", "alex", "s1"],
    &["session", "turns", "--user", "alex", "s1"],
    &["user", "list"],
    &["session", "summaries", "--user", "alex", "s1"],
    &["turn", "show", "--user", "alex", "s1/1"],
    &["anchor", "list", "--user", "alex", "--all"],
    &["memory", "list", "--user", "alex", "--all"],
    &["memory", "episodes", "--user", "alex"],
    &["memory", "tags", "--user", "alex"],
    &["memory", "tend", "--user", "alex", "--dry-run"],
    &["memory", "core", "--user", "alex"],
    &["memory", "reflection", "--user", "alex"],
    &["memory", "forget", "--user", "alex", "--tag", "beans", "--dry-run"],
    &["jobs", "list"],
    &["jobs", "retry"],
    &["stats"],
    &["doctor"],
    &["backup", "copy.db"],
    &["export", "--user", "alex", "-"],
];

/// Other verbs that need a file.
const OTHERS: &[&[&str]] = &[
    &["session", "end", "--user", "alex", "s2"],
    &["session", "restore", "--user", "alex", "s1"],
    &["session", "compress", "--user", "alex", "s1"],
    &["anchor", "show", "--user", "alex", "user.name"],
    &["anchor", "set", "--user", "alex", "user.name", "Alex"],
    &["anchor", "retract", "--user", "alex", "user.name"],
    &["memory", "show", "--user", "alex", "beans"],
    &["memory", "edit", "--user", "alex", "beans", "--title", "Beans"],
    &["memory", "pin", "--user", "alex", "beans"],
    &["memory", "undo", "--user", "alex", "beans"],
    &["memory", "forget", "--user", "alex", "beans"],
    &["memory", "erase", "--user", "alex", "beans", "--yes"],
    &["memory", "supersede", "--user", "alex", "beans", "Peas"],
    &["memory", "relate", "--user", "alex", "beans", "follows", "peas"],
    &["memory", "neighbours", "--user", "alex", "beans"],
    &["memory", "history", "--user", "alex", "beans"],
    &["memory", "note", "--user", "alex", "Rain"],
    &["memory", "tend", "--user", "alex"],
    &["memory", "reflect", "--user", "alex"],
    &["memory", "quarantine", "--user", "alex", "--turn", "s1/1"],
    &["memory", "lift", "--user", "alex", "019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e"],
    &["memory", "undo", "--user", "alex", "--group", "019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e"],
    &["jobs", "run"],
    &["embed", "rebuild"],
    &["jobs", "compress-again", "--user", "alex", "--llm-url", "http://localhost:9/v1", "--llm-model", "m"],
    &["jobs", "retry", "1"],
    &["erase", "--user", "alex", "--yes"],
];

#[test]
fn the_demo_reads_the_same_on_every_run() {
    let (first, second) = (Shell::new(), Shell::new());
    let shown = first.run(&["--db", "demo.db", "demo"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert_eq!(shown, second.run(&["--db", "demo.db", "demo"]));
    for word in [
        "(turn_limit)",
        "(token_budget)",
        "(session_end)",
        "(compression)",
        "nora.family: sister Ida",
        "Memory (decision",
        "two half hitches",
        "Tallow on the leather",
        " of 380 tokens",
    ] {
        assert!(shown.stdout.contains(word), "{word}");
    }
    // The output fits on one and a half screens of 50 lines. The commands to type may be as long as a path, so only the
    // lines before them are limited in width.
    assert!(shown.stdout.lines().count() <= 75, "{}", shown.stdout);
    let story = shown.stdout.split("Look into it").next().unwrap();
    let widest = story.lines().map(|line| line.chars().count()).max().unwrap();
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
    let typed =
        shown.lines().filter_map(|line| line.split_once(" --db thermocline.db ")).map(|(_, words)| words);
    let mut ran = 0;
    for words in typed.filter(|words| !words.contains("chat")) {
        let run = shell.run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{words}: {}", run.stderr);
        ran += 1;
    }
    assert_eq!(ran, 2, "{shown}");
    assert_eq!(shell.run(&["doctor"]).code, 0);
}

#[test]
fn a_demo_without_a_file_lies_in_a_folder_of_its_own() {
    let shell = Shell::new();
    // The demo does not use the file that `THERMOCLINE_DB` names, because that is the file of daily use.
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
fn verbs_on_a_missing_file_create_nothing() {
    let shell = Shell::new();
    for verb in READING.iter().chain(OTHERS) {
        let run = shell.run(verb);
        assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{verb:?}");
        assert!(run.stderr.contains("thermocline.db") && run.stderr.contains("--db"), "{}", run.stderr);
    }
    assert_eq!(shell.files(), [""; 0]);
    shell.write("thermocline.db", "");
    for verb in READING.iter().chain(OTHERS) {
        assert_eq!(shell.run(verb).code, 4, "{verb:?}");
    }
    assert_eq!(
        (shell.files(), fs::read(shell.path("thermocline.db")).unwrap()),
        (vec!["thermocline.db".to_owned()], vec![])
    );
}

#[test]
fn verbs_that_read_change_no_row_but_receipts() {
    let shell = Shell::with_talk();
    let rows = || -> Vec<String> {
        let rows = shell.rows().into_iter();
        rows.filter(|row| !row.starts_with("recall_receipt") && !row.starts_with("sqlite_sequence")).collect()
    };
    let before = rows();
    for verb in READING {
        assert_eq!(shell.run(verb).code, 0, "{verb:?}");
    }
    for nobody in ["bob", "", "01890000-0000-7000-8000-000000000001"] {
        assert_eq!(shell.run(&["context", "--user", nobody, "hello"]).code, 4, "{nobody:?}");
        assert_eq!(shell.run(&["session", "end", "--user", nobody, "s2"]).code, 4, "{nobody:?}");
        assert_eq!(shell.run(&["anchor", "set", "--user", nobody, "user.name", "Bob"]).code, 4, "{nobody:?}");
        assert_eq!(shell.run(&["erase", "--user", nobody, "--yes"]).code, 4, "{nobody:?}");
    }
    assert_eq!(rows(), before);
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
fn a_context_is_all_of_stdout_and_the_talk_says_what_it_cost() {
    let shell = Shell::with_talk();
    let args = ["context", "--user", "alex", "--session", "s1", "--now", "2026-03-02", "And?"];
    let context = shell.run(&[&["--json"], &args[..]].concat()).json();
    let shown = shell.run(&args);
    assert_eq!((shown.code, shown.stdout.as_str()), (0, context["text"].as_str().unwrap()));
    let talk: Vec<&str> = shown.stderr.lines().collect();
    let turns = context["items"].as_array().unwrap().len();
    let (tokens, sure) = (&context["tokens"], context["confidence"].as_f64().unwrap());
    let sure = format!("{sure:.2} sure that something recalled answers");
    assert_eq!(talk[0], format!("{tokens} of 4,400 tokens, {turns} turns; {sure}"));
    // One line for each recalled turn of the other session, and the line of the receipt.
    assert_eq!(talk.len(), 2 + turns - 7, "{talk:?}");
    assert!(talk[1..talk.len() - 1].iter().all(|line| line.starts_with("recalled 2026-03-01 ")), "{talk:?}");
    assert!(talk[talk.len() - 1].starts_with("receipt 0"), "{talk:?}");
}

#[test]
fn a_context_is_of_the_newest_session_unless_another_is_named() {
    let shell = Shell::with_talk();
    let newest = shell.run(&["context", "--user", "alex", "And now?", "--now", "2026-03-02T08:00:00+01:00"]);
    assert!(
        newest
            .stdout
            .split("<recent turns>")
            .nth(1)
            .is_some_and(|recent| { recent.contains("The beans are up!") && !recent.contains("I planted") }),
        "{}",
        newest.stdout
    );
    assert!(
        newest.stdout.ends_with("<now: 2026-03-02 07:00 UTC, last talk: 18 hours ago>\n"),
        "{}",
        newest.stdout
    );
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
    // A day of silence has ended s2, so the next turn begins its successor.
    assert_eq!(shell.replay(&(talk() + &line("s2", "b3", 40, "First flowers.", ""))).code, 0);
    let caller_ids = shell.run(&["--json", "session", "list", "--user", "alex"]).json();
    assert_eq!((&caller_ids[0]["caller_id"], &caller_ids[0]["part"]), (&"s2".into(), &2.into()));
    assert!(shell.run(&["session", "show", "--user", "alex", "s2"]).stdout.contains("First flowers."));
    let first_part = caller_ids[1]["id"].as_str().unwrap();
    assert!(shell.run(&["session", "show", "--user", "alex", first_part]).stdout.contains("All of them."));
    let context = shell.run(&["context", "--user", "alex", "--session", "s2", "And?"]).stdout;
    let recent = context.split("<recent turns>").nth(1).unwrap();
    assert!(recent.contains("First flowers.") && !recent.contains("All of them."), "{context}");
    // Replaying the whole transcript still changes nothing.
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
    // A user's name may look like an id.
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
    shell.write("taken.jsonl", &line("s1", "a1", 9, "SECRET", ""));
    for (args, code) in [
        (&["stats"][..], 0),
        (&["--version"], 0),
        (&[], 2),
        (&["sing"], 2),
        (&["context", "--user", "alex"], 2),
        (&["context", "--user", "alex", "x", "--now", "tomorrow"], 2),
        (&["context", "--user", "alex", "x", "--budget-tokens", "-1"], 2),
        (&["replay", "taken.jsonl", "--user", "alex"], 3),
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
        run.stdout.contains("1 problem     a session's turn_count counts the turns recorded in it"),
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

/// Returns every verb in the help of this verb, and all verbs below them.
fn verbs_below(shell: &Shell, verb: &[String]) -> Vec<Vec<String>> {
    let args: Vec<&str> = verb.iter().map(String::as_str).chain(["-h"]).collect();
    let help = shell.run(&args).stdout;
    let listed =
        help.split("Commands:\n").nth(1).unwrap_or_default().lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|name| !name.starts_with(' ')));
    let below = names.map(|line| [verb, &[line.split(' ').next().unwrap().to_owned()]].concat());
    below.flat_map(|verb| [vec![verb.clone()], verbs_below(shell, &verb)].concat()).collect()
}

#[test]
fn the_help_of_every_verb_has_an_example() {
    let shell = Shell::new();
    let verbs = verbs_below(&shell, &[]);
    assert!(verbs.len() >= 35 && verbs.contains(&vec!["jobs".to_owned(), "retry".to_owned()]), "{verbs:?}");
    for verb in verbs.iter().chain([&Vec::new()]) {
        for help in ["-h", "--help"] {
            let run = shell.run(&verb.iter().map(String::as_str).chain([help]).collect::<Vec<_>>());
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

/// Groups the digits of a number: `1,500`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn what_people_read_names_the_defaults() {
    let Config { hot_turns, hot_tokens, warm_turns, warm_tokens, shares, tokenizer, session_timeout, .. } =
        Config::default();
    let (hot_tokens, warm_tokens) = (grouped(hot_tokens as usize), grouped(warm_tokens as usize));
    let shell = Shell::new();
    let says = |name: &str, text: &str, words: String| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&words), "{name} does not say {words:?}");
    };
    let shown = |args: &[&str]| shell.run(args).stdout;
    let read = |path: &str| {
        fs::read_to_string(format!("{}/{path}", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))).unwrap()
    };

    says("--help", &shown(&["--help"]), format!("hot: at most {hot_turns}, and {hot_tokens} tokens"));
    says(
        "demo",
        &shown(&["--db", "demo.db", "demo"]),
        format!("At most {hot_turns} turns and {hot_tokens} tokens"),
    );
    says("README.md", &read("README.md"), format!("at most {hot_turns}, at most {hot_tokens} tokens"));
    says("README.md", &read("README.md"), format!("newest {warm_turns} within {warm_tokens} tokens"));
    says("ARCHITECTURE.md", &read("ARCHITECTURE.md"), format!("{warm_turns} within {warm_tokens} tokens"));
    says(
        "CHANGELOG.md",
        &read("CHANGELOG.md"),
        format!("{hot_turns} turns and {hot_tokens} tokens by default"),
    );
    let budget = format!("[default: {}]", shares.total());
    says("context", &shown(&["context", "--help"]), format!("counted by {} {budget}", tokenizer.as_str()));
    says("chat", &shown(&["chat", "--help"]), budget);
    let hours = session_timeout.as_secs() / 3_600;
    says("session end", &shown(&["session", "end", "--help"]), format!("after {hours} hours of silence"));
    says("eval", &shown(&["eval", "--help"]), format!("a cold part of {} tokens", shares.cold));
}
