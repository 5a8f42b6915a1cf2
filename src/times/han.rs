//! Reads Chinese and Japanese: `2024年6月3日`, `昨天`, `上周五`, `先週の金曜日`, `三天前`. Texts are read character by character, since there
//! are no blanks between words.

use std::ops::Range;

use chrono::{Datelike, NaiveDate, Weekday};

use crate::{
    text::terms::is_unspaced,
    times::{
        calendar::{self, CalendarSpan, TimeUnit, months, plus_days, shifted},
        numeric::year,
        reader::{ExpressionReader, Toward},
    },
};

/// Days by distance from today; if two begin alike, the longer one comes first.
const DAYS: &[(&str, i32)] = &[
    ("大前天", -3),
    ("前天", -2),
    ("昨天", -1),
    ("今天", 0),
    ("明天", 1),
    ("大后天", 3),
    ("大後天", 3),
    ("后天", 2),
    ("後天", 2),
    ("一昨日", -2),
    ("おととい", -2),
    ("昨日", -1),
    ("きのう", -1),
    ("今日", 0),
    ("きょう", 0),
    ("本日", 0),
    ("明後日", 2),
    ("あさって", 2),
    ("明日", 1),
    ("あした", 1),
];
/// Parts of a day, with the distance of the day and their hours.
const PARTS: &[(&str, i32, (i64, i64))] = &[
    ("昨晚", -1, (17, 30)),
    ("昨夜", -1, (17, 30)),
    ("昨晩", -1, (17, 30)),
    ("今晚", 0, (17, 30)),
    ("今夜", 0, (17, 30)),
    ("今晩", 0, (17, 30)),
    ("今早", 0, (0, 12)),
    ("今朝", 0, (0, 12)),
    ("明晚", 1, (17, 30)),
    ("明早", 1, (0, 12)),
];
/// Prefixes of a week, weekend or month, with its distance from the current one.
const WHICH: &[(&str, i32)] = &[
    ("上上个", -2),
    ("上上個", -2),
    ("上上", -2),
    ("上个", -1),
    ("上個", -1),
    ("上", -1),
    ("这个", 0),
    ("這個", 0),
    ("这", 0),
    ("這", 0),
    ("本", 0),
    ("下下个", 2),
    ("下下個", 2),
    ("下下", 2),
    ("下个", 1),
    ("下個", 1),
    ("下", 1),
    ("先々", -2),
    ("先", -1),
    ("今", 0),
    ("再来", 2),
    ("来", 1),
];
const WEEKENDS: &[&str] = &["周末", "週末"];
const WEEKS: &[&str] = &["星期", "礼拜", "禮拜", "周", "週"];
const YEARS: &[(&str, i32)] = &[
    ("一昨年", -2),
    ("前年", -2),
    ("去年", -1),
    ("昨年", -1),
    ("今年", 0),
    ("明年", 1),
    ("来年", 1),
    ("后年", 2),
    ("後年", 2),
];
/// Chinese numbers the days of the week.
const CHINESE_DAYS: &str = "一二三四五六";
const JAPANESE_DAYS: &str = "月火水木金土日";
const UNITS: &[(&str, TimeUnit)] = &[
    ("个星期", TimeUnit::Week),
    ("個星期", TimeUnit::Week),
    ("个礼拜", TimeUnit::Week),
    ("個禮拜", TimeUnit::Week),
    ("週間", TimeUnit::Week),
    ("星期", TimeUnit::Week),
    ("周", TimeUnit::Week),
    ("週", TimeUnit::Week),
    ("个月", TimeUnit::Month),
    ("個月", TimeUnit::Month),
    ("ヶ月", TimeUnit::Month),
    ("か月", TimeUnit::Month),
    ("カ月", TimeUnit::Month),
    ("ヵ月", TimeUnit::Month),
    ("天", TimeUnit::Day),
    ("日", TimeUnit::Day),
    ("年", TimeUnit::Year),
];
const AGO: &[&str] = &["之前", "以前", "前"];
const AHEAD: &[&str] = &["之后", "之後", "以后", "以後", "后", "後"];
const NUMERALS: &str = "〇一二三四五六七八九十";

/// Returns every time that the text names, in order, with its position in bytes.
pub(super) fn read(text: &str, reader: ExpressionReader<'_>) -> Vec<(CalendarSpan, Range<usize>)> {
    let mut found = Vec::new();
    if text.is_ascii() || !text.contains(is_unspaced) {
        return found;
    }
    let (mut at, mut before) = (0, ' ');
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let span = may_begin(first, before).then(|| time(rest, before, reader)).flatten();
        if let Some((span, behind)) = span {
            let end = text.len() - behind.len();
            found.push((span, at..end));
            before = text[..end].chars().next_back().unwrap_or(' ');
            at = end;
        } else {
            before = first;
            at += first.len_utf8();
        }
    }
    found
}

