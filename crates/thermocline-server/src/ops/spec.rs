//! What a surface needs to know about an operation.

use serde::{Deserialize, Serialize};

/// The description of an operation: one method, one path, one scope, one effect. An undoable operation and its permanent
/// counterpart are two operations, never one with a flag.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name everywhere: OpenAPI's `operationId`, the argument of `call`, the label in metrics, the word in the audit
    /// file.
    pub name: &'static str,
    /// One sentence, shown by OpenAPI, the list of tools and `call --list`.
    pub summary: &'static str,
    /// Whether it is about a user or the file.
    pub target: Target,
    /// The scope that it needs.
    pub scope: KeyScope,
    /// What it does to the memory.
    pub effect: Effect,
    /// Its method and path over HTTP.
    pub http: Route,
    /// Its tool in MCP's full profile, if it has one.
    pub tool: Option<Tool>,
    /// How long it takes, which decides which slots it waits for.
    pub class: Class,
    /// The form of its HTTP bodies, in and out.
    pub body: Body,
    /// What a repeated call does.
    pub again: Again,
}

impl Spec {
    /// An operation that reads something of a user.
    pub const fn reads(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self {
            name,
            summary,
            target: Target::User,
            scope: KeyScope::Read,
            effect: Effect::Reads,
            http,
            tool: None,
            class: Class::Quick,
            body: Body::Json,
            again: Again::Same,
        }
    }

    /// An operation that adds something to a user's memory; a repeated call does not add it twice.
    pub const fn adds(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Write, effect: Effect::Adds, ..Self::reads(name, summary, http) }
    }

    /// An operation that changes something in a user's memory.
    pub const fn changes(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Write, effect: Effect::Changes, ..Self::reads(name, summary, http) }
    }

    /// An operation that erases something of a user from the file's bytes.
    pub const fn erases(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self {
            scope: KeyScope::Erase,
            effect: Effect::Destroys,
            class: Class::Long,
            ..Self::reads(name, summary, http)
        }
    }

    /// An operation that inspects the file as a whole: counts, and nothing that anyone said.
    pub const fn inspects(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { target: Target::File, scope: KeyScope::Inspect, ..Self::reads(name, summary, http) }
    }

    /// An operation with which an operator administers the file as a whole.
    pub const fn administers(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Admin, effect: Effect::Changes, ..Self::inspects(name, summary, http) }
    }

    /// Its group in the documentation: the first word of its path after the user.
    pub fn family(&self) -> &'static str {
        let mut words = self.http.path.split('/').skip(2).filter(|word| *word != "{user}");
        match (words.next(), words.next()) {
            (Some("users"), None) => "users",
            (Some("users"), Some("context" | "recall")) => "recall",
            (Some("users"), Some(word)) | (Some(word), _) => word,
            (None, _) => "file",
        }
    }
}

/// What an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One user, named by the path or the connection.
    User,
    /// The file.
    File,
}

/// A permission of a key; none implies another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// What was said and is known.
    Read,
    /// Record, save, change, end.
    Write,
    /// Erase from the file's bytes.
    Erase,
    /// Counts, jobs, metrics and the list of users: nothing that anyone said.
    Inspect,
    /// Export, import, back up, check, run jobs, embed.
    Admin,
}

impl KeyScope {
    /// All of them.
    pub const EVERY: [Self; 5] = [Self::Read, Self::Write, Self::Erase, Self::Inspect, Self::Admin];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Erase => "erase",
            Self::Inspect => "inspect",
            Self::Admin => "admin",
        }
    }

    /// What it permits, in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Read => "What was said and is known.",
            Self::Write => "Record, save, change, end.",
            Self::Erase => "Erase from the file's bytes.",
            Self::Inspect => "Counts, jobs, metrics and the list of users: nothing that anyone said.",
            Self::Admin => "Export, import, back up, check, run jobs, embed.",
        }
    }
}

/// What an operation does to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: a repeated call returns the same.
    Reads,
    /// It adds something new.
    Adds,
    /// It changes something; a repeated call changes nothing.
    Changes,
    /// It removes something permanently.
    Destroys,
}

/// The HTTP route of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{fields}` of the request in it.
    pub path: &'static str,
}

impl Method {
    /// As written in HTTP.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl Route {
    /// A GET.
    pub const fn get(path: &'static str) -> Self {
        Self { method: Method::Get, path }
    }

    /// A POST.
    pub const fn post(path: &'static str) -> Self {
        Self { method: Method::Post, path }
    }

    /// A PUT.
    pub const fn put(path: &'static str) -> Self {
        Self { method: Method::Put, path }
    }

    /// A PATCH.
    pub const fn patch(path: &'static str) -> Self {
        Self { method: Method::Patch, path }
    }

    /// A DELETE.
    pub const fn delete(path: &'static str) -> Self {
        Self { method: Method::Delete, path }
    }

    /// The request fields in the path, in its order, including `user`.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> {
        self.path.split(['{', '}']).skip(1).step_by(2)
    }
}

/// An HTTP method that an operation may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A tool of MCP's full profile.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Its name, for example `memory_recall`.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
}

/// How long an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Reads by key, records.
    Quick,
    /// Searches.
    Recall,
    /// Reads or writes everything of a user or of the file.
    Long,
}

/// The form of an operation's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON in, JSON out.
    Json,
    /// JSON in, JSON Lines out: the operation writes the lines to the call's spool, and its response only counts them.
    LinesOut,
    /// JSON Lines in, from the call's spool; JSON out. All other fields are in the path and the query.
    LinesIn,
}

/// What an operation does when the same request is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Nothing more.
    Same,
    /// Nothing more if the request has a `caller_id`; without one, the operation runs once more.
    WithCallerId,
    /// It runs once more.
    Another,
}
