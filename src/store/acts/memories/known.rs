//! Saves a memory that is already known. A saver who is trusted more becomes its author. The memory may become active again,
//! and gets those of the saver's values that it lacked.

use crate::{
    error::{ErrorKind, Result},
    memory::{
        bounds::MAX_TERMS,
        frequency::may_ask_again,
        slot::{Voice, is_raised_by, may_take_the_place},
        terms::{MemoryTerm, terms},
    },
    model::{
        change::ChangeOp,
        memory::{
            new::Birth,
            saved::SaveOutcome,
            trust::Trust,
            words::{InformationType, LearningSource, MemoryStatus},
        },
        place::MemoryNo,
        profile::rounded,
        stored_time::StoredTime,
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            forget::BY_HAND,
            measured::MeasuredMemory,
            operation::{MemoryOperation, Note, conflict},
            save::{SaveResult, version_over},
            voices::voice,
        },
        rows::memories::{
            changes, episodes, find, reviews,
            row::{self, MemoryRow},
        },
    },
    text::memory::MemoryText,
};

/// The history's reason why an archived or forgotten memory becomes active again.
const SAVED_AGAIN: &str = "saved again";

impl MemoryOperation<'_, '_> {
    /// The outcome if the memory to save is already known: by its caller's id, otherwise by its text.
    pub(super) fn known(&mut self, memory: &MeasuredMemory) -> Result<Option<SaveResult>> {
        let known = match self.known_by_caller(memory)? {
            None => self.known_by_text(memory)?,
            known => known,
        };
        known.map(|row| self.save_again(row, memory)).transpose()
    }

    /// The memory saved earlier with the same caller's id. Errors: a conflict if it has different text.
    fn known_by_caller(&self, memory: &MeasuredMemory) -> Result<Option<MemoryRow>> {
        let Some(caller_id) = &memory.new.caller_id else { return Ok(None) };
        let row = find::by_caller_id(self.tx.sql, &self.scope, caller_id)?;
        match row {
            Some(row) if row.content_hash != memory.content_hash => Err(conflict(format!(
                "{} was saved with this caller's id and says something else; edit it, or use another id",
                row.id
            ))),
            row => Ok(row),
        }
    }

