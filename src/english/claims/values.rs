//! Readers of the values of forms: each reads the value that follows the words of a form, or returns `None`.

use crate::english::{
    claims::{
        jobs, people,
        words::{DEMONYMS, ReadToken, StatementWords, TOOLS},
    },
    classes::is_of,
    lists::{List, list},
    numbers,
};

static ALLERGENS: List = list!("allergens");
static FIELDS: List = list!("fields");
static NOT_EMPLOYERS: List = list!("not_employers");
static WORKPLACES: List = list!("workplaces");

/// Reads the value that begins at a token of a statement.
pub(super) type ValueReader = fn(StatementWords<'_, '_>, usize) -> Option<ReadToken>;

/// Returns the reader for a kind of value, by its name in the list of forms.
pub(super) fn reader(kind: &str) -> Option<ValueReader> {
    Some(match kind {
        "told" => told,
        "called" => called,
        "bare" => bare,
        "spelling" => spelling,
        "pronouns" => pronouns,
        "day" => day,
        "age" => age,
        "years_old" => years_old,
        "place" => place,
        "known_place" => known_place,
        "employer" => employer,
        "firm" => firm,
        "job" => jobs::title,
        "ailment" => ailment,
        "aid" => aid,
        "taught" => taught,
        "retired" => retired,
        "field" => field,
        "relative" => people::relatives,
        "allergens" => allergens,
        "condition" => condition,
        "languages" => languages,
        "native" => native,
        "diet" => diet,
        "foods" => foods,
        _ => return None,
    })
}

/// Reads a stated name: `my name is anna`.
pub(super) fn told(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let end = words.person(at, 3).or_else(|| words.low_name(at))?;
    (!words.is(end, "'s")).then(|| words.read(at, end))
}

/// Reads a name that people call one by, if nothing else follows.
fn called(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    const BEHIND: &str = "and but please instead not by in at these now to any anymore from since";
    words.person(at, 2).filter(|&end| words.ends_or_is(end, BEHIND)).map(|end| words.read(at, end))
}

/// Reads a name by itself (`I'm Anna`): accepted only with more of an introduction around it.
fn bare(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let end = words.person(at, 2).filter(|&end| words.ends_or_is(end, "and from a an but"))?;
    (words.known_place(at).is_none() && !TOOLS.contains(words.lower(at))).then(|| words.read(at, end))
}

/// Reads `Anne` in `Anne, not Anna`, if both names begin alike.
fn spelling(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let end = words.person(at, 1).filter(|&end| words.is(end, ",") && words.is(end + 1, "not"))?;
    let wrong = words.person(end + 2, 1)?;
    let is_near = words.lower(at).chars().take(2).eq(words.lower(end + 2).chars().take(2));
    (is_near && words.known_place(at).is_none() && words.is_end(wrong)).then(|| words.read(at, end))
}

/// Reads `they/them` or `he and they`. A single pronoun may be anything, and is not read.
pub(super) fn pronouns(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    const PRONOUNS: &str = "he she they him them her hers his theirs ze zir xe xem it its";
    let mut end = at + 1;
    while words.is(end, "/ and or") && words.is(end + 1, PRONOUNS) {
        end += 2;
    }
    let said: Vec<&str> = (at..end).step_by(2).map(|at| words.lower(at)).collect();
    (words.is(at, PRONOUNS) && said.len() > 1).then(|| ReadToken { values: vec![said.join("/")], end })
}

/// Reads a day and a month in any order, and the year if it follows.
fn day(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let at = words.skip(at, "the :");
    let is_month = |at: usize| is_of("month", words.lower(at));
    let is_day = |at: usize| {
        let digits = words.lower(at).trim_end_matches(|c: char| c.is_ascii_alphabetic());
        is_of("ordinal", words.lower(at)) || digits.parse().is_ok_and(|day: u32| (1..=31).contains(&day))
    };
    let is_year = |at: usize| words.lower(at).parse().is_ok_and(|year: u32| (1900..2030).contains(&year));
    let second = words.skip(at + 1, "the of");
    let end = second + 1;
    let year = words.skip(end, ",");
    (is_month(at) && is_day(second) || is_day(at) && is_month(second))
        .then(|| words.read(at, if is_year(year) { year + 1 } else { end }))
}

/// Whether a person who writes can be this old.
fn is_age(years: u32) -> bool {
    (10..=105).contains(&years)
}

