//! Reads the texts of a receipt's items.

use std::collections::BTreeMap;

use crate::{
    error::{ErrorKind, Result},
    model::{
        ids::{AnchorId, MemoryId, SessionId, TurnId},
        receipt::{ItemKind, Receipt, ReceiptItem},
        receipt_texts::{ItemText, ReceiptWithTexts},
    },
    store::{scope::Scope, snapshot::Snapshot},
};

/// The names of sessions that were looked up already, so that each is read once.
type SessionNameCache = BTreeMap<SessionId, Option<String>>;

impl Snapshot<'_> {
    /// Adds the texts of its items to a receipt. The text of an item that is gone or damaged is `None`.
    pub(crate) fn with_texts(&self, scope: &Scope, receipt: Receipt) -> Result<ReceiptWithTexts> {
        let mut names = SessionNameCache::new();
        let session = match receipt.session_id {
            Some(id) => self.session_name(scope, &mut names, id)?,
            None => None,
        };
        let texts = receipt.items.iter().map(|item| self.text_of(scope, &mut names, item));
        Ok(ReceiptWithTexts { texts: texts.collect::<Result<_>>()?, session, receipt })
    }

    fn text_of(
        &self,
        scope: &Scope,
        names: &mut SessionNameCache,
        item: &ReceiptItem,
    ) -> Result<Option<ItemText>> {
        match self.read_text(scope, names, item) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => Ok(None),
            read => read,
        }
    }

    fn read_text(
        &self,
        scope: &Scope,
        names: &mut SessionNameCache,
        item: &ReceiptItem,
    ) -> Result<Option<ItemText>> {
        match item.kind {
            ItemKind::Anchor => {
                let anchor = self.anchor(scope, AnchorId::from_uuid(item.owner_id))?;
                Ok(anchor.as_ref().map(ItemText::of_anchor))
            }
            ItemKind::Memory => self
                .memory(scope, MemoryId::from_uuid(item.owner_id))
                .map(|memory| Some(ItemText::of_memory(&memory))),
            _ => {
                let id = TurnId::from_uuid(item.owner_id);
                if let Some(turn) = self.turn_by_id(scope, id)? {
                    let session = self.session_name(scope, names, turn.session_id)?.unwrap_or_default();
                    return Ok(Some(ItemText::of_turn(&session, &turn)));
                }
                let Some(summary) = self.summary_of(scope, id)? else { return Ok(None) };
                let session = self.session_name(scope, names, summary.session_id)?.unwrap_or_default();
                Ok(Some(ItemText::of_summary(&session, &summary)))
            }
        }
    }

    /// Returns the caller's key of a session, or its id if it has no key. `None` if the session is gone.
    fn session_name(
        &self,
        scope: &Scope,
        names: &mut SessionNameCache,
        id: SessionId,
    ) -> Result<Option<String>> {
        if let Some(name) = names.get(&id) {
            return Ok(name.clone());
        }
        let found = self.find_session(scope, id)?;
        let name = found.map(|row| row.info.caller_id.unwrap_or_else(|| id.to_string()));
        names.insert(id, name.clone());
        Ok(name)
    }
}
