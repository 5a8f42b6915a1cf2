//! Blocking versions of the handles, for callers without an async runtime. No method may be called from async code, but a
//! handle may be dropped there. Dropping the last handle waits until everything queued is durable, at most for
//! [`Config::close_timeout`].
//!
//! ```
//! # fn main() -> thermocline::Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! use thermocline::{ContextOptions, NewTurn, blocking::Thermocline};
//!
//! let memory = Thermocline::open(folder.path().join("memory.db"))?;
//! let session = memory.user("alex")?.session()?;
//! session.record(NewTurn::new("I like sailing.", "Where do you sail?"))?;
//! let context = session.context("On the Baltic.", ContextOptions::default())?;
//! assert!(context.text.contains("I like sailing."));
//! # Ok(())
//! # }
//! ```

mod callers_runtime;
mod memories;
mod sensors;
mod session;
#[cfg(feature = "files")]
mod vault;
mod waiter;

use std::{
    io::{BufRead, Write},
    path::Path,
    sync::Arc,
};

use crate::{
    Anchor, AnchorId, AnchorStated, Attribute, Config, Context, ContextOptions, Erased, JobInfo, JobsReport,
    NewMemory, NewTurn, Origin, Recall, RecallOptions, Receipt, ReceiptId, Recorded, Result, RunJobs, Saved,
    SessionId, SessionInfo, Summary, SummaryId, Transferred, Turn, TurnId, UserId, UserInfo, UserKey,
};

pub use self::memories::Memories;
pub use self::session::Session;
#[cfg(feature = "files")]
pub use self::vault::Vault;
use self::waiter::Waiter;

/// The blocking version of [`Thermocline`](crate::Thermocline).
#[derive(Clone, Debug)]
pub struct Thermocline {
    // Dropped before the runtime, because its last operations run there.
    inner: crate::Thermocline,
    runtime: Arc<Waiter>,
}

/// The blocking version of [`User`](crate::User).
#[derive(Clone, Debug)]
pub struct User {
    inner: crate::User,
    runtime: Arc<Waiter>,
}

