//! Sensors and checks: who can look whether a memory still holds, against what, and what a look found.

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

/// The sensor that is no code: a person, who is asked by a review.
pub(crate) const HUMAN: &str = "human";
/// The bytes of a hash that are kept.
const HASH_BYTES: usize = 16;

/// What a sensor expects to see, as a JSON object. Data: it names no path, command or address but by names that the
/// configuration has. Each sensor says which fields it understands; an empty expectation asks for the least of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Expect(pub(crate) Map<String, Value>);

impl Expect {
    /// These fields.
    ///
    /// Errors: `InvalidInput` for JSON that is no object.
    pub fn new(fields: Value) -> Result<Self> {
        match fields {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Error::invalid("what a sensor expects is a JSON object")),
        }
    }

    /// The same with one field more, or another value of it.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(field.into(), value.into());
        self
    }

    /// That it is there, or is not. Understood by `fs`.
    #[must_use]
    pub fn exists(self, exists: bool) -> Self {
        self.with("exists", exists)
    }

    /// That it holds this text, to the letter. Understood by `fs`, `code` and `runtime`.
    #[must_use]
    pub fn contains(self, text: impl Into<String>) -> Self {
        self.with("contains", text.into())
    }

    /// That its SHA-256 is this, in hexadecimal. Understood by `fs`.
    #[must_use]
    pub fn sha256(self, digits: impl Into<String>) -> Self {
        self.with("sha256", digits.into())
    }

    /// That the command ends with this code. Understood by `code`.
    #[must_use]
    pub fn exit_code(self, code: i32) -> Self {
        self.with("exit_code", code)
    }

    /// That the answer has this HTTP status. Understood by `http`.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        self.with("status", status)
    }

    /// That the JSON of the answer has this value at a JSON pointer: `/current/port`. Understood by `http`.
    #[must_use]
    pub fn equals_at(self, pointer: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with("pointer", pointer.into()).with("equals", value)
    }

    /// Its fields.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// The first 16 bytes of the SHA-256 of what a sensor saw. What it saw is kept nowhere. The hash of what has few values
/// can be guessed by trying them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SeenHash([u8; HASH_BYTES]);

impl SeenHash {
    /// Of what was seen.
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
        /// It holds, as far as the sensor can tell.
        Pass = "pass",
        /// It does not.
        Fail = "fail",
        /// The sensor cannot tell: nothing becomes truer or falser.
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
        /// The configuration has no sensor of this name. No look took place, and none is noted.
        NotConfigured = "not configured",
        /// It does not know this subject, or does not understand this expectation.
        NotUnderstood = "not understood",
        /// It may not look there: a link, a device, another host.
        Refused = "refused",
        /// It could not look: offline, no such folder or program, no right to read.
        Unreachable = "unreachable",
        /// There is more than it may read.
        TooLarge = "too large",
        /// The memory was changed or erased while it looked: what it saw says nothing of the memory as it is. Not noted.
        Changed = "changed meanwhile",
        /// A person is asked: a review is open.
        Asked = "a person is asked",
        /// For a reason of its own.
        Other = "cannot tell",
    }
    pub fn from_word;
}

/// What a sensor says of a look, with the hash of what it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckVerdict {
    /// It holds.
    Pass(SeenHash),
    /// It does not.
    Fail(SeenHash),
    /// It cannot tell. Rather this than a guess.
    Unknown(UnknownReason),
}

impl CheckVerdict {
    /// Passes if it holds, and fails if it does not; `seen`: what was looked at, of which the hash is kept.
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

/// What is to look at a memory: a sensor by its name, the subject that it looks at, what it is to see there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NewSensor {
    /// The name of a configured sensor, or `human`. 1 to 200 bytes.
    pub sensor: String,
    /// What it looks at, by a name that the configuration knows: `ops:nginx/api.conf`. At most 1,024 bytes.
    pub subject: String,
    /// What it is to see. At most 16 KiB. Default: none, which each sensor reads as the least that it can look for.
    pub expect: Expect,
}

impl NewSensor {
    /// This sensor, looking at this subject.
    pub fn new(sensor: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { sensor: sensor.into(), subject: subject.into(), expect: Expect::default() }
    }

    /// What it is to see there.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }
}

/// What looks at a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemorySensor {
    /// The sensor's name. The configuration may not have it: then nothing looks.
    pub sensor: String,
    /// What it looks at.
    pub subject: String,
    /// What it is to see.
    pub expect: Expect,
    /// Of what the last check saw, in hexadecimal; none: none has seen anything yet.
    pub seen_hash: Option<String>,
    /// Whether this configuration has the sensor.
    pub is_configured: bool,
}

/// Which memories to check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToCheck {
    /// These, stale or not; at most 1,000.
    Memories(Vec<MemoryId>),
    /// All that hold or are archived, are stale, and have a sensor that is configured.
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

/// One look whether a memory holds, and what it made of the memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryCheck {
    /// The memory.
    pub memory_id: MemoryId,
    /// Who looked.
    pub sensor: String,
    /// At what.
    pub subject: String,
    /// What was found.
    pub result: CheckResult,
    /// Why it cannot tell.
    pub why: Option<UnknownReason>,
    /// How likely the memory is true since; none: it was changed or erased meanwhile.
    pub confidence: Option<f64>,
    /// How good its source is since; none: nobody has assessed it.
    pub reliability: Option<f64>,
    /// The review that asks a person, if one is open since this failed.
    pub review: Option<ReviewId>,
}
