//! The turn: one user message and its reply, the smallest unit of a conversation.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub use crate::model::origin::Origin;
use crate::model::{
    critical::CriticalRule,
    ids::{ReceiptId, SessionId, SnapshotId, TurnId},
    memory::trust::Trust,
    metadata,
    tier::MemoryTier,
};

/// The state of a turn: whether it is part of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TurnState {
    /// The turn is part of the memory.
    #[default]
    Complete,
    /// The turn's reply has not come yet: the turn is durable, hot and shown, but not recalled.
    Incomplete,
    /// Another turn replaced this turn or an earlier one. This turn is kept, but neither shown nor recalled.
    Replaced,
}

impl TurnState {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}

/// What was said, and by whom: the part of a turn that never changes once the turn is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Said {
    /// The user's message. May be empty if the assistant spoke first.
    pub user_message: String,
    /// The reply. May be empty.
    pub ai_response: String,
    /// The name of the message's author, if it was given.
    pub user_name: Option<String>,
    /// The name of the reply's author, if it was given.
    pub assistant_name: Option<String>,
    /// Where the message comes from.
    pub user_origin: Origin,
    /// Where the reply comes from.
    pub assistant_origin: Origin,
    /// Who handed the turn over. Neither side is trusted more than this: what an assistant reports that the user said is
    /// shown as the user's words, and trusted like the assistant's. Omitted from the JSON if it is the user.
    #[serde(default = "Origin::host", skip_serializing_if = "Origin::is_host")]
    pub recorded_by: Origin,
}

/// One side of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    User,
    Reply,
}

impl Said {
    /// Returns what one side said.
    pub(crate) fn side(&self, side: Side) -> &str {
        match side {
            Side::User => &self.user_message,
            Side::Reply => &self.ai_response,
        }
    }

    /// Returns whose words one side counts as: those of its origin or, if that is trusted less, of who handed them over.
    pub(crate) fn voice(&self, side: Side) -> Origin {
        match side {
            Side::User => self.user_origin,
            Side::Reply => self.assistant_origin,
        }
        .less_trusted(self.recorded_by)
    }

    /// Returns how far a quote is trusted: as far as the side that says it, the user's first.
    pub(crate) fn trust_of(&self, quote: &str) -> Trust {
        let side = if self.user_message.contains(quote) { Side::User } else { Side::Reply };
        Trust::of(self.voice(side))
    }

    /// Returns how far the turn is trusted: as far as its more trusted side.
    pub(crate) fn trust(&self) -> Trust {
        Trust::of(self.voice(Side::User)).max(Trust::of(self.voice(Side::Reply)))
    }
}

/// A turn to record: what was said, and what the caller knows about it.
///
/// ```
/// use thermocline::NewTurn;
/// let turn = NewTurn::new("My name is Alex.", "Nice to meet you, Alex.").caller_id("msg-17").critical();
/// ```
#[derive(Clone, Debug)]
pub struct NewTurn {
    pub(crate) said: Said,
    pub(crate) caller_id: Option<String>,
    pub(crate) said_at: Option<DateTime<Utc>>,
    pub(crate) snapshot_id: Option<SnapshotId>,
    pub(crate) critical: bool,
    pub(crate) answering: Option<ReceiptId>,
    pub(crate) replacing: Option<TurnId>,
    pub(crate) metadata: Option<serde_json::Value>,
}

impl NewTurn {
    /// Creates a turn to record from a recorded one.
    pub(crate) fn of(turn: Turn) -> Self {
        Self {
            said: turn.said,
            caller_id: turn.caller_id,
            said_at: Some(turn.timestamp),
            snapshot_id: turn.snapshot_id,
            critical: turn.is_identity_critical,
            answering: None,
            replacing: None,
            metadata: turn.metadata,
        }
    }

