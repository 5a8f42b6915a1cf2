//! Finds out which turns are outdated: if a turn tells how things are and something was said later about the same thing, the
//! turn is marked with the later one. Statements and questions are told apart only in English, and so are the user's own
//! matters and those of others.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    english::{
        changes::{self, StatedChanges, ValueKind},
        lists::{is_in, spaced},
        query::Query,
        statements::{self, Statement, StatementToken},
        whose::{Whose, is_relation, whose},
    },
    error::{ErrorKind, Result},
    index::facts::UnitFacts,
    model::place::Owner,
    recall::{
        anchor_evidence,
        lexical::{self, LexicalScores, WeightedWord},
        score::{ScoredUnit, narrow},
        sieve::Sieve,
        user_index::UserIndex,
    },
    store::{
        scope::Scope,
        snapshot::{Postings, Snapshot, SnapshotOriginals},
    },
    text::words::{MAX_QUERY_WORDS, Word, query_words},
};

/// How many of the best turns are compared with later ones.
const MOST_EARLIER: usize = 4;
/// How many of the best results are searched for these turns.
const BEST: usize = 32;
/// A turn is compared only if it covers at least this share of a question.
const LEAST_COVERAGE: f32 = 0.3;
/// A text about the same thing has at least this share of the weight of the thing's words.
const LEAST_SHARE: f64 = 0.4;
/// The factor for words that are asked for: they identify a thing better than those only said about it.
const ASKED: f64 = 3.0;
/// How many later turns are read about one thing.
const MOST_READ: usize = 6;
/// How many more are read because they contain the old value.
const MOST_OF_VALUE: usize = 2;
/// A value is a word that at most this many units have.
const VALUE_IN: usize = 8;

/// Maps a unit to the newest unit about the same thing.
pub(crate) type Newest = HashMap<u32, u32>;

/// What is asked, prepared once for comparing it with turns.
struct QuestionMatcher<'q> {
    query: &'q Query,
    /// The words of the question, without names.
    words: Vec<Word>,
    /// The names in the question: who it is about.
    names: Vec<Word>,
    /// Whether the question is about the asker's own matters.
    is_own: bool,
    /// Whether the question asks where something is.
    is_of_place: bool,
}

/// What a statement is about, as the words that identify it.
struct Thing<'q> {
    asked: &'q QuestionMatcher<'q>,
    /// The words with their weights.
    words: Vec<(Word, f64)>,
    /// Rare words that are not asked for.
    values: Vec<Word>,
    kind: ValueKind,
    /// How the statement continues after each of its words.
    goes_on: Vec<(Word, (String, String))>,
}

/// A statement about what is asked, prepared for comparing it with others.
struct AskedStatement {
    words: Vec<Word>,
    kind: ValueKind,
    goes_on: Vec<(Word, (String, String))>,
}

