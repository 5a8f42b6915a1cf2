//! Embedders for tests: they give scripted answers, and remember what they were asked.

use std::{
    fmt,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use thermocline::{Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, Result};

type Answer = dyn Fn(usize, &[String]) -> Option<Result<Vec<Vec<f32>>>> + Send + Sync;

/// An embedder whose model and answers a test defines.
pub struct ScriptedEmbedder {
    space: EmbeddingSpace,
    answer: Box<Answer>,
    calls: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl ScriptedEmbedder {
    /// Returns an embedder that answers the n-th question, from 1, with what `answer` returns for the question's texts. If
    /// that is `None`, it never answers.
    pub fn new(
        (model, revision, dims): (&str, &str, u32),
        answer: impl Fn(usize, &[String]) -> Option<Result<Vec<Vec<f32>>>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let space = EmbeddingSpace::new(model, revision, dims);
        let (calls, asked) = (AtomicUsize::new(0), Mutex::default());
        Arc::new(Self { space, answer: Box::new(answer), calls, asked })
    }

    /// Returns a working embedder: it makes a text's vector from the words, each of which has a direction of its own in this
    /// model.
    pub fn working((model, revision, dims): (&str, &str, u32)) -> Arc<Self> {
        let seed = hash(&format!("{model} {revision}"));
        Self::new((model, revision, dims), move |_, texts| {
            Some(Ok(texts.iter().map(|text| vector(text, seed, dims)).collect()))
        })
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Returns all texts that it was asked to embed.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Returns the sum of the directions of a text's words.
pub fn vector(text: &str, seed: u64, dims: u32) -> Vec<f32> {
    let mut sum = vec![0.0; dims as usize];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut state = hash(&word.to_lowercase()) ^ seed;
        for number in &mut sum {
            // A linear congruential generator (Knuth's MMIX).
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *number += if state >> 63 == 0 { 1.0 } else { -1.0 };
        }
    }
    sum
}

/// Returns the FNV-1a hash of a text.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl fmt::Debug for ScriptedEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedEmbedder")
    }
}

impl Embedder for ScriptedEmbedder {
    fn space(&self) -> EmbeddingSpace {
        self.space.clone()
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        self.asked.lock().unwrap().extend_from_slice(texts);
        let answer = (self.answer)(call, texts);
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}
