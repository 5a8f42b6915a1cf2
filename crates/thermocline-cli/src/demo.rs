//! `thermocline demo`: records a short story in a new memory, and shows what the memory does with it.

use std::{
    env,
    fmt::Write as _,
    fs::DirBuilder,
    io,
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use chrono::{DateTime, Utc};
use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{
    Anchor, Config, Context, ContextOptions, ManualClock, Memory, MemoryKind, MemoryTier, NewMemory, Origin,
    Receipt, RunJobs, Transition,
    blocking::{Session, Thermocline, User},
};

use crate::{
    context,
    counts::{counted, ranges},
    exit::{Exit, Failure},
    output::Output,
    pages, plain, session,
    transcript::{Transcript, TranscriptLine},
    why,
};

const STORY: &str = include_str!("story.jsonl");
/// The user in the story.
const USER: &str = "demo";
/// The session in which the question is asked.
const NEW_SESSION: &str = "the-morning";
const ASKED_AT: &str = "2026-06-20T08:30:00Z";
/// The question at the end, in a new session. Parts of the answer were said five and fourteen weeks before; one was saved
/// as a memory.
const MESSAGE: &str = "My sister marries today! When do we push off, which knot was it for the iron ring, and what keeps the oars quiet?";
/// A budget so small that the recalled items compete for space.
const BUDGET_TOKENS: u32 = 380;
/// The number of reasons that are shown, so that all fit on the screen.
const REASONS: usize = 3;
/// The width of a terminal line.
const WIDTH: usize = 100;

const INTRODUCTION: &str = "\
Nora mends her grandfather's boat, and talks about it with an assistant. Each turn (her message and the reply) \
enters hot. At most 5 turns and 1,500 tokens are hot: the oldest must leave for warm if there are more turns \
(turn_limit) or more tokens (token_budget), and all of them when the session ends (session_end).";

/// The report of the whole demo, for `--json`.
#[derive(Debug, Serialize)]
struct DemoReport {
    file: String,
    user: &'static str,
    turns: Vec<Entered>,
    sessions: Vec<Home>,
    anchors: Vec<Anchor>,
    memories: Vec<Memory>,
    message: &'static str,
    context: Context,
    receipt: Receipt,
    /// The reasons as text, for people.
    #[serde(skip)]
    reasons: String,
}

/// A turn that became hot, and the turns that it moved out of hot.
#[derive(Debug, Serialize)]
struct Entered {
    session: String,
    turn_number: u32,
    said_at: DateTime<Utc>,
    total_tokens: u32,
    hot_turns: usize,
    hot_tokens: u32,
    moves: Vec<Transition>,
}

/// The number of a session's turns in each tier, at the end.
#[derive(Debug, Default, Serialize)]
struct Home {
    session: String,
    hot: Amount,
    warm: Amount,
    cold: Amount,
    /// How many of the cold turns are replaced by a summary.
    summarized: usize,
}

#[derive(Debug, Default, Serialize)]
struct Amount {
    turns: usize,
    tokens: u32,
}

pub(crate) fn run(db: Option<&Path>, out: &Output) -> Result<(), Failure> {
    let story = story()?;
    let file = match db {
        Some(file) => file.to_owned(),
        None => temporary_file()?,
    };
    // The demo has its own clock, so that the result is the same on every day.
    let clock = Arc::new(ManualClock::new(DateTime::UNIX_EPOCH));
    let mut config = Config::default();
    config.worker = false;
    config.clock = clock.clone();
    let memory = Thermocline::open_with(&file, config)?;
    check_is_new(&memory)?;
    let told = Telling { memory: &memory, clock: &clock, out }.tell(&story, file.display().to_string())?;
    out.answer(&told, ending)
}

fn story() -> Result<Vec<TranscriptLine>, Failure> {
    Transcript::new(STORY.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|(number, failure)| failure.within(&format!("line {number} of the story: "), ""))
}

/// Returns the path of a file in a new folder that only its owner can access.
fn temporary_file() -> Result<PathBuf, Failure> {
    let mut number = 0;
    loop {
        let folder = env::temp_dir().join(format!("thermocline-demo-{}-{number}", process::id()));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&folder) {
            Ok(()) => return Ok(folder.join("demo.db")),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                let message = "a temporary folder could not be created; name a file with --db";
                return Err(Failure::caused(Exit::FileUnusable, message, error));
            }
        }
    }
}

fn check_is_new(memory: &Thermocline) -> Result<(), Failure> {
    match memory.find_user(USER)? {
        Some(user) if !user.sessions(None, 1)?.is_empty() => Err(Failure::refused(format!(
            "the user {USER} already has sessions in this file; name another file, or none \
             for a temporary one"
        ))),
        _ => Ok(()),
    }
}

/// The parts that tell the story: the memory that records it, its clock, and the output.
struct Telling<'a> {
    memory: &'a Thermocline,
    clock: &'a ManualClock,
    out: &'a Output,
}

