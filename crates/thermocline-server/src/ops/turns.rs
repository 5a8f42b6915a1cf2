//! The operations on recorded turns, replaced turns and summaries: read, list, search, erase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{Erased, Found, PastTurn, ReplacedTurn, Summary, SummaryId, Turn, TurnId};

use crate::ops::{
    Operation, OperationOutcome, Result, Row,
    call::{self, Call, KEY},
    page::{Cursor, Limit, Page, PageRequest},
    problem::{Code, Problem},
    row,
    spec::{Class, Route, Spec, Tool},
};

/// Returns the operations on recorded turns.
pub fn rows() -> Vec<Row> {
    vec![
        row::<TurnShow>(),
        row::<TurnList>(),
        row::<TurnAt>(),
        row::<TurnReplaced>(),
        row::<TurnSearch>(),
        row::<TurnSummary>(),
        row::<TurnErase>(),
        row::<ColdList>(),
        row::<SummaryList>(),
    ]
}

/// Names a turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfTurn {
    /// The turn: its id, or `key:` and the caller's own id.
    pub turn: String,
}

/// A place in a session's history.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfPlace {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// The turn's place in the session, from 1.
    #[schemars(regex(pattern = "^[0-9]{1,9}$"))]
    pub number: String,
}

/// Shows a turn.
#[derive(Debug)]
pub struct TurnShow;

impl Operation for TurnShow {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_turn", title: "A turn" }),
        ..Spec::reads(
            "turn_show",
            "One turn, to the letter, wherever it lives.",
            Route::get("/v1/users/{user}/turns/{turn}"),
        )
    };
    type Request = OfTurn;
    type Response = Turn;

    fn run(call: Call, request: OfTurn) -> Result<Turn> {
        call::turn(&call.user()?, &request.turn)
    }
}

/// A part of a session's history.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnListRequest {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// Whether pages start at the newest turns and go back, as chat programs show them. Within a page, the turns stay in
    /// ascending order. Default: no.
    #[serde(default)]
    pub from_end: bool,
    /// Maximum number of turns, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists the turns of a session.
#[derive(Debug)]
pub struct TurnList;

impl Operation for TurnList {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_turns", title: "Turns of a session" }),
        ..Spec::reads(
            "turn_list",
            "The turns of a session in order, wherever they live.",
            Route::get("/v1/users/{user}/sessions/{session}/turns"),
        )
    };
    type Request = TurnListRequest;
    type Response = Page<PastTurn>;

    fn run(call: Call, request: TurnListRequest) -> Result<Page<PastTurn>> {
        let user = call.user()?;
        let session = call::session(&user, &request.session)?;
        if !request.from_end {
            let asked: PageRequest<u32> =
                PageRequest::new("turn_list", request.limit, request.cursor.as_ref())?;
            let turns = session.turns(asked.after, asked.to_read())?;
            return Ok(asked.page(turns, PastTurn::turn_number));
        }
        let asked: PageRequest<u32> =
            PageRequest::new("turn_list.back", request.limit, request.cursor.as_ref())?;
        let mut turns = session.turns_before(asked.after, asked.to_read())?;
        turns.reverse();
        let mut page = asked.page(turns, PastTurn::turn_number);
        page.items.reverse();
        Ok(page)
    }
}

/// Shows a turn by its place in its session.
#[derive(Debug)]
pub struct TurnAt;

impl Operation for TurnAt {
    const SPEC: Spec = Spec::reads(
        "turn_at",
        "One turn by its place in its session.",
        Route::get("/v1/users/{user}/sessions/{session}/turns/{number}"),
    );
    type Request = OfPlace;
    type Response = Turn;

    fn run(call: Call, request: OfPlace) -> Result<Turn> {
        let number = call::number("number", &request.number)?;
        let session = call::session(&call.user()?, &request.session)?;
        session.turn(number)?.ok_or_else(call::not_found)
    }
}

/// Lists the turns that were at a place until they were replaced or set aside.
#[derive(Debug)]
pub struct TurnReplaced;

impl Operation for TurnReplaced {
    const SPEC: Spec = Spec::reads(
        "turn_replaced",
        "The turns that stood at a place of a session before, oldest first, with what replaced them.",
        Route::get("/v1/users/{user}/sessions/{session}/turns/{number}/replaced"),
    );
    type Request = OfPlace;
    type Response = Page<ReplacedTurn>;

    fn run(call: Call, request: OfPlace) -> Result<Page<ReplacedTurn>> {
        let number = call::number("number", &request.number)?;
        let session = call::session(&call.user()?, &request.session)?;
        Ok(Page::whole(session.replaced_at(number)?))
    }
}

