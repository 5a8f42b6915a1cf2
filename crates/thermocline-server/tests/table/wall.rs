//! The wall of trust: what is trusted less changes nothing that is trusted more, whatever the operation, and by whatever name
//! a request calls it.
//!
//! The requests are made from the table: every operation, by each origin, is asked for everything that a holder who is trusted
//! more has in the file. After each request, every row that was there is still there, to the byte. So that no refusal is
//! refused for another reason, the user asks the same of a copy, and must succeed at least once with each operation.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OpenFlags, types::Value as SqlValue};
use serde_json::{Map, Value, json};
use thermocline::Origin;
use thermocline_server::{
    caller::Caller,
    ops::{
        Row,
        call::Surface,
        schema,
        spec::{Body, Target},
    },
    service::CallRequest,
};

use crate::bench::{ALEX, Bench};

/// The tables with rows of what somebody said or stated, what identifies a row, and what counts: columns that follow from an
/// addition, such as the number of a session's turns, when it began by its first turn, which session continues it, or the
/// tier to which a turn is evicted when another one is recorded.
const TABLES: [(&str, &str, &[&str]); 16] = [
    ("conversation_turns", "id", &["memory_tier", "tier_pad"]),
    ("turns_aside", "id", &[]),
    (
        "conversation_sessions",
        "id",
        &["turn_count", "total_tokens", "started_at", "last_active_at", "successor_id"],
    ),
    ("conversation_summaries", "id", &[]),
    ("archived_frames", "frame_no", &[]),
    ("archived_turns", "turn_key", &[]),
    ("identity_anchors", "id", &[]),
    ("derivations", "hex(product_id) || hex(source_id) || stance", &[]),
    ("user_memories", "memory_no", &[]),
    ("memory_state", "memory_no", &["access_count", "usage_count", "last_used_at"]),
    ("memory_terms", "memory_no || kind || term", &[]),
    ("memory_sources", "memory_no || hex(source_id)", &[]),
    ("memory_edges", "id", &[]),
    ("memory_changes", "memory_no || ' ' || change_no", &[]),
    ("memory_episodes", "id", &[]),
    ("memory_sensors", "memory_no || sensor || subject", &[]),
];

