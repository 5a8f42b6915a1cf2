//! Overwrites the copies of erased rows that are left in the gaps of pages.
//!
//! `secure_delete` overwrites a row where it is deleted. But when SQLite moves rows between pages to balance a tree, it
//! leaves their old copies in the gap between a page's directory and its contents, and does not overwrite them. Erased text
//! was found there. `VACUUM` would remove it, but it may change the rowids of a backend's own tables, and blocks all writers
//! for seconds. So this module overwrites the gaps of our own tables' pages in the file itself.
//!
//! This is safe under three conditions, which the writer ensures. Nobody else writes: the writer has the write lock. The
//! file is complete: the write-ahead log is empty. No connection keeps an old copy of a page that it could write back: the
//! writer's own connection is closed afterwards, and a commit makes all others read their pages again. SQLite ignores the
//! contents of a gap, so a power loss in the middle leaves a sound file.

use std::{fs::File, io, sync::Arc};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{
    clock::{Deadline, SystemClock},
    error::{Error, ErrorKind, Result},
    store::{
        file::{
            db_file::DbFile,
            errors::from_io,
            held::{self, Access},
            log_number, migrate,
            place::{read_at, write_at},
            schema,
            sqlite::Sqlite,
        },
        rows::jobs::{self, Owed},
    },
};

/// The number of pages between two looks at the clock: 2 MiB to read, about 2 ms.
const SLICE_PAGES: usize = 512;

/// Pages whose gaps are to be overwritten.
#[derive(Clone, Debug)]
pub(crate) struct PagesToScrub {
    numbers: Arc<[u32]>,
    /// How many of them are done.
    done: usize,
    /// Whether the numbers are those of all pages, of which the file's map of pages says which have gaps.
    are_by_map: bool,
}

impl PagesToScrub {
    fn new(numbers: impl IntoIterator<Item = u32>, are_by_map: bool) -> Self {
        Self { numbers: numbers.into_iter().collect(), done: 0, are_by_map }
    }
}

/// How far an order to scrub got.
#[derive(Debug)]
pub(crate) enum Scrubbed {
    /// Nothing was done: a reader keeps the log from being emptied.
    Nothing,
    /// The time was over: these pages are left.
    Left(PagesToScrub),
    /// Everything is done, and the job is ended, unless more was erased meanwhile.
    All,
}

/// Returns the scrub that is owed, and the pages of our own tables and indexes. `None` if no scrub is owed.
///
/// A file that was set up for shrinking has a map of its pages, so that no page has to be read to list them. Without that map
/// `dbstat` lists them, which reads them all.
///
/// Rows that SQLite moves later leave only copies of rows that still exist, so a list that was made after an erase stays
/// valid for that erase.
pub(crate) fn pages(file: &DbFile) -> Result<Option<(Owed, PagesToScrub)>> {
    let conn = file.reader()?;
    let snapshot = conn.unchecked_transaction()?;
    let Some(owed) = jobs::owed_scrub(&Sqlite::new(&snapshot, &SystemClock))? else {
        return Ok(None);
    };
    if has_map(&snapshot)? {
        let count: u32 = snapshot.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        // The first page has the schema, and no row of ours.
        return Ok(Some((owed, PagesToScrub::new(2..=count, true))));
    }
    let mut stmt = snapshot.prepare(
        "SELECT d.pageno AS pageno FROM dbstat AS d JOIN sqlite_schema AS s ON s.name = d.name
         WHERE d.pagetype IN ('leaf', 'internal')
           AND (s.tbl_name IN (SELECT value FROM json_each(?1)) OR s.tbl_name IN
             (SELECT replace(key, '_table', '') FROM thermocline_settings WHERE value = 'thermocline'))
         ORDER BY d.pageno",
    )?;
    let ours = serde_json::json!(migrate::OUR_NAMES).to_string();
    let rows = stmt.query_map([ours], |row| row.get("pageno"))?;
    let numbers = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Some((owed, PagesToScrub::new(numbers, false))))
}

