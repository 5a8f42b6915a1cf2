//! Dates that somebody keeps: a day or an hour to come, in a statement that tells neither the past nor a habit.

use std::{collections::HashSet, sync::LazyLock};

use crate::english::{
    classes::{is_of, set},
    statements::Statement,
};

/// Verbs in the past that do not end in `ed`.
const PAST: &str = "was were had did went got saw took met came made said told found felt left won lost sold bought heard ran ate drank slept \
    woke broke wrote read kept thought began gave knew spent held built brought drove fell flew grew paid sent sat spoke stood taught tried \
    last ago yesterday once used usually every always often sometimes mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends \
    been would could should might maybe perhaps either";
/// Words that make a date one's own.
const OWN: &[&str] = &["i", "my", "me", "we", "our", "us"];
/// Words of what is arranged.
const ARRANGED: &str = "booked scheduled deadline due appointment interview exam surgery flight hearing wedding funeral audition presentation \
    meeting call viva operation scan checkup deliver delivery submit finish start starts starting land lands arrive arrives leave leaves leaving \
    flying driving moving meet meeting pick bring come coming send pay return closes begins kickoff launch handover party dinner lunch train plane \
    bus boat ferry shift lesson rehearsal gig match race visit dentist doctor vet physio promise be back";

static PAST_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(PAST));
static ARRANGED_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ARRANGED));

/// Whether a statement names a day or hour to come that its author is bound to.
pub(crate) fn is_dated_plan(statement: &Statement<'_>) -> bool {
    let words: Vec<&str> = statement.tokens.iter().map(|token| &*token.lower).collect();
    let is_past = words.iter().enumerate().any(|(at, word)| {
        let follows = at == 0
            || matches!(
                words[at - 1],
                "i" | "we" | "he" | "she" | "they" | "it" | "that" | "who" | "just" | "and" | ","
            );
        PAST_WORDS.contains(word) || (follows && word.len() > 4 && word.ends_with("ed"))
    });
    let is_own = words.iter().any(|word| OWN.contains(word));
    let is_arranged = words.iter().any(|word| ARRANGED_WORDS.contains(word));
    !is_past && is_own && is_arranged && (0..words.len()).any(|at| is_date(&words, at))
}

/// Whether a date or an hour stands here.
fn is_date(words: &[&str], at: usize) -> bool {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let is_number =
        |at: usize| word(at).starts_with(|c: char| c.is_ascii_digit()) || is_of("ordinal", word(at));
    let is_month = |at: usize| is_of("month", word(at)) && word(at) != "may";
    let this = word(at);
    let is_day = is_of("day", this) && !matches!(this, "sun" | "sat" | "wed" | "mon" | "today" | "weekend");
    let is_day_of_month = (is_month(at) && is_number(at + 1))
        || (is_number(at) && (is_month(at + 1) || (word(at + 1) == "of" && is_month(at + 2))));
    let is_hour = at > 0
        && matches!(word(at - 1), "at" | "by" | "before" | "from" | "around")
        && (is_number(at) || matches!(this, "noon" | "midnight" | "dawn"));
    let is_the_day = at > 1
        && word(at - 1) == "the"
        && matches!(word(at - 2), "on" | "by" | "is" | "for" | "till" | "until" | "before")
        && (this.ends_with("th") || this.ends_with("st") || this.ends_with("nd") || this.ends_with("rd"))
        && is_number(at);
    let is_next = matches!(word(at), "next" | "this")
        && matches!(
            word(at + 1),
            "week" | "month" | "weekend" | "year" | "summer" | "spring" | "autumn" | "winter"
        );
    is_day || is_day_of_month || is_hour || is_the_day || is_next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(statements(text).iter().any(is_dated_plan), expected, "{text:?}");
    }

    #[test]
    fn a_date_to_come_that_binds_is_a_plan() {
        check("My flight is on Friday", true);
        check("We fly home, my flight leaves at 6", true);
        check("I start on the 5th", true);
        check("I start on March 5", true);
        check("I start on 5 March", true);
        check("I start on the fifth of March", true);
        check("I start at noon", true);
        check("I start next week", true);
    }

    #[test]
    fn the_past_habits_and_others_are_none() {
        check("My flight was on Friday", false);
        check("I started on Friday, my flight", false);
        check("My flight is every Friday", false);
        check("I might start on Friday", false);
        check("The flight is on Friday", false);
        check("I rest on Friday", false);
        check("I start soon", false);
        check("I start the 5th chapter", false);
    }
}
