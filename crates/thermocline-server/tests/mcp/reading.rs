//! Resources and prompts.

use serde_json::{Value, json};
use thermocline::NewTurn;
use thermocline_server::{mcp::ToolProfile, ops::spec::KeyScope};

use crate::talk::{Home, NEW, OLD, Talk, key, text};

async fn read(talk: &mut Talk, uri: &str) -> (String, String) {
    let result = talk.result("resources/read", json!({ "uri": uri })).await;
    let [content] = result["contents"].as_array().unwrap().as_slice() else { panic!("{result}") };
    assert_eq!(content["uri"], uri);
    (text(&content["mimeType"]), text(&content["text"]))
}

async fn some_memory(talk: &mut Talk) -> (String, String) {
    let turn = json!({ "op": "record", "session": "the boat", "user_message": "She is called Petrel.", "ai_response": "Fine." });
    let turn = talk.call("memory_session", turn).await.named("turn");
    talk.call("memory_save", json!({ "attribute": "home", "value": "Lisbon" })).await;
    talk.call("memory_save", json!({ "attribute": "home", "value": "Porto" })).await;
    talk.call("memory_save", json!({ "kind": "decision", "title": "Berth", "content": "We take berth 14." }))
        .await;
    let receipt =
        talk.call("memory_recall", json!({ "query": "What is she called?" })).await.named("receipt");
    (turn, receipt)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_resource_reads_in_each_era() {
    let home = Home::new().await;
    let (turn, receipt) = some_memory(&mut home.alex(ToolProfile::Core, NEW).await).await;
    for version in [OLD, NEW] {
        let mut talk = home.alex(ToolProfile::Core, version).await;
        let list = talk.result("resources/list", json!({})).await;
        let uris: Vec<String> =
            list["resources"].as_array().unwrap().iter().map(|of| text(&of["uri"])).collect();
        assert_eq!(uris, ["memory://core", "memory://profile", "memory://reflection"]);
        for uri in &uris {
            assert_eq!(read(&mut talk, uri).await.0, "text/markdown");
        }
        let (_, profile) = read(&mut talk, "memory://profile").await;
        assert!(profile.contains("user home: Porto") && !profile.contains("Lisbon"), "{profile}");

        let templates = talk.result("resources/templates/list", json!({})).await;
        let templates: Vec<String> = templates["resourceTemplates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| text(&of["uriTemplate"]))
            .collect();
        assert_eq!(
            templates,
            [
                "memory://memories/{memory}",
                "memory://sessions/{session}",
                "memory://turns/{turn}",
                "memory://receipts/{receipt}"
            ]
        );
        for (uri, part) in [
            ("memory://sessions/the%20boat".to_owned(), "the boat"),
            ("memory://sessions/the%20boat".to_owned(), "She is called Petrel."),
            (format!("memory://turns/{turn}"), "She is called Petrel."),
            (format!("memory://receipts/{receipt}"), receipt.as_str()),
        ] {
            let (kind, text) = read(&mut talk, &uri).await;
            assert_eq!(kind, "application/json");
            assert!(text.contains(part), "{uri}: {text}");
            serde_json::from_str::<Value>(&text).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_links_of_the_pages_can_be_followed() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    some_memory(&mut talk).await;
    let (_, core) = read(&mut talk, "memory://core").await;
    assert!(core.contains("[Berth](memory://memories/mem_"), "{core}");
    let link = core.split(['(', ')']).find(|part| part.starts_with("memory://memories/")).unwrap();
    let (_, memory) = read(&mut talk, link).await;
    assert!(memory.contains("We take berth 14."), "{memory}");
    let browsed = talk.call("memory_browse", json!({ "view": "core" })).await.text();
    assert!(browsed.contains(link), "{browsed}");
    let id = link.trim_start_matches("memory://memories/");
    let shown = talk.call("memory_browse", json!({ "view": "memory", "id": id })).await.text();
    assert!(shown.contains("We take berth 14."), "{shown}");
    talk.call("memory_update", json!({ "op": "pin", "id": id })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_sessions_show_titles_and_nothing_shows_metadata() {
    let home = Home::new().await;
    let alex = home.service.memory.user("alex").await.unwrap();
    let session = alex.session_named("the boat").await.unwrap();
    let turn = NewTurn::new("She is called Petrel.", "Fine.").metadata(json!({ "a": "CANARY" }));
    let turn = session.record(turn).await.unwrap().turn_id;
    session.set_title(Some("Names of boats")).await.unwrap();
    session.set_metadata(Some(json!({ "a": "CANARY" }))).await.unwrap();
    let mut talk = home.alex(ToolProfile::Full, NEW).await;
    let sessions = talk.call("memory_sessions", json!({})).await.text();
    assert!(sessions.contains("Names of boats"), "{sessions}");
    let mut shown = vec![sessions];
    for (tool, arguments) in [
        ("memory_session_show", json!({ "session": "the boat" })),
        ("memory_turns", json!({ "session": "the boat" })),
        ("memory_turn", json!({ "turn": turn })),
    ] {
        shown.push(talk.call(tool, arguments).await.text());
    }
    for uri in ["memory://sessions/the%20boat".to_owned(), format!("memory://turns/{turn}")] {
        shown.push(read(&mut talk, &uri).await.1);
    }
    for text in shown {
        assert!(!text.contains("CANARY"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_shown_with_its_newest_turns() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    for n in 1..=30 {
        let said = format!("Message {n}.");
        let turn = json!({ "op": "record", "session": "long", "user_message": said, "ai_response": "Yes.", "caller_id": said });
        talk.call("memory_session", turn).await;
    }
    let shown = async |talk: &mut Talk| -> Value {
        serde_json::from_str(&read(talk, "memory://sessions/long").await.1).unwrap()
    };
    let session = shown(&mut talk).await;
    let turns = session["turns"].as_array().unwrap();
    assert_eq!((turns.len(), &session["earlier_turns"]), (20, &json!(10)));
    assert_eq!(
        (&turns[0]["user_message"], &turns[19]["user_message"]),
        (&json!("Message 11."), &json!("Message 30."))
    );
    let long = "words ".repeat(10_000);
    let turn = json!({ "op": "record", "session": "long", "user_message": long, "ai_response": "Yes.", "caller_id": "31" });
    talk.call("memory_session", turn).await;
    let session = shown(&mut talk).await;
    assert_eq!((session["turns"].as_array().unwrap().len(), &session["earlier_turns"]), (1, &json!(30)));
    assert_eq!(session["turns"][0]["user_message"], long, "the newest one whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_is_not_there_is_said_to_be_missing_and_nobody_elses_is_there() {
    let home = Home::new().await;
    let (turn, _) = some_memory(&mut home.alex(ToolProfile::Core, NEW).await).await;
    for (version, expected) in [(OLD, -32002), (NEW, -32602)] {
        let mut talk = home
            .talk(ToolProfile::Core, key(&[KeyScope::Read, KeyScope::Write], "maria"), "maria", version)
            .await;
        talk.call(
            "memory_session",
            json!({ "op": "record", "session": "s", "user_message": "a", "ai_response": "b" }),
        )
        .await;
        let mut said = Vec::new();
        for uri in [
            "memory://nothing",
            "memory://turns/00000000-0000-7000-8000-000000000000",
            &format!("memory://turns/{turn}"),
            "memory://sessions/the%20boat",
            "memory://users/alex",
            "file:///etc/passwd",
        ] {
            said.push(talk.error("resources/read", json!({ "uri": uri })).await);
        }
        assert!(said.iter().all(|(code, message)| *code == expected && *message == said[0].1), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_brings_what_is_known_of_a_message() {
    let home = Home::new().await;
    some_memory(&mut home.alex(ToolProfile::Core, NEW).await).await;
    for version in [OLD, NEW] {
        let mut talk = home.alex(ToolProfile::Core, version).await;
        let list = talk.result("prompts/list", json!({})).await;
        let names: Vec<String> =
            list["prompts"].as_array().unwrap().iter().map(|of| text(&of["name"])).collect();
        assert_eq!(names, ["with_memory", "end_of_session"]);
        let got = json!({ "name": "with_memory", "arguments": { "message": "What is she called?" } });
        let got = talk.result("prompts/get", got).await;
        let message = text(&got["messages"][0]["content"]["text"]);
        assert!(message.contains("Petrel") && message.ends_with("\nWhat is she called?"), "{message}");
        let end = json!({ "name": "end_of_session", "arguments": { "session": "the boat" } });
        let end = talk.result("prompts/get", end).await;
        assert!(text(&end["messages"][0]["content"]["text"]).contains("as JSON, is \"the boat\"."), "{end}");

        for params in [
            json!({ "name": "with_memory", "arguments": {} }),
            json!({ "name": "with_memory", "arguments": { "message": "a", "user": "maria" } }),
            json!({ "name": "nothing" }),
        ] {
            assert_eq!(talk.error("prompts/get", params).await.0, -32602);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_user_whom_nobody_knows_there_is_nothing_and_nothing_is_added() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    assert_eq!(
        talk.call("memory_recall", json!({ "query": "a" })).await.text(),
        "Nothing is known of this yet."
    );
    let got = talk
        .result("prompts/get", json!({ "name": "with_memory", "arguments": { "message": "Hello." } }))
        .await;
    assert_eq!(got["messages"][0]["content"]["text"], "Hello.");
    for uri in ["memory://core", "memory://profile", "memory://reflection"] {
        assert_eq!(read(&mut talk, uri).await.1, "Nothing is known of this user yet.\n");
    }
    assert!(home.service.memory.find_user("alex").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_to_be_kept_by_whoever_reads_it() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("server/discover", json!({})),
    ] {
        let result = talk.result(method, params).await;
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(0), &json!("private")),
            "{method}: {result}"
        );
    }
}
