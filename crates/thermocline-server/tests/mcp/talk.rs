//! An MCP client that speaks raw JSON-RPC over two streams, with or without a handshake. The tests over HTTP send the same
//! messages.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use thermocline::Thermocline;
use thermocline_server::{
    caller::{Caller, Users},
    mcp::{self, ToolProfile, Toolbox},
    ops::spec::KeyScope,
    service::Service,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split},
    task::JoinHandle,
    time::timeout,
};

/// The revision of the protocol that has no handshake.
pub const NEW: &str = "2026-07-28";
/// The first revision of the protocol.
pub const OLD: &str = "2024-11-05";
const DEADLINE: Duration = Duration::from_secs(20);

/// A memory in a folder that is deleted when this is dropped.
pub struct Home {
    pub service: Arc<Service>,
    pub toolbox: Toolbox,
    _folder: TempDir,
}

impl Home {
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Creates a home, after `change` has changed its service.
    pub async fn with(change: impl FnOnce(&mut Service)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = Thermocline::open(folder.path().join("memory.db")).await.unwrap();
        let mut service = Service::new(memory);
        change(&mut service);
        let service = Arc::new(service);
        Self { toolbox: Toolbox::new(Arc::clone(&service)), service, _folder: folder }
    }

    /// Starts a conversation over two streams for the user Alex, as a caller with all rights that a tool can need.
    pub async fn alex(&self, profile: ToolProfile, version: &str) -> Talk {
        self.talk(profile, everything(), "alex", version).await
    }

    pub async fn talk(&self, profile: ToolProfile, caller: Caller, user: &str, version: &str) -> Talk {
        let server = self.toolbox.server(profile, Arc::new(caller), user);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = split(theirs);
        let speaking = tokio::spawn(mcp::serve(server, input, output));
        let (reader, writer) = split(ours);
        let mut talk =
            Talk { lines: BufReader::new(reader).lines(), writer, speaking, version: version.to_owned() };
        if version < NEW {
            talk.handshake().await;
        }
        talk
    }
}

/// Returns a caller with all rights that a tool can need.
pub fn everything() -> Caller {
    let mut caller = Caller::local();
    caller.scopes = vec![KeyScope::Read, KeyScope::Write, KeyScope::Inspect, KeyScope::Admin];
    caller
}

/// Returns a caller with these rights for this one user.
pub fn key(scopes: &[KeyScope], user: &str) -> Caller {
    let mut caller = Caller::local();
    caller.scopes = scopes.to_vec();
    caller.users = Users::One(user.to_owned());
    caller
}

pub fn message(id: u64, method: &str, mut params: Value, version: &str) -> Value {
    if version >= NEW {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub fn hello(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } })
}

pub fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A client's connection over two streams.
pub struct Talk {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    speaking: JoinHandle<std::io::Result<()>>,
    version: String,
}

impl Talk {
    async fn handshake(&mut self) {
        let answer = self.ask("initialize", hello(&self.version.clone())).await;
        assert_eq!(answer["result"]["protocolVersion"], self.version, "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
    }

    pub async fn send(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub async fn receive(&mut self) -> Value {
        let line = timeout(DEADLINE, self.lines.next_line()).await.expect("an answer in time").unwrap();
        serde_json::from_str(&line.expect("an answer")).expect("JSON")
    }

    /// Sends a request without waiting; returns its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = next_id();
        let message = message(id, method, params, &self.version);
        self.send(&message.to_string()).await;
        id
    }

    /// Sends a request; returns the whole answer, a result or an error.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request that must succeed; returns its result.
    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed; returns its answer.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.result("tools/call", params.clone()).await;
        assert_eq!(result["isError"], false, "{params}: {result}");
        Called(result)
    }

    /// Calls a tool that must fail; returns its message.
    pub async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(result["isError"], true, "{result}");
        Called(result).text()
    }

    /// Sends a request that violates the protocol; returns the code and the message of the error.
    pub async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.ask(method, params).await;
        let error = &answer["error"];
        (error["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}")), text(&error["message"]))
    }

    pub async fn names(&mut self) -> Vec<String> {
        let list = self.result("tools/list", json!({})).await;
        list["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect()
    }

    /// Ends the input, and waits for the server to end; returns the remaining messages.
    pub async fn end(mut self) -> Vec<Value> {
        self.writer.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = timeout(DEADLINE, self.lines.next_line()).await.unwrap().unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        timeout(DEADLINE, self.speaking).await.unwrap().unwrap().unwrap();
        rest
    }
}

/// A tool's result.
pub struct Called(pub Value);

impl Called {
    /// Returns the text that a model reads.
    pub fn text(&self) -> String {
        let blocks = self.0["content"].as_array().unwrap();
        blocks.iter().map(|block| text(&block["text"])).collect::<Vec<_>>().join("\n")
    }

    /// Returns what follows a word in the text, such as the id after `memory`.
    #[track_caller]
    pub fn named(&self, word: &str) -> String {
        let text = self.text();
        let mut words = text.split_whitespace().skip_while(|other| *other != word).skip(1);
        let found = words.next().unwrap_or_else(|| panic!("{word} in {text}"));
        found.trim_end_matches(['.', ',', ';', ':', ')']).to_owned()
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
