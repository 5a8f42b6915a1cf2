//! An HTTP client that costs next to nothing, and a server process, for the benchmarks and the tests of the service.

use std::{
    fs, io,
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// An answer: the status, the head, and the whole body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

/// A connection that is kept for several requests.
pub struct Client {
    stream: TcpStream,
    read: Vec<u8>,
    request: String,
    /// Lines of headers in addition to those that every request has.
    pub headers: String,
}

impl Client {
    pub async fn connect(server: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::new(), request: String::new(), headers: String::new() })
    }

    /// Sends a request, and reads the whole answer. Errors: `UnexpectedEof` if the connection ended before the answer,
    /// `InvalidData` if the answer was cut off or has no status, and those of the socket.
    pub async fn ask(&mut self, method: &str, path: &str, body: &str) -> io::Result<Answer> {
        use std::fmt::Write as _;
        self.request.clear();
        write!(
            self.request,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{}\r\n{body}",
            body.len(),
            self.headers
        )
        .map_err(io::Error::other)?;
        self.stream.write_all(self.request.as_bytes()).await?;
        self.read.clear();
        let head_end = loop {
            if let Some(at) = self.read.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.read[..head_end]).to_ascii_lowercase();
        let status =
            head.get(9..12).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .and_then(|length| length.trim().parse().ok())
            .unwrap_or_default();
        while self.read.len() < head_end + length {
            self.more().await?;
        }
        Ok(Answer { status, head, body: self.read[head_end..head_end + length].to_vec() })
    }

    pub async fn post(&mut self, path: &str, body: &serde_json::Value) -> io::Result<Answer> {
        self.ask("POST", path, &body.to_string()).await
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 if self.read.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            0 => Err(io::ErrorKind::InvalidData.into()),
            _ => Ok(()),
        }
    }
}

/// The number of log files so far, which makes their names unique.
static LOGS: AtomicU32 = AtomicU32::new(0);

/// A process `thermocline serve` on a free port of the loopback address, killed when this is dropped. Its log is next to
/// the memory's file.
pub struct Server {
    pub process: Child,
    pub address: SocketAddr,
}

impl Server {
    pub fn start(db: &Path) -> Self {
        Self::start_with(db, &[])
    }

    pub fn start_with(db: &Path, args: &[&str]) -> Self {
        let path = db.with_extension(format!("{}.log", LOGS.fetch_add(1, Ordering::Relaxed)));
        let log = fs::File::create(&path).expect("the log is made");
        let mut process = Command::new(env!("CARGO_BIN_EXE_thermocline"))
            .arg("--db")
            .arg(db)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args)
            .env("XDG_CONFIG_HOME", db.with_extension("config"))
            .stdout(Stdio::null())
            .stderr(log.try_clone().expect("a handle"))
            .spawn()
            .expect("the binary starts");
        // The address is read from the log: a pipe would wake its reader for each line during the measurement.
        let address = loop {
            let said = fs::read_to_string(&path).expect("the log is text");
            let address = said.split_once("listening on http").and_then(|(_, said)| said.split_once('\n'));
            if let Some((address, _)) = address {
                let address = address.split_whitespace().next().and_then(|scheme| scheme.split_once("://"));
                break address.and_then(|(_, address)| address.parse().ok());
            }
            assert!(matches!(process.try_wait(), Ok(None)), "the server runs: {said}");
            thread::yield_now();
        };
        Self { process, address: address.expect("an address") }
    }

    /// Sends `SIGTERM`, as a service manager does.
    pub fn terminate(&self) {
        let sent = Command::new("kill").arg(self.process.id().to_string()).status().expect("kill runs");
        assert!(sent.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
