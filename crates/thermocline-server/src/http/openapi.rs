//! OpenAPI 3.1, made from the table.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::ops::{
    Row,
    problem::Code,
    spec::{Effect, Method},
};

/// The document at `/openapi.json`.
pub fn document(table: &[Row]) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut schemas = settings.into_generator();
    let mut paths = Map::new();
    for row in table {
        let request = (row.request)(&mut schemas).to_value();
        let response = (row.response)(&mut schemas).to_value();
        let path = paths.entry(row.spec.http.path).or_insert_with(|| json!({}));
        path[method(row.spec.http.method)] = operation(row, &request, &response);
    }
    let mut definitions = Value::Object(schemas.take_definitions(true));
    definitions["Problem"] = problem_schema();
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Thermocline", "version": env!("CARGO_PKG_VERSION"), "description": env!("CARGO_PKG_DESCRIPTION") },
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "key": [] }, {}],
    })
}

fn operation(row: &Row, request: &Value, response: &Value) -> Value {
    let spec = row.spec;
    let status = match spec.effect {
        Effect::Adds => "201",
        _ => "200",
    };
    let fields: Vec<Value> = spec
        .http
        .path
        .split(['{', '}'])
        .skip(1)
        .step_by(2)
        .map(|field| json!({ "name": field, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    let problem = json!({ "description": "A problem", "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } } });
    let mut operation = json!({
        "operationId": spec.name,
        "summary": spec.summary,
        "parameters": fields,
        "responses": {
            status: { "description": "Done", "content": { "application/json": { "schema": response } } },
            "default": problem,
        },
    });
    if spec.http.method != Method::Get {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": request } } });
    }
    operation
}

fn problem_schema() -> Value {
    let words: Vec<&str> = Code::EVERY.into_iter().map(|code| code.facts().word).collect();
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "code", "retry"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "code": { "type": "string", "enum": words },
            "retry": { "type": "string", "enum": ["never", "same_id", "later"] },
            "pointer": { "type": "string" },
        },
    })
}

const fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Patch => "patch",
        Method::Delete => "delete",
    }
}
