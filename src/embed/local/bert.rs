//! BERT's forward pass (Devlin et al. 2018), from token ids to one vector a text.

use std::ops::Range;

use serde::Deserialize;

use super::{
    arithmetic::{LayerNorm, Linear, attend, gelu},
    safetensors::Tensors,
};
use crate::{
    embed::MAX_DIMS,
    error::{Error, ErrorKind, Result},
};

/// What config.json says of the model. Fields that BERT's own defaults leave out have those.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Shape {
    model_type: String,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) vocab_size: usize,
    #[serde(default = "default_type_vocab_size")]
    type_vocab_size: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f32,
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
}

fn default_type_vocab_size() -> usize {
    2
}

fn default_epsilon() -> f32 {
    1e-12
}

impl Shape {
    /// Whether it is a model that this forward pass is right for.
    fn check(&self) -> Result<()> {
        let unsupported = |what: String| Err(Error::new(ErrorKind::Unsupported, what));
        if self.model_type != "bert" {
            return unsupported("config.json describes no BERT model: only those can be read".to_owned());
        }
        if self.hidden_act.as_deref().is_some_and(|act| act != "gelu") {
            return unsupported("config.json asks for an activation other than gelu".to_owned());
        }
        if self.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
            return unsupported("config.json asks for positions other than absolute ones".to_owned());
        }
        let has_all = self.hidden_size > 0
            && self.num_attention_heads > 0
            && self.intermediate_size > 0
            && self.type_vocab_size > 0
            && self.vocab_size > 0
            && self.max_position_embeddings > 2;
        if !has_all
            || !self.hidden_size.is_multiple_of(self.num_attention_heads)
            || self.hidden_size > MAX_DIMS as usize
        {
            return unsupported("config.json describes an impossible model".to_owned());
        }
        Ok(())
    }
}

/// How the vectors of a text's tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Their mean.
    Mean,
    /// The first, that of `[CLS]`.
    Cls,
}

#[derive(Debug)]
pub(super) struct Bert {
    size: usize,
    heads: usize,
    words: Vec<f32>,
    /// Of each position, with that of the first token type, which all tokens have, added.
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
    pooling: Pooling,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    widen: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Bert {
    pub(super) fn new(shape: &Shape, tensors: &Tensors, pooling: Pooling) -> Result<Self> {
        shape.check()?;
        let size = shape.hidden_size;
        let prefix = if tensors.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let floats = |name: &str, shape: &[usize]| tensors.floats(&format!("{prefix}{name}"), shape);
        let linear = |name: &str, outputs: usize, inputs: usize| -> Result<Linear> {
            let weights = floats(&format!("{name}.weight"), &[outputs, inputs])?;
            Ok(Linear::new(&weights, &floats(&format!("{name}.bias"), &[outputs])?))
        };
        let norm = |name: &str| -> Result<LayerNorm> {
            let [weights, bias] = ["weight", "bias"].map(|part| floats(&format!("{name}.{part}"), &[size]));
            Ok(LayerNorm { weights: weights?, bias: bias?, epsilon: shape.layer_norm_eps })
        };
        let layer = |at: usize| -> Result<Layer> {
            let name = |part: &str| format!("encoder.layer.{at}.{part}");
            Ok(Layer {
                query: linear(&name("attention.self.query"), size, size)?,
                key: linear(&name("attention.self.key"), size, size)?,
                value: linear(&name("attention.self.value"), size, size)?,
                attended: linear(&name("attention.output.dense"), size, size)?,
                attended_norm: norm(&name("attention.output.LayerNorm"))?,
                widen: linear(&name("intermediate.dense"), shape.intermediate_size, size)?,
                narrow: linear(&name("output.dense"), size, shape.intermediate_size)?,
                norm: norm(&name("output.LayerNorm"))?,
            })
        };
        let kinds = floats("embeddings.token_type_embeddings.weight", &[shape.type_vocab_size, size])?;
        let mut positions =
            floats("embeddings.position_embeddings.weight", &[shape.max_position_embeddings, size])?;
        for row in positions.chunks_exact_mut(size) {
            add(row, &kinds[..size]);
        }
        Ok(Self {
            size,
            heads: shape.num_attention_heads,
            words: floats("embeddings.word_embeddings.weight", &[shape.vocab_size, size])?,
            positions,
            norm: norm("embeddings.LayerNorm")?,
            layers: (0..shape.num_hidden_layers).map(layer).collect::<Result<_>>()?,
            pooling,
        })
    }

    /// A vector for each text, of its token ids with those of `[CLS]` and `[SEP]`. All texts go through a layer
    /// together, so that its weights are read once; each attends to itself only.
    pub(super) fn vectors(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(texts.len());
        let mut rows = Vec::new();
        for ids in texts {
            let start = rows.len();
            for (&id, position) in ids.iter().zip(self.positions.chunks_exact(self.size)) {
                let at = rows.len();
                rows.extend_from_slice(&self.words[id as usize * self.size..][..self.size]);
                add(&mut rows[at..], position);
            }
            ranges.push(start..rows.len());
        }
        self.norm.apply(&mut rows);
        for layer in &self.layers {
            layer.apply(&mut rows, &ranges, self.heads);
        }
        ranges.into_iter().map(|range| self.pooled(&rows[range])).collect()
    }

    /// Not of length 1: only directions are compared.
    fn pooled(&self, rows: &[f32]) -> Vec<f32> {
        let mut pooled = vec![0.0; self.size];
        let taken = match self.pooling {
            Pooling::Mean => rows.len() / self.size,
            Pooling::Cls => 1,
        };
        for row in rows.chunks_exact(self.size).take(taken) {
            add(&mut pooled, row);
        }
        pooled
    }
}

impl Layer {
    fn apply(&self, rows: &mut Vec<f32>, texts: &[Range<usize>], heads: usize) {
        let [queries, keys, values] = [&self.query, &self.key, &self.value].map(|linear| linear.apply(rows));
        let size = self.norm.weights.len();
        let mut mixed = vec![0.0; rows.len()];
        for text in texts {
            for head in 0..heads {
                let part = size / heads * head..size / heads * (head + 1);
                let [queries, keys, values] =
                    [&queries, &keys, &values].map(|rows| columns(&rows[text.clone()], size, part.clone()));
                let mut results = vec![0.0; queries.len()];
                attend(&queries, &keys, &values, part.len(), &mut results);
                let mixed = mixed[text.clone()].chunks_exact_mut(size);
                for (row, result) in mixed.zip(results.chunks_exact(part.len())) {
                    row[part.clone()].copy_from_slice(result);
                }
            }
        }
        let mut attended = self.attended.apply(&mixed);
        add(&mut attended, rows);
        self.attended_norm.apply(&mut attended);

        let mut wide = self.widen.apply(&attended);
        gelu(&mut wide);
        *rows = self.narrow.apply(&wide);
        add(rows, &attended);
        self.norm.apply(rows);
    }
}

/// These columns of rows of `size` numbers.
fn columns(rows: &[f32], size: usize, part: Range<usize>) -> Vec<f32> {
    rows.chunks_exact(size).flat_map(|row| &row[part.clone()]).copied().collect()
}

fn add(sums: &mut [f32], numbers: &[f32]) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}
