//! Reads conversations to replay from another program's database, whose tables are those of the tiering paper.

use std::{fs::File, io::Read, path::Path};

use thermocline::{PaperFile, PaperTurns};

use crate::{
    exit::{Exit, Failure},
    transcript::TranscriptLine,
};

/// Whether the first bytes of a file are those of an SQLite database.
pub(crate) fn is_database(path: &Path) -> bool {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let mut first = [0; MAGIC.len()];
    // Pipes are left alone, because they can be read only once.
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == *MAGIC
}

/// Opens the database, and determines the user whose turns are replayed.
pub(crate) fn open(path: &Path, from_user: Option<&str>) -> Result<(PaperFile, String), Failure> {
    let Some(file) = PaperFile::open(path)? else {
        return Err(Failure::refused(
            "the database has no conversation tables in the tiering paper's form (conversation_turns, \
             conversation_sessions); use export and import for what Thermocline itself keeps",
        ));
    };
    let users = file.users()?;
    let user = match (from_user, &*users) {
        (Some(wanted), _) => users
            .iter()
            .find(|user| user.eq_ignore_ascii_case(wanted))
            .ok_or_else(|| Failure::new(Exit::NotFound, "no user with turns in the database has this id"))?,
        (None, [only]) => only,
        (None, []) => return Err(Failure::new(Exit::NotFound, "the database has no turns")),
        (None, [first, ..]) => {
            return Err(Failure::refused(format!(
                "the database has the turns of {} users; choose whose to replay, like --from-user {first}",
                users.len()
            )));
        }
    };
    let user = user.clone();
    Ok((file, user))
}

/// Returns the turns of the database as lines of a transcript.
pub(crate) fn lines(turns: PaperTurns<'_>) -> impl Iterator<Item = Result<TranscriptLine, (u64, Failure)>> {
    (1..).zip(turns).map(|(number, turn)| {
        let line = turn.map_err(Failure::from).and_then(|turn| TranscriptLine::of_turn(number, turn));
        line.map_err(|failure| (number, failure))
    })
}
