//! Tests with units that are not turns, recorded between turns: everything keeps working, and units without words change no
//! answer about turns.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::TimeDelta;

use crate::{
    Check, Config, ContextOptions, Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, ManualClock,
    MemoryKind, NewMemory, NewTurn, Origin, Profile, RecallOptions, RunJobs, Session, Thermocline, User,
    error::Result,
    memory::beginning::Finder,
    model::{ids::TurnId, place::Owner},
    store::{
        Store,
        acts::{index, memories::measured::MeasuredMemory},
        rows::{units, users, vectors::VectorBlock},
        scope::{Scope, UserKey},
        sql::RowExpectation,
        write_tx::WriteTx,
    },
    text::words::query_words,
};

/// How many turns are recorded one after another, without other units in between.
const AT_ONCE: u32 = 40;

/// An embedder that distinguishes lamps from everything else.
#[derive(Debug)]
struct Lamps;

impl Embedder for Lamps {
    fn space(&self) -> EmbeddingSpace {
        EmbeddingSpace { model: "lamps".into(), revision: String::new(), dims: 2 }
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        let of = |text: &String| if text.contains("lamp") { vec![1.0, 0.2] } else { vec![0.1, 1.0] };
        Box::pin(async move { Ok(texts.iter().map(of).collect()) })
    }
}

/// One run of the scenario in its own file, with a log of everything that must be the same in both runs.
struct Life {
    path: PathBuf,
    clock: Arc<ManualClock>,
    /// Whether units that are not turns are added between the turns.
    is_mixed: bool,
    told: Vec<String>,
}

impl Life {
    fn config(&self) -> Config {
        // A worker would run jobs in parallel with the test.
        let (clock, embedders) = (self.clock.clone(), vec![Arc::new(Lamps) as Arc<dyn Embedder>]);
        Config { worker: false, clock, embedders, ..Config::default() }
    }

    async fn open(&self) -> (Thermocline, User) {
        let memory = Thermocline::open_with(&self.path, self.config()).await.unwrap();
        let user = memory.user("alex").await.unwrap();
        (memory, user)
    }

    fn tell(&mut self, what: &str, seen: impl std::fmt::Debug) {
        self.told.push(format!("{what}: {seen:?}"));
    }

    /// Adds units that are not turns. Does not write to the log.
    async fn mix(&self, units: u32) {
        if !self.is_mixed {
            return;
        }
        let store = Store::open(&self.path, self.config()).unwrap();
        let scope = store.snapshot().unwrap().user(&UserKey::Name("alex".into())).unwrap().unwrap();
        store.write(move |tx| (0..units).try_for_each(|_| add_other(tx, &scope))).await.unwrap();
        store.close().unwrap();
    }

    async fn talk(&self, key: &str) {
        let (memory, user) = self.open().await;
        let session = user.session_named(key).await.unwrap();
        for n in 0..AT_ONCE {
            self.clock.advance(TimeDelta::minutes(1));
            let name = if n == 9 { "My name is Alex. " } else { "" };
            let said = format!(
                "{name}The okapi of number {n} sleeps in {key}, by the lamp.{}",
                " And so on.".repeat(n as usize)
            );
            session.record(NewTurn::new(said, "Really?").caller_id(format!("{key} {n}"))).await.unwrap();
        }
        memory.close().await.unwrap();
    }

    async fn run_jobs(&mut self, memory: &Thermocline) {
        let report = memory.run_jobs(RunJobs::default()).await.unwrap();
        self.tell("jobs", (report.failed, report.later, memory.jobs(None, 1_000).await.unwrap().len()));
    }

    /// Runs recalls, a context, doctor and stats, and logs their results.
    async fn ask(&mut self, memory: &Thermocline, user: &User, session: &Session) {
        for profile in [Profile::Default, Profile::paper(), Profile::Recency] {
            for query in ["The okapi of number 17", "What did I say on 2026-03-01?", "lamp", "Who am I?"] {
                let options = RecallOptions::default().profile(profile).k(12);
                let recalled = user.recall(query, options).await.unwrap();
                let found = |item: &crate::Recalled| {
                    let turn = item.turn().map(|turn| (turn.said.user_message.clone(), turn.turn_number));
                    (turn, item.score, item.parts)
                };
                let found: Vec<_> = recalled.items.iter().map(found).collect();
                self.tell(query, (profile, found, recalled.missing));
            }
        }
        let context = session.context("And the lamp of number 12?", ContextOptions::default()).await.unwrap();
        self.tell("context", (&context.text, context.tokens, &context.missing));
        let diagnosis = memory.doctor().await.unwrap();
        // The added units belong to memories that do not exist, so one check reports them in the mixed run.
        let is_told =
            |check: &&Check| check.problems > 0 && !check.holds.starts_with("every unit of a memory");
        let problems: Vec<_> = diagnosis.checks.iter().filter(is_told).collect();
        self.tell("doctor", problems);
        let counted = memory.stats().await.unwrap();
        self.tell(
            "stats",
            (counted.sessions, counted.tiers, counted.cold.archived_turns, counted.recall.vectors),
        );
        let status = memory.embedding_status().await.unwrap();
        let status: Vec<_> = status.iter().map(|of| (&of.space, of.turns, of.embedded, of.gaps)).collect();
        self.tell("embedded", status);
    }
}

