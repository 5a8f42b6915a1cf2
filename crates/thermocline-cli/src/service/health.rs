//! `thermocline health`: asks a server whether it is ready, for images that have no curl.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use clap::Args;
use serde_json::Value;

use crate::{
    exit::{Exit, Failure},
    output::Output,
};

/// How long the server may take for each step.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The server's address: http://HOST:PORT, HOST:PORT, or unix:PATH.
    #[arg(default_value = "127.0.0.1:7411", env = "THERMOCLINE_SERVICE_LISTEN", value_name = "ADDRESS")]
    address: String,
}

pub(crate) fn run(args: &HealthArgs, out: &Output) -> Result<(), Failure> {
    let answer = ask(&args.address).map_err(|error| {
        Failure::caused(Exit::TryAgain, format!("{} does not answer", args.address), error)
    })?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let said: Value = serde_json::from_str(body.trim())
        .map_err(|_| Failure::new(Exit::TryAgain, format!("{} is no thermocline", args.address)))?;
    if head.starts_with("HTTP/1.1 200") {
        return out.answer(&said, |_| "ready\n".to_owned());
    }
    let reasons = said["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Err(Failure::new(Exit::Unhealthy, format!("not ready: {}", reasons.collect::<Vec<_>>().join(", "))))
}

fn ask(address: &str) -> io::Result<String> {
    #[cfg(unix)]
    if let Some(path) = address.strip_prefix("unix:") {
        let stream = std::os::unix::net::UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        return talk(stream);
    }
    if address.starts_with("https:") {
        let why = "this asks without TLS; ask a server behind it with curl";
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let address = address.to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    talk(stream)
}

fn talk(mut stream: impl Read + Write) -> io::Result<String> {
    stream.write_all(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(64 << 10).read_to_string(&mut answer)?;
    Ok(answer)
}
