//! Reading what looks at memories, and which are to be looked at.

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

/// How many memories are looked through in one moment of the file.
const AT_ONCE: u32 = 64;

/// A memory that is to be looked at, as it is now.
#[derive(Clone, Debug)]
pub(crate) struct ToLook {
    pub(crate) memory: MemoryId,
    pub(crate) content_hash: ContentHash,
    /// What looks at it.
    pub(crate) sensors: Vec<NewSensor>,
}

/// Which of the stale memories are to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All that something configured looks at.
    All,
    /// Of these, those that do not rest from the last look.
    Due,
}

impl Snapshot<'_> {
    /// What looks at a memory.
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

    /// These memories, each with what looks at it. What does not hold any more is left out.
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

    /// Some stale memories behind a number that are to be looked at, and where it goes on; none: it was the last. What is
    /// damaged is left out.
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

/// The memory, if it is stale, and to be looked at: of what looks at it what is configured.
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

/// Whether something that is configured is to look at a memory, if that is stale: it does not rest from the last look, or a
/// person may be asked.
fn is_due(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, watched): (MemoryNo, &[NewSensor]),
    (configured, now): (&Sensors, DateTime<Utc>),
) -> Result<bool> {
    if watched.iter().any(|what| of_name(configured, &what.sensor).is_some()) {
        return Ok(!is_resting(&sensors::looks(sql, scope, memory_no)?, now));
    }
    // There is a person alone.
    let of = (memory_no, None);
    Ok(reviews::question(sql, scope, ReviewKind::Check, of, (now, |_| Ok(true)))? == QuestionState::Free)
}

/// Whether a memory that a context showed as stale is to be looked at: it is so by the system clock, and something that is
/// configured may look.
pub(crate) fn is_to_look_at(
    sql: &dyn Sql,
    scope: &Scope,
    id: MemoryId,
    (configured, now): (&Sensors, DateTime<Utc>),
) -> Result<bool> {
    let Some(memory_no) = find::no_of(sql, scope, id)? else { return Ok(false) };
    Ok(sound(stale(sql, scope, memory_no, (Which::Due, configured, now)))?.is_some())
}
