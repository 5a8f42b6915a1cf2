//! What all handles of one open file share: the store, and the worker that runs its jobs.

use std::{ops::Deref, path::Path, sync::Arc};

use crate::{config::Config, error::Result, jobs::Worker, recall::user_indexes::UserIndexes, store::Store};

/// The last handle to go stops the worker and then closes the file.
#[derive(Debug)]
pub(super) struct Open {
    // Dropped first: it writes.
    worker: Option<Worker>,
    store: Arc<Store>,
    /// What recall keeps in memory.
    pub(super) indexes: UserIndexes,
}

impl Open {
    pub(super) fn file(path: &Path, config: Config) -> Result<Self> {
        let (has_worker, recall_bytes) = (config.worker, config.recall_bytes);
        let has_embedders = !config.embedders.is_empty();
        let store = Arc::new(Store::open(path, config)?);
        if has_embedders {
            store.try_post(|tx| tx.queue_stale_spaces());
        }
        store.queue_stale_rules();
        let worker = if has_worker { Some(Worker::start(Arc::clone(&store))?) } else { None };
        Ok(Self { worker, store, indexes: UserIndexes::new(recall_bytes) })
    }

    /// Ends the worker, then the writer. Blocks.
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
