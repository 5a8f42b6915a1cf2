//! Sensors and checks: who can check whether a memory still holds, what the sensor expects, and what a check found.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    model::{
        hex::hex,
        ids::{MemoryId, ReviewId},
        word_enum::word_enum,
    },
};

/// The name of the only sensor that is not code: a person, who is asked by a review.
pub(crate) const HUMAN: &str = "human";
/// The number of a hash's bytes that are kept.
const HASH_BYTES: usize = 16;

/// What a sensor expects to see, as a JSON object. The object is only data: no path, command or address is taken from it.
/// Each sensor defines which fields it understands, and what an empty object means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Expect(pub(crate) Map<String, Value>);

impl Expect {
    /// Creates an expectation with these fields.
    ///
    /// Errors: `InvalidInput` for JSON that is not an object.
    pub fn new(fields: Value) -> Result<Self> {
        match fields {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Error::invalid("what a sensor expects must be a JSON object")),
        }
    }

    /// Adds a field, or replaces its value.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(field.into(), value.into());
        self
    }

    /// Expects that the subject exists, or that it does not. Understood by `fs`.
    #[must_use]
    pub fn exists(self, exists: bool) -> Self {
        self.with("exists", exists)
    }

    /// Expects that this text occurs in the subject, verbatim. Understood by `fs`, `code` and `runtime`. If `runtime`
    /// sees a list, the text must be an item of it.
    #[must_use]
    pub fn contains(self, text: impl Into<String>) -> Self {
        self.with("contains", text.into())
    }

    /// Expects that the subject has this SHA-256, in hexadecimal. Understood by `fs`.
    #[must_use]
    pub fn sha256(self, digits: impl Into<String>) -> Self {
        self.with("sha256", digits.into())
    }

    /// Expects that the command exits with this code. Understood by `code`.
    #[must_use]
    pub fn exit_code(self, code: i32) -> Self {
        self.with("exit_code", code)
    }

    /// Expects that the answer has this HTTP status. Understood by `http`.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        self.with("status", status)
    }

    /// Expects that the answer's JSON has this value at a JSON pointer: `/current/port`. Understood by `http`.
    #[must_use]
    pub fn equals_at(self, pointer: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with("pointer", pointer.into()).with("equals", value)
    }

    /// Returns the fields of the expectation.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// The first 16 bytes of the SHA-256 of what a sensor saw. What it saw is not kept, but if there are few possible
/// values, hashing each of them reveals the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SeenHash([u8; HASH_BYTES]);

impl SeenHash {
    /// Computes the hash of what was seen.
    pub fn of(seen: impl AsRef<[u8]>) -> Self {
        let mut bytes = [0; HASH_BYTES];
        bytes.copy_from_slice(&Sha256::digest(seen.as_ref())[..HASH_BYTES]);
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Formats the hash in hexadecimal.
impl fmt::Display for SeenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for SeenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeenHash({self})")
    }
}

word_enum! {
    /// The result of a check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum CheckResult {
        /// The memory holds, as far as the sensor can tell.
        Pass = "pass",
        /// The memory does not hold.
        Fail = "fail",
        /// The sensor cannot tell, and the memory's confidence does not change.
        Unknown = "unknown",
    }
    pub fn from_word;
}

word_enum! {
    /// Why a sensor cannot tell.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum UnknownReason {
        /// The sensor did not answer in time, or had been late so often that it was not asked again. Recorded only if it
        /// was asked.
        Late = "late",
        /// The sensor panicked.
        Panicked = "panicked",
        /// The configuration has no sensor of this name that serves the user. No check took place, and none is recorded.
        NotConfigured = "not configured",
        /// The sensor does not know this subject, or does not understand this expectation.
        NotUnderstood = "not understood",
        /// The sensor is not allowed to look there: a link, a device, another host.
        Refused = "refused",
        /// The sensor could not look: offline, no such folder or program, no permission to read.
        Unreachable = "unreachable",
        /// The content is larger than the sensor may read.
        TooLarge = "too large",
        /// The memory was changed or erased during the check, or its sensor was changed, so the result says nothing about
        /// the current memory. Not recorded.
        Changed = "changed meanwhile",
        /// A person is asked by a review.
        Asked = "a person is asked",
        /// A person would be asked, but has decided the question recently. Not recorded.
        Decided = "a person decided recently",
        /// Another reason, which only the sensor knows.
        Other = "cannot tell",
    }
    pub fn from_word;
}

