//! The log line of a request. It is written once the response is sent, or the first part of a streamed one, because the
//! client need not wait for the line.

use std::cell::Cell;

use axum::{
    body::HttpBody,
    extract::{MatchedPath, Request},
    http::Method,
    response::Response,
};
use tokio::{task_local, time::Instant};
use tracing::Span;

task_local! {
    /// The line of the connection's newest response, until the response is sent.
    static UNWRITTEN: Cell<Option<LogLine>>;
}

/// The line of one request, which is written when this value is dropped.
pub(super) struct LogLine {
    span: Span,
    method: Method,
    /// The route's template and never the path, because paths contain users' names. `None` if there is no such route.
    route: Option<MatchedPath>,
    begun: Instant,
    /// `None` if there was no response, because the client hung up or the server ended.
    answered: Option<Answered>,
}

struct Answered {
    status: u16,
    micros: u64,
    /// The size of the body. `None` if it is not known beforehand.
    bytes: Option<u64>,
}

impl LogLine {
    /// Begins the line of a request, in which the span has its id, operation, key and user.
    pub(super) fn begin(request: &Request, span: Span) -> Self {
        let (method, route) = (request.method().clone(), request.extensions().get().cloned());
        Self { span, method, route, begun: Instant::now(), answered: None }
    }

    /// Completes the line, which is written after the response is sent.
    pub(super) fn answer(mut self, response: &Response) {
        self.answered = Some(Answered {
            status: response.status().as_u16(),
            micros: self.micros(),
            bytes: response.body().size_hint().exact(),
        });
        // Without a connection, as in tests of the router alone, the line is dropped, and so written, at once.
        let _ = UNWRITTEN.try_with(|unwritten| unwritten.set(Some(self)));
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let _entered = self.span.enter();
        let (method, route) = (&self.method, self.route.as_ref().map_or("unknown", MatchedPath::as_str));
        let Some(Answered { status, micros, bytes }) = &self.answered else {
            tracing::info!(surface = "http", %method, route, micros = self.micros(), "not answered");
            return;
        };
        tracing::info!(surface = "http", %method, route, status, micros, bytes, "answered");
    }
}

/// Runs a connection, whose responses are followed by their log lines.
pub(super) async fn on<C: Future>(connection: C) -> C::Output {
    UNWRITTEN.scope(Cell::new(None), connection).await
}

/// Writes the line of the response that the connection has sent, if it has not been written yet.
pub(super) fn sent() {
    let _ = UNWRITTEN.try_with(|unwritten| drop(unwritten.take()));
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use axum::body::Body;

    use super::*;

    /// What was logged so far.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Log {
        fn has(&self, words: &str) -> bool {
            String::from_utf8_lossy(&self.0.lock().unwrap()).contains(words)
        }
    }

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn line() -> LogLine {
        LogLine::begin(&Request::new(Body::empty()), tracing::info_span!("request"))
    }

    #[tokio::test]
    async fn a_line_follows_its_response_and_a_request_without_one_has_a_line_too() {
        let log = Log::default();
        let to = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || to.clone()).finish();
        let _here = tracing::subscriber::set_default(subscriber);
        on(async {
            line().answer(&Response::new(Body::from("{}")));
            assert!(!log.has("answered"));
            sent();
            assert!(log.has("status=200") && log.has("bytes=2"));
            drop(line());
            assert!(log.has("not answered"));
            line().answer(&Response::builder().status(404).body(Body::empty()).unwrap());
        })
        .await;
        assert!(log.has("status=404"), "a line is written at the latest when the connection ends");
    }
}
