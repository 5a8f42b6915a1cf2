//! Stores receipts, counts uses, and promotes the units that were of use in a session. All of this is written after the
//! acknowledgement, many entries at once. A crash may lose some of them, but nothing is counted twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::Result,
    model::{
        critical::CriticalRule,
        ids::{MemoryId, SessionId},
        job::JobKind,
        place::{MemoryNo, Seq, UserNo},
        receipt::{ItemKind, MOST_PROMOTED, Receipt, ReceiptItem},
        tier::MemoryTier,
        uses::Aspect,
    },
    store::{
        behind::{NewReceipt, WriteBehind},
        rows::{
            jobs,
            memories::uses::AnsweringTurn,
            receipts::{self, Considered},
            sessions,
            uses::{self, UseHits},
        },
        scope::Scope,
        sensor_reads::is_to_look_at,
        write_tx::WriteTx,
    },
};

/// The uses by one user, to be added to the stored counts.
struct UseTally {
    scope: Scope,
    /// By unit.
    units: BTreeMap<i64, UseHits>,
    /// How many contexts showed each memory.
    memories: BTreeMap<MemoryNo, u32>,
    /// By aspect and name within it, such as `tier` and `cold`.
    names: BTreeMap<(Aspect, String), u64>,
    /// For each session, the units to promote: one list per context, the most recently used context last, each list best
    /// first.
    at_hand: BTreeMap<SessionId, Vec<Vec<Seq>>>,
}

impl UseTally {
    fn of(scope: Scope) -> Self {
        Self {
            scope,
            units: BTreeMap::new(),
            memories: BTreeMap::new(),
            names: BTreeMap::new(),
            at_hand: BTreeMap::new(),
        }
    }

    fn name(&mut self, aspect: Aspect, name: &str) {
        *self.names.entry((aspect, name.to_owned())).or_default() += 1;
    }

    fn rule(&mut self, aspect: Aspect, rule: Option<CriticalRule>) {
        if let Some(rule) = rule {
            self.name(aspect, rule.as_str());
        }
    }
}

