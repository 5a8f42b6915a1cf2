//! How ids, instants and words of the model stand in SQL values.

use chrono::{DateTime, Utc};
use rusqlite::{
    Row,
    types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef},
};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::store::sql::{FromColumn, ToColumn, Value, bytes, text};

use crate::model::{
    anchor::{Attribute, Stance},
    critical::CriticalRule,
    ids::{AnchorId, ReceiptId, SessionId, SnapshotId, SummaryId, TurnId, UserId},
    instant,
    job::{JobKind, JobState},
    session::EndReason,
    summary::Original,
    tier::{MemoryTier, MoveReason},
    turn::Origin,
};

macro_rules! id_value {
    ($($id:ty),*) => { $(
        impl ToSql for $id {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_uuid().as_bytes())))
            }
        }

        impl FromSql for $id {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let bytes = value.as_blob()?;
                Uuid::from_slice(bytes).map(Self::from_uuid).map_err(|_| FromSqlError::InvalidBlobSize {
                    expected_size: 16,
                    blob_size: bytes.len(),
                })
            }
        }

        impl ToColumn for $id {
            fn to_column(&self) -> Value<'_> {
                Value::Bytes(self.as_uuid().as_bytes())
            }
        }

        impl FromColumn for $id {
            fn from_column(value: Value<'_>) -> Option<Self> {
                Uuid::from_slice(bytes(value)?).ok().map(Self::from_uuid)
            }
        }
    )* };
}

id_value!(UserId, SessionId, TurnId, SnapshotId, SummaryId, AnchorId, ReceiptId);

macro_rules! word_value {
    ($($word:ty),*) => { $(
        impl ToSql for $word {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.as_str().as_bytes())))
            }
        }

        impl FromSql for $word {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Self::from_word(value.as_str()?).ok_or(FromSqlError::InvalidType)
            }
        }

        impl ToColumn for $word {
            fn to_column(&self) -> Value<'_> {
                Value::Text(self.as_str().as_bytes())
            }
        }

        impl FromColumn for $word {
            fn from_column(value: Value<'_>) -> Option<Self> {
                Self::from_word(text(value)?)
            }
        }
    )* };
}

word_value!(
    MemoryTier,
    MoveReason,
    EndReason,
    Origin,
    CriticalRule,
    Attribute,
    Stance,
    JobKind,
    JobState,
    Original
);

/// An instant as the file stores it.
pub(crate) struct Instant(pub(crate) DateTime<Utc>);

impl ToSql for Instant {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(instant::to_text(self.0).into())
    }
}

impl FromSql for Instant {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        instant::from_text(value.as_str()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}

/// Reads a column that holds an instant.
pub(crate) fn instant_at(row: &Row<'_>, column: &str) -> rusqlite::Result<DateTime<Utc>> {
    row.get::<_, Instant>(column).map(|at| at.0)
}

/// Reads a column that holds an instant or nothing.
pub(crate) fn optional_instant_at(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<DateTime<Utc>>> {
    row.get::<_, Option<Instant>>(column).map(|at| at.map(|at| at.0))
}

/// Reads a column that holds JSON.
pub(crate) fn json_at<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let index = row.as_ref().column_index(column)?;
    let text = row.get_ref(index)?.as_str()?;
    // serde_json quotes what it stumbles over; only the place is passed on.
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            index,
            Type::Text,
            format!("no such JSON, at {}", error.column()).into(),
        )
    })
}
