//! `thermocline eval`: measures how well profiles find, in a user's own history, the turns that answer given questions.
//! Writes nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use thermocline::{
    Config, Context, ContextOptions, MemoryId, PackedAs, Profile, Recall, RecallOptions, RecalledItem,
    Section, SessionId, SourceName, TurnId, blocking::User,
};

use crate::{
    args::instant,
    counts::{counted, timed},
    exit::Failure,
    find::{self, Db},
    input,
    measure::{self, Means, Measured},
    output::Output,
    pages, plain,
    recall_args::{self, EvalArgs, OfArg},
    session,
};

/// The number of results that are ranked. A session's rank is that of its best turn among them.
const DEPTH: usize = 100;
/// Categories whose evidence is a trap, which recall should not find. The group `main` leaves them out.
const TRAPS: [&str; 2] = ["adversarial", "abstention"];
/// The format of a line of the file with questions.
const FORM: &str = r#"{"query":"...","evidence":["..."]}, optionally with "now" and "category""#;

#[derive(Debug, Deserialize)]
struct EvalLine {
    query: String,
    evidence: Vec<String>,
    #[serde(default)]
    now: Option<String>,
    #[serde(default)]
    category: Option<String>,
}

/// A question whose evidence is in this user's memory.
struct EvalQuestion {
    query: String,
    now: Option<DateTime<Utc>>,
    category: String,
    evidence: HashSet<TurnId>,
    /// The keys of the sessions in which the evidence is.
    sessions: HashSet<String>,
}

/// The report of an evaluation.
#[derive(Debug, Serialize)]
struct EvalReport {
    questions: usize,
    /// The number of questions whose evidence is not in this user's memory.
    unknown: usize,
    profiles: Vec<OfProfile>,
}

#[derive(Debug, Serialize)]
struct OfProfile {
    profile: String,
    /// The means of the groups `main`, `all`, and each category.
    groups: BTreeMap<String, Means>,
}

pub(crate) fn run(db: &Db, args: &EvalArgs, out: &Output) -> Result<(), Failure> {
    let lines = input::json_lines::<EvalLine>(&args.questions, FORM)?;
    let profiles = profiles(args)?;
    let mut config = args.reranker.add_to(args.embedder.config()?)?;
    config.receipts = 0;
    config.shares = config.shares.hot(0).warm(0);
    let memory = find::memory_with(db, config)?;
    let user = find::user(&memory, &args.user)?;
    let (questions, unknown) = KnownTurns::of(&user)?.questions(lines, args.now)?;
    if questions.is_empty() {
        return Err(Failure::refused(format!(
            "nothing to measure: of {}, this user's memory has the evidence of none; name evidence by the \
             caller ids of the recorded turns",
            counted(questions.len() + unknown, "question")
        )));
    }
    let mut asking = EvalRunner::new(&user, &questions[0])?;
    let progress = out.progress(None, "asking");
    let mut report = EvalReport { questions: questions.len(), unknown, profiles: Vec::new() };
    for (name, profile) in profiles {
        let rows: Vec<Measured> =
            questions.iter().map(|question| asking.ask(question, profile, args)).collect::<Result<_, _>>()?;
        report.profiles.push(OfProfile { profile: name, groups: groups(&questions, &rows) });
    }
    drop(progress);
    for (missing, times) in &asking.missing {
        out.talk(&format!("measured without it {times} times: {missing}"));
    }
    if unknown > 0 {
        let left_out = counted(unknown, "question");
        out.talk(&format!("left out: {left_out} with evidence that this user's memory does not have"));
    }
    out.answer(&report, |report| text(report, args.categories))
}

/// Returns the profiles to measure.
fn profiles(args: &EvalArgs) -> Result<Vec<(String, Profile)>, Failure> {
    let mut profiles: Vec<Profile> = args.profiles.iter().map(|&arg| arg.into()).collect();
    if profiles.is_empty() {
        profiles = vec![Profile::Default, Profile::paper(), Profile::Recency];
    }
    profiles.dedup();
    if !args.weights.is_empty() {
        profiles.push(recall_args::custom(&args.weights)?);
    }
    Ok(profiles.into_iter().map(|profile| (profile.as_str().to_owned(), profile)).collect())
}

/// The turns by their callers' ids, as far as they have been looked up.
struct KnownTurns<'u> {
    user: &'u User,
    sessions: HashMap<SessionId, String>,
    turns: HashMap<String, Option<(TurnId, SessionId)>>,
}

impl<'u> KnownTurns<'u> {
    fn of(user: &'u User) -> Result<Self, Failure> {
        let sessions =
            pages::sessions(user)?.into_iter().map(|info| (info.id, session::name(&info))).collect();
        Ok(Self { user, sessions, turns: HashMap::new() })
    }

