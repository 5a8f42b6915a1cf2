//! The operations that start, list, show, end and erase sessions, show their hot and warm turns, set their fields, and list
//! and set their state.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Map;
use thermocline::{Erased, ErrorKind, HotTier, SessionId, SessionInfo, SessionState, WarmTier};

use crate::ops::{
    Operation, OperationOutcome, Result, Row,
    call::{self, Call},
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Again, Replaces, Route, Spec, Tool},
};

/// Returns the session operations, except those for compression.
pub fn rows() -> Vec<Row> {
    vec![
        row::<SessionList>(),
        row::<SessionShow>(),
        row::<SessionHot>(),
        row::<SessionWarm>(),
        row::<SessionStart>(),
        row::<SessionSet>(),
        row::<StateList>(),
        row::<StateSet>(),
        row::<SessionEnd>(),
        row::<SessionErase>(),
    ]
}

/// Names a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSession {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
}

/// Asks for a page of the user's sessions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionListRequest {
    /// Maximum number of sessions, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists sessions.
#[derive(Debug)]
pub struct SessionList;

impl Operation for SessionList {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_sessions", title: "Sessions" }),
        ..Spec::reads(
            "session_list",
            "The user's sessions, the last added first.",
            Route::get("/v1/users/{user}/sessions"),
        )
    };
    type Request = SessionListRequest;
    type Response = Page<SessionInfo>;

    fn run(call: Call, request: SessionListRequest) -> Result<Page<SessionInfo>> {
        let asked: PageRequest<SessionId> =
            PageRequest::new("session_list", request.limit, request.cursor.as_ref())?;
        let sessions = call.user()?.sessions(asked.after, asked.to_read());
        Ok(asked.page(sessions.map_err(|error| asked.failed(error))?, |session| session.id))
    }
}

/// The session that the request names, and which of its turns are hot and warm. If a successor continues the session,
/// `session_hot` and `session_warm` show the turns of the successor instead.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionShown {
    /// The session.
    pub info: SessionInfo,
    /// The hot turns, by their places in the session, oldest first. Empty once the session has ended.
    pub hot: Vec<u32>,
    /// The tokens of the hot turns.
    pub hot_tokens: u32,
    /// The newest warm turns that fit the warm window, by their places in the session, oldest first. Empty once the session
    /// has ended, although its turns are warm until they are compressed: `session_warm` shows them if there is no successor.
    pub warm: Vec<u32>,
    /// The tokens of these warm turns.
    pub warm_tokens: u32,
}

/// Shows a session.
#[derive(Debug)]
pub struct SessionShow;

impl Operation for SessionShow {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_session_show", title: "A session" }),
        ..Spec::reads(
            "session_show",
            "State, counts and tiers of one session.",
            Route::get("/v1/users/{user}/sessions/{session}"),
        )
    };
    type Request = OfSession;
    type Response = SessionShown;

    fn run(call: Call, request: OfSession) -> Result<SessionShown> {
        let session = call::session(&call.user()?, &request.session)?;
        let info = session.info()?;
        if info.ended_at.is_some() {
            return Ok(SessionShown {
                info,
                hot: Vec::new(),
                hot_tokens: 0,
                warm: Vec::new(),
                warm_tokens: 0,
            });
        }
        let (hot, warm) = (session.hot()?, session.warm()?);
        Ok(SessionShown {
            info,
            hot: hot.turns().map(|turn| turn.turn_number).collect(),
            hot_tokens: hot.total_tokens(),
            warm: warm.turns.iter().map(|turn| turn.turn_number).collect(),
            warm_tokens: warm.total_tokens,
        })
    }
}

/// Shows the hot turns of a session.
#[derive(Debug)]
pub struct SessionHot;

impl Operation for SessionHot {
    const SPEC: Spec = Spec::reads(
        "session_hot",
        "The last turns of a session, within the hot limits; once it has ended, of the session that continues it, if any.",
        Route::get("/v1/users/{user}/sessions/{session}/hot"),
    );
    type Request = OfSession;
    type Response = HotTier;

    fn run(call: Call, request: OfSession) -> Result<HotTier> {
        let session = call::session(&call.user()?, &request.session)?;
        Ok(HotTier::clone(&*session.hot()?))
    }
}

/// Shows the newest warm turns of a session.
#[derive(Debug)]
pub struct SessionWarm;

impl Operation for SessionWarm {
    const SPEC: Spec = Spec::reads(
        "session_warm",
        "The newest turns of a session that are not hot, within the warm window; of the session that continues it, if any.",
        Route::get("/v1/users/{user}/sessions/{session}/warm"),
    );
    type Request = OfSession;
    type Response = WarmTier;

    fn run(call: Call, request: OfSession) -> Result<WarmTier> {
        let session = call::session(&call.user()?, &request.session)?;
        Ok(session.warm()?)
    }
}

/// A request without fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Ends the open sessions without a key, and starts a new one.
#[derive(Debug)]
pub struct SessionStart;

impl Operation for SessionStart {
    const SPEC: Spec = Spec {
        again: Again::Another,
        replaces: Replaces::Something,
        ..Spec::adds(
            "session_start",
            "End the open sessions without a key, and start a new one; a session with a key starts with its first turn.",
            Route::post("/v1/users/{user}/sessions"),
        )
    };
    type Request = Nothing;
    type Response = SessionInfo;

