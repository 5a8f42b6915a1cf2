//! `thermocline recall`: what fits a query among all that a user ever said.

use std::{collections::HashMap, fs, path::Path, time::Instant};

use serde::{Deserialize, Serialize};
use thermocline::{Parts, RecallOptions, Recalled, RecalledItem, SessionId, blocking::User};

use crate::{
    args::RecallArgs,
    exit::{Exit, Failure},
    find,
    output::Output,
    plain,
};

pub(crate) fn run(db: &Path, args: &RecallArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    let sessions = Sessions::of(&user)?;
    let mut options = RecallOptions::default();
    options.profile = args.ranking.profile()?;
    options.now = args.now;
    match (&args.query, &args.batch) {
        (Some(query), _) => {
            let asked = Asked { query: query.clone(), now: args.now, k: Some(args.k) };
            let answer = ask(&user, &sessions, &asked, options)?;
            for missing in &answer.missing {
                out.talk(&format!("missing: {missing}"));
            }
            out.answer(&answer, shown)
        }
        (None, Some(file)) => {
            for (line, asked) in questions(file)?.into_iter().enumerate() {
                let answer = ask(&user, &sessions, &asked, options)
                    .map_err(|failure| failure.within(&format!("line {}: ", line + 1), ""))?;
                out.line(&answer)?;
            }
            Ok(())
        }
        (None, None) => unreachable!("clap asks for one of them"),
    }
}

/// A line of a batch.
#[derive(Debug, Deserialize)]
struct Asked {
    query: String,
    #[serde(default)]
    now: Option<chrono::DateTime<chrono::Utc>>,
    #[serde(default)]
    k: Option<usize>,
}

/// What is printed of an answer.
#[derive(Debug, Serialize)]
struct Answer {
    items: Vec<Item>,
    missing: Vec<String>,
    took_us: u64,
}

#[derive(Debug, Serialize)]
struct Item {
    turn: Option<String>,
    session: Option<String>,
    kind: &'static str,
    said: Option<chrono::DateTime<chrono::Utc>>,
    tier: Option<&'static str>,
    score: f64,
    parts: Parts,
    tokens: u32,
    text: String,
}

/// What callers call their sessions; those without a key by their ids.
struct Sessions(HashMap<SessionId, String>);

impl Sessions {
    fn of(user: &User) -> Result<Self, Failure> {
        let named = user.sessions()?.into_iter().map(|session| {
            let name = session.caller_id.clone().unwrap_or_else(|| session.id.to_string());
            (session.id, name)
        });
        Ok(Self(named.collect()))
    }
}

fn ask(
    user: &User,
    sessions: &Sessions,
    asked: &Asked,
    mut options: RecallOptions,
) -> Result<Answer, Failure> {
    options.k = asked.k.or(options.k);
    options.now = asked.now.or(options.now);
    let started = Instant::now();
    let recall = user.recall(&asked.query, options)?;
    let took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let items = recall.items.iter().map(|recalled| item(recalled, sessions)).collect();
    Ok(Answer { items, missing: recall.missing, took_us })
}

fn item(recalled: &Recalled, sessions: &Sessions) -> Item {
    let (mut turn, mut session, mut said, mut tokens) = (None, None, None, 0);
    let (kind, text) = match &recalled.item {
        RecalledItem::Turn(found) => {
            turn = Some(found.caller_id.clone().unwrap_or_else(|| found.id.to_string()));
            session = Some(found.session_id);
            said = Some(found.timestamp);
            tokens = found.tokens.piece_tokens;
            ("turn", [&*found.said.user_message, &*found.said.ai_response].join(" / "))
        }
        RecalledItem::Summary { summary, caller_id, .. } => {
            turn = Some(caller_id.clone().unwrap_or_else(|| summary.original_turn_id.to_string()));
            session = Some(summary.session_id);
            said = Some(summary.timestamp);
            tokens = summary.summary_tokens;
            ("summary", summary.summary_text.clone())
        }
        RecalledItem::Anchor(anchor) => ("anchor", format!("{}: {}", anchor.key(), anchor.value)),
        _ => ("other", String::new()),
    };
    Item {
        turn,
        session: session.map(|id| sessions.0.get(&id).cloned().unwrap_or_else(|| id.to_string())),
        kind,
        said,
        tier: recalled.memory_tier().map(|tier| tier.as_str()),
        score: recalled.score,
        parts: recalled.parts,
        tokens,
        text,
    }
}

/// For people: a line of why, and the beginning of what was said.
fn shown(answer: &Answer) -> String {
    use std::fmt::Write as _;
    const SHOWN_CHARS: usize = 240;
    let mut text = String::new();
    if answer.items.is_empty() {
        text.push_str("nothing fits\n");
    }
    for (rank, item) in (1..).zip(&answer.items) {
        let said = item.said.map(|at| at.format("%Y-%m-%d").to_string()).unwrap_or_default();
        let place = [&item.session, &item.turn].map(|name| plain::line(name.as_deref().unwrap_or("-"), 40));
        let _ = writeln!(
            text,
            "{rank:>3}. {:.3}  {said}  {} {}  {} in {}  ({})",
            item.score,
            item.kind,
            item.tier.unwrap_or(""),
            place[1],
            place[0],
            item.parts.explain()
        );
        let _ = writeln!(text, "     {}", plain::line(&item.text, SHOWN_CHARS));
    }
    text
}

fn questions(file: &Path) -> Result<Vec<Asked>, Failure> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        fs::read_to_string(file)
    };
    let text = text
        .map_err(|error| Failure::caused(Exit::FileUnusable, "the queries could not be read", error))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error: serde_json::Error| {
                // serde_json may quote the line; only the place is passed on.
                Failure::refused(format!(
                    "line {}, column {}: no query; a line is {{\"query\":\"...\"}}, optionally with now and k",
                    at + 1,
                    error.column()
                ))
            })
        })
        .collect()
}