fn has_map(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("PRAGMA auto_vacuum", [], |row| row.get::<_, i64>(0)).map(|mode| mode != 0)
}

/// Overwrites the gaps of these pages until the time is over, unless somebody has done it already, and ends the job if none
/// is left. Does nothing if somebody has written since the log was emptied. The commit makes every other connection read
/// its pages again.
///
/// Ends the job only if no other erase has been added to it since the pages were listed. Rows that were erased later may be
/// in other pages, and the process that erased them may have been killed before its scrub.
///
/// While we hold the write lock, an empty log stays empty, and nobody has anything to copy into the file. That is true only
/// of the log that we have open, so it must be the file's log.
pub(super) fn scrub_if_owed(
    conn: &Connection,
    file: &DbFile,
    owed: Owed,
    mut pages: PagesToScrub,
    until: Deadline,
) -> Result<Scrubbed> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    file.check()?;
    schema::check(&tx, file.path())?;
    if file.log_bytes()? > 0 {
        return Ok(Scrubbed::Nothing);
    }
    let sql = Sqlite::new(&tx, &SystemClock);
    if !jobs::count_scrubbed(&sql, owed, 0)? {
        return Ok(Scrubbed::All); // Somebody else has done it already.
    }
    log_number::raise(&tx)?; // Its log begins with this transaction.
    let before = pages.done;
    scrub(&tx, file, &mut pages, until)?;
    jobs::count_scrubbed(&sql, owed, pages.done - before)?;
    let is_last = pages.done == pages.numbers.len();
    if is_last {
        // The pages in the log now are written after the scrub, from pages without erased rows.
        jobs::finish_scrub(&sql, owed)?;
    }
    tx.commit()?;
    Ok(if is_last { Scrubbed::All } else { Scrubbed::Left(pages) })
}

/// Overwrites the gaps of some of these pages: of one slice, and of more until the time is over. `conn` must hold the write
/// lock, and the log must be empty.
fn scrub(conn: &Connection, db: &DbFile, pages: &mut PagesToScrub, until: Deadline) -> Result<()> {
    let path = db.path();
    let page_size: usize = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let file = held::open(path, db.key(), Access::Write)?;
    db.check_itself()?;
    let mut page = vec![0; page_size];
    let (mut map, first) = (Map::default(), pages.done);
    if pages.are_by_map && !has_map(conn)? {
        let message = "another program has rebuilt the file while it was scrubbed; try again";
        return Err(Error::new(ErrorKind::Busy, message));
    }
    let numbers = Arc::clone(&pages.numbers);
    for &number in &numbers[pages.done..] {
        let is_between_slices = pages.done > first && pages.done.is_multiple_of(SLICE_PAGES);
        if is_between_slices && until.has_passed() {
            break;
        }
        pages.done += 1;
        if pages.are_by_map && !map.has_gap(file, page_size, number).map_err(|error| from_io(error, path))? {
            continue;
        }
        let start = u64::from(number.saturating_sub(1)) * page_size as u64;
        match read_at(file, &mut page, start) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue, // The file has shrunk since.
            Err(error) => return Err(from_io(error, path)),
        }
        // The first page begins with a 100-byte file header.
        let header = if number == 1 { 100 } else { 0 };
        if let Some(gap) = gap(&page, header).filter(|gap| page[gap.clone()].iter().any(|&byte| byte != 0)) {
            page[gap.clone()].fill(0);
            write_at(file, &page[gap.clone()], start + gap.start as u64)
                .map_err(|error| from_io(error, path))?;
        }
    }
    file.sync_data().map_err(|error| from_io(error, path))
}

/// The file's map of its pages (SQLite's file format, section 1.8): each page of the map says what the pages after it are.
#[derive(Default)]
struct Map {
    /// The number of the page of the map that was read last.
    number: u32,
    page: Vec<u8>,
}

