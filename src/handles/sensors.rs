//! The methods of `Memories` about sensors.

use std::sync::Arc;

use crate::{
    error::{Error, Result},
    event::in_span,
    handles::{Memories, drive},
    jobs,
    model::{
        ids::MemoryId,
        page::MAX_LIMIT,
        sensor::{MemoryCheck, MemorySensor, NewSensor, ToCheck},
    },
};

impl Memories {
    /// Sets a [configured](crate::Config::sensors) sensor to check a memory. Once a recall or a context has shown a stale
    /// memory that a sensor may check, a job checks the user's stale memories; [`validate`](Self::validate) checks memories
    /// on request. A previous expectation of the same sensor and subject is replaced. The sensor name `human` means that a
    /// review asks a person. The memory itself and its history do not change.
    ///
    /// Errors: `InvalidInput` (bounds; the sensor does not know the subject, or cannot check the expectation; more than
    /// 64 sensors); `NotFound`; `Conflict` if the memory no longer holds, is bound to its session, or is trusted more
    /// than the tool or document that asks; `Unsupported` if no sensor of this name is configured.
    pub async fn watch(&self, id: MemoryId, sensor: NewSensor) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.watch_memory(&scope, id, &sensor, by)).await
    }

    /// Stops a sensor from checking a memory: at this subject or, with `None`, at all subjects. The sensor need not be
    /// configured.
    ///
    /// Errors: `NotFound` (no such memory, or it has no such sensor); `Conflict` if the memory is trusted more than the
    /// tool or document that asks.
    pub async fn unwatch(&self, id: MemoryId, sensor: &str, subject: Option<&str>) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        let (sensor, subject) = (sensor.to_owned(), subject.map(str::to_owned));
        self.store.write(move |tx| tx.unwatch_memory(&scope, id, (&sensor, subject.as_deref()), by)).await
    }

    /// Returns the sensors of a memory, ordered by name and subject.
    ///
    /// Errors: `NotFound`.
    pub async fn sensors(&self, id: MemoryId) -> Result<Vec<MemorySensor>> {
        let store = Arc::clone(&self.store);
        self.read(move |snapshot, scope| snapshot.memory_sensors(scope, id, &store.config().sensors)).await
    }

    /// Runs the sensors of memories now, one after the other, each for at most
    /// [`Config::sensor_timeout`](crate::Config::sensor_timeout) and outside of any transaction. Each check that took
    /// place is recorded as a change in the memory's history, with the verdict but without what was seen.
    ///
    /// - If a check passes, the memory's reliability becomes the sensor's, and its confidence rises, at most to the
    ///   same value.
    /// - If a check fails, the confidence is halved, and the reliability is lowered to 0.3 or less; recalls then flag the
    ///   memory. A review asks a person about it. The same failure again does not halve the confidence again.
    /// - An undecided check changes nothing about the memory. A check of a memory whose text was edited in the meantime
    ///   does not count, and is not recorded. A sensor that was late three times is not asked again by the same call.
    ///
    /// Memories that no longer hold are skipped. With [`ToCheck::Stale`], sensors that are not configured are skipped too.
    ///
    /// Errors: `NotFound`, in which case no sensor has run; `InvalidInput` for more than 1,000 ids.
    pub async fn validate(&self, which: impl Into<ToCheck>) -> Result<Vec<MemoryCheck>> {
        let which = which.into();
        if let ToCheck::Memories(ids) = &which
            && ids.len() > MAX_LIMIT as usize
        {
            return Err(Error::invalid(format!("at most {MAX_LIMIT} memories are checked at once")));
        }
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let validating = drive(move || async move { jobs::validate(&store, scope, which).await });
        in_span("validate", (self.scope.user_id, None), validating).await
    }
}
