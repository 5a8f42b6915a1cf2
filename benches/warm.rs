//! How long does it take to load a session's warm tier, and to search the session by words?
//!
//! Measured on random sessions of 50 turns in the file, none of them in memory (`live_sessions = 1`), so that the hot
//! tier is read as well; and on one session of 10,000 turns. A search is for 3 words and returns the best 8 turns: once
//! for common words, and once for names that hardly any turn contains. The file is in the operating system's cache; for
//! "first touch", it is dropped from there before each operation, as after a restart.
//!
//! Target: under 2 ms at 1,000,000 turns. Plain alternatives, with rusqlite: the 50 newest rows of the session; and the 8
//! newest rows with `LIKE '%word%'` for any of the 3 words, which ranks nothing, and so stops early if words are common.
//! With long turns, the warm tier shows the newest turns within 15,000 tokens, about 15; the plain alternative still
//! reads 50.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::time::Duration;

use rusqlite::Connection;
use support::{
    corpus::{Corpus, forget_pages},
    is_test, lengths, plain,
    rounds::{Plan, interleave, timed, timed_on},
    runtime, sizes,
    table::{Report, Target},
    text::{Rng, Writer},
};
use thermocline::Thermocline;
use tokio::runtime::Runtime;

const TARGET: Target = Target::Under(Duration::from_millis(2));

/// The number of turns of the long session.
const LONG_SESSION: usize = 10_000;

fn main() {
    let mut report = Report::with_usual_columns("warm");
    for (size, length) in sizes().into_iter().flat_map(|size| lengths().into_iter().map(move |l| (size, l))) {
        measure(&Corpus::of(size, length), "", 400, TARGET, &mut report);
    }
    for length in lengths() {
        let corpus = Corpus::one_session(if is_test() { 60 } else { LONG_SESSION }, length);
        measure(&corpus, ", all in one session", 40, Target::None, &mut report);
    }
    report.save();
}

fn measure(corpus: &Corpus, of_what: &str, operations: usize, target: Target, report: &mut Report) {
    let runtime = runtime();
    let at = Place {
        corpus,
        memory: runtime.block_on(corpus.open_forgetful()),
        conn: plain::reader(&corpus.path),
        runtime,
    };
    let (mut a, mut b) = (Rng::new(1), Rng::new(2));
    let measured = interleave(Plan::by_round(operations), || at.warm(&mut a), || at.plain_warm(&mut b));
    report.row(&format!("warm{of_what}"), &corpus.size(), corpus.length, &measured, target);

    let searches: [(&str, Words); 2] =
        [("search for common words", Writer::common_words), ("search for names", Writer::names)];
    for (question, words) in searches {
        let (mut ours, mut plain) = (Writer::new(3), Writer::new(3));
        let measured = interleave(
            Plan::by_round(operations),
            || at.search(&mut a, &words(&mut ours)),
            || at.plain_search(&mut b, &words(&mut plain)),
        );
        report.row(&format!("{question}{of_what}"), &corpus.size(), corpus.length, &measured, target);
    }

    let rounds = Plan::by_pair(operations / 10);
    let first = |read: &mut dyn FnMut() -> Duration| {
        forget_pages(&corpus.path);
        read()
    };
    let measured =
        interleave(rounds, || first(&mut || at.warm(&mut a)), || first(&mut || at.plain_warm(&mut b)));
    report.row(
        &format!("warm{of_what}, first touch"),
        &corpus.size(),
        corpus.length,
        &measured,
        Target::None,
    );
}

/// Draws the words to search for.
type Words = fn(&mut Writer) -> [String; 3];

struct Place<'a> {
    corpus: &'a Corpus,
    runtime: Runtime,
    memory: Thermocline,
    conn: Connection,
}

impl Place<'_> {
    fn warm(&self, rng: &mut Rng) -> Duration {
        let session = rng.below(self.corpus.sessions());
        let session = self.runtime.block_on(self.corpus.session(&self.memory, session));
        timed_on(&self.runtime, async { session.warm().await.unwrap() })
    }

    fn search(&self, rng: &mut Rng, words: &[String; 3]) -> Duration {
        let session = rng.below(self.corpus.sessions());
        let session = self.runtime.block_on(self.corpus.session(&self.memory, session));
        let query = words.join(" ");
        timed_on(&self.runtime, async { session.search(&query, 8).await.unwrap() })
    }

    fn plain_warm(&self, rng: &mut Rng) -> Duration {
        let id = self.plain_id(rng);
        timed(|| plain::newest(&self.conn, &id, 50))
    }

    fn plain_search(&self, rng: &mut Rng, words: &[String; 3]) -> Duration {
        let id = self.plain_id(rng);
        timed(|| plain::like(&self.conn, &id, words, 8))
    }

    fn plain_id(&self, rng: &mut Rng) -> Vec<u8> {
        let (user, key) = self.corpus.names(rng.below(self.corpus.sessions()));
        plain::session_id(&self.conn, &user, &key)
    }
}
