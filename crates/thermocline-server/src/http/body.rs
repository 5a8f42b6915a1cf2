//! The fields of a request: a JSON object as the body, or a query.

use axum::{
    body::{self, Body},
    extract::Request,
    http::{HeaderMap, header},
};
use serde_json::{Map, Value};

use crate::ops::{
    Result, Row,
    problem::{Code, Problem},
    spec::Method,
};

/// What the body or the query says, as an object.
pub(super) async fn fields(
    row: &Row,
    request: Request<Body>,
    max_bytes: usize,
) -> Result<Map<String, Value>> {
    match row.spec.http.method {
        Method::Get | Method::Delete => query(request.uri().query().unwrap_or_default()),
        _ => json(request, max_bytes).await,
    }
}

async fn json(request: Request<Body>, max_bytes: usize) -> Result<Map<String, Value>> {
    let is_json = is_json(request.headers());
    let bytes = body::to_bytes(request.into_body(), max_bytes).await.map_err(|_| {
        Problem::new(Code::TooLarge, format!("the body did not arrive whole within {max_bytes} bytes"))
    })?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if !is_json {
        return Err(Problem::new(
            Code::UnsupportedMedia,
            "bodies are JSON: send Content-Type: application/json",
        ));
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Problem::bad_request("the body is not a JSON object")),
        Err(error) => Err(Problem::bad_request(format!("the body is not valid JSON: {error}"))),
    }
}

/// A form cannot be sent as JSON by a foreign page.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn query(query: &str) -> Result<Map<String, Value>> {
    if query.is_empty() { Ok(Map::new()) } else { Err(Problem::bad_request("this address takes no query")) }
}
