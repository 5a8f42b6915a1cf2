//! The checksum of a row, which shows whether the row is what was written.
//!
//! `row_check` is the CRC-32 of a row's other columns, except a few. [`file::row_check`](crate::store::file::row_check)
//! names these, and has the triggers that write the checksums of every table; no statement of `rows/` writes them. Code that
//! shows the text of a row first calls [`holds`], [`holds_behind`] or [`is_whole`]. Only a turn that another program
//! inserted is shown without a checksum, until it is taken over.

use crate::{
    error::{Error, ErrorKind, Result},
    store::sql::{SqlRow, SqlValue},
};

/// Whether a row is what was written. Its first `columns` columns must be those that the checksum covers, in the table's
/// order, followed by the checksum.
pub(crate) fn holds(row: &SqlRow<'_>, columns: usize) -> Result<bool> {
    holds_behind(row, 0, columns)
}

/// Like `holds`, for columns that come after `first` others.
pub(crate) fn holds_behind(row: &SqlRow<'_>, first: usize, columns: usize) -> Result<bool> {
    let values = (first..=first + columns).map(|at| row.value(at)).collect::<Result<Vec<_>>>()?;
    Ok(is_whole(&values))
}

/// Like `holds`, for a row that was already read: the values that its checksum covers, then the checksum.
pub(crate) fn is_whole(values: &[SqlValue<'_>]) -> bool {
    matches!(values.split_last(), Some((SqlValue::Bytes(check), values))
        if *check == checksum(values.iter().copied()))
}

/// The value of `row_check` in a row without a checksum: a migration wrote the row, or another program inserted it.
pub(crate) const UNSEALED: [u8; 4] = [0; 4];

/// Whether a row may be used: it is what was written, or has no checksum yet.
pub(crate) fn is_sound(row: &SqlRow<'_>, columns: usize) -> bool {
    let has_none = matches!(row.value(columns), Ok(SqlValue::Bytes(check)) if *check == UNSEALED);
    has_none || holds(row, columns).unwrap_or(false)
}

/// The error for something that is not what was written.
pub(crate) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!("{what} is damaged: it is not what was written; doctor lists all damage; restore a backup"),
    )
}

/// CRC-32 over the values, each with its position, type and, for texts and blobs, length. NULL counts as nothing, so that
/// adding a column that is NULL changes no checksum.
pub(crate) fn checksum<'v>(values: impl Iterator<Item = SqlValue<'v>>) -> [u8; 4] {
    let mut sum = Sum { hasher: crc32fast::Hasher::new(), waiting: [0; 512], len: 0 };
    for (place, value) in (0_u8..).zip(values) {
        match value {
            SqlValue::Null => {}
            SqlValue::Integer(number) => sum.number(place, 1, number.to_le_bytes()),
            SqlValue::Real(number) => sum.number(place, 2, number.to_le_bytes()),
            SqlValue::Text(text) => sum.bytes(place, 3, text),
            SqlValue::Bytes(bytes) => sum.bytes(place, 4, bytes),
            SqlValue::Instant(at) => sum.bytes(place, 3, at.to_text().as_bytes()),
        }
    }
    sum.flush();
    sum.hasher.finalize().to_be_bytes()
}

/// Collects short values and hashes them together, because the processor's CRC instructions need long inputs.
struct Sum {
    hasher: crc32fast::Hasher,
    waiting: [u8; 512],
    len: usize,
}

impl Sum {
    fn number(&mut self, place: u8, kind: u8, number: [u8; 8]) {
        self.add(&[place, kind]);
        self.add(&number);
    }

    fn bytes(&mut self, place: u8, kind: u8, bytes: &[u8]) {
        let [a, b, c, d, ..] = bytes.len().to_le_bytes(); // SQLite's longest value has 2^31 bytes.
        self.add(&[place, kind, a, b, c, d]);
        if bytes.len() > self.waiting.len() - self.len {
            self.flush();
        }
        match self.waiting.get_mut(self.len..self.len + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.hasher.update(bytes),
        }
    }

    #[inline]
    fn add<const N: usize>(&mut self, bytes: &[u8; N]) {
        if self.waiting.len() - self.len < N {
            self.flush();
        }
        self.waiting[self.len..self.len + N].copy_from_slice(bytes);
        self.len += N;
    }

    fn flush(&mut self) {
        self.hasher.update(&self.waiting[..self.len]);
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &[SqlValue<'_>], other: &[SqlValue<'_>], is_same: bool) {
        let of = |values: &[SqlValue<'_>]| checksum(values.iter().copied());
        assert_eq!(of(one) == of(other), is_same, "{one:?} {other:?}");
    }

    #[test]
    fn values_differ_by_place_type_and_length_and_null_is_nothing() {
        fn text(text: &str) -> SqlValue<'_> {
            SqlValue::Text(text.as_bytes())
        }
        check(&[text("a"), text("b")], &[text("ab"), text("")], false);
        check(&[text("a"), SqlValue::Null], &[SqlValue::Null, text("a")], false);
        check(&[text("a")], &[SqlValue::Bytes(b"a")], false);
        check(&[SqlValue::Integer(1)], &[SqlValue::Real(f64::from_bits(1))], false);
        check(&[text("a"), SqlValue::Null], &[text("a")], true); // A column that was added later.
        let long = "x".repeat(5_000);
        check(&[text(&long), SqlValue::Integer(1)], &[text(&long), SqlValue::Integer(2)], false);
    }

    #[test]
    fn the_checksum_never_changes_its_meaning() {
        // Computed with Python: zlib.crc32(bytes([0,1,7,0,0,0,0,0,0,0]) + bytes([2,3,2,0,0,0]) + b'ab').
        let values = [SqlValue::Integer(7), SqlValue::Null, SqlValue::Text(b"ab")];
        assert_eq!(u32::from_be_bytes(checksum(values.into_iter())), 0xfc1b_1a02);
    }
}
