//! The only code that uses SQLite: it opens and migrates the file, and has the writer, the readers and the statements.

pub(crate) mod acts;
pub(crate) mod behind;
pub(crate) mod checks;
pub(crate) mod columns;
mod extract_reads;
pub(crate) mod file;
pub(crate) mod job_tx;
mod learned;
mod live;
mod memory_pages;
mod memory_reads;
mod pages;
mod person_reads;
mod recalled;
mod receipt_texts;
pub(crate) mod rows;
pub(crate) mod scope;
pub(crate) mod sensor_reads;
pub(crate) mod slice_error;
pub(crate) mod snapshot;
pub(crate) mod sql;
#[cfg(test)]
mod tests;
pub(crate) mod transfer;
pub(crate) mod write_tx;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

use crate::{
    config::Config,
    cooldown::Cooldowns,
    error::{Error, ErrorKind, Result},
    event::Event,
    model::{ids::SessionId, job::JobKinds, turn::Origin},
    sensors::last_looks::LastLooks,
    store::{
        acts::jobs::Taken,
        behind::{NewReceipt, WriteBehind},
        checks::{
            doctor,
            health::{self, Health},
            stats,
        },
        file::{
            backup,
            db_file::DbFile,
            facts::{FileFacts, Soundness},
            open,
            queue::Writer,
            readers::{ReadTransaction, Readers},
            scrub::{self, PagesToScrub, Scrubbed},
            sqlite::Sqlite,
            watch::{Mark, Watch},
        },
        job_tx::JobTx,
        live::{Live, Look},
        rows::jobs::{Lease, Owed},
        scope::Scope,
        slice_error::SliceResult,
        snapshot::{Hearer, Snapshot, SnapshotSource},
        write_tx::WriteTx,
    },
    tier::hot::HotTier,
};

/// One open database file, with its writer, its readers and its caches.
#[derive(Debug)]
pub(crate) struct Store {
    file: Arc<DbFile>,
    config: Arc<Config>,
    cooldowns: Cooldowns,
    last_looks: LastLooks,
    readers: Readers,
    watch: Arc<Watch>,
    live: Arc<Live>,
    /// Signalled when a job is queued.
    work: watch::Sender<()>,
    /// The number of writes so far that a caller waited for.
    foreground: AtomicU64,
    /// `None` if the file is open read-only. The last field, so that it is dropped last: only a connection that may write
    /// can remove the log and its index when the last connection closes.
    writer: Option<Writer>,
}

impl Store {
    /// Opens the file read-write (creating it if needed) or read-only. A file is refused before anything is written to it,
    /// except that a journal left by a crash may be rolled back first.
    pub(crate) fn open(path: &Path, config: Config) -> Result<Self> {
        config.validate()?;
        let (file, conn) = if config.read_only {
            (open::look_only(path, &config)?, None)
        } else {
            open::open(path, &config).map(|(file, conn)| (file, Some(conn)))?
        };
        let file = Arc::new(file);
        let config = Arc::new(config);
        let live = Arc::new(Live::new(&config));
        let watch = Arc::new(Watch::new(Arc::clone(&file), Arc::clone(&config.clock))?);
        let readers = Readers::new(Arc::clone(&file), &config)?;
        let cooldowns = Cooldowns::of(config.embedders.len());
        let work = watch::Sender::new(());
        let shared = (Arc::clone(&live), Arc::downgrade(&watch));
        let start = |conn| Writer::start(Arc::clone(&file), conn, Arc::clone(&config), shared, work.clone());
        let writer = conn.map(start).transpose()?;
        Ok(Self {
            file,
            config,
            cooldowns,
            last_looks: LastLooks::default(),
            readers,
            watch,
            live,
            work,
            foreground: AtomicU64::new(0),
            writer,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns which providers are in cooldown after a failure.
    pub(crate) fn cooldowns(&self) -> &Cooldowns {
        &self.cooldowns
    }

    /// Returns the last looks of sensors.
    pub(crate) fn last_looks(&self) -> &LastLooks {
        &self.last_looks
    }

    /// Takes a snapshot: a read transaction, which sees one moment of the file and has a deadline.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<'_>> {
        self.told(self.readers.begin()).map(|reading| Snapshot::new(self.source(), reading))
    }

    /// Takes a [`Mark`], then a snapshot. A hot tier that is valid in the snapshot is cached as valid at that mark.
    pub(crate) fn marked_snapshot(&self) -> Result<Snapshot<'_>> {
        let mark = self.watch.mark()?;
        Ok(self.snapshot()?.marked(mark))
    }

    /// Takes a snapshot on a new connection and without a deadline, for reads of everything, which take long.
    pub(crate) fn snapshot_at_leisure(&self) -> Result<Snapshot<'_>> {
        self.told(ReadTransaction::at_leisure(&self.file))
            .map(|reading| Snapshot::new(self.source(), reading))
    }

