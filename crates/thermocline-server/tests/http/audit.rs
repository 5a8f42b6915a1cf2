//! The audit file: it says, with ids only, who did what for which user, and contains nothing that anybody said.

use std::fs;

use serde_json::Value;
use thermocline_server::{audit::Audit, caller::Users, keys::New, ops::spec::KeyScope};

use crate::fixture::{Setup, TURN, whole_key};

#[test]
fn what_changes_destroys_leaves_or_is_refused_is_written_down_by_ids_alone() {
    let reading =
        New { scopes: vec![KeyScope::Read], users: Users::One("canary-other".to_owned()), ..whole_key() };
    let (mut setup, [key, reader]) = Setup::default().keys([whole_key(), reading]);
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
    assert!([200, 202].contains(&ask(&key, "DELETE", "/v1/users/canary-name", "").status));
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
