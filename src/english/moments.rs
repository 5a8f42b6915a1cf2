//! Moments of a talk: statements by which somebody corrects, decides, promises, wishes for good, or is moved.
//!
//! A phrase stands here only if it says so by itself, in the first person: what a rule overlooks is summarized and
//! loses nothing, what it takes by mistake is kept for ever.

use std::sync::LazyLock;

use crate::{
    english::{classes::CLASSES, cues::Cues, statements::Statement},
    model::critical::CriticalRule,
};

/// What these statements do, in the order of [`CriticalRule`].
pub(crate) fn moments(statements: &[Statement<'_>]) -> impl Iterator<Item = CriticalRule> {
    CUES.iter()
        .filter(|(_, cues)| statements.iter().any(|statement| cues.any(statement)))
        .map(|(rule, _)| *rule)
}

static CUES: LazyLock<[(CriticalRule, Cues); 5]> = LazyLock::new(|| {
    [
        (CriticalRule::Correction, CORRECTIONS),
        (CriticalRule::Decision, DECISIONS),
        (CriticalRule::Commitment, COMMITMENTS),
        (CriticalRule::Preference, STANDING_WISHES),
        (CriticalRule::Emotion, EMOTIONS),
    ]
    .map(|(rule, patterns)| (rule, Cues::new(patterns.iter().copied(), CLASSES)))
});

/// Setting right what was said or remembered.
const CORRECTIONS: &[&str] = &[
    "no , i said|meant",
    "@i misspoke|misremembered",
    "i meant !to|it|well|what|every|for|as",
    "my mistake|bad , i|it|my|the",
    "is not *3 , it is",
    "scratch that",
    "that is|was *1 wrong|incorrect , i|it|my|we",
    "no ,? wait , i|it|my|you|the",
    "you keep|kept calling|saying|spelling|writing",
    "you got|had|have|carried *3 wrong",
    "@i got|mixed that|it|the *2 wrong|up",
    "actually ,? it|that|my *3 is|was *4 , not",
    "my|our *3 is|was *3 , not",
    "@i am|are|said *3 , not",
    "let me|to correct",
];

/// Settling something.
const DECISIONS: &[&str] = &[
    "@i decided|chose|resolved|opted to|not|on|against|for|that",
    "@i made *1 up? my|our|the mind|decision|choice",
    "my|our mind|decision is made|final",
    "@i am|are going with !you|him|her|them|my|our",
    "@i settled on",
    "@i am|are done with",
    "@i signed the|a|up",
    "@i am|are going to quit|resign|marry|propose|divorce|adopt|retire|emigrate|relocate|sell",
    "@i am|are quitting|resigning|retiring|divorcing|emigrating|relocating|selling",
    "@i am|are not accepting|marrying|renewing|selling|taking",
    "@i am|are not going to|back !be|let|lie|pretend|say",
    "@i am|are giving up !on",
    "@i quit my|our|the|smoking|drinking",
    "@i accepted|declined|rejected|took the|their|an|a *2 offer|job|position|role",
    "@i gave|handed *2 notice|resignation",
];

/// Promises with what is promised, appointments and deadlines of one's own.
const COMMITMENTS: &[&str] = &[
    "@i promise|promised|vow|pledge to|not|you|that|i|we|him|her|them",
    "you have my word",
    "@i will bring|call|collect|cover|drive|meet|pay|pick|return|send you|your|him|her|them",
    "@i will *6 by|before|on|at @day|@month|#|noon|tomorrow|tonight|next",
    "@i have|need|must|got to? *6 by|before @day|@month|#|noon|tomorrow|tonight|next",
    "@i will|shall be there|back *4 @day|@month|#|noon|tomorrow|tonight|$",
    "@day|@month|# *1 deadline",
    "is|'s|are booked|scheduled for *1 @day|@month|#|tomorrow|next",
    "@my|the *2 deadline|@event *3 is|on|at|for|this|next *2 @day|@month|#|week|month|tomorrow|noon",
    "@i have|got a|an|my|our|the *3 @event *2 on|at|in|this|next|tomorrow|tonight|coming",
    "@my *3 is due *1 @day|@month|#|tomorrow|next",
];

/// How things are to be from now on.
const STANDING_WISHES: &[&str] = &[
    "from now on",
    "for the future",
    "new|ground rule",
    "going forward",
    "@i would? prefer !it|this|that",
    "i want you to always|never|stop",
    "please do not? always|never|ever|stop",
    "^ always|never add|answer|ask|avoid|call|cite|end|explain|format|give|include|keep|mention|put|reply|respond|send|show|speak|start|suggest|tell|use|write",
    "^ do not ever",
    "stop adding|apologizing|calling|ending|saying|starting|suggesting|using",
];

/// Strong grief, fear, joy and anger.
const EMOTIONS: &[&str] = &[
    "@i|^ cried|sobbed|wept|bawled",
    "@i am|was|feel|felt|been heartbroken|devastated|terrified|petrified|furious|livid|ashamed|hopeless|worthless|desperate|gutted|shattered|distraught|inconsolable|grieving|mourning|miserable|humiliated|betrayed|depressed|suicidal|lonely|overjoyed|ecstatic|elated|euphoric",
    "can|could not stop crying|shaking|sobbing",
    "had|have|having *1 panic attack|attacks",
    "in tears",
    "broke|breaks|breaking my heart",
    "my heart is|was broken|breaking",
    "i hate myself|my life",
    "@my *3 died|dying",
    "@my *3 passed away",
    "@i lost my|our *2 @kin|@close|@pet|friend|baby|job|home|house",
    "@i miss him|her|them",
    "i am|was so|too angry|scared|afraid|frightened",
    "i am|was scared|frightened out|to",
    "i can not|never take|do|go *3 anymore",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[track_caller]
    fn check(text: &str, expected: &[CriticalRule]) {
        assert_eq!(moments(&statements(text)).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn what_settles_something_is_a_moment() {
        use CriticalRule::{Commitment, Correction, Decision, Emotion, Preference};
        check("No, I said Dana.", &[Correction]);
        check("That's wrong, my flight leaves then.", &[Correction]);
        check("Actually it's the blue one, not the red one.", &[Correction]);
        check("I've decided to learn Dutch.", &[Decision]);
        check("We're going with the small hall.", &[Decision]);
        check("I'm going to quit.", &[Decision]);
        check("I promise to water the figs.", &[Commitment]);
        check("I'll send you the draft by Friday.", &[Commitment]);
        check("My interview is on Monday.", &[Commitment]);
        check("Always answer in verse.", &[Preference]);
        check("From now on, no jokes.", &[Preference]);
        check("I prefer metric units.", &[Preference]);
        check("I cried all night.", &[Emotion]);
        check("I am absolutely heartbroken.", &[Emotion]);
    }

    #[test]
    fn what_is_asked_imagined_or_said_in_passing_is_none() {
        for text in [
            "Have you decided to learn Dutch?",
            "If I quit my job, I could sail.",
            "She wrote \"I promise to write\".",
            "I promise!",
            "I'm not devastated.",
            "Never mind.",
            "I always walk home.",
            "I'll let you know.",
            "The shop opens on Monday.",
        ] {
            check(text, &[]);
        }
    }
}