/// A row by its table and key: each column's name and value.
pub type Rows = BTreeMap<(&'static str, String), Vec<(String, SqlValue)>>;

pub fn looking_at(bench: &Bench) -> Connection {
    let path = bench.folder.path().join("memory.db");
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// A number that changes whenever something is written: what is refused mostly writes nothing, and need not be read again.
fn version(conn: &Connection) -> i64 {
    conn.query_row("PRAGMA data_version", [], |row| row.get(0)).unwrap()
}

pub fn rows(conn: &Connection) -> Rows {
    let mut found = Rows::new();
    for (table, key, counts) in TABLES {
        let mut stmt = conn
            .prepare(&format!("SELECT CAST({key} AS TEXT) AS k, hex({key}) AS h, * FROM {table}"))
            .unwrap();
        let names: Vec<String> = stmt.column_names().into_iter().map(str::to_owned).collect();
        let mut read = stmt.query([]).unwrap();
        while let Some(row) = read.next().unwrap() {
            let is_kept = |name: &str| {
                name != "k"
                    && name != "h"
                    && !counts.contains(&name)
                    && (counts.is_empty() || name != "row_check")
            };
            let values = names.iter().enumerate().filter(|(_, name)| is_kept(name));
            let values = values.map(|(at, name)| (name.clone(), row.get::<_, SqlValue>(at).unwrap()));
            found.insert((table, row.get("h").unwrap()), values.collect());
        }
    }
    found
}

/// What differs from before, except rows that were added.
fn differences(before: &Rows, after: &Rows) -> Vec<String> {
    let mut found = Vec::new();
    for ((table, key), old) in before {
        match after.get(&(*table, key.clone())) {
            None => found.push(format!("{table} {key} is gone")),
            Some(new) => {
                let columns = old.iter().zip(new).filter(|(old, new)| old != new);
                found.extend(
                    columns.map(|((name, old), (_, new))| format!("{table} {name}: {old:?} -> {new:?}")),
                );
            }
        }
    }
    found
}

/// By the name of a field: what a request may call by it.
pub type Named = BTreeMap<&'static str, Vec<Value>>;

/// A file with everything that an operation can name, all of it the holder's.
async fn world(holder: Origin) -> (Bench, Named, Rows) {
    let bench = Bench::new().await;
    let ask = async |name: &str, request: Value| {
        let asked = bench.ask_as(Caller::shell(holder), name, request.clone()).await;
        asked.unwrap_or_else(|problem| panic!("{holder:?} {name} {request}: {problem:?}")).1
    };
    let long = "There are many things to look at before the season begins, from the rigging to the papers. "
        .repeat(8);
    let said = |session: &str, key: &str, message: &str, critical: bool| {
        json!({
            "session": session, "caller_id": key, "user_message": message, "ai_response": long, "critical": critical,
        })
    };
    ask("record", said("cold", "c1", "My name is Alexandra Petrova. I live in Lisbon.", false)).await;
    ask("record", said("cold", "c2", "My blood type is 0 negative.", true)).await;
    ask("session_end", json!({ "session": "cold" })).await;
    bench.answer("job_run", json!({})).await;
    ask("record", said("ended", "e1", "I keep bees.", false)).await;
    ask("session_end", json!({ "session": "ended" })).await;
    ask("session_start", json!({})).await;
    let first = ask("record", said("open", "o1", "I am allergic to penicillin.", true)).await;
    ask("record", said("open", "o2", "Call my sister.", false)).await;
    ask(
        "record_message",
        json!({ "session": "waiting", "caller_id": "w1", "user_message": "Are you there?" }),
    )
    .await;
    ask("session_state_set", json!({ "session": "open", "name": "plan", "text": "Sail." })).await;
    let home = ask("anchor_set", json!({ "attribute": "job", "value": "nurse" })).await;
    let gone = ask("anchor_set", json!({ "attribute": "diet", "value": "vegan" })).await;
    ask("anchor_retract", json!({ "anchor": gone["id"] })).await;
    let mut memories = Vec::new();
    for (n, (title, extra)) in [
        ("Bank", json!({ "tags": ["money"], "goal_signature": "bank", "session": "open" })),
        ("Pinned", json!({ "pinned": true })),
        ("Archived", json!({})),
        ("Forgotten", json!({})),
        ("Hidden", json!({})),
        ("Old", json!({ "goal_signature": "editor" })),
        ("New", json!({ "goal_signature": "editor" })),
    ]
    .into_iter()
    .enumerate()
    {
        let mut request = json!({ "title": title, "content": format!("The {title} number {n} is what it is, and no other."), "caller_id": title });
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        memories.push(ask("memory_save", request).await["memory"]["id"].clone());
    }
    let edited = ask("memory_edit", json!({ "memory": memories[0], "importance": 0.7 })).await;
    assert_eq!(edited["importance"], 0.7);
    ask("memory_forget", json!({ "memory": memories[3] })).await;
    let hidden = ask("quarantine", json!({ "source": { "memory": memories[4] } })).await;
    ask("memory_used", json!({ "memory": memories[0], "outcome": "success", "caller_id": "use" })).await;
    let edge = ask("edge_set", json!({ "from": memories[0], "type": "solves", "to": memories[1] })).await;
    let contradicts =
        ask("edge_set", json!({ "from": memories[1], "type": "contradicts", "to": memories[2] })).await;
    bench.answer("job_run", json!({})).await;
    ask("sensor_watch", json!({ "memory": memories[0], "sensor": "human", "check": "bank" })).await;
    let context = ask("recall", json!({ "query": "bees" })).await;
    let before = rows(&looking_at(&bench));
    // What waits for a person is a tool's, and so not the holder's.
    let waits = json!({ "title": "Bank", "content": "The money is in a sock.", "goal_signature": "bank" });
    bench.well_as(Origin::Tool, "memory_save", waits).await;
    let groups = ask("memory_history", json!({ "memory": memories[0] })).await;
    let mut group: Vec<Value> =
        groups["items"].as_array().unwrap().iter().map(|change| change["group"].clone()).collect();
    group.retain(Value::is_string);
    group.push(hidden["group"].clone());
    let list = async |name: &str| bench.answer(name, json!({})).await["items"].as_array().unwrap().clone();
    let ids = |items: &[Value]| items.iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
    let sessions = list("session_list").await;
    let with_id = |id: &Value| json!(format!("id:{}", id.as_str().unwrap()));
    let keys = ["open", "waiting", "ended", "cold"].map(|key| json!(key));
    let anchors = ids(&list("anchor_list").await);
    assert!(anchors.contains(&home["id"]) && anchors.len() > 3, "{anchors:?}");
    let memory = memories.iter().cloned().chain(["key:Bank", "key:Pinned"].map(|key| json!(key)));
    let named = Named::from([
        ("session", keys.into_iter().chain(sessions.iter().map(|session| with_id(&session["id"]))).collect()),
        (
            "turn",
            ["w1", "o1", "o2", "e1", "c1", "c2"]
                .map(|key| json!(format!("key:{key}")))
                .into_iter()
                .chain([first["turn_id"].clone()])
                .collect(),
        ),
        ("replacing", vec![first["turn_id"].clone()]),
        ("memory", memory.collect()),
        ("anchor", anchors),
        ("edge", vec![edge["id"].clone(), contradicts["id"].clone()]),
        ("group", group),
        ("review", ids(&list("review_list").await)),
        ("receipt", vec![json!("last"), context["receipt"].clone()]),
        ("number", vec![json!("1")]),
        ("job", vec![json!("all")]),
    ]);
    (bench, named, before)
}

/// What a request may call by a field of this name.
pub fn candidates<'n>(named: &'n Named, field: &str) -> Option<&'n Vec<Value>> {
    let field = match field {
        "from" | "to" | "by" | "memories" | "old" | "new" => "memory",
        "sessions" => "session",
        field => field,
    };
    named.get(field)
}

