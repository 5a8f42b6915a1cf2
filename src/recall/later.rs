//! What became of a thing: of turns that tell how things are, those of whose thing more was said later are marked. English only, as far as statements are known from questions, and one's own matters from those of others.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    english::{
        lists::{is_in, spaced},
        query::Query,
        statements::{Statement, statements},
        whose::{Whose, is_relation, whose},
    },
    error::{ErrorKind, Result},
    index::facts::Facts,
    model::place::Owner,
    recall::{
        anchors_leg,
        score::{Scored, narrow},
        sieve::Sieve,
        user_index::UserIndex,
        words_leg::{self, Standing, WordsLeg},
    },
    store::{
        scope::Scope,
        snapshot::{Originals, Postings, Snapshot},
    },
    text::words::{MAX_QUERY_WORDS, Word, query_words},
};

/// Of so many of the best turns the things are looked at.
const MOST_EARLIER: usize = 4;
/// Of so many of the best the texts are read to find them.
const BEST: usize = 32;
/// They have at least this share of a question.
const LEAST_COVERAGE: f32 = 0.3;
/// What tells of the same thing has at least this share of the weight of its words.
const LEAST_SHARE: f64 = 0.4;
/// The words that are asked for tell more of a thing than those that are only said of it.
const ASKED: f64 = 3.0;
/// The texts of so many turns are read.
const MOST_READ: usize = 6;

/// For each unit that tells of a thing of which a later one tells, too: the newest of these.
pub(crate) type Newest = HashMap<u32, u32>;

/// What a statement tells of, by the words that it is known by.
struct Thing {
    /// What each weighs.
    words: Vec<(Word, f64)>,
    /// The names of the question: of whom it is.
    names: Vec<Word>,
    is_own: bool,
}

/// What was said last of the things that the best units tell of, and of what anchors say, as far as it passes the sieve.
pub(super) fn newest(
    at: (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    (query, words): (&Query, &WordsLeg),
    best: &[Scored],
    sieve: &Sieve,
) -> Result<Newest> {
    let mut newest = of_statements(at, index, (query, words), best, sieve)?;
    newest.extend(of_anchors(at, index, query, sieve)?);
    Ok(newest)
}

fn of_statements(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    (query, words): (&Query, &WordsLeg),
    best: &[Scored],
    sieve: &Sieve,
) -> Result<Newest> {
    let mut originals = snapshot.originals(scope);
    let mut standings = Standings { snapshot, scope, index, known: HashMap::new() };
    let (mut newest, mut looked_at) = (Newest::new(), 0);
    let is_turn = |unit: &&Scored| unit.parts.memory == 0.0;
    let best = best.iter().filter(is_turn).filter(|unit| words.most_covered(unit.seq) >= LEAST_COVERAGE);
    for earlier in best.take(BEST) {
        if looked_at == MOST_EARLIER || newest.contains_key(&earlier.seq) {
            continue;
        }
        let Some(facts) = index.unit(earlier.seq) else { continue };
        let Some(said) = said_by_user(&mut originals, facts)? else { continue };
        let Some(told) = told_words(&said.text, query) else { continue };
        looked_at += 1;
        let (thing, later) = standings.said_later(facts, told, query)?;
        let mut of_thing = Vec::new();
        for facts in later.into_iter().filter(|facts| passes(sieve, facts)) {
            let Some(later) = said_by_user(&mut originals, facts)? else { continue };
            if later.by == said.by
                && let Some(whose) = thing.told_in(&later.text)
            {
                of_thing.push((facts.said_at_ms, facts.seq, whose));
            }
        }
        // What is said of the thing itself may be said of another such thing: it counts where nothing else does.
        if of_thing.iter().any(|(.., whose)| *whose == Whose::Own) {
            of_thing.retain(|(.., whose)| *whose == Whose::Own);
        }
        let Some(&(_, last, _)) = of_thing.iter().max_by_key(|(at, seq, _)| (*at, *seq)) else { continue };
        let all = of_thing.iter().map(|(_, seq, _)| *seq).chain([earlier.seq]);
        newest.extend(all.filter(|seq| *seq != last).map(|seq| (seq, last)));
    }
    Ok(newest)
}

/// Of the turns that prove anchors which hold no longer: those that prove what took their places.
fn of_anchors(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    query: &Query,
    sieve: &Sieve,
) -> Result<Newest> {
    let mut newest = Newest::new();
    for (ended, newer) in anchors_leg::ended(query, &index.anchors) {
        let sources = snapshot.sources_of_anchor(scope, newer.id)?;
        let facts =
            sources.into_iter().filter_map(|seq| index.unit(seq)).filter(|facts| passes(sieve, facts));
        let Some(last) = facts.max_by_key(|facts| (facts.said_at_ms, facts.seq)) else { continue };
        let earlier = snapshot.sources_of_anchor(scope, ended.id)?.into_iter();
        newest.extend(earlier.filter(|seq| *seq != last.seq).map(|seq| (seq, last.seq)));
    }
    Ok(newest)
}

fn passes(sieve: &Sieve, facts: &Facts) -> bool {
    facts.owner().place().is_some_and(|place| sieve.passes(place.session, facts.said_at_ms))
}

/// What a user said in a turn, and under which name.
struct SaidByUser {
    text: String,
    by: Option<String>,
}

fn said_by_user(originals: &mut Originals<'_>, facts: &Facts) -> Result<Option<SaidByUser>> {
    let Owner::Turn(place) = facts.owner() else { return Ok(None) };
    let turn = match originals.turn_at(place) {
        // It is named where it is read to be shown.
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        turn => turn?,
    };
    Ok(turn.map(|turn| SaidByUser { text: turn.said.user_message, by: turn.said.user_name }))
}

/// The words of the statement of a text that has most of what is asked.
fn told_words(text: &str, query: &Query) -> Option<Vec<Word>> {
    let names = names_of(query);
    let is_asked = |word: &&Word| query.words.contains(word) && !names.contains(word);
    let shared = |words: &Vec<Word>| words.iter().filter(is_asked).count();
    let all = statements(text);
    let is_of_thing = |word: &str| query_words(word).iter().any(|word| query.words.contains(word));
    let is_own =
        |statement: &&Statement<'_>| !asks_of_own(query) || whose(statement, &is_of_thing) != Whose::Others;
    let words = all.iter().filter(is_own).map(|statement| query_words(statement.text));
    words.filter(|words| shared(words) > 0).max_by_key(shared)
}

/// Whether it is asked of the matters of the one who asks.
fn asks_of_own(query: &Query) -> bool {
    const OWN: &str = "i we my our me us";
    query.refers_to_self
        || query.asks.iter().any(|ask| spaced(ask).split_whitespace().any(|word| is_in(OWN, word)))
}

/// The words for somebody of whom it is asked: a name, `sister`. They tell of whom a thing is, and nothing else of it.
fn names_of(query: &Query) -> Vec<Word> {
    let asked = query.asks.iter().map(|ask| spaced(ask)).collect::<String>();
    let relations = asked.split_whitespace().filter(|word| is_relation(word));
    let names: Vec<Word> =
        query.names.iter().map(String::as_str).chain(relations).flat_map(query_words).collect();
    let is_all = query.words.iter().all(|word| names.contains(word));
    if is_all { Vec::new() } else { names }
}

impl Thing {
    fn has(&self, word: Word) -> bool {
        self.names.contains(&word) || self.words.iter().any(|(known, _)| *known == word)
    }

    /// Whether a text tells of the thing, and whose it is by the statement that has most of it.
    fn told_in(&self, text: &str) -> Option<Whose> {
        let all: f64 = self.words.iter().map(|(_, weight)| weight).sum();
        let told = |statement: &Statement<'_>| {
            let words = query_words(statement.text);
            let share = self.words.iter().filter(|(word, _)| words.contains(word)).map(|(_, weight)| weight);
            let is_named = self.names.is_empty() || self.names.iter().any(|name| words.contains(name));
            let whose = whose(statement, &|word| query_words(word).into_iter().any(|word| self.has(word)));
            let is_of_thing = is_named && !(self.is_own && whose == Whose::Others);
            (if is_of_thing { share.sum::<f64>() / all } else { 0.0 }, whose)
        };
        let told = statements(text).iter().map(told).max_by(|a, b| a.0.total_cmp(&b.0));
        told.filter(|(share, _)| *share >= LEAST_SHARE).map(|(_, whose)| whose)
    }
}

