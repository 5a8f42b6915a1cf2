//! Walks through a statement clause by clause: decides whom each clause is about, and which forms it begins with.

use crate::{
    english::{
        claims::{
            claim::{Claim, quote},
            forms::{ClaimForm, FORMS},
            people, values,
            words::{DEMONYMS, ReadToken, StatementWords},
        },
        lists::{List, list},
        statements::{Statement, StatementToken},
    },
    model::anchor::{
        Attribute::{
            self, Age, Birthday, Diet, Employer, Family, Field, Home, Hometown, Job, Name, Pets, Pronouns,
        },
        Stance::{self, Ends, Holds},
    },
};

static GREETINGS: List = list!("greeting_someone");
static HEDGES: List = list!("hedges");
static OPENERS: List = list!("openers");
static OVER: List = list!("over");
static UNSURE: List = list!("unsure");

/// What is known from the previous statement.
pub(super) struct Before {
    /// Whether there is no previous statement.
    pub(super) is_first: bool,
    pub(super) greets: bool,
    pub(super) is_mine: bool,
    /// A name that counts if more of an introduction follows: `I'm Anna.`
    pub(super) name: Option<Claim>,
}

/// Whom the next clause is about if it has no subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// Nothing has been said yet.
    Open,
    /// About me, and what I am: `a nurse` may follow.
    Am,
    /// About me, and what I do: `live in Rome` may follow.
    Do,
    Other,
}

pub(super) struct Walk<'s, 'a> {
    words: StatementWords<'s, 'a>,
    before: &'s Before,
    subject: Subject,
    found: Vec<Claim>,
    name: Option<Claim>,
    /// Whether clauses without a subject claimed something (`has_fragments`), and whether clauses that claim nothing are
    /// among them (`has_gap`).
    has_fragments: bool,
    has_gap: bool,
    /// Whether a colon precedes the clauses: `About me:`.
    is_introduced: bool,
}

impl<'s, 'a> Walk<'s, 'a> {
    pub(super) fn new(statement: &'s Statement<'a>, before: &'s Before) -> Self {
        Self {
            words: StatementWords { statement },
            before,
            subject: if statement.starts_sentence { Subject::Open } else { Subject::Other },
            found: Vec::new(),
            name: None,
            has_fragments: false,
            has_gap: false,
            is_introduced: false,
        }
    }

    /// Returns the claims of the statement, and a name that only the following text can confirm.
    pub(super) fn claims(mut self) -> (Vec<Claim>, Option<Claim>) {
        self.people();
        self.clauses();
        // `28, vegan, living in Oslo` is an introduction, `Senior nurse, 45, dies` a headline.
        let is_list =
            self.found.len() > 1 && self.found.iter().any(|claim| [Age, Diet].contains(&claim.attribute));
        let goes_on = self.before.is_mine
            && self.words.is(self.clause_start(0), "based living born been moved allergic vegan vegetarian");
        let only_ends = self.found.iter().all(|claim| claim.stance == Ends);
        if self.has_fragments && !only_ends && (self.has_gap || !is_list && !goes_on) {
            return (Vec::new(), None);
        }
        if !self.found.is_empty() {
            self.found.splice(0..0, self.name.take());
        }
        (self.found, self.name)
    }

    /// Finds named family and animals, anywhere in the statement: `I live with my wife Anna`.
    fn people(&mut self) {
        for at in 0..self.words.statement.tokens.len() {
            let is_gone = at > 0 && self.words.is(at - 1, "lost buried divorced rehomed");
            if self.words.is(at, "my our") && !is_gone {
                self.forms(&[], at, |form| matches!(form.attribute, Family | Pets));
            }
        }
    }

