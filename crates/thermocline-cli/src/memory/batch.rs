//! `thermocline memory save --batch`: saves many memories from a file with one JSON object per line.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use thermocline::{
    ErrorKind, Frequency, InformationType, MemoryKind, NewMemory, Origin, Outcome, Procedure, SaveOutcome,
    TaskType, Trust, Volatility, blocking::User,
};

use crate::{
    counts::counted,
    exit::{Exit, Failure},
    find::{self, Db},
    input,
    memory::{
        args::{ContentArgs, SaveArgs},
        content::{self, set},
    },
    output::Output,
};

/// The format of a line.
const FORM: &str = r#"like {"title":"...","content":"...","kind":"fix","tags":["redis"]}"#;

/// A line of the file: one memory.
#[derive(Deserialize)]
struct BatchLine {
    title: Option<String>,
    #[serde(alias = "text")]
    content: String,
    kind: Option<MemoryKind>,
    summary: Option<String>,
    tags: Option<Vec<String>>,
    entities: Option<Vec<String>>,
    steps: Option<Vec<String>>,
    importance: Option<f64>,
    confidence: Option<f64>,
    reliability: Option<f64>,
    frequency: Option<Frequency>,
    information_type: Option<InformationType>,
    volatility: Option<Volatility>,
    validity_window_s: Option<u64>,
    project: Option<String>,
    #[serde(alias = "goal_signature")]
    slot: Option<String>,
    task_type: Option<TaskType>,
    #[serde(default)]
    pinned: bool,
    outcome: Option<Outcome>,
    session: Option<String>,
    #[serde(alias = "id")]
    caller_id: Option<String>,
    said_at: Option<DateTime<Utc>>,
    origin: Option<Origin>,
    #[serde(default)]
    sources: Vec<SourceField>,
}

/// A turn, by any of its names, with or without a quote.
#[derive(Deserialize)]
#[serde(untagged)]
enum SourceField {
    Turn(String),
    Quoted {
        turn: String,
        #[serde(default)]
        quote: String,
    },
}

/// The results of a batch.
#[derive(Debug, Default, Serialize)]
struct Batched {
    new: usize,
    known: usize,
    restored: usize,
    superseded: usize,
    waiting: usize,
    /// The number of memories that were already saved, but are no longer active, for example because they were
    /// superseded.
    put_away: usize,
    /// The lines that were not saved because their callers' ids belong to memories with other texts.
    conflicts: Vec<usize>,
}

pub(super) fn run(db: &Db, args: &SaveArgs, out: &Output) -> Result<(), Failure> {
    let Some(file) = &args.batch else { return Ok(()) };
    db.check_writable()?;
    let origin = args.content.origin.or_who_sits_there(out);
    // All lines are checked before the file is opened, because an invalid batch must not create a database.
    let mut read = Vec::new();
    for (number, line) in input::json_lines::<BatchLine>(file, FORM)? {
        let at_line = |failure: Failure| failure.at("line", number as u64);
        let memory = line.memory(&args.content, origin).map_err(at_line)?;
        memory.check().map_err(|error| at_line(error.into()))?;
        read.push((number, line, memory));
    }
    let file = find::made(db, find::verb_config())?;
    let user = find::user_or_new(&file, &args.user)?;
    let memories = user.memories().by(origin);
    let progress = out.progress(Some(read.len() as u64 * BAR), "saving");
    let (mut batched, lines) = (Batched::default(), read.len());
    for (done, (number, line, memory)) in read.into_iter().enumerate() {
        progress.at_part(done, lines);
        let saved = line.with_sources(&user, memory).and_then(|memory| Ok(memories.save(memory)?));
        // The text of a known memory may have been edited since, which is no reason to skip the remaining lines.
        if saved.as_ref().is_err_and(|failure| failure.kind() == Some(ErrorKind::Conflict)) {
            batched.conflicts.push(number);
            continue;
        }
        let saved = saved.map_err(|failure| {
            let before = format!(
                "; {} before it {} saved",
                counted(done, "line"),
                if done == 1 { "is" } else { "are" }
            );
            failure.at("line", number as u64).within("", &before)
        })?;
        batched.count(saved.outcome);
    }
    drop(progress);
    out.answer(&batched, text)?;
    match batched.conflicts.as_slice() {
        [] => Ok(()),
        conflicts => Err(Failure::new(
            Exit::Refused,
            format!(
                "{} not saved ({}): their caller ids or texts belong to memories that now say something \
                 else or are in quarantine; all other lines are saved",
                counted(conflicts.len(), "line"),
                some_of(conflicts)
            ),
        )),
    }
}

