//! One user: contexts, records and ends of sessions.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use rusqlite::{TransactionBehavior, types::Value};
use thermocline::{Durability, NewTurn};

use crate::{
    chat::{Captured, Chat, Said, capture, said},
    columns,
    cpu::Cpu,
    replay::{Plain, bare},
    support::{
        Length, is_test, operations, plain,
        rounds::{Sample, median_of, timed_on},
        runtime, scratch,
        table::{Report, Target, percentiles, time},
        user::OneUser,
    },
};

const ROUNDS: usize = 7;
/// The number of messages in a round in which the sides alternate.
const PAIRS: usize = 80;
/// The number of rounds in which each side runs alone, so that its CPU time can be told from that of the other side.
const CPU_ROUNDS: usize = 3;
/// The number of messages in each of these rounds.
const ALONE: usize = 100;
/// The number of turns in the user's history.
const TURNS: usize = 10_000;

/// Creates the measured user.
pub fn user(length: Length) -> OneUser {
    OneUser::of(if is_test() { 60 } else { TURNS }, length, 0)
}

/// The durations of one side, by round.
#[derive(Default)]
struct Side(Vec<Vec<Duration>>);

impl Side {
    fn sample(&self) -> Sample {
        Sample::new(self.0.concat())
    }

    /// Returns the median of the ratios of the rounds' medians.
    fn ratio_to(&self, other: &Self) -> f64 {
        let medians = |side: &Self| -> Vec<f64> {
            side.0.iter().map(|round| Sample::new(round.clone()).median().as_secs_f64()).collect()
        };
        median_of(medians(self).into_iter().zip(medians(other)).map(|(ours, theirs)| ours / theirs).collect())
    }
}

/// The library and the plain alternatives, each with its own copy of the file, and their position in the chat.
struct Both<'r> {
    chat: Chat<'r>,
    plain: Plain,
    bare: Plain,
    captured: Captured,
    said: Vec<Said>,
    at: usize,
}

pub fn documented(length: Length, report: &mut Report) {
    let (user, folder, runtime) = (user(length), scratch(), runtime());
    let copy = |name: &str| {
        let path = folder.path().join(name);
        fs::copy(&user.path, &path).unwrap();
        path
    };
    let (pairs, alone) = (operations(PAIRS), operations(ALONE));
    let said = said(length, pairs.div_ceil(5) + ROUNDS * pairs + CPU_ROUNDS * alone);
    let captured = capture(&runtime, &user, &copy("rows.db"), &said);
    let chat = Chat::open(&runtime, &user, &copy("ours.db"), Durability::Full);
    for (message, _) in said.iter().take(3) {
        chat.wait_for(chat.context(message).0);
    }
    let (mut plain, mut bare) = (Plain::open(&copy("plain.db")), Plain::open(&copy("bare.db")));
    plain.write(&captured.opening);
    bare.write(&captured.opening);
    let mut both = Both { chat, plain, bare, captured, said, at: 0 };

    both.pairs(pairs.div_ceil(5));
    let mut sides: [Side; 6] = Default::default();
    for _ in 0..ROUNDS {
        for (side, round) in sides.iter_mut().zip(both.pairs(pairs)) {
            side.0.push(round);
        }
    }
    let mut cpu = [Cpu::default(), Cpu::default()];
    for _ in 0..CPU_ROUNDS {
        both.alone(alone, &mut cpu);
    }
    let [ours, plain, bare, contexts, hot, hot_later] = sides;
    let per_record =
        |cpu: &Cpu| cpu.spent().map_or("-".to_owned(), |all| time(all / (CPU_ROUNDS * alone) as u32));
    let ratio = ours.ratio_to(&plain);
    let most = if length == Length::Short { 1.5 } else { 1.8 };
    report.line(&[
        "documented record".to_owned(),
        length.to_string(),
        percentiles(&ours.sample(), &[50, 95]),
        percentiles(&plain.sample(), &[50, 95]),
        format!("{ratio:.2}"),
        percentiles(&bare.sample(), &[50, 95]),
        format!("{:.2}", ours.ratio_to(&bare)),
        format!("{} / {}", per_record(&cpu[0]), per_record(&cpu[1])),
        format!("<= {most} times the same rows"),
        if ratio <= most { "met" } else { "missed" }.to_owned(),
    ]);
    columns::row("context", length, &contexts.sample(), Target::None, report);
    let twenty = Target::Under(Duration::from_micros(20));
    columns::row("hot() right after a context", length, &hot.sample(), twenty, report);
    columns::row("hot() once its receipt is written", length, &hot_later.sample(), twenty, report);
    report.keep_note(rows_of_records(length, &both.captured));
    if is_test() {
        both.assert_same_rows(folder.path());
    }
}