    fn run(call: Call, _: Nothing) -> Result<SessionInfo> {
        Ok(call.user_or_new()?.new_session()?.info()?)
    }
}

/// The fields of a session to set. Missing fields stay as they are; null clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSetRequest {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// The caller's project for the session, at most 256 bytes; null removes it.
    #[serde(default, deserialize_with = "stated")]
    pub project: Option<Option<String>>,
    /// The session's title in lists, also in those of MCP, at most 256 bytes; null removes it. Contexts do not show it.
    #[serde(default, deserialize_with = "stated")]
    pub title: Option<Option<String>>,
    /// The caller's own JSON object, at most 16 KiB, which replaces the previous one; null removes it.
    #[serde(default, deserialize_with = "stated")]
    pub metadata: Option<Option<Map<String, serde_json::Value>>>,
}

/// Reads a field that is present, whether it is null or not. For a missing field, `#[serde(default)]` gives `None`.
pub fn stated<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    field: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// Sets fields of a session.
#[derive(Debug)]
pub struct SessionSet;

impl Operation for SessionSet {
    const SPEC: Spec = Spec::changes(
        "session_set",
        "Set the project, the title or the metadata of a session.",
        Route::patch("/v1/users/{user}/sessions/{session}"),
    );
    type Request = SessionSetRequest;
    type Response = SessionInfo;

    fn run(call: Call, request: SessionSetRequest) -> Result<SessionInfo> {
        let session = call::session(&call.user()?, &request.session)?;
        if let Some(project) = request.project {
            session.set_project(project.as_deref())?;
        }
        if let Some(title) = request.title {
            session.set_title(title.as_deref())?;
        }
        if let Some(metadata) = request.metadata {
            session.set_metadata(metadata.map(Into::into))?;
        }
        Ok(session.info()?)
    }
}

/// Lists a session's state.
#[derive(Debug)]
pub struct StateList;

impl Operation for StateList {
    const SPEC: Spec = Spec::reads(
        "session_state",
        "A session's state by name, such as an agent's plan or variables, kept until the session ends.",
        Route::get("/v1/users/{user}/sessions/{session}/state"),
    );
    type Request = OfSession;
    type Response = Page<SessionState>;

    fn run(call: Call, request: OfSession) -> Result<Page<SessionState>> {
        let session = call::session(&call.user()?, &request.session)?;
        Ok(Page::whole(session.state()?))
    }
}

/// An entry of a session's state to set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateSetRequest {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// The entry's name, of 1 to 200 bytes, such as `plan`.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
    /// The entry's text, at most 64 KiB, which replaces the previous one; an empty text removes the entry.
    pub text: String,
}

/// Sets an entry of a session's state.
#[derive(Debug)]
pub struct StateSet;

impl Operation for StateSet {
    const SPEC: Spec = Spec::changes(
        "session_state_set",
        "Store a named text until the session ends; it has no history and is not searched.",
        Route::put("/v1/users/{user}/sessions/{session}/state"),
    );
    type Request = StateSetRequest;
    type Response = Page<SessionState>;

    fn run(call: Call, request: StateSetRequest) -> Result<Page<SessionState>> {
        let session = call::session(&call.user()?, &request.session)?;
        session.set_state(&request.name, &request.text)?;
        Ok(Page::whole(session.state()?))
    }
}

/// A session to end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionEndRequest {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// When the session ended (RFC 3339), for replays of old conversations. Default: now.
    pub at: Option<DateTime<Utc>>,
}

/// Ends a session.
#[derive(Debug)]
pub struct SessionEnd;

impl Operation for SessionEnd {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_end", title: "End a session" }),
        ..Spec::changes(
            "session_end",
            "End a session: it never reopens, and a job summarizes its turns, except those to be kept verbatim.",
            Route::post("/v1/users/{user}/sessions/{session}/end"),
        )
    };
    type Request = SessionEndRequest;
    type Response = SessionInfo;

    fn run(call: Call, request: SessionEndRequest) -> Result<SessionInfo> {
        let session = call::session(&call.user()?, &request.session)?;
        Ok(match request.at {
            Some(at) => session.end_at(at)?,
            None => session.end()?,
        })
    }
}

/// Erases a session; if a key names it, all parts of the conversation under that key.
#[derive(Debug)]
pub struct SessionErase;

impl Operation for SessionErase {
    const SPEC: Spec = Spec::erases(
        "session_erase",
        "Erase a session from the file's bytes, with everything jobs derived from it; a key erases all its parts.",
        Route::delete("/v1/users/{user}/sessions/{session}"),
    );
    type Request = OfSession;
    type Response = Erased;

    fn run(call: Call, request: OfSession) -> Result<Erased> {
        let parts = call::session_parts(&call.user()?, &request.session)?;
        let mut erased = Erased::default();
        for part in parts {
            match part.erase() {
                // Another call has erased it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                part => erased = erased.and(part?),
            }
        }
        Ok(erased)
    }

    fn outcome(erased: &Erased) -> OperationOutcome {
        OperationOutcome::of_erase(erased)
    }
}
