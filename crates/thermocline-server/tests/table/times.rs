//! Every time that a request may state: it is refused and nothing changes, or everything can be read afterwards.
//!
//! The requests are made from the table: each field of a request whose format is `date-time` is asked with each time of a
//! list, in a copy of a small file, with the other fields that the operation requires. Each request is about another session
//! and says another text, so that none is taken for an earlier one.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thermocline_server::ops::{
    Row,
    problem::Code,
    schema,
    spec::{Body, Target},
};

use crate::{
    bench::Bench,
    wall::{Named, candidates, looking_at, rows, sample},
};

/// Times at the edges of what RFC 3339, chrono, SQLite or four digits can say, and what is no time.
const TIMES: [&str; 24] = [
    "2016-12-31T23:59:60Z",
    "2016-12-31T23:59:60.999999999Z",
    "2017-01-01T13:59:60+14:00",
    "2026-03-01T10:00:60Z",
    "0000-01-01T00:00:00Z",
    "0000-12-31T23:59:59-00:01",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999999Z",
    "9999-12-31T23:59:60Z",
    "9999-12-31T23:59:59-14:00",
    "10000-01-01T00:00:00Z",
    "+10000-01-01T00:00:00Z",
    "-0001-01-01T00:00:00Z",
    "2026-03-01T10:00:00+23:59",
    "2026-03-01T10:00:00-23:59",
    "2026-03-01T10:00:00+24:00",
    "2026-03-01T10:00:00.123456789Z",
    "1969-12-31T23:59:59.999999999Z",
    "2026-03-29T02:30:00+01:00",
    "2026-03-01t10:00:00z",
    "2026-03-01T24:00:00Z",
    "2026-02-30T10:00:00Z",
    "",
];

/// A field inside a request: the names that lead to it; an empty name stands for each item of a list.
type Path = Vec<String>;

/// Finds the fields with times in a schema.
fn times(root: &Value, schema: &Value, depth: usize) -> Vec<Path> {
    if depth > 6 {
        return Vec::new();
    }
    if schema["format"] == "date-time" {
        return vec![Path::new()];
    }
    let mut found = Vec::new();
    if let Some(of) = resolved(root, schema) {
        found.extend(times(root, of, depth + 1));
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        for of in schema[choice].as_array().into_iter().flatten() {
            found.extend(times(root, of, depth + 1));
        }
    }
    let fields = schema["properties"].as_object().into_iter().flatten();
    let items = schema.get("items").filter(|items| items.is_object());
    let below = fields.map(|(name, field)| (name.clone(), field)).chain(items.map(|of| (String::new(), of)));
    for (name, field) in below {
        let paths = times(root, field, depth + 1).into_iter();
        found.extend(paths.map(|path| [vec![name.clone()], path].concat()));
    }
    found.sort();
    found.dedup();
    found
}

fn resolved<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    schema["$ref"].as_str().map(|name| &root["$defs"][name.rsplit('/').next().unwrap()])
}

/// Makes a value with this time at the path, and with what the schema requires beside it.
fn made(root: &Value, schema: &Value, path: &[String], named: &Named, at: usize) -> Option<Value> {
    if let Some(of) = resolved(root, schema) {
        return made(root, of, path, named, at);
    }
    let Some((name, rest)) = path.split_first() else {
        let is_time = times(root, schema, 0).contains(&Path::new());
        return is_time.then(|| json!(TIMES[at]));
    };
    for choice in ["anyOf", "oneOf", "allOf"] {
        let mut of = schema[choice].as_array().into_iter().flatten();
        if let Some(value) = of.find_map(|of| made(root, of, path, named, at)) {
            return Some(value);
        }
    }
    if name.is_empty() {
        return Some(json!([made(root, schema.get("items")?, rest, named, at)?]));
    }
    let fields = schema["properties"].as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |field: &str| match candidates(named, field) {
        Some(known) if field == "memories" => json!(known[2 * at..2 * at + 2]),
        Some(known) => known[at * known.len() / TIMES.len()].clone(),
        None if field == "caller_id" => json!(format!("the caller's {at}")),
        None => match sample(root, &fields[field], 0) {
            Value::String(text) => json!(text.replace("else", &format!("number {at}"))),
            value => value,
        },
    };
    // Several turns at once need their caller's ids.
    let required = required.chain(["caller_id"]).filter(|field| fields.contains_key(*field));
    let mut whole: Map<String, Value> = required.map(|field| (field.to_owned(), value(field))).collect();
    whole.insert(name.clone(), made(root, fields.get(name)?, rest, named, at)?);
    Some(whole.into())
}