impl Both<'_> {
    /// Processes this many messages, each with every alternative. Returns the times of our record, the plain one, the bare
    /// one, the context, `hot()` right after it, and `hot()` once its receipt is written.
    fn pairs(&mut self, count: usize) -> [Vec<Duration>; 6] {
        let mut times: [Vec<Duration>; 6] = Default::default();
        for n in self.at..self.at + count {
            let (said, step) = (&self.said[n], &self.captured.steps[n]);
            let (receipt, context) = self.chat.context(&said.0);
            let hot = self.chat.hot();
            self.chat.wait_for(receipt);
            let hot_later = self.chat.hot();
            let ours = self.chat.record(said, &format!("message-{n}"), receipt);
            self.plain.write(&step.context);
            let plain = self.plain.timed_write(&step.record);
            let bare = self.bare.timed_write(bare(&step.record));
            for (all, this) in times.iter_mut().zip([ours, plain, bare, context, hot, hot_later]) {
                all.push(this);
            }
        }
        self.at += count;
        times
    }

    /// Processes this many messages: first all contexts, then all records of one side, then those of the other.
    fn alone(&mut self, count: usize, [ours, plain]: &mut [Cpu; 2]) {
        let these = self.at..self.at + count;
        let receipts: Vec<_> = these.clone().map(|n| self.chat.context(&self.said[n].0).0).collect();
        receipts.last().into_iter().for_each(|&last| self.chat.wait_for(last));
        ours.over(|| {
            for (n, &receipt) in these.clone().zip(&receipts) {
                self.chat.record(&self.said[n], &format!("message-{n}"), receipt);
            }
        });
        let steps = &self.captured.steps[these];
        for step in steps {
            self.plain.write(&step.context);
        }
        plain.over(|| {
            for step in steps {
                self.plain.write(&step.record);
            }
        });
        self.at += count;
    }

    /// Checks that the file written by hand equals the library's own in every value.
    fn assert_same_rows(self, folder: &Path) {
        self.chat.close();
        let rows = |name: &str| {
            let mut conn = plain::reader(&folder.join(name));
            let tx = conn.transaction_with_behavior(TransactionBehavior::Deferred).unwrap();
            let mut names = tx
                .prepare(
                    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
                     AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'bench_%' ORDER BY name",
                )
                .unwrap();
            let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
            names
                .map(|name| {
                    let mut stmt = tx.prepare(&format!("SELECT * FROM {name}")).unwrap();
                    let columns = stmt.column_count();
                    let row = |row: &rusqlite::Row<'_>| {
                        (0..columns).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>()
                    };
                    let rows = stmt.query_map([], row).unwrap().map(|row| format!("{:?}", row.unwrap()));
                    let mut rows: Vec<String> = rows.collect();
                    rows.sort_unstable();
                    (name, rows)
                })
                .collect::<Vec<_>>()
        };
        let (by_hand, by_library) = (rows("plain.db"), rows("rows.db"));
        for (plain, ours) in by_hand.iter().zip(&by_library) {
            assert_eq!(plain, ours);
        }
        assert_eq!(by_hand.len(), by_library.len());
    }
}

/// Says how many rows a record writes, by table.
fn rows_of_records(length: Length, captured: &Captured) -> String {
    let mut counts = BTreeMap::new();
    let changes = captured.steps.iter().flat_map(|step| &step.record);
    changes.for_each(|change| *counts.entry((&change.table, change.kind)).or_insert(0_usize) += 1);
    let each = |count: usize| count as f64 / captured.steps.len() as f64;
    let list: Vec<String> = counts
        .iter()
        .map(|((table, kind), &count)| format!("{table} {:.1} ({kind:?})", each(count)).to_lowercase())
        .collect();
    format!("Rows of a record, {length}: {:.1}: {}.", each(counts.values().sum()), list.join(", "))
}

/// Measures `end`, for sessions whose turns answered contexts, and for sessions whose turns did not.
pub fn end(length: Length, report: &mut Report) {
    let (user, folder, runtime) = (user(length), scratch(), runtime());
    let path = folder.path().join("ours.db");
    fs::copy(&user.path, &path).unwrap();
    let chat = Chat::open(&runtime, &user, &path, Durability::Full);
    let (rounds, turns) = (operations(2 + ROUNDS), operations(50));
    let all = said(length, 2 * rounds * turns);
    let mut samples: [Vec<Duration>; 2] = Default::default();
    for (n, said) in all.chunks(turns).enumerate() {
        let is_answered = n % 2 == 0;
        let session = runtime.block_on(chat.user.session_named(&format!("end-{n}"))).unwrap();
        for (place, (message, reply)) in said.iter().enumerate() {
            let mut turn = NewTurn::new(message, reply).caller_id(format!("end-{n}-{place}"));
            if is_answered {
                let (receipt, _) = chat.context_in(&session, message);
                chat.wait_for(receipt);
                turn = turn.answering(receipt);
            }
            runtime.block_on(session.record(turn)).unwrap();
        }
        let elapsed = timed_on(&runtime, async { session.end().await.unwrap() });
        samples[usize::from(!is_answered)].push(elapsed);
    }
    let most = Target::Under(Duration::from_millis(1));
    for (question, times) in
        ["end after 50 answered turns", "end after 50 unanswered turns"].into_iter().zip(samples)
    {
        columns::row(question, length, &Sample::new(times), most, report);
    }
    chat.close();
}
