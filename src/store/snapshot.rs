//! Snapshots: a read transaction, and the reads that code outside the store makes in one.
//!
//! Code that holds a snapshot must wait for nothing but the file, because a snapshot keeps the log from being emptied.

use std::{cell::Cell, sync::Arc};

use crate::{
    config::Config,
    embed::{EmbeddingSpace, pieces::EmbedPiece},
    error::{Error, Result},
    index::facts::UnitFacts,
    model::{
        anchor::Anchor,
        ids::{AnchorId, ReceiptId, SessionId, SnapshotId, TurnId},
        job::JobKinds,
        place::{Owner, Place, Seq, SessionNo},
        receipt::{Receipt, ReceiptItem},
        stored_time::StoredTime,
        summary::Summary,
        turn::{Recorded, ReplacedTurn, Turn},
    },
    store::{
        acts::{
            derive::{self, Begun, Rederived},
            erase_turn::{self, Repacked},
            index::{self, BegunBatch},
            mend::{self, MendPlan},
            record, reload,
            restore::{self, Unpacked},
        },
        file::{db_file::DbFile, readers::ReadTransaction, sqlite::Sqlite, watch::Mark},
        live::Live,
        rows::{
            all_users, anchor_reads, aside, doomed_sessions,
            embedding::{self, EmbeddingStatus},
            jobs::{self, FoundJob},
            originals,
            postings::{self, PostingsSummary},
            receipts, session_words,
            sessions::{self, SessionRow},
            summaries,
            turns::{self, ReadTurns},
            unit_blocks,
            unit_texts::{self, UnitWithWords},
            units::{self, Extent, KnownUnit, NamedUnit},
            users,
            vectors::{self, Space, VectorBlock},
        },
        scope::{Scope, UserKey},
        sql::Sql,
    },
    text::{
        measure::ContentHash,
        words::{FieldCounts, Word},
    },
    tier::hot::HotTier,
};

/// A read transaction, which sees one moment of the file.
pub(crate) struct Snapshot<'s> {
    of: SnapshotSource<'s>,
    sql: Sqlite<'s, ReadTransaction>,
    /// The mark that was taken before the transaction began. `None` if none was taken.
    mark: Option<Mark>,
    /// Whether [`Self::together`] is running, which checks the file once for several reads.
    is_together: Cell<bool>,
}

/// The parts of a store that a snapshot needs.
#[derive(Clone, Copy)]
pub(super) struct SnapshotSource<'s> {
    pub(super) config: &'s Config,
    pub(super) file: &'s DbFile,
    pub(super) live: &'s Live,
    pub(super) hearer: &'s dyn Hearer,
}

/// The owner of the connections, which is notified when a read fails.
pub(super) trait Hearer {
    /// Closes all connections if the file is lost.
    fn let_go_if_lost(&self);
}

impl<'s> Snapshot<'s> {
    pub(super) fn new(of: SnapshotSource<'s>, reading: ReadTransaction) -> Self {
        Self {
            of,
            sql: Sqlite::held_by(reading, &*of.config.clock),
            mark: None,
            is_together: Cell::new(false),
        }
    }

    /// Attaches a mark that was taken before this snapshot.
    pub(super) fn marked(self, mark: Mark) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// Runs a read. All reads of the snapshot go through this method.
    ///
    /// Reports a failure to the connection pool. Returns an error if the file at this path is no longer ours: once another
    /// file is there, even a snapshot cannot be trusted, because that file's log may have replaced ours.
    pub(super) fn ask<T>(&self, ask: impl FnOnce(&dyn Sql) -> Result<T>) -> Result<T> {
        let answer = ask(&self.sql).inspect_err(|error: &Error| self.sql.held().heard(error));
        if self.is_together.get() { answer } else { self.checked(answer) }
    }

    /// Runs several reads, and checks only once, after the last of them, that the file is still ours. What was read must
    /// leave `ask` only in its return value.
    pub(crate) fn together<T>(&self, ask: impl FnOnce() -> Result<T>) -> Result<T> {
        self.is_together.set(true);
        let answer = ask();
        self.is_together.set(false);
        self.checked(answer)
    }

