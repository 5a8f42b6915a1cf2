//! A handwritten export of a user with memories: every column has a value in some line, also in combinations that no
//! operation writes.

use serde_json::{Value, json};
use thermocline::NewTurn;

use crate::{
    support::{Fixture, turn},
    transfer::export,
};

/// Text that no error may contain.
pub const CANARY: &str = "qwcanaryqw";

const FORMAT: u64 = 4;

pub fn uuid(number: u8) -> String {
    format!("00000000-0000-7000-8000-0000000000{number:02x}")
}

pub fn memory_id(number: u8) -> String {
    format!("mem_{}", uuid(number))
}

/// Returns the line of a memory whose optional fields are null or empty.
fn knowledge(number: u8, status: &str, title: &str) -> Value {
    let at = "2026-03-01T12:00:00Z";
    let change = json!({
        "op": "save", "group_id": uuid(100 + number), "made_by": "user", "made_at": at, "old_value": null,
        "new_value": status, "reason": "", "before": null, "undone_by": null,
    });
    let state = json!({
        "access_count": 0, "last_used_at": null, "usage_count": 0, "success_rate": null, "context_count": 0,
        "project_count": 0, "validated_at": null, "validated_by": null, "validation_count": 0, "resurfacing": "on",
        "resurfaced_count": 0, "resurfaced_on": null, "dismiss_count": 0,
    });
    let beside = json!({
        "tags": [], "entities": [], "sources": [], "changes": [change], "sensors": [], "reviews": [],
        "state": state
    });
    let line = json!({
    "line": "knowledge", "id": memory_id(number), "kind": "decision", "status": status, "superseded_by": null,
    "frequency": "mid", "frequency_since": at, "importance": 0.6, "confidence": 0.8, "reliability": null,
    "consolidation_threshold": null, "information_type": "static", "volatility": "low", "validity_window_s": null,
    "origin": "user", "trust": 3, "learning_source": "manual", "made_by": "caller", "pinned": false,
    "project": null, "goal_signature": null, "task_type": null, "version": 1, "revision": 1, "caller_id": null,
    "said_at": at, "created_at": at, "updated_at": at, "title": title, "summary": "", "procedure": null,
    "extra": {}, "content": format!("{CANARY} {title} is \"so\".\n---\nAnd 🦊."),
    });
    with(line, &beside)
}

/// Returns the line with these fields set.
fn with(mut line: Value, fields: &Value) -> Value {
    for (field, value) in fields.as_object().unwrap() {
        line[field] = value.clone();
    }
    line
}

