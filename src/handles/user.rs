//! The handle of one user: the scope of everything that is read and written.

use std::{io::Write, sync::Arc};

use crate::{
    compress::fold::value_key,
    error::{Error, ErrorKind, Result},
    event::{in_span, in_span_found},
    handles::{
        Memories, Session, answering, drive, off_thread,
        open::Open,
        recording::{self, Place},
        session,
    },
    jobs,
    model::{
        anchor::{Anchor, AnchorStated, Attribute, FoundAnchor},
        ids::{AnchorId, ReceiptId, SessionId, SummaryId, TurnId, UserId},
        page::checked_limit,
        receipt::Receipt,
        receipt_texts::ReceiptWithTexts,
        session::SessionInfo,
        stored_time::StoredTime,
        summary::Summary,
        turn::{NewTurn, Origin, Recorded, Turn},
        user::UserInfo,
    },
    recall::{
        context::Context, context_options::ContextOptions, embedders, message::Message,
        recall_options::RecallOptions, recalled::Recall,
    },
    store::{
        acts::{anchors::no_anchor, erased::Erased, lifecycle},
        scope::Scope,
        transfer::Transferred,
    },
    text::{
        measure::{self, MAX_MAKER_BYTES, check_name, check_text},
        subjects::folded_name,
    },
};

/// The name recorded for an anchor that is set by hand, unless the caller gives another one.
const BY_CALLER: &str = "caller";

/// The handle of one user's memory. It reaches no other user's data.
#[derive(Clone, Debug)]
pub struct User {
    store: Arc<Open>,
    scope: Scope,
    by: Origin,
}

impl User {
    pub(super) fn new(store: Arc<Open>, scope: Scope) -> Self {
        Self { store, scope, by: Origin::User }
    }

    /// Sets for whom the handle acts, and the sessions that it returns. Default: [`Origin::User`], the host that acts for
    /// its user. What a handle that is trusted less records is trusted no more than that, and it changes, ends and erases
    /// nothing that is trusted more: such calls fail with `Conflict`. [`memories`](Self::memories) have their
    /// [own](Memories::by).
    #[must_use]
    pub fn by(mut self, origin: Origin) -> Self {
        self.by = origin;
        self
    }

    /// Returns the user's id.
    pub fn id(&self) -> UserId {
        self.scope.user_id
    }

