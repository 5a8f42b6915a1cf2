//! The interface between `rows/`, which has the statements, and `file/`, which runs them: six calls.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;

use crate::{
    compress::derived::RuleVersions,
    error::{Error, ErrorKind, Result},
    model::{
        ids::UserId,
        place::{Seq, UserNo},
        stored_time::StoredTime,
    },
};

/// A transaction, as `rows/` sees it. Parameters are numbered from 1. Each SQL text is one complete statement.
pub(crate) trait Sql {
    /// Passes the rows of a statement to `each`, one by one, until `each` returns [`Flow::Stop`]. `each` must not run a
    /// statement. A write with `RETURNING` is always executed completely, however many of its rows are read.
    fn query(
        &self,
        sql: &'static str,
        params: &[SqlValue<'_>],
        each: &mut dyn FnMut(&SqlRow<'_>) -> Result<Flow>,
    ) -> Result<()>;

    /// Runs the same statement for each of many sets of parameters. `each` gets the index of the set to which a row belongs.
    fn query_many(
        &self,
        sql: &'static str,
        sets: &[Vec<SqlValue<'_>>],
        each: &mut dyn FnMut(usize, &SqlRow<'_>) -> Result<()>,
    ) -> Result<()>;

    /// Executes a write whose result is not needed. An implementation may delay it until the next read or the commit.
    fn put(&self, sql: &'static str, params: &[SqlValue<'_>], expect: RowExpectation) -> Result<()>;

    /// Executes a write and returns how many rows it changed.
    fn change(&self, sql: &'static str, params: &[SqlValue<'_>]) -> Result<u64>;

    /// Locks the user's row against changes by others until the transaction ends, and returns it. `None` if the user is
    /// gone.
    fn lock_user(&self, user_no: UserNo) -> Result<Option<UserRow>>;

    /// Returns the current time, for leases only: by the database's clock if it has one.
    fn lease_clock(&self) -> Result<StoredTime>;
}

/// Whether a statement's next row is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Stop,
}

/// How many rows a write must change. If it changes another number, the act fails and is rolled back completely.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowExpectation {
    Any,
    /// Exactly one. Otherwise the write fails with this error.
    One(fn() -> Error),
}

impl RowExpectation {
    pub(super) fn check(self, changed: u64) -> Result<()> {
        match self {
            Self::One(error) if changed != 1 => Err(error()),
            Self::One(_) | Self::Any => Ok(()),
        }
    }
}

/// The row of `user_scopes` of one user, without the columns that no act needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserRow {
    pub(crate) user_id: UserId,
    /// Raised when any of the user's data is erased or replaced.
    pub(crate) epoch: i64,
    /// The newest unit. 0 if there is none.
    pub(crate) last_seq: Seq,
    /// The last unit that is in the postings and blocks.
    pub(crate) indexed_seq: Seq,
    /// Raised when an anchor changes.
    pub(crate) anchor_version: i64,
    /// The versions of the rules by which the user's stored data was derived.
    pub(crate) rules: RuleVersions,
    /// The first unit that another program inserted and that is not taken over yet.
    pub(crate) inserted_seq: Option<Seq>,
}

/// The value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SqlValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    /// UTF-8, unless the row is damaged.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    /// An instant to write. It is stored as text, and a read returns it as `Text`.
    Instant(StoredTime),
}

/// A type that can be written to a column.
pub(crate) trait ToColumn {
    fn to_column(&self) -> SqlValue<'_>;
}

/// A type that can be read from a column. `from_column` returns `None` if the value does not fit the type.
pub(crate) trait FromColumn: Sized {
    fn from_column(value: SqlValue<'_>) -> Option<Self>;
}

/// Builds the parameters of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::store::sql::ToColumn::to_column(&$value)),*]
    };
}
pub(crate) use values;

/// A row that a statement returned, read by column index, from 0.
pub(crate) struct SqlRow<'r>(&'r dyn Columns);

/// A database row, from which values are borrowed.
pub(super) trait Columns {
    fn value(&self, at: usize) -> Result<SqlValue<'_>>;

    /// Fills `values` with the first columns of the row. One call reads a whole row.
    fn fill<'v>(&'v self, values: &mut [SqlValue<'v>]) -> Result<()> {
        for (at, value) in values.iter_mut().enumerate() {
            *value = self.value(at)?;
        }
        Ok(())
    }
}

impl<'r> SqlRow<'r> {
    pub(super) fn new(columns: &'r dyn Columns) -> Self {
        Self(columns)
    }

    /// Returns the value of a column.
    pub(crate) fn value(&self, at: usize) -> Result<SqlValue<'r>> {
        self.0.value(at)
    }

    /// Returns the value of a column, converted to `T`. Fails with `Corrupt` if the value does not fit.
    pub(crate) fn get<T: FromColumn>(&self, at: usize) -> Result<T> {
        read(self.value(at)?)
    }

    /// Returns the values of the first `N` columns, for callers that need a value more than once.
    pub(crate) fn values<const N: usize>(&self) -> Result<[SqlValue<'r>; N]> {
        let mut values = [SqlValue::Null; N];
        self.0.fill(&mut values)?;
        Ok(values)
    }

    /// Parses a column that holds JSON. The parser's own message is dropped, because it quotes the text.
    pub(crate) fn json<T: DeserializeOwned>(&self, at: usize) -> Result<T> {
        let (SqlValue::Text(text) | SqlValue::Bytes(text)) = self.value(at)? else {
            return Err(unreadable());
        };
        serde_json::from_slice(text).map_err(|_| unreadable())
    }
}

/// Converts the value of a column. Fails with `Corrupt` if the value does not fit.
#[inline]
pub(crate) fn read<T: FromColumn>(value: SqlValue<'_>) -> Result<T> {
    T::from_column(value).ok_or_else(unreadable)
}

