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

use std::{fs::File, io};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{
    clock::SystemClock,
    error::Result,
    store::{
        file::{
            db_file::DbFile,
            errors::from_io,
            held::{self, Access},
            migrate,
            sqlite::Sqlite,
        },
        rows::jobs::{self, Owed},
    },
};

/// The number of pages per slice: 2 MiB to read, about 2 ms.
pub(crate) const SLICE_PAGES: usize = 512;

/// Returns the scrub that is owed, and the pages of our own tables and indexes. `None` if no scrub is owed.
///
/// Rows that SQLite moves later leave only copies of rows that still exist, so a list that was made after an erase stays
/// valid for that erase.
pub(crate) fn pages(file: &DbFile) -> Result<Option<(Owed, Vec<u32>)>> {
    let conn = file.reader()?;
    let snapshot = conn.unchecked_transaction()?;
    let Some(owed) = jobs::owed_scrub(&Sqlite::new(&snapshot, &SystemClock))? else {
        return Ok(None);
    };
    let mut stmt = snapshot.prepare(
        "SELECT d.pageno AS pageno FROM dbstat AS d JOIN sqlite_schema AS s ON s.name = d.name
         WHERE d.pagetype IN ('leaf', 'internal')
           AND (s.tbl_name IN (SELECT value FROM json_each(?1)) OR s.tbl_name IN
             (SELECT replace(key, '_table', '') FROM thermocline_settings WHERE value = 'thermocline'))
         ORDER BY d.pageno",
    )?;
    let ours = serde_json::json!(migrate::OUR_NAMES).to_string();
    let rows = stmt.query_map([ours], |row| row.get("pageno"))?;
    Ok(Some((owed, rows.collect::<rusqlite::Result<_>>()?)))
}

/// Overwrites the gaps of these pages, unless somebody has done it already. Returns `false` if somebody has written since
/// the log was emptied. The commit makes every other connection read its pages again.
///
/// While we hold the write lock, an empty log stays empty, and nobody has anything to copy into the file. That is true only
/// of the log that we have open, so it must be the file's log.
pub(super) fn scrub_if_owed(conn: &Connection, file: &DbFile, owed: Owed, pages: &[u32]) -> Result<bool> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    file.check()?;
    if file.log_bytes()? > 0 {
        return Ok(false);
    }
    if !jobs::count_scrubbed(&Sqlite::new(&tx, &SystemClock), owed, pages.len())? {
        return Ok(true); // Somebody else has done it already.
    }
    scrub(&tx, file, pages)?;
    tx.commit()?;
    Ok(true)
}

/// Overwrites the gaps of these pages. `conn` must hold the write lock, and the log must be empty.
fn scrub(conn: &Connection, db: &DbFile, pages: &[u32]) -> Result<()> {
    let path = db.path();
    let page_size: usize = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let file = held::open(path, db.key(), Access::Write)?;
    db.check_itself()?;
    let mut page = vec![0; page_size];
    for &number in pages {
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

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, start)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], start: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(start))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use crate::error::ErrorKind;
    #[cfg(unix)]
    use crate::{
        config::Config,
        store::file::{db_file::beside, log, open},
    };

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

    /// Checks that a file opened by `name` is scrubbed only if its log is empty, and that a missing log is an error.
    #[cfg(unix)]
    #[track_caller]
    fn check_scrub(name: &std::path::Path) {
        let (file, conn) = open::open(name, &Config::default()).unwrap();
        let job =
            "INSERT INTO jobs (kind, dedupe_key, next_run_at, created_at) VALUES ('scrub', 'scrub', '', '')";
        conn.execute(job, []).unwrap();
        let owed = jobs::owed_scrub(&Sqlite::new(&conn, &SystemClock)).unwrap().unwrap();
        assert!(!scrub_if_owed(&conn, &file, owed, &[1]).unwrap(), "{}", name.display());
        assert!(log::empty_at_once(&conn, &Config::default()).unwrap());
        assert!(scrub_if_owed(&conn, &file, owed, &[1]).unwrap(), "{}", name.display());

        let log = beside(file.path(), "-wal");
        assert!(log::empty_at_once(&conn, &Config::default()).unwrap());
        std::fs::remove_file(&log).unwrap();
        let error = scrub_if_owed(&conn, &file, owed, &[1]).unwrap_err();
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
