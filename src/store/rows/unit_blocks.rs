//! Rows of `unit_blocks`: what ranking needs to know about a user's units, one row for 64 consecutive units.

use crate::{
    error::{Error, ErrorKind, Result},
    index::{
        BLOCK_UNITS,
        facts::{self, UnitFacts},
        last_of,
    },
    model::place::Seq,
    store::{
        rows::{row_check, unit_texts},
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, bytes, values},
    },
};

/// Selects the columns covered by a row's checksum, in the table's order, then the checksum.
const OF_USER: &str =
    "SELECT user_no, block_no, body, row_check FROM unit_blocks WHERE user_no = ?1 ORDER BY block_no";
/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 3;

/// Passes the facts of every indexed unit to `each`, ascending. The facts of a damaged block are read from the rows of its
/// units. Returns the number of damaged blocks.
pub(crate) fn for_each_facts(sql: &dyn Sql, scope: &Scope, mut each: impl FnMut(UnitFacts)) -> Result<usize> {
    /// The first damaged block or one after it: its facts or, if it is damaged, its number. These blocks wait until the
    /// query ends, because no statement may run within it.
    type Waiting = std::result::Result<Vec<UnitFacts>, u32>;
    let (mut damaged, mut waiting) = (0, Vec::<Waiting>::new());
    sql.query(OF_USER, values![scope.user_no], &mut |row| {
        let body = bytes(row.value(2)?).unwrap_or_default();
        match row.get(1).map(|block| (block, facts::decode(block, body))) {
            Ok((_, Some(facts))) if row_check::holds(row, CHECKED_COLUMNS)? => {
                if waiting.is_empty() {
                    facts.into_iter().for_each(&mut each);
                } else {
                    waiting.push(Ok(facts));
                }
            }
            Err(_) => damaged += 1,
            Ok((block, _)) => {
                damaged += 1;
                waiting.push(Err(block));
            }
        }
        Ok(Flow::Next)
    })?;
    for block in waiting {
        match block {
            Ok(facts) => facts.into_iter().for_each(&mut each),
            Err(block) => {
                let range = (Seq(last_of(block) - BLOCK_UNITS), Seq(last_of(block)));
                unit_texts::UnitReader::new(sql, scope).for_each(range, |unit| {
                    each(unit.facts);
                    Ok(())
                })?;
            }
        }
    }
    Ok(damaged)
}

/// The facts of a block. `None` if it does not exist.
pub(crate) fn of_block(sql: &dyn Sql, scope: &Scope, block: u32) -> Result<Option<Vec<UnitFacts>>> {
    sql.one(
        "SELECT body FROM unit_blocks WHERE user_no = ?1 AND block_no = ?2",
        values![scope.user_no, block],
        |row| bytes(row.value(0)?).and_then(|body| facts::decode(block, body)).ok_or_else(unreadable),
    )
}

/// Writes a block, replacing the existing one. An empty block is removed.
pub(crate) fn write(sql: &dyn Sql, scope: &Scope, block: u32, units: &[UnitFacts]) -> Result<()> {
    debug_assert!(units.iter().all(|unit| unit.seq <= last_of(block)), "a unit of another block");
    if units.is_empty() {
        return sql.put(
            "DELETE FROM unit_blocks WHERE user_no = ?1 AND block_no = ?2",
            values![scope.user_no, block],
            RowExpectation::Any,
        );
    }
    sql.put(
        "INSERT INTO unit_blocks (user_no, block_no, body) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_no, block_no) DO UPDATE SET body = excluded.body",
        values![scope.user_no, block, facts::encode(units)],
        RowExpectation::Any,
    )
}

/// Whether one of the user's rows is damaged.
pub(crate) fn are_damaged(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    let mut is_damaged = false;
    sql.query(OF_USER, values![scope.user_no], &mut |row| {
        is_damaged = !row_check::holds(row, CHECKED_COLUMNS).unwrap_or(false);
        Ok(if is_damaged { Flow::Stop } else { Flow::Next })
    })?;
    Ok(is_damaged)
}

/// Removes all of the user's rows.
pub(crate) fn drop_all(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put("DELETE FROM unit_blocks WHERE user_no = ?1", values![scope.user_no], RowExpectation::Any)
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Corrupt, "a block of units cannot be read; run doctor")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{
        Config, NewTurn, RunJobs, Thermocline,
        compress::derived::RuleVersions,
        store::{Store, rows::users, scope::UserKey, write_tx::WriteTx},
    };

    /// No worker: tests decide when jobs run.
    async fn memory(path: &Path) -> Thermocline {
        let config = Config { worker: false, ..Config::default() };
        Thermocline::open_with(path, config).await.unwrap()
    }

    async fn recorded(path: &Path, say: impl Fn(u32) -> String) {
        let memory = memory(path).await;
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        for n in 0..128 {
            session.record(NewTurn::new(say(n), "")).await.unwrap();
        }
        memory.run_jobs(RunJobs::default()).await.unwrap();
        memory.close().await.unwrap();
    }

    fn opened(path: &Path) -> (Store, Scope) {
        let store = Store::open(path, Config::default()).unwrap();
        let scope = store.snapshot().unwrap().user(&UserKey::Name("alex".into())).unwrap().unwrap();
        (store, scope)
    }

    /// The facts of all units, and the number of damaged blocks.
    fn facts(store: &Store, scope: &Scope) -> (Vec<UnitFacts>, usize) {
        let mut found = Vec::new();
        let damaged = store.snapshot().unwrap().indexed_facts(scope, |facts| found.push(facts)).unwrap();
        (found, damaged)
    }

    #[tokio::test]
    async fn blocks_of_older_rules_get_the_times_of_what_their_units_speak_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        recorded(&path, |n| format!("I'll see lamp number {n} tomorrow.")).await;

        let (store, scope) = opened(&path);
        let (sound, _) = facts(&store, &scope);
        assert!(sound.len() == 128 && sound.iter().all(|unit| unit.event.is_some()));
        let older = move |tx: &mut WriteTx<'_>| {
            for block in 0..2 {
                let mut units = of_block(tx.sql, &scope, block)?.unwrap();
                for unit in &mut units {
                    unit.event = None;
                }
                write(tx.sql, &scope, block, &units)?;
            }
            users::set_rules(tx.sql, &scope, RuleVersions { words: 1, ..RuleVersions::NOW })
        };
        store.write(older).await.unwrap();
        assert!(facts(&store, &scope).0.iter().all(|unit| unit.event.is_none()), "read as they are");
        drop(store);

        let memory = memory(&path).await;
        memory.run_jobs(RunJobs::default()).await.unwrap();
        memory.close().await.unwrap();
        let (store, scope) = opened(&path);
        assert!(facts(&store, &scope) == (sound, 0), "the job has written them anew");
    }

    #[tokio::test]
    async fn facts_of_a_damaged_block_are_read_from_its_units_and_come_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        recorded(&path, |n| format!("The lamp of number {n}.")).await;

        let (store, scope) = opened(&path);
        let (sound, damaged) = facts(&store, &scope);
        assert_eq!((sound.len(), damaged), (128, 0));
        let damage = "UPDATE unit_blocks SET body = x'00' WHERE user_no = ?1 AND block_no = 0";
        store.write(move |tx| tx.sql.put(damage, values![scope.user_no], RowExpectation::Any)).await.unwrap();
        assert_eq!(facts(&store, &scope), (sound, 1));
    }
}
