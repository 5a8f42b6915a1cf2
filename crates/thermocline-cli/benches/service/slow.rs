//! A thousand slow clients, which occupy connections of the server.

use std::{
    fs,
    net::SocketAddr,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time,
};

use crate::{
    client::{Client, Server},
    crowd_time, judged, percentile,
    support::{Length, is_test, scratch, table::Report, text::Writer},
};

const SLOW: usize = 1_000;
const OTHERS: usize = 8;

pub fn measure(report: &mut Report) {
    report.head(&["1,000 slow sockets", "figure", "target", "verdict"]);
    let folder = scratch();
    let file = folder.path().join("slow.db");
    {
        let memory = thermocline::blocking::Thermocline::open(&file).unwrap();
        let session = memory.user("alex").unwrap().session_named("talk").unwrap();
        let mut writer = Writer::new(3);
        for _ in 0..if is_test() { 5 } else { 200 } {
            session.record(writer.turn(Length::Long)).unwrap();
        }
        memory.close().unwrap();
    }
    let server = Server::start(&file);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // A run without slow clients comes first, because the server opens some handles only once, such as those of the
    // file's readers.
    let (mut alone, _) = runtime.block_on(crowd(server.address, 0, crowd_time() / 10));
    let before = handles(server.process.id());
    let (mut times, mut open_for) = runtime.block_on(crowd(server.address, SLOW, crowd_time()));
    let deadline = Instant::now() + Duration::from_secs(5);
    while handles(server.process.id()) > before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    let after = handles(server.process.id());
    let late = percentile(&mut times, 0.99);
    let longest = percentile(&mut open_for, 1.0);
    judged(
        report,
        "others' recall, p50 / p99 (without the slow ones)",
        format!(
            "{:.1?} / {late:.1?} ({:.1?} / {:.1?})",
            percentile(&mut times, 0.5),
            percentile(&mut alone, 0.5),
            percentile(&mut alone, 0.99)
        ),
        "p99 50ms",
        late <= Duration::from_millis(50),
    );
    judged(
        report,
        "a slow one stays open at most",
        format!("{longest:.1?}"),
        "20s",
        longest <= Duration::from_secs(20),
    );
    judged(
        report,
        "open handles, before and after",
        format!("{before}, {after}"),
        "as before",
        after <= before,
    );
}

async fn crowd(server: SocketAddr, slow: usize, span: Duration) -> (Vec<Duration>, Vec<Duration>) {
    let until = Instant::now() + span;
    let slow: Vec<_> = (0..slow)
        .map(|n| {
            tokio::spawn(async move {
                let mut longest = Duration::ZERO;
                while Instant::now() < until {
                    let opened = Instant::now();
                    let end = until + Duration::from_secs(25);
                    let _ = match n % 3 {
                        0 => dribble(server, "GET /health/live HTTP/1.1\r\nhost: localhost\r\nx-slow: ", end).await,
                        1 => dribble(server, "POST /v1/users/alex/recall HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{\"query\":\"", end).await,
                        _ => never_reads(server, end).await,
                    };
                    longest = longest.max(opened.elapsed());
                    if is_test() {
                        break;
                    }
                }
                longest
            })
        })
        .collect();
    let others: Vec<_> = (0..OTHERS).map(|n| tokio::spawn(recall(server, n as u64, until))).collect();
    let (mut times, mut open_for) = (Vec::new(), Vec::new());
    for other in others {
        times.extend(other.await.unwrap());
    }
    for slow in slow {
        if is_test() {
            slow.abort();
        } else {
            open_for.push(slow.await.unwrap());
        }
    }
    (times, open_for)
}

/// Sends the beginning of a request, and then one byte per second, until the server closes the connection or `end`.
async fn dribble(server: SocketAddr, begin: &str, end: Instant) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(begin.as_bytes()).await?;
    let mut byte = [0];
    while Instant::now() < end {
        stream.write_all(b"a").await?;
        if let Ok(read) = time::timeout(Duration::from_secs(1), stream.read(&mut byte)).await {
            // The server has answered, or closed the connection.
            if read? == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// Sends requests for large answers, and reads no answer, until the connection fails or `end`.
async fn never_reads(server: SocketAddr, end: Instant) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    let request = "GET /v1/users/alex/sessions/talk/turns?limit=200 HTTP/1.1\r\nhost: localhost\r\n\r\n";
    while Instant::now() < end {
        match time::timeout(Duration::from_secs(1), stream.write_all(request.as_bytes())).await {
            Ok(written) => written?,
            // The socket's own buffers are full, so only reading shows whether the connection is still open.
            Err(_) => {
                if stream.peer_addr().is_err() {
                    break;
                }
            }
        }
        time::sleep(Duration::from_millis(200)).await;
        if stream.take_error()?.is_some() {
            break;
        }
    }
    Ok(())
}

async fn recall(server: SocketAddr, seed: u64, until: Instant) -> Vec<Duration> {
    let mut writer = Writer::new(seed);
    let mut client = Client::connect(server).await.unwrap();
    let mut times = Vec::new();
    while Instant::now() < until {
        let started = Instant::now();
        let answer = client
            .post("/v1/users/alex/recall", &json!({ "query": writer.common_words().join(" ") }))
            .await
            .unwrap();
        times.push(started.elapsed());
        assert_eq!(answer.status, 200);
        time::sleep(Duration::from_millis(20)).await;
    }
    times
}

fn handles(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}