impl WriteTx<'_> {
    /// Writes all entries.
    pub(crate) fn write_behind(&mut self, entries: &[WriteBehind]) -> Result<()> {
        let (mut tallies, mut kept) = (BTreeMap::new(), BTreeMap::new());
        for entry in entries {
            match entry {
                WriteBehind::Receipt(scope, new) => {
                    if self.keep_receipt(scope, new)? {
                        kept.insert(scope.user_no, *scope);
                    }
                }
                WriteBehind::Use(scope, answer) => self.use_receipt(&mut tallies, scope, answer)?,
            }
        }
        for scope in kept.values() {
            receipts::prune(self.sql, scope, self.config.receipts)?;
        }
        tallies.values().try_for_each(|tally| self.count(tally))
    }

    /// Writes a receipt, and returns whether it did. Writes nothing if the user is gone or being erased, or if anything of
    /// the user's was erased or replaced since the recall, because the receipt's query may repeat it.
    fn keep_receipt(&mut self, scope: &Scope, new: &NewReceipt) -> Result<bool> {
        let NewReceipt { receipt, at_hand, epoch } = new;
        let user = self.sql.lock_user(scope.user_no)?;
        let is_as_it_was = user.is_some_and(|row| row.user_id == scope.user_id && row.epoch == *epoch);
        if !is_as_it_was || jobs::is_erasing(self.sql, scope, None)? {
            return Ok(false);
        }
        receipts::insert(self.sql, scope, receipt, at_hand)?;
        self.queue_checks(scope, receipt)?;
        Ok(true)
    }

    /// Queues the job that checks memories if the receipt shows a stale one that a sensor may look at. There is one such job
    /// per user, and it does not run while the context is built.
    fn queue_checks(&mut self, scope: &Scope, receipt: &Receipt) -> Result<()> {
        let is_shown = |item: &&ReceiptItem| item.packed_as.is_some() || receipt.budget_tokens.is_none();
        let is_stale = |item: &&ReceiptItem| item.kind == ItemKind::Memory && !item.flags.stale.is_empty();
        let mut stale = receipt.items.iter().filter(is_stale).filter(is_shown).peekable();
        if stale.peek().is_none() || jobs::is_queued(self.sql, scope, JobKind::Validate)? {
            return Ok(());
        }
        for item in stale {
            let (id, of) = (MemoryId::from_uuid(item.owner_id), (&self.config.sensors[..], self.now()));
            if is_to_look_at(self.sql, scope, id, of)? {
                return self.enqueue(scope, JobKind::Validate, None, 0);
            }
        }
        Ok(())
    }

    /// Counts, once, what a context showed as of use, because a turn answers it. Does nothing if the context's receipt is
    /// gone.
    fn use_receipt(
        &mut self,
        tallies: &mut BTreeMap<UserNo, UseTally>,
        scope: &Scope,
        answer: &AnsweringTurn,
    ) -> Result<()> {
        if self.sql.lock_user(scope.user_no)?.is_none_or(|row| row.user_id != scope.user_id) {
            return Ok(());
        }
        let now = self.now();
        let Some(answered) = receipts::set_used(self.sql, scope, answer.receipt_id, now)? else {
            return Ok(());
        };
        let tally = tallies.entry(scope.user_no).or_insert_with(|| UseTally::of(*scope));
        tally.name(Aspect::Profile, &answered.profile);
        let is_shown = |of: &Considered| of.seq.is_some() && of.shown_as.is_some();
        let shows_recalled = answered.considered.iter().any(is_shown);
        let mut is_best = true; // The best comes first.
        let mut known = Vec::new();
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        reached.extend(answered.shows_hot.then_some(MemoryTier::Hot.as_str()));
        for Considered { seq, memory, memory_tier, shown_as } in &answered.considered {
            if let Some(memory) = memory {
                // A memory is counted apart from turns' units, and is not promoted.
                if let Some(shown_as) = shown_as {
                    tally.name(Aspect::PackedAs, shown_as.as_str());
                    known.push(*memory);
                    is_best = false;
                }
                continue;
            }
            let kept = match seq.map(|seq| uses::kept(self.sql, scope, seq)).transpose()? {
                Some(None) => continue, // A unit that was erased since is not counted.
                Some(kept) => kept,
                None => None, // An anchor is not a unit.
            };
            let alone = kept.as_ref().filter(|kept| kept.total_tokens > self.config.verbatim_tokens);
            let alone = alone.and_then(|kept| kept.rule).filter(|_| shows_recalled);
            tally.rule(Aspect::Chance, alone);
            let Some(shown_as) = shown_as else { continue };
            tally.rule(Aspect::Taken, alone);
            tally.rule(Aspect::Rule, kept.and_then(|kept| kept.rule));
            tally.name(Aspect::PackedAs, shown_as.as_str());
            if let Some(tier) = memory_tier {
                tally.name(Aspect::Tier, tier.as_str());
                reached.insert(tier.as_str());
            }
            if let Some(seq) = seq {
                let hits = tally.units.entry(*seq).or_default();
                hits.all += 1;
                hits.best += u32::from(std::mem::take(&mut is_best));
            }
        }
        for memory_no in self.note_answered(scope, answer, &known)? {
            *tally.memories.entry(memory_no).or_default() += 1;
        }
        for tier in reached {
            tally.name(Aspect::Reached, &format!("{} {tier}", now.format("%Y-%m")));
        }
        if !answered.at_hand.is_empty() {
            tally.at_hand.entry(answer.session_id).or_default().push(answered.at_hand);
        }
        Ok(())
    }

    /// Promotes these units in a session, if it is still open.
    fn promote(&mut self, scope: &Scope, session: SessionId, at_hand: &[Vec<Seq>]) -> Result<()> {
        let open =
            sessions::by_id(self.sql, scope, session)?.filter(|session| session.info.end_reason.is_none());
        let Some(session) = open else { return Ok(()) };
        let mut newest: Vec<Seq> = Vec::with_capacity(MOST_PROMOTED);
        for &seq in at_hand.iter().rev().flatten() {
            if newest.len() < MOST_PROMOTED && !newest.contains(&seq) {
                newest.push(seq);
                receipts::promote(self.sql, scope, session.session_no, seq, self.now())?;
            }
        }
        receipts::prune_promotions(self.sql, scope, session.session_no)
    }

    fn count(&mut self, tally: &UseTally) -> Result<()> {
        for (seq, hits) in &tally.units {
            uses::count_unit(self.sql, &tally.scope, *seq, *hits, self.now())?;
        }
        for (memory_no, contexts) in &tally.memories {
            self.count_answered(&tally.scope, *memory_no, *contexts)?;
        }
        for ((aspect, name), hits) in &tally.names {
            uses::count(self.sql, &tally.scope, (*aspect, name), *hits)?;
        }
        let mut sessions = tally.at_hand.iter();
        sessions.try_for_each(|(session, at_hand)| self.promote(&tally.scope, *session, at_hand))
    }
}
