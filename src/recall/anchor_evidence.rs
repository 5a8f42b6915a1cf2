//! Which of a user's anchors a message calls for, and how strongly.

use crate::{
    english::query::{AskedAttribute, Query, Whom},
    model::{
        anchor::{Anchor, Cardinality},
        profile::rounded,
    },
    text::words::query_words,
};

/// The message asks for the attribute of this subject.
const KEY: f64 = 0.8;
/// The message names the value: this score plus [`WHOLE_VALUE`] times the share of the value's words that it names.
const VALUE: f64 = 0.6;
const WHOLE_VALUE: f64 = 0.2;
/// The message names the subject.
const SUBJECT: f64 = 0.6;
/// The message names nothing of the user's single-valued anchor, but the user speaks of themselves.
const SELF_ONE: f64 = 0.25;
/// The same for an anchor of the user with many values.
const SELF_MANY: f64 = 0.2;
/// The factor for an anchor that no longer holds, if its attribute is asked for.
const ENDED: f64 = 0.5;
/// The message names nothing of the anchor, but the anchor says who the user is, which every context shows.
const ALWAYS: f64 = 0.1;

/// Returns the anchors that a message calls for, best first, each with its score, above 0 and at most 1.
///
/// A score is relevance times strength (`1 - 0.5^n` for n turns that say so: design of the project, section 2). Relevance
/// combines reasons as if they were independent, `1 - (1-a)(1-b)...`: the attribute is asked for (0.8), the value is named
/// (0.6 to 0.8), the subject is named (0.6). If none applies and the user speaks of themselves, it is 0.25 for the user's
/// single-valued anchors and 0.2 for the user's others; in any other message, 0.1 for the user's single-valued ones. An
/// anchor with one turn already has half its strength, so anything matched (0.6 of 0.5) ranks above anything unmatched (0.25
/// of 1).
///
/// An anchor that no longer holds counts fully if the message asks for the past and matches it, and half if the message asks
/// for its attribute, so that the old value is not taken for the new one. A retracted one never counts, and neither does one that contests
/// another. Ties are broken by
/// key, then value.
pub(crate) fn relevant<'a>(query: &Query, anchors: &'a [Anchor]) -> Vec<(&'a Anchor, f64)> {
    let mut found: Vec<(f64, String, &Anchor)> = anchors
        .iter()
        .filter(|anchor| anchor.retracted_at.is_none() && anchor.contests.is_none())
        .filter_map(|anchor| {
            let relevance = match matched(query, anchor) {
                matched if matched > 0.0 && (anchor.is_current() || query.asks_of_past) => matched,
                matched if is_asked(query, anchor) => ENDED * matched,
                _ => background(query, anchor).filter(|_| anchor.is_current())?,
            };
            // Rounded, so that machines that differ in the last bit agree.
            let score = rounded((relevance * anchor.strength).clamp(0.0, 1.0));
            (score > 0.0).then(|| (score, anchor.key(), anchor))
        })
        .collect();
    let by_name = |a: &(f64, String, &Anchor), b: &(f64, String, &Anchor)| {
        (&a.1, &a.2.value, a.2.id).cmp(&(&b.1, &b.2.value, b.2.id))
    };
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| by_name(a, b)));
    found.into_iter().map(|(score, _, anchor)| (anchor, score)).collect()
}

/// Returns the anchors that no longer hold and whose attribute is asked for, each with the one that replaced it.
pub(crate) fn ended<'a>(query: &Query, anchors: &'a [Anchor]) -> Vec<(&'a Anchor, &'a Anchor)> {
    let ended = anchors.iter().filter(|anchor| anchor.retracted_at.is_none() && is_asked(query, anchor));
    let newer = |anchor: &Anchor| anchors.iter().find(|newer| Some(newer.id) == anchor.superseded_by);
    ended.filter_map(|anchor| Some((anchor, newer(anchor)?))).collect()
}

/// How much of an anchor the message names or asks for.
fn matched(query: &Query, anchor: &Anchor) -> f64 {
    let is_named = is_named(query, &anchor.subject);
    let reasons = [
        if is_asked(query, anchor) { KEY } else { 0.0 },
        named_share(query, &anchor.value).map_or(0.0, |share| VALUE + WHOLE_VALUE * share),
        if is_named { SUBJECT } else { 0.0 },
    ];
    1.0 - reasons.iter().map(|reason| 1.0 - reason).product::<f64>()
}

