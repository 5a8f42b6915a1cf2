//! A request from JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ops::{Result, problem::Problem};

/// Reads a request. What its type does not say is refused, also inside of the library's own types: a filter that is spelled
/// wrong would let everything through.
///
/// JSON Schema calls `53.0` an integer, and serde does not: where the request does not read as it is, whole floats are
/// integers.
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

/// The request, or the first of its fields that nothing reads.
fn known<T: DeserializeOwned>(request: &Value) -> serde_json::Result<Result<T>> {
    let mut unknown = None;
    let read = serde_ignored::deserialize(request, |path| {
        unknown.get_or_insert_with(|| path.to_string());
    })?;
    Ok(match unknown {
        None => Ok(read),
        Some(path) => Err(Problem {
            pointer: Some(format!("/{}", path.replace('.', "/"))),
            ..Problem::bad_request("the request has a field that this operation does not know")
        }),
    })
}

fn unreadable(error: &serde_json::Error) -> Problem {
    Problem::bad_request(format!("the request is not what this operation takes: {error}"))
}

/// Makes integers of whole floats; whether there were any.
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