    /// Creates a turn from a user message and its reply. The reply may be empty.
    pub fn new(user_message: impl Into<String>, ai_response: impl Into<String>) -> Self {
        Self {
            said: Said {
                user_message: user_message.into(),
                ai_response: ai_response.into(),
                user_name: None,
                assistant_name: None,
                user_origin: Origin::User,
                assistant_origin: Origin::Assistant,
                recorded_by: Origin::host(),
            },
            caller_id: None,
            said_at: None,
            snapshot_id: None,
            critical: false,
            answering: None,
            replacing: None,
            metadata: None,
        }
    }

    /// Sets the caller's own id for this turn, unique per user, at most 256 bytes. A repeated record with the same id and
    /// text writes nothing and returns the recorded turn: for callers that do not know whether an earlier attempt arrived.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }

    /// Sets when the turn was said. Default: now, by the clock. Limits: the years 1 to 9999.
    #[must_use]
    pub fn said_at(mut self, at: DateTime<Utc>) -> Self {
        self.said_at = Some(at);
        self
    }

    /// Sets the speaker's name on the user's side, at most 256 bytes.
    #[must_use]
    pub fn user_name(mut self, name: impl Into<String>) -> Self {
        self.said.user_name = Some(name.into());
        self
    }

    /// Sets the speaker's name on the assistant's side, at most 256 bytes.
    #[must_use]
    pub fn assistant_name(mut self, name: impl Into<String>) -> Self {
        self.said.assistant_name = Some(name.into());
        self
    }

    /// Sets where the user's side comes from. Default: [`Origin::User`].
    #[must_use]
    pub fn user_origin(mut self, origin: Origin) -> Self {
        self.said.user_origin = origin;
        self
    }

    /// Sets where the assistant's side comes from. Default: [`Origin::Assistant`].
    #[must_use]
    pub fn assistant_origin(mut self, origin: Origin) -> Self {
        self.said.assistant_origin = origin;
        self
    }

    /// Sets who hands the turn over. Default: [`Origin::User`], the host that acts for its user. Set
    /// [`Origin::Assistant`] for what an assistant reports: its user's side is shown as the user's and trusted like the
    /// assistant's, so it cannot change what the user said.
    #[must_use]
    pub fn recorded_by(mut self, origin: Origin) -> Self {
        self.said.recorded_by = origin;
        self
    }

    /// Sets the id of the backend's state at this turn.
    #[must_use]
    pub fn snapshot(mut self, id: SnapshotId) -> Self {
        self.snapshot_id = Some(id);
        self
    }

    /// Marks the turn as critical: it is kept verbatim forever.
    #[must_use]
    pub fn critical(mut self) -> Self {
        self.critical = true;
        self
    }

    /// Names the context that the reply was made with, by its receipt: what that context recalled and showed was of
    /// use. The use is counted, and cold turns of other sessions that the context showed for what they say stay at hand
    /// until the session ends, at most the 8 that were used last. A turn that ranked best in three contexts named in this
    /// way is kept verbatim when its own session is compressed ([`CriticalRule::Used`](crate::CriticalRule::Used)). A
    /// receipt that no longer exists, or that another turn has named before, has no effect.
    #[must_use]
    pub fn answering(mut self, receipt: ReceiptId) -> Self {
        self.answering = Some(receipt);
        self
    }

    /// Replaces another turn of the same session, which must be open: for a regenerated reply or an edited message.
    /// That turn and all later ones in the session are set aside: they leave the index and the anchors, are not shown,
    /// and are kept ([`Session::replaced_at`](crate::Session::replaced_at)). Who [hands the turn
    /// over](Self::recorded_by) must be trusted as far as each of them, and like the user if one is critical. All of
    /// this is one transaction: setting
    /// aside thousands of turns blocks other writers for some tenths of a second, and the user's next recall reloads
    /// its index. If the new turn has a [`caller_id`](Self::caller_id), it must differ from that of the replaced turn.
    #[must_use]
    pub fn replacing(mut self, turn: TurnId) -> Self {
        self.replacing = Some(turn);
        self
    }

