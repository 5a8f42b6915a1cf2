//! A stricter serde deserializer for JSON. It refuses two things that serde accepts: an array in place of an object, and
//! `{"word": null}` in place of `"word"`. It records where reading failed, and the first field that was not read.

use std::{cell::RefCell, fmt::Display, slice};

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
        value::{MapAccessDeserializer, StrDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::{Error, Map, Value, map};

/// What is recorded while a value is read.
#[derive(Debug, Default)]
pub(super) struct ReadTrace {
    /// The field names and item indexes that lead to the current value, or to the value where reading failed.
    path: RefCell<Vec<String>>,
    /// The path of the first field that was not read.
    unread: RefCell<Option<String>>,
}

/// A value that is read strictly, including everything in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strict<'de, 'm> {
    value: &'de Value,
    met: &'m ReadTrace,
}

type Result<T> = std::result::Result<T, Error>;

impl ReadTrace {
    /// Returns the path of the current value, or of the value where reading failed.
    pub(super) fn path(&self) -> String {
        self.path.borrow().join("/")
    }

    /// Returns the path of the first field that was not read.
    pub(super) fn into_unread(self) -> Option<String> {
        self.unread.into_inner()
    }

    /// Reads the value at this step below the current one.
    fn step<T>(&self, step: &dyn Display, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let depth = self.path.borrow().len();
        self.path.borrow_mut().push(step.to_string());
        let read = read()?;
        // If an attempt failed and the visitor then succeeded in another way, the path of the failed attempt is still
        // there.
        self.path.borrow_mut().truncate(depth);
        Ok(read)
    }
}

impl<'de, 'm> Strict<'de, 'm> {
    pub(super) fn new(value: &'de Value, met: &'m ReadTrace) -> Self {
        Self { value, met }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }
}

impl<'de> Deserializer<'de> for Strict<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Array(items) => {
                let mut list = Items { left: items.iter(), count: 0, met: self.met };
                let read = visitor.visit_seq(&mut list)?;
                all_read(read, items.len(), list.left.len())
            }
            Value::Object(object) => {
                let mut fields = ObjectFields::of(object, self.met);
                let read = visitor.visit_map(&mut fields)?;
                all_read(read, object.len(), fields.left.len())
            }
            one => one.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
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
        match self.value {
            Value::Object(object) if object.len() == 1 && object.values().all(Value::is_null) => {
                Err(Error::invalid_type(Unexpected::Map, &visitor))
            }
            Value::Object(object) if object.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(ObjectFields::of(object, self.met)))
            }
            other => other.deserialize_enum(name, variants, visitor),
        }
    }

    /// Called by serde for the value of an unknown field.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.met.unread.borrow_mut().get_or_insert_with(|| self.met.path());
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier
    }
}

fn all_read<T>(read: T, len: usize, left: usize) -> Result<T> {
    if left == 0 { Ok(read) } else { Err(Error::invalid_length(len, &"fewer of them")) }
}

/// The items of an array.
struct Items<'de, 'm> {
    left: slice::Iter<'de, Value>,
    count: usize,
    met: &'m ReadTrace,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(item) = self.left.next() else { return Ok(None) };
        let read = self.met.step(&self.count, || seed.deserialize(Strict::new(item, self.met)))?;
        self.count += 1;
        Ok(Some(read))
    }
}

/// The fields of an object.
struct ObjectFields<'de, 'm> {
    left: map::Iter<'de>,
    next: Option<(&'de str, &'de Value)>,
    met: &'m ReadTrace,
}

impl<'de, 'm> ObjectFields<'de, 'm> {
    fn of(object: &'de Map<String, Value>, met: &'m ReadTrace) -> Self {
        Self { left: object.iter(), next: None, met }
    }
}

impl<'de> MapAccess<'de> for ObjectFields<'de, '_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next = self.left.next().map(|(name, value)| (name.as_str(), value));
        let Some((name, _)) = self.next else { return Ok(None) };
        let key: StrDeserializer<'_, Error> = name.into_deserializer();
        self.met.step(&name, || seed.deserialize(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let (name, value) = self.next.take().ok_or_else(|| Error::custom("a value has no name"))?;
        self.met.step(&name, || seed.deserialize(Strict::new(value, self.met)))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct TestFilter {
        project: Option<String>,
        days: Vec<u8>,
        of: Option<TestOf>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum TestOf {
        All,
        One(TestInner),
        Both { a: TestInner },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct TestInner {
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
            let plain = TestFilter::deserialize(&value).map_err(|error| error.to_string());
            let strict = TestFilter::deserialize(Strict::new(&value, &ReadTrace::default()))
                .map_err(|error| error.to_string());
            assert_eq!(strict, plain, "{value}");
        }
    }

    #[test]
    fn an_array_is_no_object_at_any_depth() {
        for value in [
            json!(["a", [], null]),
            json!({ "days": [], "of": { "one": [1] } }),
            json!({ "days": [], "of": { "both": { "a": [1] } } }),
            json!({ "days": [], "of": { "all": null } }),
        ] {
            assert!(TestFilter::deserialize(&value).is_ok(), "{value}");
            assert!(TestFilter::deserialize(Strict::new(&value, &ReadTrace::default())).is_err(), "{value}");
        }
    }

    #[track_caller]
    fn check_met(value: &Value, path: &str, unread: Option<&str>) {
        let met = ReadTrace::default();
        let _ = TestFilter::deserialize(Strict::new(value, &met));
        assert_eq!((met.path().as_str(), met.into_unread().as_deref()), (path, unread), "{value}");
    }

    #[test]
    fn where_reading_failed_and_what_nobody_read_is_known() {
        check_met(&json!({ "days": [1] }), "", None);
        check_met(&json!({ "days": [1, 2, 256] }), "days/2", None);
        check_met(&json!({ "days": [], "of": { "both": { "a": { "n": "x" } } } }), "of/both/a/n", None);
        check_met(&json!({ "days": [], "of": { "one": {} } }), "of/one", None);
        check_met(&json!({ "days": [], "projct": 1 }), "", Some("projct"));
        check_met(&json!({ "days": [], "of": { "one": { "n": 1, "x": {}, "y": 0 } } }), "", Some("of/one/x"));
    }
}
