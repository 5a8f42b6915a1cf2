//! Names of things: UUIDs in newtypes, so that mixing up a session and a turn does not compile.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::{NoContext, Timestamp, Uuid};

use crate::error::{Error, Result};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// An id that the caller already has, for example a backend's own.
            pub fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID itself.
            pub fn as_uuid(&self) -> &Uuid {
                &self.0
            }

            /// A new id that sorts by `now` (`UUIDv7`).
            #[allow(dead_code, reason = "one macro for all ids; not every id is made here")]
            pub(crate) fn new(now: DateTime<Utc>) -> Self {
                Self(new_uuid(now))
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

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
                    .map_err(|_| Error::invalid(concat!("this is no ", $what, " id: expected a UUID")))
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

/// Times before 1970 have no `UUIDv7`; they get the first one, and order never depends on it.
fn new_uuid(now: DateTime<Utc>) -> Uuid {
    let seconds = u64::try_from(now.timestamp()).unwrap_or(0);
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, now.timestamp_subsec_nanos()))
}
