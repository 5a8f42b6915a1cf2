//! Connections that send nothing: whoever can connect, with no key, keeps nobody else out.
#![expect(clippy::print_stdout, reason = "the figures of the whole size are for who asks for it")]

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::net::UnixStream,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use thermocline_server::{http::Address, service::Service};
use tokio::time::Instant;

use crate::fixture::{Running, Setup, TURN, eventually, whole_key};

/// The limit on connections, and four times as many sockets, unless the variable asks for the whole size.
fn sizes() -> (usize, usize) {
    if std::env::var_os("THERMOCLINE_WHOLE_SIZE").is_some() { (1_024, 4_096) } else { (128, 512) }
}

fn limited(limit: usize) -> Setup {
    Setup {
        change: Box::new(move |service: &mut Service| service.limits.connections = limit),
        ..Setup::default()
    }
}

fn address(server: &Running) -> SocketAddr {
    let Address::Tcp(address) = server.address else { panic!("a server on TCP") };
    address
}

/// Half of a head.
const HALF: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: a";

/// A connection that sends half of a head, and never waits for the server.
trait HalfOpen: Read + Sized {
    type To;
    fn open(to: &Self::To) -> Option<Self>;

    fn is_open(&mut self) -> bool {
        matches!(self.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

impl HalfOpen for TcpStream {
    type To = SocketAddr;

    fn open(to: &SocketAddr) -> Option<Self> {
        let mut stream = Self::connect_timeout(to, Duration::from_secs(10)).ok()?;
        stream.write_all(HALF).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    }
}

impl HalfOpen for UnixStream {
    type To = PathBuf;

    fn open(to: &Self::To) -> Option<Self> {
        let mut stream = Self::connect(to).ok()?;
        stream.write_all(HALF).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    }
}

/// Where the process of [`besieged`] connects to, and with how many connections: `127.0.0.1:80 512`, `unix:/path 512`.
const BESIEGED: &str = "THERMOCLINE_BESIEGED";
/// What that process says once it has opened all of them.
const ALL_ARE_OPEN: &str = "all are open";

/// Keeps this many half-open connections, and opens each again when it is closed, while `work` runs. They are another
/// process's, so that `work` measures the server and not who besieges it.
fn besieged(to: &str, count: usize, work: impl FnOnce()) {
    let mut besieger = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "connections::half_open_connections_for_another_process",
            "--ignored",
            "--nocapture",
        ])
        .env(BESIEGED, format!("{to} {count}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut says = BufReader::new(besieger.stdout.take().unwrap()).lines();
    let worked = catch_unwind(AssertUnwindSafe(|| {
        assert!(says.any(|line| line.unwrap().contains(ALL_ARE_OPEN)), "it ended too early");
        work();
    }));
    besieger.kill().unwrap();
    besieger.wait().unwrap();
    worked.unwrap_or_else(|panic| resume_unwind(panic));
}

#[test]
#[ignore = "a part of other tests, which run it as another process"]
fn half_open_connections_for_another_process() {
    let Ok(besieged) = std::env::var(BESIEGED) else { return };
    let (to, count) = besieged.rsplit_once(' ').unwrap();
    let count = count.parse().unwrap();
    match to.strip_prefix("unix:") {
        Some(path) => besiege::<UnixStream>(&PathBuf::from(path), count),
        None => besiege::<TcpStream>(&to.parse().unwrap(), count),
    }
}

/// Opens half-open connections until none can be opened.
fn besiege<S: HalfOpen>(to: &S::To, count: usize) {
    let mut sockets: Vec<Option<S>> = Vec::new();
    sockets.resize_with(count, || None);
    for round in 0_u64.. {
        for socket in &mut sockets {
            if !socket.as_mut().is_some_and(S::is_open) {
                *socket = S::open(to);
            }
        }
        if sockets.iter().all(Option::is_none) {
            return; // The server has ended.
        }
        if round == 0 {
            println!("{ALL_ARE_OPEN}");
        }
    }
}

/// Asks again, as clients do, if the connection was closed before the request had arrived: on a machine that is busy enough, a
/// client may take long between the two.
fn persistent(mut ask: impl FnMut() -> Option<u16>) -> u16 {
    (0..5).find_map(|_| ask()).expect("an answer to one of five requests")
}

fn status(server: &Running, method: &str, path: &str, body: &[u8]) -> Option<u16> {
    let mut client = server.client();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.write(&[head.as_bytes(), body].concat());
    Some(client.try_answer(false)?.status)
}

#[test]
fn four_times_as_many_half_open_connections_as_there_are_places_keep_nobody_out() {
    let (limit, sockets) = sizes();
    let server = limited(limit).start();
    besieged(&address(&server).to_string(), sockets, || {
        let mut took = Vec::new();
        for round in 0..100 {
            let begun = Instant::now();
            assert_eq!(persistent(|| status(&server, "GET", "/health/live", b"")), 200);
            took.push(begun.elapsed());
            if round % 10 == 0 {
                let recorded =
                    persistent(|| status(&server, "POST", "/v1/users/alex/turns", TURN.as_bytes()));
                assert_eq!(recorded, 201);
            }
        }
        took.sort();
        println!("probes: median {:?}, p99 {:?}, most {:?}", took[49], took[98], took[99]);
        // Far more than it takes, and far less than to wait until a head's time is over.
        assert!(took[98] < Duration::from_secs(2), "{took:?}");
    });
}

#[test]
fn half_open_connections_to_a_unix_socket_keep_nobody_out() {
    let (limit, sockets) = sizes();
    let mut setup = limited(limit);
    let path = setup.path("socket");
    setup.settings.listen = format!("unix:{}", path.display());
    let _server = setup.start();
    besieged(&format!("unix:{}", path.display()), sockets, || {
        for _ in 0..20 {
            let status = persistent(|| {
                let mut stream = UnixStream::connect(&path).ok()?;
                stream
                    .write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    .ok()?;
                let mut answer = String::new();
                stream.read_to_string(&mut answer).ok()?;
                answer.get(9..12)?.parse().ok()
            });
            assert_eq!(status, 200);
        }
    });
}

#[test]
fn if_every_place_is_busy_health_is_answered_and_other_requests_are_told_to_come_again() {
    let server = limited(4).start();
    let head = "POST /v1/users/alex/turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 90\r\nExpect: 100-continue\r\n\r\n";
    let mut busy: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = TcpStream::connect(address(&server)).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            // Says that the server now waits for the body.
            stream.read_exact(&mut [0; 25]).unwrap();
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(server.get("/health/live").status, 200);
        assert_eq!(server.get("/health/ready").status, 200);
    }
    let mut client = server.client();
    let answer = client.send("GET", "/v1/users/alex/sessions", &[], b"");
    assert_eq!((answer.status, answer.code().as_str()), (503, "busy"));
    assert_eq!((answer.header("retry-after"), answer.header("connection")), (Some("1"), Some("close")));
    assert!(client.is_closed());
    busy.pop();
    eventually("a place is free again", || server.get("/v1/users/alex/sessions").status != 503);
}

#[test]
fn a_key_whose_bodies_never_come_has_half_of_the_connections_and_keeps_no_other_key_out() {
    let (setup, [stalling, other]) = limited(8).keys([whole_key(), whole_key()]);
    let server = setup.start();
    let stall = |path: &str, kind: &str| {
        let mut stream = TcpStream::connect(address(&server)).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {stalling}\r\nContent-Type: {kind}\r\n\
             Content-Length: 7000000\r\nExpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut says = [0; 12];
        stream.read_exact(&mut says).unwrap();
        (stream, String::from_utf8(says.into()).unwrap())
    };
    let (json, lines) = ("application/json", "application/x-ndjson");
    let requests = [
        ("/v1/users/alex/turns", json),
        ("/v1/users/alex/import", lines),
        ("/mcp/users/alex", json),
        ("/v1/users/alex/recall", json),
    ];
    let stalled = requests.map(|(path, kind)| stall(path, kind));
    assert!(stalled.iter().all(|(_, says)| says == "HTTP/1.1 100"), "{stalled:?}");
    for (path, kind) in requests.into_iter().cycle().take(20) {
        let (mut stream, says) = stall(path, kind);
        assert_eq!(says, "HTTP/1.1 503", "{path}");
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert!(rest.contains(r#""busy""#), "and the connection ends: {rest}");
    }
    let record = |key: &str| {
        let headers = [("x-api-key", key), ("content-type", json)];
        server.client().send("POST", "/v1/users/alex/turns", &headers, TURN.as_bytes()).status
    };
    assert_eq!((record(&other), record(&stalling)), (201, 503));
    drop(stalled);
    eventually("the key has connections again", || record(&stalling) == 201);
}

#[test]
fn a_refused_request_whose_body_never_comes_keeps_no_place() {
    let server = limited(4).start();
    let head = "POST /v1/users/alex/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n";
    let _slow: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = TcpStream::connect(address(&server)).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    for _ in 0..4 {
        eventually("answered", || server.post("/v1/users/alex/turns", TURN).status == 201);
    }
}
