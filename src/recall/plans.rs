//! Asks LLM#1 what a message needs, before anything is searched for its context, and caches the answer. Neither the file nor
//! an index is locked meanwhile. Without a plan, a context is the same as without a planner.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use lru::LruCache;
use sha2::{Digest, Sha256};

use crate::{
    clock::Stopwatch,
    compress::digest::{ChatModel, ChatPrompt},
    config::Config,
    cooldown::Cooldowns,
    error::{Error, ErrorKind, Result},
    event::{Event, ProviderRole},
    model::{
        ids::SessionId,
        place::{Seq, UserNo},
        turn::Turn,
    },
    own_thread::{self, CallOutcome},
    planner::{self, SearchPlan, UnusablePlan},
    recall::{
        context_options::{ContextOptions, Shows},
        message::{Message, MessagePlan, Planning},
        sieve::Sieve,
        user_indexes::UserIndexes,
        wishes::{self, StandingWish, WishId},
    },
    store::{Store, scope::Scope},
    tier::hot::HotTier,
};

/// Plans are kept for a few hundred conversations at a time, each at most 3 kB.
const KEPT_PLANS: NonZeroUsize = NonZeroUsize::new(256).expect("it is not zero");

/// LLM#1's latest answers by prompt: the same message after the same turns has the same plan.
#[derive(Debug)]
pub(crate) struct Plans {
    known: Mutex<PlanCache>,
}

/// A parsed answer.
type PlanAnswer = std::result::Result<SearchPlan, UnusablePlan>;

#[derive(Debug)]
struct PlanCache {
    plans: LruCache<PlanKey, PlanAnswer>,
    /// How often something was forgotten. An answer to a prompt from before that may repeat it, and is not kept.
    forgets: u64,
}

/// A user's prompt at an epoch: after a later erasure, the plan may repeat what was erased.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PlanKey {
    user_no: UserNo,
    epoch: i64,
    prompt: [u8; 32],
}

/// What precedes a message: the last turns, and the user's epoch when they were read.
#[derive(Debug)]
pub(crate) struct PlanBackground {
    hot: Option<Arc<HotTier>>,
    epoch: i64,
    /// The standing wishes that the context may show, newest first.
    wishes: Vec<Arc<StandingWish>>,
}

impl PlanBackground {
    /// Reads the background from one moment of the file; `None` for a session that has not begun.
    pub(crate) fn read(
        store: &Store,
        indexes: &UserIndexes,
        (scope, session): (&Scope, Option<SessionId>),
        options: &ContextOptions,
    ) -> Result<Self> {
        let waiting = indexes.of(scope);
        let index = waiting.wait();
        let snapshot = store.snapshot()?;
        let epoch = snapshot.extent(scope)?.epoch;
        let session = session.map(|session| snapshot.latest_session(scope, session)).transpose()?;
        let hot = session.as_ref().map(|session| snapshot.hot(scope, session)).transpose()?;
        let sections = Shows::of(options, session.as_ref());
        if !sections.wishes {
            return Ok(Self { hot, epoch, wishes: Vec::new() });
        }
        // LLM#1 is shown the hot turns themselves, so their wishes are left out.
        let hidden = hot.iter().flat_map(|hot| hot.turns()).map(|turn| Seq::of(turn.seq));
        let hidden = hidden.collect::<Result<_>>()?;
        let sieve = Sieve::of(&snapshot, scope, &options.filter, &mut Vec::new())?;
        let sieve = sections.narrowed(sieve, session.as_ref()).hiding(hidden);
        let wishes = index.with(&snapshot, scope, |index| {
            let passing = sieve.passing(index);
            index.wishes(&snapshot, scope).map(|wishes| wishes.passing(&passing))
        })??;
        Ok(Self { hot, epoch, wishes })
    }

    /// Returns the standing wishes that might apply to a message, likeliest first.
    fn wishes(&self, message: &Message) -> Vec<Arc<StandingWish>> {
        let sought = message.sought(&self.turns(message));
        let also: Vec<_> = message.also.iter().flat_map(|also| also.sought(&[])).collect();
        let sought = sought.iter().chain(&also);
        let ranked = wishes::ranked(self.wishes.clone(), (sought, message.query().asks_when));
        ranked.into_iter().map(|applying| applying.wish).take(planner::MOST_WISHES).collect()
    }

    fn turns(&self, message: &Message) -> Vec<&Turn> {
        self.hot.as_ref().map_or_else(Vec::new, |hot| hot.before(&message.text))
    }
}

impl Plans {
    /// Has LLM#1 plan the recall of a message, or returns its cached plan. What precedes the message is read only if LLM#1
    /// will be asked: a query for a time and nothing else is understood without it.
    pub(crate) async fn ask(
        &self,
        config: &Config,
        cooldowns: &Cooldowns,
        scope: &Scope,
        behind: impl Future<Output = Result<PlanBackground>>,
        message: &Message,
    ) -> Planning {
        let Some(planner) = &config.planner else { return Planning::Without };
        if message.text.trim().is_empty() || message.query().is_only_time {
            return Planning::Without;
        }
        match self.plan(config, cooldowns, planner, (scope, behind), message).await {
            Ok(plan) => Planning::Made(Box::new(plan)),
            Err(why) => Planning::Missed(format!("planner {}: {why}", planner.name())),
        }
    }

