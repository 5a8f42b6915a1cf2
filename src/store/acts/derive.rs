//! Derives anew what older rules derived from a user's units: words and traits, why turns are kept verbatim, anchors.
//!
//! Units are read and processed outside any transaction, and each slice writes the new results for some of them. The job
//! goes through the units in the user's order, and its row records the progress. Repeating a slice changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    compress::{
        anchors as anchor_rules, critical,
        derived::{Kinds, RuleVersions},
        fold::value_key,
    },
    english::statements::{Statement, statements},
    error::{ErrorKind, Result, sound},
    model::{
        anchor::{Attribute, FoundAnchor},
        critical::CriticalRule,
        ids::TurnId,
        job::JobKind,
        memory::trust::Trust,
        place::{Owner, Place, Seq},
        stored_time::StoredTime,
        summary::{BUILT_IN, Summary},
        tier::MemoryTier,
        turn::Turn,
    },
    store::{
        acts::index,
        job_tx::JobTx,
        rows::{
            all_users,
            anchors::{self, Stated, StatementSource},
            jobs as job_rows, memories, originals, summaries, turns, units, users,
        },
        scope::Scope,
        slice_error::{SliceError, SliceResult},
        sql::{Sql, UserRow},
        write_tx::WriteTx,
    },
    text::words::WordCounts,
};

/// The most units that one slice changes.
const SLICE_UNITS: usize = 16;
/// The most units, and the bytes of text, that are read for one slice.
const READ_UNITS: u32 = 256;
const READ_BYTES: usize = 1 << 20;

/// A derivation in progress: what it derives anew, and after which unit it continues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(crate) after: u32,
    stale: Kinds,
    rules: RuleVersions,
}

impl Begun {
    /// Whether a job of a newer build is in progress.
    pub(crate) fn awaits_newer(self) -> bool {
        self.rules.awaits_newer()
    }

    /// The same derivation, continuing after this unit.
    pub(crate) fn up_to(self, after: u32) -> Self {
        Self { after, ..self }
    }
}

/// Some units and their new results.
#[derive(Debug)]
pub(crate) struct Rederived {
    epoch: i64,
    last_seq: u32,
    pub(crate) until: u32,
    changed: Vec<ChangedUnit>,
    /// Units of memories, and their new words.
    memories: Vec<(Seq, Vec<u8>)>,
    /// The turns that cannot be read, by name. They stay as they are.
    pub(crate) damaged: Vec<String>,
}

/// A unit and its new results.
#[derive(Debug)]
struct ChangedUnit {
    place: Place,
    turn_id: TurnId,
    /// The new words for the turn's row. `None` if they are the same.
    words: Option<Vec<u8>>,
    /// The new reason why the turn is kept verbatim.
    #[expect(clippy::option_option, reason = "none: nothing is new; none in it: no rule keeps it any more")]
    rule: Option<Option<CriticalRule>>,
    /// The anchors that the rules find in the turn. `None` if they are the same.
    anchors: Option<NewAnchors>,
}

#[derive(Debug)]
struct NewAnchors {
    found: Vec<FoundAnchor>,
    /// How far each of them is trusted.
    trusts: Vec<Trust>,
    seq: Seq,
    said_at: StoredTime,
}

/// Whether any user has something derived by rules older than this build's.
pub(crate) fn has_stale(sql: &dyn Sql) -> Result<bool> {
    Ok(!all_users::with_older_rules(sql, RuleVersions::NOW)?.is_empty())
}

impl WriteTx<'_> {
    /// Queues the job for every user with something derived by older rules.
    pub(crate) fn queue_stale_rules(&mut self) -> Result<()> {
        for scope in all_users::with_older_rules(self.sql, RuleVersions::NOW)? {
            self.lock(&scope)?;
            self.enqueue_if_none(&scope, JobKind::Derive)?;
        }
        Ok(())
    }

    /// Lowers the versions in the user's row if this build's rules are older. Every act that derives something for a user
    /// must call this.
    pub(crate) fn note_rules(&self, scope: &Scope, user: &UserRow, derived: Kinds) -> Result<()> {
        let rules = user.rules.with_derived(derived);
        if rules == user.rules { Ok(()) } else { users::set_rules(self.sql, scope, rules) }
    }
}

