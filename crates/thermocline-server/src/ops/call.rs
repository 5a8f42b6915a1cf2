//! One call of an operation: who asks, of which memory, for whom.

use std::{fs::File, sync::Arc};

use thermocline::{ErrorKind, Session, SessionId, Thermocline, User, UserId};

use crate::{
    caller::Caller,
    ops::{
        Result,
        problem::{Code, Problem},
    },
    service::Service,
};

/// By which door a call came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surface {
    /// HTTP.
    Http,
    /// MCP, with the client's own name for itself.
    Mcp(String),
    /// `thermocline call`.
    Shell,
}

/// One call of an operation.
#[derive(Debug)]
pub struct Call {
    /// What it is asked of.
    pub service: Arc<Service>,
    /// Who asks.
    pub caller: Arc<Caller>,
    /// The user it is about: a name, or `id:<uuid>`.
    pub user: Option<String>,
    /// By which door.
    pub surface: Surface,
    /// Where lines are written to or read from, at its beginning; only for operations whose
    /// [body](crate::ops::spec::Body) is lines.
    pub spool: Option<File>,
}

/// What stands before an id where a name may stand.
const ID: &str = "id:";

impl Call {
    /// The memory.
    pub fn memory(&self) -> &Thermocline {
        &self.service.memory
    }

    /// The user, if the file knows them.
    pub async fn find_user(&self) -> Result<Option<User>> {
        let name = self.user_name()?;
        Ok(match id_of::<UserId>(name)? {
            Some(id) => self.memory().find_user_by_id(id).await?,
            None => self.memory().find_user(name).await?,
        })
    }

    /// The user, who must be known.
    pub async fn user(&self) -> Result<User> {
        self.find_user().await?.ok_or_else(not_found)
    }

    /// The user, added if the file does not know them yet.
    pub async fn user_or_new(&self) -> Result<User> {
        let name = self.user_name()?;
        Ok(match id_of::<UserId>(name)? {
            Some(id) => self.memory().user_by_id(id).await?,
            None => self.memory().user(name).await?,
        })
    }

    fn user_name(&self) -> Result<&str> {
        self.user.as_deref().ok_or_else(|| Problem::new(Code::BadRequest, "the call names no user"))
    }
}

/// The session of a user by the caller's key or `id:<uuid>`, if there is one.
pub async fn find_session(user: &User, session: &str) -> Result<Option<Session>> {
    let Some(id) = id_of::<SessionId>(session)? else { return Ok(user.find_session(session).await?) };
    match user.session_by_id(id).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// As [`find_session`]; there must be one.
pub async fn session(user: &User, session: &str) -> Result<Session> {
    find_session(user, session).await?.ok_or_else(not_found)
}

/// One answer for all that is missing, whatever it is and whosever it may be.
pub fn not_found() -> Problem {
    Problem::new(Code::NotFound, "there is no such thing for this user")
}

/// The id in `id:<uuid>`; `None` if this is a name or key.
fn id_of<T: std::str::FromStr<Err = thermocline::Error>>(name: &str) -> Result<Option<T>> {
    Ok(name.strip_prefix(ID).map(str::parse).transpose()?)
}