fn is_asked(query: &Query, anchor: &Anchor) -> bool {
    let is_named = is_named(query, &anchor.subject);
    let of_attribute = query.asked.iter().filter(|asked| asked.attribute == anchor.attribute);
    of_attribute.into_iter().any(|asked| is_subject(*asked, &anchor.subject, is_named))
}

fn is_subject(asked: AskedAttribute, subject: &str, is_named: bool) -> bool {
    match asked.of {
        Whom::User => subject == "user",
        Whom::Assistant => subject == "assistant",
        Whom::Other => is_named,
    }
}

/// Whether the message contains a subject's name, as a name or in lower case.
fn is_named(query: &Query, subject: &str) -> bool {
    if matches!(subject, "user" | "assistant") {
        return false;
    }
    let words = query_words(subject);
    query.names.iter().any(|name| name == subject)
        || (!words.is_empty() && words.iter().all(|word| query.words.contains(word)))
}

/// Returns the share of a value's words that the message contains, if it is at least half or one of them is a name there:
/// `Anna` names half of `sister anna`.
fn named_share(query: &Query, value: &str) -> Option<f64> {
    const LEAST: f64 = 0.5;
    let words = query_words(value);
    let said_count = words.iter().filter(|word| query.words.contains(word)).count();
    if said_count == 0 {
        return None;
    }
    let count = |len: usize| u32::try_from(len).map_or(f64::MAX, f64::from);
    let share = count(said_count) / count(words.len());
    let has_name = || {
        let names = query.names.iter().flat_map(|name| query_words(name));
        names.into_iter().any(|name| words.contains(&name))
    };
    (share >= LEAST || has_name()).then_some(share)
}

