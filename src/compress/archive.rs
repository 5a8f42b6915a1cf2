//! A frame of the archive: turns as lines of JSON, compressed together with zstd.
//!
//! There is no trained dictionary: one trained on 3,032 real turns contained 632 of them verbatim, a copy of users' text
//! that no erase would reach.

use zstd::{bulk::Decompressor, zstd_safe::get_frame_content_size};

use crate::{
    error::{Error, ErrorKind, Result},
    model::turn::Turn,
};

/// zstd's level: 9 is within 3 % of 19 at these sizes, in a tenth of the time.
const LEVEL: i32 = 9;

/// The largest unpacked size of a frame, to reject forged ones: two sides of 10 MiB, each byte escaped as six, and some
/// more.
const MAX_RAW_BYTES: usize = 1 << 28;

/// A frame, and the size of its lines before compression.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) body: Vec<u8>,
    pub(crate) raw_bytes: usize,
    pub(crate) turn_count: usize,
}

/// Packs turns into a frame, in order.
pub(crate) fn pack(turns: &[&Turn]) -> Result<Frame> {
    let mut lines = Vec::new();
    for turn in turns {
        serde_json::to_writer(&mut lines, turn).map_err(|error| cannot("written", error))?;
        lines.push(b'\n');
    }
    frame(&lines, turns.len())
}

fn frame(lines: &[u8], turn_count: usize) -> Result<Frame> {
    let body = zstd::bulk::compress(lines, LEVEL).map_err(|error| cannot("written", error))?;
    Ok(Frame { body, raw_bytes: lines.len(), turn_count })
}

/// Unpacks frames. Reuse it: making its tables takes longer than unpacking a small frame.
pub(crate) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    pub(crate) fn new() -> Result<Self> {
        Decompressor::new().map(Self).map_err(|error| cannot("read", error))
    }

    pub(crate) fn lines(&mut self, body: &[u8]) -> Result<FrameLines> {
        let raw_bytes = get_frame_content_size(body).ok().flatten().and_then(|bytes| bytes.try_into().ok());
        let raw_bytes = raw_bytes.filter(|bytes| *bytes <= MAX_RAW_BYTES);
        let raw_bytes: usize =
            raw_bytes.ok_or_else(|| cannot("read", "its size is missing or impossible"))?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(raw_bytes).map_err(|error| cannot("read", error))?;
        self.0.decompress_to_buffer(body, &mut lines).map_err(|error| cannot("read", error))?;
        String::from_utf8(lines).map(FrameLines).map_err(|error| cannot("read", error.utf8_error()))
    }
}

/// An unpacked frame: lines, each of which is parsed as a turn only when it is asked for.
#[derive(Debug)]
pub(crate) struct FrameLines(String);

impl FrameLines {
    /// Parses the turn on this line, counted from 0.
    pub(crate) fn turn(&self, position: usize) -> Result<Turn> {
        let line = self.0.split('\n').nth(position).filter(|line| !line.is_empty());
        parse(line.ok_or_else(|| Error::new(ErrorKind::Corrupt, "a frame of the archive is too short"))?)
    }
}

impl FrameLines {
    /// Returns the frame without one of its lines, the others unchanged byte for byte; `None` if it has only that line.
    pub(crate) fn without(&self, position: usize) -> Result<Option<Frame>> {
        let lines: Vec<&str> = self.0.split_inclusive('\n').collect();
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != position);
        let kept: String = kept.map(|(_, line)| *line).collect();
        match lines.len() {
            count if position >= count => {
                Err(Error::new(ErrorKind::Corrupt, "a frame of the archive is too short"))
            }
            1 => Ok(None),
            count => frame(kept.as_bytes(), count - 1).map(Some),
        }
    }
}

/// Unpacks every turn of a frame, in order.
pub(crate) fn unpack(body: &[u8]) -> Result<Vec<Turn>> {
    let FrameLines(lines) = Unpacker::new()?.lines(body)?;
    lines.split('\n').filter(|line| !line.is_empty()).map(parse).collect()
}

fn parse(line: &str) -> Result<Turn> {
    // serde_json quotes the offending text, so only the position is passed on.
    serde_json::from_str(line).map_err(|error| cannot("read", format!("at column {}", error.column())))
}

fn cannot(what: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::caused(ErrorKind::Corrupt, format!("a frame of the archive cannot be {what}; run doctor"), error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn turns_come_out_as_they_went_in() {
        let turns = [
            Turn::sample(1, "line\nbreaks \u{2028} and \"quotes\" \\", 7),
            Turn::sample(2, "", 0),
            Turn::sample(3, "昨日、黒猫を見た 🦊", 9),
        ];
        let frame = pack(&turns.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(unpack(&frame.body).unwrap(), turns);
        let lines = Unpacker::new().unwrap().lines(&frame.body).unwrap();
        assert_eq!(lines.turn(2).unwrap(), turns[2]);
        assert_eq!(lines.turn(3).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_frame_without_one_of_its_turns_has_the_others_to_the_byte() {
        let turns = ["one", "two", "three"].map(|text| Turn::sample(1, text, 1));
        let lines = |frame: &Frame| Unpacker::new().unwrap().lines(&frame.body).unwrap();
        let whole = lines(&pack(&turns.iter().collect::<Vec<_>>()).unwrap());
        let rest = lines(&whole.without(1).unwrap().unwrap());
        let expected: Vec<&str> = whole
            .0
            .split_inclusive('\n')
            .enumerate()
            .filter(|(at, _)| *at != 1)
            .map(|(_, line)| line)
            .collect();
        assert_eq!(rest.0, expected.concat());
        assert!(whole.without(3).is_err());
        assert!(lines(&pack(&[&turns[0]]).unwrap()).without(0).unwrap().is_none());
    }

    #[test]
    fn a_damaged_frame_is_an_error_that_does_not_quote_it() {
        let turn = Turn::sample(1, "secret ".repeat(50), 50);
        let mut frame = pack(&[&turn]).unwrap();
        frame.body.truncate(frame.body.len() - 3);
        let error = unpack(&frame.body).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let unsized_frame = zstd::stream::encode_all(&b"{}\n"[..], 1).unwrap();
        let mut too_large = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        too_large.set_pledged_src_size(Some(MAX_RAW_BYTES as u64 + 1)).unwrap();
        too_large.write_all(b"{}\n").unwrap();
        too_large.flush().unwrap();
        for body in [unsized_frame, too_large.get_ref().clone()] {
            assert!(format!("{:?}", unpack(&body).unwrap_err()).contains("size"), "{body:?}");
        }
        let other = zstd::bulk::compress(b"{\"secret\":1}\n", 1).unwrap();
        assert!(!format!("{:?}", unpack(&other).unwrap_err()).contains("secret"));
    }
}
