//! What looks whether memories still hold, as their handle shows it.

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
    /// Has a [configured](crate::Config::sensors) sensor look at a memory: by a job when the memory is stale and was shown,
    /// and when [`validate`](Self::validate) says so. What it expected of the same subject before is replaced. The name
    /// `human` is that of a person, who is asked by a review. It changes nothing of the memory, and is no part of its
    /// history.
    ///
    /// Errors: `InvalidInput` (bounds; the sensor does not know the subject, or cannot look for this; more than 64);
    /// `NotFound`; `Conflict` if the memory holds no more, goes with its
    /// session, or is trusted more than a tool or a document that asks; `Unsupported` if the configuration has
    /// no sensor of this name.
    pub async fn watch(&self, id: MemoryId, sensor: NewSensor) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.watch_memory(&scope, id, &sensor, by)).await
    }

    /// Has a sensor look at a memory no more: at this subject, or, without one, at any. The configuration need not have it.
    ///
    /// Errors: `NotFound` (no such memory, or no such sensor of it); `Conflict` if the memory is trusted more than a tool or
    /// a document that asks.
    pub async fn unwatch(&self, id: MemoryId, sensor: &str, subject: Option<&str>) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        let (sensor, subject) = (sensor.to_owned(), subject.map(str::to_owned));
        self.store.write(move |tx| tx.unwatch_memory(&scope, id, (&sensor, subject.as_deref()), by)).await
    }

    /// What looks at a memory, in the order of names and subjects.
    ///
    /// Errors: `NotFound`.
    pub async fn sensors(&self, id: MemoryId) -> Result<Vec<MemorySensor>> {
        let store = Arc::clone(&self.store);
        self.read(move |snapshot, scope| snapshot.memory_sensors(scope, id, &store.config().sensors)).await
    }

    /// Has the sensors of memories look now, one after the other, each for
    /// [`Config::sensor_timeout`](crate::Config::sensor_timeout) at most and outside of any transaction; and keeps what
    /// each found: a change of the memory's history, with the verdict and never what was seen.
    ///
    /// What passes is checked, as reliable as its sensor, and no surer than that; what fails has half its confidence and a
    /// reliability of 0.3 at most, so that recalls flag it, and a review asks a person. What fails as it did before makes
    /// nothing falser once more. What cannot be told changes nothing; nor does what was seen of a memory whose text was
    /// edited meanwhile. A sensor that was late three times is not asked again by the same call.
    ///
    /// Memories that hold no more are left out, and so are sensors that a job would not ask where
    /// [`ToCheck::Stale`] is given.
    ///
    /// Errors: `NotFound`, and then nobody has looked; `InvalidInput` for more than 1,000 ids.
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
