//! OpenAPI 3.1, generated from the table.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    http::conditions::is_tagged,
    ops::{
        Row,
        problem::Code,
        schema,
        spec::{Again, Body, Effect, KeyScope, Method, Spec},
    },
};

/// The path of the schemas that several operations share.
const SCHEMAS: &str = "/components/schemas";

/// Returns the OpenAPI document, which is served at `/openapi.json`.
pub fn document(table: &[Row]) -> Value {
    let (requests, asked) = schema::requests(table, SCHEMAS);
    let (responses, answered) = schema::responses(table, SCHEMAS);
    let (requests, definitions) = side_by_side(requests, asked, answered);
    let mut paths = Map::new();
    for ((row, request), response) in table.iter().zip(&requests).zip(&responses) {
        let path = paths.entry(row.spec.http.path).or_insert_with(|| json!({}));
        let method = row.spec.http.method.as_str().to_ascii_lowercase();
        path[method] = operation(row.spec, FieldsByLocation::of(row.spec, request, &definitions), response);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Thermocline",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Hot, warm and cold memory for conversations, in one SQLite file.",
            "description": about(),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags(table),
        "paths": paths,
        "components": {
            "schemas": definitions,
            "parameters": { "User": user_parameter(), "IfNoneMatch": if_none_match() },
            "responses": { "Problem": problem_response() },
            "headers": headers(),
            "securitySchemes": security_schemes(),
        },
    })
}

fn about() -> String {
    let line = |scope: KeyScope| {
        format!(
            "
- `{}`: {}",
            scope.as_str(),
            scope.summary()
        )
    };
    let scopes = KeyScope::EVERY.map(line).concat();
    format!(
        "Each operation needs one scope of the key, given in its `security`; no scope implies another:{scopes}\n\n\
         Without keys, only this machine may send requests, for everything except `erase` and `admin`. Lists are paged: \
         `next_cursor` of one page is the `cursor` of the next. A field that an operation does not know is an error. Fields \
         may be added to responses; none changes its meaning within `/v1`."
    )
}

/// Merges the definitions of requests and responses. If one name stands for two different types, the request's type is
/// renamed.
fn side_by_side(
    mut requests: Vec<Value>,
    asked: Map<String, Value>,
    mut answered: Map<String, Value>,
) -> (Vec<Value>, Map<String, Value>) {
    let mut renamed: BTreeSet<String> = BTreeSet::new();
    let differs = |name: &str, schema: &Value| answered.get(name).is_some_and(|other| other != schema);
    renamed.extend(asked.iter().filter(|(name, schema)| differs(name, schema)).map(|(name, _)| name.clone()));
    // A type that refers to a renamed type changes too, so it is renamed as well.
    loop {
        let refers = |schema: &Value| renamed.iter().any(|name| refers_to(schema, name));
        let more: Vec<String> = asked
            .iter()
            .filter(|(name, schema)| {
                !renamed.contains(*name) && answered.contains_key(*name) && refers(schema)
            })
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        renamed.extend(more);
    }
    for schema in &mut requests {
        rename(schema, &renamed);
    }
    for (name, mut schema) in asked {
        rename(&mut schema, &renamed);
        let name = if renamed.contains(&name) { input(&name) } else { name };
        answered.insert(name, schema);
    }
    answered.insert("Problem".to_owned(), problem_schema());
    (requests, answered)
}

fn input(name: &str) -> String {
    format!("{name}Input")
}

fn refers_to(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_it = |path: &str| path.rsplit('/').next() == Some(name);
            fields.get("$ref").and_then(Value::as_str).is_some_and(is_it)
                || fields.values().any(|field| refers_to(field, name))
        }
        Value::Array(items) => items.iter().any(|item| refers_to(item, name)),
        _ => false,
    }
}

