//! Words that exist in no language, and how to find them in answers and files.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

pub use crate::canaries::Words;
use crate::canaries::found_in;

impl Words {
    /// Returns which of the words made so far are in these bytes, as their numbers.
    pub fn found_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        found_in(bytes, self.0)
    }

    /// Returns the files of a folder whose contents or names contain any of the words made so far: each file's name, and
    /// the words' numbers.
    pub fn found_in_folder(&self, folder: &Path) -> Vec<(String, BTreeSet<usize>)> {
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let found = files.map(|file| {
            // Another process reads the file: if this process closed it, the memory would lose its locks on the file.
            let bytes = Command::new("cat").arg(&file).output().unwrap().stdout;
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let found = &self.found_in(&bytes) | &self.found_in(name.as_bytes());
            (name, found)
        });
        found.filter(|(_, found)| !found.is_empty()).collect()
    }
}
