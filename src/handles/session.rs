//! The handle of one session of one user.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};

use crate::{
    compress::{Extractive, Summarizer},
    config::Config,
    error::{Error, ErrorKind, Result},
    event::in_span,
    handles::{
        answering, drive, off_thread,
        open::Open,
        recording::{self, Place},
    },
    jobs,
    model::{
        history::{HistoryEnd, PastTurn},
        ids::{SessionId, TurnId, UserId},
        memory::session_state::SessionState,
        metadata,
        page::checked_limit,
        session::SessionInfo,
        stored_time::StoredTime,
        summary::Summary,
        tier::Transition,
        turn::{NewTurn, Origin, RecordOutcome, Recorded, ReplacedTurn, Reply, Turn, TurnState},
    },
    recall::{
        context::Context,
        context_options::ContextOptions,
        embedders,
        message::Message,
        search::{self, Found},
        session_turns,
    },
    store::{
        acts::{erased::Erased, memories::session_state::NewState},
        rows::{memories::session_state, sessions::SessionRow},
        scope::Scope,
        snapshot::Snapshot,
        write_tx::WriteTx,
    },
    text::measure::check_name,
    tier::{hot::HotTier, warm::WarmTier},
};

/// The handle of one conversation. All clones follow it together.
///
/// If silence has ended a session, or if a session with a key has ended in any way, the next record continues the
/// conversation in a successor, whichever handle or process records. Recording, ending, hot, warm, search, context and
/// state follow the conversation to the successor, and the handle then refers to the successor. Completing a turn finds
/// the turn in whichever session it is. Every other method is about the session that [`id`](Self::id) names.
#[derive(Clone, Debug)]
pub struct Session {
    store: Arc<Open>,
    scope: Scope,
    by: Origin,
    id: Arc<Mutex<SessionId>>,
}

impl Session {
    pub(super) fn new(store: Arc<Open>, (scope, by): (Scope, Origin), id: SessionId) -> Self {
        Self { store, scope, by, id: Arc::new(Mutex::new(id)) }
    }

    /// Returns the session's id, or the successor's id once the handle has followed the conversation there.
    pub fn id(&self) -> SessionId {
        *self.id.lock().expect("no one panics while holding an id")
    }

    /// Returns the id of the user that the session belongs to.
    pub fn user_id(&self) -> UserId {
        self.scope.user_id
    }

    fn place(&self) -> Place {
        Place::session(self.scope, self.id())
    }

    /// Returns the ids for spans.
    fn ids(&self) -> (UserId, Option<SessionId>) {
        (self.scope.user_id, Some(self.id()))
    }

    /// Records a turn, and returns once it is durable: it survives a kill or a power loss at any later instant (see
    /// [`Durability`](crate::Durability)).
    ///
    /// If the reply contains [`Config::remember_marker`](crate::Config::remember_marker), the marker is removed and the
    /// turn is marked as critical. With a [`caller_id`](NewTurn::caller_id), a repeated record returns the turn that
    /// was recorded first. If silence has ended the session, or if it has a key and a call has ended it, the turn
    /// starts its successor, and the result says so.
    ///
    /// Dropping the future does not undo the record: the turn may still be recorded.
    ///
    /// Errors: `InvalidInput`, `Conflict`, `SessionEnded`, `Busy`, and `NotFound` if the session was erased; all of these
    /// mean that nothing was written. After `Io`, the turn may have been written: record it again with the same caller's id.
    pub async fn record(&self, turn: NewTurn) -> Result<Recorded> {
        in_span("record", self.ids(), self.record_turn(turn)).await
    }

    async fn record_turn(&self, turn: NewTurn) -> Result<Recorded> {
        let (_, recorded) = recording::turn(&self.store, self.place(), turn.handed_by(self.by)).await?;
        if recorded.outcome == RecordOutcome::New {
            self.go_on_in(recorded.session_id);
        }
        Ok(recorded)
    }

