//! Identity anchors that a turn claims, found by patterns: what people say of themselves, in their own words.

mod numbers;
mod phrases;
mod rules;
mod values;
mod words;

use std::sync::LazyLock;

use crate::{
    compress::anchors::{
        rules::{Needs, RULES, Rule, Value},
        values::extract,
        words::Extracted,
    },
    english::{
        classes::CLASSES,
        cues::{Cues, Found},
        statements::{Statement, Token, statements},
    },
    model::{
        anchor::{Attribute, Cardinality, FoundAnchor, Stance},
        turn::{Origin, Said},
    },
    text::subjects::subjects,
};

/// Version of what the rules find: raised when it changes for any turn, so that older anchors are found anew.
pub(crate) const RULES_VERSION: i64 = 1;

/// What a turn claims of its speakers. The reply counts only where a named person wrote it.
pub(crate) fn find(said: &Said) -> Vec<FoundAnchor> {
    let mut found = Vec::new();
    let [user, replier] = subjects(said);
    if let Some(user) = user {
        find_in(&said.user_message, &user, &mut found);
    }
    let is_named_person = said.assistant_name.is_some() && said.assistant_origin == Origin::User;
    if let Some(replier) = replier.filter(|_| is_named_person) {
        find_in(&said.ai_response, &replier, &mut found);
    }
    found
}

