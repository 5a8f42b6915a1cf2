//! One user: the scope of everything that is read and written.

use std::{io::Write, sync::Arc};

use crate::{
    error::{Error, Result},
    event::in_span,
    handles::{Memories, Session, answering, drive, off_thread, open::Open, session},
    jobs,
    model::{
        anchor::{Anchor, Attribute, FoundAnchor},
        ids::{AnchorId, ReceiptId, SessionId, SummaryId, TurnId, UserId},
        instant,
        page::checked_limit,
        receipt::Receipt,
        receipt_texts::ReceiptWithTexts,
        session::SessionInfo,
        summary::Summary,
        turn::{NewTurn, Recorded, Turn},
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

/// Who sets an anchor by hand, if nobody says so.
const BY_CALLER: &str = "caller";

/// One user's memory. Nothing reached through it belongs to anybody else.
#[derive(Clone, Debug)]
pub struct User {
    store: Arc<Open>,
    scope: Scope,
}

impl User {
    pub(super) fn new(store: Arc<Open>, scope: Scope) -> Self {
        Self { store, scope }
    }

    /// The user's id.
    pub fn id(&self) -> UserId {
        self.scope.user_id
    }

    /// A number that rises whenever something of the user is written: equal numbers mean that whatever is read here would
    /// be the same, but for receipts and for what is counted behind an answer (how often something was of use). Nothing
    /// that others write moves it. Whoever gets the name after an erase begins anew, under another [`id`](Self::id).
    ///
    /// Reads one row. Errors: `NotFound` once the user is erased.
    pub async fn revision(&self) -> Result<u64> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.revision(&scope)).await
    }

    /// The user's name, and how much there is of them: what [`Thermocline::users`](crate::Thermocline::users) lists.
    pub async fn info(&self) -> Result<UserInfo> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let found = off_thread(move || store.snapshot()?.user_info(&scope)).await?;
        found.ok_or_else(|| Error::not_found("there is no such user any more"))
    }

    /// Resumes the newest open unnamed session, or starts one. A session that was silent for too long is ended
    /// by this and not resumed.
    pub async fn session(&self) -> Result<Session> {
        // Resuming writes nothing, so it need not wait for the writer.
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let resumed = off_thread(move || {
            let open = store.snapshot()?.open_unnamed_sessions(&scope)?;
            let now = instant::clamped(store.config().clock.now());
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
        let session = self.store.write(move |tx| tx.resume_session(&scope)).await?;
        Ok(self.handle(session.info.id))
    }

    /// The session with the caller's own key (1 to 256 bytes), started if there is none. One that was silent for too
    /// long is ended by this. One that has ended, by silence or by call, is given back as it is: the next record goes on in
    /// its successor, under the same key.
    pub async fn session_named(&self, key: &str) -> Result<Session> {
        check_name("session's key", Some(key))?;
        // Most often it is there and open, and nothing is written.
        let (store, scope, wanted) = (Arc::clone(&self.store), self.scope, key.to_owned());
        let found = off_thread(move || {
            let found = store.snapshot()?.session_named(&scope, &wanted)?;
            let now = instant::clamped(store.config().clock.now());
            Ok(found.filter(|session| !lifecycle::is_silent(&session.info, store.config(), now)))
        })
        .await?;
        if let Some(session) = found {
            return Ok(self.handle(session.info.id));
        }
        let (scope, key) = (self.scope, key.to_owned());
        let session = self.store.write(move |tx| tx.open_session(&scope, &key)).await?;
        Ok(self.handle(session.info.id))
    }

    /// The session with the caller's own key, if there is one: a look that starts nothing.
    pub async fn find_session(&self, key: &str) -> Result<Option<Session>> {
        let (store, scope, key) = (Arc::clone(&self.store), self.scope, key.to_owned());
        let found = off_thread(move || store.snapshot()?.session_named(&scope, &key)).await?;
        Ok(found.map(|session| self.handle(session.info.id)))
    }

    /// Ends the open unnamed sessions and starts another one.
    pub async fn new_session(&self) -> Result<Session> {
        let scope = self.scope;
        let session = self.store.write(move |tx| tx.start_session(&scope)).await?;
        Ok(self.handle(session.info.id))
    }

    /// The session with this id. Another user's session is not found, even with its id.
    pub async fn session_by_id(&self, id: SessionId) -> Result<Session> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let found = off_thread(move || store.snapshot()?.session(&scope, id)).await?;
        Ok(self.handle(found.info.id))
    }

    /// A page of the user's sessions, newest first: at most `limit` of them (1 to 1,000) that started before `after`, the
    /// last one seen; `None`: from the newest on. Over an index: benchmark `pages`.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased meanwhile.
    pub async fn sessions(&self, after: Option<SessionId>, limit: u32) -> Result<Vec<SessionInfo>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let rows = off_thread(move || store.snapshot()?.sessions(&scope, after, limit)).await?;
        Ok(rows.into_iter().map(|session| session.info).collect())
    }

    /// The turn with this id. Another user's turn is not found, even with its id.
    pub async fn turn(&self, id: TurnId) -> Result<Turn> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.turn_by_id(&scope, id)?.ok_or_else(no_turn)).await
    }

    /// The turn that was recorded with the caller's own id.
    pub async fn turn_by_caller_id(&self, caller_id: &str) -> Result<Turn> {
        let (store, scope, caller_id) = (Arc::clone(&self.store), self.scope, caller_id.to_owned());
        off_thread(move || store.snapshot()?.turn_by_caller_id(&scope, &caller_id)?.ok_or_else(no_turn)).await
    }

    /// The summary that stands for a turn, if one does. With [`Originals::Delete`](crate::Originals::Delete) it is
    /// all that is left of it.
    pub async fn summary(&self, turn: TurnId) -> Result<Option<Summary>> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.summary_of(&scope, turn)).await
    }

    /// The summary that stands for the turn that was recorded with the caller's own id, if one does.
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

    /// What the user knows beside what was said: saved, edited, superseded, forgotten and erased one by one.
    pub fn memories(&self) -> Memories {
        Memories::new(Arc::clone(&self.store), self.scope)
    }

    /// The user's memories as files below a folder, which [`Vault::init`](crate::Vault::init) makes. Feature `files`.
    #[cfg(feature = "files")]
    pub fn vault(&self, folder: impl Into<std::path::PathBuf>, options: crate::VaultOptions) -> crate::Vault {
        crate::Vault::new(Arc::clone(&self.store), self.scope, folder.into(), options)
    }

    /// Searches everything the user ever said, in whatever session and tier, by meaning and by words. Any string is a
    /// query. Changes nothing that ranks.
    ///
    /// Errors: `InvalidInput` for options outside their limits, `TimedOut`.
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

    /// What LLM#2 is to be handed with the first message of a session that has not begun: who the user is, and what is
    /// recalled. Starts no session. [`Session::context`] is for all others.
    pub async fn context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        in_span("context", (self.id(), None), self.build_context(message, options)).await
    }

    async fn build_context(&self, message: &str, options: ContextOptions) -> Result<Context> {
        let (config, filter) = (self.store.config(), options.filter.clone());
        let message = Message::new(config, message.to_owned(), options.now, options.profile, filter)?;
        let message = message.recalling(options.recall_of())?;
        let mut message = message.searching_also(config, &options.queries)?;
        answering::plan(&self.store, (self.scope, None), &mut message, &options).await;
        let message = self.embedded(message).await;
        let (context, _) = answering::context(&self.store, self.scope, None, message, options).await?;
        Ok(context)
    }

    /// The receipt of a recall or context: what it considered, how it ranked, and what became of each. The newest
    /// [`receipts`](crate::Config::receipts) are kept.
    pub async fn receipt(&self, id: ReceiptId) -> Result<Receipt> {
        let read = || {
            let (store, scope) = (Arc::clone(&self.store), self.scope);
            off_thread(move || store.snapshot()?.receipt(&scope, id))
        };
        if let Some(receipt) = read().await? {
            return Ok(receipt);
        }
        // Receipts are written behind the answer.
        self.store.flush().await?;
        let gone = || Error::not_found("this user has no such receipt; only the newest are kept");
        read().await?.ok_or_else(gone)
    }

    /// The same with what its items are called and how they begin, as they are now:
    /// [`explain`](ReceiptWithTexts::explain) tells it in words.
    pub async fn receipt_with_texts(&self, id: ReceiptId) -> Result<ReceiptWithTexts> {
        let receipt = self.receipt(id).await?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.with_texts(&scope, receipt)).await
    }

    /// The newest receipts, newest first, without their items.
    pub async fn receipts(&self, limit: u32) -> Result<Vec<Receipt>> {
        self.store.flush().await?; // Receipts are written behind the answer.
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.newest_receipts(&scope, limit)).await
    }

    /// A page of the user's cold turns, by when they were said, newest first: those that are kept verbatim, and those that
    /// the archive has. At most `limit` of them (1 to 1,000) behind `after`, the last one seen; `None`: from the newest on.
    /// What is damaged is left out; [`doctor`](crate::Thermocline::doctor) says where.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased meanwhile.
    pub async fn cold_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.cold_turns(&scope, after, limit)).await
    }

    /// A page of the user's summaries, by when their turns were said, newest first, of all sessions. As
    /// [`cold_turns`](Self::cold_turns).
    pub async fn summaries(&self, after: Option<SummaryId>, limit: u32) -> Result<Vec<Summary>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.summaries_by_time(&scope, after, limit)).await
    }

    /// Who the user is, and those who speak in the user's sessions: a page of the anchors, with what held and what was
    /// retracted, by subject, attribute and value. At most `limit` of them (1 to 1,000) behind `after`, the last one seen;
    /// `None`: from the first on.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased meanwhile.
    pub async fn anchors(&self, after: Option<AnchorId>, limit: u32) -> Result<Vec<Anchor>> {
        let limit = checked_limit(limit)?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.anchors(&scope, after, limit)).await
    }

    /// The anchor with this id, with its evidence, whether it holds or not.
    pub async fn anchor(&self, id: AnchorId) -> Result<Anchor> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.anchor(&scope, id)?.ok_or_else(no_anchor)).await
    }

    /// Sets an anchor by hand. Under an attribute with one value it supersedes what held; what was retracted counts
    /// again. `subject`: `user`, `assistant`, or a name; it is folded.
    pub async fn set_anchor(&self, subject: &str, attribute: Attribute, value: &str) -> Result<AnchorId> {
        self.set_anchor_by(subject, attribute, value, BY_CALLER).await
    }

    /// The same, and says who does it (1 to 200 bytes): [`Evidence::made_by`](crate::Evidence::made_by).
    pub async fn set_anchor_by(
        &self,
        subject: &str,
        attribute: Attribute,
        value: &str,
        by: &str,
    ) -> Result<AnchorId> {
        let (subject, value, by) = (folded_name(subject), checked_value(value)?, checked_maker(by)?);
        check_name("anchor's subject", Some(&subject))?;
        let found = FoundAnchor::new(subject, attribute, value, "");
        let scope = self.scope;
        self.store.write(move |tx| tx.set_anchor(&scope, &found, &by)).await
    }

    /// Puts another value by hand in the place of an anchor that holds: the old one keeps its dates and holds no longer, also
    /// under an attribute with many values; the others there stay. `by` says who does it, as in
    /// [`set_anchor_by`](Self::set_anchor_by). Again it changes nothing, and gives the same id.
    ///
    /// Errors: `NotFound`; `Conflict` if the anchor does not hold any more, and the value does not either.
    pub async fn replace_anchor(&self, id: AnchorId, value: &str, by: &str) -> Result<AnchorId> {
        let (scope, value, by) = (self.scope, checked_value(value)?, checked_maker(by)?);
        self.store.write(move |tx| tx.replace_anchor(&scope, id, &value, &by)).await
    }

    /// Takes an anchor back: nothing that was said up to now counts for it, and what it had superseded holds again. What
    /// is said later counts.
    pub async fn retract_anchor(&self, id: AnchorId) -> Result<()> {
        let scope = self.scope;
        self.store.write(move |tx| tx.retract_anchor(&scope, id)).await
    }

    /// Writes all of the user's memory as lines of JSON, as of this moment: sessions, turns wherever they are, summaries,
    /// anchors with their evidence, moves, callers' ids. Words are worked out again by
    /// [`import`](crate::Thermocline::import); jobs stay behind. What was imported is exported to the same bytes.
    pub async fn export(&self, to: impl Write + Send + 'static) -> Result<Transferred> {
        self.store.take_over_inserted().await?; // What proves their texts is written, too.
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.export(&scope, to)).await
    }

    /// [`Session::compress_again`] for every session of the user in which the built-in summarizer did a part. Returns how
    /// many sessions are queued. Cut short, it loses nothing, and goes on with the rest when it is called again.
    ///
    /// Errors: `InvalidInput` without a configured summarizer.
    pub async fn compress_again(&self) -> Result<u64> {
        session::check_summarizer(self.store.config())?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let sessions = off_thread(move || store.snapshot()?.built_in_sessions(&scope)).await?;
        let mut queued = 0;
        for id in sessions {
            queued +=
                u64::from(Session::new(Arc::clone(&self.store), self.scope, id).compress_again().await? > 0);
        }
        Ok(queued)
    }

    /// Erases all of the user: sessions, turns, archive, words, summaries, anchors, memories, jobs, the user's name; out of the
    /// bytes of the file and its log, not only out of sight. Cut short, it is finished by whoever runs jobs next.
    ///
    /// What it cannot reach: backups and exports made before, what other processes hold in memory until their next look,
    /// and copies that the disk or its file system keeps below the file. A replica that is fed from the write-ahead log
    /// (Litestream and its like) sees the rows go, but never the overwriting of what they left between other rows, which
    /// is no part of the log: make it anew. A backend's own `users` row stays.
    pub async fn erase(&self) -> Result<Erased> {
        in_span("erase", (self.id(), None), self.erase_user()).await
    }

    async fn erase_user(&self) -> Result<Erased> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        drive(move || async move {
            let erased = jobs::erase(&store, scope, None).await;
            store.forget(&scope);
            erased
        })
        .await
    }

    /// Erases one turn out of the bytes of the file and its log, wherever it is: its row or its line in the archive (the
    /// frame is packed anew), its summary, words, vectors and evidence, and all of the user's receipts, for a query may
    /// repeat it. With it goes what it had replaced, and what was set aside with that: of an edited message all that had
    /// stood behind it; and the memories that jobs made of it: those that somebody saved stay, without its words. Its neighbours stay as they are, and its number in its session is not given again while turns stand
    /// behind it. What erasing cannot reach is said at [`erase`](Self::erase).
    ///
    /// Errors: `NotFound`; `Corrupt` if its frame is damaged: then the whole session can be erased.
    pub async fn erase_turn(&self, turn: TurnId) -> Result<Erased> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let erasing = drive(move || async move {
            let erased = jobs::erase_turn(&store, scope, turn).await;
            store.forget(&scope);
            erased
        });
        in_span("erase_turn", (self.id(), None), erasing).await
    }

    /// The result of an earlier [`record`](Session::record) of this turn, by its caller's id, in whatever session
    /// and wherever the turn is now: a look that writes nothing. The same id with other text is a `Conflict`.
    pub async fn find_recorded(&self, turn: &NewTurn) -> Result<Option<Recorded>> {
        let Some(caller_id) = turn.caller_id.clone() else { return Ok(None) };
        let hash = measure::content_hash(&turn.said.user_message, &turn.said.ai_response);
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || store.snapshot()?.recorded(&scope, &caller_id, hash)).await
    }

    /// A message that is asked outside of any session, with what the configured embedders say of it.
    async fn embedded(&self, mut message: Message) -> Arc<Message> {
        let config = self.store.config();
        if !config.embedders.is_empty() {
            embedders::ask(config, self.store.cooldowns(), &mut message, None).await;
        }
        Arc::new(message)
    }

    fn handle(&self, id: SessionId) -> Session {
        // Who talks counts tokens soon.
        self.store.config().tokenizer.preload();
        Session::new(Arc::clone(&self.store), self.scope, id)
    }
}

fn no_turn() -> Error {
    Error::not_found("this user has no such turn")
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
