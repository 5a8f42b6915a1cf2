//! Tests the tiny models of `tests/data/models` against the results of `transformers`.

use std::{fmt::Debug, path::Path, slice};

use serde::{Deserialize, de::DeserializeOwned};

use super::*;
use crate::rerank::Reranker;

#[derive(Debug, Deserialize)]
struct ReferenceOutput {
    text: String,
    query: Vec<f32>,
    document: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct ExpectedScore {
    query: String,
    text: String,
    score: f32,
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name)
}

fn expected<T: DeserializeOwned>(name: &str) -> Vec<T> {
    serde_json::from_str(&fs::read_to_string(model(name).join("expected.json")).unwrap()).unwrap()
}

#[track_caller]
fn check_near(found: &[f32], expected: &[f32], of: &dyn Debug) {
    assert_eq!(found.len(), expected.len(), "{of:?}");
    for (number, expected) in found.iter().zip(expected) {
        assert!((number - expected).abs() < 1e-4, "{of:?}: {number} for {expected}");
    }
}

/// Scales a vector to length 1, like the references; zeros stay.
fn scaled(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| if length > 0.0 { number / length } else { 0.0 }).collect()
}

/// Checks all texts of the model's reference, for both purposes.
#[track_caller]
fn check_vectors(name: &str) {
    let embedder = LocalEmbedder::open(model(name)).unwrap();
    let references: Vec<ReferenceOutput> = expected(name);
    assert!(references.len() > 5);
    let texts: Vec<&str> = references.iter().map(|reference| &*reference.text).collect();
    let queries = embed_for(&embedder, &texts, EmbeddingPurpose::Query);
    let documents = embed_for(&embedder, &texts, EmbeddingPurpose::Document);
    for (reference, (query, document)) in references.iter().zip(queries.iter().zip(&documents)) {
        assert_eq!(query.len(), embedder.space().dims as usize);
        check_near(&scaled(query), &reference.query, &reference.text);
        check_near(&scaled(document), &reference.document, &reference.text);
    }
    for (text, document) in texts.iter().zip(&documents) {
        assert_eq!(embed(&embedder, &[text])[0], *document, "alone: {text}");
    }
}

#[track_caller]
fn check_scores(name: &str) {
    let reranker = LocalReranker::open(model(name)).unwrap();
    let references: Vec<ExpectedScore> = expected(name);
    assert!(references.len() > 5);
    let query = references[0].query.clone();
    let (of_one, others): (Vec<_>, Vec<_>) =
        references.into_iter().partition(|reference| reference.query == query);
    let texts: Vec<String> = of_one.iter().map(|reference| reference.text.clone()).collect();
    let scores = rerank(&reranker, &query, &texts);
    for (reference, score) in of_one.iter().zip(&scores) {
        check_near(&[*score], &[reference.score], reference);
        assert_eq!(rerank(&reranker, &query, slice::from_ref(&reference.text)), [*score], "alone");
    }
    for reference in &others {
        let scores = rerank(&reranker, &reference.query, slice::from_ref(&reference.text));
        check_near(&scores, &[reference.score], reference);
    }
    assert!(rerank(&reranker, &query, &[]).is_empty());
}

fn rerank(reranker: &LocalReranker, query: &str, texts: &[String]) -> Vec<f32> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(reranker.rerank(query, texts)).unwrap()
}

#[test]
fn berts_are_pooled_by_their_first_token_or_their_last_or_the_mean() {
    check_vectors("bert-cls");
    check_vectors("bert-cased");
    check_vectors("bert-prompts");
}

#[test]
fn a_dense_layer_stands_behind_the_pooling_and_texts_end_where_the_folder_says() {
    check_vectors("bert-dense");
}

#[test]
fn distilbert_is_read() {
    check_vectors("distilbert");
}

#[test]
fn berts_and_distilberts_rerank() {
    check_scores("reranker-bert");
    check_scores("reranker-distilbert");
}

#[cfg(feature = "multilingual")]
#[test]
fn unigram_and_bpe_vocabularies_are_read() {
    check_vectors("xlm-roberta");
    check_vectors("bert-unigram");
    check_vectors("roberta");
}

#[cfg(feature = "multilingual")]
#[test]
fn xlm_robertas_rerank() {
    check_scores("reranker-xlm-roberta");
}

#[cfg(not(feature = "multilingual"))]
#[test]
fn without_the_feature_other_vocabularies_are_refused_by_its_name() {
    for name in ["xlm-roberta", "bert-unigram", "roberta"] {
        let error = LocalEmbedder::open(model(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("feature multilingual"), "{error}");
    }
    assert!(LocalReranker::open(model("reranker-xlm-roberta")).is_err());
}

#[test]
fn prefixes_of_ones_own_are_as_those_of_the_folder() {
    let folder = LocalEmbedder::open(model("bert-prompts")).unwrap();
    let plain = || folder.clone().query_prefix("").document_prefix("");
    assert_ne!(plain().space(), folder.space(), "documents have a prefix");
    let own = plain().query_prefix("query: ").document_prefix("passage: ");
    assert_eq!(own.space(), folder.space());
    assert_eq!(plain().query_prefix("query: ").space(), plain().space(), "no stored vector depends on it");
    for purpose in [EmbeddingPurpose::Query, EmbeddingPurpose::Document] {
        let texts = ["the red fox", "", " "];
        assert_eq!(embed_for(&own, &texts, purpose), embed_for(&folder, &texts, purpose));
        let bare = embed_for(&plain(), &texts, purpose);
        assert_ne!(bare[0], embed_for(&own, &texts, purpose)[0]);
        assert_eq!(bare[1..], embed_for(&own, &texts, purpose)[1..], "nothing stays nothing");
    }
}

#[test]
fn an_embedder_and_a_reranker_are_told_apart() {
    let error = LocalEmbedder::open(model("reranker-bert")).unwrap_err();
    assert!(error.to_string().contains("LocalReranker"), "{error}");
    let error = LocalReranker::open(model("bert-cls")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("no classifier"), "{error}");
    let name = LocalReranker::open(model("reranker-bert")).unwrap().name().to_owned();
    assert!(name.starts_with("bert-2x8-") && name.len() < 100, "{name}");
}
