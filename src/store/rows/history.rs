//! A page of a session's history: turns from `conversation_turns` and from the archive, summaries of turns whose originals
//! were deleted, and the message that waits for its reply.

use std::collections::BTreeMap;

use crate::{
    error::{ErrorKind, Result},
    model::{
        history::{HistoryEnd, PastTurn},
        place::Place,
        summary::{Original, Summary},
        turn::Turn,
    },
    store::{
        rows::{
            aside,
            originals::OriginalsReader,
            sessions::SessionRow,
            summaries,
            turn_row::{self, TURN_KEY, turn_columns},
        },
        scope::Scope,
        sql::{Flow, Sql, values},
    },
};

/// A candidate for a page.
enum HistoryEntry {
    Row(PastTurn),
    /// The summary of a turn without a row, and the caller's id of the turn.
    Gone(Result<Summary>, Option<String>),
}

/// At most `limit` turns of a session, ascending.
///
/// Every turn without a row has a summary, so the rows and summaries of the range are complete; only what is on the page is
/// read from the archive. A session's frames hold its turns in order, so each is unpacked once.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    session: &SessionRow,
    part: HistoryEnd,
    limit: u32,
) -> Result<Vec<PastTurn>> {
    let (id, waiting, session) = (session.info.id, session.waiting(), session.session_no);
    let mut found = BTreeMap::new();
    for (place, summary, caller_id) in summaries::between(sql, scope, session, part, limit)? {
        found.insert(place.turn_number, HistoryEntry::Gone(summary, caller_id));
    }
    let statement = match part {
        HistoryEnd::After(_) => OLDEST,
        HistoryEnd::Before(_) => NEWEST,
    };
    let (after, before) = part.bounds(session);
    sql.query(statement, values![after, before, scope.user_id, limit], &mut |row| {
        let place: Place = row.get(TURN_KEY)?;
        found.insert(place.turn_number, HistoryEntry::Row(past(place, turn_row::read(row).map(Some))?));
        Ok(Flow::Next)
    })?;
    // A message that waits for its reply has no row in `conversation_turns` yet.
    if let Some(place) = waiting.filter(|place| (after..before).contains(place) && *place != after) {
        let turn = aside::incomplete(sql, scope, id).map(|waiting| waiting.map(|aside| aside.turn));
        found.insert(place.turn_number, HistoryEntry::Row(past(place, turn)?));
    }
    let beyond = found.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    let left_out = match part {
        HistoryEnd::After(_) => 0,
        HistoryEnd::Before(_) => beyond,
    };
    let mut reader = OriginalsReader::new(sql, scope);
    let on_page = found.into_iter().skip(left_out).take(limit as usize);
    on_page.map(|(number, entry)| read(&mut reader, session.turn(number), entry)).collect()
}

const OLDEST: &str = concat!(
    "SELECT ",
    turn_columns!(),
    " FROM conversation_turns WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key LIMIT ?4"
);
const NEWEST: &str = concat!(
    "SELECT ",
    turn_columns!(),
    " FROM conversation_turns WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key DESC LIMIT ?4"
);

fn read(reader: &mut OriginalsReader<'_>, place: Place, entry: HistoryEntry) -> Result<PastTurn> {
    match entry {
        HistoryEntry::Row(turn) => Ok(turn),
        HistoryEntry::Gone(Ok(summary), caller_id) if summary.original == Original::Deleted => {
            Ok(PastTurn::Summary { summary: Box::new(summary), caller_id })
        }
        // If the summary is damaged, its turn may still be sound.
        HistoryEntry::Gone(..) => past(place, reader.archived_at(place)),
    }
}

/// Turns what was read at a place into an entry. If the turn is missing or damaged, the entry has only its number.
fn past(place: Place, turn: Result<Option<Turn>>) -> Result<PastTurn> {
    match turn {
        Ok(Some(turn)) if turn.turn_number == place.turn_number => Ok(PastTurn::Turn(Box::new(turn))),
        Err(error) if error.kind() != ErrorKind::Corrupt => Err(error),
        _ => Ok(PastTurn::Damaged { turn_number: place.turn_number }),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{
        Config, NewTurn, RunJobs, Thermocline,
        model::{place::UserNo, stored_time::StoredTime},
        store::{
            Store,
            scope::UserKey,
            sql::{RowExpectation, SqlRow, SqlValue, UserRow},
        },
    };

    /// Counts how many frames are read.
    struct Counting<'s> {
        sql: &'s dyn Sql,
        frames: Cell<usize>,
    }

    impl Sql for Counting<'_> {
        fn query(
            &self,
            sql: &'static str,
            params: &[SqlValue<'_>],
            each: &mut dyn FnMut(&SqlRow<'_>) -> Result<Flow>,
        ) -> Result<()> {
            if sql.contains("FROM archived_frames WHERE frame_no = ?1") {
                self.frames.set(self.frames.get() + 1);
            }
            self.sql.query(sql, params, each)
        }

        fn query_many(
            &self,
            sql: &'static str,
            sets: &[Vec<SqlValue<'_>>],
            each: &mut dyn FnMut(usize, &SqlRow<'_>) -> Result<()>,
        ) -> Result<()> {
            self.sql.query_many(sql, sets, each)
        }

        fn put(&self, sql: &'static str, params: &[SqlValue<'_>], expect: RowExpectation) -> Result<()> {
            self.sql.put(sql, params, expect)
        }

        fn change(&self, sql: &'static str, params: &[SqlValue<'_>]) -> Result<u64> {
            self.sql.change(sql, params)
        }

        fn lock_user(&self, user_no: UserNo) -> Result<Option<UserRow>> {
            self.sql.lock_user(user_no)
        }

        fn lease_clock(&self) -> Result<StoredTime> {
            self.sql.lease_clock()
        }
    }

    #[tokio::test]
    async fn a_page_reads_each_frame_once_and_none_for_what_is_not_on_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let config = Config { worker: false, ..Config::default() };
        let memory = Thermocline::open_with(&path, config.clone()).await.unwrap();
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        for n in 0..700 {
            let text = format!("The lamp number {n} stands beside the old bridge. ").repeat(3);
            session.record(NewTurn::new(&text, &text)).await.unwrap();
        }
        session.end().await.unwrap();
        memory.run_jobs(RunJobs::default()).await.unwrap();
        memory.close().await.unwrap();

        let store = Store::open(&path, config).unwrap();
        let snapshot = store.snapshot().unwrap();
        let scope = snapshot.user(&UserKey::Name("alex".into())).unwrap().unwrap();
        let session = snapshot.session(&scope, session.id()).unwrap();
        let frames_of = |part, limit| {
            snapshot.look(|sql| {
                let sql = Counting { sql, frames: Cell::new(0) };
                let page = page(&sql, &scope, &session, part, limit)?;
                Ok((page.len(), sql.frames.get()))
            })
        };
        let all: usize =
            snapshot.look(|sql| sql.scalar("SELECT count(*) FROM archived_frames", &[])).unwrap();
        assert!(all > 40, "more than a reader keeps: {all}");
        assert_eq!(frames_of(HistoryEnd::After(0), 1_000).unwrap(), (700, all));
        let (turns, frames) = frames_of(HistoryEnd::Before(u32::MAX), 50).unwrap();
        assert!(turns == 50 && frames <= 5, "{frames} frames for a page of {turns}");
    }
}
