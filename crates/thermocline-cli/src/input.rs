//! Files with one JSON document per line. Errors name the place of an invalid line, never its text.

use std::{fs, io, path::Path};

use serde::de::DeserializeOwned;

use crate::exit::{Exit, Failure};

/// Reads the non-blank lines, each with its number from 1; `-` is stdin. `form` describes the format of a line for
/// errors.
pub(crate) fn json_lines<T: DeserializeOwned>(file: &Path, form: &str) -> Result<Vec<(usize, T)>, Failure> {
    let text =
        if file == Path::new("-") { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
    let text = text.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::no_file("file", file, error),
        io::ErrorKind::InvalidData => Failure::refused("the file is not UTF-8 text"),
        _ => Failure::caused(Exit::FileUnusable, "the file cannot be read", error),
    })?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            // serde_json may quote the line, so only the place is passed on.
            let refused = |error: serde_json::Error| {
                Failure::refused(format!("line {number}, column {}: expected {form}", error.column()))
            };
            Ok((number, serde_json::from_str(line).map_err(refused)?))
        })
        .collect()
}
