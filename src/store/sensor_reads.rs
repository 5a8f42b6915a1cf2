//! Reads which sensors look at memories, and which memories should be checked.

use chrono::{DateTime, Utc};

use crate::{
    error::{ErrorKind, Result, sound},
    memory::checking::is_resting,
    model::{
        hex::hex,
        ids::MemoryId,
        place::MemoryNo,
        review::ReviewKind,
        sensor::{MemorySensor, NewSensor},
    },
    sensors::known::{is_configured, of_name},
    store::{
        memory_reads::no_memory,
        rows::memories::{
            find, known,
            reviews::{self, QuestionState},
            row::MemoryRow,
            sensors::{self, SensorWatchRow},
        },
        scope::Scope,
        snapshot::Snapshot,
        sql::Sql,
    },
    text::measure::ContentHash,
};

type Sensors = [std::sync::Arc<dyn crate::sensors::Sensor>];

/// How many memories are examined in one snapshot.
const AT_ONCE: u32 = 64;

/// A memory that should be checked, as it is now.
#[derive(Clone, Debug)]
pub(crate) struct ToLook {
    pub(crate) memory: MemoryId,
    pub(crate) content_hash: ContentHash,
    /// The sensors that look at it.
    pub(crate) sensors: Vec<NewSensor>,
}

/// Which of the stale memories should be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All that a configured sensor looks at.
    All,
    /// Of these, the ones that are not at rest after the last check.
    Due,
}

impl Snapshot<'_> {
    /// The sensors of a memory.
    pub(crate) fn memory_sensors(
        &self,
        scope: &Scope,
        id: MemoryId,
        configured: &Sensors,
    ) -> Result<Vec<MemorySensor>> {
        self.ask(|sql| {
            let memory_no = find::no_of(sql, scope, id)?.ok_or_else(no_memory)?;
            let shown = |SensorWatchRow { what, seen }: SensorWatchRow| MemorySensor {
                is_configured: is_configured(configured, &what.sensor),
                sensor: what.sensor,
                subject: what.subject,
                expect: what.expect,
                seen_hash: seen.map(|seen| hex(&seen)),
            };
            Ok(sensors::of_memory(sql, scope, memory_no)?.into_iter().map(shown).collect())
        })
    }

    /// These memories, each with its sensors. Those that no longer hold are omitted.
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

    /// Some stale memories after a number that should be checked, and where to continue. `None` if this was the last
    /// portion. Damaged ones are omitted.
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

/// The memory with its configured sensors, if it is stale and should be checked.
fn stale(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (which, configured, now): (Which, &Sensors, DateTime<Utc>),
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

/// Whether a stale memory should be checked by a configured sensor: it is not at rest after the last check, or a person may
/// be asked.
fn is_due(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, watched): (MemoryNo, &[NewSensor]),
    (configured, now): (&Sensors, DateTime<Utc>),
) -> Result<bool> {
    if watched.iter().any(|what| of_name(configured, &what.sensor).is_some()) {
        return Ok(!is_resting(&sensors::looks(sql, scope, memory_no)?, now));
    }
    // Only a person can look.
    let of = (memory_no, None);
    Ok(reviews::question(sql, scope, ReviewKind::Check, of, (now, |_| Ok(true)))? == QuestionState::Free)
}

/// Whether a memory that a context showed as stale should be checked: it is stale by the system clock, and a configured
/// sensor may look.
pub(crate) fn is_to_look_at(
    sql: &dyn Sql,
    scope: &Scope,
    id: MemoryId,
    (configured, now): (&Sensors, DateTime<Utc>),
) -> Result<bool> {
    let Some(memory_no) = find::no_of(sql, scope, id)? else { return Ok(false) };
    Ok(sound(stale(sql, scope, memory_no, (Which::Due, configured, now)))?.is_some())
}
