//! Stores checks: the effect on a memory of what a sensor or a person found.

use std::time::Duration;

use chrono::DateTime;

use crate::{
    error::Result,
    memory::{
        beginning::{Checked, after_check},
        deciding::{HUMAN_RELIABILITY, HUMAN_WINDOW},
        validity::window,
    },
    model::{
        change::ChangeOp,
        ids::{MemoryId, ReviewId},
        memory::words::MemoryStatus,
        place::MemoryNo,
        review::ReviewKind,
        sensor::{CheckResult, CheckVerdict, HUMAN, MemoryCheck, NewSensor, UnknownReason},
        stored_time::StoredTime,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            operation::{MemoryOperation, Note},
        },
        job_tx::JobTx,
        rows::memories::{
            find,
            reviews::{self, QuestionState},
            row::MemoryRow,
            sensors, state,
        },
        scope::Scope,
        slice_error::SliceResult,
        write_tx::WriteTx,
    },
    text::measure::ContentHash,
};

/// The result of a check whether a memory holds.
#[derive(Clone, Debug)]
pub(crate) struct NewCheck<'c> {
    /// Who checked, as the memory's state names it: a sensor's name, or `human`.
    pub(crate) by: &'c str,
    pub(crate) checked: Checked,
    /// How long a pass holds if the memory states no window.
    pub(crate) window: Option<Duration>,
    /// Why there is no result. Never contains what was seen.
    pub(crate) why: &'c str,
}

impl NewCheck<'_> {
    /// A check by a person.
    pub(crate) fn by_person(holds: bool) -> Self {
        let passed = Checked::Passed { reliability: HUMAN_RELIABILITY };
        let checked = if holds { passed } else { Checked::Failed };
        Self { by: HUMAN, checked, window: Some(HUMAN_WINDOW), why: "" }
    }
}

/// What a sensor found about a memory, and what it looked for.
#[derive(Clone, Debug)]
pub(crate) struct SensorFinding {
    pub(crate) memory: MemoryId,
    /// The hash of the text that the memory had when the sensor looked.
    pub(crate) content_hash: ContentHash,
    /// Which sensor looked, at which subject, and what it expected.
    pub(crate) what: NewSensor,
    pub(crate) verdict: CheckVerdict,
    /// When the sensor looked; `None` if it did not.
    pub(crate) looked_at: Option<StoredTime>,
    /// The sensor's reliability.
    pub(crate) reliability: f64,
    pub(crate) window: Option<Duration>,
}

impl SensorFinding {
    /// The check as callers see it, without its effects on the memory.
    pub(crate) fn told(&self) -> MemoryCheck {
        let why = match self.verdict {
            CheckVerdict::Unknown(why) => Some(why),
            CheckVerdict::Pass(_) | CheckVerdict::Fail(_) => None,
        };
        MemoryCheck {
            memory_id: self.memory,
            sensor: self.what.sensor.clone(),
            subject: self.what.subject.clone(),
            result: self.verdict.result(),
            why,
            looked_at: self.looked_at.map(DateTime::from),
            confidence: None,
            reliability: None,
            review: None,
        }
    }

    fn changed(&self) -> MemoryCheck {
        MemoryCheck { result: CheckResult::Unknown, why: Some(UnknownReason::Changed), ..self.told() }
    }
}

impl JobTx<'_, '_> {
    /// Stores what a sensor found, as part of a job.
    pub(crate) fn keep_check(&mut self, scope: &Scope, looked: &SensorFinding) -> SliceResult<MemoryCheck> {
        self.lock(scope)?;
        Ok(self.tx.keep_check(scope, looked)?)
    }
}