/// Whether a time may begin with `first`: a number must be read from its first digit, and `每周五` means any Friday.
fn may_begin(first: char, before: char) -> bool {
    let is_digit = |c: char| c.is_numeric() || NUMERALS.contains(c);
    (is_unspaced(first) || first.is_numeric())
        && !(is_digit(first) && (is_digit(before) || matches!(before, '.' | ',' | '第')))
        && !matches!(before, '每' | '毎')
}

/// A reading, and the rest of the text.
type HanReading<'t, T> = Option<(T, &'t str)>;

fn time<'t>(text: &'t str, before: char, reader: ExpressionReader<'_>) -> HanReading<'t, CalendarSpan> {
    day(text, before, reader)
        .or_else(|| relative(text, reader))
        .or_else(|| weekday_alone(text, before, reader))
        .or_else(|| counted(text, reader))
        .or_else(|| date(text, reader))
}

/// Returns the meaning of the first of these words that the text begins with.
fn one_of<'t, T: Copy>(text: &'t str, list: &[(&str, T)]) -> HanReading<'t, T> {
    list.iter().find_map(|(word, meaning)| text.strip_prefix(word).map(|behind| (*meaning, behind)))
}

fn behind_one_of<'t>(text: &'t str, list: &[&str]) -> Option<&'t str> {
    list.iter().find_map(|word| text.strip_prefix(word))
}

/// Reads `昨天` and `昨晚`, but not in `以前天`.
fn day<'t>(text: &'t str, before: char, reader: ExpressionReader<'_>) -> HanReading<'t, CalendarSpan> {
    if matches!(before, '以' | '之') {
        return None;
    }
    let date = |distance| shifted(reader.today(), distance, TimeUnit::Day);
    if let Some((distance, behind)) = one_of(text, DAYS) {
        return Some((CalendarSpan::day(date(distance)), behind));
    }
    PARTS.iter().find_map(|(word, distance, (first, until))| {
        text.strip_prefix(word).map(|behind| (CalendarSpan::hours(date(*distance), *first, *until), behind))
    })
}

/// Reads `上周`, `先週の金曜日`, `上个月3号`, `去年六月`.
fn relative<'t>(text: &'t str, reader: ExpressionReader<'_>) -> HanReading<'t, CalendarSpan> {
    if let Some((shift, behind)) = one_of(text, YEARS) {
        let year = reader.today().year().saturating_add(shift);
        return month_and_day(without_of(behind), year).or(Some((months(year, 1, 12), behind)));
    }
    let (shift, of) = one_of(text, WHICH)?;
    if let Some(behind) = behind_one_of(of, WEEKENDS) {
        return Some((reader.period(shift, TimeUnit::Weekend), behind));
    }
    if let Some(behind) = behind_one_of(of, WEEKS) {
        let day = chinese_weekday(behind).or_else(|| japanese_weekday(without_of(behind)));
        let of_day = day.map(|(day, behind)| (CalendarSpan::day(reader.in_week(shift, day)), behind));
        return of_day.or_else(|| Some((reader.period(shift, TimeUnit::Week), behind)));
    }
    let behind = of.strip_prefix('月')?;
    let month = reader.period(shift, TimeUnit::Month);
    Some(day_of_month(without_of(behind), month.first_day()).unwrap_or((month, behind)))
}

fn without_of(text: &str) -> &str {
    text.strip_prefix(['の', '的']).unwrap_or(text)
}

/// Reads `周五` and `金曜日`, but not in `一周三次`.
fn weekday_alone<'t>(
    text: &'t str,
    before: char,
    reader: ExpressionReader<'_>,
) -> HanReading<'t, CalendarSpan> {
    let is_counted = before.is_numeric() || NUMERALS.contains(before) || "两兩几個个".contains(before);
    let chinese = || behind_one_of(text, WEEKS).filter(|_| !is_counted).and_then(chinese_weekday);
    let (day, behind) = japanese_weekday(text).or_else(chinese)?;
    Some((CalendarSpan::day(reader.on_weekday(day)), behind))
}

fn chinese_weekday(text: &str) -> HanReading<'_, Weekday> {
    let first = text.chars().next()?;
    let behind = &text[first.len_utf8()..];
    let place =
        if matches!(first, '日' | '天') { 6 } else { CHINESE_DAYS.chars().position(|day| day == first)? };
    Some((weekday(place)?, behind))
}

fn japanese_weekday(text: &str) -> HanReading<'_, Weekday> {
    let first = text.chars().next()?;
    let place = JAPANESE_DAYS.chars().position(|day| day == first)?;
    let behind = text[first.len_utf8()..].strip_prefix('曜')?;
    Some((weekday(place)?, behind.strip_prefix('日').unwrap_or(behind)))
}

/// Returns the weekday with this number, counted from 0 for Monday.
fn weekday(place: usize) -> Option<Weekday> {
    Weekday::try_from(u8::try_from(place).ok()?).ok()
}