impl Thermocline {
    /// See [`Thermocline::open`](crate::Thermocline::open).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Config::default())
    }

    /// See [`Thermocline::open_with`](crate::Thermocline::open_with).
    pub fn open_with(path: impl AsRef<Path>, config: Config) -> Result<Self> {
        let runtime = Arc::new(Waiter::new()?);
        let inner = runtime.block_on(crate::Thermocline::open_with(path, config))?;
        Ok(Self { inner, runtime })
    }

    /// See [`Thermocline::path`](crate::Thermocline::path).
    pub fn path(&self) -> &Path {
        self.inner.path()
    }

    /// See [`Thermocline::is_read_only`](crate::Thermocline::is_read_only).
    pub fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    /// See [`Thermocline::ready`](crate::Thermocline::ready).
    pub fn ready(&self) -> Result<()> {
        self.runtime.block_on(self.inner.ready())
    }

    /// See [`Thermocline::user`](crate::Thermocline::user).
    pub fn user(&self, name: &str) -> Result<User> {
        self.runtime.block_on(self.inner.user(name)).map(|inner| self.user_handle(inner))
    }

    /// See [`Thermocline::user_by_id`](crate::Thermocline::user_by_id).
    pub fn user_by_id(&self, id: UserId) -> Result<User> {
        self.runtime.block_on(self.inner.user_by_id(id)).map(|inner| self.user_handle(inner))
    }

    /// See [`Thermocline::find_user`](crate::Thermocline::find_user).
    pub fn find_user(&self, name: &str) -> Result<Option<User>> {
        let found = self.runtime.block_on(self.inner.find_user(name))?;
        Ok(found.map(|inner| self.user_handle(inner)))
    }

    /// See [`Thermocline::find_user_by_id`](crate::Thermocline::find_user_by_id).
    pub fn find_user_by_id(&self, id: UserId) -> Result<Option<User>> {
        let found = self.runtime.block_on(self.inner.find_user_by_id(id))?;
        Ok(found.map(|inner| self.user_handle(inner)))
    }

    /// See [`Thermocline::record`](crate::Thermocline::record).
    pub fn record(
        &self,
        user: impl Into<UserKey>,
        session: Option<&str>,
        turn: NewTurn,
    ) -> Result<(User, Recorded)> {
        let (inner, recorded) = self.runtime.block_on(self.inner.record(user, session, turn))?;
        Ok((self.user_handle(inner), recorded))
    }

    /// See [`Thermocline::record_message`](crate::Thermocline::record_message).
    pub fn record_message(
        &self,
        user: impl Into<UserKey>,
        session: Option<&str>,
        turn: NewTurn,
    ) -> Result<(User, Recorded)> {
        let (inner, recorded) = self.runtime.block_on(self.inner.record_message(user, session, turn))?;
        Ok((self.user_handle(inner), recorded))
    }

    /// See [`Thermocline::save_memory`](crate::Thermocline::save_memory).
    pub fn save_memory(&self, user: impl Into<UserKey>, memory: NewMemory) -> Result<(User, Saved)> {
        let (inner, saved) = self.runtime.block_on(self.inner.save_memory(user, memory))?;
        Ok((self.user_handle(inner), saved))
    }

    /// See [`Thermocline::import`](crate::Thermocline::import).
    pub fn import(&self, user: &str, from: impl BufRead + Send + 'static) -> Result<Transferred> {
        self.runtime.block_on(self.inner.import(user, from))
    }

    /// See [`Thermocline::stats`](crate::Thermocline::stats).
    pub fn stats(&self) -> Result<crate::Stats> {
        self.runtime.block_on(self.inner.stats())
    }

    /// See [`Thermocline::health`](crate::Thermocline::health).
    pub fn health(&self) -> Result<crate::Health> {
        self.runtime.block_on(self.inner.health())
    }

    /// See [`Thermocline::data_version`](crate::Thermocline::data_version).
    pub fn data_version(&self) -> Result<u64> {
        self.runtime.block_on(self.inner.data_version())
    }

    /// See [`Thermocline::doctor`](crate::Thermocline::doctor).
    pub fn doctor(&self) -> Result<crate::Diagnosis> {
        self.runtime.block_on(self.inner.doctor())
    }

    /// See [`Thermocline::backup`](crate::Thermocline::backup).
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<u64> {
        self.runtime.block_on(self.inner.backup(to))
    }

    /// See [`Thermocline::run_jobs`](crate::Thermocline::run_jobs).
    pub fn run_jobs(&self, options: RunJobs) -> Result<JobsReport> {
        self.runtime.block_on(self.inner.run_jobs(options))
    }

    /// See [`Thermocline::drop_other_vectors`](crate::Thermocline::drop_other_vectors).
    pub fn drop_other_vectors(&self) -> Result<()> {
        self.runtime.block_on(self.inner.drop_other_vectors())
    }

    /// See [`Thermocline::rebuild_vectors`](crate::Thermocline::rebuild_vectors).
    pub fn rebuild_vectors(&self) -> Result<u64> {
        self.runtime.block_on(self.inner.rebuild_vectors())
    }

    /// See [`Thermocline::embedding_status`](crate::Thermocline::embedding_status).
    pub fn embedding_status(&self) -> Result<Vec<crate::EmbeddingStatus>> {
        self.runtime.block_on(self.inner.embedding_status())
    }

    /// See [`Thermocline::jobs`](crate::Thermocline::jobs).
    pub fn jobs(&self, after: Option<i64>, limit: u32) -> Result<Vec<JobInfo>> {
        self.runtime.block_on(self.inner.jobs(after, limit))
    }

    /// See [`Thermocline::users`](crate::Thermocline::users).
    pub fn users(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserInfo>> {
        self.runtime.block_on(self.inner.users(after, limit))
    }

    /// See [`Thermocline::retry_jobs`](crate::Thermocline::retry_jobs).
    pub fn retry_jobs(&self, job_no: Option<i64>) -> Result<u64> {
        self.runtime.block_on(self.inner.retry_jobs(job_no))
    }

    /// See [`Thermocline::close`](crate::Thermocline::close).
    pub fn close(&self) -> Result<()> {
        self.runtime.block_on(self.inner.close())
    }

    fn user_handle(&self, inner: crate::User) -> User {
        User { inner, runtime: Arc::clone(&self.runtime) }
    }
}

impl User {
    /// See [`User::id`](crate::User::id).
    pub fn id(&self) -> UserId {
        self.inner.id()
    }

    /// See [`User::by`](crate::User::by).
    #[must_use]
    pub fn by(mut self, origin: Origin) -> Self {
        self.inner = self.inner.by(origin);
        self
    }