    /// Returns a number that rises whenever data of this user is written. While it stays the same, everything that can
    /// be read of the user stays the same, except receipts and what is counted after an answer (how often something was
    /// of use). Other users' writes do not change it. If a name is used again after its user was erased, the new user
    /// has another [`id`](Self::id), and the number starts again.
    ///
    /// It reads one row. Errors: `NotFound` once the user is erased.
    pub async fn revision(&self) -> Result<u64> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.revision(&scope)).await
    }

    /// Returns the user's name and counts, as [`Thermocline::users`](crate::Thermocline::users) lists them.
    pub async fn info(&self) -> Result<UserInfo> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let found = off_thread(move || store.snapshot()?.user_info(&scope)).await?;
        found.ok_or_else(|| Error::not_found("this user no longer exists"))
    }

    /// Resumes the newest open session without a key, or starts one. A session that was silent for too long is ended
    /// and not resumed.
    pub async fn session(&self) -> Result<Session> {
        // Resuming writes nothing, so it need not wait for the writer.
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let resumed = off_thread(move || {
            let open = store.snapshot()?.open_unnamed_sessions(&scope)?;
            let now = StoredTime::clamped(store.config().clock.now());
            Ok(open
                .into_iter()
                .next()
                .filter(|session| !lifecycle::is_silent(&session.info, store.config(), now)))
        })
        .await?;
        if let Some(session) = resumed {
            return Ok(self.handle(session.info.id));
        }
        let scope = self.scope;
        let session = self.store.write_as(self.by, move |tx| tx.resume_session(&scope)).await?;
        Ok(self.handle(session.info.id))
    }

    /// Returns the session with the caller's own key (1 to 256 bytes), and starts it if there is none. A session that
    /// was silent for too long is ended. A session that has ended, by silence or by call, is returned as it is: the
    /// next record continues in its successor, under the same key.
    pub async fn session_named(&self, key: &str) -> Result<Session> {
        check_name("session's key", Some(key))?;
        // Usually the session exists and is open, and nothing is written.
        let (store, scope, wanted) = (Arc::clone(&self.store), self.scope, key.to_owned());
        let found = off_thread(move || {
            let found = store.snapshot()?.session_named(&scope, &wanted)?;
            let now = StoredTime::clamped(store.config().clock.now());
            Ok(found.filter(|session| !lifecycle::is_silent(&session.info, store.config(), now)))
        })
        .await?;
        if let Some(session) = found {
            return Ok(self.handle(session.info.id));
        }
        let (scope, key) = (self.scope, key.to_owned());
        let session = self.store.write_as(self.by, move |tx| tx.open_session(&scope, &key)).await?;
        Ok(self.handle(session.info.id))
    }

    /// Returns the session with the caller's own key, if there is one. Starts nothing.
    pub async fn find_session(&self, key: &str) -> Result<Option<Session>> {
        let (store, scope, key) = (Arc::clone(&self.store), self.scope, key.to_owned());
        // Only the id is read, so that a session whose row is damaged can still be erased.
        let parts = off_thread(move || store.snapshot()?.session_parts(&scope, &key)).await?;
        Ok(parts.first().map(|id| self.handle(*id)))
    }

    /// Returns all sessions with the caller's own key, newest first. There are several if the conversation continued after a
    /// session ended: each successor has the same key and is the next [`part`](crate::SessionInfo::part). Empty if there is
    /// none.
    pub async fn session_parts(&self, key: &str) -> Result<Vec<Session>> {
        let (store, scope, key) = (Arc::clone(&self.store), self.scope, key.to_owned());
        let parts = off_thread(move || store.snapshot()?.session_parts(&scope, &key)).await?;
        Ok(parts.into_iter().map(|id| self.handle(id)).collect())
    }

    /// Records a turn in the session with this key (1 to 256 bytes). `None` means the newest open session without a key. The
    /// session is started if there is none, in the same transaction: a turn that is refused starts none. Returns once the
    /// turn is durable.
    ///
    /// Errors: those of [`Session::record`]; `NotFound` once the user is erased, and while the session is being erased.
    pub async fn record(&self, session: Option<&str>, turn: NewTurn) -> Result<Recorded> {
        let work = recording::turn(&self.store, Place::of(self.scope, session)?, turn.handed_by(self.by));
        Ok(in_span_found("record", Some(self.id()), work, recording::ids).await?.1)
    }

    /// Records a message whose reply is still to come, in a session that is found or started as by [`record`](Self::record).
    ///
    /// Errors: those of [`record`](Self::record) and [`Session::record_message`].
    pub async fn record_message(&self, session: Option<&str>, turn: NewTurn) -> Result<Recorded> {
        let work = recording::message(&self.store, Place::of(self.scope, session)?, turn.handed_by(self.by));
        Ok(in_span_found("record_message", Some(self.id()), work, recording::ids).await?.1)
    }

    /// Ends the open sessions without a key, and starts a new one.
    pub async fn new_session(&self) -> Result<Session> {
        let scope = self.scope;
        let session = self.store.write_as(self.by, move |tx| tx.start_session(&scope)).await?;
        Ok(self.handle(session.info.id))
    }

    /// Returns the session with this id. Another user's session is not found, even by its id.
    pub async fn session_by_id(&self, id: SessionId) -> Result<Session> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.check_session(&scope, id)).await?;
        Ok(self.handle(id))
    }

    /// Returns a page of the user's sessions, the last added first: at most `limit` of them (1 to 1,000) after the session
    /// `after`, the last one of the previous page; `None` returns the first page. Reads only the page, through an index. The
    /// benchmark `pages` measures how long this takes.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased in the meantime.
    pub async fn sessions(&self, after: Option<SessionId>, limit: u32) -> Result<Vec<SessionInfo>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let rows = off_thread(move || store.snapshot()?.sessions(&scope, after, limit)).await?;
        Ok(rows.into_iter().map(|session| session.info).collect())
    }

    /// Returns the turn with this id, even if it was replaced. A turn whose original was deleted is not found, and
    /// neither is another user's.
    pub async fn turn(&self, id: TurnId) -> Result<Turn> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.turn_by_id(&scope, id)?.ok_or_else(no_turn)).await
    }

    /// Returns the turn that was recorded with this caller's id.
    pub async fn turn_by_caller_id(&self, caller_id: &str) -> Result<Turn> {
        let (store, scope, caller_id) = (Arc::clone(&self.store), self.scope, caller_id.to_owned());
        off_thread(move || store.snapshot()?.turn_by_caller_id(&scope, &caller_id)?.ok_or_else(no_turn)).await
    }

    /// Returns the summary of a turn, if it has one. With [`Originals::Delete`](crate::Originals::Delete), a summary by
    /// the configured summarizer is all that is left of its turn, besides the words that anchors and memories quote.
    pub async fn summary(&self, turn: TurnId) -> Result<Option<Summary>> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.summary_of(&scope, turn)).await
    }

    /// Returns the summary of the turn that was recorded with this caller's id, if it has one.
    pub async fn summary_by_caller_id(&self, caller_id: &str) -> Result<Option<Summary>> {
        let (store, scope, caller_id) = (Arc::clone(&self.store), self.scope, caller_id.to_owned());
        off_thread(move || {
            let snapshot = store.snapshot()?;
            match snapshot.unit_by_caller_id(&scope, &caller_id)? {
                Some(unit) => snapshot.summary_of(&scope, unit.turn_id),
                None => Ok(None),
            }
        })
        .await
    }

    /// Returns the handle of the user's memories: what is known in addition to what was said. Its methods save, list,
    /// edit, supersede, forget and erase memories, among other things.
    pub fn memories(&self) -> Memories {
        Memories::new(Arc::clone(&self.store), self.scope)
    }

    /// Returns the handle of a folder that shows the user's memories as files. [`Vault::init`](crate::Vault::init)
    /// creates the folder. Feature `files`.
    #[cfg(feature = "files")]
    pub fn vault(&self, folder: impl Into<std::path::PathBuf>, options: crate::VaultOptions) -> crate::Vault {
        crate::Vault::new(Arc::clone(&self.store), self.scope, folder.into(), options)
    }

    /// Searches everything that was ever said in the user's sessions, in any tier, and the user's memories and anchors,
    /// by meaning and by words. Any string up to [`max_side_bytes`](crate::Config::max_side_bytes) is a valid query. A
    /// recall does not affect the ranking of later ones.
    ///
    /// Errors: `InvalidInput` for a longer query, and for options outside their limits; `TimedOut`.
    pub async fn recall(&self, query: &str, options: RecallOptions) -> Result<Recall> {
        in_span("recall", (self.id(), None), self.find(query, options)).await
    }

    async fn find(&self, query: &str, options: RecallOptions) -> Result<Recall> {
        let of = options.recall_of();
        let message = Message::new(
            self.store.config(),
            query.to_owned(),
            options.now,
            options.profile,
            options.filter,
        )?;
        let message = message.recalling(of)?;
        let message = self.embedded(message).await;
        answering::recall(&self.store, self.scope, message, options.k).await
    }

    /// Returns the context for LLM#2 for the first message of a session that has not begun: who the user is, and what
    /// is known and recalled. Starts no session. In a session that has begun, use [`Session::context`].
    pub async fn context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        in_span("context", (self.id(), None), self.build_context(message, options)).await
    }

    async fn build_context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        let mut message = Message::of_context(self.store.config(), message, &options)?;
        answering::plan(&self.store, (self.scope, None), &mut message, &options).await;
        let message = self.embedded(message).await;
        let (context, _) = answering::context(&self.store, self.scope, None, message, options).await?;
        Ok(context)
    }

    /// Returns the receipt of a recall or context: what it considered, how it ranked, and what happened to each
    /// candidate. Only the newest receipts are kept, as many as [`receipts`](crate::Config::receipts) says.
    pub async fn receipt(&self, id: ReceiptId) -> Result<Receipt> {
        let read = || {
            let (store, scope) = (Arc::clone(&self.store), self.scope);
            off_thread(move || store.snapshot()?.receipt(&scope, id))
        };
        if let Some(receipt) = read().await? {
            return Ok(receipt);
        }
        // Receipts are written after the answer, so this one may still be in the queue.
        self.store.flush().await?;
        let gone = || Error::not_found("this user has no such receipt; only the newest are kept");
        read().await?.ok_or_else(gone)
    }

    /// Returns the receipt with the current titles and beginnings of its items. [`explain`](ReceiptWithTexts::explain)
    /// describes it in words.
    pub async fn receipt_with_texts(&self, id: ReceiptId) -> Result<ReceiptWithTexts> {
        let receipt = self.receipt(id).await?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.with_texts(&scope, receipt)).await
    }

    /// Returns the newest receipts, at most `limit` of them, newest first and without their items.
    pub async fn receipts(&self, limit: u32) -> Result<Vec<Receipt>> {
        self.store.flush().await?; // Receipts are written after the answer.
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.newest_receipts(&scope, limit)).await
    }

    /// Returns a page of the user's cold turns, both verbatim and archived ones, ordered by when they were said, newest
    /// first: at most `limit` of them (1 to 1,000) after the turn `after`, the last one seen; `None` starts at the
    /// newest. Damaged turns are left out; [`doctor`](crate::Thermocline::doctor) reports where they are.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased in the meantime.
    pub async fn cold_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.cold_turns(&scope, after, limit)).await
    }

    /// Returns a page of the user's summaries, from all sessions, ordered by when their turns were said, newest first.
    /// The parameters are those of [`cold_turns`](Self::cold_turns).
    pub async fn summaries(&self, after: Option<SummaryId>, limit: u32) -> Result<Vec<Summary>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.summaries_by_time(&scope, after, limit)).await
    }

    /// Returns a page of the anchors, which say who the user is and who speaks in the user's sessions, including
    /// superseded and retracted ones. They are ordered by subject, attribute and value: at most `limit` of them (1 to
    /// 1,000) after the anchor `after`, the last one seen; `None` starts at the first.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased in the meantime.
    pub async fn anchors(&self, after: Option<AnchorId>, limit: u32) -> Result<Vec<Anchor>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.anchors(&scope, after, limit)).await
    }

    /// Returns the anchor with this id, with its evidence, whether it holds or not.
    pub async fn anchor(&self, id: AnchorId) -> Result<Anchor> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.anchor(&scope, id)?.ok_or_else(no_anchor)).await
    }

    /// Sets an anchor by hand. If the attribute can have only one value, the new value supersedes the current one. If the
    /// anchor was retracted, it counts again. The `subject` is `user`, `assistant`, or a name, whose case, width, accents
    /// and blanks do not matter.
    pub async fn set_anchor(&self, subject: &str, attribute: Attribute, value: &str) -> Result<AnchorId> {
        Ok(self.set_anchor_by(subject, attribute, value, BY_CALLER).await?.id)
    }

    /// Sets an anchor like [`set_anchor`](Self::set_anchor), and records `by` (1 to 200 bytes) as the one who set it:
    /// [`Evidence::made_by`](crate::Evidence::made_by). Nothing is added if `by` has set this value before and it holds.
    pub async fn set_anchor_by(
        &self,
        subject: &str,
        attribute: Attribute,
        value: &str,
        by: &str,
    ) -> Result<AnchorStated> {
        let (subject, value, by) = (checked_subject(subject)?, checked_value(value)?, checked_maker(by)?);
        let found = FoundAnchor::new(subject, attribute, value, "");
        let scope = self.scope;
        self.store.write_as(self.by, move |tx| tx.set_anchor(&scope, &found, &by)).await
    }

    /// Replaces the value of an anchor that holds. The old anchor stays in the file and no longer holds. If the attribute
    /// can have several values, the others stay. `by` says who does it, as in [`set_anchor_by`](Self::set_anchor_by). A
    /// repeated call changes nothing and returns the same id.
    ///
    /// Errors: `NotFound`; `Conflict` if the anchor no longer holds, unless an anchor with the new value does.
    pub async fn replace_anchor(&self, id: AnchorId, value: &str, by: &str) -> Result<AnchorId> {
        let (scope, value, by) = (self.scope, checked_value(value)?, checked_maker(by)?);
        self.store.write_as(self.by, move |tx| tx.replace_anchor(&scope, id, &value, &by)).await
    }

    /// Retracts an anchor: what was said so far no longer counts for it, and what it had superseded holds again. What
    /// is said after the retraction counts.
    pub async fn retract_anchor(&self, id: AnchorId) -> Result<()> {
        let scope = self.scope;
        self.store.write_as(self.by, move |tx| tx.retract_anchor(&scope, id)).await
    }

    /// Writes all of the user's memory as lines of JSON, as of this moment: sessions, turns in every tier, summaries,
    /// anchors with their evidence, moves, memories, uses, callers' ids. Jobs, receipts and the states of sessions are not
    /// exported, and [`import`](crate::Thermocline::import) recomputes the words that are searched. An export of the
    /// imported user has the same bytes.
    pub async fn export(&self, to: impl Write + Send + 'static) -> Result<Transferred> {
        self.store.take_over_inserted().await?; // Gives inserted turns the hashes that verify their texts.
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.export(&scope, to)).await
    }

    /// Calls [`Session::compress_again`] for every session of the user that the built-in summarizer compressed at least
    /// in part. Returns how many sessions are queued. If the call is interrupted, nothing is lost, and another call
    /// continues with the rest.
    ///
    /// Errors: `InvalidInput` without a configured summarizer.
    pub async fn compress_again(&self) -> Result<u64> {
        session::check_summarizer(self.store.config())?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let sessions = off_thread(move || store.snapshot()?.built_in_sessions(&scope)).await?;
        let mut queued = 0;
        for id in sessions {
            let session = Session::new(Arc::clone(&self.store), (self.scope, self.by), id);
            match session.compress_again().await {
                // The session is trusted more than who asks, or is being erased.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                restored => queued += u64::from(restored? > 0),
            }
        }
        Ok(queued)
    }

    /// Erases all data of the user: sessions, turns, archive, words, summaries, anchors, memories, jobs, and the user's
    /// name. The data is removed from the bytes of the file and its log, not only hidden; if another process keeps the log
    /// in use, a job does this later ([`Erased::is_pending`]). If the erase is interrupted, the next run of jobs finishes
    /// it.
    ///
    /// Erasing cannot reach earlier backups and exports, what other processes hold in memory until their next read, and
    /// copies that the disk or its file system keeps below the file. A replica fed from the write-ahead log, such as
    /// Litestream's, sees that the rows are deleted. It does not see that their remains between other rows are overwritten,
    /// because that is not in the log: rebuild the replica. A backend's own `users` row stays.
    pub async fn erase(&self) -> Result<Erased> {
        in_span("erase", (self.id(), None), self.erase_user()).await
    }

    async fn erase_user(&self) -> Result<Erased> {
        let (store, scope, by) = (Arc::clone(&self.store), self.scope, self.by);
        drive(move || async move {
            let erased = jobs::erase(&store, (scope, by), None).await;
            store.forget(&scope);
            erased
        })
        .await
    }

    /// Erases one turn from the bytes of the file and its log, in whatever tier: its row or its line in the archive
    /// (the frame is repacked), its summary, words, vectors and evidence. All of the user's receipts are erased too,
    /// because a query may repeat the turn.
    ///
    /// Turns that this turn had replaced are erased with it, and so are the turns that were set aside with them: for an
    /// edited message, everything that had followed it. Memories that jobs made from the turn are erased; memories that
    /// somebody saved stay, without their quotes of the turn and their earlier texts. The turn's neighbours stay as
    /// they are, and its number in its session is not assigned again unless an earlier turn is replaced.
    /// [`erase`](Self::erase) describes what erasing cannot reach.
    ///
    /// Errors: `NotFound`; `Corrupt` if the turn's frame is damaged, in which case the whole session can still be
    /// erased.
    pub async fn erase_turn(&self, turn: TurnId) -> Result<Erased> {
        let (store, scope, by) = (Arc::clone(&self.store), self.scope, self.by);
        let erasing = drive(move || async move {
            let erased = jobs::erase_turn(&store, (scope, by), turn).await;
            store.forget(&scope);
            erased
        });
        in_span("erase_turn", (self.id(), None), erasing).await
    }

    /// Returns the result of an earlier [`record`](Session::record) with the same caller's id as `turn`, in whatever session
    /// and tier the recorded turn is now. `None` if there was none, or if `turn` has no caller's id. Writes nothing.
    ///
    /// Errors: `Conflict` if the recorded turn has a different text.
    pub async fn find_recorded(&self, turn: &NewTurn) -> Result<Option<Recorded>> {
        let Some(caller_id) = turn.caller_id.clone() else { return Ok(None) };
        let said = turn.clone().heeding(self.store.config().remember_marker.as_deref()).said;
        let hash = measure::content_hash(&said.user_message, &said.ai_response);
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.recorded(&scope, &caller_id, hash)).await
    }

    /// Adds the vectors of the configured embedders to a message that belongs to no session.
    async fn embedded(&self, mut message: Message) -> Arc<Message> {
        let config = self.store.config();
        if !config.embedders.is_empty() {
            embedders::ask(config, self.store.cooldowns(), &mut message, None).await;
        }
        Arc::new(message)
    }

    fn handle(&self, id: SessionId) -> Session {
        // Token counts will be needed soon, so the tokenizer's tables are loaded now.
        self.store.config().tokenizer.preload();
        Session::new(Arc::clone(&self.store), (self.scope, self.by), id)
    }
}

