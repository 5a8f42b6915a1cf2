//! Replacing a turn: it and all later turns of its session are set aside. What was made from them is removed, as if they
//! were erased, but the turns themselves are kept in `turns_aside`.

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::TurnId,
        memory::trust::{Trust, check_may_change},
        place::Seq,
        turn::{Turn, TurnState},
    },
    store::{
        acts::{erase, erased::Erased, memories, reload},
        rows::{
            aside::{self, Aside},
            erase::TurnToErase,
            sessions::{self, SessionRow},
            turns, units, users,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Sets aside a turn of an open session and all later ones, so that `by` can take its place. Returns the session
    /// afterwards.
    pub(super) fn set_aside(
        &mut self,
        scope: &Scope,
        mut session: SessionRow,
        (replaced, by): (TurnId, TurnId),
    ) -> Result<SessionRow> {
        let (sql, now, id) = (self.sql, self.now(), session.info.id);
        let first = self.place_in(scope, &session, replaced)?;
        let gone = turns::from(sql, scope, session.session_no, first)?;
        gone.iter().try_for_each(|turn| self.check_may_set_aside(scope, turn))?;
        if let Some(waiting) = session.info.incomplete_turn {
            self.check_may_settle(scope, waiting)?;
            aside::set_replaced(sql, scope, waiting, (by, now))?;
        }
        let seqs = gone.iter().map(|turn| Seq::of(turn.seq)).collect::<Result<Vec<_>>>()?;
        let hashes = units::content_hashes(sql, scope, seqs.iter().copied().map(Ok))?;
        let doomed = |(turn, seq): (&Turn, &Seq)| TurnToErase {
            turn_id: turn.id,
            place: session.place(turn.turn_number),
            seq: *seq,
        };
        let doomed: Vec<TurnToErase> = gone.iter().zip(&seqs).map(doomed).collect();
        erase::unindex(self, scope, &doomed)?;
        for ((turn, content_hash), doomed) in gone.into_iter().zip(hashes).zip(&doomed) {
            erase::erase_turn(self, scope, doomed, &mut Erased::default())?;
            session.info.total_tokens =
                session.info.total_tokens.saturating_sub(turn.tokens.total_tokens.into());
            let turn = Turn { state: TurnState::Replaced, ..turn };
            aside::insert(sql, scope, &Aside { turn, content_hash, replaced: Some((by, now)) })?;
        }
        session.info.turn_count = first - 1;
        session.info.erased_turns =
            session.info.turn_count.saturating_sub(turns::count(sql, scope, session.session_no)?);
        sessions::set_left(sql, scope, &session)?;
        // Invalidates everything that was read of these turns: hot tiers, indexes, what jobs have prepared.
        users::raise_epoch(sql, scope)?;
        self.staged.insert(id, None);
        self.live.forget(id);
        let session = sessions::existing(sql, scope, id)?;
        self.refill_hot(scope, &session)?;
        Ok(session)
    }

    /// Fails if a turn, or a memory made from it, is trusted more than who replaces it, or if it is critical and not replaced
    /// by the user.
    fn check_may_set_aside(&self, scope: &Scope, turn: &Turn) -> Result<()> {
        let trust = if turn.is_identity_critical { Trust::User } else { turn.said.trust() };
        let number = turn.turn_number;
        check_may_change(self.by, trust, format_args!("turn {number}, which would be set aside,"))?;
        memories::erase::check_may_erase_made_of(self, scope, turn.id.as_uuid())
    }

    /// After turns were removed from an open session, makes its newest turns hot again, as far as the limits allow.
    pub(super) fn refill_hot(&self, scope: &Scope, session: &SessionRow) -> Result<()> {
        let hot = reload::hot(self.sql, scope, session.info.id, self.config)?;
        let (mut turns, mut tokens) = (hot.len(), hot.total_tokens());
        let first = hot.first_turn_number().unwrap_or(session.info.turn_count + 1);
        let warm = turns::newest_before(self.sql, scope, session.session_no, first, |turn| {
            let size = reload::recounted(turn.clone(), self.config).tokens.total_tokens;
            turns += 1;
            tokens = tokens.saturating_add(size);
            turns == 1 || (turns <= self.config.hot_turns && tokens <= self.config.hot_tokens)
        })?;
        for turn in warm.turns {
            turns::return_to_hot(self.sql, scope, session.place(turn.turn_number))?;
        }
        Ok(())
    }

    /// The number of a turn that may be replaced. Errors: it was already replaced, or is not in this session.
    fn place_in(&self, scope: &Scope, session: &SessionRow, turn: TurnId) -> Result<u32> {
        let id = session.info.id;
        let found = match turns::by_id(self.sql, scope, turn)? {
            Some(turn) => Some(turn),
            None => match aside::by_id(self.sql, scope, turn)? {
                Some(aside) if aside.replaced.is_some() => {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        "this turn was already replaced; replace the one that took its place",
                    ));
                }
                aside => aside.map(|aside| aside.turn),
            },
        };
        match found {
            Some(turn) if turn.session_id == id => Ok(turn.turn_number),
            _ => Err(Error::invalid("only a turn of the same, open session can be replaced")),
        }
    }
}