    /// The active, archived or forgotten memory that says the same. A text counts as new if the memory that had it is
    /// superseded, or if it is forgotten and trusted more than the saver. Errors: the text is in quarantine.
    pub(super) fn known_by_text(&self, memory: &MeasuredMemory) -> Result<Option<MemoryRow>> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let (project, hash) = (memory.new.project.as_deref(), memory.content_hash);
        if let Some(row) = find::active_same(sql, &scope, project, hash)? {
            return Ok(Some(row));
        }
        self.check_is_not_hidden(memory.text(), &memory.new.summary)?;
        let put_away = |status| find::put_away_same(sql, &scope, (project, hash), status);
        match put_away(MemoryStatus::Archived)? {
            None => Ok(put_away(MemoryStatus::Forgotten)?.filter(|row| may_fill(memory, row))),
            row => Ok(row),
        }
    }

    /// Fails if a memory would say what one in quarantine says, as a whole or in a part of it, whatever its kind and
    /// project. Every act that shows a text asks this.
    pub(super) fn check_is_not_hidden(&self, text: MemoryText<'_>, summary: &str) -> Result<()> {
        for hash in text.said_hashes(summary) {
            let like = find::hidden_like(self.tx.sql, &self.scope, hash)?;
            if let Some(row) = like.iter().find(|row| row.text().hidden_hash() == hash) {
                return Err(conflict(format!(
                    "{} says the same and is in quarantine; lift that first",
                    row.id
                )));
            }
        }
        Ok(())
    }

    /// Fails if a change would show a text that is in quarantine. Lifting the memory's own quarantine may show it, even if
    /// another memory with the same text stays hidden.
    pub(super) fn check_shows_nothing_hidden(&self, before: &MemoryRow, after: &MemoryRow) -> Result<()> {
        let is_shown = |row: &MemoryRow| matches!(row.status, MemoryStatus::Active | MemoryStatus::Archived);
        let [was, is] = [before, after].map(|row| (row.content_hash, &row.summary));
        let is_news = is_shown(after) && !(is_shown(before) && was == is);
        if is_news && before.status != MemoryStatus::Quarantined {
            return self.check_is_not_hidden(after.text(), &after.summary).map_err(|error| {
                match error.kind() {
                    ErrorKind::Conflict => conflict(format!("{} cannot say that: {error}", before.id)),
                    _ => error,
                }
            });
        }
        Ok(())
    }

    /// Returns a superseded memory as it is once its successor is gone: with the status that it had before; archived, if its
    /// place is taken by now; forgotten, if its text is in quarantine.
    pub(super) fn without_successor(&self, before: &MemoryBefore) -> Result<MemoryBefore> {
        let was = changes::status_before_superseding(self.tx.sql, &self.scope, before.row.memory_no)?;
        let mut after = before.clone();
        (after.row.superseded_by, after.superseded_by) = (None, None);
        after.row.status = was.unwrap_or(MemoryStatus::Active);
        // A damaged row that may be in the way counts as one that is, so that what is to be erased or hidden can be.
        let is_in_the_way = |checked: Result<()>| match checked {
            Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Corrupt) => Ok(true),
            checked => checked.map(|()| false),
        };
        if is_in_the_way(self.check_shows_nothing_hidden(&before.row, &after.row))? {
            after.row.status = MemoryStatus::Forgotten;
        } else if is_in_the_way(self.check_free(&after.row))? {
            after.row.status = MemoryStatus::Archived;
        }
        Ok(after)
    }

    fn save_again(&mut self, row: MemoryRow, memory: &MeasuredMemory) -> Result<SaveResult> {
        let may_be_revived = match row.status {
            MemoryStatus::Active | MemoryStatus::Archived => true,
            MemoryStatus::Forgotten => {
                may_fill(memory, &row)
                    && self.may_remember(&row, memory.trust())?
                    && !self.was_rejected(&row, memory.voice())?
            }
            _ => false,
        };
        if !may_be_revived {
            return Ok(SaveResult::whole(row.memory_no, SaveOutcome::PutAway));
        }
        let known = self.hold(row)?;
        let known = self.raise(known, memory.voice())?;
        let memory_no = known.row.memory_no;
        let revived = match known.row.status {
            MemoryStatus::Active => SaveOutcome::Known,
            _ => self.revive(&known)?,
        };
        let kept = self.fill(memory_no, memory)?;
        let outcome = if revived == SaveOutcome::Known { kept.outcome } else { revived };
        Ok(SaveResult { outcome, ..kept })
    }

    /// Whether a saver is trusted as much as whoever forgot the memory.
    fn may_remember(&self, row: &MemoryRow, saver: Trust) -> Result<bool> {
        let forgotten_by = changes::forgotten_by(self.tx.sql, &self.scope, row.memory_no, BY_HAND)?;
        let forgotten_by = forgotten_by.as_deref().and_then(Origin::from_word);
        Ok(forgotten_by.is_none_or(|by| saver.may_change(Trust::of(by))))
    }

    /// Whether a person rejected a memory so recently that its saver may not ask again, and what it contradicts still holds
    /// and does not give way to the saver. Once the question has rested, saving the memory again is news enough.
    pub(super) fn was_rejected(&self, row: &MemoryRow, saver: Voice) -> Result<bool> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        let Some((other, decided_at)) = reviews::rejected_for(sql, scope, row.memory_no)? else {
            return Ok(false);
        };
        if may_ask_again(*decided_at, true, *self.now) {
            return Ok(false);
        }
        let holds = find::by_no(sql, scope, other)?.filter(|other| other.status == MemoryStatus::Active);
        let own = voice(row);
        let by = if is_raised_by(own, saver) { saver } else { own };
        Ok(holds.is_some_and(|other| !may_take_the_place(by, voice(&other))))
    }

    /// Makes an archived or forgotten memory active again, unless it has to wait.
    fn revive(&mut self, known: &MemoryBefore) -> Result<SaveOutcome> {
        match self.opponent(&known.row)? {
            None => {
                self.restore(known, SAVED_AGAIN)?;
                self.no_more_waiting(known)?;
                Ok(SaveOutcome::Restored)
            }
            Some(other) if may_take_the_place(voice(&known.row), voice(&other)) => {
                let old = self.hold(other)?;
                self.retire(&old, &known.row, (ChangeOp::Supersede, "the same slot"))?;
                let version = version_over(&known.row, &old.row);
                self.put(known, (MemoryStatus::Active, version), SAVED_AGAIN)?;
                self.no_more_waiting(known)?;
                self.succeed(&old, &known.row)?;
                Ok(SaveOutcome::Superseded(old.row.id))
            }
            Some(other) => {
                let waiting = self.put(known, (MemoryStatus::Archived, known.row.version), SAVED_AGAIN)?;
                Ok(SaveOutcome::Waits(self.contradict(&waiting.row, &other)?))
            }
        }
    }

    /// The memory that an inactive one would have to supersede: the active one in its slot, or the one it waits for.
    fn opponent(&self, row: &MemoryRow) -> Result<Option<MemoryRow>> {
        if let Some(holder) = self.holder(row)? {
            return Ok(Some(holder));
        }
        for other in reviews::contradicted_by(self.tx.sql, &self.scope, row.memory_no)? {
            let other = find::by_no(self.tx.sql, &self.scope, other)?;
            if let Some(other) = other.filter(|other| other.status == MemoryStatus::Active) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Makes a memory active again.
    pub(super) fn restore(&mut self, before: &MemoryBefore, reason: &str) -> Result<MemoryBefore> {
        self.put(before, (MemoryStatus::Active, before.row.version), reason)
    }

    fn put(
        &mut self,
        before: &MemoryBefore,
        (status, version): (MemoryStatus, u32),
        reason: &str,
    ) -> Result<MemoryBefore> {
        let mut after = before.clone();
        (after.row.status, after.row.version) = (status, version);
        if status != before.row.status {
            after.row.frequency_since = self.now; // Otherwise the rule that archived the memory would do so again.
        }
        let (old_value, new_value) = (Some(before.row.status.as_str()), Some(status.as_str()));
        let note = Note { old_value, new_value, reason, ..Note::of(ChangeOp::Status) };
        self.change(before, after, note)
    }

    fn no_more_waiting(&self, known: &MemoryBefore) -> Result<()> {
        reviews::withdraw_waiting(self.tx.sql, &self.scope, known.row.memory_no, self.now)
    }

    /// Adds the stated values that a known memory lacks, and lists the stated values that differ from the memory's.
    fn fill(&mut self, memory_no: MemoryNo, memory: &MeasuredMemory) -> Result<SaveResult> {
        let row =
            find::by_no(self.tx.sql, &self.scope, memory_no)?.ok_or_else(super::operation::no_memory)?;
        let mut before = self.hold(row)?;
        let is_named = before.row.caller_id.is_none() && memory.new.caller_id.is_some();
        if is_named && may_fill(memory, &before.row) {
            before.row.caller_id.clone_from(&memory.new.caller_id);
            row::update(self.tx.sql, &self.scope, &before.row)?;
        }
        let (mut after, mut not_taken) = filled(&before, memory)?;
        let mut old = None;
        if after.row.goal_signature != before.row.goal_signature {
            match self.holder(&after.row)? {
                Some(holder) if !may_take_the_place(voice(&after.row), voice(&holder)) => {
                    after.row.goal_signature = None;
                    not_taken.push("goal_signature");
                }
                holder => old = holder.map(|holder| self.hold(holder)).transpose()?,
            }
        }
        if let Some(old) = &old {
            after.row.version = version_over(&after.row, &old.row);
            self.retire(old, &before.row, (ChangeOp::Supersede, "the same slot"))?;
        }
        let note = Note { reason: SAVED_AGAIN, ..Note::of(ChangeOp::Edit) };
        let after = self.change(&before, after, note)?;
        for source in &memory.sources {
            if Trust::of(source.origin) >= after.row.trust && may_fill(memory, &after.row) {
                self.add_source(memory_no, source)?;
            } else {
                not_taken.push("sources");
            }
        }
        not_taken.dedup();
        not_taken.extend(self.differs_at_birth(memory_no, &memory.new.birth)?);
        let outcome = match old {
            Some(old) => {
                self.succeed(&old, &after.row)?;
                SaveOutcome::Superseded(old.row.id)
            }
            None => SaveOutcome::Known,
        };
        Ok(SaveResult { memory_no, outcome, not_taken })
    }

    /// The names of the stated circumstances that are not those in which a known memory was learned: a memory begins once.
    fn differs_at_birth(&self, memory_no: MemoryNo, stated: &Birth) -> Result<Vec<&'static str>> {
        if *stated == Birth::default() {
            return Ok(Vec::new());
        }
        let was = episodes::birth(self.tx.sql, &self.scope, memory_no)?;
        let was = was.map_or_else(Birth::default, |row| Birth {
            outcome: row.outcome,
            session_id: row.session_id,
            task_id: row.task_id,
            task_name: row.task_name,
            trigger: row.trigger,
        });
        let differs = [
            ("outcome", is_other(was.outcome, stated.outcome)),
            ("session", is_other(was.session_id, stated.session_id)),
            ("task_id", is_other(was.task_id.as_ref(), stated.task_id.as_ref())),
            ("task_name", is_other(was.task_name.as_ref(), stated.task_name.as_ref())),
            ("trigger", is_other(was.trigger.as_ref(), stated.trigger.as_ref())),
        ];
        Ok(differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect())
    }
}

