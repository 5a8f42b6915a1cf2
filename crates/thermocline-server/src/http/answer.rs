//! From a reply or a problem to a response.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::json;

use crate::ops::{
    Outcome, Reply,
    problem::{Problem, Retry},
};

/// What the operation gave.
pub(super) fn reply(reply: Reply) -> Response {
    let status = match reply.outcome {
        Outcome::Done | Outcome::Known => StatusCode::OK,
        Outcome::Added => StatusCode::CREATED,
        Outcome::Pending => StatusCode::ACCEPTED,
    };
    let mut response = document(status, "application/json", reply.body);
    if reply.outcome == Outcome::Known {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

/// RFC 9457's problem details.
pub(super) fn problem(problem: &Problem) -> Response {
    let facts = problem.code.facts();
    let mut body = json!({
        "type": format!("/errors#{}", facts.word),
        "title": facts.title,
        "status": facts.status,
        "detail": problem.detail,
        "code": facts.word,
        "retry": facts.retry.as_str(),
    });
    if let Some(pointer) = &problem.pointer {
        body["pointer"] = pointer.as_str().into();
    }
    let status = StatusCode::from_u16(facts.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = document(status, "application/problem+json", body.to_string());
    let headers = response.headers_mut();
    if facts.retry == Retry::Later {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn document(status: StatusCode, kind: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}
