//! The accept loop, with its limits on connections and request heads, and the shutdown.

use std::{
    convert::Infallible, fmt, future::Future, io, net::SocketAddr, path::PathBuf, pin::pin, sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    http::{HeaderValue, header},
};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixSocket};
use tokio::{
    net::{TcpListener, TcpSocket},
    time,
};

use crate::{
    handles,
    http::{
        Http,
        connections::{self, Admission, ConnectionPlace, Connections},
        log_line, route,
        stall::Unstalled,
    },
    tls::Tls,
};

/// How many connections the system queues until they are accepted, if it lets a socket have that many. A client that finds
/// the queue full tries again only after a second.
const BACKLOG: u32 = 4_096;
/// How long a client may take to send a request head, and how long a kept connection may be idle: hyper has one timer for
/// both.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// The same for a connection that begins while more than half of the places are taken.
const CROWDED_HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long nothing is accepted after the system could not: the process has no file handle left, for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
/// How long a TLS handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1_024;
/// How long a newly accepted connection may still send a request after shutdown begins. hyper closes idle connections at
/// once, so a request that was sent at the moment of the signal would be lost.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// How long running requests may take to finish during shutdown.
const DRAIN: Duration = Duration::from_secs(10);

/// A listening socket, with TLS if it is configured.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    tls: Option<Tls>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
}

/// The address of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Listener {
    /// Listens on the first of these addresses that is available.
    pub fn tcp(addresses: &[SocketAddr], tls: Option<Tls>) -> io::Result<Self> {
        let mut bound = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in addresses {
            bound = bound_to(*address);
            if bound.is_ok() {
                break;
            }
        }
        Ok(Self { socket: Socket::Tcp(bound?), tls })
    }

    /// Listens on a Unix socket that only its owner can access. A stale socket without a listener is replaced.
    #[cfg(unix)]
    pub fn unix(path: PathBuf) -> io::Result<Self> {
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "another server is already listening there",
            ));
        }
        if std::fs::symlink_metadata(&path).is_ok_and(|about| is_socket(&about)) {
            std::fs::remove_file(&path)?;
        }
        let listener = bound(&path)?.listen(BACKLOG)?;
        Ok(Self { socket: Socket::Unix(listener, path), tls: None })
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> io::Result<Address> {
        Ok(match &self.socket {
            Socket::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            #[cfg(unix)]
            Socket::Unix(_, path) => Address::Unix(path.clone()),
        })
    }

    async fn accept(&self) -> io::Result<Accepted> {
        Ok(match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Responses are small and complete; waiting for more data to send would cost 40 ms.
                let _ = stream.set_nodelay(true);
                Accepted::Tcp(stream, peer)
            }
            #[cfg(unix)]
            Socket::Unix(listener, _) => Accepted::Unix(listener.accept().await?.0),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Socket::Unix(_, path) = &self.socket {
            // On failure the socket stays, and the next server replaces it.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn bound_to(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that starts again need not wait until the system has forgotten the connections of the one before.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Binds a socket to a path, with access for its owner only. Nobody can connect to it until it listens, so nobody can
/// connect while it still has the mode that the umask gave it.
#[cfg(unix)]
fn bound(path: &std::path::Path) -> io::Result<UnixSocket> {
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(socket)
}

#[cfg(unix)]
fn is_socket(about: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&about.file_type())
}

enum Accepted {
    Tcp(tokio::net::TcpStream, SocketAddr),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

impl Accepted {
    /// Returns the address of the other end; `None` for a Unix socket.
    fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(_, peer) => Some(*peer),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }

    /// Returns the connection's stream, after the TLS handshake if TLS is configured; `None` if the handshake fails.
    async fn stream(self, tls: Option<Tls>) -> Option<Unstalled> {
        match (self, tls) {
            (Self::Tcp(stream, _), None) => Some(Unstalled::new(stream)),
            (Self::Tcp(stream, _), Some(tls)) => {
                let agreed = time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await;
                Some(Unstalled::new(agreed.ok()?.ok()?))
            }
            #[cfg(unix)]
            (Self::Unix(stream), _) => Some(Unstalled::new(stream)),
        }
    }
}

/// Serves until `end` completes, then gives running requests 10 s to finish.
pub async fn serve(http: Arc<Http>, listener: Listener, end: impl Future<Output = ()>) {
    let health = Arc::clone(&http.health);
    let metrics = Arc::clone(&http.service.metrics);
    let connections = Arc::new(Connections::new(http.service.limits.connections));
    let is_behind_proxy = http.is_behind_proxy;
    let router = route::router(http);
    let graceful = GracefulShutdown::new();
    let tls = listener.tls.clone();
    let welcome = async |accepted: Accepted| {
        let peer = accepted.peer().filter(|_| !is_behind_proxy);
        let counted_as = peer.and_then(|peer| connections::counted_as(peer.ip()));
        let place = loop {
            match connections.admit(counted_as) {
                Admission::Place(place) => break place,
                Admission::After(wait) => time::sleep(wait).await,
                Admission::Refused => return,
            }
        };
        let head_timeout = if connections.is_crowded() { CROWDED_HEAD_TIMEOUT } else { HEAD_TIMEOUT };
        let (router, watcher, tls) = (router.clone(), graceful.watcher(), tls.clone());
        let counted = metrics.connection();
        tokio::spawn(async move {
            let speaking = async {
                if let Some(stream) = accepted.stream(tls).await {
                    speak(stream, router, &place, head_timeout, watcher).await;
                }
            };
            // Polled in this order, so that a head that has arrived is read before the connection is closed.
            tokio::select! {
                biased;
                () = speaking => {}
                () = place.connection.closed() => {}
            }
            drop((place, counted));
        });
    };
    let mut end = pin!(async {
        end.await;
        health.close();
        // Clients that have connected but are not accepted yet would be cut off, so they are still accepted for a moment.
        time::sleep(LAST_WORDS).await;
    });
    loop {
        let accepted = tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(accepted) => welcome(accepted).await,
            Err(error) if is_of_one_client(&error) => {}
            Err(error) => {
                if handles::is_short_of(&error) {
                    connections.close_longest();
                }
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // Accepts the connections that still wait in the system's queue. With a zero timeout, it does not wait for new ones.
    while let Ok(Ok(accepted)) = time::timeout(Duration::ZERO, listener.accept()).await {
        welcome(accepted).await;
    }
    drop(listener);
    time::sleep(LAST_WORDS).await;
    let _ = time::timeout(DRAIN, graceful.shutdown()).await;
}

/// Whether a connection could not be accepted because its client has left, so that the next one can be accepted at once.
fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn speak(
    stream: Unstalled,
    router: Router,
    place: &ConnectionPlace,
    head_timeout: Duration,
    watcher: Watcher,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        let connection = Arc::clone(&place.connection);
        request.extensions_mut().insert(Arc::clone(&connection));
        let busy = connection.begin();
        let answer = router.call(request);
        async move {
            let mut answer = answer.await?;
            if connection.is_last() {
                answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer.map(|body| connections::busy_until_end(body, busy)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // A client that disconnects is not an error of the server.
    let _ = log_line::on(watcher.watch(connection)).await;
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs,
        os::unix::{fs::PermissionsExt, net::UnixStream},
    };

    use super::*;

    #[tokio::test]
    async fn nobody_can_connect_to_a_unix_socket_before_it_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = bound(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(UnixStream::connect(&path).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let _listener = socket.listen(BACKLOG).unwrap();
        UnixStream::connect(&path).unwrap();
    }
}
