//! The rows that records of the library leave, written by rusqlite alone: prepared statements in one immediate
//! transaction for each record, or for a group of records. Each transaction is durable once it is committed.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use rusqlite::{Connection, TransactionBehavior, params_from_iter};
use tokio::sync::{mpsc, oneshot};

use crate::{
    changes::{Change, Kind},
    support::{plain, rounds::timed},
};

/// The limits of the library's own queue: the records of a batch, and those that may wait.
const MAX_BATCH: usize = 256;
const QUEUE_LEN: usize = 1_024;

/// A file to which the benchmark writes rows directly.
pub struct Plain(Connection);

impl Plain {
    pub fn open(path: &Path) -> Self {
        let conn = plain::writer(path);
        conn.set_prepared_statement_cache_capacity(256);
        Self(conn)
    }

    /// Writes the changes in one durable transaction.
    pub fn write<'c>(&mut self, changes: impl IntoIterator<Item = &'c Change>) {
        let tx = self.0.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        for change in changes {
            let mut stmt = tx.prepare_cached(&change.sql).unwrap();
            let rows = stmt.execute(params_from_iter(&change.values)).unwrap();
            debug_assert!(rows == 1 || change.kind == Kind::Delete, "{} changes {rows} rows", change.sql);
        }
        tx.commit().unwrap();
    }

    pub fn timed_write<'c>(&mut self, changes: impl IntoIterator<Item = &'c Change>) -> Duration {
        timed(|| self.write(changes))
    }
}

/// Returns the one row of a record that contains what was said.
pub fn bare(changes: &[Change]) -> impl Iterator<Item = &Change> {
    changes.iter().filter(|change| change.kind == Kind::Insert && &*change.table == "conversation_turns")
}

/// The number of a record whose rows are to be written, and the caller that waits for it.
type Call = (usize, oneshot::Sender<()>);

/// A handle of a thread that writes all waiting records in one transaction, but at most `MAX_BATCH` at a time.
#[derive(Clone)]
pub struct GroupCommit {
    queue: mpsc::Sender<Call>,
    next: Arc<AtomicUsize>,
}

impl GroupCommit {
    pub fn start(mut plain: Plain, records: Vec<Vec<Change>>) -> Self {
        let (queue, mut calls) = mpsc::channel::<Call>(QUEUE_LEN);
        thread::spawn(move || {
            while let Some(first) = calls.blocking_recv() {
                let mut batch = vec![first];
                while batch.len() < MAX_BATCH
                    && let Ok(call) = calls.try_recv()
                {
                    batch.push(call);
                }
                // The callers wake up out of order, but the rows are written in the library's order.
                let mut places: Vec<usize> = batch.iter().map(|(place, _)| *place).collect();
                places.sort_unstable();
                plain.write(places.iter().flat_map(|&place| &records[place]));
                for (_, waiting) in batch {
                    let _ = waiting.send(());
                }
            }
        });
        Self { queue, next: Arc::default() }
    }

    /// Writes the rows of the next record.
    pub async fn record(&self) {
        let (sender, receiver) = oneshot::channel();
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        self.queue.send((place, sender)).await.unwrap();
        receiver.await.unwrap();
    }
}
