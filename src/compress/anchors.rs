//! Finds the identity anchors that a turn claims, by rules: what people say about themselves, in their own words.

use crate::{
    english::{
        claims,
        statements::{Statement, statements},
    },
    model::{
        anchor::{Cardinality, FoundAnchor, Stance},
        turn::{Origin, Said},
    },
    text::subjects::subjects,
};

/// Version of these rules: increased when they find anything else in any turn, so that older anchors are derived again.
pub(crate) const RULES_VERSION: i64 = 2;

/// Finds what a turn claims about its speakers. `heard` are the statements of the user's side. The reply counts only if a
/// named person wrote it.
pub(crate) fn find(said: &Said, heard: &[Statement<'_>]) -> Vec<FoundAnchor> {
    let mut found = Vec::new();
    let [user, replier] = subjects(said);
    if let Some(user) = user {
        found.extend(claims(heard, &user));
    }
    let is_named_person = said.assistant_name.is_some() && said.assistant_origin == Origin::User;
    if let Some(replier) = replier.filter(|_| is_named_person) {
        found.extend(claims(&statements(&said.ai_response), &replier));
    }
    found
}

/// The most anchors of one message: a message with more is a pasted list.
const MOST: usize = 24;
/// The longest value; anything longer is a sentence.
const MAX_VALUE_BYTES: usize = 60;

/// Returns what these statements claim about `subject`, each claim once. A later claim that only shortens an earlier one is
/// ignored.
pub(crate) fn claims(statements: &[Statement<'_>], subject: &str) -> Vec<FoundAnchor> {
    let mut found: Vec<FoundAnchor> = Vec::new();
    for claim in claims::claims(statements) {
        let lower = claim.value.to_lowercase();
        let is_known = |other: &FoundAnchor| {
            let is_same_kind = other.attribute == claim.attribute && other.stance == claim.stance;
            let is_many = claim.attribute.cardinality() == Cardinality::Many;
            is_same_kind
                && (other.value.to_lowercase() == lower
                    || (is_many
                        && claim.stance == Stance::Holds
                        && other.value.to_lowercase().contains(&lower)))
        };
        if found.len() < MOST && lower.len() <= MAX_VALUE_BYTES && !found.iter().any(is_known) {
            found.push(FoundAnchor {
                subject: subject.to_owned(),
                attribute: claim.attribute,
                value: claim.value,
                stance: claim.stance,
                quote: claim.quote,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::turn::NewTurn;

    const MAX_QUOTE_BYTES: usize = 160;

    fn find(said: &Said) -> Vec<FoundAnchor> {
        super::find(said, &statements(&said.user_message))
    }

    /// Returns each anchor as `attribute: value`, and an ended one as `attribute: not value`.
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
            (2, 3_148_336_716),
            "raise RULES_VERSION, and put the new sum here"
        );
    }

    #[track_caller]
    fn check_none(messages: &[&str]) {
        for message in messages {
            check(message, &[]);
        }
    }

    #[test]
    fn names_and_pronouns() {
        check("My name is Wanja.", &["name: Wanja"]);
        check("my name is wanja", &["name: wanja"]);
        check("You can call me Al", &["name: Al"]);
        check("I go by Kit these days.", &["name: Kit"]);
        check("My name is Alexander, but call me Al.", &["name: Alexander", "name: Al"]);
        check("Everyone calls me Spike.", &["name: Spike"]);
        check("Hi, I'm Wanja!", &["name: Wanja"]);
        check("Hello! I'm Wanja.", &["name: Wanja"]);
        check("I'm Wanja. I live in Ulm.", &["name: Wanja", "home: Ulm"]);
        check("Actually, my name is not Anna, it's Anne.", &["name: not Anna", "name: Anne"]);
        check("It's Anne, not Anna.", &["name: Anne", "name: not Anna"]);
        check("My pronouns are they/them.", &["pronouns: they/them"]);
        check(
            "I'm Jo (they/them), an illustrator.",
            &["name: Jo", "pronouns: they/them", "job: illustrator"],
        );
        check_none(&[
            "I'm Wanja.",
            "I'm Batman.",
            "Hi, I'm German!",
            "I'm Done with this.",
            "Call me later.",
            "Call me Monday.",
            "Call me Ishmael.",
            "My name is on the list.",
            "My name is not important.",
            "My sister is ill. It's Anne, not Anna.",
        ]);
    }

    #[test]
    fn birthdays_and_ages() {
        check("My birthday is on March 5.", &["birthday: March 5"]);
        check(
            "I was born on the 5th of March 1990 in Kiel.",
            &["birthday: 5th of March 1990", "hometown: Kiel"],
        );
        check("I'm 34.", &["age: 34"]);
        check("I turned forty last week.", &["age: forty"]);
        check("I'm 34 years old and tired.", &["age: 34"]);
        check("I'm a 44-year-old nurse.", &["age: 44", "job: nurse"]);
        check("Actually I'm 42, not 43.", &["age: 42", "age: not 43"]);
        check_none(&[
            "I'm 20 minutes late.",
            "I'm 100% sure.",
            "I'm 30 next week.",
            "I turn 40 tomorrow.",
            "I feel like I'm 80.",
            "I was born in 1990.",
            "My birthday isn't until March.",
        ]);
    }

    #[test]
    fn homes() {
        check("I live in Lisbon, Portugal.", &["home: Lisbon, Portugal"]);
        check("i live in berlin", &["home: berlin"]);
        check("I'm based in Nairobi.", &["home: Nairobi"]);
        check("I've lived in Toronto since May.", &["home: Toronto"]);
        check("We moved to New York in May.", &["home: New York"]);
        check("I moved from Bonn to Ulm.", &["home: Ulm"]);
        check("I no longer live in Bonn.", &["home: not Bonn"]);
        check("I moved away from Bonn.", &["home: not Bonn"]);
        check("I live in Hamburg, not Berlin.", &["home: Hamburg", "home: not Berlin"]);
        check("I used to live in Bonn but now I live in Ulm.", &["home: Ulm"]);
        check("I'm from Ghana.", &["hometown: Ghana"]);
        check("I grew up in Kiel.", &["hometown: Kiel"]);
        check_none(&[
            "I live in Vim these days",
            "I live in the terminal.",
            "I moved to Vim.",
            "I moved to Kubernetes last year.",
            "I come from Java.",
            "I'm on Python 3.12.",
            "home: /root",
            "I'm home.",
            "I'm in Rome.",
            "I'm from the marketing team.",
            "I live in a flat.",
            "I lived in Bonn as a kid.",
            "I've lived in Bonn.",
            "I moved to Lisbon until May.",
            "I'm moving to Lisbon next year.",
            "I might move to Lisbon.",
            "My boss lives in Rome.",
            "My sister is a nurse and lives in Turin.",
        ]);
    }

    #[test]
    fn work_and_fields() {
        check("I work at Northgate Hospital.", &["employer: Northgate Hospital"]);
        check("I work for the Dutch tax office.", &["employer: Dutch tax office"]);
        check(
            "I quit my job at Acme and joined a startup called Globex.",
            &["employer: not Acme", "employer: Globex"],
        );
        check("I no longer work at Acme.", &["employer: not Acme"]);
        check("I left Acme last month.", &["employer: not Acme"]);
        check("I lost my job at Fathom", &["employer: not Fathom"]);
        check("I'm a colour technologist.", &["job: colour technologist"]);
        check("I work as a nurse in Bonn.", &["job: nurse", "home: Bonn"]);
        check("I'm not a doctor, I'm the receptionist.", &["job: not doctor", "job: receptionist"]);
        check("I'm not a paralegal anymore.", &["job: not paralegal"]);
        check("I'm no longer a nurse.", &["job: not nurse"]);
        check("I got promoted to ward manager!", &["job: ward manager"]);
        check("I'm head of marketing at Acme.", &["job: head of marketing", "employer: Acme"]);
        check("I teach maths.", &["job: maths teacher"]);
        check("I'm retired.", &["job: retired"]);
        check("I'm studying marine biology.", &["field: marine biology"]);
        check_none(&[
            "I used to work at Acme.",
            "I worked at Acme for ten years.",
            "I work with React.",
            "I work at night.",
            "I left Redis at its defaults.",
            "I joined Discord.",
            "I'm the worst cook.",
            "I'm a good cook.",
            "I'm an aspiring actor.",
            "I'm a former nurse.",
            "I'm the driver tonight.",
            "I'm a student of life.",
            "I was a nurse.",
            "I'm training to be a nurse.",
            "As a nurse, I want to see the reports.",
        ]);
    }

    #[test]
    fn family_and_pets_by_name() {
        check("My sister Anna called.", &["family: sister Anna"]);
        check("Our son, Theo, called.", &["family: son Theo"]);
        check("I live with my wife Priya.", &["family: wife Priya"]);
        check("My wife's name is Priya.", &["family: wife Priya"]);
        check(
            "I have two sons, Max and Ben, and a daughter, Lily.",
            &["family: son Max", "family: son Ben", "family: daughter Lily"],
        );
        check("My brother Paul passed away.", &["family: not brother Paul"]);
        check("We have a cat called Biscuit.", &["pets: cat Biscuit"]);
        check("We have two dogs, Miso and Tofu.", &["pets: dog Miso", "pets: dog Tofu"]);
        check("My dog Rex died last week.", &["pets: not dog Rex"]);
        check_none(&[
            "My husband called.",
            "My sister says hi.",
            "My friend's son Theo sings.",
            "My sister's husband Tom sings.",
            "My late wife Anna loved it.",
            "With my brother, I sang.",
            "My dog barks.",
            "I have two children nodes.",
        ]);
    }

    #[test]
    fn allergies_diets_and_languages() {
        check("I'm allergic to peanuts and shellfish.", &["health: peanuts", "health: shellfish"]);
        check("I have a severe nut allergy.", &["health: nut allergy"]);
        check("I'm lactose intolerant.", &["health: lactose intolerant"]);
        check("I'm no longer allergic to eggs.", &["health: not eggs"]);
        check("I'm a vegetarian.", &["diet: vegetarian"]);
        check("I've been vegan for years.", &["diet: vegan"]);
        check("I'm not vegan anymore.", &["diet: not vegan"]);
        // These end a value. A value that never held is shown nowhere.
        check("I'm not allergic to nuts", &["health: not nuts"]);
        check("I'm not vegan.", &["diet: not vegan"]);
        check("I don't eat pork or beef.", &["diet: no pork", "diet: no beef"]);
        check("I keep kosher.", &["diet: kosher"]);
        check("I speak Portuguese and a little Dutch.", &["languages: Portuguese", "languages: Dutch"]);
        check("My native language is Tamil.", &["languages: Tamil"]);
        check_none(&[
            "I'm allergic to meetings.",
            "I'm almost vegan.",
            "I don't eat meat on Fridays.",
            "I speak Python.",
            "I don't speak French.",
            "I'm learning French.",
        ]);
    }

    #[test]
    fn what_leaves_its_subject_out_goes_on_of_the_same() {
        check("I'm Sarah, a nurse from Porto.", &["name: Sarah", "job: nurse", "hometown: Porto"]);
        let found = ["name: Darryl", "job: television/film producer", "home: Port Michael"];
        check("I'm Darryl, a television/film producer based in Port Michael.", &found);
        check("I work at Google and live in Berlin.", &["employer: Google", "home: Berlin"]);
        check("Been a nurse for twelve years.", &["job: nurse"]);
        check("28, vegan, living in Oslo.", &["age: 28", "diet: vegan", "home: Oslo"]);
        check("I'm a midwife, 39, living in Cork.", &["job: midwife", "age: 39", "home: Cork"]);
        check_none(&[
            "I'm meeting Sarah, a nurse from Porto.",
            "I'm reading about a woman, a nurse from Porto, living in Rome.",
            "I want to quit and live in Berlin.",
            "I'd love to move to Rome and work at Ferrari.",
            "I'm an idiot, a nurse told me.",
            "A gift for my sister: 28, vegan, living in Oslo.",
            "Senior nurse, 45, dies in crash.",
        ]);
    }

    #[test]
    fn what_is_asked_quoted_pasted_or_imagined_is_no_claim() {
        check_none(&[
            "Do you live in Bonn?",
            "Am I allergic to nuts?",
            "If I live in Bonn, I pay more.",
            "My friend says: I live in Bonn.",
            "\"I live in Bonn.\"",
            "'I'm a nurse,' he said.",
            "I wish I lived in Bonn.",
            "Imagine I'm a nurse in Bonn.",
            "Let's role-play. I'm a nurse in Bonn.",
            "Translate: I live in Bonn.",
            "Review my letter:\n\nI'm a nurse in Bonn.",
            "```\nI live in Bonn\n```",
            "Ich wohne in Bonn.",
            "Me llamo Ana.",
        ]);
    }

    #[test]
    fn a_list_of_tastes_says_nothing() {
        check_none(&[
            "I love dark chocolate.",
            "I can't stand olives.",
            "I play chess.",
            "I want to open a bakery.",
            "I'm married.",
        ]);
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
    fn what_others_wrote_says_nothing_of_who_pastes_it() {
        check_none(&[
            "Hi team,\n\nI'm Priya Nair, the new manager at Zenith. I live in Pune.\n\nBest,\nPriya",
            "Hi team,\n\nI'm Priya Nair. I live in Pune.\n\ncan you make this shorter?",
            "Dear Sir or Madam,\n\nMy name is John Smith and I work at Barclays.",
            "From: Tom Baker\nSubject: hello\n\nI work at Initech.",
            "The email says: Hi, I'm Tom Walker. I live in Austin.",
            "here's my profile, roast it\nI'm Chad, 29, lawyer",
            "[10:22] Ben: I live in Perth\n[10:23] Zoe: I'm a vet",
            "You be the interviewer. I'm Lena, a nurse from Porto.",
            "I work at NASA. just kidding, I work at a gas station",
        ]);
        check("In fact as a nurse I work nights. My name is Farah.", &["name: Farah"]);
        check("I'm Anna, a nurse.\n\nCan you help me with my CV?", &["name: Anna", "job: nurse"]);
    }

    #[test]
    fn surnames_states_and_things_are_no_titles_and_no_names() {
        check("Hi, I'm Sarah Cook.", &["name: Sarah Cook"]);
        check_none(&[
            "Hi I'm Married, 34, in Texas",
            "My brother Windows laptop died.",
            "My son Kubernetes pod restarts.",
            "My partner Acme Inc wants a discount.",
            "Mother Tongue is a film.",
        ]);
    }

    #[test]
    fn a_quote_of_a_long_sentence_is_the_clause() {
        let message = format!("{} - I live in Bonn, {}", "so ".repeat(60), "and so on ".repeat(20));
        let found = find(&NewTurn::new(&*message, "").said);
        assert_eq!(found[0].quote, "I live in Bonn");
        let message = format!("I live in Bonn now {}", "ünd so on ".repeat(40));
        assert!(find(&NewTurn::new(&*message, "").said)[0].quote.starts_with("I live in Bonn now ünd so"));
    }

    #[test]
    fn a_message_has_few_anchors() {
        let message: Vec<String> = (0..400).map(|n| format!("My dog Max{n} barks.")).collect();
        assert_eq!(find(&NewTurn::new(message.join(" "), "").said).len(), MOST);
        check("My son Theo and my son Theo", &["family: son Theo"]);
    }

    /// Measures the rules on a file of labelled turns: prints the counts, and checks precision and recall against these
    /// floors, in percent.
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
        check_floors("tune.jsonl", 90, 3);
        check_floors("held_out.jsonl", 90, 3);
    }
}
