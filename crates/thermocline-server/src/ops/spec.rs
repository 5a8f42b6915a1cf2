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
    pub scope: Scope,
    /// What it does to the memory.
    pub effect: Effect,
    /// Where it is over HTTP.
    pub http: Route,
    /// Its tool in MCP's full profile, if it has one.
    pub tool: Option<Tool>,
    /// How long it takes, and so which places it waits for.
    pub class: Class,
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
pub enum Scope {
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