/// Reads `三天前` and `2週間後`.
fn counted<'t>(text: &'t str, reader: ExpressionReader<'_>) -> HanReading<'t, CalendarSpan> {
    let (count, behind) = number(text)?;
    let (unit, behind) = one_of(behind, UNITS)?;
    let count = (1..10_000).contains(&count).then_some((count, count))?;
    if let Some(behind) = behind_one_of(behind, AGO) {
        return Some((reader.ago(count, unit), behind));
    }
    behind_one_of(behind, AHEAD).map(|behind| (reader.ahead(count, unit), behind))
}

/// Reads `2024年6月3日`, `2024年6月`, `2024年`, `6月3日`, `6月`, `19号`.
fn date<'t>(text: &'t str, reader: ExpressionReader<'_>) -> HanReading<'t, CalendarSpan> {
    let (first, behind) = number(text)?;
    if let Some(behind) = behind.strip_prefix('年') {
        let year = year(&first.to_string()).filter(|_| !is_length(behind))?;
        return month_and_day(behind, year).or(Some((months(year, 1, 12), behind)));
    }
    if behind.starts_with('月') {
        let (_, behind) = month_and_day(text, 2000)?; // A leap year.
        let of_year = |year| month_and_day(text, year).map(|(span, _)| span);
        return Some((reader.in_some_year(of_year)?, behind));
    }
    // `三日` may mean three days.
    let is_in_digits = text.starts_with(char::is_numeric) && !text.starts_with(|c| NUMERALS.contains(c));
    let (_, behind) = day_of_month(text, NaiveDate::from_ymd_opt(2000, 1, 1)?).filter(|_| is_in_digits)?;
    let first_of = |count| shifted(reader.today().with_day(1).unwrap_or_default(), count, TimeUnit::Month);
    let counts: [i32; 3] = if reader.toward == Toward::Past { [0, -1, -2] } else { [0, 1, 2] };
    let spans = counts.into_iter().filter_map(|count| day_of_month(text, first_of(count)));
    let is_meant = |span: &CalendarSpan| match reader.toward {
        Toward::Past => span.from <= reader.now,
        Toward::Future => span.until > reader.now,
    };
    spans.map(|(span, _)| span).find(is_meant).map(|span| (span, behind))
}

/// Reads `6月3日` and `六月`, in this year.
fn month_and_day(text: &str, year: i32) -> HanReading<'_, CalendarSpan> {
    let (month, behind) = number(text)?;
    let behind = behind.strip_prefix('月').filter(|_| (1..=12).contains(&month))?;
    let first = calendar::date(year, month, 1)?;
    day_of_month(behind, first)
        .or_else(|| Some((months(year, month, 1), behind.strip_prefix('份').unwrap_or(behind))))
}

/// Reads `3日` and `3号`, in the month that begins with `first`.
fn day_of_month(text: &str, first: NaiveDate) -> HanReading<'_, CalendarSpan> {
    let (day, behind) = number(text)?;
    let behind = behind.strip_prefix(['日', '号', '號']).filter(|behind| !is_length(behind))?;
    let date = first.with_day(day)?;
    Some((CalendarSpan::days(date, plus_days(date, 1)), behind))
}

/// Whether the preceding number is a duration, as in `3日間`.
fn is_length(behind: &str) -> bool {
    behind.starts_with(['间', '間', '前', '后', '後', '以', '之', '目', '楼', '线', '線', '店'])
}

/// Reads a number: `12`, `１２`, `十二`, `二〇二四`, `两`.
fn number(text: &str) -> HanReading<'_, u32> {
    let digit = |c: char| match c {
        '0'..='9' => c.to_digit(10),
        '０'..='９' => Some(c as u32 - '０' as u32),
        _ => None,
    };
    let numeral = |c: char| {
        let c = if matches!(c, '两' | '兩') { '二' } else { c };
        u32::try_from(NUMERALS.chars().position(|numeral| numeral == c)?).ok()
    };
    let first = text.chars().next()?;
    if digit(first).is_some() {
        let end = text.find(|c| digit(c).is_none()).unwrap_or(text.len());
        let value = text[..end].chars().take(5).filter_map(digit).fold(0, |value, digit| value * 10 + digit);
        return Some((value, &text[end..]));
    }
    let end = text.find(|c| numeral(c).is_none()).unwrap_or(text.len());
    let values: Vec<u32> = text[..end].chars().take(5).filter_map(numeral).collect();
    let value = match values[..] {
        [] | [10, 10, ..] => return None,
        [10] => 10,
        [10, ones] => 10 + ones,
        [tens, 10] => tens * 10,
        [tens, 10, ones] => tens * 10 + ones,
        _ => values.iter().fold(0, |value, digit| value * 10 + digit),
    };
    Some((value, &text[end..]))
}
