//! The options of a context, and which sections a context with these options has.

use chrono::{DateTime, Utc};

use crate::{
    model::{
        filter::Filter,
        ids::SessionId,
        memory::filter::{MemoryFilter, Of},
        profile::Profile,
    },
    recall::{of::RecallOf, pack::Section, sieve::Sieve},
    store::rows::sessions::SessionRow,
};

/// Options of a context.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ContextOptions {
    /// Maximum tokens of the final string, or of all [messages](crate::Context::messages) together. Default: the sum of
    /// [`Config::shares`](crate::Config::shares).
    pub budget_tokens: Option<u32>,
    /// The current time, which the context shows so that its dates make sense. Default: the clock's.
    pub now: Option<DateTime<Utc>>,
    /// How recalled turns are ranked. Default: [`Config::profile`](crate::Config::profile).
    pub profile: Option<Profile>,
    /// What may be recalled. Default: everything that is stored of the user.
    pub filter: Filter,
    /// Minimum confidence, from 0 to 1: recalled results are shown only if
    /// [`Context::confidence`](crate::Context::confidence) is at least this. Default: 0.1.
    pub min_confidence: Option<f64>,
    /// Additional queries: at most 8, each at most as long as a message. Default: none.
    pub queries: Vec<String>,
    /// Sections to leave out. Default: none.
    pub without: Vec<Section>,
    /// Which memories are recalled. Default: active ones, and archived ones at half their weight; with
    /// [`Profile::Continuum`], active ones with a confidence of at least 0.75.
    pub memories: Option<MemoryFilter>,
    /// Whether the best 20 memories lend score to their neighbours over accepted edges. Default: no.
    pub graph: bool,
    /// Whether the recent turns are returned as messages instead of as part of the text. Default: no.
    pub for_messages: bool,
}

impl ContextOptions {
    /// Builds the context for a chat API: [`Context::messages`](crate::Context::messages) returns the recent turns as the
    /// original messages, and the budget covers all messages together, with
    /// [`ChatMessage::FRAME_TOKENS`](crate::ChatMessage::FRAME_TOKENS) for each.
    ///
    /// It is packed differently from a string. The recent turns get their share ([`Shares::hot`](crate::Shares::hot), at
    /// most half of the budget) whether they need it or not, plus what the [block](crate::Context::block) leaves, so that
    /// the block does not depend on them. They are shown without a gap, from the newest back to the first that does not fit;
    /// that one is cut, or left out if too little of it would remain. The length of the new message does not reduce
    /// their room.
    #[must_use]
    pub fn for_messages(mut self) -> Self {
        self.for_messages = true;
        self
    }

    /// Leaves out this section, for example because the caller sends its content by other means. May be called several
    /// times. Whatever would appear in the section is neither shown nor recalled: without [`Section::RecentTurns`] no hot
    /// turn is recalled, without [`Section::EarlierInSession`] no turn of the session that is not hot, without
    /// [`Section::EarlierConversations`] nothing of other sessions, without [`Section::WhatIsKnown`] no memory. The hot
    /// turns still help to understand the message.
    #[must_use]
    pub fn without(mut self, section: Section) -> Self {
        self.without.push(section);
        self
    }

    /// Leaves out this session: none of its turns or their summaries is shown or recalled, even if it is the context's own
    /// session. May be called several times. The same as [`Filter::without_session`]. The id stands for that session alone,
    /// not for its successor.
    #[must_use]
    pub fn without_session(mut self, session: SessionId) -> Self {
        self.filter = self.filter.without_session(session);
        self
    }

    /// Searches for these texts too, each separately and as of the same moment as the message: for example a rephrasing of
    /// the message by the caller or an LLM. A turn ranks by the search that it fits best. What the message refers back to,
    /// and what a [reranker](crate::Config::reranker) is asked, do not depend on these texts. Blank queries are ignored.
    #[must_use]
    pub fn queries(mut self, queries: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queries = queries.into_iter().map(Into::into).collect();
        self
    }

    /// Recalls only what passes this filter.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Recalls only memories that pass this filter. `MemoryFilter::default()` passes only active ones.
    #[must_use]
    pub fn memories(mut self, filter: MemoryFilter) -> Self {
        self.memories = Some(filter);
        self
    }

    /// Sets whether memories lend score to their neighbours.
    #[must_use]
    pub fn graph(mut self, graph: bool) -> Self {
        self.graph = graph;
        self
    }

    /// Which things are recalled.
    pub(crate) fn recall_of(&self) -> RecallOf {
        RecallOf { of: Of::All, memories: self.memories.clone(), graph: self.graph }
    }

    /// Shows recalled results only if one of them has at least this confidence. 0 sets no condition: results are then left
    /// out only if they themselves fit too badly. At 1, results are shown only if the message asks for nothing but a time.
    #[must_use]
    pub fn min_confidence(mut self, confidence: f64) -> Self {
        self.min_confidence = Some(confidence);
        self
    }

    /// Limits the context to this many tokens.
    #[must_use]
    pub fn budget_tokens(mut self, tokens: u32) -> Self {
        self.budget_tokens = Some(tokens);
        self
    }

    /// Ranks recalled turns by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Builds the context as of this moment.
    #[must_use]
    pub fn now(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }
}

/// Which sections a context has.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each may be left out by itself")]
pub(crate) struct Shows {
    pub(super) who_the_user_is: bool,
    what_is_known: bool,
    pub(super) wishes: bool,
    earlier_conversations: bool,
    pub(super) earlier_in_session: bool,
    pub(super) recent_turns: bool,
}

impl Shows {
    pub(super) fn of(options: &ContextOptions, session: Option<&SessionRow>) -> Self {
        let has = |section| !options.without.contains(&section);
        let left_out = &options.filter.without_sessions;
        let has_own = session.is_none_or(|session| !left_out.contains(&session.info.id));
        Self {
            who_the_user_is: has(Section::WhoTheUserIs),
            what_is_known: has(Section::WhatIsKnown),
            wishes: has(Section::Wishes),
            earlier_conversations: has(Section::EarlierConversations),
            earlier_in_session: has(Section::EarlierInSession) && has_own,
            recent_turns: has(Section::RecentTurns) && has_own,
        }
    }

    /// Narrows the sieve to what these sections may show.
    pub(super) fn narrowed(self, sieve: Sieve, session: Option<&SessionRow>) -> Sieve {
        let session = session.map(|session| session.session_no);
        let sieve = if self.what_is_known { sieve } else { sieve.without_memories() };
        let sieve = if self.earlier_conversations { sieve } else { sieve.only_of(session) };
        match session {
            Some(session) if !self.earlier_in_session => sieve.without(session),
            _ => sieve,
        }
    }
}
