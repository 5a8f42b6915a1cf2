//! How long does it take to read the hot context of a live session, including the check for writes by another process?
//!
//! (a) Nothing changed since the last call. (b) A turn was recorded in another session since, so this session's version
//! is read again. (c) Another connection recorded a turn in this session, so its rows are read again. The write before
//! each call is not counted.
//!
//! Target: under 20 us. Plain alternative: the 5 newest rows with rusqlite, a kept connection and a prepared statement.
//! The file is small, because reading from memory does not depend on the size of the file (see benchmark `resume`).

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::time::Duration;

use criterion::Criterion;
use rusqlite::Connection;
use support::{
    Length, lengths, plain,
    rounds::{Plan, interleave, timed, timed_on},
    runtime, scratch,
    table::{Report, Target},
    text::Writer,
};
use tempfile::TempDir;
use thermocline::{Config, Durability, Session, Thermocline};
use tokio::runtime::Runtime;

const TARGET: Target = Target::Under(Duration::from_micros(20));

/// What changes the file between two calls.
#[derive(Clone, Copy)]
enum Between {
    Nothing,
    AnotherSession,
    AnotherConnection,
}

const QUESTIONS: [(&str, Between); 3] = [
    ("hot, nothing changed", Between::Nothing),
    ("hot, another session was recorded", Between::AnotherSession),
    ("hot, another connection wrote to this session", Between::AnotherConnection),
];

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700))
        .configure_from_args();
    let mut report = Report::with_usual_columns("hot");
    for length in lengths() {
        let mut talk = Talk::start(length);
        for (question, between) in QUESTIONS {
            let talk = std::cell::RefCell::new(&mut talk);
            let measured = interleave(
                Plan::by_pair(400),
                || talk.borrow_mut().look(between),
                || talk.borrow_mut().plain_look(between),
            );
            report.row(question, "small", length, &measured, TARGET);
        }
    }
    report.save();
    for length in lengths() {
        let mut talk = Talk::start(length);
        let mut group = criterion.benchmark_group(format!("hot/{}", length.name()));
        for (question, between) in QUESTIONS {
            group.bench_function(question, |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| talk.look(between)).sum());
            });
        }
        group.finish();
    }
    criterion.final_summary();
}

/// Two sessions in one file, and a second opening of the file, which stands for another process.
struct Talk {
    runtime: Runtime,
    writer: Writer,
    length: Length,
    session: Session,
    another_session: Session,
    from_elsewhere: Session,
    plain: Connection,
    plain_id: Vec<u8>,
    _folder: TempDir,
}

impl Talk {
    fn start(length: Length) -> Self {
        let folder = scratch();
        let path = folder.path().join("memory.db");
        let (runtime, mut writer) = (runtime(), Writer::new(1));
        // Only reading is timed. Full durability would only make the writes in between slower.
        let mut config = Config::default();
        config.worker = false;
        config.durability = Durability::Relaxed;
        let (session, another_session, from_elsewhere) = runtime.block_on(async {
            let memory = Thermocline::open_with(&path, config.clone()).await.unwrap();
            let elsewhere = Thermocline::open_with(&path, config).await.unwrap();
            let user = memory.user("alex").await.unwrap();
            let session = user.session_named("one").await.unwrap();
            let another_session = user.session_named("another").await.unwrap();
            for _ in 0..10 {
                session.record(writer.turn(length)).await.unwrap();
                another_session.record(writer.turn(length)).await.unwrap();
            }
            let user = elsewhere.find_user("alex").await.unwrap().unwrap();
            (session, another_session, user.session_named("one").await.unwrap())
        });
        let plain = plain::reader(&path);
        let plain_id = plain::session_id(&plain, "alex", "one");
        Self {
            runtime,
            writer,
            length,
            session,
            another_session,
            from_elsewhere,
            plain,
            plain_id,
            _folder: folder,
        }
    }

    fn look(&mut self, between: Between) -> Duration {
        self.write(between);
        timed_on(&self.runtime, self.session.hot())
    }

    fn plain_look(&mut self, between: Between) -> Duration {
        self.write(between);
        timed(|| plain::newest(&self.plain, &self.plain_id, 5))
    }

    fn write(&mut self, between: Between) {
        let session = match between {
            Between::Nothing => return,
            Between::AnotherSession => &self.another_session,
            Between::AnotherConnection => &self.from_elsewhere,
        };
        self.runtime.block_on(session.record(self.writer.turn(self.length))).unwrap();
    }
}
