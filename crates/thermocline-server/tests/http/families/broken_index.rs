//! If a part of the index cannot be read, the answer comes from the other parts, and says so.

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::{
    Site,
    degradation::{FOUND, QUESTION, ask_context, told},
    ids,
};

/// Renames a table, so that it cannot be read.
fn lose(site: &Site, table: &str) {
    let path = site.server.folder.path().join("memory.db");
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    conn.execute_batch(&format!("ALTER TABLE {table} RENAME TO lost")).unwrap();
}

#[track_caller]
fn check_missing(answer: &Value, leg: &str) {
    let missing = answer["missing"].as_array().unwrap();
    assert!(missing.iter().any(|said| said.as_str().unwrap().starts_with(leg)), "{leg} {missing:?}");
}

#[test]
fn without_the_words_or_the_vectors_recall_goes_on_by_the_other() {
    for (table, leg, lost, left) in
        [("postings", "words: ", "words", "meaning"), ("vector_blocks", "vectors: ", "meaning", "words")]
    {
        let site = Site::new();
        let mut alex = told(&site);
        lose(&site, table);
        let (recall, context) = (alex.recall(QUESTION), ask_context(&mut alex));
        check_missing(&recall, leg);
        check_missing(&context, leg);
        let items = recall["items"].as_array().unwrap();
        assert!(items.iter().all(|item| item["parts"][lost] == 0.0), "{table}: {recall}");
        assert!(items.iter().any(|item| item["parts"][left].as_f64() > Some(0.0)), "{table}: {recall}");
        assert!(lost == "words" || ids(&recall)[0] == FOUND, "{table}: {recall}");
    }
}

#[test]
fn without_all_of_recall_the_context_has_the_session_and_only_recall_fails() {
    let site = Site::new();
    let mut alex = told(&site);
    lose(&site, "unit_blocks");
    let context = ask_context(&mut alex);
    check_missing(&context, "recall: ");
    let shown: Vec<u64> =
        context["items"].as_array().unwrap().iter().filter_map(|item| item["turn_number"].as_u64()).collect();
    assert_eq!(shown, (1..=10).collect::<Vec<_>>());
    let answer = alex.ask("POST", "/recall", Some(&json!({ "query": QUESTION })));
    assert!(answer.status >= 500 && !answer.code().is_empty(), "{answer:?}");
    assert!(!String::from_utf8(answer.body).unwrap().contains("violin"));
}