/// Words to search for in a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnSearchRequest {
    /// The session: the caller's key, or `id:` and its id.
    pub session: String,
    /// The words to search for.
    pub query: String,
    /// Maximum number of turns, from 1 to 200. Default: 10.
    #[schemars(range(min = 1, max = 200))]
    pub k: Option<u32>,
}

/// Searches a session for words.
#[derive(Debug)]
pub struct TurnSearch;

impl Operation for TurnSearch {
    const SPEC: Spec = Spec {
        class: Class::Recall,
        ..Spec::reads(
            "turn_search",
            "The best turns of one session for a query, by words.",
            Route::post("/v1/users/{user}/sessions/{session}/search"),
        )
    };
    type Request = TurnSearchRequest;
    type Response = Page<Found>;

    fn run(call: Call, request: TurnSearchRequest) -> Result<Page<Found>> {
        let k = request.k.unwrap_or(10);
        if !(1..=200).contains(&k) {
            return Err(Problem::invalid("k", "k is a number from 1 to 200"));
        }
        let session = call::session(&call.user()?, &request.session)?;
        Ok(Page::whole(session.search(&request.query, k as usize)?))
    }
}

/// The summary of a turn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryOfTurn {
    /// The summary; null if the turn has none.
    pub summary: Option<Summary>,
}

/// Shows the summary of a turn.
#[derive(Debug)]
pub struct TurnSummary;

impl Operation for TurnSummary {
    const SPEC: Spec = Spec::reads(
        "turn_summary",
        "The summary that stands for a turn, if one does; where originals are deleted it is all that is left.",
        Route::get("/v1/users/{user}/turns/{turn}/summary"),
    );
    type Request = OfTurn;
    type Response = SummaryOfTurn;

    fn run(call: Call, request: OfTurn) -> Result<SummaryOfTurn> {
        let user = call.user()?;
        let summary = match request.turn.strip_prefix(KEY) {
            Some(caller_id) => user.summary_by_caller_id(caller_id)?,
            None => user.summary(call::turn_id(&request.turn)?)?,
        };
        // What has a summary exists, even if its original was deleted. A turn that is damaged exists too.
        if summary.is_none()
            && let Err(problem) = call::turn(&user, &request.turn)
            && problem.code == Code::NotFound
        {
            return Err(problem);
        }
        Ok(SummaryOfTurn { summary })
    }
}

/// Erases a turn, the turns that were set aside for it, and the user's receipts, whose queries may repeat what it said.
#[derive(Debug)]
pub struct TurnErase;

impl Operation for TurnErase {
    const SPEC: Spec = Spec::erases(
        "turn_erase",
        "Erase a turn from the file's bytes, with the turns set aside for it, what jobs made of it, and all the user's receipts.",
        Route::delete("/v1/users/{user}/turns/{turn}"),
    );
    type Request = OfTurn;
    type Response = Erased;

    fn run(call: Call, request: OfTurn) -> Result<Erased> {
        let user = call.user()?;
        let turn = match request.turn.strip_prefix(KEY) {
            Some(_) => call::turn(&user, &request.turn)?.id,
            None => call::turn_id(&request.turn)?,
        };
        Ok(user.erase_turn(turn)?)
    }

    fn outcome(erased: &Erased) -> OperationOutcome {
        OperationOutcome::of_erase(erased)
    }
}

/// Asks for a page of a user's cold turns or summaries.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Maximum number of entries, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists cold turns.
#[derive(Debug)]
pub struct ColdList;

impl Operation for ColdList {
    const SPEC: Spec = Spec::reads(
        "cold_list",
        "The user's cold turns of all sessions, newest first: verbatim ones, and those of the archive.",
        Route::get("/v1/users/{user}/cold"),
    );
    type Request = ListRequest;
    type Response = Page<Turn>;

    fn run(call: Call, request: ListRequest) -> Result<Page<Turn>> {
        let asked: PageRequest<TurnId> =
            PageRequest::new("cold_list", request.limit, request.cursor.as_ref())?;
        let turns = call.user()?.cold_turns(asked.after, asked.to_read());
        Ok(asked.page(turns.map_err(|error| asked.failed(error))?, |turn| turn.id))
    }
}

/// Lists summaries.
#[derive(Debug)]
pub struct SummaryList;

impl Operation for SummaryList {
    const SPEC: Spec = Spec::reads(
        "summary_list",
        "The user's summaries of all sessions, newest first.",
        Route::get("/v1/users/{user}/summaries"),
    );
    type Request = ListRequest;
    type Response = Page<Summary>;

    fn run(call: Call, request: ListRequest) -> Result<Page<Summary>> {
        let asked: PageRequest<SummaryId> =
            PageRequest::new("summary_list", request.limit, request.cursor.as_ref())?;
        let summaries = call.user()?.summaries(asked.after, asked.to_read());
        Ok(asked.page(summaries.map_err(|error| asked.failed(error))?, |summary| summary.id))
    }
}
