//! Imports a user: writes everything in one transaction, or nothing.
//!
//! The lines are already checked. Words, the archive, anchors and the hashes of texts are computed again, except that the
//! hash of a turn whose original was deleted is taken from its line.

use std::collections::{BTreeSet, HashMap};

use crate::{
    compress::{
        archive,
        derived::{Kinds, RuleVersions},
        fold::value_key,
        plan,
    },
    error::{Error, ErrorKind, Result},
    index::BLOCK_UNITS,
    model::{
        ids::{SessionId, TurnId},
        job::JobKind,
        memory::trust::Trust,
        place::{Owner, Seq, SessionNo},
        session::SessionInfo,
        stored_time::StoredTime,
        summary::Original,
        tier::{MemoryTier, Transition},
        turn::{Said, Turn},
    },
    store::{
        acts::{index, memories::import as memories},
        rows::{
            anchors::{self, Fold},
            aside::{self, Aside},
            memories::{erased, transfer as memory_rows},
            originals, sessions, summaries,
            transfer::{self, AnchorRow, DerivationRow},
            turn_row, turns, units, users,
            uses::{self, UseHits},
        },
        scope::{Scope, UserKey},
        sql::Sql,
        transfer::{
            AnchorLine, AsideLine, DeletedTurn, DerivationLine, TransferLine, Transferred, UseCountLine,
            UseLine,
            bounds::hash_from_hex,
            import::Import,
            memories::{ErasedLine, ExtractedLine, KnowledgeLine},
        },
        write_tx::WriteTx,
    },
    text::{
        measure::{self, ContentHash},
        words::WordCounts,
    },
};

impl WriteTx<'_> {
    /// Writes all lines for a user for whom nothing is stored yet. Errors: a conflict if something is stored for the user,
    /// or if an id in the lines is already in this file.
    pub(crate) fn import(&mut self, key: &UserKey, import: Import) -> Result<Transferred> {
        let scope = users::find_or_add(self.sql, key, self.now())?;
        let user = self.lock(&scope)?;
        if users::has_memory(self.sql, &scope)? {
            return Err(Error::new(
                ErrorKind::Conflict,
                "this user already has a memory; import as another user, or erase it first",
            ));
        }
        expect_unowned(self.sql, &import.lines)?;
        let mut writing = Writing {
            tx: self,
            scope,
            first_seq: user.last_seq,
            last_seq: user.last_seq,
            sessions: HashMap::new(),
            seqs: HashMap::new(),
            trusts: HashMap::new(),
            folds: BTreeSet::new(),
            memories: memories::ImportedMemories::default(),
            rules: user.rules.with_derived(Kinds::ALL),
        };
        for line in import.lines {
            writing.line(line)?;
        }
        writing.end()?;
        Ok(import.counts)
    }
}

/// Fails if an id in the lines is already in this file: ids must be unique in a file, across all users.
fn expect_unowned(sql: &dyn Sql, lines: &[TransferLine]) -> Result<()> {
    let (mut sessions, mut turns, mut anchors) = (Vec::new(), Vec::new(), Vec::new());
    let (mut summaries, mut summarized, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        match line {
            TransferLine::Session(session) => sessions.push(session.id),
            TransferLine::Turn(turn) => turns.push(turn.id),
            TransferLine::Aside(aside) => beside.push(aside.turn.id),
            TransferLine::Summary { summary, .. } => {
                summaries.push(summary.id);
                summarized.push(summary.original_turn_id);
            }
            TransferLine::Anchor(anchor) => anchors.push(anchor.id),
            // An archived or deleted turn is recognized by its summary.
            TransferLine::Memory { .. }
            | TransferLine::Archived(_)
            | TransferLine::Deleted(_)
            | TransferLine::Derivation(_)
            | TransferLine::Transition(_)
            | TransferLine::Use(_)
            | TransferLine::UseCount(_)
            | TransferLine::Knowledge(_)
            | TransferLine::Edge(_)
            | TransferLine::Episode(_)
            | TransferLine::Extracted(_)
            | TransferLine::Erased(_)
            | TransferLine::End(_) => {}
        }
    }
    if transfer::is_any_owned(sql, transfer::OWNER_OF_SESSION, &sessions)?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_TURN, &turns)?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_SUMMARY, &summaries)?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_SUMMARY_OF_TURN, &summarized)?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_TURN_ASIDE, &[&turns[..], &beside].concat())?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_TURN, &beside)?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_SUMMARY_OF_TURN, &beside)?
        || transfer::is_any_owned(sql, transfer::OWNER_OF_ANCHOR, &anchors)?
        || memories::is_any_known(sql, lines)?
    {
        return Err(Error::new(
            ErrorKind::Conflict,
            "what should be imported is already in this file; nothing was written",
        ));
    }
    Ok(())
}

