//! [`Session`](crate::Session) for callers without a runtime.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{
    Context, ContextOptions, Erased, Found, HotTier, NewTurn, PastTurn, Recorded, ReplacedTurn, Reply,
    Result, SessionId, SessionInfo, SessionState, Summary, Transition, Turn, TurnId, UserId, WarmTier,
    handles::blocking::waiter::Waiter,
};

/// The blocking version of [`Session`](crate::Session).
#[derive(Clone, Debug)]
pub struct Session {
    // Dropped before the runtime, because its last operations run there.
    inner: crate::Session,
    runtime: Arc<Waiter>,
}

impl Session {
    pub(super) fn new(inner: crate::Session, runtime: Arc<Waiter>) -> Self {
        Self { inner, runtime }
    }

    /// See [`Session::id`](crate::Session::id).
    pub fn id(&self) -> SessionId {
        self.inner.id()
    }

    /// See [`Session::user_id`](crate::Session::user_id).
    pub fn user_id(&self) -> UserId {
        self.inner.user_id()
    }

    /// See [`Session::record`](crate::Session::record).
    pub fn record(&self, turn: NewTurn) -> Result<Recorded> {
        self.runtime.block_on(self.inner.record(turn))
    }

    /// See [`Session::record_message`](crate::Session::record_message).
    pub fn record_message(&self, turn: NewTurn) -> Result<Recorded> {
        self.runtime.block_on(self.inner.record_message(turn))
    }

    /// See [`Session::complete`](crate::Session::complete).
    pub fn complete(&self, turn: TurnId, reply: Reply) -> Result<Recorded> {
        self.runtime.block_on(self.inner.complete(turn, reply))
    }

    /// See [`Session::replaced_at`](crate::Session::replaced_at).
    pub fn replaced_at(&self, turn_number: u32) -> Result<Vec<ReplacedTurn>> {
        self.runtime.block_on(self.inner.replaced_at(turn_number))
    }

    /// See [`Session::hot`](crate::Session::hot).
    pub fn hot(&self) -> Result<Arc<HotTier>> {
        self.runtime.block_on(self.inner.hot())
    }

    /// See [`Session::warm`](crate::Session::warm).
    pub fn warm(&self) -> Result<WarmTier> {
        self.runtime.block_on(self.inner.warm())
    }

    /// See [`Session::search`](crate::Session::search).
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<Found>> {
        self.runtime.block_on(self.inner.search(query, k))
    }

    /// See [`Session::context`](crate::Session::context).
    pub fn context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        self.runtime.block_on(self.inner.context(message, options))
    }

    /// See [`Session::turn`](crate::Session::turn).
    pub fn turn(&self, turn_number: u32) -> Result<Option<Turn>> {
        self.runtime.block_on(self.inner.turn(turn_number))
    }

    /// See [`Session::turns`](crate::Session::turns).
    pub fn turns(&self, after: Option<u32>, limit: u32) -> Result<Vec<PastTurn>> {
        self.runtime.block_on(self.inner.turns(after, limit))
    }

    /// See [`Session::turns_before`](crate::Session::turns_before).
    pub fn turns_before(&self, before: Option<u32>, limit: u32) -> Result<Vec<PastTurn>> {
        self.runtime.block_on(self.inner.turns_before(before, limit))
    }

    /// See [`Session::info`](crate::Session::info).
    pub fn info(&self) -> Result<SessionInfo> {
        self.runtime.block_on(self.inner.info())
    }

    /// See [`Session::transitions`](crate::Session::transitions).
    pub fn transitions(&self, after: Option<(u32, u32)>, limit: u32) -> Result<Vec<Transition>> {
        self.runtime.block_on(self.inner.transitions(after, limit))
    }

    /// See [`Session::set_project`](crate::Session::set_project).
    pub fn set_project(&self, project: Option<&str>) -> Result<()> {
        self.runtime.block_on(self.inner.set_project(project))
    }

    /// See [`Session::set_title`](crate::Session::set_title).
    pub fn set_title(&self, title: Option<&str>) -> Result<()> {
        self.runtime.block_on(self.inner.set_title(title))
    }

    /// See [`Session::set_metadata`](crate::Session::set_metadata).
    pub fn set_metadata(&self, metadata: Option<serde_json::Value>) -> Result<()> {
        self.runtime.block_on(self.inner.set_metadata(metadata))
    }

    /// See [`Session::set_state`](crate::Session::set_state).
    pub fn set_state(&self, name: &str, text: &str) -> Result<()> {
        self.runtime.block_on(self.inner.set_state(name, text))
    }

    /// See [`Session::state`](crate::Session::state).
    pub fn state(&self) -> Result<Vec<SessionState>> {
        self.runtime.block_on(self.inner.state())
    }

    /// See [`Session::end`](crate::Session::end).
    pub fn end(&self) -> Result<SessionInfo> {
        self.runtime.block_on(self.inner.end())
    }

    /// See [`Session::end_at`](crate::Session::end_at).
    pub fn end_at(&self, at: DateTime<Utc>) -> Result<SessionInfo> {
        self.runtime.block_on(self.inner.end_at(at))
    }

    /// See [`Session::summaries`](crate::Session::summaries).
    pub fn summaries(&self, after: Option<u32>, limit: u32) -> Result<Vec<Summary>> {
        self.runtime.block_on(self.inner.summaries(after, limit))
    }

    /// See [`Session::restore`](crate::Session::restore).
    pub fn restore(&self) -> Result<u64> {
        self.runtime.block_on(self.inner.restore())
    }

    /// See [`Session::compress`](crate::Session::compress).
    pub fn compress(&self) -> Result<()> {
        self.runtime.block_on(self.inner.compress())
    }

    /// See [`Session::compress_again`](crate::Session::compress_again).
    pub fn compress_again(&self) -> Result<u64> {
        self.runtime.block_on(self.inner.compress_again())
    }

    /// See [`Session::erase`](crate::Session::erase).
    pub fn erase(&self) -> Result<Erased> {
        self.runtime.block_on(self.inner.erase())
    }
}
