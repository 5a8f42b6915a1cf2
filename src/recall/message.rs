//! A message, or a query, as it is asked: checked at once, and understood once, by whoever needs that first.

use std::{sync::OnceLock, time::Duration};

use chrono::{DateTime, Utc};

use crate::{
    config::Config,
    embed::{EmbeddingSpace, quantize::Vector},
    english::query::Query,
    error::{Error, Result},
    model::{anchor::Anchor, filter::Filter, instant, profile::Profile, receipt::Planned, turn::Turn},
    planner::SearchPlan,
    recall::{
        expand::{SubQuery, sought},
        of::RecallOf,
        sieve,
        wishes::{WishId, WishesWanted},
    },
    times::TimeSpan,
};

/// Below this nearly all questions were of general knowledge or for somebody else, and one in seventy the user's own, on
/// the sets of docs/recall.md.
pub(crate) const DEFAULT_MIN_CONFIDENCE: f64 = 0.1;

/// What is asked, when, and how its answer is to be ranked.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) asked_at: DateTime<Utc>,
    /// The moment from which ages and "last week" are measured.
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    /// What may answer it.
    pub(crate) filter: Filter,
    /// Which sorts of things.
    pub(crate) of: RecallOf,
    /// What it means in the spaces of embedders that are not built in, as far as they were asked.
    pub(crate) vectors: Vec<QueryVector>,
    /// What is searched for beside it.
    pub(crate) also: Vec<Message>,
    /// What LLM#1 said that it needs.
    pub(crate) plan: Planning,
    query: OnceLock<Query>,
}

/// The most that is searched for beside a message: each is a search of its own.
pub(crate) const MAX_QUERIES: usize = 8;
/// Where LLM#1 says that older memory is not needed, nothing recalled is shown but what is so sure to answer: it may be
/// wrong, or somebody may have told it so.
const SURE: f64 = 0.5;

/// What came of asking LLM#1 what a message needs.
#[derive(Debug, Default)]
pub(crate) enum Planning {
    /// It was not asked.
    #[default]
    Without,
    /// It rests, has not answered, or not with a plan, for this reason.
    Missed(String),
    Made(Box<MessagePlan>),
}

/// A plan, made ready to be followed.
#[derive(Debug)]
pub(crate) struct MessagePlan {
    /// The user's epoch when the turns were read that LLM#1 saw: of a later one it may repeat what is erased.
    epoch: i64,
    /// What of it is followed, as receipts say it.
    told: Planned,
    /// The message's reading, with the time that the plan points at.
    query: Query,
    queries: Vec<Message>,
    /// The standing wishes that apply; none: it did not say.
    wishes: Option<Vec<WishId>>,
}

impl Message {
    /// Refuses what is longer than a side of a turn may be, an impossible moment, a profile out of bounds, or a filter that
    /// cannot be meant.
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
        let asked_at = instant::clamped(config.clock.now());
        let now = instant::checked(now.unwrap_or(asked_at))?;
        let profile = profile.unwrap_or(config.profile);
        profile.check()?;
        sieve::check(&filter)?;
        let (vectors, also, plan, query) = (Vec::new(), Vec::new(), Planning::Without, OnceLock::new());
        let of = RecallOf::default().in_profile(&profile);
        Ok(Self { text, asked_at, now, profile, filter, of, vectors, also, plan, query })
    }

    /// The same, of these things. Refuses what a memory cannot have.
    pub(crate) fn recalling(mut self, of: RecallOf) -> Result<Self> {
        of.check()?;
        self.of = of.in_profile(&self.profile);
        Ok(self)
    }

    /// What it points at.
    pub(crate) fn query(&self) -> &Query {
        self.query.get_or_init(|| Query::understand(&self.text, self.now))
    }

    /// The same moment, profile and filter, of another text.
    pub(crate) fn beside(&self, config: &Config, text: String) -> Result<Self> {
        let of = self.of.clone();
        Ok(Self { of, ..Self::new(config, text, Some(self.now), Some(self.profile), self.filter.clone())? })
    }

    /// The plan, if it was made in this epoch of the user.
    pub(crate) fn plan_in(&self, epoch: i64) -> Option<&MessagePlan> {
        match &self.plan {
            Planning::Made(plan) if plan.epoch == epoch => Some(plan),
            _ => None,
        }
    }

    /// What is to be said of a plan that is not there, or not followed in this epoch.
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

    /// What it searches for; the last turns are considered where it needs them.
    pub(crate) fn sought(&self, last_turns: &[&Turn]) -> Vec<SubQuery> {
        sought(self.query(), &self.text, last_turns)
    }

    /// What is searched for: the best `k`.
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
    /// What it has searched for beside the message.
    pub(crate) fn queries(&self) -> &[Message] {
        if let Self::Made(plan) = self { &plan.queries } else { &[] }
    }

    pub(crate) fn queries_mut(&mut self) -> &mut [Message] {
        if let Self::Made(plan) = self { &mut plan.queries } else { &mut [] }
    }
}

