//! The tenant test for MCP: tools of every profile, resources and prompts, through the URL of a user and through the URL
//! that stands for a key's single user.

use serde_json::{Value, json};
use thermocline_server::mcp::ToolProfile;

use super::Tenant;
use crate::{
    client::Answer,
    drawn::{Chance, Ids, Maker},
};

/// A revision of the protocol in which each message describes itself, and an older one with a handshake.
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];

/// The tools that a tenant can call.
pub struct Tools {
    /// For each profile, the name of each tool and the schema of its arguments.
    profiles: Vec<(ToolProfile, Vec<(String, Value)>)>,
}

/// An MCP request.
struct Message {
    method: &'static str,
    params: Value,
}

impl Message {
    fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }

    /// Sends the message to the path `/mcp` followed by `at`.
    fn send(mut self, tenant: &mut Tenant<'_>, at: &str, key: usize, revision: &str) -> Answer {
        let mut headers = vec![("mcp-protocol-version", revision)];
        let name = self.params.get("name").or_else(|| self.params.get("uri")).and_then(Value::as_str);
        // Replaces characters that a header cannot hold, as clients do.
        let name = name.unwrap_or_default().replace(|c: char| !c.is_ascii_graphic(), "%20");
        if revision == REVISIONS[0] {
            headers.push(("mcp-method", self.method));
            if !name.is_empty() {
                headers.push(("mcp-name", &name));
            }
            self.params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientInfo": { "name": "tenant", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": self.method, "params": self.params });
        tenant.send("POST", &format!("/mcp{at}"), &headers, key, Some(&message))
    }
}

impl Tools {
    /// Lists the tools that the server shows to a tenant.
    pub fn of(tenant: &mut Tenant<'_>) -> Self {
        let profiles = ToolProfile::EVERY.map(|profile| {
            let at = format!("?tools={}", profile.as_str());
            let list = Message::new("tools/list", json!({})).send(tenant, &at, 1, REVISIONS[1]).json();
            let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
            let tools = tools
                .iter()
                .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone()));
            (profile, tools.collect())
        });
        Self { profiles: profiles.into() }
    }

    /// Sends a random message. Returns its kind, and whether it was for the tenant's own user and was accepted; `None` if
    /// no message was sent.
    pub fn ask(
        &self,
        tenant: &mut Tenant<'_>,
        chance: &mut Chance,
        ids: &mut Ids,
    ) -> (&'static str, Option<bool>) {
        let (profile, tools) = chance.of(&self.profiles);
        let (sort, message) = match chance.below(6) {
            0 => ("resources", Message::new("resources/read", json!({ "uri": resource(chance, ids) }))),
            1 => ("prompts", prompt(tenant.canary, chance, ids)),
            _ => {
                let (name, schema) = chance.of(tools);
                if name.contains("forget") && !chance.one_in(20) {
                    return ("tools", None);
                }
                let definitions = schema["$defs"].clone();
                let mut maker = Maker { chance, ids, canary: tenant.canary, definitions };
                let arguments = maker.object(schema);
                ("tools", Message::new("tools/call", json!({ "name": name, "arguments": arguments })))
            }
        };
        let user = tenant.asked_of(chance);
        let (at, key) = if user == tenant.user && chance.one_in(3) {
            (String::new(), 1)
        } else {
            (format!("/users/{}", user.replace('/', "%2F")), chance.below(2))
        };
        let revision = *chance.of(&REVISIONS);
        let answer = message.send(tenant, &format!("{at}?tools={}", profile.as_str()), key, revision);
        if user != tenant.user {
            assert_eq!(answer.status, 403, "{at}");
            return (sort, Some(false));
        }
        let told = answer.json();
        assert_ne!(told["error"]["code"], -32603, "a failure of the server: {told}");
        let result = &told["result"];
        ids.learn("", result);
        (sort, Some(result.is_object() && result["isError"] != true))
    }
}

/// Returns the URI of a random resource of either tenant.
fn resource(chance: &mut Chance, ids: &Ids) -> String {
    let mut id = |kind: &str| ids.one(kind, chance).unwrap_or_default();
    let all = [
        "memory://core".to_owned(),
        "memory://profile".to_owned(),
        "memory://reflection".to_owned(),
        "memory://sessions/spring".to_owned(),
        format!("memory://sessions/id:{}", id("session")),
        format!("memory://turns/{}", id("turn")),
        "memory://turns/key:m3".to_owned(),
        format!("memory://receipts/{}", id("receipt")),
        format!("memory://memories/{}", id("memory")),
    ];
    chance.of(&all).clone()
}

fn prompt(canary: &'static str, chance: &mut Chance, ids: &Ids) -> Message {
    let text = Maker { chance, ids, canary, definitions: Value::Null }.text();
    let params = if chance.one_in(2) {
        json!({ "name": "with_memory", "arguments": { "message": text } })
    } else {
        json!({ "name": "end_of_session", "arguments": { "session": text } })
    };
    Message::new("prompts/get", params)
}