    /// Returns the questions that can be measured, and the number of those that cannot.
    fn questions(
        mut self,
        lines: Vec<(usize, EvalLine)>,
        now: Option<DateTime<Utc>>,
    ) -> Result<(Vec<EvalQuestion>, usize), Failure> {
        let (mut questions, mut unknown) = (Vec::new(), 0);
        for (number, line) in lines {
            let said_now = match &line.now {
                Some(text) => {
                    Some(instant(text).map_err(|why| Failure::refused(format!("line {number}: {why}")))?)
                }
                None => now,
            };
            let found: Option<Vec<_>> =
                line.evidence.iter().map(|id| self.turn(id)).collect::<Result<Option<_>, _>>()?;
            match found.filter(|found| !found.is_empty()) {
                Some(found) => questions.push(EvalQuestion {
                    query: line.query,
                    now: said_now,
                    category: line.category.unwrap_or_else(|| "none".to_owned()),
                    evidence: found.iter().map(|(turn, _)| *turn).collect(),
                    sessions: found.iter().map(|(_, session)| self.session(*session)).collect(),
                }),
                None => unknown += 1,
            }
        }
        Ok((questions, unknown))
    }

    fn turn(&mut self, id: &str) -> Result<Option<(TurnId, SessionId)>, Failure> {
        if let Some(known) = self.turns.get(id) {
            return Ok(*known);
        }
        let turn = find::found(self.user.turn_by_caller_id(id))?.map(|turn| (turn.id, turn.session_id));
        let found = match turn {
            Some(found) => Some(found),
            None => self.user.summary_by_caller_id(id)?.map(|of| (of.original_turn_id, of.session_id)),
        };
        self.turns.insert(id.to_owned(), found);
        Ok(found)
    }

    fn session(&self, id: SessionId) -> String {
        self.sessions.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// Requests a ranking and a context for each question.
struct EvalRunner<'u> {
    user: &'u User,
    sessions: HashMap<SessionId, String>,
    /// The budget of each context: the share of the cold tier, and the lines of the frame.
    budget_tokens: u32,
    /// The turns on which each memory rests, as far as they have been looked up.
    rest_on: HashMap<MemoryId, Vec<TurnId>>,
    /// What recalls had to do without, such as a reranker that was too slow, and how often.
    missing: BTreeMap<String, usize>,
}

impl<'u> EvalRunner<'u> {
    /// Requests a context before measuring, so that the user's index is in memory.
    fn new(user: &'u User, first: &EvalQuestion) -> Result<Self, Failure> {
        let sessions =
            pages::sessions(user)?.into_iter().map(|info| (info.id, session::name(&info))).collect();
        let probe = user.context(&first.query, ContextOptions::default().profile(Profile::Recency))?;
        let mut frame = probe.text.split_inclusive('\n');
        let (above, below) = (frame.next().unwrap_or_default(), frame.next_back().unwrap_or_default());
        let Config { tokenizer, shares, .. } = Config::default();
        let frame_tokens = tokenizer.count(above) + tokenizer.count(below);
        let budget_tokens = shares.cold + frame_tokens;
        Ok(Self { user, sessions, budget_tokens, rest_on: HashMap::new(), missing: BTreeMap::new() })
    }

    fn ask(
        &mut self,
        question: &EvalQuestion,
        profile: Profile,
        args: &EvalArgs,
    ) -> Result<Measured, Failure> {
        let options = RecallOptions::default().k(DEPTH).profile(profile);
        let mut options = options.of(args.of.into()).graph(args.graph);
        options.now = question.now;
        let (recall, took_us) = timed(|| self.user.recall(&question.query, options));
        let recall = recall?;
        for missing in &recall.missing {
            *self.missing.entry(missing.clone()).or_default() += 1;
        }
        let ranked = ranked(&recall);
        let turns: Vec<Vec<TurnId>> = ranked.iter().map(|(turns, ..)| turns.clone()).collect();
        let mut sessions: Vec<Vec<String>> = Vec::new();
        for session in ranked.iter().filter_map(|(_, session, _)| *session) {
            let name = self.sessions.get(&session).cloned().unwrap_or_else(|| session.to_string());
            if !sessions.iter().any(|known| known.contains(&name)) {
                sessions.push(vec![name]);
            }
        }
        let mut options = ContextOptions::default().budget_tokens(self.budget_tokens).profile(profile);
        options.now = question.now;
        options = options.graph(args.graph);
        if args.of == OfArg::Turns {
            options = options.without(Section::WhatIsKnown);
        }
        let context = self.user.context(&question.query, options)?;
        let packed = self.packed(&context, |packed_as| packed_as != PackedAs::Summary)?;
        let packed_or_summarized = self.packed(&context, |_| true)?;
        let wanted = &question.evidence;
        Ok(Measured {
            recall_5: measure::recall(&turns, wanted, 5),
            recall_10: measure::recall(&turns, wanted, 10),
            recall_20: measure::recall(&turns, wanted, 20),
            hit_10: measure::hit(&turns, wanted, 10),
            ndcg_10: measure::ndcg(&turns, wanted, 10),
            session_recall_5: measure::recall(&sessions, &question.sessions, 5),
            tokens_10: ranked.iter().take(10).map(|(.., tokens)| tokens).sum(),
            took_us,
            is_packed: wanted.is_subset(&packed),
            is_packed_or_summarized: wanted.is_subset(&packed_or_summarized),
            context_tokens: context.tokens,
        })
    }
}

/// Returns the pieces of an answer, best first: the turns of each, its session if it has one, and its tokens. A memory
/// counts as the turns on which it rests.
fn ranked(recall: &Recall) -> Vec<(Vec<TurnId>, Option<SessionId>, u32)> {
    let pieces = recall.items.iter().filter_map(|recalled| match &recalled.item {
        RecalledItem::Turn(turn) => Some((vec![turn.id], Some(turn.session_id), turn.tokens.piece_tokens)),
        RecalledItem::Summary { summary, .. } => {
            Some((vec![summary.original_turn_id], Some(summary.session_id), summary.summary_tokens))
        }
        RecalledItem::Memory(known) => {
            let turns = known.sources.iter().map(|source| source.turn_id).collect();
            let tokens = Config::default().tokenizer.count(&known.memory.content);
            Some((turns, None, tokens))
        }
        _ => None,
    });
    pieces.collect()
}

impl EvalRunner<'_> {
    /// Returns the turns that a context shows in a form that `counts` accepts. A summary counts as its turn, and a memory
    /// as the turns on which it rests.
    fn packed(
        &mut self,
        context: &Context,
        counts: impl Fn(PackedAs) -> bool,
    ) -> Result<HashSet<TurnId>, Failure> {
        let mut packed = HashSet::new();
        for item in context.items.iter().filter(|item| counts(item.packed_as)) {
            packed.extend(item.turn_id);
            if let Some(memory) = item.memory_id {
                packed.extend(self.turns_of(memory)?);
            }
        }
        Ok(packed)
    }

