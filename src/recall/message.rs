//! A message or a query. It is checked immediately, and interpreted once, when its interpretation is first needed.

use std::{sync::OnceLock, time::Duration};

use chrono::{DateTime, Utc};

use crate::{
    config::Config,
    embed::{EmbeddingSpace, quantize::Vector},
    english::query::Query,
    error::{Error, Result},
    model::{
        anchor::Anchor, filter::Filter, profile::Profile, receipt::Planned, stored_time::StoredTime,
        turn::Turn,
    },
    planner::SearchPlan,
    recall::{
        context_options::ContextOptions,
        expand::{SubQuery, sought},
        of::RecallOf,
        sieve,
        wishes::{WishId, WishesWanted},
    },
    times::TimeSpan,
};

/// On the sets of docs/recall.md, nearly all questions below this were about general knowledge or for somebody else, and one
/// in seventy was the user's own.
pub(crate) const DEFAULT_MIN_CONFIDENCE: f64 = 0.1;

/// What is asked, when, and how to rank the answer.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) asked_at: DateTime<Utc>,
    /// The moment from which ages and "last week" are measured.
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    /// What may be recalled.
    pub(crate) filter: Filter,
    /// Which kinds of things may be recalled.
    pub(crate) of: RecallOf,
    /// The message's vectors, or the errors, of the caller's embedders that were asked.
    pub(crate) vectors: Vec<QueryVector>,
    /// The additional queries.
    pub(crate) also: Vec<Message>,
    /// LLM#1's plan for the message, or why there is none.
    pub(crate) plan: Planning,
    query: OnceLock<Query>,
}

/// The most additional queries of a message. Each is a separate search.
pub(crate) const MAX_QUERIES: usize = 8;
/// If LLM#1 says that no older memory is needed, recalled results are shown only from this confidence up: LLM#1 may be
/// wrong, or may have been manipulated.
const SURE: f64 = 0.5;

/// The result of asking LLM#1 what a message needs.
#[derive(Debug, Default)]
pub(crate) enum Planning {
    /// LLM#1 was not asked.
    #[default]
    Without,
    /// LLM#1 is in cooldown, did not answer, or did not answer with a plan, for this reason.
    Missed(String),
    Made(Box<MessagePlan>),
}

/// A plan, ready to be followed.
#[derive(Debug)]
pub(crate) struct MessagePlan {
    /// The user's epoch when the turns that LLM#1 saw were read: in a later one, the plan may repeat what was erased.
    epoch: i64,
    /// The parts of the plan that are followed, as receipts show them.
    told: Planned,
    /// The interpretation of the message, including the time from the plan.
    query: Query,
    queries: Vec<Message>,
    /// The standing wishes that apply; `None` if the plan did not say.
    wishes: Option<Vec<WishId>>,
}

impl Message {
    /// Checks and builds a message. Errors: a text longer than a side of a turn may be, an impossible moment, a profile out
    /// of bounds, or an invalid filter.
    pub(crate) fn new(
        config: &Config,
        text: String,
        now: Option<DateTime<Utc>>,
        profile: Option<Profile>,
        filter: Filter,
    ) -> Result<Self> {
        let (len, most) = (text.len(), config.max_side_bytes);
        if len > most {
            return Err(Error::invalid(format!("the message has {len} bytes; {most} are allowed")));
        }
        let asked_at = StoredTime::clamped(config.clock.now());
        let now = StoredTime::stated("now", now)?.unwrap_or(asked_at);
        let profile = profile.unwrap_or(config.profile);
        profile.check()?;
        sieve::check(&filter)?;
        let (vectors, also, plan, query) = (Vec::new(), Vec::new(), Planning::Without, OnceLock::new());
        let of = RecallOf::default().in_profile(&profile);
        Ok(Self { text, asked_at: *asked_at, now: *now, profile, filter, of, vectors, also, plan, query })
    }

    /// Checks and builds the message that a context is for. Errors: those of [`new`](Self::new), a condition that no memory
    /// can meet, or too many additional queries.
    pub(crate) fn of_context(config: &Config, text: &str, options: &ContextOptions) -> Result<Self> {
        Self::new(config, text.to_owned(), options.now, options.profile, options.filter.clone())?
            .recalling(options.recall_of())?
            .searching_also(config, &options.queries)
    }

