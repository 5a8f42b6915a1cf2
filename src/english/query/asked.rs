//! What a message asks to know of somebody: which attributes of anchors it calls for, and of whom.

use std::sync::LazyLock;

use crate::{
    english::{
        classes::{CLASSES, is_of},
        cues::Cues,
        query::reading::{Part, Reading},
    },
    model::anchor::Attribute::{
        self, Age, Birthday, Diet, Dislikes, Employer, Family, Field, Goals, Health, Hobbies, Home, Hometown,
        Job, Languages, Likes, Name, Pets, Pronouns, Relationship, School,
    },
};

/// An attribute that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) attribute: Attribute,
    pub(crate) of: Whom,
}

/// Whose attribute it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// `where do I live`
    User,
    /// `what is your name`
    Assistant,
    /// `where does Anna live`, `where does my sister live`: the one who is named, if anyone is.
    Other,
}

/// The patterns of `english::cues`. What names no one (`allergies`, `recipe`) is the user's.
const PATTERNS: &[(Attribute, &str)] = &[
    (Name, "my|your|his|her|our full|first|last|real? name !of"),
    (Name, "who am i"),
    (Name, "what am|are i|you called"),
    (Name, "what do|should|can people|friends|you|i|we *1 call me|you|myself"),
    (Pronouns, "my|your|his|her pronouns"),
    (Pronouns, "what|which pronouns"),
    (Birthday, "birthday|bday|birthdate"),
    (Birthday, "when was|were|am|is *2 born"),
    (Birthday, "date of birth"),
    (Age, "how old am|are|is|was"),
    (Age, "my|your|his|her age"),
    (Home, "where do|does|did|am|are|is *3 live|lived|living|based|reside|moved|move"),
    (Home, "where *3 live|lives|lived $"),
    (Home, "what|which city|town|country|place|street|neighborhood|neighbourhood *3 live|lived|living"),
    (
        Home,
        "my|our|your address|home|house|flat|apartment|neighborhood|neighbourhood|city|town|area|place|street",
    ),
    (Home, "near|around me|here|by|us $|that|with|for"),
    (Home, "near me"),
    (Home, "nearby"),
    (Hometown, "where do|does|did|am|are|is *2 come? from"),
    (Hometown, "where was|were|did|is *2 born|raised|grow"),
    (Hometown, "my|your|his|her hometown|birthplace"),
    (Hometown, "my|your home town|country"),
    (Employer, "where do|does|did|am|is *3 work|worked|working|employed"),
    (Employer, "who|whom do|does|did|am|is *3 work|working for"),
    (Employer, "my|our|your employer|company|workplace|boss|office"),
    (Employer, "which|what company *3 work|working|worked"),
    (Job, "what do|does|did *2 do for|as"),
    (Job, "what do i do $"),
    (Job, "my|your|his|her job|profession|occupation|career"),
    (Job, "what is|was|were *2 's job|profession|occupation|career"),
    (Job, "what job|work|profession *3 do|does|have"),
    (Field, "what do|did|does|am|is *2 study|studied|studying|major|majoring|research|researching"),
    (Field, "my|your|his|her field|major|degree|research|studies|thesis|subject"),
    (School, "where do|did|does|am|is *2 study|studied|studying"),
    (School, "my|your|his|her|our school|university|college|uni|alma"),
    (School, "which|what school|university|college"),
    (School, "where *3 go to school|university|college"),
    (Relationship, "am|are|is *2 married|single|engaged|divorced|dating|widowed"),
    (Relationship, "my|your|his|her relationship|marital|marriage status?"),
    (Relationship, "do|does *2 have a girlfriend|boyfriend|partner|wife|husband"),
    (Family, "@my *2 @kin|@close"),
    (Family, "my|our family|relatives|parents|siblings|folks|in-laws"),
    (Family, "do|does|did|how|have i|we|you|he|she|many *3 @kin|@close"),
    (Family, "who is|are|was my"),
    (Pets, "@my *2 @pet"),
    (Pets, "do|does|did|have *2 have|own|get|got? *3 @pet"),
    (Pets, "how many|what @pet|animals"),
    (Pets, "who is *1 's @pet"),
    (Likes, "do|does|did *2 like|love|enjoy|prefer|fancy"),
    (Likes, "my|our|your|his|her|'s favorite|favorites|fave|taste|tastes|preferences|preference"),
    (Likes, "recommend|suggest"),
    (Likes, "recommendation|recommendations|suggestion|suggestions for"),
    (Likes, "what|which *2 should|could|can|shall i|we *3 watch|read|listen|play|buy|see|eat|drink|cook|get"),
    (Likes, "gift|present|surprise for me"),
    (Dislikes, "do|does|did *2 not like|love|enjoy"),
    (Dislikes, "do|does|did *2 hate|dislike|avoid|detest|loathe"),
    (Dislikes, "what|which *2 can i|you|he|she not stand|bear"),
    (Dislikes, "my|your dislikes|peeve|peeves|pet peeve|peeves"),
    (Hobbies, "my|our|your|his|her hobby|hobbies|pastime|pastimes|interests|leisure"),
    (Hobbies, "hobby|hobbies"),
    (Hobbies, "do|does|did *3 for fun|pleasure"),
    (Hobbies, "in|with my|your|his|her free|spare time"),
    (Languages, "which|what languages|language"),
    (Languages, "how many languages"),
    (Languages, "do|does|can *2 speak $|english|german|french|spanish"),
    (Languages, "my native|mother|first|second|other? language|languages|tongue"),
    (Health, "allergic|allergy|allergies|allergens|intolerance|intolerances|intolerant"),
    (
        Health,
        "my|our health|condition|medication|medications|meds|medicine|illness|disease|diagnosis|injury|symptoms|doctor|therapy",
    ),
    (Health, "health|medical condition|conditions|issue|issues|problem|problems|history"),
    (Health, "my *1 @condition"),
    (
        Health,
        "what|which medication|medications|meds|medicine|illness|disease|condition|conditions do|does|am",
    ),
    (Health, "can|should|may i *2 eat|drink|cook|take|have"),
    (Diet, "can|should|may|do i|we *2 eat|drink|cook"),
    (Diet, "my|your|his|her|our diet|eating"),
    (Diet, "am|is|are i|he|she|you *2 @diet"),
    (Diet, "recipe|recipes|dinner|lunch|breakfast|meal|meals|restaurant|restaurants|snack|snacks|menu"),
    (Health, "recipe|recipes|meal|meals|restaurant|restaurants|snack|snacks|menu"),
    (
        Goals,
        "my|our|your|his|her *1 goal|goals|dream|dreams|ambition|ambitions|aim|aims|resolution|resolutions|plans",
    ),
    (Goals, "what do|did|does *2 want|plan|hope|wish|aim|dream to|of|for"),
    (Goals, "what am|was i *1 working|training|saving|aiming|preparing towards|toward|for|on"),
    (Goals, "what do|did i want|hope|plan $"),
];

