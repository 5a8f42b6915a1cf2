//! An `Embedder` over candle, for model types that `LocalEmbedder` does not read: ModernBERT and Qwen3.
//!
//! ```sh
//! cargo run --release -- path/to/gte-modernbert-base "Where does my boat lie?"
//! ```
//!
//! Another family of models needs a new variant of `Network`. candle-transformers has the forward pass of many families,
//! often as a part of a model that generates text. It has none for EmbeddingGemma: candle's Gemma 3 attends only to earlier
//! tokens, but EmbeddingGemma attends in both directions.

use std::{fmt, fs, path::Path, sync::Arc};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{modernbert, qwen3};
use thermocline::{
    Config, ContextOptions, Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, Error, NewTurn,
    Thermocline,
};
use tokenizers::{Tokenizer, TruncationParams};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The maximum number of tokens of a text. Turns are hardly longer, and the time for a long query grows with the square
/// of its length.
const MAX_TOKENS: usize = 512;

#[derive(Clone)]
struct CandleEmbedder(Arc<Model>);

struct Model {
    space: EmbeddingSpace,
    tokenizer: Tokenizer,
    network: Network,
    device: Device,
}

/// The forward passes, and for each the way in which it makes one vector from the vectors of a text's tokens.
enum Network {
    /// Attends in both directions. The vector is that of the first token, or the mean, as the folder's
    /// `1_Pooling/config.json` says.
    ModernBert(modernbert::ModernBert, Pooling),
    /// Attends only to earlier tokens. The vector is that of the last token.
    Qwen3(qwen3::Model),
}

enum Pooling {
    First,
    Mean,
}

impl CandleEmbedder {
    /// Opens the folder of a model as a hub provides it, with one file of weights.
    fn open(folder: &Path, revision: &str) -> Result<Self, Failure> {
        let device = Device::Cpu; // Or `Device::new_cuda(0)?`, with candle's feature of that name.
        let config = fs::read_to_string(folder.join("config.json"))?;
        let settings: serde_json::Value = serde_json::from_str(&config)?;
        let weights = fs::read(folder.join("model.safetensors"))?;
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &device)?;
        let kind = settings["model_type"].as_str().unwrap_or_default();
        let network = match kind {
            "modernbert" => {
                let weights = without_prefix(weights, "embeddings.norm.weight");
                let network = modernbert::ModernBert::load(weights, &serde_json::from_str(&config)?)?;
                Network::ModernBert(network, pooling(folder)?)
            }
            "qwen3" => {
                let weights = without_prefix(weights, "norm.weight");
                Network::Qwen3(qwen3::Model::new(&serde_json::from_str(&config)?, weights)?)
            }
            other => return Err(format!("no arm for the model type {other}").into()),
        };
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
        tokenizer.with_truncation(Some(TruncationParams { max_length: MAX_TOKENS, ..Default::default() }))?;
        tokenizer.with_padding(None);
        let dims = settings["hidden_size"].as_u64().ok_or("config.json has no hidden_size")?;
        // A hash of the weights would be a better revision than a name that a person chooses: see `LocalEmbedder`.
        let space =
            EmbeddingSpace { model: kind.to_owned(), revision: revision.to_owned(), dims: dims.try_into()? };
        Ok(Self(Arc::new(Model { space, tokenizer, network, device })))
    }
}

/// Returns the weights under the names that candle expects, because those of some folders lack the prefix `model.`.
fn without_prefix<'a>(weights: VarBuilder<'a>, known: &str) -> VarBuilder<'a> {
    if weights.contains_tensor(&format!("model.{known}")) {
        return weights;
    }
    weights.rename_f(|name| name.strip_prefix("model.").unwrap_or(name).to_owned())
}

fn pooling(folder: &Path) -> Result<Pooling, Failure> {
    let settings: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("1_Pooling/config.json"))?)?;
    let is_on = |mode: &str| settings[mode] == true;
    Ok(if is_on("pooling_mode_cls_token") { Pooling::First } else { Pooling::Mean })
}

impl Model {
    fn vector(&self, text: &str) -> Result<Vec<f32>, Failure> {
        let tokens = self.tokenizer.encode(text, true)?;
        let ids = Tensor::new(tokens.get_ids(), &self.device)?.unsqueeze(0)?;
        let last = tokens.len().checked_sub(1).ok_or("a text without tokens")?;
        let vector = match &self.network {
            Network::ModernBert(network, pooling) => {
                let mask = Tensor::new(tokens.get_attention_mask(), &self.device)?.unsqueeze(0)?;
                let rows = network.forward(&ids, &mask)?.squeeze(0)?;
                match pooling {
                    Pooling::First => rows.get(0)?,
                    Pooling::Mean => rows.mean(0)?,
                }
            }
            // The clone shares the weights. Its cache of this text is dropped with it, so the next text starts without
            // one.
            Network::Qwen3(network) => network.clone().forward(&ids, 0)?.squeeze(0)?.get(last)?,
        };
        Ok(vector.to_vec1()?)
    }

    /// Adds the prefix to a text; Qwen3 expects its task before queries only.
    fn prefixed(&self, text: &str, purpose: EmbeddingPurpose) -> String {
        match (&self.network, purpose) {
            (Network::Qwen3(_), EmbeddingPurpose::Query) => format!(
                "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:{text}"
            ),
            _ => text.to_owned(),
        }
    }
}

impl Embedder for CandleEmbedder {
    fn space(&self) -> EmbeddingSpace {
        self.0.space.clone()
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a> {
        let model = Arc::clone(&self.0);
        let texts: Vec<String> = texts.iter().map(|text| model.prefixed(text, purpose)).collect();
        let work = move || texts.iter().map(|text| model.vector(text)).collect::<Result<Vec<_>, _>>();
        Box::pin(async {
            let vectors = tokio::task::spawn_blocking(work).await;
            let vectors = vectors.map_err(|_| Error::provider("the model's thread ended"))?;
            vectors.map_err(|_| Error::provider_refused("the model fails on a text"))
        })
    }
}

impl fmt::Debug for CandleEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CandleEmbedder").field(&self.0.space).finish()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (Some(folder), Some(question)) = (std::env::args().nth(1), std::env::args().nth(2)) else {
        return Err("usage: candle-embedder <folder of a model> <question>".into());
    };
    let mut config = Config::default();
    config.embedders = vec![Arc::new(CandleEmbedder::open(Path::new(&folder), "1")?)];
    let memory = Thermocline::open_with("memory.db", config).await?;
    let session = memory.user("alex").await?.session().await?;
    session.record(NewTurn::new("She lies at the north quay, berth 14.", "Noted.")).await?;
    println!("{}", session.context(&question, ContextOptions::default()).await?.text);
    memory.close().await?;
    Ok(())
}
