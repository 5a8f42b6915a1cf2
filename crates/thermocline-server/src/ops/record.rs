//! The operations that record turns: whole, as a message and later its reply, or many at once.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{NewTurn, Origin, ReceiptId, RecordOutcome, Recorded, Reply, SnapshotId, TurnId};

use crate::ops::{
    Operation, OperationOutcome, Result, Row,
    call::{self, Call, TurnSide, set},
    problem::{ItemProblem, Problem, Retry},
    row,
    spec::{Again, Class, Replaces, Route, Spec, Tool},
};

/// The maximum number of turns in one call of `record_many`.
const MOST_TURNS: usize = 1_000;

/// Returns the operations that record.
pub fn rows() -> Vec<Row> {
    vec![row::<Record>(), row::<RecordMessage>(), row::<TurnComplete>(), row::<RecordMany>()]
}

/// A turn to record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordRequest {
    /// The caller's key for the session, at most 256 bytes, or `id:` and the id of an existing one. A new key starts a
    /// session. Default: the newest open session without a key, or a new one.
    pub session: Option<String>,
    /// What the user said; may be empty if the assistant spoke first. At most 1 MiB, unless the server sets another limit.
    pub user_message: String,
    /// The reply; may be empty. At most 1 MiB, unless the server sets another limit.
    #[serde(default)]
    pub ai_response: String,
    /// The caller's own id for the turn, unique per user, at most 256 bytes. Recording the same id again returns the first
    /// result; with different text it is a conflict.
    pub caller_id: Option<String>,
    /// When the turn was said (RFC 3339). Default: now.
    pub said_at: Option<DateTime<Utc>>,
    /// The name of who wrote the message. Default: none.
    pub user_name: Option<String>,
    /// The name of who wrote the reply. Default: none.
    pub assistant_name: Option<String>,
    /// The origin of the message. Default: user; for a key with the origin tool or document, that origin. What a key with the
    /// origin assistant reports that the user said is trusted like the assistant's words.
    pub user_origin: Option<Origin>,
    /// The origin of the reply, at most as trusted as the key. Default: assistant; for a key with the origin tool or
    /// document, that origin.
    pub assistant_origin: Option<Origin>,
    /// Whether to keep the turn verbatim forever. Default: no.
    #[serde(default)]
    pub critical: bool,
    /// The receipt of the context with which the reply was made.
    pub answering: Option<ReceiptId>,
    /// The turn that this one replaces, for an edited message or a regenerated reply. It must be in the same session, and
    /// the session must be open. That turn and all later ones are set aside, but kept.
    pub replacing: Option<TurnId>,
    /// The id of the snapshot of the backend's state at this turn.
    pub snapshot: Option<SnapshotId>,
    /// The caller's own JSON object, at most 16 KiB: kept with the turn, never searched or shown to an LLM.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

impl RecordRequest {
    fn into_turn(self, call: &Call) -> Result<NewTurn> {
        let turn = NewTurn::new(self.user_message, self.ai_response);
        let turn = set(turn, self.caller_id, NewTurn::caller_id);
        let turn = set(turn, self.said_at, NewTurn::said_at);
        let turn = set(turn, self.user_name, NewTurn::user_name);
        let turn = set(turn, self.assistant_name, NewTurn::assistant_name);
        let turn = turn.user_origin(call.side_origin(self.user_origin, TurnSide::User)?);
        let turn = turn.assistant_origin(call.side_origin(self.assistant_origin, TurnSide::Assistant)?);
        let turn = if self.critical { turn.critical() } else { turn };
        let turn = set(turn, self.answering, NewTurn::answering);
        let turn = set(turn, self.replacing, NewTurn::replacing);
        let turn = set(turn, self.snapshot, NewTurn::snapshot);
        Ok(set(turn, self.metadata, |turn, metadata| turn.metadata(metadata.into())))
    }

    fn record(mut self, call: &Call) -> Result<Recorded> {
        let session = self.session.take();
        call.record(session.as_deref(), self.into_turn(call).inspect_err(|_| call.note_user())?)
    }
}

