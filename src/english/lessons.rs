//! Lessons of a conversation: statements in which somebody decides something, names a problem, says what fixed it, or says
//! that something worked or did not.
//!
//! `lists/lessons.txt` has only phrases that show a lesson without other evidence: a lesson that is missed can be saved by
//! hand, but a statement taken for one by mistake is noise.

use std::sync::LazyLock;

use crate::english::{
    borrowed::is_borrowed,
    classes::{CLASSES, is_of},
    cues::{CueMatch, Cues},
    lists::{List, is_in, list, spaced},
    statements::{Statement, StatementToken},
};

/// What a statement tells that is worth knowing later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// What was chosen.
    Decision,
    /// What is wrong.
    Problem,
    /// What fixed it.
    Fix,
    /// What was said before worked.
    Worked,
    /// What was said before did not work.
    Failed,
}

impl Lesson {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "decision" => Self::Decision,
            "problem" => Self::Problem,
            "fix" => Self::Fix,
            "worked" => Self::Worked,
            "failed" => Self::Failed,
            _ => return None,
        })
    }
}

/// Lines of the form `lesson: pattern`.
static PATTERNS: List = list!("lessons");
/// Phrases that say that a thing holds for hours or less, or that point to what only the conversation shows.
static FLEETING: List = list!("fleeting");
static COMPANY: List = list!("company");

/// The lesson of each pattern, and the patterns.
static CUES: LazyLock<(Vec<Option<Lesson>>, Cues)> = LazyLock::new(|| {
    let lines: Vec<(&str, &str)> = PATTERNS.lines().filter_map(|line| line.split_once(": ")).collect();
    let lessons = lines.iter().map(|(lesson, _)| Lesson::from_word(lesson)).collect();
    (lessons, Cues::new(lines.iter().map(|(_, pattern)| *pattern), CLASSES))
});

static TAKING_BACK: List = list!("taking_back");
static TURNING: List = list!("turning");

/// Returns the lessons that a statement tells, each with its match, in order.
pub(crate) fn lessons(statement: &Statement<'_>) -> Vec<(Lesson, CueMatch)> {
    let (lessons, cues) = &*CUES;
    let told = cues.all(statement).into_iter().filter_map(|found| Some((lessons[found.pattern]?, found)));
    told.filter(|(lesson, found)| {
        holds(*lesson, &statement.tokens, *found) && !is_borrowed(statement, *found)
    })
    .collect()
}

/// Returns the first match of this lesson.
pub(crate) fn tells(lesson: Lesson, told: &[(Lesson, CueMatch)]) -> Option<CueMatch> {
    told.iter().find(|(it, _)| *it == lesson).map(|(_, found)| *found)
}