/// Where words stand, each looked up once: the things of one question share most of theirs.
struct Standings<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    scope: &'a Scope,
    index: &'a UserIndex,
    known: HashMap<Word, Standing>,
}

impl<'a> Standings<'a, '_> {
    fn of(&mut self, word: Word) -> Result<&Standing> {
        Ok(match self.known.entry(word) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let look_up = |postings: &Postings<'_>| words_leg::standing(postings, self.index, word);
                unknown.insert(self.snapshot.postings(self.scope, look_up)?)
            }
        })
    }

    /// What each word of a thing weighs, and the units that have most of it, of those that were said later.
    fn said_later(
        &mut self,
        earlier: &Facts,
        told: Vec<Word>,
        query: &Query,
    ) -> Result<(Thing, Vec<&'a Facts>)> {
        let index = self.index;
        let (names, is_own) = (names_of(query), asks_of_own(query));
        let mut thing = Thing { words: Vec::new(), names, is_own };
        let (mut shares, mut total) = (vec![0.0_f32; index.units.len()], 0.0_f32);
        for word in told.into_iter().take(MAX_QUERY_WORDS) {
            if thing.names.contains(&word) {
                continue;
            }
            let Standing { rarity, units } = self.of(word)?;
            let weight = if query.words.contains(&word) { ASKED } else { 1.0 } * rarity;
            thing.words.push((word, weight));
            total += narrow(weight);
            for &(seq, share) in units {
                shares[seq as usize - 1] += narrow(weight) * share;
            }
        }
        let is_later = |unit: &Facts| {
            (unit.said_at_ms, unit.seq) > (earlier.said_at_ms, earlier.seq) && unit.owner() != Owner::Memory
        };
        let has_most =
            |(share, unit): &(&f32, &Facts)| f64::from(**share / total) >= LEAST_SHARE && is_later(unit);
        let mut said: Vec<(&f32, &Facts)> = shares.iter().zip(&index.units).filter(has_most).collect();
        said.sort_by(|a, b| {
            b.0.total_cmp(a.0).then((b.1.said_at_ms, b.1.seq).cmp(&(a.1.said_at_ms, a.1.seq)))
        });
        Ok((thing, said.into_iter().take(MOST_READ).map(|(_, facts)| facts).collect()))
    }
}
