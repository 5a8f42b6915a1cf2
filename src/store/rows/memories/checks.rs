//! Doctor's queries on the memories of all users.

use crate::{
    error::Result,
    model::place::{MemoryNo, Seq, UserNo},
    store::{
        rows::memories::row::{self, MemoryRow, memory_columns},
        sql::{Flow, Sql, values},
    },
};

/// Conditions that must hold, each with a query that counts the violations.
pub(crate) const COUNTS: &[(&str, &str)] = &[
    (
        "every memory has its state and its beginning",
        "SELECT (SELECT count(*) FROM user_memories AS m WHERE NOT EXISTS
                   (SELECT 1 FROM memory_state AS s WHERE s.user_no = m.user_no AND s.memory_no = m.memory_no))
              + (SELECT count(*) FROM user_memories AS m WHERE m.session_no IS NULL AND NOT EXISTS
                   (SELECT 1 FROM memory_episodes AS e
                    WHERE e.user_no = m.user_no AND e.memory_no = m.memory_no AND e.role = 'birth'))",
    ),
    (
        "every memory that holds or is archived has its unit, which is its own",
        "SELECT count(*) FROM user_memories AS m
         LEFT JOIN recall_units AS r ON r.user_no = m.user_no AND r.seq = m.seq
         LEFT JOIN memory_units AS k ON k.user_no = m.user_no AND k.seq = m.seq
         WHERE m.session_no IS NULL AND m.status IN ('active', 'archived')
           AND (r.seq IS NULL OR r.kind <> 'memory' OR r.owner_id <> m.id OR r.content_hash <> m.content_hash
                OR k.memory_no IS DISTINCT FROM m.memory_no)",
    ),
    (
        "every unit of a memory has its memory and its words",
        "SELECT (SELECT count(*) FROM recall_units AS r
                 LEFT JOIN user_memories AS m ON m.user_no = r.user_no AND m.id = r.owner_id
                 LEFT JOIN memory_units AS k ON k.user_no = r.user_no AND k.seq = r.seq
                 WHERE r.kind = 'memory' AND (m.memory_no IS NULL OR k.memory_no IS DISTINCT FROM m.memory_no))
              + (SELECT count(*) FROM memory_units AS k
                 LEFT JOIN recall_units AS r ON r.user_no = k.user_no AND r.seq = k.seq
                 WHERE r.kind IS DISTINCT FROM 'memory')",
    ),
    (
        "a memory's use counts are those of its uses",
        "SELECT count(*) FROM memory_state AS s LEFT JOIN
           (SELECT memory_no,
                   count(CASE WHEN outcome IN ('success', 'failure', 'correction') THEN 1 END) AS rated,
                   count(CASE WHEN outcome = 'success' THEN 1 END) AS helped,
                   count(DISTINCT CASE WHEN outcome = 'success' THEN session_no END) AS contexts,
                   count(DISTINCT CASE WHEN outcome = 'success' THEN project END) AS projects
            FROM memory_episodes WHERE role = 'use' GROUP BY memory_no) AS e ON e.memory_no = s.memory_no
         WHERE s.usage_count <> coalesce(e.rated, 0) OR s.context_count <> coalesce(e.contexts, 0)
            OR s.project_count <> coalesce(e.projects, 0) OR s.access_count < s.usage_count
            OR (s.usage_count = 0) <> (s.success_rate IS NULL)
            -- Each use rounds the share.
            OR abs(s.success_rate * s.usage_count - e.helped) > 0.001 * s.usage_count",
    ),
    (
        "every check that a memory passed is counted",
        "SELECT count(*) FROM memory_state AS s JOIN
           (SELECT memory_no, count(*) AS passed FROM memory_changes
            WHERE op = 'check' AND new_value = 'pass' GROUP BY memory_no) AS c ON c.memory_no = s.memory_no
         WHERE s.validation_count < c.passed OR s.validated_at IS NULL",
    ),
    (
        "no memory is trusted more than what it was made from, unless a person rewrote or approved it",
        "SELECT count(*) FROM user_memories AS m WHERE m.trust < 4
           AND (m.trust > CASE WHEN m.origin IN ('user', 'system') THEN 3 WHEN m.origin = 'assistant' THEN 2 ELSE 1 END
             OR EXISTS (SELECT 1 FROM memory_sources AS d WHERE d.user_no = m.user_no AND d.memory_no = m.memory_no
                AND m.trust > CASE WHEN d.origin IN ('user', 'system') THEN 3 WHEN d.origin = 'assistant' THEN 2
                                   ELSE 1 END)
             AND NOT EXISTS (SELECT 1 FROM memory_changes AS c WHERE c.user_no = m.user_no AND c.memory_no = m.memory_no
                AND c.op IN ('edit', 'trust') AND c.undone_by IS NULL AND (c.before IS NULL OR c.before LIKE '%\"trust\":%')))",
    ),
    (
        "every turn that a memory was made of is a turn of its user",
        "SELECT count(*) FROM memory_sources AS d WHERE d.source_kind = 'turn' AND NOT EXISTS
           (SELECT 1 FROM recall_units AS r
            WHERE r.user_no = d.user_no AND r.seq = d.seq AND r.owner_id = d.source_id AND r.kind = 'turn')",
    ),
    (
        "the changes of a memory are numbered from 1 without a gap, and are as many as its revision says",
        "SELECT count(*) FROM user_memories AS m LEFT JOIN
           (SELECT memory_no, count(*) AS n, min(change_no) AS first, max(change_no) AS last FROM memory_changes
            GROUP BY memory_no) AS c ON c.memory_no = m.memory_no
         -- Checks raise no revision.
         WHERE m.session_no IS NULL AND (c.n IS NULL OR c.first <> 1 OR c.last <> c.n OR c.n < m.revision)",
    ),
    (
        "every superseded memory has an edge from its successor",
        "SELECT count(*) FROM user_memories AS m WHERE m.superseded_by IS NOT NULL AND NOT EXISTS
           (SELECT 1 FROM memory_edges AS e WHERE e.user_no = m.user_no AND e.from_no = m.superseded_by
            AND e.to_no = m.memory_no AND e.type = 'supersedes')",
    ),
    (
        "what was saved to wait for a person has a review",
        "SELECT count(*) FROM user_memories AS m JOIN memory_changes AS c
           ON c.user_no = m.user_no AND c.memory_no = m.memory_no AND c.op = 'save' AND c.new_value = 'archived'
         WHERE m.status = 'archived' AND NOT EXISTS
           (SELECT 1 FROM memory_reviews AS r WHERE r.user_no = m.user_no AND r.memory_no = m.memory_no)
           AND EXISTS (SELECT 1 FROM memory_edges AS e WHERE e.user_no = m.user_no AND e.from_no = m.memory_no
                       AND e.type = 'contradicts' AND e.status = 'accepted')",
    ),
    (
        "every session that was searched for memories belongs to its user",
        "SELECT count(*) FROM extracted_sessions AS x WHERE NOT EXISTS
           (SELECT 1 FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
            WHERE u.user_no = x.user_no AND s.session_no = x.session_no)",
    ),
];

