//! Asks the caller's embedders what a query means. The built-in one needs no asking: it never fails and takes
//! microseconds.

use std::time::Duration;

use crate::{
    config::Config,
    embed::{EmbeddingSpace, quantize::Vector},
};

/// What became of a query with one embedder.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(crate) space: EmbeddingSpace,
    /// Nothing: the model knows nothing in it. An error says why there is none, and never what was asked.
    pub(crate) vector: Result<Option<Vector>, String>,
}

/// Asks the embedders in their order, until one answers. Those that failed before it are in the answer too.
pub(crate) async fn query_vectors(config: &Config, text: &str) -> Vec<QueryVector> {
    let mut asked = Vec::new();
    let texts = [text.to_owned()];
    for embedder in &config.embedders {
        let space = embedder.space();
        let limit = Duration::from_millis(config.embed_timeout_ms);
        let vector = match tokio::time::timeout(limit, embedder.embed(&texts)).await {
            Err(_) => Err(format!("no answer within {} ms", config.embed_timeout_ms)),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(vectors)) => match &vectors[..] {
                [vector] if vector.len() == space.dims as usize => Ok(Vector::of(vector)),
                _ => Err("it gave no vector of its own size".to_owned()),
            },
        };
        let is_answered = vector.is_ok();
        asked.push(QueryVector { space, vector });
        if is_answered {
            break;
        }
    }
    asked
}
