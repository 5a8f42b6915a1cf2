//! Asks the caller's reranker to order the best results. Neither the file nor an index is locked meanwhile. Without an
//! answer, the results keep recall's own order.

use std::{cmp::Ordering, sync::Arc};

use crate::{
    config::Config,
    cooldown::Cooldowns,
    embed::pieces::{self, pieces},
    error::{Error, ErrorKind, Result},
    event::{Event, ProviderRole},
    model::{
        memory::known::Memory,
        profile::rounded,
        turn::{Side, Turn},
    },
    own_thread::{self, CallOutcome},
    recall::{
        answer::{Hit, Searched, WantedUnits},
        message::Message,
        pack::WordHits,
        recalled::RecalledItem,
    },
    rerank::Reranker,
    store::{Store, scope::Scope},
    text::{memory::MemoryText, render, words::Word},
};

/// The most bytes of a query. Many models read 512 tokens of query and text together; the longest text takes half of them.
const MAX_QUERY_BYTES: usize = 1_000;
/// A longer turn is read in part. The same length as the longest piece of a turn.
const WHOLE_TURN_BYTES: usize = 1_000;
/// This much of the user's side precedes a part of the reply: it says what the reply is about.
const LEAD_BYTES: usize = 200;

/// Whether a reranker orders an answer.
pub(crate) enum RerankMode<'a> {
    /// Without a reranker.
    Without,
    /// The reranker is in cooldown, for this reason, or did not answer.
    Missed(String),
    /// With a reranker.
    Wanted(RerankTarget<'a>),
}

/// The reranker to ask.
pub(crate) struct RerankTarget<'a> {
    config: &'a Config,
    cooldowns: &'a Cooldowns,
    reranker: &'a Arc<dyn Reranker>,
}

impl<'a> RerankMode<'a> {
    /// Decides whether the results for a message are reranked. Profiles with their own formula, and queries for a time and
    /// nothing else, are not reranked: their order does not depend on texts.
    pub(crate) fn of(config: &'a Config, cooldowns: &'a Cooldowns, message: &Message) -> Self {
        let Some(reranker) = &config.reranker else { return Self::Without };
        if message.profile.weights().is_none()
            || message.query().is_only_time
            || message.text.trim().is_empty()
        {
            return Self::Without;
        }
        match cooldowns.reranker.why(config.clock.now()) {
            Some(why) => Self::Missed(missed(reranker.as_ref(), &why)),
            None => Self::Wanted(RerankTarget { config, cooldowns, reranker }),
        }
    }

    /// Returns what an answer without the reranker reports as missing.
    pub(crate) fn missed(self) -> Option<String> {
        if let Self::Missed(why) = self { Some(why) } else { None }
    }
}

fn missed(reranker: &dyn Reranker, why: &Error) -> String {
    format!("reranker {}: {why}", reranker.name())
}

impl<'a> RerankTarget<'a> {
    /// How many of the best results the reranker reads.
    pub(crate) fn depth(&self) -> usize {
        self.config.rerank_candidates
    }

    /// Returns what the reranker reads: the query, and the best of the results that may be shown.
    pub(crate) fn reads(searched: &Searched, depth: usize) -> ToRerank {
        let mut query = searched.meaning.clone();
        query.truncate(query.floor_char_boundary(MAX_QUERY_BYTES));
        let is_shown = |hit: &Hit| searched.wanted == WantedUnits::All || !hit.is_below_floor;
        let best = searched.units.iter().enumerate().filter(|(_, hit)| is_shown(hit)).take(depth);
        let (places, texts) = best.map(|(at, hit)| (at, text_of(hit, &searched.words))).unzip();
        ToRerank { query, texts, places }
    }

    /// Reorders the results. If the reranker fails, everything must be gathered again as if it had not been asked, because
    /// the deeper search may have found and left out other units.
    pub(crate) async fn grant(self, searched: &mut Searched, read: ToRerank) -> RerankMode<'a> {
        let ToRerank { query, texts, places } = read;
        if texts.len() < 2 {
            return RerankMode::Without; // There is only one order.
        }
        let (config, reranker) = (self.config, self.reranker);
        match ask(self.reranker, query, texts, config).await {
            Ok(scores) => {
                reorder(&mut searched.units, &places, &scores);
                searched.reranker = Some(reranker.name().to_owned());
                RerankMode::Without
            }
            Err(error) => {
                // A refusal may concern the texts of only one question.
                if error.kind() != ErrorKind::ProviderRefused {
                    self.cooldowns.reranker.begin(config.clock.now(), &error);
                }
                let (provider, name) = (ProviderRole::Reranker, reranker.name().to_owned());
                config.on_event.emit(&Event::ProviderFailed { provider, name, why: error.kind() });
                RerankMode::Missed(missed(reranker.as_ref(), &error))
            }
        }
    }
}

/// Returns what to report if anything of the user was erased or replaced while the reranker read, which may take long:
/// erased text must not be shown.
pub(crate) fn overtaken(store: &Store, scope: &Scope, searched: &Searched) -> Result<Option<String>> {
    let Some(reranker) = &searched.reranker else { return Ok(None) };
    let is_still_so = store.snapshot()?.extent(scope)?.epoch == searched.epoch;
    let why = || format!("reranker {reranker}: turns were erased or replaced while it read");
    Ok((!is_still_so).then(why))
}

