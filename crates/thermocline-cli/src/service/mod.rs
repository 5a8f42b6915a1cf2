//! The verbs that use the server crate, and the code that they share.

pub(crate) mod call;
pub(crate) mod health;
pub(crate) mod key;
pub(crate) mod mcp;
pub(crate) mod serve;

use std::{io, path::PathBuf, sync::Arc};

use thermocline::{Config, ErrorKind, Thermocline};
use thermocline_server::{service::Service, settings::Settings};
use tokio::runtime;

use crate::{
    exit::{Exit, Failure},
    find::{self, Db},
    provider_args::{EmbedderArgs, LlmArgs, PlannerArgs, RerankerArgs},
    providers,
};

async fn open(db: &Db, config: Config) -> Result<Arc<Service>, Failure> {
    db.check_writable()?;
    let must_exist = config.must_exist;
    let memory = Thermocline::open_with(&db.path, config).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound if must_exist => find::no_memory(db),
        _ => error.into(),
    })?;
    Ok(Arc::new(Service::new(memory)))
}

/// Returns the library's configuration from a server's settings. Its providers are built in the same way as for the other
/// verbs.
fn configured(settings: &Settings) -> Result<Config, Failure> {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let path = |text: &str| given(text).map(PathBuf::from);
    let (llm, embed, rerank) = (&settings.llm, &settings.embed, &settings.rerank);
    let mut config = settings.memory.config();
    config.summarizer = providers::summarizer(&LlmArgs {
        llm_url: given(&llm.url),
        llm_model: given(&llm.model),
        llm_window: llm.window,
        llm_key_var: llm.key_var.clone(),
    })?;
    let embedder = EmbedderArgs {
        embed_url: given(&embed.url),
        embed_model: given(&embed.model),
        embed_dims: Some(embed.dims).filter(|dims| *dims > 0),
        embed_key_var: embed.key_var.clone(),
        embed_dir: path(&embed.dir),
        embed_query_prefix: given(&embed.query_prefix),
        embed_document_prefix: given(&embed.document_prefix),
    };
    config.embedders = embedder.config()?.embedders;
    let reranker = RerankerArgs {
        rerank_dir: path(&rerank.dir),
        rerank_url: given(&rerank.url),
        rerank_model: given(&rerank.model),
        rerank_key_var: rerank.key_var.clone(),
        rerank_candidates: settings.memory.rerank_candidates,
        rerank_timeout_ms: settings.memory.rerank_timeout_ms,
    };
    let planner = PlannerArgs {
        plan: llm.plan,
        llm_url: given(&llm.url),
        llm_model: given(&llm.model),
        llm_key_var: llm.key_var.clone(),
        plan_timeout_ms: settings.memory.plan_timeout_ms,
    };
    planner.add_to(reranker.add_to(config)?)
}

fn runtime() -> Result<runtime::Runtime, Failure> {
    runtime::Builder::new_multi_thread().enable_all().build().map_err(io_failure)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn io_failure(error: io::Error) -> Failure {
    Failure::new(Exit::Unexpected, error.to_string())
}
