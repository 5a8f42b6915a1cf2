//! Resources: what a client can read by its URI, without a query.

use percent_encoding::percent_decode_str;
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Value, json};

use crate::{
    mcp::{Mcp, shown},
    ops::problem::{Code, Problem},
};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";
/// The maximum number of a session's newest turns that are shown, and their maximum size in bytes. The newest turn is
/// always shown whole.
const NEWEST_TURNS: usize = 20;
const NEWEST_BYTES: usize = 32 << 10;

/// Returns the resources with a fixed URI.
pub(super) fn list() -> Vec<Resource> {
    let resource = |name: &str, title: &str, what: &str| {
        Resource::new(format!("memory://{name}"), name)
            .with_title(title)
            .with_description(what)
            .with_mime_type(MARKDOWN)
    };
    vec![
        resource("core", "Core", "The memories that matter most, as CORE.md"),
        resource("profile", "Profile", "Who the user is: every fact that holds"),
        resource("reflection", "Reflection", "What the memories say as a whole, and what to look at"),
    ]
}

/// Returns the templates of resources whose URI names a memory, a session, a turn or a receipt.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |of: &str, name: &str, title: &str, what: &str| {
        ResourceTemplate::new(format!("memory://{of}/{{{name}}}"), name)
            .with_title(title)
            .with_description(what)
            .with_mime_type(JSON)
    };
    vec![
        template("memories", "memory", "Memory", "What is known, whatever its status"),
        template(
            "sessions",
            "session",
            "Session",
            "One conversation by its key or id:<uuid>, with its newest turns",
        ),
        template("turns", "turn", "Turn", "One message and its reply, to the letter"),
        template("receipts", "receipt", "Receipt", "Why a context showed what it showed"),
    ]
}

/// Reads the contents at a URI.
pub(super) async fn read(mcp: &Mcp, uri: &str, client: &str) -> Result<ReadResourceResult, ErrorData> {
    let gone = || ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })));
    let path = uri.strip_prefix("memory://").ok_or_else(gone)?;
    let (kind, text) = match path.split_once('/') {
        None => (MARKDOWN, document(mcp, path, client).await),
        Some((of, name)) => {
            let name = percent_decode_str(name).decode_utf8().map_err(|_| gone())?;
            let found = match of {
                "memories" => mcp.ask("memory_show", json!({ "memory": name }), client).await,
                "sessions" => session(mcp, &name, client).await,
                "turns" => mcp.ask("turn_show", json!({ "turn": name }), client).await.map(without_metadata),
                "receipts" => mcp.ask("receipt_show", json!({ "receipt": name }), client).await,
                _ => return Err(gone()),
            };
            (JSON, found.map(|found| Some(found.to_string())))
        }
    };
    match text {
        // The listed resources exist even for a user who does not exist yet; they are empty.
        Err(problem) if problem.code == Code::NotFound && kind == MARKDOWN => {
            let nothing = "Nothing is known of this user yet.\n";
            Ok(ReadResourceResult::new(vec![ResourceContents::text(nothing, uri).with_mime_type(kind)]))
        }
        Ok(Some(text)) => {
            Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
        }
        Ok(None) => Err(gone()),
        Err(problem) if problem.code == Code::NotFound => Err(gone()),
        Err(problem) => Err(error(&problem)),
    }
}

/// Returns the document with this name; `None` if there is none.
async fn document(mcp: &Mcp, name: &str, client: &str) -> Result<Option<String>, Problem> {
    let row = match name {
        "core" => "core",
        "reflection" => "reflection",
        "profile" => return profile(mcp, client).await.map(Some),
        _ => return Ok(None),
    };
    let response = mcp.ask(row, json!({}), client).await?;
    Ok(response["text"].as_str().map(shown::followed))
}

/// Returns a session, its newest turns in order, and the number of turns before them.
async fn session(mcp: &Mcp, name: &str, client: &str) -> Result<Value, Problem> {
    let mut session = mcp.ask("session_show", json!({ "session": name }), client).await?;
    let asked = json!({ "session": name, "from_end": true, "limit": NEWEST_TURNS });
    let mut page = mcp.ask("turn_list", asked, client).await?;
    let turns = page["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let turns: Vec<Value> = turns.into_iter().map(without_metadata).collect();
    let mut bytes = 0;
    let fits = |turn: &&Value| {
        bytes += turn.to_string().len();
        bytes <= NEWEST_BYTES
    };
    let count = turns.iter().rev().take_while(fits).count().max(1).min(turns.len());
    let shown = &turns[turns.len() - count..];
    let all = session["info"]["turn_count"].as_u64().unwrap_or_default();
    session["earlier_turns"] = all.saturating_sub(count as u64).into();
    session["turns"] = shown.into();
    session["info"] = without_metadata(session["info"].take());
    Ok(session)
}

/// Returns a turn or a session without the caller's own JSON, which no model reads.
fn without_metadata(mut of: Value) -> Value {
    if let Some(fields) = of.as_object_mut() {
        fields.remove("metadata");
    }
    of
}

/// Returns every current fact, ordered by key.
async fn profile(mcp: &Mcp, client: &str) -> Result<String, Problem> {
    /// The maximum number of pages of 200 facts: no user has more.
    const PAGES: usize = 50;
    let mut lines = Vec::new();
    let mut request = json!({ "limit": 200 });
    for _ in 0..PAGES {
        let page = mcp.ask("anchor_list", request.clone(), client).await?;
        let facts = page["items"].as_array().into_iter().flatten();
        lines
            .extend(facts.filter(|fact| shown::holds(fact)).map(|fact| format!("- {}\n", shown::fact(fact))));
        match &page["next_cursor"] {
            Value::String(cursor) => request["cursor"] = cursor.as_str().into(),
            _ => break,
        }
    }
    lines.sort_unstable();
    Ok(format!("# Who the user is\n\n{}", lines.concat()))
}

/// Turns a problem into a protocol error, for methods whose result cannot express a failure.
pub(super) fn error(problem: &Problem) -> ErrorData {
    let detail = shown::failure(problem);
    match problem.code {
        Code::BadRequest | Code::InvalidInput | Code::NotAllowed => ErrorData::invalid_params(detail, None),
        _ => ErrorData::internal_error(detail, None),
    }
}
