//! `thermocline recall`: searches everything that a user ever said, and everything known, for a query.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use thermocline::{
    ItemKind, MemoryFlags, MemoryTier, Newer, Parts, RecallOptions, Recalled, RecalledItem, ReceiptId,
    SameSource, SourceTurn, Trust, blocking::User,
};

use crate::{
    args::instant,
    counts::timed,
    exit::Failure,
    find::{self, Db},
    input,
    output::Output,
    places::{self, Places},
    plain,
    recall_args::RecallArgs,
};

pub(crate) fn run(db: &Db, args: &RecallArgs, out: &Output) -> Result<(), Failure> {
    let mut config = args.sensors.add_to(args.reranker.add_to(args.embedder.config()?)?)?;
    if args.batch.is_some() {
        config.receipts = 0; // A batch would push out receipts that somebody may want to read.
    }
    let memory = find::memory_with(db, config)?;
    let user = find::user(&memory, &args.user)?;
    let places = Places::of(&user)?;
    let mut options = RecallOptions::default().k(args.k).profile(args.ranking.profile()?);
    options.filter = args.filter.filter(&user)?;
    options = args.of.add_to(options);
    options.now = args.now;
    if let Some(query) = &args.query {
        let mut answer = ask(&user, &places, query, options)?;
        if memory.is_read_only() {
            answer.receipt = None; // A file that is opened for reading only keeps no receipt.
        }
        for missing in &answer.missing {
            out.talk(&format!("missing: {missing}"));
        }
        return out.answer(&answer, |answer| text(answer, &args.user.user));
    }
    let Some(file) = &args.batch else { return Err(Failure::refused("no query was given")) };
    for (number, asked) in input::json_lines::<BatchQuery>(file, FORM)? {
        let answer =
            asked.options(options.clone()).and_then(|options| ask(&user, &places, &asked.query, options));
        let mut answer = answer.map_err(|failure| failure.within(&format!("line {number}: "), ""))?;
        answer.receipt = None;
        answer.items.iter_mut().for_each(|item| item.lines.clear());
        out.line(&answer)?;
    }
    Ok(())
}

/// The format of a line of a batch.
const FORM: &str = r#"{"query":"..."}, optionally with "now":"2026-06-01T12:00:00Z" and "k":20"#;

/// A line of a batch.
#[derive(Debug, Deserialize)]
struct BatchQuery {
    query: String,
    #[serde(default)]
    now: Option<String>,
    #[serde(default)]
    k: Option<usize>,
}

impl BatchQuery {
    /// Returns the options of this line; the command line gives the defaults.
    fn options(&self, mut options: RecallOptions) -> Result<RecallOptions, Failure> {
        options.k = self.k.or(options.k);
        if let Some(now) = &self.now {
            options.now = Some(instant(now).map_err(Failure::refused)?);
        }
        Ok(options)
    }
}

/// The answer as it is printed. Scripts rely on `items` and `took_us`.
#[derive(Debug, Serialize)]
struct PrintedAnswer {
    items: Vec<PrintedItem>,
    /// The confidence that something in the answer fits the query, from 0 to 1.
    confidence: f64,
    /// The parts of recall that failed or were not ready.
    missing: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptId>,
    /// The duration, in microseconds.
    took_us: u64,
}

#[derive(Debug, Serialize)]
struct PrintedItem {
    /// The caller's id of the turn, otherwise the turn's id; `None` for an anchor or a memory.
    turn: Option<String>,
    /// The session's key, otherwise its id.
    session: Option<String>,
    /// The turn's place in the session.
    turn_number: Option<u32>,
    kind: &'static str,
    said_at: Option<DateTime<Utc>>,
    tier: Option<&'static str>,
    score: f64,
    confidence: f64,
    parts: Parts,
    /// The reranker's score; `None` if the reranker was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_score: Option<f64>,
    /// What was said last about the same thing; `None` unless the query asks how things are.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<Newer>,
    tokens: u32,
    /// The caller's id of the memory, otherwise the memory's id; `None` for anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    /// The turns on which a memory rests, by their callers' ids, otherwise their ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<String>>,
    /// The trust in a memory, from 1 (a tool or a document says so) to 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<Trust>,
    /// The warnings about a memory.
    #[serde(skip_serializing_if = "MemoryFlags::is_empty")]
    flags: MemoryFlags,
    /// Ids of the turns and memories of the same piece of knowledge, which fit less well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same_source: Vec<SameSource>,
    /// The first words of what was said, one line for each side; empty in a batch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
}