/// Asks for one finite number for each text. Errors: the reason why there are none.
async fn ask(
    reranker: &Arc<dyn Reranker>,
    query: String,
    texts: Vec<String>,
    config: &Config,
) -> Result<Vec<f64>> {
    let (reranker, count, limit) = (Arc::clone(reranker), texts.len(), config.rerank_timeout);
    let asking = move || async move { reranker.rerank(&query, &texts).await };
    let scores = match own_thread::ask("thermocline-ask", limit, asking).await {
        CallOutcome::Given(scores) => scores?,
        CallOutcome::Late => {
            return Err(Error::provider(format!("it gave no answer within {} ms", limit.as_millis())));
        }
        CallOutcome::Panicked => return Err(Error::provider("it panicked")),
    };
    if scores.len() != count {
        return Err(Error::provider("it did not give one score for each text"));
    }
    if scores.iter().any(|score| !score.is_finite()) {
        return Err(Error::provider("it gave scores that are not numbers"));
    }
    Ok(scores.into_iter().map(|score| rounded(f64::from(score))).collect())
}

/// The input of a reranker.
#[derive(Debug)]
pub(crate) struct ToRerank {
    query: String,
    texts: Vec<String>,
    /// For each text, the index of its unit in [`Searched::units`].
    places: Vec<usize>,
}

/// Puts the units at these places first, by score; equal scores keep their order.
fn reorder(units: &mut [Hit], places: &[usize], scores: &[f64]) {
    for (&at, &score) in places.iter().zip(scores) {
        units[at].recalled.rerank_score = Some(score);
    }
    units.sort_by(|a, b| by_reranker(a.recalled.rerank_score, b.recalled.rerank_score));
}

/// Orders results that the reranker scored before the others, best first.
pub(crate) fn by_reranker(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The text of a unit that best shows whether it answers.
fn text_of(hit: &Hit, words: &[(Word, f64)]) -> String {
    match &hit.recalled.item {
        RecalledItem::Turn(turn) => text_of_turn(turn, hit.piece.map(|(number, _)| number), words),
        RecalledItem::Summary { summary, .. } => summary.summary_text.clone(),
        RecalledItem::Anchor(anchor) => render::anchor_line(anchor),
        RecalledItem::Memory(memory) => text_of_memory(&memory.memory),
    }
}

/// Returns the text of a memory; a long one is reduced to the title and the beginning.
fn text_of_memory(memory: &Memory) -> String {
    let Memory { kind, title, content, procedure, .. } = memory;
    let mut text = MemoryText { kind: *kind, title, content, procedure: procedure.as_ref() }.embedded();
    text.truncate(text.floor_char_boundary(WHOLE_TURN_BYTES));
    text
}

/// Renders a turn as contexts show it. A longer one is reduced to the piece whose query words weigh most; on a tie, to the
/// one that matched by meaning, or else the first.
fn text_of_turn(turn: &Turn, nearest: Option<u8>, words: &[(Word, f64)]) -> String {
    let said = &turn.said;
    if said.user_message.len() + said.ai_response.len() <= WHOLE_TURN_BYTES {
        return render::turn_piece(said);
    }
    let weighed = |piece: &pieces::EmbedPiece| {
        let text = &said.side(piece.side)[piece.range.clone()];
        (WordHits::of(text, words).weight(words), Some(piece.number) == nearest)
    };
    let pieces = pieces(said).into_iter().map(|piece| (weighed(&piece), piece));
    let better = |best: ((f64, bool), pieces::EmbedPiece), next: ((f64, bool), pieces::EmbedPiece)| {
        let by_weight = next.0.0.total_cmp(&best.0.0).then(next.0.1.cmp(&best.0.1));
        if by_weight.is_gt() { next } else { best }
    };
    let Some((_, best)) = pieces.reduce(better) else { return render::turn_piece(said) };
    let part = render::side_line(said, best.side, &said.side(best.side)[best.range]);
    match best.side {
        Side::User => part,
        Side::Reply => {
            let lead = said.user_message.trim();
            render::user_line(said, &lead[..lead.floor_char_boundary(LEAD_BYTES)]) + &part
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::query_words;

    fn words(query: &str) -> Vec<(Word, f64)> {
        query_words(query).into_iter().map(|word| (word, 1.0)).collect()
    }

    fn turn(user: &str, reply: &str) -> Turn {
        let mut turn = Turn::sample(1, user, 10);
        turn.said.ai_response = reply.to_owned();
        turn
    }

    #[test]
    fn a_short_turn_is_read_whole() {
        let text = text_of_turn(&turn("I moved.", "Where to?"), None, &words("moved"));
        assert_eq!(text, "User: I moved.\nAssistant: Where to?\n");
        assert_eq!(text_of_turn(&turn("", ""), None, &[]), "");
    }

    #[test]
    fn of_a_long_turn_the_part_that_matched_is_read_and_what_it_replies_to() {
        let filler = "The boat left the harbour at noon with all of us aboard. ".repeat(100);
        let said =
            turn("Tell me about the violin, please.", &format!("{filler}A luthier glued it. {filler}"));
        let text = text_of_turn(&said, None, &words("luthier"));
        assert!(text.starts_with("User: Tell me about the violin, please.\nAssistant: The boat"), "{text}");
        assert!(text.contains("luthier") && text.len() < 1_300, "{text}");

        let twin = turn(&format!("{filler} Zebra. {filler}"), "");
        let number = pieces(&twin.said)[3].number;
        let range = pieces(&twin.said)[3].range.clone();
        let by_meaning = text_of_turn(&twin, Some(number), &words("telescope"));
        assert_eq!(by_meaning, format!("User: {}\n", &twin.said.user_message[range]));
        assert!(text_of_turn(&twin, Some(number), &words("zebra")).contains("Zebra"), "words come first");
    }

    #[test]
    fn what_was_read_stands_first_by_its_score() {
        let mut scores = [None, Some(-1.0), Some(2.5), None, Some(-0.5)];
        scores.sort_by(|a, b| by_reranker(*a, *b));
        assert_eq!(scores, [Some(2.5), Some(-0.5), Some(-1.0), None, None]);
    }
}