struct Writing<'a, 'b> {
    tx: &'a mut WriteTx<'b>,
    scope: Scope,
    /// The user's newest unit before the import.
    first_seq: Seq,
    /// The user's newest unit so far.
    last_seq: Seq,
    sessions: HashMap<SessionId, ImportedSession>,
    seqs: HashMap<TurnId, (Seq, Original)>,
    /// How far each turn is trusted whose text is there.
    trusts: HashMap<TurnId, Trust>,
    folds: BTreeSet<Fold>,
    memories: memories::ImportedMemories,
    /// The oldest rules by which any of the user's data was derived.
    rules: RuleVersions,
}

/// A session that was written.
struct ImportedSession {
    info: SessionInfo,
    /// Its number in this file.
    session_no: SessionNo,
    /// Its archived turns that are not packed into a frame yet.
    unpacked: Vec<Turn>,
}

impl Writing<'_, '_> {
    fn line(&mut self, line: TransferLine) -> Result<()> {
        match line {
            TransferLine::Session(session) => self.session(session),
            TransferLine::Turn(turn) => self.turn(turn),
            TransferLine::Archived(turn) => self.archived(turn),
            TransferLine::Deleted(turn) => self.deleted(&turn),
            TransferLine::Aside(AsideLine { replaced_by, replaced_at, turn }) => {
                let Said { user_message, ai_response, .. } = &turn.said;
                let content_hash = measure::content_hash(user_message, ai_response);
                let replaced = replaced_by.zip(replaced_at.map(StoredTime::try_from).transpose()?);
                aside::insert(self.tx.sql, &self.scope, &Aside { turn, content_hash, replaced })
            }
            TransferLine::Summary { snapshot_id, summary } => {
                let (seq, original) = self.seq(Some(summary.original_turn_id))?;
                let session_no = self.session_no(summary.session_id)?;
                if original != summary.original {
                    return Err(Error::invalid("a summary's original is not where it says"));
                }
                summaries::insert(self.tx.sql, &self.scope, session_no, seq, snapshot_id, &summary)
            }
            TransferLine::Anchor(anchor) => self.anchor(anchor),
            TransferLine::Derivation(derivation) => self.derivation(derivation),
            TransferLine::Transition(transition) => self.transition(&transition),
            TransferLine::Use(UseLine { turn_id, hits, best, last_hit }) => {
                let (seq, _) = self.seq(Some(turn_id))?;
                let hits = UseHits { all: hits, best };
                uses::count_unit(self.tx.sql, &self.scope, seq.into(), hits, last_hit.try_into()?)
            }
            TransferLine::UseCount(UseCountLine { aspect, name, hits }) => {
                uses::count(self.tx.sql, &self.scope, (aspect, &name), hits)
            }
            TransferLine::Knowledge(memory) => self.knowledge(*memory),
            TransferLine::Edge(edge) => self.memories.add_edge((self.tx.sql, &self.scope), &edge),
            TransferLine::Episode(episode) => {
                let session_no = episode.session_id.map(|id| self.session_no(id)).transpose()?;
                self.memories.add_episode((self.tx.sql, &self.scope), *episode, session_no)
            }
            TransferLine::Extracted(ExtractedLine { session_id, extracted_at }) => {
                let session_no = self.session_no(session_id)?;
                memory_rows::insert_extracted(self.tx.sql, &self.scope, session_no, extracted_at.try_into()?)
            }
            TransferLine::Erased(ErasedLine { id_hash }) => {
                erased::insert(self.tx.sql, &self.scope, hash_from_hex(&id_hash)?)
            }
            TransferLine::Memory { rules, .. } => {
                let [critical, anchors] = rules
                    .map_or([RuleVersions::FIRST; 2], |rules| [rules.critical, rules.anchors].map(i64::from));
                self.rules.critical = self.rules.critical.min(critical);
                self.rules.anchors = self.rules.anchors.min(anchors);
                Ok(())
            }
            TransferLine::End(_) => Ok(()),
        }
    }

