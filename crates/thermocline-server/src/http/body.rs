//! Request bodies: reads JSON, within limits on size and time.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, header},
};
use http_body_util::BodyExt;
use serde_json::{Map, Value};
use tokio::time;

use crate::{
    bodies::BodyRoom,
    caller::Caller,
    http::{connections::Connection, json},
    limits::{self, Limits},
    ops::{
        Result,
        problem::{Code, Problem},
    },
};

pub(super) const JSON: &str = "application/json";
/// The time limit for a whole JSON body, and for each part of a body of lines.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of bytes that are read from a refused body, so that its sender learns why it was refused.
const DRAIN_BYTES: usize = 1 << 20;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Refuses other content types than JSON, and bodies whose declared length is too large, before reading the body.
pub(super) fn check(headers: &HeaderMap, max_bytes: usize) -> Result<()> {
    check_kind(headers, JSON)?;
    check_length(headers, max_bytes as u64)
}

/// Reads the body, a JSON object, and returns its fields and the room that its bytes take.
pub(super) async fn fields(
    request: Request,
    max_bytes: usize,
    limits: &Limits,
    caller: &Caller,
) -> Result<(Map<String, Value>, BodyRoom)> {
    let has_kind = request.headers().contains_key(header::CONTENT_TYPE);
    let (bytes, room) = bytes(request.into_body(), max_bytes, limits, caller).await?;
    if bytes.is_empty() {
        return Ok((Map::new(), room));
    }
    if !has_kind {
        return Err(unsupported(JSON));
    }
    Ok((json::object(&bytes)?, room))
}

/// Reads the body, and returns its bytes and the room that they take.
pub(super) async fn bytes(
    body: Body,
    max_bytes: usize,
    limits: &Limits,
    caller: &Caller,
) -> Result<(Vec<u8>, BodyRoom)> {
    let mut room = limits.body(caller);
    let reading = time::timeout(BODY_TIMEOUT, whole(body, max_bytes, &mut room)).await;
    // What was read counts, whatever becomes of it.
    limits.count_bytes(caller, room.bytes() as u64);
    Ok((reading.map_err(|_| slow())??, room))
}

/// Refuses compressed bodies, and content types other than `expected`. The form of a foreign page cannot send JSON.
pub(super) fn check_kind(headers: &HeaderMap, expected: &'static str) -> Result<()> {
    let is_plain = |value: &str| value.eq_ignore_ascii_case("identity");
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    if !encodings.iter().all(|value| value.to_str().is_ok_and(is_plain)) {
        return Err(Problem::new(
            Code::UnsupportedMedia,
            "compressed bodies are not accepted: leave out Content-Encoding",
        ));
    }
    let is_expected =
        |value: &str| value.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected));
    let kinds = headers.get_all(header::CONTENT_TYPE);
    if !kinds.iter().all(|value| value.to_str().is_ok_and(is_expected)) {
        return Err(unsupported(expected));
    }
    Ok(())
}

pub(super) fn unsupported(expected: &str) -> Problem {
    Problem::new(Code::UnsupportedMedia, format!("send the body with Content-Type: {expected}"))
}

pub(super) fn check_length(headers: &HeaderMap, max_bytes: u64) -> Result<()> {
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > max_bytes) { Err(too_large(max_bytes)) } else { Ok(()) }
}

pub(super) fn too_large(max_bytes: u64) -> Problem {
    Problem::new(Code::TooLarge, format!("a body may have at most {max_bytes} bytes here"))
}

pub(super) fn slow() -> Problem {
    Problem::new(Code::SlowBody, format!("the body did not arrive within {} s", BODY_TIMEOUT.as_secs()))
}

/// Returns the next bytes of a body; `None` at its end.
pub(super) async fn next(body: &mut Body) -> Result<Option<axum::body::Bytes>> {
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Problem::bad_request("the body ended early, or is not as long as it says"))?;
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

async fn whole(mut body: Body, max_bytes: usize, room: &mut BodyRoom) -> Result<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(bytes) = next(&mut body).await? {
        if whole.len() + bytes.len() > max_bytes {
            return Err(too_large(max_bytes as u64));
        }
        limits::grow(room, bytes.len())?;
        whole.extend_from_slice(&bytes);
    }
    Ok(whole)
}

/// Reads and discards the body of a refused request, within limits. If more is left, the connection is closed, so that
/// the rest is never taken for the next request.
pub(super) async fn drain(request: Request) {
    // A client that waits for `100 Continue` has sent nothing.
    if request.headers().contains_key(header::EXPECT) {
        return;
    }
    // Whoever is refused cannot keep a place by sending the body slowly.
    if let Some(connection) = request.extensions().get::<Arc<Connection>>() {
        connection.wait();
        if connection.is_last() {
            return;
        }
    }
    let mut body = request.into_body();
    let draining = async {
        let mut drained = 0;
        while let Ok(Some(bytes)) = next(&mut body).await {
            drained += bytes.len();
            if drained > DRAIN_BYTES {
                break;
            }
        }
    };
    let _ = time::timeout(DRAIN_TIMEOUT, draining).await;
}
