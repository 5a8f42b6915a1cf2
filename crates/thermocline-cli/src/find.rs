//! Finds what the command line names: the file, the user, the session. Looks only, and makes nothing.

use std::path::PathBuf;

use thermocline::{
    Config, ErrorKind, SessionId, UserId,
    blocking::{Session, Thermocline, User},
};

use crate::{args::UserArg, exit::Failure, pages, plain};

/// The file that a verb is about, as the command line names it.
#[derive(Debug)]
pub(crate) struct Db {
    pub(crate) path: PathBuf,
    /// Whether it is to be looked at only.
    pub(crate) read_only: bool,
}

impl Db {
    /// Fails if the file is to be looked at only: for verbs that write.
    pub(crate) fn check_writable(&self) -> Result<(), Failure> {
        if self.read_only {
            let message = "--read-only was given, and this verb writes; leave one of them out";
            return Err(Failure::refused(message));
        }
        Ok(())
    }
}

/// How every verb opens the file: jobs run when `jobs run` says so, not beside a look.
pub(crate) fn verb_config() -> Config {
    let mut config = Config::default();
    config.worker = false;
    config
}

/// Opens a file that has a memory, to look at it. None is made, neither in a missing file nor in a backend's own. Where it
/// cannot be written it is opened for reading only, and no receipt is kept.
pub(crate) fn memory(db: &Db) -> Result<Thermocline, Failure> {
    memory_with(db, verb_config())
}

/// As [`memory`], by another configuration.
pub(crate) fn memory_with(db: &Db, mut config: Config) -> Result<Thermocline, Failure> {
    if !db.read_only {
        match opened(db, config.clone()) {
            Err(failure) if failure.kind() == Some(ErrorKind::ReadOnly) => {}
            opened => return opened,
        }
    }
    config.read_only = true;
    opened(db, config)
}

/// Opens a file that has a memory, to write to it. None is made.
pub(crate) fn writable(db: &Db) -> Result<Thermocline, Failure> {
    writable_with(db, verb_config())
}

/// As [`writable`], by another configuration.
pub(crate) fn writable_with(db: &Db, config: Config) -> Result<Thermocline, Failure> {
    db.check_writable()?;
    opened(db, config)
}

/// Opens the file to write to it, or makes it.
pub(crate) fn made(db: &Db, config: Config) -> Result<Thermocline, Failure> {
    db.check_writable()?;
    Ok(Thermocline::open_with(&db.path, config)?)
}

fn opened(db: &Db, mut config: Config) -> Result<Thermocline, Failure> {
    config.must_exist = true;
    Thermocline::open_with(&db.path, config).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let shown = plain::line(&db.path.display().to_string(), usize::MAX);
            Failure::not_found(format!(
                "there is no memory in {shown}; name another file with --db FILE, or make one with replay, demo or memory save"
            ))
        }
        _ => error.into(),
    })
}

/// The user, who must be there.
pub(crate) fn user(memory: &Thermocline, arg: &UserArg) -> Result<User, Failure> {
    known_user(memory, &arg.user)?.ok_or_else(|| {
        Failure::not_found(format!(
            "{} has no user of that name or id; names are case-sensitive",
            memory.path().display()
        ))
    })
}

/// The user, added if there is none.
pub(crate) fn user_or_new(memory: &Thermocline, arg: &UserArg) -> Result<User, Failure> {
    Ok(match (known_user(memory, &arg.user)?, arg.user.parse::<UserId>()) {
        (Some(user), _) => user,
        (None, Ok(id)) => memory.user_by_id(id)?,
        (None, Err(_)) => memory.user(&arg.user)?,
    })
}

/// By id, if it reads as one; else by name. A backend may well name its users by UUIDs of its own.
fn known_user(memory: &Thermocline, name: &str) -> Result<Option<User>, Failure> {
    let Ok(id) = name.parse::<UserId>() else { return Ok(memory.find_user(name)?) };
    match memory.find_user_by_id(id)? {
        Some(user) => Ok(Some(user)),
        None => match memory.find_user(name) {
            // The users table is a backend's own, and has no names.
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
            found => Ok(found?),
        },
    }
}

/// The session with this id, or the last part of the one with this key.
pub(crate) fn session(user: &User, key_or_id: &str) -> Result<Session, Failure> {
    match user.find_session(key_or_id)? {
        Some(session) => Ok(session),
        None => session_by_id(user, key_or_id),
    }
}

/// The sessions with this key, oldest part last, or the one with this id.
pub(crate) fn parts(user: &User, key_or_id: &str) -> Result<Vec<Session>, Failure> {
    let mut infos = pages::sessions(user)?;
    infos.retain(|info| info.caller_id.as_deref() == Some(key_or_id));
    if infos.is_empty() {
        return Ok(vec![session(user, key_or_id)?]);
    }
    let ids: Vec<SessionId> = infos.iter().map(|info| info.id).collect();
    ids.into_iter().map(|id| Ok(user.session_by_id(id)?)).collect()
}

/// What may be missing.
pub(crate) fn found<T>(wanted: thermocline::Result<T>) -> Result<Option<T>, Failure> {
    match wanted {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        wanted => Ok(Some(wanted?)),
    }
}

/// The session that started last.
pub(crate) fn newest_session(user: &User) -> Result<Session, Failure> {
    match user.sessions(None, 1)?.first() {
        Some(info) => Ok(user.session_by_id(info.id)?),
        None => Err(Failure::not_found(
            "this user has no session yet; recall needs none, and finds memories, too",
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