    /// Records a message whose reply is still to come, and returns once the message is durable. It is hot and shown at once.
    /// It can be recalled, and compressed with its session, only once it is complete. [`complete`](Self::complete) adds its
    /// reply. The next record completes it without a reply, and so does the end of the session by call or by silence. `turn`
    /// must have no reply. With a [`caller_id`](NewTurn::caller_id), a repeated call returns the first result, even if the
    /// reply has been added.
    ///
    /// Errors: those of [`record`](Self::record); `InvalidInput` for a turn that has a reply, has no message, or names the
    /// context it answers.
    pub async fn record_message(&self, turn: NewTurn) -> Result<Recorded> {
        in_span("record_message", self.ids(), self.record_only_message(turn)).await
    }

    async fn record_only_message(&self, turn: NewTurn) -> Result<Recorded> {
        let (_, recorded) = recording::message(&self.store, self.place(), turn.handed_by(self.by)).await?;
        if recorded.outcome == RecordOutcome::New {
            self.go_on_in(recorded.session_id);
        }
        Ok(recorded)
    }

    /// Adds the reply to a message, and returns once both are durable as one turn. A repeated call with the same reply
    /// returns the first result. `turn` may belong to any session of the user. If that session has been silent for too
    /// long but has not been ended yet, the reply keeps it open. A reply that comes after the next record is too late and
    /// fails with `Conflict`: record it as a separate turn to keep it.
    ///
    /// Errors: `Conflict` if the turn has another reply, was completed without one, was replaced, or is trusted more than
    /// whom the handle acts for; `NotFound`;
    /// `InvalidInput` for an empty reply; and those of [`record`](Self::record). A reply that is only the
    /// [marker](crate::Config::remember_marker) completes the turn without a reply, and marks it.
    pub async fn complete(&self, turn: TurnId, reply: Reply) -> Result<Recorded> {
        in_span("complete", self.ids(), self.give_reply(turn, reply)).await
    }