/// What these statements claim of `subject`.
pub(crate) fn claims(statements: &[Statement<'_>], subject: &str) -> Vec<FoundAnchor> {
    let mut found = Vec::new();
    for statement in statements {
        add_claims(statement, subject, &mut found);
    }
    found
}

fn find_in(text: &str, subject: &str, found: &mut Vec<FoundAnchor>) {
    for anchor in claims(&statements(text), subject) {
        if !found.contains(&anchor) {
            found.push(anchor);
        }
    }
}

static CUES: LazyLock<Cues> = LazyLock::new(|| Cues::new(RULES.iter().map(|rule| rule.pattern), CLASSES));

/// The most anchors of one message: who claims more pasted a list.
const MOST: usize = 24;

fn add_claims(statement: &Statement<'_>, subject: &str, found: &mut Vec<FoundAnchor>) {
    for place in CUES.all(statement) {
        let rule = RULES[place.pattern];
        let Some(extracted) = extract(rule.value, statement, place) else { continue };
        if !fits(statement, rule, &extracted) {
            continue;
        }
        add(statement, subject, rule, place, &extracted, found);
        // `I live in Hamburg, not Berlin`
        if let Some(denied) = denied(statement, rule, &extracted) {
            add(statement, subject, Rule { stance: Stance::Ends, ..rule }, place, &denied, found);
        }
    }
}

fn add(
    statement: &Statement<'_>,
    subject: &str,
    rule: Rule,
    place: Found,
    extracted: &Extracted,
    found: &mut Vec<FoundAnchor>,
) {
    let value = extracted.value.clone();
    let lower = value.to_lowercase();
    let is_known = |other: &FoundAnchor| {
        other.attribute == rule.attribute
            && other.stance == rule.stance
            && (other.value.to_lowercase().contains(&lower)
                || (rule.attribute.cardinality() == Cardinality::One
                    && rule.stance == Stance::Holds
                    && lower.contains(&other.value.to_lowercase())))
    };
    if found.len() < MOST && !found.iter().any(is_known) {
        found.push(FoundAnchor {
            subject: subject.to_owned(),
            attribute: rule.attribute,
            value,
            stance: rule.stance,
            quote: quote(statement, place.start, extracted.end),
        });
    }
}

fn says_any_more(statement: &Statement<'_>, from: usize) -> bool {
    let is_word = |at: usize, word: &str| statement.tokens.get(at).is_some_and(|token| token.lower == word);
    is_word(from, "anymore")
        || (is_word(from, "any") && (is_word(from + 1, "more") || is_word(from + 1, "longer")))
}

/// What the same sentence denies: the value behind `, not`.
fn denied(statement: &Statement<'_>, rule: Rule, said: &Extracted) -> Option<Extracted> {
    let is_word = |at: usize, word: &str| statement.tokens.get(at).is_some_and(|token| token.lower == word);
    let is_single = rule.attribute.cardinality() == Cardinality::One && rule.stance == Stance::Holds;
    let from =
        if is_word(said.end, ",") && is_word(said.end + 1, "not") { said.end + 2 } else { return None };
    let from =
        if is_word(from, "in") || is_word(from, "at") || is_word(from, "from") { from + 1 } else { from };
    let place = Found { pattern: 0, start: from, end: from, marked: None };
    let follows = matches!(rule.value, Value::PersonName | Value::ProperName | Value::Place | Value::Day);
    (is_single && follows).then(|| extract(rule.value, statement, place)).flatten()
}

/// Whether the claim has what its rule needs, and a value that its attribute may have.
fn fits(statement: &Statement<'_>, rule: Rule, said: &Extracted) -> bool {
    const SCHOOLS: &[&str] =
        &["school", "university", "college", "academy", "institute", "uni", "mit", "eth", "ucla", "tech"];
    /// What one joins without working there.
    const GROUPS: &[&str] = &[
        "meetup",
        "club",
        "association",
        "group",
        "community",
        "gym",
        "team",
        "society",
        "class",
        "workshop",
        "forum",
        "church",
        "league",
        "choir",
        "zoom",
        "discord",
        "facebook",
        "instagram",
        "linkedin",
        "slack",
        "network",
        "conference",
        "summit",
    ];
    /// Longer values are sentences.
    const MAX_BYTES: usize = 60;
    let lower = said.value.to_lowercase();
    let names = |list: &[&str]| lower.split(' ').any(|word| list.contains(&word));
    let has_what_it_needs = match rule.needs {
        Needs::Nothing => true,
        Needs::SchoolName => names(SCHOOLS),
        Needs::AnyMore => says_any_more(statement, said.end),
    };
    let is_group = rule.attribute == Attribute::Employer && names(GROUPS);
    has_what_it_needs && !is_group && said.value.len() <= MAX_BYTES
}

/// The longest quote, in bytes.
const MAX_QUOTE_BYTES: usize = 160;

/// The sentence, or as much of it around the claim as a quote may have.
fn quote(statement: &Statement<'_>, start: usize, end: usize) -> String {
    let text = statement.text;
    if text.len() <= MAX_QUOTE_BYTES {
        return text.to_owned();
    }
    let tokens = &statement.tokens;
    let first = (0..=start.min(tokens.len() - 1))
        .rev()
        .find(|&at| at == 0 || tokens[at - 1].is_mark())
        .unwrap_or(start);
    let last = (end..=tokens.len()).find(|&at| tokens.get(at).is_none_or(Token::is_mark)).unwrap_or(end);
    let from = tokens[first].start;
    let to = tokens[last.clamp(1, tokens.len()) - 1].end().max(from);
    let clause = text.get(from..to).unwrap_or(text);
    clause[..clause.floor_char_boundary(MAX_QUOTE_BYTES)].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::turn::NewTurn;

    /// Each anchor as `attribute: value`, those that end as `attribute: not value`.
    fn found(said: &Said) -> Vec<String> {
        let anchors = find(said);
        for anchor in &anchors {
            assert!(said.user_message.contains(&anchor.quote) || said.ai_response.contains(&anchor.quote));
            assert!(anchor.quote.len() <= MAX_QUOTE_BYTES && !anchor.quote.is_empty());
        }
        let shown = |anchor: &FoundAnchor| {
            let not = if anchor.stance == Stance::Ends { "not " } else { "" };
            format!("{}: {not}{}", anchor.attribute.as_str(), anchor.value)
        };
        anchors.iter().map(shown).collect()
    }

    #[track_caller]
    fn check(message: &str, expected: &[&str]) {
        assert_eq!(found(&NewTurn::new(message, "").said), expected, "{message:?}");
    }

    #[test]
    fn what_else_is_found_has_another_version() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/criticality/tune.jsonl");
        let mut sum = crc32fast::Hasher::new();
        for line in fs::read_to_string(path).unwrap().lines() {
            let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
            let said = NewTurn::new(labelled["user"].as_str().unwrap(), "").said;
            sum.update(format!("{:?}", find(&said)).as_bytes());
        }
        assert_eq!(
            (RULES_VERSION, sum.finalize()),
            (1, 235_295_138),
            "raise RULES_VERSION, and put the new sum here"
        );
    }

    #[test]
    fn names_pronouns_and_ages() {
        check("My name is Wanja.", &["name: Wanja"]);
        check("my name is wanja", &["name: wanja"]);
        check("You can call me Al", &["name: Al"]);
        check("Hi, I'm Wanja!", &["name: Wanja"]);
        check("Actually, my name is not Anna, it's Anne.", &["name: Anne", "name: not Anna"]);
        check("Me llamo Lucía.", &["name: Lucía"]);
        check("My pronouns are they/them.", &["pronouns: they/them"]);
        check("I use she and they.", &["pronouns: she and they"]);
        check("I'm 34.", &["age: 34"]);
        check("I turned 30 last week.", &["age: 30"]);
        check("I'm 34 years old.", &["age: 34"]);
        check("My birthday is on March 5.", &["birthday: March 5"]);
        check("I was born on the 5th of March.", &["birthday: 5th of March"]);
        check("Ninth of June is my birthday.", &["birthday: Ninth of June"]);
        check("I turned forty last week.", &["age: forty"]);
        check("Tengo 30 años.", &["age: 30"]);
        check("Tengo 30.", &[]);
        check("At 30 I learned to swim.", &["age: 30"]);
        check("At 30.", &[]);
    }

    #[test]
    fn places_work_and_school() {
        check("I live in Lisbon, Portugal.", &["home: Lisbon, Portugal"]);
        check("We moved to New York in May.", &["home: New York"]);
        check("i live in berlin", &["home: berlin"]);
        check("I no longer live in Bonn.", &["home: not Bonn"]);
        check("I live in Hamburg, not Berlin.", &["home: Hamburg", "home: not Berlin"]);
        check("In Bonn, where I live, it rains.", &["home: Bonn"]);
        check("First Kiel, where I was born, then Ulm.", &["hometown: Kiel"]);
        check("I'm from Ghana.", &["hometown: Ghana"]);
        check("Born and raised in Manila", &["hometown: Manila"]);
        check("I work at Northgate Hospital.", &["employer: Northgate Hospital"]);
        check("I no longer work at Acme.", &["employer: not Acme"]);
        check("I'm a colour technologist.", &["job: colour technologist"]);
        check("I work as a nurse in Bonn.", &["job: nurse"]);
        check("I'm not a paralegal anymore.", &["job: not paralegal"]);
        check("I'm studying marine biology.", &["field: marine biology"]);
        check("I graduated from Ghent.", &["school: Ghent"]);
        check("I go to Ghent University.", &["school: Ghent University"]);
        check("I go to Ghent.", &[]);
        check("Ich wohne in Kassel.", &["home: Kassel"]);
        check("Vivo en Sevilla.", &["home: Sevilla"]);
    }

    #[test]
    fn family_pets_and_love() {
        check("My sister Anna called.", &["family: sister Anna"]);
        check("My husband called.", &["family: husband"]);
        check("Our son, Theo, called.", &["family: son Theo"]);
        check("Ines, my eldest, sings.", &["family: eldest Ines"]);
        check("I have two brothers.", &["family: brothers"]);
        check("Theo is my son.", &["family: son Theo"]);
        check("My brother lives in Perth.", &["family: brother"]);
        check("We have a cat called Biscuit.", &["pets: cat Biscuit"]);
        check("My dog Max barks.", &["pets: dog Max"]);
        check("We adopted a kitten.", &["pets: kitten"]);
        check("I'm married.", &["relationship: married"]);
        check("We got engaged!", &["relationship: engaged"]);
    }

    #[test]
    fn tastes_and_pastimes() {
        check("I love dark chocolate.", &["likes: dark chocolate"]);
        check("I'm a big fan of sci-fi and fantasy books.", &["likes: sci-fi and fantasy books"]);
        check("My favorite food is ramen.", &["likes: ramen"]);
        check("I can't stand olives.", &["dislikes: olives"]);
        check("I don't like dark beer.", &["dislikes: dark beer"]);
        check("I don't like tea any more.", &["likes: not tea", "dislikes: tea"]);
        check("Blue is my favorite.", &["likes: Blue"]);
        check("This is my favorite.", &[]);
        check("Coconut milk makes me gag.", &["dislikes: Coconut milk"]);
        check("I play chess.", &["hobbies: chess"]);
        check("I knit every evening.", &["hobbies: knit"]);
        check("I love climbing.", &["likes: climbing", "hobbies: climbing"]);
    }

    #[test]
    fn tongues_health_food_and_aims() {
        check("I speak Portuguese.", &["languages: Portuguese"]);
        check("I'm allergic to peanuts.", &["health: peanuts"]);
        check("I have type 2 diabetes.", &["health: type 2 diabetes"]);
        check("I'm a vegetarian.", &["diet: vegetarian"]);
        check("I don't eat meat.", &["diet: don't eat meat"]);
        check("I gave up alcohol.", &["diet: gave up alcohol"]);
        check("My dream is to open a bakery.", &["goals: open a bakery"]);
        check("I want to open a bakery.", &["goals: open a bakery"]);
        check("I want to become a pilot.", &["goals: pilot"]);
    }

    #[test]
    fn what_only_looks_like_a_fact_is_none() {
        for message in [
            "I'm sorry.",
            "I'm at work.",
            "I love it!",
            "I love that photo.",
            "I love how you paint.",
            "I'm from the marketing team.",
            "Call me later.",
            "Call me Monday.",
            "I'm 20 minutes late.",
            "I'm 100% sure.",
            "I live in a flat.",
            "My friend's son sings.",
            "My sister's husband sings.",
            "My sister says hi.",
            "With my brother, I sang.",
            "I'm the worst cook.",
            "I'm a good cook.",
            "I work for a small firm.",
            "Do you live in Bonn?",
            "My friend says: I live in Bonn.",
            "If I live in Bonn, I pay more.",
            "\"I live in Bonn.\"",
            "I listen to jazz.",
            "I love listening to it.",
        ] {
            check(message, &[]);
        }
    }

    #[test]
    fn a_claim_is_about_its_speaker() {
        let subjects = |said: &Said| find(said).into_iter().map(|anchor| anchor.subject).collect::<Vec<_>>();
        let turn = NewTurn::new("I'm from Ghana.", "I'm from Peru.");
        assert_eq!(subjects(&turn.clone().said), ["user"]);
        assert_eq!(subjects(&turn.clone().user_name("  Ann  LEE ").said), ["ann lee"]);
        assert_eq!(subjects(&turn.clone().user_name("José").said), ["jose"]);
        assert_eq!(subjects(&turn.clone().assistant_name("Bo").said), ["user"]);
        let people = turn.clone().user_name("Ann").assistant_name("Bo").assistant_origin(Origin::User);
        assert_eq!(subjects(&people.said), ["ann", "bo"]);
        assert_eq!(subjects(&turn.clone().assistant_origin(Origin::User).said), ["user"]);
        assert!(subjects(&turn.user_origin(Origin::Document).said).is_empty());
    }

    #[test]
    fn a_quote_of_a_long_sentence_is_the_clause() {
        let message = format!("{} - I live in Bonn, {}", "so ".repeat(40), "and so on ".repeat(20));
        let found = find(&NewTurn::new(&*message, "").said);
        assert_eq!(found[0].quote, "I live in Bonn");
        let message = format!("I live in Bonn {}", "ünd so on ".repeat(40));
        assert!(find(&NewTurn::new(&*message, "").said)[0].quote.starts_with("I live in Bonn ünd so"));
    }

    #[test]
    fn a_message_has_few_anchors() {
        let message: Vec<String> =
            (0..400).map(|n| format!("My dog Max{n} barks. I love tea{n}x.")).collect();
        assert_eq!(find(&NewTurn::new(message.join(" "), "").said).len(), MOST);
        check("My husband and my husband", &["family: husband"]);
    }

    #[test]
    fn every_attribute_but_the_note_is_found_by_some_rule() {
        for attribute in Attribute::EVERY {
            let has_rule =
                RULES.iter().any(|rule| rule.attribute == attribute && rule.stance == Stance::Holds);
            assert_eq!(has_rule, attribute != Attribute::Note, "{attribute:?}");
        }
    }

    /// Measures what is found on a file of labelled turns; prints it, and holds it to these floors, in percent.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "the figures are what one runs it for")]
    fn check_floors(file: &str, precision: usize, recall: usize) {
        let path = format!("{}/tests/data/criticality/{file}", env!("CARGO_MANIFEST_DIR"));
        let (mut right, mut made, mut wanted) = (0, 0, 0);
        for line in fs::read_to_string(path).unwrap().lines() {
            let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
            let labels = labelled["anchors"].as_array().unwrap();
            let found = find(&NewTurn::new(labelled["user"].as_str().unwrap(), "").said);
            let says = |anchor: &&FoundAnchor| {
                labels.iter().any(|label| {
                    let (value, label_value) =
                        (anchor.value.to_lowercase(), label["value"].as_str().unwrap());
                    let is_same = value.contains(label_value) || label_value.contains(&value);
                    let ends = label["ends"].as_bool().unwrap_or(false);
                    is_same
                        && label["attribute"] == anchor.attribute.as_str()
                        && ends == (anchor.stance == Stance::Ends)
                })
            };
            right += found.iter().filter(says).count();
            made += found.len();
            wanted += labels.len();
        }
        eprintln!("{file}: of {made} anchors {right} are labelled, of {wanted} labels");
        assert!(right * 100 >= precision * made && right * 100 >= recall * wanted, "{file}: see above");
    }

    #[test]
    fn few_anchors_are_found_but_right_ones() {
        check_floors("tune.jsonl", 60, 15);
        check_floors("held_out.jsonl", 50, 8);
    }
}
