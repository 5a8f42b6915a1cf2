//! Canaries: words that exist in no language, and a search for them in bytes.

use std::collections::{BTreeSet, HashMap};

/// How many bytes of a canary are searched for, so that partial remains are found too.
const PART: usize = 8;

/// Returns the n-th canary: a word of twelve letters.
fn canary(n: usize) -> String {
    // A linear congruential generator (Knuth's MMIX).
    let mut state = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    (0..12).map(|_| letter()).collect()
}

/// Makes canaries, one after the other.
#[derive(Default)]
pub struct Words(pub usize);

impl Words {
    pub fn next(&mut self) -> String {
        self.0 += 1;
        canary(self.0 - 1)
    }

    /// Returns a canary that looks like a name.
    pub fn name(&mut self) -> String {
        let word = self.next();
        word[..1].to_uppercase() + &word[1..]
    }

    pub fn some(&mut self, count: usize) -> String {
        (0..count).map(|_| self.next()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns which of the first `canaries` canaries are in these bytes: in upper or lower case, with one or two bytes per
/// letter, or inside data compressed with zstd.
pub fn found_in(bytes: &[u8], canaries: usize) -> BTreeSet<usize> {
    let mut parts: HashMap<Vec<u8>, usize> = HashMap::new();
    for n in 0..canaries {
        parts.extend(canary(n).as_bytes().windows(PART).map(|part| (part.to_vec(), n)));
    }
    let mut found = BTreeSet::new();
    for bytes in frames(bytes).into_iter().chain([bytes.to_vec()]) {
        let letters: Vec<u8> =
            bytes.into_iter().filter(|&b| b != 0).map(|b| b.to_ascii_lowercase()).collect();
        let mut run = 0;
        for (at, byte) in letters.iter().enumerate() {
            run = if byte.is_ascii_lowercase() { run + 1 } else { 0 };
            if run >= PART {
                found.extend(parts.get(&letters[at + 1 - PART..=at]));
            }
        }
    }
    found
}

/// Decompresses each zstd frame in these bytes, as far as that is possible.
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