/// Reads `34`, `forty-two` or `forty two`, but not `20 minutes`, `100%` or `30 next week`.
fn age(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let token = words.token(at)?;
    let years: u32 = token.lower.parse().ok().or_else(|| numbers::cardinal(&token.lower))?;
    let is_percent = words.statement.text[token.end()..].starts_with('%');
    let ones =
        numbers::small(words.lower(at + 1)).filter(|ones| years.is_multiple_of(10) && (1..10).contains(ones));
    let last = at + usize::from(ones.is_some());
    let behind = words.skip_adverbs(last + 1);
    let says_years = words.is(behind, "years yrs year") && words.is(behind + 1, "old young of");
    let ends = says_years
        || words.ends_or_is(behind, "and today yesterday last this but so from living yo y.o")
            && !words.is(behind, ": / \"");
    (is_age(years) && !is_percent && ends).then(|| ReadToken {
        values: vec![words.slice(at, last + 1)],
        end: if says_years { behind + 2 } else { last + 1 },
    })
}

/// Reads `34-year-old`.
fn years_old(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let digits = words.lower(at).trim_end_matches("-year-old");
    let is_said =
        digits.len() < words.lower(at).len() || words.is(at + 1, "year yr") && words.is(at + 2, "old");
    (is_said && is_age(digits.parse().ok()?)).then(|| ReadToken { values: vec![digits.to_owned()], end: at })
}

/// Reads a place: capitalized words with the larger place after a comma, or a known place in lower case.
fn place(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let start = if words.is(at, "the") { at + 1 } else { at };
    let known = words.known_place(start);
    if (start > at && known.is_none()) || !words.is_name(start) {
        return known.filter(|&end| words.is_whole(end)).map(|end| words.read(start, end));
    }
    let end = words.capitals(start, 4)?.max(known.unwrap_or(0));
    let is_strange = TOOLS.contains(words.lower(start))
        || is_of("month", words.lower(start))
        || DEMONYMS.contains(words.lower(start))
        || words.shouts(start);
    if (is_strange && known.is_none()) || words.is(end, "'s") || !words.is_whole(end) {
        return None;
    }
    let larger = words.is(end, ",").then(|| words.known_place(end + 1)).flatten();
    let end = larger.filter(|&larger| words.ends_or_is(larger, "and but with")).unwrap_or(end);
    Some(words.read(start, end))
}

/// Reads a place that is mentioned in passing: only a known one counts.
fn known_place(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    place(words, at).filter(|_| words.known_place(at).is_some())
}

/// Reads where one works, joins or leaves. A tool is not an employer (`I joined Slack`).
fn employer(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    firm(words, at).filter(|_| !TOOLS.contains(words.lower(words.skip(at, "the"))))
}

/// Reads the name of a firm: `Acme`, `the Dutch tax office`, `St Vincent's`.
fn firm(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let start = words.skip(at, "the");
    let mut end = words.capitals(start, 5)?;
    if (start..=end).any(|at| NOT_EMPLOYERS.contains(words.lower(at))) {
        return None;
    }
    end = words.skip(end, "'s");
    let within = |at: &usize| !words.ends_or_is(*at, "and in at the a for as my");
    let workplace = (end..end + 3).take_while(within).find(|&at| WORKPLACES.contains(words.lower(at)));
    end = workplace.map_or(end, |last| last + 1);
    let is_place = words.known_place(start) == Some(end);
    (words.is_whole(end) && !is_place).then(|| words.read(start, end))
}

/// Reads `retired`. What one retired from, or when, may follow.
fn retired(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let retired = (0..at).rev().find(|&at| words.is(at, "retired"))?;
    let ends = words.ends_or_is(at, "and so from last in this after at now but since");
    ends.then(|| ReadToken { values: vec!["retired".to_owned()], end: at.max(retired + 1) })
}

/// Reads `maths` in `I teach maths`, as `maths teacher`.
fn taught(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let mut read = field(words, at)?;
    read.values[0] += " teacher";
    Some(read)
}

fn field(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    const MOST: usize = 3;
    let within = |at: &usize| !words.ends_or_is(*at, "the a an my this at in for with of how to and");
    let is_field = |at: &usize| FIELDS.contains(words.lower(*at)) || words.lower(*at).ends_with("ology");
    let last = (at..at + MOST).take_while(within).filter(is_field).last()?;
    words.ends_or_is(last + 1, "at in and but for so now with to").then(|| words.read(at, last + 1))
}

