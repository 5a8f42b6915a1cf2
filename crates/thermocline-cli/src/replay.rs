//! `thermocline replay`: records the conversations of a transcript. Each turn is recorded only once, even if the replay
//! is repeated.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{
    Clock, JobKind, RecordOutcome, Recorded, SessionId, SystemClock, TierStats,
    blocking::{Session, Thermocline, User},
};

use crate::{
    args::{ReplayArgs, TranscriptFormat},
    counts::counted,
    exit::{Exit, Failure},
    find::{self, Db},
    openai::{self, Conversations, LeftOut},
    output::{Output, Progress},
    pages, paper, stats,
    transcript::{Transcript, TranscriptLine},
};

/// The result of a replay, and what the file contains now.
#[derive(Debug, Serialize)]
struct ReplaySummary {
    turns_new: usize,
    turns_known: usize,
    sessions: usize,
    /// The turns by tier, of all users in the file.
    tiers: Vec<TierStats>,
    /// The messages of the transcript that are in no turn; `None` if its format has no such messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
    /// The number of jobs, of all users, that compress an ended session.
    #[serde(skip)]
    to_compress: usize,
}

pub(crate) fn run(db: &Db, args: &ReplayArgs, out: &Output) -> Result<(), Failure> {
    db.check_writable()?;
    match args.format {
        TranscriptFormat::Jsonl => lines(db, args, out),
        TranscriptFormat::Openai => conversations(db, args, out),
    }
}

/// Replays a transcript line by line, or a database turn by turn, because either may be larger than memory.
fn lines(db: &Db, args: &ReplayArgs, out: &Output) -> Result<(), Failure> {
    type Lines<'f> = Box<dyn Iterator<Item = Result<TranscriptLine, (u64, Failure)>> + 'f>;
    let is_database = paper::is_database(&args.transcript);
    if args.from_user.is_some() && !is_database {
        return Err(Failure::refused("--from-user is for a database, and this is a transcript"));
    }
    let database =
        is_database.then(|| paper::open(&args.transcript, args.from_user.as_deref())).transpose()?;
    let (lines, progress, entry): (Lines<'_>, _, _) = if let Some((file, user)) = &database {
        (Box::new(paper::lines(file.turns(user)?)), out.progress(None, "replaying"), "turn")
    } else {
        let (input, progress) = open(&args.transcript, out)?;
        (Box::new(Transcript::new(BufReader::new(input))), progress, "line")
    };
    let latest = latest(args);
    let mut lines = lines.map(|line| {
        let line = line?;
        check_date(&line, latest).map_err(|failure| (line.number, failure))?;
        Ok(line)
    });
    let at_line = |number, turns, failure| after(entry, turns, Failure::at(failure, entry, number));
    // Read before the file is opened, because an invalid transcript must not create a database.
    let first = lines.next().transpose().map_err(|(number, failure)| at_line(number, 0, failure))?;
    let memory = find::made(db, find::verb_config())?;
    let mut replay = Replay::new(find::user_or_new(&memory, &args.user)?);
    for line in first.into_iter().map(Ok).chain(lines) {
        let (number, taken) = match line {
            Ok(line) => {
                progress.at(line.end_bytes);
                (line.number, replay.take(&line))
            }
            Err((number, failure)) => (number, Err(failure)),
        };
        taken.map_err(|failure| at_line(number, replay.turns(), failure))?;
    }
    let summary = replay.finish(args.end, &memory)?;
    drop(progress);
    out.answer(&summary, text)
}

/// Replays conversations; all of them are read before the file is opened.
fn conversations(db: &Db, args: &ReplayArgs, out: &Output) -> Result<(), Failure> {
    let (input, progress) = open(&args.transcript, out)?;
    let of_file = args.transcript.file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
    let Conversations { lines, left_out } = openai::read(input, args.name.as_deref().or(of_file))?;
    let latest = latest(args);
    for line in &lines {
        check_date(line, latest).map_err(|failure| failure.at("conversation", line.number))?;
    }
    let memory = find::made(db, find::verb_config())?;
    let mut replay = Replay::new(find::user_or_new(&memory, &args.user)?);
    for (done, line) in lines.iter().enumerate() {
        progress.at_part(done, lines.len());
        replay
            .take(line)
            .map_err(|failure| after("turn", replay.turns(), failure.at("conversation", line.number)))?;
    }
    let summary = ReplaySummary { left_out: Some(left_out), ..replay.finish(args.end, &memory)? };
    drop(progress);
    out.answer(&summary, text)
}

/// Returns the latest date that a turn may have; `None` if any date is allowed.
fn latest(args: &ReplayArgs) -> Option<DateTime<Utc>> {
    (!args.future).then(|| SystemClock.now() + TimeDelta::days(1))
}

/// Refuses a turn from the future: it would stay the newest turn until its date has passed, and the date is usually a
/// mistake.
fn check_date(line: &TranscriptLine, latest: Option<DateTime<Utc>>) -> Result<(), Failure> {
    match line.said_at {
        Some(at) if latest.is_some_and(|latest| at > latest) => Err(Failure::refused(format!(
            "its date, {}, is more than a day ahead of this machine's clock; fix it, or add --future \
             if it is right",
            at.format("%Y-%m-%d")
        ))),
        _ => Ok(()),
    }
}

