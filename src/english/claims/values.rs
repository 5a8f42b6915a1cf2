//! Readers of the values of forms: each takes what stands behind the words of a form, or nothing.

use crate::english::{
    claims::{
        forms::Value,
        jobs, people,
        words::{DEMONYMS, PLACES, Read, TOOLS, Words},
    },
    classes::is_of,
    lists::{List, list},
    numbers,
};

static ALLERGENS: List = list!("allergens");
static FIELDS: List = list!("fields");
static WORKPLACES: List = list!("workplaces");

/// What the names of places begin with, and hardly those of firms.
const LIKE_PLACES: &str = "port new east west north south saint st san santa lake mount fort los las el upper lower great little cape";

/// The value that begins at `at`, and the statement's words in front of it.
#[expect(clippy::too_many_lines, reason = "an arm for each kind of value")]
pub(super) fn read(value: Value, words: Words<'_, '_>, at: usize) -> Option<Read> {
    match value {
        Value::Told => {
            let end = words.person(at, 3).or_else(|| words.low_name(at))?;
            (words.lower(end) != "'s").then(|| words.read(at, end))
        }
        Value::Called => {
            let end = words.person(at, 2)?;
            let ends = words.is_end(end)
                || words.is(end, "and but please instead not by in at these now to any anymore from since");
            ends.then(|| words.read(at, end))
        }
        Value::Bare => {
            let end = words.person(at, 2)?;
            let is_place = words.known_place(at).is_some();
            let ends = words.is_end(end) || words.is(end, "and from a an but");
            (ends && !is_place && !TOOLS.contains(words.lower(at))).then(|| words.read(at, end))
        }
        Value::Spelling => spelling(words, at),
        Value::PronounList => pronouns(words, at),
        Value::Day => day(words, at),
        Value::Age => age(words, at),
        Value::YearsOld => {
            let digits = words.lower(at).trim_end_matches("-year-old");
            let is_said = digits.len() < words.lower(at).len()
                || words.is(at + 1, "year yr") && words.lower(at + 2) == "old";
            (is_said && is_age(digits.parse().ok()?))
                .then(|| Read { values: vec![digits.to_owned()], end: at })
        }
        Value::Place => place(words, at),
        Value::KnownPlace => {
            place(words, at).filter(|_| words.known_place(at).is_some() || words.is(at, LIKE_PLACES))
        }
        Value::PastPlace => {
            const OVER: &str =
                "then until before back temporarily when aged while child kid teenager student after but";
            let lasts = |at: usize| {
                words.lower(at) == "for"
                    && (at + 2..at + 4).any(|at| {
                        words.is(
                            at,
                            "year years month months week weeks semester term while bit summer winter",
                        )
                    })
            };
            place(words, at).filter(|place| {
                !words.goes_on_with(place.end, OVER) && !(place.end..place.end + 6).any(lasts)
            })
        }
        Value::PlaceSince => place(words, at).filter(|place| words.goes_on_with(place.end, "since for now")),
        Value::EmployerSince => {
            employer(words, at).filter(|read| words.goes_on_with(read.end, "since for now"))
        }
        Value::FromTo => {
            let from = place(words, at)?;
            let to = place(words, from.end + 1).filter(|_| words.lower(from.end) == "to")?;
            Some(Read { values: vec![from.value().to_owned(), to.value().to_owned()], end: to.end })
        }
        Value::Employer => employer(words, at),
        Value::Joined => employer(words, at)
            .filter(|_| !TOOLS.contains(words.lower(at)) && words.known_place(at).is_none()),
        Value::Job | Value::JobSince | Value::TheJob => jobs::title(value, words, at),
        Value::Retired => {
            let retired = (0..at).rev().find(|&at| words.lower(at) == "retired")?;
            let ends = words.is_end(at)
                || words.is(at, "and so from last in this after at now but since")
                || words.lower(at).starts_with(|c: char| c.is_ascii_digit());
            ends.then(|| Read { values: vec!["retired".to_owned()], end: at.max(retired + 1) })
        }
        Value::Teaches => jobs::taught(words, at),
        Value::Living => {
            let start = (0..at).rev().find(|&at| words.lower(at) == "i")? + 1;
            let says = start < at - 3 && !words.is(start, "do does am not can need want work have would");
            says.then(|| Read { values: vec![words.slice(start, at - 3)], end: at })
        }
        Value::Field => field(words, at),
        Value::Kin | Value::KinLost | Value::Children => people::kin(value, words, at),
        Value::Pet | Value::PetLost => people::pet(words, at),
        Value::Allergens => allergens(words, at),
        Value::Allergy => {
            let end = (at + 1..at + 3).find(|&end| words.is(end, "allergy intolerance"))?;
            ALLERGENS.contains(words.lower(end - 1)).then(|| words.read(at, end + 1))
        }
        Value::Intolerant => {
            let is_coeliac = words.is(at, "coeliac celiac lactose-intolerant gluten-intolerant")
                || words.is(at, "a") && words.is(at + 1, "coeliac celiac");
            let is_disease = words.is(at, "coeliac celiac") && words.lower(at + 1) == "disease";
            if is_coeliac && (words.is_whole(at + 1) || is_disease) {
                return Some(words.read(at, at + 1));
            }
            let is_intolerant = words.lower(at + 1) == "intolerant" && ALLERGENS.contains(words.lower(at));
            is_intolerant.then(|| words.read(at, at + 2))
        }
        Value::Languages => languages(words, at),
        Value::Native => {
            let tongue = words.is(at, "first second third native mother other")
                && words.is(at + 1, "language tongue one");
            tongue.then(|| Read { values: vec![words.slice(at - 3, at - 2)], end: at + 2 })
        }
        Value::Diet => {
            let ends = words.is_end(at + 1) || words.is(at + 1, "and but so because since for now who at these any anymore diet myself again too in after last this");
            (is_of("diet", words.lower(at)) && !words.is(at, "sober") && ends).then(|| words.read(at, at + 1))
        }
        Value::Food => foods(words, at),
    }
}