fn ask(
    user: &User,
    places: &Places<'_>,
    query: &str,
    options: RecallOptions,
) -> Result<PrintedAnswer, Failure> {
    let (recall, took_us) = timed(|| user.recall(query, options));
    let recall = recall?;
    let items = recall.items.iter().map(|recalled| item(recalled, places)).collect();
    Ok(PrintedAnswer {
        items,
        confidence: recall.confidence,
        missing: recall.missing,
        receipt: Some(recall.receipt),
        took_us,
    })
}

fn item(recalled: &Recalled, places: &Places<'_>) -> PrintedItem {
    let shown = PrintedItem {
        turn: None,
        session: None,
        turn_number: None,
        kind: "other",
        said_at: None,
        tier: recalled.memory_tier().map(MemoryTier::as_str),
        score: recalled.score,
        confidence: recalled.confidence,
        parts: recalled.parts,
        rerank_score: recalled.rerank_score,
        newer: recalled.newer,
        tokens: 0,
        memory: None,
        sources: None,
        trust: None,
        flags: MemoryFlags::default(),
        same_source: recalled.same_source.clone(),
        lines: Vec::new(),
    };
    match &recalled.item {
        RecalledItem::Turn(turn) => PrintedItem {
            turn: Some(turn.caller_id.clone().unwrap_or_else(|| turn.id.to_string())),
            session: Some(places.session(turn.session_id)),
            turn_number: Some(turn.turn_number),
            kind: ItemKind::Turn.as_str(),
            said_at: Some(turn.timestamp),
            tokens: turn.tokens.piece_tokens,
            lines: places::sides(&turn.said),
            ..shown
        },
        RecalledItem::Summary { summary, caller_id, .. } => PrintedItem {
            turn: Some(caller_id.clone().unwrap_or_else(|| summary.original_turn_id.to_string())),
            session: Some(places.session(summary.session_id)),
            turn_number: Some(summary.turn_number),
            kind: ItemKind::Summary.as_str(),
            said_at: Some(summary.timestamp),
            tokens: summary.summary_tokens,
            lines: vec![format!("Summary: {}", plain::line(&summary.summary_text, 88))],
            ..shown
        },
        RecalledItem::Anchor(anchor) => {
            PrintedItem { kind: ItemKind::Anchor.as_str(), lines: vec![places::anchor_line(anchor)], ..shown }
        }
        RecalledItem::Memory(known) => {
            let memory = &known.memory;
            let name =
                |source: &SourceTurn| source.caller_id.clone().unwrap_or_else(|| source.turn_id.to_string());
            PrintedItem {
                kind: ItemKind::Memory.as_str(),
                said_at: Some(memory.said_at),
                memory: Some(memory.caller_id.clone().unwrap_or_else(|| memory.id.to_string())),
                sources: Some(known.sources.iter().map(name).collect()),
                trust: Some(memory.trust),
                flags: known.flags.clone(),
                lines: places::memory_lines(memory, &known.flags),
                ..shown
            }
        }
        _ => shown,
    }
}

/// Returns the answer for people: when, where and why for each result, and its first words below.
fn text(answer: &PrintedAnswer, user: &str) -> String {
    let mut text = String::new();
    if answer.items.is_empty() {
        text.push_str("Nothing fits.\n");
    } else {
        let _ = writeln!(text, "confidence {:.2} that something below answers", answer.confidence);
    }
    for (rank, item) in (1..).zip(&answer.items) {
        let reranked = item.rerank_score.map_or_else(String::new, |score| format!("reranked {score:.3}; "));
        let why = reranked + &item.parts.explain();
        match (&item.session, item.turn_number, item.said_at) {
            (Some(session), Some(number), Some(at)) => {
                let _ = writeln!(
                    text,
                    "{rank:>3}. {:.3}  {}  {}/{number}, {}  ({why})",
                    item.score,
                    at.format("%Y-%m-%d"),
                    plain::line(session, 40),
                    item.tier.unwrap_or(item.kind),
                );
            }
            (None, None, Some(at)) => {
                let on = at.format("%Y-%m-%d");
                let name = item.memory.as_ref().map_or_else(String::new, |name| plain::line(name, 60) + ", ");
                let _ = writeln!(text, "{rank:>3}. {:.3}  {on}  {name}{}  ({why})", item.score, item.kind);
            }
            _ => _ = writeln!(text, "{rank:>3}. {:.3}  {}", item.score, item.kind),
        }
        if let Some(newer) = item.newer {
            let _ = writeln!(text, "     <outdated? see {}>", newer.said_at.date_naive());
        }
        for line in &item.lines {
            let _ = writeln!(text, "     {line}");
        }
    }
    if let Some(receipt) = answer.receipt {
        let _ = writeln!(
            text,
            "\nReceipt {receipt}\n  thermocline why --user {} {receipt}",
            plain::line(user, 60)
        );
    }
    text
}