/// Names some of the lines: `line 3, 7, 8, ...`.
fn some_of(numbers: &[usize]) -> String {
    const SOME: usize = 5;
    let some: Vec<String> = numbers.iter().take(SOME).map(ToString::to_string).collect();
    format!("line {}{}", some.join(", "), if numbers.len() > SOME { ", ..." } else { "" })
}

/// The number of bytes that the progress bar counts for each line.
const BAR: u64 = 1 << 10;

impl BatchLine {
    /// Returns the memory that the line describes, without its sources. The command line gives the defaults for all
    /// lines.
    fn memory(&self, args: &ContentArgs, most: Origin) -> Result<NewMemory, Failure> {
        let origin = self.origin.unwrap_or(most);
        if Trust::of(origin) > Trust::of(most) {
            return Err(Failure::refused(format!(
                "its origin {} is trusted more than {}; add --origin {0} if it is right",
                origin.as_str(),
                most.as_str()
            )));
        }
        let title = self.title.clone().unwrap_or_else(|| content::title_of(&self.content));
        let default = if self.steps.is_some() { MemoryKind::Procedure } else { MemoryKind::General };
        let kind = self.kind.or(args.kind).unwrap_or(default);
        let mut new = content::described(args, (kind, origin), (title, self.content.clone()));
        if let Some(steps) = &self.steps {
            new = new.procedure(Procedure::new(steps.iter().cloned()));
        }
        if let Some(tags) = &self.tags {
            new = new.tags(args.tag.iter().chain(tags).cloned());
        }
        if self.pinned {
            new = new.pinned();
        }
        let new = set(new, self.summary.as_deref(), NewMemory::summary);
        let new = set(new, self.entities.clone(), NewMemory::entities);
        let new = set(new, self.importance, NewMemory::importance);
        let new = set(new, self.confidence, NewMemory::confidence);
        let new = set(new, self.reliability, NewMemory::reliability);
        let new = set(new, self.frequency, NewMemory::frequency);
        let new = set(new, self.information_type, NewMemory::information_type);
        let new = set(new, self.volatility, NewMemory::volatility);
        let window = self.validity_window_s.map(Duration::from_secs);
        let new = set(new, window, NewMemory::validity_window);
        let new = set(new, self.project.as_deref(), NewMemory::project);
        let new = set(new, self.slot.as_deref(), NewMemory::goal_signature);
        let new = set(new, self.task_type, NewMemory::task_type);
        let new = set(new, self.outcome, NewMemory::outcome);
        let new = set(new, self.caller_id.as_deref(), NewMemory::caller_id);
        Ok(set(new, self.said_at, NewMemory::said_at))
    }

    /// Adds the turns from which the memory comes, and the session.
    fn with_sources(&self, user: &User, mut new: NewMemory) -> Result<NewMemory, Failure> {
        for source in &self.sources {
            let (turn, quote) = match source {
                SourceField::Turn(turn) => (turn, ""),
                SourceField::Quoted { turn, quote } => (turn, quote.as_str()),
            };
            new = new.source(content::source(user, turn)?, quote);
        }
        match &self.session {
            Some(session) => Ok(new.session(find::session(user, session)?.id())),
            None => Ok(new),
        }
    }
}

impl Batched {
    fn count(&mut self, outcome: SaveOutcome) {
        match outcome {
            SaveOutcome::Known => self.known += 1,
            SaveOutcome::Restored => self.restored += 1,
            SaveOutcome::Superseded(_) => self.superseded += 1,
            SaveOutcome::Waits(_) => self.waiting += 1,
            SaveOutcome::PutAway => self.put_away += 1,
            _ => self.new += 1,
        }
    }
}

fn text(batched: &Batched) -> String {
    let mut parts = vec![format!("saved {} new", batched.new)];
    for (count, what) in [
        (batched.superseded, "in place of others"),
        (batched.known, "already known"),
        (batched.restored, "that hold again"),
        (batched.waiting, "that wait for a person"),
        (batched.put_away, "known but not active"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.join(", ") + "\n"
}