/// Requests made from a row's schema: the required fields, alone and with each other one, for everything that they can name.
fn made(row: &Row, named: &Named) -> Vec<Value> {
    let root = schema::request(row);
    let Some(fields) = root["properties"].as_object() else { return vec![json!({})] };
    let required: Vec<&str> =
        root["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let most =
        fields.keys().filter_map(|field| candidates(named, field)).map(Vec::len).max().unwrap_or(1).max(1);
    let mut requests = Vec::new();
    for at in 0..most {
        let value = |field: &str, offset: usize| match candidates(named, field) {
            Some(values) if values.is_empty() => json!("0199aaaa-0000-7000-8000-0000000000b1"),
            Some(values) if field == "memories" => {
                json!([values[at % values.len()], values[(at + 1) % values.len()]])
            }
            Some(values) => values[(at + offset) % values.len()].clone(),
            None => sample(&root, &fields[field], 0),
        };
        let ids = ["from", "to", "by"];
        let offset = |field: &str| ids.iter().position(|id| *id == field).unwrap_or(0);
        let least: Map<String, Value> =
            required.iter().map(|field| ((*field).to_owned(), value(field, offset(field)))).collect();
        requests.push(Value::Object(least.clone()));
        let is_worth = |field: &str| at == 0 || candidates(named, field).is_some();
        for field in fields.keys().filter(|field| !required.contains(&field.as_str()) && is_worth(field)) {
            let mut with = least.clone();
            with.insert(field.clone(), value(field, offset(field)));
            requests.push(Value::Object(with));
        }
    }
    requests
}

/// A value that fits a schema.
pub fn sample(root: &Value, schema: &Value, depth: usize) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        return sample(root, &root["$defs"][name.rsplit('/').next().unwrap()], depth);
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) =
            schema[choice].as_array().and_then(|of| of.iter().find(|of| of["type"] != "null"))
        {
            return sample(root, first, depth);
        }
    }
    let of = match &schema["type"] {
        Value::Array(of) => of.iter().find(|of| **of != json!("null")).cloned().unwrap_or_default(),
        of => of.clone(),
    };
    match of.as_str() {
        Some("string") if schema["format"] == "date-time" => json!("2026-03-01T10:00:00Z"),
        Some("string") if schema["format"] == "date" => json!("2026-03-01"),
        Some("integer") => schema["minimum"].as_i64().map_or(json!(1), |least| json!(least.max(1))),
        Some("number") => json!(0.4),
        Some("boolean") => json!(true),
        Some("array") if depth < 3 => json!([sample(root, &schema["items"], depth + 1)]),
        Some("object") if depth < 3 => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            required
                .map(|field| (field.to_owned(), sample(root, &schema["properties"][field], depth + 1)))
                .collect::<Map<_, _>>()
                .into()
        }
        Some("string") => json!("Something else entirely."),
        _ => json!({}),
    }
}