fn outcome(recorded: &Recorded) -> OperationOutcome {
    match recorded.outcome {
        RecordOutcome::Known => OperationOutcome::Known,
        _ => OperationOutcome::Added,
    }
}

/// Records a turn.
#[derive(Debug)]
pub struct Record;

impl Operation for Record {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_record", title: "Record a turn" }),
        again: Again::WithCallerId,
        replaces: Replaces::WhatIsNamed,
        ..Spec::adds(
            "record",
            "Record a user message and its reply; durable once this returns.",
            Route::post("/v1/users/{user}/turns"),
        )
    };
    type Request = RecordRequest;
    type Response = Recorded;

    fn run(call: Call, request: RecordRequest) -> Result<Recorded> {
        request.record(&call)
    }

    fn outcome(recorded: &Recorded) -> OperationOutcome {
        outcome(recorded)
    }
}

/// A message whose reply comes later.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageRequest {
    /// The caller's key for the session, or `id:` and the id of an existing one. A new key starts a session. Default: the
    /// newest open session without a key, or a new one.
    pub session: Option<String>,
    /// What the user said. At most 1 MiB, unless the server sets another limit.
    #[schemars(length(min = 1))]
    pub user_message: String,
    /// The caller's own id for the turn, unique per user, at most 256 bytes.
    pub caller_id: Option<String>,
    /// When the message was said (RFC 3339). Default: now.
    pub said_at: Option<DateTime<Utc>>,
    /// The name of who wrote the message. Default: none.
    pub user_name: Option<String>,
    /// The origin of the message. Default: user; for a key with the origin tool or document, that origin. What a key with the
    /// origin assistant reports that the user said is trusted like the assistant's words.
    pub user_origin: Option<Origin>,
    /// Whether to keep the turn verbatim forever. Default: no.
    #[serde(default)]
    pub critical: bool,
    /// The turn that this one replaces. It must be in the same session, and the session must be open.
    pub replacing: Option<TurnId>,
    /// The id of the snapshot of the backend's state at this turn.
    pub snapshot: Option<SnapshotId>,
    /// The caller's own JSON object, at most 16 KiB.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Records a message whose reply comes later.
#[derive(Debug)]
pub struct RecordMessage;

impl Operation for RecordMessage {
    const SPEC: Spec = Spec {
        again: Again::WithCallerId,
        replaces: Replaces::WhatIsNamed,
        ..Spec::adds(
            "record_message",
            "Record a user message whose reply comes later, with turn_complete.",
            Route::post("/v1/users/{user}/messages"),
        )
    };
    type Request = MessageRequest;
    type Response = Recorded;

    fn run(call: Call, request: MessageRequest) -> Result<Recorded> {
        let turn = NewTurn::new(request.user_message, "");
        let turn = set(turn, request.caller_id, NewTurn::caller_id);
        let turn = set(turn, request.said_at, NewTurn::said_at);
        let turn = set(turn, request.user_name, NewTurn::user_name);
        let origin =
            call.side_origin(request.user_origin, TurnSide::User).inspect_err(|_| call.note_user())?;
        let turn = turn.user_origin(origin);
        let turn = if request.critical { turn.critical() } else { turn };
        let turn = set(turn, request.replacing, NewTurn::replacing);
        let turn = set(turn, request.snapshot, NewTurn::snapshot);
        let turn = set(turn, request.metadata, |turn, metadata| turn.metadata(metadata.into()));
        call.record_message(request.session.as_deref(), turn)
    }

    fn outcome(recorded: &Recorded) -> OperationOutcome {
        outcome(recorded)
    }
}

/// A reply to a message that was recorded earlier.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyRequest {
    /// The turn: its id, or `key:` and the caller's own id.
    pub turn: String,
    /// The reply, or as much of it as arrived before it was cut short. At most 1 MiB, unless the server sets another
    /// limit.
    #[schemars(length(min = 1))]
    pub ai_response: String,
    /// The name of who wrote the reply. Default: the one recorded with the message, if any.
    pub assistant_name: Option<String>,
    /// The origin of the reply, at most as trusted as the key. Default: assistant; for a key with the origin tool or
    /// document, that origin.
    pub assistant_origin: Option<Origin>,
    /// The receipt of the context with which the reply was made.
    pub answering: Option<ReceiptId>,
}