/// Opens the transcript, and a progress bar of its length.
fn open(path: &Path, out: &Output) -> Result<(Box<dyn Read>, Progress), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), out.progress(None, "replaying")));
    }
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::no_file("transcript", path, error),
        _ => Failure::caused(Exit::FileUnusable, "the transcript cannot be opened", error),
    })?;
    // A pipe has no length.
    let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    Ok((Box::new(file), out.progress(total, "replaying")))
}

/// Adds to a failure what happened to the line or turn that failed, and to those before it.
fn after(what: &str, turns: usize, failure: Failure) -> Failure {
    let stay = match turns {
        0 => "no turn was recorded before it".to_owned(),
        1 => "the turn before it stays recorded".to_owned(),
        _ => format!("the {} before it stay recorded", counted(turns, "turn")),
    };
    let after = match failure.exit() {
        Exit::Refused => format!("; nothing of this {what} was written, {stay}"),
        _ => format!("; {stay}, and the same command resumes from there"),
    };
    failure.within("", &after)
}

/// The state of a replay.
struct Replay {
    user: User,
    current: Option<Current>,
    /// The keys of the sessions that a later one has ended; such a session must not occur again.
    ended: HashSet<String>,
    turns_new: usize,
    turns_known: usize,
}

/// The session of the last line.
struct Current {
    key: String,
    session: Session,
}

impl Replay {
    fn new(user: User) -> Self {
        Self { user, current: None, ended: HashSet::new(), turns_new: 0, turns_known: 0 }
    }

    fn turns(&self) -> usize {
        self.turns_new + self.turns_known
    }

    /// Records a line, unless its turn is known. Everything that could refuse the line is checked before the first write,
    /// because an invalid line must not end the previous session, or start one.
    fn take(&mut self, line: &TranscriptLine) -> Result<(), Failure> {
        let turn = line.to_turn();
        let known = self.user.find_recorded(&turn)?;
        let session = self.session_of(line)?;
        if let Some(known) = &known {
            self.check_same_session(known, session.as_ref())?;
        }

        let session = match session {
            Some(session) => session,
            None => self.user.session_named(&line.session)?,
        };
        if self.current.as_ref().is_some_and(|current| current.key != line.session) {
            self.end_current()?;
        }
        let recorded = match known {
            Some(known) => known,
            None => session.record(turn)?,
        };
        match recorded.outcome {
            RecordOutcome::New => self.turns_new += 1,
            _ => self.turns_known += 1,
        }
        self.current = Some(Current { key: line.session.clone(), session });
        Ok(())
    }

    /// Returns the line's session; `None` if it does not exist yet.
    fn session_of(&self, line: &TranscriptLine) -> Result<Option<Session>, Failure> {
        match &self.current {
            Some(current) if current.key == line.session => Ok(Some(current.session.clone())),
            _ if self.ended.contains(&line.session) => Err(Failure::refused(
                "an earlier line ended its session; a session's lines must be consecutive",
            )),
            _ => Ok(self.user.find_session(&line.session)?),
        }
    }

    /// Checks that a known turn is in the line's session. The same id and text in another session is a different turn,
    /// which would be lost if it counted as known.
    fn check_same_session(&self, known: &Recorded, session: Option<&Session>) -> Result<(), Failure> {
        let wanted = session.map(Session::id);
        let mut next = Some(known.session_id);
        while let Some(id) = next {
            if wanted == Some(id) {
                return Ok(());
            }
            next = self.successor(id)?;
        }
        Err(Failure::refused("its id is already taken by a turn of another session"))
    }

    /// Returns the id of the session that continues this one.
    fn successor(&self, id: SessionId) -> Result<Option<SessionId>, Failure> {
        Ok(self.user.session_by_id(id)?.info()?.successor_id)
    }

    /// Ends the session of the previous lines, at the time of its last turn, unless it has already ended.
    fn end_current(&mut self) -> Result<(), Failure> {
        if let Some(Current { key, session }) = self.current.take() {
            let info = session.info()?;
            match session.turn(info.turn_count)? {
                _ if info.ended_at.is_some() => info,
                Some(last) => session.end_at(last.timestamp)?,
                None => session.end()?,
            };
            self.ended.insert(key);
        }
        Ok(())
    }

    fn finish(mut self, end: bool, memory: &Thermocline) -> Result<ReplaySummary, Failure> {
        let sessions = self.ended.len() + usize::from(self.current.is_some());
        if end {
            self.end_current()?;
        }
        let (turns_new, turns_known) = (self.turns_new, self.turns_known);
        let to_compress = pages::jobs(memory)?.iter().filter(|job| job.kind == JobKind::Compress).count();
        let tiers = memory.stats()?.tiers;
        Ok(ReplaySummary { turns_new, turns_known, sessions, tiers, left_out: None, to_compress })
    }
}

fn text(summary: &ReplaySummary) -> String {
    let ReplaySummary { turns_new, turns_known, sessions, tiers, left_out, to_compress } = summary;
    let left_out = left_out.as_ref().and_then(LeftOut::line).map_or_else(String::new, |line| line + "\n");
    let waiting = match to_compress {
        0 => String::new(),
        1 => "1 session has ended and waits: thermocline jobs run compresses it.\n".to_owned(),
        n => format!("{n} sessions have ended and wait: thermocline jobs run compresses them.\n"),
    };
    format!(
        "{} in {}: {} new, {} known from before.\n{left_out}The file now holds, of all users:\n{}{waiting}",
        counted(turns_new + turns_known, "turn"),
        counted(*sessions, "session"),
        HumanCount(*turns_new as u64),
        HumanCount(*turns_known as u64),
        stats::tiers(tiers)
    )
}
