//! Rows of `memory_episodes`: the birth of a memory, a use of a memory or a report of one, or a note of the day.

use crate::{
    error::{ErrorKind, Result},
    model::{
        episode::{Episode, EpisodeRole, NewNote},
        ids::{EpisodeId, ReceiptId, SessionId},
        memory::{
            new::Birth,
            words::{MemoryKind, Outcome},
        },
        place::{MemoryNo, SessionNo},
        stored_time::StoredTime,
    },
    store::{
        rows::{
            memories::{find, terms},
            row_check,
        },
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, values},
    },
};

/// The columns of `memory_episodes AS e` for [`read`]: those covered by the row's checksum, in the table's order, then the
/// checksum.
macro_rules! episode_columns {
    () => {
        "e.episode_no, e.id, e.user_no, e.role, e.memory_no, e.session_no, e.turn_number, e.receipt_id, e.happened_at, \
         e.outcome, e.kind, e.project, e.task_id, e.caller_id, e.task_name, e.trigger, e.title, e.tags, e.summary, \
         e.row_check"
    };
}

/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 19;

/// The row of an episode.
#[derive(Clone, Debug)]
pub(crate) struct EpisodeRow {
    pub(crate) episode_no: i64,
    pub(crate) id: EpisodeId,
    pub(crate) role: EpisodeRole,
    pub(crate) memory_no: Option<MemoryNo>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) turn_number: Option<u32>,
    pub(crate) receipt_id: Option<ReceiptId>,
    pub(crate) happened_at: StoredTime,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) kind: Option<MemoryKind>,
    pub(crate) project: Option<String>,
    pub(crate) task_id: Option<String>,
    pub(crate) caller_id: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) trigger: Option<String>,
    pub(crate) title: String,
    pub(crate) tags: Vec<String>,
    pub(crate) summary: String,
}

fn read(row: &SqlRow<'_>) -> Result<EpisodeRow> {
    let episode_no = row.get(0)?;
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        return Err(row_check::damaged(format_args!("episode number {episode_no}")));
    }
    Ok(EpisodeRow {
        episode_no,
        id: row.get(1)?,
        role: row.get(3)?,
        memory_no: row.get(4)?,
        turn_number: row.get(6)?,
        receipt_id: row.get(7)?,
        happened_at: row.get(8)?,
        outcome: row.get(9)?,
        kind: row.get(10)?,
        project: row.get(11)?,
        task_id: row.get(12)?,
        caller_id: row.get(13)?,
        task_name: row.get(14)?,
        trigger: row.get(15)?,
        title: row.get(16)?,
        tags: row.json(17)?,
        summary: row.get(18)?,
        session_id: row.get(CHECKED_COLUMNS + 1)?,
    })
}

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT ",
            episode_columns!(),
            ", s.id FROM memory_episodes AS e
               LEFT JOIN conversation_sessions AS s ON s.session_no = e.session_no
             WHERE e.user_no = ?1 AND ",
            $which
        )
    };
}

/// The episode with the caller's id.
pub(crate) fn by_caller_id(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<EpisodeRow>> {
    sql.one(select!("e.caller_id = ?2"), values![scope.user_no, caller_id], read)
}

/// The use of a memory from the context of a receipt, or a report of one that counts nothing.
pub(crate) fn by_receipt(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, receipt): (MemoryNo, ReceiptId),
    role: EpisodeRole,
) -> Result<Option<EpisodeRow>> {
    sql.one(
        select!("e.memory_no = ?2 AND e.receipt_id = ?3 AND e.role = ?4 LIMIT 1"),
        values![scope.user_no, memory_no, receipt, role],
        read,
    )
}

/// The beginning of a memory. `None` if it is damaged; doctor reports it.
pub(crate) fn birth(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<EpisodeRow>> {
    match sql.one(select!("e.memory_no = ?2 AND e.role = 'birth'"), values![scope.user_no, memory_no], read) {
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
        birth => birth,
    }
}

pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: EpisodeId) -> Result<Option<EpisodeRow>> {
    sql.one(select!("e.id = ?2"), values![scope.user_no, id], read)
}

