//! The handle of an open file.

use std::{io::BufRead, path::Path, sync::Arc, time::Duration};

use crate::{
    config::Config,
    embed::{BuiltIn, Embedder, EmbeddingSpace},
    error::{Error, ErrorKind, Result},
    event::in_span_found,
    handles::{
        User, drive, hop, off_thread,
        open::Open,
        owner::Owner,
        recording::{self, Place},
        saving,
    },
    jobs::{self, JobsReport, RunJobs},
    model::{
        ids::UserId,
        job::JobInfo,
        memory::{new::NewMemory, saved::Saved},
        page::checked_limit,
        turn::{NewTurn, Recorded},
        user::UserInfo,
    },
    store::{
        checks::{
            doctor::Diagnosis,
            health::{self, Health},
            stats::Stats,
        },
        rows::embedding::EmbeddingStatus,
        scope::UserKey,
        transfer::{Transferred, import},
    },
    text::measure::check_name,
};

/// An open memory file. Cheap to clone; all clones share one writer.
///
/// Dropping the last handle waits, for a bounded time, until everything queued is durable. [`close`](Self::close) waits
/// without blocking the thread.
///
/// The methods need a Tokio runtime with time enabled; those of [`blocking`](crate::blocking) do not.
#[derive(Clone, Debug)]
pub struct Thermocline {
    store: Arc<Open>,
}