/// The number of a memory, and its user and row, or the error if they cannot be read.
pub(crate) type OwnedMemory = (i64, Result<(UserNo, MemoryRow)>);

/// The next 100 memories after a number, by number. Empty if there are no more. If damage ends the query, returns the
/// memories that were read before it, and the error.
pub(crate) fn some_memories(sql: &dyn Sql, after: i64) -> (Vec<OwnedMemory>, Result<()>) {
    const SOME: &str = concat!(
        "SELECT ",
        memory_columns!(),
        " FROM user_memories AS m WHERE m.memory_no > ?1 ORDER BY m.memory_no LIMIT 100"
    );
    let mut found = Vec::new();
    let read = sql.query(SOME, values![after], &mut |row| {
        let memory = row::read(row).and_then(|memory| Ok((row.get(2)?, memory)));
        found.push((row.get(0)?, memory));
        Ok(Flow::Next)
    });
    (found, read)
}

/// A tag or an entity in its row: whether it is a tag, its folded form, its position, and its original form.
pub(crate) type TermRow = (bool, String, u32, String);

/// The tags and entities of a memory, each in order.
pub(crate) fn terms(sql: &dyn Sql, user_no: UserNo, memory_no: MemoryNo) -> Result<Vec<TermRow>> {
    sql.list(
        "SELECT kind = 'tag', term, position, name FROM memory_terms WHERE user_no = ?1 AND memory_no = ?2
         ORDER BY kind DESC, position",
        values![user_no, memory_no],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
    )
}

/// The words of a unit. `None` if there is no such row.
pub(crate) fn words(sql: &dyn Sql, user_no: UserNo, seq: Seq) -> Result<Option<Vec<u8>>> {
    sql.one("SELECT words FROM memory_units WHERE user_no = ?1 AND seq = ?2", values![user_no, seq], |row| {
        row.get(0)
    })
}

/// Superseded memories, each with its successor's number, and whether that is a memory of the same user.
pub(crate) fn successors(sql: &dyn Sql) -> Result<Vec<(i64, i64, bool)>> {
    sql.list(
        "SELECT m.memory_no, m.superseded_by, n.memory_no IS NOT NULL FROM user_memories AS m
         LEFT JOIN user_memories AS n ON n.user_no = m.user_no AND n.memory_no = m.superseded_by
         WHERE m.superseded_by IS NOT NULL ORDER BY m.memory_no",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}