/// Makes a file with an open session of one turn and two memories for each time.
async fn world() -> (Bench, Named) {
    let bench = Bench::new().await;
    let (mut sessions, mut turns) = (Vec::new(), Vec::new());
    for n in 0..TIMES.len() {
        let session = json!(format!("session {n}"));
        let said = json!({ "session": session, "user_message": format!("I keep {n} bees."), "ai_response": "Noted.", "said_at": "2026-01-01T10:00:00Z" });
        turns.push(bench.answer("record", said).await["turn_id"].clone());
        sessions.push(session);
    }
    let mut memories = Vec::new();
    for n in 0..2 * TIMES.len() {
        let content = format!("The money of number {n} is in a sock.");
        let memory = json!({ "title": "Bank", "content": content, "said_at": "2026-01-01T10:00:00Z" });
        memories.push(bench.answer("memory_save", memory).await["memory"]["id"].clone());
    }
    bench.answer("backup", json!({ "name": "world.db" })).await;
    let named = BTreeMap::from([("session", sessions), ("turn", turns), ("memory", memories)]);
    (bench, named)
}

/// Asks every reader for everything. Each must answer, with nothing missing.
async fn read_all(bench: &Bench, what: &str) {
    let list = [
        "session_list",
        "memory_list",
        "anchor_list",
        "episode_list",
        "review_list",
        "receipt_list",
        "job_list",
    ];
    for name in list {
        let answer = bench.ask(name, json!({})).await;
        assert!(answer.is_ok(), "{what}: {name}: {answer:?}");
    }
    for session in bench.answer("session_list", json!({})).await["items"].as_array().unwrap() {
        let id = format!("id:{}", session["id"].as_str().unwrap());
        let turns = bench.ask("turn_list", json!({ "session": id })).await;
        assert!(turns.is_ok(), "{what}: {turns:?}");
    }
    let recall = bench.answer("recall", json!({ "query": "bees and the sock in the drawer" })).await;
    assert_eq!(recall["missing"], json!([]), "{what}");
    let context = bench.answer("context", json!({ "message": "bees" })).await;
    assert_eq!(context["missing"], json!([]), "{what}");
    assert!(bench.spooled("user_export", "").await.1.lines().count() > 3, "{what}");
    let diagnosis = bench.answer("doctor", json!({})).await;
    let mut failed = diagnosis["checks"].as_array().unwrap().iter().filter(|check| check["problems"] != 0);
    assert_eq!(failed.next(), None, "{what}");
}

/// Asks a copy of the file with each time in this field. Returns how many times were accepted.
async fn check(world: &Bench, named: &Named, (row, path): &(&'static Row, Path)) -> usize {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(world.folder.path().join("world.db"), folder.path().join("memory.db")).unwrap();
    let bench = Bench::on(folder, |_| {}).await;
    let (root, conn) = (schema::request(row), looking_at(&bench));
    let (mut accepted, mut before) = (Vec::new(), rows(&conn));
    for (at, time) in TIMES.into_iter().enumerate() {
        let request = made(&root, &root, path, named, at).unwrap();
        let what = format!("{} {request}", row.spec.name);
        if let Err(problem) = bench.ask(row.spec.name, request).await {
            assert!(matches!(problem.code, Code::InvalidInput | Code::BadRequest), "{what}: {problem:?}");
            assert!(rows(&conn) == before, "{what}");
        } else {
            accepted.push(time);
            before = rows(&conn);
        }
    }
    let what = format!("{} with {path:?} of {accepted:?}", row.spec.name);
    read_all(&bench, &what).await;
    for session in &named["session"][..2] {
        bench.answer("session_erase", json!({ "session": session })).await;
    }
    read_all(&bench, &what).await;
    bench.answer("user_erase", json!({})).await;
    accepted.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_time_that_a_request_states_is_refused_or_can_be_read() {
    let (world, named) = world().await;
    let mut fields = Vec::new();
    for row in world.service.table.iter().filter(|row| row.spec.body == Body::Json) {
        let root = schema::request(row);
        let paths = times(&root, &root, 0);
        assert!(row.spec.target == Target::User || paths.is_empty(), "{}", row.spec.name);
        fields.extend(paths.into_iter().map(|path| (row, path)));
    }
    assert!(fields.len() >= 10, "{}", fields.len());
    for field in &fields {
        let accepted = check(&world, &named, field).await;
        let (row, path) = field;
        assert!((1..TIMES.len()).contains(&accepted), "{} {path:?}: {accepted} accepted", row.spec.name);
    }
}
