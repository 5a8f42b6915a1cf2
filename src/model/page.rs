//! Pages of a list: a limited number of entries after the last one that the caller has seen.

use crate::error::{Error, Result};

/// The maximum number of entries on a page.
pub(crate) const MAX_LIMIT: u32 = 1_000;

/// Fails if a page would be empty or too long.
pub(crate) fn checked_limit(limit: u32) -> Result<u32> {
    match limit {
        1..=MAX_LIMIT => Ok(limit),
        _ => Err(Error::invalid(format!("a page has 1 to {MAX_LIMIT} entries; {limit} were asked for"))),
    }
}

/// The error for a page after an entry that was erased in the meantime, or is somebody else's.
pub(crate) fn nothing_there(what: &str) -> Error {
    Error::not_found(format!(
        "the {what} after which the page should begin is not in the list; begin after another"
    ))
}