    fn clauses(&mut self) {
        let words = self.words;
        let (mut at, mut before_bracket) = (0, None);
        while at < words.statement.tokens.len() {
            let start = self.clause_start(at);
            let goes_on = |at: usize| !words.ends_or_is(at, "and but or") && !self.is_joined(at);
            let end = words.skip_while(start, goes_on);
            at = if start < end { self.clause(start, end).max(end) } else { end };
            // Text in brackets does not change anything for what follows them.
            match words.lower(at) {
                "(" => before_bracket = Some(self.subject),
                ")" => self.subject = before_bracket.take().unwrap_or(self.subject),
                "or" => self.subject = Subject::Other,
                ":" if self.found.is_empty() && self.subject != Subject::Other => {
                    (self.subject, self.is_introduced) = (Subject::Open, true);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns where a clause begins after words that only lead up to it: `oh, and remember that I ...`.
    fn clause_start(&self, at: usize) -> usize {
        let words = self.words;
        let start = words.skip_while(at, |at| OPENERS.contains(words.lower(at)));
        let preface = words.skip(start, "remember note that it turns out please");
        let start = if words.is_mine(preface) { preface } else { start };
        start + usize::from(self.is_joined(start))
    }

    fn is_joined(&self, at: usize) -> bool {
        self.words.is(at, "so as since because though although while") && self.words.is_mine(at + 1)
    }

    /// Reads one clause, and returns where the part that was read ends.
    fn clause(&mut self, start: usize, end: usize) -> usize {
        let words = self.words;
        let text = words.statement.text;
        let before = words.token(start).map_or("", |first| &text[..first.start]);
        let is_quoted = before.ends_with(['\'', '\u{2018}', '`', '"']);
        let has_subject = words.is_mine(start);
        let is_open = self.subject == Subject::Open && !has_subject;
        let leads: &[&[&str]] = match self.subject {
            _ if is_quoted => &[],
            Subject::Other => &[&[]],
            _ if has_subject => &[&[]],
            _ if words.is(start, "been") => &[&["i", "have"]],
            Subject::Open => &[&[], &["i", "am"]],
            Subject::Do => &[&["i"], &["i", "have"], &[]],
            Subject::Am => &[&["i", "am"], &["i"], &[]],
        };
        let is_cut = end == words.statement.tokens.len() && self.is_cut();
        for lead in leads.iter().filter(|lead| lead.is_empty() || !is_cut) {
            // It is unknown whether the very first word is a name: `Ha.`
            let may = |form: &ClaimForm| form.kind != "bare" || !is_open;
            if let Some((last, read_end)) = self.forms(lead, start, may) {
                let read_end = self.tails(last, start, read_end);
                self.has_fragments |= is_open && !lead.is_empty();
                let is_am = last.pattern.contains("i am") || last.attribute == Name;
                self.subject = match last.attribute {
                    _ if words.any_of(read_end..end, &HEDGES) => Subject::Other,
                    Family | Pets if words.is(start, "my our") => Subject::Other,
                    _ if is_am => Subject::Am,
                    _ => Subject::Do,
                };
                return read_end;
            }
        }
        if words.is(start, "it its that")
            && self.found.last().is_some_and(|claim| claim.attribute == Name && claim.stance == Ends)
            && let Some(read) = values::told(words, words.skip(start + 1, "is 's"))
        {
            // `my name is not Anna, it's Anne`
            self.add(Name, Holds, read.value(), start, read.end);
            return read.end;
        }
        self.unread(start, end, has_subject, is_quoted);
        end
    }

    /// Adds the name of `I'm Anna` after a greeting; otherwise keeps it for the case that more of an introduction follows.
    fn introduce(&mut self, read: &ReadToken, start: usize) {
        let name = self.claim(Name, Holds, read.value(), start, read.end);
        if greets(self.words, start) || start == 0 && self.before.greets {
            self.found.push(name);
        } else {
            self.name = Some(name);
        }
    }

    /// Whether the sentence continues with text that is not stated: `a nurse told me ...`.
    fn is_cut(&self) -> bool {
        let statement = self.words.statement;
        let end = statement.tokens.last().map_or(0, StatementToken::end);
        statement.text[end..].trim_start().starts_with(char::is_alphanumeric)
    }

    /// Decides what a clause without claims means for the next clause.
    fn unread(&mut self, start: usize, end: usize, has_subject: bool, is_quoted: bool) {
        let words = self.words;
        // `Brazilian`, `I'm Ukrainian`
        let is_nation = (has_subject || start + 1 == end) && DEMONYMS.contains(words.lower(end - 1));
        if self.subject == Subject::Am
            && let Some(end) =
                words.known_place(start).filter(|&end| words.is_name(start) && words.is_end(end))
        {
            // `product designer, Lagos`
            self.add(Home, Holds, &words.slice(start, end), start, end);
            return;
        }
        let speaks_of_more =
            words.any_of(start..end, &HEDGES) || (start + 1..end).any(|at| words.is(at, "my our"));
        self.has_gap |= self.has_fragments && !has_subject && !is_nation && !self.is_introduced;
        self.subject = match self.subject {
            _ if is_nation => Subject::Am,
            _ if is_quoted || speaks_of_more => Subject::Other,
            _ if words.is(start, "i we") => Subject::Do,
            Subject::Am if (start..end).any(|at| words.is_name(at)) => Subject::Other,
            _ if has_subject => Subject::Other,
            subject => subject,
        };
    }

    /// Reads what continues a claim of what I am: `a nurse` + `at Acme` + `in Rome`.
    fn tails(&mut self, mut last: ClaimForm, start: usize, mut end: usize) -> usize {
        let words = self.words;
        while matches!(last.attribute, Name | Job | Age | Hometown | Birthday | Field | Employer)
            && self.found.last().is_none_or(|claim| claim.stance == Holds)
        {
            let may_follow = |form: &ClaimForm| match form.attribute {
                Hometown if form.pattern.ends_with(" in") => last.attribute == Birthday,
                Home if form.pattern.ends_with(" in") => {
                    last.attribute == Job || last.pattern.starts_with('+')
                }
                Hometown => last.attribute != Employer,
                Employer => matches!(last.attribute, Job | Field),
                Job => last.attribute == Employer,
                Field => last.attribute == Job,
                _ => true,
            };
            let at = words.skip(end, "out over up down here originally currently");
            let job = self.found.last().map_or("", |claim| &claim.value);
            let studies = last.attribute == Field || job.contains("student") || job.contains("retired");
            let Some((next, read_end)) = self.forms(&["+"], at, may_follow) else { break };
            if studies && next.attribute == Employer {
                // A place of study is not an employer.
                self.found.pop();
            }
            (last, end) = (next, read_end);
        }
        if last.attribute == Name
            && words.is(end, "(")
            && let Some(read) = values::pronouns(words, end + 1)
        {
            self.add(Pronouns, Holds, read.value(), start, read.end);
            return read.end;
        }
        end
    }

    /// Tries the forms on the words from `start`, preceded by `lead`; returns the last that claims something, and where it
    /// ends.
    fn forms(
        &mut self,
        lead: &[&'static str],
        start: usize,
        may: impl Fn(&ClaimForm) -> bool,
    ) -> Option<(ClaimForm, usize)> {
        /// The longest form.
        const LONGEST: usize = 16;
        let words = self.words;
        let (forms, cues) = &*FORMS;
        let tokens = &words.statement.tokens;
        let restored = lead.iter().map(|word| StatementToken {
            lower: (*word).to_owned(),
            text: "",
            start: 0,
            is_passed_over: false,
        });
        let restored: Vec<StatementToken<'_>> =
            restored.chain(tokens.iter().skip(start).take(LONGEST).cloned()).collect();
        let mut last: Option<(ClaimForm, usize)> = None;
        for found in cues.starting(&restored) {
            let form = forms[found.pattern];
            let at = words.skip_adverbs((start + found.end).saturating_sub(lead.len()));
            if !may(&form) || at < start || words.any_of(start..at, &UNSURE) {
                continue;
            }
            let Some(read) = (form.read)(words, at).filter(|read| self.fits(&form, start, read)) else {
                continue;
            };
            self.state(&form, start, &read);
            if last.is_none_or(|(_, end)| end <= read.end) {
                last = Some((form, read.end));
            }
        }
        last
    }

    /// Whether the words around a claim allow it.
    fn fits(&self, form: &ClaimForm, start: usize, read: &ReadToken) -> bool {
        let words = self.words;
        let rest = read.end..words.statement.tokens.len();
        let lasts = match form.manner {
            "since" => rest.into_iter().any(|at| words.is(at, "since for now all always")),
            // `As a nurse, I want to see the reports` is a user story.
            "mine" => {
                let is_story = words.is(read.end + 2, "want need can should would expect will");
                words.is(read.end, ",") && words.is_mine(read.end + 1) && !is_story
            }
            "until" => !words.any_of(rest, &OVER),
            _ => true,
        };
        let is_any_more = words.is(read.end, "anymore any")
            || words.is(read.end, "after at") && words.is(read.end + 1, "all");
        let is_denied = is_any_more && form.stance() == Holds && form.kind != "foods";
        let is_answer = match form.pattern {
            "not" => start > 0 && words.is(0, "no"),
            _ => form.kind != "spelling" || self.before.is_first,
        };
        lasts && !is_denied && is_answer && !words.is(read.end, "?")
    }

    fn state(&mut self, form: &ClaimForm, start: usize, read: &ReadToken) {
        let words = self.words;
        if form.kind == "bare" {
            self.introduce(read, start);
            return;
        }
        let is_gone = matches!(form.attribute, Family | Pets) && people::is_gone(words, read.end);
        let stance = if is_gone { Ends } else { form.stance() };
        for value in &read.values {
            self.add(form.attribute, stance, value, start, read.end);
        }
        // `I live in Hamburg, not Berlin`
        let says_not = words.is(read.end, ",") && words.is(read.end + 1, "not") && stance == Holds;
        if says_not && matches!(form.attribute, Name | Home | Hometown | Employer | Age | Diet) {
            let read_denied = if form.kind == "spelling" { values::told } else { form.read };
            if let Some(denied) = read_denied(words, words.skip(read.end + 2, "in at from")) {
                self.add(form.attribute, Ends, denied.value(), start, denied.end);
            }
        }
    }

    fn add(&mut self, attribute: Attribute, stance: Stance, value: &str, start: usize, end: usize) {
        let claim = self.claim(attribute, stance, value, start, end);
        if !self.found.contains(&claim) {
            self.found.push(claim);
        }
    }

    fn claim(&self, attribute: Attribute, stance: Stance, value: &str, start: usize, end: usize) -> Claim {
        Claim { attribute, value: value.to_owned(), stance, quote: quote(self.words.statement, start, end) }
    }
}

/// Whether only a greeting precedes `end`.
pub(super) fn greets(words: StatementWords<'_, '_>, end: usize) -> bool {
    const MOST: usize = 5;
    end <= MOST && words.any_of(0..end.min(2), &GREETINGS)
}
