//! Rules that hold for every row of the table.

use std::collections::{BTreeMap, BTreeSet};

use thermocline_server::ops::{
    self, schema,
    spec::{Effect, KeyScope, Method, Target},
};

/// The nouns with which an operation's name may begin, before a verb. Other names are one of the words below.
const NOUNS: [&str; 19] = [
    "anchor",
    "cold",
    "due",
    "edge",
    "embed",
    "entity",
    "episode",
    "group",
    "job",
    "memory",
    "quarantine",
    "receipt",
    "review",
    "sensor",
    "session",
    "summary",
    "tag",
    "turn",
    "user",
];
const VERBS: [&str; 11] = [
    "backup",
    "context",
    "core",
    "doctor",
    "quarantine",
    "recall",
    "record",
    "reflect",
    "reflection",
    "stats",
    "tend",
];

#[test]
fn a_name_is_there_once_and_is_a_noun_and_what_is_done_or_a_verb() {
    let mut seen = BTreeSet::new();
    for row in ops::table() {
        let name = row.spec.name;
        assert!(seen.insert(name), "{name} is there twice");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        let first = name.split('_').next().unwrap();
        let is_noun_and_verb = name.contains('_') && (NOUNS.contains(&first) || first == "record");
        assert!(is_noun_and_verb || VERBS.contains(&name), "{name} is neither noun_verb nor a verb");
    }
    assert!(seen.len() > 80);
}

#[test]
fn a_path_begins_with_v1_names_a_user_where_one_is_meant_and_has_each_method_once() {
    let mut seen = BTreeSet::new();
    for row in ops::table() {
        let (name, route) = (row.spec.name, row.spec.http);
        assert!(route.path.starts_with("/v1/"), "{name}");
        assert_eq!(route.path.starts_with("/v1/users/{user}"), row.spec.target == Target::User, "{name}");
        assert_eq!(route.fields().any(|field| field == "user"), row.spec.target == Target::User, "{name}");
        assert!(seen.insert((route.path, route.method.as_str())), "{name} is where another one is");
    }
}

#[test]
fn what_a_row_does_goes_with_its_method_and_its_scope() {
    for row in ops::table() {
        let spec = row.spec;
        let name = spec.name;
        match spec.effect {
            // A read whose request quotes what was said is a POST, so that its text is never in a URL.
            Effect::Reads => assert!(matches!(spec.http.method, Method::Get | Method::Post), "{name}"),
            _ => assert_ne!(spec.http.method, Method::Get, "{name}"),
        }
        let reads_only = matches!(spec.scope, KeyScope::Read | KeyScope::Inspect);
        assert_eq!(reads_only, spec.effect == Effect::Reads && name != "user_export", "{name}");
        if spec.scope == KeyScope::Erase {
            assert_eq!((spec.effect, spec.http.method), (Effect::Destroys, Method::Delete), "{name}");
        }
        if spec.target == Target::File {
            assert!(matches!(spec.scope, KeyScope::Inspect | KeyScope::Admin), "{name}");
        }
        let is_sentence = |text: &str| text.ends_with('.') && text.len() < 140 && !text.contains('\n');
        assert!(is_sentence(spec.summary), "{name}: {}", spec.summary);
    }
}

#[test]
fn no_tool_erases_decides_or_leaves_its_user() {
    let mut tools = BTreeSet::new();
    for row in ops::table() {
        let Some(tool) = row.spec.tool else { continue };
        assert!(tools.insert(tool.name), "two tools are called {}", tool.name);
        assert!(tool.name.starts_with("memory_"));
        assert!(matches!(row.spec.scope, KeyScope::Read | KeyScope::Write), "{}", tool.name);
        assert_eq!(row.spec.target, Target::User, "{}", tool.name);
        assert_ne!(row.spec.effect, Effect::Destroys, "{}", tool.name);
        assert!(!row.spec.name.starts_with("review"), "no model decides");
    }
    assert_eq!(tools.len(), 17);
}

