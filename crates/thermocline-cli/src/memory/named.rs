//! Finds the memories that the command line names, and says whose doing a change of them is.

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

/// A user's memories, to look at them.
pub(crate) fn to_look(db: &Db, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    of(find::memory(db)?, user)
}

/// A user's memories, to change them.
pub(crate) fn to_change(db: &Db, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    of(find::writable(db)?, user)
}

/// The memories of a user of this file.
pub(super) fn of(file: Thermocline, user: &UserArg) -> Result<(Thermocline, User, Memories), Failure> {
    let user = find::user(&file, user)?;
    let memories = user.memories();
    Ok((file, user, memories))
}

/// The memory that is named, to look at it. The file stays open as long as the first is held.
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
        // What is no part of an id is none of this user's names.
        Err(error) if error.kind() == ErrorKind::InvalidInput && is_part(name) => Err(error.into()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
            Err(Failure::not_found(
                "this user has no such memory; name it by its id (mem_...), its first or last digits, or the caller's own \
                 id; memory list shows them, with --all also those that hold no more",
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
    /// What is said; else the user's, where a person sits, and the assistant's, where a program runs the command: an
    /// agent that was talked into it must not speak for the user.
    pub(super) fn or_who_sits_there(self, out: &Output) -> Origin {
        let default = if out.has_person() { Origin::User } else { Origin::Assistant };
        self.origin.unwrap_or(default)
    }
}
