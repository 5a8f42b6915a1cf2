//! A walk through a statement, clause by clause: whom each speaks of, and which forms it begins with.

use std::{mem, sync::LazyLock};

use crate::{
    english::{
        claims::{
            claim::{Claim, quote},
            forms::{FORMS, Form, Value},
            people, values,
            words::{Read, Words},
        },
        classes::CLASSES,
        cues::Cues,
        statements::{Statement, Token},
    },
    model::anchor::{
        Attribute::{self, Age, Birthday, Employer, Family, Field, Home, Hometown, Job, Name, Pets},
        Stance,
    },
};

static CUES: LazyLock<Cues> = LazyLock::new(|| Cues::new(FORMS.iter().map(|form| form.pattern), CLASSES));

/// What the statement before leaves behind.
pub(super) struct Before {
    pub(super) greets: bool,
    pub(super) is_mine: bool,
    /// `I'm Anna.`: a name if more of an introduction follows.
    pub(super) name: Option<Claim>,
}

/// Of whom the next clause speaks if it has no subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// Nothing was said yet.
    Open,
    /// Of me, and what I am: `a nurse` may follow.
    Am,
    /// Of me, and what I do: `live in Rome` may follow.
    Do,
    Other,
}

pub(super) struct Walk<'s, 'a> {
    words: Words<'s, 'a>,
    before: &'s Before,
    speaks_of_others: bool,
    subject: Subject,
    found: Vec<Claim>,
    name: Option<Claim>,
    /// How many clauses without any subject said something, and whether others stood among them.
    fragments: usize,
    has_gap: bool,
    /// A colon stands before them: `About me:`.
    is_introduced: bool,
}

/// Words behind which a verb without a subject is not what I do: `I want to quit and live in Rome`.
const HEDGES: &str = "would could can will should might may must want wants to not never let used if who that which whose when \
    where he she they you it him her his their there is was are were has had does did 's no nor without pretend imagine dream";
/// What only leads up to what is said of oneself.
const PREFACES: &str = "remember note keep bear in mind that it turns out please you should know";
const UNSURE: &str =
    "probably usually often mostly ever almost sometimes sort kinda maybe perhaps possibly half";

impl<'s, 'a> Walk<'s, 'a> {
    pub(super) fn new(statement: &'s Statement<'a>, before: &'s Before, speaks_of_others: bool) -> Self {
        let subject = if statement.starts_sentence { Subject::Open } else { Subject::Other };
        Self {
            words: Words { statement },
            before,
            speaks_of_others,
            subject,
            found: Vec::new(),
            name: None,
            fragments: 0,
            has_gap: false,
            is_introduced: false,
        }
    }

    /// Family and animals by name, wherever they stand: `I live with my wife Anna`.
    pub(super) fn people(&mut self) {
        for at in 0..self.words.statement.tokens.len() {
            let is_gone = at > 0 && self.words.is(at - 1, "lost buried divorced rehomed");
            if self.words.is(at, "my our") && !is_gone {
                if let Some(read) = people::named_before(self.words, at) {
                    self.add(Family, Stance::Holds, read.value(), at - 2, read.end);
                }
                self.forms(&[], at, |form| matches!(form.attribute, Family | Pets));
            }
        }
    }

