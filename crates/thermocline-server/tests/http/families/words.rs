//! Finding words that exist in no language.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

pub use crate::canaries::Words;
use crate::canaries::found_in;

impl Words {
    /// Which of the words so far are in these bytes.
    pub fn found_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        found_in(bytes, self.0)
    }

    /// Which of the words so far are in any file of a folder, by file name, and in the names.
    pub fn found_in_folder(&self, folder: &Path) -> Vec<(String, BTreeSet<usize>)> {
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let found = files.map(|file| {
            // Read by another process: closing the file in this one would open the locks that its memory holds.
            let bytes = Command::new("cat").arg(&file).output().unwrap().stdout;
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let found = &self.found_in(&bytes) | &self.found_in(name.as_bytes());
            (name, found)
        });
        found.filter(|(_, found)| !found.is_empty()).collect()
    }
}
