//! Anchors, set and taken back by hand.

use std::collections::BTreeSet;

use crate::{
    error::{Error, Result},
    model::{anchor::FoundAnchor, ids::AnchorId},
    store::{
        rows::{
            anchors::{self, Source},
            users,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Sets a value by hand, as of the user's newest turn; what was taken back counts again.
    pub(crate) fn set_anchor(&mut self, scope: &Scope, found: &FoundAnchor) -> Result<AnchorId> {
        let (now, last_seq) = (self.now(), self.lock(scope)?.last_seq);
        users::check_is_there(self.sql, scope)?;
        let source = Source { turn: None, seq: last_seq, said_at: now, made_by: "caller" };
        let (id, fold) = anchors::state(self.sql, scope, found, source, now)?;
        anchors::set_retracted(self.sql, scope, id, None)?;
        anchors::refold(self.sql, scope, &BTreeSet::from([fold]))?;
        Ok(id)
    }

    /// Takes a value back: nothing that was said up to now counts for it. What it had superseded holds again.
    pub(crate) fn retract_anchor(&mut self, scope: &Scope, id: AnchorId) -> Result<()> {
        let last_seq = self.lock(scope)?.last_seq;
        let fold = anchors::fold_of(self.sql, scope, id)?;
        let fold = fold.ok_or_else(|| Error::not_found("this user has no such anchor"))?;
        anchors::set_retracted(self.sql, scope, id, Some((self.now(), last_seq)))?;
        anchors::refold(self.sql, scope, &BTreeSet::from([fold])).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Attribute, Config, NewTurn,
        model::anchor::{Anchor, FoundAnchor, Stance},
        store::{Store, scope::UserKey},
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
                tx.record(&scope, session, said)?;
                Ok((tx.set_anchor(&scope, &home("Bern"))?, session))
            })
            .await
            .unwrap();
        crate::jobs::erase(&store, scope, Some(session)).await.unwrap();
        let second = store.write(move |tx| tx.set_anchor(&scope, &home("Basel"))).await.unwrap();
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
