//! Rerankers and additional queries on the command line.

use serde_json::json;

use crate::shell::Shell;

#[test]
fn a_reranker_of_a_folder_orders_what_is_found_and_says_what_it_gave() {
    let shell = Shell::with_boats();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/models/reranker-bert");
    let reranker = ["--rerank-dir", folder, "--rerank-timeout-ms", "600000"];
    let asked = ["recall", "Where does my boat lie?"];
    let recall = shell.alex(&[&["--json"], &asked[..], &reranker].concat()).json();
    assert_eq!(recall["missing"], json!([]));
    let given: Vec<f64> =
        recall["items"].as_array().unwrap().iter().filter_map(|item| item["rerank_score"].as_f64()).collect();
    assert!(given.len() > 2 && given.is_sorted_by(|a, b| a >= b), "{recall}");
    let text = shell.alex(&[&asked[..], &reranker].concat()).stdout;
    assert!(text.contains("  (reranked "), "{text}");
    let why = shell.alex(&["why", "last"]).stdout;
    assert!(why.contains("Reranked: the best ") && why.contains("; reranked "), "{why}");
    assert!(why.contains("Recomputed from their parts, all scores are the same."), "{why}");

    let context = shell.alex(&[&["--json", "context", "Where does my boat lie?"], &reranker[..]].concat());
    assert_eq!(context.json()["missing"], json!([]));
    let plain = shell.alex(&[&["--json"], &asked[..]].concat()).stdout;
    assert!(!plain.contains("rerank"), "{plain}");
}

#[test]
fn a_context_is_searched_for_queries_beside_the_message() {
    let shell = Shell::with_boats();
    let asked =
        ["--json", "context", "Is it still ours?", "--query", "the berth of the boat", "--query", "-"];
    let context = shell.alex(&asked).json();
    let receipt = shell.alex(&["--json", "why", context["receipt"].as_str().unwrap()]).json();
    assert_eq!(receipt["understood"]["queries"], json!(["the berth of the boat", "-"]));
    let nine = [&asked[1..3], &["--query", "x"].repeat(9)].concat();
    assert_eq!(shell.alex(&nine).code, 3);
}

#[test]
fn a_reranker_that_cannot_be_had_is_named() {
    let shell = Shell::with_boats();
    let asked = ["recall", "Where does my boat lie?"];
    let at = |run: &[&str]| shell.alex(&[&asked[..], run].concat());
    assert_eq!(at(&["--rerank-dir", "."]).code, 4);
    let run = at(&["--rerank-model", "bge-reranker-base"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("--rerank-url") && run.stderr.contains("--rerank-dir"), "{}", run.stderr);
    assert_eq!(at(&["--rerank-dir", ".", "--rerank-url", "http://127.0.0.1:9"]).code, 2);
    assert_eq!(at(&["--rerank-url", "http://127.0.0.1:9", "--rerank-candidates", "1"]).code, 3);
    // No server listens at this address.
    let found = |run: &str| run.split("\nReceipt").next().unwrap().to_owned();
    let plain = found(&at(&[]).stdout);
    for model in [&[][..], &["--rerank-model", "m"]] {
        let run = at(&[&["--rerank-url", "http://127.0.0.1:9"], model].concat());
        assert_eq!((run.code, found(&run.stdout)), (0, plain.clone()), "{}", run.stderr);
        assert!(run.stderr.contains("missing: reranker "), "{}", run.stderr);
    }
}
