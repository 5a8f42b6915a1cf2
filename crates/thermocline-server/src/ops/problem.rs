//! The problems that a call can meet, defined once for all surfaces: the library's error kinds, and those that a server
//! adds.

use std::{
    fmt,
    path::{MAIN_SEPARATOR, Path},
};

use schemars::JsonSchema;
use serde::Serialize;
use thermocline::{Error, ErrorKind};

/// A failure, and what the caller can do about it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The kind of problem.
    pub code: Code,
    /// A sentence for people; it never quotes what anybody said.
    pub detail: String,
    /// The field of the request that caused the problem, or one that contains it, as a JSON pointer; `None` if no single
    /// field did, or if it is not known which.
    pub pointer: Option<String>,
    /// After how many seconds to retry; `None` if nothing more precise is known than the code's [`Retry`].
    pub retry_after_s: Option<u64>,
}

/// All kinds of problems. The word of a kind, such as `not-found`, never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "`facts` says what each is")]
pub enum Code {
    InvalidInput,
    BadRequest,
    UnsupportedMedia,
    SlowBody,
    TooLarge,
    NoSuchRoute,
    NoSuchMethod,
    NotAcceptable,
    Conflict,
    SessionEnded,
    ChangedSince,
    NotFound,
    NoKey,
    NotAllowed,
    ForeignRequest,
    Busy,
    TimedOut,
    TooFast,
    Io,
    DiskFull,
    ReadOnly,
    Corrupt,
    Unsupported,
    Provider,
    ProviderRefused,
    Closing,
    Unexpected,
}

/// Whether retrying helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not until something has changed: for example the request, the key, the configuration or the file.
    Never,
    /// At once with the same `caller_id`, because the operation may have been done.
    SameId,
    /// After a second or more.
    Later,
}

/// What the surfaces report about a kind of problem.
#[derive(Clone, Copy, Debug)]
pub struct ProblemFacts {
    /// The name of the kind, such as `not-found`.
    pub word: &'static str,
    /// The title for people.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// Whether retrying helps.
    pub retry: Retry,
    /// The exit code of `thermocline call`.
    pub exit: u8,
}

impl Code {
    /// All codes, in the order in which the page `/errors` lists them.
    pub const EVERY: [Self; 27] = [
        Self::InvalidInput,
        Self::BadRequest,
        Self::UnsupportedMedia,
        Self::SlowBody,
        Self::TooLarge,
        Self::NoSuchRoute,
        Self::NoSuchMethod,
        Self::NotAcceptable,
        Self::Conflict,
        Self::SessionEnded,
        Self::ChangedSince,
        Self::NotFound,
        Self::NoKey,
        Self::NotAllowed,
        Self::ForeignRequest,
        Self::Busy,
        Self::TimedOut,
        Self::TooFast,
        Self::Io,
        Self::DiskFull,
        Self::ReadOnly,
        Self::Corrupt,
        Self::Unsupported,
        Self::Provider,
        Self::ProviderRefused,
        Self::Closing,
        Self::Unexpected,
    ];

