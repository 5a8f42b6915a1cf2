//! The accept loop: how many connections, how long a head may take, and how it all ends.

use std::{future::Future, io, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, time};

use crate::http::{Http, route};

/// Connections at most; more wait to be accepted.
const MAX_CONNECTIONS: usize = 1_024;
/// How long a head may take, and a kept connection may be silent: hyper has one clock for both.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Bytes of a head at most.
const MAX_HEAD_BYTES: usize = 16 * 1_024;
/// How long a connection that was just accepted has to speak once the end has come: hyper closes silent ones at once, and a
/// request that raced the signal would be lost.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// How long what runs may take to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Answers until `end` comes, then lets what runs finish.
pub async fn serve(http: Arc<Http>, listener: TcpListener, end: impl Future<Output = ()>) -> io::Result<()> {
    let router = route::router(http);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut end = pin!(end);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            () = &mut end => break,
            accepted = async { (place.await, listener.accept().await) } => accepted,
        };
        let (Ok(place), Ok((stream, _))) = accepted else {
            // No handle is left, say: others give theirs back.
            time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Answers are small and whole; waiting for more to send costs 40 ms.
        let _ = stream.set_nodelay(true);
        let connection = graceful.watch(connection(&router, stream));
        tokio::spawn(async move {
            // A client that breaks off is its own business.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    time::sleep(LAST_WORDS).await;
    let _ = time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

fn connection(
    router: &Router,
    stream: tokio::net::TcpStream,
) -> http1::Connection<TokioIo<tokio::net::TcpStream>, TowerToHyperService<Router>> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()))
}