fn add_other(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    let (seq, now) = (tx.lock(scope)?.last_seq.next()?, tx.now());
    units::insert(tx.sql, scope, seq, Owner::Memory, (TurnId::new(now), None, [7; 16], now))?;
    users::set_last_seq(tx.sql, scope, seq)?;
    index::queue_if_due(tx, scope, seq)
}

/// Runs the scenario through the public API, and returns its log.
async fn live(folder: &Path, is_mixed: bool) -> Vec<String> {
    let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
    let path = folder.join(if is_mixed { "mixed.db" } else { "plain.db" });
    let mut life = Life { path, clock, is_mixed, told: Vec::new() };

    // The units fill several index blocks, some of which have no turn.
    life.mix_after_user(3).await;
    for (key, others) in [("first", 200), ("first", 50), ("second", 70)] {
        life.talk(key).await;
        life.mix(others).await;
    }
    let (memory, user) = life.open().await;
    let first = user.session_named("first").await.unwrap();
    first.end().await.unwrap();
    life.run_jobs(&memory).await;
    memory.close().await.unwrap();
    life.mix(3).await; // These are neither indexed nor embedded.

    let (memory, user) = life.open().await;
    let second = user.session_named("second").await.unwrap();
    life.ask(&memory, &user, &second).await;
    life.transfer(&user).await;
    let context = second.context("And the okapi of number 12?", ContextOptions::default()).await.unwrap();
    second.record(NewTurn::new("That one.", "Yes.").answering(context.receipt)).await.unwrap();
    memory.close().await.unwrap();
    life.promote_other().await;

    let (memory, user) = life.open().await;
    let first = user.session_by_id(first.id()).await.unwrap();
    let second = user.session_named("second").await.unwrap();
    life.ask(&memory, &user, &second).await;
    second.end().await.unwrap();
    life.tell("moves", second.transitions(None, 1_000).await.unwrap().len());
    life.run_jobs(&memory).await;
    life.tell("restored", first.restore().await.unwrap());
    life.ask(&memory, &user, &second).await;
    life.tell("erased", first.erase().await.unwrap());
    life.run_jobs(&memory).await;
    life.ask(&memory, &user, &second).await;
    life.tell("erased", user.erase().await.unwrap());
    memory.close().await.unwrap();
    let store = Store::open(&life.path, life.config()).unwrap();
    let left =
        store.snapshot().unwrap().look(|sql| sql.scalar::<u64>("SELECT count(*) FROM recall_units", &[]));
    life.tell("left", left.unwrap());
    life.told
}

impl Life {
    /// Adds units before the user's first turn.
    async fn mix_after_user(&self, units: u32) {
        let (memory, user) = self.open().await;
        user.session_named("first").await.unwrap();
        memory.close().await.unwrap();
        self.mix(units).await;
    }

    /// Promotes a unit that is not a turn in the open session. Does not write to the log.
    async fn promote_other(&self) {
        if !self.is_mixed {
            return;
        }
        let store = Store::open(&self.path, self.config()).unwrap();
        let promotion = "INSERT INTO promotions (user_no, session_no, seq, promoted_at)
            SELECT u.user_no, s.session_no, 2, '2026-03-02T00:00:00.000Z'
            FROM user_scopes AS u JOIN conversation_sessions AS s ON s.caller_id = 'second'";
        store.write(move |tx| tx.sql.put(promotion, &[], RowExpectation::Any)).await.unwrap();
        store.close().unwrap();
    }

    /// Exports the user and imports the export into another file, where only the turns arrive.
    async fn transfer(&mut self, user: &User) {
        let to = self.path.with_extension("jsonl");
        self.tell("exported", user.export(std::fs::File::create(&to).unwrap()).await.unwrap());
        let other = Thermocline::open_with(self.path.with_extension("other"), self.config()).await.unwrap();
        let from = std::io::BufReader::new(std::fs::File::open(&to).unwrap());
        self.tell("imported", other.import("alex", from).await.unwrap());
        let user = other.user("alex").await.unwrap();
        self.run_jobs(&other).await;
        let second = user.session_named("second").await.unwrap();
        self.ask(&other, &user, &second).await;
        other.close().await.unwrap();
    }
}

