//! Fault injection: at a statement, or at a step of writing a vault, a test can cause a failure or end its process. Only
//! tests set a hook.

use std::{fmt, sync::Arc};

use crate::error::{Error, ErrorKind, Result};

/// When a hook is called: before or after a statement. For a step of writing a vault, it is called only before.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third moment")]
pub enum Moment {
    Before,
    After,
}

/// A hook that is called before and after each statement of an act and the COMMIT of its transaction, with the text; before
/// the COMMIT of a shrink; and before each step of writing a vault, with a description. If it returns true, the statement or
/// the step fails there.
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct Faults {
    point: Option<Arc<Point>>,
    /// Whether other programs' triggers on our tables are let be.
    lets_triggers_be: bool,
}

type Point = dyn Fn(Moment, &str) -> bool + Send + Sync;

impl Faults {
    #[doc(hidden)]
    pub fn new(fails: impl Fn(Moment, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { point: Some(Arc::new(fails)), ..Self::default() }
    }

    /// Lets other programs' triggers on our tables be, so that a benchmark can log which rows are written.
    #[doc(hidden)]
    pub fn with_triggers() -> Self {
        Self { lets_triggers_be: true, ..Self::default() }
    }

    pub(crate) fn lets_triggers_be(&self) -> bool {
        self.lets_triggers_be
    }

    pub(crate) fn meet(&self, moment: Moment, sql: &str) -> Result<()> {
        match &self.point {
            Some(fails) if fails(moment, sql) => {
                Err(Error::new(ErrorKind::Io, "a test lets this statement fail"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Faults").field(&self.point.is_some()).finish()
    }
}
