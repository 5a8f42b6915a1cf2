//! Finds the file, the user and the session that the command line names. Only `made` and `user_or_new` create what is
//! missing.

use std::path::PathBuf;

use thermocline::{
    Config, ErrorKind, SessionId, UserId, UserKey,
    blocking::{Session, Thermocline, User},
};

use crate::{args::UserArg, exit::Failure, plain};

/// The file that a verb works on, as the command line names it.
#[derive(Debug)]
pub(crate) struct Db {
    pub(crate) path: PathBuf,
    /// Whether to open the file for reading only.
    pub(crate) read_only: bool,
}

impl Db {
    /// Checks that a verb may write. Errors: the file should only be read.
    pub(crate) fn check_writable(&self) -> Result<(), Failure> {
        if self.read_only {
            let message = "this verb writes, so it cannot be used with --read-only";
            return Err(Failure::refused(message));
        }
        Ok(())
    }
}

/// The configuration with which every verb opens the file. Jobs do not run in the background, but only when a verb such
/// as `jobs run` runs them.
pub(crate) fn verb_config() -> Config {
    let mut config = Config::default();
    config.worker = false;
    config
}

/// Opens an existing memory for reading. Creates none, neither in a missing file nor in a backend's own database. A file
/// that cannot be written is opened for reading only, and keeps no receipts.
pub(crate) fn memory(db: &Db) -> Result<Thermocline, Failure> {
    memory_with(db, verb_config())
}

/// Opens a memory like [`memory`], with another configuration.
pub(crate) fn memory_with(db: &Db, config: Config) -> Result<Thermocline, Failure> {
    if !db.read_only {
        match opened(db, config.clone()) {
            Err(failure) if failure.kind() == Some(ErrorKind::ReadOnly) => {}
            opened => return opened,
        }
    }
    read_only(db, config)
}

/// Opens an existing memory for reading only: nothing is written, not even what a log left by a crash has.
pub(crate) fn read_only(db: &Db, mut config: Config) -> Result<Thermocline, Failure> {
    config.read_only = true;
    opened(db, config)
}

/// Opens an existing memory for writing. Creates none.
pub(crate) fn writable(db: &Db) -> Result<Thermocline, Failure> {
    writable_with(db, verb_config())
}

/// Opens a memory like [`writable`], with another configuration.
pub(crate) fn writable_with(db: &Db, config: Config) -> Result<Thermocline, Failure> {
    db.check_writable()?;
    opened(db, config)
}

/// Opens the file for writing, or creates it.
pub(crate) fn made(db: &Db, config: Config) -> Result<Thermocline, Failure> {
    db.check_writable()?;
    Ok(Thermocline::open_with(&db.path, config)?)
}

fn opened(db: &Db, mut config: Config) -> Result<Thermocline, Failure> {
    config.must_exist = true;
    Thermocline::open_with(&db.path, config).map_err(|error| match error.kind() {
        ErrorKind::NotFound => no_memory(db),
        _ => error.into(),
    })
}

/// The failure of a verb that creates no memory, if there is none.
pub(crate) fn no_memory(db: &Db) -> Failure {
    let shown = plain::line(&db.path.display().to_string(), usize::MAX);
    Failure::not_found(format!(
        "there is no memory in {shown}; name another file with --db FILE, or make one with replay, demo or memory save"
    ))
}

/// Returns the user. Errors: there is none with this name or id.
pub(crate) fn user(memory: &Thermocline, arg: &UserArg) -> Result<User, Failure> {
    known_user(memory, &arg.user)?.ok_or_else(|| {
        Failure::not_found(format!(
            "{} has no user of that name or id; names are case-sensitive",
            memory.path().display()
        ))
    })
}

/// Returns the user, after adding them if they are new.
pub(crate) fn user_or_new(memory: &Thermocline, arg: &UserArg) -> Result<User, Failure> {
    if let Some(user) = known_user(memory, &arg.user)? {
        return Ok(user);
    }
    Ok(match new_key(&arg.user) {
        UserKey::Id(id) => memory.user_by_id(id)?,
        UserKey::Name(name) => memory.user(&name)?,
    })
}

/// Returns by what the user is found, or added if they are new.
pub(crate) fn key(memory: &Thermocline, arg: &UserArg) -> Result<UserKey, Failure> {
    let known = known_user(memory, &arg.user)?;
    Ok(known.map_or_else(|| new_key(&arg.user), |user| user.id().into()))
}

/// Returns the id or the name of a new user.
fn new_key(text: &str) -> UserKey {
    text.parse::<UserId>().map_or_else(|_| text.into(), UserKey::from)
}

/// Looks a user up by id if the text is the id of a user, and otherwise by name: a backend may name its users by UUIDs.
fn known_user(memory: &Thermocline, name: &str) -> Result<Option<User>, Failure> {
    let Ok(id) = name.parse::<UserId>() else { return Ok(memory.find_user(name)?) };
    match memory.find_user_by_id(id)? {
        Some(user) => Ok(Some(user)),
        None => match memory.find_user(name) {
            // The users table belongs to the backend, and has no names.
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
            found => Ok(found?),
        },
    }
}

/// Returns the session with this key, or its last part if it has several; otherwise the session with this id.
pub(crate) fn session(user: &User, key_or_id: &str) -> Result<Session, Failure> {
    match user.find_session(key_or_id)? {
        Some(session) => Ok(session),
        None => session_by_id(user, key_or_id),
    }
}

/// Returns the sessions with this key, newest part first; otherwise the session with this id.
pub(crate) fn parts(user: &User, key_or_id: &str) -> Result<Vec<Session>, Failure> {
    let parts = user.session_parts(key_or_id)?;
    if parts.is_empty() { Ok(vec![session_by_id(user, key_or_id)?]) } else { Ok(parts) }
}

/// Turns a `NotFound` error into `None`.
pub(crate) fn found<T>(wanted: thermocline::Result<T>) -> Result<Option<T>, Failure> {
    match wanted {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        wanted => Ok(Some(wanted?)),
    }
}

/// Returns the session that started last.
pub(crate) fn newest_session(user: &User) -> Result<Session, Failure> {
    match user.sessions(None, 1)?.first() {
        Some(info) => Ok(user.session_by_id(info.id)?),
        None => Err(Failure::not_found(
            "this user has no session yet; recall works without one and finds memories too",
        )),
    }
}

fn session_by_id(user: &User, id: &str) -> Result<Session, Failure> {
    let session = match id.parse::<SessionId>() {
        Ok(id) => found(user.session_by_id(id))?,
        Err(_) => None,
    };
    session.ok_or_else(|| {
        Failure::not_found("this user has no session with that key or id; session list shows them")
    })
}
