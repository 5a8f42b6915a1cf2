//! How the model's ids, enums and numbers are stored in columns.

use uuid::Uuid;

use crate::{
    model::{
        anchor::{Attribute, Stance},
        change::ChangeOp,
        critical::CriticalRule,
        edge::{EdgeStatus, EdgeType},
        episode::EpisodeRole,
        ids::{
            AnchorId, EdgeId, EpisodeId, GroupId, MemoryId, ReceiptId, ReviewId, SessionId, SnapshotId,
            SummaryId, TurnId, UserId,
        },
        job::{JobKind, JobState},
        memory::{
            trust::Trust,
            words::{
                Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, Outcome, Resurfacing,
                TaskType, Volatility,
            },
        },
        place::{MemoryNo, Place, Seq, SessionNo, UnitKind, UserNo},
        receipt::{ItemKind, ItemOutcome, PackedAs},
        review::{Decision, ReviewKind},
        sensor::CheckResult,
        session::EndReason,
        summary::Original,
        tier::{MemoryTier, MoveReason},
        turn::Origin,
        uses::Aspect,
    },
    store::sql::{FromColumn, SqlValue, ToColumn, bytes, text},
};

macro_rules! id_value {
    ($($id:ty),*) => { $(
        impl ToColumn for $id {
            fn to_column(&self) -> SqlValue<'_> {
                SqlValue::Bytes(self.as_uuid().as_bytes())
            }
        }

        impl FromColumn for $id {
            fn from_column(value: SqlValue<'_>) -> Option<Self> {
                Uuid::from_slice(bytes(value)?).ok().map(Self::from_uuid)
            }
        }
    )* };
}

id_value!(
    UserId, SessionId, TurnId, SnapshotId, SummaryId, AnchorId, ReceiptId, MemoryId, EdgeId, EpisodeId,
    GroupId, ReviewId
);

macro_rules! word_value {
    ($($word:ty),*) => { $(
        impl ToColumn for $word {
            fn to_column(&self) -> SqlValue<'_> {
                SqlValue::Text(self.as_str().as_bytes())
            }
        }

        impl FromColumn for $word {
            fn from_column(value: SqlValue<'_>) -> Option<Self> {
                Self::from_word(text(value)?)
            }
        }
    )* };
}

word_value!(
    CheckResult,
    MemoryTier,
    MoveReason,
    EndReason,
    Origin,
    CriticalRule,
    Attribute,
    Stance,
    JobKind,
    JobState,
    Original,
    UnitKind,
    ItemKind,
    ItemOutcome,
    PackedAs,
    Aspect,
    MemoryKind,
    MemoryStatus,
    Frequency,
    Volatility,
    InformationType,
    LearningSource,
    TaskType,
    Outcome,
    Resurfacing,
    EdgeType,
    EdgeStatus,
    EpisodeRole,
    ChangeOp,
    ReviewKind,
    Decision
);

macro_rules! number_value {
    ($($number:ident),*) => { $(
        impl ToColumn for $number {
            fn to_column(&self) -> SqlValue<'_> {
                self.0.to_column()
            }
        }

        impl FromColumn for $number {
            fn from_column(value: SqlValue<'_>) -> Option<Self> {
                FromColumn::from_column(value).map(Self)
            }
        }
    )* };
}

number_value!(UserNo, SessionNo, MemoryNo, Seq);

/// Stores trust as its number, 1 to 4.
impl ToColumn for Trust {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Integer(self.number().into())
    }
}

impl Trust {
    /// What a column holds in which NULL is the user's trust, so that it changes no checksum of older rows.
    pub(crate) fn stored(self) -> Option<Self> {
        Some(self).filter(|trust| !trust.is_users())
    }

    /// The trust that such a column holds.
    pub(crate) fn of_stored(stored: Option<Self>) -> Self {
        stored.unwrap_or(Self::users())
    }
}

impl FromColumn for Trust {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        u8::try_from(i64::from_column(value)?).ok().and_then(Self::from_number)
    }
}

/// Stores a place as a `turn_key`.
impl ToColumn for Place {
    fn to_column(&self) -> SqlValue<'_> {
        SqlValue::Integer(self.key())
    }
}

impl FromColumn for Place {
    fn from_column(value: SqlValue<'_>) -> Option<Self> {
        i64::from_column(value).map(Self::of_key)
    }
}
