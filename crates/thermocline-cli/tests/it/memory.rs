//! The binary saves, shows, lists, changes, undoes, relates, tends, hides, forgets and erases memories, and prints pages
//! about all of them.

use std::{fs, io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::shell::{Ended, Shell, ended};

/// A user, Alex, who has recorded turns, but has no memories yet.
struct Memories(Shell);

impl Memories {
    fn new() -> Self {
        Self(Shell::with_talk())
    }

    fn run(&self, verb: &str, args: &[&str]) -> Ended {
        self.0.memory(verb, args)
    }

    #[track_caller]
    fn json(&self, verb: &str, args: &[&str]) -> Value {
        self.0.memory_json(verb, args)
    }

    /// Saves a memory with the origin user, and returns its id.
    #[track_caller]
    fn save(&self, args: &[&str]) -> String {
        let saved = self.json("save", &[&["--origin", "user"], args].concat());
        saved["memory"]["id"].as_str().unwrap().to_owned()
    }

    /// Returns one field of each memory in a list.
    #[track_caller]
    fn list(&self, args: &[&str], field: &str) -> Vec<String> {
        let memories = self.json("list", args);
        memories.as_array().unwrap().iter().map(|of| of[field].as_str().unwrap().to_owned()).collect()
    }

    fn batch(&self, lines: &[Value], args: &[&str]) -> Ended {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        self.0.write("memories.jsonl", &lines.join("\n"));
        self.run("save", &[&["--batch", "memories.jsonl"], args].concat())
    }
}

#[test]
fn what_is_saved_is_shown_whole_with_what_its_numbers_mean() {
    let memories = Memories::new();
    let id = memories.save(&[
        "Redis timeouts",
        "socket_keepalive=True\nfixes the drops.",
        "--kind",
        "fix",
        "--tag",
        "#redis",
        "--tag",
        "production",
        "--importance",
        "0.8",
        "--project",
        "homelab",
        "--source",
        "s1/3",
        "--caller-id",
        "redis-fix",
        "--pin",
    ]);
    let text = memories.run("show", &["redis-fix"]).stdout;
    let expected = [
        "Redis timeouts\n",
        &format!("\nid          {id}\n"),
        "\ncaller id   redis-fix\n",
        "\nkind        fix, of project homelab\n",
        "\nstatus      active, pinned\n",
        "\nfrequency   mid: ",
        "\ntrust       3: the user says so\n",
        "\nimportance  0.80 (pinned: it does not fade)\n",
        "\nreliability not assessed\n",
        "\nused        never\n",
        "\ntags        #redis #production\n",
        "\nsources\n",
        "  turn s1/3, found by caller\n",
        "  said in a call, by the user\n",
        "\n\nsocket_keepalive=True\nfixes the drops.\n",
    ];
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let shown = memories.json("show", &[&id]);
    assert_eq!(shown["content"], "socket_keepalive=True\nfixes the drops.");
    assert_eq!(shown["sources"].as_array().unwrap().len(), 2);
    assert!(shown["neighbours"].as_array().unwrap().is_empty());
}

#[test]
fn a_window_is_stated_changed_and_taken_away() {
    let memories = Memories::new();
    memories.save(&["The API runs on port 8443.", "--caller-id", "port", "--window", "7d"]);
    let window = |args: &[&str]| {
        memories.json("edit", &[&["port", "--origin", "user"], args].concat())["validity_window_s"].clone()
    };
    assert!(memories.run("show", &["port"]).stdout.contains("low: holds for months, a check for 1w\n"));
    assert_eq!(window(&["--window", "90m"]), 5_400);
    assert!(window(&["--window", ""]).is_null());
    assert_eq!(memories.run("edit", &["port", "--window", "soon"]).code, 2);
    let batch = memories.batch(&[json!({"text": "It is so.", "id": "so", "validity_window_s": 60})], &[]);
    assert_eq!(batch.code, 0, "{}", batch.stderr);
    assert!(memories.run("show", &["so"]).stdout.contains("a check for 1m\n"));
}

#[test]
fn what_is_recalled_is_named_and_says_whose_words_it_has() {
    let memories = Memories::new();
    memories.save(&["The lamp is lit at dusk.", "--caller-id", "lamp"]);
    let page = memories.json("save", &["--origin", "document", "The lamp burns whale oil."]);
    let page = page["memory"]["id"].as_str().unwrap();
    let recalled = memories.0.run(&["recall", "--user", "alex", "--of", "memories", "the lamp"]).stdout;
    for part in ["  lamp, memory  (", &format!("  {page}, memory  ("), "     mind: from a document\n"] {
        assert!(recalled.contains(part), "{part:?} is not in\n{recalled}");
    }
    assert_eq!(recalled.matches("mind:").count(), 1, "{recalled}");
    let items =
        memories.0.run(&["--json", "recall", "--user", "alex", "--of", "memories", "the lamp"]).json();
    let trust = |item: &Value| (item["memory"] == page, item["trust"].as_u64());
    let mut trust: Vec<_> = items["items"].as_array().unwrap().iter().map(trust).collect();
    trust.sort_unstable();
    assert_eq!(trust, [(false, Some(3)), (true, Some(1))]);
}

#[test]
fn a_memory_is_found_by_each_of_its_names() {
    let memories = Memories::new();
    let id = memories.save(&["The lamp is lit.", "--caller-id", "lamp"]);
    let shown = memories.json("show", &["lamp"]);
    for name in [&id, &id["mem_".len()..], &id[..30], &id["mem_".len()..20]] {
        assert_eq!(memories.json("show", &[name]), shown, "{name}");
    }
    for name in ["mem_", "x", "mem_01890000-0000-7000-8000-000000000001", "", "lam"] {
        let run = memories.run("show", &[name]);
        assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{name:?} {}", run.stderr);
        assert!(run.stderr.contains("memory list"), "{}", run.stderr);
    }
    memories.save(&["Another lamp."]);
    let several = memories.run("show", &[&id[..8]]);
    assert_eq!(several.code, 3, "{}", several.stderr);
    assert_eq!(memories.json("show", &[&id[id.len() - 8..]]), shown, "its last digits tell it apart");
}

#[test]
fn a_script_speaks_for_the_assistant_unless_it_says_otherwise() {
    let memories = Memories::new();
    let save = |args: &[&str]| memories.json("save", args)["memory"].clone();
    assert_eq!(save(&["A script said so."])["origin"], "assistant");
    assert_eq!(save(&["The user said so.", "--origin", "user"])["trust"], 3);
    let id = memories.save(&["It is so."]);
    let by_script = memories.0.run(&["memory", "edit", "--user", "alex", &id, "--importance", "0.9"]);
    assert_eq!(by_script.code, 3, "{by_script:?}");
    memories.json("edit", &[&id, "--importance", "0.8", "--origin", "user"]);
    let by = |change: &Value| change["made_by"].as_str().unwrap().to_owned();
    let history = memories.json("history", &[&id]);
    let history: Vec<String> = history.as_array().unwrap().iter().map(by).collect();
    assert_eq!(history, ["user", "user"]);
}

#[test]
fn a_text_alone_has_its_first_sentence_as_its_title_and_may_come_from_a_file() {
    let memories = Memories::new();
    memories.save(&["The API runs on port 8443. It did not before."]);
    memories.0.write("notes.md", "# Notes\n\nAll of it.\n");
    memories.save(&["--content-file", "notes.md"]);
    memories.save(&["Titled", "--content-file", "notes.md"]);
    assert_eq!(memories.list(&[], "title"), ["Titled", "Notes", "The API runs on port 8443"]);
    let mut command = memories.0.command(&["memory", "save", "--user", "alex", "--content-file", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"From a pipe.").unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(memories.list(&[], "content")[0], "From a pipe.");
}

#[test]
fn what_says_nothing_makes_no_file() {
    let shell = Shell::new();
    shell.write("bad.jsonl", "{\"title\":\"SECRET\"}\n");
    let long = "SECRET ".repeat(20_000);
    shell.write("long.txt", &long);
    for args in [
        &[][..],
        &[" "],
        &["Title", "--content-file", "long.txt"],
        &["--batch", "bad.jsonl"],
        &["--batch", "missing.jsonl"],
        &["--step", "SECRET", "--kind", "fix", "Title"],
    ] {
        let run = shell.run(&[&["memory", "save", "--user", "alex"], args].concat());
        assert!(matches!(run.code, 3 | 4), "{args:?} {run:?}");
        assert!(!run.stderr.contains("SECRET"), "{}", run.stderr);
    }
    assert_eq!(shell.files(), ["bad.jsonl", "long.txt"]);
    assert_eq!(shell.run(&["memory", "save", "--user", "alex", "The first of all."]).code, 0);
    assert_eq!(shell.run(&["memory", "list", "--user", "alex"]).code, 0);
}

#[test]
fn a_slot_is_taken_by_who_is_trusted_as_far_and_the_others_wait() {
    let memories = Memories::new();
    let slot = ["--kind", "configuration", "--slot", "api:port"];
    let save =
        |origin: &str, text: &str| memories.run("save", &[&slot[..], &["--origin", origin, text]].concat());
    assert!(save("user", "It runs on 8080.").stdout.starts_with("saved\n"));
    assert!(save("user", "It runs on 8443.").stdout.starts_with("saved in place of mem_"));
    assert!(save("user", "It runs on 8443.").stdout.starts_with("already known\n"));
    let waits = save("tool", "It runs on 99.").stdout;
    assert!(waits.starts_with("saved, and waits for a person (review "), "{waits}");
    assert_eq!(memories.list(&[], "content"), ["It runs on 8443."]);
    assert_eq!(memories.list(&["--all"], "status"), ["archived", "active", "superseded"]);
    assert_eq!(memories.list(&["--status", "superseded"], "content"), ["It runs on 8080."]);
    let table = memories.run("list", &["--all"]).stdout;
    assert!(table.contains("  archived, contested\n") && table.contains("  superseded\n"), "{table}");
    let undone = memories.run("undo", &["--origin", "user", &memories.list(&[], "id")[0]]);
    assert!(undone.stdout.starts_with("undone; these memories are now:\n"), "{undone:?}");
    assert_eq!(memories.list(&[], "content"), ["It runs on 8080."]);
}

#[test]
fn an_edit_is_seen_in_the_history_and_taken_back() {
    let memories = Memories::new();
    memories.save(&["Redis timeouts", "Keepalive fixes them.", "--caller-id", "fix", "--tag", "redis"]);
    let edited = memories.run("edit", &["fix", "--content", "Keepalive of 300 s fixes them.", "--tag", ""]);
    assert!(edited.stdout.starts_with("changed, revision 2\nRedis timeouts\n"), "{edited:?}");
    assert!(memories.run("edit", &["fix", "--title", "Redis timeouts"]).stdout.starts_with("unchanged"));
    assert_eq!(memories.run("edit", &["fix", "--title", "New", "--expect-revision", "1"]).code, 3);
    assert_eq!(memories.run("edit", &["fix"]).code, 3, "there is nothing to change");
    let history = memories.run("history", &["fix"]).stdout;
    let lines: Vec<&str> = history.lines().collect();
    assert!(lines[0].starts_with("  2  2") && lines[0].contains("edit by user: content, "), "{history}");
    assert!(lines[1..].contains(&"       content was \"Keepalive fixes them.\""), "{history}");
    assert!(lines.last().unwrap().ends_with("save by user: active"), "{history}");
    assert_eq!(memories.run("undo", &["fix"]).code, 0);
    let shown = memories.json("show", &["fix"]);
    assert_eq!((&shown["content"], &shown["tags"]), (&json!("Keepalive fixes them."), &json!(["redis"])));
    assert!(memories.run("history", &["fix"]).stdout.contains(" (undone)\n"));
    assert_eq!(memories.run("undo", &["fix"]).code, 3, "nothing is left to undo");

    assert!(memories.json("pin", &["fix"])["pinned"].as_bool().unwrap());
    assert!(!memories.json("unpin", &["fix"])["pinned"].as_bool().unwrap());
}

#[test]
fn a_memory_takes_the_place_of_another() {
    let memories = Memories::new();
    memories.save(&["Port", "It runs on 8080.", "--kind", "configuration", "--caller-id", "old"]);
    let saved = memories.json("supersede", &["old", "Port", "It runs on 8443.", "--origin", "user"]);
    assert_eq!(saved["memory"]["kind"], "configuration", "it is of the same kind");
    assert_eq!(saved["memory"]["version"], 2);
    memories.save(&["Port", "It runs on 9443.", "--kind", "configuration", "--caller-id", "third"]);
    let second = saved["memory"]["id"].as_str().unwrap();
    assert_eq!(memories.run("supersede", &[second, "--by", "third", "--origin", "user"]).code, 0);
    assert_eq!(memories.list(&[], "content"), ["It runs on 9443."]);
    let shown = memories.run("show", &["old"]).stdout;
    assert!(shown.contains(&format!("\nstatus      superseded by {second}\n")), "{shown}");
}

#[test]
fn edges_are_shown_from_both_ends() {
    let memories = Memories::new();
    memories.save(&["Redis timeouts", "Keepalive fixes them.", "--caller-id", "fix"]);
    memories.save(&["Redis drops", "Connections are lost.", "--kind", "problem", "--caller-id", "drops"]);
    assert_eq!(memories.run("neighbours", &["fix"]).stderr, "it has no neighbours\n");
    let edge = memories.json("relate", &["fix", "solves", "drops", "--context", "as seen in May"]);
    assert_eq!((&edge["strength"], &edge["origin"]), (&json!(0.8), &json!("user")));
    let id = edge["id"].as_str().unwrap();
    let (from, to) =
        (memories.run("neighbours", &["fix"]).stdout, memories.run("neighbours", &["drops"]).stdout);
    assert!(
        from.starts_with("solves Redis drops (mem_") && from.contains("0.80: as seen in May\n"),
        "{from}"
    );
    assert!(to.starts_with("Redis timeouts solves this (mem_"), "{to}");
    assert!(from.ends_with(&format!("\n  edge {id}\n")), "{from}");
    assert!(memories.run("show", &["fix"]).stdout.contains("\nedges\n  solves Redis drops (mem_"));
    assert_eq!(memories.run("relate", &["fix", "likes", "drops"]).code, 2);
    assert_eq!(memories.run("relate", &["fix", "follows", "fix"]).code, 3);
    assert_eq!(memories.run("unrelate", &[id]).code, 0);
    assert_eq!((memories.run("unrelate", &[id]).code, memories.run("unrelate", &["x"]).code), (4, 4));
}

#[test]
fn what_is_forgotten_comes_back_and_what_is_erased_does_not() {
    let memories = Memories::new();
    for n in 1..=3 {
        let tag = if n == 3 { "kept" } else { "draft" };
        let name = format!("qwxz{n}");
        memories.save(&[&format!("Draft {name}."), "--tag", tag, "--caller-id", &name]);
    }
    let preview = memories.json("forget", &["--tag", "draft", "--dry-run"]);
    assert_eq!(preview.as_array().unwrap().len(), 2);
    assert_eq!(memories.run("forget", &["--tag", "draft"]).code, 3, "nobody says yes");
    assert_eq!(memories.run("forget", &[]).code, 3, "all of them are never meant");
    assert_eq!(memories.run("forget", &["qwxz1", "--tag", "draft"]).code, 3);
    assert_eq!(memories.list(&[], "caller_id"), ["qwxz3", "qwxz2", "qwxz1"]);
    let forgot = memories.run("forget", &["--tag", "draft", "--yes"]).stdout;
    assert!(forgot.starts_with("forgot 2 memories; memory undo mem_"), "{forgot}");
    assert_eq!(memories.list(&[], "caller_id"), ["qwxz3"]);
    assert_eq!(memories.run("undo", &["qwxz1"]).code, 0);
    assert_eq!(memories.list(&[], "caller_id"), ["qwxz3", "qwxz2", "qwxz1"]);
    assert_eq!(memories.run("forget", &["qwxz3"]).code, 0);

    assert_eq!(memories.run("erase", &["qwxz1"]).code, 3, "nobody says yes");
    assert_eq!(memories.json("erase", &["qwxz1", "--yes"])["memories"], 1);
    assert_eq!(memories.run("show", &["qwxz1"]).code, 4);
    let bytes = fs::read(memories.0.path("thermocline.db")).unwrap();
    let has = |name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    assert!(!has("qwxz1") && has("qwxz2"));
    assert_eq!(memories.0.run(&["doctor"]).code, 0);
}

#[test]
fn episodes_and_tags_are_listed() {
    let memories = Memories::new();
    assert_eq!(memories.run("episodes", &[]).stderr, "no episode matches\n");
    assert_eq!(memories.run("tags", &[]).stderr, "no active memory has one\n");
    memories.save(&[
        "Redis timeouts",
        "Keepalive.",
        "--tag",
        "Redis",
        "--outcome",
        "success",
        "--kind",
        "fix",
        "--entity",
        "Redis",
    ]);
    let note = ["Rain", "All day.", "--tag", "weather", "--at", "2026-03-01", "--caller-id", "n1"];
    assert!(memories.run("note", &note).stdout.contains("\n2026-03-01 00:00  note   "));
    let again = memories.json("note", &note);
    let episodes = memories.run("episodes", &[]).stdout;
    let lines: Vec<&str> = episodes.lines().collect();
    assert!(lines[0].contains("  began  fix            Redis timeouts, success #Redis"), "{episodes}");
    assert_eq!(
        lines[1..],
        ["2026-03-01 00:00  note                  Rain #weather", "    All day."],
        "{episodes}"
    );
    let noted = memories.json("episodes", &["--role", "note", "--until", "2026-03-02"]);
    assert_eq!(noted, json!([again]));
    assert_eq!(memories.run("tags", &[]).stdout, "     1  #Redis\n");
    assert!(memories.run("tags", &["--entities"]).stdout.contains("     1  Redis\n"));
}

#[test]
fn a_batch_is_saved_once_line_by_line() {
    let memories = Memories::new();
    let lines = [
        json!({"title": "Redis timeouts", "content": "Keepalive.", "kind": "fix", "tags": ["redis"], "caller_id": "m1",
            "sources": ["a1", {"turn": "s1/2", "quote": "planted row 2"}], "said_at": "2026-03-01T12:00:00Z"}),
        json!({"id": "obs:1", "text": "Deborah has a pendant. It is old.", "speaker": "Deborah", "sources": ["a3"],
            "said_at": "2023-01-23T16:09:00Z"}),
        json!({"content": "Light it. Then wait.", "steps": ["Light it", "Wait"], "pinned": true, "importance": 0.9}),
    ];
    let run = memories.batch(&lines, &["--tag", "all", "--project", "home"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "saved 3 new\n"), "{}", run.stderr);
    assert_eq!(memories.list(&[], "title"), ["Light it", "Deborah has a pendant", "Redis timeouts"]);
    assert_eq!(memories.list(&["--tag", "all", "--kind", "procedure"], "project"), ["home"]);
    let shown = memories.json("show", &["m1"]);
    assert_eq!(shown["tags"], json!(["all", "redis"]));
    assert_eq!(
        shown["sources"][1]["quote"].as_str().unwrap().len()
            + shown["sources"][2]["quote"].as_str().unwrap().len(),
        "planted row 2".len()
    );
    let again = memories.batch(&lines, &["--tag", "all", "--project", "home", "--json"]).json();
    assert_eq!((&again["new"], &again["known"]), (&json!(0), &json!(3)));
}

#[test]
fn a_batch_goes_on_behind_a_line_that_was_edited_since() {
    let memories = Memories::new();
    let line = |id: &str| json!({"content": format!("It is {id}."), "caller_id": id});
    assert_eq!(memories.batch(&[line("q1"), line("q2")], &[]).code, 0);
    assert_eq!(memories.run("edit", &["q1", "--content", "It is so no more."]).code, 0);
    let again = memories.batch(&[line("q1"), line("q2"), line("q3")], &[]);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (3, "saved 1 new, 1 already known\n"),
        "{}",
        again.stderr
    );
    assert!(again.stderr.contains("1 line not saved (line 1): "), "{}", again.stderr);
    assert_eq!(memories.list(&[], "content"), ["It is q3.", "It is q2.", "It is so no more."]);
}

#[test]
fn a_title_that_was_the_beginning_of_the_text_goes_with_it() {
    let memories = Memories::new();
    memories.save(&["The gateway runs on port 8443.", "--caller-id", "gw"]);
    let edited = memories.json("edit", &["gw", "--content", "The gateway runs on port 9000."]);
    assert_eq!(edited["title"], "The gateway runs on port 9000");
    let titled = memories.json("edit", &["gw", "--content", "On 9001.", "--title", "Gateway"]);
    assert_eq!(titled["title"], "Gateway");
    assert_eq!(memories.json("edit", &["gw", "--content", "On 9002."])["title"], "Gateway");
}

#[test]
fn a_big_undo_is_counted() {
    let memories = Memories::new();
    let lines: Vec<Value> =
        (0..25).map(|n| json!({"content": format!("It is number {n}."), "tags": ["all"]})).collect();
    memories.batch(&lines, &[]);
    assert_eq!(memories.run("forget", &["--tag", "all", "--yes"]).code, 0);
    let id = memories.list(&["--all"], "id")[0].clone();
    let undone = memories.run("undo", &[&id]).stdout;
    assert!(undone.ends_with("\nand 5 more\n") && undone.lines().count() == 82, "{undone}");
    assert_eq!(memories.list(&[], "id").len(), 25);
}

#[test]
fn what_was_stated_and_is_not_so_is_told() {
    let memories = Memories::new();
    memories.save(&["It is so.", "--caller-id", "so"]);
    let again = memories.run("save", &["It is so.", "--slot", "a", "--importance", "0.1"]).stdout;
    assert!(again.starts_with("already known\n"), "{again}");
    assert!(again.contains("  not applied: slot, importance; memory edit changes most fields\n"), "{again}");
    assert_eq!(memories.run("forget", &["so", "--origin", "user"]).code, 0);
    let hidden = memories.run("save", &["It is so.", "--caller-id", "so"]).stdout;
    assert!(hidden.starts_with("already known, and forgotten: "), "{hidden}");
    let back = memories.run("save", &["It is so.", "--caller-id", "so", "--origin", "user"]).stdout;
    assert!(back.starts_with("known, and holds again\n"), "{back}");
}

#[test]
fn a_bad_line_of_a_batch_is_named_and_no_line_speaks_for_the_user_by_itself() {
    let memories = Memories::new();
    let good = json!({"content": "Good."});
    for (bad, code, place) in [
        (json!({"content": "SECRET", "origin": "user"}), 3, "line 2: its origin user is trusted more than"),
        (json!({"content": " "}), 3, "line 2: "),
        (json!({"content": "SECRET", "importance": 7}), 3, "line 2: the importance is 7"),
        (json!({"content": "SECRET", "kind": "rumour"}), 3, "line 2, column "),
        (json!({"title": "SECRET"}), 3, "line 2, column "),
    ] {
        let run = memories.batch(&[good.clone(), bad], &[]);
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(run.stderr.contains(place) && !run.stderr.contains("SECRET"), "{}", run.stderr);
        assert_eq!(memories.list(&[], "title"), [""; 0], "nothing of it is saved");
    }
    let run = memories.batch(&[good.clone(), json!({"content": "Of no turn.", "sources": ["a99"]})], &[]);
    assert_eq!(run.code, 4);
    assert!(
        run.stderr.contains("line 2: ") && run.stderr.ends_with("; 1 line before it is saved\n"),
        "{}",
        run.stderr
    );
    let user = json!({"content": "Said by the user.", "origin": "user"});
    assert_eq!(memories.batch(&[user], &["--origin", "user"]).code, 0);
    let tool = json!({"content": "Said by a tool.", "origin": "tool"});
    assert_eq!(memories.batch(&[tool], &[]).code, 0);
    assert_eq!(memories.list(&[], "origin"), ["tool", "user", "assistant"]);
}

#[test]
fn nothing_that_a_memory_says_commands_the_terminal() {
    let memories = Memories::new();
    let evil = "a\u{1b}[31m\u{9b}2J\u{202e}c";
    let args = [
        evil,
        evil,
        "--tag",
        evil,
        "--entity",
        evil,
        "--project",
        evil,
        "--caller-id",
        evil,
        "--summary",
        evil,
    ];
    let id = memories.save(&args);
    memories.save(&["Other", "--caller-id", "other"]);
    for (verb, args) in [
        ("save", &args[..]),
        ("show", &[evil]),
        ("list", &[]),
        ("edit", &[evil, "--title", evil]),
        ("relate", &[evil, "follows", "other", "--context", evil]),
        ("neighbours", &["other"]),
        ("history", &[&id]),
        ("note", &[evil, evil, "--tag", evil, "--memory", evil, "--trigger", evil]),
        ("episodes", &[]),
        ("tags", &[]),
        ("tags", &["--entities"]),
        ("used", &[evil, "success", "--project", evil, "--task", evil, "--trigger", evil]),
        ("due", &["--on", "9999-12-31"]),
        ("dismiss", &[evil]),
        ("review", &[]),
        ("forget", &["--tag", evil, "--dry-run"]),
        ("show", &[&evil[1..]]),
        ("undo", &[evil]),
    ] {
        for args in [args.to_vec(), [&["--json"], args].concat()] {
            let run = memories.run(verb, &args);
            let commands = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!run.stdout.contains(commands) && !run.stderr.contains(commands), "{verb} {run:?}");
        }
    }
    assert_eq!(memories.json("show", &[&id])["title"], evil);
}

