//! The operations that list a session's summaries and its turns' moves between tiers, restore ended sessions, and queue
//! the compression of restored ones.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{SessionInfo, Summary, Transition};

use crate::ops::{
    Operation, Result, Row,
    call::{self, Call},
    page::{Cursor, Limit, Page, PageRequest},
    row,
    sessions::{Nothing, OfSession},
    spec::{Class, Route, Spec, Tool},
};

/// Returns the operations for compressing sessions.
pub fn rows() -> Vec<Row> {
    vec![
        row::<SessionSummaries>(),
        row::<SessionTransitions>(),
        row::<SessionCompress>(),
        row::<SessionRestore>(),
        row::<SessionCompressAgain>(),
        row::<CompressAgain>(),
    ]
}

/// Asks for a page of a list that belongs to a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionPageRequest {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// Maximum number of entries, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists the summaries of a session.
#[derive(Debug)]
pub struct SessionSummaries;

impl Operation for SessionSummaries {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_summaries", title: "Summaries of a session" }),
        ..Spec::reads(
            "session_summaries",
            "The summaries that replace turns of a session, in order.",
            Route::get("/v1/users/{user}/sessions/{session}/summaries"),
        )
    };
    type Request = SessionPageRequest;
    type Response = Page<Summary>;

    fn run(call: Call, request: SessionPageRequest) -> Result<Page<Summary>> {
        let session = call::session(&call.user()?, &request.session)?;
        let asked: PageRequest<u32> =
            PageRequest::new("session_summaries", request.limit, request.cursor.as_ref())?;
        let summaries = session.summaries(asked.after, asked.to_read())?;
        Ok(asked.page(summaries, |summary| summary.turn_number))
    }
}

/// The key of a move in a list: the turn's number, and the number of the move of that turn.
#[derive(Clone, Copy, Debug)]
struct TurnMove {
    turn_number: u32,
    move_number: u32,
}

impl FromStr for TurnMove {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (turn, moved) = text.split_once(' ').ok_or(())?;
        Ok(Self { turn_number: turn.parse().map_err(drop)?, move_number: moved.parse().map_err(drop)? })
    }
}

impl fmt::Display for TurnMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.turn_number, self.move_number)
    }
}

/// Lists the moves of a session's turns between tiers.
#[derive(Debug)]
pub struct SessionTransitions;

impl Operation for SessionTransitions {
    const SPEC: Spec = Spec::reads(
        "session_transitions",
        "Every move of a session's turns between tiers, in turn order, with its reason.",
        Route::get("/v1/users/{user}/sessions/{session}/transitions"),
    );
    type Request = SessionPageRequest;
    type Response = Page<Transition>;

    fn run(call: Call, request: SessionPageRequest) -> Result<Page<Transition>> {
        let session = call::session(&call.user()?, &request.session)?;
        let asked: PageRequest<TurnMove> =
            PageRequest::new("session_transitions", request.limit, request.cursor.as_ref())?;
        let after = asked.after.map(|seen| (seen.turn_number, seen.move_number));
        let moves = session.transitions(after, asked.to_read())?;
        Ok(asked
            .page(moves, |moved| TurnMove { turn_number: moved.turn_number, move_number: moved.move_number }))
    }
}

/// Queues the compression of an ended session that was restored.
#[derive(Debug)]
pub struct SessionCompress;

impl Operation for SessionCompress {
    const SPEC: Spec = Spec::changes(
        "session_compress",
        "Queue the compression of an ended session that was restored; other sessions are queued when they end.",
        Route::post("/v1/users/{user}/sessions/{session}/compress"),
    );
    type Request = OfSession;
    type Response = SessionInfo;

    fn run(call: Call, request: OfSession) -> Result<SessionInfo> {
        let session = call::session(&call.user()?, &request.session)?;
        session.compress()?;
        Ok(session.info()?)
    }
}

/// The result of restoring a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Restored {
    /// The number of turns that are warm again: those of the archive, and those kept verbatim. 0 if there was nothing to
    /// restore.
    pub turns: u64,
}

/// Restores a session.
#[derive(Debug)]
pub struct SessionRestore;

impl Operation for SessionRestore {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_restore", title: "Restore a session" }),
        class: Class::Long,
        ..Spec::changes(
            "session_restore",
            "Undo the compression of a session: its turns replace their summaries again, except where originals are deleted.",
            Route::post("/v1/users/{user}/sessions/{session}/restore"),
        )
    };
    type Request = OfSession;
    type Response = Restored;

    fn run(call: Call, request: OfSession) -> Result<Restored> {
        let session = call::session(&call.user()?, &request.session)?;
        Ok(Restored { turns: session.restore()? })
    }
}

/// Restores a session that the built-in summarizer compressed at least in part, and queues its compression.
#[derive(Debug)]
pub struct SessionCompressAgain;

impl Operation for SessionCompressAgain {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::changes(
            "session_compress_again",
            "Have the configured summarizer redo a session that the built-in one summarized in its place.",
            Route::post("/v1/users/{user}/sessions/{session}/compress-again"),
        )
    };
    type Request = OfSession;
    type Response = Restored;

    fn run(call: Call, request: OfSession) -> Result<Restored> {
        let session = call::session(&call.user()?, &request.session)?;
        Ok(Restored { turns: session.compress_again()? })
    }
}

/// The result of requesting another compression.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Queued {
    /// The number of sessions whose compression is queued.
    pub sessions: u64,
}

/// Restores those of a user's sessions that the built-in summarizer compressed at least in part, and queues their
/// compression.
#[derive(Debug)]
pub struct CompressAgain;

impl Operation for CompressAgain {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::changes(
            "user_compress_again",
            "Have the configured summarizer redo every session that the built-in one summarized in its place.",
            Route::post("/v1/users/{user}/compress-again"),
        )
    };
    type Request = Nothing;
    type Response = Queued;

    fn run(call: Call, _: Nothing) -> Result<Queued> {
        Ok(Queued { sessions: call.user()?.compress_again()? })
    }
}