/// Adds the reply to a message.
#[derive(Debug)]
pub struct TurnComplete;

impl Operation for TurnComplete {
    const SPEC: Spec = Spec::changes(
        "turn_complete",
        "Add the reply to a message recorded without one; the same reply again changes nothing.",
        Route::put("/v1/users/{user}/turns/{turn}/reply"),
    );
    type Request = ReplyRequest;
    type Response = Recorded;

    fn run(call: Call, request: ReplyRequest) -> Result<Recorded> {
        let user = call.user()?;
        let turn = call::turn(&user, &request.turn)?;
        let session = user.session_by_id(turn.session_id)?;
        let reply = Reply::new(request.ai_response);
        let reply = set(reply, request.assistant_name, Reply::assistant_name);
        let reply = reply.assistant_origin(call.side_origin(request.assistant_origin, TurnSide::Assistant)?);
        let reply = set(reply, request.answering, Reply::answering);
        Ok(session.complete(turn.id, reply)?)
    }

    fn outcome(recorded: &Recorded) -> OperationOutcome {
        match recorded.outcome {
            RecordOutcome::Known => OperationOutcome::Known,
            _ => OperationOutcome::Done,
        }
    }
}

/// Turns to record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManyRequest {
    /// The turns, oldest first, each with a `caller_id`: at most 1,000.
    #[schemars(length(min = 1, max = MOST_TURNS))]
    pub turns: Vec<RecordRequest>,
}

/// The results of recording many turns.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManyRecorded {
    /// The result for each turn, in the order of the request.
    pub items: Vec<OneRecorded>,
}

/// The result of one of many turns.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OneRecorded {
    /// The turn is recorded, by this call or an earlier one.
    Recorded(Recorded),
    /// The turn was not recorded.
    Problem(ItemProblem),
}

/// Records many turns.
#[derive(Debug)]
pub struct RecordMany;

impl Operation for RecordMany {
    const SPEC: Spec = Spec {
        class: Class::Long,
        replaces: Replaces::WhatIsNamed,
        ..Spec::adds(
            "record_many",
            "Record up to 1,000 turns, one by one, each with a caller_id, and return the result of each; for imports.",
            Route::post("/v1/users/{user}/turns/batch"),
        )
    };
    type Request = ManyRequest;
    type Response = ManyRecorded;

    fn run(call: Call, request: ManyRequest) -> Result<ManyRecorded> {
        if !(1..=MOST_TURNS).contains(&request.turns.len()) {
            return Err(Problem::invalid("turns", format!("a request records 1 to {MOST_TURNS} turns")));
        }
        if let Some(at) = request.turns.iter().position(|turn| turn.caller_id.is_none()) {
            return Err(Problem::invalid(
                &format!("turns/{at}/caller_id"),
                "each of several turns needs a caller_id, so that the request can be repeated",
            ));
        }
        let mut items = Vec::with_capacity(request.turns.len());
        for turn in request.turns {
            let recorded = match turn.record(&call) {
                Ok(recorded) => OneRecorded::Recorded(recorded),
                // Stops at a problem that a retry may solve, because each of the later turns would have to wait as long.
                Err(problem) if problem.code.facts().retry != Retry::Never => return Err(problem),
                Err(problem) => OneRecorded::Problem(ItemProblem::of(&problem)),
            };
            items.push(recorded);
        }
        Ok(ManyRecorded { items })
    }

    fn outcome(many: &ManyRecorded) -> OperationOutcome {
        let is_new = |one: &OneRecorded| matches!(one, OneRecorded::Recorded(recorded) if recorded.outcome != RecordOutcome::Known);
        if many.items.iter().any(is_new) { OperationOutcome::Added } else { OperationOutcome::Done }
    }
}
