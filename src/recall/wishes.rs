//! The standing wishes of a user, and which of them apply to a message: those about every answer, and those about what the
//! message speaks of. A wish holds until a later one replaces or ends it, its turn's original is deleted, or too many newer
//! turns state wishes.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{
    embed::{BuiltIn, lexicon, quantize::Vector},
    english::{
        statements::statements,
        wishes::{Does, Wish, wishes},
    },
    error::{ErrorKind, Result},
    index::facts::UnitFacts,
    model::{
        ids::{SessionId, TurnId},
        memory::trust::Trust,
        place::{Owner, Seq},
        receipt::{ItemKind, ItemOutcome, ReceiptItem},
        turn::{Origin, Side},
    },
    recall::expand::{Role, SubQuery},
    store::{scope::Scope, snapshot::Snapshot},
    text::{
        render,
        words::{Word, query_words},
    },
};

/// A context shows at most this many wishes, because a reply can heed only a few.
const MOST_SHOWN: usize = 3;
/// Only the newest turns with wishes are read, and only the first wishes of each.
const MOST_TURNS: usize = 512;
const MOST_OF_TURN: usize = 16;

/// Words for what a question about a time asks for.
const DATES: &str = "date day time deadline timeline schedule";

/// How well a wish about every answer fits any message.
const GENERAL: f64 = 0.5;
/// A wish that fits worse does not apply.
const LEAST_FIT: f64 = 0.3;

/// Which wishes are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum WishesWanted<'a> {
    #[default]
    None,
    /// Those that apply to the message.
    Applying,
    /// Of these, the ones that LLM#1 chose.
    Chosen(&'a [WishId]),
}

/// Identifies a wish by its turn and its index among that turn's wishes.
pub(crate) type WishId = (Seq, usize);

/// A wish, verbatim, and its turn.
#[derive(Clone, Debug)]
pub(crate) struct StandingWish {
    pub(crate) seq: Seq,
    /// Whether the user says nothing else in that turn.
    pub(crate) is_all: bool,
    /// The wish's index among those of its turn.
    pub(crate) number: usize,
    pub(crate) turn_id: TurnId,
    pub(crate) session_id: SessionId,
    pub(crate) turn_number: u32,
    pub(crate) caller_id: Option<String>,
    pub(crate) timestamp: DateTime<Utc>,
    /// The sentence that states the wish, as one line.
    pub(crate) text: String,
    /// The line of a context that shows the wish.
    pub(crate) line: String,
    /// The name of the person who wishes it, if known.
    speaker: Option<String>,
    trust: Trust,
    about: About,
}

/// What a wish is about, as comparable words.
#[derive(Clone, Debug)]
struct About {
    does: Does,
    is_general: bool,
    what: Vec<Word>,
    occasion: Vec<Word>,
    /// The vectors of the occasion and of the whole wish.
    meanings: Vec<Vector>,
}

/// A wish that may apply, and how well it fits the message, from 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct Applying {
    pub(crate) wish: Arc<StandingWish>,
    pub(crate) fit: f64,
}

/// The wishes of a user that hold, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// The known turns with wishes, oldest first.
    turns: Vec<u32>,
    covered_seq: u32,
    standing: Vec<Arc<StandingWish>>,
    /// Turns that cannot be read.
    damaged: Vec<u32>,
}