    /// Sets what the caller stores with the turn: a JSON object, at most 16 KiB as JSON, nested at most 64 levels deep.
    /// It is returned as [`Turn::metadata`] in whatever tier the turn is, exported and erased with the turn, and
    /// neither searched nor shown to an LLM. A repeated record does not change what the first one stored.
    #[must_use]
    pub fn metadata(mut self, metadata: serde_json::Value) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// The turn as a handle hands it over that acts for `by`.
    pub(crate) fn handed_by(mut self, by: Origin) -> Self {
        self.said.recorded_by = self.said.recorded_by.less_trusted(by);
        self
    }

    /// Returns the bytes of both sides together.
    pub fn text_bytes(&self) -> usize {
        self.said.user_message.len() + self.said.ai_response.len()
    }
}

/// A reply to a message that was recorded earlier ([`Session::complete`](crate::Session::complete)).
///
/// ```
/// use thermocline::Reply;
/// let reply = Reply::new("Nice to meet you, Alex.").assistant_name("Iris");
/// ```
#[derive(Clone, Debug)]
pub struct Reply {
    text: String,
    assistant_name: Option<String>,
    assistant_origin: Option<Origin>,
    answering: Option<ReceiptId>,
}

impl Reply {
    /// Creates a reply with this text, which must not be empty. If the answer was cut short, the text may be the part
    /// that had arrived. To leave a message without a reply, add none: the next record or the end of the session
    /// completes the turn.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), assistant_name: None, assistant_origin: None, answering: None }
    }

    /// Sets the speaker's name, at most 256 bytes. Default: the one given with the message.
    #[must_use]
    pub fn assistant_name(mut self, name: impl Into<String>) -> Self {
        self.assistant_name = Some(name.into());
        self
    }

    /// Sets where the reply comes from. Default: as given with the message.
    #[must_use]
    pub fn assistant_origin(mut self, origin: Origin) -> Self {
        self.assistant_origin = Some(origin);
        self
    }

    /// Names the context that the reply was made with, as [`NewTurn::answering`] does.
    #[must_use]
    pub fn answering(mut self, receipt: ReceiptId) -> Self {
        self.answering = Some(receipt);
        self
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Creates the turn made of the message and this reply.
    pub(crate) fn to(self, message: Turn) -> NewTurn {
        let message = NewTurn::of(message);
        let Said { assistant_name, assistant_origin, .. } = &message.said;
        let said = Said {
            assistant_name: self.assistant_name.or_else(|| assistant_name.clone()),
            assistant_origin: self.assistant_origin.unwrap_or(*assistant_origin),
            ai_response: self.text,
            ..message.said
        };
        NewTurn { said, answering: self.answering, ..message }
    }
}

/// Token counts of one turn, exact for the tokenizer they name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TokenCounts {
    /// Tokens of the user's message as it was said.
    pub user_message_tokens: u32,
    /// Tokens of the reply as it was said.
    pub ai_response_tokens: u32,
    /// The sum of both sides, which counts towards the hot tier's limit.
    pub total_tokens: u32,
    /// Tokens of the turn as a context renders it. Such counts can be added up.
    pub piece_tokens: u32,
    /// The tokenizer and the piece format: `o200k_base/3`.
    pub counted_by: String,
}

/// A recorded turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Turn {
    /// The turn's id.
    pub id: TurnId,
    /// The id of the turn's session.
    pub session_id: SessionId,
    /// The turn's number in the session, from 1.
    pub turn_number: u32,
    /// The turn's place in the user's order of recording, from 1. Numbers are never reused; erasing leaves gaps. 0
    /// while the turn is incomplete, and if it was replaced before it was complete.
    pub seq: i64,
    /// The caller's own id for the turn.
    pub caller_id: Option<String>,
    /// When the turn was said.
    pub timestamp: DateTime<Utc>,
    /// The tier that the turn is in.
    pub memory_tier: MemoryTier,
    /// Whether the turn is part of the memory.
    #[serde(default, skip_serializing_if = "TurnState::is_complete")]
    pub state: TurnState,
    /// Whether the turn is critical: kept verbatim forever. Decided by a mark of the caller or of LLM#2, or when the session
    /// is compressed, and then again whenever the rules change. Restoring the session leaves only the marks.
    pub is_identity_critical: bool,
    /// The rule that made the turn critical; `None` if it is not critical. A turn may also be kept verbatim only because
    /// it is short; then it has no rule.
    pub critical_rule: Option<CriticalRule>,
    /// The id of the backend's state at this turn, if the caller gave one.
    pub snapshot_id: Option<SnapshotId>,
    /// The turn's size in tokens.
    #[serde(flatten)]
    pub tokens: TokenCounts,
    /// What was said, and by whom.
    #[serde(flatten)]
    pub said: Said,
    /// What the caller stores with the turn; `None` if nothing. See [`NewTurn::metadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
}

