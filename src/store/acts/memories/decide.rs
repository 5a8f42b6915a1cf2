//! Deciding a review: a person's decision, and what follows from it for the memories. "It" is the memory that the review is
//! about; in a contradiction, the one that waits.
//!
//! | kind | approved | rejected |
//! |---|---|---|
//! | contradiction | it takes the place of the other, or is active if there is none | it is forgotten |
//! | promote | it settles to `ultra_low`, and the assistant's words become a person's (trust 4) | it stays as it is |
//! | flagged | it stays as it is | it falls back to `mid` |
//! | merge | it takes the place of the other, and has the tags and entities of both | both stay as they are |
//! | check | a person looked and it holds: the check passed | it is forgotten |
//! | conflict | a person looked at the file's text: the memory stays as it is | the same |

use crate::{
    error::Result,
    memory::{
        bounds::{MAX_TERMS, check_settled},
        frequency::approve,
        terms::terms,
    },
    model::{
        change::ChangeOp,
        ids::ReviewId,
        memory::words::{Frequency, MemoryStatus},
        place::MemoryNo,
        review::{Decided, Decision, ReviewKind},
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            check::NewCheck,
            edit::check_may_change,
            operation::{MemoryOperation, Note, conflict, no_memory},
            save::version_over,
        },
        rows::memories::{
            find,
            reviews::{self, NumberedReview},
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The reasons in the history.
const APPROVED: &str = "a person approved it";
const REJECTED: &str = "a person rejected it";

impl WriteTx<'_> {
    /// Decides a review, once, and carries out what follows. `by` is the person's name.
    pub(crate) fn decide_review(
        &mut self,
        scope: &Scope,
        id: ReviewId,
        (decision, by): (Decision, &str),
    ) -> Result<Decided> {
        let mut operation = MemoryOperation::begin(self, scope, Origin::User.as_str())?;
        let (sql, now) = (operation.tx.sql, operation.now);
        let asked = reviews::by_id(sql, scope, id)?.ok_or_else(reviews::no_review)?;
        if let Some(decision) = asked.review.decision {
            return Err(conflict(format!("the review is already {}", decision.as_str())));
        }
        // The review is decided first, because a memory that is no longer active withdraws its open reviews.
        reviews::decide(sql, scope, asked.review_no, (decision, by, now))?;
        operation.carry_out(&asked, decision == Decision::Approved)?;
        let memories = [Some(asked.memory_no), asked.other_no].into_iter().flatten();
        let memories = memories.map(|memory_no| operation.shown(memory_no)).collect::<Result<_>>()?;
        let asked = reviews::by_id(operation.tx.sql, scope, id)?.ok_or_else(reviews::no_review)?;
        Ok(Decided { review: asked.review, memories })
    }
}

impl MemoryOperation<'_, '_> {
    fn carry_out(&mut self, asked: &NumberedReview, is_approved: bool) -> Result<()> {
        let memory = self.held(Some(asked.memory_no))?;
        if asked.review.kind != ReviewKind::Conflict {
            check_may_change(&memory)?;
        }
        match (asked.review.kind, is_approved) {
            (ReviewKind::Contradiction, true) => {
                let other = asked.other_no.map(|other_no| self.held(Some(other_no))).transpose()?;
                let other = match other.filter(|other| other.row.status == MemoryStatus::Active) {
                    None => self.holder(&memory.row)?.map(|row| self.hold(row)).transpose()?,
                    other => other,
                };
                match other {
                    // The person decides which of the two holds, whatever their trust.
                    Some(other) => self.take_the_place(&memory, &other, APPROVED),
                    None => self.restore(&memory, APPROVED).map(drop), // Nothing contradicts it any more.
                }
            }
            (ReviewKind::Merge, true) => {
                let other = self.held(asked.other_no)?;
                self.join(&memory, &other)
            }
            (ReviewKind::Contradiction | ReviewKind::Check, false) => {
                self.forget(asked.memory_no, Origin::User, REJECTED).map(drop)
            }
            (ReviewKind::Promote, true) => self.promote(&memory),
            (ReviewKind::Flagged, false) => self.fall_back(&memory),
            (ReviewKind::Check, true) => self.check(&memory, &NewCheck::by_person(true)).map(drop),
            // A person can bring in the text of a conflicting file with an edit.
            (ReviewKind::Promote | ReviewKind::Merge, false)
            | (ReviewKind::Flagged, true)
            | (ReviewKind::Conflict, _) => Ok(()),
        }
    }

    fn held(&self, memory_no: Option<MemoryNo>) -> Result<MemoryBefore> {
        let row = memory_no.map(|no| find::by_no(self.tx.sql, &self.scope, no)).transpose()?.flatten();
        self.hold(row.ok_or_else(no_memory)?)
    }

    fn join(&mut self, memory: &MemoryBefore, other: &MemoryBefore) -> Result<()> {
        check_may_change(other)?;
        self.retire(other, &memory.row, (ChangeOp::Merge, APPROVED))?;
        let joined = |one: &[String], other: &[String]| {
            let both = terms(one.iter().chain(other)).into_iter().map(|term| term.name);
            both.take(MAX_TERMS.max(one.len())).collect::<Vec<_>>()
        };
        let mut after = memory.clone();
        after.row.version = version_over(&memory.row, &other.row);
        after.names.tags = joined(&memory.names.tags, &other.names.tags);
        after.names.entities = joined(&memory.names.entities, &other.names.entities);
        self.change(memory, after, Note { reason: APPROVED, ..Note::of(ChangeOp::Merge) })?;
        self.succeed(other, &memory.row)
    }

    /// Moves a memory to `ultra_low`, where it stays for ever.
    fn promote(&mut self, memory: &MemoryBefore) -> Result<()> {
        let id = memory.row.id;
        let trust = approve(memory.row.trust, Origin::User).ok_or_else(|| {
            conflict(format!("{id} has the words of a tool or a document, which cannot stay forever"))
        })?;
        if memory.row.frequency != Frequency::Low || self.shown(memory.row.memory_no)?.contested {
            let frequency = memory.row.frequency.as_str();
            return Err(conflict(format!("{id} is now {frequency}, or contested, and cannot settle")));
        }
        check_settled(Frequency::UltraLow, memory.row.volatility, trust)
            .map_err(|error| conflict(error.to_string()))?;
        let mut after = memory.clone();
        after.row.trust = trust;
        self.move_to(memory, after, Frequency::UltraLow, APPROVED)
    }

    fn fall_back(&mut self, memory: &MemoryBefore) -> Result<()> {
        if memory.row.frequency != Frequency::Low {
            return Ok(()); // It has moved since the review was opened.
        }
        self.move_to(memory, memory.clone(), Frequency::Mid, REJECTED)
    }

    fn move_to(
        &mut self,
        before: &MemoryBefore,
        mut after: MemoryBefore,
        to: Frequency,
        reason: &str,
    ) -> Result<()> {
        (after.row.frequency, after.row.frequency_since) = (to, self.now);
        let (old_value, new_value) = (Some(before.row.frequency.as_str()), Some(to.as_str()));
        self.change(before, after, Note { op: ChangeOp::Frequency, old_value, new_value, reason }).map(drop)
    }
}