/// The next 1,000 episodes after the given one, in the order of recording, except those of volatile memories. Empty if there
/// are no more.
pub(crate) fn lasting_after(sql: &dyn Sql, scope: &Scope, after: i64) -> Result<Vec<EpisodeRow>> {
    sql.list(
        select!(
            "e.episode_no > ?2 AND NOT EXISTS
               (SELECT 1 FROM user_memories AS m WHERE m.user_no = e.user_no AND m.memory_no = e.memory_no
                AND m.session_no IS NOT NULL)
             ORDER BY e.episode_no LIMIT 1000"
        ),
        values![scope.user_no, after],
        read,
    )
}

/// Which episodes a page shows: those of these roles (words joined by spaces), within a time range. `after` is the last
/// episode of the previous page.
pub(crate) struct EpisodePageFilter<'a> {
    pub(crate) roles: &'a str,
    pub(crate) since: Option<StoredTime>,
    pub(crate) until: Option<StoredTime>,
    pub(crate) after: Option<&'a EpisodeRow>,
}

/// At most `limit` episodes, newest first. Damaged ones are omitted.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    asked: &EpisodePageFilter<'_>,
    limit: u32,
) -> Result<Vec<EpisodeRow>> {
    // As text, it sorts after every time.
    const LAST: &str = "a";
    let (last_at, last_no) =
        asked.after.map_or((None, i64::MAX), |row| (Some(row.happened_at), row.episode_no));
    let mut found = Vec::new();
    sql.query(
        select!(
            "e.happened_at >= coalesce(?2, '') AND e.happened_at < coalesce(?3, ?4)
             AND (e.happened_at < coalesce(?5, ?4) OR (e.happened_at = ?5 AND e.episode_no < ?6))
             AND ?7 LIKE '% ' || e.role || ' %'
             ORDER BY e.happened_at DESC, e.episode_no DESC LIMIT ?8"
        ),
        values![scope.user_no, asked.since, asked.until, LAST, last_at, last_no, asked.roles, limit],
        &mut |row| {
            match read(row) {
                Ok(episode) => found.push(episode),
                Err(error) if error.kind() == ErrorKind::Corrupt => {} // Doctor reports where.
                Err(error) => return Err(error),
            }
            Ok(Flow::Next)
        },
    )?;
    Ok(found)
}

/// Episodes as callers see them. An episode about a memory, unless it is a note, has the memory's kind, title, tags, and
/// one-sentence summary.
pub(crate) fn shown(sql: &dyn Sql, scope: &Scope, rows: Vec<EpisodeRow>) -> Result<Vec<Episode>> {
    rows.into_iter().map(|row| shown_one(sql, scope, row)).collect()
}

fn shown_one(sql: &dyn Sql, scope: &Scope, row: EpisodeRow) -> Result<Episode> {
    let memory = match row.memory_no {
        Some(memory_no) => match find::by_no(sql, scope, memory_no) {
            Err(error) if error.kind() == ErrorKind::Corrupt => None, // The episode itself is not damaged.
            memory => memory?,
        },
        None => None,
    };
    let mut episode = Episode {
        id: row.id,
        role: row.role,
        memory_id: memory.as_ref().map(|memory| memory.id),
        session_id: row.session_id,
        turn_number: row.turn_number,
        receipt_id: row.receipt_id,
        happened_at: *row.happened_at,
        outcome: row.outcome,
        kind: row.kind,
        project: row.project,
        task_id: row.task_id,
        task_name: row.task_name,
        trigger: row.trigger,
        caller_id: row.caller_id,
        title: row.title,
        tags: row.tags,
        summary: row.summary,
    };
    if let Some(memory) = memory.filter(|_| row.role != EpisodeRole::Note) {
        episode.kind = Some(memory.kind);
        episode.tags = terms::names(sql, scope, memory.memory_no)?.tags;
        memory.text().in_one_sentence(&memory.summary).clone_into(&mut episode.summary);
        episode.title = memory.title;
    }
    Ok(episode)
}

