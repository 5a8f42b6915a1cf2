//! How the house is built: imports point one way, SQL stands in one place, every statement names its user.

use std::{collections::HashMap, fs, path::Path};

/// From the ground up. A module may import its own layer and those before it.
const LAYERS: &[&[&str]] = &[
    &["error", "model"],
    &["aside", "clock", "endpoint", "text"],
    &["compress", "embed", "index", "tier"],
    &["config"],
    &["store"],
    &["jobs", "recall"],
    &["handles"],
];

/// Every file under `src` but the binary's, with its text up to its tests.
fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let root = folders[0].clone();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                // The first line says what the file is about; other comments may speak of anything.
                let is_kept = |line: &&str| !line.trim_start().starts_with("//") || line.starts_with("//!");
                let code = code.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
                files.push((path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), code));
            }
        }
    }
    files.retain(|(path, _)| !path.starts_with("bin/"));
    assert!(files.len() > 30, "the sources are found");
    files
}

fn layer_of(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("{module} is in no layer"))
}

/// The modules that a file names behind `crate::`, alone or in a list. A name that the crate shows to all stands
/// for the module that it comes from.
fn imports(code: &str) -> Vec<String> {
    let shown = shown_names();
    let names = code.split("crate::").skip(1).flat_map(|path| match path.strip_prefix('{') {
        None => vec![first_word(path)],
        Some(list) => list_items(list).iter().map(|item| first_word(item)).collect(),
    });
    names.filter(|name| !name.is_empty()).map(|name| shown.get(&name).cloned().unwrap_or(name)).collect()
}

/// The items between an open brace and the one that closes it, the lists inside them kept whole.
fn list_items(list: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0;
    for c in list.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        items.last_mut().unwrap().push(c);
    }
    items
}

/// What `lib.rs` shows under the crate's own name, and the module that it comes from.
fn shown_names() -> HashMap<String, String> {
    let lib = include_str!("../../src/lib.rs");
    let list = lib.split("pub use crate::{").nth(1).unwrap();
    let mut shown = HashMap::new();
    for item in list_items(list) {
        for path in item.split([',', '{', '}']) {
            let name = path.rsplit("::").next().unwrap().trim();
            if !name.is_empty() {
                shown.insert(name.to_owned(), first_word(&item));
            }
        }
    }
    assert_eq!(shown.get("Tokenizer").map(String::as_str), Some("text"), "lib.rs is understood");
    shown
}

fn first_word(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

#[test]
fn imports_point_one_way() {
    for (path, code) in sources() {
        let own = path.split(['/', '.']).next().unwrap();
        if own == "lib" || path == "handles/blocking.rs" {
            continue; // The public surface, and what wraps it.
        }
        for module in imports(&code) {
            assert!(layer_of(&module) <= layer_of(own), "src/{path} imports {module}, which lies above it");
        }
    }
}

#[test]
fn the_test_above_sees_imports() {
    let code = "use crate::{\n    error::Result,\n    store::{Store, users::Scope},\n};\nuse crate::recall::pack;\nlet x = crate::clock::now();";
    assert_eq!(imports(code), ["error", "store", "recall", "clock"]);
    let code = "use crate::Thermocline;\nuse crate::{Config, ContextOptions as O, blocking::Session, model::ids::UserId, Check};\nlet x: crate::Turn;";
    assert_eq!(imports(code), ["handles", "config", "recall", "handles", "model", "store", "model"]);
}

#[test]
fn sql_stands_only_in_the_store() {
    for (path, code) in sources().into_iter().filter(|(path, _)| !path.starts_with("store/")) {
        for word in ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "PRAGMA "] {
            assert!(!code.contains(word), "src/{path} speaks SQL: {word}");
        }
    }
}

#[test]
fn every_statement_about_a_users_rows_names_the_user() {
    // Jobs belong to the file: whoever runs them is no user.
    const TABLES: [&str; 19] = [
        "conversation_sessions",
        "conversation_turns",
        "recall_units",
        "memory_tier_transitions",
        "conversation_summaries",
        "archived_frames",
        "archived_turns",
        "identity_anchors",
        "derivations",
        "postings",
        "unit_blocks",
        "user_spaces",
        "vector_blocks",
        "vector_gaps",
        "recall_receipts",
        "recall_receipt_items",
        "unit_uses",
        "use_counts",
        "promotions",
    ];
    // When vectors are made anew, it is those of all.
    const OF_ALL: [&str; 4] = [
        "DELETE FROM user_spaces WHERE space_no = ?1",
        "DELETE FROM vector_gaps WHERE space_no = ?1",
        "UPDATE user_spaces SET embedded_seq = 0 WHERE space_no = ?1",
        "(SELECT rowid FROM vector_blocks WHERE space_no = ?1 LIMIT 64)",
    ];
    let mut seen = 0;
    for (path, code) in sources() {
        // These count over the whole file and give back nothing of what anybody said.
        if !path.starts_with("store/")
            || ["store/rows/checks.rs", "store/rows/stats.rs"].contains(&path.as_str())
        {
            continue;
        }
        for literal in code.split('"').skip(1).step_by(2) {
            // A table's name alone is no statement, nor is what an error says.
            let is_sql = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "FROM ", "JOIN "];
            if is_sql.iter().any(|word| literal.contains(word))
                && TABLES.iter().any(|table| literal.contains(table))
            {
                seen += 1;
                assert!(
                    literal.contains("user_id")
                        || literal.contains("user_no")
                        || OF_ALL.iter().any(|all| literal.ends_with(all)),
                    "in src/{path}: {literal}"
                );
            }
        }
    }
    assert!(seen > 10, "the statements are found");
}

#[test]
fn no_file_has_a_second_idea() {
    for (path, code) in sources() {
        let lines = code.lines().count();
        assert!(lines <= 500, "src/{path} has {lines} lines without its tests");
        assert!(code.starts_with("//! "), "src/{path} does not say what it is about");
    }
}
