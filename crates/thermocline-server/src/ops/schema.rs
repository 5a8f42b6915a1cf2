//! JSON Schemas (2020-12) of requests and responses, for people and programs that do not read Rust.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::ops::Row;

/// Returns the complete schema of a row's request, with the types that it refers to in its `$defs`.
pub fn request(row: &Row) -> Value {
    let (mut schemas, definitions) = requests(&[*row], "/$defs");
    with_definitions(schemas.remove(0), definitions)
}

/// Returns the complete schema of a row's response, with the types that it refers to in its `$defs`.
pub fn response(row: &Row) -> Value {
    let (mut schemas, definitions) = responses(&[*row], "/$defs");
    with_definitions(schemas.remove(0), definitions)
}

/// Returns the schemas of these rows' requests, and the definitions that they refer to. No schema is itself a mere
/// reference. The caller places the definitions below `definitions_path`. The schemas refuse unknown fields at any depth.
pub fn requests(rows: &[Row], definitions_path: &'static str) -> (Vec<Value>, Map<String, Value>) {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let (mut schemas, mut definitions) = generated(rows, |row| row.request, settings, definitions_path);
    for schema in &mut schemas {
        // No other type refers to a request, so it is inlined.
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            *schema = definitions.get(name).cloned().unwrap_or_default();
        }
    }
    schemas.iter_mut().chain(definitions.values_mut()).for_each(close);
    retain_used(&schemas, &mut definitions, definitions_path);
    (schemas, definitions)
}

/// Returns the schemas of these rows' responses, and the definitions that they refer to. The caller places the definitions
/// below `definitions_path`.
pub fn responses(rows: &[Row], definitions_path: &'static str) -> (Vec<Value>, Map<String, Value>) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    generated(rows, |row| row.response, settings, definitions_path)
}

fn generated(
    rows: &[Row],
    of: impl Fn(&Row) -> fn(&mut SchemaGenerator) -> Schema,
    mut settings: SchemaSettings,
    definitions_path: &'static str,
) -> (Vec<Value>, Map<String, Value>) {
    settings.definitions_path = definitions_path.into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut schemas: Vec<Value> = rows.iter().map(|row| of(row)(&mut generator).to_value()).collect();
    let mut definitions = generator.take_definitions(true);
    schemas.iter_mut().chain(definitions.values_mut()).for_each(describe);
    (schemas, definitions)
}

fn with_definitions(mut schema: Value, definitions: Map<String, Value>) -> Value {
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    schema
}

/// Removes definitions that no schema refers to, directly or indirectly.
pub fn retain_used(schemas: &[Value], definitions: &mut Map<String, Value>, definitions_path: &str) {
    let mut used: Vec<String> = Vec::new();
    let mut to_read: Vec<Value> = schemas.to_vec();
    while let Some(schema) = to_read.pop() {
        each_reference(&schema, &mut |path| {
            let name =
                path.trim_start_matches('#').strip_prefix(definitions_path).unwrap_or(path).trim_matches('/');
            if !used.iter().any(|known| known == name) {
                used.push(name.to_owned());
                to_read.extend(definitions.get(name).cloned());
            }
        });
    }
    definitions.retain(|name, _| used.contains(name));
}

fn each_reference(value: &Value, tell: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(path)) = fields.get("$ref") {
                tell(path);
            }
            fields.values().for_each(|field| each_reference(field, tell));
        }
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, tell)),
        _ => {}
    }
}

/// Closes every object of a request, because reading refuses unknown fields; removes defaults that are null; and states
/// the maximum of every number.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object)
                && !fields.contains_key("additionalProperties")
            {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            // Removed because leaving a field out does not mean null everywhere.
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            bound(fields);
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// States the maximum of a whole number, because its `format` is a Rust type, which other readers may not know.
fn bound(schema: &mut Map<String, Value>) {
    let most = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => u64::from(u8::MAX),
        Some("uint16") => u64::from(u16::MAX),
        Some("uint32") => u64::from(u32::MAX),
        Some("uint64" | "uint") => u64::MAX,
        _ => return,
    };
    schema.entry("maximum").or_insert_with(|| most.into());
}

/// Turns descriptions, which are Rust documentation, into plain text.
fn describe(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = plain(text);
            }
            fields.values_mut().for_each(describe);
        }
        Value::Array(items) => items.iter_mut().for_each(describe),
        _ => {}
    }
}

/// Removes links to Rust documentation and doc examples: ``[`name`](path)`` becomes `` `name` ``.
fn plain(text: &str) -> String {
    let text = text.split("```").next().unwrap_or_default().trim_end();
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((name, behind)) = link.split_once(']') else {
            rest = &rest[before.len()..];
            break;
        };
        plain.push_str(name);
        rest = match behind.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, behind)) => behind,
            None => behind,
        };
    }
    plain.push_str(rest);
    in_json(&plain)
}

/// Uses the terms of JSON: `` `Profile::Default` `` becomes `` `default` ``, and `None` becomes `null`.
fn in_json(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| match (number % 2, part) {
        (1, "None") => "null".to_owned(),
        (1, code) => code.rsplit_once("::").map_or_else(|| code.to_owned(), |(_, name)| json_word(name)),
        (_, words) => words.replace("None:", "null:").replace("None if", "null if").replace("none:", "null:"),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Turns `UltraLow` into `ultra_low`. Names in lower case, and constants, stay as they are.
fn json_word(name: &str) -> String {
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        return name.to_owned();
    }
    let mut word = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(c.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_documents_rust_reads_as_plain_text() {
        for (written, read) in [
            ("See [`Session::end`](crate::Session::end).", "See `end`."),
            ("From [`Frequency::UltraLow`] on.", "From `ultra_low` on."),
            ("`None` if it is gone. None: it is new.", "`null` if it is gone. null: it is new."),
            ("The [outcome](Saved::outcome) says, with [`Config`].", "The outcome says, with `Config`."),
            ("From 0 to 1.\n\n```\nlet a = 1;\n```\n", "From 0 to 1."),
            ("A list [1, 2", "A list [1, 2"),
            ("Nothing.", "Nothing."),
        ] {
            assert_eq!(plain(written), read);
        }
    }
}
