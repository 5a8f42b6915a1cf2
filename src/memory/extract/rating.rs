//! Rates the memories that a reply used, from the user's own words after it. The reply itself rates nothing, even if it
//! repeats a memory.

use crate::{
    english::{
        lessons::{Lesson, lessons, tells},
        statements::statements,
    },
    memory::extract::echo::{is_echoed, stems},
    model::{
        memory::words::Outcome,
        turn::{Origin, Said},
    },
};

/// How many characters of a message are examined: a user says in the beginning whether the reply worked, and what comes
/// later is about something else.
const LOOKED_AT: usize = 60;

/// Returns whether a person's message begins by saying that the reply worked or did not, and the words that say so.
pub(crate) fn verdict(next: &Said) -> Option<(Outcome, &str)> {
    if next.user_origin == Origin::User { verdict_of(&next.user_message) } else { None }
}

/// Returns which of these memories a reply echoes, if it is exactly one.
pub(crate) fn echoed(reply: &str, memories: &[String]) -> Option<usize> {
    let reply = stems(reply);
    let mut echoed = memories.iter().enumerate().filter(|(_, memory)| is_echoed(&stems(memory), &reply));
    let (at, _) = echoed.next()?;
    echoed.next().is_none().then_some(at)
}

fn verdict_of(message: &str) -> Option<(Outcome, &str)> {
    let end = message.char_indices().nth(LOOKED_AT).map_or(message.len(), |(at, _)| at);
    let (mut found, mut is_torn) = (None, false);
    for statement in statements(message) {
        let told = lessons(&statement);
        for (lesson, outcome) in [(Lesson::Worked, Outcome::Success), (Lesson::Failed, Outcome::Failure)] {
            let Some(cue) = tells(lesson, &told) else { continue };
            let Some(last) = statement.tokens.get(cue.end.wrapping_sub(1)) else { continue };
            let told_until = last.text.as_ptr() as usize + last.text.len() - message.as_ptr() as usize;
            if told_until > end {
                continue;
            }
            match found {
                None => found = Some((outcome, statement.stated())),
                Some((known, _)) => is_torn |= known != outcome,
            }
        }
    }
    found.filter(|_| !is_torn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::turn::NewTurn;

    #[track_caller]
    fn check(message: &str, expected: Option<(Outcome, &str)>) {
        assert_eq!(verdict_of(message), expected, "{message:?}");
    }

    #[test]
    fn the_first_words_of_a_message_say_how_it_went() {
        check(
            "The white noise worked, thank you!",
            Some((Outcome::Success, "The white noise worked, thank you!")),
        );
        check("That didn't help. What else?", Some((Outcome::Failure, "That didn't help.")));
        check("That did not work.", Some((Outcome::Failure, "That did not work.")));
        check("Nope, still not working", Some((Outcome::Failure, "Nope, still not working")));
        for message in [
            "Did it work?",
            "And then?",
            "She said that it worked.",
            "The first one worked. The other did not work.",
            "If that worked, I'd be glad.",
            "I have another question about the garden and the trees that stand there. That worked.",
            "\"That worked\" is what the sign says",
            "",
        ] {
            check(message, None);
        }
    }

    #[test]
    fn one_memory_is_echoed_and_of_two_none() {
        const NOISE: &str = "White noise calms a crying baby.";
        const CARRY: &str = "Carrying a crying baby upright calms it.";
        let both = [CARRY, NOISE].map(str::to_owned);
        assert_eq!(echoed("Put on white noise: it calms.", &both), Some(1));
        assert_eq!(echoed("White noise calms a crying baby, so does carrying it upright.", &both), None);
        assert_eq!(echoed("Sleep well.", &both), None);
    }

    #[test]
    fn what_a_tool_says_rates_nothing() {
        let said = NewTurn::new("That worked!", "").said;
        assert!(verdict(&said).is_some());
        assert_eq!(verdict(&Said { user_origin: Origin::Tool, ..said }), None);
    }
}
