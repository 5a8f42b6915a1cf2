//! Reads requests from JSON.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

use crate::ops::{
    Result,
    problem::Problem,
    strict::{ReadTrace, Strict},
};

/// Reads a request. Fields that its type does not have are refused, also inside the library's own types: a filter with a
/// misspelled field would let everything through.
///
/// In JSON Schema `53.0` is an integer, but serde refuses it as one. If the request cannot be read as it is, floats
/// without a fractional part and up to 2^53, except those in `metadata`, are turned into integers.
pub fn read<T: DeserializeOwned>(mut request: Value) -> Result<T> {
    match known(&request) {
        Ok(request) => request,
        Err(error) => {
            if !make_whole(&mut request) {
                return Err(unreadable(&error));
            }
            known(&request).map_err(|error| unreadable(&error))?
        }
    }
}

/// Reads the request once. The inner error is the problem with its first unknown field; the outer error says where and
/// why reading failed.
fn known<T: DeserializeOwned>(request: &Value) -> std::result::Result<Result<T>, UnreadRequest> {
    let met = ReadTrace::default();
    match T::deserialize(Strict::new(request, &met)) {
        Ok(read) => Ok(met.into_unread().map_or(Ok(read), |path| Err(at(&path, UNKNOWN.to_owned())))),
        Err(error) => Err((met.path(), error)),
    }
}

type UnreadRequest = (String, Error);

/// The messages with which chrono reports that a text is not a time.
const NO_TIME: [&str; 4] = [
    "input contains invalid characters",
    "input is out of range",
    "premature end of input",
    "trailing input",
];

const UNKNOWN: &str = "the request has a field that this operation does not know";

/// Says in our own words what cannot be read, because serde's messages repeat the value, which somebody may have said.
fn unreadable((path, error): &UnreadRequest) -> Problem {
    let message = error.to_string();
    let detail = if message.starts_with("unknown field") {
        UNKNOWN.to_owned()
    } else if message.starts_with("missing field") {
        format!("the request is not valid for this operation: {message}")
    } else if NO_TIME.iter().any(|of| message.starts_with(of)) {
        "the request is not valid for this operation: expected a time with its offset, like \
         2026-03-01T09:30:00Z"
            .to_owned()
    } else {
        // The text after `, expected ` comes from our types, and follows everything that comes from the caller.
        let expected = message
            .rsplit_once(", expected ")
            .map(|(_, expected)| format!(": expected {}", in_words(expected)));
        format!("the request is not valid for this operation{}", expected.unwrap_or_default())
    };
    at(path, detail)
}

/// Turns the Rust type names in serde's messages into plain words.
fn in_words(expected: &str) -> Cow<'_, str> {
    let most = match expected {
        "u8" => u32::from(u8::MAX),
        "u16" => u32::from(u16::MAX),
        "u32" => u32::MAX,
        "u64" | "usize" => return "a whole number of 0 or more".into(),
        "i8" | "i16" | "i32" | "i64" | "isize" => return "a whole number".into(),
        "f32" | "f64" => return "a number".into(),
        "a boolean" => return "true or false".into(),
        "a map" => return "an object".into(),
        _ if expected.starts_with("struct ") => return "an object".into(),
        _ if expected.starts_with("a sequence") => return "an array".into(),
        _ => return expected.into(),
    };
    format!("a whole number from 0 to {most}").into()
}

/// The problem with a request that cannot be read. It says where, as far as the path consists of field names.
fn at(path: &str, detail: String) -> Problem {
    let is_name = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        (1..=64).contains(&part.len()) && part.bytes().all(is_plain)
    };
    let names = path.split('/').take_while(|part| is_name(part));
    let names = names.fold(String::new(), |names, part| names + "/" + part);
    Problem { pointer: Some(names).filter(|names| !names.is_empty()), ..Problem::bad_request(detail) }
}

/// Turns floats without a fractional part into integers; returns whether there were any.
fn make_whole(value: &mut Value) -> bool {
    match value {
        Value::Number(number) => match number.as_f64() {
            // Whole numbers up to 2^53 are exact in a float.
            Some(float)
                if number.is_f64() && float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "whole, and within an i64")]
                let whole = float as i64;
                *number = whole.into();
                true
            }
            _ => false,
        },
        Value::Array(items) => items.iter_mut().filter_map(|item| make_whole(item).then_some(())).count() > 0,
        Value::Object(fields) => {
            fields
                .iter_mut()
                .filter(|(name, _)| *name != "metadata")
                .filter_map(|(_, field)| make_whole(field).then_some(()))
                .count()
                > 0
        }
        _ => false,
    }
}
