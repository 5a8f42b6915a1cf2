//! The binary sets, lists, shows and retracts anchors.

use serde_json::{Value, json};
use thermocline::{Attribute, Cardinality};

use crate::shell::{Ended, Shell};

/// A user, Alex, who has recorded turns, but has no anchors yet.
struct Anchors(Shell);

impl Anchors {
    fn new() -> Self {
        Self(Shell::with_talk())
    }

    fn run(&self, verb: &str, args: &[&str]) -> Ended {
        self.0.run(&[&["anchor", verb, "--user", "alex"], args].concat())
    }

    #[track_caller]
    fn json(&self, verb: &str, args: &[&str]) -> Value {
        self.run(verb, &[&["--json"], args].concat()).json()
    }

    #[track_caller]
    fn set(&self, key: &str, value: &str) -> String {
        self.json("set", &[key, value])["anchor"]["id"].as_str().unwrap().to_owned()
    }

    /// Returns `key = value: state` for each anchor in the list.
    #[track_caller]
    fn list(&self, args: &[&str]) -> Vec<String> {
        let word = |of: &Value, field: &str| of[field].as_str().unwrap().to_owned();
        let anchors = self.json("list", args);
        let line = |of| format!("{} = {}: {}", word(of, "key"), word(of, "value"), word(of, "state"));
        anchors.as_array().unwrap().iter().map(line).collect()
    }
}

#[test]
fn a_new_value_supersedes_the_old_where_there_is_one_and_is_added_where_there_are_many() {
    let anchors = Anchors::new();
    for (key, value) in [
        ("user.home", "Lisbon"),
        ("user.home", "Porto"),
        ("user.likes", "tea"),
        ("User.LIKES", "boats"),
        ("  Sister   Anna.birthday", "4 May"),
    ] {
        anchors.set(key, value);
    }
    let home = "user.home = Porto: holds";
    let current =
        ["sister anna.birthday = 4 May: holds", home, "user.likes = boats: holds", "user.likes = tea: holds"];
    assert_eq!(anchors.list(&[]), current);
    assert_eq!(anchors.list(&["--all"]).len(), 5);
    assert_eq!(anchors.list(&["--all"])[1], "user.home = Lisbon: superseded");
    assert_eq!(anchors.list(&["--subject", "Sister Anna"]), current[..1]);
    assert_eq!(anchors.list(&["--subject", "nobody"]), [""; 0]);
}

#[test]
fn a_name_finds_its_anchors_however_it_is_spelled() {
    let anchors = Anchors::new();
    anchors.set("Zoë.likes", "tea");
    for name in ["Zoë", "ZOË", "Zoe", "  zoe ", "Ｚｏｅ"] {
        assert_eq!(anchors.list(&["--subject", name]), ["zoe.likes = tea: holds"], "{name}");
        let shown = anchors.json("show", &[&format!("{name}.likes=“Tea”")]);
        assert_eq!(shown[0]["key"], "zoe.likes", "{name}");
    }
    assert_eq!(anchors.run("retract", &["Zoë.likes"]).code, 0);
    assert_eq!(anchors.list(&["--subject", "Zoë"]), [""; 0]);
}

#[test]
fn a_list_is_a_table_and_says_so_if_it_is_empty() {
    let anchors = Anchors::new();
    let empty = anchors.run("list", &[]);
    assert_eq!((empty.code, &*empty.stdout), (0, ""));
    assert_eq!(empty.stderr, "no anchor is current; --all shows past ones\n");
    assert_eq!(anchors.run("list", &["--all"]).stderr, "no anchor is known\n");

    let lisbon = anchors.set("user.home", "Lisbon");
    anchors.set("user.home", "Porto");
    let list = anchors.run("list", &["--all"]).stdout;
    let row: Vec<_> = list.lines().nth(1).unwrap().split_whitespace().collect();
    let since = anchors.json("show", &[&lisbon])[0]["valid_from"].as_str().unwrap()[..10].to_owned();
    assert_eq!(row[..4], ["user.home", "Lisbon", "0.500", &*since], "{list}");
    assert_eq!(row[5..], ["superseded", &*lisbon], "{list}");
    assert!(!anchors.run("list", &[]).stdout.contains("until"));
}

#[test]
fn a_key_shows_all_its_values_and_an_id_shows_one() {
    let anchors = Anchors::new();
    let lisbon = anchors.set("user.home", "Lisbon");
    let porto = anchors.set("user.home", "Porto");
    let text = anchors.run("show", &["user.home"]).stdout;
    let (new, old) = text.split_once("\n\n").unwrap();
    assert!(
        new.starts_with(&format!("user.home = Porto\nid          {porto}\nstate       holds\n")),
        "{text}"
    );
    assert!(old.starts_with("user.home = Lisbon\n"), "{text}");
    assert!(old.contains(&format!("\nsuperseded  by {porto}\n")), "{text}");
    assert!(text.ends_with("  holds  set by hand\n"), "{text}");

    let shown = anchors.json("show", &[&lisbon]);
    assert_eq!(shown.as_array().unwrap().len(), 1);
    assert_eq!([&shown[0]["value"], &shown[0]["superseded_by"]], [&json!("Lisbon"), &json!(porto)]);
    assert_eq!(shown[0]["evidence"][0]["made_by"], "caller");
    assert_eq!(anchors.json("show", &["user.home=lisbon"]), shown);
}

