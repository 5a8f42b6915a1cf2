//! Strict JSON: an object without duplicate fields, nested no deeper than can be read safely.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use crate::ops::{Result, problem::Problem};

/// Reads an object, and refuses duplicate fields. `serde_json` would keep the last of two fields with the same name,
/// which would deceive code that checks the first.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>> {
    let mut from = serde_json::Deserializer::from_slice(bytes);
    // The nesting is limited to 127 levels by `serde_json` itself.
    let read = UniqueFields.deserialize(&mut from).and_then(|value| from.end().map(|()| value));
    match read {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Problem::bad_request("the body is not a JSON object")),
        Err(error) => Err(Problem::bad_request(format!("the body is not valid JSON: {error}"))),
    }
}

/// Reads any value, and refuses duplicate fields in every object.
struct UniqueFields;

impl<'de> DeserializeSeed<'de> for UniqueFields {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueFields {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> std::result::Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value = fields.next_value_seed(Self)?;
            if map.insert(name, value).is_some() {
                return Err(A::Error::custom("an object has a field twice"));
            }
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(json: &str, why: &str) {
        let detail = object(json.as_bytes()).expect_err(json).detail;
        assert!(detail.contains(why), "{json}: {detail}");
    }

    #[test]
    fn what_serde_json_reads_is_read_the_same() {
        for json in [
            "{}",
            r#"{"a":[1,-2,3.5,1e300,18446744073709551615,true,null,"\u00e9\n"],"b":{"a":{"a":[]}}}"#,
            r#" {"metadata":{"x":0.1}} "#,
        ] {
            let expected: Value = serde_json::from_str(json).unwrap();
            assert_eq!(Value::Object(object(json.as_bytes()).unwrap()), expected, "{json}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for json in ["[]", "1", "\"a\"", "null"] {
            check_refused(json, "not a JSON object");
        }
        for json in ["", "{", "{} {}", "{'a':1}", "{\"a\":1,}", "NaN", "\u{feff}{}"] {
            check_refused(json, "not valid JSON");
        }
    }

    #[test]
    fn a_field_is_there_once_at_every_level() {
        check_refused(r#"{"a":1,"a":1}"#, "twice");
        check_refused(r#"{"a":[{"b":1,"\u0062":2}]}"#, "twice");
    }

    #[test]
    fn depth_is_bounded_and_half_characters_are_refused() {
        check_refused(&format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500)), "recursion limit");
        check_refused(r#"{"a":"\ud800"}"#, "not valid JSON");
    }
}