    /// Returns the code for one of the library's error kinds.
    pub fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidInput => Self::InvalidInput,
            ErrorKind::Conflict => Self::Conflict,
            ErrorKind::SessionEnded => Self::SessionEnded,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::Busy => Self::Busy,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::Io => Self::Io,
            ErrorKind::DiskFull => Self::DiskFull,
            ErrorKind::ReadOnly => Self::ReadOnly,
            ErrorKind::Corrupt | ErrorKind::ForeignFile | ErrorKind::NewerSchema => Self::Corrupt,
            ErrorKind::Unsupported => Self::Unsupported,
            ErrorKind::Closed => Self::Closing,
            ErrorKind::Provider => Self::Provider,
            ErrorKind::ProviderRefused | ErrorKind::ProviderMisconfigured => Self::ProviderRefused,
            // A bug in the library, a writer that panicked, or a kind that this crate does not know.
            _ => Self::Unexpected,
        }
    }

    /// The codes of problems that an operator has to act on.
    pub(crate) const SERVERS: [Self; 5] =
        [Self::Io, Self::DiskFull, Self::ReadOnly, Self::Corrupt, Self::Unexpected];

    /// Whether an operator has to act on the problem.
    pub(crate) fn is_servers(self) -> bool {
        Self::SERVERS.contains(&self)
    }

    /// Returns the facts about this code. All surfaces take the status, the exit code and whether to retry from here.
    pub const fn facts(self) -> ProblemFacts {
        use Retry::{Later, Never, SameId};
        let (word, title, status, retry, exit) = match self {
            Self::InvalidInput => ("invalid-input", "The input breaks a rule", 422, Never, 3),
            Self::BadRequest => ("bad-request", "The request cannot be read", 400, Never, 2),
            Self::UnsupportedMedia => ("unsupported-media", "The body is not JSON", 415, Never, 2),
            Self::SlowBody => ("slow-body", "The body came too slowly", 408, Later, 6),
            Self::TooLarge => ("too-large", "The body is too large", 413, Never, 2),
            Self::NoSuchRoute => ("no-such-route", "There is no such address", 404, Never, 2),
            Self::NoSuchMethod => ("no-such-method", "The address does not take this method", 405, Never, 2),
            Self::NotAcceptable => {
                ("not-acceptable", "The client does not accept this type of answer", 406, Never, 2)
            }
            Self::Conflict => ("conflict", "It conflicts with what is there", 409, Never, 3),
            Self::SessionEnded => ("session-ended", "The session has ended", 409, Never, 3),
            Self::ChangedSince => ("changed-since", "It has changed since it was read", 412, Never, 3),
            Self::NotFound => ("not-found", "It does not exist", 404, Never, 4),
            Self::NoKey => ("no-key", "A key is needed", 401, Never, 3),
            Self::NotAllowed => ("not-allowed", "The key may not do that", 403, Never, 3),
            Self::ForeignRequest => {
                ("foreign-request", "It comes from a foreign page or address", 403, Never, 3)
            }
            Self::Busy => ("busy", "The server is busy", 503, Later, 6),
            Self::TimedOut => ("timed-out", "It took too long", 503, Later, 6),
            Self::TooFast => ("too-fast", "The key has reached its rate limit", 429, Later, 6),
            Self::Io => ("io", "The disk failed, or the file was replaced", 500, SameId, 5),
            Self::DiskFull => ("disk-full", "The server's disk is full", 507, SameId, 8),
            Self::ReadOnly => ("read-only", "The file cannot be written", 503, Never, 5),
            Self::Corrupt => ("corrupt", "The file is damaged", 503, Never, 5),
            Self::Unsupported => ("unsupported", "This server cannot do it", 422, Never, 5),
            Self::Provider => ("provider", "A provider failed", 502, Later, 6),
            Self::ProviderRefused => ("provider-refused", "A provider refuses it", 502, Never, 3),
            Self::Closing => ("closing", "The server is stopping", 503, Later, 1),
            Self::Unexpected => ("unexpected", "Something unexpected happened", 500, SameId, 1),
        };
        ProblemFacts { word, title, status, retry, exit }
    }
}

impl Retry {
    /// Returns the value in responses, such as `same_id`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::SameId => "same_id",
            Self::Later => "later",
        }
    }
}

impl Problem {
    /// Creates a problem with a sentence for people.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), pointer: None, retry_after_s: None }
    }

    /// Creates the problem for a request that cannot be read.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, detail)
    }

    /// Creates the problem for a request field that breaks a rule.
    pub fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self { pointer: Some(format!("/{field}")), ..Self::new(Code::InvalidInput, detail) }
    }

    /// Creates the problem for a bug in this program.
    pub fn unexpected(error: &dyn fmt::Display) -> Self {
        Self::new(Code::Unexpected, format!("this is a bug, please report it: {error}"))
    }
}

/// The problem with one of several items of a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ItemProblem {
    /// The problem's code, such as `conflict`.
    pub code: &'static str,
    /// A sentence for people.
    pub detail: String,
    /// Whether retrying helps: `never`, `same_id` or `later`.
    pub retry: &'static str,
}

impl ItemProblem {
    /// Returns the problem as a response shows it.
    pub fn of(problem: &Problem) -> Self {
        let ProblemFacts { word, retry, .. } = problem.code.facts();
        Self { code: word, detail: problem.detail.clone(), retry: retry.as_str() }
    }
}

impl Problem {
    /// Names files of this folder without it: where the server keeps its files is not the caller's business.
    #[must_use]
    pub(crate) fn without_folder(mut self, folder: Option<&Path>) -> Self {
        let folder = folder.and_then(Path::to_str).map(|folder| folder.trim_end_matches(MAIN_SEPARATOR));
        if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
            self.detail =
                self.detail.replace(&format!("{folder}{MAIN_SEPARATOR}"), "").replace(folder, "the folder");
        }
        self
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match Code::of(error.kind()) {
            Code::NotFound => crate::ops::call::not_found(),
            code => Self::new(code, error.to_string()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Problem {}
