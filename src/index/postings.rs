//! The postings of one word of one user: which units contain it, and how often in each field.
//!
//! They are stored in chunks. A chunk is one row, small enough for one page of the file. An entry begins with a
//! variable-length integer: the gap to the previous unit and, in the lowest two bits, a code. Three codes mean that the word
//! occurs once, each in a different field; the fourth means that two bytes with the counts follow.

use crate::text::words::FieldCounts;

/// The maximum size of a chunk's data, in bytes. It keeps a row on its page: SQLite moves values larger than about a quarter
/// of a 4 KiB page elsewhere.
const MAX_CHUNK_BYTES: usize = 892;
/// The maximum size of an entry: five bytes of gap and code, two of counts.
const MAX_ENTRY_BYTES: usize = 7;

const NONE: FieldCounts = FieldCounts { name: false, head: 0, rest: 0 };
/// The most common counts, by code: once in one field.
const ONCE: [FieldCounts; 3] =
    [FieldCounts { head: 1, ..NONE }, FieldCounts { rest: 1, ..NONE }, FieldCounts { name: true, ..NONE }];
/// The code for all other counts.
const EXPLICIT: usize = ONCE.len();

/// How often a word occurs in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) seq: u32,
    pub(crate) counts: FieldCounts,
}

/// Some consecutive postings of a word, as stored in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PostingsChunk {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) units: u32,
    pub(crate) data: Vec<u8>,
}

/// Packs postings, which must be ascending by unit, into chunks.
pub(crate) fn encode(postings: &[Posting]) -> Vec<PostingsChunk> {
    let mut chunks: Vec<PostingsChunk> = Vec::new();
    for posting in postings {
        let fits = |chunk: &&mut PostingsChunk| chunk.data.len() + MAX_ENTRY_BYTES <= MAX_CHUNK_BYTES;
        if let Some(chunk) = chunks.last_mut().filter(fits) {
            push(&mut chunk.data, posting.seq - chunk.last, posting.counts);
            chunk.last = posting.seq;
            chunk.units += 1;
        } else {
            let mut data = Vec::new();
            push(&mut data, 0, posting.counts);
            chunks.push(PostingsChunk { first: posting.seq, last: posting.seq, units: 1, data });
        }
    }
    chunks
}

fn push(data: &mut Vec<u8>, gap: u32, counts: FieldCounts) {
    let code = ONCE.iter().position(|once| *once == counts).unwrap_or(EXPLICIT);
    let mut number = u64::from(gap) << 2 | code as u64;
    while let [low, ..] = number.to_le_bytes()
        && number >= 0x80
    {
        data.push(low | 0x80);
        number >>= 7;
    }
    data.push(number.to_le_bytes()[0]);
    if code == EXPLICIT {
        data.extend_from_slice(&counts.to_bytes());
    }
}

/// Calls `each` with every posting of a chunk that begins with unit `first`. Returns `false` if the bytes are not a valid
/// chunk.
pub(crate) fn for_each(first: u32, data: &[u8], mut each: impl FnMut(u32, FieldCounts)) -> bool {
    let (mut seq, mut bytes) = (first, data.iter());
    while !bytes.as_slice().is_empty() {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let Some(&byte) = bytes.next() else { return false };
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
            if shift > 35 {
                return false;
            }
        }
        let Some(next) = u32::try_from(number >> 2).ok().and_then(|gap| seq.checked_add(gap)) else {
            return false;
        };
        seq = next;
        let counts = match ONCE.get((number & 3) as usize) {
            Some(&once) => once,
            None => match (bytes.next(), bytes.next()) {
                (Some(&head), Some(&rest)) => FieldCounts::from_bytes([head, rest]),
                _ => return false,
            },
        };
        each(seq, counts);
    }
    true
}

/// Returns all postings of a chunk that begins with unit `first`. `None` if the bytes are not a valid chunk.
pub(crate) fn decode(first: u32, data: &[u8]) -> Option<Vec<Posting>> {
    let mut postings = Vec::new();
    for_each(first, data, |seq, counts| postings.push(Posting { seq, counts })).then_some(postings)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let one = (1..100_000_u32, any::<bool>(), 0..64_u8, any::<u8>());
        prop::collection::vec(one, 0..2_000).prop_map(|mut entries| {
            entries.sort_unstable();
            entries.dedup_by_key(|entry| entry.0);
            entries
                .into_iter()
                .map(|(seq, name, head, rest)| Posting { seq, counts: FieldCounts { name, head, rest } })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_rows_of_bounded_size(postings in postings()) {
            let chunks = encode(&postings);
            let mut out = Vec::new();
            for chunk in &chunks {
                let part = decode(chunk.first, &chunk.data).unwrap();
                prop_assert_eq!(part.first().unwrap().seq, chunk.first);
                prop_assert_eq!(part.last().unwrap().seq, chunk.last);
                prop_assert_eq!(part.len(), chunk.units as usize);
                prop_assert!(chunk.data.len() <= MAX_CHUNK_BYTES);
                out.extend(part);
            }
            prop_assert_eq!(out, postings);
        }

        #[test]
        fn any_bytes_are_postings_or_refused(first: u32, data in prop::collection::vec(any::<u8>(), 0..50)) {
            let _ = decode(first, &data);
        }
    }

    #[test]
    fn the_usual_entry_has_one_byte() {
        let often: Vec<Posting> = (1..=892).map(|seq| Posting { seq, counts: ONCE[0] }).collect();
        assert_eq!(encode(&often)[0].data.len(), 886, "one byte each, until the longest entry might not fit");
    }

    #[test]
    fn a_cut_chunk_is_refused() {
        let chunk = &encode(&[Posting { seq: 9, counts: FieldCounts { head: 2, rest: 1, ..NONE } }])[0];
        assert!(decode(9, &chunk.data[..2]).is_none());
        assert!(decode(9, &[0x80]).is_none());
        assert!(decode(u32::MAX, &[0b100]).is_none(), "beyond the last number");
    }
}