impl Map {
    /// The size of an entry: what the page is, and the page that leads to it.
    const ENTRY_BYTES: usize = 5;
    /// What an entry says of the root of a table or an index, and of its other pages. All others have no gaps: they are free,
    /// or continue a long row.
    const WITH_GAPS: [u8; 2] = [1, 5];
    /// The byte on which SQLite takes its locks. Nothing is on its page.
    const LOCK_BYTE: usize = 0x4000_0000;

    fn has_gap(&mut self, file: &File, page_size: usize, number: u32) -> io::Result<bool> {
        let lock_page = u32::try_from(Self::LOCK_BYTE / page_size + 1).unwrap_or(u32::MAX);
        let Ok(entries) = u32::try_from(page_size / Self::ENTRY_BYTES) else { return Ok(false) };
        let Some(after) = number.checked_sub(2) else { return Ok(false) };
        let mut map = after / (entries + 1) * (entries + 1) + 2;
        map += u32::from(map == lock_page);
        if number <= map || number == lock_page {
            return Ok(false); // A page of the map itself.
        }
        if self.number != map {
            self.page.resize(page_size, 0);
            match read_at(file, &mut self.page, u64::from(map - 1) * page_size as u64) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false), // The file has shrunk since.
                read => read?,
            }
            self.number = map;
        }
        let entry = Self::ENTRY_BYTES * (number - map - 1) as usize;
        Ok(self.page.get(entry).is_some_and(|what| Self::WITH_GAPS.contains(what)))
    }
}