    /// Queues a job that checks the user's index and vectors and rebuilds their damaged parts. Called when damage was found
    /// there.
    pub(crate) fn mend(&self, scope: &Scope) {
        let scope = *scope;
        self.try_post(move |tx| tx.queue_mending(&scope));
    }

    /// Queues a `derive` job for every user with data that older rules derived. Writes nothing if there is no such user.
    pub(crate) fn queue_stale_rules(&self) {
        // If the snapshot cannot be read, the next opening checks again.
        if let Ok(true) = self.snapshot().and_then(|snapshot| snapshot.has_stale_rules()) {
            self.try_post(|tx| tx.queue_stale_rules());
        }
    }

    /// Makes jobs of these kinds due now if they wait for a provider's configuration to change. Writes nothing if there are
    /// none.
    pub(crate) fn retry_misconfigured(&self, kinds: JobKinds) {
        // If the snapshot cannot be read, the jobs are tried when they are next due.
        if let Ok(true) = self.snapshot().and_then(|snapshot| snapshot.has_misconfigured(&kinds)) {
            self.try_post(move |tx| tx.retry_misconfigured(&kinds).map(drop));
        }
    }

    /// Takes over all turns that other programs have inserted, in portions. Writes nothing if there are none.
    pub(crate) async fn take_over_inserted(&self) -> Result<()> {
        loop {
            let Some(scope) = self.snapshot()?.user_with_inserted()? else { return Ok(()) };
            self.write_background(move |tx| tx.take_over_some(&scope)).await?;
        }
    }

    /// Queues taking over a first portion of inserted turns. Does not wait for it, so that opening a file stays fast.
    pub(crate) fn begin_taking_over(&self) {
        if let Ok(Some(scope)) = self.snapshot().and_then(|snapshot| snapshot.user_with_inserted()) {
            self.try_post(move |tx| tx.take_over_some(&scope));
        }
    }

