//! The audit file: it says, with ids only, who did what for which user, and contains nothing that anybody said.

use std::fs;

use serde_json::{Value, json};
use thermocline_server::{
    audit::Audit,
    caller::Users,
    keys::New,
    ops::{
        self, schema,
        spec::{Body, KeyScope},
    },
};

use crate::{
    drawn::{Chance, Ids, Maker, has_body, path, query},
    fixture::{Setup, TURN, whole_key},
    logged::Logged,
};

#[test]
fn what_changes_destroys_leaves_or_is_refused_is_written_down_by_ids_alone() {
    let reading =
        New { scopes: vec![KeyScope::Read], users: Users::One("canary-other".to_owned()), ..whole_key() };
    // Erasing a user is for a key that acts for the user.
    let whole = New { origin: thermocline::Origin::User, ..whole_key() };
    let (mut setup, [key, reader]) = Setup::default().keys([whole, reading]);
    let path = setup.path("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    setup.change = Box::new(move |service| service.audit = Some(audit));
    let server = setup.start();
    let ask = |key: &str, method: &str, path: &str, body: &str| {
        let headers = [("x-api-key", key), ("content-type", "application/json")];
        server.client().send(method, path, &headers, body.as_bytes())
    };
    let lines = || -> Vec<Value> {
        fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let turn = TURN.replace("Petrel", "canary");
    let turn = turn.replacen('{', r#"{"session":"canary-key","#, 1);
    assert_eq!(ask(&key, "POST", "/v1/users/canary-name/turns", &turn).status, 201);
    assert_eq!(ask(&key, "POST", "/v1/users/canary-name/recall", r#"{"query":"canary"}"#).status, 200);
    assert!(lines().is_empty(), "neither what adds nor what reads");
    assert_eq!(ask(&reader, "POST", "/v1/users/canary-name/turns", &turn).status, 403);
    assert_eq!(ask(&reader, "POST", "/mcp/users/canary-name", "{}").status, 403);
    assert_eq!(ask(&reader, "GET", "/metrics", "").status, 403);
    assert_eq!(ask(&key, "POST", "/v1/users/canary-name/sessions/canary-key/end", "{}").status, 200);
    assert_eq!(ask(&key, "GET", "/v1/users/canary-name/export", "").status, 200);
    assert_eq!(ask(&key, "DELETE", "/v1/users/canary-name/sessions/no-such", "").status, 404);
    let exported = ask(&key, "GET", "/v1/users/canary-name/export", "");
    let erased = ask(&key, "DELETE", "/v1/users/canary-name", "");
    assert!([200, 202].contains(&erased.status), "{erased:?}");
    let lines_in = [("x-api-key", key.as_str()), ("content-type", "application/x-ndjson")];
    let imported = server.client().send("POST", "/v1/users/canary-new/import", &lines_in, &exported.body);
    assert_eq!(imported.status, 201);
    let told: Vec<_> =
        lines().iter().map(|line| (line["operation"].clone(), line["outcome"].clone())).collect();
    let expected = [
        ("record", "not-allowed"),
        ("mcp", "not-allowed"),
        ("metrics", "not-allowed"),
        ("session_end", "ok"),
        ("user_export", "ok"),
        ("session_erase", "not-found"),
        ("user_export", "ok"),
        ("user_erase", "ok"),
        ("user_import", "ok"),
    ];
    assert_eq!(told, expected.map(|(operation, outcome)| (operation.into(), outcome.into())));
    assert_eq!(lines()[0]["key"].as_str(), Some(&reader[4..12]));
    assert_eq!(
        (lines()[3]["key"].as_str(), lines()[3]["surface"].as_str()),
        (Some(&key[4..12]), Some("http"))
    );
    assert!(lines()[3]["user_id"].is_string() && lines()[7]["user_id"] == lines()[3]["user_id"]);
    let new = &lines()[8]["user_id"];
    assert!(new.is_string() && *new != lines()[3]["user_id"], "whom the import made: {new}");
    assert!(!fs::read_to_string(&path).unwrap().contains("canary"));
}

#[test]
fn what_adds_and_so_replaces_ends_or_hides_what_was_there_is_written_down_with_its_id() {
    let (mut setup, [key]) =
        Setup::default().keys([New { origin: thermocline::Origin::User, ..whole_key() }]);
    let path = setup.path("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    setup.change = Box::new(move |service| service.audit = Some(audit));
    let server = setup.start();
    let ask = |path: &str, body: &Value| {
        let headers = [("x-api-key", key.as_str()), ("content-type", "application/json")];
        let path = format!("/v1/users/alex/{path}");
        let answer = server.client().send("POST", &path, &headers, body.to_string().as_bytes());
        assert!([200, 201].contains(&answer.status), "{path} {body}: {answer:?}");
        answer.json()
    };
    let turn = ask("turns", &json!({ "user_message": "canary" }))["turn_id"].clone();
    let later = ask("turns", &json!({ "user_message": "canary", "replacing": turn }))["turn_id"].clone();
    let message =
        ask("messages", &json!({ "user_message": "canary", "replacing": later }))["turn_id"].clone();
    let item = json!({ "user_message": "canary", "caller_id": "canary", "replacing": message });
    ask("turns/batch", &json!({ "turns": [item] }));
    ask("sessions", &json!({}));
    ask("anchors", &json!({ "attribute": "home", "value": "canary" }));
    let save = |content: &str| {
        let content = json!({ "title": content, "content": content, "caller_id": content });
        ask("memories", &content)["memory"]["id"].clone()
    };
    let (one, two) = (save("A canary sings."), save("The second canary is blue."));
    ask(
        "memories/key:A canary sings./supersede".replace(' ', "%20").as_str(),
        &json!({ "with": { "title": "canary", "content": "canary red" } }),
    );
    let three = save("Canaries, all of them, eat seeds.");
    ask(
        "memories/merge",
        &json!({ "memories": [two, three], "into": { "title": "Two", "content": "Two canaries in one." } }),
    );
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines.iter().map(|line| line["operation"].as_str().unwrap()).collect();
    let saved = "memory_save";
    let expected = [
        "record",
        "record_message",
        "record_many",
        "session_start",
        "anchor_set",
        saved,
        saved,
        "memory_supersede",
        saved,
        "memory_merge",
    ];
    assert_eq!(told, expected);
    assert_eq!((&lines[0]["about"]["replacing"], &lines[1]["about"]["replacing"]), (&turn, &later));
    assert_eq!((&lines[5]["about"]["id"], &lines[7]["about"]["memory"]), (&one, &one));
    assert!(lines[9]["about"]["group"].is_string() && lines[4]["about"]["id"].is_string(), "{text}");
    assert!(
        lines.iter().all(|line| line["user_id"].is_string()) && !text.to_lowercase().contains("canar"),
        "{text}"
    );
}

/// A word, and a number that callers state.
const WORD: &str = "saffrankanarie";
const NUMBER: u64 = 4_929_123_412_341_234;

#[test]
fn nothing_that_a_caller_states_gets_into_the_audit_or_the_log_whatever_the_operation_and_its_outcome() {
    let log = Logged::with(&[WORD, "4929123412341234"]);
    let elsewhere = New { users: Users::One("blake".to_owned()), scopes: Vec::new(), ..whole_key() };
    let limited = New { rate: Some("1/m".parse().unwrap()), ..whole_key() };
    let (mut setup, [key, foreign, limited]) = Setup::default().keys([whole_key(), elsewhere, limited]);
    let audit_path = setup.path("audit.jsonl");
    let audit = Audit::open(&audit_path).unwrap();
    setup.change = Box::new(move |service| service.audit = Some(audit));
    let server = setup.start();
    let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
    let mut ask = |key: &str, method: &str, path: &str, body: &Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("x-api-key", key), ("content-type", "application/json")];
        let answer = server.client().send(method, path, &headers, body.as_bytes());
        assert!(answer.status < 500 || answer.status == 503, "{method} {path} {body}: {answer:?}");
        *statuses.entry(answer.status).or_default() += 1;
        answer
    };
    let user = format!("{WORD}-user");
    let (mut chance, mut ids) = (Chance(41), Ids::default());
    ids.learn(
        "",
        &ask(&key, "POST", &format!("/v1/users/{user}/turns"), &json!({ "user_message": WORD })).json(),
    );
    let memory = json!({ "title": WORD, "content": WORD, "caller_id": WORD });
    ids.learn("", &ask(&key, "POST", &format!("/v1/users/{user}/memories"), &memory).json());
    let stated = json!({ format!("my {WORD} is"): 1, "forged\n{\"key\":\"admin\"}": NUMBER, WORD: true, "value": NUMBER,
        "importance": NUMBER, "session": { WORD: NUMBER }, "memory": WORD });
    for row in ops::table() {
        let request = schema::request(row);
        let method = row.spec.http.method.as_str();
        for round in 0..4 {
            let definitions = request["$defs"].clone();
            let mut fields =
                Maker { chance: &mut chance, ids: &ids, canary: WORD, definitions }.object(&request);
            let path = path(row, &user, &mut fields);
            let sent = |fields: &serde_json::Map<String, Value>| {
                if has_body(row) && row.spec.body != Body::LinesIn {
                    (path.clone(), Value::Object(fields.clone()))
                } else {
                    (format!("{path}{}", query(fields)), Value::Null)
                }
            };
            let (good, body) = sent(&fields);
            for key in [&foreign, &limited] {
                ask(key, method, &good, &body);
            }
            fields.extend(stated.as_object().unwrap().clone());
            let (bad, body_of_bad) = sent(&fields);
            let bad = bad.replace([' ', '\n', '"', '{', '}'], "+");
            if round == 0 {
                assert!(ask(&key, method, &bad, &body_of_bad).status >= 400, "{method} {bad}");
            }
            if !row.spec.name.starts_with("user_erase") {
                ask(&key, method, &good, &body);
            }
        }
    }
    for status in [200, 400, 403, 404, 422, 429] {
        assert!(statuses.get(&status).is_some_and(|times| *times >= 10), "{status}: {statuses:?}");
    }
    let audit = fs::read_to_string(&audit_path).unwrap();
    assert!(audit.lines().count() > 250, "{} lines", audit.lines().count());
    for line in audit.lines().chain(log.text().lines()) {
        let is_clean = !line.to_lowercase().contains(WORD) && !line.contains(&NUMBER.to_string());
        assert!(is_clean && !line.contains("forged") && line.len() <= 4_096, "{line}");
    }
}

#[test]
fn who_is_refused_again_and_again_fills_no_file_and_every_refusal_is_counted() {
    let reading = New { scopes: vec![KeyScope::Read], ..whole_key() };
    let (mut setup, [reader]) = Setup::default().keys([reading]);
    let path = setup.path("audit.jsonl");
    let audit = Audit::open(&path).unwrap();
    setup.change = Box::new(move |service| service.audit = Some(audit));
    let mut server = setup.start();
    let mut client = server.client();
    for _ in 0..200 {
        let headers = [("x-api-key", reader.as_str()), ("content-type", "application/json")];
        let answer = client.send("POST", "/v1/users/alex/turns", &headers, TURN.as_bytes());
        assert_eq!(answer.status, 403);
    }
    let lines = || -> Vec<Value> {
        fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert!(!lines().is_empty(), "the first is written at once");
    server.wait();
    let lines = lines();
    // A minute may end meanwhile, which begins anew.
    assert!(lines.len() <= 6, "{lines:?}");
    let counted: u64 = lines.iter().map(|line| line["about"]["more"].as_u64().unwrap_or(1)).sum();
    assert_eq!(counted, 200);
}
