//! A request: candidates with a share of the budget, and how they are served.

use crate::{
    model::turn::Turn,
    recall::pack::{Candidate, Section},
    text::{render, tokens::Tokenizer},
};

/// Candidates that compete with those of other requests for the budget.
#[derive(Clone)]
pub(crate) struct Request<'t> {
    /// The request's share of the budget; what earlier requests leave is added.
    pub(crate) share_tokens: u32,
    /// The most tokens that the request may take.
    pub(crate) most_tokens: u32,
    /// If set, the first candidate is always shown, with at least about this many tokens if the budget has them.
    pub(crate) first_gets: Option<u32>,
    pub(crate) serving: Serving,
    /// Most wanted first.
    pub(crate) candidates: Vec<Candidate<'t>>,
}

/// How a request serves its candidates. The newest turns of the session are a stretch, which may span several requests: once
/// a turn of the stretch is shown neither whole nor cut, no older one is shown for its place, only for what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// Each candidate by itself: one that does not fit is skipped.
    Ranked,
    /// The stretch: a turn that does not fit is cut.
    Newest,
    /// The less important part of the stretch: a turn that does not fit is cut only if an older one then fits whole;
    /// otherwise recalled turns are served first.
    Older,
}

impl<'t> Request<'t> {
    pub(crate) fn ranked(share_tokens: u32, candidates: Vec<Candidate<'t>>) -> Self {
        Self { share_tokens, most_tokens: u32::MAX, first_gets: None, serving: Serving::Ranked, candidates }
    }

    pub(crate) fn newest(share_tokens: u32, candidates: Vec<Candidate<'t>>) -> Self {
        Self { serving: Serving::Newest, ..Self::ranked(share_tokens, candidates) }
    }

    pub(crate) fn older(share_tokens: u32, candidates: Vec<Candidate<'t>>) -> Self {
        Self { serving: Serving::Older, ..Self::ranked(share_tokens, candidates) }
    }

    pub(super) fn is_stretch(&self) -> bool {
        self.serving != Serving::Ranked
    }
}

/// Returns how many of these turns, newest first, one section shows whole in `room` tokens.
pub(crate) fn fit_whole<'t>(
    section: Section,
    newest_first: impl IntoIterator<Item = &'t Turn>,
    room: u32,
    tokenizer: Tokenizer,
) -> usize {
    let (mut tokens, mut next) = (tokenizer.count(section.title()), None);
    let fits = |turn: &&Turn| {
        let on = turn.timestamp.date_naive();
        let date_tokens =
            if next.replace(on) == Some(on) { 0 } else { tokenizer.count(&render::date_line(on)) };
        tokens = tokens.saturating_add(turn.tokens.piece_tokens).saturating_add(date_tokens);
        tokens <= room
    };
    newest_first.into_iter().take_while(fits).count()
}