    fn checked<T>(&self, answer: Result<T>) -> Result<T> {
        self.of.file.check_itself().and(answer).inspect_err(|_| self.of.hearer.let_go_if_lost())
    }

    /// Runs statements of a test.
    #[cfg(test)]
    pub(crate) fn look<T>(&self, look: impl FnOnce(&dyn Sql) -> Result<T>) -> Result<T> {
        self.ask(look)
    }

    // Users and sessions.

    /// Returns the user. `None` if the file does not have this user.
    pub(crate) fn user(&self, key: &UserKey) -> Result<Option<Scope>> {
        self.ask(|sql| users::find(sql, key))
    }

    /// Returns the user's revision, which every write to the user's rows raises, except receipts and use counts.
    pub(crate) fn revision(&self, scope: &Scope) -> Result<u64> {
        self.ask(|sql| users::revision(sql, scope))
    }

    /// Fails with `NotFound` if there is no session with this id. Does not read its row.
    pub(crate) fn check_session(&self, scope: &Scope, id: SessionId) -> Result<()> {
        self.ask(|sql| doomed_sessions::check_exists(sql, scope, id))
    }

    /// Returns the session with this id, or a `NotFound` error.
    pub(crate) fn session(&self, scope: &Scope, id: SessionId) -> Result<SessionRow> {
        self.ask(|sql| sessions::existing(sql, scope, id))
    }

    /// Returns the session with this id. `None` if it does not exist.
    pub(crate) fn find_session(&self, scope: &Scope, id: SessionId) -> Result<Option<SessionRow>> {
        self.ask(|sql| sessions::by_id(sql, scope, id))
    }

    /// Returns the session in which a conversation continues: the session itself, or the last of its successors.
    pub(crate) fn latest_session(&self, scope: &Scope, id: SessionId) -> Result<SessionRow> {
        self.ask(|sql| sessions::latest(sql, scope, sessions::existing(sql, scope, id)?))
    }

    /// Returns the latest part of the session with this caller's key.
    pub(crate) fn session_named(&self, scope: &Scope, key: &str) -> Result<Option<SessionRow>> {
        self.ask(|sql| sessions::by_caller_id(sql, scope, key))
    }

    /// Returns the ids of all parts of the session with this caller's key, newest first. Does not read their rows.
    pub(crate) fn session_parts(&self, scope: &Scope, key: &str) -> Result<Vec<SessionId>> {
        self.ask(|sql| sessions::parts(sql, scope, key))
    }

    /// Returns the open sessions without a caller's key, the last added first.
    pub(crate) fn open_unnamed_sessions(&self, scope: &Scope) -> Result<Vec<SessionRow>> {
        self.ask(|sql| sessions::open_unnamed(sql, scope))
    }

    /// Returns the user's sessions that are filed under a project.
    pub(crate) fn sessions_of_project(&self, scope: &Scope, project: &str) -> Result<Vec<SessionNo>> {
        self.ask(|sql| sessions::of_project(sql, scope, project))
    }

    /// Returns at most `limit` open sessions, numbered after `after`, that were last active at `cutoff` or earlier, with
    /// their users.
    pub(crate) fn silent_sessions(
        &self,
        cutoff: StoredTime,
        after: SessionNo,
        limit: u32,
    ) -> Result<Vec<(SessionNo, Scope, SessionId)>> {
        self.ask(|sql| sessions::silent(sql, cutoff, after, limit))
    }

    // Turns, in any tier.

    /// Returns the session's hot tier: the cached one if its version is the session's, otherwise one read from the rows.
    pub(crate) fn hot(&self, scope: &Scope, session: &SessionRow) -> Result<Arc<HotTier>> {
        let (id, version) = (session.info.id, session.version());
        let hot = match self.of.live.known(id) {
            Some((hot, known)) if known == version && self.mark.is_none() => return Ok(hot),
            Some((hot, known)) if known == version => hot,
            _ => Arc::new(self.ask(|sql| reload::hot(sql, scope, id, self.of.config))?),
        };
        self.of.live.put(id, Arc::clone(&hot), version, self.mark);
        Ok(hot)
    }