    /// See [`User::revision`](crate::User::revision).
    pub fn revision(&self) -> Result<u64> {
        self.runtime.block_on(self.inner.revision())
    }

    /// See [`User::info`](crate::User::info).
    pub fn info(&self) -> Result<UserInfo> {
        self.runtime.block_on(self.inner.info())
    }

    /// See [`User::session`](crate::User::session).
    pub fn session(&self) -> Result<Session> {
        self.runtime.block_on(self.inner.session()).map(|inner| self.session_handle(inner))
    }

    /// See [`User::session_named`](crate::User::session_named).
    pub fn session_named(&self, key: &str) -> Result<Session> {
        self.runtime.block_on(self.inner.session_named(key)).map(|inner| self.session_handle(inner))
    }

    /// See [`User::find_session`](crate::User::find_session).
    pub fn find_session(&self, key: &str) -> Result<Option<Session>> {
        let found = self.runtime.block_on(self.inner.find_session(key))?;
        Ok(found.map(|inner| self.session_handle(inner)))
    }

    /// See [`User::session_parts`](crate::User::session_parts).
    pub fn session_parts(&self, key: &str) -> Result<Vec<Session>> {
        let parts = self.runtime.block_on(self.inner.session_parts(key))?;
        Ok(parts.into_iter().map(|inner| self.session_handle(inner)).collect())
    }

    /// See [`User::record`](crate::User::record).
    pub fn record(&self, session: Option<&str>, turn: NewTurn) -> Result<Recorded> {
        self.runtime.block_on(self.inner.record(session, turn))
    }

    /// See [`User::record_message`](crate::User::record_message).
    pub fn record_message(&self, session: Option<&str>, turn: NewTurn) -> Result<Recorded> {
        self.runtime.block_on(self.inner.record_message(session, turn))
    }

    /// See [`User::new_session`](crate::User::new_session).
    pub fn new_session(&self) -> Result<Session> {
        self.runtime.block_on(self.inner.new_session()).map(|inner| self.session_handle(inner))
    }

    /// See [`User::session_by_id`](crate::User::session_by_id).
    pub fn session_by_id(&self, id: SessionId) -> Result<Session> {
        self.runtime.block_on(self.inner.session_by_id(id)).map(|inner| self.session_handle(inner))
    }

    /// See [`User::sessions`](crate::User::sessions).
    pub fn sessions(&self, after: Option<SessionId>, limit: u32) -> Result<Vec<SessionInfo>> {
        self.runtime.block_on(self.inner.sessions(after, limit))
    }

    /// See [`User::turn`](crate::User::turn).
    pub fn turn(&self, id: TurnId) -> Result<Turn> {
        self.runtime.block_on(self.inner.turn(id))
    }

    /// See [`User::turn_by_caller_id`](crate::User::turn_by_caller_id).
    pub fn turn_by_caller_id(&self, caller_id: &str) -> Result<Turn> {
        self.runtime.block_on(self.inner.turn_by_caller_id(caller_id))
    }

    /// See [`User::find_recorded`](crate::User::find_recorded).
    pub fn find_recorded(&self, turn: &NewTurn) -> Result<Option<Recorded>> {
        self.runtime.block_on(self.inner.find_recorded(turn))
    }

    /// See [`User::summary`](crate::User::summary).
    pub fn summary(&self, turn: TurnId) -> Result<Option<Summary>> {
        self.runtime.block_on(self.inner.summary(turn))
    }

    /// See [`User::summary_by_caller_id`](crate::User::summary_by_caller_id).
    pub fn summary_by_caller_id(&self, caller_id: &str) -> Result<Option<Summary>> {
        self.runtime.block_on(self.inner.summary_by_caller_id(caller_id))
    }

    /// See [`User::memories`](crate::User::memories).
    pub fn memories(&self) -> Memories {
        Memories::new(self.inner.memories(), Arc::clone(&self.runtime))
    }

    /// See [`User::vault`](crate::User::vault).
    #[cfg(feature = "files")]
    pub fn vault(&self, folder: impl Into<std::path::PathBuf>, options: crate::VaultOptions) -> Vault {
        Vault::new(self.inner.vault(folder, options), Arc::clone(&self.runtime))
    }

    /// See [`User::recall`](crate::User::recall).
    pub fn recall(&self, query: &str, options: RecallOptions) -> Result<Recall> {
        self.runtime.block_on(self.inner.recall(query, options))
    }