fn holds(lesson: Lesson, tokens: &[StatementToken<'_>], found: CueMatch) -> bool {
    let before = &tokens[found.start.saturating_sub(3)..found.start];
    let own = before.iter().rev().take_while(|token| !token.is_mark());
    let mut said = own.chain(&tokens[found.start..found.end]);
    match lesson {
        Lesson::Problem | Lesson::Failed => true,
        Lesson::Decision => {
            begins_a_clause(tokens, found)
                && !goes_along(tokens, found)
                && !points(tokens, found)
                && !said.any(|token| is_in("never would could might", &token.lower))
        }
        Lesson::Fix | Lesson::Worked => {
            !said.any(|token| TAKING_BACK.contains(&token.lower))
                && !tokens[found.end..].iter().any(|token| TURNING.contains(&token.lower))
        }
    }
}

/// Whether a match begins a clause. This excludes `the plan we agreed on` and `when I decided to stay`.
fn begins_a_clause(tokens: &[StatementToken<'_>], found: CueMatch) -> bool {
    const BEFORE: &str = "and so then because since as therefore well ok okay yes yeah yep alright sure today think guess hence";
    let before = tokens[..found.start].iter().rev().find(|token| !token.is_passed_over);
    before.is_none_or(|token| token.is_mark() || is_in(BEFORE, &token.lower))
}

/// Whether only the conversation shows what is chosen: `we agreed to keep this up`, `let's go with option 2` or `plan B`.
fn points(tokens: &[StatementToken<'_>], found: CueMatch) -> bool {
    const POINTING: &str = "this these those it them option options former latter above";
    const NUMBERED: &str = "plan choice variant version number alternative";
    let is_numbered = tokens[found.end..]
        .windows(2)
        .take(3)
        .any(|pair| is_in(NUMBERED, &pair[0].lower) && pair[1].lower.len() == 1 && !pair[1].is_mark());
    if is_numbered {
        return true;
    }
    let mut object = tokens[found.end..].iter().take_while(|token| !token.is_mark()).take(3);
    object.any(|token| is_in(POINTING, &token.lower))
}

/// Returns where the told part ends: before a clause that doubts, asks or changes the subject. If the sentence continues
/// with what is not stated, such as a question, the last stated part is left out too.
pub(crate) fn told_until(statement: &Statement<'_>, found: CueMatch) -> usize {
    let tokens = &statement.tokens;
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let turns = |at: &usize| {
        matches!(word(*at), "," | ";" | "-" | ".")
            && (is_in("but so which kinda though although however", word(at + 1))
                || is_in("and or", word(at + 1)) && is_in("i we now it that can could", word(at + 2)))
    };
    let mut end = (found.end..tokens.len()).find(turns).unwrap_or(tokens.len());
    let ends_in_a_word = tokens.last().is_some_and(|last| !last.is_mark());
    let is_cut_short = end == tokens.len() && ends_in_a_word && {
        let rest = tokens.last().map_or("", |last| &statement.text[last.end()..]);
        rest.contains(|c: char| c.is_alphanumeric())
    };
    if is_cut_short {
        let last_mark = (found.end..end).rev().find(|at| tokens[*at].is_mark() && *at + 1 < end);
        end = last_mark.unwrap_or(end);
    }
    while end > found.end
        && (tokens[end - 1].is_mark() && tokens[end - 1].lower != "."
            || is_in("but so and or", word(end - 1)))
    {
        end -= 1;
    }
    end
}

/// Whether somebody only goes somewhere, and nothing is chosen: `going with my sister to the beach`.
fn goes_along(tokens: &[StatementToken<'_>], found: CueMatch) -> bool {
    let is_with = tokens[found.start..found.end].iter().any(|token| token.lower == "with");
    is_with
        && tokens[found.end..].iter().take_while(|token| !token.is_mark()).take(5).any(|token| {
            let word = token.lower.as_str();
            matches!(word, "to" | "there" | "home")
                || COMPANY.contains(word)
                || ["kin", "close", "pet"].iter().any(|class| is_of(class, word))
        })
}

/// Whether a text is about something that holds for hours or less, or that only its conversation explains.
pub(crate) fn is_fleeting(text: &str) -> bool {
    FLEETING.is_part_of(&spaced(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[track_caller]
    fn check(lesson: Lesson, text: &str, expected: bool) {
        let heard = statements(text);
        let found = heard.iter().any(|statement| tells(lesson, &lessons(statement)).is_some());
        assert_eq!(found, expected, "{lesson:?} in {text:?}");
    }

    #[test]
    fn what_was_chosen_is_a_decision() {
        for text in [
            "We decided to keep invoices in Postgres.",
            "I've decided against the blue tiles.",
            "Let's go with walnut shelves.",
            "Going with the smaller boiler.",
            "We're going with weekly releases.",
            "I settled on a crimson cover.",
            "We agreed to ship on Fridays only.",
            "The decision was to drop the second queue.",
            "OK, I decided to move the cron jobs to systemd timers.",
            "So we've decided to keep the users' uploads in S3.",
            "I decided to use Go: it compiles fast.",
            "We decided to use Bob's parser for the logs.",
            "Note: we decided to keep the invoices in Postgres.",
            "Good news: I settled on the walnut shelves.",
            "For the new service, we decided to use Go with gRPC.",
            "After a long talk with Bob, I decided to keep the old boiler.",
            "We decided to rotate the passwords every month.",
            "We want no 'clever' code, so we decided to keep the parser simple.",
            "I am tired of the noise: I decided to sell the drums.",
            "We decided to use Bob's parser, said to be the fastest.",
            "I decided to move the cron jobs to systemd, as I said on Monday.",
        ] {
            check(Lesson::Decision, text, true);
        }
    }

    #[test]
    fn what_is_asked_imagined_told_of_others_or_points_back_is_no_decision() {
        for text in [
            "Have you decided to keep invoices in Postgres?",
            "If we decided to move, what would it cost?",
            "My boss says we decided to move.",
            "They decided to keep the old boiler.",
            "Let's go with that.",
            "I'm going with my sister to the lake.",
            "I am going with friends.",
            "She wrote \"we decided to sell\".",
            "> We decided to sell",
            "```\nwe decided to sell\n```",
            "I have not decided.",
            "Let's go with option 2.",
            "We agreed to keep this up.",
            "The plan that we agreed on is fine.",
            "When I decided to stay, it rained.",
            "The blog post reads: I decided to go with DynamoDB for the cart store.",
            "I decided to go with Couch for the mail store, said Bob.",
            "Example sentence: 'We decided to use Go for the new proxy service.'",
            "The headline was 'We decided to use Go for the new proxy service.'",
            "Ich habe gelesen: We decided to use Zig for the old proxy service.",
            "I decided to use Haskell for the parser of the logs service; correction: no, I did not.",
            "I decided to use Haskell for the parser, just kidding.",
            "We decided to use the password hunter2 for the admin account of the router.",
            "I decided to go with plan B.",
            "We agreed to ship on Fridays only, according to the manual.",
            "My character says, I decided to burn the old castle.",
            "Quote of the day - I decided to be happy because it is good for my health.",
            "As the article puts it, we decided to use Go for the proxy service.",
            "We decided to use Go for the proxy service (from the article).",
            "We decided to use Go for the proxy service, or so the wiki has it.",
            "We decided to use Go for the proxy service - that is what the post says.",
            "According to Bob, we decided to use Go for the proxy service.",
            "The README states that we decided to use Go for the proxy service.",
            "Write a story in which I decided to sail around the world.",
            "In the sample dialogue I decided to buy the red bicycle.",
            "We decided to open the door with the pin 4711.",
        ] {
            check(Lesson::Decision, text, false);
        }
    }

    #[test]
    fn what_is_told_ends_where_doubts_and_questions_begin() {
        let check = |text: &str, expected: &str| {
            let heard = statements(text);
            let (statement, found) =
                heard.iter().find_map(|it| Some((it, tells(Lesson::Decision, &lessons(it))?))).unwrap();
            let last = &statement.tokens[told_until(statement, found) - 1];
            assert_eq!(&statement.text[..last.end()], expected);
        };
        check("I decided to sell the boat, but I'm not sure when.", "I decided to sell the boat");
        check("I decided to sell the boat, and I'm wondering how.", "I decided to sell the boat");
        check(
            "I decided to sell the boat and I have no regrets.",
            "I decided to sell the boat and I have no regrets.",
        );
        check(
            "I decided to sell the boat, a green one, how do I begin?",
            "I decided to sell the boat, a green one",
        );
        check(
            "I decided to sell the boat, the car and the shed.",
            "I decided to sell the boat, the car and the shed.",
        );
    }

    #[test]
    fn what_is_in_the_way_is_a_problem() {
        for text in [
            "The boiler keeps losing pressure.",
            "I'm having trouble with the printer.",
            "The import fails on Mondays.",
            "My build does not compile any more.",
            "The gutter is leaking.",
            "We get a timeout from the queue.",
        ] {
            check(Lesson::Problem, text, true);
        }
        for text in ["The boiler is new.", "Does the import fail?", "The problem is solved."] {
            check(Lesson::Problem, text, false);
        }
    }

    #[test]
    fn what_mended_it_is_a_fix() {
        for text in [
            "The fix was to bleed the upper radiator.",
            "Raising the keepalive fixed it.",
            "What solved it was a longer cable.",
            "A new washer did the trick.",
            "I swapped the fuse and it works now.",
        ] {
            check(Lesson::Fix, text, true);
        }
        for text in [
            "Raising the keepalive did not fix it.",
            "Raising the keepalive almost fixed it.",
            "Would that have fixed it?",
            "It works now, but only for a minute.",
            "Maybe a new washer fixed it.",
        ] {
            check(Lesson::Fix, text, false);
        }
    }

    #[test]
    fn that_it_worked_is_told_from_that_it_did_not() {
        for text in [
            "That worked, thanks!",
            "The white noise worked.",
            "It works now.",
            "That fixed it.",
            "Perfect, that did the trick.",
            "This solved the problem.",
        ] {
            check(Lesson::Worked, text, true);
            check(Lesson::Failed, text, false);
        }
        for text in [
            "That didn't work.",
            "It still fails.",
            "No luck.",
            "Still getting the same message.",
            "It made things worse.",
            "It is still not working.",
        ] {
            check(Lesson::Failed, text, true);
            check(Lesson::Worked, text, false);
        }
        for text in ["Did that work?", "I worked late.", "We worked on it.", "That might have worked."] {
            check(Lesson::Worked, text, false);
            check(Lesson::Failed, text, false);
        }
    }

    #[test]
    fn what_holds_for_hours_is_fleeting() {
        assert!(is_fleeting("Going with the red coat tonight."));
        assert!(is_fleeting("We'll use the spare key for now."));
        assert!(!is_fleeting("We decided to keep invoices in Postgres."));
        assert!(!is_fleeting("It works now."));
    }
}