impl Wishes {
    /// Reads the wishes of new units.
    pub(crate) fn refresh(
        &mut self,
        snapshot: &Snapshot<'_>,
        scope: &Scope,
        units: &[UnitFacts],
    ) -> Result<()> {
        let new = units.iter().skip(self.covered_seq as usize);
        let new: Vec<&UnitFacts> = new.filter(|unit| unit.traits.states_wish && unit.seq > 0).collect();
        let mut originals = snapshot.originals(scope);
        for unit in &new[new.len().saturating_sub(MOST_TURNS)..] {
            let Owner::Turn(place) = unit.owner() else { continue };
            self.covered_seq = unit.seq - 1; // If interrupted, it continues here.
            self.turns.push(unit.seq);
            let turn = match originals.turn_at(place) {
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    self.damaged.push(unit.seq);
                    continue;
                }
                turn => turn?,
            };
            // If a turn's original was deleted, the user's own words are lost.
            let Some(turn) = turn.filter(|turn| turn.said.user_origin == Origin::User) else { continue };
            for (number, wish) in
                wishes(&statements(&turn.said.user_message)).into_iter().take(MOST_OF_TURN).enumerate()
            {
                let text = wish.text.split_whitespace().collect::<Vec<_>>().join(" ");
                self.hear(StandingWish {
                    seq: Seq(unit.seq),
                    is_all: turn.said.user_message.trim() == wish.text.trim(),
                    number,
                    turn_id: turn.id,
                    session_id: turn.session_id,
                    turn_number: turn.turn_number,
                    caller_id: turn.caller_id.clone(),
                    timestamp: turn.timestamp,
                    line: render::user_line(&turn.said, &text),
                    text,
                    speaker: turn.said.user_name.clone(),
                    trust: Trust::of(turn.said.voice(Side::User)),
                    about: About::of(&wish),
                });
            }
        }
        self.covered_seq = u32::try_from(units.len()).unwrap_or(u32::MAX);
        if let Some(first) = self.turns.len().checked_sub(MOST_TURNS).map(|at| self.turns[at]) {
            self.turns.retain(|seq| *seq >= first);
            self.standing.retain(|wish| wish.seq.0 >= first);
        }
        Ok(())
    }

    /// Adds a wish, and removes the earlier ones that it ends, unless one of them is trusted more.
    fn hear(&mut self, new: StandingWish) {
        let ended = |old: &StandingWish| old.speaker == new.speaker && new.about.ends(&old.about);
        if self.standing.iter().any(|old| ended(old) && !new.trust.may_change(old.trust)) {
            return; // What is trusted more stands.
        }
        self.standing.retain(|old| !ended(old));
        if !new.about.does.only_ends() {
            self.standing.push(Arc::new(new));
        }
    }

    /// Returns how many turns with wishes cannot be read.
    pub(crate) fn damaged(&self) -> usize {
        self.damaged.len()
    }

    /// Returns the wishes that hold and may be shown, newest first. `passing` says for each unit, by number from 1, whether
    /// it may.
    pub(crate) fn passing(&self, passing: &[bool]) -> Vec<Arc<StandingWish>> {
        let may_be_shown = |wish: &&Arc<StandingWish>| passing.get(wish.seq.0 as usize - 1) == Some(&true);
        self.standing.iter().rev().filter(may_be_shown).cloned().collect()
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn bytes(&self) -> usize {
        /// The size of a wish with its words and its vectors.
        const WISH_BYTES: usize = 1_536;
        self.standing.len() * WISH_BYTES + self.turns.capacity() * size_of::<u32>()
    }
}

/// Orders these wishes, given newest first, by how well they fit what is searched for: best first; on a tie, the newer
/// first.
pub(crate) fn ranked<'s>(
    wishes: Vec<Arc<StandingWish>>,
    (sought, asks_when): (impl Iterator<Item = &'s SubQuery>, bool),
) -> Vec<Applying> {
    let besides = if asks_when { query_words(DATES) } else { Vec::new() };
    let sought = sought.filter(|sought| sought.role != Role::Background);
    let asked: Vec<WishQuestion<'_>> = if wishes.is_empty() {
        Vec::new()
    } else {
        sought.map(|sought| WishQuestion::of(sought, &besides)).collect()
    };
    let fit = |wish: &StandingWish| asked.iter().map(|asked| asked.fit(&wish.about)).fold(0.0, f64::max);
    let ranked = wishes.into_iter().map(|wish| Applying { fit: fit(&wish), wish });
    let mut ranked: Vec<Applying> = ranked.collect();
    ranked.sort_by(|a, b| b.fit.total_cmp(&a.fit)); // Stable: equal scores keep their order.
    ranked
}

/// Returns the ranked wishes that a context shows.
pub(crate) fn shown(mut ranked: Vec<Applying>, wanted: WishesWanted<'_>) -> Vec<Applying> {
    match wanted {
        WishesWanted::None => ranked.clear(),
        WishesWanted::Applying => ranked.retain(|found| found.fit >= LEAST_FIT),
        WishesWanted::Chosen(chosen) => ranked.retain(|found| chosen.contains(&found.wish.id())),
    }
    ranked.truncate(MOST_SHOWN);
    ranked
}

impl StandingWish {
    pub(crate) fn id(&self) -> WishId {
        (self.seq, self.number)
    }

