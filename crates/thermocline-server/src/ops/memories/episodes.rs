//! Episodes: what happened to memories, and notes of the day.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Episode, EpisodeFilter, EpisodeId, EpisodeRole, MemoryKind, NewNote, Outcome as Ended};

use crate::ops::{
    MaybeNew, Operation, OperationOutcome, Result, Row,
    call::{Call, set},
    memories::name::MemoryName,
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Again, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<EpisodeList>(), row::<EpisodeNote>()]
}

/// Selects episodes; all conditions must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EpisodeListRequest {
    /// Only episodes with this role. Default: births and notes.
    pub role: Option<EpisodeRole>,
    /// Only episodes at or after this time (RFC 3339).
    pub since: Option<DateTime<Utc>>,
    /// Only episodes before this time (RFC 3339).
    pub until: Option<DateTime<Utc>>,
    /// Maximum number of episodes, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists episodes.
#[derive(Debug)]
pub struct EpisodeList;

impl Operation for EpisodeList {
    const SPEC: Spec = Spec::reads(
        "episode_list",
        "What happened, newest first: memories created or used, and notes of the day.",
        Route::get("/v1/users/{user}/episodes"),
    );
    type Request = EpisodeListRequest;
    type Response = Page<Episode>;

    fn run(call: Call, request: EpisodeListRequest) -> Result<Page<Episode>> {
        let asked: PageRequest<EpisodeId> =
            PageRequest::new("episode_list", request.limit, request.cursor.as_ref())?;
        let filter = set(EpisodeFilter::default(), request.role, |filter, role| filter.roles([role]));
        let filter = set(filter, request.since, EpisodeFilter::since);
        let filter = set(filter, request.until, EpisodeFilter::until);
        let episodes = call.memories()?.episodes(filter, asked.after, asked.to_read());
        Ok(asked.page(episodes.map_err(|error| asked.failed(error))?, |episode| episode.id))
    }
}

/// A note of the day to keep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteRequest {
    /// The title, 1 to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// The text, at most 1,024 bytes.
    pub summary: Option<String>,
    /// The kind of note.
    pub kind: Option<MemoryKind>,
    /// The tags, with or without `#`.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The memory that the note is about. Default: none.
    pub memory: Option<MemoryName>,
    /// The session in which the event happened: the caller's key, or `id:` and its id.
    pub session: Option<String>,
    /// How the event ended.
    pub outcome: Option<Ended>,
    /// The caller's project for the note, at most 256 bytes.
    pub project: Option<String>,
    /// The task, by the caller's id, at most 256 bytes.
    pub task_id: Option<String>,
    /// The task's name for people, at most 256 bytes.
    pub task_name: Option<String>,
    /// What triggered the event, at most 1,024 bytes.
    pub trigger: Option<String>,
    /// The caller's own id for the note, unique among the user's episodes, at most 256 bytes. A note with the same title
    /// and text is not added again; another text with the same id is refused.
    pub caller_id: Option<String>,
    /// When the event happened (RFC 3339). Default: now.
    pub happened_at: Option<DateTime<Utc>>,
}

/// Keeps a note of the day.
#[derive(Debug)]
pub struct EpisodeNote;

impl Operation for EpisodeNote {
    const SPEC: Spec = Spec {
        again: Again::WithCallerId,
        ..Spec::adds("episode_note", "Keep a note of the day.", Route::post("/v1/users/{user}/episodes"))
    };
    type Request = NoteRequest;
    type Response = MaybeNew<Episode>;

    fn run(call: Call, request: NoteRequest) -> Result<MaybeNew<Episode>> {
        let session = call.session_id(request.session.as_deref())?;
        let memory = match &request.memory {
            Some(name) => Some(name.id(&call.memories()?)?),
            None => None,
        };
        let note = NewNote::new(request.title).tags(request.tags);
        let note = set(note, request.summary, NewNote::summary);
        let note = set(note, request.kind, NewNote::kind);
        let note = set(note, memory, NewNote::memory);
        let note = set(note, session, NewNote::session);
        let note = set(note, request.outcome, NewNote::outcome);
        let note = set(note, request.project, NewNote::project);
        let note = set(note, request.task_id, NewNote::task_id);
        let note = set(note, request.task_name, NewNote::task_name);
        let note = set(note, request.trigger, NewNote::trigger);
        let note = set(note, request.caller_id, NewNote::caller_id);
        let note = set(note, request.happened_at, NewNote::happened_at);
        note.check()?;
        let noted = call.user_or_new()?.memories().by(call.caller.origin).note(note)?;
        Ok(MaybeNew { value: noted.episode, is_new: noted.is_new })
    }

    fn outcome(noted: &MaybeNew<Episode>) -> OperationOutcome {
        noted.outcome()
    }
}
