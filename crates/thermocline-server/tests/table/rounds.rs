//! Calls every row of the table on a real file, and checks that each answer matches its schema.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use thermocline::Origin;
use thermocline_server::ops::OperationOutcome;

use crate::bench::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn every_row_answers_what_its_schema_says() {
    let bench = Bench::new().await;
    talk(&bench).await;
    facts_and_receipts(&bench).await;
    let [fix, problem] = memories(&bench).await;
    relations(&bench, &fix, &problem).await;
    life(&bench, &fix).await;
    questions(&bench).await;
    hidden(&bench, &problem).await;
    compression(&bench).await;
    file(&bench).await;
    erased(&bench, &fix).await;
    let called = bench.called.borrow().clone();
    let rows: BTreeSet<&str> = bench.service.table.iter().map(|row| row.spec.name).collect();
    let missing: Vec<_> = rows.difference(&called).collect();
    assert!(missing.is_empty(), "nobody asked {missing:?}");
}

fn items(page: &Value) -> &Vec<Value> {
    page["items"].as_array().expect("a page has items")
}

async fn talk(bench: &Bench) {
    let turn = |n: u32| {
        json!({
            "session": "spring", "caller_id": format!("m{n}"), "user_message": format!("I bought a boat, the {n}th."),
            "ai_response": "There are many things to look at before the season begins, from the rigging to the papers. ".repeat(8), "said_at": "2026-03-01T10:00:00Z", "user_name": "Alex",
            "metadata": { "n": n },
        })
    };
    let (outcome, first) = bench.well("record", turn(1)).await;
    assert_eq!((outcome, &first["turn_number"]), (OperationOutcome::Added, &json!(1)));
    let (again, known) = bench.well("record", turn(1)).await;
    assert_eq!((again, &known["turn_id"]), (OperationOutcome::Known, &first["turn_id"]));

    let message = json!({ "session": "spring", "caller_id": "m2", "user_message": "She is called Petrel." });
    let (outcome, waiting) = bench.well("record_message", message).await;
    assert_eq!((outcome, &waiting["state"]), (OperationOutcome::Added, &json!("incomplete")));
    let reply = json!({ "turn": "key:m2", "ai_response": "A fine name." });
    let (outcome, complete) = bench.well("turn_complete", reply.clone()).await;
    assert_eq!((outcome, &complete["turn_id"]), (OperationOutcome::Done, &waiting["turn_id"]));
    assert_eq!(bench.well("turn_complete", reply).await.0, OperationOutcome::Known);

    let other_text = json!({ "session": "spring", "caller_id": "m1", "user_message": "Something else." });
    let many = bench.answer("record_many", json!({ "turns": [turn(3), turn(4), other_text] })).await;
    assert_eq!(items(&many)[1]["recorded"]["turn_number"], 4);
    assert_eq!(items(&many)[2]["problem"]["code"], "conflict");

    let replacing = json!({
        "session": "spring", "caller_id": "m5", "user_message": "I bought two boats.",
        "replacing": items(&many)[1]["recorded"]["turn_id"],
    });
    bench.answer("record", replacing).await;
    let replaced = bench.answer("turn_replaced", json!({ "session": "spring", "number": "4" })).await;
    assert_eq!(items(&replaced)[0]["turn"]["caller_id"], "m4");

    let shown = bench.answer("turn_show", json!({ "turn": first["turn_id"] })).await;
    assert_eq!(shown, bench.answer("turn_show", json!({ "turn": "key:m1" })).await);
    assert_eq!(shown, bench.answer("turn_at", json!({ "session": "spring", "number": "1" })).await);
    let listed = bench.answer("turn_list", json!({ "session": "spring" })).await;
    assert_eq!(items(&listed).len(), 4);
    let found = bench.answer("turn_search", json!({ "session": "spring", "query": "Petrel" })).await;
    assert_eq!(items(&found)[0]["turn"]["caller_id"], "m2");

    let session = bench.answer("session_show", json!({ "session": "spring" })).await;
    assert_eq!(session["hot"], json!([1, 2, 3, 4]));
    let by_id = json!({ "session": format!("id:{}", session["info"]["id"].as_str().unwrap()) });
    assert_eq!(bench.answer("session_show", by_id).await, session);
    assert_eq!(
        bench.answer("session_hot", json!({ "session": "spring" })).await["turns"].as_array().unwrap().len(),
        4
    );
    bench.answer("session_warm", json!({ "session": "spring" })).await;
    bench.answer("session_start", json!({})).await;
    assert_eq!(items(&bench.answer("session_list", json!({})).await).len(), 2);
    let set = json!({ "session": "spring", "project": "boat", "title": "The boat", "metadata": { "a": 1 } });
    assert_eq!(bench.answer("session_set", set).await["title"], "The boat");
    let set = bench.answer("session_set", json!({ "session": "spring", "title": null })).await;
    assert_eq!(
        (&set["title"], &set["project"]),
        (&Value::Null, &json!("boat")),
        "only what is named changes"
    );
    bench.answer("session_state_set", json!({ "session": "spring", "name": "plan", "text": "Sail." })).await;
    assert_eq!(
        items(&bench.answer("session_state", json!({ "session": "spring" })).await)[0]["text"],
        "Sail."
    );
}

