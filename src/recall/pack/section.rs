//! The sections of a context.

use serde::{Deserialize, Serialize};

/// A part of a context. The sections are listed in the order in which a context shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Section {
    /// Anchors.
    WhoTheUserIs,
    /// Memories.
    WhatIsKnown,
    /// Standing wishes that apply to the message.
    Wishes,
    /// Turns of other sessions, or the summaries in their places: recalled, or of use in this session before.
    EarlierConversations,
    /// Turns of the session before the recent ones, or the summaries in their places.
    EarlierInSession,
    /// Hot turns, as many as have room.
    RecentTurns,
}

impl Section {
    pub(super) const ALL: [Self; 6] = [
        Self::WhoTheUserIs,
        Self::WhatIsKnown,
        Self::Wishes,
        Self::EarlierConversations,
        Self::EarlierInSession,
        Self::RecentTurns,
    ];

    /// Returns the name: `who_the_user_is`, `what_is_known`, `wishes`, `earlier_conversations`, `earlier_in_session` or
    /// `recent_turns`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WhoTheUserIs => "who_the_user_is",
            Self::WhatIsKnown => "what_is_known",
            Self::Wishes => "wishes",
            Self::EarlierConversations => "earlier_conversations",
            Self::EarlierInSession => "earlier_in_session",
            Self::RecentTurns => "recent_turns",
        }
    }

    /// The line above the section.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::WhoTheUserIs => "<who the user is>\n",
            Self::WhatIsKnown => "<what is known>\n",
            Self::Wishes => "<wishes of the user>\n",
            Self::EarlierConversations => "<from earlier conversations>\n",
            Self::EarlierInSession => "<earlier in this session>\n",
            Self::RecentTurns => "<recent turns>\n",
        }
    }
}
