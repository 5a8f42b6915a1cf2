//! The LLMs, embedders and rerankers that the command line names.

use std::{sync::Arc, time::Duration};

use thermocline::{
    Config, Embedder, HttpReranker, LlmSummarizer, LocalEmbedder, LocalReranker, OpenAiCompatible,
    OpenAiEmbedder, Reranker, Summarizer,
};

use crate::{
    exit::{Exit, Failure},
    find,
    provider_args::{EmbedderArgs, LlmArgs, PlannerArgs, RerankerArgs},
};

impl EmbedderArgs {
    /// Returns the configuration for opening the file with this embedder.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let mut config = find::verb_config();
        config.embedders.extend(self.local()?);
        config.embedders.extend(self.remote()?);
        let has_prefix = self.embed_query_prefix.is_some() || self.embed_document_prefix.is_some();
        if has_prefix && config.embedders.is_empty() {
            return Err(Failure::refused(
                "a prefix needs an embedder; add --embed-dir, or --embed-url and --embed-model",
            ));
        }
        Ok(config)
    }

    fn local(&self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        let Some(folder) = &self.embed_dir else { return Ok(None) };
        let mut embedder = LocalEmbedder::open(folder)?;
        if let Some(prefix) = &self.embed_query_prefix {
            embedder = embedder.query_prefix(prefix);
        }
        if let Some(prefix) = &self.embed_document_prefix {
            embedder = embedder.document_prefix(prefix);
        }
        Ok(Some(Arc::new(embedder)))
    }

    fn remote(&self) -> Result<Option<Arc<dyn Embedder>>, Failure> {
        let (Some(url), Some(model)) = (&self.embed_url, &self.embed_model) else { return Ok(None) };
        let key = key_in(&self.embed_key_var);
        let embedder = match (self.embed_dims, key) {
            (Some(dims), Some(key)) => OpenAiEmbedder::new(url, model, dims)?.api_key(key),
            (Some(dims), None) => OpenAiEmbedder::new(url, model, dims)?,
            (None, key) => wait_for(OpenAiEmbedder::discover(url, model, key))??,
        };
        let [query, document] = [&self.embed_query_prefix, &self.embed_document_prefix]
            .map(|prefix| prefix.as_deref().unwrap_or_default());
        Ok(Some(Arc::new(embedder.query_prefix(query).document_prefix(document))))
    }
}

impl RerankerArgs {
    /// Adds the reranker to the configuration.
    pub(crate) fn add_to(&self, mut config: Config) -> Result<Config, Failure> {
        config.reranker = self.reranker()?;
        config.rerank_candidates = self.rerank_candidates;
        config.rerank_timeout = Duration::from_millis(self.rerank_timeout_ms);
        Ok(config)
    }

    fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>, Failure> {
        if let Some(folder) = &self.rerank_dir {
            return Ok(Some(Arc::new(LocalReranker::open(folder)?)));
        }
        let reranker = match (&self.rerank_url, &self.rerank_model) {
            (Some(url), Some(model)) => HttpReranker::new(url, model)?,
            (Some(url), None) => HttpReranker::tei(url)?,
            (None, Some(_)) => {
                return Err(Failure::refused(
                    "a reranker's name needs an address; add --rerank-url, or name a folder with \
                     --rerank-dir",
                ));
            }
            (None, None) => return Ok(None),
        };
        let reranker = reranker.timeout(Duration::from_millis(self.rerank_timeout_ms));
        Ok(Some(Arc::new(match key_in(&self.rerank_key_var) {
            Some(key) => reranker.api_key(key),
            None => reranker,
        })))
    }
}

impl PlannerArgs {
    /// Adds LLM#1 to the configuration as its planner, if `--plan` is given.
    pub(crate) fn add_to(&self, mut config: Config) -> Result<Config, Failure> {
        if !self.plan {
            return Ok(config);
        }
        let llm = llm("LLM#1", self.llm_url.as_deref(), self.llm_model.as_deref(), &self.llm_key_var)?;
        let llm = llm.ok_or_else(|| {
            Failure::refused("--plan asks LLM#1; add --llm-url and --llm-model, or leave out --plan")
        })?;
        config.plan_timeout = Duration::from_millis(self.plan_timeout_ms);
        config.planner = Some(Arc::new(llm.timeout(config.plan_timeout)));
        Ok(config)
    }
}

/// Returns the LLM at this address, with the key from this environment variable; `None` if no address is given. Errors
/// call it by `who`: LLM#1 or LLM#2.
pub(crate) fn llm(
    who: &'static str,
    url: Option<&str>,
    model: Option<&str>,
    key_var: &str,
) -> Result<Option<OpenAiCompatible>, Failure> {
    let (Some(url), Some(model)) = (url, model) else { return Ok(None) };
    let llm = OpenAiCompatible::named(who, url, model)?;
    Ok(Some(match key_in(key_var) {
        Some(key) => llm.api_key(key),
        None => llm,
    }))
}

/// Returns LLM#1; `None` if the command line names none.
pub(crate) fn summarizer(args: &LlmArgs) -> Result<Option<Arc<dyn Summarizer>>, Failure> {
    let LlmArgs { llm_url, llm_model, llm_window, llm_key_var } = args;
    let llm = llm("LLM#1", llm_url.as_deref(), llm_model.as_deref(), llm_key_var)?;
    Ok(llm.map(|llm| Arc::new(LlmSummarizer::new(Arc::new(llm)).window_tokens(*llm_window)) as _))
}

fn key_in(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|key| !key.is_empty())
}

/// Blocks until a provider has answered.
pub(crate) fn wait_for<F: Future>(answer: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| {
        Failure::caused(Exit::FileUnusable, "the waiting thread could not be started", error)
    })?;
    Ok(runtime.block_on(answer))
}
