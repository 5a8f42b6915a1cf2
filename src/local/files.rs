//! Reads the files of a model's folder; errors name the file.

use std::{fs, io, path::Path};

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, ErrorKind, Result},
    model::hex::hex,
};

/// Reads a JSON file of the folder. `Corrupt` if it is not JSON, `Unsupported` if it is JSON of another form.
pub(super) fn json<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<T> {
    serde_json::from_str(&text(folder, file)?).map_err(|error| {
        let (kind, said) = if error.is_data() {
            (ErrorKind::Unsupported, "lacks what such a model needs")
        } else {
            (ErrorKind::Corrupt, "is not valid JSON; get the model's files again")
        };
        Error::caused(kind, format!("{file} {said}"), error)
    })
}

/// Reads a JSON file that the folder may lack.
pub(super) fn json_if_any<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Option<T>> {
    if folder.join(file).exists() { json(folder, file).map(Some) } else { Ok(None) }
}

/// Reads a text file of the folder.
pub(super) fn text(folder: &Path, file: &str) -> Result<String> {
    fs::read_to_string(folder.join(file)).map_err(|error| unreadable(file, error))
}

/// Returns the error for a file of the folder that cannot be read.
pub(super) fn unreadable(file: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => {
            Error::caused(ErrorKind::NotFound, format!("the model's folder has no {file}"), error)
        }
        io::ErrorKind::InvalidData => Error::caused(ErrorKind::Corrupt, format!("{file} is not text"), error),
        _ => Error::caused(ErrorKind::Io, format!("{file} of the model cannot be read"), error),
    }
}

/// Returns an identifier of what was hashed: the start of the hash.
pub(super) fn revision(hash: Sha256) -> String {
    const SHOWN: usize = 16;
    let mut revision = hex(&hash.finalize());
    revision.truncate(SHOWN);
    revision
}