    /// Returns the wish's line in a receipt.
    pub(crate) fn receipt_item(&self, fit: f64) -> ReceiptItem {
        ReceiptItem {
            score: fit,
            outcome: ItemOutcome::NoRoom,
            ..ReceiptItem::unread(ItemKind::Wish, self.seq, *self.turn_id.as_uuid())
        }
    }
}

impl About {
    fn of(wish: &Wish<'_>) -> Self {
        let words = |words: &[String]| query_words(&words.join(" "));
        let (what, occasion) = (words(&wish.what), words(&wish.occasion));
        let texts =
            [&wish.occasion[..], &[&wish.what[..], &wish.occasion].concat()].map(|words| words.join(" "));
        let meanings = texts.iter().filter_map(|text| BuiltIn::default().embed_text(text)).collect();
        Self { does: wish.does, is_general: wish.is_general, what, occasion, meanings }
    }

    /// Whether this later wish ends the other one. The opposite wish ends every wish about the same thing, on the same
    /// occasion or on any. Any other wish ends an earlier one about the same things, because it replaces it.
    fn ends(&self, old: &Self) -> bool {
        let are_in = |words: &[Word], all: &[Word]| words.iter().all(|word| all.contains(word));
        let fits =
            !self.what.is_empty() && are_in(&self.what, &old.what) && are_in(&self.occasion, &old.occasion);
        match (self.does, old.does) {
            (Does::Forgets, _) => {
                let all = [&old.what[..], &old.occasion].concat();
                are_in(&self.what, &all) && are_in(&self.occasion, &old.occasion)
            }
            (Does::Allows | Does::Wants, Does::Forbids) | (Does::Releases | Does::Forbids, Does::Wants) => {
                fits
            }
            (Does::Wants | Does::Forbids, _) => fits && are_in(&old.what, &self.what),
            _ => false,
        }
    }
}

/// One thing that a message asks, prepared for comparing wishes with it.
struct WishQuestion<'s> {
    sought: &'s SubQuery,
    /// Words that the question asks for without naming them: `when?` asks for dates.
    besides: &'s [Word],
    meaning: Option<Vector>,
}

impl<'s> WishQuestion<'s> {
    fn of(sought: &'s SubQuery, besides: &'s [Word]) -> Self {
        Self { sought, besides, meaning: BuiltIn::default().embed_text(&sought.meaning) }
    }

    /// Returns how well a wish fits, from 0 to 1: by the words that it is about, rarer ones more, or their synonyms; and by
    /// its meaning. If the wish names an occasion, what it wishes for counts half.
    fn fit(&self, about: &About) -> f64 {
        /// The weight that the words of a topic need in total.
        const TOPIC_WEIGHT: f64 = 10.0;
        /// A smaller cosine means that the two have nothing in common.
        const FAR: f64 = 0.2;
        if about.is_general {
            return GENERAL;
        }
        let what_counts = if about.occasion.is_empty() { 1.0 } else { 0.5 };
        let weight = |words: &[Word]| words.iter().map(|word| self.weight(*word)).sum::<f64>();
        let words = weight(&about.occasion) + what_counts * weight(&about.what);
        let near = |asked: &Vector| {
            about.meanings.iter().map(|wish| f64::from(wish.cosine(asked))).fold(0.0, f64::max)
        };
        let nearness = self.meaning.as_ref().map_or(0.0, near);
        ((words / TOPIC_WEIGHT).min(1.0) + (nearness - FAR).max(0.0)).min(1.0)
    }

    /// Returns the weight of a word of a wish, if it or a synonym is asked for.
    fn weight(&self, word: Word) -> f64 {
        /// Even a common word names a topic, because words that say nothing were left out before.
        const LEAST_RARITY: f64 = 3.0;
        let asked = |word: Word| self.sought.words.iter().find(|asked| asked.word == word && !asked.is_told);
        let itself = asked(word).map(|asked| asked.weight);
        let itself = itself.or(self.besides.contains(&word).then_some(1.0));
        let like = lexicon::synonyms(word);
        let like = like.filter_map(|(other, cosine)| Some(asked(other)?.weight * cosine * cosine));
        let rarity = (-lexicon::commonness(word).ln()).max(LEAST_RARITY);
        rarity * itself.unwrap_or_else(|| like.fold(0.0, f64::max))
    }
}
