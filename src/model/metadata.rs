//! Metadata: a JSON object that a caller stores with a turn or a session and that nothing here interprets. This module
//! checks its bounds, and those of other JSON from callers.

use serde_json::Value;

use crate::error::{Error, Result};

/// The maximum bytes of the metadata's JSON, written without blanks.
const MAX_BYTES: usize = 16 << 10;
/// How deep objects and arrays may be nested, including the metadata's own object. Exports and frames nest it once
/// more, and `serde_json` reads 127 levels.
const MAX_DEPTH: usize = 64;

/// Refuses a value that is not an object, is nested too deep, or is too large.
pub(crate) fn check(metadata: &Value) -> Result<()> {
    if !metadata.is_object() {
        return Err(Error::invalid("the metadata is not a JSON object"));
    }
    // The depth is checked before the value is written as JSON, because writing takes a stack frame per level.
    if !is_within(metadata, MAX_DEPTH) {
        return Err(Error::invalid(format!("the metadata is nested deeper than {MAX_DEPTH} levels")));
    }
    match metadata.to_string().len() {
        0..=MAX_BYTES => Ok(()),
        bytes => Err(Error::invalid(format!("the metadata has {bytes} bytes; {MAX_BYTES} are allowed"))),
    }
}

/// Returns the bytes of the metadata's JSON; 0 if there is none.
pub(crate) fn bytes(metadata: Option<&Value>) -> usize {
    metadata.map_or(0, |metadata| metadata.to_string().len())
}

/// Whether objects and arrays are nested at most this deep.
pub(crate) fn is_within(value: &Value, max_depth: usize) -> bool {
    let mut level = vec![value];
    for _ in 0..max_depth {
        level = level
            .into_iter()
            .flat_map(inside)
            .filter(|value| value.is_object() || value.is_array())
            .collect();
        if level.is_empty() {
            return true;
        }
    }
    false
}

/// Whether each field of an object is nested at most this deep, and all of them together have at most this many bytes.
pub(crate) fn fits(fields: &serde_json::Map<String, Value>, max_depth: usize, max_bytes: usize) -> bool {
    // The depth is checked first, because writing JSON takes a stack frame per level.
    fields.values().all(|value| is_within(value, max_depth))
        && fields.iter().map(|(name, value)| name.len() + value.to_string().len()).sum::<usize>() <= max_bytes
}

fn inside(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(fields) => Box::new(fields.values()),
        Value::Array(values) => Box::new(values.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_is(metadata: &Value, is_allowed: bool) {
        assert_eq!(
            check(metadata).is_ok(),
            is_allowed,
            "{}",
            &metadata.to_string()[..20.min(metadata.to_string().len())]
        );
    }

    fn nested(depth: usize) -> Value {
        (1..depth).fold(json!({}), |inner, _| json!({ "in": inner }))
    }

    #[test]
    fn metadata_is_an_object_within_its_bounds() {
        check_is(&json!({}), true);
        for other in [json!(null), json!([]), json!("text"), json!(7)] {
            check_is(&other, false);
        }
        let of = |bytes: usize| json!({ "a": "x".repeat(bytes - r#"{"a":""}"#.len()) });
        check_is(&of(MAX_BYTES), true);
        check_is(&of(MAX_BYTES + 1), false);
        check_is(&json!({ "a": "\u{0}".repeat(MAX_BYTES / 6) }), false); // In JSON it is six bytes.
        check_is(&nested(MAX_DEPTH), true);
        check_is(&nested(MAX_DEPTH + 1), false);
        check_is(&json!({ "list": [nested(MAX_DEPTH - 2)] }), true);
        check_is(&json!({ "list": [nested(MAX_DEPTH - 1)] }), false);
    }

    #[test]
    fn what_is_allowed_is_read_again_within_a_line() {
        let line = json!({ "line": "turn", "metadata": nested(MAX_DEPTH) });
        assert_eq!(serde_json::from_str::<Value>(&line.to_string()).unwrap(), line);
        // The parser's default loses the last digit of some numbers.
        for number in [
            0.1 + 0.2,
            1.0 / 3.0,
            2.0_f64.sqrt(),
            5e-324,
            123_456_789.123_456_79,
            1.797_693_134_862_315_7e308,
        ] {
            let text = json!({ "number": number }).to_string();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap().to_string(), text);
        }
    }
}