    /// See [`User::context`](crate::User::context).
    pub fn context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        self.runtime.block_on(self.inner.context(message, options))
    }

    /// See [`User::receipt`](crate::User::receipt).
    pub fn receipt(&self, id: ReceiptId) -> Result<Receipt> {
        self.runtime.block_on(self.inner.receipt(id))
    }

    /// See [`User::receipt_with_texts`](crate::User::receipt_with_texts).
    pub fn receipt_with_texts(&self, id: ReceiptId) -> Result<crate::ReceiptWithTexts> {
        self.runtime.block_on(self.inner.receipt_with_texts(id))
    }

    /// See [`User::receipts`](crate::User::receipts).
    pub fn receipts(&self, limit: u32) -> Result<Vec<Receipt>> {
        self.runtime.block_on(self.inner.receipts(limit))
    }

    /// See [`User::cold_turns`](crate::User::cold_turns).
    pub fn cold_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>> {
        self.runtime.block_on(self.inner.cold_turns(after, limit))
    }

    /// See [`User::summaries`](crate::User::summaries).
    pub fn summaries(&self, after: Option<SummaryId>, limit: u32) -> Result<Vec<Summary>> {
        self.runtime.block_on(self.inner.summaries(after, limit))
    }

    /// See [`User::anchors`](crate::User::anchors).
    pub fn anchors(&self, after: Option<AnchorId>, limit: u32) -> Result<Vec<Anchor>> {
        self.runtime.block_on(self.inner.anchors(after, limit))
    }

    /// See [`User::anchor`](crate::User::anchor).
    pub fn anchor(&self, id: AnchorId) -> Result<Anchor> {
        self.runtime.block_on(self.inner.anchor(id))
    }

    /// See [`User::set_anchor`](crate::User::set_anchor).
    pub fn set_anchor(&self, subject: &str, attribute: Attribute, value: &str) -> Result<AnchorId> {
        self.runtime.block_on(self.inner.set_anchor(subject, attribute, value))
    }

    /// See [`User::set_anchor_by`](crate::User::set_anchor_by).
    pub fn set_anchor_by(
        &self,
        subject: &str,
        attribute: Attribute,
        value: &str,
        by: &str,
    ) -> Result<AnchorStated> {
        self.runtime.block_on(self.inner.set_anchor_by(subject, attribute, value, by))
    }

    /// See [`User::replace_anchor`](crate::User::replace_anchor).
    pub fn replace_anchor(&self, id: AnchorId, value: &str, by: &str) -> Result<AnchorId> {
        self.runtime.block_on(self.inner.replace_anchor(id, value, by))
    }

    /// See [`User::retract_anchor`](crate::User::retract_anchor).
    pub fn retract_anchor(&self, id: AnchorId) -> Result<()> {
        self.runtime.block_on(self.inner.retract_anchor(id))
    }

    /// See [`User::export`](crate::User::export).
    pub fn export(&self, to: impl Write + Send + 'static) -> Result<Transferred> {
        self.runtime.block_on(self.inner.export(to))
    }

    /// See [`User::erase_turn`](crate::User::erase_turn).
    pub fn erase_turn(&self, turn: TurnId) -> Result<Erased> {
        self.runtime.block_on(self.inner.erase_turn(turn))
    }

    /// See [`User::compress_again`](crate::User::compress_again).
    pub fn compress_again(&self) -> Result<u64> {
        self.runtime.block_on(self.inner.compress_again())
    }

    /// See [`User::erase`](crate::User::erase).
    pub fn erase(&self) -> Result<Erased> {
        self.runtime.block_on(self.inner.erase())
    }

    fn session_handle(&self, inner: crate::Session) -> Session {
        Session::new(inner, Arc::clone(&self.runtime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn handles_may_be_dropped_in_async_code() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let open = || {
            let memory = Thermocline::open(&path).unwrap();
            let session = memory.user("alex").unwrap().session().unwrap();
            session.record(NewTurn::new("Hi", "Hello!")).unwrap();
            (memory, session)
        };
        let (memory, session) = std::thread::scope(|scope| scope.spawn(open).join().unwrap());
        drop(memory);
        drop(session);
        assert!(!folder.path().join("memory.db-wal").exists(), "the last handle closed the file");
    }
}