impl Telling<'_> {
    fn tell(&self, story: &[TranscriptLine], file: String) -> Result<DemoReport, Failure> {
        self.clock.set(said_at(&story[0]));
        let user = self.memory.user(USER)?;
        self.say(&plain::wrapped(INTRODUCTION, WIDTH, "", ""))?;
        let mut turns = Vec::new();
        for lines in story.chunk_by(|before, line| before.session == line.session) {
            let is_first = turns.is_empty();
            turns.extend(self.tell_session(&user, lines, is_first)?);
            // The last session stays open, so that it has hot turns.
            if lines.last().map(|line| line.number) != story.last().map(|line| line.number) {
                self.end_session(&user, &lines[0].session)?;
            }
        }
        let memory = NewMemory::new(
            MemoryKind::Decision,
            "Push off at two on the wedding day",
            "Twenty minutes for the crossing, ten for the dress on either side. The ceremony starts at three.",
        );
        let saved = user.memories().save(memory.origin(Origin::User))?;
        self.clock.set(ASKED_AT.parse().expect("a time"));
        let context = user
            .session_named(NEW_SESSION)?
            .context(MESSAGE, ContextOptions::default().budget_tokens(BUDGET_TOKENS))?;
        let receipt = user.receipt_with_texts(context.receipt)?;
        let mut sessions = pages::sessions(&user)?;
        sessions.retain(|info| info.turn_count > 0);
        Ok(DemoReport {
            file,
            user: USER,
            turns,
            sessions: sessions.iter().rev().map(|info| home(&user, info)).collect::<Result<_, _>>()?,
            anchors: user.anchors(None, 10)?,
            memories: vec![saved.memory],
            message: MESSAGE,
            reasons: why::reasons(&receipt, REASONS),
            context,
            receipt: receipt.receipt,
        })
    }

    /// Records a session. Shows its first turn and those that move others, if it is the first session; otherwise only the
    /// moves.
    fn tell_session(
        &self,
        user: &User,
        lines: &[TranscriptLine],
        is_first: bool,
    ) -> Result<Vec<Entered>, Failure> {
        self.clock.set(said_at(&lines[0]));
        let session = user.session_named(&lines[0].session)?;
        let head = format!("{}, {}", lines[0].session, said_at(&lines[0]).format("%-d %B %Y"));
        self.say(&format!("\n{}: {}\n", bold(&head), counted(lines.len(), "turn")))?;
        let mut all = Vec::new();
        for line in lines {
            self.clock.set(said_at(line));
            let entered = enter(&session, line)?;
            // Shows the first turn, and each turn that moves others out of hot.
            if is_first && (all.is_empty() || !entered.moves.is_empty()) {
                self.say(&row(&entered, &plain::line(&line.user, 38)))?;
            }
            all.push(entered);
        }
        if !is_first {
            let mut moves: Vec<Transition> = all.iter().flat_map(|entered| entered.moves.clone()).collect();
            moves.sort_by_key(|moved| moved.turn_number);
            self.say(&format!("  {}\n", moved(&moves)))?;
        }
        Ok(all)
    }

    /// Ends a session, and runs the job that compresses it.
    fn end_session(&self, user: &User, key: &str) -> Result<(), Failure> {
        let session = user.session_named(key)?;
        let before = pages::transitions_from(&session, 1)?;
        session.end()?;
        let mut shown = self.out.job_progress("compressing");
        self.memory.run_jobs(RunJobs::default().on_progress(move |progress| shown.at(progress)))?;
        let mut moves = pages::transitions_from(&session, 1)?;
        moves.retain(|moved| !before.contains(moved));
        // Each turn became warm and then cold; the moves to warm are shown first.
        moves.sort_by_key(|moved| (moved.to != MemoryTier::Warm, moved.turn_number));
        self.say(&format!("  it ends: {}\n", moved(&moves)))
    }

    /// Prints text for people at once; programs get the whole report at the end.
    fn say(&self, text: &str) -> Result<(), Failure> {
        if self.out.is_json() { Ok(()) } else { self.out.print(text) }
    }
}

fn said_at(line: &TranscriptLine) -> DateTime<Utc> {
    line.said_at.unwrap_or_default()
}

fn enter(session: &Session, line: &TranscriptLine) -> Result<Entered, Failure> {
    let recorded = session.record(line.to_turn())?;
    let mut moves = pages::transitions_from(session, 1)?;
    moves.retain(|moved| recorded.evicted.contains(&moved.turn_number));
    let hot = session.hot()?;
    let newest = hot.turns().last().map_or(0, |turn| turn.tokens.total_tokens);
    Ok(Entered {
        session: line.session.clone(),
        turn_number: recorded.turn_number,
        said_at: said_at(line),
        total_tokens: newest,
        hot_turns: hot.len(),
        hot_tokens: hot.total_tokens(),
        moves,
    })
}

fn home(user: &User, info: &thermocline::SessionInfo) -> Result<Home, Failure> {
    let session = user.session_by_id(info.id)?;
    let mut home = Home {
        session: session::name(info),
        summarized: pages::summaries_from(&session, 1)?.len(),
        ..Home::default()
    };
    for turn in session::turns_from(&session, 1, info.turn_count)? {
        let amount = match turn.memory_tier {
            MemoryTier::Hot => &mut home.hot,
            MemoryTier::Warm => &mut home.warm,
            _ => &mut home.cold,
        };
        amount.turns += 1;
        amount.tokens += turn.tokens.total_tokens;
    }
    Ok(home)
}

