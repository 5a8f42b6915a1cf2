//! How memories that a reply used turned out, in the user's own words after it. That a reply repeats a memory rates nothing.

use crate::{
    english::{
        lessons::{Lesson, lessons, tells},
        statements::statements,
    },
    memory::extract::echo::echoes,
    model::{
        memory::words::Outcome,
        turn::{Origin, Said},
    },
};

/// Within so many characters a user says whether what was just replied worked; further on it is about something else.
const LOOKED_AT: usize = 60;

/// A memory that a context showed which a turn answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'m> {
    /// All that it says.
    pub(crate) text: &'m str,
}

/// Which of the memories shown turned out how, and the words that say so: where the next message of a person says within its
/// first 60 characters that it worked or did not, and the reply echoes exactly one of them.
pub(crate) fn rating<'n>(
    reply: &str,
    next: &'n Said,
    shown: &[Shown<'_>],
) -> Option<(usize, Outcome, &'n str)> {
    if next.user_origin != Origin::User {
        return None;
    }
    let (outcome, quote) = verdict(&next.user_message)?;
    let mut echoed = shown.iter().enumerate().filter(|(_, memory)| echoes(memory.text, reply));
    let (at, _) = echoed.next()?;
    echoed.next().is_none().then_some((at, outcome, quote))
}

/// Whether a message begins by saying that something worked, or that it did not; and its words for it.
fn verdict(message: &str) -> Option<(Outcome, &str)> {
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
        assert_eq!(verdict(message), expected, "{message:?}");
    }

    #[test]
    fn the_first_words_of_a_message_say_how_it_went() {
        check(
            "The white noise worked, thank you!",
            Some((Outcome::Success, "The white noise worked, thank you!")),
        );
        check("That didn't help. What else?", Some((Outcome::Failure, "That didn't help.")));
        check("Nope, still not working", Some((Outcome::Failure, "Nope, still not working")));
        for message in [
            "Did it work?",
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
    fn one_memory_that_the_reply_echoes_is_rated_and_of_two_none() {
        const NOISE: &str = "White noise calms a crying baby.";
        const CARRY: &str = "Carrying a crying baby upright calms it.";
        let next = |message: &str| NewTurn::new(message, "").said;
        let rate = |reply: &str, message: &str, shown: &[&str]| {
            let shown: Vec<Shown<'_>> = shown.iter().map(|text| Shown { text }).collect();
            rating(reply, &next(message), &shown).map(|(at, outcome, _)| (at, outcome))
        };
        let both = [CARRY, NOISE];
        let reply = "Put on white noise: it calms.";
        assert_eq!(rate(reply, "That worked!", &both), Some((1, Outcome::Success)));
        assert_eq!(rate(reply, "That did not work.", &both), Some((1, Outcome::Failure)));
        assert_eq!(rate(reply, "And then?", &both), None, "an echo alone rates nothing");
        assert_eq!(
            rate("White noise calms a crying baby, so does carrying it upright.", "That worked!", &both),
            None
        );
        assert_eq!(rate("Sleep well.", "That worked!", &both), None);
        let tool = NewTurn::new("That worked!", "").user_origin(Origin::Tool).said;
        assert_eq!(rating(reply, &tool, &[Shown { text: NOISE }]), None, "a tool rates nothing");
    }
}
