//! What all handles of one open file share: the store, the worker that runs its jobs, and caches.

use std::{ops::Deref, path::Path, sync::Arc};

use tokio::sync::watch;

use crate::{
    compress,
    config::Config,
    embed,
    error::Result,
    jobs::Worker,
    model::job::{JobKind, JobKinds},
    planner,
    recall::{plans::Plans, user_indexes::UserIndexes},
    rerank, sensors,
    store::{Store, scope::Scope},
};

/// An open file. Dropping the last handle stops the worker and then closes the file.
#[derive(Debug)]
pub(super) struct Open {
    // Dropped first, because the worker writes to the store.
    worker: Option<Worker>,
    store: Arc<Store>,
    /// Becomes true when the file is closed, which stops all runs of jobs.
    closing: watch::Sender<bool>,
    /// The caches of recall.
    pub(super) indexes: UserIndexes,
    /// LLM#1's plans for recent messages.
    pub(super) plans: Plans,
}

impl Open {
    pub(super) fn file(path: &Path, mut config: Config) -> Result<Self> {
        // A provider may later report another name. Jobs, queries and rows use the name it reports now.
        config.embedders =
            config.embedders.into_iter().map(embed::known::KnownEmbedder::of).collect::<Result<_>>()?;
        config.summarizer = config.summarizer.map(compress::known::KnownSummarizer::of).transpose()?;
        config.reranker = config.reranker.map(rerank::known::KnownReranker::of).transpose()?;
        config.planner = config.planner.map(planner::known::KnownPlanner::of).transpose()?;
        config.sensors = sensors::known::all(config.sensors)?;
        let (has_worker, is_read_only, recall_bytes) = (config.worker, config.read_only, config.recall_bytes);
        let has_embedders = !config.embedders.is_empty();
        let store = Arc::new(Store::open(path, config)?);
        if has_embedders {
            store.try_post(|tx| tx.queue_stale_spaces());
        }
        store.queue_stale_rules();
        // Jobs that waited for a change of the configuration may have waited for this configuration.
        let has_summarizer = store.config().summarizer.is_some();
        let asked = [
            (JobKind::Compress, has_summarizer),
            (JobKind::Extract, has_summarizer),
            (JobKind::Embed, has_embedders),
        ];
        store.retry_misconfigured(JobKinds::of(asked.into_iter().filter(|of| of.1).map(|of| of.0)));
        store.begin_taking_over();
        let worker =
            if has_worker && !is_read_only { Some(Worker::start(Arc::clone(&store))?) } else { None };
        let closing = watch::Sender::new(false);
        let (indexes, plans) = (UserIndexes::new(recall_bytes), Plans::default());
        Ok(Self { worker, store, closing, indexes, plans })
    }

    /// Drops what is cached for a user after an erase, because a recall in the meantime may have cached data that is
    /// now erased.
    pub(super) fn forget(&self, scope: &Scope) {
        self.indexes.forget(scope);
        self.plans.forget(scope);
    }

    /// Returns a receiver that changes when the file is closed.
    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Tells all runs of jobs to stop, and waits until they have stopped, at most for `close_timeout`.
    pub(super) async fn stop_runs(&self) {
        self.closing.send_replace(true);
        let _ = tokio::time::timeout(self.config().close_timeout, self.closing.closed()).await;
    }

    /// Stops the worker, then the writer. Blocks.
    pub(super) fn close(&self) -> Result<()> {
        if let Some(worker) = &self.worker {
            worker.stop();
        }
        self.store.close()
    }
}

impl Deref for Open {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
