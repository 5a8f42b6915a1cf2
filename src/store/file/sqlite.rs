//! Implements the six calls of [`Sql`] over a connection to the file.

use std::{cell::Cell, ops::Deref};

use rusqlite::{
    CachedStatement, Connection,
    types::{ToSql, ToSqlOutput, ValueRef},
};

use crate::{
    clock::Clock,
    error::{Error, ErrorKind, Result},
    faults::{Faults, Moment},
    model::{place::UserNo, stored_time::StoredTime},
    store::{
        file::unreadable,
        rows::users,
        sql::{Columns, Flow, RowExpectation, Sql, SqlRow, SqlValue, UserRow, values},
    },
};

/// A transaction on one connection. `C` is the connection, or a type that holds it.
pub(crate) struct Sqlite<'c, C = &'c Connection> {
    conn: C,
    clock: &'c dyn Clock,
    /// The faults with which tests make statements fail. `None` for a connection without injected faults.
    faults: Option<&'c Faults>,
    /// Whether a statement is passing its rows on. No other statement may run meanwhile, because over a network that would
    /// be one round trip per row.
    is_showing: Cell<bool>,
}

impl<'c> Sqlite<'c> {
    pub(crate) fn new(conn: &'c Connection, clock: &'c dyn Clock) -> Self {
        Self::held_by(conn, clock)
    }
}

impl<'c, C: Deref<Target = Connection>> Sqlite<'c, C> {
    pub(crate) fn held_by(conn: C, clock: &'c dyn Clock) -> Self {
        Self { conn, clock, faults: None, is_showing: Cell::new(false) }
    }

    pub(crate) fn with_faults(self, faults: &'c Faults) -> Self {
        Self { faults: Some(faults), ..self }
    }

    fn meet(&self, moment: Moment, sql: &str) -> Result<()> {
        self.faults.map_or(Ok(()), |faults| faults.meet(moment, sql))
    }

    pub(crate) fn held(&self) -> &C {
        &self.conn
    }

    /// Prepares a statement and binds its parameters.
    fn bound(&self, sql: &'static str, params: &[SqlValue<'_>]) -> Result<CachedStatement<'_>> {
        debug_assert!(!self.is_showing.get(), "a statement runs in the row loop of another: {sql}");
        self.meet(Moment::Before, sql)?;
        let mut stmt = self.conn.prepare_cached(sql)?;
        bind(&mut stmt, params)?;
        Ok(stmt)
    }

    fn show(
        &self,
        sql: &str,
        stmt: &mut CachedStatement<'_>,
        each: &mut dyn FnMut(&SqlRow<'_>) -> Result<Flow>,
    ) -> Result<()> {
        self.is_showing.set(true);
        let is_write = !stmt.readonly();
        let (mut rows, mut stopped) = (stmt.raw_query(), false);
        let shown = loop {
            if stopped && !is_write {
                break Ok(());
            }
            match rows.next() {
                Ok(None) => break Ok(()),
                // A write is always run to its end, because it may fail there.
                Ok(Some(_)) if stopped => {}
                Ok(Some(row)) => match each(&SqlRow::new(row)) {
                    Ok(Flow::Next) => {}
                    Ok(Flow::Stop) => stopped = true,
                    Err(error) => break Err(unreadable::named(error, sql, row)),
                },
                Err(error) => break Err(error.into()),
            }
        };
        self.is_showing.set(false);
        shown
    }
}

/// Binds all parameters. Rejects a wrong number of them, because a cached statement keeps earlier values: a parameter that
/// is not given would have its old value or NULL.
fn bind(stmt: &mut CachedStatement<'_>, params: &[SqlValue<'_>]) -> Result<()> {
    if stmt.parameter_count() != params.len() {
        return Err(Error::new(
            ErrorKind::Internal,
            "a statement was given the wrong parameters; please report it",
        ));
    }
    for (at, value) in (1..).zip(params) {
        stmt.raw_bind_parameter(at, value)?;
    }
    Ok(())
}

impl<C: Deref<Target = Connection>> Sql for Sqlite<'_, C> {
    fn query(
        &self,
        sql: &'static str,
        params: &[SqlValue<'_>],
        each: &mut dyn FnMut(&SqlRow<'_>) -> Result<Flow>,
    ) -> Result<()> {
        self.show(sql, &mut self.bound(sql, params)?, each)?;
        self.meet(Moment::After, sql)
    }

    fn query_many(
        &self,
        sql: &'static str,
        sets: &[Vec<SqlValue<'_>>],
        each: &mut dyn FnMut(usize, &SqlRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.meet(Moment::Before, sql)?;
        let mut stmt = self.conn.prepare_cached(sql)?;
        for (at, params) in sets.iter().enumerate() {
            bind(&mut stmt, params)?;
            self.show(sql, &mut stmt, &mut |row| each(at, row).map(|()| Flow::Next))?;
        }
        self.meet(Moment::After, sql)
    }

    fn put(&self, sql: &'static str, params: &[SqlValue<'_>], expect: RowExpectation) -> Result<()> {
        expect.check(self.change(sql, params)?)
    }

    fn change(&self, sql: &'static str, params: &[SqlValue<'_>]) -> Result<u64> {
        let changed = self.bound(sql, params)?.raw_execute()? as u64;
        self.meet(Moment::After, sql)?;
        Ok(changed)
    }

    fn lock_user(&self, user_no: UserNo) -> Result<Option<UserRow>> {
        // The row needs no lock: nobody else can write during a write transaction.
        let mut found = None;
        self.query(users::ROW, values![user_no], &mut |row| {
            found = Some(users::read_row(row)?);
            Ok(Flow::Stop)
        })?;
        Ok(found)
    }

    fn lease_clock(&self) -> Result<StoredTime> {
        Ok(StoredTime::clamped(self.clock.now())) // Unlike a database server, a file has no clock.
    }
}

impl Columns for rusqlite::Row<'_> {
    fn value(&self, at: usize) -> Result<SqlValue<'_>> {
        Ok(match self.get_ref(at)? {
            ValueRef::Null => SqlValue::Null,
            ValueRef::Integer(number) => SqlValue::Integer(number),
            ValueRef::Real(number) => SqlValue::Real(number),
            ValueRef::Text(text) => SqlValue::Text(text),
            ValueRef::Blob(bytes) => SqlValue::Bytes(bytes),
        })
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match *self {
            SqlValue::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            SqlValue::Integer(number) => ToSqlOutput::Borrowed(ValueRef::Integer(number)),
            SqlValue::Real(number) => ToSqlOutput::Borrowed(ValueRef::Real(number)),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text)),
            SqlValue::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            SqlValue::Instant(at) => at.to_text().into(),
        })
    }
}