    async fn plan(
        &self,
        config: &Config,
        cooldowns: &Cooldowns,
        planner: &Arc<dyn ChatModel>,
        (scope, behind): (&Scope, impl Future<Output = Result<PlanBackground>>),
        message: &Message,
    ) -> Result<MessagePlan> {
        let behind = behind.await?;
        let watch = Stopwatch::start();
        let wishes = behind.wishes(message);
        let told: Vec<&str> = wishes.iter().map(|wish| &*wish.text).collect();
        let prompt = planner::prompt(&message.text, &behind.turns(message), &told, message.now);
        let digest = Sha256::digest(&prompt.user).into();
        let asked = PlanKey { user_no: scope.user_no, epoch: behind.epoch, prompt: digest };
        let (known, forgets) = self.look_up(&asked);
        let is_cached = known.is_some();
        let plan = match known {
            Some(known) => known.map_err(unusable),
            None => match cooldowns.planner.why(config.clock.now()) {
                Some(why) => Err(why),
                None => {
                    self.plan_anew(config, cooldowns, planner, (prompt, wishes.len()), (asked, forgets)).await
                }
            },
        };
        let by = (planner.name(), watch.elapsed(), is_cached);
        let wishes: Vec<WishId> = wishes.iter().map(|wish| wish.id()).collect();
        Ok(MessagePlan::of(config, message, plan?, by, (behind.epoch, &wishes)))
    }

    async fn plan_anew(
        &self,
        config: &Config,
        cooldowns: &Cooldowns,
        planner: &Arc<dyn ChatModel>,
        (prompt, wish_count): (ChatPrompt, usize),
        (asked, forgets): (PlanKey, u64),
    ) -> Result<SearchPlan> {
        let answer = complete(planner, prompt, config.plan_timeout).await;
        let plan = answer.and_then(|answer| {
            let said = planner::read(&answer, wish_count);
            self.keep(asked, forgets, said.clone());
            said.map_err(unusable)
        });
        plan.inspect_err(|error| {
            // A refusal or a nonsensical answer may concern only this one message.
            if error.kind() != ErrorKind::ProviderRefused {
                cooldowns.planner.begin(config.clock.now(), error);
            }
            let (provider, name) = (ProviderRole::Planner, planner.name().to_owned());
            config.on_event.emit(&Event::ProviderFailed { provider, name, why: error.kind() });
        })
    }

    /// Drops the plans of a user.
    pub(crate) fn forget(&self, scope: &Scope) {
        let mut known = self.lock();
        known.forgets += 1;
        known.drop_of(scope.user_no, |_| true);
    }

    /// Returns the cached answer, and how often something was forgotten so far.
    fn look_up(&self, asked: &PlanKey) -> (Option<PlanAnswer>, u64) {
        let mut known = self.lock();
        (known.plans.get(asked).cloned(), known.forgets)
    }

    /// Keeps the answer, unless something was forgotten since it was looked up.
    fn keep(&self, asked: PlanKey, forgets: u64, said: PlanAnswer) {
        let mut known = self.lock();
        if known.forgets == forgets {
            // Another process may have erased what older plans repeat.
            known.drop_of(asked.user_no, |old| old.epoch != asked.epoch);
            known.plans.put(asked, said);
        }
    }

    fn lock(&self) -> MutexGuard<'_, PlanCache> {
        self.known.lock().expect("no one panics while holding the plans")
    }
}

impl PlanCache {
    fn drop_of(&mut self, user_no: UserNo, is_old: impl Fn(&PlanKey) -> bool) {
        let of_user = self.plans.iter().map(|(asked, _)| asked).filter(|asked| asked.user_no == user_no);
        let old: Vec<PlanKey> = of_user.filter(|asked| is_old(asked)).cloned().collect();
        for asked in &old {
            self.plans.pop(asked);
        }
    }
}

impl Default for Plans {
    fn default() -> Self {
        Self { known: Mutex::new(PlanCache { plans: LruCache::new(KEPT_PLANS), forgets: 0 }) }
    }
}

fn unusable(why: UnusablePlan) -> Error {
    Error::provider_refused(why.to_string())
}

/// Returns the model's answer. Errors: the reason why there is none.
async fn complete(planner: &Arc<dyn ChatModel>, prompt: ChatPrompt, limit: Duration) -> Result<String> {
    let planner = Arc::clone(planner);
    let asking = move || async move { planner.complete(&prompt).await };
    match own_thread::ask("thermocline-plan", limit, asking).await {
        CallOutcome::Given(answer) => answer,
        CallOutcome::Late => {
            Err(Error::provider(format!("it gave no answer within {} ms", limit.as_millis())))
        }
        CallOutcome::Panicked => Err(Error::provider("it panicked")),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::model::ids::UserId;

    fn asked(user_no: i64, epoch: i64, prompt: u8) -> PlanKey {
        PlanKey { user_no: UserNo(user_no), epoch, prompt: [prompt; 32] }
    }

    fn known(plans: &Plans) -> usize {
        plans.lock().plans.len()
    }

    #[test]
    fn plans_are_few_and_go_with_the_user_and_with_the_epoch() {
        let plans = Plans::default();
        let keep_since = |forgets, asked: PlanKey| plans.keep(asked, forgets, Err(UnusablePlan::NotAPlan));
        let keep = |asked: PlanKey| {
            let (_, forgets) = plans.look_up(&asked);
            keep_since(forgets, asked);
        };
        for prompt in 0..3 {
            keep(asked(1, 0, prompt));
            keep(asked(2, 0, prompt));
        }
        assert_eq!(known(&plans), 6);
        keep(asked(1, 1, 0));
        assert_eq!(known(&plans), 4, "those of the epoch before are gone");
        plans.forget(&Scope { user_no: UserNo(2), user_id: UserId::new(DateTime::UNIX_EPOCH) });
        assert_eq!(known(&plans), 1);
        keep_since(0, asked(2, 0, 1));
        assert_eq!(known(&plans), 1, "what was asked before something was forgotten may repeat it");
        for user_no in 0..1_000 {
            keep(asked(user_no, 0, 0));
        }
        assert_eq!(known(&plans), KEPT_PLANS.get());
    }
}
