//! Recording a turn or a message: in the session of a handle, or in one that is found by its key.

use crate::{
    error::{Error, Result},
    handles::{off_thread, open::Open, owner::Owner},
    model::{
        ids::{SessionId, UserId},
        metadata,
        turn::{NewTurn, Recorded},
    },
    store::{
        acts::record::WantedSession,
        scope::{Scope, UserKey},
        write_tx::WriteTx,
    },
    text::measure::{self, MeasuredTurn, check_name},
};

/// Texts up to this size are measured on the caller's thread, which takes 0.2 ms at most: a hop to a thread with cold
/// caches would cost as much.
const INLINE_BYTES: usize = 8_192;

/// Where to record.
pub(super) struct Place {
    owner: Owner,
    session: WantedSession,
}

impl Place {
    /// In the session with this id, or in its successor.
    pub(super) fn session(scope: Scope, id: SessionId) -> Self {
        Self { owner: Owner::Known(scope), session: WantedSession::Id(id) }
    }

    /// In a session of this user, as [`wanted`] finds it.
    pub(super) fn of(scope: Scope, session: Option<&str>) -> Result<Self> {
        Ok(Self { owner: Owner::Known(scope), session: wanted(session)? })
    }

    /// In a session of a user who may be new, as [`wanted`] finds it. Errors: `InvalidInput` for an impossible name or key.
    pub(super) fn named(user: UserKey, session: Option<&str>) -> Result<Self> {
        Ok(Self { owner: Owner::named(user)?, session: wanted(session)? })
    }
}

/// Returns the session with this key or, without a key, the newest open session without one. Either is started if there is
/// none.
fn wanted(session: Option<&str>) -> Result<WantedSession> {
    check_name("session's key", session)?;
    Ok(session.map_or(WantedSession::Unnamed, |key| WantedSession::Named(key.to_owned())))
}

/// Records a turn in one transaction.
pub(super) async fn turn(store: &Open, place: Place, turn: NewTurn) -> Result<(Scope, Recorded)> {
    let turn = turn.heeding(store.config().remember_marker.as_deref());
    write(store, place, turn, |tx, scope, session, turn| tx.record(scope, session, turn)).await
}

/// Records a message whose reply is still to come, in one transaction.
pub(super) async fn message(store: &Open, place: Place, turn: NewTurn) -> Result<(Scope, Recorded)> {
    if turn.answering.is_some() {
        return Err(Error::invalid(
            "only a reply answers a context: name the receipt when you add the reply",
        ));
    }
    if !turn.said.ai_response.is_empty() || turn.said.user_message.is_empty() {
        return Err(Error::invalid("a message recorded without its reply needs a text and no reply"));
    }
    write(store, place, turn, |tx, scope, session, turn| tx.record_message(scope, session, turn)).await
}

async fn write(
    store: &Open,
    place: Place,
    turn: NewTurn,
    act: fn(&mut WriteTx<'_>, &Scope, &WantedSession, MeasuredTurn) -> Result<Recorded>,
) -> Result<(Scope, Recorded)> {
    let (bytes, measured) = measured(store, turn).await?;
    let work = move |tx: &mut WriteTx<'_>| {
        let scope = place.owner.find_or_add(tx)?;
        Ok((scope, act(tx, &scope, &place.session, *measured)?))
    };
    store.write_sized(bytes, work).await
}

/// The ids of a recorded turn, for its span.
pub(super) fn ids((scope, recorded): &(Scope, Recorded)) -> (UserId, Option<SessionId>) {
    (scope.user_id, Some(recorded.session_id))
}

/// Measures a turn, and also returns its size in bytes. Fails if the turn breaks a bound. The result is boxed, because it is
/// large and would be copied into each future that waits for the writer.
pub(super) async fn measured(store: &Open, turn: NewTurn) -> Result<(usize, Box<MeasuredTurn>)> {
    let config = store.config();
    let (tokenizer, max_side_bytes) = (config.tokenizer, config.max_side_bytes);
    let bytes = turn.text_bytes();
    let is_quick = tokenizer.is_ready() && bytes <= INLINE_BYTES;
    let measure = move || measure::measure(turn, tokenizer, max_side_bytes);
    let measured = if is_quick { measure() } else { off_thread(measure).await }?;
    Ok((bytes + metadata::bytes(measured.turn.metadata.as_ref()), Box::new(measured)))
}