impl JobTx<'_, '_> {
    /// Begins the derivation, or continues where the last try ended if that was for the same rules.
    pub(crate) fn begin_deriving(&mut self, scope: &Scope) -> SliceResult<Begun> {
        let (sql, user) = (self.tx.sql, self.lock(scope)?);
        let rules = user.rules.begun();
        if rules != user.rules {
            users::set_rules(sql, scope, rules)?;
            job_rows::set_done(sql, self.lease, 0, user.last_seq.0)?;
        }
        Ok(Begun { after: job_rows::done_seq(sql, self.lease)?, stale: rules.stale(), rules })
    }

    /// Writes the new results for some units, unless something was erased or replaced since they were read.
    pub(crate) fn rederive(&mut self, scope: &Scope, new: &Rederived) -> SliceResult<()> {
        let user = self.lock(scope)?;
        if user.epoch != new.epoch {
            return Err(SliceError::Changed);
        }
        for (seq, words) in &new.memories {
            memories::units::set_words(self.tx.sql, scope, *seq, words)?;
        }
        let mut folds = BTreeSet::new();
        for unit in &new.changed {
            if let Some(words) = &unit.words {
                units::set_words(self.tx.sql, scope, (unit.place, unit.turn_id), words)?;
            }
            if let Some(rule) = unit.rule {
                turns::judge_anew(self.tx.sql, scope, (unit.place, unit.turn_id), rule)?;
            }
            if let Some(found) = &unit.anchors {
                self.state_anew(scope, unit, found, &mut folds)?;
            }
        }
        anchors::refold(self.tx.sql, scope, &folds)?;
        Ok(job_rows::set_done(self.tx.sql, self.lease, new.until, new.last_seq)?)
    }

    /// Records that everything is derived by this build's rules. Returns `None` and records nothing if units were added, or
    /// an older build has written, in the meantime. If the rules for words have changed, the index is rebuilt, because the
    /// words under which it has archived turns are stored nowhere else.
    pub(crate) fn end_deriving(&mut self, scope: &Scope, begun: Begun) -> SliceResult<Option<RuleVersions>> {
        let user = self.lock(scope)?;
        let has_more = user.last_seq.0 > begun.after && begun.stale != Kinds::default();
        if has_more || user.rules != begun.rules {
            return Ok(None);
        }
        if begun.stale.words && user.indexed_seq > Seq::default() {
            index::begin_anew(self.tx, scope)?;
        } else if begun.stale.words {
            users::raise_epoch(self.tx.sql, scope)?; // Readers that have words which are not in the index must read again.
        }
        let rules = begun.rules.ended();
        users::set_rules(self.tx.sql, scope, rules)?;
        Ok(Some(rules))
    }

    /// Removes the statements that the rules no longer find in a turn, adds those that they find, and sets on its summary
    /// which anchors it is evidence for.
    fn state_anew(
        &mut self,
        scope: &Scope,
        unit: &ChangedUnit,
        new: &NewAnchors,
        folds: &mut BTreeSet<anchors::Fold>,
    ) -> Result<()> {
        let (sql, now) = (self.tx.sql, self.tx.now());
        let (mut by_others, wanted) = (BTreeSet::new(), by_key(&new.found));
        for Stated { anchor, found, made_by, .. } in anchors::stated_by(sql, scope, unit.turn_id)? {
            if made_by != BUILT_IN {
                by_others.insert(anchor);
            } else if wanted.get(&key_of(&found)) != Some(&&found) {
                folds.insert(anchors::Fold::of(&found.subject, found.attribute, &value_key(&found.value)));
                anchors::take_away(sql, scope, unit.turn_id, (anchor, found.stance))?;
            }
        }
        let mut stated = Vec::new();
        for (found, &trust) in new.found.iter().zip(&new.trusts) {
            let source = StatementSource {
                turn: Some(unit.turn_id),
                seq: new.seq,
                said_at: new.said_at,
                made_by: BUILT_IN,
                trust,
            };
            let (anchor, fold) = anchors::state(sql, scope, found, source, now)?;
            stated.push(anchor);
            folds.insert(fold);
        }
        if let Some(summary) = sound(summaries::at(sql, scope, unit.place))? {
            let mut ids = summary.identity_anchor_ids;
            ids.retain(|id| by_others.contains(id));
            ids.extend(stated.into_iter().filter(|id| !by_others.contains(id)));
            summaries::set_anchors(sql, scope, unit.place, &ids)?;
        }
        Ok(())
    }
}

