//! Sensors and checks: who can check whether a memory still holds, against what, and what a check found.

use std::fmt;

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

/// The sensor that is not code: a person, who is asked by a review.
pub(crate) const HUMAN: &str = "human";
/// How many bytes of a hash are kept.
const HASH_BYTES: usize = 16;

/// What a sensor expects to see, as a JSON object. It is only data: it refers to paths, commands and addresses only by names
/// from the configuration. Each sensor defines which fields it understands; an empty one expects the least that the sensor
/// can check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Expect(pub(crate) Map<String, Value>);

impl Expect {
    /// An expectation with these fields.
    ///
    /// Errors: `InvalidInput` for JSON that is not an object.
    pub fn new(fields: Value) -> Result<Self> {
        match fields {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Error::invalid("what a sensor expects must be a JSON object")),
        }
    }

    /// The same expectation with one more field, or another value for it.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(field.into(), value.into());
        self
    }

    /// Expects that it exists, or does not. Understood by `fs`.
    #[must_use]
    pub fn exists(self, exists: bool) -> Self {
        self.with("exists", exists)
    }

    /// Expects that it contains exactly this text. Understood by `fs`, `code` and `runtime`.
    #[must_use]
    pub fn contains(self, text: impl Into<String>) -> Self {
        self.with("contains", text.into())
    }

    /// Expects this SHA-256, in hexadecimal. Understood by `fs`.
    #[must_use]
    pub fn sha256(self, digits: impl Into<String>) -> Self {
        self.with("sha256", digits.into())
    }

    /// Expects that the command ends with this code. Understood by `code`.
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

    /// Its fields.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// The first 16 bytes of the SHA-256 of what a sensor saw. What it saw is not kept. If it has few possible values, it can be
/// guessed by hashing each of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SeenHash([u8; HASH_BYTES]);

impl SeenHash {
    /// The hash of what was seen.
    pub fn of(seen: impl AsRef<[u8]>) -> Self {
        let mut bytes = [0; HASH_BYTES];
        bytes.copy_from_slice(&Sha256::digest(seen.as_ref())[..HASH_BYTES]);
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// In hexadecimal.
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
    /// What a check found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum CheckResult {
        /// The memory holds, as far as the sensor can tell.
        Pass = "pass",
        /// It does not hold.
        Fail = "fail",
        /// The sensor cannot tell: the memory's confidence does not change.
        Unknown = "unknown",
    }
    pub fn from_word;
}

word_enum! {
    /// Why a sensor cannot tell.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum UnknownReason {
        /// It did not answer in time.
        Late = "late",
        /// It panicked.
        Panicked = "panicked",
        /// The configuration has no sensor of this name. No check took place, and none is recorded.
        NotConfigured = "not configured",
        /// It does not know this subject, or does not understand this expectation.
        NotUnderstood = "not understood",
        /// It is not allowed to look there: a link, a device, another host.
        Refused = "refused",
        /// It could not look: offline, no such folder or program, no permission to read.
        Unreachable = "unreachable",
        /// The content is larger than it may read.
        TooLarge = "too large",
        /// The memory was changed or erased while it looked, so what it saw says nothing about the current memory. Not
        /// recorded.
        Changed = "changed meanwhile",
        /// A person is asked: a review is open.
        Asked = "a person is asked",
        /// For a reason of its own.
        Other = "cannot tell",
    }
    pub fn from_word;
}

/// What a sensor found, with the hash of what it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckVerdict {
    /// It holds.
    Pass(SeenHash),
    /// It does not hold.
    Fail(SeenHash),
    /// It cannot tell. Sensors should prefer this to a guess.
    Unknown(UnknownReason),
}

impl CheckVerdict {
    /// Passes if it holds, fails if it does not; `seen` is what was looked at, of which the hash is kept.
    pub fn of(holds: bool, seen: impl AsRef<[u8]>) -> Self {
        let seen = SeenHash::of(seen);
        if holds { Self::Pass(seen) } else { Self::Fail(seen) }
    }

    /// It cannot tell, for a reason of its own.
    pub fn unknown() -> Self {
        Self::Unknown(UnknownReason::Other)
    }

    /// Whether it holds.
    pub fn result(self) -> CheckResult {
        match self {
            Self::Pass(_) => CheckResult::Pass,
            Self::Fail(_) => CheckResult::Fail,
            Self::Unknown(_) => CheckResult::Unknown,
        }
    }

    /// The hash of what was seen.
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
    /// The name of a configured sensor, or `human`. 1 to 200 bytes.
    pub sensor: String,
    /// What it looks at, by a name known to the configuration: `ops:nginx/api.conf`. At most 1,024 bytes.
    pub subject: String,
    /// What it should see. At most 16 KiB. Default: empty, which each sensor takes as the least it can check.
    pub expect: Expect,
}

impl NewSensor {
    /// This sensor, looking at this subject.
    pub fn new(sensor: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { sensor: sensor.into(), subject: subject.into(), expect: Expect::default() }
    }

    /// Sets what it should see there.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }
}

/// A sensor of a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemorySensor {
    /// The sensor's name. If it is not configured, nothing looks.
    pub sensor: String,
    /// What it looks at.
    pub subject: String,
    /// What it should see.
    pub expect: Expect,
    /// The hash of what the last check saw, in hexadecimal; `None` if no check has seen anything yet.
    pub seen_hash: Option<String>,
    /// Whether this sensor is configured.
    pub is_configured: bool,
}

/// Which memories to check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToCheck {
    /// These, stale or not; at most 1,000.
    Memories(Vec<MemoryId>),
    /// All stale memories that are active or archived and have a configured sensor.
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
    /// The memory.
    pub memory_id: MemoryId,
    /// The sensor that looked.
    pub sensor: String,
    /// What it looked at.
    pub subject: String,
    /// What was found.
    pub result: CheckResult,
    /// Why it cannot tell.
    pub why: Option<UnknownReason>,
    /// The memory's confidence after the check; `None` if the memory was changed or erased in the meantime.
    pub confidence: Option<f64>,
    /// The memory's reliability after the check; `None` if nobody has assessed it.
    pub reliability: Option<f64>,
    /// The review that asks a person, if one is open because this failed.
    pub review: Option<ReviewId>,
}