impl Turn {
    /// Returns the bytes of both sides together.
    pub fn text_bytes(&self) -> usize {
        self.said.user_message.len() + self.said.ai_response.len()
    }

    /// Returns the bytes of both sides and of the metadata: the turn's size in a row or a frame.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.text_bytes() + metadata::bytes(self.metadata.as_ref())
    }
}

#[cfg(test)]
impl Turn {
    /// Creates a hot turn with this number, text and size, for tests that only need those.
    pub(crate) fn sample(turn_number: u32, text: impl Into<String>, total_tokens: u32) -> Self {
        Self {
            id: TurnId::new(DateTime::UNIX_EPOCH),
            session_id: SessionId::new(DateTime::UNIX_EPOCH),
            turn_number,
            seq: turn_number.into(),
            caller_id: None,
            timestamp: DateTime::UNIX_EPOCH,
            memory_tier: MemoryTier::Hot,
            state: TurnState::Complete,
            is_identity_critical: false,
            critical_rule: None,
            snapshot_id: None,
            tokens: TokenCounts {
                user_message_tokens: total_tokens,
                ai_response_tokens: 0,
                total_tokens,
                piece_tokens: total_tokens + 3,
                counted_by: "o200k_base/3".to_owned(),
            },
            said: NewTurn::new(text, "").said,
            metadata: None,
        }
    }
}

/// A turn that was set aside, and what replaced it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReplacedTurn {
    /// The turn as it was.
    pub turn: Turn,
    /// The turn that replaced this turn or an earlier one.
    pub replaced_by: TurnId,
    /// When the turn was set aside, by the system clock.
    pub replaced_at: DateTime<Utc>,
}

/// The result of [`record`](crate::Session::record), [`record_message`](crate::Session::record_message) or
/// [`complete`](crate::Session::complete).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recorded {
    /// The turn's id.
    pub turn_id: TurnId,
    /// The session that the turn is in: the one that was asked for or its successor; if the turn was already known, the
    /// one in which it was recorded.
    pub session_id: SessionId,
    /// The turn's number in that session, from 1.
    pub turn_number: u32,
    /// The turn's place in the user's order of recording, as in [`Turn::seq`].
    pub seq: i64,
    /// The turn's state: the turn may still wait for its reply, and a turn that was already known may have been replaced
    /// since.
    #[serde(default, skip_serializing_if = "TurnState::is_complete")]
    pub state: TurnState,
    /// Whether this call wrote the turn (or its reply), or an earlier call did.
    pub outcome: RecordOutcome,
    /// The numbers of the turns of this session that the call evicted from hot to warm, oldest first.
    pub evicted: Vec<u32>,
    /// The ended session, if this call started its successor.
    pub continues: Option<SessionId>,
}

impl Recorded {
    /// Creates the result for a turn that an earlier call recorded.
    pub(crate) fn known(turn: &Turn) -> Self {
        Self {
            turn_id: turn.id,
            session_id: turn.session_id,
            turn_number: turn.turn_number,
            seq: turn.seq,
            state: turn.state,
            outcome: RecordOutcome::Known,
            evicted: Vec::new(),
            continues: None,
        }
    }
}

/// Whether a call that records a turn wrote anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RecordOutcome {
    /// This call recorded the turn, or added its reply.
    New,
    /// An earlier call recorded the turn with this caller's id and text, or added this reply; nothing was written.
    Known,
}
