//! How a run of the command can end: exit codes, one for each way in which a caller may react.

use std::{error::Error as StdError, fmt, io, path::Path, process::ExitCode};

use serde_json::{Value, json};
use thermocline::{Error, ErrorKind};

/// The exit code of the process. The numbers never change their meaning, because scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    /// An unexpected error inside this program.
    Unexpected = 1,
    /// The command line is invalid, as clap reports it.
    Misused = 2,
    Refused = 3,
    NotFound = 4,
    /// The file cannot be used, or what was asked is not supported here.
    FileUnusable = 5,
    TryAgain = 6,
    Unhealthy = 7,
    /// The disk is full.
    DiskFull = 8,
}

/// The exit codes, for people, at the end of `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  something unexpected inside thermocline; please report it
  2  the command line is invalid
  3  the input was refused, for example an id that belongs to other text, or an ended session;
     or an LLM or embedder rejected its configuration
  4  there is no such file, user, session, turn, anchor, receipt or job
  5  the file cannot be used: damaged, another program's, of a newer version, or unreadable;
     or this machine, build, file or configuration does not support what was asked
  6  the file stayed busy, a read took too long, or an LLM or embedder failed; try again
     (erase: some erased bytes still have to be overwritten; jobs that wait for an LLM or
     embedder do not make jobs run fail: its report and jobs list name them)
  7  doctor found problems
  8  the disk is full: make room, and try again";

impl Exit {
    fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidInput
            | ErrorKind::Conflict
            | ErrorKind::SessionEnded
            | ErrorKind::ProviderRefused
            | ErrorKind::ProviderMisconfigured => Self::Refused,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::Io
            | ErrorKind::ReadOnly
            | ErrorKind::Corrupt
            | ErrorKind::ForeignFile
            | ErrorKind::NewerSchema
            | ErrorKind::Unsupported => Self::FileUnusable,
            ErrorKind::DiskFull => Self::DiskFull,
            ErrorKind::Busy | ErrorKind::TimedOut | ErrorKind::Provider => Self::TryAgain,
            // `Closed` and `Poisoned` are not the caller's fault, because this program closes the memory only at its end.
            // The others are `Internal`, and kinds that this version does not know.
            _ => Self::Unexpected,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a verb failed. The message reads after "failed: ", and never contains what users said, or their keys.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// The kind of the library's error; `None` if the failure is not from the library.
    kind: Option<ErrorKind>,
    /// The place in the input: its unit, such as `line`, and its number from 1.
    place: Option<(&'static str, u64)>,
    message: String,
    cause: Option<Box<dyn StdError>>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, kind: None, place: None, message: message.into(), cause: None }
    }

    pub(crate) fn caused(exit: Exit, message: impl Into<String>, cause: impl StdError + 'static) -> Self {
        Self { cause: Some(Box::new(cause)), ..Self::new(exit, message) }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    /// Creates the failure for a missing file; `what` says what kind of file it should be.
    pub(crate) fn no_file(what: &str, path: &Path, cause: io::Error) -> Self {
        Self::caused(Exit::NotFound, format!("there is no {what} {}", path.display()), cause)
    }

    /// Adds the place in the input to the failure: `("line", 17)`.
    pub(crate) fn at(self, what: &'static str, number: u64) -> Self {
        Self { place: Some((what, number)), ..self.within(&format!("{what} {number}: "), "") }
    }

    /// Adds text before and after the message.
    pub(crate) fn within(self, before: &str, after: &str) -> Self {
        Self { message: format!("{before}{}{after}", self.message), ..self }
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// The kind of the library's error; `None` if the failure is not from the library.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        self.kind
    }

    /// Returns the failure as JSON. `kind` is the library's name of the kind, such as `read_only`, even if the failure is
    /// not from the library.
    pub(crate) fn to_json(&self) -> Value {
        let kind = match (self.kind, self.exit) {
            (Some(kind), _) => snake_case(&format!("{kind:?}")),
            (None, Exit::Done | Exit::Unexpected) => "internal".to_owned(),
            (None, Exit::Misused) => "usage".to_owned(),
            (None, Exit::Refused) => "invalid_input".to_owned(),
            (None, Exit::NotFound) => "not_found".to_owned(),
            (None, Exit::FileUnusable) => "io".to_owned(),
            (None, Exit::TryAgain) => "busy".to_owned(),
            (None, Exit::Unhealthy) => "unhealthy".to_owned(),
            (None, Exit::DiskFull) => "disk_full".to_owned(),
        };
        let mut told = json!({ "kind": kind, "message": self.to_string(), "exit_code": self.exit as u8 });
        if let Some((what, number)) = self.place {
            told[what] = number.into();
        }
        json!({ "error": told })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (kind, message) = (error.kind(), error.to_string());
        Self { kind: Some(kind), ..Self::caused(Exit::of(kind), message, error) }
    }
}