    /// Restricts the message to these kinds of things. Errors: a condition that no memory can meet.
    pub(crate) fn recalling(mut self, of: RecallOf) -> Result<Self> {
        of.check()?;
        self.of = of.in_profile(&self.profile);
        Ok(self)
    }

    /// Returns the interpretation of the message.
    pub(crate) fn query(&self) -> &Query {
        self.query.get_or_init(|| Query::understand(&self.text, self.now))
    }

    /// Returns a message with another text, and the same moment, profile and filter.
    pub(crate) fn beside(&self, config: &Config, text: String) -> Result<Self> {
        let of = self.of.clone();
        Ok(Self { of, ..Self::new(config, text, Some(self.now), Some(self.profile), self.filter.clone())? })
    }

    /// Returns the plan, if it was made in this epoch of the user.
    pub(crate) fn plan_in(&self, epoch: i64) -> Option<&MessagePlan> {
        match &self.plan {
            Planning::Made(plan) if plan.epoch == epoch => Some(plan),
            _ => None,
        }
    }

    /// Returns what to report if there is no plan, or if it is not followed in this epoch.
    pub(crate) fn plan_missed_in(&self, epoch: i64) -> Option<String> {
        match &self.plan {
            Planning::Missed(why) => Some(why.clone()),
            Planning::Made(plan) if plan.epoch != epoch => {
                let model = &plan.told.model;
                Some(format!("planner {model}: turns were erased or replaced while it read"))
            }
            _ => None,
        }
    }

    /// Returns what to search for; uses the last turns if the message needs them.
    pub(crate) fn sought(&self, last_turns: &[&Turn]) -> Vec<SubQuery> {
        sought(self.query(), &self.text, last_turns)
    }

    /// Prepares the search for the best `k`.
    pub(crate) fn question(&self, last_turns: &[&Turn], k: usize) -> PreparedQuestion<'_> {
        PreparedQuestion {
            query: self.query(),
            sought: self.sought(last_turns),
            vectors: &self.vectors,
            now: self.now,
            profile: self.profile,
            min_confidence: DEFAULT_MIN_CONFIDENCE,
            may_show_anchors: true,
            graph: self.of.graph,
            k,
            also: self.also.iter().map(|query| query.question(&[], k)).collect(),
            wishes: WishesWanted::None,
        }
    }
}

impl Planning {
    /// The additional queries.
    pub(crate) fn queries(&self) -> &[Message] {
        if let Self::Made(plan) = self { &plan.queries } else { &[] }
    }

    pub(crate) fn queries_mut(&mut self) -> &mut [Message] {
        if let Self::Made(plan) = self { &mut plan.queries } else { &mut [] }
    }
}

impl MessagePlan {
    /// Selects the parts of a plan to follow: as many of its queries as there is room for; its time, if the message names
    /// none and does not ask for one; and "nothing older is needed", if the message asks nothing and does not point back.
    pub(crate) fn of(
        config: &Config,
        message: &Message,
        plan: SearchPlan,
        (model, took, is_cached): (&str, Duration, bool),
        (epoch, wishes): (i64, &[WishId]),
    ) -> Self {
        let own = message.query();
        let takes_time = |query: &Query| query.spans.is_empty() && query.ahead.is_empty() && !query.asks_when;
        let time = plan.time.filter(|_| takes_time(own));
        let pointing = |query: &Query| {
            let mut query = query.clone();
            if let Some(time) = time.as_ref().filter(|_| takes_time(&query)) {
                let spans = if time.start > message.now { &mut query.ahead } else { &mut query.spans };
                spans.push(TimeSpan { from: time.start, until: time.end, text: 0..0 });
            }
            query
        };
        let chosen = plan.wishes.filter(|_| !wishes.is_empty());
        let chosen: Option<Vec<WishId>> = chosen
            .map(|numbers| numbers.iter().filter_map(|number| wishes.get(number - 1)).copied().collect());
        let room = MAX_QUERIES.saturating_sub(message.also.len());
        let is_new = |query: &String| {
            let said = std::iter::once(message).chain(&message.also);
            said.map(|said| said.text.trim()).all(|said| said != query)
        };
        // A query longer than a message may be is ignored.
        let queries = plan.queries.into_iter().filter(is_new).take(room);
        let queries = queries.filter_map(|query| message.beside(config, query).ok());
        let queries: Vec<Message> = queries
            .map(|query| {
                let pointed = pointing(query.query());
                Message { query: OnceLock::from(pointed), ..query }
            })
            .collect();
        let told = Planned {
            model: model.to_owned(),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            is_cached,
            queries: queries.iter().map(|query| query.text.clone()).collect(),
            time: time.as_ref().map(|time| days(time.start, time.end)),
            only_if_sure: !plan.needs_older && !own.needs_memory(),
            wishes: chosen.as_ref().map(Vec::len),
        };
        Self { epoch, told, query: pointing(own), queries, wishes: chosen }
    }