/// Whether the saver is trusted at least as much as the memory. The user's trust is enough for a memory that a person
/// approved.
fn may_fill(memory: &MeasuredMemory, row: &MemoryRow) -> bool {
    memory.trust() >= row.trust.min(Trust::User)
}

/// A known memory with the stated values that it lacked, and the names of the stated values that differ from the memory's.
fn filled(before: &MemoryBefore, memory: &MeasuredMemory) -> Result<(MemoryBefore, Vec<&'static str>)> {
    let (new, mut after, may_fill) = (&memory.new, before.clone(), may_fill(memory, &before.row));
    let mut not_taken = Vec::new();
    let mut differs = |name, does| {
        if does {
            not_taken.push(name);
        }
    };
    if may_fill {
        let known = before.names.tags.iter().chain(memory.tags.iter().map(|term| &term.name));
        after.names.tags = terms(known).into_iter().map(|term| term.name).collect();
        let most = MAX_TERMS.max(before.names.tags.len());
        differs("tags", after.names.tags.len() > most);
        after.names.tags.truncate(most);
    } else {
        let known = terms(&before.names.tags);
        let is_known = |folded: &str| known.iter().any(|term| term.folded == folded);
        differs("tags", !memory.tags.iter().all(|term| is_known(&term.folded)));
    }
    if let Some(stated) = &new.entities {
        differs("entities", !are_same_terms(&terms(&before.names.entities), &terms(stated)));
    }
    let row = &mut after.row;
    if may_fill && row.summary.is_empty() {
        row.summary.clone_from(&new.summary);
    }
    differs("summary", !new.summary.is_empty() && new.summary != row.summary);
    row.pinned |= may_fill && new.pinned;
    differs("pinned", new.pinned && !row.pinned);
    if may_fill {
        fill(&mut row.reliability, new.reliability.map(rounded));
        fill(&mut row.consolidation_threshold, new.consolidation_threshold.map(rounded));
        fill(&mut row.validity_window, new.validity_window);
        fill(&mut row.task_type, new.task_type);
        if row.status == MemoryStatus::Active {
            fill(&mut row.goal_signature, new.goal_signature.clone());
        }
    }
    differs("reliability", is_other(row.reliability, new.reliability.map(rounded)));
    differs(
        "consolidation_threshold",
        is_other(row.consolidation_threshold, new.consolidation_threshold.map(rounded)),
    );
    differs("validity_window_s", is_other(row.validity_window, new.validity_window));
    differs("task_type", is_other(row.task_type, new.task_type));
    differs("goal_signature", is_other(row.goal_signature.as_ref(), new.goal_signature.as_ref()));
    differs("project", is_other(row.project.as_ref(), new.project.as_ref()));
    differs("caller_id", is_other(row.caller_id.as_ref(), new.caller_id.as_ref()));
    differs("importance", is_other(Some(row.importance), new.importance.map(rounded)));
    differs("confidence", is_other(Some(row.confidence), new.confidence.map(rounded)));
    differs("frequency", is_other(Some(row.frequency), new.frequency));
    differs("volatility", is_other(Some(row.volatility), new.volatility));
    let said_at = StoredTime::stated("said_at", new.said_at)?;
    differs("said_at", is_other(Some(row.said_at), said_at));
    // For these two, a stated default cannot be told from none.
    let information_type = Some(new.information_type).filter(|it| *it != InformationType::default());
    differs("information_type", is_other(Some(row.information_type), information_type));
    let learning_source = Some(new.learning_source).filter(|it| *it != LearningSource::Manual);
    differs("learning_source", is_other(Some(row.learning_source), learning_source));
    differs("extra", new.extra.iter().any(|(name, value)| row.extra.get(name) != Some(value)));
    Ok((after, not_taken))
}

/// Whether two lists name the same, in whatever order and spelling.
fn are_same_terms(one: &[MemoryTerm], other: &[MemoryTerm]) -> bool {
    let names = |term: &MemoryTerm| other.iter().any(|it| it.folded == term.folded);
    one.len() == other.len() && one.iter().all(names)
}

fn fill<T>(field: &mut Option<T>, stated: Option<T>) {
    if field.is_none() {
        *field = stated;
    }
}

/// Whether a value is stated that differs from the actual one.
fn is_other<T: Copy + PartialEq>(is: Option<T>, stated: Option<T>) -> bool {
    stated.is_some() && stated != is
}