    async fn give_reply(&self, turn: TurnId, reply: Reply) -> Result<Recorded> {
        if reply.text().is_empty() {
            return Err(Error::invalid(
                "the reply is empty; to leave the message without one, record the next turn",
            ));
        }
        loop {
            let found = self.read(move |snapshot, scope| snapshot.turn_by_id(scope, turn)).await?;
            let message = found.ok_or_else(|| Error::not_found("this user has no such turn"))?;
            let replied = reply.clone().to(message.clone());
            let replied = replied.heeding(self.store.config().remember_marker.as_deref());
            if message.state != TurnState::Incomplete {
                return known_reply(&message, &replied);
            }
            let (bytes, measured) = recording::measured(&self.store, replied).await?;
            let (scope, by) = (self.scope, self.by);
            let work = move |tx: &mut WriteTx<'_>| {
                tx.by = by;
                tx.complete(&scope, turn, *measured)
            };
            // `None` means that another call has completed or replaced the turn in the meantime.
            if let Some(recorded) = self.store.write_sized(bytes, work).await? {
                return Ok(recorded);
            }
        }
    }

    /// Returns the earlier turns with this number in the session, oldest first. Each of them was replaced by another
    /// turn, or was set aside because an earlier turn was replaced.
    pub async fn replaced_at(&self, turn_number: u32) -> Result<Vec<ReplacedTurn>> {
        let id = self.id();
        self.read(move |snapshot, scope| snapshot.replaced_at(scope, id, turn_number)).await
    }

    /// Returns the last turns: at most [`Config::hot_turns`](crate::Config::hot_turns) of them, within
    /// [`Config::hot_tokens`](crate::Config::hot_tokens); the newest is there even if it alone exceeds that. Empty once the
    /// session has ended, until something is recorded in a successor.
    ///
    /// If they are in memory and nobody has written to the file since, no row is read. The benchmark `hot` measures how long
    /// this takes.
    pub async fn hot(&self) -> Result<Arc<HotTier>> {
        let id = self.id();
        if let Some(hot) = self.store.hot_in_memory(&self.scope, id)? {
            return Ok(hot);
        }
        self.read_latest(|snapshot, _, scope, session| snapshot.hot(scope, session)).await
    }

    /// Returns the newest turns that are not hot: at most [`Config::warm_turns`](crate::Config::warm_turns) of them,
    /// within [`Config::warm_tokens`](crate::Config::warm_tokens).
    pub async fn warm(&self) -> Result<WarmTier> {
        self.read_latest(|snapshot, config, scope, session| {
            let hot = snapshot.hot(scope, session)?;
            session_turns::window(snapshot, config, (scope, session), &hot, u32::MAX)
        })
        .await
    }

    /// Returns the best `k` turns of the whole session for a query, by words; of equally good ones, the newest first.
    /// Any string is a valid query; a query without a word finds nothing. Turns that are damaged, or whose originals
    /// were deleted, are left out.
    pub async fn search(&self, query: &str, k: usize) -> Result<Vec<Found>> {
        let query = query.to_owned();
        self.read_latest(move |snapshot, _, scope, session| {
            search::in_session(snapshot, scope, session, None, (&query, k))
        })
        .await
    }

    /// Returns the context for LLM#2 for this message, within a token budget. A call does not change what later
    /// contexts show or how they rank; a receipt is written afterwards.
    ///
    /// The budget goes first to the newest turns, then to what the message refers back to and the newest warm turns,
    /// then to what is known and recalled. The same file, message, options and time give the same string, as long as
    /// the configured models answer the same.
    ///
    /// The newest turns are shown without a gap. First hot and then warm turns are shown, from the newest back, until not
    /// even a 48-token part of the next one fits. A turn that is too long for the room left to it is cut. Older turns may be
    /// recalled for what they say. Turns of the session that did not fit are in [`Context::left_out`].
    pub async fn context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        in_span("context", self.ids(), self.build_context(message, options)).await
    }

    async fn build_context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        let config = self.store.config();
        let mut message = Message::of_context(config, message, &options)?;
        answering::plan(&self.store, (self.scope, Some(self.id())), &mut message, &options).await;
        if !config.embedders.is_empty() {
            let hot = self.hot().await.ok();
            embedders::ask(config, self.store.cooldowns(), &mut message, hot.as_deref()).await;
        }
        let id = self.id();
        let (context, session) =
            answering::context(&self.store, self.scope, Some(id), Arc::new(message), options).await?;
        self.go_on_in(session.unwrap_or(id));
        Ok(context)
    }

    /// Returns one turn by its number in the session, from 1; `None` if there is none, or if its original was deleted.
    pub async fn turn(&self, turn_number: u32) -> Result<Option<Turn>> {
        let id = self.id();
        self.read(move |snapshot, scope| {
            let session = snapshot.session(scope, id)?;
            match snapshot.originals(scope).turn_at(session.place(turn_number))? {
                None => Ok(snapshot.incomplete(scope, id)?.filter(|turn| turn.turn_number == turn_number)),
                found => Ok(found),
            }
        })
        .await
    }

    /// Returns a page of the session's history in ascending order, in whatever tier the turns are: at most `limit` turns (1
    /// to 1,000) after the turn number `after`, the last one seen; `None` starts at the beginning. Reads little more than
    /// the page, through an index, and no frame of the archive twice. The benchmark `pages` measures how long this takes.
    pub async fn turns(&self, after: Option<u32>, limit: u32) -> Result<Vec<PastTurn>> {
        self.page(HistoryEnd::After(after.unwrap_or(0)), limit).await
    }

    /// Returns a page of the session's history for a chat program, which shows the end first and then pages back: the last
    /// `limit` turns (1 to 1,000) before the turn number `before`, the first one seen; `None` starts at the newest. The
    /// order is ascending here too.
    pub async fn turns_before(&self, before: Option<u32>, limit: u32) -> Result<Vec<PastTurn>> {
        self.page(HistoryEnd::Before(before.unwrap_or(u32::MAX)), limit).await
    }

    async fn page(&self, part: HistoryEnd, limit: u32) -> Result<Vec<PastTurn>> {
        let (id, limit) = (self.id(), checked_limit(limit)?);
        self.read(move |snapshot, scope| snapshot.history(scope, &snapshot.session(scope, id)?, part, limit))
            .await
    }

    /// Returns what the file holds about the session as a whole: its key, title, times, counts and metadata.
    pub async fn info(&self) -> Result<SessionInfo> {
        let id = self.id();
        self.read(move |snapshot, scope| Ok(snapshot.session(scope, id)?.info)).await
    }

    /// Returns a page of the moves of the session's turns between tiers, ordered by turn and then by move: at most `limit`
    /// of them (1 to 1,000) after `after`, which is the [turn number](Transition::turn_number) and [move
    /// number](Transition::move_number) of the last one seen; `None` starts at the first.
    pub async fn transitions(&self, after: Option<(u32, u32)>, limit: u32) -> Result<Vec<Transition>> {
        let (id, after, limit) = (self.id(), after.unwrap_or((0, 0)), checked_limit(limit)?);
        self.read(move |snapshot, scope| {
            snapshot.transitions(scope, &snapshot.session(scope, id)?, after, limit)
        })
        .await
    }

    /// Files the session under a project (1 to 256 bytes), or under none with `None`.
    pub async fn set_project(&self, project: Option<&str>) -> Result<()> {
        check_name("project", project)?;
        let (scope, id, project) = (self.scope, self.id(), project.map(str::to_owned));
        self.store.write_as(self.by, move |tx| tx.set_project(&scope, id, project.as_deref())).await
    }

    /// Sets the session's title for lists (1 to 256 bytes), or removes it with `None`. A successor that continues the
    /// conversation inherits the title. No context shows it and no provider gets it; over MCP, a model that lists
    /// sessions reads it.
    pub async fn set_title(&self, title: Option<&str>) -> Result<()> {
        check_name("session's title", title)?;
        let (scope, id, title) = (self.scope, self.id(), title.map(str::to_owned));
        self.store.write_as(self.by, move |tx| tx.set_title(&scope, id, title.as_deref())).await
    }

    /// Stores a JSON object of the caller's with the session, replacing the previous one: at most 16 KiB as JSON, nested at
    /// most 64 levels deep. `None` removes it. It is exported and erased with the session, and is neither searched nor shown
    /// to an LLM. A successor that continues the conversation inherits it.
    pub async fn set_metadata(&self, metadata: Option<serde_json::Value>) -> Result<()> {
        metadata.as_ref().map_or(Ok(()), metadata::check)?;
        let (scope, id, text) = (self.scope, self.id(), metadata.map(|metadata| metadata.to_string()));
        self.store.write_as(self.by, move |tx| tx.set_metadata(&scope, id, text.as_deref())).await
    }

    /// Stores a text, such as an agent's plan or its variables, under a name for as long as the session lasts. It replaces
    /// the previous text of this name. An empty text removes the entry. The text is overwritten in place, without a history.
    /// It is neither searched, shown in contexts nor exported, no provider gets it, and it is removed when the session ends.
    /// If the conversation continues in a successor, the text is stored there, and the handle moves there.
    ///
    /// Limits: a name of 1 to 200 bytes with a visible character, a text of 64 KiB, 64 names. Errors: `InvalidInput`;
    /// `SessionEnded`; `NotFound` while the session is being erased.
    pub async fn set_state(&self, name: &str, text: &str) -> Result<()> {
        let slot = format!("{}{name}", session_state::SLOT);
        let new = if text.is_empty() { NewState::Cleared(slot) } else { NewState::kept(slot, name, text)? };
        let (scope, id, by) = (self.scope, self.id(), self.by);
        let work = move |tx: &mut WriteTx<'_>| {
            tx.by = by;
            tx.set_session_state(&scope, id, &new)
        };
        let written = self.store.write_sized(text.len(), work).await?;
        self.go_on_in(written);
        Ok(())
    }

    /// Returns all texts that the session stores for as long as it lasts, by name; empty once the session has ended.
    pub async fn state(&self) -> Result<Vec<SessionState>> {
        self.read_latest(|snapshot, config, scope, session| snapshot.session_state(config, scope, session))
            .await
    }

    /// Ends the session; its hot turns become warm. It never reopens. Ending it again changes nothing, even if the
    /// conversation has since continued under its key. If silence ended the session, this call ends the successor in
    /// which the conversation continues.
    pub async fn end(&self) -> Result<SessionInfo> {
        self.end_session(None).await
    }

    /// Ends the session at a time that the caller sets, as [`NewTurn::said_at`] does for turns: for replaying old
    /// conversations.
    pub async fn end_at(&self, at: DateTime<Utc>) -> Result<SessionInfo> {
        self.end_session(Some(StoredTime::new("ended_at", at)?)).await
    }

    async fn end_session(&self, at: Option<StoredTime>) -> Result<SessionInfo> {
        let (scope, id) = (self.scope, self.id());
        let ending = self.store.write_as(self.by, move |tx| tx.end_session(&scope, id, at));
        let info = in_span("end", self.ids(), ending).await?;
        self.go_on_in(info.id);
        Ok(info)
    }

    /// Returns a page of the summaries of the session's turns, in the order of the turns: at most `limit` of them (1 to
    /// 1,000). `after` is the turn number of the last summary seen; `None` starts at the first.
    pub async fn summaries(&self, after: Option<u32>, limit: u32) -> Result<Vec<Summary>> {
        let (id, after, limit) = (self.id(), after.unwrap_or(0), checked_limit(limit)?);
        self.read(move |snapshot, scope| {
            snapshot.summaries(scope, &snapshot.session(scope, id)?, after, limit)
        })
        .await
    }

    /// Undoes the compression of an ended session: its turns become warm again, archived ones with their original texts, and
    /// its summaries are removed. Anchors stay. Returns how many turns were restored; turns whose originals were deleted
    /// cannot be. The session is not compressed again by itself; call [`compress`](Self::compress) for that.
    pub async fn restore(&self) -> Result<u64> {
        let (scope, id) = (self.scope, self.id());
        let mut restored = 0;
        loop {
            let unpacked = self.read(move |snapshot, scope| snapshot.unpack(scope, id)).await?;
            match self.store.write_as(self.by, move |tx| tx.restore_slice(&scope, id, unpacked)).await? {
                0 => return Ok(restored),
                turns => restored += u64::from(turns),
            }
        }
    }

    /// Queues the compression of an ended session that was restored. For any other session the call changes nothing,
    /// because its compression is queued when it ends.
    pub async fn compress(&self) -> Result<()> {
        let (scope, id) = (self.scope, self.id());
        self.store.write_as(self.by, move |tx| tx.queue_compression(&scope, id)).await
    }

    /// Asks [`Config::summarizer`](crate::Config::summarizer) again about a session of which the built-in summarizer
    /// summarized something, because the configured one failed or there was none: restores the session and queues its
    /// compression. Returns how many turns were restored. If the built-in summarizer summarized nothing, it returns 0
    /// and changes nothing. If the call is interrupted, nothing is lost, and it may be repeated. Anchors stay.
    ///
    /// Errors: `InvalidInput` without a configured summarizer, and for an open session; `Conflict` while the session is
    /// being erased; `Corrupt` if its archive is damaged.
    pub async fn compress_again(&self) -> Result<u64> {
        in_span("compress_again", self.ids(), self.restore_to_compress()).await
    }

    async fn restore_to_compress(&self) -> Result<u64> {
        let (scope, id) = (self.scope, self.id());
        check_summarizer(self.store.config())?;
        if self.info().await?.ended_at.is_none() {
            return Err(Error::invalid("the session is open; it is compressed once it has ended"));
        }
        let mut restored = 0;
        let built_in = self.read(|snapshot, scope| snapshot.built_in_sessions(scope)).await?;
        if !built_in.contains(&id) {
            return Ok(restored);
        }
        loop {
            let unpacked = self.read(move |snapshot, scope| snapshot.unpack(scope, id)).await?;
            match self
                .store
                .write_as(self.by, move |tx| tx.restore_slice_to_compress(&scope, id, unpacked))
                .await?
            {
                0 => return Ok(restored),
                turns => restored += u64::from(turns),
            }
        }
    }

    /// Erases the session that [`id`](Self::id) names from the bytes of the file and its log: its turns, in whatever
    /// tier, with their words, summaries, moves and jobs. Anchors lose the session's evidence and are recomputed from
    /// the rest. Memories that jobs made from the session are erased; memories that somebody saved stay, without their
    /// quotes of the session and their earlier texts. [`User::erase`](crate::User::erase) describes what erasing cannot
    /// reach.
    pub async fn erase(&self) -> Result<Erased> {
        in_span("erase", self.ids(), self.erase_session()).await
    }

    async fn erase_session(&self) -> Result<Erased> {
        let (store, scope, id, by) = (Arc::clone(&self.store), self.scope, self.id(), self.by);
        drive(move || async move {
            let erased = jobs::erase(&store, (scope, by), Some(id)).await;
            store.forget(&scope);
            erased
        })
        .await
    }

    /// Reads from the session in which the conversation continues now, and makes the handle refer to it.
    async fn read_latest<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot<'_>, &Config, &Scope, &SessionRow) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (store, scope, id) = (Arc::clone(&self.store), self.scope, self.id());
        let (latest, answer) = off_thread(move || {
            let snapshot = store.snapshot()?;
            let session = snapshot.latest_session(&scope, id)?;
            Ok((session.info.id, read(&snapshot, store.config(), &scope, &session)?))
        })
        .await?;
        self.go_on_in(latest);
        Ok(answer)
    }

    fn go_on_in(&self, id: SessionId) {
        *self.id.lock().expect("no one panics while holding an id") = id;
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot<'_>, &Scope) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || read(&store.snapshot()?, &scope)).await
    }
}

