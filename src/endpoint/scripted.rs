//! An HTTP endpoint on this machine that follows a test's script.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread::{self, JoinHandle},
};

/// What the endpoint does with one connection.
#[derive(Clone)]
pub(crate) enum ScriptedStep {
    /// Answers with this status and body.
    Answer(u16, String),
    /// Sends this head, and then spaces until the client stops accepting them.
    Endless(&'static str),
    /// Closes without an answer.
    Close,
    /// Reads the request, and stays silent until the client disconnects.
    Silence,
}

/// An answer with this status whose body repeats the key and the text, as some providers do.
pub(crate) fn status(status: u16) -> ScriptedStep {
    ScriptedStep::Answer(status, "{\"error\":\"sk-secret was wrong for: pottery\"}".to_owned())
}

/// An endpoint that takes one step per connection; its thread returns the requests that it received.
pub(crate) struct Scripted {
    pub(crate) url: String,
    pub(crate) thread: JoinHandle<Vec<String>>,
}

impl Scripted {
    pub(crate) fn new(steps: Vec<ScriptedStep>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serve = move || {
            steps
                .into_iter()
                .map(|step| serve_one(&listener.accept().unwrap().0, step))
                .collect::<Vec<String>>()
        };
        Self { url, thread: thread::spawn(serve) }
    }
}

fn serve_one(mut stream: &TcpStream, step: ScriptedStep) -> String {
    let request = read_request(stream);
    // The client may disconnect at any time, and some tests check that it does, so write errors are ignored.
    match step {
        ScriptedStep::Answer(status, body) => {
            let head =
                format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {}\r\nconnection: close", body.len());
            let location =
                if (300..400).contains(&status) { "\r\nlocation: http://127.0.0.1:9/v1" } else { "" };
            let _ = write!(stream, "{head}{location}\r\n\r\n{body}");
        }
        ScriptedStep::Endless(head) => {
            let _ = stream.write_all(head.as_bytes());
            while stream.write_all(&[b' '; 8_192]).is_ok() {}
        }
        ScriptedStep::Close => {}
        ScriptedStep::Silence => {
            let _ = stream.read(&mut [0; 1]);
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
    request
}

/// Reads a request's head and its body, whose length is in the content-length header.
fn read_request(mut stream: &TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        let read = stream.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let length = text
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
        let body = text.split_once("\r\n\r\n").map_or(0, |(_, body)| body.len());
        if read == 0 || (text.contains("\r\n\r\n") && body >= length.unwrap_or(0)) {
            return text;
        }
    }
}
