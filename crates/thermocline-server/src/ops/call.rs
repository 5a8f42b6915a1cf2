//! One call of an operation: who calls, about which user, and how the names in a request are resolved to the user,
//! sessions and turns.

use std::{
    fs::File,
    sync::{Arc, OnceLock},
};

use thermocline::{
    ErrorKind, MemoryId, NewMemory, NewTurn, Origin, Recorded, Saved, SessionId, Trust, Turn, TurnId, UserId,
    UserKey,
    blocking::{Memories, Session, Thermocline, User},
};

use crate::{
    caller::Caller,
    ops::{
        Result,
        problem::{Code, Problem},
    },
    service::Service,
};

/// The surface through which a call came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surface {
    /// HTTP.
    Http,
    /// MCP, with the name that the client gives itself.
    Mcp(String),
    /// The command `thermocline call`.
    Shell,
}

/// One side of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnSide {
    /// The message.
    User,
    /// The reply.
    Assistant,
}

impl TurnSide {
    /// The origin of a side for which a request names none.
    const fn usual_origin(self) -> Origin {
        match self {
            Self::User => Origin::User,
            Self::Assistant => Origin::Assistant,
        }
    }

    /// The field of a request that names the side's origin.
    const fn field(self) -> &'static str {
        match self {
            Self::User => "user_origin",
            Self::Assistant => "assistant_origin",
        }
    }
}

/// One call of an operation.
#[derive(Debug)]
pub struct Call {
    /// The service that runs the call.
    pub service: Arc<Service>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// The user: a name, or `id:<uuid>`; `None` if the operation is about the file.
    pub user: Option<String>,
    /// The user's handle, once the call has found it. The `ETag`, the operation, logs and the audit file use it.
    pub found: Arc<OnceLock<User>>,
    /// The id of the memory that the call replaces, forgets or erases, for the audit file. In the request, the memory may have
    /// another name.
    pub gone: Arc<OnceLock<MemoryId>>,
    /// The surface through which the call came.
    pub surface: Surface,
    /// A file positioned at its start. An operation with [`Body::LinesIn`](crate::ops::spec::Body::LinesIn) reads its lines
    /// from there; one with [`Body::LinesOut`](crate::ops::spec::Body::LinesOut) writes its lines there.
    pub spool: Option<File>,
}

/// The maximum number of characters of an MCP client's name that are kept: they fit in 200 bytes.
const MADE_BY_CHARS: usize = 48;

/// The maximum length of a user's name, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// The prefix of an id where a name is also accepted.
const ID: &str = "id:";

impl Call {
    /// Returns the service's memory, which holds all users.
    pub fn memory(&self) -> &Thermocline {
        self.service.here()
    }

    /// Returns the user; `None` if the file does not know them. Errors: `Code::BadRequest` if the call names no user,
    /// `Code::InvalidInput` for an invalid name, and errors of reading.
    pub fn find_user(&self) -> Result<Option<User>> {
        let name = self.user_name()?;
        if let Some(found) = self.found.get() {
            return Ok(Some(found.clone()));
        }
        let found = match id_of::<UserId>(name)? {
            Some(id) => self.memory().find_user_by_id(id)?,
            None => self.memory().find_user(name)?,
        };
        Ok(found.map(|user| self.noted(user)))
    }

    /// Returns the user. Errors: `Code::NotFound` if the file does not know them, and those of
    /// [`find_user`](Self::find_user).
    pub fn user(&self) -> Result<User> {
        self.find_user()?.ok_or_else(not_found)
    }

    /// Returns the user, after adding them to the file if they are new. Called once the request is checked, so that a
    /// request that is refused adds nobody.
    pub fn user_or_new(&self) -> Result<User> {
        if let Some(user) = self.find_user()? {
            return Ok(user);
        }
        let name = self.user_name()?;
        let user = match id_of::<UserId>(name)? {
            Some(id) => self.memory().user_by_id(id)?,
            None => self.memory().user(name)?,
        };
        Ok(self.noted(user))
    }

    /// Records a turn in the session with this key or `id:<uuid>`; without one, in the newest open session without a key. A
    /// new user and a new session are added with the turn, so a turn that is refused adds neither.
    pub fn record(&self, session: Option<&str>, turn: NewTurn) -> Result<Recorded> {
        if let Some(session) = self.named_by_id(session)? {
            return Ok(session.record(turn)?);
        }
        // The user of an earlier turn of the same call, who may have been erased since and is not added again.
        if let Some(user) = self.found.get() {
            return Ok(user.record(session, turn)?);
        }
        let turn = turn.recorded_by(self.caller.origin);
        self.kept(self.memory().record(self.user_key()?, session, turn))
    }