    /// Returns the newest turns of a session that are not cold and come before turn `before`, newest first, until `take`
    /// returns false. Token counts are those of the configured tokenizer.
    pub(crate) fn newest_before(
        &self,
        scope: &Scope,
        session: &SessionRow,
        before: u32,
        take: impl FnMut(&Turn) -> bool,
    ) -> Result<ReadTurns> {
        self.ask(|sql| turns::newest_before(sql, scope, session.session_no, before, take))
            .map(|read| self.recounted_all(read))
    }

    /// Returns the warm turns of a session after turn `after`, oldest first, until `is_enough` returns true. Token counts
    /// are those of the configured tokenizer.
    pub(crate) fn warm_after(
        &self,
        scope: &Scope,
        session: &SessionRow,
        after: u32,
        is_enough: impl FnMut(&[Turn]) -> bool,
    ) -> Result<ReadTurns> {
        self.ask(|sql| turns::warm_after(sql, scope, session.session_no, after, is_enough))
            .map(|read| self.recounted_all(read))
    }

    /// Calls `each` for the turns of a session before turn `before`: with the turn's number, its number of words, and how
    /// often it contains each word of the query.
    pub(crate) fn words_of_session(
        &self,
        scope: &Scope,
        session: &SessionRow,
        before: u32,
        query: &[Word],
        each: impl FnMut(u32, u32, &[u8]),
    ) -> Result<()> {
        self.ask(|sql| session_words::for_each(sql, scope, (session.session_no, before), query, each))
    }

