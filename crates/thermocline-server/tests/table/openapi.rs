//! OpenAPI: the committed document matches the table, and its examples work.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use thermocline_server::{
    http::openapi,
    ops::{
        self,
        spec::{Body, Effect, KeyScope, Method},
    },
};

use crate::bench::{Bench, assert_fits};

fn document() -> Value {
    openapi::document(ops::table())
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, of)| of.as_object().unwrap().iter().map(move |(method, it)| (path, method, it)))
}

#[test]
fn the_committed_document_is_what_the_table_says() {
    let committed = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json"));
    let committed: Value = serde_json::from_str(committed).unwrap();
    assert!(committed == document(), "thermocline call --openapi > docs/openapi.json makes it anew");
}

#[test]
fn a_recall_and_a_context_say_that_they_leave_a_receipt_and_what_only_reads_says_that_it_changes_nothing() {
    let document = document();
    for (name, expected) in [
        ("recall", "Leaves a receipt, and changes nothing else."),
        ("context", "Leaves a receipt, and changes nothing else."),
        ("receipt_show", "Changes nothing."),
        ("turn_search", "Changes nothing."),
    ] {
        let row = ops::find(name).unwrap();
        let method = row.spec.http.method.as_str().to_lowercase();
        let description = &document["paths"][row.spec.http.path][method]["description"];
        assert_eq!(*description, format!("Needs the scope `read`. {expected}"), "{name}");
    }
}

#[test]
fn every_row_is_an_operation_with_its_scope_its_fields_and_its_statuses() {
    let document = document();
    assert_eq!(operations(&document).count(), ops::table().len());
    for row in ops::table() {
        let spec = row.spec;
        let method = spec.http.method.as_str().to_lowercase();
        let operation = &document["paths"][spec.http.path][&method];
        assert_eq!(operation["operationId"], spec.name);
        assert_eq!(operation["summary"], spec.summary);
        assert_eq!(operation["security"][0]["bearer"], json!([spec.scope.as_str()]), "{}", spec.name);
        let is_for_all = operation["security"].as_array().unwrap().contains(&json!({}));
        assert_eq!(is_for_all, !matches!(spec.scope, KeyScope::Erase | KeyScope::Admin), "{}", spec.name);
        let places = |place: &str| -> BTreeSet<String> {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let parameters = parameters.map(|parameter| resolved(&document, parameter));
            let there = parameters.filter(|parameter| parameter["in"] == place);
            there.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
        };
        let in_path = places("path");
        assert_eq!(in_path, spec.http.fields().map(str::to_owned).collect(), "{}", spec.name);
        let asked = ops::schema::request(row);
        let fields = asked["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
        let others: BTreeSet<String> = fields.filter(|name| !in_path.contains(name)).collect();
        if matches!(spec.http.method, Method::Get | Method::Delete) {
            assert_eq!(places("query"), others, "{}", spec.name);
            assert!(operation.get("requestBody").is_none(), "{}", spec.name);
        } else if spec.body == Body::Json {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let body = resolved(&document, body)["properties"].as_object();
            assert_eq!(
                body.into_iter().flatten().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>(),
                others
            );
        }
        let statuses: BTreeSet<&str> =
            operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
        assert!(statuses.contains("4XX") && statuses.contains("5XX"), "{}", spec.name);
        assert_eq!(statuses.contains("201"), spec.effect == Effect::Adds, "{}", spec.name);
        assert_eq!(statuses.contains("202"), spec.scope == KeyScope::Erase, "{}", spec.name);
    }
}

fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(path) => {
            document.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("there is no {path}"))
        }
        None => value,
    }
}

#[test]
fn what_it_refers_to_is_there_and_what_is_there_is_referred_to() {
    let document = document();
    let mut used = BTreeSet::new();
    references(&document, &mut used);
    for path in &used {
        assert!(document.pointer(path.trim_start_matches('#')).is_some(), "there is no {path}");
    }
    for (kind, of) in document["components"].as_object().unwrap() {
        for name in of.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
            assert!(used.contains(&format!("#/components/{kind}/{name}")), "nothing refers to {kind}/{name}");
        }
    }
    let text = document.to_string();
    assert!(!text.contains("crate::") && !text.contains("]("), "descriptions are plain text");
    assert!(!text.contains("\"x-"), "no extensions");
}

fn references(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            into.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| references(field, into));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn examples_are_what_the_operations_take() {
    let document = document();
    let bench = Bench::new().await;
    let mut seen = 0;
    for (path, _, operation) in operations(&document) {
        let body = &operation["requestBody"]["content"]["application/json"];
        let Some(example) = body.pointer("/examples/plain/value") else { continue };
        let mut schema = body["schema"].clone();
        schema["components"] = document["components"].clone();
        assert_fits(&schema, example, path);
        bench.answer(operation["operationId"].as_str().unwrap(), example.clone()).await;
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn a_row_that_is_not_repeatable_says_so() {
    let document = document();
    let says = |name: &str| {
        let found = operations(&document).find(|(_, _, operation)| operation["operationId"] == name);
        found.unwrap().2["description"].as_str().unwrap().contains("not repeatable")
    };
    for name in ["record", "session_start", "memory_undo", "episode_note", "memory_used"] {
        assert!(says(name), "{name}");
    }
    for name in ["session_end", "memory_save", "memory_edit", "turn_erase", "record_many"] {
        assert!(!says(name), "{name}");
    }
}
