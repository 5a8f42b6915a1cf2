//! Routes about the server itself.

use std::{fmt::Write, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::State,
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use tokio::time;
use tracing::Instrument;

use crate::{
    caller::Caller,
    http::{Http, answer::document, openapi},
    ops::{
        Row,
        call::Surface,
        problem::{Code, Problem},
    },
    service::Service,
};

/// The text format of `OpenMetrics`.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How long `/metrics` waits for new counts. After that it shows the previous ones, with their age.
const COUNTING_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the routes that need no key, because they reveal nothing about any user.
pub(super) fn open(table: &'static [Row]) -> Router<Arc<Http>> {
    Router::new()
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/version", get(version))
        .route("/errors", get(|| async { Html(errors()) }))
        .route("/openapi.json", get(move || async move { axum::Json(openapi::document(table)) }))
}

/// Returns the routes that need the scope `inspect` and access to all users.
pub(super) fn inspected() -> Router<Arc<Http>> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(http): State<Arc<Http>>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    if let Err(problem) = http.service.count(&caller, "http", "metrics") {
        return problem.into_response();
    }
    if let Err(problem) = caller.may_inspect() {
        http.service.note_refused(&caller, "http", "metrics", &problem);
        return problem.into_response();
    }
    let service = &http.service;
    if let Ok(health) = service.memory.health().await {
        service.metrics.take_health(&health);
    }
    // A task of its own, because counting blocks its task, and goes on when nobody waits for it any more.
    let counting = tokio::spawn(count(Arc::clone(service), caller).in_current_span());
    let _ = time::timeout(COUNTING_TIMEOUT, counting).await;
    match service.metrics.text() {
        Ok(text) => document(StatusCode::OK, METRICS, text),
        Err(error) => Problem::unexpected(&error).into_response(),
    }
}

/// Passes new counts to the metrics. Does nothing while they are being counted already.
async fn count(service: Arc<Service>, caller: Arc<Caller>) {
    let Ok(_turn) = service.metrics.counting.try_lock() else { return };
    if let Some(row) = service.find("stats")
        && let Ok(admitted) = service.admit(row, caller, None, Surface::Http)
        && let Ok(reply) = admitted.run(json!({}), None).await
    {
        service.metrics.take_stats(&serde_json::from_str(&reply.body).unwrap_or_default());
    }
}

async fn live() -> Response {
    document(StatusCode::OK, "application/json", json!({ "is_alive": true }).to_string())
}

async fn ready(State(http): State<Arc<Http>>) -> Response {
    let found = http.health.readiness().await;
    let status = if found.is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, axum::Json(found)).into_response()
}

async fn version() -> Response {
    let said = json!({ "name": "thermocline", "version": env!("CARGO_PKG_VERSION"), "api": "v1" });
    document(StatusCode::OK, "application/json", said.to_string())
}

/// Returns the page that every problem's `type` points to.
fn errors() -> String {
    let mut page = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Problems</title>\
        <style>body{font:1rem/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}td,th{text-align:left;\
        padding:.3rem .8rem .3rem 0;vertical-align:top}</style><h1>Problems</h1><p>The <code>code</code> of each failed \
        request, and whether retrying helps: <code>never</code> unchanged; <code>same_id</code> at once with the same \
        <code>caller_id</code>, because it may have been done; <code>later</code> after <code>Retry-After</code>.</p>\
        <table><tr><th>code<th>status<th>retry<th>meaning"
        .to_owned();
    for code in Code::EVERY {
        let facts = code.facts();
        let (word, status, retry, title) = (facts.word, facts.status, facts.retry.as_str(), facts.title);
        let row = format!("<tr id=\"{word}\"><td><code>{word}</code><td>{status}<td>{retry}<td>{title}");
        let _ = write!(page, "{row}"); // Writing to a `String` cannot fail.
    }
    page + "</table></html>"
}