/// Finds the newest units about the things that the best units tell and that anchors state, among those that pass the sieve.
pub(super) fn newest(
    at: (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    (query, words): (&Query, &LexicalScores),
    best: &[ScoredUnit],
    sieve: &Sieve,
) -> Result<Newest> {
    let mut newest = of_statements(at, index, (query, words), best, sieve)?;
    newest.extend(of_anchors(at, index, query, sieve)?);
    Ok(newest)
}

fn of_statements(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    (query, words): (&Query, &LexicalScores),
    best: &[ScoredUnit],
    sieve: &Sieve,
) -> Result<Newest> {
    let mut originals = snapshot.originals(scope);
    let asked = QuestionMatcher::of(query);
    let mut standings = Standings { snapshot, scope, index, known: HashMap::new() };
    let (mut newest, mut looked_at) = (Newest::new(), 0);
    let is_turn = |unit: &&ScoredUnit| unit.parts.memory == 0.0;
    let best = best.iter().filter(is_turn).filter(|unit| words.most_covered(unit.seq) >= LEAST_COVERAGE);
    for earlier in best.take(BEST) {
        if looked_at == MOST_EARLIER || newest.contains_key(&earlier.seq) {
            continue;
        }
        let Some(facts) = index.unit(earlier.seq) else { continue };
        let Some(said) = said_by_user(&mut originals, facts)? else { continue };
        let Some(told) = told(&said.text, &asked) else { continue };
        looked_at += 1;
        let (thing, later) = standings.said_later(facts, told, &asked)?;
        let mut of_thing = Vec::new();
        for facts in later.into_iter().filter(|facts| passes(sieve, facts)) {
            let Some(later) = said_by_user(&mut originals, facts)? else { continue };
            if later.by == said.by
                && let Some(whose) = thing.told_in(&later.text)
            {
                of_thing.push((facts.said_at_ms, facts.seq, whose));
            }
        }
        // A text that names no owner may be about another such thing: it counts only if no text is about the user's own
        // thing.
        if of_thing.iter().any(|(.., whose)| *whose == Whose::Own) {
            of_thing.retain(|(.., whose)| *whose == Whose::Own);
        }
        let Some(&(_, last, _)) = of_thing.iter().max_by_key(|(at, seq, _)| (*at, *seq)) else { continue };
        let all = of_thing.iter().map(|(_, seq, _)| *seq).chain([earlier.seq]);
        newest.extend(all.filter(|seq| *seq != last).map(|seq| (seq, last)));
    }
    Ok(newest)
}

/// Maps the turns that prove an anchor that no longer holds to the newest turn that proves its replacement.
fn of_anchors(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    query: &Query,
    sieve: &Sieve,
) -> Result<Newest> {
    let mut newest = Newest::new();
    for (ended, newer) in anchor_evidence::ended(query, &index.anchors) {
        let sources = snapshot.sources_of_anchor(scope, newer.id)?;
        let facts =
            sources.into_iter().filter_map(|seq| index.unit(seq)).filter(|facts| passes(sieve, facts));
        let Some(last) = facts.max_by_key(|facts| (facts.said_at_ms, facts.seq)) else { continue };
        let earlier = snapshot.sources_of_anchor(scope, ended.id)?.into_iter();
        newest.extend(earlier.filter(|seq| *seq != last.seq).map(|seq| (seq, last.seq)));
    }
    Ok(newest)
}

fn passes(sieve: &Sieve, facts: &UnitFacts) -> bool {
    facts.owner().place().is_some_and(|place| sieve.passes(place.session, facts.said_at_ms))
}

/// What the user said in a turn, and under which name.
struct SaidByUser {
    text: String,
    by: Option<String>,
}

fn said_by_user(originals: &mut SnapshotOriginals<'_>, facts: &UnitFacts) -> Result<Option<SaidByUser>> {
    let Owner::Turn(place) = facts.owner() else { return Ok(None) };
    let turn = match originals.turn_at(place) {
        // The damage is reported where the turn is read to be shown.
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        turn => turn?,
    };
    Ok(turn.map(|turn| SaidByUser { text: turn.said.user_message, by: turn.said.user_name }))
}

/// Finds the statement in a text that contains most of what is asked.
fn told(text: &str, asked: &QuestionMatcher<'_>) -> Option<AskedStatement> {
    let shared = |text: &str| query_words(text).iter().filter(|word| asked.words.contains(word)).count();
    let all = statements::told(text, &|sentence| shared(sentence) > 0);
    let is_of_thing = |word: &str| query_words(word).iter().any(|word| asked.query.words.contains(word));
    let is_own =
        |statement: &&Statement<'_>| !asked.is_own || whose(statement, &is_of_thing) != Whose::Others;
    let own = all.iter().filter(is_own).map(|statement| (shared(statement.stated()), statement));
    let (_, best) = own.filter(|(shared, _)| *shared > 0).max_by_key(|(shared, _)| *shared)?;
    let goes_on = (0..best.tokens.len())
        .filter_map(|at| Some((word_of(&best.tokens[at])?, changes::goes_on(best, at)?)))
        .collect();
    Some(AskedStatement { words: query_words(best.stated()), kind: changes::kind(best), goes_on })
}

fn word_of(token: &StatementToken<'_>) -> Option<Word> {
    query_words(&token.lower).first().copied()
}

impl<'q> QuestionMatcher<'q> {
    fn of(query: &'q Query) -> Self {
        const OWN: &str = "i we my our me us";
        let names = names_of(query);
        let words = query.words.iter().copied().filter(|word| !names.contains(word)).collect();
        let asks: Vec<String> = query.asks.iter().map(|ask| spaced(ask)).collect();
        let is_own = query.refers_to_self
            || asks.iter().any(|ask| ask.split_whitespace().any(|word| is_in(OWN, word)));
        let is_of_place = asks.iter().any(|ask| ask.contains(" where"));
        Self { query, words, names, is_own, is_of_place }
    }
}

/// Returns the words for the person asked about: a name, or `sister`. They say whose a thing is, and nothing else about it.
fn names_of(query: &Query) -> Vec<Word> {
    let asked = query.asks.iter().map(|ask| spaced(ask)).collect::<String>();
    let relations = asked.split_whitespace().filter(|word| is_relation(word));
    let names: Vec<Word> =
        query.names.iter().map(String::as_str).chain(relations).flat_map(query_words).collect();
    let is_all = query.words.iter().all(|word| names.contains(word));
    if is_all { Vec::new() } else { names }
}

impl Thing<'_> {
    fn has(&self, word: Word) -> bool {
        self.asked.names.contains(&word) || self.words.iter().any(|(known, _)| *known == word)
    }

    /// Whether a text tells what became of the thing. Returns whose it is in the statement that contains most of its words.
    fn told_in(&self, text: &str) -> Option<Whose> {
        let all: f64 = self.words.iter().map(|(_, weight)| weight).sum();
        let share = |words: &[Word]| {
            let told = self.words.iter().filter(|(word, _)| words.contains(word));
            told.map(|(_, weight)| weight).sum::<f64>() / all
        };
        let may_tell = |text: &str| {
            let words = query_words(text);
            share(&words) >= LEAST_SHARE || self.values.iter().any(|value| words.contains(value))
        };
        let told = statements::told(text, &may_tell);
        let told = told.iter().filter_map(|statement| {
            let share = share(&query_words(statement.stated()));
            Some((share, self.whose_it_tells(statement, share >= LEAST_SHARE)?))
        });
        told.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, whose)| whose)
    }

    /// Returns whose the thing is, if a statement tells what became of it. `has_most`: the statement has most of its words.
    fn whose_it_tells(&self, statement: &Statement<'_>, has_most: bool) -> Option<Whose> {
        let words: Vec<Option<Word>> = statement.tokens.iter().map(word_of).collect();
        let is_one_of = |at: usize, of: &[Word]| words[at].is_some_and(|word| of.contains(&word));
        let changes = StatedChanges::of(statement);
        let is_over = || changes.is_over(&|at| is_one_of(at, &self.values));
        let names = &self.asked.names;
        let is_named = names.is_empty() || (0..words.len()).any(|at| is_one_of(at, names));
        if changes.is_not_so()
            || !(is_over() || (has_most && is_named && self.is_renewed(statement, &changes, &words)))
        {
            return None;
        }
        let whose = whose(statement, &|word| query_words(word).into_iter().any(|word| self.has(word)));
        (!self.asked.is_own || whose != Whose::Others).then_some(whose)
    }

    /// Whether a statement about the thing says more than its name: that it changed, a value of the same kind, or the same
    /// in other words. A mere mention is no news.
    fn is_renewed(
        &self,
        statement: &Statement<'_>,
        changes: &StatedChanges<'_, '_>,
        words: &[Option<Word>],
    ) -> bool {
        let has = |at: usize| words[at].is_some_and(|word| self.has(word));
        let is_asked = |at: usize| words[at].is_some_and(|word| self.asked.words.contains(&word));
        if changes.is_changed(&has, self.asked.is_of_place) {
            return true;
        }
        let asked = self.asked.words.iter().filter(|word| words.contains(&Some(**word))).count();
        if changes.is_news() && (asked > 1 || asked == self.asked.words.len()) {
            return true;
        }
        // Adjacent words name one thing: `spare key`.
        let known: Vec<usize> = (0..words.len()).filter(|&at| has(at) || is_asked(at)).collect();
        let runs = known.iter().filter(|at| **at == 0 || !known.contains(&(**at - 1))).count();
        match self.kind {
            ValueKind::Words => {
                let goes_on_alike = |&at: &usize| {
                    words[at]
                        .zip(changes::goes_on(statement, at))
                        .is_some_and(|on| self.goes_on.contains(&on))
                };
                (runs > 1 && asked > 0) || known.iter().any(goes_on_alike)
            }
            kind => changes::kind(statement) == kind || runs > 2,
        }
    }
}

