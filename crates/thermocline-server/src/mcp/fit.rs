//! Checks arguments against the schema that the model was shown: no field is unknown or missing, and each value has the type
//! that the schema gives its field, is one of the allowed words if there are any, and is within the bounds.

use serde_json::{Map, Value};

/// Checks a value. The error names only fields and words of the schema, and nothing from the arguments.
pub(super) fn check(schema: &Map<String, Value>, value: &Value) -> Result<(), String> {
    at("", schema, value)
}

fn at(path: &str, schema: &Map<String, Value>, value: &Value) -> Result<(), String> {
    if let Some(types) = schema.get("type") {
        is_of_type(path, types, value)?;
    }
    if let Some(Value::Array(words)) = schema.get("enum")
        && !words.contains(value)
    {
        let words: Vec<String> = words.iter().map(|word| word.to_string().replace('"', "")).collect();
        return Err(format!("{} is not one of {}", named(path), words.join(", ")));
    }
    within(path, schema, value)?;
    match value {
        Value::Object(fields) => object(path, schema, fields),
        Value::Array(items) => match schema.get("items") {
            Some(Value::Object(each)) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| at(&format!("{path}/{index}"), each, item)),
            _ => Ok(()),
        },
        _ => Ok(()),
    }?;
    match schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        Some(Value::Array(branches)) => {
            let fits = branches.iter().any(|branch| match branch {
                Value::Object(branch) => at(path, branch, value).is_ok(),
                _ => true,
            });
            if fits { Ok(()) } else { Err(format!("{} matches none of its forms", named(path))) }
        }
        _ => Ok(()),
    }
}

fn object(path: &str, schema: &Map<String, Value>, fields: &Map<String, Value>) -> Result<(), String> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(format!("{} is missing", named(&format!("{path}/{name}"))));
        }
    }
    for (name, field) in fields {
        let path = format!("{path}/{name}");
        match (properties.get(name), schema.get("additionalProperties")) {
            (Some(Value::Object(property)), _) => at(&path, property, field)?,
            (None, Some(Value::Bool(false))) => {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                return Err(format!(
                    "there is no argument of that name; the arguments are {}",
                    known.join(", ")
                ));
            }
            (None, Some(Value::Object(other))) => at(&path, other, field)?,
            _ => {}
        }
    }
    Ok(())
}

fn is_of_type(path: &str, types: &Value, value: &Value) -> Result<(), String> {
    let types: Vec<&str> = match types {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is_one = types.iter().any(|kind| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        // In JSON Schema, `53.0` is an integer.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    });
    if is_one { Ok(()) } else { Err(format!("{} is not of the type {}", named(path), types.join(" or "))) }
}

fn within(path: &str, schema: &Map<String, Value>, value: &Value) -> Result<(), String> {
    let Some(number) = value.as_f64() else { return Ok(()) };
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        return Err(format!("{} is below {least}", named(path)));
    }
    if let Some(most) = bound("maximum").filter(|most| number > *most) {
        return Err(format!("{} is above {most}", named(path)));
    }
    Ok(())
}

/// Returns the name of a field for an error. The path contains only names from the schema and indexes.
fn named(path: &str) -> &str {
    match path.strip_prefix('/') {
        None | Some("") => "arguments",
        Some(path) => path,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_that(arguments: &Value, expected: Result<(), &str>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string" },
                "k": { "type": "integer", "minimum": 1, "maximum": 100 },
                "kinds": { "type": "array", "items": { "type": "string", "enum": ["fix", "error"] } },
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let schema = schema.as_object().expect("an object");
        assert_eq!(check(schema, arguments), expected.map_err(str::to_owned));
    }

    #[test]
    fn what_is_unknown_missing_or_of_another_type_does_not_fit() {
        check_that(&json!({ "query": "a", "k": 53.0, "kinds": ["fix"] }), Ok(()));
        check_that(&json!({ "k": 1 }), Err("query is missing"));
        check_that(
            &json!({ "query": "a", "user": "maria" }),
            Err("there is no argument of that name; the arguments are k, kinds, query"),
        );
        check_that(&json!({ "query": 1 }), Err("query is not of the type string"));
        check_that(&json!({ "query": "a", "k": 1.5 }), Err("k is not of the type integer"));
        check_that(&json!({ "query": "a", "k": 101 }), Err("k is above 100"));
        check_that(&json!({ "query": "a", "kinds": ["fix", "x"] }), Err("kinds/1 is not one of fix, error"));
        check_that(&json!([]), Err("arguments is not of the type object"));
    }
}