impl Thermocline {
    /// Opens the file with the default [`Config`], or creates it if there is none.
    ///
    /// A file is refused, and not changed, if it belongs to another program, was written by a newer version, cannot be
    /// read as a database, or cannot be written.
    ///
    /// # Panics
    /// As [`open_with`](Self::open_with).
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Config::default()).await
    }

    /// Opens the file with this [`Config`], or creates it if there is none.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, and in a runtime without time: build it with `enable_time` or `enable_all`, as
    /// `#[tokio::main]` does.
    pub async fn open_with(path: impl AsRef<Path>, config: Config) -> Result<Self> {
        // Never awaited. It panics in a runtime without time; otherwise, only a full queue would reveal that.
        drop(tokio::time::sleep(Duration::ZERO));
        let path = path.as_ref().to_owned();
        off_thread(move || Ok(Self { store: Arc::new(Open::file(&path, config)?) })).await
    }

    /// Returns the file's absolute path with links resolved. It is the same, whichever path the file was opened by.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// Returns whether the file was opened read-only: [`Config::read_only`].
    pub fn is_read_only(&self) -> bool {
        self.store.config().read_only
    }

    /// Waits until the tokenizer's tables are loaded (0.1-0.9 s). Loading starts in the background when the first
    /// session is opened. The first record or context of a process may have to wait for it, once.
    pub async fn ready(&self) -> Result<()> {
        let tokenizer = self.store.config().tokenizer;
        off_thread(move || {
            tokenizer.count("");
            Ok(())
        })
        .await
    }

    /// Returns the user of this name (1 to 256 bytes), and adds the user if there is none. Fails with `Unsupported` if
    /// the file's `users` table belongs to a backend.
    pub async fn user(&self, name: &str) -> Result<User> {
        check_name("user's name", Some(name))?;
        self.user_with(UserKey::Name(name.to_owned())).await
    }

    /// Returns the user with this id, and adds the user if there is none. If the file's `users` table belongs to a
    /// backend, the user must be in it.
    pub async fn user_by_id(&self, id: UserId) -> Result<User> {
        self.user_with(UserKey::Id(id)).await
    }

    /// Returns the user of this name, if there is one. Adds nobody.
    pub async fn find_user(&self, name: &str) -> Result<Option<User>> {
        self.find_user_with(UserKey::Name(name.to_owned())).await
    }

    /// Returns the user with this id, if there is one. Adds nobody.
    pub async fn find_user_by_id(&self, id: UserId) -> Result<Option<User>> {
        self.find_user_with(UserKey::Id(id)).await
    }

    /// Records a turn of a user, who is named or identified by [`UserKey`], in the session with this key (1 to 256 bytes).
    /// `None` means the newest open session without a key. The user and the session are added if they are new, in the
    /// same transaction: a turn that is refused adds neither. Returns the user and the result once the turn is durable.
    ///
    /// This is for callers that keep no handles, such as a service that gets names with each request.
    ///
    /// Errors: those of [`Session::record`](crate::Session::record); `NotFound` while the session is being erased;
    /// `Unsupported` for a name, and `NotFound` for an unknown id, if the file's `users` table belongs to a backend.
    pub async fn record(
        &self,
        user: impl Into<UserKey>,
        session: Option<&str>,
        turn: NewTurn,
    ) -> Result<(User, Recorded)> {
        let work = recording::turn(&self.store, Place::named(user.into(), session)?, turn);
        let (scope, recorded) = in_span_found("record", None, work, recording::ids).await?;
        Ok((User::new(Arc::clone(&self.store), scope), recorded))
    }

    /// Records a message whose reply is still to come, in a user's session, which is found or added as by
    /// [`record`](Self::record).
    ///
    /// Errors: those of [`record`](Self::record) and [`Session::record_message`](crate::Session::record_message).
    pub async fn record_message(
        &self,
        user: impl Into<UserKey>,
        session: Option<&str>,
        turn: NewTurn,
    ) -> Result<(User, Recorded)> {
        let work = recording::message(&self.store, Place::named(user.into(), session)?, turn);
        let (scope, recorded) = in_span_found("record_message", None, work, recording::ids).await?;
        Ok((User::new(Arc::clone(&self.store), scope), recorded))
    }

    /// Saves a memory as [`Memories::save`](crate::Memories::save) does. The user is added if new, in the same transaction:
    /// a memory that is refused adds nobody.
    ///
    /// Errors: those of [`Memories::save`](crate::Memories::save), and those of [`record`](Self::record) that concern the
    /// user.
    pub async fn save_memory(&self, user: impl Into<UserKey>, memory: NewMemory) -> Result<(User, Saved)> {
        let work = saving::save(&self.store, Owner::named(user.into())?, memory);
        let (scope, saved) = in_span_found("save", None, work, saving::ids).await?;
        Ok((User::new(Arc::clone(&self.store), scope), saved))
    }

    async fn find_user_with(&self, key: UserKey) -> Result<Option<User>> {
        let store = Arc::clone(&self.store);
        let scope = off_thread(move || store.snapshot()?.user(&key)).await?;
        Ok(scope.map(|scope| User::new(Arc::clone(&self.store), scope)))
    }

    async fn user_with(&self, key: UserKey) -> Result<User> {
        let (store, wanted) = (Arc::clone(&self.store), key.clone());
        let known = off_thread(move || store.snapshot()?.user(&wanted)).await?;
        let scope = match known {
            Some(scope) => scope,
            None => self.store.write(move |tx| tx.add_user(&key)).await?,
        };
        Ok(User::new(Arc::clone(&self.store), scope))
    }

    /// Imports what [`User::export`] wrote, as the user of this name. The memory file must hold nothing of that user yet.
    ///
    /// The lines are read into memory, checked, and written in one transaction, for which other writes wait (about 0.1 ms a
    /// turn). If a line is wrong, the last lines are missing, or an id is already in this memory file, nothing changes.
    pub async fn import(&self, user: &str, from: impl BufRead + Send + 'static) -> Result<Transferred> {
        check_name("user's name", Some(user))?;
        let (key, max_side_bytes) = (UserKey::Name(user.to_owned()), self.store.config().max_side_bytes);
        let import = off_thread(move || import::read(from, max_side_bytes)).await?;
        self.store.write(move |tx| tx.import(&key, import)).await
    }

    /// Returns how much is in the file, for all users together: counts and sizes, and nothing that anybody said.
    pub async fn stats(&self) -> Result<Stats> {
        self.store.flush().await?; // Counts the uses reported so far.
        let store = Arc::clone(&self.store);
        off_thread(move || store.stats()).await
    }

    /// Checks whether the file can be read and written now, within 50 ms and without using the writer. For health
    /// checks that run every second.
    ///
    /// Errors: `TimedOut` if no connection reads within that time, and any other error of reading.
    pub async fn health(&self) -> Result<Health> {
        let store = Arc::clone(&self.store);
        match tokio::time::timeout(health::BOUND, hop(move || store.health())).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::new(ErrorKind::TimedOut, "the file could not be checked in time")),
        }
    }

    /// Returns a number that changes whenever any process commits to the file: while it stays the same, nothing that
    /// can be read has changed. Numbers from two openings of the file cannot be compared.
    pub async fn data_version(&self) -> Result<u64> {
        let store = Arc::clone(&self.store);
        off_thread(move || store.data_version()).await
    }

    /// Checks the whole file: its pages, the counts that must agree, and every row and text, with the words and token
    /// counts derived from it. The check takes minutes for gigabytes. Other calls continue in the meantime, and the
    /// write-ahead log grows until the check is done.
    ///
    /// Turns that another program has inserted are taken over first. If an index or vectors are damaged, a job is queued to
    /// rebuild them.
    pub async fn doctor(&self) -> Result<Diagnosis> {
        let _ = self.store.take_over_inserted().await; // Doctor finds what cannot be taken over.
        let store = Arc::clone(&self.store);
        let diagnosis = off_thread(move || store.diagnose()).await?;
        if diagnosis.has_damaged_index() {
            let _ = self.store.write(|tx| tx.queue_mending_of_all()).await; // What doctor found is reported in any case.
        }
        Ok(diagnosis)
    }

    /// Writes a complete copy of the file as of this moment, and returns its size in bytes. The copy appears under its name
    /// only once it is on the disk, and never replaces a file.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<u64> {
        let (store, to) = (Arc::clone(&self.store), to.as_ref().to_owned());
        off_thread(move || store.backup(&to)).await
    }

    /// Runs due jobs until none is left: for callers with their own scheduler, or to see what compression produced. First,
    /// it ends sessions that have been silent for too long. The library's own worker may run at the same time, in this or
    /// another process: no two of them work on the same job. [`close`](Self::close) stops the run, and returns a job in
    /// progress to the queue.
    pub async fn run_jobs(&self, options: RunJobs) -> Result<JobsReport> {
        let store = Arc::clone(&self.store);
        drive(move || async move {
            let stop = store.closing();
            jobs::run(&store, options, stop).await
        })
        .await
    }

    /// Queues a job for each user with anything to embed, which rebuilds the vectors of all configured embedders or, if
    /// none is configured, of the built-in one. Returns the number of users; [`run_jobs`](Self::run_jobs) or the worker
    /// does the work. Until then, recall uses words and the built-in embedder. Vectors of other models stay.
    pub async fn rebuild_vectors(&self) -> Result<u64> {
        self.store.write(|tx| tx.rebuild_vectors()).await
    }

    /// Removes the vectors of all models except the configured ones and the built-in one. Use it after a change of model
    /// that will not be reverted. To get them back, everything has to be embedded again.
    pub async fn drop_other_vectors(&self) -> Result<()> {
        let mut kept: Vec<EmbeddingSpace> =
            self.store.config().embedders.iter().map(|embedder| embedder.space()).collect();
        kept.push(BuiltIn::default().space());
        loop {
            let kept = kept.clone();
            if !self.store.write(move |tx| tx.drop_other_vectors(&kept)).await? {
                return Ok(());
            }
        }
    }

    /// Returns how many of each user's turns are embedded, for each model that the file knows. If the newest turns lack
    /// vectors of the built-in embedder, recall computes them itself.
    pub async fn embedding_status(&self) -> Result<Vec<EmbeddingStatus>> {
        let store = Arc::clone(&self.store);
        off_thread(move || store.snapshot()?.embedding_status()).await
    }

    /// Returns a page of the jobs of the whole file, in the order in which they were queued: at most `limit` of them (1
    /// to 1,000) after the job number `after`, the last one seen; `None` starts at the first. Jobs name users and
    /// sessions by id, and contain nothing that was said.
    pub async fn jobs(&self, after: Option<i64>, limit: u32) -> Result<Vec<JobInfo>> {
        let (after, limit) = (after.unwrap_or(0), checked_limit(limit)?);
        let store = Arc::clone(&self.store);
        off_thread(move || store.snapshot()?.jobs(after, limit)).await
    }

    /// Returns a page of the users of the file, in the order in which they were added: at most `limit` of them (1 to 1,000)
    /// after the user `after`, the last one seen; `None` starts at the first. The page contains ids, names and counts, and
    /// nothing that was said. Users with more sessions take longer to count; the benchmark `pages` measures this.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased in the meantime.
    pub async fn users(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserInfo>> {
        let limit = checked_limit(limit)?;
        let store = Arc::clone(&self.store);
        off_thread(move || store.snapshot()?.users(after, limit)).await
    }

    /// Makes the job with this number due now, if it was given up or waits for a retry; without a number, all such jobs.
    /// Returns the number of jobs. A summarizer or embedder that is in its cooldown is asked again at once.
    pub async fn retry_jobs(&self, job_no: Option<i64>) -> Result<u64> {
        self.store.cooldowns().end_for_jobs();
        self.store.write(move |tx| tx.retry_jobs(job_no)).await
    }

    /// Stops runs of jobs, and waits for them for at most [`Config::close_timeout`]. Then it waits until everything queued
    /// is durable, and ends the worker and the writer. All clones of the handle are closed too: later writes through them
    /// fail with [`ErrorKind::Closed`](crate::ErrorKind::Closed).
    pub async fn close(&self) -> Result<()> {
        self.store.stop_runs().await;
        let store = Arc::clone(&self.store);
        off_thread(move || store.close()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "timers are disabled")]
    fn a_runtime_without_time_is_refused_at_opening() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _ = runtime.block_on(Thermocline::open(folder.path().join("memory.db")));
    }
}
