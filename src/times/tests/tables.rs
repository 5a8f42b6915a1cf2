//! For each language, a table of texts and of all times that each text names, including future ones.

use super::*;

/// A text and its times: `2023-11-14` is that day, `2023-11-06..2023-11-13` a span, and `|` separates two.
type TableLine = (&'static str, &'static str);

#[track_caller]
fn check_table(count: usize, table: &[TableLine]) {
    assert_eq!(table.len(), count);
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let spans = all(text, instant(NOW), TimeSpeaker::Asking);
        let shown = spans.iter().map(|(span, _)| {
            let is_day = span.until - span.from == TimeDelta::days(1) && span.from.hour() == 0;
            if is_day { show(span.from) } else { format!("{}..{}", show(span.from), show(span.until)) }
        });
        let shown = shown.collect::<Vec<_>>().join("|");
        if shown != *expected {
            wrong.push(format!("{text:?}: {shown}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[rustfmt::skip]
fn english() {
    check_table(60, &[
        ("what did I say today?", "2023-11-15"),
        ("yesterday", "2023-11-14"),
        ("the day before yesterday", "2023-11-13"),
        ("I leave tomorrow", "2023-11-16"),
        ("tomorrow morning", "2023-11-16..2023-11-16T12:00"),
        ("the day after tomorrow", "2023-11-17"),
        ("yesterday evening", "2023-11-14T17:00..2023-11-15"),
        ("last night", "2023-11-14T17:00..2023-11-15T06:00"),
        ("three days ago", "2023-11-12"),
        ("a couple of days ago", "2023-11-11..2023-11-15"),
        ("a week ago", "2023-11-05..2023-11-12"),
        ("two months ago", "2023-08-31..2023-10-01"),
        ("in 3 days", "2023-11-18"),
        ("in two weeks", "2023-11-26..2023-12-03"),
        ("in a month", "2023-11-30..2023-12-31"),
        ("ten days from now", "2023-11-25"),
        ("this week", "2023-11-13..2023-11-20"),
        ("last week", "2023-11-06..2023-11-13"),
        ("next week", "2023-11-20..2023-11-27"),
        ("the week before last", "2023-10-30..2023-11-06"),
        ("last weekend", "2023-11-11..2023-11-13"),
        ("next weekend", "2023-11-25..2023-11-27"),
        ("last month", "2023-10-01..2023-11-01"),
        ("next month", "2023-12-01..2024-01-01"),
        ("last year", "2022-01-01..2023-01-01"),
        ("next year", "2024-01-01..2025-01-01"),
        ("in the last 3 days", "2023-11-12..2023-11-16"),
        ("the next two days", "2023-11-16..2023-11-18"),
        ("last Friday", "2023-11-10"),
        ("next Friday", "2023-11-17"),
        ("on Monday", "2023-11-13"),
        ("Friday night", "2023-11-10T17:00..2023-11-11T06:00"),
        ("Tuesday last week", "2023-11-07"),
        ("next week on Tuesday", "2023-11-21"),
        ("Thursday next week", "2023-11-23"),
        ("on 3 June", "2023-06-03"),
        ("June 3rd, 2024", "2024-06-03"),
        ("the 3rd of June 2022", "2022-06-03"),
        ("on Sunday, March 5th, 2023", "2023-03-05"),
        ("March 5-7", "2023-03-05..2023-03-08"),
        ("What was on the 19th?", "2023-10-19"),
        ("on the 3rd", "2023-11-03"),
        ("in March", "2023-03-01..2023-04-01"),
        ("next March", "2024-03-01..2024-04-01"),
        ("March 2021", "2021-03-01..2021-04-01"),
        ("the summer of 2021", "2021-06-01..2021-09-01"),
        ("in 2022", "2022-01-01..2023-01-01"),
        ("the first week of 2024", "2024-01-01..2024-01-08"),
        ("the last week of 2022", "2022-12-25..2023-01-01"),
        ("in the first week of May", "2023-05-01..2023-05-08"),
        ("the second week of May 2022", "2022-05-08..2022-05-15"),
        ("the last week of March", "2023-03-25..2023-04-01"),
        ("the last week of last month", "2023-10-25..2023-11-01"),
        ("2024-06-03", "2024-06-03"),
        ("2024/6/3", "2024-06-03"),
        ("3.6.2024", "2024-06-03"),
        ("3/6/2024", "2024-06-03|2024-03-06"),
        ("6/13/2024", "2024-06-13"),
        ("in 2024-06", "2024-06-01..2024-07-01"),
        ("between March and May 2022", "2022-03-01..2022-06-01"),
    ]);
}

#[test]
#[rustfmt::skip]
fn german() {
    check_table(20, &[
        ("Was habe ich gestern gesagt?", "2023-11-14"),
        ("vorgestern waren wir essen", "2023-11-13"),
        ("Morgen fliege ich", "2023-11-16"),
        ("übermorgen", "2023-11-17"),
        ("letzten Freitag", "2023-11-10"),
        ("am Montag", "2023-11-13"),
        ("nächsten Freitag", "2023-11-17"),
        ("letzte Woche", "2023-11-06..2023-11-13"),
        ("in der nächsten Woche", "2023-11-20..2023-11-27"),
        ("vor drei Tagen", "2023-11-12"),
        ("vor einem Monat", "2023-09-30..2023-10-31"),
        ("in zwei Wochen", "2023-11-26..2023-12-03"),
        ("in den letzten 3 Tagen", "2023-11-12..2023-11-16"),
        ("im März", "2023-03-01..2023-04-01"),
        ("Ende Mai", "2023-05-01..2023-06-01"),
        ("am 3. Juni 2024", "2024-06-03"),
        ("der 24. Dezember", "2022-12-24"),
        ("3.6.2024", "2024-06-03"),
        ("am Samstag, 5. März 2022", "2022-03-05"),
        ("letztes Jahr", "2022-01-01..2023-01-01"),
    ]);
}

#[test]
#[rustfmt::skip]
fn spanish() {
    check_table(20, &[
        ("¿qué dije ayer?", "2023-11-14"),
        ("anteayer", "2023-11-13"),
        ("mañana vuelo a Roma", "2023-11-16"),
        ("pasado mañana", "2023-11-17"),
        ("el viernes pasado", "2023-11-10"),
        ("el próximo viernes", "2023-11-17"),
        ("el viernes que viene", "2023-11-17"),
        ("el lunes", "2023-11-13"),
        ("la semana pasada", "2023-11-06..2023-11-13"),
        ("la semana que viene", "2023-11-20..2023-11-27"),
        ("este mes", "2023-11-01..2023-12-01"),
        ("el año pasado", "2022-01-01..2023-01-01"),
        ("hace tres días", "2023-11-12"),
        ("dentro de dos semanas", "2023-11-26..2023-12-03"),
        ("los últimos tres días", "2023-11-12..2023-11-16"),
        ("en marzo", "2023-03-01..2023-04-01"),
        ("en mayo de 2022", "2022-05-01..2022-06-01"),
        ("el 3 de junio de 2024", "2024-06-03"),
        ("el 24 de diciembre", "2022-12-24"),
        ("sábado 5 de marzo de 2022", "2022-03-05"),
    ]);
}

#[test]
#[rustfmt::skip]
fn french() {
    check_table(20, &[
        ("qu'est-ce que j'ai dit hier ?", "2023-11-14"),
        ("avant-hier", "2023-11-13"),
        ("aujourd’hui", "2023-11-15"),
        ("demain je pars", "2023-11-16"),
        ("après-demain", "2023-11-17"),
        ("vendredi dernier", "2023-11-10"),
        ("vendredi prochain", "2023-11-17"),
        ("lundi", "2023-11-13"),
        ("la semaine dernière", "2023-11-06..2023-11-13"),
        ("la semaine prochaine", "2023-11-20..2023-11-27"),
        ("le mois dernier", "2023-10-01..2023-11-01"),
        ("l'année dernière", "2022-01-01..2023-01-01"),
        ("il y a trois jours", "2023-11-12"),
        ("dans deux semaines", "2023-11-26..2023-12-03"),
        ("les 3 derniers jours", "2023-11-12..2023-11-16"),
        ("en mars", "2023-03-01..2023-04-01"),
        ("au mois de mai 2022", "2022-05-01..2022-06-01"),
        ("le 3 juin 2024", "2024-06-03"),
        ("le 1er mai", "2023-05-01"),
        ("samedi 5 mars 2022", "2022-03-05"),
    ]);
}

#[test]
#[rustfmt::skip]
fn chinese() {
    check_table(20, &[
        ("我昨天说了什么?", "2023-11-14"),
        ("前天我们去吃饭", "2023-11-13"),
        ("明天我去北京", "2023-11-16"),
        ("后天见", "2023-11-17"),
        ("昨晚", "2023-11-14T17:00..2023-11-15T06:00"),
        ("上周五我去看牙医", "2023-11-10"),
        ("下周五", "2023-11-24"),
        ("上个星期", "2023-11-06..2023-11-13"),
        ("下個禮拜一", "2023-11-20"),
        ("上周末", "2023-11-11..2023-11-13"),
        ("周一的会议", "2023-11-13"),
        ("上个月", "2023-10-01..2023-11-01"),
        ("上个月3号", "2023-10-03"),
        ("去年六月", "2022-06-01..2022-07-01"),
        ("三天前", "2023-11-12"),
        ("两周后", "2023-11-26..2023-12-03"),
        ("2024年6月3日", "2024-06-03"),
        ("2024年6月", "2024-06-01..2024-07-01"),
        ("6月3日", "2023-06-03"),
        ("十二月二十四号", "2022-12-24"),
    ]);
}

#[test]
#[rustfmt::skip]
fn japanese() {
    check_table(20, &[
        ("昨日、黒猫を見た", "2023-11-14"),
        ("一昨日", "2023-11-13"),
        ("きのうは何を言った?", "2023-11-14"),
        ("明日は休みです", "2023-11-16"),
        ("明後日", "2023-11-17"),
        ("昨夜", "2023-11-14T17:00..2023-11-15T06:00"),
        ("先週の金曜日", "2023-11-10"),
        ("来週の金曜日に歯医者", "2023-11-24"),
        ("金曜日", "2023-11-10"),
        ("先週", "2023-11-06..2023-11-13"),
        ("今週", "2023-11-13..2023-11-20"),
        ("先週末", "2023-11-11..2023-11-13"),
        ("先月", "2023-10-01..2023-11-01"),
        ("来月の3日", "2023-12-03"),
        ("昨年", "2022-01-01..2023-01-01"),
        ("3日前", "2023-11-12"),
        ("2週間後", "2023-11-26..2023-12-03"),
        ("2024年6月3日", "2024-06-03"),
        ("６月３日", "2023-06-03"),
        ("去年の三月", "2022-03-01..2022-04-01"),
    ]);
}

#[test]
fn names_of_other_languages() {
    check_table(
        10,
        &[
            ("martedì 3 giugno 2024", "2024-06-03"),
            ("due anni fa", "2021-05-17..2022-05-17"),
            ("na segunda-feira", "2023-11-13"),
            ("3 de março de 2022", "2022-03-03"),
            ("op 3 maart 2022", "2022-03-03"),
            ("drie dagen geleden", "2023-11-12"),
            ("den 3 mars 2022", "2022-03-03"),
            ("3 października 2022", "2022-10-03"),
            ("3 июня 2022", "2022-06-03"),
            ("3 Haziran 2022", "2022-06-03"),
        ],
    );
}