impl WriteTx<'_> {
    /// Stores what a sensor found: a change, its effects on the memory, and a review if the check failed or asks a person.
    /// The finding does not apply, and the memory stays as it is, if it is gone, is no longer active or archived, has
    /// another text, or is no longer watched by this sensor with this expectation.
    pub(crate) fn keep_check(&mut self, scope: &Scope, looked: &SensorFinding) -> Result<MemoryCheck> {
        let SensorFinding { what, verdict, .. } = looked;
        let mut operation = MemoryOperation::begin(self, scope, &what.sensor)?;
        let Some(row) = find::by_id(operation.tx.sql, scope, looked.memory)? else {
            return Ok(looked.changed());
        };
        let (memory_no, subject) = (row.memory_no, (what.sensor.as_str(), what.subject.as_str()));
        let holds_still = matches!(row.status, MemoryStatus::Active | MemoryStatus::Archived)
            && row.content_hash == looked.content_hash;
        let watched = sensors::of_subject(operation.tx.sql, scope, memory_no, subject)?;
        let Some(watched) = watched.filter(|watched| holds_still && watched.what == *what) else {
            return Ok(looked.changed());
        };
        let before = operation.hold(row)?;
        let mut told = looked.told();
        let check = NewCheck { by: &what.sensor, checked: Checked::Unknown, window: looked.window, why: "" };
        let after = match verdict {
            CheckVerdict::Pass(_) => {
                let checked = Checked::Passed { reliability: looked.reliability };
                operation.check(&before, &NewCheck { checked, ..check })?
            }
            CheckVerdict::Fail(seen) => {
                // If the sensor sees the same and fails again, that is not news, and the memory does not become more
                // doubtful. The same applies if what the last check saw is no longer stored.
                let is_as_before = watched.seen.as_deref().is_none_or(|before| before == seen.as_bytes())
                    && operation.told_last(memory_no, &what.sensor)? == Some(CheckResult::Fail);
                let after = if is_as_before {
                    operation.note_check(memory_no, CheckResult::Fail, "as before")?;
                    before
                } else {
                    operation.check(&before, &NewCheck { checked: Checked::Failed, ..check })?
                };
                let why = format!("{} failed, {}", what.sensor, numbers(&after));
                told.review = operation.ask_whether_it_holds(memory_no, &why)?;
                after
            }
            CheckVerdict::Unknown(UnknownReason::Asked) => {
                let (of, may) = ((memory_no, None), (operation.now, |_| Ok(true)));
                let question = reviews::question(operation.tx.sql, scope, ReviewKind::Check, of, may)?;
                told.review = operation.ask_whether_it_holds(memory_no, "a person is to look")?;
                told.why = told.review.map_or(Some(UnknownReason::Decided), |_| told.why);
                if question == QuestionState::Free {
                    operation.note_check(memory_no, CheckResult::Unknown, UnknownReason::Asked.as_str())?;
                }
                before
            }
            CheckVerdict::Unknown(why) => {
                operation.check(&before, &NewCheck { why: why.as_str(), ..check })?
            }
        };
        if let Some(seen) = verdict.seen() {
            sensors::set_seen(operation.tx.sql, scope, memory_no, subject, seen)?;
        }
        (told.confidence, told.reliability) = (Some(after.row.confidence), after.row.reliability);
        Ok(told)
    }
}

impl MemoryOperation<'_, '_> {
    /// Records a check of a memory: its effect on confidence and reliability, the time if it passed, and a change in its
    /// history. After a pass, a memory that grows stale and states no window gets the checker's window if that is longer
    /// than that of its volatility. Checks are facts: undo does not take them back.
    ///
    /// The frequency always stays: neither confidence nor reliability nor window decides which frequency a memory may have.
    pub(super) fn check(&mut self, before: &MemoryBefore, check: &NewCheck<'_>) -> Result<MemoryBefore> {
        let (memory_no, mut after) = (before.row.memory_no, before.clone());
        let (confidence, reliability) =
            after_check(before.row.confidence, before.row.reliability, check.checked);
        (after.row.confidence, after.row.reliability) = (confidence, reliability);
        let result = match check.checked {
            Checked::Passed { .. } => {
                state::count_pass(self.tx.sql, &self.scope, memory_no, (check.by, self.now))?;
                after.row.validity_window = window_after_pass(&before.row, check.window);
                CheckResult::Pass
            }
            Checked::Failed => CheckResult::Fail,
            Checked::Unknown => {
                self.note_check(memory_no, CheckResult::Unknown, check.why)?;
                return Ok(before.clone());
            }
        };
        let reason = numbers(&after);
        if after == *before {
            self.note_check(memory_no, result, &reason)?;
            return Ok(after);
        }
        self.change(before, after, noted(self.last_result(memory_no)?, result, &reason))
    }

