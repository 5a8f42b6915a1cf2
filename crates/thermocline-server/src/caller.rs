//! Who calls, and what they may do. This is decided from the key and the name of the user, before the memory's file is read.
//! Without keys, everyone who reaches the server has the same rights.

use std::{fmt, num::NonZeroU32, str::FromStr};

use serde::{Deserialize, Serialize};
use thermocline::Origin;

use crate::ops::{
    call::check_user_name,
    problem::{Code, Problem},
    spec::{KeyScope, Spec, Target},
};

/// The holder of a key; without keys, anyone who reaches the server; or the user of the command line.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key's id; `local` without keys and for `thermocline mcp`, `shell` for `thermocline call`.
    pub id: String,
    /// The caller's rights; no scope implies another.
    pub scopes: Vec<KeyScope>,
    /// The users whose memory the caller may access.
    pub users: Users,
    /// The origin of the caller's statements.
    pub origin: Origin,
    /// The caller's rate limit; `None` for no limit.
    pub rate: Option<Rate>,
}

/// The users whose memory a caller may access. No name of a user stands for others, whatever it is: in a key file, all
/// users are `"all"`, and a user of that name is `{ name = "all" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Users {
    /// All users.
    #[serde(rename = "all")]
    Any,
    /// Users whose names start with this prefix, such as one tenant's. It ends with `/`.
    #[serde(rename = "prefix")]
    Prefix(String),
    /// The user with this name.
    #[serde(rename = "name")]
    One(String),
}

/// A key's rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Rate {
    /// The number of calls per period.
    pub times: NonZeroU32,
    /// The period.
    pub per: Per,
}

/// The period of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Written `s`, as in `50/s`.
    Second,
    /// Written `m`, as in `600/m`.
    Minute,
    /// Written `h`, as in `1000/h`.
    Hour,
}

/// The prefix of a user's id in places that also accept a name.
const ID: &str = "id:";

impl Users {
    /// Returns the user with this name. Errors: no user can have this name.
    pub fn one(name: &str) -> Result<Self, String> {
        if name.starts_with(ID) {
            return Err("a key is for a user's name, not for an id".to_owned());
        }
        check_user_name(name).map_err(|problem| problem.detail)?;
        Ok(Self::One(name.to_owned()))
    }

    /// Returns the users whose names start with this prefix. Errors: it is empty or does not end with `/`.
    pub fn prefix(prefix: &str) -> Result<Self, String> {
        let is_prefix = prefix.len() > 1 && prefix.ends_with('/') && !prefix.starts_with(ID);
        if is_prefix && check_user_name(prefix).is_ok() {
            return Ok(Self::Prefix(prefix.to_owned()));
        }
        Err("a prefix of users ends with /, like acme/".to_owned())
    }

    /// Whether these include the user with this name, or with the id in `id:<uuid>`. The name of the user with an id is not
    /// known here, so an id is accepted only from a caller with access to all users, or to exactly that id.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Prefix(prefix) => name.starts_with(prefix) && !name.starts_with(ID),
            Self::One(one) => name == one,
        }
    }
}

impl fmt::Display for Users {
    /// Names are quoted, and characters that hide or reorder text are escaped, so that no name looks like anything else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("all users"),
            Self::Prefix(prefix) => write!(f, "prefix {prefix:?}"),
            Self::One(name) => write!(f, "user {name:?}"),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (times, per) = text.split_once('/').unwrap_or((text, ""));
        let per = match per {
            "s" => Per::Second,
            "m" => Per::Minute,
            "h" => Per::Hour,
            _ => return Err("a rate is a number and /s, /m or /h, like 50/s".to_owned()),
        };
        let times = times
            .parse()
            .map_err(|_| "a rate begins with a whole number of 1 or more, like 50/s".to_owned())?;
        Ok(Self { times, per })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = match self.per {
            Per::Second => "s",
            Per::Minute => "m",
            Per::Hour => "h",
        };
        write!(f, "{}/{per}", self.times)
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The caller's id when there are no keys.
const LOCAL: &str = "local";
/// The caller's id on the command line.
const SHELL: &str = "shell";

impl Caller {
    /// Returns the caller for anyone who reaches a server without keys: may read, write and inspect, but neither erase nor
    /// administer.
    pub fn local() -> Self {
        Self {
            id: LOCAL.to_owned(),
            scopes: vec![KeyScope::Read, KeyScope::Write, KeyScope::Inspect],
            users: Users::Any,
            origin: Origin::Assistant,
            rate: None,
        }
    }

