//! The tools of each profile: their names, their cost in tokens, and the callers who see them.

use serde_json::{Value, json};
use thermocline::Tokenizer;
use thermocline_server::{mcp::ToolProfile, ops::spec::KeyScope};

use crate::talk::{Home, NEW, OLD, Talk, everything, key, text};

const KNOWLEDGE: [&str; 18] = [
    "memory_store",
    "memory_search",
    "memory_get",
    "memory_update",
    "memory_forget",
    "memory_relate",
    "memory_edge",
    "memory_related",
    "memory_episode",
    "memory_pin",
    "memory_stats",
    "memory_core",
    "memory_reflection",
    "memory_reflect",
    "memory_decay",
    "memory_reindex",
    "memory_embed",
    "memory_config",
];

async fn list(talk: &mut Talk) -> Value {
    talk.result("tools/list", json!({})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lists_of_tools_cost_no_more_than_they_may() {
    let home = Home::new().await;
    for (profile, most) in [
        (ToolProfile::Core, 1_200),
        (ToolProfile::Full, 2_400),
        (ToolProfile::Readonly, 2_400),
        (ToolProfile::Knowledge, 2_400),
    ] {
        for version in [OLD, NEW] {
            let list = list(&mut home.alex(profile, version).await).await;
            let tokens = Tokenizer::O200kBase.count(&list.to_string());
            assert!(tokens <= most, "{} in {version}: {tokens} tokens\n{list:#}", profile.as_str());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_profiles_have_their_names_in_a_fixed_order() {
    let home = Home::new().await;
    let core = home.alex(ToolProfile::Core, NEW).await.names().await;
    assert_eq!(
        core,
        ["memory_recall", "memory_save", "memory_update", "memory_forget", "memory_browse", "memory_session"]
    );
    assert_eq!(home.alex(ToolProfile::Knowledge, NEW).await.names().await, KNOWLEDGE);
    let full = home.alex(ToolProfile::Full, NEW).await.names().await;
    let readonly = home.alex(ToolProfile::Readonly, NEW).await.names().await;
    let mut rest = full.iter();
    assert!(readonly.iter().all(|name| rest.any(|other| other == name)), "{readonly:?} of {full:?}");
    for again in [full, home.alex(ToolProfile::Full, OLD).await.names().await] {
        assert_eq!(again, home.alex(ToolProfile::Full, NEW).await.names().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_takes_a_user_a_path_or_a_key_and_none_erases() {
    let home = Home::new().await;
    for profile in ToolProfile::EVERY {
        let list = list(&mut home.alex(profile, NEW).await).await;
        for tool in list["tools"].as_array().unwrap() {
            let name = text(&tool["name"]);
            assert!(!name.contains("erase") && !name.contains("delete"), "{name}");
            let mut arguments = Vec::new();
            names_in(&tool["inputSchema"], &mut arguments);
            for argument in arguments {
                let words = argument.split('_');
                let is_foreign = |word: &str| {
                    [
                        "user", "users", "tenant", "path", "file", "folder", "key", "token", "db", "url",
                        "scope",
                    ]
                    .contains(&word)
                };
                // These fields are about what was said, and do not select a user.
                let is_said = argument == "user_message" || argument == "user_name";
                assert!(is_said || !words.into_iter().any(is_foreign), "{name} takes {argument}");
            }
        }
    }
}

/// Adds the names of all arguments, at any depth.
fn names_in(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                names.extend(properties.keys().cloned());
            }
            fields.values().for_each(|value| names_in(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_runs_what_erases() {
    let home = Home::new().await;
    let mut caller = everything();
    caller.scopes.push(KeyScope::Erase);
    for profile in ToolProfile::EVERY {
        let with = home.talk(profile, caller.clone(), "alex", NEW).await.names().await;
        assert_eq!(with, home.alex(profile, NEW).await.names().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_only_read_sees_only_tools_that_read() {
    let home = Home::new().await;
    let reader = key(&[KeyScope::Read], "alex");
    let mut talk = home.talk(ToolProfile::Core, reader.clone(), "alex", NEW).await;
    assert_eq!(talk.names().await, ["memory_recall", "memory_browse"]);
    let save = json!({ "name": "memory_save", "arguments": { "attribute": "home", "value": "Lisbon" } });
    let (code, unknown) = talk.error("tools/call", save).await;
    let nonsense = json!({ "name": "memory_nonsense", "arguments": {} });
    assert_eq!((code, unknown), talk.error("tools/call", nonsense).await);

    let of_user = home.talk(ToolProfile::Full, reader.clone(), "alex", NEW).await.names().await;
    assert_eq!(of_user, home.talk(ToolProfile::Readonly, reader, "alex", NEW).await.names().await);
    let writer = key(&[KeyScope::Write], "alex");
    assert_eq!(
        home.talk(ToolProfile::Core, writer, "alex", NEW).await.names().await,
        ["memory_save", "memory_update", "memory_session"]
    );
    let nobody = key(&[], "alex");
    assert!(home.talk(ToolProfile::Full, nobody, "alex", NEW).await.names().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_reads_is_said_to_read() {
    let home = Home::new().await;
    for profile in ToolProfile::EVERY {
        let shown = list(&mut home.alex(profile, NEW).await).await;
        for tool in shown["tools"].as_array().unwrap() {
            let hints = &tool["annotations"];
            assert_eq!(hints["openWorldHint"], false, "{tool}");
            if profile == ToolProfile::Readonly {
                assert_eq!(hints["readOnlyHint"], true, "{tool}");
            }
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        }
    }
}
