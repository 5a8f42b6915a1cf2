//! Finds the memories that the command line names, and decides the origin of changes to them.

use thermocline::{
    ErrorKind, Memory, MemoryId, Origin,
    blocking::{Memories, Thermocline, User},
};

use crate::{
    args::UserArg,
    exit::Failure,
    find::{self, Db},
    memory::args::{MemoryArgs, OriginArgs},
    output::Output,
};

/// Opens a user's memories for reading.
pub(crate) fn to_look(db: &Db, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    of(find::memory(db)?, user)
}

/// Opens a user's memories for writing.
pub(crate) fn to_change(db: &Db, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    of(find::writable(db)?, user)
}

/// Returns the memories of a user in this file.
pub(super) fn of(file: Thermocline, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    let user = find::user(&file, user)?;
    let memories = user.memories();
    Ok((file, user, memories))
}

/// Returns the named memory, for reading. The file stays open while the first value is held.
pub(super) fn one(db: &Db, args: &MemoryArgs) -> Result<(Thermocline, User, Memory), Failure> {
    let (file, user, memories) = to_look(db, &args.user)?;
    let memory = memory(&memories, &args.memory)?;
    Ok((file, user, memory))
}

/// Finds a memory by its id, by its caller's own id, or by the first or last digits of its id.
pub(super) fn memory(memories: &Memories, name: &str) -> Result<Memory, Failure> {
    if let Ok(id) = name.parse::<MemoryId>()
        && let Some(memory) = find::found(memories.get(id))?
    {
        return Ok(memory);
    }
    if let Some(memory) = find::found(memories.by_caller_id(name))? {
        return Ok(memory);
    }
    match memories.find(name) {
        Ok(memory) => Ok(memory),
        // A name that cannot be part of an id is not the name of any memory, so its error is `NotFound` below.
        Err(error) if error.kind() == ErrorKind::InvalidInput && is_part(name) => Err(error.into()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
            Err(Failure::not_found(
                "this user has no such memory; name it by its id (mem_...), its first or last digits, or \
                 the caller's own id; memory list shows them, with --all inactive ones too",
            ))
        }
        Err(error) => Err(error.into()),
    }
}

fn is_part(name: &str) -> bool {
    let digits = name.strip_prefix("mem_").unwrap_or(name);
    digits.chars().filter(char::is_ascii_hexdigit).count() >= 4
        && digits.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

impl OriginArgs {
    /// Returns the given origin. By default, this is the user if a person is at the terminal, and the assistant if a
    /// program runs the command: an agent that was tricked into running it must not speak for the user.
    pub(crate) fn or_who_sits_there(self, out: &Output) -> Origin {
        let default = if out.has_person() { Origin::User } else { Origin::Assistant };
        self.origin.unwrap_or(default)
    }
}