#[test]
fn every_verb_has_a_help_with_an_example_that_it_takes() {
    let shell = Shell::new();
    let help = shell.run(&["memory", "--help"]).stdout;
    let verbs = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let verbs: Vec<&str> = verbs
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(verbs.len() >= 21, "{verbs:?}");
    for verb in verbs {
        let help = shell.run(&["memory", verb, "--help"]).stdout;
        let (_, examples) = help.split_once("Example").unwrap_or_else(|| panic!("{verb} has no example"));
        let example = examples.lines().nth(1).unwrap().trim();
        let output = std::process::Command::new("sh")
            .arg("-c")
            .arg(example.replace("thermocline ", &format!("{} ", env!("CARGO_BIN_EXE_thermocline"))))
            .current_dir(shell.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let ended = ended(&output);
        assert_ne!(ended.code, 2, "{example}: {}", ended.stderr);
    }
}

#[test]
fn what_is_tended_or_hidden_is_told_and_taken_back_by_its_group() {
    let memories = Memories::new();
    let id = memories.save(&[
        "Redis fix",
        "Keepalive.",
        "--frequency",
        "high",
        "--outcome",
        "decision",
        "--caller-id",
        "r",
    ]);
    let would = memories.run("tend", &["--dry-run"]);
    assert!(would.stdout.contains("1 would be consolidated"), "{}", would.stdout);
    assert!(
        would.stdout.contains("high to mid: confidence 0.80 >= 0.75, born of a decision"),
        "{}",
        would.stdout
    );
    let done = memories.json("tend", &[]);
    assert_eq!(done["moved"]["consolidated"], 1);
    let group = done["group"].as_str().unwrap();
    assert_eq!(memories.json("show", &["r"])["frequency"], "mid");
    let undone = memories.json("undo", &["--group", group]);
    assert_eq!(undone["memories"][0]["id"], json!(id));
    assert_eq!(memories.json("show", &["r"])["frequency"], "high");
    assert_eq!(memories.run("undo", &["--group", group]).code, 3, "it was undone already");

    let hidden = memories.run("quarantine", &["--memory", "r", "--why", "audit"]);
    assert!(hidden.stdout.starts_with("1 memory hidden, "), "{}", hidden.stdout);
    let group = hidden.stdout.split("memory lift ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(memories.json("show", &["r"])["status"], "quarantined");
    assert_eq!(memories.run("lift", &[group]).code, 0);
    assert_eq!(memories.json("show", &["r"])["status"], "active");
    assert_eq!(memories.run("quarantine", &[]).code, 2);
    assert_eq!(memories.run("quarantine", &["--memory", "r", "--of", "tool"]).code, 2);
}

#[test]
fn pages_about_all_memories_are_printed_as_they_are() {
    let memories = Memories::new();
    memories.save(&["Redis fix", "Keepalive.", "--kind", "fix", "--tag", "redis", "--importance", "0.9"]);
    let core = memories.run("core", &[]).stdout;
    let lines: Vec<&str> = core.lines().collect();
    assert_eq!(lines[0], "# Memory Core (auto-generated)");
    assert!(lines[1].ends_with("| Active memories: 1/1 | Next refresh: daily"), "{core}");
    assert_eq!(lines[2], "## Key Fixes");
    assert!(
        lines[3].starts_with("- [Redis fix](graph/fixes/redis-fix-") && lines[3].ends_with(".md) (redis)"),
        "{core}"
    );
    assert_eq!(memories.json("core", &[])["text"], json!(core));
    assert_eq!(memories.run("core", &["--max-tokens", "5"]).code, 3);
    let page = memories.run("reflection", &[]).stdout;
    assert!(page.starts_with("# Reflection Summary (auto-generated)\n"), "{page}");
    assert_eq!(memories.json("reflection", &[])["text"], json!(page));
    let reflected = memories.json("reflect", &[]);
    assert_eq!((&reflected["memories"], &reflected["edges"]), (&json!(1), &json!([])));
}
