//! The methods of [`Memories`](crate::Memories) about sensors, for callers without a runtime.

use crate::{
    MemoryCheck, MemoryId, MemorySensor, NewSensor, Result, ToCheck, handles::blocking::memories::Memories,
};

impl Memories {
    /// See [`Memories::watch`](crate::Memories::watch).
    pub fn watch(&self, id: MemoryId, sensor: NewSensor) -> Result<()> {
        self.runtime.block_on(self.inner.watch(id, sensor))
    }

    /// See [`Memories::unwatch`](crate::Memories::unwatch).
    pub fn unwatch(&self, id: MemoryId, sensor: &str, subject: Option<&str>) -> Result<()> {
        self.runtime.block_on(self.inner.unwatch(id, sensor, subject))
    }

    /// See [`Memories::sensors`](crate::Memories::sensors).
    pub fn sensors(&self, id: MemoryId) -> Result<Vec<MemorySensor>> {
        self.runtime.block_on(self.inner.sensors(id))
    }

    /// See [`Memories::validate`](crate::Memories::validate).
    pub fn validate(&self, which: impl Into<ToCheck>) -> Result<Vec<MemoryCheck>> {
        self.runtime.block_on(self.inner.validate(which))
    }
}
