//! `thermocline replay --format openai`: `ChatGPT` exports, and lists of messages from the chat API.

use std::{io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::shell::{Ended, Shell, ended};

/// Noon of 1 March 2026, in seconds since 1970.
const NOON: f64 = 1_772_366_400.0;

/// Returns a node of an export, with a message that was said this many minutes after noon.
fn node(parent: Option<&str>, role: &str, minute: u32, text: &str) -> Value {
    let content = json!({"content_type": "text", "parts": [text]});
    let message = json!({"author": {"role": role, "name": null}, "content": content, "weight": 1.0, "recipient": "all",
        "create_time": NOON + 60.0 * f64::from(minute) + 0.25, "metadata": {}, "status": "finished_successfully"});
    json!({"message": message, "parent": parent, "children": []})
}

fn with(mut node: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    node["message"].pointer_mut(parent).unwrap()[field] = value;
    node
}

/// Returns a conversation whose last reply was regenerated, and which contains what exports have besides messages:
/// instructions, tool calls, hidden messages, thoughts, and a picture.
fn boat() -> Value {
    let search = with(node(Some("ask"), "assistant", 2, "search(\"SECRET\")"), "/recipient", json!("web"));
    let search = with(search, "/content/content_type", json!("code"));
    let custom = with(
        node(Some("root"), "user", 0, "SECRET"),
        "/content/content_type",
        json!("user_editable_context"),
    );
    let hidden = node(Some("found"), "user", 2, "SECRET");
    let hidden = with(hidden, "/metadata/is_visually_hidden_from_conversation", json!(true));
    let thoughts = with(
        node(Some("hidden"), "assistant", 3, ""),
        "/content",
        json!({"content_type": "thoughts", "thoughts": ["SECRET"]}),
    );
    let picture = json!({"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://SECRET"}, "This is her.",
        {"content_type": "audio_transcription", "text": "She leaks.", "direction": "in"}]});
    json!({"title": "Boat", "conversation_id": "boat", "create_time": NOON, "current_node": "b2", "mapping": {
        "root": {"message": null, "parent": null, "children": ["system"]},
        "system": node(Some("root"), "system", 0, "SECRET"),
        "custom": custom,
        "ask": node(Some("custom"), "user", 1, "Where can I moor my boat?"),
        "search": search,
        "found": with(node(Some("search"), "tool", 2, "SECRET"), "/author/name", json!("web")),
        "hidden": hidden,
        "thoughts": thoughts,
        "a1": node(Some("thoughts"), "assistant", 4, "At the old quay."),
        "a2": node(Some("a1"), "assistant", 4, "It costs ten a night."),
        "show": with(node(Some("a2"), "user", 5, ""), "/content", picture),
        "b1": node(Some("show"), "assistant", 6, "SECRET, a reply that was not kept."),
        "b2": node(Some("show"), "assistant", 7, "Caulk the seam."),
    }})
}

/// Returns a conversation that began an hour before that of `boat`, but follows it in the file, as in exports, which begin
/// with the newest.
fn garden() -> Value {
    let mut first = node(None, "user", 1, "When do I sow beans?");
    first["message"]["create_time"] = json!(NOON - 3_600.0);
    json!({"id": "garden", "title": "Beans", "create_time": NOON - 3_600.0, "current_node": "n2",
        "mapping": {"n1": first, "n2": node(Some("n1"), "assistant", 2, "In May.")}})
}

impl Shell {
    fn replay_openai(&self, file: &str, text: &str, more: &[&str]) -> Ended {
        self.write(file, text);
        self.run(&[&["--json", "replay", file, "--user", "alex", "--format", "openai"], more].concat())
    }

    /// Returns the caller's id and the two texts of each turn of a session.
    #[track_caller]
    fn turns(&self, session: &str) -> Vec<[String; 3]> {
        let shown = self.run(&["--json", "session", "show", "--user", "alex", session]).json();
        let field = |turn: &Value, field: &str| turn[field].as_str().unwrap_or_default().to_owned();
        let turns = shown["turns"].as_array().unwrap();
        turns
            .iter()
            .map(|turn| ["caller_id", "user_message", "ai_response"].map(|name| field(turn, name)))
            .collect()
    }
}