#[test]
fn evidence_in_a_turn_is_named_as_turn_show_takes_it() {
    let anchors = Anchors::new();
    anchors.set("user.home", "Lisbon");
    let turn = anchors.0.run(&["--json", "turn", "show", "--user", "alex", "a1"]).json();
    let id = turn["id"].as_str().unwrap().replace('-', "");
    // Changes the evidence as if a summarizer had found it in a turn.
    anchors.0.change(&format!(
        "UPDATE derivations SET source_kind = 'turn', source_id = x'{id}', made_by = 'scripted', quote = 'row 1'"
    ));
    let text = anchors.run("show", &["user.home"]).stdout;
    assert!(text.ends_with("  holds  turn s1/1, found by scripted\n    \"row 1\"\n"), "{text}");
    assert_eq!(anchors.json("show", &["user.home"])[0]["evidence"][0]["turn_id"], turn["id"]);
}

#[test]
fn what_is_retracted_gives_way_to_what_it_had_superseded() {
    let anchors = Anchors::new();
    anchors.set("user.home", "Lisbon");
    anchors.set("user.home", "Porto");
    let changed = anchors.json("retract", &["user.home"]);
    assert_eq!([&changed["anchor"]["value"], &changed["anchor"]["state"]], ["Porto", "retracted"]);
    assert_eq!(changed["current"][0]["value"], "Lisbon");
    assert_eq!(anchors.list(&["--all"]), ["user.home = Lisbon: holds", "user.home = Porto: retracted"]);
    let text = anchors.run("retract", &["user.home"]).stdout;
    assert_eq!(text, "retracted; this key has no current value\n");
    let gone = anchors.run("retract", &["user.home"]);
    assert_eq!((gone.code, &*gone.stdout), (4, ""));
    // An anchor that was retracted holds again when it is set again.
    anchors.set("user.home", "Porto");
    assert_eq!(anchors.list(&[]), ["user.home = Porto: holds"]);
}

#[test]
fn a_key_of_several_values_is_refused_with_their_ids() {
    let anchors = Anchors::new();
    let ids = [anchors.set("user.likes", "SECRET tea"), anchors.set("user.likes", "SECRET boats")];
    let run = anchors.run("retract", &["user.likes"]);
    assert_eq!((run.code, &*run.stdout), (3, ""));
    assert!(ids.iter().all(|id| run.stderr.contains(id)) && !run.stderr.contains("SECRET"), "{}", run.stderr);
    assert_eq!(anchors.list(&[]).len(), 2);
    assert_eq!(anchors.run("retract", &["user.likes=secret  Tea"]).code, 0);
    assert_eq!(anchors.run("retract", &[&ids[1]]).code, 0);
    assert_eq!(anchors.list(&[]), [""; 0]);
}

#[test]
fn what_is_no_anchor_is_refused_without_quoting_it() {
    let anchors = Anchors::new();
    let before = anchors.0.rows();
    let long = "SECRET".repeat(50);
    for (verb, args, code) in [
        ("set", &["SECRET", "SECRET"][..], 3),
        ("set", &["user.SECRET", "SECRET"], 3),
        ("set", &[".name", "SECRET"], 3),
        ("set", &["user.name", ""], 3),
        ("set", &["user.name", &long], 3),
        ("show", &["SECRET"], 3),
        ("show", &["user.name"], 4),
        ("show", &["01890000-0000-7000-8000-000000000001"], 4),
        ("retract", &["SECRET"], 3),
        ("retract", &["user.name=SECRET"], 4),
        ("retract", &["01890000-0000-7000-8000-000000000001"], 4),
    ] {
        let run = anchors.run(verb, args);
        assert_eq!((run.code, &*run.stdout), (code, ""), "{verb} {args:?} {}", run.stderr);
        assert!(run.stderr.starts_with("thermocline: failed: "), "{}", run.stderr);
        assert!(!run.stderr.contains("SECRET"), "{}", run.stderr);
    }
    assert_eq!(anchors.0.rows(), before);
}

#[test]
fn a_value_commands_no_terminal() {
    let anchors = Anchors::new();
    let evil = "a\u{1b}[31m\u{9b}2J\u{202e}c";
    anchors.set("user.note", evil);
    for verb in [&["list"][..], &["show", "user.note"], &["set", "user.note", evil]] {
        let run = anchors.run(verb[0], &verb[1..]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let commands = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!run.stdout.contains(commands) && !run.stderr.contains(commands), "{run:?}");
    }
    assert_eq!(anchors.json("show", &["user.note"])[0]["value"], evil);
}

#[test]
fn the_help_names_every_attribute_and_which_have_one_value() {
    let help = Shell::new().run(&["anchor", "--help"]).stdout;
    let (one, many) = help.split_once("One value at a time:").unwrap().1.split_once("Many values:").unwrap();
    let has = |list: &str, word| list.split(|c: char| !c.is_ascii_alphabetic()).any(|named| named == word);
    let sentence = many.split_once('.').unwrap().0;
    for attribute in Attribute::ALL {
        let (name, is_one) = (attribute.as_str(), attribute.cardinality() == Cardinality::One);
        assert_eq!((has(one, name), has(sentence, name)), (is_one, !is_one), "{name}");
    }
}
