//! Every tool of every profile does what it promises, with the calls from `clients/calls`, which the tests of other
//! clients use too.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};
use thermocline::{Origin, QuarantineSource};
use thermocline_server::{mcp::ToolProfile, ops::spec::KeyScope};

use crate::talk::{Called, Home, NEW, OLD, Talk, everything, key};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    arguments: Value,
    #[serde(default)]
    keep: BTreeMap<String, String>,
    expect: Option<String>,
    absent: Option<String>,
}

fn calls(profile: ToolProfile) -> Vec<Call> {
    let path = format!("{}/../../clients/calls/{}.json", env!("CARGO_MANIFEST_DIR"), profile.as_str());
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn filled(text: &str, kept: &BTreeMap<String, String>) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
}

/// Checks the expected content of an answer, and stores values from it for later calls.
fn looked_at(call: &Call, called: &Called, kept: &mut BTreeMap<String, String>) {
    let text = called.text();
    if let Some(expected) = &call.expect {
        assert!(text.contains(&filled(expected, kept)), "{} {}: {text}", call.tool, call.arguments);
    }
    if let Some(absent) = &call.absent {
        assert!(!text.contains(&filled(absent, kept)), "{} {}: {text}", call.tool, call.arguments);
    }
    for (name, word) in &call.keep {
        kept.insert(name.clone(), called.named(word));
    }
    // Some clients show a model only `structuredContent`, which would come without our frame.
    assert_eq!(called.0.get("structuredContent"), None, "{}", call.tool);
}

async fn play(talk: &mut Talk, profile: ToolProfile) {
    let mut kept = BTreeMap::new();
    let mut called = BTreeSet::new();
    for call in calls(profile) {
        let arguments = serde_json::from_str(&filled(&call.arguments.to_string(), &kept)).unwrap();
        let answer = talk.call(&call.tool, arguments).await;
        looked_at(&call, &answer, &mut kept);
        called.insert(call.tool);
    }
    let shown: BTreeSet<String> = talk.names().await.into_iter().collect();
    assert_eq!(called, shown, "every tool is called");
}

async fn check(profile: ToolProfile) {
    for version in [OLD, "2025-03-26", "2025-06-18", "2025-11-25", NEW] {
        let home = Home::new().await;
        let alex = key(&[KeyScope::Read, KeyScope::Write, KeyScope::Inspect, KeyScope::Admin], "alex");
        play(&mut home.talk(profile, alex, "alex", version).await, profile).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_core_profile_does_what_it_is_asked_in_each_revision() {
    check(ToolProfile::Core).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_full_profile_does_what_it_is_asked_in_each_revision() {
    check(ToolProfile::Full).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_knowledge_profile_does_what_it_is_asked_in_each_revision() {
    check(ToolProfile::Knowledge).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_about_the_whole_file_is_for_callers_of_all_users() {
    let home = Home::new().await;
    let mut all = home.alex(ToolProfile::Knowledge, NEW).await;
    all.call("memory_store", json!({ "title": "Berth", "content": "We take berth 14." })).await;
    all.call("memory_reindex", json!({})).await;
    all.call("memory_embed", json!({})).await;
    let alex = key(&[KeyScope::Read, KeyScope::Write, KeyScope::Inspect, KeyScope::Admin], "alex");
    let mut alex = home.talk(ToolProfile::Knowledge, alex, "alex", NEW).await;
    let mine = alex.names().await;
    let more: Vec<String> = all.names().await.into_iter().filter(|name| !mine.contains(name)).collect();
    assert_eq!(more, ["memory_reindex", "memory_embed"]);
    let call = json!({ "name": "memory_embed", "arguments": {} });
    assert_eq!(alex.error("tools/call", call).await.0, -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_that_only_reads_does_what_it_is_asked() {
    let home = Home::new().await;
    let mut full = home.alex(ToolProfile::Full, NEW).await;
    let mut reading = home.alex(ToolProfile::Readonly, NEW).await;
    let shown: BTreeSet<String> = reading.names().await.into_iter().collect();
    let mut kept = BTreeMap::new();
    let mut called = BTreeSet::new();
    for call in calls(ToolProfile::Full) {
        let arguments = serde_json::from_str(&filled(&call.arguments.to_string(), &kept)).unwrap();
        let talk = if shown.contains(&call.tool) { &mut reading } else { &mut full };
        let answer = talk.call(&call.tool, arguments).await;
        looked_at(&call, &answer, &mut kept);
        called.insert(call.tool);
    }
    assert!(called.is_superset(&shown), "{shown:?}");
    assert!(shown.len() < called.len(), "some tools write");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_user_keeps_no_other_reads() {
    let home = Home::new().await;
    let mut alex = home.alex(ToolProfile::Core, NEW).await;
    play(&mut alex, ToolProfile::Core).await;
    let saved = alex.call("memory_save", json!({ "kind": "decision", "content": "CANARY of alex" })).await;
    let id = saved.named("memory");

    let mut maria = home.talk(ToolProfile::Core, everything(), "maria", NEW).await;
    for query in ["CANARY", "Which berth do we take?"] {
        assert_eq!(
            maria.call("memory_recall", json!({ "query": query })).await.text(),
            "Nothing is known of this yet."
        );
    }
    for arguments in [json!({ "op": "pin", "id": id }), json!({ "op": "edit", "id": id, "title": "x" })] {
        let said = maria.refused("memory_update", arguments).await;
        assert!(!said.contains("CANARY"), "{said}");
    }
    let missing = maria.refused("memory_browse", json!({ "view": "memory", "id": id })).await;
    let nobodys = id.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(missing, maria.refused("memory_browse", json!({ "view": "memory", "id": nobodys })).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_of_forgetting_says_what_the_same_call_would_do() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    let mut foreign = everything();
    foreign.origin = Origin::Tool;
    let mut tool = home.talk(ToolProfile::Core, foreign, "alex", NEW).await;
    let mut ids = Vec::new();
    for content in ["We take berth 14.", "We sail in May."] {
        ids.push(talk.call("memory_save", json!({ "content": content })).await.named("memory"));
    }
    let fact = talk.call("memory_save", json!({ "attribute": "home", "value": "Porto" })).await.named("fact");
    let asked = |id: &str, dry_run: bool| json!({ "id": id, "dry_run": dry_run });
    for id in [&ids[0], &fact] {
        let said = tool.call("memory_forget", asked(id, true)).await.text();
        assert!(said.contains("with dry_run false it is refused"), "{said}");
        tool.refused("memory_forget", asked(id, false)).await;
        let said = talk.call("memory_forget", asked(id, true)).await.text();
        assert!(said.contains("This would be forgotten"), "{said}");
        talk.call("memory_forget", asked(id, false)).await;
        let said = talk.call("memory_forget", asked(id, true)).await.text();
        assert!(said.contains("Nothing was changed. This is forgotten already"), "{said}");
    }
    let alex = home.service.memory.find_user("alex").await.unwrap().expect("alex is known");
    let source = QuarantineSource::Memory(ids[1].parse().unwrap());
    alex.memories().quarantine(source, "a test").await.unwrap();
    for (dry_run, expected) in [(true, "This is in quarantine"), (false, "Nothing was changed.")] {
        let said = talk.call("memory_forget", asked(&ids[1], dry_run)).await.text();
        assert!(said.contains(expected) && !said.contains("brings it back"), "{said}");
    }
}