fn no_turn() -> Error {
    Error::not_found("this user has no such turn")
}

impl Anchor {
    /// Checks a subject and a value as [`User::set_anchor`] would, for callers that must know beforehand.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if setting the anchor would refuse them.
    pub fn check(subject: &str, value: &str) -> Result<()> {
        checked_subject(subject)?;
        checked_value(value).map(drop)
    }

    /// Returns whether the anchor is about the subject with this name. Case, width, accents and blanks do not matter, as
    /// in [`User::set_anchor`].
    pub fn is_about(&self, subject: &str) -> bool {
        self.subject == folded_name(subject)
    }

    /// Returns whether this text is the anchor's value. Case, width, blanks and surrounding punctuation do not matter, as
    /// in [`User::set_anchor`].
    pub fn has_value(&self, value: &str) -> bool {
        value_key(&self.value) == value_key(value)
    }
}

fn checked_subject(subject: &str) -> Result<String> {
    let subject = folded_name(subject);
    check_name("anchor's subject", Some(&subject))?;
    Ok(subject)
}

fn checked_value(value: &str) -> Result<String> {
    let value = value.trim();
    check_name("anchor's value", Some(value))?;
    Ok(value.to_owned())
}

fn checked_maker(by: &str) -> Result<String> {
    if by.trim().is_empty() {
        return Err(Error::invalid("the name of who sets the anchor is empty"));
    }
    check_text("name of who sets the anchor", by, MAX_MAKER_BYTES)?;
    Ok(by.to_owned())
}