/// Where words occur. Each is looked up once, because the things of one question share most of their words.
struct Standings<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    scope: &'a Scope,
    index: &'a UserIndex,
    known: HashMap<Word, WeightedWord>,
}

impl<'a> Standings<'a, '_> {
    fn of(&mut self, word: Word) -> Result<&WeightedWord> {
        Ok(match self.known.entry(word) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let look_up = |postings: &Postings<'_>| lexical::standing(postings, self.index, word);
                unknown.insert(self.snapshot.postings(self.scope, look_up)?)
            }
        })
    }

    /// Returns the thing with the weight of each of its words, and the later units that have most of it or its old value.
    fn said_later<'q>(
        &mut self,
        earlier: &UnitFacts,
        told: AskedStatement,
        asked: &'q QuestionMatcher<'q>,
    ) -> Result<(Thing<'q>, Vec<&'a UnitFacts>)> {
        let index = self.index;
        let mut thing =
            Thing { asked, words: Vec::new(), values: Vec::new(), kind: told.kind, goes_on: told.goes_on };
        let (mut shares, mut total) = (vec![0.0_f32; index.units.len()], 0.0_f32);
        let mut of_values: Vec<u32> = Vec::new();
        for word in told.words.into_iter().take(MAX_QUERY_WORDS) {
            if asked.names.contains(&word) {
                continue;
            }
            let WeightedWord { rarity, units } = self.of(word)?;
            let is_asked = asked.query.words.contains(&word);
            let weight = if is_asked { ASKED } else { 1.0 } * rarity;
            if !is_asked && units.len() <= VALUE_IN {
                thing.values.push(word);
                of_values.extend(units.iter().map(|(seq, _)| *seq));
            }
            thing.words.push((word, weight));
            total += narrow(weight);
            for &(seq, share) in units {
                shares[seq as usize - 1] += narrow(weight) * share;
            }
        }
        let is_later = |unit: &UnitFacts| {
            (unit.said_at_ms, unit.seq) > (earlier.said_at_ms, earlier.seq) && unit.owner() != Owner::Memory
        };
        let has_most =
            |(share, unit): &(&f32, &UnitFacts)| f64::from(**share / total) >= LEAST_SHARE && is_later(unit);
        let mut said: Vec<(&f32, &UnitFacts)> = shares.iter().zip(&index.units).filter(has_most).collect();
        said.sort_by(|a, b| {
            b.0.total_cmp(a.0).then((b.1.said_at_ms, b.1.seq).cmp(&(a.1.said_at_ms, a.1.seq)))
        });
        let mut said: Vec<&UnitFacts> = said.into_iter().take(MOST_READ).map(|(_, facts)| facts).collect();
        of_values.sort_unstable_by(|a, b| b.cmp(a));
        of_values.dedup();
        let is_new = |facts: &&UnitFacts| is_later(facts) && said.iter().all(|known| known.seq != facts.seq);
        let of_values = of_values.into_iter().filter_map(|seq| index.unit(seq)).filter(is_new);
        let of_values: Vec<&UnitFacts> = of_values.take(MOST_OF_VALUE).collect();
        said.extend(of_values);
        Ok((thing, said))
    }
}