    fn turns_of(&mut self, memory: MemoryId) -> Result<&[TurnId], Failure> {
        if !self.rest_on.contains_key(&memory) {
            let sources = self.user.memories().sources(memory)?;
            let turns = sources.iter().filter_map(|source| match source.from {
                SourceName::Turn(turn) => Some(turn),
                _ => None,
            });
            self.rest_on.insert(memory, turns.collect());
        }
        Ok(&self.rest_on[&memory])
    }
}

fn groups(questions: &[EvalQuestion], rows: &[Measured]) -> BTreeMap<String, Means> {
    let mut groups: BTreeMap<String, Vec<&Measured>> = BTreeMap::new();
    for (question, row) in questions.iter().zip(rows) {
        let is_trap = TRAPS.contains(&question.category.as_str());
        groups.entry("all".to_owned()).or_default().push(row);
        groups.entry(question.category.clone()).or_default().push(row);
        if !is_trap {
            groups.entry("main".to_owned()).or_default().push(row);
        }
    }
    groups.into_iter().map(|(name, rows)| (name, Means::of(&rows))).collect()
}

/// Returns a table for each group, with a column for each profile.
fn text(report: &EvalReport, categories: bool) -> String {
    let Some(first) = report.profiles.first() else { return String::new() };
    let mut names: Vec<&String> = first.groups.keys().collect();
    names.retain(|name| {
        categories
            || name.as_str() == "main"
            || (name.as_str() == "all" && !first.groups.contains_key("main"))
    });
    names.sort_by_key(|name| (name.as_str() != "main", name.as_str() != "all", *name));
    let mut text = String::new();
    for name in names {
        if !text.is_empty() {
            text.push('\n');
        }
        let count = first.groups.get(name).map_or(0, |means| means.questions);
        let title = format!("{}, {}", plain::line(name, 24), counted(count, "question"));
        let _ = write!(text, "{title:<44}");
        for of in &report.profiles {
            let _ = write!(text, " {:>9}", of.profile);
        }
        text.push('\n');
        let means: Vec<&Means> = report.profiles.iter().filter_map(|of| of.groups.get(name)).collect();
        for (what, value) in ROWS {
            let _ = write!(text, "  {what:<42}");
            for means in &means {
                let _ = write!(text, " {:>9}", value(means));
            }
            text.push('\n');
        }
    }
    text
}

/// A row of a table: its name, and how to format its value.
type EvalRow = (&'static str, fn(&Means) -> String);

const ROWS: [EvalRow; 12] = [
    ("recall@5", |of| format!("{:.3}", of.recall_5)),
    ("recall@10", |of| format!("{:.3}", of.recall_10)),
    ("recall@20", |of| format!("{:.3}", of.recall_20)),
    ("hit@10", |of| format!("{:.3}", of.hit_10)),
    ("NDCG@10", |of| format!("{:.3}", of.ndcg_10.abs())),
    ("session recall@5", |of| format!("{:.3}", of.session_recall_5)),
    ("all evidence in a cold part, to the letter", |of| format!("{:.3}", of.packed)),
    ("the same, or by its summary", |of| format!("{:.3}", of.packed_or_summarized)),
    ("tokens of the best 10", |of| format!("{:.0}", of.tokens_10)),
    ("tokens of the context", |of| format!("{:.0}", of.context_tokens)),
    ("microseconds, median", |of| of.p50_us.to_string()),
    ("microseconds, 95th percentile", |of| of.p95_us.to_string()),
];