/// A sensor's verdict, with the hash of what it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckVerdict {
    /// The memory holds.
    Pass(SeenHash),
    /// The memory does not hold.
    Fail(SeenHash),
    /// The sensor cannot tell. Sensors should prefer this to a guess.
    Unknown(UnknownReason),
}

impl CheckVerdict {
    /// Returns [`Pass`](Self::Pass) if the memory holds and [`Fail`](Self::Fail) if it does not. `seen` is what the
    /// sensor saw; only its hash is kept.
    pub fn of(holds: bool, seen: impl AsRef<[u8]>) -> Self {
        let seen = SeenHash::of(seen);
        if holds { Self::Pass(seen) } else { Self::Fail(seen) }
    }

    /// Returns a verdict for a sensor that cannot tell, with the reason [`UnknownReason::Other`].
    pub fn unknown() -> Self {
        Self::Unknown(UnknownReason::Other)
    }

    /// Returns the result without the hash and the reason.
    pub fn result(self) -> CheckResult {
        match self {
            Self::Pass(_) => CheckResult::Pass,
            Self::Fail(_) => CheckResult::Fail,
            Self::Unknown(_) => CheckResult::Unknown,
        }
    }

    /// Returns the hash of what was seen; `None` if the sensor cannot tell.
    pub fn seen(self) -> Option<SeenHash> {
        match self {
            Self::Pass(seen) | Self::Fail(seen) => Some(seen),
            Self::Unknown(_) => None,
        }
    }
}

/// A sensor to check a memory with: its name, the subject it looks at, and what it should see there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NewSensor {
    /// The name of a configured sensor, or `human` to ask a person. 1 to 200 bytes.
    pub sensor: String,
    /// The subject that the sensor looks at, in terms of the configuration, such as a file under a configured root:
    /// `ops:nginx/api.conf`. For `human`, any text. At most 1,024 bytes.
    pub subject: String,
    /// What the sensor should see. At most 16 KiB. Default: empty; each sensor defines what that means.
    pub expect: Expect,
}

impl NewSensor {
    /// Creates a check of this subject by this sensor.
    pub fn new(sensor: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { sensor: sensor.into(), subject: subject.into(), expect: Expect::default() }
    }

    /// Sets what the sensor should see.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }
}

/// A sensor that is set to check a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemorySensor {
    /// The sensor's name. If no sensor of this name is configured, no check takes place.
    pub sensor: String,
    /// The subject that the sensor looks at.
    pub subject: String,
    /// What the sensor should see.
    pub expect: Expect,
    /// Whether a sensor of this name is configured and serves the user; always true for `human`.
    pub is_configured: bool,
}

/// The memories to check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToCheck {
    /// These memories, stale or not; at most 1,000. Memories that cannot be recalled (neither active nor archived, or
    /// volatile) are left out.
    Memories(Vec<MemoryId>),
    /// All stale memories that are active or archived and have a sensor that can be used: a configured one, or `human`,
    /// which asks a person.
    Stale,
}

impl From<MemoryId> for ToCheck {
    fn from(id: MemoryId) -> Self {
        Self::Memories(vec![id])
    }
}

impl From<Vec<MemoryId>> for ToCheck {
    fn from(ids: Vec<MemoryId>) -> Self {
        Self::Memories(ids)
    }
}

/// One check of a memory, and its effect on the memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryCheck {
    /// The checked memory.
    pub memory_id: MemoryId,
    /// The sensor that looked.
    pub sensor: String,
    /// The subject that the sensor looked at.
    pub subject: String,
    /// The result of the check.
    pub result: CheckResult,
    /// Why the sensor cannot tell; `None` if the check passed or failed.
    pub why: Option<UnknownReason>,
    /// When the sensor looked. This may be earlier than the call, within [`Sensor::rest`](crate::Sensor::rest). `None` if no
    /// sensor looked.
    pub looked_at: Option<DateTime<Utc>>,
    /// The memory's confidence after the check; `None` if the check changed nothing because the sensor was not asked, the
    /// memory had this look's result before, or the memory was changed or erased in the meantime.
    pub confidence: Option<f64>,
    /// The memory's reliability after the check; `None` if nobody has assessed it, or if `confidence` is `None`.
    pub reliability: Option<f64>,
    /// The review that asks a person whether the memory holds, because the check failed or the sensor is `human`.
    /// `None` otherwise, or if a person decided that recently.
    pub review: Option<ReviewId>,
}
