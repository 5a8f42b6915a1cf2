//! `thermocline demo`: a short story, told to a new memory, and what the memory makes of it.

use std::{
    env,
    fmt::Write as _,
    fs::DirBuilder,
    io,
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{
    Config, Context, ContextOptions, ManualClock, MemoryTier, Transition,
    blocking::{Session, Thermocline, User},
};

use crate::{
    context,
    counts::{counted, ranges},
    exit::{Exit, Failure},
    find,
    output::Output,
    pages, plain, session,
    transcript::{Line, Transcript},
};

const STORY: &str = include_str!("story.jsonl");
/// Whose story it is.
const USER: &str = "demo";
/// Asked at the end. What it refers back to was said in a turn that has long been warm.
const MESSAGE: &str = "You mentioned a knot for the iron ring earlier, what was it?";
/// Small enough that the turns of the last session compete for it.
const BUDGET_TOKENS: u32 = 560;
/// What a terminal shows in a line.
const WIDTH: usize = 100;

const INTRODUCTION: &str = "\
Nora mends her grandfather's boat, and talks about it with an assistant. Each turn (her message and the reply) \
enters hot. At most 5 turns and 1,500 tokens are hot: the oldest must leave for warm if there are more turns \
(turn_limit) or more tokens (token_budget), and all of them when the session ends (session_end).";

/// The whole demo, for `--json`.
#[derive(Debug, Serialize)]
struct Told {
    file: String,
    user: &'static str,
    turns: Vec<Entered>,
    sessions: Vec<Home>,
    message: &'static str,
    context: Context,
}

/// A turn that entered hot, and what had to leave for it.
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

/// Where the turns of a session live in the end.
#[derive(Debug, Default, Serialize)]
struct Home {
    session: String,
    hot: Amount,
    warm: Amount,
    cold: Amount,
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
    // The story's own time, so that it is the same on every day.
    let clock = Arc::new(ManualClock::new(DateTime::UNIX_EPOCH));
    let mut config = Config::default();
    config.worker = false;
    config.clock = clock.clone();
    let memory = Thermocline::open_with(&file, config)?;
    check_is_new(&memory)?;
    let told = Telling { memory: &memory, clock: &clock, out }.tell(&story, file.display().to_string())?;
    out.answer(&told, ending)
}

fn story() -> Result<Vec<Line>, Failure> {
    Transcript::new(STORY.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|(number, failure)| failure.within(&format!("line {number} of the story: "), ""))
}

/// A file in a new folder, which only its owner can enter.
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
                let message = "no temporary folder could be made; name a file with --db";
                return Err(Failure::caused(Exit::FileUnusable, message, error));
            }
        }
    }
}

fn check_is_new(memory: &Thermocline) -> Result<(), Failure> {
    match memory.find_user(USER)? {
        Some(user) if !user.sessions(None, 1)?.is_empty() => Err(Failure::refused(format!(
            "the user {USER} already has sessions in this file; name another one, or none for a temporary one"
        ))),
        _ => Ok(()),
    }
}

/// The story on its way into the memory, and onto the screen.
struct Telling<'a> {
    memory: &'a Thermocline,
    clock: &'a ManualClock,
    out: &'a Output,
}

impl Telling<'_> {
    fn tell(&self, story: &[Line], file: String) -> Result<Told, Failure> {
        self.clock.set(said_at(&story[0]));
        let user = self.memory.user(USER)?;
        self.say(&plain::wrapped(INTRODUCTION, WIDTH, "", ""))?;
        let mut turns = Vec::new();
        for lines in story.chunk_by(|before, line| before.session == line.session) {
            turns.extend(self.tell_session(&user, lines)?);
            // The last session stays open: what is hot is hot there.
            if lines.last().map(|line| line.number) != story.last().map(|line| line.number) {
                self.end_session(&user, &lines[0].session)?;
            }
        }
        self.clock.advance(TimeDelta::minutes(10));
        let sessions =
            pages::sessions(&user)?.iter().rev().map(|info| home(&user, info)).collect::<Result<_, _>>()?;
        let options = ContextOptions::default().budget_tokens(BUDGET_TOKENS);
        let context = find::newest_session(&user)?.context(MESSAGE, options)?;
        Ok(Told { file, user: USER, turns, sessions, message: MESSAGE, context })
    }

    fn tell_session(&self, user: &User, lines: &[Line]) -> Result<Vec<Entered>, Failure> {
        self.clock.set(said_at(&lines[0]));
        let session = user.session_named(&lines[0].session)?;
        self.say(&format!("\n{}, {}\n", lines[0].session, said_at(&lines[0]).format("%-d %B %Y")))?;
        self.say("  turn  tokens  then hot holds            what Nora said\n")?;
        lines
            .iter()
            .map(|line| {
                self.clock.set(said_at(line));
                let entered = enter(&session, line)?;
                let row = row(&entered, &plain::line(&line.user, 56));
                self.say(&row)?;
                Ok(entered)
            })
            .collect()
    }

    fn end_session(&self, user: &User, key: &str) -> Result<(), Failure> {
        let session = user.session_named(key)?;
        let before = pages::transitions_from(&session, 1)?;
        session.end()?;
        let mut moves = pages::transitions_from(&session, 1)?;
        moves.retain(|moved| !before.contains(moved));
        self.say(&format!("   end                          {}\n", moved(&moves)))
    }

    /// As it goes, for people; for programs all comes at the end.
    fn say(&self, text: &str) -> Result<(), Failure> {
        if self.out.is_json() { Ok(()) } else { self.out.print(text) }
    }
}

