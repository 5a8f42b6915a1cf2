//! JSON Lines as bodies of requests and responses. They may be too large for memory, so they are kept in a file that no
//! other process can open, and that disappears when its handle is closed.
//!
//! An export is written completely before its first byte is sent: a slow client must not hold one of the memory's readers,
//! because SQLite's write-ahead log grows without limit while a reader is held.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use http_body_util::channel::{Channel, Sender};
use tokio::{task::spawn_blocking, time};

use crate::{
    http::{answer, body},
    ops::{
        Result,
        problem::{Code, Problem},
    },
};

pub(super) const LINES: &str = "application/x-ndjson";
/// How many bytes are read or written at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Creates an empty file next to the memory's file, so that what was said stays on the disk that is trusted with it.
pub(super) fn file(memory: &Path) -> Result<File> {
    let folder = memory.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map_err(|error| failed(&error))
}

/// Refuses a body that is not lines or is too large, before it is read.
pub(super) fn check(headers: &HeaderMap, max_bytes: u64) -> Result<()> {
    body::check_kind(headers, LINES)?;
    if !headers.contains_key(header::CONTENT_TYPE) {
        return Err(body::unsupported(LINES));
    }
    body::check_length(headers, max_bytes)
}

/// A body that was written to a file, which is rewound.
pub(super) struct Received {
    pub(super) file: File,
    pub(super) bytes: u64,
}

/// Writes the request's body to the file, and rewinds the file.
pub(super) async fn receive(request: Request, mut file: File, max_bytes: u64) -> Result<Received> {
    let mut body = request.into_body();
    let (mut total, mut piece) = (0, Vec::new());
    loop {
        let bytes =
            time::timeout(body::BODY_TIMEOUT, body::next(&mut body)).await.map_err(|_| body::slow())??;
        let is_end = bytes.is_none();
        if let Some(bytes) = bytes {
            total += bytes.len() as u64;
            if total > max_bytes {
                return Err(body::too_large(max_bytes));
            }
            piece.extend_from_slice(&bytes);
        }
        if is_end || piece.len() >= PIECE_BYTES {
            (file, piece) = off_thread(move || {
                file.write_all(&piece)?;
                piece.clear();
                if is_end {
                    file.rewind()?;
                }
                Ok((file, piece))
            })
            .await?;
        }
        if is_end {
            return Ok(Received { file, bytes: total });
        }
    }
}

/// Returns a response that sends what an operation wrote to the file.
pub(super) async fn send(mut file: File) -> Result<Response> {
    let (file, len) = off_thread(move || {
        file.rewind()?;
        let len = file.metadata()?.len();
        Ok((file, len))
    })
    .await?;
    let (sender, body) = Channel::new(1);
    // The task ends when the client disconnects, because that closes the other end of the channel. A client that stops
    // reading is cut off.
    tokio::spawn(pieces(file, sender));
    let mut response = answer::document(StatusCode::OK, LINES, String::new());
    *response.body_mut() = Body::new(body);
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(len));
    Ok(response)
}

async fn pieces(mut file: File, mut sender: Sender<Bytes, io::Error>) {
    loop {
        let read = spawn_blocking(move || {
            let mut piece = Vec::new();
            let read = io::Read::by_ref(&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece);
            read.map(|_| (file, piece))
        });
        match read.await {
            Ok(Ok((rest, piece))) if !piece.is_empty() => {
                file = rest;
                if sender.send_data(piece.into()).await.is_err() {
                    return;
                }
            }
            // The client notices, because the response is shorter than its `Content-Length`.
            Ok(Err(error)) => return sender.abort(error),
            // The end of the file, or a panic in the thread that reads it.
            Ok(Ok(_)) | Err(_) => return,
        }
    }
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T> {
    let done = spawn_blocking(work).await.map_err(|_| Problem::unexpected(&"a thread panicked"))?;
    done.map_err(|error| failed(&error))
}

fn failed(error: &io::Error) -> Problem {
    Problem::new(Code::Io, format!("lines could not be spooled beside the memory: {}", error.kind()))
}