    /// Returns the plan as receipts show it.
    pub(crate) fn told(&self) -> &Planned {
        &self.told
    }
}

/// A range of time as receipts show it: `2023-05-01/2023-06-01`.
pub(crate) fn days(from: DateTime<Utc>, until: DateTime<Utc>) -> String {
    format!("{}/{}", from.format("%Y-%m-%d"), until.format("%Y-%m-%d"))
}

/// A query, prepared before the file is read.
pub(crate) struct PreparedQuestion<'a> {
    pub(crate) query: &'a Query,
    /// What to search for, each separately; at least one.
    pub(crate) sought: Vec<SubQuery>,
    /// The vectors of each item of `sought`, from the caller's embedders.
    pub(crate) vectors: &'a [QueryVector],
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    /// If no result has at least this confidence, none is above the floor.
    pub(crate) min_confidence: f64,
    /// Whether the answer may contain anchors.
    pub(crate) may_show_anchors: bool,
    /// Whether memories lend score to their neighbours.
    pub(crate) graph: bool,
    pub(crate) k: usize,
    /// The additional queries.
    pub(crate) also: Vec<PreparedQuestion<'a>>,
    pub(crate) wishes: WishesWanted<'a>,
}

impl<'a> PreparedQuestion<'a> {
    /// Applies a plan.
    pub(crate) fn planned(mut self, plan: Option<&'a MessagePlan>) -> Self {
        let Some(plan) = plan else { return self };
        self.query = &plan.query;
        if let Some(wishes) = &plan.wishes {
            self.wishes = WishesWanted::Chosen(wishes);
        }
        self.also.extend(plan.queries.iter().map(|query| query.question(&[], self.k)));
        let least = if plan.told.only_if_sure { SURE } else { 0.0 };
        let min_confidence = self.min_confidence.max(least);
        self.surer_than(min_confidence)
    }

    /// Adds these wishes.
    pub(crate) fn wishing(self, wishes: WishesWanted<'a>) -> Self {
        Self { wishes, ..self }
    }

    /// Sets the confidence from which results are above the floor.
    pub(crate) fn surer_than(mut self, min_confidence: f64) -> Self {
        self.min_confidence = min_confidence;
        self.also = self.also.into_iter().map(|query| query.surer_than(min_confidence)).collect();
        self
    }

    /// Sets whether anchors may be shown.
    pub(crate) fn with_anchors(mut self, may_show_anchors: bool) -> Self {
        self.may_show_anchors = may_show_anchors;
        self.also = self.also.into_iter().map(|query| query.with_anchors(may_show_anchors)).collect();
        self
    }

    /// Returns these anchors, or none if they may not be shown.
    pub(crate) fn shown<'i>(&self, anchors: &'i [Anchor]) -> &'i [Anchor] {
        if self.may_show_anchors { anchors } else { &[] }
    }

    /// Returns everything to search for, as one text.
    pub(crate) fn meaning(&self) -> String {
        self.sought.iter().map(|sought| &*sought.meaning).collect::<Vec<_>>().join(" ")
    }
}

/// The result of asking one embedder about a query.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(crate) space: EmbeddingSpace,
    /// One for each thing to search for; `None` if the model has no vector for it. An error says why there are none, and
    /// never contains what was asked.
    pub(crate) vectors: std::result::Result<Vec<Option<Vector>>, String>,
}
