//! Bytes in hexadecimal.

use std::fmt::Write as _;

/// Formats each byte as two lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