fn rename(schema: &mut Value, names: &BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(path)) = fields.get_mut("$ref")
                && let Some(name) = path.rsplit('/').next().filter(|name| names.contains(*name))
            {
                *path = format!("#{SCHEMAS}/{}", input(name));
            }
            fields.values_mut().for_each(|field| rename(field, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}

/// The fields of a request, by where they are sent.
struct FieldsByLocation {
    parameters: Vec<Value>,
    /// The schema of the body; `None` if the request has no body.
    body: Option<Value>,
    /// Whether a body is required.
    is_required: bool,
}

impl FieldsByLocation {
    fn of(spec: &Spec, request: &Value, definitions: &Map<String, Value>) -> Self {
        let mut body = request.clone();
        let names: Vec<&str> = spec.http.fields().collect();
        let is_required = |name: &str| required(request).any(|required| required == name);
        let mut parameters: Vec<Value> = names.iter().map(|name| path_parameter(name, request)).collect();
        let mut left = Map::new();
        for (name, schema) in properties(request).filter(|(name, _)| !names.contains(&name.as_str())) {
            left.insert(name.clone(), schema.clone());
        }
        let has_body = spec.body == Body::Json && !matches!(spec.http.method, Method::Get | Method::Delete);
        if !has_body {
            let query = |(name, schema): (&String, &Value)| {
                let (description, schema) = described(without_null(schema));
                json!({ "name": name, "in": "query", "required": is_required(name), "description": description, "schema": schema })
            };
            parameters.extend(left.iter().map(query));
        }
        parameters.extend(header_parameters(
            spec,
            properties(request).any(|(name, _)| name == "expected_revision"),
        ));
        let must: Vec<&str> = required(request).filter(|name| !names.contains(name)).collect();
        let is_required = !must.is_empty();
        body["required"] = json!(must);
        if must.is_empty()
            && let Some(fields) = body.as_object_mut()
        {
            fields.remove("required");
        }
        let body = (has_body && !left.is_empty()).then(|| {
            body["properties"] = Value::Object(left);
            let shared = definitions.iter().find(|(_, definition)| **definition == body);
            shared.map_or(body.clone(), |(name, _)| json!({ "$ref": format!("#{SCHEMAS}/{name}") }))
        });
        Self { parameters, body, is_required }
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn path_parameter(name: &str, request: &Value) -> Value {
    if name == "user" {
        return json!({ "$ref": "#/components/parameters/User" });
    }
    let (description, mut schema) = described(request["properties"][name].clone());
    if schema["type"] == "string" && schema.get("minLength").is_none() {
        schema["minLength"] = json!(1);
    }
    json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema })
}

fn user_parameter() -> Value {
    json!({
        "name": "user",
        "in": "path",
        "required": true,
        "description": "The user: a name of 1 to 256 bytes, or `id:` and an id.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 256 },
    })
}

fn if_none_match() -> Value {
    header(
        "If-None-Match",
        "The `ETag` of an earlier response: if nothing has changed since, the status is 304.",
    )
}

fn header(name: &str, description: &str) -> Value {
    json!({ "name": name, "in": "header", "required": false, "description": description, "schema": { "type": "string" } })
}

/// Splits the schema of a field into its description and the rest.
fn described(mut schema: Value) -> (Value, Value) {
    let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    (description.unwrap_or_default(), schema)
}

/// Returns the schema for use in a query, where no value can be null.
fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [kind] = &types[..] {
            schema["type"] = kind.clone();
        }
    }
    let is_null = |schema: &Value| {
        schema["type"] == "null" || schema["const"].is_null() && schema.get("const").is_some()
    };
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| !is_null(choice));
        if let [choice] = &choices[..] {
            let (choice, description) = (choice.clone(), schema.get("description").cloned());
            schema = choice;
            if let Some(description) = description {
                schema["description"] = description;
            }
        }
    }
    schema
}

fn header_parameters(spec: &Spec, expects_revision: bool) -> Vec<Value> {
    let mut headers = Vec::new();
    if spec.name == "record" {
        headers.push(header("Idempotency-Key", "Another name for `caller_id`."));
    }
    if expects_revision {
        let mut revision = header("If-Match", "Another name for `expected_revision`: `\"3\"`; `*` is any.");
        revision["schema"]["pattern"] = json!("^(\"[0-9]{1,9}\"|[*]?)$");
        headers.push(revision);
    }
    if is_tagged(spec) {
        headers.push(json!({ "$ref": "#/components/parameters/IfNoneMatch" }));
    }
    headers
}

fn operation(spec: &Spec, fields: FieldsByLocation, response: &Value) -> Value {
    let mut operation = json!({
        "operationId": spec.name,
        "tags": [spec.family()],
        "summary": spec.summary,
        "description": description(spec),
        "parameters": fields.parameters,
        "responses": answers(spec, response),
        "security": security(spec),
    });
    if spec.body == Body::LinesIn {
        operation["requestBody"] = json!({
            "required": true,
            "description": "The output of `user_export`: one JSON object per line.",
            "content": { "application/x-ndjson": { "schema": { "type": "string" } } },
        });
    } else if let Some(body) = fields.body {
        let mut content = json!({ "schema": body });
        if let Some(example) = example(spec.name) {
            content["examples"] = json!({ "plain": { "value": example } });
        }
        operation["requestBody"] =
            json!({ "required": fields.is_required, "content": { "application/json": content } });
    }
    operation
}

fn description(spec: &Spec) -> String {
    let again = match (spec.effect, spec.again) {
        (Effect::Reads, _) if spec.family() == "recall" => "Leaves a receipt, and changes nothing else.",
        (Effect::Reads, _) => "Changes nothing.",
        (_, Again::Same) => "Calling it again has no further effect.",
        (_, Again::WithCallerId) => {
            "Calling it again with the same `caller_id` has no further effect; without one, it is not repeatable."
        }
        (_, Again::Another) => "It is not repeatable: a second request runs it once more, or is refused.",
    };
    format!("Needs the scope `{}`. {again}", spec.scope.as_str())
}

