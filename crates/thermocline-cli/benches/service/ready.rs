//! The time from the start of the process until it answers that it is ready.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::{
    client::{Client, Server},
    percentile,
    support::{Length, corpus::Corpus, operations, runtime, scratch, sizes, table::Report},
};

const STARTS: usize = 20;

pub fn measure(report: &mut Report) {
    report.head(&["turns in the file", "ready, p50 / worst", "target", "verdict"]);
    for turns in sizes() {
        let corpus = Corpus::of(turns, Length::Short);
        let folder = scratch();
        let file = folder.path().join("ready.db");
        fs::copy(&corpus.path, &file).unwrap();
        let mut times: Vec<_> = (0..operations(STARTS))
            .map(|_| {
                let started = Instant::now();
                let server = Server::start(&file);
                runtime().block_on(async {
                    let mut client = Client::connect(server.address).await.unwrap();
                    // A disk that stalls makes a server ready later.
                    while client.ask("GET", "/health/ready", "").await.unwrap().status != 200 {
                        assert!(started.elapsed() < Duration::from_secs(10), "it is not ready");
                    }
                });
                started.elapsed()
            })
            .collect();
        let (median, worst) = (percentile(&mut times, 0.5), percentile(&mut times, 1.0));
        let verdict = if median < Duration::from_millis(50) { "met" } else { "missed" };
        report.line(&[
            corpus.size(),
            format!("{median:.1?} / {worst:.1?}"),
            "50ms".to_owned(),
            verdict.to_owned(),
        ]);
    }
}
