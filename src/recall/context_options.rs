//! How a context is to be: what its caller asks for, and which sections that leaves.

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

/// How a context is to be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ContextOptions {
    /// Tokens at most: of the final string, or of all [messages](crate::Context::messages) together. Default: the sum of
    /// [`Config::shares`](crate::Config::shares).
    pub budget_tokens: Option<u32>,
    /// The moment of asking, which the context shows so that its dates mean something. Default: the clock's.
    pub now: Option<DateTime<Utc>>,
    /// How recalled turns are ranked. Default: [`Config::profile`](crate::Config::profile).
    pub profile: Option<Profile>,
    /// What may be recalled. Default: everything that the user ever said.
    pub filter: Filter,
    /// From 0 to 1: where nothing that is recalled is so sure to answer
    /// ([`Context::confidence`](crate::Context::confidence)), nothing of it is shown. Default: 0.1.
    pub min_confidence: Option<f64>,
    /// What is searched for beside the message, at most 8 queries, each as long as a message at most. Default: nothing.
    pub queries: Vec<String>,
    /// Sections that are left out. Default: none.
    pub without: Vec<Section>,
    /// Which memories are recalled. Default: those that hold, and, at half their weight, those that are archived.
    pub memories: Option<MemoryFilter>,
    /// Whether the best 20 memories lend to what they stand beside over accepted edges. Default: no.
    pub graph: bool,
    /// Whether the recent turns are to be messages, not a part of the text. Default: no.
    pub for_messages: bool,
}

impl ContextOptions {
    /// A context for a chat API: [`Context::messages`](crate::Context::messages) has the recent turns as the messages they
    /// were, and the budget is for all messages together, with
    /// [`ChatMessage::FRAME_TOKENS`](crate::ChatMessage::FRAME_TOKENS) for each.
    ///
    /// Packed otherwise than a string: the recent turns have their share ([`Shares::hot`](crate::Shares::hot), at most half
    /// of the budget) whether they need it or not, and what the block leaves, so that the block does not depend on them.
    /// They are shown without a gap, from the newest back to the first that has no room, which is cut. How long the message
    /// is takes nothing from them.
    #[must_use]
    pub fn for_messages(mut self) -> Self {
        self.for_messages = true;
        self
    }

    /// A context without this section, which the caller sends by other means or does not want; may be said of several. What
    /// would stand there is neither shown nor recalled: without [`Section::RecentTurns`] no hot turn comes in as recalled,
    /// without [`Section::EarlierInSession`] no turn of the session that is not hot, without
    /// [`Section::EarlierConversations`] nothing of other sessions, without [`Section::WhatIsKnown`] no memory. The hot turns still help to understand the message.
    #[must_use]
    pub fn without(mut self, section: Section) -> Self {
        self.without.push(section);
        self
    }

    /// A context without this session: none of its turns is shown or recalled, nor a summary of one, be it the context's
    /// own session; may be said of several. The same as [`Filter::without_session`]. An id means that session alone, not
    /// the one in which its talk went on.
    #[must_use]
    pub fn without_session(mut self, session: SessionId) -> Self {
        self.filter = self.filter.without_session(session);
        self
    }

    /// A context for which these are searched too, each by itself, as of the same moment: what the message means, as its
    /// caller or an LLM puts it. A turn ranks where it fits best. The message alone says what is referred back to, and in
    /// which order a [reranker](crate::Config::reranker) puts what was found. Blank ones are left out.
    #[must_use]
    pub fn queries(mut self, queries: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queries = queries.into_iter().map(Into::into).collect();
        self
    }

    /// Recalled is only what passes this filter.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Of memories only what passes this filter; of the default that is what holds.
    #[must_use]
    pub fn memories(mut self, filter: MemoryFilter) -> Self {
        self.memories = Some(filter);
        self
    }

    /// Whether memories lend to what they stand beside.
    #[must_use]
    pub fn graph(mut self, graph: bool) -> Self {
        self.graph = graph;
        self
    }

    /// What of it says which things are recalled.
    pub(crate) fn recall_of(&self) -> RecallOf {
        RecallOf { of: Of::All, memories: self.memories.clone(), graph: self.graph }
    }

    /// A context that shows nothing recalled unless something of it is so sure to answer, from 0 (what fits best is shown,
    /// however badly) to 1 (nothing but what a named time alone asks for).
    #[must_use]
    pub fn min_confidence(mut self, confidence: f64) -> Self {
        self.min_confidence = Some(confidence);
        self
    }

    /// A context of at most so many tokens.
    #[must_use]
    pub fn budget_tokens(mut self, tokens: u32) -> Self {
        self.budget_tokens = Some(tokens);
        self
    }

    /// Recalled turns ranked by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// A context as of this moment.
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

    /// What may be recalled into these sections.
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