    /// Like [`record`](Self::record), for a message whose reply comes later.
    pub fn record_message(&self, session: Option<&str>, turn: NewTurn) -> Result<Recorded> {
        if let Some(session) = self.named_by_id(session)? {
            return Ok(session.record_message(turn)?);
        }
        let turn = turn.recorded_by(self.caller.origin);
        self.kept(self.memory().record_message(self.user_key()?, session, turn))
    }

    /// Saves a memory. A user who is new is added with it, so a memory that is refused adds nobody.
    pub fn save(&self, memory: NewMemory) -> Result<Saved> {
        self.kept(self.memory().save_memory(self.user_key()?, memory))
    }

    /// Returns the session if it is named by its id, which only a user who exists can have.
    fn named_by_id(&self, session: Option<&str>) -> Result<Option<Session>> {
        let named = session.filter(|session| session.starts_with(ID));
        named.map(|id| self::session(&self.user()?, id)).transpose()
    }

    /// Returns the id of the session that a request names; `None` if it names none. Errors: `Code::NotFound` if the user or
    /// the session does not exist.
    pub fn session_id(&self, named: Option<&str>) -> Result<Option<SessionId>> {
        named.map(|name| Ok(session(&self.user()?, name)?.id())).transpose()
    }

    fn user_key(&self) -> Result<UserKey> {
        let name = self.user_name()?;
        Ok(id_of::<UserId>(name)?.map_or_else(|| UserKey::from(name), UserKey::from))
    }

    fn kept<T>(&self, kept: thermocline::Result<(User, T)>) -> Result<T> {
        let (user, kept) = kept.inspect_err(|_| self.note_user())?;
        self.noted(user);
        Ok(kept)
    }

    /// Looks up the user of a call that is refused, for the logs.
    pub fn note_user(&self) {
        let _ = self.find_user();
    }

    /// Notes the user's handle, which acts for the caller, and returns it.
    fn noted(&self, user: User) -> User {
        let user = user.by(self.caller.origin);
        // A call is about one user, so a value that is already set is the same.
        let _ = self.found.set(user.clone());
        user
    }

    /// Notes the memory that the call replaces, forgets or erases, for the audit file.
    pub fn note_gone(&self, memory: MemoryId) {
        // A call names one such memory, so a value that is already set is the same.
        let _ = self.gone.set(memory);
    }

    /// Returns the memories of the user, who must exist; changes to them get the caller's origin.
    pub fn memories(&self) -> Result<Memories> {
        Ok(self.user()?.memories().by(self.caller.origin))
    }

    /// Returns the origin of what is saved: the one that the request names, or else the caller's own. Errors:
    /// `Code::InvalidInput` unless the named origin is the caller's own, is trusted less, or is tool or document.
    pub fn origin(&self, named: Option<Origin>) -> Result<Origin> {
        let own = self.caller.origin;
        let Some(named) = named else { return Ok(own) };
        let trust = Trust::of(named);
        if named == own || trust == Trust::Foreign || trust < Trust::of(own) {
            return Ok(named);
        }
        Err(Problem::invalid(
            "origin",
            format!("this key may only use the origin {}, or one that is trusted less", own.as_str()),
        ))
    }

    /// Returns the origin of one side of a turn: the one that the request names, or else the side's own. If the caller's
    /// origin is tool or document, both sides have the origin that [`origin`](Self::origin) returns. What an assistant
    /// reports that the user said is shown as the user's words, because the turn says who recorded it. Errors:
    /// `Code::InvalidInput` for another origin that is trusted more than the caller.
    pub fn side_origin(&self, named: Option<Origin>, side: TurnSide) -> Result<Origin> {
        if self.is_foreign() {
            return self.origin(named);
        }
        let usual = side.usual_origin();
        let named = named.unwrap_or(usual);
        if named == usual || Trust::of(named) <= Trust::of(self.caller.origin) {
            return Ok(named);
        }
        let own = self.caller.origin.as_str();
        Err(Problem::invalid(
            side.field(),
            format!(
                "a key with the origin {own} may not name the origin {}; a backend that relays its user has a key made \
                 with `--origin user`",
                named.as_str()
            ),
        ))
    }

    /// Refuses callers that do not act for the user: `what` is theirs to ask for.
    pub fn check_acts_for_the_user(&self, what: &str) -> Result<()> {
        if Trust::of(self.caller.origin) >= Trust::User {
            return Ok(());
        }
        let own = self.caller.origin.as_str();
        Err(Problem::new(
            Code::NotAllowed,
            format!("a key with the origin {own} may not {what}; make one with `--origin user`"),
        ))
    }

