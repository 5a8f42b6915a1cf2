//! What a surface needs to know of an operation.

use serde::{Deserialize, Serialize};

/// What an operation is: one method, one path, one scope, one effect. What can be undone and what cannot are two
/// operations, never one with a flag.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name everywhere: OpenAPI's `operationId`, the verb of `call`, the label of metrics, the audit file's word.
    pub name: &'static str,
    /// One sentence: what OpenAPI, the list of tools and `call --list` show.
    pub summary: &'static str,
    /// Whom it is about.
    pub target: Target,
    /// Which right it needs.
    pub scope: KeyScope,
    /// What it does to the memory.
    pub effect: Effect,
    /// Where it is over HTTP.
    pub http: Route,
    /// Its tool in MCP's full profile, if it has one.
    pub tool: Option<Tool>,
    /// How long it takes, and so which places it waits for.
    pub class: Class,
    /// What its body is over HTTP, in and out.
    pub body: Body,
    /// What it does when it is asked again.
    pub again: Again,
}

impl Spec {
    /// One that reads something of a user.
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

    /// One that adds something to a user's memory; asked again, it does not add it twice.
    pub const fn adds(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Write, effect: Effect::Adds, ..Self::reads(name, summary, http) }
    }

    /// One that changes something in a user's memory.
    pub const fn changes(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Write, effect: Effect::Changes, ..Self::reads(name, summary, http) }
    }

    /// One that erases something of a user out of the bytes.
    pub const fn erases(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self {
            scope: KeyScope::Erase,
            effect: Effect::Destroys,
            class: Class::Long,
            ..Self::reads(name, summary, http)
        }
    }

    /// One that looks at the file as a whole: counts, and nothing that anyone said.
    pub const fn inspects(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { target: Target::File, scope: KeyScope::Inspect, ..Self::reads(name, summary, http) }
    }

    /// One that an operator does to the file as a whole.
    pub const fn administers(name: &'static str, summary: &'static str, http: Route) -> Self {
        Self { scope: KeyScope::Admin, effect: Effect::Changes, ..Self::inspects(name, summary, http) }
    }

    /// What it is filed under in the documentation: the first word of its path behind the user.
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

/// Whom an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One user, named by the path or the connection.
    User,
    /// The file.
    File,
}

/// A right that a key may have; none implies another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// What was said and is known.
    Read,
    /// Record, save, change, end.
    Write,
    /// Take out of the bytes.
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

    /// What it is for, in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Read => "What was said and is known.",
            Self::Write => "Record, save, change, end.",
            Self::Erase => "Take out of the bytes.",
            Self::Inspect => "Counts, jobs, metrics and the list of users: nothing that anyone said.",
            Self::Admin => "Export, import, back up, check, run jobs, embed.",
        }
    }
}

/// What an operation does to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it answers the same again.
    Reads,
    /// Something new is there.
    Adds,
    /// Something is another; again, it changes nothing.
    Changes,
    /// Something is gone, and does not come back.
    Destroys,
}

/// Where an operation is over HTTP.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{fields}` of the request in it.
    pub path: &'static str,
}

impl Method {
    /// As HTTP writes it.
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

    /// The fields of the request that the path has, in its order; `user` among them.
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
    /// `memory_recall`.
    pub name: &'static str,
    /// What a person is shown.
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

/// What the body of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON in, JSON out.
    Json,
    /// JSON in, lines of JSON out: the operation writes them to the call's spool, and its response only counts them.
    LinesOut,
    /// Lines of JSON in, out of the call's spool, JSON out. All other fields are in the path and the query.
    LinesIn,
}

/// What an operation does when it is asked again with the same request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Nothing more.
    Same,
    /// Nothing more if the request has a `caller_id`; without one it does it once more.
    WithCallerId,
    /// The same once more.
    Another,
}
