//! Rows of `unit_uses` and `use_counts`: how often something was of use, that is, was shown by an answered context. Ranking
//! never reads them.

use crate::{
    compress::learned::{LearnedCriticality, RuleRecord, USES_THAT_KEEP},
    error::Result,
    model::{critical::CriticalRule, ids::TurnId, stored_time::StoredTime, uses::Aspect},
    store::{
        scope::Scope,
        sql::{RowExpectation, Sql, values},
    },
};

/// Why a unit's turn is kept verbatim. No rule and 0 tokens if the turn has no row.
pub(crate) struct KeepReason {
    /// The rule on record. `None` if the turn is not kept.
    pub(crate) rule: Option<CriticalRule>,
    pub(crate) total_tokens: u32,
}

/// Why a unit's turn is kept verbatim. `None` if the unit does not exist.
pub(crate) fn kept(sql: &dyn Sql, scope: &Scope, seq: i64) -> Result<Option<KeepReason>> {
    sql.one(
        "SELECT t.critical_rule, coalesce(t.total_tokens, 0) FROM recall_units AS u
         LEFT JOIN conversation_turns AS t
           ON t.turn_key = (u.session_no << 24 | u.turn_number) AND t.user_id = ?3
         WHERE u.user_no = ?1 AND u.seq = ?2",
        values![scope.user_no, seq, scope.user_id],
        |row| Ok(KeepReason { rule: row.get(0)?, total_tokens: row.get(1)? }),
    )
}

/// How often a unit was of use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UseHits {
    pub(crate) all: u32,
    /// How often as the best of what was recalled.
    pub(crate) best: u32,
}

/// Counts uses of a unit.
pub(crate) fn count_unit(
    sql: &dyn Sql,
    scope: &Scope,
    seq: i64,
    hits: UseHits,
    last_hit: StoredTime,
) -> Result<()> {
    let best = Some(hits.best).filter(|best| *best > 0);
    sql.put(
        "INSERT INTO unit_uses (user_no, seq, hits, last_hit, best) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (user_no, seq) DO UPDATE
         SET hits = unit_uses.hits + excluded.hits, last_hit = excluded.last_hit,
             best = CASE WHEN excluded.best IS NULL THEN unit_uses.best
                         ELSE coalesce(unit_uses.best, 0) + excluded.best END",
        values![scope.user_no, seq, hits.all, last_hit, best],
        RowExpectation::Any,
    )
}

/// Counts uses of a name within an aspect.
pub(crate) fn count(sql: &dyn Sql, scope: &Scope, (aspect, name): (Aspect, &str), hits: u64) -> Result<()> {
    sql.put(
        "INSERT INTO use_counts (user_no, aspect, name, hits) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_no, aspect, name) DO UPDATE SET hits = use_counts.hits + excluded.hits",
        values![scope.user_no, aspect, name, hits],
        RowExpectation::Any,
    )
}

/// What use has taught about the user's turns from unit `first` to unit `last`.
pub(crate) fn learned(sql: &dyn Sql, scope: &Scope, (first, last): (i64, i64)) -> Result<LearnedCriticality> {
    let used = sql.list(
        "SELECT seq FROM unit_uses WHERE user_no = ?1 AND seq BETWEEN ?2 AND ?3 AND best >= ?4",
        values![scope.user_no, first, last, USES_THAT_KEEP],
        |row| row.get(0),
    )?;
    let records = sql.list(
        "SELECT name, CAST(sum(CASE WHEN aspect = 'chance' THEN hits ELSE 0 END) AS BIGINT),
                CAST(sum(CASE WHEN aspect = 'taken' THEN hits ELSE 0 END) AS BIGINT)
         FROM use_counts WHERE user_no = ?1 AND aspect IN ('chance', 'taken') GROUP BY name",
        values![scope.user_no],
        |row| Ok(RuleRecord { rule: row.get(0)?, chances: row.get(1)?, taken: row.get(2)? }),
    )?;
    let stopped = records.iter().filter(|record| record.has_stopped()).map(|record| record.rule);
    Ok(LearnedCriticality { used: used.into_iter().collect(), stopped: stopped.collect() })
}

/// How often a turn was of use.
pub(crate) struct UnitUse {
    pub(crate) turn_id: TurnId,
    pub(crate) hits: UseHits,
    pub(crate) last_hit: StoredTime,
}

/// All units that were of use, in the order of recording.
pub(crate) fn of_units(sql: &dyn Sql, scope: &Scope) -> Result<Vec<UnitUse>> {
    sql.list(
        "SELECT r.owner_id, n.hits, coalesce(n.best, 0), n.last_hit FROM unit_uses AS n
         JOIN recall_units AS r ON r.user_no = n.user_no AND r.seq = n.seq
         WHERE n.user_no = ?1 AND r.kind = 'turn' ORDER BY n.seq",
        values![scope.user_no],
        |row| {
            let hits = UseHits { all: row.get(1)?, best: row.get(2)? };
            Ok(UnitUse { turn_id: row.get(0)?, hits, last_hit: row.get(3)? })
        },
    )
}

/// All of the user's counts by name.
pub(crate) fn counts(sql: &dyn Sql, scope: &Scope) -> Result<Vec<(Aspect, String, u64)>> {
    sql.list(
        "SELECT aspect, name, hits FROM use_counts WHERE user_no = ?1 ORDER BY aspect, name",
        values![scope.user_no],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}
