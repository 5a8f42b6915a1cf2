//! The header of a database file, in its first page: the fields that tell one file, and one log of it, from another.

use std::{fs::File, io};

use crate::store::file::place;

/// The `application_id` of files that Thermocline created (`ThCl` in ASCII).
pub(super) const APPLICATION_ID: i32 = 0x5468_436c;

/// The size of the header in bytes.
pub(super) const HEADER_BYTES: usize = 100;

const PAGE_SIZE: std::ops::Range<usize> = 16..18;
/// A number that SQLite raises when it writes the first page, and its copy, by which SQLite knows that the header is valid.
const CHANGES: std::ops::Range<usize> = 24..28;
const CHANGES_AGAIN: std::ops::Range<usize> = 92..96;
/// The number of pages of the file.
const PAGES: std::ops::Range<usize> = 28..32;
const USER_VERSION: std::ops::Range<usize> = 60..64;
const APPLICATION: std::ops::Range<usize> = 68..72;

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageOne {
    pub(super) page_size: usize,
    pub(super) changes: u32,
    pub(super) pages: u32,
    /// Of a file of ours, its log number ([`log_number`](super::log_number)). Otherwise a backend's own number.
    pub(super) user_version: u32,
    pub(super) application_id: u32,
}

impl PageOne {
    /// Reads the header at the beginning of a page. `None` if the page is shorter than a header.
    pub(super) fn of(page: &[u8]) -> Option<Self> {
        let page_size = u16::from_be_bytes(page.get(PAGE_SIZE)?.try_into().ok()?);
        let number = |at: std::ops::Range<usize>| Some(u32::from_be_bytes(page.get(at)?.try_into().ok()?));
        Some(Self {
            // 65,536 does not fit, and is written as 1.
            page_size: if page_size == 1 { 65_536 } else { page_size.into() },
            changes: number(CHANGES)?,
            pages: number(PAGES)?,
            user_version: number(USER_VERSION)?,
            application_id: number(APPLICATION)?,
        })
    }

    /// Reads the header of a file. `None` if the file is shorter than that.
    pub(super) fn read(file: &File) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_BYTES];
        match place::read_at(file, &mut header, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            read => read.map(|()| Self::of(&header)),
        }
    }
}

/// Writes numbers into a copy's header that no log of the original has. `user_version` is a backend's own if it is `None`.
pub(super) fn renumber(copy: &File, changes: u32, user_version: Option<u32>) -> io::Result<()> {
    for at in [CHANGES, CHANGES_AGAIN] {
        place::write_at(copy, &changes.to_be_bytes(), at.start as u64)?;
    }
    match user_version {
        Some(number) => place::write_at(copy, &number.to_be_bytes(), USER_VERSION.start as u64),
        None => Ok(()),
    }
}
