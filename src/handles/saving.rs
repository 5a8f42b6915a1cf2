//! Saving a memory: for the user of a handle, or for one whom the call names.

use std::sync::Arc;

use crate::{
    error::{Error, Result},
    handles::{off_thread, open::Open, owner::Owner},
    memory::beginning::Finder,
    model::{
        ids::{SessionId, UserId},
        memory::{new::NewMemory, saved::Saved, trust::Trust},
    },
    store::{acts::memories::measured::MeasuredMemory, scope::Scope, write_tx::WriteTx},
};

/// Saves a memory in one transaction.
pub(super) async fn save(store: &Arc<Open>, owner: Owner, memory: NewMemory) -> Result<(Scope, Saved)> {
    let (bytes, memory) = measured(store, owner.clone(), memory).await?;
    let work = move |tx: &mut WriteTx<'_>| {
        let scope = owner.find_or_add(tx)?;
        Ok((scope, tx.save_memory(&scope, &memory)?))
    };
    store.write_sized(bytes, work).await
}

/// Computes what the writer needs to save a memory, and reads the turns that the memory comes from. Also returns the
/// memory's size in bytes.
pub(super) async fn measured(
    store: &Arc<Open>,
    owner: Owner,
    mut memory: NewMemory,
) -> Result<(usize, MeasuredMemory)> {
    let (store, bytes) = (Arc::clone(store), memory.title.len() + memory.content.len());
    let measure = move || {
        memory.check()?;
        let mut sources = Vec::new();
        if memory.birth.session_id.is_some() || !memory.sources.is_empty() {
            let snapshot = store.snapshot()?;
            let missing = || Error::not_found("this user has no such session or turn");
            let scope = owner.find(&snapshot)?.ok_or_else(missing)?;
            if Trust::of(memory.origin) > Trust::Foreign
                && let Some(foreign) = snapshot.copied_from(&scope, &memory)?
            {
                memory.origin = foreign;
            }
            sources = snapshot.sources_of(&scope, &memory)?;
            // Whoever repeats them, the words are those of the sources.
            let least = sources.iter().map(|source| source.origin).min_by_key(|origin| Trust::of(*origin));
            if let Some(least) = least.filter(|least| Trust::of(*least) < Trust::of(memory.origin)) {
                memory.origin = least;
            }
        }
        MeasuredMemory::of(memory, sources, (Finder::Hand, "caller"))
    };
    Ok((bytes, off_thread(measure).await?))
}

/// The ids of a saved memory's user and session, for its span.
pub(super) fn ids((scope, _): &(Scope, Saved)) -> (UserId, Option<SessionId>) {
    (scope.user_id, None)
}