/// The cause of an error about a row whose columns do not hold what was expected. Whoever runs the statement names the row.
#[derive(Debug)]
pub(super) struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a column does not hold what was expected")
    }
}

impl std::error::Error for Unreadable {}

#[cold]
fn unreadable() -> Error {
    const MESSAGE: &str = "a row of the file cannot be read; doctor lists all damage; restore a backup";
    Error::caused(ErrorKind::Corrupt, MESSAGE, Unreadable)
}

/// Returns the error for a row that must exist but does not.
pub(crate) fn missing() -> Error {
    Error::new(ErrorKind::Corrupt, "a row of the file is missing; doctor lists all damage; restore a backup")
}

impl dyn Sql + '_ {
    /// Returns the first row of a statement. `None` if the statement returns no rows.
    pub(crate) fn one<T>(
        &self,
        sql: &'static str,
        params: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.query(sql, params, &mut |row| {
            found = Some(read(row)?);
            Ok(Flow::Stop)
        })?;
        Ok(found)
    }

    /// Returns the first column of a statement that always returns a row, such as a count or `EXISTS`.
    pub(crate) fn scalar<T: FromColumn>(&self, sql: &'static str, params: &[SqlValue<'_>]) -> Result<T> {
        self.one(sql, params, |row| row.get(0))?.ok_or_else(missing)
    }

    /// Executes a write that may be left out: does nothing if a damaged row cannot be written.
    pub(crate) fn change_unless_damaged(&self, sql: &'static str, params: &[SqlValue<'_>]) -> Result<()> {
        match self.change(sql, params) {
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(()),
            changed => changed.map(drop),
        }
    }

    /// Executes a write and returns how many rows it changed. If it would write a damaged row, `instead` is executed, with the
    /// same parameters: it deletes what cannot be written.
    pub(crate) fn change_or_delete(
        &self,
        sql: &'static str,
        instead: &'static str,
        params: &[SqlValue<'_>],
    ) -> Result<u64> {
        match self.change(sql, params) {
            Err(error) if error.kind() == ErrorKind::Corrupt => self.change(instead, params),
            changed => changed,
        }
    }

    /// Returns all rows of a statement.
    pub(crate) fn list<T>(
        &self,
        sql: &'static str,
        params: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.query(sql, params, &mut |row| {
            found.push(read(row)?);
            Ok(Flow::Next)
        })?;
        Ok(found)
    }
}

impl<T: ToColumn + ?Sized> ToColumn for &T {
    fn to_column(&self) -> SqlValue<'_> {
        (**self).to_column()
    }
}

impl<T: ToColumn> ToColumn for Option<T> {
    fn to_column(&self) -> SqlValue<'_> {
        self.as_ref().map_or(SqlValue::Null, T::to_column)
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        match value {
            SqlValue::Null => Some(None),
            value => T::from_column(value).map(Some),
        }
    }
}

macro_rules! integer_columns {
    ($($integer:ty),*) => { $(
        impl FromColumn for $integer {
            fn from_column(value: SqlValue<'_>) -> Option<Self> {
                match value {
                    SqlValue::Integer(number) => number.try_into().ok(),
                    _ => None,
                }
            }
        }
    )* };
}

integer_columns!(i64, u64, u32, u16, u8, usize);

macro_rules! small_integer_columns {
    ($($integer:ty),*) => { $(
        impl ToColumn for $integer {
            fn to_column(&self) -> SqlValue<'_> {
                SqlValue::Integer(i64::from(*self))
            }
        }
    )* };
}

small_integer_columns!(i64, u32, u16, u8, bool);

macro_rules! large_integer_columns {
    ($($integer:ty),*) => { $(
        impl ToColumn for $integer {
            fn to_column(&self) -> SqlValue<'_> {
                SqlValue::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )* };
}

large_integer_columns!(u64, usize);

impl FromColumn for bool {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        i64::from_column(value).map(|number| number != 0)
    }
}

impl ToColumn for f64 {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Real(*self)
    }
}

impl FromColumn for f64 {
    #[expect(clippy::cast_precision_loss, reason = "whole numbers that stand for a fraction are small")]
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        match value {
            SqlValue::Real(number) => Some(number),
            SqlValue::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

impl ToColumn for str {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Text(self.as_bytes())
    }
}

impl ToColumn for String {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Text(self.as_bytes())
    }
}

impl FromColumn for String {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        text(value).map(str::to_owned)
    }
}

/// Reads a column that holds JSON as text.
impl FromColumn for serde_json::Value {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        serde_json::from_str(text(value)?).ok()
    }
}

impl ToColumn for [u8] {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Bytes(self)
    }
}

impl ToColumn for Vec<u8> {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Bytes(self)
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        bytes(value).map(<[u8]>::to_vec)
    }
}

impl<const N: usize> ToColumn for [u8; N] {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Bytes(self)
    }
}

impl<const N: usize> FromColumn for [u8; N] {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        bytes(value)?.try_into().ok()
    }
}

impl ToColumn for StoredTime {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Instant(*self)
    }
}

impl FromColumn for StoredTime {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        Self::from_text(text(value)?)
    }
}

impl FromColumn for DateTime<Utc> {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        StoredTime::from_column(value).map(Self::from)
    }
}

/// Returns the value if it is valid UTF-8 text.
pub(crate) fn text(value: SqlValue<'_>) -> Option<&str> {
    match value {
        SqlValue::Text(text) => std::str::from_utf8(text).ok(),
        _ => None,
    }
}

/// Returns the value if it is a blob.
pub(crate) fn bytes(value: SqlValue<'_>) -> Option<&[u8]> {
    match value {
        SqlValue::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}
