//! Derives anew what older rules derived from one user's units (turns, summaries and memories), in the order of recording.

use crate::{
    error::{Error, ErrorKind},
    jobs::job::{Job, JobEnd},
    store::slice_error::{SliceError, SliceResult},
};

/// How many times one try at the job may begin the derivation, if an older build keeps recording meanwhile.
const BEGINNINGS: u32 = 3;

pub(super) async fn derive(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let (store, scope) = (job.store(), job.scope);
    let mut damaged = Vec::new();
    for _ in 0..BEGINNINGS {
        let mut begun = job.slice(move |tx| tx.begin_deriving(&scope)).await?;
        if begun.awaits_newer() {
            return Ok(JobEnd::Later(Error::new(
                ErrorKind::NewerSchema,
                "a newer version has begun this and will continue it",
            )));
        }
        loop {
            // No snapshot is held while a slice is written.
            let next = store.snapshot()?.next_rederived(&scope, begun)?;
            let Some(next) = next else { break };
            if job.run.is_stopped() {
                return Ok(JobEnd::Stopped);
            }
            let (until, count) = (next.until, next.until - begun.after);
            let found = next.damaged.clone();
            match job.slice(move |tx| tx.rederive(&scope, &next)).await {
                Ok(()) => {}
                Err(SliceError::Changed) => continue, // The units are read again.
                Err(error) => return Err(error),
            }
            begun = begun.up_to(until);
            damaged.extend(found);
            job.advance(count as usize);
        }
        if job.slice(move |tx| tx.end_deriving(&scope, begun)).await?.is_none() {
            damaged.clear(); // An older build has derived something in the meantime, so start over.
            continue;
        }
        // This build's rules have now derived everything, except what cannot be read.
        return match damaged.first() {
            None => job.finish().await,
            Some(first) => Ok(JobEnd::GivenUp(Error::new(
                ErrorKind::Corrupt,
                format!(
                    "{first} is damaged and stays as older rules left it, one of {} turns; doctor lists all damage",
                    damaged.len()
                ),
            ))),
        };
    }
    let why = "an older version is still recording; this is derived again later";
    Ok(JobEnd::Later(Error::new(ErrorKind::Busy, why)))
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use tokio::sync::watch;

    use super::SliceError;
    use crate::{
        Config, JobKind, ManualClock, NewTurn, RecallOptions, RecalledItem, RunJobs, Thermocline,
        compress::derived::RuleVersions,
        jobs,
        model::job::JobKinds,
        store::{Store, acts::derive::Rederived, rows::jobs::Lease, scope::Scope, sql::Sql},
    };

    /// The turns of the session: two blocks of the index and a few more.
    const TURNS: usize = 150;

    fn config() -> Config {
        let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
        Config { clock, worker: false, ..Config::default() }
    }

    async fn open(path: &Path) -> Thermocline {
        Thermocline::open_with(path, config()).await.unwrap()
    }

    fn said(n: usize) -> NewTurn {
        match n {
            2 => NewTurn::new("I live in Lisbon.", ""),
            3 => NewTurn::new("Nice weather.", ""),
            _ => {
                let thing = ["lamp", "ladder", "kettle", "bridge", "window"][n % 5];
                let user = format!("The {thing} beside post{n} is old. ").repeat(4);
                NewTurn::new(
                    user,
                    format!("Then the {thing} of post{n} needs paint, and so does its frame. ").repeat(4),
                )
            }
        }
    }

    /// Creates a file with one ended session, compressed but not indexed.
    async fn tell(path: &Path) {
        let memory = open(path).await;
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        for n in 1..=TURNS {
            session.record(said(n)).await.unwrap();
        }
        session.end().await.unwrap();
        memory.run_jobs(RunJobs::default().only(JobKind::Compress)).await.unwrap();
        memory.close().await.unwrap();
    }

    async fn write(store: &Store, statements: &'static [&'static str]) {
        let all = move |sql: &dyn Sql| statements.iter().try_for_each(|text| sql.change(text, &[]).map(drop));
        store.write(move |tx| all(tx.sql)).await.unwrap();
    }

    async fn work(store: &Store) {
        jobs::run(store, RunJobs::default(), watch::channel(false).1).await.unwrap();
    }

    /// Adds an anchor that only older rules derive, and removes one that they do not derive.
    const ANCHORS: &[&str] = &[
        "INSERT INTO identity_anchors
           (id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from)
         SELECT x'11', user_id, 'user', 'health', 'nuts', 'nuts', 'many', 0.5, timestamp
         FROM conversation_summaries WHERE turn_number = 9 ORDER BY turn_key LIMIT 1",
        "INSERT INTO derivations
           (user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote)
         SELECT user_id, 'anchor', x'11111111111111111111111111111111', 'turn', original_turn_id, 'holds', seq,
                timestamp, 'extractive', 'nuts', 'nuts'
         FROM conversation_summaries WHERE turn_number = 9",
        "UPDATE identity_anchors SET id = x'11111111111111111111111111111111' WHERE id = x'11'",
        "UPDATE conversation_summaries SET identity_anchor_ids = '[\"11111111-1111-1111-1111-111111111111\"]'
         WHERE turn_number = 9",
        "DELETE FROM derivations WHERE value = 'Lisbon'",
        "DELETE FROM identity_anchors WHERE value = 'Lisbon'",
    ];
    const CRITICAL: &[&str] = &[
        "UPDATE conversation_turns SET is_identity_critical = 0, critical_rule = NULL WHERE turn_number = 2",
        "UPDATE conversation_turns SET is_identity_critical = 1, critical_rule = 'emotion' WHERE turn_number = 3",
    ];
    /// Adds evidence for the added anchor to many turns.
    const MANY_ANCHORS: &[&str] = &["INSERT INTO derivations
           (user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote)
         SELECT user_id, 'anchor', x'11111111111111111111111111111111', 'turn', original_turn_id, 'holds', seq,
                timestamp, 'extractive', 'nuts', 'nuts'
         FROM conversation_summaries WHERE turn_number > 9"];
    /// Gives one turn the words of another, in its row and so in the index.
    const WORDS: &[&str] = &["UPDATE conversation_turns
         SET words = (SELECT b.words FROM conversation_turns AS b WHERE b.turn_number = 2) WHERE turn_number = 3"];
    /// Removes words of many turns from the index.
    const OLD_INDEX: &[&str] = &["DELETE FROM postings WHERE word % 3 = 0"];
    const OLD: &[&str] = &["UPDATE user_scopes SET words_rules = 0, critical_rules = 0, anchor_rules = 0"];

    /// Returns the results of recalls, the anchors, the turns' rules and the summaries, without random ids.
    async fn told(path: &Path) -> Vec<String> {
        let memory = open(path).await;
        let user = memory.user("alex").await.unwrap();
        let mut told = Vec::new();
        for query in ["where do I live?", "the lamp beside post20", "post77", "post100", "what needs paint?"]
        {
            let recall = user.recall(query, RecallOptions::default()).await.unwrap();
            assert_eq!(recall.missing, Vec::<String>::new());
            for item in &recall.items {
                let what = match &item.item {
                    RecalledItem::Anchor(anchor) => format!("{} {}", anchor.key(), anchor.value),
                    RecalledItem::Turn(turn) => format!("turn {}", turn.turn_number),
                    other => format!("{other:?}"),
                };
                told.push(format!("{query} {what} {:?}", item.score));
            }
        }
        for anchor in user.anchors(None, 1_000).await.unwrap() {
            told.push(format!("{} {} {:?}", anchor.key(), anchor.value, anchor.evidence));
        }
        let session = user.sessions(None, 1_000).await.unwrap().pop().unwrap();
        let session = user.session_by_id(session.id).await.unwrap();
        for n in 1..=u32::try_from(TURNS).unwrap() {
            let turn = session.turn(n).await.unwrap().unwrap();
            told.push(format!("{n} {:?} {}", turn.critical_rule, turn.is_identity_critical));
        }
        told.extend(
            session
                .summaries(None, 1_000)
                .await
                .unwrap()
                .iter()
                .map(|summary| format!("{} {}", summary.turn_number, summary.identity_anchor_ids.len())),
        );
        assert!(memory.doctor().await.unwrap().is_healthy(), "{:?}", memory.doctor().await);
        assert_eq!(memory.jobs(None, 1_000).await.unwrap(), []);
        told
    }

    fn rules(path: &Path) -> Vec<String> {
        crate::store::file::testing::texts(
            path,
            "SELECT coalesce(words_rules, '-') || ' ' || coalesce(critical_rules, '-') || ' ' || coalesce(anchor_rules, '-')
             FROM user_scopes",
        )
    }

    /// Returns this build's rule versions in the format of `rules`.
    fn rules_now() -> String {
        let RuleVersions { words, critical, anchors } = RuleVersions::NOW;
        format!("{words} {critical} {anchors}")
    }

    /// Creates a file as older rules would have left it, and returns its path, with what `told` returns for the same turns
    /// by this build's rules.
    async fn aged(folder: &Path, planted: &[&'static [&'static str]]) -> (std::path::PathBuf, Vec<String>) {
        let (path, anew) = (folder.join("old.db"), folder.join("new.db"));
        tell(&path).await;
        std::fs::copy(&path, &anew).unwrap();
        let store = Store::open(&anew, config()).unwrap();
        work(&store).await;
        store.close().unwrap();
        let expected = told(&anew).await;
        let store = Store::open(&path, config()).unwrap();
        for statements in planted {
            write(&store, statements).await;
        }
        work(&store).await;
        write(&store, OLD_INDEX).await;
        write(&store, OLD).await;
        store.close().unwrap();
        (path, expected)
    }

    #[track_caller]
    fn same(told: &[String], expected: &[String], what: &str) {
        let other: Vec<_> = told.iter().filter(|line| !expected.contains(line)).take(9).collect();
        assert!(told == expected, "{what}: {other:#?}");
    }

    #[tokio::test]
    async fn what_removed_rules_derived_is_as_the_rules_of_now_have_it() {
        for words in [&[] as &[&str], WORDS] {
            let folder = tempfile::tempdir().unwrap();
            let (path, expected) = aged(folder.path(), &[ANCHORS, CRITICAL, words]).await;
            let memory = open(&path).await;
            let kinds = |jobs: Vec<crate::JobInfo>| jobs.iter().map(|job| job.kind).collect::<Vec<_>>();
            memory.run_jobs(RunJobs::default().max_jobs(0)).await.unwrap(); // The jobs queued by opening are still there.
            assert_eq!(kinds(memory.jobs(None, 1_000).await.unwrap()), [JobKind::Derive]);
            assert!(memory.doctor().await.unwrap().is_healthy(), "what is old is not damaged");
            memory.run_jobs(RunJobs::default()).await.unwrap();
            memory.close().await.unwrap();
            same(&told(&path).await, &expected, "derived anew");
            assert_eq!(rules(&path), [rules_now()]);
        }
    }

    #[tokio::test]
    async fn cut_short_after_each_slice_it_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (path, expected) = aged(folder.path(), &[ANCHORS, MANY_ANCHORS, CRITICAL]).await;
        let mut tries = 0;
        loop {
            let store = Store::open(&path, config()).unwrap();
            store.queue_stale_rules();
            let (tell, told) = watch::channel(false);
            let stop = RunJobs::default().on_progress(move |progress| {
                tell.send_replace(progress.turns > 0);
            });
            let report = jobs::run(&store, stop.only(JobKind::Derive), told).await.unwrap();
            let is_done = report.done == 1;
            store.close().unwrap();
            if is_done {
                break;
            }
            assert_eq!(rules(&path), [format!("-{}", rules_now().replace(' ', " -"))]);
            tries += 1;
            assert!(tries < 100);
        }
        assert!(tries > 5, "{tries} slices");
        let store = Store::open(&path, config()).unwrap();
        work(&store).await;
        store.close().unwrap();
        same(&told(&path).await, &expected, "cut short");
    }

    /// Begins a derivation without a run of jobs, and reads the first units.
    async fn first(store: &Store) -> (Arc<Lease>, Scope, Rederived) {
        store.write(|tx| tx.queue_stale_rules()).await.unwrap();
        let lease = store.take_job(&JobKinds::only(Some(JobKind::Derive))).await.unwrap().unwrap();
        let (lease, scope) = (Arc::new(lease.clone()), lease.scope.unwrap());
        let begun = store.write_slice(Arc::clone(&lease), move |tx| tx.begin_deriving(&scope)).await.unwrap();
        let first = store.snapshot().unwrap().next_rederived(&scope, begun).unwrap().unwrap();
        (lease, scope, first)
    }

    #[tokio::test]
    async fn what_is_erased_meanwhile_does_not_come_back() {
        for all in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let (path, _) = aged(folder.path(), &[ANCHORS, CRITICAL, WORDS]).await;
            let store = Store::open(&path, config()).unwrap();
            let (lease, scope, first) = first(&store).await;
            let session = store.snapshot().unwrap().sessions(&scope, None, 1_000).unwrap()[0].info.id;
            jobs::erase(&store, (scope, crate::Origin::User), (!all).then_some(session)).await.unwrap();
            let wrote = store.write_slice(lease, move |tx| tx.rederive(&scope, &first)).await;
            match wrote {
                Err(SliceError::Lost) => assert!(all),
                Err(SliceError::Changed) => assert!(!all),
                other => panic!("{other:?}"),
            }
            work(&store).await;
            let left = "SELECT count(*) || '' FROM (SELECT quote FROM derivations UNION ALL SELECT value FROM identity_anchors)";
            assert_eq!(crate::store::file::testing::texts(&path, left), ["0"]);
            assert!(store.diagnose().unwrap().is_healthy());
        }
    }

    #[tokio::test]
    async fn what_is_restored_before_is_found_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (path, _) = aged(folder.path(), &[WORDS]).await;
        let memory = open(&path).await;
        let user = memory.user("alex").await.unwrap();
        let id = user.sessions(None, 1_000).await.unwrap()[0].id;
        user.session_by_id(id).await.unwrap().restore().await.unwrap();
        memory.run_jobs(RunJobs::default()).await.unwrap();
        assert!(memory.doctor().await.unwrap().is_healthy());
        let recall = user.recall("post20", RecallOptions::default()).await.unwrap();
        assert!(matches!(&recall.items[0].item, RecalledItem::Turn(turn) if turn.turn_number == 20));
    }

    #[tokio::test]
    async fn a_damaged_turn_stays_as_it_is_and_the_others_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let (path, _) = aged(folder.path(), &[ANCHORS, CRITICAL]).await;
        let store = Store::open(&path, config()).unwrap();
        write(&store, &["UPDATE conversation_turns SET row_check = x'01020304' WHERE turn_number = 2"]).await;
        store.queue_stale_rules();
        work(&store).await;
        let left = store.snapshot().unwrap().jobs(0, 1_000).unwrap();
        let reason = left[0].last_error.clone().unwrap();
        assert_eq!((left.len(), left[0].kind, left[0].state), (1, JobKind::Derive, crate::JobState::Failed));
        assert!(reason.starts_with("turn 2 of session number"), "{reason}");
        store.close().unwrap();
        let rows = "SELECT turn_number || ' ' || coalesce(critical_rule, '-') FROM conversation_turns WHERE turn_number IN (2, 3)
                    UNION ALL SELECT value FROM identity_anchors";
        assert_eq!(crate::store::file::testing::texts(&path, rows), ["2 -", "3 -"]);
        assert_eq!(rules(&path), [rules_now()]);
    }

    #[tokio::test]
    async fn who_writes_by_older_rules_says_so_and_others_get_no_job() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let memory = open(&path).await;
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        assert_eq!(rules(&path), [rules_now()]);
        let RuleVersions { words, critical, .. } = RuleVersions::NOW;
        let store = Store::open(&path, config()).unwrap();
        write(&store, &["UPDATE user_scopes SET words_rules = 9, critical_rules = 9, anchor_rules = -9"])
            .await;
        session.record(said(2)).await.unwrap();
        session.record(said(7)).await.unwrap();
        assert_eq!(rules(&path), [format!("{words} 9 -9")]);
        session.end().await.unwrap();
        memory.run_jobs(RunJobs::default()).await.unwrap();
        let unknown_anchors = format!("{words} {critical} 0");
        assert_eq!(
            rules(&path),
            [&*unknown_anchors],
            "what a newer version's job has not come to may be of any rules"
        );
        write(&store, &["UPDATE user_scopes SET words_rules = 9"]).await;
        session.restore().await.unwrap();
        assert_eq!(rules(&path), [unknown_anchors]);
        assert!(memory.jobs(None, 1_000).await.unwrap().iter().all(|job| job.kind != JobKind::Derive));
    }

    #[tokio::test]
    async fn an_import_is_of_the_rules_that_its_export_names() {
        #[derive(Clone, Default)]
        struct Text(Arc<std::sync::Mutex<Vec<u8>>>);
        impl std::io::Write for Text {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        tell(&path).await;
        let to = Text::default();
        open(&path).await.user("alex").await.unwrap().export(to.clone()).await.unwrap();
        let text = String::from_utf8(to.0.lock().unwrap().clone()).unwrap();
        let RuleVersions { words, critical, anchors } = RuleVersions::NOW;
        let named = |critical, anchors| {
            format!("\"format\":3,\"rules\":{{\"critical\":{critical},\"anchors\":{anchors}}}}}")
        };
        let now = named(critical, anchors);
        assert!(text.lines().next().unwrap().ends_with(&now), "{:?}", text.lines().next());
        for (text, rules_then, has_job) in [
            (text.clone(), rules_now(), false),
            (text.replacen(&now, &named(0, 0), 1), format!("{words} 0 0"), true),
            (text.replacen(&now, "\"format\":1}", 1), format!("{words} 1 1"), true),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("m.db");
            let memory = open(&path).await;
            memory.import("alex", std::io::Cursor::new(text)).await.unwrap();
            let is_queued =
                memory.jobs(None, 1_000).await.unwrap().iter().any(|job| job.kind == JobKind::Derive);
            assert_eq!((rules(&path), is_queued), (vec![rules_then], has_job));
            memory.run_jobs(RunJobs::default()).await.unwrap();
            assert_eq!((rules(&path), memory.jobs(None, 1_000).await.unwrap()), (vec![rules_now()], vec![]));
        }
    }

    /// Run by hand: `cargo test --release --lib how_long -- --ignored --nocapture`.
    #[tokio::test]
    #[ignore = "measures"]
    #[expect(clippy::print_stderr, reason = "the figures are what one runs it for")]
    async fn how_long_it_takes() {
        for (name, planted) in
            [("nothing changes", &[] as &[&[&str]]), ("anchors", &[ANCHORS]), ("words", &[WORDS])]
        {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("m.db");
            let memory = open(&path).await;
            for _ in 0..10_000 / TURNS {
                let session = memory.user("alex").await.unwrap().new_session().await.unwrap();
                for n in 1..=TURNS {
                    session.record(said(n)).await.unwrap();
                }
                session.end().await.unwrap();
            }
            memory.run_jobs(RunJobs::default()).await.unwrap();
            memory.close().await.unwrap();
            let store = Store::open(&path, config()).unwrap();
            for statements in planted {
                write(&store, statements).await;
            }
            write(&store, OLD).await;
            store.queue_stale_rules();
            let watch = crate::clock::Stopwatch::start();
            jobs::run(&store, RunJobs::default().only(JobKind::Derive), watch::channel(false).1)
                .await
                .unwrap();
            let derived = watch.elapsed();
            work(&store).await;
            eprintln!("{name}: {derived:?}, with the index {:?}", watch.elapsed());
        }
    }
}