    /// Asks a person whether a memory holds, and returns the review. `None` if a person decided that recently.
    pub(super) fn ask_whether_it_holds(
        &mut self,
        memory_no: MemoryNo,
        why: &str,
    ) -> Result<Option<ReviewId>> {
        self.ask_with_news(ReviewKind::Check, (memory_no, None), why, |_| Ok(true))
    }

    fn note_check(&self, memory_no: MemoryNo, result: CheckResult, reason: &str) -> Result<()> {
        self.note(memory_no, noted(self.last_result(memory_no)?, result, reason), None)
    }

    /// The result of a memory's newest check.
    fn last_result(&self, memory_no: MemoryNo) -> Result<Option<CheckResult>> {
        let looks = sensors::looks(self.tx.sql, &self.scope, memory_no)?;
        Ok(looks.first().map(|(_, result)| *result))
    }

    fn told_last(&self, memory_no: MemoryNo, by: &str) -> Result<Option<CheckResult>> {
        sensors::told_last(self.tx.sql, &self.scope, memory_no, by)
    }
}

/// A memory's window after a pass. A sensor never makes a memory stale sooner: a memory that does not grow stale gets no
/// window, and a window that is not longer than that of the memory's volatility is ignored. Longer windows are limited to
/// half a year.
fn window_after_pass(row: &MemoryRow, of_sensor: Option<Duration>) -> Option<Duration> {
    let own = window(row.volatility).and_then(|own| own.to_std().ok());
    let longer = own.zip(of_sensor).filter(|(own, of_sensor)| of_sensor > own);
    row.validity_window.or(longer.map(|(_, of_sensor)| of_sensor.min(HUMAN_WINDOW)))
}

/// The note of a check for the history: the previous result and this one.
fn noted(old: Option<CheckResult>, result: CheckResult, reason: &str) -> Note<'_> {
    let (old_value, new_value) = (old.map(CheckResult::as_str), Some(result.as_str()));
    Note { op: ChangeOp::Check, old_value, new_value, reason }
}

/// The reason for the history: `confidence 0.40, reliability 0.30`.
fn numbers(held: &MemoryBefore) -> String {
    let confidence = format!("confidence {:.2}", held.row.confidence);
    match held.row.reliability {
        Some(reliability) => format!("{confidence}, reliability {reliability:.2}"),
        None => confidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Config,
        memory::beginning::Finder,
        model::memory::{
            known::Memory,
            new::NewMemory,
            words::{MemoryKind, Volatility},
        },
        store::{Store, acts::memories::measured::MeasuredMemory, scope::UserKey},
    };

    /// The effect of a person's answer on a memory with this confidence.
    async fn checked(confidence: f64, holds: bool) -> Memory {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        let new =
            NewMemory::new(MemoryKind::Fix, "A", "b").confidence(confidence).volatility(Volatility::Medium);
        let new = MeasuredMemory::of(new, Vec::new(), (Finder::Hand, "caller")).unwrap();
        let check = move |tx: &mut WriteTx<'_>| {
            let scope = tx.add_user(&UserKey::Name("alex".into()))?;
            let saved = tx.save_memory(&scope, &new)?.memory;
            let mut operation = MemoryOperation::begin(tx, &scope, "mira")?;
            let held = operation.memory(saved.id)?;
            let held = operation.check(&held, &NewCheck::by_person(holds))?;
            operation.shown(held.row.memory_no)
        };
        store.write(check).await.unwrap()
    }

    #[tokio::test]
    async fn a_persons_word_is_good_for_half_a_year() {
        let memory = checked(0.80, true).await;
        assert_eq!((memory.confidence, memory.reliability), (0.82, Some(0.95)));
        assert_eq!(
            (memory.state.validated_by.as_deref(), memory.validity_window),
            (Some(HUMAN), Some(HUMAN_WINDOW))
        );
        let memory = checked(0.945, true).await;
        assert_eq!((memory.confidence, memory.reliability), (0.95, Some(0.95)));
        let memory = checked(0.80, false).await;
        assert_eq!((memory.confidence, memory.reliability, memory.validity_window), (0.4, Some(0.3), None));
    }
}