    /// Returns a reader of single originals. It caches what it unpacks, because turns that are recalled together are often
    /// stored together.
    pub(crate) fn originals(&self, scope: &Scope) -> SnapshotOriginals<'_> {
        SnapshotOriginals {
            snapshot: self,
            scope: *scope,
            reader: originals::OriginalsReader::new(&self.sql, scope),
        }
    }

    /// Returns one turn by its id, even if it was replaced or waits for its reply.
    pub(crate) fn turn_by_id(&self, scope: &Scope, id: TurnId) -> Result<Option<Turn>> {
        let found = match self.ask(|sql| originals::by_id(sql, scope, id))? {
            None => self.ask(|sql| aside::by_id(sql, scope, id))?.map(|aside| aside.turn),
            found => found,
        };
        Ok(found.map(|turn| self.recounted(turn)))
    }

    /// Like `turn_by_id`, by the caller's id.
    pub(crate) fn turn_by_caller_id(&self, scope: &Scope, caller_id: &str) -> Result<Option<Turn>> {
        let found = match self.ask(|sql| originals::by_caller_id(sql, scope, caller_id))? {
            None => self.ask(|sql| aside::by_caller_id(sql, scope, caller_id))?.map(|aside| aside.turn),
            found => found,
        };
        Ok(found.map(|turn| self.recounted(turn)))
    }

    /// Returns the result of an earlier record with the same caller's id. Fails with `Conflict` if that record had a
    /// different text.
    pub(crate) fn recorded(
        &self,
        scope: &Scope,
        caller_id: &str,
        hash: ContentHash,
    ) -> Result<Option<Recorded>> {
        self.ask(|sql| record::find(sql, scope, caller_id, hash))
    }

    /// Returns the backend's state snapshot at a turn, in any tier. `None` if the turn has none or does not exist.
    pub(crate) fn state_at(
        &self,
        scope: &Scope,
        session: &SessionRow,
        number: u32,
    ) -> Result<Option<SnapshotId>> {
        self.ask(|sql| originals::snapshot(sql, scope, session.place(number)))
    }

    /// Returns the archive frame of a turn, repacked without the turn. `None` if the turn is not in the archive.
    pub(crate) fn repacked_without(&self, scope: &Scope, id: TurnId) -> Result<Option<Repacked>> {
        self.ask(|sql| erase_turn::repack(sql, scope, id))
    }

    /// Returns the incomplete turn of a session: the message that waits for its reply.
    pub(crate) fn incomplete(&self, scope: &Scope, session: SessionId) -> Result<Option<Turn>> {
        let found = self.ask(|sql| aside::incomplete(sql, scope, session))?;
        Ok(found.map(|aside| self.recounted(aside.turn)))
    }

    /// Returns the replaced turns that had this number in a session, oldest first.
    pub(crate) fn replaced_at(
        &self,
        scope: &Scope,
        session: SessionId,
        turn_number: u32,
    ) -> Result<Vec<ReplacedTurn>> {
        self.ask(|sql| aside::replaced_at(sql, scope, session, turn_number))
    }

    /// Reads and unpacks what the next slice of a session's restoration puts back.
    pub(crate) fn unpack(&self, scope: &Scope, session: SessionId) -> Result<Option<Unpacked>> {
        self.ask(|sql| restore::unpack(sql, scope, session))
    }

    // Summaries, anchors, receipts.

    /// Returns the summary of a turn.
    pub(crate) fn summary_of(&self, scope: &Scope, turn: TurnId) -> Result<Option<Summary>> {
        self.ask(|sql| summaries::of_turn(sql, scope, turn))
    }

    /// Returns the summary of the turn at this place.
    pub(crate) fn summary_at(&self, scope: &Scope, place: Place) -> Result<Option<Summary>> {
        self.ask(|sql| summaries::at(sql, scope, place))
    }

    /// Returns the user's sessions with a summary by the built-in summarizer, in the order in which the sessions were added.
    pub(crate) fn built_in_sessions(&self, scope: &Scope) -> Result<Vec<SessionId>> {
        self.ask(|sql| summaries::built_in_sessions(sql, scope))
    }

    /// Returns the anchors that are undamaged and have undamaged evidence, and the number of the others.
    pub(crate) fn sound_anchors(&self, scope: &Scope) -> Result<(Vec<Anchor>, usize)> {
        self.ask(|sql| anchor_reads::sound(sql, scope))
    }

    /// Returns the `seq` of each turn with a statement that the anchor holds.
    pub(crate) fn sources_of_anchor(&self, scope: &Scope, anchor: AnchorId) -> Result<Vec<u32>> {
        self.ask(|sql| anchor_reads::sources(sql, scope, anchor))
    }

    pub(crate) fn receipt(&self, scope: &Scope, id: ReceiptId) -> Result<Option<Receipt>> {
        self.ask(|sql| receipts::by_id(sql, scope, id))
    }

    /// Returns the units that are promoted in a session, because they were of use there, the most recently used first.
    pub(crate) fn promoted(&self, scope: &Scope, session: &SessionRow) -> Result<Vec<Seq>> {
        self.ask(|sql| receipts::promoted(sql, scope, session.session_no))
    }

    // Units and their index.

    /// Returns the user's newest unit, and up to which unit the index extends. All fields are 0 if the user is gone.
    pub(crate) fn extent(&self, scope: &Scope) -> Result<Extent> {
        self.ask(|sql| units::extent(sql, scope))
    }

    /// Returns what a unit stands for, with the caller's id.
    pub(crate) fn unit(&self, scope: &Scope, seq: Seq) -> Result<Option<NamedUnit>> {
        self.ask(|sql| turns::unit_by_seq(sql, scope, seq))
    }

    /// Returns a receipt item for a unit whose text was not read. `None` if the unit is not a turn.
    pub(crate) fn unread_line(&self, scope: &Scope, seq: Seq) -> Result<Option<ReceiptItem>> {
        self.ask(|sql| receipts::unread_line(sql, scope, seq))
    }

    pub(crate) fn unit_by_caller_id(&self, scope: &Scope, caller_id: &str) -> Result<Option<KnownUnit>> {
        self.ask(|sql| turns::unit_by_caller_id(sql, scope, caller_id))
    }

    /// Passes the units of a range (exclusive start, inclusive end) to `each`, in order, with their words from wherever they
    /// are stored.
    pub(crate) fn units(
        &self,
        scope: &Scope,
        range: (Seq, Seq),
        each: impl FnMut(UnitWithWords) -> Result<()>,
    ) -> Result<()> {
        self.ask(|sql| unit_texts::UnitReader::new(sql, scope).for_each(range, each))
    }

    /// Passes the facts of every indexed unit to `each`, in ascending order. Reads the facts of a damaged block from the
    /// rows. Returns the number of damaged blocks.
    pub(crate) fn indexed_facts(&self, scope: &Scope, each: impl FnMut(UnitFacts)) -> Result<usize> {
        self.ask(|sql| unit_blocks::for_each_facts(sql, scope, each))
    }

    /// Reads the postings of many words with one check that the file is still ours, because the check costs as much as
    /// reading a rare word.
    pub(crate) fn postings<T>(
        &self,
        scope: &Scope,
        read: impl FnOnce(&Postings<'_>) -> Result<T>,
    ) -> Result<T> {
        self.ask(|sql| read(&Postings { sql, scope }))
    }

    /// Begins a batch with the next whole blocks of units that are not in the index yet. `None` if there are none.
    pub(crate) fn begin_index_batch(&self, scope: &Scope) -> Result<Option<BegunBatch>> {
        self.ask(|sql| BegunBatch::begin(sql, scope))
    }

    /// Reads and inverts the next block of a batch. Returns `false` if none is left.
    pub(crate) fn read_index_block(&self, scope: &Scope, batch: &mut BegunBatch) -> Result<bool> {
        self.ask(|sql| batch.read_block(sql, scope))
    }

    /// Returns whether the user's index is being rebuilt: no unit counts as indexed, although postings exist.
    pub(crate) fn is_index_begun_anew(&self, scope: &Scope) -> Result<bool> {
        self.ask(|sql| index::is_begun_anew(sql, scope))
    }

    /// Finds the damaged rows of the user's index and vectors.
    pub(crate) fn index_damage(&self, scope: &Scope) -> Result<MendPlan> {
        self.ask(|sql| mend::damage(sql, scope))
    }

    /// Returns the first user for whom another program has inserted turns that are not taken over yet.
    pub(crate) fn user_with_inserted(&self) -> Result<Option<Scope>> {
        self.ask(all_users::with_inserted)
    }

    /// Returns whether any user has data derived by rules older than this build's.
    pub(crate) fn has_stale_rules(&self) -> Result<bool> {
        self.ask(derive::has_stale)
    }

    /// Returns the next units to derive anew, with the new results. `None` if there are none.
    pub(crate) fn next_rederived(&self, scope: &Scope, begun: Begun) -> Result<Option<Rederived>> {
        self.ask(|sql| derive::next(sql, scope, begun))
    }

    // Vectors.

    /// Returns the space with its number in the file. `None` if the file does not have it.
    pub(crate) fn space(&self, wanted: &EmbeddingSpace) -> Result<Option<Space>> {
        self.ask(|sql| vectors::space(sql, wanted))
    }

    /// Returns the unit up to which a user is embedded in a space. 0 if nothing is embedded.
    pub(crate) fn embedded_seq(&self, scope: &Scope, space: Space) -> Result<Seq> {
        self.ask(|sql| vectors::embedded_seq(sql, scope, space))
    }

    /// Returns the size in bytes of a user's vector blocks from block `first` on.
    pub(crate) fn vector_bytes(&self, scope: &Scope, space: Space, first: u32) -> Result<usize> {
        self.ask(|sql| vectors::bytes(sql, scope, space, first))
    }

    /// Passes a user's vector blocks from block `first` on to `each`. Returns how many cannot be read.
    pub(crate) fn vector_blocks(
        &self,
        scope: &Scope,
        space: Space,
        first: u32,
        each: impl FnMut(VectorBlock<'_>),
    ) -> Result<usize> {
        self.ask(|sql| vectors::for_each_block(sql, scope, space, first, each))
    }

    /// Returns the gaps in a space that were tried fewer than `max_tries` times.
    pub(crate) fn vector_gaps(&self, scope: &Scope, space: Space, max_tries: u32) -> Result<Vec<u32>> {
        self.ask(|sql| vectors::gaps(sql, scope, space, max_tries))
    }

    /// Returns how many gaps a user has in a space: units that the embedder refused, or that are to be embedded again.
    pub(crate) fn vector_gap_count(&self, scope: &Scope, space: Space) -> Result<u32> {
        self.ask(|sql| vectors::gap_count(sql, scope, space))
    }

    /// Returns how far each user who ever had a unit is embedded, for every space.
    pub(crate) fn embedding_status(&self) -> Result<Vec<EmbeddingStatus>> {
        self.ask(embedding::status)
    }

    // Jobs.

    /// Returns the next due job of these kinds.
    pub(crate) fn next_job(&self, kinds: &JobKinds) -> Result<Option<FoundJob>> {
        self.ask(|sql| jobs::next_due(sql, (sql.lease_clock()?, self.of.config.lease), kinds))
    }

    /// Returns whether jobs of these kinds wait for a provider's configuration to change.
    pub(crate) fn has_misconfigured(&self, kinds: &JobKinds) -> Result<bool> {
        self.ask(|sql| Ok(!jobs::waiting_for_configuration(sql, sql.lease_clock()?, kinds)?.is_empty()))
    }

    /// Returns how many jobs of these kinds are due now, and when the next of the others is due.
    pub(crate) fn due_jobs(&self, kinds: &JobKinds) -> Result<(u64, Option<StoredTime>)> {
        self.ask(|sql| jobs::due(sql, (sql.lease_clock()?, self.of.config.lease), kinds))
    }

    /// Returns the current time of the configured clock.
    pub(crate) fn now(&self) -> StoredTime {
        StoredTime::clamped(self.of.config.clock.now())
    }

    pub(super) fn recounted(&self, turn: Turn) -> Turn {
        reload::recounted(turn, self.of.config)
    }

    fn recounted_all(&self, read: ReadTurns) -> ReadTurns {
        ReadTurns { turns: read.turns.into_iter().map(|turn| self.recounted(turn)).collect(), ..read }
    }
}

/// Reads a user's postings from one snapshot.
pub(crate) struct Postings<'p> {
    sql: &'p dyn Sql,
    scope: &'p Scope,
}