fn said_at(line: &Line) -> DateTime<Utc> {
    line.said_at.unwrap_or_default()
}

fn enter(session: &Session, line: &Line) -> Result<Entered, Failure> {
    let recorded = session.record(line.to_turn())?;
    let mut moves = pages::transitions_from(&session, 1)?;
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
    let mut home = Home { session: session::name(info), ..Home::default() };
    for turn in session::turns_from(&user.session_by_id(info.id)?, 1, info.turn_count)? {
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
    let hot_turns = counted(entered.hot_turns, "turn");
    let hot = format!("{hot_turns}, {} tokens", HumanCount(entered.hot_tokens.into()));
    let (number, tokens) = (entered.turn_number, HumanCount(entered.total_tokens.into()).to_string());
    let mut row = format!("{number:>6}  {tokens:>6}  {hot:<24}  {said}\n");
    if !entered.moves.is_empty() {
        let _ = writeln!(row, "{:>32}{}", "", moved(&entered.moves));
    }
    row
}

/// `turns 3-7 -> warm (session_end)`, for each reason.
fn moved(moves: &[Transition]) -> String {
    let group = |group: &[Transition]| {
        let numbers: Vec<u32> = group.iter().map(|moved| moved.turn_number).collect();
        let turns = if numbers.len() == 1 { "turn" } else { "turns" };
        let (to, reason) = (group[0].to.as_str(), group[0].reason.as_str());
        format!("{turns} {} -> {to} ({reason})", ranges(&numbers))
    };
    moves.chunk_by(|a, b| (a.to, a.reason) == (b.to, b.reason)).map(group).collect::<Vec<_>>().join(", ")
}

/// What stands below the story: the tiers, the question, its context, and what to try.
fn ending(told: &Told) -> String {
    let about = format!(
        "The LLM gets this with it. Recent turns come first; of the earlier ones, what the message refers back to, \
         then the newest: {}.",
        context::about(&told.context)
    );
    [
        "\nWhere the turns live now\n",
        &homes(&told.sessions),
        "  (cold is for compressed sessions: jobs run compresses those that have ended)\n",
        &format!("\nNow Nora asks: \"{}\"\n", told.message),
        &plain::wrapped(&about, WIDTH, "", ""),
        "\n",
        &plain::wrapped(&told.context.text, WIDTH, "  ", "    "),
        &to_try(&told.file),
    ]
    .concat()
}

fn homes(homes: &[Home]) -> String {
    let mut table = format!("  {:<12}  {:<22}  {:<22}  cold\n", "session", "hot", "warm");
    for Home { session, hot, warm, cold } in homes {
        let _ = writeln!(table, "  {session:<12}  {:<22}  {:<22}  {}", held(hot), held(warm), held(cold));
    }
    table
}

fn held(amount: &Amount) -> String {
    match (counted(amount.turns, "turn"), HumanCount(amount.tokens.into())) {
        _ if amount.turns == 0 => "-".to_owned(),
        (turns, tokens) => format!("{turns}, {tokens} tokens"),
    }
}

fn to_try(file: &str) -> String {
    let file = in_shell(&plain::line(file, usize::MAX));
    format!(
        "\nAll of it is in {file}. Look into it:\n  \
         thermocline --db {file} session show --user {USER} the-letter\n  \
         thermocline --db {file} context --user {USER} \"What did I say about Henk?\"\n  \
         thermocline --db {file} jobs run\n  \
         sqlite3 -readonly -box {file} \"SELECT session, memory_tier, turns, tokens FROM v_tiers\"\n"
    )
}

/// The word as a shell takes it.
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
