//! The output to which the lines of an export are written.

use std::io::{BufWriter, Write};

use crate::{
    error::{Error, ErrorKind, Result},
    store::transfer::{TransferLine, Transferred},
};

/// Writes lines as JSON. Its callers count the lines in `counts`.
pub(super) struct LineWriter<W: Write> {
    to: BufWriter<W>,
    pub(super) counts: Transferred,
}

impl<W: Write> LineWriter<W> {
    pub(super) fn to(to: W) -> Self {
        Self { to: BufWriter::new(to), counts: Transferred::default() }
    }

    pub(super) fn line(&mut self, line: &TransferLine) -> Result<()> {
        let mut text = serde_json::to_vec(line)
            .map_err(|error| Error::caused(ErrorKind::Corrupt, "a row cannot be written as JSON", error))?;
        text.push(b'\n');
        self.to.write_all(&text).map_err(cannot_write)
    }

    /// Writes the last line, which has the counts.
    pub(super) fn end(mut self) -> Result<Transferred> {
        self.line(&TransferLine::End(self.counts))?;
        self.to.flush().map_err(cannot_write)?;
        Ok(self.counts)
    }
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::caused(ErrorKind::Io, "the export could not be written", error)
}
