//! Rows of `memory_sensors`: the sensors that check memories, and what they expect.

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    memory::checking::LOOKS,
    model::{
        place::MemoryNo,
        sensor::{CheckResult, Expect as Expected, NewSensor, SeenHash},
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, values},
    },
};

/// How many columns the checksum covers.
const CHECKED_COLUMNS: usize = 6;

/// A sensor that looks at a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SensorWatchRow {
    pub(crate) what: NewSensor,
    /// The hash of what was seen by the last check that saw anything.
    pub(crate) seen: Option<Vec<u8>>,
}

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT user_no, memory_no, sensor, subject, expect, seen_hash, row_check FROM memory_sensors
             WHERE user_no = ?1 AND memory_no = ?2",
            $which
        )
    };
}

fn read(row: &SqlRow<'_>) -> Result<SensorWatchRow> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        let MemoryNo(memory_no) = row.get(1)?;
        return Err(row_check::damaged(format_args!("a sensor of memory number {memory_no}")));
    }
    let (sensor, subject): (String, String) = (row.get(2)?, row.get(3)?);
    Ok(SensorWatchRow {
        what: NewSensor::new(sensor, subject).expect(Expected(row.json(4)?)),
        seen: row.get(5)?,
    })
}

/// The sensors of a memory, by name and subject.
pub(crate) fn of_memory(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<SensorWatchRow>> {
    let mut found = sql.list(select!(""), values![scope.user_no, memory_no], read)?;
    let key = |watched: &SensorWatchRow| (watched.what.sensor.clone(), watched.what.subject.clone());
    found.sort_by_key(key);
    Ok(found)
}

/// The sensor with this name that looks at this subject.
pub(crate) fn of_subject(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (sensor, subject): (&str, &str),
) -> Result<Option<SensorWatchRow>> {
    sql.one(
        select!(" AND sensor = ?3 AND subject = ?4"),
        values![scope.user_no, memory_no, sensor, subject],
        read,
    )
}

/// Adds a sensor to a memory, or replaces what it expects. Keeps the hash of what the last check saw: if the next check sees
/// the same and fails again, that is not news, even if the expectation has changed.
pub(crate) fn put(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, new: &NewSensor) -> Result<()> {
    sql.put(
        "INSERT INTO memory_sensors (user_no, memory_no, sensor, subject, expect) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (user_no, memory_no, sensor, subject) DO UPDATE SET expect = excluded.expect",
        values![scope.user_no, memory_no, new.sensor, new.subject, serde_json::json!(new.expect).to_string()],
        RowExpectation::Any,
    )
}

/// Removes a sensor from a memory, for one subject or for all, and returns how many were removed.
pub(crate) fn remove(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (sensor, subject): (&str, Option<&str>),
) -> Result<u64> {
    sql.change(
        "DELETE FROM memory_sensors
         WHERE user_no = ?1 AND memory_no = ?2 AND sensor = ?3 AND subject = coalesce(?4, subject)",
        values![scope.user_no, memory_no, sensor, subject],
    )
}

/// Stores the hash of what a check saw.
pub(crate) fn set_seen(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (sensor, subject): (&str, &str),
    seen: SeenHash,
) -> Result<()> {
    sql.put(
        "UPDATE memory_sensors SET seen_hash = ?5
         WHERE user_no = ?1 AND memory_no = ?2 AND sensor = ?3 AND subject = ?4",
        values![scope.user_no, memory_no, sensor, subject, seen.as_bytes()],
        RowExpectation::Any,
    )
}

/// At most `limit` active or archived memories after a number that have a sensor.
pub(crate) fn watched_after(
    sql: &dyn Sql,
    scope: &Scope,
    after: MemoryNo,
    limit: u32,
) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT m.memory_no FROM user_memories AS m
         WHERE m.user_no = ?1 AND m.memory_no > ?2 AND m.status IN ('active', 'archived') AND m.session_no IS NULL
           AND EXISTS (SELECT 1 FROM memory_sensors AS v WHERE v.user_no = m.user_no AND v.memory_no = m.memory_no)
         ORDER BY m.memory_no LIMIT ?3",
        values![scope.user_no, after, limit],
        |row| row.get(0),
    )
}

/// The times and results of a memory's newest checks by any checker, newest first, at most [`LOOKS`].
pub(crate) fn looks(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
) -> Result<Vec<(DateTime<Utc>, CheckResult)>> {
    sql.list(
        "SELECT made_at, new_value FROM memory_changes
         WHERE user_no = ?1 AND memory_no = ?2 AND op = 'check' AND new_value IN ('pass', 'fail', 'unknown')
         ORDER BY change_no DESC LIMIT ?3",
        values![scope.user_no, memory_no, LOOKS],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// The result of the newest check of a memory by the given checker. Checks that could not tell are ignored.
pub(crate) fn told_last(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    by: &str,
) -> Result<Option<CheckResult>> {
    sql.one(
        "SELECT new_value FROM memory_changes
         WHERE user_no = ?1 AND memory_no = ?2 AND op = 'check' AND made_by = ?3 AND new_value IN ('pass', 'fail')
         ORDER BY change_no DESC LIMIT 1",
        values![scope.user_no, memory_no, by],
        |row| row.get(0),
    )
}
