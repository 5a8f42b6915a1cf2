//! Asking a person about a memory: once while it is open, and again only after a rest and with news.

use crate::{
    error::Result,
    memory::frequency::may_ask_again,
    model::{ids::ReviewId, place::MemoryNo, review::ReviewKind},
    store::{
        acts::memories::operation::Operation,
        rows::memories::{reviews, uses},
    },
};

impl Operation<'_, '_> {
    /// Opens a review, unless the same is open, or a person decided it and nothing is new since. The open one; `None`: it
    /// is not asked again yet. `why` names rules and numbers, never what was said.
    #[cfg_attr(not(test), expect(dead_code, reason = "what tends and checks memories is to ask"))]
    pub(super) fn ask(
        &self,
        kind: ReviewKind,
        of: (MemoryNo, Option<MemoryNo>),
        why: &str,
    ) -> Result<Option<ReviewId>> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        match reviews::last(sql, scope, kind, of)? {
            Some((open, None)) => return Ok(Some(open)),
            Some((_, Some(decided_at))) => {
                let has_news = uses::has_news_since(sql, scope, of.0, decided_at)?;
                if !may_ask_again(decided_at, has_news, self.now) {
                    return Ok(None);
                }
            }
            None => {}
        }
        let id = ReviewId::new(self.now);
        reviews::insert(sql, scope, (id, kind), of, (why, self.now))?;
        Ok(Some(id))
    }
}
