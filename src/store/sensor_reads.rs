//! Reads which sensors check a memory, and which memories are due for a check.

use std::sync::Arc;

use crate::{
    error::{ErrorKind, Result, sound},
    memory::checking::is_resting,
    model::{
        ids::MemoryId,
        place::MemoryNo,
        review::ReviewKind,
        sensor::{MemorySensor, NewSensor},
        stored_time::StoredTime,
    },
    sensors::{
        Sensor,
        known::{is_configured, of_name},
    },
    store::{
        memory_reads::no_memory,
        rows::memories::{
            find, known,
            reviews::{self, QuestionState},
            row::MemoryRow,
            sensors::{self, SensorWatchRow},
        },
        rows::users,
        scope::Scope,
        snapshot::Snapshot,
        sql::Sql,
    },
    text::measure::ContentHash,
};

type Sensors = [Arc<dyn Sensor>];

/// How many memories one snapshot examines.
const AT_ONCE: u32 = 64;

/// A memory to check, with the hash of the text that it has now.
#[derive(Clone, Debug)]
pub(crate) struct ToLook {
    pub(crate) memory: MemoryId,
    pub(crate) content_hash: ContentHash,
    /// The sensors that check the memory.
    pub(crate) sensors: Vec<NewSensor>,
}

/// Which of the stale memories should be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All that have a configured sensor.
    All,
    /// All that have a configured sensor and are not at rest after the last check.
    Due,
}

/// Returns those of the configured sensors that serve the user. For the user, there are no others.
pub(crate) fn serving(sql: &dyn Sql, scope: &Scope, configured: &Sensors) -> Result<Vec<Arc<dyn Sensor>>> {
    if configured.is_empty() {
        return Ok(Vec::new());
    }
    let name = users::name(sql, scope)?;
    Ok(configured.iter().filter(|sensor| sensor.serves(name.as_deref())).cloned().collect())
}

impl Snapshot<'_> {
    /// Returns those of the configured sensors that serve the user.
    pub(crate) fn serving(&self, scope: &Scope, configured: &Sensors) -> Result<Vec<Arc<dyn Sensor>>> {
        self.ask(|sql| serving(sql, scope, configured))
    }

    /// Returns the sensors of a memory.
    pub(crate) fn memory_sensors(
        &self,
        scope: &Scope,
        id: MemoryId,
        configured: &Sensors,
    ) -> Result<Vec<MemorySensor>> {
        self.ask(|sql| {
            let memory_no = find::no_of(sql, scope, id)?.ok_or_else(no_memory)?;
            let configured = &serving(sql, scope, configured)?;
            let shown = |SensorWatchRow { what, .. }: SensorWatchRow| MemorySensor {
                is_configured: is_configured(configured, &what.sensor),
                sensor: what.sensor,
                subject: what.subject,
                expect: what.expect,
            };
            Ok(sensors::of_memory(sql, scope, memory_no)?.into_iter().map(shown).collect())
        })
    }

    /// Returns these memories, each with its sensors. Omits memories that are not recalled (neither active nor archived, or
    /// volatile).
    pub(crate) fn to_look_at(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<ToLook>> {
        self.ask(|sql| {
            let mut found = Vec::with_capacity(ids.len());
            for &id in ids {
                let row = find::by_id(sql, scope, id)?.ok_or_else(no_memory)?;
                if row.is_recalled() {
                    let watched = sensors::of_memory(sql, scope, row.memory_no)?;
                    let sensors = watched.into_iter().map(|watched| watched.what).collect();
                    found.push(ToLook { memory: id, content_hash: row.content_hash, sensors });
                }
            }
            Ok(found)
        })
    }

    /// Returns stale memories to check from the next portion after memory number `after`, and the number after which to
    /// continue. The number is `None` after the last portion. Omits damaged memories. `configured` are the sensors that
    /// serve the user.
    pub(crate) fn stale_to_look_at(
        &self,
        scope: &Scope,
        after: MemoryNo,
        (which, configured): (Which, &Sensors),
    ) -> Result<(Vec<ToLook>, Option<MemoryNo>)> {
        let now = self.now();
        self.ask(|sql| {
            let some = sensors::watched_after(sql, scope, after, AT_ONCE)?;
            let next = some.last().copied().filter(|_| some.len() == AT_ONCE as usize);
            let mut found = Vec::new();
            for memory_no in some {
                match stale(sql, scope, memory_no, (which, configured, now)) {
                    Ok(stale) => found.extend(stale),
                    Err(error) if error.kind() == ErrorKind::Corrupt => {}
                    Err(error) => return Err(error),
                }
            }
            Ok((found, next))
        })
    }
}

/// Returns the memory with its configured sensors, if it is stale and to be checked according to `which`.
fn stale(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (which, configured, now): (Which, &Sensors, StoredTime),
) -> Result<Option<ToLook>> {
    let watched = sensors::of_memory(sql, scope, memory_no)?;
    let mut sensors: Vec<NewSensor> = watched.into_iter().map(|watched| watched.what).collect();
    sensors.retain(|what| is_configured(configured, &what.sensor));
    if sensors.is_empty()
        || (which == Which::Due && !is_due(sql, scope, (memory_no, &sensors), (configured, now))?)
    {
        return Ok(None);
    }
    let row = find::by_no(sql, scope, memory_no)?.filter(MemoryRow::is_recalled);
    let Some(row) = row else { return Ok(None) };
    let content_hash = row.content_hash;
    let memory = known::one(sql, scope, row, now)?;
    let is_stale = !memory.standing.stale.is_empty();
    Ok(is_stale.then_some(ToLook { memory: memory.id, content_hash, sensors }))
}

/// Returns whether a memory is due for a check. With a configured sensor, it is due if it is not at rest after the last
/// check. If only a person can check it, it is due if the person may be asked now.
fn is_due(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, watched): (MemoryNo, &[NewSensor]),
    (configured, now): (&Sensors, StoredTime),
) -> Result<bool> {
    if watched.iter().any(|what| of_name(configured, &what.sensor).is_some()) {
        return Ok(!is_resting(&sensors::looks(sql, scope, memory_no)?, *now));
    }
    // Only a person can check this memory.
    let of = (memory_no, None);
    Ok(reviews::question(sql, scope, ReviewKind::Check, of, (now, |_| Ok(true)))? == QuestionState::Free)
}

/// Returns whether a memory that a context showed as stale is to be checked: it is stale by the system clock too, and due.
pub(crate) fn is_to_look_at(
    sql: &dyn Sql,
    scope: &Scope,
    id: MemoryId,
    (configured, now): (&Sensors, StoredTime),
) -> Result<bool> {
    let Some(memory_no) = find::no_of(sql, scope, id)? else { return Ok(false) };
    let configured = &serving(sql, scope, configured)?;
    Ok(sound(stale(sql, scope, memory_no, (Which::Due, configured, now)))?.is_some())
}
