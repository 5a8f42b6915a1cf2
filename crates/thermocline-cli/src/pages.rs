//! Reads the lists of the library, page by page.

use thermocline::{
    Anchor, AnchorId, JobInfo, Result, SessionId, SessionInfo, Summary, Transition,
    blocking::{Session, Thermocline, User},
};

use crate::args::LimitArg;

/// The maximum number of entries on a page of the library.
const PAGE: u32 = 1_000;

/// Reads the entries of a list after `after`: all of them, or as many as the command line limits.
pub(crate) fn list<T, K>(
    after: Option<K>,
    limit: LimitArg,
    page: impl Fn(Option<K>, u32) -> Result<Vec<T>>,
    key: impl Fn(&T) -> K,
) -> Result<Vec<T>> {
    let (mut found, mut left, mut after) = (Vec::new(), limit.limit.unwrap_or(u32::MAX), after);
    while left > 0 {
        let wanted = left.min(PAGE);
        let next = page(after.take(), wanted)?;
        let got = u32::try_from(next.len()).unwrap_or(u32::MAX);
        found.extend(next);
        left = if got < wanted { 0 } else { left - got };
        after = found.last().map(&key);
    }
    Ok(found)
}

/// Returns all sessions of a user, newest first.
pub(crate) fn sessions(user: &User) -> Result<Vec<SessionInfo>> {
    sessions_after(user, None, LimitArg::default())
}

pub(crate) fn sessions_after(
    user: &User,
    after: Option<SessionId>,
    limit: LimitArg,
) -> Result<Vec<SessionInfo>> {
    list(after, limit, |after, limit| user.sessions(after, limit), |info| info.id)
}

/// Returns all anchors of a user, including past ones, by subject, attribute and value.
pub(crate) fn anchors(user: &User) -> Result<Vec<Anchor>> {
    anchors_after(user, None)
}

pub(crate) fn anchors_after(user: &User, after: Option<AnchorId>) -> Result<Vec<Anchor>> {
    list(after, LimitArg::default(), |after, limit| user.anchors(after, limit), |anchor| anchor.id)
}

/// Returns all jobs of the file, in the order in which they were queued.
pub(crate) fn jobs(memory: &Thermocline) -> Result<Vec<JobInfo>> {
    jobs_after(memory, None, LimitArg::default())
}

pub(crate) fn jobs_after(memory: &Thermocline, after: Option<i64>, limit: LimitArg) -> Result<Vec<JobInfo>> {
    list(after, limit, |after, limit| memory.jobs(after, limit), |job| job.job_no)
}

/// Returns the summaries of a session from the turn `first` on, in order.
pub(crate) fn summaries_from(session: &Session, first: u32) -> Result<Vec<Summary>> {
    let page = |after, limit| session.summaries(after, limit);
    list(first.checked_sub(1), LimitArg::default(), page, |summary| summary.turn_number)
}

/// Returns the moves of a session's turns from the turn `first` on, in order.
pub(crate) fn transitions_from(session: &Session, first: u32) -> Result<Vec<Transition>> {
    let before = first.checked_sub(1).map(|turn_number| (turn_number, u32::MAX));
    let page = |after, limit| session.transitions(after, limit);
    list(before, LimitArg::default(), page, |moved| (moved.turn_number, moved.move_number))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Lists the numbers from 1 to `numbers`, and checks the requested pages and the result.
    #[track_caller]
    fn check(
        numbers: u32,
        after: Option<u32>,
        limit: Option<u32>,
        pages: &[(Option<u32>, u32)],
        last: Option<u32>,
    ) {
        let asked = RefCell::new(Vec::new());
        let page = |after: Option<u32>, limit: u32| {
            asked.borrow_mut().push((after, limit));
            let first = after.unwrap_or(0) + 1;
            Ok((first..=numbers).take(limit as usize).collect())
        };
        let found = list(after, LimitArg { limit }, page, |number| *number).unwrap();
        assert_eq!(asked.into_inner(), pages);
        assert_eq!(found.last().copied(), last);
        assert!(found.windows(2).all(|two| two[0] + 1 == two[1]));
    }

    #[test]
    fn a_list_is_read_page_by_page_as_far_as_it_is_wanted() {
        check(2_500, None, None, &[(None, 1_000), (Some(1_000), 1_000), (Some(2_000), 1_000)], Some(2_500));
        check(1_000, None, None, &[(None, 1_000), (Some(1_000), 1_000)], Some(1_000));
        check(2_500, Some(7), Some(3), &[(Some(7), 3)], Some(10));
        check(2_500, None, Some(1_200), &[(None, 1_000), (Some(1_000), 200)], Some(1_200));
        check(0, None, Some(5), &[(None, 5)], None);
    }
}
