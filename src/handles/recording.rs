//! Recording a turn or a message: in the session of a handle, or in one that is named together with its user.

use crate::{
    error::{Error, Result},
    handles::{off_thread, open::Open},
    model::{
        ids::SessionId,
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
pub(super) enum Place {
    /// In this session, or in its successor.
    Session(Scope, SessionId),
    /// In a session that is named together with its user. Both are added with the turn if they are new.
    Named(UserKey, WantedSession),
}

impl Place {
    /// The session with this key, or the newest open session without one, of the user of this name. Errors: `InvalidInput`
    /// for a name or a key that cannot be one.
    pub(super) fn named(user: &str, session: Option<&str>) -> Result<Self> {
        check_name("user's name", Some(user))?;
        check_name("session's key", session)?;
        let session = session.map_or(WantedSession::Unnamed, |key| WantedSession::Named(key.to_owned()));
        Ok(Self::Named(UserKey::Name(user.to_owned()), session))
    }

    fn find(self, tx: &mut WriteTx<'_>) -> Result<(Scope, WantedSession)> {
        match self {
            Self::Session(scope, id) => Ok((scope, WantedSession::Id(id))),
            Self::Named(user, session) => Ok((tx.add_user(&user)?, session)),
        }
    }
}

/// Records a turn in one transaction.
pub(super) async fn turn(store: &Open, place: Place, turn: NewTurn) -> Result<(Scope, Recorded)> {
    let turn = turn.heeding(store.config().remember_marker.as_deref());
    let (bytes, measured) = measured(store, turn).await?;
    let act = move |tx: &mut WriteTx<'_>| {
        let (scope, session) = place.find(tx)?;
        Ok((scope, tx.record(&scope, &session, *measured)?))
    };
    store.write_sized(bytes, act).await
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
    let (bytes, measured) = measured(store, turn).await?;
    let act = move |tx: &mut WriteTx<'_>| {
        let (scope, session) = place.find(tx)?;
        Ok((scope, tx.record_message(&scope, &session, *measured)?))
    };
    store.write_sized(bytes, act).await
}

/// Measures a turn, and also returns its size in bytes. Fails if the turn breaks a bound. The result is large, and would be
/// copied through each future that waits for the writer.
pub(super) async fn measured(store: &Open, turn: NewTurn) -> Result<(usize, Box<MeasuredTurn>)> {
    let config = store.config();
    let (tokenizer, max_side_bytes) = (config.tokenizer, config.max_side_bytes);
    let bytes = turn.text_bytes();
    let is_quick = tokenizer.is_ready() && bytes <= INLINE_BYTES;
    let measure = move || measure::measure(turn, tokenizer, max_side_bytes);
    let measured = if is_quick { measure() } else { off_thread(measure).await }?;
    Ok((bytes + metadata::bytes(measured.turn.metadata.as_ref()), Box::new(measured)))
}
