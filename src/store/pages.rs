//! Reads pages of lists from a snapshot: sessions, users, turns, summaries, anchors, receipts, jobs.

use crate::{
    error::{ErrorKind, Result},
    model::{
        anchor::Anchor,
        history::{HistoryEnd, PastTurn},
        ids::{AnchorId, SessionId, SummaryId, TurnId, UserId},
        job::JobInfo,
        page,
        place::Place,
        receipt::Receipt,
        summary::Summary,
        tier::Transition,
        turn::Turn,
        user::UserInfo,
    },
    store::{
        rows::{
            all_users, anchor_reads,
            cold::{self, ColdCursor},
            history, jobs, originals, receipts,
            sessions::{self, SessionRow},
            summaries, turns,
        },
        scope::Scope,
        snapshot::Snapshot,
    },
};

impl Snapshot<'_> {
    /// Returns a page of a user's sessions, the last added first.
    pub(crate) fn sessions(
        &self,
        scope: &Scope,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionRow>> {
        self.ask(|sql| sessions::page(sql, scope, after, limit))
    }

    /// Returns a page of all users, in the order in which they were added.
    pub(crate) fn users(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserInfo>> {
        self.ask(|sql| all_users::page(sql, after, limit))
    }

    /// Returns how much is stored for a user. `None` if the user was erased in the meantime.
    pub(crate) fn user_info(&self, scope: &Scope) -> Result<Option<UserInfo>> {
        self.ask(|sql| all_users::one(sql, scope))
    }

    /// Returns a page of a session's history, in ascending order. Token counts are those of the configured tokenizer.
    pub(crate) fn history(
        &self,
        scope: &Scope,
        session: &SessionRow,
        part: HistoryEnd,
        limit: u32,
    ) -> Result<Vec<PastTurn>> {
        let page = self.ask(|sql| history::page(sql, scope, session, part, limit))?;
        let recounted = |entry| match entry {
            PastTurn::Turn(turn) => PastTurn::Turn(Box::new(self.recounted(*turn))),
            other => other,
        };
        Ok(page.into_iter().map(recounted).collect())
    }

    /// Returns a page of a session's summaries, in the order of its turns.
    pub(crate) fn summaries(
        &self,
        scope: &Scope,
        session: &SessionRow,
        after: u32,
        limit: u32,
    ) -> Result<Vec<Summary>> {
        self.ask(|sql| summaries::page(sql, scope, session.session_no, after, limit))
    }

    /// Returns a page of the transitions of a session's turns, ordered by turn, then by time.
    pub(crate) fn transitions(
        &self,
        scope: &Scope,
        session: &SessionRow,
        after: (u32, u32),
        limit: u32,
    ) -> Result<Vec<Transition>> {
        self.ask(|sql| turns::transitions(sql, scope, (session.info.id, session.session_no), after, limit))
    }

    /// Returns at most `limit` cold turns of a user after `after`, the last said first, both from rows and from the archive.
    /// Omits damaged ones.
    pub(crate) fn cold_turns(&self, scope: &Scope, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>> {
        self.ask(|sql| {
            let behind = match after {
                Some(id) => cold::turn_said(sql, scope, id)?.ok_or_else(|| page::nothing_there("turn"))?,
                None => cold::NEWEST,
            };
            let mut reader = originals::OriginalsReader::new(sql, scope);
            let turns = page_of(
                behind,
                limit,
                |behind, limit| cold::turns_before(sql, scope, behind, limit),
                |place| reader.by_number(place),
            )?;
            Ok(turns.into_iter().map(|turn| self.recounted(turn)).collect())
        })
    }

    /// Returns at most `limit` summaries of a user after `after`, that of the last said turn first. Omits damaged ones.
    pub(crate) fn summaries_by_time(
        &self,
        scope: &Scope,
        after: Option<SummaryId>,
        limit: u32,
    ) -> Result<Vec<Summary>> {
        self.ask(|sql| {
            let behind = match after {
                Some(id) => {
                    cold::summary_said(sql, scope, id)?.ok_or_else(|| page::nothing_there("summary"))?
                }
                None => cold::NEWEST,
            };
            page_of(
                behind,
                limit,
                |behind, limit| cold::summaries_before(sql, scope, behind, limit),
                |place| summaries::at(sql, scope, place),
            )
        })
    }

    /// Returns a page of the user's anchors, ordered by subject, attribute and value.
    pub(crate) fn anchors(&self, scope: &Scope, after: Option<AnchorId>, limit: u32) -> Result<Vec<Anchor>> {
        self.ask(|sql| anchor_reads::page(sql, scope, after, limit))
    }

    /// Returns the anchor with this id. `None` if the user has no such anchor.
    pub(crate) fn anchor(&self, scope: &Scope, id: AnchorId) -> Result<Option<Anchor>> {
        self.ask(|sql| anchor_reads::by_id(sql, scope, id))
    }

    /// Returns the newest receipts of a user, newest first, without their items.
    pub(crate) fn newest_receipts(&self, scope: &Scope, limit: u32) -> Result<Vec<Receipt>> {
        self.ask(|sql| receipts::newest(sql, scope, limit))
    }

    /// Returns a page of all jobs, ordered by number.
    pub(crate) fn jobs(&self, after: i64, limit: u32) -> Result<Vec<JobInfo>> {
        self.ask(|sql| jobs::page(sql, after, limit))
    }
}

/// Reads entries after the cursor `behind` until there are `limit` of them. Skips damaged ones.
fn page_of<T>(
    mut behind: ColdCursor,
    limit: u32,
    next: impl Fn(ColdCursor, u32) -> Result<Vec<ColdCursor>>,
    mut read: impl FnMut(Place) -> Result<Option<T>>,
) -> Result<Vec<T>> {
    let (mut found, limit) = (Vec::new(), limit as usize);
    loop {
        let wanted = limit - found.len();
        let places = next(behind, u32::try_from(wanted).unwrap_or(u32::MAX))?;
        for said in &places {
            match read(said.1) {
                Ok(entry) => found.extend(entry),
                Err(error) if error.kind() == ErrorKind::Corrupt => {} // Doctor reports where.
                Err(error) => return Err(error),
            }
            behind = *said;
        }
        if places.len() < wanted || found.len() == limit {
            return Ok(found);
        }
    }
}