/// What identifies a statement among those of one turn: subject, attribute, value key, and stance.
type StatementKey = (String, Attribute, String, &'static str);

fn key_of(found: &FoundAnchor) -> StatementKey {
    (found.subject.clone(), found.attribute, value_key(&found.value), found.stance.as_str())
}

/// The statements by key. Of several with the same key, the first counts.
fn by_key(found: &[FoundAnchor]) -> BTreeMap<StatementKey, &FoundAnchor> {
    found.iter().rev().map(|found| (key_of(found), found)).collect()
}

/// Reads the next units and derives their new results. `None` if there are none.
pub(crate) fn next(sql: &dyn Sql, scope: &Scope, begun: Begun) -> Result<Option<Rederived>> {
    let extent = units::extent(sql, scope)?;
    if begun.stale == Kinds::default() || begun.after >= extent.last_seq.0 {
        return Ok(None);
    }
    let until = extent.last_seq.0.min(begun.after + READ_UNITS);
    let mut new = Rederived {
        epoch: extent.epoch,
        last_seq: extent.last_seq.0,
        until,
        changed: Vec::new(),
        memories: Vec::new(),
        damaged: Vec::new(),
    };
    let (mut reader, mut bytes) = (originals::OriginalsReader::new(sql, scope), 0);
    for units::ListedUnit { unit, words, .. } in units::list(sql, scope, (Seq(begun.after), Seq(until)))? {
        if new.changed.len() + new.memories.len() >= SLICE_UNITS || bytes >= READ_BYTES {
            new.until = unit.seq - 1;
            break;
        }
        let Owner::Turn(place) = unit.owner else {
            if begun.stale.words {
                new.memories.extend(of_memory(sql, scope, Seq(unit.seq), words.as_deref())?);
            }
            continue;
        };
        let changed = match reader.by_number(place) {
            Ok(Some(turn)) => {
                bytes += turn.text_bytes();
                of_turn(sql, scope, begun.stale, (unit.seq, place, words), &turn)
            }
            Ok(None) => match summaries::at(sql, scope, place) {
                Ok(Some(summary)) => of_summary(sql, scope, begun.stale, (unit.seq, place), &summary),
                Ok(None) => continue,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match changed {
            Ok(changed) => new.changed.extend(changed),
            Err(error) if error.kind() == ErrorKind::Corrupt => new.damaged.push(named(place)),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(new))
}

fn named(Place { session, turn_number }: Place) -> String {
    format!("turn {turn_number} of session number {}", session.0)
}

/// The words that the rules find in a memory's current text, if they differ from the stored ones. `None` for a memory that
/// cannot be read, and for a unit with an older text, which is no longer stored and never found. Their words stay.
fn of_memory(sql: &dyn Sql, scope: &Scope, seq: Seq, old: Option<&[u8]>) -> Result<Option<(Seq, Vec<u8>)>> {
    let Some(memory) = sound(memories::units::memory_of(sql, scope, seq))? else { return Ok(None) };
    let words = memories::units::words_of(sql, scope, &memory)?;
    Ok((old != Some(words.as_slice())).then_some((seq, words)))
}

/// The new results for a turn whose text can be read. `words` are those in its row, if it has one.
fn of_turn(
    sql: &dyn Sql,
    scope: &Scope,
    stale: Kinds,
    (seq, place, words): (u32, Place, Option<Vec<u8>>),
    turn: &Turn,
) -> Result<Option<ChangedUnit>> {
    let is_cold = turn.memory_tier == MemoryTier::Cold;
    let words = words.filter(|_| stale.words).and_then(|old| {
        let words = WordCounts::of(&turn.said).encode();
        (words != old).then_some(words)
    });
    let (mut heard, mut found) = (Vec::new(), Vec::new());
    if stale.anchors || stale.critical && is_cold {
        heard = statements(&turn.said.user_message);
        found = anchor_rules::find(&turn.said, &heard);
    }
    let rule =
        if stale.critical && is_cold { judged(sql, scope, place, turn, (&heard, &found))? } else { None };
    let anchors = if stale.anchors {
        let stated = anchors::stated_by(sql, scope, turn.id)?;
        if !is_cold || stated.iter().any(|stated| stated.made_by != BUILT_IN) {
            // The rules add nothing to a turn that is not cold, because compression will examine it, nor to what a
            // summarizer found. They may only remove statements.
            let by_rules = stated.iter().filter(|stated| stated.made_by == BUILT_IN);
            let known: BTreeSet<StatementKey> = by_rules.map(|stated| key_of(&stated.found)).collect();
            found.retain(|found| known.contains(&key_of(found)));
        }
        new_anchors(&stated, found, (Seq(seq), StoredTime::clamped(turn.timestamp)), |found| {
            turn.said.trust_of(&found.quote)
        })
    } else {
        None
    };
    Ok(changed(ChangedUnit { place, turn_id: turn.id, words, rule, anchors }))
}

/// Like `of_turn`, for a turn of which only a summary is left: removes anchors whose quotes no longer say so.
fn of_summary(
    sql: &dyn Sql,
    scope: &Scope,
    stale: Kinds,
    (seq, place): (u32, Place),
    summary: &Summary,
) -> Result<Option<ChangedUnit>> {
    let turn_id = summary.original_turn_id;
    let mut anchors = None;
    if stale.anchors {
        let stated = anchors::stated_by(sql, scope, turn_id)?;
        let by_rules = stated.iter().filter(|stated| stated.made_by == BUILT_IN).map(|stated| &stated.found);
        let says_so = |found: &&FoundAnchor| {
            let claims = anchor_rules::claims(&statements(&found.quote), &found.subject);
            claims.iter().any(|claim| key_of(claim) == key_of(found))
        };
        let found = by_rules.filter(says_so).cloned().collect();
        // Only what was stated before is found again, as far trusted as it was.
        let known = |found: &FoundAnchor| stated.iter().find(|stated| stated.found == *found);
        let trust_of = |found: &FoundAnchor| known(found).map_or(Trust::Foreign, |stated| stated.trust);
        anchors = new_anchors(&stated, found, (Seq(seq), StoredTime::clamped(summary.timestamp)), trust_of);
    }
    Ok(changed(ChangedUnit { place, turn_id, words: None, rule: None, anchors }))
}

fn changed(unit: ChangedUnit) -> Option<ChangedUnit> {
    (unit.words.is_some() || unit.rule.is_some() || unit.anchors.is_some()).then_some(unit)
}

/// What the rules find. `None` if that is exactly what they have already stated.
fn new_anchors(
    stated: &[Stated],
    found: Vec<FoundAnchor>,
    (seq, said_at): (Seq, StoredTime),
    trust_of: impl Fn(&FoundAnchor) -> Trust,
) -> Option<NewAnchors> {
    let by_rules: BTreeMap<StatementKey, &FoundAnchor> = stated
        .iter()
        .filter(|stated| stated.made_by == BUILT_IN)
        .map(|stated| (key_of(&stated.found), &stated.found))
        .collect();
    let trusts = found.iter().map(trust_of).collect();
    (by_rules != by_key(&found)).then_some(NewAnchors { found, trusts, seq, said_at })
}

/// The rule by which a turn that is kept verbatim is critical now, if it differs from the one in its row. The verdict of a
/// summarizer and the use of a turn cannot be derived again, so they stay valid where no rule applies.
#[expect(clippy::option_option, reason = "none: nothing is new; none in it: no rule keeps it any more")]
fn judged(
    sql: &dyn Sql,
    scope: &Scope,
    place: Place,
    turn: &Turn,
    (heard, found): (&[Statement<'_>], &[FoundAnchor]),
) -> Result<Option<Option<CriticalRule>>> {
    let before = match turn.snapshot_id {
        Some(_) => originals::snapshot(sql, scope, place.session.turn(place.turn_number.saturating_sub(1)))?,
        None => None,
    };
    let said =
        turn.critical_rule.filter(|rule| matches!(rule, CriticalRule::Used | CriticalRule::Summarizer));
    let rule = critical::judge(turn, before, heard, found).first().copied().or(said);
    Ok((rule != turn.critical_rule).then_some(rule))
}
