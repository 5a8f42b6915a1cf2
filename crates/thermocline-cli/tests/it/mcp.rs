//! `thermocline mcp`, started in the way in which chat clients start it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::shell::Shell;

const NEW: &str = "2026-07-28";

/// A running `thermocline mcp`.
struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Mcp {
    fn start(shell: &Shell, args: &[&str]) -> Self {
        let mut command = shell.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn of_alex(shell: &Shell) -> Self {
        Self::start(shell, &["mcp", "--user", "alex"])
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string());
        let answer = self.receive();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    /// Does the handshake of the protocol's first revision.
    fn greet(&mut self) -> Value {
        let hello = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } });
        let greeted = self.ask(&request(1, "initialize", hello));
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        greeted
    }

    /// Ends the input; returns the remaining answers and the exit code.
    fn end(mut self) -> (Vec<Value>, i32) {
        drop(self.input.take());
        let rest = self
            .output
            .by_ref()
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).expect("only protocol"));
        let rest = rest.collect();
        (rest, self.child.wait().unwrap().code().unwrap())
    }
}

fn request(id: u64, method: &str, params: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params.into() })
}

fn call(id: u64, tool: &str, arguments: impl Into<Value>) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments.into() }))
}

fn record(id: u64) -> Value {
    let said = format!("This is turn {id}.");
    call(
        id,
        "memory_session",
        json!({ "op": "record", "session": "s", "user_message": said, "ai_response": "Good.", "caller_id": said }),
    )
}

#[test]
fn what_is_kept_in_one_run_is_recalled_in_the_next() {
    let shell = Shell::new();
    let mut first = Mcp::of_alex(&shell);
    assert_eq!(first.greet()["result"]["serverInfo"]["name"], "thermocline");
    let saved = first.ask(&call(2, "memory_save", json!({ "attribute": "home", "value": "Lisbon" })));
    assert_eq!(saved["result"]["isError"], false, "{saved}");
    assert_eq!(first.end(), (Vec::new(), 0));

    let mut second = Mcp::of_alex(&shell);
    second.greet();
    let recalled = second.ask(&call(2, "memory_recall", json!({ "query": "Where do I live?" })));
    assert!(recalled.to_string().contains("Lisbon"), "{recalled}");
    assert_eq!(second.end().1, 0);
}

#[test]
fn the_end_of_the_input_in_the_middle_of_calls_cuts_none() {
    let shell = Shell::new();
    let mut mcp = Mcp::of_alex(&shell);
    mcp.greet();
    for id in 2..12 {
        mcp.send(&record(id).to_string());
    }
    let (answers, code) = mcp.end();
    assert_eq!((answers.len(), code), (10, 0), "{answers:?}");
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false), "{answers:?}");
    let turns = shell.run(&["call", "session_show", r#"{"session":"s"}"#, "--user", "alex"]).json();
    assert_eq!(turns["info"]["turn_count"], 10, "{turns}");
}

#[test]
fn nothing_but_protocol_is_on_the_standard_output() {
    let shell = Shell::new();
    let mut mcp = Mcp::start(&shell, &["mcp", "--user", "alex", "--tools", "full"]);
    mcp.greet();
    for line in ["nonsense", "{}", r#"{"jsonrpc":"2.0","id":7,"method":"nothing/known"}"#, "\u{feff}", ""] {
        mcp.send(line);
    }
    mcp.send(&call(8, "memory_turn", json!({ "turn": "not an id" })).to_string());
    mcp.send(&call(9, "memory_nonsense", json!({})).to_string());
    let (answers, code) = mcp.end();
    assert_eq!(code, 0);
    for id in 7..10 {
        assert!(answers.iter().any(|answer| answer["id"] == id), "{id}: {answers:?}");
    }
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"), "{answers:?}");
}

#[test]
fn a_name_that_nobody_can_have_is_refused_before_anything_is_opened() {
    let shell = Shell::new();
    for name in ["", "id:alex", &"x".repeat(257)] {
        let ended = shell.run(&["mcp", "--user", name]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    }
    assert!(shell.files().is_empty());
}

#[test]
fn whom_it_is_for_hears_of_nobody_else() {
    let shell = Shell::new();
    let mut mcp = Mcp::start(&shell, &["mcp", "--user", "alex", "--tools", "knowledge"]);
    mcp.greet();
    let listed = mcp.ask(&request(2, "tools/list", json!({})));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 16, "{tools:?}");
    assert!(tools.iter().all(|tool| tool["name"] != "memory_embed" && tool["name"] != "memory_reindex"));
    assert_eq!(mcp.end().1, 0);
}

#[test]
fn a_profile_that_is_not_there_is_refused_before_anything_is_opened() {
    let shell = Shell::new();
    let ended = shell.run(&["mcp", "--user", "alex", "--tools", "everything"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(shell.files().is_empty());
}

/// Returns the JSON blocks of the page about clients.
fn blocks() -> Vec<Value> {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clients.md")).unwrap();
    let blocks = page.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

#[test]
fn each_configuration_of_the_page_on_clients_starts_a_server_that_answers() {
    let (mut commands, mut addresses) = (0, 0);
    for block in blocks() {
        let servers = block.get("mcpServers").or_else(|| block.get("servers")).and_then(Value::as_object);
        for (name, server) in servers.expect("a list of servers") {
            assert_eq!(name, "memory");
            if let Some(url) = server.get("url") {
                assert_eq!(
                    (&server["type"], url),
                    (&json!("http"), &json!("http://127.0.0.1:7411/mcp/users/alex"))
                );
                addresses += 1;
                continue;
            }
            assert_eq!(server["command"], "thermocline");
            let shell = Shell::new();
            let here = shell.folder.path().to_str().unwrap();
            let args: Vec<String> = server["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|arg| arg.as_str().unwrap().replace("/home/alex", here))
                .collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();

            let mut old = Mcp::start(&shell, &args);
            assert_eq!(old.greet()["result"]["protocolVersion"], "2024-11-05");
            assert!(
                !old.ask(&request(2, "tools/list", json!({})))["result"]["tools"]
                    .as_array()
                    .unwrap()
                    .is_empty()
            );
            assert_eq!(old.end().1, 0);

            let mut new = Mcp::start(&shell, &args);
            let meta = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": { "name": "new", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {} });
            let found = new.ask(&request(1, "server/discover", json!({ "_meta": meta })));
            assert!(
                found["result"]["supportedVersions"].as_array().unwrap().contains(&json!(NEW)),
                "{found}"
            );
            assert_eq!(new.end().1, 0);
            commands += 1;
        }
    }
    assert_eq!((commands, addresses), (4, 2), "each program has its block");
}
