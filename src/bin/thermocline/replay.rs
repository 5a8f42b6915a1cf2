//! `thermocline replay`: records the conversations of a transcript, each turn once, however often it is run.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{
    EndReason, ErrorKind, RecordOutcome, SessionId, TierStats, Turn, TurnId,
    blocking::{Session, Thermocline, User},
};

use crate::{
    cli::ReplayArgs,
    exit::{Exit, Failure},
    find,
    output::{Output, Progress},
    stats,
    transcript::{Line, Transcript},
};

/// What a replay did, and what the file holds now.
#[derive(Debug, Serialize)]
struct Summary {
    turns_new: u64,
    turns_known: u64,
    sessions: u64,
    /// Of all users of the file.
    tiers: Vec<TierStats>,
}

pub(crate) fn run(db: &Path, args: &ReplayArgs, out: &Output) -> Result<(), Failure> {
    let (input, progress) = open(&args.transcript, out)?;
    let mut lines = Transcript::new(BufReader::new(input));
    // Read before the file is opened: what is no transcript must not make a database.
    let first = lines.next().transpose().map_err(|(number, failure)| at_line(number, 0, failure))?;
    let memory = Thermocline::open(db)?;
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

/// The transcript, and a bar for as long as it is.
fn open(path: &Path, out: &Output) -> Result<(Box<dyn Read>, Progress), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), out.progress(None, "replaying")));
    }
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::caused(Exit::NotFound, "there is no such transcript", error),
        _ => Failure::caused(Exit::FileUnusable, "the transcript cannot be opened", error),
    })?;
    // A pipe has no length.
    let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    Ok((Box::new(file), out.progress(total, "replaying")))
}

/// Names the line, and says what became of it and of those before.
fn at_line(number: u64, turns: u64, failure: Failure) -> Failure {
    let stay = match turns {
        0 => "no turn was recorded before it".to_owned(),
        1 => "the turn before it stays recorded".to_owned(),
        _ => format!("the {} turns before it stay recorded", HumanCount(turns)),
    };
    let after = match failure.exit() {
        Exit::Refused => format!("; nothing of this line was written, {stay}"),
        _ => format!("; {stay}, the same command goes on from there"),
    };
    failure.within(&format!("line {number}: "), &after)
}

/// A transcript on its way into the file.
struct Replay {
    user: User,
    current: Option<Current>,
    /// The keys of the sessions that a later one has ended: such a session never comes back.
    ended: HashSet<String>,
    turns_new: u64,
    turns_known: u64,
}

/// The session that the last line belonged to.
struct Current {
    key: String,
    session: Session,
    last_turn: TurnId,
}

impl Replay {
    fn new(user: User) -> Self {
        Self { user, current: None, ended: HashSet::new(), turns_new: 0, turns_known: 0 }
    }

    fn turns(&self) -> u64 {
        self.turns_new + self.turns_known
    }

    /// Records a line, unless its turn is known. All that could refuse it is asked before the first write: a bad
    /// line must not end the session before it, nor start one.
    fn take(&mut self, line: &Line) -> Result<(), Failure> {
        let known = self.known(line)?;
        let session = self.session_of(line)?;
        match &known {
            Some(turn) => self.check_same_session(turn, session.as_ref())?,
            None => check_open(session.as_ref())?,
        }

        let session = match session {
            Some(session) => session,
            None => self.user.session_named(&line.session)?,
        };
        if self.current.as_ref().is_some_and(|current| current.key != line.session) {
            self.end_current()?;
        }
        let last_turn = self.turn_of(line, known, &session)?;
        self.current = Some(Current { key: line.session.clone(), session, last_turn });
        Ok(())
    }

    /// The known turn, else the one that is recorded now.
    fn turn_of(&mut self, line: &Line, known: Option<Turn>, session: &Session) -> Result<TurnId, Failure> {
        if let Some(turn) = known {
            self.turns_known += 1;
            return Ok(turn.id);
        }
        let recorded = session.record(line.to_turn())?;
        match recorded.outcome {
            RecordOutcome::New => self.turns_new += 1,
            RecordOutcome::Known => self.turns_known += 1, // Another replay was faster.
        }
        Ok(recorded.turn_id)
    }

    /// The turn that an earlier replay recorded for this line.
    fn known(&self, line: &Line) -> Result<Option<Turn>, Failure> {
        match self.user.turn_by_caller_id(&line.id) {
            Ok(turn) if turn.said.user_message == line.user && turn.said.ai_response == line.assistant => {
                Ok(Some(turn))
            }
            Ok(_) => Err(Failure::refused("its id is already taken by a turn with other text")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The line's session, if there is one yet.
    fn session_of(&self, line: &Line) -> Result<Option<Session>, Failure> {
        match &self.current {
            Some(current) if current.key == line.session => Ok(Some(current.session.clone())),
            _ if self.ended.contains(&line.session) => Err(Failure::refused(
                "its session was ended by a line before; the lines of a session must follow one another",
            )),
            _ => Ok(self.user.find_session(&line.session)?),
        }
    }

    /// The same id and text in another session is another turn, and would be lost if it passed for known.
    fn check_same_session(&self, known: &Turn, session: Option<&Session>) -> Result<(), Failure> {
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

    /// Where a session went on after silence.
    fn successor(&self, id: SessionId) -> Result<Option<SessionId>, Failure> {
        Ok(self.user.session_by_id(id)?.info()?.successor_id)
    }

    /// Ends the session of the lines before, when its last turn was said; one that has ended stays as it is.
    fn end_current(&mut self) -> Result<(), Failure> {
        if let Some(current) = self.current.take() {
            if current.session.info()?.ended_at.is_none() {
                current.session.end_at(self.user.turn(current.last_turn)?.timestamp)?;
            }
            self.ended.insert(current.key);
        }
        Ok(())
    }

    fn finish(mut self, end: bool, memory: &Thermocline) -> Result<Summary, Failure> {
        let sessions = (self.ended.len() + usize::from(self.current.is_some())) as u64;
        if end {
            self.end_current()?;
        }
        let (turns_new, turns_known) = (self.turns_new, self.turns_known);
        Ok(Summary { turns_new, turns_known, sessions, tiers: memory.stats()?.tiers })
    }
}

/// A session that was ended by call takes no turn; one that silence ended goes on in its successor.
fn check_open(session: Option<&Session>) -> Result<(), Failure> {
    match session {
        Some(session) if session.info()?.end_reason == Some(EndReason::Call) => {
            Err(Failure::refused("its session has ended and never reopens; use another session key"))
        }
        _ => Ok(()),
    }
}

fn text(summary: &Summary) -> String {
    let Summary { turns_new, turns_known, sessions, tiers } = summary;
    let (sessions, turns) = (HumanCount(*sessions), HumanCount(turns_new + turns_known));
    let (new, known) = (HumanCount(*turns_new), HumanCount(*turns_known));
    format!(
        "{turns} turns in {sessions} sessions: {new} new, {known} known from before.\nThe file now holds, of all \
         users:\n{}",
        stats::tiers(tiers)
    )
}
