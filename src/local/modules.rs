//! The modules that follow a sentence transformer's layers, as `modules.json` lists them: pooling, dense layers, and a final
//! `Normalize`, which is accepted and ignored.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    arithmetic::{Linear, tanh},
    files::{json, json_if_any},
    safetensors::Tensors,
    transformer::add,
};
use crate::{
    embed::MAX_DIMS,
    error::{Error, ErrorKind, Result},
};

/// How the vectors of a text's tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pooling {
    /// The mean of all.
    Mean,
    /// The first: the vector of `[CLS]`.
    Cls,
    /// The last: the vector of `[SEP]` or `</s>`.
    Last,
}

/// Turns the vectors of a text's tokens into the text's vector.
#[derive(Debug)]
pub(super) struct EmbeddingHead {
    size: usize,
    pooling: Pooling,
    dense: Vec<Dense>,
}

#[derive(Debug)]
struct Dense {
    linear: Linear,
    is_tanh: bool,
    outputs: usize,
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    path: PathBuf,
}

/// Where a folder has the transformer's files, and the modules after it.
pub(super) struct Modules {
    pub(super) transformer: PathBuf,
    pooling: Option<PathBuf>,
    dense: Vec<PathBuf>,
}

impl Modules {
    /// Reads `modules.json`; `None` for a folder without it.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        let Some(modules) = json_if_any::<Vec<Module>>(folder, "modules.json")? else { return Ok(None) };
        let mut found = Self { transformer: folder.to_owned(), pooling: None, dense: Vec::new() };
        let mut normalized = false;
        for (at, module) in modules.into_iter().enumerate() {
            let path = folder.join(&module.path);
            match (at, module.kind.rsplit('.').next().unwrap_or_default()) {
                (0, "Transformer") => found.transformer = path,
                (1, "Pooling") => found.pooling = Some(path),
                (2.., "Dense") if !normalized => found.dense.push(path),
                // Only directions are compared, so normalizing changes nothing.
                (2.., "Normalize") => normalized = true,
                (_, kind) => {
                    return Err(unsupported(format!(
                        "modules.json has a module {kind} at place {at}: a Transformer, a Pooling, any \
                         Dense and finally a Normalize can be read"
                    )));
                }
            }
        }
        Ok(Some(found))
    }

    /// Returns the modules of a folder without `modules.json`: pooling, if the folder says how.
    pub(super) fn unlisted(folder: &Path) -> Self {
        let pooling = Some(folder.join("1_Pooling")).filter(|path| path.join("config.json").exists());
        Self { transformer: folder.to_owned(), pooling, dense: Vec::new() }
    }

    /// Reads the modules after a transformer whose vectors have `size` numbers, and adds them to the hash.
    pub(super) fn head(&self, size: usize, hash: &mut Sha256) -> Result<EmbeddingHead> {
        let pooling = self.pooling.as_deref().map_or(Ok(Pooling::Mean), pooling)?;
        hash.update([match pooling {
            Pooling::Mean => 0,
            Pooling::Cls => 1,
            Pooling::Last => 2,
        }]);
        let mut head = EmbeddingHead { size, pooling, dense: Vec::new() };
        for path in &self.dense {
            let dense = Dense::read(path, head.dims(), hash)?;
            head.dense.push(dense);
        }
        Ok(head)
    }
}

impl EmbeddingHead {
    /// Returns the length of a text's vector.
    pub(super) fn dims(&self) -> usize {
        self.dense.last().map_or(self.size, |dense| dense.outputs)
    }

    /// Computes the vector of a text from those of its tokens; zeros for no tokens. Its length is not 1: only directions are
    /// compared.
    pub(super) fn vector(&self, rows: &[f32]) -> Vec<f32> {
        if rows.is_empty() {
            return vec![0.0; self.dims()];
        }
        let pooled = match self.pooling {
            Pooling::Mean => self.mean(rows),
            Pooling::Cls => rows[..self.size].to_vec(),
            Pooling::Last => rows[rows.len() - self.size..].to_vec(),
        };
        self.dense.iter().fold(pooled, |vector, dense| dense.apply(&vector))
    }

    fn mean(&self, rows: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.size];
        for row in rows.chunks_exact(self.size) {
            add(&mut sums, row);
        }
        // A sum would have the same direction, but a dense layer adds its biases to a mean.
        if !self.dense.is_empty() {
            #[expect(clippy::cast_precision_loss, reason = "a text has fewer tokens than an f32 can count")]
            let count = (rows.len() / self.size) as f32;
            for sum in &mut sums {
                *sum /= count;
            }
        }
        sums
    }
}

impl Dense {
    fn read(folder: &Path, inputs: usize, hash: &mut Sha256) -> Result<Self> {
        #[derive(Deserialize)]
        struct DenseSettings {
            in_features: usize,
            out_features: usize,
            bias: Option<bool>,
            activation_function: String,
        }
        let settings: DenseSettings = json(folder, "config.json")?;
        let outputs = settings.out_features;
        if settings.in_features != inputs || !(1..=MAX_DIMS as usize).contains(&outputs) {
            return Err(unsupported("a Dense module does not fit what stands before it".to_owned()));
        }
        let is_tanh = match settings.activation_function.rsplit('.').next() {
            Some("Tanh") => true,
            Some("Identity") => false,
            _ => {
                return Err(unsupported(format!(
                    "a Dense module has the activation {:?}: Tanh and Identity can be read",
                    settings.activation_function
                )));
            }
        };
        let tensors = Tensors::read(folder)?;
        hash.update(tensors.bytes());
        hash.update([u8::from(is_tanh)]);
        let linear = if settings.bias == Some(false) {
            Linear::new(&tensors.floats("linear.weight", &[outputs, inputs])?, &vec![0.0; outputs])
        } else {
            tensors.linear("linear", outputs, inputs)?
        };
        Ok(Self { linear, is_tanh, outputs })
    }

    fn apply(&self, vector: &[f32]) -> Vec<f32> {
        let mut result = self.linear.apply(vector);
        if self.is_tanh {
            tanh(&mut result);
        }
        result
    }
}

/// Reads how the folder's config.json says to pool, in one of its two forms.
fn pooling(folder: &Path) -> Result<Pooling> {
    const MODE: &str = "pooling_mode";
    let settings: BTreeMap<String, Value> = json(folder, "config.json")?;
    let is_on = |value: &Value| value.as_bool() == Some(true);
    let mut modes: Vec<&str> = settings
        .iter()
        .filter(|(_, value)| is_on(value))
        .filter_map(|(name, _)| name.strip_prefix(MODE)?.strip_prefix('_'))
        .collect();
    modes.extend(settings.get(MODE).and_then(Value::as_str));
    let pooling = match *modes {
        ["mean_tokens" | "mean"] => Pooling::Mean,
        ["cls_token" | "cls"] => Pooling::Cls,
        ["lasttoken"] => Pooling::Last,
        _ => {
            return Err(unsupported(format!(
                "the model pools by {modes:?}: one of mean, cls and lasttoken can be read"
            )));
        }
    };
    if settings.get("include_prompt").is_some_and(|value| !is_on(value)) {
        return Err(unsupported("the model leaves its prompts out of the pooling".to_owned()));
    }
    Ok(pooling)
}

fn unsupported(what: String) -> Error {
    Error::new(ErrorKind::Unsupported, what)
}
