//! Listens to a session, turn by turn. Only what users say themselves leads to a finding: even steps of a reply need a
//! user who says that they worked. Words that a tool or a document said before remain theirs, whoever repeats them.

use std::{
    cell::LazyCell,
    collections::VecDeque,
    ops::{Range, RangeInclusive},
};

use crate::{
    compress::anchors,
    english::{
        cues,
        lessons::{Lesson, lessons, tells, told_until},
        sentences::sentences,
        statements::{Statement, statements},
    },
    memory::{
        copies::ForeignWords,
        extract::{
            Finding, Learned, Proof,
            echo::stems,
            steps::{Steps, steps},
        },
    },
    model::{
        memory::words::{MemoryKind, Outcome},
        turn::{Origin, Side, Turn},
    },
    text::words,
};

/// The length of a sentence, in bytes: a shorter one says too little; a longer one says too much to be found by it.
const BYTES: RangeInclusive<usize> = 20..=400;
/// The minimum number of content words next to the words that say something was chosen or fixed.
const LEAST_WORDS: usize = 3;
/// How many turns before its fix a problem may be mentioned.
const TURNS_BACK: u32 = 24;
/// Within this many turns, a problem need not share a word with its fix.
const NEAR: u32 = 2;
/// The maximum number of findings that are remembered of a long session.
const MOST_FOUND: usize = 64;

/// What has been heard of a session so far.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    foreign: ForeignWords,
    problems: VecDeque<UserSentence>,
    offered: Option<Offered>,
    found: VecDeque<Finding>,
}

/// A sentence of a user, and its place.
#[derive(Debug)]
struct UserSentence {
    turn_number: u32,
    /// The proof, whose quote is the sentence.
    proof: Proof,
}

/// Steps of a reply, and the question they answer.
#[derive(Debug)]
struct Offered {
    turn_number: u32,
    steps: Steps,
    asked: Option<String>,
    proof: Proof,
}

impl Hearing {
    /// Hears a turn; a session's turns must come in order.
    pub(crate) fn hear(&mut self, turn: &Turn) {
        self.foreign.hear(turn.said.voice(Side::User), &turn.said.user_message);
        if turn.said.user_origin == Origin::User {
            self.hear_user(turn);
        }
        // The reply was said after the message, so it counts only for what follows.
        self.foreign.hear(turn.said.voice(Side::Reply), &turn.said.ai_response);
        self.offered = self.offer(turn);
    }

    /// Returns the origin of a text of this session, if a tool or a document said it.
    pub(crate) fn whose(&self, text: &str) -> Option<Origin> {
        self.foreign.whose(text)
    }

    /// Returns everything found in the session, in order.
    pub(crate) fn found(self) -> Vec<Finding> {
        self.found.into()
    }

    fn hear_user(&mut self, turn: &Turn) {
        let message = &turn.said.user_message;
        let heard = statements(message);
        let known = LazyCell::new(|| {
            let anchors = anchors::find(&turn.said, &heard).into_iter();
            let values = anchors.map(|anchor| words::fold(&anchor.value));
            values.filter(|value| !value.is_empty()).collect::<Vec<String>>()
        });
        for statement in &heard {
            let told = lessons(statement);
            let said = |cue: Option<cues::CueMatch>| {
                let until = cue.map_or(statement.tokens.len(), |cue| told_until(statement, cue));
                UserStatement { turn, statement, until }
            };
            let is_known = || {
                let folded = words::fold(statement.text);
                known.iter().any(|value| folded.contains(value))
            };
            if let Some(cue) = tells(Lesson::Fix, &told) {
                let said = said(None);
                if said.is_worth(0..cue.start) || said.is_worth(cue.end..statement.tokens.len()) {
                    self.mend(&said);
                }
            } else if let Some(cue) = tells(Lesson::Decision, &told) {
                let said = said(Some(cue));
                if said.is_worth(cue.end..said.until) && !is_known() {
                    self.decide(&said, cue);
                }
            } else if let Some(cue) = tells(Lesson::Problem, &told) {
                let said = said(Some(cue));
                if said.is_sentence() {
                    let proof = self.proof(turn, said.sentence(), Origin::User);
                    self.problems.push_back(UserSentence { turn_number: turn.turn_number, proof });
                }
            }
            if tells(Lesson::Worked, &told).is_some() {
                self.work(turn, statement);
            }
        }
        self.problems.retain(|told| turn.turn_number - told.turn_number <= TURNS_BACK);
    }

    /// Adds a decision. Its title is the clause that says what was chosen.
    fn decide(&mut self, said: &UserStatement<'_>, cue: cues::CueMatch) {
        let sentence = said.sentence();
        let proof = self.proof(said.turn, sentence, Origin::User);
        let learned = Learned::headed(MemoryKind::Decision, said.from(cue.start), sentence, vec![proof]);
        self.keep(Finding { learned: learned.ended(Outcome::Decision), solves: None });
    }

