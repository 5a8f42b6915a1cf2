//! How much of a life a statement touches: words of birth, love, work, health and death near an `I`.
//!
//! Patterns find what people often say in the same words. What happens to them once they say in words of their own;
//! these words give it away: each has a weight, and a statement whose weights add up is one to keep.

use std::{collections::HashMap, sync::LazyLock};

use crate::english::{classes::is_of, statements::Statement};

/// What is hardly ever small talk.
const HEAVY: &str = "diagnosed diagnosis divorce divorced pregnant pregnancy miscarriage chemo chemotherapy oncologist tumour tumor biopsy \
    funeral ashes widow widowed widower custody adoption adopted sober sobriety rehab relapse relapsed redundant redundancy laid-off \
    resigned resignation citizenship asylum visa deported naturalised naturalized fiancé fiancée wedding proposed engagement honeymoon \
    mortgage inheritance bankrupt bankruptcy retired retirement pension apprenticeship apprentice thesis doctorate dissertation \
    surgery surgeon transplant dialysis insulin wheelchair stroke seizure seizures cardiologist hospice dementia cancer remission \
    syndrome disorder disability disabled coeliac celiac diabetic epileptic autistic adhd dyslexic trans transition coming-out \
    ordained baptised baptized converted emigrated immigrated refugee enlisted deployed veteran orphan orphaned stepdad stepmum \
    foster born christened midwife contractions newborn trimester ivf triplets vasectomy hysterectomy prosthetic amputated \
    maternity paternity sabbatical promoted promotion fired sacked hired probation parole expelled graduated valedictorian \
    eloped separated remarried ex-husband ex-wife ward bedsit dialysis inhaler epipen allergy allergic vegan vegetarian";
/// What may be small talk, or not.
const WEIGHTY: &str = "job work career boss shift shifts salary employer office clinic hospital doctor gp nurse therapist therapy \
    medication meds pills dose scan results bloods symptoms operation school uni university college degree exam exams class course term \
    semester lecturer teacher apprentices licence license certificate qualified qualify trained training house home flat apartment rent \
    landlord lease moved moving move keys neighbourhood village town country abroad birthday anniversary age years married marry wife \
    husband partner girlfriend boyfriend kids baby babies bump nursery son daughter twins eldest youngest grandkids granddaughter grandson \
    mother father mum mom dad mam sister brother parents nan nana gran grandma grandad grandpa passport church mosque temple \
    synagogue faith religion god language accent native mother-tongue dog cat puppy kitten rescue shelter vet died dead death grave gone \
    hospitalised insured insurance lawyer solicitor court trial contract contracts offer interview notice trade business shop company \
    clients students patients army navy farm pronouns name surname nickname hometown roots originally";
/// That something lasts, or has turned.
const LASTING: &str = "anymore permanently officially finally permanent forever lifelong never always nowadays longer ever eventually \
    already fluent fluently originally";
/// Words that announce news of one's own.
const DISCLOSING: &str = "confession news btw announcement fyi truth secret honest context background admit confess reveal guess update";

/// Where these stand, the others are about a program or a story.
const ELSEWHERE: &str = "function code csv column columns table array string method api script database query endpoint variable json html css python \
    javascript rust java sql regex class button form app website server story novel book film movie series podcast article episode character";

/// Bare memories: what was once, and is told in passing.
const REMEMBERED: &str = "once ago remember back used younger kid little childhood";

/// Whose lives are theirs: `my hairdresser is pregnant`.
const OTHERS: &str = "hairdresser barber boss manager colleague coworker friend friends neighbor neighbors neighbour neighbours flatmate roommate \
    teacher classmate mate client customer somebody someone people he she they everybody everyone guy woman man";

const OWN: &[&str] = &["i", "my", "me", "we", "our", "us", "mine", "myself", "ours"];

/// From this weight on a statement is kept.
const ENOUGH: u32 = 6;

/// Whether a statement touches its author's life deeply enough.
pub(crate) fn is_about_a_life(statement: &Statement<'_>) -> bool {
    weight(statement) >= ENOUGH
}

/// What a word adds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heavy,
    Weighty,
    Lasting,
    Disclosing,
    Elsewhere,
    Remembered,
    Other,
}

static KINDS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| {
    let lists = [
        (LASTING, Kind::Lasting),
        (DISCLOSING, Kind::Disclosing),
        (WEIGHTY, Kind::Weighty),
        (HEAVY, Kind::Heavy),
        (ELSEWHERE, Kind::Elsewhere),
        (REMEMBERED, Kind::Remembered),
        (OTHERS, Kind::Other),
    ];
    lists.iter().flat_map(|(words, kind)| words.split_whitespace().map(|word| (word, *kind))).collect()
});

fn weight(statement: &Statement<'_>) -> u32 {
    /// Of one kind no more words count.
    const MOST_OF_A_KIND: usize = 3;
    let mut words: Vec<(&str, Kind)> = Vec::new();
    let (mut has_own, mut has_kin) = (false, false);
    for token in &statement.tokens {
        let word = &*token.lower;
        has_own |= OWN.contains(&word);
        has_kin |= is_of("close", word) || is_of("kin", word);
        let condition = is_of("condition", word).then_some(&Kind::Heavy);
        if let Some(&kind) = KINDS.get(word).or(condition)
            && !words.iter().any(|(known, _)| *known == word)
        {
            words.push((word, kind));
        }
    }
    let count = |kind: Kind, most: usize| {
        let count = words.iter().filter(|(_, other)| *other == kind).count().min(most);
        u32::try_from(count).unwrap_or(0)
    };
    if count(Kind::Elsewhere, 1) > 0 {
        return 0;
    }
    let weight = 4 * count(Kind::Heavy, MOST_OF_A_KIND)
        + 2 * count(Kind::Weighty, MOST_OF_A_KIND)
        + count(Kind::Lasting, 1)
        + count(Kind::Disclosing, 1)
        + 2 * u32::from(has_own)
        + u32::from(has_kin);
    weight.saturating_sub(2 * count(Kind::Remembered, 1) + 2 * count(Kind::Other, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[track_caller]
    fn check(text: &str, expected: u32) {
        let weights: Vec<u32> = statements(text).iter().map(weight).collect();
        assert_eq!(weights, [expected], "{text:?}");
        assert_eq!(is_about_a_life(&statements(text)[0]), expected >= ENOUGH);
    }

    #[test]
    fn words_of_a_life_add_up() {
        check("The divorce came through", 4);
        check("My divorce came through", 6);
        check("My landlord raised the rent", 6);
        check("My landlord came", 4);
        check("My rent, rent, rent", 4);
        check("My sister came", 5);
        check("We finally came", 3);
        check("Big news from us", 3);
        check("Nice weather", 0);
        check("My eczema is back", 4);
        check("My divorce came through back then", 4);
        check("My hairdresser and her divorce", 4);
        check("My wedding function returns a string", 0);
        check("Divorce surgery chemo biopsy job school house village", 18);
    }
}
