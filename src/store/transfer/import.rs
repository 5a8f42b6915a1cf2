//! Reads an export, line by line. An import writes nothing before all lines are read and checked ([`check`]).

use std::io::BufRead;

use crate::{
    error::{Error, ErrorKind, Result},
    store::transfer::{TransferLine, Transferred, check, times},
};

/// The maximum length of a line in bytes: enough for two sides of 10 MiB with every byte escaped.
const MAX_LINE_BYTES: usize = 128 << 20;

/// An export that was read completely and checked.
#[derive(Debug)]
pub(crate) struct Import {
    pub(in crate::store) lines: Vec<TransferLine>,
    pub(in crate::store) counts: Transferred,
}

/// Reads an export and checks everything that can be checked without the database.
///
/// Errors: `InvalidInput` if a line is wrong or missing, `Io` if the export cannot be read.
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
        let mut line: TransferLine = serde_json::from_slice(&text).map_err(|error| {
            Error::invalid(format!("line {number} is not a line of an export (column {})", error.column()))
        })?;
        if let TransferLine::End(counts) = line {
            check::check_whole(&lines, counts)?;
            return Ok(Import { lines, counts });
        }
        times::make_storable(&mut line)
            .and_then(|()| check::check_line(&line, number, max_side_bytes))
            .map_err(|error| at_line(&error, number))?;
        lines.push(line);
    }
}

fn at_line(error: &Error, number: usize) -> Error {
    Error::new(error.kind(), format!("line {number}: {error}"))
}
