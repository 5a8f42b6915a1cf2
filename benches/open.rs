//! How long does it take from opening the file to the first hot context?
//!
//! Measures `open`, `find_user`, `session_named` and `hot`, each time in a process that has just started. This program
//! runs itself, so that no thread, table or cache is left from the last time. Meanwhile the tokenizer's tables load on
//! the other core, as in a backend. "First touch" means that the operating system has dropped the file's pages.
//!
//! Target: under 20 ms at 1,000,000 turns. Plain alternative, in a new process too: rusqlite opens the file, sets the
//! same pragmas, and reads the session's id (by the user's name and the session's key) and its 5 newest rows.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::{
    env,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use support::{
    corpus::{Corpus, forget_pages},
    lengths, plain,
    rounds::{Plan, interleave},
    runtime, sizes,
    table::{Report, Target},
    text::Rng,
};
use thermocline::Thermocline;

const TARGET: Target = Target::Under(Duration::from_millis(20));

/// Tells a process that it is a measured one: `who`, path, user and the session's key, one per line.
const TASK: &str = "THERMOCLINE_BENCH_OPEN_TASK";

fn main() {
    if let Ok(task) = env::var(TASK) {
        return run_task(&task);
    }
    let mut report = Report::with_usual_columns("open");
    for (size, length) in sizes().into_iter().flat_map(|size| lengths().into_iter().map(move |l| (size, l))) {
        let corpus = Corpus::of(size, length);
        let (mut a, mut b) = (Rng::new(1), Rng::new(2));
        for (question, prepare, target) in [
            ("open to the first hot context", leave as fn(&Path), TARGET),
            ("open to the first hot context, first touch", forget_pages, Target::None),
        ] {
            let measured = interleave(
                Plan::by_pair(20),
                || in_new_process("ours", &corpus, prepare, &mut a),
                || in_new_process("plain", &corpus, prepare, &mut b),
            );
            report.row(question, &corpus.size(), length, &measured, target);
        }
    }
    report.save();
}

/// Leaves the file's pages in the operating system's cache, as far as they fit.
fn leave(_: &Path) {}

fn in_new_process(who: &str, corpus: &Corpus, prepare: fn(&Path), rng: &mut Rng) -> Duration {
    let (user, key) = corpus.names(rng.below(corpus.sessions()));
    let task = format!("{who}\n{}\n{user}\n{key}", corpus.path.display());
    prepare(&corpus.path);
    let output = Command::new(env::current_exe().unwrap()).env(TASK, task).output().unwrap();
    let nanos = String::from_utf8(output.stdout).unwrap();
    Duration::from_nanos(nanos.trim().parse().expect("the process says how long it took"))
}

#[allow(clippy::print_stdout, reason = "how a process tells its figure to the one that started it")]
fn run_task(task: &str) {
    let [who, path, user, key] = task.split('\n').collect::<Vec<_>>()[..] else {
        panic!("a task has four lines")
    };
    let elapsed = if who == "ours" {
        let runtime = runtime();
        runtime.block_on(open_to_hot(Path::new(path), user, key))
    } else {
        let start = Instant::now();
        let conn = plain::reader(Path::new(path));
        let turns = plain::newest(&conn, &plain::session_id(&conn, user, key), 5);
        let elapsed = start.elapsed();
        assert!(!turns.is_empty());
        elapsed
    };
    println!("{}", elapsed.as_nanos());
}

async fn open_to_hot(path: &Path, user: &str, key: &str) -> Duration {
    let start = Instant::now();
    let memory = Thermocline::open(path).await.unwrap();
    let user = memory.find_user(user).await.unwrap().unwrap();
    let hot = user.session_named(key).await.unwrap().hot().await.unwrap();
    let elapsed = start.elapsed();
    assert!(!hot.is_empty());
    elapsed
}
