//! LLMs and embedders, as the command line names them.

use std::sync::Arc;

#[cfg(feature = "local")]
use thermocline::LocalEmbedder;
use thermocline::{Config, Embedder};
#[cfg(feature = "llm")]
use thermocline::{OpenAiCompatible, OpenAiEmbedder};

use crate::{exit::Failure, find, provider_args::EmbedderArgs};

impl EmbedderArgs {
    /// How a verb opens the file with this embedder.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let mut config = find::verb_config();
        config.embedders.extend(self.local()?);
        config.embedders.extend(self.remote()?);
        Ok(config)
    }

    #[cfg(feature = "local")]
    fn local(&self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        let Some(folder) = &self.embed_dir else { return Ok(None) };
        Ok(Some(Arc::new(LocalEmbedder::open(folder)?)))
    }

    #[cfg(not(feature = "local"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "with the feature it has one, or fails"
    )]
    fn local(&self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        Ok(None)
    }

    #[cfg(feature = "llm")]
    fn remote(&self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        let (Some(url), Some(model)) = (&self.embed_url, &self.embed_model) else { return Ok(None) };
        let key = key_in(&self.embed_key_var);
        Ok(Some(Arc::new(match (self.embed_dims, key) {
            (Some(dims), Some(key)) => OpenAiEmbedder::new(url, model, dims)?.api_key(key),
            (Some(dims), None) => OpenAiEmbedder::new(url, model, dims)?,
            (None, key) => wait_for(OpenAiEmbedder::discover(url, model, key))??,
        })))
    }

    #[cfg(not(feature = "llm"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "with the feature it has one, or fails"
    )]
    fn remote(&self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        Ok(None)
    }
}

/// The LLM at this address, if there is one, with the key that the environment holds under this name.
#[cfg(feature = "llm")]
pub(crate) fn llm(
    url: Option<&str>,
    model: Option<&str>,
    key_var: &str,
) -> Result<Option<OpenAiCompatible>, Failure> {
    let (Some(url), Some(model)) = (url, model) else { return Ok(None) };
    let llm = OpenAiCompatible::new(url, model)?;
    Ok(Some(match key_in(key_var) {
        Some(key) => llm.api_key(key),
        None => llm,
    }))
}

#[cfg(feature = "llm")]
fn key_in(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|key| !key.is_empty())
}

/// Waits for an answer of a provider.
#[cfg(feature = "llm")]
pub(crate) fn wait_for<F: Future>(answer: F) -> Result<F::Output, Failure> {
    use crate::exit::Exit;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| {
        Failure::caused(Exit::FileUnusable, "the thread that waits could not start", error)
    })?;
    Ok(runtime.block_on(answer))
}
