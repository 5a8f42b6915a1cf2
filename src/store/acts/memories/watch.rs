//! Adds sensors to a memory, and removes them.

use crate::{
    error::{Error, ErrorKind, Result},
    memory::bounds::MAX_LINE_BYTES,
    model::{
        ids::MemoryId,
        memory::trust::Trust,
        metadata,
        sensor::{HUMAN, NewSensor},
        turn::Origin,
    },
    sensors::known::{MAX_NAME_BYTES, of_name},
    store::{
        acts::memories::{
            edit::check_may_change,
            operation::{MemoryOperation, conflict},
            voices::check_may_change_words,
        },
        rows::memories::sensors,
        scope::Scope,
        sensor_reads::serving,
        write_tx::WriteTx,
    },
    text::measure::{check_name, check_text},
};

/// The maximum size of what a sensor expects, in bytes.
pub(crate) const MAX_EXPECT_BYTES: usize = 16 << 10;
/// The maximum nesting depth of what a sensor expects.
const MAX_DEPTH: usize = 64;
/// The most sensors of one memory.
const MAX_SENSORS: usize = 64;

impl NewSensor {
    /// Fails if a row cannot hold the sensor, or if an import would reject it.
    pub(crate) fn check(&self) -> Result<()> {
        check_name("sensor's name", Some(&self.sensor))?;
        check_text("sensor's name", &self.sensor, MAX_NAME_BYTES)?;
        check_text("sensor's subject", &self.subject, MAX_LINE_BYTES)?;
        if !metadata::fits(self.expect.fields(), MAX_DEPTH, MAX_EXPECT_BYTES) {
            return Err(Error::invalid(format!(
                "what a sensor expects is nested deeper than {MAX_DEPTH}, or larger than {MAX_EXPECT_BYTES} bytes"
            )));
        }
        Ok(())
    }
}

impl WriteTx<'_> {
    /// Adds a sensor to an active or archived memory.
    pub(crate) fn watch_memory(
        &mut self,
        scope: &Scope,
        id: MemoryId,
        new: &NewSensor,
        by: Origin,
    ) -> Result<()> {
        new.check()?;
        let operation = MemoryOperation::begin(self, scope, &new.sensor)?;
        let held = operation.memory(id)?;
        check_may_change(&held)?;
        check_may_change_words(&held.row, Trust::of(by))?;
        if held.row.session_no.is_some() {
            return Err(conflict(format!("{id} ends with its session and cannot have a sensor")));
        }
        let (sql, memory_no) = (operation.tx.sql, held.row.memory_no);
        if new.sensor != HUMAN {
            let serving = serving(sql, scope, &operation.tx.config.sensors)?;
            let sensor = of_name(&serving, &new.sensor).ok_or_else(|| {
                let why = format!("the configuration has no sensor {}; set Config::sensors", new.sensor);
                Error::new(ErrorKind::Unsupported, why)
            })?;
            if !sensor.understands(&new.subject, &new.expect) {
                return Err(Error::invalid(format!(
                    "the sensor {} does not know this subject, or cannot check what is expected",
                    new.sensor
                )));
            }
        }
        let others = sensors::of_memory(sql, scope, memory_no)?;
        let is_there = |other: &sensors::SensorWatchRow| {
            (&other.what.sensor, &other.what.subject) == (&new.sensor, &new.subject)
        };
        if others.len() >= MAX_SENSORS && !others.iter().any(is_there) {
            return Err(Error::invalid(format!("a memory can have at most {MAX_SENSORS} sensors")));
        }
        sensors::put(sql, scope, memory_no, new)
    }

    /// Removes a sensor from a memory: for one subject, or for all.
    pub(crate) fn unwatch_memory(
        &mut self,
        scope: &Scope,
        id: MemoryId,
        (sensor, subject): (&str, Option<&str>),
        by: Origin,
    ) -> Result<()> {
        let operation = MemoryOperation::begin(self, scope, sensor)?;
        let row = operation.memory(id)?.row;
        check_may_change_words(&row, Trust::of(by))?;
        let memory_no = row.memory_no;
        match sensors::remove(operation.tx.sql, scope, memory_no, (sensor, subject))? {
            0 => Err(Error::not_found("this memory has no such sensor")),
            _ => Ok(()),
        }
    }
}