static CUES: LazyLock<Cues> =
    LazyLock::new(|| Cues::new(PATTERNS.iter().map(|(_, pattern)| *pattern), CLASSES));

/// What the message asks for, each once, in the order of the attributes. What is asked of nobody in particular is
/// asked of the user, unless the message speaks of others only.
pub(super) fn asked(reading: &Reading<'_>, of_others: bool) -> Vec<Asked> {
    let mut found: Vec<Asked> = Vec::new();
    for (sentence, part) in reading.sentences.iter().zip(reading.parts()) {
        for place in CUES.all(sentence) {
            let Some(&(attribute, _)) = PATTERNS.get(place.pattern) else { continue };
            let of = whom(attribute, part, place.start, place.end);
            let of = of.unwrap_or(if of_others { Whom::Other } else { Whom::User });
            let asked = Asked { attribute, of };
            if !found.contains(&asked) {
                found.push(asked);
            }
        }
    }
    // `what do I not like` asks for one of the two.
    if reading.words().any(|word| word == "not") && found.iter().any(|asked| asked.attribute == Dislikes) {
        found.retain(|asked| asked.attribute != Likes);
    }
    found.sort_by_key(|asked| (asked.attribute, asked.of as u8));
    found
}

/// Of whom the words of a pattern ask, if they say so. `my sister's birthday` is hers, not mine; that she is my sister is mine.
fn whom(attribute: Attribute, part: Part<'_>, start: usize, end: usize) -> Option<Whom> {
    let words = || (start..end).map(|at| part.lower(at));
    let has = |list: &[&str]| words().any(|word| list.contains(&word));
    // What leads up to the pattern: `my sister 's` of `my sister's birthday`.
    let led_by = || (start.saturating_sub(3)..start).map(|at| part.lower(at));
    let is_own_kind = matches!(attribute, Family | Pets);
    let is_relative = |word: &str| is_of("kin", word) || is_of("close", word) || is_of("pet", word);
    let is_others =
        !is_own_kind && (words().any(is_relative) || words().chain(led_by()).any(|word| word == "'s"));
    if has(&["i", "we", "am", "me", "us", "myself"]) || (has(&["my", "our"]) && !is_others) {
        Some(Whom::User)
    } else if has(&["your", "you", "yourself"]) {
        Some(Whom::Assistant)
    } else if is_others
        || has(&["he", "she", "his", "her", "does", "is", "was", "did", "has"])
        || led_by().any(|word| matches!(word, "his" | "her" | "their" | "your"))
    {
        Some(Whom::Other)
    } else {
        None
    }
}

const PAST: &[&str] = &[
    "i|we|you|he|she|did|to use|used to",
    "used to",
    "did|do *2 use to",
    "my|our|your|his|her old|former|previous|last|ex|first|earlier|past *1 job|employer|company|boss|home|house|flat|apartment|address|city|name|school|field|role|profession|career|work|town|place|partner",
    "where did *2 live|work|study",
    "who did *2 work",
    "where|who|what was|were i|we|he|she *2 living|working|studying|employed|doing",
    "what did i|we|he|she *1 do for|study|work",
    "formerly|previously|originally|before i|we|moving|that|moved",
    "what was my *1 name|job|employer|address|age|field|profession|home|school|goal",
    "back then",
    "in the past",
    "have|has *2 lived|worked|studied",
    "i|we lived|worked|studied",
    "no longer",
    "any|not anymore|longer",
];

static PAST_CUES: LazyLock<Cues> = LazyLock::new(|| Cues::new(PAST.iter().copied(), CLASSES));

/// Whether it asks how things used to be: `where did I live`, `my old job`.
pub(super) fn asks_of_past(reading: &Reading<'_>) -> bool {
    reading.sentences.iter().any(|sentence| PAST_CUES.any(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_but_the_note_is_asked_for_by_some_pattern() {
        for attribute in Attribute::EVERY {
            let has_pattern = PATTERNS.iter().any(|(asked, _)| *asked == attribute);
            assert_eq!(has_pattern, attribute != Attribute::Note, "{attribute:?}");
        }
    }
}
