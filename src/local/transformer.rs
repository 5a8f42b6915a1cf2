//! BERT's forward pass (Devlin et al. 2018), from token ids to a vector for each token.

use std::ops::Range;

use super::{
    arithmetic::{LayerNorm, Linear, attend, gelu},
    inputs::Input,
    safetensors::Tensors,
    shape::Shape,
};
use crate::error::Result;

/// How many tokens go through the model together: enough that its weights are read rarely, few enough for the caches.
const BATCH_TOKENS: usize = 256;

#[derive(Debug)]
pub(super) struct Transformer {
    size: usize,
    heads: usize,
    words: Vec<f32>,
    /// The vectors of positions, each with the vector of the kind of token added; one table per kind, at least one.
    positions: Vec<Vec<f32>>,
    norm: LayerNorm,
    layers: Vec<Layer>,
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

impl Transformer {
    pub(super) fn new(shape: &Shape, tensors: &Tensors) -> Result<Self> {
        let (family, size) = (shape.family(), shape.hidden_size);
        let prefix = tensors.prefix(family.prefix(), "embeddings.word_embeddings.weight");
        let table = |name: &str, rows: usize| {
            tensors.floats(&format!("{prefix}embeddings.{name}_embeddings.weight"), &[rows, size])
        };
        let norm = |name: &str| tensors.norm(&format!("{prefix}{name}"), size, shape.layer_norm_eps);
        let names = family.layer_names();
        let layer = |at: usize| -> Result<Layer> {
            let name = |part: &str| format!("{}.{at}.{part}", family.layers());
            let linear = |part: &str, outputs: usize, inputs: usize| {
                tensors.linear(&format!("{prefix}{}", name(part)), outputs, inputs)
            };
            Ok(Layer {
                query: linear(names.query, size, size)?,
                key: linear(names.key, size, size)?,
                value: linear(names.value, size, size)?,
                attended: linear(names.attended, size, size)?,
                attended_norm: norm(&name(names.attended_norm))?,
                widen: linear(names.widen, shape.intermediate_size, size)?,
                narrow: linear(names.narrow, size, shape.intermediate_size)?,
                norm: norm(&name(names.norm))?,
            })
        };
        let mut places = table("position", shape.max_position_embeddings)?;
        places.drain(..shape.first_position() * size);
        let positions = match shape.token_kinds() {
            0 => vec![places],
            kinds => {
                table("token_type", kinds)?.chunks_exact(size).map(|kind| all_added(&places, kind)).collect()
            }
        };
        Ok(Self {
            size,
            heads: shape.num_attention_heads,
            words: table("word", shape.vocab_size)?,
            positions,
            norm: norm("embeddings.LayerNorm")?,
            layers: (0..shape.num_hidden_layers).map(layer).collect::<Result<_>>()?,
        })
    }

    /// Returns the results of `finish` for the vectors of each input's tokens; for an empty input there are none. An input
    /// gives the same bits alone and among others.
    pub(super) fn each<T>(&self, inputs: &[Input], mut finish: impl FnMut(&[f32]) -> T) -> Vec<T> {
        let mut results = Vec::with_capacity(inputs.len());
        let mut rest = inputs;
        while !rest.is_empty() {
            let (batch, others) = rest.split_at(batch_len(rest));
            let (rows, ranges) = self.rows(batch);
            results.extend(ranges.into_iter().map(|range| finish(&rows[range])));
            rest = others;
        }
        results
    }

    /// Returns the vectors of all tokens of these inputs, and the range of each input's. All go through a layer together, so
    /// that its weights are read once; each input attends only to itself.
    fn rows(&self, inputs: &[Input]) -> (Vec<f32>, Vec<Range<usize>>) {
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(inputs.len());
        let mut rows = Vec::new();
        for input in inputs {
            let start = rows.len();
            for (place, &id) in input.ids.iter().enumerate() {
                let at = rows.len();
                rows.extend_from_slice(&self.words[id as usize * self.size..][..self.size]);
                // In a family with one kind of token, or none, all tokens have the same kind.
                let kind = usize::from(place >= input.second).min(self.positions.len() - 1);
                add(&mut rows[at..], &self.positions[kind][place * self.size..][..self.size]);
            }
            ranges.push(start..rows.len());
        }
        self.norm.apply(&mut rows);
        for layer in &self.layers {
            layer.apply(&mut rows, &ranges, self.heads);
        }
        (rows, ranges)
    }
}

/// How many of these inputs are processed together; at least one.
fn batch_len(inputs: &[Input]) -> usize {
    let mut held = 0;
    let fit = inputs.iter().take_while(|input| {
        held += input.ids.len();
        held <= BATCH_TOKENS
    });
    fit.count().max(1)
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

/// Returns these columns of rows of `size` numbers.
fn columns(rows: &[f32], size: usize, part: Range<usize>) -> Vec<f32> {
    rows.chunks_exact(size).flat_map(|row| &row[part.clone()]).copied().collect()
}

/// Returns these rows with these numbers added to each.
fn all_added(rows: &[f32], numbers: &[f32]) -> Vec<f32> {
    let mut sums = rows.to_vec();
    for row in sums.chunks_exact_mut(numbers.len()) {
        add(row, numbers);
    }
    sums
}

pub(super) fn add(sums: &mut [f32], numbers: &[f32]) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}