/// Turns `ReadOnly` into `read_only`.
fn snake_case(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.extend(c.to_lowercase());
    }
    words
}

impl fmt::Display for Failure {
    /// Writes the message, followed by the messages of those causes that add something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.message.clone();
        let mut next: Option<&dyn StdError> = self.cause.as_deref();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !said.contains(&text) {
                said = format!("{said}: {text}");
            }
            next = cause.source();
        }
        f.write_str(&said)
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorKind as Kind, *};

    #[derive(Debug)]
    struct TestCause(&'static str);

    impl fmt::Display for TestCause {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for TestCause {}

    #[test]
    fn a_cause_is_shown_if_it_says_something_more() {
        let shown =
            |cause| Failure::caused(Exit::FileUnusable, "x.db is damaged", TestCause(cause)).to_string();
        assert_eq!(shown("damaged"), "x.db is damaged");
        assert_eq!(shown("code 11"), "x.db is damaged: code 11");
    }

    #[test]
    fn each_kind_says_what_the_caller_can_do() {
        let check =
            |kinds: &[Kind], exit| assert!(kinds.iter().all(|&kind| Exit::of(kind) == exit), "{exit:?}");
        check(&[Kind::Poisoned, Kind::Closed, Kind::Internal], Exit::Unexpected);
        check(&[Kind::InvalidInput, Kind::Conflict, Kind::SessionEnded], Exit::Refused);
        check(&[Kind::NotFound], Exit::NotFound);
        check(&[Kind::Io, Kind::ReadOnly, Kind::Corrupt, Kind::ForeignFile], Exit::FileUnusable);
        check(&[Kind::DiskFull], Exit::DiskFull);
        check(&[Kind::NewerSchema, Kind::Unsupported], Exit::FileUnusable);
        check(&[Kind::Busy, Kind::TimedOut, Kind::Provider], Exit::TryAgain);
        check(&[Kind::ProviderRefused, Kind::ProviderMisconfigured], Exit::Refused);
    }

    #[cfg(feature = "service")]
    #[test]
    fn an_operation_ends_with_the_same_code_by_call_as_by_its_own_verb() {
        use thermocline_server::ops::problem::Code;
        for kind in [
            Kind::InvalidInput,
            Kind::Conflict,
            Kind::SessionEnded,
            Kind::NotFound,
            Kind::Busy,
            Kind::TimedOut,
            Kind::Io,
            Kind::DiskFull,
            Kind::ReadOnly,
            Kind::Corrupt,
            Kind::ForeignFile,
            Kind::NewerSchema,
            Kind::Unsupported,
            Kind::Closed,
            Kind::Poisoned,
            Kind::Internal,
            Kind::Provider,
            Kind::ProviderRefused,
            Kind::ProviderMisconfigured,
        ] {
            assert_eq!(Code::of(kind).facts().exit, Exit::of(kind) as u8, "{kind:?}");
        }
    }

    #[test]
    fn every_exit_code_is_in_the_help() {
        for line in 0..=8 {
            assert!(EXIT_CODES.contains(&format!("\n  {line}  ")), "{line}");
        }
    }
}