fn answers(spec: &Spec, response: &Value) -> Value {
    let content = match spec.body {
        Body::LinesOut => json!({ "application/x-ndjson": { "schema": { "type": "string" } } }),
        Body::Json | Body::LinesIn => json!({ "application/json": { "schema": response } }),
    };
    let mut done = json!({ "description": "Done.", "content": content });
    let mut answers = Map::new();
    match spec.effect {
        Effect::Adds => {
            let mut known = done.clone();
            known["description"] = json!("It already existed, or nothing new was added.");
            known["headers"] =
                json!({ "Idempotent-Replayed": { "$ref": "#/components/headers/Idempotent-Replayed" } });
            if spec.again != Again::Another {
                answers.insert("200".to_owned(), known);
            }
            done["description"] = json!("Something new was added.");
            answers.insert("201".to_owned(), done);
        }
        Effect::Destroys if spec.scope == KeyScope::Erase => {
            let mut pending = done.clone();
            pending["description"] = json!(
                "No request can read it any more; a job overwrites its bytes once no reader holds the log."
            );
            answers.insert("200".to_owned(), done);
            answers.insert("202".to_owned(), pending);
        }
        _ => {
            if is_tagged(spec) {
                done["headers"] = json!({ "ETag": { "$ref": "#/components/headers/ETag" } });
                answers.insert(
                    "304".to_owned(),
                    json!({ "description": "Unchanged since the response with the `If-None-Match` tag." }),
                );
            }
            answers.insert("200".to_owned(), done);
        }
    }
    let problem = json!({ "$ref": "#/components/responses/Problem" });
    answers.extend(["4XX", "5XX"].map(|status| (status.to_owned(), problem.clone())));
    Value::Object(answers)
}

fn security(spec: &Spec) -> Value {
    let scope = spec.scope.as_str();
    let mut ways = vec![json!({ "bearer": [scope] }), json!({ "header": [scope] })];
    if !matches!(spec.scope, KeyScope::Erase | KeyScope::Admin) {
        ways.push(json!({})); // A server without keys accepts calls from its own machine.
    }
    Value::Array(ways)
}

fn security_schemes() -> Value {
    json!({
        "bearer": { "type": "http", "scheme": "bearer", "description": "A key, `thc_...`: `thermocline key add` makes one." },
        "header": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key." },
    })
}

fn headers() -> Value {
    json!({
        "ETag": {
            "description": "Changes with every transaction that writes anything of this user.",
            "schema": { "type": "string" },
        },
        "Idempotent-Replayed": {
            "description": "`true` if an earlier request already did it.",
            "schema": { "type": "string", "enum": ["true"] },
        },
        "Retry-After": {
            "description": "Seconds to wait before retrying.",
            "schema": { "type": "integer" },
        },
    })
}

fn problem_response() -> Value {
    json!({
        "description": "A problem (RFC 9457).",
        "headers": { "Retry-After": { "$ref": "#/components/headers/Retry-After" } },
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
    })
}

fn problem_schema() -> Value {
    let words: Vec<&str> = Code::EVERY.into_iter().map(|code| code.facts().word).collect();
    json!({
        "type": "object",
        "description": "What went wrong, and what the caller can do.",
        "required": ["type", "title", "status", "detail", "code", "retry"],
        "properties": {
            "type": { "type": "string", "format": "uri-reference", "description": "The page that explains the code." },
            "title": { "type": "string", "description": "The code's title for people." },
            "status": { "type": "integer", "description": "The HTTP status." },
            "detail": { "type": "string", "description": "A sentence for people; it never quotes what anybody said." },
            "instance": { "type": "string", "description": "The request's id." },
            "code": { "type": "string", "enum": words, "description": "The kind of problem." },
            "retry": {
                "type": "string",
                "enum": ["never", "same_id", "later"],
                "description": "Whether retrying helps: not unchanged; at once, with the same `caller_id`; in a second or more.",
            },
            "pointer": { "type": "string", "description": "The field of the request that caused it (JSON pointer)." },
        },
    })
}

/// Returns the families of operations, in the order of the table.
fn tags(table: &[Row]) -> Vec<Value> {
    let mut seen = Vec::new();
    for family in table.iter().map(|row| row.spec.family()) {
        if !seen.contains(&family) {
            seen.push(family);
        }
    }
    seen.into_iter().map(|family| json!({ "name": family })).collect()
}

/// Returns an example request, for the operations that most callers start with.
fn example(name: &str) -> Option<Value> {
    Some(match name {
        "record" => json!({
            "session": "spring",
            "user_message": "I named my boat Petrel.",
            "ai_response": "A fine name.",
            "caller_id": "msg-17",
        }),
        "context" => {
            json!({ "session": "spring", "message": "What is my boat called?", "budget_tokens": 2000 })
        }
        "recall" => json!({ "query": "the name of the boat", "k": 5 }),
        "memory_save" => json!({
            "kind": "fix",
            "title": "Redis timeouts",
            "content": "A keepalive of 300 s fixes the drops.",
            "tags": ["redis"],
        }),
        "anchor_set" => json!({ "attribute": "home", "value": "Lisbon" }),
        _ => return None,
    })
}
