//! Words that no language has, and where they are found in bytes.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::Path,
    process::Command,
};

/// Letters of a word that are searched for: a part of it that is left behind is found too.
const PART: usize = 8;

/// Gives words one after the other.
#[derive(Default)]
pub struct Words(pub usize);

impl Words {
    /// The next: twelve letters.
    pub fn next(&mut self) -> String {
        self.0 += 1;
        word(self.0 - 1)
    }

    /// One that looks like a name.
    pub fn name(&mut self) -> String {
        let word = self.next();
        word[..1].to_uppercase() + &word[1..]
    }

    pub fn some(&mut self, count: usize) -> String {
        (0..count).map(|_| self.next()).collect::<Vec<_>>().join(" ")
    }

    /// Which of the words so far stand in these bytes: in any case, or inside of what zstd has compressed.
    pub fn found_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut parts: HashMap<Vec<u8>, usize> = HashMap::new();
        for n in 0..self.0 {
            parts.extend(word(n).as_bytes().windows(PART).map(|part| (part.to_vec(), n)));
        }
        let mut found = BTreeSet::new();
        for bytes in frames(bytes).into_iter().chain([bytes.to_vec()]) {
            let letters = bytes.to_ascii_lowercase();
            found.extend(letters.windows(PART).filter_map(|part| parts.get(part)));
        }
        found
    }

    /// Which of the words so far stand in any file of a folder, by its name; and in the names.
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

/// The n-th word.
fn word(n: usize) -> String {
    // Knuth's MMIX.
    let mut state = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    (0..12).map(|_| letter()).collect()
}

/// What can be decompressed, from anywhere in these bytes.
fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let starts = bytes.windows(4).enumerate().filter(|(_, window)| *window == MAGIC);
    let unpacked = starts.map(|(at, _)| {
        let mut out = Vec::new();
        let mut decoder = zstd::stream::read::Decoder::new(&bytes[at..]).unwrap();
        let mut part = [0; 512];
        while let Ok(read @ 1..) = std::io::Read::read(&mut decoder, &mut part) {
            out.extend_from_slice(&part[..read]);
        }
        out
    });
    unpacked.collect()
}