#[track_caller]
fn check(text: &str, expected: &[[&str; 2]]) {
    let shell = Shell::new();
    let run = shell.replay_openai("chat.json", text, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let turns = shell.turns("chat/1");
    let said: Vec<[&str; 2]> = turns.iter().map(|[_, user, reply]| [&**user, reply]).collect();
    assert_eq!(said, expected);
}

/// Checks that the input is refused with this message, which repeats nothing of the texts, and that no database is
/// created.
#[track_caller]
fn check_refused(text: &str, reason: &str) {
    let shell = Shell::new();
    let run = shell.replay_openai("chat.json", text, &[]);
    assert_eq!((run.code, shell.files()), (3, vec!["chat.json".to_owned()]), "{}", run.stderr);
    assert!(run.stderr.contains(reason) && !run.stderr.contains("SECRET"), "{reason}: {}", run.stderr);
}

#[test]
fn an_export_is_replayed_as_chatgpt_shows_it_oldest_talk_first() {
    let shell = Shell::new();
    let run = shell.replay_openai("conversations.json", &json!([boat(), garden()]).to_string(), &[]).json();
    assert_eq!((&run["turns_new"], &run["sessions"]), (&json!(3), &json!(2)));
    assert_eq!(
        run["left_out"],
        json!({"instructions": 1, "tools": 2, "hidden": 2, "branches": 2, "attachments": 1})
    );
    let moor = "At the old quay.\n\nIt costs ten a night.";
    assert_eq!(
        shell.turns("boat"),
        [
            ["boat/a2", "Where can I moor my boat?", moor],
            ["boat/b2", "This is her.\nShe leaks.", "Caulk the seam."]
        ]
    );
    assert_eq!(shell.turns("garden"), [["garden/n2", "When do I sow beans?", "In May."]]);
    let turn = |name: &str| shell.run(&["--json", "turn", "show", "--user", "alex", name]).json();
    assert_eq!(turn("boat/1")["timestamp"], "2026-03-01T12:01:00.250Z");
    assert!(
        turn("garden/1")["seq"].as_u64() < turn("boat/1")["seq"].as_u64(),
        "what was said first comes first"
    );
    assert!(shell.rows().iter().all(|row| !row.contains("SECRET")));
    let sessions = shell.run(&["--json", "session", "list", "--user", "alex"]).json();
    assert_eq!([&sessions[0]["caller_id"], &sessions[0]["ended_at"]], [&json!("boat"), &Value::Null]);
    assert_eq!(
        [&sessions[1]["caller_id"], &sessions[1]["ended_at"]],
        [&json!("garden"), &json!("2026-03-01T11:00:00Z")]
    );
}

#[test]
fn replaying_an_export_again_changes_no_row_and_says_what_is_left_out() {
    let (shell, export) = (Shell::new(), json!([boat(), garden()]).to_string());
    assert_eq!(shell.replay_openai("conversations.json", &export, &["--end"]).code, 0);
    let before = shell.rows();
    shell.write("renamed.json", &export);
    let again = shell.run(&["replay", "renamed.json", "--user", "alex", "--format", "openai", "--end"]);
    assert_eq!(shell.rows(), before);
    let lines: Vec<&str> = again.stdout.lines().take(2).collect();
    assert_eq!(lines[0], "3 turns in 2 sessions: 0 new, 3 known from before.");
    let left_out = "Left out: 1 instruction, 2 tool messages, 2 hidden messages, 2 messages on another branch, 1 attachment.";
    assert_eq!(lines[1], left_out);
}

#[test]
fn without_a_current_node_the_branch_of_the_newest_message_is_shown() {
    let shell = Shell::new();
    let mut export = boat();
    export.as_object_mut().unwrap().remove("current_node");
    assert_eq!(shell.replay_openai("one.json", &export.to_string(), &[]).code, 0);
    assert_eq!(shell.turns("boat")[1][2], "Caulk the seam.");
}

#[test]
fn a_list_of_messages_is_a_talk_in_whatever_form_it_comes() {
    let user = json!({"role": "user", "content": "Where is the boat?", "name": "Alex"});
    let calls = json!([{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]);
    let messages = json!([
        {"role": "system", "content": "SECRET"},
        {"role": "developer", "content": "SECRET"},
        {"role": "assistant", "content": "Hello."},
        user,
        {"role": "assistant", "content": null, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "SECRET"},
        {"role": "assistant", "content": [{"type": "text", "text": "At the quay."}]},
        {"role": "user", "content": [{"type": "text", "text": "This one?"}, {"type": "image_url", "image_url": {"url": "SECRET"}}]},
        {"role": "user", "content": "Well?"},
        {"role": "assistant", "content": null, "refusal": "I cannot say."},
    ]);
    let turns = [
        ["", "Hello."],
        ["Where is the boat?", "At the quay."],
        ["This one?", ""],
        ["Well?", "I cannot say."],
    ];
    check(&messages.to_string(), &turns);
    check(&serde_json::to_string_pretty(&json!({"messages": messages, "model": "gpt"})).unwrap(), &turns);
    check(&json!([messages]).to_string(), &turns);
    check(&json!([{"messages": messages}]).to_string(), &turns);
    let lines: String =
        messages.as_array().unwrap().iter().map(|message| message.to_string() + "\n").collect();
    check(&lines, &turns);

    let shell = Shell::new();
    let run = shell.replay_openai("chat.json", &messages.to_string(), &[]).json();
    assert_eq!(
        run["left_out"],
        json!({"instructions": 2, "tools": 2, "hidden": 0, "branches": 0, "attachments": 1})
    );
    let turn = shell.run(&["--json", "turn", "show", "--user", "alex", "chat/1/2"]);
    assert_eq!(turn.json()["user_name"], "Alex");
}

#[test]
fn lines_of_talks_are_named_by_their_place_unless_they_have_an_id() {
    let shell = Shell::new();
    let talk = |text: &str| json!([{"role": "user", "content": text}]);
    let lines = format!(
        "{}\n{}\n\n{}\n",
        json!({"messages": talk("one")}),
        talk("two"),
        json!({"id": "third", "messages": talk("three")})
    );
    assert_eq!(shell.replay_openai("tuning.v2.jsonl", &lines, &[]).code, 0);
    let said = |session: &str| shell.turns(session)[0].clone();
    assert_eq!(said("tuning.v2/1"), ["tuning.v2/1/1", "one", ""]);
    assert_eq!(said("tuning.v2/2"), ["tuning.v2/2/1", "two", ""]);
    assert_eq!(said("third"), ["third/1", "three", ""]);

    let replay = |args: &[&str]| {
        let args = [&["replay", "-", "--user", "bob", "--format", "openai"], args].concat();
        let mut child = shell
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        ended(&child.wait_with_output().unwrap())
    };
    let run = replay(&[]);
    assert_eq!(
        (run.code, run.stderr.contains("conversation 1: it has no id; ") && run.stderr.contains("--name")),
        (3, true)
    );
    assert_eq!(replay(&["--name", "tuned"]).code, 0);
    assert_eq!(shell.run(&["session", "show", "--user", "bob", "tuned/2"]).code, 0);
}

#[test]
fn a_talk_that_went_on_is_replayed_further_also_if_its_session_had_ended() {
    let shell = Shell::new();
    let mut messages =
        vec![json!({"role": "user", "content": "one"}), json!({"role": "assistant", "content": "1"})];
    assert_eq!(shell.replay_openai("chat.json", &json!(messages).to_string(), &[]).code, 0);
    messages.push(json!({"role": "user", "content": "two"}));
    let run = shell.replay_openai("chat.json", &json!(messages).to_string(), &["--end"]).json();
    assert_eq!((&run["turns_new"], &run["turns_known"]), (&json!(1), &json!(1)));
    messages.push(json!({"role": "user", "content": "three"}));
    let run = shell.replay_openai("chat.json", &json!(messages).to_string(), &[]).json();
    assert_eq!((&run["turns_new"], &run["turns_known"]), (&json!(1), &json!(2)), "though it had been ended");
}

#[test]
fn what_is_no_talk_is_refused_before_anything_is_written() {
    let talk = json!({"role": "user", "content": "SECRET"});
    check_refused("SECRET", "not valid JSON: expected value at line 1, column 1");
    check_refused("[{\"role\": \"user\", \"content\": \"SECRET\"}", "not valid JSON: EOF");
    check_refused("\"SECRET\"", "neither a ChatGPT export");
    check_refused("{\"SECRET\": 1}", "conversation 1: it has neither a mapping");
    check_refused(&json!([talk, "SECRET"]).to_string(), "conversation 1: message 2: its role is not one of");
    check_refused(&json!([talk, {"role": "SECRET"}]).to_string(), "message 2: its role is not one of");
    check_refused(
        &json!([talk, {"role": "user", "content": 17}]).to_string(),
        "message 2: its content is neither",
    );
    check_refused(&json!([talk, {"role": "user", "content": "NUL \0"}]).to_string(), "conversation 1: ");
    check_refused(
        &json!([{"role": "user", "content": "x", "create_time": true}]).to_string(),
        "a time is neither",
    );
    let good = json!({"id": "good", "messages": [talk]});
    let lost =
        json!({"id": "lost", "current_node": "SECRET", "mapping": {"n": node(None, "user", 1, "SECRET")}});
    check_refused(&json!([good, lost]).to_string(), "conversation 2: its current_node is not in its mapping");
    let circle = json!({"current_node": "n", "mapping": {"n": node(Some("n"), "user", 1, "SECRET")}});
    check_refused(&circle.to_string(), "conversation 1: its nodes are their own ancestors");
    let mut ahead = garden();
    ahead["mapping"]["n1"]["message"]["create_time"] = json!(2_900_000_000.0);
    check_refused(
        &json!([good, ahead]).to_string(),
        "conversation 2: its date, 2061-11-23, is more than a day ahead",
    );
}
