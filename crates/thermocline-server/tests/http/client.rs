//! An HTTP/1.1 client that writes plain bytes, so that no HTTP library corrects what a test sends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// A connection to the server.
pub struct Client {
    stream: BufReader<TcpStream>,
}

/// A response of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a request, and reads the answer. Adds `Host`, and for a body `Content-Length`, unless the headers contain them.
    /// A header with the value `-` is not sent.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let has = |name: &str| headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
        if !has("host") {
            head += "Host: localhost\r\n";
        }
        if !body.is_empty() && !has("content-length") && !has("transfer-encoding") {
            head = format!("{head}Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers.iter().filter(|(_, value)| *value != "-") {
            head = format!("{head}{name}: {value}\r\n");
        }
        self.write(format!("{head}\r\n").as_bytes());
        self.write(body);
        self.answer(method == "HEAD")
    }

    /// Writes as much as the server accepts: after a refusal, the server may have stopped reading.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes);
    }

    pub fn answer(&mut self, is_head: bool) -> Answer {
        self.try_answer(is_head).expect("an answer")
    }

    /// Reads the next answer; `None` if the connection has ended or cannot be read.
    pub fn try_answer(&mut self, is_head: bool) -> Option<Answer> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let status: u16 = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).ok()?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
                None => break,
            }
        }
        if status == 100 {
            return self.try_answer(is_head);
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        if !is_head && status != 204 && status != 304 {
            answer.body = self.body(&answer);
        }
        Some(answer)
    }

    fn body(&mut self, answer: &Answer) -> Vec<u8> {
        let mut body = Vec::new();
        if let Some(len) = answer.header("content-length") {
            body.resize(len.parse().unwrap(), 0);
            self.stream.read_exact(&mut body).unwrap();
            return body;
        }
        assert_eq!(answer.header("transfer-encoding"), Some("chunked"), "{answer:?}");
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let len = usize::from_str_radix(line.trim(), 16).unwrap();
            let at = body.len();
            body.resize(at + len, 0);
            self.stream.read_exact(&mut body[at..]).unwrap();
            self.stream.read_exact(&mut [0; 2]).unwrap();
            if len == 0 {
                return body;
            }
        }
    }

    /// Tries to read a byte. Returns true if none comes: the server has closed the connection, or is silent.
    pub fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the code of a problem. Panics if the answer is not a problem.
    #[track_caller]
    pub fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let said = self.json();
        assert_eq!(said["status"], self.status, "{said}");
        assert_eq!(said["instance"].as_str(), self.header("x-request-id"), "{said}");
        assert_eq!(said["type"], format!("/errors#{}", said["code"].as_str().unwrap()), "{said}");
        said["code"].as_str().unwrap().to_owned()
    }
}