/// Reads known allergens, separated by commas and `and`.
fn allergens(words: StatementWords<'_, '_>, from: usize) -> Option<ReadToken> {
    listed(words, from, |at| {
        let at = words.skip(at, "all most some both any");
        let within = |at: &usize| !words.ends_or_is(*at, "and or to the my");
        let last =
            (at..at + 3).take_while(within).filter(|&at| ALLERGENS.contains(words.lower(at))).last()?;
        Some((at, last + 1))
    })
}

/// Reads an intolerance: `nut allergy`, `lactose intolerant`, `coeliac`.
fn condition(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    if words.is(at, "coeliac celiac lactose-intolerant gluten-intolerant") {
        return (words.is_whole(at + 1) || words.is(at + 1, "disease")).then(|| words.read(at, at + 1));
    }
    let last = (at + 1..at + 3).find(|&at| words.is(at, "allergy intolerance intolerant"))?;
    ALLERGENS.contains(words.lower(last - 1)).then(|| words.read(at, last + 1))
}

/// Reads a condition from a closed list: `type 2 diabetes`, `hard of hearing`.
fn ailment(words: StatementWords<'_, '_>, from: usize) -> Option<ReadToken> {
    const ENDS: &str = "and so but since because which disease or at for from";
    listed(words, from, |at| {
        let start = words.skip(at, "severe mild bad chronic both");
        let noun = if words.is(start, "type") { start + 2 } else { start };
        if words.is(noun, "hard") && words.is(noun + 1, "of") && words.is(noun + 2, "hearing") {
            return Some((noun, noun + 3));
        }
        // `I'm a Cancer`
        let is_sign = words.is(noun, "cancer ms") && noun > 0 && words.is(noun - 1, "a an am");
        let is_one = is_of("condition", words.lower(noun)) && words.ends_or_is(noun + 1, ENDS) && !is_sign;
        is_one.then_some((start, noun + 1))
    })
}

fn aid(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    (words.is(at, "wheelchair pacemaker cane crutches inhaler") && words.is_whole(at + 1))
        .then(|| words.read(at, at + 1))
}

fn languages(words: StatementWords<'_, '_>, from: usize) -> Option<ReadToken> {
    const AMOUNTS: &str = "a little bit of some fluent good decent basic native both conversational broken enough passable rusty perfect";
    listed(words, from, |at| {
        let at = words.skip(at, AMOUNTS);
        let is_one = is_of("language", words.lower(at)) && !words.is(at + 1, "is was 's teacher");
        is_one.then_some((at, at + 1))
    })
}

/// Reads `first language` after `Tamil is my`; the value is `Tamil`.
fn native(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    let is_tongue =
        words.is(at, "first second third native mother other") && words.is(at + 1, "language tongue one");
    is_tongue.then(|| ReadToken { values: vec![words.slice(at - 3, at - 2)], end: at + 2 })
}

fn diet(words: StatementWords<'_, '_>, at: usize) -> Option<ReadToken> {
    const BEHIND: &str =
        "and but so because since for now who at these any anymore diet myself again too in after last this";
    (is_of("diet", words.lower(at)) && words.ends_or_is(at + 1, BEHIND)).then(|| words.read(at, at + 1))
}

/// Reads what one never eats: `meat` or `meat or fish`, as `no meat`.
fn foods(words: StatementWords<'_, '_>, from: usize) -> Option<ReadToken> {
    let mut read = listed(words, from, |at| is_of("food", words.lower(at)).then_some((at, at + 1)))?;
    read.values.iter_mut().for_each(|food| *food = format!("no {food}"));
    words.ends_or_is(read.end, "but so because since any anymore either at").then_some(read)
}

/// Reads a list of values, for as long as `one` finds where each begins and ends.
fn listed(
    words: StatementWords<'_, '_>,
    from: usize,
    one: impl Fn(usize) -> Option<(usize, usize)>,
) -> Option<ReadToken> {
    let mut read = ReadToken { values: Vec::new(), end: from };
    let mut at = from;
    while let Some((start, end)) = one(at) {
        read.values.push(words.slice(start, end));
        read.end = end;
        at = words.skip(end, ", / and or & also plus");
        if at == end {
            break;
        }
    }
    (!read.values.is_empty()).then_some(read)
}
