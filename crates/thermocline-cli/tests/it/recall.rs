//! The binary on recall: `recall`, `context`, `why`, `eval`, `embed` and `chat`. These tests do not measure the quality of
//! recall.

use std::{fs, io::Write as _, process::Stdio, sync::OnceLock};

use serde_json::{Value, json};

use crate::shell::{Ended, Shell, ended, line};

/// Returns a transcript of two sessions, which `with_boats` ends and compresses.
fn boats() -> String {
    let rope =
        "Polyester stretches little and the sun does it no harm, so take two lines of it for the quay. "
            .repeat(8);
    [
        line("spring", "m1", 1, "I bought a small boat and named her Petrel.", "A fine name."),
        line("spring", "m2", 2, "She lies at the north quay, berth 14.", "Is that sheltered?"),
        line("spring", "m3", 3, "I moved to Lisbon last week.", "Welcome!"),
        line("summer", "m4", 30, "What rope should I buy for the mooring?", &rope),
        line("summer", "m5", 31, "My sister Anna will sail with me.", "Then buy a second life vest."),
    ]
    .concat()
}

impl Shell {
    pub fn with_boats() -> Self {
        static COMPRESSED: OnceLock<Vec<u8>> = OnceLock::new();
        let shell = Self::new();
        let database = COMPRESSED.get_or_init(|| {
            shell.write("boats.jsonl", &boats());
            assert_eq!(shell.run(&["replay", "boats.jsonl", "--user", "alex", "--end"]).code, 0);
            assert_eq!(shell.run(&["jobs", "run"]).code, 0);
            fs::read(shell.path("thermocline.db")).unwrap()
        });
        fs::write(shell.path("thermocline.db"), database).unwrap();
        shell
    }

