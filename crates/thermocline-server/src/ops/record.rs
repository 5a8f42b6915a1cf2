//! `record`: a user message and the reply to it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{NewTurn, Origin, ReceiptId, RecordOutcome, Recorded};

use crate::ops::{
    Operation, Outcome, Result, call,
    call::Call,
    spec::{Again, Route, Spec, Tool},
};

/// Records a turn.
#[derive(Debug)]
pub struct Record;

/// A turn to record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The caller's key for the conversation, at most 256 bytes, or `id:` and the id of one that is there. A key that is
    /// new begins a conversation. Default: the open conversation without a key.
    pub session: Option<String>,
    /// What the user said; may be empty if the assistant spoke first. At most 1 MiB.
    pub user_message: String,
    /// The reply; may be empty. At most 1 MiB.
    #[serde(default)]
    pub ai_response: String,
    /// The caller's own id for the turn, unique per user, at most 256 bytes. Recording the same id again gives the first
    /// result, for ever; with other text it is a conflict.
    pub caller_id: Option<String>,
    /// When it was said (RFC 3339). Default: now.
    pub said_at: Option<DateTime<Utc>>,
    /// Who wrote the message, where there are names.
    pub user_name: Option<String>,
    /// Who wrote the reply, where there are names.
    pub assistant_name: Option<String>,
    /// Where the message comes from. Default: user.
    pub user_origin: Option<Origin>,
    /// Where the reply comes from. Default: assistant.
    pub assistant_origin: Option<Origin>,
    /// Keeps the turn verbatim for ever.
    #[serde(default)]
    pub critical: bool,
    /// The receipt of the context that the reply was made with.
    pub answering: Option<ReceiptId>,
    /// A JSON object of the caller's, at most 16 KiB: kept with the turn, never searched or shown to an LLM.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Request {
    fn into_turn(self) -> NewTurn {
        let mut turn = NewTurn::new(self.user_message, self.ai_response);
        if let Some(id) = self.caller_id {
            turn = turn.caller_id(id);
        }
        if let Some(at) = self.said_at {
            turn = turn.said_at(at);
        }
        if let Some(name) = self.user_name {
            turn = turn.user_name(name);
        }
        if let Some(name) = self.assistant_name {
            turn = turn.assistant_name(name);
        }
        if let Some(origin) = self.user_origin {
            turn = turn.user_origin(origin);
        }
        if let Some(origin) = self.assistant_origin {
            turn = turn.assistant_origin(origin);
        }
        if self.critical {
            turn = turn.critical();
        }
        if let Some(receipt) = self.answering {
            turn = turn.answering(receipt);
        }
        if let Some(metadata) = self.metadata {
            turn = turn.metadata(metadata.into());
        }
        turn
    }
}

impl Operation for Record {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_record", title: "Record a turn" }),
        again: Again::WithCallerId,
        ..Spec::adds(
            "record",
            "Record a user message and the reply to it; durable once this answers.",
            Route::post("/v1/users/{user}/turns"),
        )
    };
    type Request = Request;
    type Response = Recorded;

    async fn run(call: Call, mut request: Request) -> Result<Recorded> {
        let user = call.user_or_new().await?;
        let session = match request.session.take() {
            None => user.session().await?,
            Some(key) => match call::find_session(&user, &key).await? {
                Some(session) => session,
                None if key.starts_with("id:") => return Err(call::not_found()),
                None => user.session_named(&key).await?,
            },
        };
        Ok(session.record(request.into_turn()).await?)
    }

    fn outcome(recorded: &Recorded) -> Outcome {
        match recorded.outcome {
            RecordOutcome::Known => Outcome::Known,
            _ => Outcome::Added,
        }
    }
}