/// Returns lines of memories with a value in every column, for a user with these turns and this session.
fn memories(turns: &[&Value], session: &Value) -> Vec<Value> {
    let at = "2026-03-02T09:30:00.123Z";
    let source = |from: Value, quote: &str| json!({ "from": from, "origin": "user", "made_by": "caller", "said_at": at, "quote": quote });
    let review = |number: u8, kind: &str, other: Option<String>| {
        json!({
            "id": uuid(number), "kind": kind, "other_id": other, "opened_at": at, "why": "trust 1 against 3",
            "decision": null, "decided_at": null, "decided_by": null,
        })
    };
    let decided = json!({ "decision": "approved", "decided_at": at, "decided_by": "mira" });
    let full = json!({
        "kind": "procedure", "frequency": "ultra_low", "importance": 1.0 / 3.0, "confidence": 0.95,
        "reliability": 0.9, "consolidation_threshold": 0.97, "information_type": "semi_static",
        "volatility": "medium", "validity_window_s": 86_400, "trust": 4, "pinned": true, "project": "lamps",
        "goal_signature": "light", "task_type": "development", "version": 2, "revision": 1, "caller_id": "lamp",
        "said_at": at, "summary": "How it is lit.",
        "procedure": { "steps": ["Light it"], "preconditions": ["Dusk"], "postconditions": ["It is lit"] },
        "extra": { "zeta": [1.5, null], "alpha": { "ключ": "鍵" } },
        "tags": ["Lamps", "at night"], "entities": ["Zoë", "src/lamp.rs"],
        "state": {
            "access_count": 4, "last_used_at": at, "usage_count": 2, "success_rate": 0.5, "context_count": 1,
            "project_count": 1, "validated_at": at, "validated_by": "fs", "validation_count": 3, "resurfacing": "off",
            "resurfaced_count": 1, "resurfaced_on": "2026-03-02", "dismiss_count": 2,
        },
        "sources": [
            source(json!({ "caller": uuid(50) }), ""),
            source(json!({ "import": uuid(51) }), ""),
            source(json!({ "memory": memory_id(3) }), ""),
            source(json!({ "turn": turns[0]["id"] }), "question 1"),
        ],
        "sensors": [{
            "sensor": "fs", "subject": "home:lamp.conf", "expect": { "contains": "on" },
        }],
        "reviews": [with(review(60, "merge", Some(memory_id(3))), &decided), review(61, "promote", None)],
    });
    let superseded = json!({ "superseded_by": memory_id(3), "importance": 0.7 });
    let mut lines = vec![
        with(knowledge(1, "active", "The lamp"), &full),
        with(knowledge(2, "superseded", "Two lamps"), &superseded),
        with(knowledge(3, "active", "Three lamps"), &json!({ "version": 2 })),
        with(
            knowledge(4, "archived", "No lamps"),
            &json!({
                "origin": "tool", "trust": 1, "learning_source": "execution", "made_by": "rules", "frequency": "high",
                "sources": [with(source(json!({ "turn": turns[1]["id"] }), ""), &json!({ "origin": "tool" }))],
                "reviews": [review(62, "contradiction", Some(memory_id(1)))],
            }),
        ),
        knowledge(5, "forgotten", "Lamps"),
    ];
    let retired = json!({
        "op": "supersede", "group_id": uuid(70), "made_by": "assistant", "made_at": at, "old_value": "active",
        "new_value": "superseded", "reason": "the same slot", "before": { "status": "active", "superseded_by": null, "importance": 0.5 },
        "undone_by": uuid(71),
    });
    lines[1]["changes"].as_array_mut().unwrap().push(retired);
    let edge = |number: u8, from: u8, to: u8, kind: &str| {
        json!({
            "line": "edge", "id": uuid(number), "from": memory_id(from), "to": memory_id(to), "type": kind,
            "strength": 0.7, "status": "accepted", "origin": "user", "created_at": at, "updated_at": at,
            "context": "", "description": "",
        })
    };
    let said = json!({ "status": "proposed", "context": "as said", "description": "The second is gone." });
    lines.extend([with(edge(80, 3, 2, "supersedes"), &said), edge(81, 4, 1, "contradicts")]);
    let episode = |number: u8, role: &str, memory: Option<u8>| {
        json!({
            "line": "episode", "id": uuid(number), "role": role, "memory_id": memory.map(memory_id),
            "session_id": null, "turn_number": null, "receipt_id": null, "happened_at": at, "outcome": null,
            "kind": null, "project": null, "task_id": null, "caller_id": null, "task_name": null, "trigger": null,
            "title": "", "tags": [], "summary": "",
        })
    };
    lines.extend((1..=5).map(|number| episode(90 + number, "birth", Some(number))));
    let helped = json!({
        "outcome": "success", "session_id": session["id"], "turn_number": 2, "receipt_id": uuid(55),
        "project": "lamps", "caller_id": "run-1",
    });
    let noted = json!({
        "outcome": "observation", "kind": "fix", "task_id": "t1", "task_name": "Light", "trigger": "Dusk",
        "title": "It is dark", "tags": ["night"], "summary": "And cold.",
    });
    lines.extend([
        with(episode(110, "use", Some(1)), &helped),
        with(episode(111, "use", Some(1)), &json!({ "outcome": "failure" })),
        episode(112, "use", Some(1)),
        with(episode(113, "note", None), &noted),
        json!({ "line": "extracted", "session_id": session["id"], "extracted_at": at }),
        json!({ "line": "erased", "id_hash": "0f".repeat(16) }),
    ]);
    lines
}

/// Adds memories to an export without any.
pub fn with_memories(exported: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let turns: Vec<&Value> = lines.iter().filter(|line| line["line"] == "turn").collect();
    let session = lines.iter().find(|line| line["line"] == "session").unwrap();
    let more = memories(&turns, session);
    lines[0]["format"] = json!(FORMAT);
    let end = lines.len() - 1;
    lines.splice(end..end, more);
    counted(lines)
}

/// Returns the lines, with the memories included in the counts of the last line.
pub fn counted(mut lines: Vec<Value>) -> Vec<Value> {
    let count = |kind: &str| lines.iter().filter(|line| line["line"] == kind).count();
    let counts = json!({
        "memories": count("knowledge"), "edges": count("edge"), "episodes": count("episode"),
        "extracted": count("extracted"), "erased": count("erased"),
    });
    let end = lines.pop().unwrap();
    lines.push(with(end, &counts));
    lines
}

pub fn as_text(lines: &[Value]) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns the export of a user with a few turns.
pub fn turns_alone() -> String {
    let fixture = Fixture::new();
    let user = fixture.alex();
    let session = user.session_named("talk").unwrap();
    (1..=3).for_each(|n| drop(session.record(turn(n)).unwrap()));
    session.record(NewTurn::new("Look at the lamp.", "It is lit.").caller_id("lamp/1")).unwrap();
    export(&user)
}

/// Returns the export of a user with a few turns and memories.
pub fn seed() -> Vec<Value> {
    with_memories(&turns_alone())
}