#[test]
fn path_fields_are_required_strings_of_the_request_and_every_field_says_what_it_is() {
    for row in ops::table() {
        let name = row.spec.name;
        let schema = schema::request(row);
        let object = &schema;
        assert_eq!(object["type"], "object", "{name}");
        assert_eq!(object["additionalProperties"], false, "{name}: an unknown field is an error");
        let properties = object["properties"].as_object().cloned().unwrap_or_default();
        for field in row.spec.http.fields().filter(|field| *field != "user") {
            assert_eq!(resolved(&schema, &properties[field])["type"], "string", "{name}: {field}");
            assert!(object["required"].as_array().unwrap().contains(&field.into()), "{name}: {field}");
        }
        assert!(!properties.contains_key("user"), "{name}: the user is in no request");
        for (field, property) in &properties {
            assert!(property["description"].is_string(), "{name}: {field} is not described");
            let in_query = matches!(row.spec.http.method, Method::Get | Method::Delete);
            let is_list = property.to_string().contains("\"array\"");
            assert!(!in_query || !is_list, "{name}: {field} is a list in a query");
        }
    }
}

fn resolved<'s>(root: &'s serde_json::Value, schema: &'s serde_json::Value) -> &'s serde_json::Value {
    match schema["$ref"].as_str() {
        Some(name) => &root["$defs"][name.rsplit('/').next().unwrap()],
        None => schema,
    }
}

/// Methods of the library's handles that no row needs to call, and the reason for each.
const NOT_REACHED: [(&str, &str); 24] = [
    ("open", "the server opens the file"),
    ("open_with", "the server opens the file"),
    ("ready", "the server waits for it"),
    ("close", "the server closes the file"),
    ("data_version", "it is what tags of the file as a whole are made of: HTTP's, not the table's"),
    ("health", "it is about the server: /health/ready"),
    ("revision", "it is what tags of a user's answers are made of: HTTP's, not the table's"),
    ("vault", "a folder is no argument of the net"),
    ("restore_files", "an operator's act on a folder, of which all is believed"),
    ("find_recorded", "record with the same caller_id gives the same answer"),
    ("pin", "memory_pin is an edit, which may expect a revision"),
    ("unpin", "memory_unpin is an edit, which may expect a revision"),
    ("receipt", "receipt_show has its texts, too, by receipt_with_texts"),
    ("set_anchor", "anchor_set says who sets it, by set_anchor_by"),
    ("memories", "it is a handle"),
    ("session", "record and context find the open session themselves"),
    ("session_named", "record starts the session of a new key itself"),
    ("sync", "vault"),
    ("init", "vault"),
    ("export_vault", "vault"),
    ("status", "vault"),
    ("by", "it says for whom memories are changed: the caller"),
    ("path", "where the file is, is not told"),
    ("id", "it is in every answer"),
];

#[test]
fn every_method_of_a_handle_is_reached_by_a_row_or_says_why_not() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/handles/");
    let mut calls = String::new();
    read_all(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ops"), &mut calls);
    let mut found: BTreeMap<String, &str> = BTreeMap::new();
    for file in ["thermocline", "user", "session", "memories", "sensors", "foreign"] {
        let source = std::fs::read_to_string(format!("{root}{file}.rs")).unwrap();
        for item in source.split("\n    pub async fn ").skip(1) {
            let name = item.split(['(', '<']).next().unwrap().to_owned();
            found.insert(name, file);
        }
    }
    assert!(found.len() > 80, "only {} methods were found", found.len());
    let is_called = |name: &str| calls.contains(&format!(".{name}("));
    for (name, file) in &found {
        let excuse = NOT_REACHED.iter().find(|(not, _)| not == name);
        assert!(is_called(name) || excuse.is_some(), "no row reaches {file}'s {name}");
    }
}

fn read_all(folder: &str, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(path.to_str().unwrap(), into);
        } else {
            // Line breaks are removed, because a call may span several lines.
            let text = std::fs::read_to_string(path).unwrap();
            into.push_str(&text.split_whitespace().collect::<String>());
        }
    }
}
