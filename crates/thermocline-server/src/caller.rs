//! Who asks, and what they may: decided from the key or the connection alone, before anything looks into the file.

use thermocline::Origin;

use crate::ops::{
    problem::{Code, Problem},
    spec::{Scope, Spec, Target},
};

/// Who asks: a key, or whoever sits at this machine.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key's id; `local` without keys.
    pub id: String,
    /// What it may do; no scope implies another.
    pub scopes: Vec<Scope>,
    /// Whose memory it may ask for.
    pub users: Users,
    /// Whose words its statements are.
    pub origin: Origin,
}

/// Which users a caller may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Users {
    /// All of them.
    Any,
    /// Those whose names begin so: one tenant's.
    Prefix(String),
    /// This one.
    One(String),
}

impl Users {
    /// Whether the user of this name is among them.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Prefix(prefix) => name.starts_with(prefix),
            Self::One(one) => name == one,
        }
    }
}

impl Caller {
    /// Whoever reaches this machine's own address, where there are no keys: everything but what destroys or leaves the
    /// machine.
    pub fn local() -> Self {
        Self {
            id: "local".to_owned(),
            scopes: vec![Scope::Read, Scope::Write, Scope::Inspect],
            users: Users::Any,
            origin: Origin::Assistant,
        }
    }

    /// Whoever has the file itself, in a shell: everything. Whose words their statements are, the shell knows.
    pub fn shell(origin: Origin) -> Self {
        Self { id: "shell".to_owned(), scopes: Scope::EVERY.to_vec(), users: Users::Any, origin }
    }

    /// Whether the caller may run this operation, for this user.
    pub fn may(&self, spec: &Spec, user: Option<&str>) -> Result<(), Problem> {
        let is_theirs = match spec.target {
            Target::User => user.is_some_and(|name| self.users.has(name)),
            // What crosses users is for keys of all of them.
            Target::File => self.users == Users::Any,
        };
        if is_theirs && self.scopes.contains(&spec.scope) {
            return Ok(());
        }
        Err(Problem::new(
            Code::NotAllowed,
            "this key may not do that; `thermocline key list` shows what it may",
        ))
    }
}