    /// Runs a verb for alex with this text on stdin.
    pub fn typed(&self, args: &[&str], typed: &str) -> Ended {
        let mut command = self.command(&[args, &["--user", "alex"]].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The binary may fail before it has read all of its input.
        let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
        ended(&child.wait_with_output().unwrap())
    }

    #[track_caller]
    pub fn alex(&self, args: &[&str]) -> Ended {
        self.run(&[args, &["--user", "alex"]].concat())
    }

    #[track_caller]
    fn shows(&self, args: &[&str], parts: &[&str]) -> String {
        let run = self.alex(args);
        assert_eq!(run.code, 0, "{args:?} {}", run.stderr);
        for part in parts {
            assert!(run.stdout.contains(part), "{args:?} shows no {part:?}:\n{}", run.stdout);
        }
        run.stdout
    }

    fn receipts(&self) -> usize {
        self.alex(&["--json", "why"]).json().as_array().unwrap().len()
    }
}

#[test]
fn a_recall_shows_what_was_said_and_why_it_stands_there() {
    let shell = Shell::with_boats();
    let shown = shell.shows(
        &["recall", "What is my boat called?"],
        &[
            "  1. 1.",
            "  2026-03-01  spring/1, cold  (words 1.00",
            "User: I bought a small boat and named her Petrel.",
        ],
    );
    let receipt = shown.split("\nReceipt ").nth(1).unwrap().split('\n').next().unwrap();
    let json = shell.alex(&["--json", "why", receipt]).json();
    assert_eq!((&json["id"], &json["query"]), (&json!(receipt), &json!("What is my boat called?")));

    let answer = shell.alex(&["--json", "recall", "-k", "2", "my boat", "--now", "2026-04-01"]).json();
    let first = &answer["items"][0];
    assert_eq!(
        (&first["turn"], &first["session"], &first["turn_number"]),
        (&json!("m1"), &json!("spring"), &json!(1))
    );
    assert!(answer["items"].as_array().unwrap().len() <= 2 && answer["receipt"].is_string(), "{answer}");
    assert_eq!(shell.receipts(), 2);
    assert_eq!(shell.shows(&["recall", "\u{1b}[2J"], &[]).matches(char::is_control).count(), {
        shell.shows(&["recall", "\u{1b}[2J"], &[]).matches('\n').count()
    });
}

#[test]
fn a_batch_answers_each_query_with_a_line_of_its_own() {
    let shell = Shell::with_boats();
    let queries = [
        json!({"query": "Where do I live?", "now": "2026-06-01T12:00:00Z", "k": 20}).to_string(),
        String::new(),
        json!({"query": "rope", "k": 1, "now": "2026-06-01"}).to_string(),
        json!({"query": "", "other": true}).to_string(),
    ]
    .join("\n");
    shell.write("queries.jsonl", &queries);
    let run = shell.alex(&["recall", "--batch", "queries.jsonl", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3);
    let mut kinds = Vec::new();
    for answer in &answers {
        assert!(answer["took_us"].is_u64(), "{answer}");
        for item in answer["items"].as_array().unwrap() {
            let kind = item["kind"].as_str().unwrap();
            assert_eq!(item["turn"].is_null(), kind == "anchor", "{item}");
            assert_eq!(item["session"].is_null(), kind == "anchor", "{item}");
            assert!(item["score"].is_f64() && item["parts"].is_object() && item["tokens"].is_u64(), "{item}");
            kinds.push(kind.to_owned());
        }
    }
    assert!(kinds.contains(&"anchor".to_owned()) && kinds.contains(&"turn".to_owned()), "{kinds:?}");
    assert_eq!(
        (&answers[1]["items"][0]["turn"], answers[1]["items"].as_array().unwrap().len()),
        (&json!("m4"), 1)
    );
    assert_eq!(shell.receipts(), 0, "a batch leaves none");

    // The same queries from stdin give the same answers, in the same order.
    let piped = shell.typed(&["recall", "--batch", "-"], &queries);
    let turns = |out: &str| -> Vec<Value> {
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["items"].clone()).collect()
    };
    assert_eq!(turns(&piped.stdout), turns(&run.stdout));
}

#[test]
fn a_recall_finds_what_passes_its_filter() {
    let shell = Shell::with_boats();
    shell.change("UPDATE conversation_sessions SET project = 'boat' WHERE caller_id = 'spring'");
    let found = |args: &[&str]| -> Vec<String> {
        let answer = shell.alex(&[&["--json", "recall", "boat rope"], args].concat()).json();
        let mut ids: Vec<String> =
            answer["items"].as_array().unwrap().iter().map(|item| item["turn"].to_string()).collect();
        ids.sort();
        ids
    };
    let (spring, summer) = (["\"m1\"", "\"m2\"", "\"m3\""], ["\"m4\"", "\"m5\""]);
    assert_eq!(found(&["--project", "boat"]), spring);
    assert_eq!(found(&["--only-session", "summer"]), summer);
    assert_eq!(found(&["--without-session", "spring"]), summer);
    assert_eq!(
        found(&["--since", "2026-03-01T12:02:00Z", "--until", "2026-03-01T12:31:00Z"]),
        ["\"m2\"", "\"m3\"", "\"m4\""]
    );
    assert_eq!(found(&["--project", "boat", "--only-session", "summer"]), [""; 0]);
    shell.shows(&["why", "last"], &["Filtered: only the project \"boat\"; only 1 session.\n"]);
    let nobody = shell.alex(&["recall", "rope", "--project", "shed"]);
    assert_eq!((nobody.code, nobody.stdout.starts_with("Nothing fits.")), (0, true));
    assert!(nobody.stderr.contains("nothing of the user is filed under its project"), "{}", nobody.stderr);
    for (args, code) in [
        (&["--project", ""][..], 3),
        (&["--since", "2026-03-02", "--until", "2026-03-01"], 3),
        (&["--since", "soon"], 2),
        (&["--only-session", "winter"], 4),
    ] {
        let run = shell.alex(&[&["recall", "rope"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?} {}", run.stderr);
    }
}

#[test]
fn a_context_is_printed_as_messages_and_without_what_is_sent_by_other_means() {
    let shell = Shell::with_boats();
    let lines = line("now", "n1", 50, "Hello again.", "Hello!") + &line("now", "n2", 51, "I am back.", "");
    assert_eq!(shell.replay(&lines).code, 0);
    let question = "Which rope was it for the boat?";
    let messages = |args: &[&str]| -> Vec<(String, String)> {
        let list = shell.alex(&[&["context", "--messages", question], args].concat()).json();
        let text = |of: &Value| of.as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(|of| (text(&of["role"]), text(&of["content"]))).collect()
    };
    let said = |role: &str, content: &str| (role.to_owned(), content.to_owned());
    let all = messages(&[]);
    assert!(all[0].0 == "system" && all[0].1.contains("What rope should I buy"), "{all:?}");
    let recent = [said("user", "Hello again."), said("assistant", "Hello!"), said("user", "I am back.")];
    assert_eq!(all[1..], recent);
    assert_eq!(messages(&["--without", "recent-turns"]).len(), 1);
    assert_eq!(messages(&["--without", "earlier-conversations", "--without", "who-the-user-is"]), recent);
    let without = messages(&["--without-session", "summer"]);
    assert!(without[0].1.contains("Petrel") && !without[0].1.contains("rope"), "{without:?}");
    let only = messages(&["--only-session", "summer", "--without", "who-the-user-is"]);
    assert!(!only[0].1.contains("Petrel") && only[0].1.contains("rope"), "{only:?}");

    shell
        .shows(&["why", "last"], &["Filtered: only 1 session.\n", "Left out on request: who_the_user_is.\n"]);
    let refused = shell.alex(&["context", "x", "--without", "weather"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
}

#[test]
fn what_makes_no_sense_is_refused_and_the_line_is_named() {
    let shell = Shell::with_boats();
    for (args, code) in [
        (&["recall"][..], 2),
        (&["recall", "x", "--batch", "q"], 2),
        (&["recall", "x", "--profile", "best"], 2),
        (&["recall", "x", "-k", "0"], 3),
        (&["recall", "x", "--weight", "words"], 3),
        (&["recall", "x", "--weight", "luck=1"], 3),
        (&["recall", "x", "--weight", "words=11"], 3),
        (&["recall", "x", "--weight", "words=1", "--profile", "paper"], 3),
        (&["recall", "--batch", "no-such-file"], 4),
        (&["why", "not-an-id"], 3),
        (&["why", "01890000-0000-7000-8000-000000000001"], 4),
        (&["why", "last"], 4),
        (&["eval", "no-such-file"], 4),
    ] {
        let run = shell.alex(args);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?} {}", run.stderr);
    }
    for (lines, named) in [
        ("{\"query\":\"rope\"}\n{\"query\":\"SECRET\",\"k\":\"many\"}", "line 2, column"),
        ("SECRET", "line 1, column"),
        ("{\"query\":\"SECRET\",\"k\":0}", "line 1: k is 0"),
        ("{\"query\":\"SECRET\",\"now\":\"soon\"}", "line 1: expected a time"),
    ] {
        shell.write("queries.jsonl", lines);
        let run = shell.alex(&["recall", "--batch", "queries.jsonl"]);
        assert!(run.code == 3 && run.stderr.contains(named), "{lines} {}", run.stderr);
        assert!(!run.stderr.contains("SECRET"), "{}", run.stderr);
    }
}

#[test]
fn why_says_what_was_found_what_was_left_out_and_why() {
    let shell = Shell::with_boats();
    let none = shell.alex(&["why"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("no receipts yet"), "{}", none.stderr);

    let talk = shell
        .alex(&[
            "context",
            "--now",
            "2026-06-01",
            "--budget-tokens",
            "130",
            "Which rope was it for the boat?",
        ])
        .stderr;
    assert!(talk.contains("recalled 2026-03-01 "), "{talk}");
    let id = talk.split("receipt ").nth(1).unwrap().split(':').next().unwrap();
    let why = shell.shows(
        &["why", id],
        &[
            "A context for \"Which rope was it for the boat?\"\n",
            "as of 2026-06-01 00:00 UTC.\n",
            "Ranked by the profile default: words 0.6, meaning 0.4,",
            "\nShown, ",
            "2026-03-01  summer/1, m4, cold\n",
            "User: What rope should I buy for the mooring?\n",
            "\nLeft out, ",
            "     left out: there was no room; ",
            "Recomputed from their parts, all scores are the same.\n",
        ],
    );
    assert_eq!(shell.shows(&["why", "last"], &[]), why);
    shell.shows(&["why"], &[id, "context", "Which rope was it for the boat?"]);
    let receipt = shell.alex(&["--json", "why", id]).json();
    assert!(receipt["items"][0]["parts"].is_object() && receipt["budget_tokens"] == 130, "{receipt}");
    // No other user has the receipt.
    shell.write("talk.jsonl", &line("s", "x", 1, "Hello.", "Hello."));
    assert_eq!(shell.run(&["replay", "talk.jsonl", "--user", "bob"]).code, 0);
    assert_eq!(shell.run(&["why", "--user", "bob", id]).code, 4);
}

#[test]
fn eval_measures_profiles_side_by_side_and_writes_nothing() {
    let shell = Shell::with_boats();
    let questions = [
        json!({"query": "Petrel", "evidence": ["m1"], "category": "names", "now": "2026-06-01"}),
        json!({"query": "Which rope for the mooring?", "evidence": ["m4"], "category": "things"}),
        json!({"query": "Who was it?", "evidence": ["m1", "gone"], "category": "names"}),
        json!({"query": "What is my cat called?", "evidence": ["m2"], "category": "adversarial"}),
    ];
    shell.write("questions.jsonl", &questions.map(|question| question.to_string()).join("\n"));
    let before = shell.rows();
    let run = shell.alex(&["--json", "eval", "questions.jsonl", "--weight", "recency=0"]);
    let report = run.json();
    assert_eq!((&report["questions"], &report["unknown"]), (&json!(3), &json!(1)));
    assert!(run.stderr.contains("left out: 1 question "), "{}", run.stderr);
    let profiles = report["profiles"].as_array().unwrap();
    let names: Vec<_> = profiles.iter().map(|of| of["profile"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "paper", "recency", "custom"]);
    let main = &profiles[0]["groups"]["main"];
    assert_eq!(
        (&main["questions"], &main["recall_5"], &main["ndcg_10"], &main["packed"]),
        (&json!(2), &json!(1.0), &json!(1.0), &json!(1.0))
    );
    assert_eq!(profiles[0]["groups"]["all"]["questions"], 3);
    assert_eq!(profiles[0]["groups"]["names"]["hit_10"], 1.0);

    let shown = shell.shows(
        &["eval", "questions.jsonl", "--categories", "--profile", "paper", "--profile", "default"],
        &[
            "main, 2 questions ",
            "\nnames, 1 question ",
            "\n  recall@10  ",
            "     paper   default\n",
            "95th percentile",
        ],
    );
    assert!(!shown.contains("recency"), "{shown}");
    assert_eq!(shell.rows(), before);

    for (lines, named) in [
        ("{\"query\":\"SECRET\"}", "line 1, column"),
        ("{\"query\":\"x\",\"evidence\":[\"m1\"],\"now\":\"soon\"}", "line 1: expected a time"),
        ("{\"query\":\"x\",\"evidence\":[\"gone\"]}", "nothing to measure"),
        ("", "nothing to measure"),
    ] {
        shell.write("questions.jsonl", lines);
        let run = shell.alex(&["eval", "questions.jsonl"]);
        assert!(
            run.code == 3 && run.stderr.contains(named) && !run.stderr.contains("SECRET"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn embed_shows_how_far_it_is_and_makes_all_anew() {
    let shell = Shell::with_boats();
    let text: String =
        (0..70).map(|n| line("long", &format!("l{n}"), n % 60, &format!("Knot number {n}."), "")).collect();
    assert_eq!(shell.replay(&text).code, 0);
    assert_eq!(shell.alex(&["session", "end", "long"]).code, 0);
    let rebuilt = shell.run(&["--json", "embed", "rebuild"]).json();
    assert_eq!((&rebuilt["users"], &rebuilt["done"], &rebuilt["turns"]), (&json!(1), &json!(1), &json!(75)));
    let jobs = shell.run(&["--json", "jobs", "list"]).json();
    let kinds: Vec<_> = jobs.as_array().unwrap().iter().map(|job| &job["kind"]).collect();
    assert!(
        kinds.contains(&&json!("compress")) && !kinds.contains(&&json!("embed")),
        "others wait: {kinds:?}"
    );
    let status = shell.run(&["--json", "embed", "status"]).json();
    assert_eq!(
        (&status[0]["turns"], &status[0]["embedded"], &status[0]["gaps"]),
        (&json!(75), &json!(75), &json!(0))
    );
    assert!(status[0]["bytes"].as_u64() > Some(64 * 256), "{status}");
    let table = shell.run(&["embed", "status"]).stdout;
    assert!(table.contains("75 of 75") && table.contains("thermocline-built-in"), "{table}");
    // A long turn has several vectors. There are two blocks, each with two bytes for the number of its vectors; each
    // vector has two bytes for its place.
    let recall = shell.run(&["--json", "stats"]).json()["recall"].clone();
    let vectors = recall["vectors"].as_u64().unwrap();
    assert!(vectors >= 75, "{recall}");
    assert_eq!(recall["vector_bytes"], 2 * 2 + vectors * 258);
    let counts = shell.run(&["stats"]).stdout;
    assert!(counts.contains(&format!("\nvectors        {vectors}, ")), "{counts}");
    assert_eq!(shell.run(&["embed"]).code, 2);
}

#[test]
fn a_folder_without_a_model_is_not_found() {
    let shell = Shell::with_boats();
    for verb in [&["recall", "x"][..], &["context", "x"], &["chat"]] {
        let run = shell.alex(&[verb, &["--embed-dir", "."]].concat());
        assert_eq!(run.code, 4, "{verb:?} {}", run.stderr);
    }
}

#[test]
fn a_model_of_a_folder_makes_vectors_with_what_stands_before_documents() {
    let shell = Shell::with_boats();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/models/bert-cls");
    let embedder = ["embed", "rebuild", "--embed-dir", folder];
    for prefix in [&[][..], &["--embed-document-prefix", "the fox: "]] {
        let run = shell.run(&[&embedder, prefix].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let status = shell.run(&["--json", "embed", "status"]).json();
    let of_folder: Vec<_> =
        status.as_array().unwrap().iter().filter(|of| of["model"] == "bert-2x8").collect();
    assert_eq!(of_folder.len(), 2, "two spaces: {status}");
    assert!(of_folder.iter().all(|of| of["embedded"] == 5), "{status}");
}

#[test]
fn a_chat_shows_what_is_recalled_and_records_each_message() {
    let shell = Shell::with_boats();
    let typed = "Where does my boat lie?\n\n/why\n/context\n/sing\n/quit\nNobody hears this.\n";
    let run = shell.typed(&["chat", "--session", "talk"], typed);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in [
        "  recalled  2026-03-01  ",
        "spring/2  User: She lies at the north quay, berth 14.\n",
        " of 4,400 tokens, ",
        "<from earlier conversations>\n",
        "A context for \"Where does my boat lie?\"\n",
    ] {
        assert!(run.stdout.contains(part), "{part:?} {}", run.stdout);
    }
    assert!(
        run.stderr.contains("there is no /sing:") && run.stderr.ends_with("1 turn recorded\n"),
        "{}",
        run.stderr
    );
    let turn = shell.alex(&["--json", "turn", "show", "talk/1"]).json();
    assert_eq!(
        (&turn["user_message"], &turn["ai_response"]),
        (&json!("Where does my boat lie?"), &json!(""))
    );
    assert_eq!(shell.alex(&["turn", "show", "talk/2"]).code, 4);
    // The turn names the context that it answers, so this counts as use.
    let stats = shell.run(&["--json", "stats"]).json();
    assert!(
        stats["use"].as_array().unwrap().iter().any(|of| of["aspect"] == "profile" && of["hits"] == 1),
        "{stats}"
    );
    let text = shell.run(&["stats"]).stdout;
    assert!(text.contains("\nof use, in answered contexts, by\n"), "{text}");
    let reached = "\ntiers reached by answered contexts, in % (the tiering paper expects 80, 15, 5)\n";
    assert!(text.contains(reached), "{text}");
    assert!(
        text.contains("\nof use, of what only a rule keeps verbatim\n  first_turn    1 in 1 chances\n"),
        "{text}"
    );
    let rule = json!({ "rule": "first_turn", "chances": 1, "taken": 1, "stopped_users": 0 });
    assert_eq!((&stats["rules"], &stats["reached"][0]["cold"]), (&json!([rule]), &json!(1)), "{stats}");
    assert_eq!(stats["recall"]["receipts"], 1);

    let ended = shell.typed(&["chat", "--session", "talk"], "/end\n");
    assert!(ended.stdout.contains("ended by call"), "{}", ended.stdout);
    // A conversation with a key continues in its next part.
    let again = shell.typed(&["chat", "--session", "talk"], "One more?\n");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(shell.alex(&["--json", "session", "show", "talk"]).json()["session"]["part"], 2);
}

#[test]
fn a_chat_in_json_is_a_line_a_message_and_makes_the_file() {
    let shell = Shell::new();
    let evil = "a\u{1b}[31m\u{202e}b\u{9b}2J";
    for json in [true, false] {
        let flags: &[&str] = if json { &["--json", "chat"] } else { &["chat"] };
        let run = shell.typed(flags, &format!("{evil}\n{evil} again\n/why\n/nothing{evil}\n/context\n"));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let commands = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!run.stdout.contains(commands) && !run.stderr.contains(commands), "{run:?}");
        if json {
            let lines: Vec<Value> =
                run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(
                (lines.len(), &lines[0]["message"], &lines[0]["reply"]),
                (4, &json!(evil), &Value::Null)
            );
            assert_eq!(lines[0]["recorded"]["turn_number"], 1);
            assert!(lines[1]["context"]["text"].is_string() && lines[2]["query"].is_string(), "{lines:?}");
        }
    }
}

mod with_providers {
    use super::*;
    use crate::endpoint::{Scripted, ScriptedStep};

    fn says(content: &str) -> ScriptedStep {
        ScriptedStep::Answer(200, json!({ "choices": [{ "message": { "content": content } }] }).to_string())
    }

    #[test]
    fn a_chat_with_an_llm_hands_it_the_context_and_records_its_reply() {
        let shell = Shell::with_boats();
        let endpoint = Scripted::new(vec![
            says("At the north\u{1b}[5m quay."),
            ScriptedStep::Answer(500, String::new()),
        ]);
        let llm = ["chat", "--session", "talk", "--llm-url", &endpoint.url, "--llm-model", "m"];
        let run = shell.typed(&llm, "Where does my boat lie?\nAnd now?\nNever asked.\n");
        assert_eq!(run.code, 6, "{}", run.stderr);
        assert!(run.stderr.contains("the endpoint of LLM#2 answered with status 500"), "{}", run.stderr);
        assert!(run.stdout.contains("At the north\u{fffd}[5m quay.\n"), "{}", run.stdout);
        let requests = endpoint.thread.join().unwrap();
        let body: Value = serde_json::from_str(requests[0].split_once("\r\n\r\n").unwrap().1).unwrap();
        assert!(
            body["messages"][0]["content"].as_str().unwrap().contains("She lies at the north quay"),
            "{body}"
        );
        assert_eq!(body["messages"][1]["content"], "Where does my boat lie?");
        let turn = shell.alex(&["--json", "turn", "show", "talk/1"]).json();
        assert_eq!(turn["ai_response"], "At the north\u{1b}[5m quay.");
        assert_eq!(shell.alex(&["turn", "show", "talk/2"]).code, 4, "what was not answered is not recorded");
    }

    #[test]
    fn an_embedder_that_fails_is_named_and_recall_goes_on() {
        let shell = Shell::with_boats();
        let endpoint = Scripted::new(vec![ScriptedStep::Answer(500, String::new())]);
        let embedder = ["--embed-url", &endpoint.url, "--embed-model", "m", "--embed-dims", "3"];
        let prefix = ["--embed-query-prefix", "q: "];
        let run = shell.alex(&[&["recall", "my boat"], &embedder[..], &prefix].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("Petrel") && run.stderr.contains("missing: "), "{run:?}");
        let requests = endpoint.thread.join().unwrap();
        assert!(requests[0].contains(r#"["q: my boat"]"#), "{requests:?}");
        // A job that makes the new model's vectors is waiting.
        let jobs = shell.run(&["--json", "jobs", "list"]).json();
        assert_eq!(jobs[0]["kind"], "embed", "{jobs}");
    }

    #[test]
    fn an_embedder_of_unknown_length_is_asked_and_its_vectors_are_made() {
        let shell = Shell::with_boats();
        let answer = |texts: usize| {
            let data: Vec<Value> =
                (0..texts).map(|at| json!({ "index": at, "embedding": [1, at, 2] })).collect();
            ScriptedStep::Answer(200, json!({ "data": data }).to_string())
        };
        // The first request has one text, to learn the length of the vectors; the second has both sides of five turns.
        let endpoint = Scripted::new(vec![answer(1), answer(10)]);
        let embedder = ["embed", "rebuild", "--embed-url", &endpoint.url, "--embed-model", "m"];
        let run = shell.run(&[&embedder[..], &["--embed-document-prefix", "d: "]].concat());
        let requests = endpoint.thread.join().unwrap();
        assert_eq!(run.code, 0, "{} {}", run.stderr, requests[1]);
        assert!(requests[1].contains(r#""d: "#), "{requests:?}");
        let status = shell.run(&["--json", "embed", "status"]).json();
        let of_m = status.as_array().unwrap().iter().find(|of| of["model"] == "m").unwrap();
        assert_eq!(
            (&of_m["dims"], &of_m["embedded"]),
            (&json!(3), &json!(5)),
            "{} {}",
            run.stderr,
            requests[1]
        );
    }
}

#[test]
fn the_help_names_every_weight() {
    let help = Shell::new().run(&["recall", "--help"]).stdout;
    let words: Vec<_> = help.split(|c: char| !c.is_ascii_alphabetic() && c != '_').collect();
    for (name, _) in json!(thermocline::Weights::default()).as_object().unwrap() {
        assert!(words.contains(&name.as_str()), "{name}");
    }
}
