//! Returns free pages to the file system. After old conversations are compressed, nearly half of a file may be free.
//!
//! SQLite moves pages from the end of the file into free pages and truncates the file (`incremental_vacuum`). This works
//! only in files that were set up for it: those that were empty when we first opened them. A page is moved together with the
//! contents of its gaps, and the truncated part is not overwritten. So nothing is moved while an erase is in progress or a
//! scrub is owed.

use rusqlite::Connection;

use crate::{
    clock::SystemClock,
    error::Result,
    store::{file::sqlite::Sqlite, rows::jobs},
};

/// One in this many of the file's pages may stay free, as room for new data, so that pages are rarely moved.
const FREE_SHARE: u64 = 16;
/// The number of pages that may stay free in any file: 1 MiB.
const FREE_PAGES: u64 = 256;
/// The maximum number of pages per transaction: 1 MiB to write, a few milliseconds.
const SLICE_PAGES: u64 = 256;
/// The value of `PRAGMA auto_vacuum` for files whose pages may be moved.
const INCREMENTAL: u64 = 2;

/// Sets up a file for incremental vacuum, if the file is still empty.
pub(super) fn prepare(conn: &Connection) -> Result<()> {
    if ask(conn, "page_count")? == 0 {
        conn.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    }
    Ok(())
}

/// Returns how many free pages should be returned to the file system. 0 if the file's pages must not be moved.
pub(super) fn spare_pages(conn: &Connection) -> Result<u64> {
    let may_stay = (ask(conn, "page_count")? / FREE_SHARE).max(FREE_PAGES);
    let spare = ask(conn, "freelist_count")?.saturating_sub(may_stay);
    let is_allowed = spare > 0
        && ask(conn, "auto_vacuum")? == INCREMENTAL
        && !jobs::is_anything_erased(&Sqlite::new(conn, &SystemClock))?;
    Ok(if is_allowed { spare } else { 0 })
}

/// Returns at most [`SLICE_PAGES`] free pages to the file system, in the caller's transaction. Returns `true` if more
/// remain.
pub(super) fn shrink(conn: &Connection) -> Result<bool> {
    let spare = spare_pages(conn)?;
    if spare > 0 {
        let mut stmt = conn.prepare(&format!("PRAGMA incremental_vacuum({})", spare.min(SLICE_PAGES)))?;
        let mut each_page = stmt.query([])?;
        while each_page.next()?.is_some() {}
    }
    Ok(spare > SLICE_PAGES)
}

fn ask(conn: &Connection, pragma: &str) -> Result<u64> {
    Ok(conn.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::file::connect;

    /// Creates a file in which 3,000 pages were filled and are now free.
    fn with_free_pages(prepare: &str) -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a file that is none of ours")]
        let conn = Connection::open(folder.path().join("m.db")).unwrap();
        conn.execute_batch(prepare).unwrap();
        conn.execute_batch(
            "CREATE TABLE jobs(job_no, fence, kind); CREATE TABLE kept(x); CREATE TABLE gone(x);
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 3000)
             INSERT INTO gone SELECT zeroblob(4000) FROM n;
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 3000)
             INSERT INTO kept SELECT zeroblob(4000) FROM n;
             DELETE FROM gone;",
        )
        .unwrap();
        (folder, conn)
    }

    fn pages(conn: &Connection) -> [u64; 2] {
        ["page_count", "freelist_count"].map(|pragma| ask(conn, pragma).unwrap())
    }

    #[test]
    fn free_pages_go_some_at_a_time_until_few_are_left() {
        let (_folder, conn) = with_free_pages("PRAGMA auto_vacuum = INCREMENTAL");
        let [before, _] = pages(&conn);
        let mut slices = 1;
        while shrink(&conn).unwrap() {
            slices += 1;
        }
        let [after, free] = pages(&conn);
        assert!(after < before - 2_000 && free >= FREE_PAGES && free <= FREE_PAGES + after / FREE_SHARE);
        assert_eq!(slices, (before - after).div_ceil(SLICE_PAGES));
        let (rows, sound): (u64, String) = conn
            .query_row("SELECT count(*), (SELECT * FROM pragma_integrity_check) FROM kept", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((rows, sound.as_str()), (3_000, "ok"));
    }

    #[test]
    fn nothing_moves_in_a_file_that_somebody_else_made_or_while_something_is_erased() {
        let (_folder, conn) = with_free_pages("");
        let before = pages(&conn);
        assert!(!shrink(&conn).unwrap());
        assert_eq!(pages(&conn), before);

        let (_folder, conn) = with_free_pages("PRAGMA auto_vacuum = INCREMENTAL");
        for kind in ["scrub", "erase"] {
            conn.execute("INSERT INTO jobs VALUES (1, 1, ?1)", [kind]).unwrap();
            let before = pages(&conn);
            assert!(!shrink(&conn).unwrap());
            assert_eq!(pages(&conn), before);
            conn.execute_batch("DELETE FROM jobs").unwrap();
        }
        assert!(shrink(&conn).unwrap());
    }

    #[tokio::test]
    async fn what_compression_leaves_free_goes_back_to_the_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let config = crate::Config { worker: false, ..crate::Config::default() };
        let memory = crate::Thermocline::open_with(&path, config).await.unwrap();
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        for n in 0..300 {
            let reply = format!("Of {n} there is this to say. ").repeat(500);
            session.record(crate::NewTurn::new(format!("Tell me of {n}."), reply)).await.unwrap();
        }
        session.end().await.unwrap();
        memory.run_jobs(crate::RunJobs::default()).await.unwrap();
        let [all, free] = pages(&connect::reader(&path).unwrap());
        assert!(free <= FREE_PAGES.max(all / FREE_SHARE), "{free} of {all}");
    }
}