    /// Refuses callers with the origin tool or document: they may not set, replace or retract facts.
    pub fn check_may_state(&self) -> Result<()> {
        if self.is_foreign() {
            return Err(Problem::new(
                Code::NotAllowed,
                "a tool or a document cannot state a fact about a user",
            ));
        }
        Ok(())
    }

    fn is_foreign(&self) -> bool {
        Trust::of(self.caller.origin) == Trust::Foreign
    }

    /// Returns who acts, for the evidence of facts: the surface, followed by the key's id (HTTP) or the client's name (MCP).
    pub fn made_by(&self) -> String {
        match &self.surface {
            Surface::Http => format!("http:{}", self.caller.id),
            Surface::Mcp(client) => {
                let plain: String = client.chars().filter(|c| !c.is_control()).take(MADE_BY_CHARS).collect();
                format!("mcp:{plain}")
            }
            Surface::Shell => "shell".to_owned(),
        }
    }

    /// Takes the spool of an operation that reads or writes JSON Lines. Errors: the call has none.
    pub fn take_spool(&mut self) -> Result<File> {
        self.spool.take().ok_or_else(|| Problem::unexpected(&"the surface gave no spool"))
    }

    /// Returns the user's name. Errors: `Code::InvalidInput` if it is invalid, or an id, because a new user needs a name;
    /// `Code::BadRequest` if the call names no user.
    pub fn new_user_name(&self) -> Result<&str> {
        let name = self.user_name()?;
        if name.starts_with(ID) {
            return Err(Problem::invalid("user", "a new user needs a name, not an id"));
        }
        Ok(name)
    }

    fn user_name(&self) -> Result<&str> {
        let name =
            self.user.as_deref().ok_or_else(|| Problem::bad_request("the call does not name a user"))?;
        // Checked here, because the library is not called for an unknown user.
        check_user_name(name).map(|()| name)
    }
}

/// Checks a user's name. Errors: it is empty, longer than 256 bytes or contains NUL, or it begins with `id:` and is not
/// an id.
pub fn check_user_name(name: &str) -> Result<()> {
    if (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.contains('\0') {
        return id_of::<UserId>(name).map(drop);
    }
    Err(Problem::invalid("user", "a user's name must have 1 to 256 bytes and no NUL"))
}

/// Returns the user's session with this key or `id:<uuid>`; `None` if it does not exist.
pub fn find_session(user: &User, session: &str) -> Result<Option<Session>> {
    let Some(id) = id_of::<SessionId>(session)? else { return Ok(user.find_session(session)?) };
    match user.session_by_id(id) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Returns the session like [`find_session`]. Errors: `Code::NotFound` if it does not exist.
pub fn session(user: &User, session: &str) -> Result<Session> {
    find_session(user, session)?.ok_or_else(not_found)
}

/// Returns all parts of the user's session with this key, newest first, or the one session that `id:<uuid>` names. Errors:
/// `Code::NotFound` if there is none.
pub fn session_parts(user: &User, name: &str) -> Result<Vec<Session>> {
    if name.starts_with(ID) {
        return Ok(vec![session(user, name)?]);
    }
    let parts = user.session_parts(name)?;
    if parts.is_empty() { Err(not_found()) } else { Ok(parts) }
}

/// The prefix of a caller's own id where an id is also accepted.
pub const KEY: &str = "key:";

/// Returns a turn by its id, or by `key:` and the caller's own id.
pub fn turn(user: &User, name: &str) -> Result<Turn> {
    Ok(match name.strip_prefix(KEY) {
        Some(caller_id) => user.turn_by_caller_id(caller_id)?,
        None => user.turn(turn_id(name)?)?,
    })
}

/// Parses the id of a turn from a path.
pub fn turn_id(name: &str) -> Result<TurnId> {
    Ok(name.parse()?)
}

/// Parses a whole number from a path.
pub fn number<T: std::str::FromStr>(field: &str, text: &str) -> Result<T> {
    let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    number.ok_or_else(|| Problem::invalid(field, "this is not a whole number of 0 or more"))
}

/// Returns `add(built, stated)` if a value is stated, and `built` otherwise.
pub fn set<B, T>(built: B, stated: Option<T>, add: impl FnOnce(B, T) -> B) -> B {
    match stated {
        Some(stated) => add(built, stated),
        None => built,
    }
}

/// Returns the problem for anything that is missing: always the same, so that it does not tell what exists for other users.
pub fn not_found() -> Problem {
    Problem::new(Code::NotFound, "there is no such thing for this user")
}

/// Parses the id in `id:<uuid>`; `None` if the text is a name or a key.
fn id_of<T: std::str::FromStr<Err = thermocline::Error>>(name: &str) -> Result<Option<T>> {
    Ok(name.strip_prefix(ID).map(str::parse).transpose()?)
}
