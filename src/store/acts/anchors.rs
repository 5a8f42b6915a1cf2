//! Sets, replaces and retracts anchors by hand.

use std::collections::BTreeSet;

use chrono::TimeDelta;

use crate::{
    compress::fold::Retraction,
    error::{Error, ErrorKind, Result},
    model::{
        anchor::{Anchor, AnchorStated, Cardinality, Evidence, FoundAnchor},
        ids::AnchorId,
        memory::trust::{Trust, check_may_change},
        stored_time::StoredTime,
    },
    store::{
        rows::{
            anchor_reads,
            anchors::{self, StatementSource},
            users,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Sets a value by hand, as of the user's newest turn. A value that was retracted by somebody who is not trusted more
    /// counts again.
    pub(crate) fn set_anchor(
        &mut self,
        scope: &Scope,
        found: &FoundAnchor,
        by: &str,
    ) -> Result<AnchorStated> {
        let (now, last_seq) = (self.now(), self.lock(scope)?.last_seq);
        users::check_is_there(self.sql, scope)?;
        let trust = self.check_may_state()?;
        // If `by` already set this value and it holds, there is nothing to add.
        let held = anchors::id_of(self.sql, scope, found)?;
        let held = held.map(|id| anchor_reads::by_id(self.sql, scope, id)).transpose()?.flatten();
        let is_his = |said: &Evidence| said.turn_id.is_none() && said.made_by == by && said.trust == trust;
        let stands = |held: &Anchor| held.is_current() || held.contests.is_some();
        if let Some(held) = held.filter(|held| stands(held) && held.evidence.iter().any(is_his)) {
            return Ok(AnchorStated { id: held.id, is_new: false });
        }
        let source = StatementSource { turn: None, seq: last_seq, said_at: now, made_by: by, trust };
        let (id, fold) = anchors::state(self.sql, scope, found, source, now)?;
        self.end_retraction(scope, id)?;
        anchors::refold(self.sql, scope, &BTreeSet::from([fold]))?;
        Ok(AnchorStated { id, is_new: true })
    }

    /// Replaces an active anchor by hand with another value; the old one no longer holds. Repeating this changes nothing.
    pub(crate) fn replace_anchor(
        &mut self,
        scope: &Scope,
        id: AnchorId,
        value: &str,
        by: &str,
    ) -> Result<AnchorId> {
        let (now, last_seq) = (self.now(), self.lock(scope)?.last_seq);
        users::check_is_there(self.sql, scope)?;
        let trust = self.check_may_state()?;
        let old = anchor_reads::by_id(self.sql, scope, id)?.ok_or_else(no_anchor)?;
        self.check_may_change_anchor(scope, id)?;
        let new = FoundAnchor::new(old.subject.as_str(), old.attribute, value, "");
        if !old.is_current() {
            let held = anchors::id_of(self.sql, scope, &new)?;
            let held = held.map(|id| anchor_reads::by_id(self.sql, scope, id)).transpose()?.flatten();
            return held.filter(Anchor::is_current).map(|held| held.id).ok_or_else(|| {
                Error::new(ErrorKind::Conflict, "the anchor is no longer current; set the value instead")
            });
        }
        // The new statement must come after what was set by hand in the same millisecond.
        let last = old.evidence.iter().filter(|of| of.turn_id.is_none()).map(|of| of.said_at).max();
        let said_at =
            last.map_or(now, |last| now.max(StoredTime::clamped(last) + TimeDelta::milliseconds(1)));
        if let Some(known) = anchors::id_of(self.sql, scope, &new)? {
            self.check_may_change_anchor(scope, known)?;
        }
        let source = StatementSource { turn: None, seq: last_seq, said_at, made_by: by, trust };
        let (new_id, fold) = anchors::state(self.sql, scope, &new, source, now)?;
        let mut folds = BTreeSet::from([fold]);
        // Under an attribute with one value, the new value supersedes the old one anyway.
        if new_id != id && old.attribute.cardinality() == Cardinality::Many {
            let ended = FoundAnchor::new(old.subject, old.attribute, old.value, "").ends();
            folds.insert(anchors::state(self.sql, scope, &ended, source, now)?.1);
        }
        self.end_retraction(scope, new_id)?;
        anchors::refold(self.sql, scope, &folds)?;
        Ok(new_id)
    }

    /// Retracts a value: nothing said up to now counts for it. What it had superseded holds again.
    pub(crate) fn retract_anchor(&mut self, scope: &Scope, id: AnchorId) -> Result<()> {
        let last_seq = self.lock(scope)?.last_seq;
        let fold = anchors::fold_of(self.sql, scope, id)?;
        let fold = fold.ok_or_else(no_anchor)?;
        let trust = self.check_may_state()?;
        self.check_may_change_anchor(scope, id)?;
        let retraction = Retraction { until: last_seq, trust };
        anchors::set_retracted(self.sql, scope, id, Some((self.now(), retraction)))?;
        anchors::refold(self.sql, scope, &BTreeSet::from([fold])).map(drop)
    }

    /// Returns how far who asks is trusted. Errors: a tool or a document states no fact about a user.
    fn check_may_state(&self) -> Result<Trust> {
        check_may_change(self.by, Trust::Assistant, "what is known of a user")?;
        Ok(Trust::of(self.by))
    }

    /// Fails if an anchor, or who retracted it, is trusted more than who asks.
    fn check_may_change_anchor(&self, scope: &Scope, id: AnchorId) -> Result<()> {
        let (trust, retracted) = anchors::trust_of(self.sql, scope, id)?.ok_or_else(no_anchor)?;
        check_may_change(self.by, trust.max(retracted.unwrap_or(Trust::Foreign)), format_args!("anchor {id}"))
    }

    /// Ends the retraction of an anchor that is stated again, unless it is by somebody who is trusted more.
    fn end_retraction(&self, scope: &Scope, id: AnchorId) -> Result<()> {
        match anchors::trust_of(self.sql, scope, id)? {
            Some((_, Some(by))) if !Trust::of(self.by).may_change(by) => Ok(()),
            _ => anchors::set_retracted(self.sql, scope, id, None),
        }
    }
}

/// The error for an anchor that does not exist.
pub(crate) fn no_anchor() -> Error {
    Error::not_found("this user has no such anchor")
}

#[cfg(test)]
mod tests {
    use crate::{
        Attribute, Config, NewTurn,
        model::anchor::{Anchor, FoundAnchor, Stance},
        store::{Store, acts::record::WantedSession, scope::UserKey},
        text::{measure, tokens::Tokenizer},
    };

    fn home(value: &str) -> FoundAnchor {
        FoundAnchor {
            subject: "user".into(),
            attribute: Attribute::Home,
            value: value.into(),
            stance: Stance::Holds,
            quote: String::new(),
        }
    }

    #[tokio::test]
    async fn what_is_set_by_hand_counts_last_though_the_newest_turn_was_erased() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        let scope = store.write(|tx| tx.add_user(&UserKey::Name("alex".into()))).await.unwrap();
        let said = measure::measure(NewTurn::new("Hello.", ""), Tokenizer::O200kBase, 1_000).unwrap();
        let (first, session) = store
            .write(move |tx| {
                let session = tx.open_session(&scope, "chat")?.info.id;
                tx.record(&scope, &WantedSession::Id(session), said)?;
                Ok((tx.set_anchor(&scope, &home("Bern"), "caller")?.id, session))
            })
            .await
            .unwrap();
        crate::jobs::erase(&store, (scope, crate::Origin::User), Some(session)).await.unwrap();
        let second = store.write(move |tx| tx.set_anchor(&scope, &home("Basel"), "caller")).await.unwrap().id;
        let holds = || {
            let anchors = store.snapshot().unwrap().anchors(&scope, None, 1_000).unwrap();
            anchors.into_iter().filter(Anchor::is_current).map(|anchor| anchor.id).collect::<Vec<_>>()
        };
        assert_eq!(holds(), [second]);
        store.write(move |tx| tx.retract_anchor(&scope, second)).await.unwrap();
        assert_eq!(holds(), [first]);
        store.write(move |tx| tx.retract_anchor(&scope, first)).await.unwrap();
        assert_eq!(holds(), []);
    }
}
