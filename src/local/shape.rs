//! What config.json says about a model, and how the model's family names its tensors.

use std::path::Path;

use serde::Deserialize;

use super::files::json;
use crate::{
    embed::MAX_DIMS,
    error::{Error, ErrorKind, Result},
};

/// A model's dimensions. Fields that a family omits have that family's defaults.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Shape {
    model_type: String,
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(alias = "dim")]
    pub(super) hidden_size: usize,
    #[serde(alias = "n_layers")]
    pub(super) num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    pub(super) num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    pub(super) intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) vocab_size: usize,
    #[serde(default = "default_type_vocab_size")]
    type_vocab_size: usize,
    #[serde(default = "default_epsilon")]
    pub(super) layer_norm_eps: f32,
    pad_token_id: Option<usize>,
    #[serde(alias = "activation")]
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
}

fn default_type_vocab_size() -> usize {
    2
}

fn default_epsilon() -> f32 {
    1e-12
}

/// Model types that share the names of tensors and the numbering of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Includes other models of the same form: `MiniLM`, BGE, E5, GTE, Arctic.
    Bert,
    DistilBert,
    /// Includes XLM-RoBERTa and `CamemBERT`.
    Roberta,
}

impl Shape {
    /// Reads the folder's config.json, which must describe a model that this forward pass supports.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct ModelType {
            model_type: Option<String>,
        }
        // Other families also have other fields, so the model type is read first: an unsupported one gets the clearest
        // error.
        let kind = json::<ModelType>(folder, "config.json")?.model_type.unwrap_or_default();
        if family(&kind).is_none() {
            return Err(unsupported(format!(
                "config.json says that the model type is {kind:?}; bert, distilbert, roberta, xlm-roberta \
                 and camembert can be read. For another, implement Embedder or Reranker, \
                 for example with candle"
            )));
        }
        let shape: Self = json(folder, "config.json")?;
        shape.check()?;
        Ok(shape)
    }

    fn check(&self) -> Result<()> {
        if let Some(act) = self.hidden_act.as_deref().filter(|act| *act != "gelu") {
            return Err(unsupported(format!("config.json asks for the activation {act:?}, not gelu")));
        }
        if self.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
            return Err(unsupported("config.json asks for positions other than absolute ones"));
        }
        let has_all = self.hidden_size > 0
            && self.num_attention_heads > 0
            && self.intermediate_size > 0
            && self.type_vocab_size > 0
            && self.vocab_size > 0
            && self.max_position_embeddings > self.first_position().saturating_add(MIN_POSITIONS);
        if !has_all
            || !self.hidden_size.is_multiple_of(self.num_attention_heads)
            || self.hidden_size > MAX_DIMS as usize
        {
            return Err(unsupported("config.json describes an impossible model"));
        }
        Ok(())
    }

    pub(super) fn family(&self) -> Family {
        family(&self.model_type).expect("a shape was checked when it was read")
    }

    /// Returns the name of the form: `bert-6x384`.
    pub(super) fn name(&self) -> String {
        format!("{}-{}x{}", self.model_type, self.num_hidden_layers, self.hidden_size)
    }

    /// Whether the model was trained to classify, as rerankers are, rather than to give vectors.
    pub(super) fn is_classifier(&self) -> bool {
        self.architectures.iter().any(|name| name.ends_with("ForSequenceClassification"))
    }

    /// Returns the row of the position table for a text's first token.
    pub(super) fn first_position(&self) -> usize {
        match self.family() {
            Family::Bert | Family::DistilBert => 0,
            Family::Roberta => self.pad_token_id.unwrap_or(1).saturating_add(1),
        }
    }

    /// Returns the maximum number of tokens, as limited by positions.
    pub(super) fn positions(&self) -> usize {
        self.max_position_embeddings - self.first_position()
    }

    /// Returns how many kinds of tokens are distinguished: those of a query, and those of the text after it.
    pub(super) fn token_kinds(&self) -> usize {
        match self.family() {
            Family::DistilBert => 0,
            Family::Bert | Family::Roberta => self.type_vocab_size,
        }
    }
}

/// Three special tokens and one of each text: with fewer positions, a query and a text do not fit.
const MIN_POSITIONS: usize = 4;

fn family(model_type: &str) -> Option<Family> {
    Some(match model_type {
        "bert" => Family::Bert,
        "distilbert" => Family::DistilBert,
        "roberta" | "xlm-roberta" | "camembert" => Family::Roberta,
        _ => return None,
    })
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, what.into())
}

/// The names that a family gives the tensors of a layer.
pub(super) struct LayerNames {
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) attended: &'static str,
    pub(super) attended_norm: &'static str,
    pub(super) widen: &'static str,
    pub(super) narrow: &'static str,
    pub(super) norm: &'static str,
}

impl Family {
    /// Returns the prefix of the names of the family's tensors, in folders that use one.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Bert => "bert.",
            Self::DistilBert => "distilbert.",
            Self::Roberta => "roberta.",
        }
    }

    /// Returns the prefix of the names of a layer's tensors, before its number.
    pub(super) fn layers(self) -> &'static str {
        match self {
            Self::Bert | Self::Roberta => "encoder.layer",
            Self::DistilBert => "transformer.layer",
        }
    }

    pub(super) fn layer_names(self) -> LayerNames {
        match self {
            Self::Bert | Self::Roberta => LayerNames {
                query: "attention.self.query",
                key: "attention.self.key",
                value: "attention.self.value",
                attended: "attention.output.dense",
                attended_norm: "attention.output.LayerNorm",
                widen: "intermediate.dense",
                narrow: "output.dense",
                norm: "output.LayerNorm",
            },
            Self::DistilBert => LayerNames {
                query: "attention.q_lin",
                key: "attention.k_lin",
                value: "attention.v_lin",
                attended: "attention.out_lin",
                attended_norm: "sa_layer_norm",
                widen: "ffn.lin1",
                narrow: "ffn.lin2",
                norm: "output_layer_norm",
            },
        }
    }
}