async fn facts_and_receipts(bench: &Bench) {
    let context = json!({ "session": "spring", "message": "What is my boat called?", "budget_tokens": 500 });
    let context = bench.answer("context", context).await;
    assert!(context["text"].as_str().unwrap().contains("Petrel"));
    let recall = bench.answer("recall", json!({ "query": "boat", "k": 3 })).await;
    let receipts = bench.answer("receipt_list", json!({})).await;
    assert_eq!(items(&receipts)[0]["id"], recall["receipt"]);
    let why = bench.answer("receipt_show", json!({ "receipt": "last" })).await;
    assert!(why["text"].as_str().unwrap().contains("A recall of"));

    let porto = json!({ "attribute": "home", "value": "Porto" });
    let (outcome, home) = bench.well("anchor_set", porto.clone()).await;
    assert_eq!(outcome, OperationOutcome::Added);
    assert_eq!(bench.well("anchor_set", porto).await, (OperationOutcome::Known, home.clone()));
    let moved = bench.answer("anchor_replace", json!({ "anchor": home["id"], "value": "Lisbon" })).await;
    let listed = bench.answer("anchor_list", json!({})).await;
    assert_eq!(items(&listed).len(), 2);
    let before = bench.answer("anchor_show", json!({ "anchor": home["id"] })).await;
    assert_eq!(before["superseded_by"], moved["id"]);
    assert_eq!(moved["evidence"][0]["made_by"], "shell", "not the user, who has said nothing");
    let retracted = bench.answer("anchor_retract", json!({ "anchor": moved["id"] })).await;
    assert!(retracted["retracted_at"].is_string());
}

