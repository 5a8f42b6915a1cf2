//! Checks of values that any line of an import may have: texts of limited length, JSON that can
//! be read again.

use serde_json::Value;

use crate::{
    error::{Error, Result},
    model::metadata,
    text::measure::MAX_MAKER_BYTES,
};

/// The maximum length of a short text, such as a keyword or a summarizer's name, in bytes. Far above what jobs write.
pub(super) const MAX_WORD_BYTES: usize = MAX_MAKER_BYTES;
/// The maximum nesting depth of a caller's JSON. A line adds a few levels, and `serde_json` reads at most 127.
const MAX_DEPTH: usize = 64;

pub(super) fn wrong<T>(why: &str) -> Result<T> {
    Err(Error::invalid(why))
}

pub(super) fn check_text(what: &str, text: &str, max_bytes: usize) -> Result<()> {
    if text.len() > max_bytes || text.contains('\0') {
        return Err(Error::invalid(format!("the {what} is longer than {max_bytes} bytes, or has a NUL")));
    }
    Ok(())
}

/// Parses 16 bytes of hexadecimal.
pub(in crate::store) fn hash_from_hex(text: &str) -> Result<[u8; 16]> {
    let wrong = || Error::invalid("a hash is not 16 bytes in hexadecimal");
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    u128::from_str_radix(text, 16).map(u128::to_be_bytes).map_err(|_| wrong())
}

/// Checks the nesting depth and the size of a JSON object.
pub(super) fn check_fields(
    what: &str,
    fields: &serde_json::Map<String, Value>,
    max_bytes: usize,
) -> Result<()> {
    if metadata::fits(fields, MAX_DEPTH, max_bytes) {
        return Ok(());
    }
    Err(Error::invalid(format!("the {what} is nested too deep, or larger than {max_bytes} bytes")))
}