impl Postings<'_> {
    /// Passes every readable posting of a word to `each`, in ascending order.
    pub(crate) fn for_each(&self, word: Word, each: impl FnMut(u32, FieldCounts)) -> Result<PostingsSummary> {
        postings::for_each(self.sql, self.scope, word, each)
    }
}

/// Reads originals from one snapshot.
pub(crate) struct SnapshotOriginals<'r> {
    snapshot: &'r Snapshot<'r>,
    scope: Scope,
    reader: originals::OriginalsReader<'r>,
}

impl SnapshotOriginals<'_> {
    /// Returns one turn by its place in its session. Its token count is that of the configured tokenizer.
    pub(crate) fn turn_at(&mut self, place: Place) -> Result<Option<Turn>> {
        let Self { snapshot, reader, .. } = self;
        let turn = snapshot.ask(|_| reader.by_number(place))?;
        Ok(turn.map(|turn| snapshot.recounted(turn)))
    }

    /// Returns the pieces that are embedded for a unit: those of its turn, of the summary of that turn, or of its memory.
    pub(crate) fn pieces_of(&mut self, unit: (Seq, Owner)) -> Result<Vec<EmbedPiece>> {
        let Self { snapshot, scope, reader } = self;
        snapshot.ask(|sql| unit_texts::pieces_of(sql, scope, reader, unit))
    }
}