async fn memories(bench: &Bench) -> [Value; 2] {
    let fix = json!({
        "kind": "fix", "title": "Redis timeouts", "content": "Keepalive of 300 s fixes the drops.", "caller_id": "fix-1",
        "tags": ["#redis"], "entities": ["Redis"], "importance": 0.9, "session": "spring", "said_at": "2026-01-01T00:00:00Z",
    });
    let (outcome, saved) = bench.well("memory_save", fix.clone()).await;
    assert_eq!((outcome, &saved["memory"]["origin"]), (OperationOutcome::Added, &json!("user")));
    assert_eq!(bench.well("memory_save", fix).await.0, OperationOutcome::Known);
    let fix = saved["memory"]["id"].clone();
    let problem =
        json!({ "kind": "problem", "title": "Redis drops", "content": "Connections drop at night." });
    let problem = bench.answer("memory_save", problem).await["memory"]["id"].clone();

    let edited =
        bench.answer("memory_edit", json!({ "memory": fix, "expected_revision": 1, "project": "ops" })).await;
    assert_eq!((&edited["revision"], &edited["project"]), (&json!(2), &json!("ops")));
    let edited = bench.answer("memory_edit", json!({ "memory": fix, "project": null })).await;
    assert_eq!(edited["project"], Value::Null);
    assert_eq!(bench.answer("memory_pin", json!({ "memory": fix })).await["pinned"], true);
    assert_eq!(
        bench.answer("memory_unpin", json!({ "memory": fix, "expected_revision": 4 })).await["pinned"],
        false
    );
    assert_eq!(bench.answer("memory_undo", json!({ "memory": fix })).await["memories"][0]["pinned"], true);

    let shown = bench.answer("memory_show", json!({ "memory": fix })).await;
    let digits = fix.as_str().unwrap();
    for name in ["key:fix-1", &digits[digits.len() - 8..]] {
        assert_eq!(bench.answer("memory_show", json!({ "memory": name })).await, shown);
    }
    let listed =
        bench.answer("memory_list", json!({ "kind": "fix", "tag": "Redis", "min_confidence": 0.5 })).await;
    assert_eq!(items(&listed).len(), 1);
    let history = bench.answer("memory_history", json!({ "memory": fix })).await;
    assert_eq!(items(&history).len(), 6, "saved, edited twice, pinned, unpinned, undone");
    bench.answer("memory_sources", json!({ "memory": fix })).await;
    assert_eq!(items(&bench.answer("tag_list", json!({})).await)[0]["term"], "redis");
    assert_eq!(items(&bench.answer("entity_list", json!({})).await)[0]["term"], "redis");
    let file = bench.answer("memory_file", json!({ "memory": fix })).await;
    assert!(file["text"].as_str().unwrap().contains("Keepalive of 300 s"));
    let files =
        json!({ "files": [{ "name": "notes/a.md", "text": "# Backups\n\nThey run at two at night.\n" }] });
    assert_eq!(bench.answer("memory_import", files).await["saved"], 1);
    [fix, problem]
}

async fn relations(bench: &Bench, fix: &Value, problem: &Value) {
    let edge = json!({ "from": fix, "type": "solves", "to": problem, "strength": 0.7, "context": "It did." });
    let edge = bench.answer("edge_set", edge).await;
    assert_eq!(bench.answer("edge_show", json!({ "edge": edge["id"] })).await, edge);
    let beside = bench.answer("memory_neighbours", json!({ "memory": problem })).await;
    assert_eq!(&items(&beside)[0]["memory_id"], fix);
    assert_eq!(bench.answer("edge_remove", json!({ "edge": edge["id"] })).await, edge);
    assert_eq!(items(&bench.answer("memory_neighbours", json!({ "memory": problem })).await).len(), 0);

    let other = json!({ "title": "Redis drops", "content": "Connections drop at three at night." });
    let newer = bench.answer("memory_supersede", json!({ "memory": problem, "with": other })).await;
    assert_eq!(newer["memory"]["kind"], "problem", "the kind is that of the old one");
    let undone = bench.answer("memory_undo", json!({ "memory": problem })).await;
    assert_eq!(undone["memories"].as_array().unwrap().len(), 2);
    let lone = json!({ "title": "Drops", "content": "All connections drop at night, each night." });
    let lone = bench.answer("memory_save", lone).await["memory"]["id"].clone();
    bench.answer("memory_supersede_by", json!({ "memory": lone, "by": problem })).await;
    bench.answer("memory_undo", json!({ "memory": lone })).await;
    let one = json!({ "title": "Redis at night", "content": "Connections drop each night at three." });
    let merged = bench.answer("memory_merge", json!({ "memories": [problem, lone], "into": one })).await;
    bench.answer("group_undo", json!({ "group": merged["group"] })).await;
    let shown = bench.answer("memory_show", json!({ "memory": lone })).await;
    assert_eq!(shown["status"], "active");
}

