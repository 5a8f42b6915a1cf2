//! Finds the memories that the command line names, and the origin of changes to them.

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

/// A user's memories, for reading.
pub(crate) fn to_look(db: &Db, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    of(find::memory(db)?, user)
}

/// A user's memories, for changing them.
pub(crate) fn to_change(db: &Db, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    of(find::writable(db)?, user)
}

/// The memories of a user in this file.
pub(super) fn of(file: Thermocline, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    let user = find::user(&file, user)?;
    let memories = user.memories();
    Ok((file, user, memories))
}

/// The named memory, for reading. The file stays open as long as the first value is held.
pub(super) fn one(db: &Db, args: &MemoryArgs) -> Result<(Thermocline, User, Memory), Failure> {
    let (file, user, memories) = to_look(db, &args.user)?;
    let memory = memory(&memories, &args.memory)?;
    Ok((file, user, memory))
}

/// By its id, by its caller's own id, or by the first or last digits of its id.
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
        // If it cannot be part of an id, no memory of this user has this name.
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
    /// The given origin; otherwise the user if a person sits at the terminal, and the assistant if a program runs the
    /// command: an agent that was tricked into it must not speak for the user.
    pub(super) fn or_who_sits_there(self, out: &Output) -> Origin {
        let default = if out.has_person() { Origin::User } else { Origin::Assistant };
        self.origin.unwrap_or(default)
    }
}
