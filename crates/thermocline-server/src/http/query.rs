//! Fields given as text, in a path or a query: parsed by the schema of their request.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::ops::{Result, Row, problem::Problem};

/// The types of those request fields that can be in a path or a query, by name.
#[derive(Clone, Debug)]
pub(super) struct QueryFields(HashMap<String, FieldType>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldType {
    Text,
    Whole,
    Number,
    Truth,
}

impl QueryFields {
    pub(super) fn of(row: &Row) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let schema = (row.request)(&mut settings.into_generator()).to_value();
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        Self(fields.filter_map(|(name, schema)| Some((name.clone(), kind_of(schema)?))).collect())
    }

    /// Whether there is a field with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Parses the fields of a query.
    pub(super) fn query(&self, query: &str) -> Result<Map<String, Value>> {
        let mut fields = Map::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if !self.0.contains_key(&name) {
                return Err(Problem::bad_request("the query has a field that this operation does not take"));
            }
            let value = self.value(&name, value)?;
            if fields.insert(name, value).is_some() {
                return Err(Problem::bad_request("the query has a field twice"));
            }
        }
        Ok(fields)
    }

    /// Parses a field's text as the field's type.
    pub(super) fn value(&self, name: &str, text: String) -> Result<Value> {
        let read = match self.0.get(name) {
            Some(FieldType::Whole) => text.parse::<i64>().map(Value::from).ok(),
            Some(FieldType::Number) => {
                text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
            }
            Some(FieldType::Truth) => text.parse::<bool>().map(Value::from).ok(),
            Some(FieldType::Text) | None => return Ok(text.into()),
        };
        read.ok_or_else(|| {
            let expected = match self.0.get(name) {
                Some(FieldType::Whole) => "a whole number",
                Some(FieldType::Number) => "a number",
                _ => "true or false",
            };
            let detail = format!("{name} is not valid here: expected {expected}");
            Problem { pointer: Some(format!("/{name}")), ..Problem::bad_request(detail) }
        })
    }
}

/// Returns the type that a schema accepts, if it is a single one. `null` as a second type only says that the field may be
/// left out.
fn kind_of(schema: &Value) -> Option<FieldType> {
    let words: Vec<&str> = match schema.get("type") {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => {
            let options = ["anyOf", "oneOf", "allOf"].iter().find_map(|of| schema.get(of)?.as_array());
            // Constants and enums are text; of several alternatives, the first with a simple type decides.
            return match options {
                Some(options) => options.iter().find_map(kind_of),
                None => (schema.get("const").or(schema.get("enum")).is_some()).then_some(FieldType::Text),
            };
        }
    };
    words.into_iter().find_map(|word| match word {
        "string" => Some(FieldType::Text),
        "integer" => Some(FieldType::Whole),
        "number" => Some(FieldType::Number),
        "boolean" => Some(FieldType::Truth),
        _ => None,
    })
}

fn decoded(text: &str) -> Result<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded.map(Into::into).map_err(|_| Problem::bad_request("the query is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields() -> QueryFields {
        let kinds = [
            ("limit", json!({ "type": ["integer", "null"] })),
            ("floor", json!({ "type": "number" })),
            ("all", json!({ "type": "boolean" })),
            ("tier", json!({ "anyOf": [{ "type": "string", "enum": ["hot"] }, { "type": "null" }] })),
            ("filter", json!({ "type": "object" })),
        ];
        let kinds = kinds.into_iter();
        QueryFields(kinds.filter_map(|(name, schema)| Some((name.to_owned(), kind_of(&schema)?))).collect())
    }

    #[track_caller]
    fn check(query: &str, expected: Option<&Value>) {
        let read = fields().query(query).ok().map(Value::Object);
        assert_eq!(read.as_ref(), expected, "{query}");
    }

    #[test]
    fn fields_of_a_query_are_what_the_schema_says() {
        check("", Some(&json!({})));
        check(
            "limit=5&floor=0.5&all=true&tier=hot",
            Some(&json!({ "limit": 5, "floor": 0.5, "all": true, "tier": "hot" })),
        );
        check("tier=a+b%26c%3D%C3%A9", Some(&json!({ "tier": "a b&c=é" })));
        check("tier=", Some(&json!({ "tier": "" })));
    }

    #[test]
    fn what_a_query_cannot_say_is_refused() {
        for query in [
            "limit=",
            "limit=5.5",
            "limit=five",
            "floor=NaN",
            "all=1",
            "who=alex",
            "filter=x",
            "limit=5&limit=6",
            "tier=%ff",
        ] {
            check(query, None);
        }
    }
}