    fn session_no(&self, id: SessionId) -> Result<SessionNo> {
        let session = self.sessions.get(&id);
        Ok(session.ok_or_else(|| Error::invalid("a line's session is missing"))?.session_no)
    }

    /// The unit of a turn, and where its original is. `None` means the place before all turns, unit 0.
    fn seq(&self, turn: Option<TurnId>) -> Result<(Seq, Original)> {
        turn.map_or(Ok((Seq::default(), Original::Deleted)), |turn| {
            self.seqs.get(&turn).copied().ok_or_else(|| Error::invalid("a line's turn is missing"))
        })
    }

    fn session(&mut self, info: SessionInfo) -> Result<()> {
        let session_no = sessions::insert_imported(self.tx.sql, &self.scope, &info)?;
        self.sessions.insert(info.id, ImportedSession { info, session_no, unpacked: Vec::new() });
        Ok(())
    }

    /// Writes the unit of a turn, the next in the order of recording, and returns its number.
    fn unit(
        &mut self,
        session: SessionId,
        turn_number: u32,
        unit: (TurnId, Option<&str>, ContentHash, StoredTime),
        original: Original,
    ) -> Result<Seq> {
        let place = self.session_no(session)?.turn(turn_number);
        self.last_seq = self.last_seq.next()?;
        units::insert(self.tx.sql, &self.scope, self.last_seq, Owner::Turn(place), unit)?;
        self.seqs.insert(unit.0, (self.last_seq, original));
        Ok(self.last_seq)
    }

    fn trust(&self, turn: TurnId) -> Trust {
        self.trusts.get(&turn).copied().unwrap_or(Trust::User)
    }

    fn unit_with_text(&mut self, turn: &Turn) -> Result<Seq> {
        let trust = turn.said.trust();
        if self.sessions.get(&turn.session_id).is_some_and(|session| session.info.trust < trust) {
            return Err(Error::invalid("a turn is trusted more than its session"));
        }
        self.trusts.insert(turn.id, trust);
        let hash = measure::content_hash(&turn.said.user_message, &turn.said.ai_response);
        let unit = (turn.id, turn.caller_id.as_deref(), hash, turn.timestamp.try_into()?);
        self.unit(turn.session_id, turn.turn_number, unit, Original::Archived)
    }

    fn turn(&mut self, turn: Turn) -> Result<()> {
        let seq = self.unit_with_text(&turn)?;
        if let Some(snapshot) = turn.snapshot_id {
            users::add_snapshot(self.tx.sql, snapshot, self.tx.now())?;
        }
        let words = WordCounts::of(&turn.said).encode();
        let session_no = self.session_no(turn.session_id)?;
        turn_row::insert(self.tx.sql, &self.scope, session_no, &Turn { seq: seq.into(), ..turn }, &words)
    }

    fn archived(&mut self, turn: Turn) -> Result<()> {
        let seq = self.unit_with_text(&turn)?;
        if let Some(session) = self.sessions.get_mut(&turn.session_id) {
            session.unpacked.push(Turn { seq: seq.into(), ..turn });
        }
        Ok(())
    }

    fn deleted(&mut self, turn: &DeletedTurn) -> Result<()> {
        let hash = hash_from_hex(&turn.content_hash)?;
        let unit = (turn.id, turn.caller_id.as_deref(), hash, turn.timestamp.try_into()?);
        self.unit(turn.session_id, turn.turn_number, unit, Original::Deleted).map(drop)
    }