/// Requests that would be of use to somebody who wants to change what is there, where one made at random is not.
fn useful(named: &Named) -> Vec<(&'static str, Value)> {
    let memory = &named["memory"];
    let mut requests = Vec::new();
    let said = |session: &str, message: &str| json!({ "session": session, "user_message": message, "ai_response": "Noted." });
    for session in ["open", "waiting", "ended", "cold"] {
        requests.push((
            "record",
            said(session, "I moved to Minsk. My name is Mallory Evil. I no longer work as a nurse."),
        ));
        requests.push(("record_message", json!({ "session": session, "user_message": "And now?" })));
    }
    let replaced = json!({ "session": "open", "user_message": ".", "replacing": named["replacing"][0] });
    requests.push(("record", replaced.clone()));
    requests.push(("record_message", replaced.clone()));
    let mut many = replaced;
    many["caller_id"] = json!("many");
    requests.push(("record_many", json!({ "turns": [many] })));
    requests.push(("turn_complete", json!({ "turn": "key:w1", "ai_response": "Yes." })));
    for (attribute, value) in
        [("name", "Mallory"), ("home", "Minsk"), ("job", "spy"), ("job", "nurse"), ("diet", "vegan")]
    {
        requests.push(("anchor_set", json!({ "attribute": attribute, "value": value })));
    }
    for anchor in &named["anchor"] {
        requests.push(("anchor_replace", json!({ "anchor": anchor, "value": "Mallory" })));
    }
    for (n, id) in memory.iter().enumerate() {
        let other = format!("Nobody ever said number {n} before.");
        requests.push((
            "memory_edit",
            json!({ "memory": id, "content": other, "tags": ["evil"], "pinned": true }),
        ));
        let with = json!({ "title": "Other", "content": format!("{other} Not so.") });
        requests.push(("memory_supersede", json!({ "memory": id, "with": with })));
        requests.push(("quarantine", json!({ "source": { "memory": id } })));
        requests.push(("episode_note", json!({ "title": "Noted", "memory": id })));
        for kind in ["solves", "contradicts", "related_to"] {
            requests
                .push(("edge_set", json!({ "from": memory[0], "type": kind, "to": id, "strength": 0.1 })));
            requests
                .push(("edge_set", json!({ "from": id, "type": kind, "to": memory[1], "strength": 0.1 })));
        }
        for outcome in ["failure", "correction"] {
            requests.push((
                "memory_used",
                json!({ "memory": id, "outcome": outcome, "caller_id": format!("{outcome} {n}") }),
            ));
        }
    }
    for origin in ["user", "assistant", "tool"] {
        requests.push(("quarantine", json!({ "source": { "origin": origin } })));
    }
    for session in &named["session"] {
        requests.push(("quarantine", json!({ "source": { "session": session } })));
    }
    let again = json!({ "title": "Bank", "content": "The Bank number 0 is what it is, and no other.", "tags": ["evil"], "entities": ["Evil"], "importance": 0.1 });
    requests.push(("memory_save", again));
    let slot = json!({ "title": "Bank", "content": "The money is elsewhere.", "goal_signature": "bank" });
    requests.push(("memory_save", slot));
    let merged = json!({ "title": "Both", "content": "Both of them are one and the same." });
    requests.push(("memory_merge", json!({ "memories": [memory[0], memory[1]], "into": merged })));
    let file = json!({ "files": [{ "name": "a.md", "text": "# Bank\n\nThe Bank number 0 is what it is, and no other.\n" }] });
    requests.push(("memory_import", file));
    requests.push(("memory_forget_all", json!({ "statuses": [] })));
    for review in &named["review"] {
        requests.push(("review_decide", json!({ "review": review, "decision": "approved", "by": "Alex" })));
    }
    requests.push(("sensor_watch", json!({ "memory": "key:Pinned", "sensor": "human", "check": "bank" })));
    requests.push(("sensor_unwatch", json!({ "memory": "key:Bank", "sensor": "human" })));
    requests.push(("memory_validate", json!({ "memories": [memory[0]] })));
    requests.push(("session_restore", json!({ "session": "cold" })));
    requests.push(("backup", json!({ "name": "another.db" })));
    requests
}