impl MessagePlan {
    /// What of a plan is followed: as many of its queries as there is room for; its time, where the message names none and
    /// does not ask for one; and that nothing older is needed, where the message asks nothing and does not point back.
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
        // One that is longer than messages may be is left out.
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

    /// What receipts say of it.
    pub(crate) fn told(&self) -> &Planned {
        &self.told
    }
}

/// A range of time as receipts say it: `2023-05-01/2023-06-01`.
pub(crate) fn days(from: DateTime<Utc>, until: DateTime<Utc>) -> String {
    format!("{}/{}", from.format("%Y-%m-%d"), until.format("%Y-%m-%d"))
}

/// What is asked, and what was made ready for it before the file was read.
pub(crate) struct PreparedQuestion<'a> {
    pub(crate) query: &'a Query,
    /// What is searched for, each by itself; at least one.
    pub(crate) sought: Vec<SubQuery>,
    /// What each of it means in the spaces of embedders that are not built in.
    pub(crate) vectors: &'a [QueryVector],
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    /// Where nothing is so sure to answer, nothing is above the floor.
    pub(crate) min_confidence: f64,
    /// Whether anchors may be among the answers.
    pub(crate) may_show_anchors: bool,
    /// Whether memories lend to what they stand beside.
    pub(crate) graph: bool,
    pub(crate) k: usize,
    /// What is searched for beside it.
    pub(crate) also: Vec<PreparedQuestion<'a>>,
    pub(crate) wishes: WishesWanted<'a>,
}

impl<'a> PreparedQuestion<'a> {
    /// The same, and what a plan adds.
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

    /// The same, and these wishes.
    pub(crate) fn wishing(self, wishes: WishesWanted<'a>) -> Self {
        Self { wishes, ..self }
    }

    /// The same, but only what is so sure to answer is above the floor.
    pub(crate) fn surer_than(mut self, min_confidence: f64) -> Self {
        self.min_confidence = min_confidence;
        self.also = self.also.into_iter().map(|query| query.surer_than(min_confidence)).collect();
        self
    }

    /// The same, without anchors unless they may be shown.
    pub(crate) fn with_anchors(mut self, may_show_anchors: bool) -> Self {
        self.may_show_anchors = may_show_anchors;
        self.also = self.also.into_iter().map(|query| query.with_anchors(may_show_anchors)).collect();
        self
    }

    /// Those of the user's anchors that may be shown.
    pub(crate) fn shown<'i>(&self, anchors: &'i [Anchor]) -> &'i [Anchor] {
        if self.may_show_anchors { anchors } else { &[] }
    }

    /// Everything that is searched for, as one text.
    pub(crate) fn meaning(&self) -> String {
        self.sought.iter().map(|sought| &*sought.meaning).collect::<Vec<_>>().join(" ")
    }
}

/// What became of a query with one embedder.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(crate) space: EmbeddingSpace,
    /// One of each thing that is sought; none: the model knows nothing in it. An error says why there are none, and never
    /// what was asked.
    pub(crate) vectors: std::result::Result<Vec<Option<Vector>>, String>,
}
