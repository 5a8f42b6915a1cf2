//! How long does it take to resume a session that is no longer in memory?
//!
//! A random session of the file is looked up for a known user, by its key or by its id, and its hot context is read.
//! `live_sessions = 1`, so that no session is in memory. "First touch" means that the operating system has dropped the
//! file's pages before each operation, as after a restart; the connections' own small caches stay.
//!
//! Target: under 1 ms at 1,000,000 turns. Plain alternative: the session's id by the user's name and the session's key,
//! and its 5 newest rows, with rusqlite, a kept connection and prepared statements.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::time::Duration;

use support::{
    corpus::{Corpus, forget_pages},
    lengths, plain,
    rounds::{Plan, interleave, timed, timed_on},
    runtime, sizes,
    table::{Report, Target},
    text::Rng,
};

const TARGET: Target = Target::Under(Duration::from_millis(1));

fn main() {
    let mut report = Report::with_usual_columns("resume");
    for (size, length) in sizes().into_iter().flat_map(|size| lengths().into_iter().map(move |l| (size, l))) {
        let corpus = Corpus::of(size, length);
        let runtime = runtime();
        let memory = runtime.block_on(corpus.open_forgetful());
        let conn = plain::reader(&corpus.path);

        // The user's handle is not timed: a backend keeps it, or has it from the previous request.
        let visit = |rng: &mut Rng| {
            let (user, key) = corpus.names(rng.below(corpus.sessions()));
            (runtime.block_on(memory.find_user(&user)).unwrap().unwrap(), key)
        };
        let by_key = |rng: &mut Rng| {
            let (user, key) = visit(rng);
            timed_on(&runtime, async { user.session_named(&key).await.unwrap().hot().await.unwrap() })
        };
        let by_id = |rng: &mut Rng| {
            let (user, key) = visit(rng);
            let id = runtime.block_on(user.find_session(&key)).unwrap().unwrap().id();
            timed_on(&runtime, async { user.session_by_id(id).await.unwrap().hot().await.unwrap() })
        };
        let plainly = |rng: &mut Rng| {
            let (user, key) = corpus.names(rng.below(corpus.sessions()));
            timed(|| plain::newest(&conn, &plain::session_id(&conn, &user, &key), 5))
        };

        let (mut a, mut b) = (Rng::new(1), Rng::new(2));
        let measured = interleave(Plan::by_round(400), || by_key(&mut a), || plainly(&mut b));
        report.row("resume by key", &corpus.size(), length, &measured, TARGET);
        let measured = interleave(Plan::by_round(400), || by_id(&mut a), || plainly(&mut b));
        report.row("resume by id", &corpus.size(), length, &measured, TARGET);
        let measured = interleave(
            Plan::by_pair(40),
            || {
                forget_pages(&corpus.path);
                by_key(&mut a)
            },
            || {
                forget_pages(&corpus.path);
                plainly(&mut b)
            },
        );
        report.row("resume by key, first touch", &corpus.size(), length, &measured, Target::None);
    }
    report.save();
}