    fn anchor(&mut self, anchor: AnchorLine) -> Result<()> {
        let (retracted_seq, _) = self.seq(anchor.retracted_after)?;
        let key = value_key(&anchor.value);
        self.folds.insert(Fold::of(&anchor.subject, anchor.attribute, &key));
        let row = AnchorRow {
            id: anchor.id,
            subject: anchor.subject,
            attribute: anchor.attribute,
            value: anchor.value,
            retracted_at: anchor.retracted_at.map(StoredTime::try_from).transpose()?,
            retracted_seq: anchor.is_retracted_since.then_some(retracted_seq),
            retracted_trust: anchor.retracted_trust,
        };
        transfer::insert_anchor(self.tx.sql, &self.scope, &key, &row)
    }

    fn derivation(&mut self, derivation: DerivationLine) -> Result<()> {
        let (seq, _) = self.seq(derivation.turn_id.or(derivation.after))?;
        let (is_of_turn, source_id) = match (derivation.turn_id, derivation.source_id) {
            (Some(turn), None) => (true, turn),
            (None, Some(source)) => (false, source),
            _ => return Err(Error::invalid("a derivation needs one source")),
        };
        let row = DerivationRow {
            anchor_id: derivation.anchor_id,
            is_of_turn,
            source_id,
            stance: derivation.stance,
            seq,
            said_at: derivation.said_at.try_into()?,
            made_by: derivation.made_by,
            value: derivation.value,
            quote: derivation.quote,
            // Evidence is trusted no more than its turn, whatever its line says.
            trust: derivation.turn_id.map_or(derivation.trust, |turn| derivation.trust.min(self.trust(turn))),
        };
        transfer::insert_derivation(self.tx.sql, &self.scope, &row)
    }

    fn knowledge(&mut self, memory: KnowledgeLine) -> Result<()> {
        let Self { tx, scope, memories, last_seq, seqs, .. } = self;
        let missing = || Error::invalid("a turn that a memory was made of is missing");
        let seq_of = |turn| seqs.get(&turn).map(|(seq, _)| *seq).ok_or_else(missing);
        memories.add((tx.sql, scope), memory, last_seq, seq_of)
    }

    fn transition(&mut self, moved: &Transition) -> Result<()> {
        let place = self.session_no(moved.session_id)?.turn(moved.turn_number);
        let tiers = (moved.from.as_str(), moved.to.as_str());
        turns::record_move(self.tx.sql, &self.scope, place, tiers, moved.reason, moved.moved_at.try_into()?)
    }

    /// Packs the archive, folds the anchors, and queues the jobs: compression of warm sessions, indexing, and deriving anew.
    fn end(mut self) -> Result<()> {
        for session in std::mem::take(&mut self.sessions).into_values() {
            self.pack(&session)?;
            let info = session.info;
            if info.memory_tier == MemoryTier::Warm && info.turn_count > 0 {
                self.tx.enqueue(&self.scope, JobKind::Compress, Some(info.id), info.turn_count)?;
            }
        }
        self.memories.end((self.tx.sql, &self.scope))?;
        let has_units = self.last_seq > self.first_seq;
        if has_units {
            users::set_last_seq(self.tx.sql, &self.scope, self.last_seq)?;
            let blocks = self.last_seq.0 / BLOCK_UNITS;
            index::queue_if_due(self.tx, &self.scope, Seq(blocks * BLOCK_UNITS))?;
        }
        users::set_rules(self.tx.sql, &self.scope, self.rules)?;
        if self.rules.is_stale() && has_units {
            self.tx.enqueue_if_none(&self.scope, JobKind::Derive)?;
        }
        anchors::refold(self.tx.sql, &self.scope, &self.folds).map(drop)
    }

    fn pack(&self, session: &ImportedSession) -> Result<()> {
        let sizes: Vec<usize> = session.unpacked.iter().map(Turn::kept_bytes).collect();
        for slice in plan::slices(&sizes) {
            let turns: Vec<&Turn> = session.unpacked[slice].iter().collect();
            let frame = archive::pack(&turns)?;
            let frame_no = originals::insert_frame(self.tx.sql, &self.scope, session.info.id, &frame)?;
            for (position, turn) in turns.into_iter().enumerate() {
                let turn = (session.session_no, turn);
                transfer::insert_archived(self.tx.sql, &self.scope, turn, (frame_no, position))?;
            }
        }
        Ok(())
    }
}