async fn life(bench: &Bench, fix: &Value) {
    let report = json!({ "memory": fix, "outcome": "success", "session": "spring", "caller_id": "run-1" });
    let used = bench.answer("memory_used", report.clone()).await;
    assert_eq!(used, bench.answer("memory_used", report).await, "reported again, it counts once");
    let due = bench.answer("due_list", json!({ "on": "2027-11-25" })).await;
    assert!(items(&due).iter().any(|due| due["memory"]["id"] == *fix));
    bench.answer("memory_resurfaced", json!({ "memory": fix })).await;
    bench.answer("memory_dismiss", json!({ "memory": fix })).await;
    let note = json!({ "title": "Moved the bot", "kind": "decision", "memory": fix, "caller_id": "n" });
    let (outcome, noted) = bench.well("episode_note", note.clone()).await;
    assert_eq!(outcome, OperationOutcome::Added);
    assert_eq!(bench.well("episode_note", note).await, (OperationOutcome::Known, noted.clone()));
    let episodes = bench.answer("episode_list", json!({ "role": "note" })).await;
    assert_eq!(items(&episodes), &vec![noted]);
    let core = bench.answer("core", json!({ "max_tokens": 300, "min_trust": 3 })).await;
    assert!(core["text"].as_str().unwrap().contains("Redis timeouts"));
    bench.answer("reflection", json!({})).await;
    bench.answer("reflect", json!({})).await;
    assert_eq!(bench.answer("tend", json!({ "dry_run": true })).await["dry_run"], true);
    let sensors =
        bench.answer("sensor_watch", json!({ "memory": fix, "sensor": "human", "check": "redis" })).await;
    assert_eq!(sensors, bench.answer("sensor_list", json!({ "memory": fix })).await);
    let checks = bench.answer("memory_validate", json!({ "memories": [fix] })).await;
    assert_eq!(items(&checks)[0]["why"], "a person is asked");
    assert_eq!(
        items(&bench.answer("sensor_unwatch", json!({ "memory": fix, "sensor": "human" })).await).len(),
        0
    );
}

async fn questions(bench: &Bench) {
    let said = |content: &str| json!({ "title": "Editor", "content": content, "goal_signature": "editor" });
    bench.answer("memory_save", said("Helix is the editor to use.")).await;
    let (_, waits) =
        bench.well_as(Origin::Assistant, "memory_save", said("Emacs is what everybody uses.")).await;
    let review = waits["outcome"]["waits"].clone();
    assert!(review.is_string(), "the assistant does not overrule the user: {waits:#}");
    let asked = bench.answer("review_list", json!({ "kind": "contradiction" })).await;
    assert_eq!(items(&asked)[0], bench.answer("review_show", json!({ "review": review })).await);
    let decision = json!({ "review": review, "decision": "rejected", "by": "Alex" });
    assert_eq!(bench.answer("review_decide", decision).await["review"]["decision"], "rejected");
}

async fn hidden(bench: &Bench, problem: &Value) {
    let source = json!({ "source": { "memory": problem }, "why": "a test" });
    let hidden = bench.answer("quarantine", source).await;
    assert!(hidden["memories"].as_array().unwrap().contains(problem));
    bench.answer("quarantine_lift", json!({ "group": hidden["group"] })).await;
    let would = bench.answer("memory_forget", json!({ "memory": problem, "dry_run": true })).await;
    assert_eq!((&would["memories"], &would["group"]), (&json!([problem]), &Value::Null));
    assert_eq!(
        bench.answer("memory_forget", json!({ "memory": problem })).await["memories"],
        json!([problem])
    );
    let would = bench.answer("memory_forget", json!({ "memory": problem, "dry_run": true })).await;
    assert_eq!(would["memories"], json!([]), "it is forgotten already");
    let which = |dry_run: bool| json!({ "kinds": ["fix"], "tags": ["redis"], "dry_run": dry_run });
    let would = bench.answer("memory_forget_all", which(true)).await;
    let done = bench.answer("memory_forget_all", which(false)).await;
    assert_eq!((would["memories"].as_array().unwrap().len(), &done["memories"]), (1, &would["memories"]));
    bench.answer("group_undo", json!({ "group": done["group"] })).await;
}