/// Records the beginning of a memory.
pub(crate) fn insert_birth(
    sql: &dyn Sql,
    scope: &Scope,
    (id, memory_no): (EpisodeId, MemoryNo),
    (birth, session_no): (&Birth, Option<SessionNo>),
    (project, happened_at): (Option<&str>, StoredTime),
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_episodes
           (id, user_no, role, memory_no, session_no, happened_at, outcome, project, task_id, task_name, trigger)
         VALUES (?1, ?2, 'birth', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        values![
            id,
            scope.user_no,
            memory_no,
            session_no,
            happened_at,
            birth.outcome,
            project,
            birth.task_id,
            birth.task_name,
            birth.trigger,
        ],
        RowExpectation::Any,
    )
}

/// Writes a note of the day.
pub(crate) fn insert_note(
    sql: &dyn Sql,
    scope: &Scope,
    (id, note): (EpisodeId, &NewNote),
    (memory_no, session_no): (Option<MemoryNo>, Option<SessionNo>),
    (tags, happened_at): (&[String], StoredTime),
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_episodes
           (id, user_no, role, memory_no, session_no, happened_at, outcome, kind, project, task_id, caller_id, task_name,
            trigger, title, tags, summary)
         VALUES (?1, ?2, 'note', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        values![
            id,
            scope.user_no,
            memory_no,
            session_no,
            happened_at,
            note.outcome,
            note.kind,
            note.project,
            note.task_id,
            note.caller_id,
            note.task_name,
            note.trigger,
            note.title,
            serde_json::json!(tags).to_string(),
            note.summary,
        ],
        RowExpectation::Any,
    )
}

/// The memories with an episode in a session. A damaged episode names none.
pub(crate) fn memories_in(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<MemoryNo>> {
    let found: Vec<Option<MemoryNo>> = sql.list(
        "SELECT DISTINCT memory_no FROM memory_episodes
         WHERE user_no = ?1 AND session_no = ?2 AND memory_no IS NOT NULL ORDER BY memory_no",
        values![scope.user_no, session_no],
        |row| Ok(row.get(0).ok()),
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// Removes the texts from at most `limit` episodes of a session that is being erased, and detaches them from it. Beginnings
/// and uses stay as numbers. At most `limit` notes are deleted, because nothing of them would remain. Returns how many
/// episodes it changed or deleted. If one is damaged so that it cannot be written, those that it would have changed are
/// deleted.
pub(crate) fn empty(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, limit: u32) -> Result<u64> {
    let removed = sql.change(
        "DELETE FROM memory_episodes WHERE user_no = ?1 AND session_no = ?2 AND role = 'note' AND episode_no IN
           (SELECT episode_no FROM memory_episodes WHERE user_no = ?1 AND session_no = ?2 AND role = 'note' LIMIT ?3)",
        values![scope.user_no, session_no, limit],
    )?;
    let emptied = sql.change_or_delete(
        "UPDATE memory_episodes
         SET session_no = NULL, turn_number = NULL, receipt_id = NULL, trigger = NULL, task_id = NULL, task_name = NULL,
             title = '', tags = '[]', summary = ''
         WHERE user_no = ?1 AND session_no = ?2 AND episode_no IN
           (SELECT episode_no FROM memory_episodes WHERE user_no = ?1 AND session_no = ?2 LIMIT ?3)",
        "DELETE FROM memory_episodes
         WHERE user_no = ?1 AND session_no = ?2 AND episode_no IN
           (SELECT episode_no FROM memory_episodes WHERE user_no = ?1 AND session_no = ?2 LIMIT ?3)",
        values![scope.user_no, session_no, limit],
    )?;
    Ok(removed + emptied)
}
