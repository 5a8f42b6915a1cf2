//! The description of an operation: what every surface needs to know about it.

use serde::{Deserialize, Serialize};

/// The description of an operation: one method, one path, one scope, one effect. A change that can be undone and its
/// permanent counterpart are two operations, never one operation with a flag.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The name of the operation: OpenAPI's `operationId`, the argument of `call`, the label in metrics, the word in the
    /// audit file.
    pub name: &'static str,
    /// One sentence, shown by OpenAPI, by `call --list`, and as the description of a tool that is made from the row.
    pub summary: &'static str,
    /// Whether the operation is about one user or about the file.
    pub target: Target,
    /// The scope that a key needs for it.
    pub scope: KeyScope,
    /// What the operation does to the memory.
    pub effect: Effect,
    /// Whether an operation that adds also ends, replaces or hides what was there.
    pub replaces: Replaces,
    /// The method and path over HTTP.
    pub http: Route,
    /// The operation's tool in MCP's full profile; `None` if it has none of its own.
    pub tool: Option<Tool>,
    /// How long the operation takes. The number of operations of a class that run at once is limited.
    pub class: Class,
    /// The form of the HTTP request and response bodies.
    pub body: Body,
    /// What a repeated call does.
    pub again: Again,
}

impl Spec {
    /// Describes an operation that reads one user's data.
    pub const fn reads(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self {
            name,
            summary,
            target: Target::User,
            scope: KeyScope::Read,
            effect: Effect::Reads,
            replaces: Replaces::Nothing,
            http,
            tool: None,
            class: Class::Quick,
            body: Body::Json,
            again: Again::Same,
        }
    }

    /// Describes an operation that adds something to a user's memory; by default, a repeated call does not add it twice.
    pub const fn adds(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Write, effect: Effect::Adds, ..Self::reads(name, summary, http) }
    }

    /// Describes an operation that changes something in a user's memory.
    pub const fn changes(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Write, effect: Effect::Changes, ..Self::reads(name, summary, http) }
    }

    /// Describes an operation that erases something of a user from the file's bytes.
    pub const fn erases(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self {
            scope: KeyScope::Erase,
            effect: Effect::Destroys,
            class: Class::Erase,
            ..Self::reads(name, summary, http)
        }
    }

    /// Describes an operation that inspects the file as a whole: it returns counts, ids and users' names, and nothing that
    /// anyone said.
    pub const fn inspects(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { target: Target::File, scope: KeyScope::Inspect, ..Self::reads(name, summary, http) }
    }

    /// Describes an operation with which an operator administers the file as a whole.
    pub const fn administers(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Admin, effect: Effect::Changes, ..Self::inspects(name, summary, http) }
    }

    /// Returns the operation's group in OpenAPI: the first word of its path after the user. `context` is in the group
    /// `recall`, and the operations on users themselves are in `users`.
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
    /// One user, whom the path, the connection or the command line names.
    User,
    /// The file as a whole.
    File,
}

/// A permission of a key; none implies another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Read what was said and what is known.
    Read,
    /// Record, save, change, end.
    Write,
    /// Erase from the file's bytes.
    Erase,
    /// Read counts, jobs, metrics and the list of users, and nothing that anyone said.
    Inspect,
    /// Export, import, back up, check the file, run jobs, embed.
    Admin,
    /// Have the operator's sensors look whether memories still hold.
    Check,
}

impl KeyScope {
    /// All scopes.
    pub const EVERY: [Self; 6] =
        [Self::Read, Self::Write, Self::Erase, Self::Inspect, Self::Admin, Self::Check];

    /// Returns the scope's name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Erase => "erase",
            Self::Inspect => "inspect",
            Self::Admin => "admin",
            Self::Check => "check",
        }
    }

    /// Returns what the scope permits, in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Read => "What was said and is known.",
            Self::Write => "Record, save, change, end.",
            Self::Erase => "Erase from the file's bytes.",
            Self::Inspect => "Counts, jobs, metrics and the list of users: nothing that anyone said.",
            Self::Admin => "Export, import, back up, check the file, run jobs, embed.",
            Self::Check => "Have the operator's sensors look whether memories still hold.",
        }
    }
}

/// What an operation does to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing in the memory. A recall or a context leaves a receipt.
    Reads,
    /// It adds something new.
    Adds,
    /// It changes something.
    Changes,
    /// It removes something permanently.
    Destroys,
}

/// Whether an operation that adds also ends, replaces or hides what was there. The audit file has a line for each run that
/// may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// It never does.
    Nothing,
    /// It does if the request, or an item of one of its lists, states the field `replacing`.
    WhatIsNamed,
    /// It does, or may.
    Something,
}

/// The HTTP route of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with names in braces: `user`, and fields of the request.
    pub path: &'static str,
}

impl Method {
    /// Returns the method's name in HTTP, in upper case.
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
    /// Creates a route with the method GET.
    pub const fn get(path: &'static str) -> Self {
        Self { method: Method::Get, path }
    }

    /// Creates a route with the method POST.
    pub const fn post(path: &'static str) -> Self {
        Self { method: Method::Post, path }
    }

    /// Creates a route with the method PUT.
    pub const fn put(path: &'static str) -> Self {
        Self { method: Method::Put, path }
    }

    /// Creates a route with the method PATCH.
    pub const fn patch(path: &'static str) -> Self {
        Self { method: Method::Patch, path }
    }

    /// Creates a route with the method DELETE.
    pub const fn delete(path: &'static str) -> Self {
        Self { method: Method::Delete, path }
    }

    /// Returns the names in the path's braces, in their order: `user`, and fields of the request.
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
    /// The tool's name, such as `memory_search`.
    pub name: &'static str,
    /// The tool's title for people.
    pub title: &'static str,
}

/// How long an operation takes, from the shortest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Reads or writes little: a turn, a page of a list, a change.
    Quick,
    /// Searches what was said or is known, or ranks all memories.
    Recall,
    /// Works on much at once, or waits for others: for example exports, copies, restores, runs jobs or asks sensors.
    Long,
    /// Erases from the file's bytes. A class of its own, so that nobody who imports keeps others from erasing.
    Erase,
}

/// The form of an operation's request and response bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON in, JSON out.
    Json,
    /// JSON in, JSON Lines out. The operation writes the lines to the call's spool; its response only contains counts of
    /// what they say.
    LinesOut,
    /// JSON Lines in, from the call's spool; JSON out. The fields of the request are in the path or the query.
    LinesIn,
}

/// What an operation does when the same request is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It does nothing more.
    Same,
    /// It does nothing more if the request has a `caller_id`; otherwise it does the same once more.
    WithCallerId,
    /// It does the same once more, or is refused.
    Another,
}