    /// Returns the caller for anyone with access to the file itself, in a shell, who may do everything. `origin` is the
    /// origin of what this caller states.
    pub fn shell(origin: Origin) -> Self {
        Self { id: SHELL.to_owned(), scopes: KeyScope::EVERY.to_vec(), users: Users::Any, origin, rate: None }
    }

    /// Whether this is the holder of a key, and so can be told apart from others.
    pub fn has_key(&self) -> bool {
        self.id != LOCAL && self.id != SHELL
    }

    /// Whether the caller may run this operation, for this user.
    pub fn may(&self, spec: &Spec, user: Option<&str>) -> Result<(), Problem> {
        let is_theirs = match spec.target {
            Target::User => user.is_some_and(|name| self.users.has(name)),
            // Operations on the whole file need a key for all users.
            Target::File => self.users == Users::Any,
        };
        if is_theirs && self.scopes.contains(&spec.scope) {
            return Ok(());
        }
        if self.id == LOCAL {
            return Err(Problem::new(
                Code::NotAllowed,
                "a server without keys does not allow this; make a key with `thermocline key add`, and \
                 start the server with --keys",
            ));
        }
        Err(not_allowed())
    }

    /// Whether the caller may see what the server reports about itself and about the file as a whole.
    pub fn may_inspect(&self) -> Result<(), Problem> {
        let may = self.users == Users::Any && self.scopes.contains(&KeyScope::Inspect);
        if may { Ok(()) } else { Err(not_allowed()) }
    }
}

/// Returns the error for a request that a key does not allow. It is always the same, whether what is asked for exists or
/// not.
pub fn not_allowed() -> Problem {
    Problem::new(
        Code::NotAllowed,
        "this key does not allow that; `thermocline key list` shows what it allows",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(users: &Users, name: &str, expected: bool) {
        assert_eq!(users.has(name), expected, "{users} and {name}");
    }

    #[test]
    fn a_key_has_the_users_that_it_names() {
        let (alex, acme) = (Users::one("alex").unwrap(), Users::prefix("acme/").unwrap());
        check(&alex, "alex", true);
        check(&alex, "alex2", false);
        check(&alex, "Alex", false);
        check(&acme, "acme/alex", true);
        check(&acme, "acme", false);
        check(&acme, "acme2/alex", false);
        check(&Users::Any, "id:019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e", true);
        check(&alex, "id:019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e", false);
    }

    #[test]
    fn no_name_of_a_user_stands_for_others() {
        for name in
            ["any", "all", "*", "acme/*", "acme/", " any", "user \"any\"", "prefix \"a/\"", "\u{202e}yna"]
        {
            let users = Users::one(name).unwrap();
            check(&users, name, true);
            for other in ["alex", "acme/kim", "any "] {
                check(&users, other, false);
            }
            let shown = users.to_string();
            assert!(shown.starts_with("user \"") && !shown.contains('\u{202e}'), "{shown}");
            assert_ne!(shown, Users::Any.to_string());
        }
        for name in ["", "a\0b", "id:019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e", "id:x"] {
            assert!(Users::one(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_prefix_ends_where_a_name_ends() {
        for prefix in ["", "/", "acme", "acme/*", "id:/", "a\0/"] {
            assert!(Users::prefix(prefix).is_err(), "{prefix}");
        }
    }

    #[test]
    fn a_rate_reads_as_it_is_shown() {
        for rate in ["50/s", "1/m", "1000/h"] {
            assert_eq!(rate.parse::<Rate>().unwrap().to_string(), rate);
        }
        for rate in ["0/s", "50", "50/d", "-1/s", "/s"] {
            assert!(rate.parse::<Rate>().is_err(), "{rate}");
        }
    }
}
