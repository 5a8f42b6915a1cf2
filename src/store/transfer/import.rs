//! Reads an export, line by line. Nothing is written before all of it was read and checked ([`check`]).

use std::io::BufRead;

use crate::{
    error::{Error, ErrorKind, Result},
    store::transfer::{TransferLine, Transferred, check},
};

/// The longest line in bytes: two sides of 10 MiB, every byte escaped.
const MAX_LINE_BYTES: usize = 128 << 20;

/// An export that was read to its end.
#[derive(Debug)]
pub(crate) struct Import {
    pub(in crate::store) lines: Vec<TransferLine>,
    pub(in crate::store) counts: Transferred,
}

/// Reads an export and checks everything that can be checked without the database.
///
/// Errors: any line is wrong. Nothing has been written then.
pub(crate) fn read(mut from: impl BufRead, max_side_bytes: usize) -> Result<Import> {
    let (mut lines, mut text) = (Vec::new(), Vec::new());
    loop {
        text.clear();
        let mut limited = std::io::Read::take(&mut from, MAX_LINE_BYTES as u64);
        let length = limited
            .read_until(b'\n', &mut text)
            .map_err(|error| Error::caused(ErrorKind::Io, "the import could not be read", error))?;
        let number = lines.len() + 1;
        if length == 0 {
            return Err(Error::invalid("the file ends before its last line: it was cut short"));
        }
        // The message of serde_json quotes the text where it fails, so only the position is passed on.
        let line: TransferLine = serde_json::from_slice(&text).map_err(|error| {
            Error::invalid(format!("line {number} is not a line of an export (column {})", error.column()))
        })?;
        if let TransferLine::End(counts) = line {
            check::check_whole(&lines, counts)?;
            return Ok(Import { lines, counts });
        }
        check::check_line(&line, number, max_side_bytes).map_err(|error| at_line(&error, number))?;
        lines.push(line);
    }
}

fn at_line(error: &Error, number: usize) -> Error {
    Error::new(error.kind(), format!("line {number}: {error}"))
}
