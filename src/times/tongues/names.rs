//! The names of months and weekdays of languages other than English, from CLDR's tables.

use chrono::Weekday;
use pure_rust_locales as locales;

use crate::text::words::fold;

/// The names in one language, as in CLDR.
#[derive(Debug)]
pub(super) struct LanguageNames {
    /// The form used in dates, and the standalone form if that is different.
    months: &'static [&'static str],
    months_alone: Option<&'static [&'static str]>,
    short_months: &'static [&'static str],
    /// Starting with Sunday.
    weekdays: &'static [&'static str],
}

macro_rules! names {
    ($locale:ident) => {
        LanguageNames {
            months: locales::$locale::LC_TIME::MON,
            months_alone: locales::$locale::LC_TIME::ALT_MON,
            short_months: locales::$locale::LC_TIME::ABMON,
            weekdays: locales::$locale::LC_TIME::DAY,
        }
    };
}

pub(super) const GERMAN: LanguageNames = names!(de_DE);
pub(super) const SPANISH: LanguageNames = names!(es_ES);
pub(super) const FRENCH: LanguageNames = names!(fr_FR);
pub(super) const ITALIAN: LanguageNames = names!(it_IT);
pub(super) const PORTUGUESE: LanguageNames = names!(pt_BR);
pub(super) const DUTCH: LanguageNames = names!(nl_NL);
pub(super) const SWEDISH: LanguageNames = names!(sv_SE);
pub(super) const DANISH: LanguageNames = names!(da_DK);
pub(super) const NORWEGIAN: LanguageNames = names!(nb_NO);
pub(super) const POLISH: LanguageNames = names!(pl_PL);
pub(super) const CZECH: LanguageNames = names!(cs_CZ);
pub(super) const RUSSIAN: LanguageNames = names!(ru_RU);
pub(super) const UKRAINIAN: LanguageNames = names!(uk_UA);
pub(super) const TURKISH: LanguageNames = names!(tr_TR);

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameMeaning {
    /// 1 to 12, and whether the name is in full.
    Month(u32, bool),
    Weekday(Weekday),
}

impl LanguageNames {
    /// Returns every name, folded, with its meaning.
    pub(super) fn all(&self) -> impl Iterator<Item = (String, NameMeaning)> {
        let written = (1..).zip(self.months).chain((1..).zip(self.months_alone.unwrap_or_default()));
        let written = written.map(|(month, name)| (fold(name), NameMeaning::Month(month, true)));
        let short = (1..).zip(self.short_months);
        let short =
            short.map(|(month, name)| (fold(name.trim_end_matches('.')), NameMeaning::Month(month, false)));
        let weekdays = [Weekday::Sun, Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri];
        let weekdays = weekdays.into_iter().chain([Weekday::Sat]).zip(self.weekdays);
        written.chain(short).chain(weekdays.map(|(day, name)| (fold(name), NameMeaning::Weekday(day))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_from_january_and_from_sunday_on() {
        assert_eq!([GERMAN.weekdays, SPANISH.weekdays].map(|days| days[0]), ["Sonntag", "domingo"]);
        assert_eq!(GERMAN.months[2], "März");
        let of_polish = |name| POLISH.all().find(|(word, _)| word == name).unwrap().1;
        assert_eq!(["marca", "marzec"].map(of_polish), [NameMeaning::Month(3, true); 2]);
        assert_eq!(of_polish("mar"), NameMeaning::Month(3, false));
    }
}
