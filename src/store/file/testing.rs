//! Helpers for the tests of the queue and of the writer: a store, writes to it, and a way to hold its writer.

use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};

use tempfile::TempDir;
use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn},
};

use crate::{
    config::Config,
    error::Result,
    store::{
        Store,
        file::connect,
        sql::{RowExpectation, values},
        write_tx::WriteTx,
    },
};

/// Opens a store whose file has one more table, `notes`, to write to.
pub(super) async fn store(config: Config) -> (TempDir, Arc<Store>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(&folder.path().join("w.db"), config).unwrap());
    store.write(|tx| tx.sql.change("CREATE TABLE notes(n)", &[])).await.unwrap();
    (folder, store)
}

pub(super) fn write(store: &Arc<Store>, n: u32) -> JoinHandle<Result<()>> {
    write_and(store, n, Ok(()))
}

/// Writes a note.
pub(super) fn insert(tx: &WriteTx<'_>, n: u32) -> Result<()> {
    tx.sql.put("INSERT INTO notes(n) VALUES (?1)", values![n], RowExpectation::Any)
}

/// Writes a note, then returns `outcome`.
pub(super) fn write_and(store: &Arc<Store>, n: u32, outcome: Result<()>) -> JoinHandle<Result<()>> {
    let store = Arc::clone(store);
    spawn(async move {
        store
            .write(move |tx| {
                insert(tx, n)?;
                outcome
            })
            .await
    })
}

/// Keeps the writer busy with a first batch until the returned sender is used, so that the commands after it share a batch.
pub(super) async fn hold(store: &Arc<Store>) -> (Sender<()>, JoinHandle<Result<()>>) {
    let (go_on, wait): (Sender<()>, Receiver<()>) = channel();
    let (started, is_held) = oneshot::channel();
    let store = Arc::clone(store);
    let held = spawn(async move {
        store
            .write(move |_| {
                let _ = started.send(());
                let _ = wait.recv();
                Ok(())
            })
            .await
    });
    is_held.await.unwrap();
    (go_on, held)
}

/// Returns the notes in the file, as readers see them.
pub(super) fn notes(store: &Store) -> Vec<u32> {
    let conn = store.readers.begin().unwrap();
    let mut stmt = conn.prepare("SELECT n FROM notes ORDER BY n").unwrap();
    let rows = stmt.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// Lets tasks run until all of them wait for the writer.
pub(super) async fn all_are_queued() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Runs a query on a file and returns the first column of its rows.
pub(crate) fn texts(path: &Path, sql: &str) -> Vec<String> {
    let conn = connect::reader(path).unwrap();
    let mut stmt = conn.prepare(sql).unwrap();
    stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}
