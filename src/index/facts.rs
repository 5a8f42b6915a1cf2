//! The facts that ranking needs about a unit in addition to its words and vectors: where and when it was said, its length,
//! its traits, and the time of the event that it speaks of.

use crate::{
    index::{BLOCK_UNITS, block_of},
    model::place::{Owner, Place, SessionNo},
    text::words::{EncodedWords, TurnTraits},
    times::EventDays,
};

/// The facts about one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitFacts {
    /// The unit's place in the user's order of recording.
    pub(crate) seq: u32,
    /// The number of the turn's session. `-seq` if the unit is not a turn, so that each such unit is in a session by itself.
    pub(crate) session_no: i64,
    /// The turn's number in its session. 0 if the unit is not a turn.
    pub(crate) turn_number: u32,
    /// When the unit was said, in milliseconds since 1970.
    pub(crate) said_at_ms: i64,
    /// The number of words in the unit's head, without stop words, at most 65,535.
    pub(crate) head_len: u16,
    /// The number of all other words, at most 65,535.
    pub(crate) rest_len: u16,
    pub(crate) traits: TurnTraits,
    /// The days of the event that the user's side of the turn speaks of. `None` if none is known.
    pub(crate) event: Option<EventDays>,
}

impl UnitFacts {
    /// Returns the facts of a unit whose words are not known yet.
    pub(crate) fn new(seq: u32, owner: Owner, said_at_ms: i64) -> Self {
        let (session_no, turn_number) = match owner {
            Owner::Turn(place) => (place.session.0, place.turn_number),
            Owner::Memory => (-i64::from(seq), 0),
        };
        Self { seq, session_no, turn_number, said_at_ms, ..Self::default() }
    }

    /// Returns what the unit stands for.
    pub(crate) fn owner(&self) -> Owner {
        if self.session_no < 0 {
            return Owner::Memory;
        }
        Owner::Turn(Place { session: SessionNo(self.session_no), turn_number: self.turn_number })
    }

    /// Adds the facts that come with the unit's words: lengths and traits.
    pub(crate) fn with_words(self, words: EncodedWords<'_>) -> Self {
        let clamped = |len: u32| u16::try_from(len).unwrap_or(u16::MAX);
        Self {
            head_len: clamped(words.head_len),
            rest_len: clamped(words.rest_len),
            traits: words.traits,
            ..self
        }
    }
}

/// The size of one unit in a block, in bytes, without its event.
const ENTRY: usize = 26;
/// The bit in an entry's last byte that is set if an event follows. The other bits are the traits.
const HAS_EVENT: u8 = 1 << 7;

/// Encodes the units of one block for one row.
///
/// Each entry has, in little-endian order: the unit's place in the block (one byte), its session, turn number, time, the two
/// lengths, and its traits (one byte). The event follows if there is one, which most units do not have.
pub(crate) fn encode(facts: &[UnitFacts]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((ENTRY + EventDays::BYTES) * facts.len());
    for unit in facts {
        bytes.push(((unit.seq - 1) % BLOCK_UNITS) as u8);
        bytes.extend_from_slice(&unit.session_no.to_le_bytes());
        bytes.extend_from_slice(&unit.turn_number.to_le_bytes());
        bytes.extend_from_slice(&unit.said_at_ms.to_le_bytes());
        bytes.extend_from_slice(&unit.head_len.to_le_bytes());
        bytes.extend_from_slice(&unit.rest_len.to_le_bytes());
        bytes.push(unit.traits.to_byte() | if unit.event.is_some() { HAS_EVENT } else { 0 });
        bytes.extend(unit.event.iter().flat_map(|event| event.to_bytes()));
    }
    bytes
}

/// Decodes the units of a block. `None` if the bytes are not a valid block.
pub(crate) fn decode(block: u32, mut bytes: &[u8]) -> Option<Vec<UnitFacts>> {
    let mut units = Vec::with_capacity(bytes.len() / ENTRY);
    while let Some((entry, rest)) = bytes.split_first_chunk::<ENTRY>() {
        let mut unit = read(block, entry)?;
        bytes = rest;
        if entry[ENTRY - 1] & HAS_EVENT != 0 {
            let (event, rest) = bytes.split_first_chunk()?;
            unit.event = Some(EventDays::from_bytes(*event));
            bytes = rest;
        }
        units.push(unit);
    }
    (bytes.is_empty() && units.len() <= BLOCK_UNITS as usize).then_some(units)
}

fn read(block: u32, entry: &[u8; ENTRY]) -> Option<UnitFacts> {
    let seq = block.checked_mul(BLOCK_UNITS)?.checked_add(u32::from(entry[0]) + 1)?;
    if block_of(seq) != block {
        return None;
    }
    Some(UnitFacts {
        seq,
        session_no: i64::from_le_bytes(entry[1..9].try_into().ok()?),
        turn_number: u32::from_le_bytes(entry[9..13].try_into().ok()?),
        said_at_ms: i64::from_le_bytes(entry[13..21].try_into().ok()?),
        head_len: u16::from_le_bytes(entry[21..23].try_into().ok()?),
        rest_len: u16::from_le_bytes(entry[23..25].try_into().ok()?),
        traits: TurnTraits::from_byte(entry[25] & !HAS_EVENT),
        event: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let unit = |seq| UnitFacts {
            seq,
            session_no: i64::MAX - 3,
            turn_number: seq,
            said_at_ms: -5,
            head_len: 7,
            rest_len: u16::MAX,
            traits: TurnTraits { asks: seq == 66, ..TurnTraits::default() },
            event: (seq == 66).then(|| EventDays::from_bytes([0xff, 0xff, 7, 0])),
        };
        let block: Vec<UnitFacts> = [65, 66, 128].map(unit).to_vec();
        assert_eq!(decode(1, &encode(&block)).unwrap(), block);
        assert_eq!(decode(0, &[]).unwrap(), []);
    }

    #[test]
    fn what_is_no_turn_comes_out_as_such() {
        let place = Place { session: SessionNo(3), turn_number: 7 };
        for owner in [Owner::Turn(place), Owner::Turn(Place::default()), Owner::Memory] {
            let read = decode(0, &encode(&[UnitFacts::new(5, owner, -1)])).unwrap();
            assert_eq!((read[0].owner(), read[0].said_at_ms), (owner, -1));
        }
        let [one, other] = [1, 2].map(|seq| UnitFacts::new(seq, Owner::Memory, 0).session_no);
        assert_ne!(one, other, "each is by itself");
    }

    #[test]
    fn other_bytes_are_refused() {
        assert!(decode(0, &[1]).is_none());
        let mut cut = [0; ENTRY];
        cut[ENTRY - 1] = HAS_EVENT;
        assert!(decode(0, &cut).is_none(), "the event is missing");
        assert!(decode(0, &[64; ENTRY]).is_none(), "the place is outside of the block");
        assert!(decode(u32::MAX, &[0; ENTRY]).is_none());
        assert!(decode(0, &[0; ENTRY * 65]).is_none());
    }
}
