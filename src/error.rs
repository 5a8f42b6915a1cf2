//! The crate's one error type: a kind for programs to match, and a message for people.
//!
//! Error messages never contain message text or keys, so they may be logged.

use std::{error::Error as StdError, fmt, sync::Arc};

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of this crate. Cheap to clone, because one failed commit is returned to every caller that waited for it.
///
/// Match on [`kind`](Error::kind); show people the `Display` text, which reads well after "failed: " and often says what
/// to do. The cause, if there is one, is in [`source`](StdError::source).
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an [`Error`], which tells the caller what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input breaks a rule (a bound, a NUL, an impossible time). Nothing was written: fix the input.
    InvalidInput,
    /// The call contradicts what is stored: for example, the caller's id belongs to something with different text, or
    /// the memory to edit has another revision. Nothing was written.
    Conflict,
    /// The session was ended by call, and has no key under which it could continue. Nothing was written: start another
    /// session.
    SessionEnded,
    /// What the call names does not exist, or belongs to another user.
    NotFound,
    /// The queue or the file stayed busy past the timeout, or another process works in the vault's folder. Nothing was
    /// written: try again.
    Busy,
    /// A read passed its deadline and was stopped, or found all connections in use. Try again, or raise
    /// [`Config::read_timeout`](crate::Config::read_timeout) or [`Config::readers`](crate::Config::readers).
    TimedOut,
    /// The disk or the operating system failed. A turn may or may not be in the file: record it again with the same
    /// caller's id. If the file was deleted or replaced while it was open, or was written after it was opened read-only,
    /// calls fail with this kind until it is reopened.
    Io,
    /// The disk is full, or a quota is used up. As with `Io`, a turn may or may not be in the file: make room, and record it
    /// again with the same caller's id.
    DiskFull,
    /// The file was opened read-only, or its path cannot be written: a read-only file, folder or disk.
    ReadOnly,
    /// The file or a part of it is damaged, its schema was changed, its log is another file's, or it is not an SQLite
    /// database. Let doctor find the damage, or restore a
    /// backup. What is not damaged can still be read.
    Corrupt,
    /// A bug in this crate. Please report it.
    Internal,
    /// The file is another program's database: choose another path. Or another program has put something into it that can
    /// act on our tables: the message names it.
    ForeignFile,
    /// The file was written by a newer version of this crate. Upgrade the crate.
    NewerSchema,
    /// This machine, build, file or configuration does not support the operation: for example, the file system does not
    /// support WAL, or the configuration lacks the sensor that the call names.
    Unsupported,
    /// The handle was closed. Open the file again.
    Closed,
    /// The writer thread panicked. Everything acknowledged is safe. Reopen the file, and report the bug.
    Poisoned,
    /// LLM#1 or another provider failed temporarily: network, overload, an answer that fails verification. Work
    /// continues without the provider, which is asked again later.
    Provider,
    /// LLM#1 or another provider permanently refuses this request: a content filter, a text that is too long. Work
    /// continues without the provider.
    ProviderRefused,
    /// LLM#1 or another provider refuses every request because of its configuration: a wrong key, an unknown model, an
    /// account without credit. Jobs that need the provider wait until its configuration is fixed; recalls continue
    /// without it.
    ProviderMisconfigured,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: None }))
    }

    pub(crate) fn caused(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: Some(source.into()) }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Creates an error for a provider's temporary failure; for implementers of [`ChatModel`](crate::ChatModel),
    /// [`Summarizer`](crate::Summarizer), [`Embedder`](crate::Embedder) and [`Reranker`](crate::Reranker). The message
    /// should read well after "failed: " and must not contain keys or what users said. Its first 300 characters are
    /// stored, as one line, with the job or the receipt that lacked the provider.
    pub fn provider(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Provider, one_line(&message.into()))
    }

    /// Creates an error like [`provider`](Self::provider), for a failure that a retry of the same request will not fix:
    /// a filter refuses the request, or it is too long. Work continues without the provider; a compression does so only
    /// after a few tries.
    pub fn provider_refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ProviderRefused, one_line(&message.into()))
    }

    /// Creates an error like [`provider`](Self::provider), for a failure that only a configuration change fixes: a
    /// wrong key, an unknown model. Jobs that need the provider wait, and no try is counted.
    pub fn provider_misconfigured(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ProviderMisconfigured, one_line(&message.into()))
    }

    /// Returns the kind, which tells the caller what to do about the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns whether only a change of a provider's configuration fixes the error.
    pub(crate) fn is_misconfiguration(&self) -> bool {
        self.kind() == ErrorKind::ProviderMisconfigured
    }
}

/// Shortens an external error text, and replaces control characters, which could move a terminal's cursor.
fn one_line(message: &str) -> String {
    const MAX_CHARS: usize = 300;
    message.chars().take(MAX_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("Error");
        d.field("kind", &self.0.kind).field("message", &self.0.message);
        if let Some(source) = &self.0.source {
            d.field("source", source);
        }
        d.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|e| e as &(dyn StdError + 'static))
    }
}

/// Treats damage as missing, because doctor reports where it is.
pub(crate) fn sound<T>(read: Result<Option<T>>) -> Result<Option<T>> {
    match read {
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_provider_says_is_one_short_line() {
        let error = Error::provider(format!("over\nloaded\u{1b}[2J {}", "x".repeat(1 << 20)));
        assert!(error.to_string().starts_with("over loaded [2J xxx") && error.to_string().len() == 300);
        assert_eq!(Error::provider_refused("a\r\nb").to_string(), "a  b");
    }
}