    /// Adds a fix. Its problem is the nearest earlier one that shares a word with it, or is at most [`NEAR`] turns back.
    fn mend(&mut self, said: &UserStatement<'_>) {
        let (sentence, now) = (said.sentence(), said.turn.turn_number);
        let own = stems(sentence);
        let shares = |told: &&UserSentence| {
            now - told.turn_number <= NEAR || stems(&told.proof.quote).intersection(&own).next().is_some()
        };
        let Some(problem) = self.problems.iter().rev().find(shares) else { return };
        let proof = self.proof(said.turn, sentence, Origin::User);
        let fix = Learned::of(MemoryKind::Fix, sentence, vec![proof]);
        let solved = Learned::of(MemoryKind::Problem, &problem.proof.quote, vec![problem.proof.clone()]);
        if fix.is_fleeting() || solved.is_fleeting() {
            return;
        }
        let place = problem.proof.clone();
        self.problems.retain(|told| told.proof != place);
        self.keep(Finding { learned: fix.ended(Outcome::Success), solves: Some(solved) });
    }

    /// Adds a procedure, because the offered steps worked.
    fn work(&mut self, turn: &Turn, statement: &Statement<'_>) {
        let Some(offered) = self.offered.take_if(|offered| offered.turn_number + 1 == turn.turn_number)
        else {
            return;
        };
        let Some(title) = offered.asked.or_else(|| offered.steps.lead.clone()) else { return };
        let lead = offered.steps.lead.unwrap_or_else(|| title.clone());
        let worked = self.proof(turn, statement.stated(), Origin::User);
        let proofs = vec![offered.proof, worked];
        let learned = Learned::titled(MemoryKind::Procedure, &title, &lead, proofs);
        self.keep(Finding {
            learned: learned.in_steps(offered.steps.listed).ended(Outcome::Success),
            solves: None,
        });
    }

    fn offer(&self, turn: &Turn) -> Option<Offered> {
        let reply = &turn.said.ai_response;
        let steps = steps(reply)?;
        let said_by = self.foreign.whose(&steps.text).unwrap_or(turn.said.voice(Side::Reply));
        Some(Offered {
            turn_number: turn.turn_number,
            asked: asked(turn),
            proof: Proof { origin: said_by, ..self.proof(turn, &steps.quote, said_by) },
            steps,
        })
    }

    fn proof(&self, turn: &Turn, quote: &str, said_by: Origin) -> Proof {
        let origin = if said_by == Origin::User { self.foreign.whose(quote) } else { None };
        Proof {
            turn_id: turn.id,
            seq: turn.seq,
            said_at: turn.timestamp,
            origin: origin.unwrap_or(said_by).less_trusted(turn.said.recorded_by),
            quote: quote.to_owned(),
        }
    }

    fn keep(&mut self, found: Finding) {
        if found.learned.is_fleeting() {
            return;
        }
        if self.found.len() == MOST_FOUND {
            self.found.pop_front();
        }
        self.found.push_back(found);
    }
}

/// A statement of a user's side.
struct UserStatement<'s> {
    turn: &'s Turn,
    statement: &'s Statement<'s>,
    /// The position after the last token that counts.
    until: usize,
}

impl UserStatement<'_> {
    /// Returns the statement, exactly as written.
    fn sentence(&self) -> &str {
        self.from(0)
    }

    /// Returns the statement from a token on.
    fn from(&self, first: usize) -> &str {
        let (Some(first), Some(last)) =
            (self.statement.tokens.get(first), self.statement.tokens[..self.until].last())
        else {
            return "";
        };
        self.statement.text[first.start..last.end()].trim_end_matches([' ', ',', ';', ':', '-'])
    }

    fn is_sentence(&self) -> bool {
        let sentence = self.sentence();
        self.statement.starts_sentence && BYTES.contains(&sentence.len()) && !sentence.contains("://")
    }

    /// Whether these tokens say what was chosen, or what fixed the problem.
    fn is_worth(&self, tokens: Range<usize>) -> bool {
        let words: Vec<&str> = self.statement.tokens[tokens].iter().map(|token| token.text).collect();
        self.is_sentence() && stems(&words.join(" ")).len() >= LEAST_WORDS
    }
}

/// Returns the question or request that a reply answers, as a title.
fn asked(turn: &Turn) -> Option<String> {
    if turn.said.user_origin != Origin::User {
        return None;
    }
    let sentences = sentences(&turn.said.user_message);
    let asked =
        sentences.iter().rev().find(|sentence| sentence.text.contains('?')).or_else(|| sentences.first())?;
    let text = asked.text.trim().trim_end_matches('?');
    (BYTES.contains(&text.len())).then(|| text.to_owned())
}
