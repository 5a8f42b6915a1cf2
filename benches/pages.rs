//! How long does a page of a history or of a list take?
//!
//! The benchmark has its own file: a user with 10,000 sessions and 10,000 anchors, one open session of 100,000 turns and a
//! compressed one, 1,000 users, and 10,000 waiting jobs. Each operation reads 50 entries: turns and sessions from a random
//! position or the newest ones, the others from a fixed position. Nothing drops the file from the operating system's cache,
//! or reads it into the cache first: the first reads, which are not counted, bring some of it there.
//!
//! Target: under 5 ms. There is no plain alternative; pages of 1,000 entries are reported in addition.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::{fs, path::PathBuf, time::Duration};

use support::{
    Length,
    corpus::schema,
    folder, is_test,
    rounds::{Plan, alone, timed_on},
    runtime, scratch,
    table::{Report, Target, thousands},
    text::{Rng, Writer},
};
use thermocline::{Attribute, Config, Durability, JobKind, RunJobs, Session, Thermocline, User};

const TARGET: Target = Target::Under(Duration::from_millis(5));

/// The number of entries of each kind.
struct Sizes {
    turns: usize,
    sessions: usize,
    users: usize,
}

fn main() {
    let sizes = if is_test() {
        Sizes { turns: 60, sessions: 12, users: 5 }
    } else {
        Sizes { turns: 100_000, sessions: 10_000, users: 1_000 }
    };
    let scratch = is_test().then(scratch);
    let kept_in = scratch.as_ref().map_or_else(folder, |scratch| scratch.path().to_owned());
    let path = kept_in.join(format!("pages-{}-{:08x}.db", sizes.turns, schema()));
    if !path.exists() {
        make(&path, &sizes);
    }
    let runtime = runtime();
    let memory = runtime.block_on(opened(&path));
    let user = runtime.block_on(memory.find_user("user-0")).unwrap().unwrap();
    let [open, archived] = ["open", "archived"]
        .map(|key| runtime.block_on(user.find_session(key)).unwrap().expect("it was recorded"));

    let mut report = Report::with_usual_columns("pages");
    for (limit, target) in [(50, TARGET), (1_000, Target::None)] {
        let mut rng = Rng::new(1);
        let turns = u32::try_from(sizes.turns).unwrap();
        let mut place = || u32::try_from(rng.below(sizes.turns)).unwrap();
        let mut row = |question: &str, ask: &mut dyn FnMut() -> Duration| {
            let measured = alone(Plan::by_round(if limit > 50 { 40 } else { 200 }), ask);
            let question = format!("{question}, {} a page", thousands(limit as usize));
            report.row(&question, &thousands(2 * sizes.turns), Length::Short, &measured, target);
        };
        for (session, what) in [(&open, "history of an open session"), (&archived, "of a compressed one")] {
            row(what, &mut || {
                timed_on(&runtime, async { session.turns(Some(place()), limit).await.unwrap() })
            });
            let back = format!("{what}, back");
            row(&back, &mut || {
                timed_on(&runtime, async { session.turns_before(Some(place()), limit).await.unwrap() })
            });
            let newest = format!("{what}, newest");
            row(&newest, &mut || {
                timed_on(&runtime, async { session.turns_before(Some(turns + 1), limit).await.unwrap() })
            });
        }
        let sessions = runtime.block_on(keys(&user));
        let mut rng = Rng::new(2);
        row("sessions of a user", &mut || {
            let after = sessions[rng.below(sessions.len())];
            timed_on(&runtime, async { user.sessions(Some(after), limit).await.unwrap() })
        });
        row("sessions of a user, newest", &mut || {
            timed_on(&runtime, async { user.sessions(None, limit).await.unwrap() })
        });
        let middle = runtime.block_on(user.anchors(None, 1_000)).unwrap().last().unwrap().id;
        row("anchors", &mut || {
            timed_on(&runtime, async { user.anchors(Some(middle), limit).await.unwrap() })
        });
        row("jobs", &mut || {
            let after = i64::try_from(sizes.sessions / 2).unwrap();
            timed_on(&runtime, async { memory.jobs(Some(after), limit).await.unwrap() })
        });
        row("users, one of them with all sessions", &mut || {
            timed_on(&runtime, async { memory.users(None, limit).await.unwrap() })
        });
        let id = user.id();
        row("users, the others", &mut || {
            timed_on(&runtime, async { memory.users(Some(id), limit).await.unwrap() })
        });
    }
    report.save();
}

/// Returns the ids of all sessions of the user.
async fn keys(user: &User) -> Vec<thermocline::SessionId> {
    let mut ids = Vec::new();
    loop {
        let page = user.sessions(ids.last().copied(), 1_000).await.unwrap();
        if page.is_empty() {
            return ids;
        }
        ids.extend(page.into_iter().map(|info| info.id));
    }
}

async fn opened(path: &std::path::Path) -> Thermocline {
    let mut config = Config::default();
    config.worker = false;
    config.durability = Durability::Relaxed;
    Thermocline::open_with(path, config).await.unwrap()
}

/// Makes the file under another name first, so that an incomplete file is never used.
fn make(path: &PathBuf, sizes: &Sizes) {
    let half_made = path.with_extension("making");
    for leftover in ["making", "making-wal", "making-shm"] {
        let _ = fs::remove_file(path.with_extension(leftover));
    }
    let mut writer = Writer::new(7);
    runtime().block_on(async {
        let memory = opened(&half_made).await;
        let user = memory.user("user-0").await.unwrap();
        let mut talk = async |session: Session| {
            for _ in 0..sizes.turns {
                session.record(writer.turn(Length::Short)).await.unwrap();
            }
            session
        };
        talk(user.session_named("archived").await.unwrap()).await.end().await.unwrap();
        let report = memory.run_jobs(RunJobs::default()).await.unwrap();
        assert_eq!((report.failed, report.later), (0, 0), "{report:?}");
        talk(user.session_named("open").await.unwrap()).await;
        memory.run_jobs(RunJobs::default().only(JobKind::Index)).await.unwrap();
        for n in 0..sizes.sessions {
            let session = user.session_named(&format!("talk-{n}")).await.unwrap();
            session.record(writer.turn(Length::Short)).await.unwrap();
            session.end().await.unwrap(); // The session's job stays queued.
            user.set_anchor("user", Attribute::Note, &format!("note {n}")).await.unwrap();
        }
        for n in 1..sizes.users {
            let user = memory.user(&format!("user-{n}")).await.unwrap();
            for _ in 0..5 {
                user.new_session().await.unwrap();
            }
        }
        memory.close().await.unwrap();
    });
    fs::rename(&half_made, path).unwrap();
}
