//! Requests that operations refuse.

use serde_json::{Value, json};
use thermocline::Origin;
use thermocline_server::{
    caller::Caller,
    ops::{problem::Code, schema},
};

use crate::bench::{Bench, assert_fits};

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_wrong_types_and_missing_ones_cannot_be_read() {
    let bench = Bench::new().await;
    for (name, request) in [
        ("record", json!({ "user_message": "Hello.", "ai_respone": "Hi." })),
        ("record", json!({ "user_message": 5 })),
        ("record", json!({})),
        ("record", json!("Hello.")),
        ("record", json!(["Hello."])),
        ("record", json!({ "user_message": "Hello.", "said_at": "yesterday" })),
        ("record", json!({ "user_message": "Hello.", "metadata": [1] })),
        ("recall", json!({ "query": "boat", "k": 5.5 })),
        ("recall", json!({ "query": "boat", "k": -1 })),
        ("recall", json!({ "query": "boat", "filter": { "projct": "boat" } })),
        ("recall", json!({ "query": "boat", "memories": { "tag": ["a"] } })),
        ("memory_forget_all", json!({ "kind": "fix" })),
        ("memory_save", json!({ "title": "A", "content": "B", "procedure": { "step": ["a"] } })),
        ("review_decide", json!({ "review": "x", "decision": "approved", "by": "Alex" })),
        ("anchor_set", json!({ "attribute": "shoes", "value": "42" })),
        ("session_end", json!({ "session": "a", "force": true })),
        ("recall", json!({ "query": "boat", "profile": { "paper": null } })),
        ("recall", json!({ "query": "boat", "filter": [null, null] })),
        ("record_many", json!({ "turns": [["a", "b"]] })),
    ] {
        assert_eq!(bench.refused(name, request.clone()).await, Code::BadRequest, "{name} {request}");
    }
    let listed = bench.ask("user_list", json!({})).await.unwrap().1;
    assert_eq!(listed["items"], json!([]), "what cannot be read adds nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_refused_adds_nobody() {
    let bench = Bench::new().await;
    let nothing = "00000000-0000-7000-8000-000000000000";
    for session in [json!("s1"), json!(null)] {
        let turn = json!({ "session": session, "user_message": "Hello.", "replacing": nothing });
        assert_eq!(bench.refused("record", turn.clone()).await, Code::InvalidInput);
        assert_eq!(bench.refused("record_message", turn).await, Code::InvalidInput);
        let many = json!({ "turns": [{ "session": session, "user_message": "Hello.", "replacing": nothing, "caller_id": "c" }] });
        bench.ask("record_many", many).await.unwrap();
    }
    // Only a user who exists has a session with an id.
    for session in ["id:chat", &format!("id:{nothing}")] {
        let turn = json!({ "session": session, "user_message": "Hello.", "caller_id": "c" });
        bench.ask("record", turn.clone()).await.unwrap_err();
        bench.ask("record_message", turn.clone()).await.unwrap_err();
        bench.ask("record_many", json!({ "turns": [turn] })).await.unwrap();
    }
    let listed = bench.ask("user_list", json!({})).await.unwrap().1;
    assert_eq!(listed["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_about_somebody_new_adds_nobody() {
    let bench = Bench::new().await;
    let nothing = "00000000-0000-7000-8000-000000000000";
    let long = "a".repeat(300);
    for (name, request) in [
        ("anchor_set", json!({ "attribute": "name", "value": " " })),
        ("anchor_set", json!({ "attribute": "name", "value": long })),
        ("anchor_set", json!({ "subject": "", "attribute": "name", "value": "Alex" })),
        ("memory_save", json!({ "title": "", "content": "Keepalive fixes them." })),
        ("memory_save", json!({ "title": long, "content": "Keepalive fixes them." })),
        (
            "memory_save",
            json!({ "title": "Redis", "content": "Keepalive.", "said_at": "2999-01-01T00:00:00Z" }),
        ),
        ("memory_save", json!({ "title": "Redis", "content": "Keepalive.", "session": "s1" })),
        (
            "memory_save",
            json!({ "title": "Redis", "content": "Keepalive.", "sources": [{ "turn": nothing }] }),
        ),
        ("episode_note", json!({ "title": "" })),
        ("episode_note", json!({ "title": "Redis", "session": "s1" })),
        ("episode_note", json!({ "title": "Redis", "memory": "key:redis" })),
        ("episode_note", json!({ "title": "Redis", "tags": [long] })),
    ] {
        let problem = bench.ask(name, request.clone()).await.expect_err(name);
        assert!(matches!(problem.code, Code::InvalidInput | Code::NotFound), "{name} {request}: {problem}");
        let listed = bench.ask("user_list", json!({})).await.unwrap().1;
        assert_eq!(listed["items"], json!([]), "{name} {request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_within_another_that_is_unknown_or_wrong_is_named() {
    let bench = Bench::new().await;
    let request = json!({ "query": "boat", "filter": { "project": "a", "untill": null } });
    let problem = bench.ask("recall", request).await.unwrap_err();
    assert_eq!(problem.pointer.as_deref(), Some("/filter/untill"));
    let problem = bench.ask("record", json!({ "user_message": "a", "timestamp": "b" })).await.unwrap_err();
    assert_eq!(problem.pointer.as_deref(), Some("/timestamp"));
    let problem = bench.ask("record", json!({ "user_message": "a", "said_at": "2024-05-01T10:00:00" })).await;
    assert!(problem.unwrap_err().detail.contains("a time with its offset"));
    let request = json!({ "turns": [{ "user_message": "a" }, { "user_message": 7 }] });
    let problem = bench.ask("record_many", request).await.unwrap_err();
    assert_eq!(problem.pointer.as_deref(), Some("/turns/1/user_message"));
    assert!(problem.detail.ends_with("expected a string"), "{}", problem.detail);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_expected_is_said_in_words_and_where() {
    let bench = Bench::new().await;
    for (name, request, pointer, expected) in [
        ("recall", json!({ "query": "a", "k": -1 }), "/k", "a whole number of 0 or more"),
        ("recall", json!({ "query": "a", "k": "five" }), "/k", "a whole number of 0 or more"),
        ("recall", json!({ "query": "a", "graph": 1 }), "/graph", "true or false"),
        ("recall", json!({ "query": "a", "filter": 1 }), "/filter", "an object"),
        ("record_many", json!({ "turns": 1 }), "/turns", "an array"),
        (
            "memory_save",
            json!({ "title": "A", "content": "B", "importance": "high" }),
            "/importance",
            "a number",
        ),
        (
            "memory_save",
            json!({ "title": "A", "content": "B", "validity_window_s": -1 }),
            "/validity_window_s",
            "a whole number of 0 or more",
        ),
        (
            "memory_pin",
            json!({ "memory": "key:a", "expected_revision": 5_000_000_000_u64 }),
            "/expected_revision",
            "a whole number from 0 to 4294967295",
        ),
        (
            "recall",
            json!({ "query": "a", "profile": 1 }),
            "/profile",
            "the name of a profile, or an object that is called `paper` or `custom`",
        ),
    ] {
        let problem = bench.ask(name, request.clone()).await.unwrap_err();
        assert_eq!(problem.pointer.as_deref(), Some(pointer), "{request}");
        assert!(problem.detail.ends_with(&format!(": expected {expected}")), "{request}: {}", problem.detail);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_has_no_weights_but_its_own() {
    let bench = Bench::new().await;
    let mut weights = json!({ "anchors": 0.1, "answer": 0.3, "meaning": 0.4, "neighbours": 0.1, "quote": 0.2, "recency": 0.0,
        "session": 0.3, "speaker": 0.3, "time": 0.4, "wish": 0.1, "words": 0.6 });
    let recall = |weights: &Value| json!({ "query": "boat", "profile": { "custom": weights } });
    bench.answer("recall", recall(&weights)).await;
    weights["colour"] = json!(1.0);
    let problem = bench.ask("recall", recall(&weights)).await.unwrap_err();
    assert_eq!(
        (problem.code, problem.pointer.as_deref()),
        (Code::BadRequest, Some("/profile/custom/colour"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_float_is_an_integer_as_json_schema_says() {
    let bench = Bench::new().await;
    bench
        .answer("record", json!({ "session": "a", "user_message": "A boat.", "metadata": { "n": 53.0 } }))
        .await;
    let recall = json!({ "query": "boat", "k": 3.0, "filter": { "sessions": [] } });
    bench.answer("recall", recall).await;
    let turn = bench.answer("turn_at", json!({ "session": "a", "number": "1" })).await;
    assert_eq!(turn["metadata"]["n"].to_string(), "53.0", "what the caller keeps stays as it was");
    bench.answer("session_list", json!({ "limit": 7.0 })).await;
    assert_eq!(bench.refused("session_list", json!({ "limit": 7.5 })).await, Code::BadRequest);
}

/// Each bound: the last allowed value and the first refused one, by the schema and by the operation.
#[tokio::test(flavor = "multi_thread")]
async fn bounds_are_those_of_the_schema_and_of_the_operation() {
    let bench = Bench::new().await;
    bench.answer("record", json!({ "session": "a", "caller_id": "m", "user_message": "A boat." })).await;
    let saved =
        bench.answer("memory_save", json!({ "title": "Boats", "content": "They float, mostly." })).await;
    let id = &saved["memory"]["id"];
    let many = |n: usize| json!({ "turns": vec![json!({ "session": "a", "caller_id": "m", "user_message": "A boat." }); n] });
    let checked = |n: usize| json!({ "memories": vec![id; n] });
    let files = |n: usize| json!({ "files": vec![json!({ "name": "a.md", "text": "# A\n\nB.\n" }); n] });
    for (name, good, bad) in [
        ("recall", json!({ "query": "a", "k": 1 }), json!({ "query": "a", "k": 0 })),
        ("recall", json!({ "query": "a", "k": 1_000 }), json!({ "query": "a", "k": 1_001 })),
        (
            "context",
            json!({ "message": "a", "min_confidence": 1.0 }),
            json!({ "message": "a", "min_confidence": 1.01 }),
        ),
        (
            "context",
            json!({ "message": "a", "queries": vec!["b"; 8] }),
            json!({ "message": "a", "queries": vec!["b"; 9] }),
        ),
        (
            "turn_search",
            json!({ "session": "a", "query": "a", "k": 200 }),
            json!({ "session": "a", "query": "a", "k": 201 }),
        ),
        (
            "turn_search",
            json!({ "session": "a", "query": "a", "k": 1 }),
            json!({ "session": "a", "query": "a", "k": 0 }),
        ),
        ("session_list", json!({ "limit": 1 }), json!({ "limit": 0 })),
        ("session_list", json!({ "limit": 200 }), json!({ "limit": 201 })),
        ("due_list", json!({ "limit": 200 }), json!({ "limit": 201 })),
        ("core", json!({ "max_tokens": 100 }), json!({ "max_tokens": 99 })),
        ("core", json!({ "per_section": 100 }), json!({ "per_section": 101 })),
        ("core", json!({ "per_section": 1 }), json!({ "per_section": 0 })),
        ("core", json!({ "min_trust": 4 }), json!({ "min_trust": 5 })),
        ("core", json!({ "min_trust": 2 }), json!({ "min_trust": 1 })),
        ("memory_list", json!({ "min_confidence": 0.0 }), json!({ "min_confidence": -0.01 })),
        (
            "memory_edit",
            json!({ "memory": id, "importance": 1.0 }),
            json!({ "memory": id, "importance": 1.01 }),
        ),
        (
            "memory_save",
            json!({ "title": "A".repeat(200), "content": "A very long title." }),
            json!({ "title": "A".repeat(201), "content": "A very long title." }),
        ),
        ("memory_save", json!({ "title": "A", "content": "b" }), json!({ "title": "", "content": "b" })),
        ("record_many", many(1_000), many(1_001)),
        ("record_many", many(1), many(0)),
        ("memory_validate", checked(1_000), checked(1_001)),
        ("memory_import", files(1_000), files(1_001)),
        (
            "session_state_set",
            json!({ "session": "a", "name": "n".repeat(200), "text": "t" }),
            json!({ "session": "a", "name": "n".repeat(201), "text": "t" }),
        ),
        (
            "memory_edit",
            json!({ "memory": id, "validity_window_s": 3_162_240_000_u64 }),
            json!({ "memory": id, "validity_window_s": u64::MAX }),
        ),
        ("job_retry", json!({ "job": "5" }), json!({ "job": "-5" })),
        ("turn_at", json!({ "session": "a", "number": "1" }), json!({ "session": "a", "number": "-1" })),
    ] {
        let schema = schema::request(bench.row(name));
        assert_fits(&schema, &good, name);
        assert!(!jsonschema::is_valid(&schema, &bad), "{name}: the schema allows {bad}");
        assert!(bench.ask(name, good.clone()).await.is_ok(), "{name}: {good}");
        assert_eq!(bench.refused(name, bad.clone()).await, Code::InvalidInput, "{name}: {bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_not_found_in_the_same_words_whatever_it_is() {
    let bench = Bench::new().await;
    let id = "0199aaaa-0000-7000-8000-0000000000b1";
    let details = |problem: thermocline_server::ops::problem::Problem| (problem.code, problem.detail);
    let unknown_user = details(bench.ask("session_list", json!({})).await.unwrap_err());
    assert_eq!(unknown_user.0, Code::NotFound);
    bench.answer("record", json!({ "session": "a", "user_message": "A boat." })).await;
    for (name, request) in [
        ("turn_show", json!({ "turn": id })),
        ("turn_show", json!({ "turn": "key:nobody" })),
        ("session_show", json!({ "session": "b" })),
        ("session_show", json!({ "session": format!("id:{id}") })),
        ("record", json!({ "session": format!("id:{id}"), "user_message": "A boat." })),
        ("turn_at", json!({ "session": "a", "number": "2" })),
        ("turn_erase", json!({ "turn": id })),
        ("turn_summary", json!({ "turn": id })),
        ("turn_summary", json!({ "turn": "key:nobody" })),
        ("memory_show", json!({ "memory": id })),
        ("memory_show", json!({ "memory": "key:nothing" })),
        ("memory_edit", json!({ "memory": id, "pinned": true })),
        ("memory_erase", json!({ "memory": id })),
        ("anchor_show", json!({ "anchor": id })),
        ("anchor_retract", json!({ "anchor": id })),
        ("edge_show", json!({ "edge": id })),
        ("review_show", json!({ "review": id })),
        ("receipt_show", json!({ "receipt": id })),
        ("receipt_show", json!({ "receipt": "last" })),
        ("quarantine_lift", json!({ "group": id })),
        ("group_undo", json!({ "group": id })),
    ] {
        let problem = bench.ask(name, request.clone()).await.unwrap_err();
        assert_eq!(details(problem), unknown_user, "{name} {request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_there_and_has_no_summary_is_not_missing() {
    let bench = Bench::new().await;
    bench.answer("record", json!({ "session": "a", "user_message": "A boat.", "caller_id": "1" })).await;
    assert_eq!(bench.answer("turn_summary", json!({ "turn": "key:1" })).await, json!({ "summary": null }));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_user_whom_nobody_knows_a_context_and_a_recall_are_empty_and_add_nobody() {
    let bench = Bench::new().await;
    let context =
        bench.answer("context", json!({ "message": "What is my boat called?", "session": "a" })).await;
    assert_eq!((&context["text"], &context["receipt"]), (&json!(""), &Value::Null));
    let recall = bench.answer("recall", json!({ "query": "boat" })).await;
    assert_eq!((&recall["items"], &recall["receipt"]), (&json!([]), &Value::Null));
    for (name, request) in [
        ("context", json!({ "message": "a", "queries": vec!["b"; 9] })),
        ("context", json!({ "message": "a", "min_confidence": 2.0 })),
        ("context", json!({ "message": "a", "budget_tokens": 1_000_001 })),
        ("recall", json!({ "query": "a", "k": 0 })),
    ] {
        assert_eq!(bench.refused(name, request).await, Code::InvalidInput, "{name}");
    }
    assert_eq!(bench.answer("user_list", json!({})).await["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_another_revision_than_was_read_says_so_and_changes_nothing() {
    let bench = Bench::new().await;
    let saved =
        bench.answer("memory_save", json!({ "title": "Boats", "content": "They float, mostly." })).await;
    let id = &saved["memory"]["id"];
    for name in ["memory_edit", "memory_pin", "memory_unpin"] {
        let problem = bench.ask(name, json!({ "memory": id, "expected_revision": 7 })).await.unwrap_err();
        assert_eq!(problem.code, Code::ChangedSince, "{name}");
        assert_eq!(problem.code.facts().status, 412);
    }
    let twin = json!({ "title": "Boats", "content": "Some sink, in the end.", "goal_signature": "x" });
    bench.answer("memory_save", twin).await;
    let slot = json!({ "memory": id, "expected_revision": 1, "goal_signature": "x", "kind": "general" });
    assert_eq!(bench.refused("memory_edit", slot).await, Code::Conflict, "another conflict stays one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_has_a_plain_name_in_the_configured_folder_and_replaces_nothing() {
    let bench = Bench::new().await;
    for name in [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "../a",
        "/tmp/a",
        "a\\b",
        "a\0b",
        "C:a",
        "a b",
        "b\u{fc}",
        "-rf",
        "--help",
        "a.",
        "a\n",
        "a ",
        "\u{202e}a",
    ] {
        assert_eq!(bench.refused("backup", json!({ "name": name })).await, Code::InvalidInput, "{name:?}");
    }
    bench.answer("backup", json!({ "name": "a.db" })).await;
    assert_eq!(bench.refused("backup", json!({ "name": "a.db" })).await, Code::Conflict);
    assert_eq!(
        bench.refused("backup", json!({ "name": "memory.db" })).await,
        Code::Conflict,
        "not the file itself"
    );
    #[cfg(unix)]
    {
        let folder = bench.service.backup_folder.as_deref().unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("dangling.db")).unwrap();
        let problem = bench.ask("backup", json!({ "name": "dangling.db" })).await.err().unwrap();
        assert_eq!(problem.code, Code::Conflict);
        assert!(!problem.detail.contains(folder.to_str().unwrap()), "{problem:?}");
    }
    let without = Bench::with(|service| service.backup_folder = None).await;
    assert_eq!(without.refused("backup", json!({ "name": "a.db" })).await, Code::Unsupported);
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_are_read_once_in_fifteen_seconds_by_whoever_asks() {
    let bench = Bench::new().await;
    let first = bench.answer("stats", json!({})).await;
    bench.answer("record", json!({ "user_message": "A boat." })).await;
    let (second, third) = tokio::join!(bench.answer("stats", json!({})), bench.answer("stats", json!({})));
    assert_eq!((&second["stats"], &third["stats"]), (&first["stats"], &first["stats"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_users_name_has_its_bounds_also_where_nobody_has_it() {
    let bench = Bench::new().await;
    for (name, request) in [
        ("context", json!({ "message": "a" })),
        ("recall", json!({ "query": "a" })),
        ("record", json!({ "user_message": "a" })),
        ("session_list", json!({})),
    ] {
        for user in ["", "a\0b", &"a".repeat(257)] {
            let asked = bench.ask_for(user, Caller::shell(Origin::User), name, request.clone()).await;
            assert_eq!(asked.unwrap_err().code, Code::InvalidInput, "{name} for {user:?}");
        }
    }
    let longest = "a".repeat(256);
    bench.ask_for(&longest, Caller::shell(Origin::User), "recall", json!({ "query": "a" })).await.unwrap();
}
