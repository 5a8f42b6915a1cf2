//! The schema of a request as a model sees it: only what the model needs to fill in the arguments.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::ops::Row;

/// The maximum length of a field description, in bytes. Of each description only the first sentence is kept, and only if
/// it is not longer.
const MAX_DESCRIPTION_BYTES: usize = 60;

/// Fields for programs that call over HTTP. A model does not see them, and cannot use them.
const FOR_PROGRAMS: [&str; 35] = [
    "any_status",
    "assistant_origin",
    "at",
    "consolidation_threshold",
    "critical",
    "description",
    "entities",
    "expected_revision",
    "extra",
    "filter",
    "for_messages",
    "graph",
    "information_type",
    "learning_source",
    "memories",
    "metadata",
    "min_confidence",
    "min_trust",
    "origin",
    "per_section",
    "procedure",
    "project_alone",
    "queries",
    "reliability",
    "replacing",
    "resurfacing",
    "snapshot",
    "sources",
    "task_id",
    "task_name",
    "task_type",
    "trigger",
    "user_origin",
    "validity_window_s",
    "volatility",
];

/// Fields of many requests whose names are enough, so that their descriptions are left out.
const UNSAID: [&str; 4] = ["cursor", "limit", "memory", "session"];

/// Parts of a schema that only help to validate arguments. They are left out, but the row's own type still enforces them.
const NOT_SHOWN: [&str; 9] =
    ["$schema", "title", "format", "minLength", "maxLength", "minItems", "maxItems", "default", "pattern"];

/// Returns the schema of a row's request, reduced to what a model needs.
pub(super) fn of_request(row: &Row) -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = object((row.request)(&mut settings.into_generator()).to_value());
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| {
            !FOR_PROGRAMS.contains(&name.as_str()) || required.contains(&name.as_str().into())
        });
        for name in UNSAID {
            if let Some(Value::Object(field)) = properties.get_mut(name) {
                field.remove("description");
            }
        }
    }
    let mut slim = slimmed(schema);
    slim.remove("description");
    slim.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    slim
}

/// Returns the fields of a JSON object; empty for any other value.
pub(super) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn slimmed(schema: JsonObject) -> JsonObject {
    let mut schema = without_null(schema);
    schema.retain(|key, _| !NOT_SHOWN.contains(&key.as_str()));
    if let Some(words) = words_of(&schema) {
        schema.remove("oneOf");
        schema.remove("anyOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), words);
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        match shortened(description) {
            Some(short) => *description = short,
            None => drop(schema.remove("description")),
        }
    }
    for (key, value) in &mut schema {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for property in properties.values_mut() {
                    slim_in_place(property);
                }
            }
            ("items" | "additionalProperties", value) => slim_in_place(value),
            ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                branches.iter_mut().for_each(slim_in_place);
            }
            _ => {}
        }
    }
    schema
}

fn slim_in_place(value: &mut Value) {
    if let Value::Object(schema) = value {
        *schema = slimmed(std::mem::take(schema));
    }
}

/// Removes `null` from a schema, because a model can leave the field out instead.
fn without_null(mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        if let [only] = branches.as_slice() {
            let only = object(only.clone());
            schema.remove("anyOf");
            // The field's own description is more specific than its type's.
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
    schema
}

/// Returns the words of a choice that is written as a list of constants, each with a description. Alternatives that are
/// objects are left out, because they are for programs.
fn words_of(schema: &JsonObject) -> Option<Value> {
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let mut words = Vec::new();
    for branch in branches {
        let inner = branch.as_object().and_then(words_of);
        match (branch.get("const"), branch.get("enum").or(inner.as_ref()).and_then(Value::as_array)) {
            (Some(word), _) => words.push(word.clone()),
            (None, Some(more)) => words.extend(more.iter().filter(|word| !word.is_null()).cloned()),
            (None, None) => {}
        }
    }
    (!words.is_empty()).then_some(Value::Array(words))
}

/// Returns the first sentence of a description, if it is short enough.
fn shortened(description: &str) -> Option<String> {
    let first = description.split_once(". ").map_or(description, |(first, _)| first);
    let first = first.trim_end_matches('.').replace('\n', " ");
    (first.len() <= MAX_DESCRIPTION_BYTES).then_some(first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, slim: &Value) {
        assert_eq!(&Value::Object(slimmed(object(schema))), slim);
    }

    #[test]
    fn nobody_has_to_say_null() {
        check(json!({ "type": ["string", "null"], "format": "date-time" }), &json!({ "type": "string" }));
        check(
            json!({ "anyOf": [{ "type": "object", "title": "A" }, { "type": "null" }], "description": "Its place." }),
            &json!({ "type": "object", "description": "Its place" }),
        );
    }

    #[test]
    fn a_choice_is_a_list_of_words() {
        check(
            json!({ "oneOf": [{ "const": "hot", "description": "a" }, { "enum": ["warm", "cold"] }] }),
            &json!({ "type": "string", "enum": ["hot", "warm", "cold"] }),
        );
    }

    #[test]
    fn of_a_description_a_short_first_sentence_stays() {
        check(json!({ "description": "The key. It is long." }), &json!({ "description": "The key" }));
        check(json!({ "description": "long ".repeat(20) }), &json!({}));
    }
}
