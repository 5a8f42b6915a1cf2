//! Reads the safetensors format: a length, a JSON head with the names and offsets of tensors, and their bytes.

use std::{collections::HashMap, path::Path};

use serde::Deserialize;

use super::{
    arithmetic::{LayerNorm, Linear},
    files::unreadable,
};
use crate::error::{Error, ErrorKind, Result};

/// The limit that the format sets for its head.
const MAX_HEAD_BYTES: u64 = 100 << 20;
const LENGTH_BYTES: usize = 8;

/// The tensors of one file.
pub(super) struct Tensors {
    bytes: Vec<u8>,
    /// The offset in `bytes` at which the tensors begin.
    start: usize,
    places: HashMap<String, TensorRange>,
}

#[derive(Deserialize)]
struct TensorRange {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Tensors {
    /// Reads the folder's model.safetensors.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        const FILE: &str = "model.safetensors";
        let bytes = std::fs::read(folder.join(FILE)).map_err(|error| unreadable(FILE, error))?;
        Self::parse(bytes)
    }

    fn parse(bytes: Vec<u8>) -> Result<Self> {
        let damaged = || Error::new(ErrorKind::Corrupt, "model.safetensors is damaged, or not such a file");
        let length = u64::from_le_bytes(*bytes.first_chunk().ok_or_else(damaged)?);
        let start = usize::try_from(length.min(MAX_HEAD_BYTES)).map_err(|_| damaged())? + LENGTH_BYTES;
        let head = bytes.get(LENGTH_BYTES..start).ok_or_else(damaged)?;
        let mut head: HashMap<String, serde_json::Value> =
            serde_json::from_slice(head).map_err(|_| damaged())?;
        head.remove("__metadata__");
        let places = head
            .into_iter()
            .map(|(name, place)| Ok((name, serde_json::from_value(place).map_err(|_| damaged())?)))
            .collect::<Result<_>>()?;
        Ok(Self { bytes, start, places })
    }

    /// Returns all bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns `prefix` if the file has a tensor of this name with that prefix, otherwise an empty string.
    pub(super) fn prefix(&self, prefix: &'static str, name: &str) -> &'static str {
        if self.places.contains_key(&format!("{prefix}{name}")) { prefix } else { "" }
    }

    /// Returns the dimensions of the tensor of this name, if it exists.
    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.places.get(name).map(|place| &*place.shape)
    }

    /// Reads the weights and biases of this name.
    pub(super) fn linear(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear> {
        let weights = self.floats(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear::new(&weights, &self.floats(&format!("{name}.bias"), &[outputs])?))
    }

    /// Reads the layer normalization of this name.
    pub(super) fn norm(&self, name: &str, size: usize, epsilon: f32) -> Result<LayerNorm> {
        let [weights, bias] = ["weight", "bias"].map(|part| self.floats(&format!("{name}.{part}"), &[size]));
        Ok(LayerNorm { weights: weights?, bias: bias?, epsilon })
    }

    /// Reads the numbers of the tensor of this name, which must have this shape.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let unsuitable = |what: &str| {
            Error::new(ErrorKind::Unsupported, format!("{what} {name} that config.json asks for"))
        };
        let place = self.places.get(name).ok_or_else(|| unsuitable("model.safetensors has no tensor"))?;
        if place.shape != shape {
            return Err(unsuitable("model.safetensors has another shape of the tensor"));
        }
        let (from, until) = place.data_offsets;
        let bytes = self.bytes[self.start..].get(from..until);
        let bytes = bytes.ok_or_else(|| Error::new(ErrorKind::Corrupt, "model.safetensors is cut off"))?;
        let floats: Vec<f32> = match place.dtype.as_str() {
            "F32" => bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
            "F16" => bytes.as_chunks().0.iter().map(|&bytes| from_half(u16::from_le_bytes(bytes))).collect(),
            "BF16" => {
                let widened = |&bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16);
                bytes.as_chunks().0.iter().map(widened).collect()
            }
            other => {
                return Err(Error::new(ErrorKind::Unsupported, format!("weights of type {other}")));
            }
        };
        if Some(floats.len()) != shape.iter().try_fold(1_usize, |all, &length| all.checked_mul(length)) {
            return Err(Error::new(ErrorKind::Corrupt, "model.safetensors has a tensor of another size"));
        }
        Ok(floats)
    }
}

/// Decodes a 16-bit float: a sign, 5 bits of exponent, 10 of fraction (IEEE 754).
fn from_half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, f32::from(bits & 1_023));
    let size = match exponent {
        0 => fraction / 1_024.0 * 2.0_f32.powi(-14),
        31 => f32::INFINITY * if fraction > 0.0 { 0.0 } else { 1.0 },
        _ => (1.0 + fraction / 1_024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(head: &str, data: &[u8]) -> Vec<u8> {
        [&(head.len() as u64).to_le_bytes(), head.as_bytes(), data].concat()
    }

    #[track_caller]
    fn check(bytes: Vec<u8>, shape: &[usize], expected: std::result::Result<&[f32], ErrorKind>) {
        let floats = Tensors::parse(bytes).and_then(|tensors| tensors.floats("a", shape));
        assert_eq!(floats.map_err(|error| error.kind()).as_deref().map_err(|kind| *kind), expected);
    }

    #[test]
    fn tensors_of_three_types_are_read() {
        let head = |dtype: &str, end: usize| {
            format!(
                r#"{{"__metadata__":{{"format":"pt"}},"a":{{"dtype":"{dtype}","shape":[2],"data_offsets":[0,{end}]}}}}"#
            )
        };
        let floats: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|float| float.to_le_bytes()).collect();
        check(file(&head("F32", 8), &floats), &[2], Ok(&[1.5, -2.0]));
        check(file(&head("F16", 4), &[0x00, 0x3e, 0x00, 0xc0]), &[2], Ok(&[1.5, -2.0]));
        check(file(&head("BF16", 4), &[0xc0, 0x3f, 0x00, 0xc0]), &[2], Ok(&[1.5, -2.0]));
        check(file(&head("I64", 8), &floats), &[2], Err(ErrorKind::Unsupported));
        check(file(&head("F32", 8), &floats), &[1, 2], Err(ErrorKind::Unsupported));
        check(file(&head("F32", 8), &floats[1..]), &[2], Err(ErrorKind::Corrupt));
        check(file(&head("F32", 4), &floats), &[2], Err(ErrorKind::Corrupt));
    }

    #[test]
    fn halves_are_those_of_ieee_754() {
        for (bits, expected) in [(0, 0.0), (1, 5.960_464_5e-8), (0x7bff, 65_504.0), (0x8400, -6.103_515_6e-5)]
        {
            assert!((from_half(bits) - expected).abs() <= f32::EPSILON * expected.abs(), "{bits:x}");
        }
        assert!(from_half(0x7c00).is_infinite() && from_half(0x7e00).is_nan());
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for bytes in [
            vec![],
            vec![1; 7],
            vec![0xff; 40],
            file("{", &[]),
            file("[]", &[]),
            file(r#"{"a":{"dtype":"F32"}}"#, &[]),
            file(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[-1,4]}}"#, &[]),
            file(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,0]}}"#, &[0; 8]),
        ] {
            check(bytes, &[2], Err(ErrorKind::Corrupt));
        }
    }
}
