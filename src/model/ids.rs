//! Ids: UUIDs in newtypes, so that mixing up a session and a turn does not compile. Ids that are made here sort by creation
//! time, to the millisecond.

#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::{NoContext, Timestamp, Uuid};

use crate::error::{Error, Result};

/// Declares a newtype for a UUID, without a text form.
macro_rules! uuid_newtype {
    ($(#[$meta:meta])* $name:ident) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        $(#[$meta])*
        pub struct $name(Uuid);

        impl $name {
            /// Creates an id from a UUID that the caller already has, for example a backend's own.
            pub fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the UUID.
            pub fn as_uuid(&self) -> &Uuid {
                &self.0
            }

            /// Creates an id that sorts by `now` (`UUIDv7`).
            #[allow(dead_code, reason = "one macro for all ids; not every id is made here")]
            pub(crate) fn new(now: impl Into<DateTime<Utc>>) -> Self {
                Self(new_uuid(now.into()))
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }
    };
}

/// Declares an id that is displayed as its UUID.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        uuid_newtype!(
            $(#[$doc])*
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde(transparent)]
            $name
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Uuid::parse_str(text)
                    .map(Self)
                    .map_err(|_| Error::invalid(concat!("not a valid ", $what, " id: expected a UUID")))
            }
        }
    };
}

id!(
    /// Names one user.
    UserId, "user"
);
id!(
    /// Names one conversation. Sorts by creation time (`UUIDv7`).
    SessionId, "session"
);
id!(
    /// Names one turn. Sorts by creation time (`UUIDv7`).
    TurnId, "turn"
);
id!(
    /// Names one of the backend's state snapshots.
    SnapshotId, "snapshot"
);

id!(
    /// Names one summary. Sorts by creation time (`UUIDv7`).
    SummaryId, "summary"
);
id!(
    /// Names one anchor. Sorts by creation time (`UUIDv7`).
    AnchorId, "anchor"
);

id!(
    /// Names one receipt. Sorts by creation time (`UUIDv7`).
    ReceiptId, "receipt"
);

id!(
    /// Names one edge between two memories. Sorts by creation time (`UUIDv7`).
    EdgeId, "edge"
);
id!(
    /// Names one episode. Sorts by creation time (`UUIDv7`).
    EpisodeId, "episode"
);
id!(
    /// Names one operation on memories, whose changes are undone together. Sorts by time (`UUIDv7`).
    GroupId, "group"
);
id!(
    /// Names one review. Sorts by creation time (`UUIDv7`).
    ReviewId, "review"
);

uuid_newtype!(
    /// Names one memory. Sorts by creation time (`UUIDv7`). Displayed, and written in JSON, as `mem_` and a UUID. When
    /// an id is read, `mem_` is optional.
    #[serde(into = "String", try_from = "String")]
    MemoryId
);

/// The prefix of a memory's UUID, as in the papers.
const MEMORY_PREFIX: &str = "mem_";

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MEMORY_PREFIX}{}", self.0)
    }
}

impl FromStr for MemoryId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Uuid::parse_str(text.strip_prefix(MEMORY_PREFIX).unwrap_or(text))
            .map(Self)
            .map_err(|_| Error::invalid("not a valid memory id: expected mem_ and a UUID"))
    }
}

impl From<MemoryId> for String {
    fn from(id: MemoryId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for MemoryId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for MemoryId {
    fn schema_name() -> Cow<'static, str> {
        "MemoryId".into()
    }

    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::MemoryId").into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Names one memory. Sorts by creation time (`UUIDv7`). Read with and without `mem_`.",
            "type": "string",
            "pattern": "^(mem_)?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
        })
    }
}

/// Creates a `UUIDv7`. A time before 1970 cannot be represented and gets the first one; no order depends on it.
fn new_uuid(now: DateTime<Utc>) -> Uuid {
    let seconds = u64::try_from(now.timestamp()).unwrap_or(0);
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, now.timestamp_subsec_nanos()))
}

/// Returns 62 random bits: those of a `UUIDv7` without a time.
pub(crate) fn random_bits() -> u64 {
    let (_, bits) = Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0)).as_u64_pair();
    bits & (u64::MAX >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_memory_is_read_with_and_without_what_stands_before_it() {
        let id: MemoryId = "0199aaaa-0000-7000-8000-0000000000b1".parse().unwrap();
        let shown = "mem_0199aaaa-0000-7000-8000-0000000000b1";
        assert_eq!((id.to_string().as_str(), shown.parse().unwrap()), (shown, id));
        assert_eq!(serde_json::to_value(id).unwrap(), shown);
        assert_eq!(serde_json::from_str::<MemoryId>(&format!("\"{shown}\"")).unwrap(), id);
        for wrong in ["", "mem_", "mem_mem_0199aaaa-0000-7000-8000-0000000000b1", "memory"] {
            assert!(wrong.parse::<MemoryId>().is_err(), "{wrong}");
        }
    }
}