fn row(entered: &Entered, said: &str) -> String {
    let hot = format!(
        "hot: {}, {} tokens",
        counted(entered.hot_turns, "turn"),
        HumanCount(entered.hot_tokens.into())
    );
    let left = if entered.moves.is_empty() { String::new() } else { format!("; {}", moved(&entered.moves)) };
    format!("{:>4}  {said:<40}{hot}{left}\n", entered.turn_number)
}

/// Describes moves by reason: `turns 3-7 -> warm (session_end)`.
fn moved(moves: &[Transition]) -> String {
    let group = |group: &[Transition]| {
        let numbers: Vec<u32> = group.iter().map(|moved| moved.turn_number).collect();
        let turns = if numbers.len() == 1 { "turn" } else { "turns" };
        let (to, reason) = (tier(group[0].to), group[0].reason.as_str());
        format!("{turns} {} -> {to} ({reason})", ranges(&numbers))
    };
    moves.chunk_by(|a, b| (a.to, a.reason) == (b.to, b.reason)).map(group).collect::<Vec<_>>().join(", ")
}

/// Returns the end of the output: the tiers, what is known, the question, its context, the reasons, and commands to try.
fn ending(told: &DemoReport) -> String {
    let asked = format!("20 June 2026, a new conversation. Nora asks: \"{}\"", told.message);
    [
        &format!("\n{}\n", bold("Where the turns live now")),
        &homes(&told.sessions),
        &format!("\n{}\n", bold("What is known of Nora")),
        &known(told),
        "\n",
        &plain::wrapped(&asked, WIDTH, "", ""),
        &format!("Her LLM is handed this with it, {}:\n", context::about(&told.context)),
        &plain::wrapped(&told.context.text, WIDTH, "  ", "    "),
        &format!("\n{}\n", bold("Why these")),
        &told.reasons,
        &to_try(&told.file),
    ]
    .concat()
}

fn homes(homes: &[Home]) -> String {
    let mut table = String::new();
    for Home { session, hot, warm, cold, summarized } in homes {
        let held = [(MemoryTier::Hot, hot), (MemoryTier::Warm, warm), (MemoryTier::Cold, cold)]
            .into_iter()
            .filter(|(_, amount)| amount.turns > 0)
            .map(|(of, amount)| {
                format!(
                    "{} {}, {} tokens",
                    tier(of),
                    counted(amount.turns, "turn"),
                    HumanCount(amount.tokens.into())
                )
            })
            .collect::<Vec<_>>()
            .join("; ");
        let by = match summarized {
            0 => String::new(),
            n => format!("; of {n} a summary, and the original in the archive"),
        };
        let _ = writeln!(table, "  {session:<12}  {held}{by}");
    }
    table
}

fn known(told: &DemoReport) -> String {
    let mut text = String::new();
    for anchor in &told.anchors {
        let _ =
            writeln!(text, "  anchor   {}.{}: {}", anchor.subject, anchor.attribute.as_str(), anchor.value);
    }
    for memory in &told.memories {
        let _ = writeln!(
            text,
            "  memory   {}: {}, saved as the user's words",
            memory.kind.as_str(),
            memory.title
        );
    }
    text
}

fn bold(text: &str) -> String {
    console::style(text).bold().to_string()
}

/// Returns the tier's name, in colour if the terminal has colours.
fn tier(tier: MemoryTier) -> String {
    let name = console::style(tier.as_str());
    match tier {
        MemoryTier::Hot => name.red(),
        MemoryTier::Warm => name.yellow(),
        _ => name.blue(),
    }
    .to_string()
}

/// Returns commands that work in the folder where the demo was started.
fn to_try(file: &str) -> String {
    let file = in_shell(&plain::line(file, usize::MAX));
    let started = env::args().next().filter(|word| word.contains(std::path::MAIN_SEPARATOR));
    let command = in_shell(&plain::line(started.as_deref().unwrap_or("thermocline"), usize::MAX));
    format!(
        "\nAll of it is in {file}. Look into it:\n  \
         {command} --db {file} why --user {USER} last\n  \
         {command} --db {file} session turns --user {USER} the-letter\n  \
         {command} --db {file} chat --user {USER}\n  \
         sqlite3 -readonly -box {file} \"SELECT session, memory_tier, turns, tokens FROM v_tiers\"\n"
    )
}

/// Quotes a word for a shell, if necessary.
fn in_shell(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_is_short_and_every_line_of_it_is_sound() {
        let story = story().unwrap();
        assert!((20..=30).contains(&story.len()), "{}", story.len());
        assert!(story.iter().all(|line| line.said_at.is_some()));
        assert_eq!(story.chunk_by(|a, b| a.session == b.session).count(), 3);
    }

    #[test]
    fn a_path_is_quoted_where_a_shell_needs_it() {
        assert_eq!(in_shell("/tmp/a-1.db"), "/tmp/a-1.db");
        assert_eq!(in_shell("it's here.db"), r"'it'\''s here.db'");
    }
}