async fn ask(bench: &Bench, by: Origin, row: &'static Row, request: Value) -> bool {
    let spool = (row.spec.body != Body::Json).then(|| tempfile::tempfile().unwrap());
    let asked = CallRequest {
        caller: std::sync::Arc::new(Caller::shell(by)),
        user: (row.spec.target == Target::User).then(|| ALEX.to_owned()),
        surface: Surface::Shell,
        request,
        spool,
    };
    bench.service.run(row, asked).await.is_ok()
}

fn requests(bench: &Bench, named: &Named) -> Vec<(&'static Row, Value)> {
    let mut all: Vec<(&'static Row, Value)> = Vec::new();
    for row in bench.service.table {
        all.extend(made(row, named).into_iter().map(|request| (row, request)));
    }
    all.extend(useful(named).into_iter().map(|(name, request)| (bench.row(name), request)));
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_trusted_less_changes_no_byte_of_what_is_trusted_more() {
    let levels: [(Origin, &[Origin]); 2] = [
        (Origin::User, &[Origin::Assistant, Origin::Tool, Origin::Document]),
        (Origin::Assistant, &[Origin::Tool, Origin::Document]),
    ];
    for (holder, less) in levels {
        let (bench, named, mut before) = world(holder).await;
        let known: BTreeSet<(&str, String)> = before.keys().cloned().collect();
        assert!(before.len() > 60, "{} rows", before.len());
        let (conn, mut broken) = (looking_at(&bench), BTreeMap::new());
        let mut seen = version(&conn);
        for &by in less {
            for (row, request) in requests(&bench, &named) {
                ask(&bench, by, row, request.clone()).await;
                let now = version(&conn);
                if std::mem::replace(&mut seen, now) == now {
                    continue;
                }
                let after = rows(&conn);
                let mut found = differences(&before, &after);
                if row.spec.name == "memory_used" && request["receipt"].is_string() {
                    // A report with the receipt of a recall that showed the memory counts, once a day.
                    found.retain(|what| {
                        !["confidence", "success_rate", "row_check"]
                            .iter()
                            .any(|column| what.contains(column))
                    });
                }
                if !found.is_empty() {
                    broken.insert(format!("{by:?} {} {request}", row.spec.name), found);
                    // What comes next is held against what is left.
                    before.retain(|key, _| after.contains_key(key));
                    before.extend(after.into_iter().filter(|(key, _)| known.contains(key)));
                }
            }
        }
        assert!(broken.is_empty(), "what the {holder:?} said: {broken:#?}");
    }
}

/// Operations of which no request made here can succeed, and why.
const BESIDES: [(&str, &str); 1] = [("user_import", "it is for users who have nothing yet")];

#[tokio::test(flavor = "multi_thread")]
async fn the_user_succeeds_with_what_is_refused_to_others() {
    let (bench, named, _) = world(Origin::User).await;
    bench.answer("stats", json!({})).await; // Receipts are written now.
    bench.answer("backup", json!({ "name": "world.db" })).await;
    let all = requests(&bench, &named);
    let mut refused = Vec::new();
    for row in bench.service.table {
        let mut is_asked = false;
        for (_, request) in all.iter().filter(|(of, _)| of.spec.name == row.spec.name) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::copy(bench.folder.path().join("world.db"), folder.path().join("memory.db")).unwrap();
            let copy = Bench::on(folder, |_| {}).await;
            is_asked = ask(&copy, Origin::User, copy.row(row.spec.name), request.clone()).await;
            if is_asked {
                break;
            }
        }
        if !is_asked && !BESIDES.iter().any(|(name, _)| *name == row.spec.name) {
            refused.push(row.spec.name);
        }
    }
    assert!(refused.is_empty(), "the user is refused too, so the wall was not asked: {refused:?}");
}