/// Returns the result of an earlier reply if this reply is the same; otherwise fails with `Conflict`.
fn known_reply(known: &Turn, again: &NewTurn) -> Result<Recorded> {
    // A reply that was only a marker set the turn's mark; a turn completed without a reply has no mark.
    let has_mark = known.is_identity_critical || !again.said.ai_response.is_empty();
    if known.state == TurnState::Complete && known.said.ai_response == again.said.ai_response && has_mark {
        return Ok(Recorded::known(known));
    }
    Err(not_waiting(known.state))
}

fn not_waiting(state: TurnState) -> Error {
    let why = match state {
        TurnState::Replaced => "the message was replaced, so no turn can take its reply",
        _ => "the turn is already complete, with another reply or without one; record another turn",
    };
    Error::new(ErrorKind::Conflict, why)
}

/// Fails if only the built-in summarizer is configured, because compressing again would only repeat its result.
pub(super) fn check_summarizer(config: &Config) -> Result<()> {
    let is_own = |summarizer: &&Arc<dyn Summarizer>| summarizer.name() != Extractive::NAME;
    config.summarizer.as_ref().filter(is_own).map(drop).ok_or_else(|| {
        Error::invalid(
            "only the built-in summarizer is configured, and it would only repeat its result; \
             set Config::summarizer",
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::{Config, ContextOptions, NewTurn, Thermocline};

    #[tokio::test]
    async fn neither_a_context_nor_its_receipt_nor_its_use_voids_the_hot_tier_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { worker: false, ..Config::default() };
        let memory = Thermocline::open_with(folder.path().join("m.db"), config).await.unwrap();
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        session.record(NewTurn::new("A lamp.", "")).await.unwrap();
        for _ in 0..3 {
            let context = session.context("Which lamp?", ContextOptions::default()).await.unwrap();
            assert!(session.store.is_hot_fresh(session.id()), "a context writes nothing");
            session.store.flush().await.unwrap();
            assert!(session.store.is_hot_fresh(session.id()), "its receipt is written");
            session.record(NewTurn::new("That one.", "").answering(context.receipt)).await.unwrap();
            session.hot().await.unwrap();
            session.store.flush().await.unwrap();
            assert!(session.store.is_hot_fresh(session.id()), "its use is counted");
        }
    }
}