    /// Queues `work` for the writer and waits until its transaction is durable.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_sized(0, work).await
    }

    /// Like `write`, for what `by` asks for.
    pub(crate) async fn write_as<T: Send + 'static>(
        &self,
        by: Origin,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write(move |tx| {
            tx.by = by;
            work(tx)
        })
        .await
    }

    /// Like `write`, for work that holds `bytes` bytes of text. The queue is bounded in bytes too.
    pub(crate) async fn write_sized<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.foreground.fetch_add(1, Ordering::Relaxed);
        self.told(self.writer()?.write_sized(bytes, work).await)
    }

    /// Returns an error if the file is open read-only.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.writer().map(drop)
    }

    pub(super) fn writer(&self) -> Result<&Writer> {
        self.writer.as_ref().ok_or_else(|| {
            let path = self.path().display();
            Error::new(ErrorKind::ReadOnly, format!("{path} was opened read-only; nothing was written"))
        })
    }

    /// Waits until all receipts and uses posted so far are in the file.
    pub(crate) async fn flush(&self) -> Result<()> {
        match &self.writer {
            Some(writer) => self.told(writer.flush().await),
            None => Ok(()),
        }
    }

    /// Like `write`, for work that no caller waits for.
    pub(crate) async fn write_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.told(self.writer()?.write_sized(0, work).await)
    }

    /// Like `write_background`, for a slice of a job's work. The transaction first renews the job's lease.
    pub(crate) async fn write_slice<T: Send + 'static>(
        &self,
        lease: Arc<Lease>,
        work: impl FnOnce(&mut JobTx<'_, '_>) -> SliceResult<T> + Send + 'static,
    ) -> SliceResult<T> {
        Ok(self.write_background(move |tx| Ok(work(&mut JobTx::hold(tx, &lease)?)?)).await?)
    }

    /// Takes the next due job of these kinds. Writes nothing if there is none.
    pub(crate) async fn take_job(&self, kinds: &JobKinds) -> Result<Option<Lease>> {
        loop {
            let next = self.snapshot()?.next_job(kinds)?;
            let Some(found) = next else { return Ok(None) };
            match self.write_background(move |tx| tx.take_job(found)).await? {
                Taken::Lease(lease) => return Ok(Some(lease)),
                Taken::GivenUp(lease) => {
                    self.config.on_event.emit(&Event::JobFailed { job: lease.job(), why: ErrorKind::Closed });
                }
                Taken::Gone => {}
            }
        }
    }

    /// Queues `work` without waiting for it. Drops it if the queue is full or the file is open read-only.
    pub(crate) fn try_post(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static) {
        if let Some(writer) = &self.writer {
            writer.try_post(work);
        }
    }

    /// Queues a receipt to be written after the answer, if receipts are kept. Does not wait for it.
    pub(crate) fn keep_receipt(&self, scope: Scope, receipt: NewReceipt) {
        if let Some(writer) = self.writer.as_ref().filter(|_| self.config.receipts > 0) {
            writer.post_behind(WriteBehind::Receipt(scope, Box::new(receipt)));
        }
    }

    /// Returns how many writes a caller has waited for so far. If the number grows, callers are writing now.
    pub(crate) fn foreground_writes(&self) -> u64 {
        self.foreground.load(Ordering::Relaxed)
    }

    /// Returns a receiver that is notified whenever this process queues a job.
    pub(crate) fn work_queued(&self) -> watch::Receiver<()> {
        self.work.subscribe()
    }

    /// Returns the scrub that is owed, and the pages in which erased rows may have left copies. `None` if no scrub is owed.
    pub(crate) fn pages_to_scrub(&self) -> Result<Option<(Owed, PagesToScrub)>> {
        self.told(scrub::pages(&self.file))
    }

    /// Empties the write-ahead log and overwrites the gaps in some of these pages.
    pub(crate) async fn scrub(&self, owed: Owed, pages: PagesToScrub) -> Result<Scrubbed> {
        self.told(self.writer()?.scrub(owed, pages).await)
    }

    /// Returns some free pages to the file system. Returns `true` if more remain.
    pub(crate) async fn shrink(&self) -> Result<bool> {
        self.told(self.writer()?.shrink().await)
    }

    /// Drops all cached hot tiers.
    pub(crate) fn forget_all(&self) {
        self.live.forget_all();
    }

    /// Closes the store. Blocks until everything queued is durable; later writes fail.
    pub(crate) fn close(&self) -> Result<()> {
        match &self.writer {
            Some(writer) => self.told(writer.close().and_then(|()| self.file.noticed())),
            None => Ok(()),
        }
    }

    fn source(&self) -> SnapshotSource<'_> {
        SnapshotSource { config: &self.config, file: &self.file, live: &self.live, hearer: self }
    }

    /// Returns `answer`. If it is an error, first checks whether the file is lost, and if so closes the connections.
    fn told<T>(&self, answer: Result<T>) -> Result<T> {
        answer.inspect_err(|_| self.let_go_if_lost())
    }

    pub(crate) fn stats(&self) -> Result<stats::Stats> {
        self.look(|sql| stats::stats(sql, FileFacts::read(&self.file, sql.held())?))
    }

    /// Returns the health of the file: whether it can be read and written now. Fails if the file cannot be read within
    /// [`health::BOUND`].
    pub(crate) fn health(&self) -> Result<Health> {
        let reading = self.file.check().and_then(|()| self.readers.begin_within(health::BOUND));
        let facts = reading.and_then(|reading| {
            FileFacts::read(&self.file, &reading).inspect_err(|error| reading.heard(error))
        });
        let (facts, queued) = (self.told(facts)?, self.writer.as_ref().and_then(Writer::queued));
        Ok(Health {
            is_writer_alive: queued.is_some(),
            is_read_only: self.config.read_only,
            queued_commands: queued.unwrap_or(0),
            commits: self.writer.as_ref().map_or(0, |writer| writer.commits().count()),
            commit_us: self.writer.as_ref().map_or(0, |writer| writer.commits().micros()),
            log_bytes: facts.wal_bytes,
            free_bytes: facts.free_bytes,
            schema_version: facts.schema_version,
        })
    }

    /// Returns a number that changes whenever any process commits.
    pub(crate) fn data_version(&self) -> Result<u64> {
        self.told(self.watch.mark().map(Mark::number))
    }

    pub(crate) fn diagnose(&self) -> Result<doctor::Diagnosis> {
        self.look(|sql| Ok(doctor::diagnose(sql, Soundness::read(sql.held())?)))
    }

    pub(crate) fn export(&self, scope: &Scope, to: impl std::io::Write) -> Result<transfer::Transferred> {
        self.look(|sql| transfer::export::export(sql, scope, to))
    }

    /// Runs `look` in a read transaction on a new connection and without a deadline.
    fn look<T>(&self, look: impl FnOnce(&Sqlite<'_, ReadTransaction>) -> Result<T>) -> Result<T> {
        self.told(ReadTransaction::at_leisure(&self.file).and_then(|reading| {
            let answer = look(&Sqlite::held_by(reading, &*self.config.clock));
            self.file.check().and(answer)
        }))
    }

    pub(crate) fn backup(&self, to: &Path) -> Result<u64> {
        let backup = |conn| self.file.opening(|_| backup::backup(&conn, to));
        self.told(self.file.to_copy().and_then(backup))
    }

    /// Returns whether the cached hot tier is valid now without reading a row.
    #[cfg(test)]
    pub(crate) fn is_hot_fresh(&self, session: SessionId) -> bool {
        matches!(self.live.look(session, self.watch.mark().unwrap()), Look::Fresh(_))
    }

    /// Returns the cached hot tier if it is still valid. Reads at most one row from the file, so async code may call it.
    pub(crate) fn hot_in_memory(&self, scope: &Scope, session: SessionId) -> Result<Option<Arc<HotTier>>> {
        let now = self.watch.mark()?;
        let (hot, known_version) = match self.live.look(session, now) {
            Look::Fresh(hot) => return Ok(Some(hot)),
            Look::Unsure { known: Some(known) } if known.1.is_open => known,
            Look::Unsure { .. } => return Ok(None),
        };
        let version = self.watch.version(scope, session)?;
        if version != Some(known_version) {
            if version.is_none() {
                self.live.forget(session); // The session was erased.
            }
            return Ok(None);
        }
        self.live.put(session, Arc::clone(&hot), known_version, Some(now));
        Ok(Some(hot))
    }
}

impl Hearer for Store {
    /// Closes all connections if the file is lost. POSIX locks belong to the process: if a connection stayed open, this
    /// process would share that connection's locks and its `-shm` memory when it opens the file that is at this path now.
    fn let_go_if_lost(&self) {
        if self.file.noticed().is_err() {
            self.readers.let_go();
            self.watch.let_go();
            self.try_post(|_| Ok(())); // Wakes the writer, which then checks for itself.
        }
    }
}