/// The score of an anchor that the message does not name.
fn background(query: &Query, anchor: &Anchor) -> Option<f64> {
    let is_one = anchor.attribute.cardinality() == Cardinality::One;
    match (anchor.subject == "user", query.refers_to_self, is_one) {
        (true, true, true) => Some(SELF_ONE),
        (true, true, false) => Some(SELF_MANY),
        (true, false, true) => Some(ALWAYS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::{
        compress::fold::strength,
        model::{anchor::Attribute, ids::AnchorId, memory::trust::Trust},
    };

    fn now() -> DateTime<Utc> {
        "2023-11-15T14:30:00Z".parse().unwrap()
    }

    /// `user.home = Lisbon x2`, said twice; a leading `-`: no longer holds; a leading `!`: retracted.
    fn anchor(line: &str) -> Anchor {
        let (key, value) = line.trim_start_matches(['-', '!']).split_once(" = ").unwrap();
        let (value, count) =
            value.split_once(" x").map_or((value, 1), |(value, count)| (value, count.parse().unwrap()));
        let (subject, attribute) = key.rsplit_once('.').unwrap();
        Anchor {
            id: AnchorId::new(now()),
            subject: subject.to_owned(),
            attribute: Attribute::from_word(attribute).unwrap(),
            value: value.to_owned(),
            strength: strength(count),
            evidence: Vec::new(),
            valid_from: now(),
            valid_until: line.starts_with('-').then(now),
            superseded_by: None,
            contests: None,
            trust: Trust::User,
            retracted_at: line.starts_with('!').then(now),
        }
    }

    const ANCHORS: &[&str] = &[
        "user.name = Alex x4",
        "user.home = Lisbon x2",
        "-user.home = Berlin",
        "!user.home = Rome",
        "user.job = nurse",
        "user.pets = dog Max",
        "user.pets = cat Mia",
        "user.family = sister Anna",
        "user.likes = green tea",
        "user.health = peanut allergy",
        "user.birthday = May 5",
        "caroline.home = Oslo",
        "caroline.likes = hiking",
        "assistant.name = Iris",
    ];

    fn found(message: &str) -> Vec<(String, f64)> {
        let anchors: Vec<Anchor> = ANCHORS.iter().map(|line| anchor(line)).collect();
        let query = Query::understand(message, now());
        let shown = |(anchor, score): (&Anchor, f64)| (format!("{} {}", anchor.key(), anchor.value), score);
        relevant(&query, &anchors).into_iter().map(shown).collect()
    }

    /// Checks the best results, in this order.
    #[track_caller]
    fn check(message: &str, expected: &[&str]) {
        let found = found(message);
        let keys: Vec<&str> = found.iter().map(|(key, _)| &**key).take(expected.len()).collect();
        assert_eq!(keys, expected, "{message:?}: {found:?}");
        assert!(found.iter().all(|(_, score)| *score > 0.0 && *score <= 1.0));
    }

    #[test]
    fn what_is_asked_for_comes_first() {
        check("Where do I live?", &["user.home Lisbon"]);
        check("what's my name?", &["user.name Alex"]);
        check("what do I do for a living", &["user.job nurse"]);
        check("When is my birthday?", &["user.birthday May 5"]);
        check("What is my dog's name?", &["user.pets dog Max", "user.pets cat Mia"]);
        check("What's my sister's name?", &["user.family sister Anna"]);
        check("What should I cook tonight?", &["user.health peanut allergy"]);
        check("am I allergic to anything?", &["user.health peanut allergy"]);
        check("What is your name?", &["assistant.name Iris"]);
    }

    #[test]
    fn what_is_named_comes_first() {
        check("How is Max doing?", &["user.pets dog Max"]);
        check("I am meeting Anna later", &["user.family sister Anna"]);
        check("is green tea healthy?", &["user.likes green tea"]);
        check("what's the weather in lisbon", &["user.home Lisbon"]);
        check("Where does Caroline live?", &["caroline.home Oslo", "caroline.likes hiking"]);
        check("what does caroline like?", &["caroline.likes hiking", "caroline.home Oslo"]);
    }

    #[test]
    fn single_values_of_the_user_are_always_wanted_and_rank_last() {
        let keys: Vec<String> = found("How do tides work?").into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["user.name Alex", "user.home Lisbon", "user.birthday May 5", "user.job nurse"]);
        let scores = found("Where does Caroline live, and how is my Max?");
        let place = |key: &str| scores.iter().position(|(found, _)| found == key).unwrap();
        assert!(place("caroline.likes hiking") < place("user.name Alex"), "{scores:?}");
        assert!(place("user.pets dog Max") < place("user.name Alex"), "{scores:?}");
    }

    #[test]
    fn who_speaks_of_themself_calls_for_all_of_their_own() {
        let keys: Vec<String> =
            found("Remember when I wore my blue coat?").into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys.iter().filter(|key| key.starts_with("user.")).count(), 9, "{keys:?}");
        assert!(keys.iter().all(|key| key.starts_with("user.")));
    }

    #[test]
    fn what_held_once_is_found_only_where_the_past_or_its_attribute_is_asked_for() {
        let has_berlin = |message: &str| found(message).iter().any(|(key, _)| key == "user.home Berlin");
        assert!(has_berlin("Where did I use to live?"));
        assert!(has_berlin("Where did I live in 2020?"));
        assert!(has_berlin("where did I live before?"));
        assert!(has_berlin("Where do I live?"));
        let score =
            |key: &str| found("Where do I live?").into_iter().find(|(found, _)| found == key).unwrap().1;
        assert!(score("user.home Berlin") < score("user.home Lisbon"));
        assert!(!has_berlin("How is my dog?"));
        assert!(!has_berlin("What was my old job?"), "another attribute");
        let all = ["Where did I use to live?", "Rome", "my home"].map(found).concat();
        assert!(all.iter().all(|(key, _)| key != "user.home Rome"), "retracted");
    }

    #[test]
    fn a_value_said_more_often_ranks_higher_and_ties_go_by_key_and_value() {
        let anchors: Vec<Anchor> =
            ["user.likes = tea", "user.likes = jazz", "user.hobbies = chess", "user.likes = rain x3"]
                .map(anchor)
                .into();
        let query = Query::understand("What do I like, and what are my hobbies?", now());
        let order: Vec<&str> = relevant(&query, &anchors).iter().map(|(anchor, _)| &*anchor.value).collect();
        assert_eq!(order, ["rain", "chess", "jazz", "tea"]);
    }
}
