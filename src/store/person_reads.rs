//! Reads reviews, memories that are due to be shown to a person again, and the state of a session.

use chrono::NaiveDate;

use crate::{
    config::Config,
    error::Result,
    memory::{
        facts::MemoryFacts,
        resurface::{LEAST_IMPORTANCE, next_due, resurface_eligible},
    },
    model::{
        ids::ReviewId,
        memory::{due::Due, session_state::SessionState},
        page,
        place::MemoryNo,
        review::{Review, ReviewFilter},
    },
    store::{
        acts::lifecycle::is_silent,
        rows::{
            memories::{
                due::{self, DueCandidate},
                known, reviews, session_state,
            },
            sessions::SessionRow,
        },
        scope::Scope,
        snapshot::Snapshot,
    },
};

impl Snapshot<'_> {
    /// Returns the review with this id, or a `NotFound` error.
    pub(crate) fn review(&self, scope: &Scope, id: ReviewId) -> Result<Review> {
        let found = self.ask(|sql| reviews::by_id(sql, scope, id))?;
        Ok(found.ok_or_else(reviews::no_review)?.review)
    }

    /// Returns a page of the user's reviews that pass a filter, oldest first. Omits damaged ones.
    pub(crate) fn reviews(
        &self,
        scope: &Scope,
        ReviewFilter { kinds, decided }: &ReviewFilter,
        (after, limit): (Option<ReviewId>, u32),
    ) -> Result<Vec<Review>> {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" {} ", kinds.join(" ")) };
        self.ask(|sql| {
            let after = match after {
                Some(id) => {
                    reviews::by_id(sql, scope, id)?.ok_or_else(|| page::nothing_there("review"))?.review_no
                }
                None => 0,
            };
            reviews::page(sql, scope, (&kinds, *decided), (after, limit))
        })
    }

    /// Returns the memories that are due to be shown again on or before a day, the earliest due date first. Omits damaged
    /// ones.
    pub(crate) fn due(&self, scope: &Scope, on: NaiveDate, limit: u32) -> Result<Vec<Due>> {
        let mut due: Vec<(NaiveDate, MemoryNo)> = self
            .ask(|sql| due::candidates(sql, scope, LEAST_IMPORTANCE))?
            .into_iter()
            .filter_map(|DueCandidate { memory_no, last, resurfaced_count, dismiss_count }| {
                Some((next_due(last, resurfaced_count, dismiss_count)?, memory_no))
            })
            .filter(|(due_on, _)| *due_on <= on)
            .collect();
        due.sort_unstable();
        let (now, mut found) = (self.now(), Vec::new());
        for (due_on, memory_no) in due {
            if found.len() == limit as usize {
                break;
            }
            let memory = self.ask(|sql| known::readable(sql, scope, memory_no, now))?;
            let memory = memory.filter(|memory| resurface_eligible(&MemoryFacts::from(memory), *now));
            found.extend(memory.map(|memory| Due { due_on, memory }));
        }
        Ok(found)
    }

    /// Returns a session's state, ordered by name. Empty once the session has ended, even if the end is not recorded yet.
    pub(crate) fn session_state(
        &self,
        config: &Config,
        scope: &Scope,
        session: &SessionRow,
    ) -> Result<Vec<SessionState>> {
        if session.info.ended_at.is_some() || is_silent(&session.info, config, self.now()) {
            return Ok(Vec::new());
        }
        let rows = self.ask(|sql| session_state::of_session(sql, scope, session.session_no))?;
        let state = rows.into_iter().map(|row| SessionState {
            name: row.title,
            text: row.content,
            updated_at: *row.updated_at,
        });
        Ok(state.collect())
    }
}
