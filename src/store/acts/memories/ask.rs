//! Opens reviews, which ask a person about a memory. Each question is open at most once. After a decision it is asked again
//! only after a rest, and only if something is new; a failed check, and a sensor that asks a person, always count as new.
//! Conflicts with files need no rest. Reviews of contradictions are opened in `save`. If a person rejected the memory that
//! waited, saving it again asks anew only after the same rest (`known`).

use crate::{
    error::Result,
    model::{ids::ReviewId, place::MemoryNo, review::ReviewKind, stored_time::StoredTime},
    store::{
        acts::memories::operation::MemoryOperation,
        rows::memories::{
            reviews::{self, QuestionState},
            uses,
        },
    },
};
#[cfg(feature = "files")]
use crate::{
    model::{ids::MemoryId, turn::Origin},
    store::{scope::Scope, write_tx::WriteTx},
};

#[cfg(feature = "files")]
impl WriteTx<'_> {
    /// Opens a review of a memory that was changed both here and in its file, or returns the open one. Each conflict is
    /// news, so there is no rest after the last review is decided.
    pub(crate) fn ask_of_conflict(&mut self, scope: &Scope, id: MemoryId) -> Result<ReviewId> {
        let operation = MemoryOperation::begin(self, scope, Origin::User.as_str())?;
        let (sql, memory_no) = (operation.tx.sql, operation.memory(id)?.row.memory_no);
        let kind = ReviewKind::Conflict;
        if let Some(open) = reviews::open(sql, scope, kind, memory_no)? {
            return Ok(open);
        }
        let review = ReviewId::new(*operation.now);
        let why = "the file and the memory were both changed; the file's text lies beside it";
        reviews::insert(sql, scope, (review, kind), (memory_no, None), (why, operation.now))?;
        Ok(review)
    }
}

impl MemoryOperation<'_, '_> {
    /// Opens a review, or returns the open one about the same question. `None` if a person has decided it recently, or
    /// nothing is new since: no use was rated, no check failed. `why` names rules and numbers, never what was said.
    pub(super) fn ask(
        &self,
        kind: ReviewKind,
        of: (MemoryNo, Option<MemoryNo>),
        why: &str,
    ) -> Result<Option<ReviewId>> {
        let has_news = |decided_at| uses::has_news_since(self.tx.sql, &self.scope, of.0, decided_at);
        self.ask_with_news(kind, of, why, has_news)
    }

    /// Like `ask`, but `has_news` says whether anything is new since a person decided.
    pub(super) fn ask_with_news(
        &self,
        kind: ReviewKind,
        of: (MemoryNo, Option<MemoryNo>),
        why: &str,
        has_news: impl FnOnce(StoredTime) -> Result<bool>,
    ) -> Result<Option<ReviewId>> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        match reviews::question(sql, scope, kind, of, (self.now, has_news))? {
            QuestionState::Open(review) => return Ok(Some(review)),
            QuestionState::Rests => return Ok(None),
            QuestionState::Free => {}
        }
        let id = ReviewId::new(*self.now);
        reviews::insert(sql, scope, (id, kind), of, (why, self.now))?;
        Ok(Some(id))
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use chrono::TimeDelta;

    use super::*;
    use crate::{
        Config, ManualClock, MemoryKind, NewMemory,
        memory::beginning::Finder,
        model::{episode::Use, ids::MemoryId, memory::words::Outcome, review::Decision, turn::Origin},
        store::{
            Store,
            acts::memories::measured::MeasuredMemory,
            rows::memories::find,
            scope::{Scope, UserKey},
        },
    };

    /// A file with a memory to ask about.
    struct AskFixture {
        store: Store,
        clock: Arc<ManualClock>,
        scope: Scope,
        memory: MemoryId,
    }

    impl AskFixture {
        async fn new(folder: &Path) -> Self {
            let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
            let config = Config { worker: false, clock: clock.clone(), ..Config::default() };
            let store = Store::open(&folder.join("memory.db"), config).unwrap();
            let scope = store.write(|tx| tx.add_user(&UserKey::Name("alex".into()))).await.unwrap();
            let new = NewMemory::new(MemoryKind::Fix, "Keepalive", "It is mended so.").origin(Origin::User);
            let new = MeasuredMemory::of(new, Vec::new(), (Finder::Hand, "caller")).unwrap();
            let saved = store.write(move |tx| tx.save_memory(&scope, &new)).await.unwrap();
            Self { store, clock, scope, memory: saved.memory.id }
        }

        async fn ask(&self) -> Option<ReviewId> {
            let (scope, id) = (self.scope, self.memory);
            let asking = self.store.write(move |tx| {
                let operation = MemoryOperation::begin(tx, &scope, "tend")?;
                let memory_no = find::no_of(operation.tx.sql, &scope, id)?.unwrap();
                operation.ask(ReviewKind::Flagged, (memory_no, None), "rate 0.80 < 0.85")
            });
            asking.await.unwrap()
        }

        async fn use_it(&self, outcome: Outcome) {
            let (scope, id) = (self.scope, self.memory);
            let using =
                self.store.write(move |tx| tx.use_memory(&scope, id, &Use::of(outcome), Origin::User));
            using.await.unwrap();
        }

        async fn decide(&self, review: ReviewId) {
            let scope = self.scope;
            let deciding =
                self.store.write(move |tx| tx.decide_review(&scope, review, (Decision::Approved, "alex")));
            deciding.await.unwrap();
        }
    }

    #[tokio::test]
    async fn what_was_decided_is_asked_again_after_a_rest_and_with_news() {
        let folder = tempfile::tempdir().unwrap();
        let asking = AskFixture::new(folder.path()).await;
        let first = asking.ask().await.unwrap();
        assert_eq!(asking.ask().await, Some(first), "it is asked once while it is open");
        asking.decide(first).await;
        asking.clock.advance(TimeDelta::days(31));
        assert_eq!(asking.ask().await, None, "nothing is new");
        asking.use_it(Outcome::Observation).await;
        assert_eq!(asking.ask().await, None, "that says neither");
        asking.use_it(Outcome::Failure).await;
        let second = asking.ask().await.unwrap();
        assert_ne!(second, first);
        asking.decide(second).await;
        asking.clock.advance(TimeDelta::days(29));
        asking.use_it(Outcome::Failure).await;
        assert_eq!(asking.ask().await, None, "it rests");
        asking.clock.advance(TimeDelta::days(1));
        assert!(asking.ask().await.is_some());
        asking.store.close().unwrap();
    }
}
