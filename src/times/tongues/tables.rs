//! For each language, the words that turn a name or a number next to them into a time: `last`, `ago`, `on`. Words are
//! folded, without accents. In a list, blanks separate the words, and `_` joins those of a phrase.

use crate::times::tongues::names::{self, LanguageNames};

/// One language.
#[derive(Debug)]
pub(super) struct Tongue {
    pub(super) names: LanguageNames,
    /// Days by distance from today.
    pub(super) days: &'static [(&'static str, i32)],
    /// Words after which a day word means something else: `la mañana`, `guten Morgen`.
    pub(super) no_day_behind: &'static str,
    /// The words for day, week, weekend, month and year.
    pub(super) units: [&'static str; 5],
    /// Words before or after a unit or a weekday that mean the current one; `last` and `next` are those for the previous one
    /// and the next one.
    pub(super) this: &'static str,
    pub(super) last: &'static str,
    pub(super) next: &'static str,
    /// Words before and after a number of units that say that these are past.
    pub(super) ago: [&'static str; 2],
    /// Words before a number of units in the future.
    pub(super) ahead: &'static str,
    /// Numbers in words, 1 to 10.
    pub(super) numbers: [&'static str; 10],
    /// Words before a weekday or a date.
    pub(super) on: &'static str,
    /// Words before the name of a month without a day.
    pub(super) in_month: &'static str,
    /// Words between day, month and year.
    pub(super) of: &'static str,
    /// Whether the names of weekdays have no other meaning, so that they need no other word next to them.
    pub(super) has_plain_weekdays: bool,
}

/// Returns a language that has only names, and the words before them.
const fn names_only(
    names: LanguageNames,
    on: &'static str,
    in_month: &'static str,
    has_plain_weekdays: bool,
) -> Tongue {
    Tongue {
        names,
        days: &[],
        no_day_behind: "",
        units: [""; 5],
        this: "",
        last: "",
        next: "",
        ago: [""; 2],
        ahead: "",
        numbers: [""; 10],
        on,
        in_month,
        of: "",
        has_plain_weekdays,
    }
}

pub(super) static TONGUES: [Tongue; 14] = [
    Tongue {
        names: names::GERMAN,
        days: &[("heute", 0), ("gestern", -1), ("vorgestern", -2), ("morgen", 1), ("ubermorgen", 2)],
        no_day_behind: "guten am jeden der dem den diesen heute gestern vorgestern jeder eines schonen",
        units: [
            "tag tage tagen",
            "woche wochen",
            "wochenende wochenenden",
            "monat monate monaten monats",
            "jahr jahre jahren jahres",
        ],
        this: "diese diesen dieser dieses diesem",
        last: "letzte letzten letzter letztes letztem vergangene vergangenen vergangener vergangenes vorige vorigen \
            voriger voriges",
        next: "nachste nachsten nachster nachstes nachstem kommende kommenden kommender kommendes",
        ago: ["vor", ""],
        ahead: "in",
        numbers: [
            "einem einer ein eine",
            "zwei",
            "drei",
            "vier",
            "funf",
            "sechs",
            "sieben",
            "acht",
            "neun",
            "zehn",
        ],
        on: "am vom den der",
        in_month: "im seit anfang ende mitte",
        of: "",
        has_plain_weekdays: true,
    },
    Tongue {
        names: names::SPANISH,
        days: &[
            ("hoy", 0),
            ("ayer", -1),
            ("anteayer", -2),
            ("antier", -2),
            ("antes_de_ayer", -2),
            ("manana", 1),
            ("pasado_manana", 2),
        ],
        no_day_behind: "la esta cada una toda de ayer",
        units: ["dia dias", "semana semanas", "fin_de_semana", "mes meses", "ano anos"],
        this: "este esta",
        last: "pasado pasada pasados pasadas ultimo ultima ultimos ultimas",
        next: "proximo proxima proximos proximas que_viene siguiente",
        ago: ["hace", ""],
        ahead: "en dentro_de",
        numbers: ["un una uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"],
        on: "el",
        in_month: "en desde durante",
        of: "de del",
        has_plain_weekdays: true,
    },
    Tongue {
        names: names::FRENCH,
        days: &[("aujourd'hui", 0), ("hier", -1), ("avant-hier", -2), ("demain", 1), ("apres-demain", 2)],
        no_day_behind: "",
        units: ["jour jours", "semaine semaines", "week-end weekend", "mois", "an ans annee annees"],
        this: "ce cette cet",
        last: "dernier derniere derniers dernieres passe passee",
        next: "prochain prochaine prochains prochaines",
        ago: ["il_y_a", ""],
        ahead: "dans",
        numbers: ["un une", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"],
        on: "le",
        in_month: "en depuis debut fin mois_de",
        of: "",
        has_plain_weekdays: true,
    },
    Tongue {
        names: names::ITALIAN,
        days: &[("oggi", 0), ("ieri", -1), ("l'altroieri", -2), ("domani", 1), ("dopodomani", 2)],
        no_day_behind: "",
        units: ["giorno giorni", "settimana settimane", "fine_settimana", "mese mesi", "anno anni"],
        this: "questo questa",
        last: "scorso scorsa scorsi scorse ultimo ultima ultimi ultime",
        next: "prossimo prossima prossimi prossime",
        ago: ["", "fa"],
        ahead: "tra fra",
        numbers: ["un una uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci"],
        on: "il",
        in_month: "a in da",
        of: "di del",
        has_plain_weekdays: true,
    },
    Tongue {
        names: names::PORTUGUESE,
        days: &[("hoje", 0), ("ontem", -1), ("anteontem", -2), ("amanha", 1), ("depois_de_amanha", 2)],
        no_day_behind: "",
        units: ["dia dias", "semana semanas", "fim_de_semana", "mes meses", "ano anos"],
        this: "este esta neste nesta",
        last: "passado passada passados passadas ultimo ultima ultimos ultimas",
        next: "proximo proxima proximos proximas que_vem",
        ago: ["ha", "atras"],
        ahead: "daqui_a",
        numbers: ["um uma", "dois duas", "tres", "quatro", "cinco", "seis", "sete", "oito", "nove", "dez"],
        on: "na no em",
        in_month: "em",
        of: "de do",
        has_plain_weekdays: false,
    },
    Tongue {
        names: names::DUTCH,
        days: &[("vandaag", 0), ("gisteren", -1), ("eergisteren", -2), ("overmorgen", 2)],
        no_day_behind: "",
        units: ["dag dagen", "week weken", "weekend weekends", "maand maanden", "jaar"],
        this: "deze dit",
        last: "vorige vorig afgelopen",
        next: "volgende volgend komende komend",
        ago: ["", "geleden"],
        ahead: "over",
        numbers: ["een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen", "tien"],
        on: "op",
        in_month: "in sinds",
        of: "",
        has_plain_weekdays: true,
    },
    names_only(names::SWEDISH, "pa i den", "i", true),
    names_only(names::DANISH, "pa i den", "i", true),
    names_only(names::NORWEGIAN, "pa i den", "i", true),
    names_only(names::POLISH, "w we", "w", false),
    names_only(names::CZECH, "v ve", "v", false),
    names_only(names::RUSSIAN, "в во", "в", false),
    names_only(names::UKRAINIAN, "в у", "в у", false),
    names_only(names::TURKISH, "", "", false),
];