/// Returns the gap between a page's directory (the cell pointer array) and its contents (SQLite's file format, section 1.6).
/// `None` if the page is no longer a valid b-tree page.
fn gap(page: &[u8], header: usize) -> Option<std::ops::Range<usize>> {
    let number = |at: usize| Some(usize::from(u16::from_be_bytes([*page.get(at)?, *page.get(at + 1)?])));
    let directory = match page.get(header)? {
        2 | 5 => header + 12,
        10 | 13 => header + 8,
        _ => return None,
    };
    let end = directory + 2 * number(header + 3)?;
    let first = match number(header + 5)? {
        0 => 65_536,
        first => first,
    };
    (end <= first && first <= page.len()).then_some(end..first)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::time::Duration;

    use super::*;
    #[cfg(unix)]
    use crate::{
        config::Config,
        store::file::{db_file::beside, log, open},
    };

    #[cfg(unix)]
    const NO_TIME: Duration = Duration::ZERO;

    #[track_caller]
    fn check(kind: u8, rows: u16, first: u16, header: usize, expected: Option<(usize, usize)>) {
        let mut page = vec![0; 4_096];
        page[header] = kind;
        page[header + 3..header + 5].copy_from_slice(&rows.to_be_bytes());
        page[header + 5..header + 7].copy_from_slice(&first.to_be_bytes());
        assert_eq!(gap(&page, header), expected.map(|(start, end)| start..end));
    }

    #[test]
    fn a_gap_lies_between_the_directory_and_the_first_row() {
        check(13, 2, 4_000, 0, Some((12, 4_000)));
        check(10, 0, 4_096, 0, Some((8, 4_096)));
        check(5, 3, 100, 0, Some((18, 100)));
        check(2, 1, 3_000, 100, Some((114, 3_000)));
        check(13, 1, 10, 0, Some((10, 10)));
        check(13, 1, 9, 0, None); // Not a valid page.
        check(13, 2, 5_000, 0, None);
        check(0, 2, 4_000, 0, None); // Not a page with rows.
        assert_eq!(gap(&[13], 0), None);
    }

    #[test]
    fn the_map_and_dbstat_name_the_same_pages() {
        let folder = tempfile::tempdir().unwrap();
        for (page_size, rows) in [(4_096, 3_000), (512, 9_000)] {
            let path = folder.path().join(format!("{page_size}.db"));
            #[expect(clippy::disallowed_methods, reason = "a file that is none of ours")]
            let conn = Connection::open(&path).unwrap();
            conn.execute_batch(&format!(
                "PRAGMA page_size = {page_size}; PRAGMA auto_vacuum = INCREMENTAL;
                 CREATE TABLE kept(n INTEGER PRIMARY KEY, x); CREATE INDEX by_x ON kept(x); CREATE TABLE gone(x);
                 WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {rows})
                 INSERT INTO kept SELECT n, zeroblob(n % 97 * (n % 13)) FROM n;
                 INSERT INTO gone SELECT x FROM kept; DROP TABLE gone;"
            ))
            .unwrap();
            let with_gaps =
                "SELECT pageno FROM dbstat WHERE pagetype IN ('leaf', 'internal') AND pageno > 1 ORDER BY 1";
            let mut stmt = conn.prepare(with_gaps).unwrap();
            let expected: Vec<u32> =
                stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
            let count: u32 = conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
            let (file, mut map) = (File::open(&path).unwrap(), Map::default());
            let found: Vec<u32> =
                (2..=count).filter(|&number| map.has_gap(&file, page_size, number).unwrap()).collect();
            // Both sorts of pages are there: those of trees, and free and overflow pages.
            assert!(found.len() > 300 && count as usize > found.len() + 200, "{} of {count}", found.len());
            assert_eq!(found, expected, "{page_size}");
        }
    }

    /// Checks that a file opened by `name` is scrubbed only if its log is empty, and that a missing log is an error.
    #[cfg(unix)]
    #[track_caller]
    fn check_scrub(name: &std::path::Path) {
        let (file, conn) = open::open(name, &Config::default()).unwrap();
        let job =
            "INSERT INTO jobs (kind, dedupe_key, next_run_at, created_at) VALUES ('scrub', 'scrub', '', '')";
        conn.execute(job, []).unwrap();
        let owed = jobs::owed_scrub(&Sqlite::new(&conn, &SystemClock)).unwrap().unwrap();
        let pages = PagesToScrub::new(2..=5_000, true);
        let scrub = |pages: &PagesToScrub, until| {
            scrub_if_owed(&conn, &file, owed, pages.clone(), Deadline::after(until))
        };
        let is_emptied = || log::empty_within(&conn, NO_TIME, &Config::default()).unwrap();
        assert!(matches!(scrub(&pages, NO_TIME).unwrap(), Scrubbed::Nothing), "{}", name.display());
        assert!(is_emptied());
        let Scrubbed::Left(left) = scrub(&pages, NO_TIME).unwrap() else { panic!("one slice took all") };
        assert_eq!(left.done, SLICE_PAGES);
        assert!(is_emptied());
        assert!(matches!(scrub(&left, Duration::MAX).unwrap(), Scrubbed::All), "the time allows all");
        assert!(jobs::owed_scrub(&Sqlite::new(&conn, &SystemClock)).unwrap().is_none(), "the job is ended");

        let log = beside(file.path(), "-wal");
        assert!(is_emptied());
        std::fs::remove_file(&log).unwrap();
        let error = scrub(&pages, NO_TIME).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "a log that cannot be found is not an empty one");
    }

    #[test]
    #[cfg(unix)]
    fn the_file_is_not_scrubbed_beside_a_log_that_is_not_empty_whatever_name_it_was_opened_by() {
        use std::os::unix::{ffi::OsStrExt, fs::symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
        check_scrub(&path(b"plain.db"));
        symlink("real.db", path(b"link.db")).unwrap();
        std::fs::write(path(b"real.db"), "").unwrap();
        check_scrub(&path(b"link.db"));
        if cfg!(target_os = "linux") {
            check_scrub(&path(b"m\xff.db")); // Other systems reject such names.
        }
    }
}
