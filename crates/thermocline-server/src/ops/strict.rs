//! JSON as serde reads it, but that an object is an object: serde takes an array of its fields for it, too.

use serde::{
    Deserializer,
    de::{
        Error as _, IntoDeserializer, Unexpected, Visitor,
        value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::{Error, Map, Value};

/// A value that is read so, with all that is in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strict<'de>(pub(super) &'de Value);

type Result<T> = std::result::Result<T, Error>;

impl<'de> Strict<'de> {
    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }
}

impl<'de> IntoDeserializer<'de, Error> for Strict<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The fields of an object, each read strictly.
fn fields(
    object: &Map<String, Value>,
) -> MapDeserializer<'_, impl Iterator<Item = (&str, Strict<'_>)>, Error> {
    MapDeserializer::new(object.iter().map(|(name, value)| (name.as_str(), Strict(value))))
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Strict));
                let read = visitor.visit_seq(&mut items)?;
                items.end().map(|()| read)
            }
            Value::Object(object) => {
                let mut fields = fields(object);
                let read = visitor.visit_map(&mut fields)?;
                fields.end().map(|()| read)
            }
            one => one.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.object(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.object(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0 {
            Value::Object(object) if object.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(fields(object)))
            }
            other => other.deserialize_enum(name, variants, visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Filter {
        project: Option<String>,
        days: Vec<u8>,
        of: Option<Of>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Of {
        All,
        One(Inner),
        Both { a: Inner },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        n: f64,
    }

    #[test]
    fn what_serde_reads_is_read_alike() {
        for value in [
            json!({ "project": "a", "days": [1, 2], "of": "all" }),
            json!({ "days": [], "of": { "one": { "n": 1 } } }),
            json!({ "project": null, "days": [], "of": { "both": { "a": { "n": 0.5 } } } }),
            json!({ "days": [256] }),
            json!({ "days": 1 }),
            json!({ "days": [], "of": "none" }),
            json!({ "days": [], "of": { "one": { "n": 1 }, "both": 1 } }),
            json!({ "days": [], "of": {} }),
            json!({ "of": 1 }),
            json!(null),
        ] {
            let plain = Filter::deserialize(&value).map_err(|error| error.to_string());
            let strict = Filter::deserialize(Strict(&value)).map_err(|error| error.to_string());
            assert_eq!(strict, plain, "{value}");
        }
    }

    #[test]
    fn an_array_is_no_object_at_any_depth() {
        for value in [
            json!(["a", [], null]),
            json!({ "days": [], "of": { "one": [1] } }),
            json!({ "days": [], "of": { "both": { "a": [1] } } }),
        ] {
            assert!(Filter::deserialize(&value).is_ok(), "{value}");
            assert!(Filter::deserialize(Strict(&value)).is_err(), "{value}");
        }
    }
}