async fn compression(bench: &Bench) {
    let ended = bench.answer("session_end", json!({ "session": "spring" })).await;
    assert_eq!(ended["end_reason"], "call");
    bench.answer("job_run", json!({})).await;
    let of = json!({ "session": "spring" });
    let summaries = bench.answer("session_summaries", of.clone()).await;
    assert!(!items(&summaries).is_empty(), "something was summarized");
    let turn = items(&summaries)[0]["original_turn_id"].clone();
    let summary = bench.answer("turn_summary", json!({ "turn": turn })).await;
    assert_eq!(summary["summary"], items(&summaries)[0]);
    assert_eq!(items(&bench.answer("summary_list", json!({})).await).len(), items(&summaries).len());
    assert!(!items(&bench.answer("session_transitions", of.clone()).await).is_empty());
    assert_eq!(items(&bench.answer("cold_list", json!({})).await).len(), 4);
    bench.answer("session_compress_again", of.clone()).await;
    bench.answer("user_compress_again", json!({})).await;
    assert_eq!(bench.answer("session_restore", of.clone()).await["turns"], 4, "verbatim ones too");
    bench.answer("session_compress", of).await;
    let jobs = bench.answer("job_list", json!({})).await;
    let job = items(&jobs).iter().find(|job| job["kind"] == "compress").expect("it is queued");
    let job = job["job_no"].to_string();
    bench.answer("job_retry", json!({ "job": job })).await;
    bench.answer("job_retry", json!({ "job": "all" })).await;
    assert!(bench.answer("job_run", json!({ "kind": "compress" })).await["done"].as_u64().unwrap() >= 1);
}

async fn file(bench: &Bench) {
    assert_eq!(
        items(&bench.answer("user_list", json!({})).await)[0],
        bench.answer("user_show", json!({})).await
    );
    let first = bench.answer("stats", json!({})).await;
    let second = bench.answer("stats", json!({})).await;
    assert_eq!((&first["age_ms"], &first["stats"]), (&json!(0), &second["stats"]));
    let diagnosis = bench.answer("doctor", json!({})).await;
    assert!(
        diagnosis["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|check| check["problems"].as_array().is_none_or(Vec::is_empty))
    );
    let backup = bench.answer("backup", json!({ "name": "copy.db" })).await;
    assert_eq!(backup["size_bytes"], bench.folder.path().join("copy.db").metadata().unwrap().len());
    bench.answer("embed_status", json!({})).await;
    bench.answer("embed_rebuild", json!({})).await;
    bench.answer("embed_drop", json!({})).await;

    let (counted, lines) = bench.spooled("user_export", "").await;
    assert!(counted["turns"].as_u64().unwrap() >= 4 && lines.lines().count() > 10);
    let elsewhere = Bench::new().await;
    let (imported, _) = elsewhere.spooled("user_import", &lines).await;
    assert_eq!(imported, counted);
    bench.called.borrow_mut().append(&mut elsewhere.called.borrow_mut());
}

async fn erased(bench: &Bench, fix: &Value) {
    let erased = bench.answer("turn_erase", json!({ "turn": "key:m2" })).await;
    assert_eq!(erased["turns"], 1);
    assert_eq!(bench.answer("memory_erase", json!({ "memory": fix })).await["memories"], 1);
    assert_eq!(bench.answer("session_erase", json!({ "session": "spring" })).await["sessions"], 1);
    bench.answer("user_erase", json!({})).await;
    assert_eq!(items(&bench.answer("user_list", json!({})).await).len(), 0);
}