/// Years that a person who writes may have.
fn is_age(years: u32) -> bool {
    (10..=105).contains(&years)
}

/// `34`, `forty-two`: not `20 minutes`, `100%`, `30 next week`.
fn age(words: Words<'_, '_>, at: usize) -> Option<Read> {
    let token = words.token(at)?;
    let years: u32 =
        token.lower.trim_end_matches("yo").parse().ok().or_else(|| numbers::cardinal(&token.lower))?;
    let text = words.statement.text;
    let stands_alone = text[..token.start].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(')
        && text[token.end()..].chars().next().is_none_or(|c| c.is_whitespace() || ",.;!?)".contains(c));
    let behind = words.skip_adverbs(at + 1);
    let ends = if words.is_end(behind) {
        !words.is(behind, ": / \"")
    } else {
        words.is(behind, "and today yesterday last this but so from living yo y.o")
            || words.is(behind, "years yrs year")
                && words.is(behind + 1, "old young of")
                && !words.is(behind + 2, "service experience marriage")
    };
    let skipped = if words.is(behind, "years yrs year") { behind + 2 } else { at + 1 };
    (is_age(years) && stands_alone && ends).then(|| Read {
        values: vec![words.slice(at, at + 1).trim_end_matches("yo").to_owned()],
        end: skipped,
    })
}

/// A day and a month in any order, and the year behind them.
fn day(words: Words<'_, '_>, at: usize) -> Option<Read> {
    let at = at + usize::from(words.is(at, "the :"));
    let is_month = |at: usize| is_of("month", words.lower(at));
    let is_day = |at: usize| {
        let digits = words.lower(at).trim_end_matches(|c: char| c.is_ascii_alphabetic());
        is_of("ordinal", words.lower(at)) || digits.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
    };
    let end = if (is_month(at) && is_day(at + 1)) || (is_day(at) && is_month(at + 1)) {
        at + 2
    } else if is_month(at) && words.lower(at + 1) == "the" && is_day(at + 2)
        || is_day(at) && words.lower(at + 1) == "of" && is_month(at + 2)
    {
        at + 3
    } else {
        return None;
    };
    let year = end + usize::from(words.lower(end) == ",");
    let is_year = words.lower(year).parse().is_ok_and(|year: u32| (1900..2030).contains(&year));
    Some(words.read(at, if is_year { year + 1 } else { end }))
}

/// `they/them`, `he and they`: one pronoun alone may be anything.
pub(super) fn pronouns(words: Words<'_, '_>, at: usize) -> Option<Read> {
    const PRONOUNS: &str = "he she they him them her hers his theirs ze zir xe xem it its";
    let mut end = at + 1;
    while words.is(end, "/ and or") && words.is(end + 1, PRONOUNS) {
        end += 2;
    }
    let said: Vec<&str> = (at..end).step_by(2).map(|at| words.lower(at)).collect();
    (words.is(at, PRONOUNS) && said.len() > 1).then(|| Read { values: vec![said.join("/")], end })
}

/// `Anne, not Anna`: names that differ by a letter or two.
fn spelling(words: Words<'_, '_>, at: usize) -> Option<Read> {
    let end = words.person(at, 1)?;
    let wrong =
        words.person(end + 2, 1).filter(|_| words.lower(end) == "," && words.lower(end + 1) == "not")?;
    let (right, denied) = (words.lower(at), words.lower(end + 2));
    let shared = right.chars().zip(denied.chars()).take_while(|(a, b)| a == b).count();
    let is_near = right.chars().count().abs_diff(denied.chars().count()) <= 2 && shared >= 2;
    let is_place = words.known_place(at).is_some() || words.known_place(end + 2).is_some();
    (is_near && !is_place && words.is_end(wrong)).then(|| words.read(at, end))
}

/// A place: words with capitals and the larger place behind a comma, or a known one in lower case.
pub(super) fn place(words: Words<'_, '_>, at: usize) -> Option<Read> {
    let start = at
        + usize::from(
            words.lower(at) == "the" && words.known_place(at + 1).is_some()
                || words.lower(at) == "the" && words.is(at + 1, "hague bronx"),
        );
    let known = words.known_place(start);
    let starts_name = words.is_name(start)
        || words.token(start).is_some_and(|token| token.is_capital() && token.lower == "the");
    if !starts_name {
        return known.filter(|&end| words.is_whole(end)).map(|end| words.read(start, end));
    }
    let end = words.capitals(start, 4)?.max(known.unwrap_or(0));
    let shouts = |at: usize| words.token(at).is_some_and(|token| !token.text.contains(char::is_lowercase));
    let is_strange = TOOLS.contains(words.lower(start))
        || is_of("month", words.lower(start))
        || DEMONYMS.contains(words.lower(start))
        || shouts(start)
        || is_technical(words);
    if (is_strange && known.is_none()) || words.lower(end) == "'s" || !words.is_whole(end) {
        return None;
    }
    let larger = (words.lower(end) == ",")
        .then(|| {
            words.known_place(end + 1).or_else(|| words.capitals(end + 1, 2).filter(|_| known.is_none()))
        })
        .flatten();
    let is_larger = larger.is_some_and(|larger| words.is_end(larger) || words.is(larger, "and but with"));
    let end = larger.filter(|_| is_larger && !DEMONYMS.contains(words.lower(end + 1))).unwrap_or(end);
    Some(words.read(start, end))
}

/// Whether a sentence is about tools: what one lives in there is one more.
fn is_technical(words: Words<'_, '_>) -> bool {
    const TECHNICAL: &str = "plugin plugins terminal server servers database migration deploy deployment repo repository \
        branch commit editor ide shell script code codebase api framework compiler kernel container cluster config file files \
        folder directory keyboard keybindings shortcut syntax";
    (0..words.statement.tokens.len()).any(|at| words.is(at, TECHNICAL))
}

/// `Acme`, `the Dutch tax office`, `St Vincent's`.
fn employer(words: Words<'_, '_>, at: usize) -> Option<Read> {
    /// What one joins without working there, and what is worked on rather than at.
    const NO_EMPLOYER: &str = "meetup club association community gym society class workshop forum church league choir \
        zoom discord facebook instagram linkedin slack conference summit christmas easter thanksgiving uncle mr mrs dr prof god \
        home monday night marathon tournament army-of";
    let start = at + usize::from(words.lower(at) == "the");
    let mut end = words.capitals(start, 5)?;
    if (start..=end).any(|at| words.is(at, NO_EMPLOYER))
        || DEMONYMS.contains(words.lower(start)) && end == start + 1 && !words.is(end + 1, "office")
    {
        return None;
    }
    if words.lower(end) == "'s" {
        end += 1;
    }
    let workplace = (end..end + 3).find(|&at| WORKPLACES.contains(words.lower(at)));
    if let Some(last) = workplace
        .filter(|&last| (end..last).all(|at| !words.is_end(at) && !words.is(at, "and in at the a for as my")))
    {
        end = last + 1;
    }
    let is_place = words.known_place(start) == Some(end) && !words.is(start, "stirling split");
    (words.is_whole(end) && !is_place).then(|| Read { values: vec![whole_slice(words, start, end)], end })
}

/// As a slice, but with the `'s` at its end.
fn whole_slice(words: Words<'_, '_>, start: usize, end: usize) -> String {
    let tokens = &words.statement.tokens;
    let text = words.statement.text.get(tokens[start].start..tokens[end - 1].end());
    text.map_or_else(|| words.slice(start, end), |text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn field(words: Words<'_, '_>, at: usize) -> Option<Read> {
    const MOST: usize = 3;
    let is_field = |at: usize| {
        let lower = words.lower(at);
        FIELDS.contains(lower)
            || (lower.len() > 6
                && ["ology", "onomy", "istry", "ography", "omics", "nomics"]
                    .iter()
                    .any(|ending| lower.ends_with(ending)))
    };
    let last = (at..at + MOST)
        .take_while(|&at| !words.is_end(at) && !words.is(at, "the a an my this at in for with of how to and"))
        .filter(|&at| is_field(at))
        .last()?;
    let ends = words.is_end(last + 1) || words.is(last + 1, "at in and but for so now with");
    ends.then(|| words.read(at, last + 1))
}

/// Known allergens, with commas and `and` between.
fn allergens(words: Words<'_, '_>, from: usize) -> Option<Read> {
    listed(words, from, |at| {
        let at = at + usize::from(words.is(at, "all most some both any"));
        (at + 1..=at + 3)
            .rev()
            .find(|&end| {
                ALLERGENS.contains(words.lower(end - 1))
                    && (at..end - 1).all(|at| !words.is_end(at) && !words.is(at, "and or to the my"))
            })
            .map(|end| (at, end))
    })
}

fn languages(words: Words<'_, '_>, from: usize) -> Option<Read> {
    const AMOUNTS: &str = "a little bit of some fluent good decent basic native both conversational broken enough passable rusty perfect";
    listed(words, from, |at| {
        let at = words.skip(at, AMOUNTS);
        let is_one = is_of("language", words.lower(at)) && !words.is(at + 1, "is was 's teacher");
        is_one.then_some((at, at + 1))
    })
}

/// `meat`, `meat or fish`: what one never eats, as `no meat`.
fn foods(words: Words<'_, '_>, from: usize) -> Option<Read> {
    let mut read = listed(words, from, |at| is_of("food", words.lower(at)).then_some((at, at + 1)))?;
    let ends = words.is_end(read.end) || words.is(read.end, "but so because since any anymore either at");
    read.values.iter_mut().for_each(|food| *food = format!("no {food}"));
    ends.then_some(read)
}

/// One value after another, as long as `one` finds where each begins and ends.
pub(super) fn listed(
    words: Words<'_, '_>,
    from: usize,
    one: impl Fn(usize) -> Option<(usize, usize)>,
) -> Option<Read> {
    let mut read = Read { values: Vec::new(), end: from };
    let mut at = from;
    while let Some((start, end)) = one(at) {
        read.values.push(words.slice(start, end));
        read.end = end;
        let joined = end + usize::from(words.is(end, ", /"));
        at = joined + usize::from(words.is(joined, "and or & also plus"));
        if at == end {
            break;
        }
    }
    (!read.values.is_empty()).then_some(read)
}

/// Whether these words say of which people one is, or where from, without being a claim.
pub(super) fn is_demonym(words: Words<'_, '_>, at: usize) -> bool {
    DEMONYMS.contains(words.lower(at)) && words.is_end(at + 1)
}

/// A known place that stands alone: `product designer, Lagos`.
pub(super) fn bare_place(words: Words<'_, '_>, at: usize) -> Option<Read> {
    let end = words.known_place(at).filter(|_| words.is_name(at))?;
    (words.is_end(end) && PLACES.contains(&words.slice(at, end).to_lowercase().replace(' ', "_")))
        .then(|| words.read(at, end))
}
