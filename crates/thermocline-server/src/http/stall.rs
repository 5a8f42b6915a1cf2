//! A connection that is closed if its client stops reading, so that it does not count towards the limit on connections for
//! ever.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

use crate::http::log_line;

/// How long a client may read nothing while data waits for it.
const STALL: Duration = Duration::from_secs(15);

/// A stream that can be read and written.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A stream that fails if a write makes no progress for 15 s.
pub(super) struct Unstalled {
    stream: Box<dyn Stream>,
    /// The timer, which runs while a write waits for the client.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Unstalled {
    pub(super) fn new(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), waiting: None }
    }

    /// Returns the result of a write or a flush, or an error if it has waited too long.
    fn watched<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(STALL)));
        ready!(waiting.as_mut().poll(context));
        waiting.as_mut().reset(Instant::now() + STALL);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Unstalled {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Unstalled {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watched(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Flushing a plain socket never waits, so it tells nothing about the client; flushing a TLS session writes the
        // remaining data.
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        if polled.is_ready() {
            log_line::sent();
            return polled;
        }
        self.watched(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watched(polled, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_for_15_seconds_is_cut_off() {
        let (client, server) = duplex(64);
        let begun = Instant::now();
        let error = Unstalled::new(server).write_all(&[0; 1_000]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed().as_secs()), (io::ErrorKind::TimedOut, 15));
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_is_served() {
        let (mut client, server) = duplex(64);
        let writing = tokio::spawn(async move { Unstalled::new(server).write_all(&[7; 640]).await });
        let mut read = Vec::new();
        while read.len() < 640 {
            sleep(Duration::from_secs(10)).await;
            let mut some = [0; 64];
            let len = client.read(&mut some).await.unwrap();
            read.extend_from_slice(&some[..len]);
        }
        writing.await.unwrap().unwrap();
        assert_eq!(read, [7; 640]);
    }
}