    pub(super) fn clauses(&mut self) {
        let words = self.words;
        let (mut at, mut before_bracket) = (0, None);
        while at < words.statement.tokens.len() {
            let start = self.clause_start(at);
            let end = self.clause_end(start);
            if start < end {
                at = self.clause(start, end).max(end);
            } else {
                at = end;
            }
            // What stands in brackets changes nothing for what goes on behind them.
            match words.lower(at) {
                "(" => before_bracket = Some(mem::replace(&mut self.subject, Subject::Other)),
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

    fn clause_start(&self, at: usize) -> usize {
        let words = self.words;
        let start = words.skip_openers(at);
        // `remember that I'm allergic`, `it turns out I'm ...`
        let preface = Some(words.skip(start, PREFACES)).filter(|&at| words.is(at, "i my we our"));
        let start = preface.unwrap_or(start);
        let is_joined =
            words.is(start, "as since because though although while") && words.is(start + 1, "i we my our");
        start + usize::from(is_joined)
    }

    fn clause_end(&self, start: usize) -> usize {
        let words = self.words;
        let joins = |at: usize| {
            words.is(at, "and but or")
                || words.is(at, "so because since as though although while")
                    && words.is(at + 1, "i we my our")
        };
        (start..words.statement.tokens.len())
            .find(|&at| words.is_end(at) || joins(at))
            .unwrap_or(words.statement.tokens.len())
    }

    /// Reads one clause; where what was read ends.
    fn clause(&mut self, start: usize, end: usize) -> usize {
        let words = self.words;
        let text = words.statement.text;
        let is_quoted = words
            .token(start)
            .is_some_and(|first| text[..first.start].ends_with(['\'', '\u{2018}', '`', '"']));
        let has_subject = words.is(start, "i we my our");
        let leads: &[&[&str]] = match self.subject {
            _ if is_quoted => &[],
            _ if has_subject => &[&[]],
            Subject::Other => &[&[]],
            _ if words.lower(start) == "been" => &[&["i", "have"]],
            Subject::Do => &[&["i"], &["i", "have"], &[]],
            Subject::Am => &[&["i", "am"], &["i"], &[]],
            Subject::Open => &[&[], &["i", "am"], &["i"]],
        };
        if self.subject == Subject::Open
            && let Some(read) = self.here(start)
        {
            return read;
        }
        let is_open = self.subject == Subject::Open && !has_subject;
        for lead in leads {
            if is_open && *lead == ["i"] && !words.is(start, "moved") {
                continue;
            }
            // Of the first word of all nobody knows whether it is a name: `Ha.`
            let is_first = is_open && !self.is_introduced;
            let may = |form: &Form| form.value != Value::Bare || !is_first;
            if !lead.is_empty() && end == words.statement.tokens.len() && self.is_cut() {
                continue;
            }
            if let Some((last, read_end)) = self.forms(lead, start, may) {
                let read_end = self.tails(last, start, read_end);
                self.fragments += usize::from(is_open && !lead.is_empty());
                let goes_on_of_me = !(read_end..end).any(|at| words.is(at, HEDGES));
                let is_am =
                    last.pattern.contains("i am") || last.pattern.starts_with('+') || last.attribute == Name;
                self.subject = match last.attribute {
                    _ if !goes_on_of_me => Subject::Other,
                    Family | Pets if words.is(start, "my our") => Subject::Other,
                    Employer => Subject::Do,
                    _ if is_am => Subject::Am,
                    _ => Subject::Do,
                };
                return read_end;
            }
        }
        if words.is(start, "it its that")
            && self.found.last().is_some_and(|claim| claim.attribute == Name && claim.stance == Stance::Ends)
        {
            // `my name is not Anna, it's Anne`
            let at = start + 1 + usize::from(words.is(start + 1, "is 's"));
            if let Some(read) = values::read(Value::Told, words, at) {
                self.add(Name, Stance::Holds, read.value(), start, read.end);
                return read.end;
            }
        }
        self.unread(start, end, has_subject, is_quoted);
        end
    }

    /// `Ana here`, `nurse here`: who speaks says so first.
    fn here(&mut self, start: usize) -> Option<usize> {
        let words = self.words;
        let ends =
            |at: usize| words.lower(at) == "here" && words.is_end(at + 1) && words.lower(at + 1) != "?";
        if let Some(read) = values::read(Value::Job, words, start).filter(|read| ends(read.end)) {
            self.add(Job, Stance::Holds, read.value(), start, read.end);
            self.subject = Subject::Am;
            return Some(read.end + 1);
        }
        let end = words.person(start, 2).filter(|&end| ends(end))?;
        self.introduce(&words.read(start, end), start);
        self.subject = Subject::Am;
        Some(end + 1)
    }

    /// `I'm Anna`: a name behind a greeting, or if more of an introduction follows.
    fn introduce(&mut self, read: &Read, start: usize) {
        let greets = if start == 0 { self.before.greets } else { greets(self.words.statement, start) };
        if greets {
            self.add(Name, Stance::Holds, read.value(), start, read.end);
        } else {
            self.name = Some(self.claim(Name, Stance::Holds, read.value(), start, read.end));
        }
    }

    /// Whether more of the sentence follows that is no statement: `a nurse told me ...`.
    fn is_cut(&self) -> bool {
        let statement = self.words.statement;
        let end = statement.tokens.last().map_or(0, Token::end);
        statement.text[end..].trim_start().starts_with(char::is_alphanumeric)
    }

    /// What a clause that claims nothing means for the next.
    fn unread(&mut self, start: usize, end: usize, has_subject: bool, is_quoted: bool) {
        let words = self.words;
        let speaks_of_more =
            (start..end).any(|at| words.is(at, HEDGES) || words.is(at, "my our") && at > start);
        let is_nation =
            values::is_demonym(words, start) || words.is(start, "i") && values::is_demonym(words, end - 1);
        if self.subject == Subject::Am
            && !has_subject
            && let Some(place) = values::bare_place(words, start)
        {
            self.add(Home, Stance::Holds, place.value(), start, place.end);
            return;
        }
        self.has_gap |= self.fragments > 0 && !has_subject && !is_nation && !self.is_introduced;
        self.subject = match self.subject {
            _ if is_quoted => Subject::Other,
            _ if is_nation => Subject::Am,
            _ if words.is(start, "i we")
                && words.is(start + 1, "am are")
                && words.is(start + 2, "a an")
                && !speaks_of_more =>
            {
                Subject::Am
            }
            _ if words.is(start, "i we") && !speaks_of_more => Subject::Do,
            _ if has_subject || speaks_of_more => Subject::Other,
            Subject::Am if (start..end).any(|at| words.is_name(at)) => Subject::Other,
            subject => subject,
        };
    }

    /// What goes on behind a claim of what I am: `a nurse` + `at Acme` + `in Rome`.
    fn tails(&mut self, mut last: Form, start: usize, mut end: usize) -> usize {
        let words = self.words;
        while matches!(last.attribute, Name | Job | Age | Hometown | Birthday | Field)
            || last.attribute == Employer
        {
            let at = words.skip(end, "out over up down here originally currently");
            let job = self.found.last().map_or("", |claim| &claim.value).to_lowercase();
            let studies = match last.attribute {
                Job => ["student", "graduate", "retired", "grad", "freelancer"]
                    .iter()
                    .any(|word| job.contains(word)),
                _ => !last.pattern.starts_with("i work"),
            };
            let may_follow = |form: &Form| match (form.attribute, form.pattern) {
                (Hometown, "+ born? in") => last.attribute == Birthday,
                (Home, "+ in" | "+ on") => last.attribute == Job || last.pattern.starts_with("+ "),
                (Hometown, _) => last.attribute != Employer,
                (Job, _) => last.attribute == Employer,
                (Employer, _) => matches!(last.attribute, Job | Field),
                (Field, _) => last.attribute == Job,
                _ => true,
            };
            let is_ended = self.found.last().is_some_and(|claim| claim.stance == Stance::Ends);
            let Some((next, read_end)) =
                (!is_ended && at > start).then(|| self.forms(&["+"], at, may_follow)).flatten()
            else {
                break;
            };
            if studies && next.attribute == Employer {
                // Where one studies is no employer.
                self.found.pop();
            }
            (last, end) = (next, read_end);
        }
        if last.attribute == Name
            && words.lower(end) == "("
            && let Some(read) = values::pronouns(words, end + 1)
        {
            self.add(Attribute::Pronouns, Stance::Holds, read.value(), start, read.end);
            return read.end;
        }
        end
    }

    /// Tries the forms on the words from `start`, behind `lead`; the last that says something, and where it ends.
    fn forms(
        &mut self,
        lead: &[&'static str],
        start: usize,
        may: impl Fn(&Form) -> bool,
    ) -> Option<(Form, usize)> {
        /// No form is longer.
        const LONGEST: usize = 16;
        let words = self.words;
        let tokens = &words.statement.tokens;
        let first = tokens.get(start)?;
        let matched = if lead.is_empty() {
            CUES.starting(&tokens[start..])
        } else {
            let restored = lead.iter().map(|word| Token {
                lower: (*word).to_owned(),
                text: "",
                start: first.start,
                is_passed_over: false,
            });
            let restored: Vec<Token<'_>> =
                restored.chain(tokens[start..].iter().take(LONGEST).cloned()).collect();
            CUES.starting(&restored)
        };
        let mut last: Option<(Form, usize)> = None;
        for found in matched {
            let form = FORMS[found.pattern];
            let at = (start + found.end).saturating_sub(lead.len());
            let at = words.skip_adverbs(at);
            if !may(&form) || at < start || (start..at).any(|at| words.is(at, UNSURE)) {
                continue;
            }
            let Some(read) =
                values::read(form.value, words, at).filter(|read| self.fits(form, (start, at), read))
            else {
                continue;
            };
            self.state(form, start, at, &read);
            if last.is_none_or(|(_, end)| end <= read.end) {
                last = Some((form, read.end));
            }
        }
        last
    }

    /// Whether a claim stands in words that make it one.
    fn fits(&self, form: Form, (start, at): (usize, usize), read: &Read) -> bool {
        let words = self.words;
        let is_any_more = words.is(read.end, "anymore")
            || words.is(read.end, "any") && words.is(read.end + 1, "more longer")
            || words.is(read.end, "after at") && words.lower(read.end + 1) == "all";
        let denies_being =
            form.pattern.contains("no|not longer?") && !(start..at).any(|at| words.lower(at) == "longer");
        let needs_any_more = form.stance == Stance::Ends && denies_being;
        let is_denied =
            words.is(read.end, "any anymore") && form.stance == Stance::Holds && form.value != Value::Food;
        let is_spelled = form.value != Value::Spelling || !self.speaks_of_others;
        let is_refusal = form.pattern != "not" || start > 0 && words.lower(0) == "no";
        let is_asked = words.lower(read.end) == "?";
        (is_any_more || !needs_any_more) && !is_denied && is_spelled && is_refusal && !is_asked
    }

    fn state(&mut self, form: Form, start: usize, at: usize, read: &Read) {
        let words = self.words;
        let is_gone = matches!(form.attribute, Family | Pets) && people::is_gone(words, read.end);
        let stance = if is_gone { Stance::Ends } else { form.stance };
        if form.value == Value::FromTo {
            self.add(Home, Stance::Ends, &read.values[0], start, read.end);
            self.add(Home, Stance::Holds, &read.values[1], start, read.end);
            return;
        }
        if form.value == Value::Bare {
            self.introduce(read, start);
            return;
        }
        for value in &read.values {
            self.add(form.attribute, stance, value, start, read.end);
        }
        // `I live in Hamburg, not Berlin`
        let denied = read.end + 2 + usize::from(words.is(read.end + 2, "in at from"));
        let says_not = words.lower(read.end) == "," && words.lower(read.end + 1) == "not" && at < denied;
        if says_not
            && stance == Stance::Holds
            && matches!(form.attribute, Name | Home | Hometown | Employer | Age | Attribute::Diet)
        {
            let kind = if form.value == Value::Spelling { Value::Told } else { form.value };
            if let Some(denied) = values::read(kind, words, denied) {
                self.add(form.attribute, Stance::Ends, denied.value(), start, denied.end);
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

    /// The claims of the statement, and a name that only what follows can prove.
    pub(super) fn finish(mut self) -> (Vec<Claim>, Option<Claim>) {
        let words = self.words;
        if self.fragments > 0 {
            let has = |attributes: &[Attribute]| {
                self.found.iter().any(|claim| attributes.contains(&claim.attribute))
            };
            let is_list = self.found.len() > 1 && has(&[Age, Attribute::Diet]) && !self.has_gap;
            let first = words.skip_openers(0);
            let goes_on = self.before.is_mine
                && words.is(first, "based living born been moved allergic vegan vegetarian raised")
                && !self.has_gap;
            let only_ends = self.found.iter().all(|claim| claim.stance == Stance::Ends);
            if !is_list && !goes_on && !only_ends {
                return (Vec::new(), None);
            }
        }
        if self.name.is_some() && !self.found.is_empty() {
            self.found.splice(0..0, self.name.take());
        }
        (self.found, self.name)
    }
}

/// Whether a greeting is all that stands before `end`.
pub(super) fn greets(statement: &Statement<'_>, end: usize) -> bool {
    const MOST: usize = 5;
    const GREETINGS: &str = "hi hello hey hiya howdy greetings aloha morning evening afternoon welcome hola";
    let words = Words { statement };
    end <= MOST && (0..end.min(2)).any(|at| words.is(at, GREETINGS))
}