#[tokio::test]
async fn units_that_are_no_turns_change_nothing_that_is_seen_of_turns() {
    let folder = tempfile::tempdir().unwrap();
    let plain = live(folder.path(), false).await;
    assert!(plain.iter().any(|told| told.starts_with("doctor: []")), "{plain:?}");
    assert!(plain.last().is_some_and(|told| told == "left: 0"));
    let mixed = live(folder.path(), true).await;
    for (plain, mixed) in plain.iter().zip(&mixed) {
        assert_eq!(plain, mixed);
    }
    assert_eq!(plain.len(), mixed.len());
}

#[tokio::test]
async fn a_memory_among_turns_is_indexed_and_embedded_and_keeps_nothing_from_working() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
    let life = Life { path: folder.path().join("m.db"), clock, is_mixed: true, told: Vec::new() };
    for key in ["first", "second", "third", "fourth"] {
        life.talk(key).await;
        let store = Store::open(&life.path, life.config()).unwrap();
        let scope = store.snapshot().unwrap().user(&UserKey::Name("alex".into())).unwrap().unwrap();
        if key == "second" {
            store.write(move |tx| add_memory(tx, &scope)).await.unwrap();
        }
        store.close().unwrap();
    }
    let seq = 2 * AT_ONCE + 1;
    let ask = |memory: Thermocline, user: User, expected_missing: usize| async move {
        let recalled =
            user.recall("Who was out of tune with the lamp?", RecallOptions::default().k(50)).await;
        let recalled = recalled.unwrap();
        assert!(recalled.items.len() > 20, "{:?}", recalled.items.len());
        assert_eq!(recalled.missing.len(), expected_missing, "{:?}", recalled.missing);
        let context = user.context("The xylophone and the lamp", ContextOptions::default()).await.unwrap();
        assert_eq!(context.missing.len(), expected_missing, "{:?}", context.missing);
        let found = memory.doctor().await.unwrap();
        let problems: Vec<_> = found.checks.iter().filter(|check| check.problems > 0).collect();
        assert!(problems.is_empty(), "{problems:?}");
        memory.close().await.unwrap();
    };
    let (memory, user) = life.open().await;
    ask(memory, user, 1).await; // The memory is not indexed yet, nor embedded by the caller's embedder.
    let (memory, _) = life.open().await;
    let report = memory.run_jobs(RunJobs::default()).await.unwrap();
    assert_eq!((report.failed, report.later), (0, 0));
    memory.close().await.unwrap();
    let store = Store::open(&life.path, life.config()).unwrap();
    let scope = store.snapshot().unwrap().user(&UserKey::Name("alex".into())).unwrap().unwrap();
    for word in ["xylophone", "tune", "music"] {
        let (word, mut units) = (query_words(word)[0], Vec::new());
        let snapshot = store.snapshot().unwrap();
        snapshot.postings(&scope, |postings| postings.for_each(word, |seq, _| units.push(seq))).unwrap();
        assert_eq!(units, [seq]);
    }
    let space = store.snapshot().unwrap().space(&Lamps.space()).unwrap().unwrap();
    let mut pieces = 0;
    let count = |block: VectorBlock<'_>| pieces += block.owners().filter(|(owner, _)| *owner == seq).count();
    store.snapshot().unwrap().vector_blocks(&scope, space, 0, count).unwrap();
    assert_eq!(pieces, 1);
    store.close().unwrap();
    let (memory, user) = life.open().await;
    ask(memory, user, 0).await;

    let (memory, user) = life.open().await;
    let first = user.session_named("first").await.unwrap();
    first.end().await.unwrap();
    memory.run_jobs(RunJobs::default()).await.unwrap();
    assert_eq!(user.export(std::io::sink()).await.unwrap().turns, 4 * u64::from(AT_ONCE));
    user.erase_turn(first.turn(1).await.unwrap().unwrap().id).await.unwrap();
    first.erase().await.unwrap();
    ask(memory, user.clone(), 0).await;
    let (memory, user) = life.open().await;
    assert_eq!(user.erase().await.unwrap().memories, 1);
    memory.close().await.unwrap();
    let store = Store::open(&life.path, life.config()).unwrap();
    for left in ["SELECT count(*) FROM recall_units", "SELECT count(*) FROM memory_units"] {
        assert_eq!(store.snapshot().unwrap().look(|sql| sql.scalar::<u64>(left, &[])).unwrap(), 0, "{left}");
    }
}

/// Saves a memory, as a caller does.
fn add_memory(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    let content = "It was out of tune, and the lamp fixed it.";
    let memory =
        NewMemory::new(MemoryKind::Fix, "The xylophone", content).tags(["music"]).origin(Origin::User);
    let memory = MeasuredMemory::of(memory, Vec::new(), (Finder::Hand, "caller"))?;
    tx.save_memory(scope, &memory).map(drop)
}
