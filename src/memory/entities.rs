//! Finds the entities of a memory if nobody states them, by the entry paper's four rules.

use std::ops::Range;

use crate::{
    embed::lexicon::commonness,
    english::{
        classes::is_of,
        dull_words::is_dull,
        lists::{List, is_in, list, without_possessive},
        sentences::{Sentence, Setting, sentences},
        stop_words::is_stop_word,
    },
    memory::terms::terms,
    text::{
        terms::{TermKind, for_each_term},
        words::for_each_word,
    },
};

/// The maximum number of entities found.
const MOST: usize = 16;
/// How much of a text is examined, in bytes: enough to show what it is about.
const MAX_LOOKED_AT: usize = 8 << 10;
/// The maximum length of a name's word in bytes, and the maximum number of words: anything longer is data.
const MAX_BYTES: usize = 40;
const MOST_WORDS: usize = 4;
/// The maximum number of names from a path: its last ones say what it is about.
const MOST_OF_PATH: usize = 3;
/// Below this, a word is rare in English ([`commonness`]): not among the 9,900 most frequent.
const RARE: f64 = 0.006;

/// A sentence with one of these is about a person, whose name is usually its first word: `Anna paints when she can.`
const OF_PERSONS: &str = "he she him her his hers himself herself";

static GENERIC_FOLDERS: List = list!("generic_folders");
static NAMED_THINGS: List = list!("named_things");
static NOT_TERMS: List = list!("not_terms");

/// A name, and its position in the text.
type EntityMatch = (usize, String);

/// Returns the entities of a memory, in the order of its text, each once, in its first spelling: proper names and technical
/// terms (`JWT`, `PostgreSQL`), the names in file paths (`src/auth/token.ts`: auth, token), and names given along with what
/// they name (`the zbooks project`).
pub(crate) fn entities(title: &str, content: &str) -> Vec<String> {
    let content = &content[..content.floor_char_boundary(MAX_LOOKED_AT)];
    let names = [title, content].into_iter().flat_map(named_in);
    terms(names).into_iter().map(|term| term.name).take(MOST).collect()
}

fn named_in(text: &str) -> Vec<String> {
    let paths = paths(text);
    let of_path = |path: &Range<usize>| {
        names_of_path(&text[path.clone()]).into_iter().map(|name| (path.start, name)).collect::<Vec<_>>()
    };
    let mut found: Vec<EntityMatch> = paths.iter().flat_map(of_path).collect();
    let sentences: Vec<Vec<SentenceWord<'_>>> =
        sentences(text).iter().map(|sentence| words_of(text, sentence, &paths)).collect();
    let is_named = |name: &str| {
        sentences.iter().flatten().any(|word| word.class == EntityClass::Proper && word.text == name)
    };
    for words in &sentences {
        add_names(words, &is_named, &mut found);
        add_mentions(words, &mut found);
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, name)| name).collect()
}

/// What kind of name a word may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntityClass {
    /// Not a name by itself.
    Plain,
    /// A word with a capital letter that nothing else explains.
    Proper,
    /// A word with a capital letter that is the first word of its sentence.
    First,
    /// A word with an unusual spelling: `JWT`, `snake_case`, `k8s`.
    Technical,
}

/// A word of a sentence.
#[derive(Debug)]
struct SentenceWord<'a> {
    /// The word without a possessive ending.
    text: &'a str,
    lower: String,
    /// Its position in the whole text.
    at: usize,
    class: EntityClass,
    /// Whether exactly one blank is before it.
    is_joined: bool,
    has_possessive: bool,
}

fn words_of<'a>(text: &'a str, sentence: &Sentence<'a>, paths: &[Range<usize>]) -> Vec<SentenceWord<'a>> {
    let start = sentence.text.as_ptr() as usize - text.as_ptr() as usize;
    let mut words: Vec<SentenceWord<'a>> = Vec::new();
    let mut last_end = usize::MAX;
    for_each_term(sentence.text, |term| {
        let (at, end) = (start + term.at, start + term.at + term.text.len());
        if term.kind != TermKind::Word || paths.iter().any(|path| path.start < end && at < path.end) {
            return;
        }
        let bare = without_possessive(term.text);
        words.push(SentenceWord {
            text: bare,
            lower: bare.to_lowercase().replace(['\'', '\u{2019}'], ""),
            at,
            class: class_of(bare, &sentence.text[..term.at]),
            is_joined: text.get(last_end..at) == Some(" "),
            has_possessive: bare.len() < term.text.len(),
        });
        last_end = end;
    });
    let is_shouted = words.len() > 2 && !sentence.text.contains(char::is_lowercase);
    let has_title_case = sentence.setting == Setting::Heading || is_title_case(&words);
    for word in &mut words {
        let says_nothing = is_shouted || (has_title_case && word.class != EntityClass::Technical);
        if says_nothing || names_nothing(word) {
            word.class = EntityClass::Plain;
        }
    }
    words
}

/// Returns the class of a word, from its letters and from what comes before it in its sentence.
fn class_of(word: &str, before: &str) -> EntityClass {
    let has_capital = word.starts_with(char::is_uppercase);
    let before = before.trim_end_matches(['"', '\'', '“', '‘', '(', '[', '*', '_', '`']);
    if is_technical(word) {
        EntityClass::Technical
    } else if !has_capital {
        EntityClass::Plain
    } else if before.is_empty() {
        EntityClass::First
    } else if before.ends_with(char::is_whitespace)
        && !before.trim_end().ends_with([':', '-', '–', '—', '.', '!', '?'])
    {
        EntityClass::Proper
    } else {
        EntityClass::Plain
    }
}

/// Whether a word has an unusual spelling: `JWT`, `PostgreSQL`, `OAuth2`, `k8s`, `socket_timeout`, `Node.js`, `C++`.
fn is_technical(word: &str) -> bool {
    let letters = word.trim_start_matches(['v', 'V']);
    let is_version = letters.len() < word.len() && letters.chars().all(|c| c.is_ascii_digit() || c == '.');
    let has_capital_inside = word.chars().skip(1).any(char::is_uppercase);
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let has_sign = word.trim_matches('_').contains('_') || word.ends_with(['+', '#']);
    !is_version && (has_capital_inside || has_digit || has_sign || is_file_name(word))
}

/// Whether a word is a file name: `nginx.conf`, `Node.js`; not `e.g`.
fn is_file_name(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, ending)| {
        let is_ending = (1..=4).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        is_ending && name.chars().take_while(|c| c.is_alphanumeric()).count() >= 2
    })
}

/// Whether a word names nothing: a function word, a word of small talk or of the calendar, or one that is too long or too
/// short.
fn names_nothing(word: &SentenceWord<'_>) -> bool {
    let lower = word.lower.as_str();
    !(2..=MAX_BYTES).contains(&word.text.len())
        || is_dull(lower)
        || NOT_TERMS.contains(lower)
        || is_of("day", lower)
        || is_of("month", lower)
}

/// Whether all content words have capital letters, which then mean nothing.
fn is_title_case(words: &[SentenceWord<'_>]) -> bool {
    let telling = || words.iter().skip(1).filter(|word| !is_stop_word(&word.lower));
    telling().count() >= 2 && telling().all(|word| word.class != EntityClass::Plain)
}

/// Adds proper names and technical terms; adjacent proper names are one name.
fn add_names(words: &[SentenceWord<'_>], is_named: &impl Fn(&str) -> bool, found: &mut Vec<EntityMatch>) {
    let of_person = words.iter().any(|word| is_in(OF_PERSONS, &word.lower));
    let is_name = |word: &SentenceWord<'_>| match word.class {
        EntityClass::Plain => false,
        EntityClass::First => {
            let is_person = of_person && !["ed", "ing"].iter().any(|end| word.text.ends_with(end));
            word.has_possessive || is_person || is_named(word.text) || is_unheard_of(word.text)
        }
        EntityClass::Proper | EntityClass::Technical => true,
    };
    let mut at = 0;
    while at < words.len() {
        let first = &words[at];
        let goes_on = |pair: &&[SentenceWord<'_>]| {
            let [before, word] = pair else { return false };
            let is_other = word.class == EntityClass::Proper
                || (word.class == EntityClass::Technical
                    && before.class == EntityClass::Proper
                    && has_capital(word.text));
            word.is_joined && !before.has_possessive && is_other && has_capital(before.text)
        };
        let more = words[at..].windows(2).take(MOST_WORDS - 1).take_while(goes_on).count();
        // The first word of a sentence is part of a name if the name continues: `Fox Hollow is far.`
        if is_name(first) || (first.class == EntityClass::First && more > 0 && !is_verbal(first.text)) {
            let name: Vec<&str> = words[at..=at + more].iter().map(|word| word.text).collect();
            found.push((first.at, name.join(" ")));
            at += more;
        }
        at += 1;
    }
}

fn has_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// Whether a word is rare in English, and does not have the ending of a common word class.
fn is_unheard_of(word: &str) -> bool {
    is_rare(word) && !is_verbal(word) && !word.ends_with('s')
}

fn is_rare(word: &str) -> bool {
    let mut is_rare = true;
    for_each_word(word, |word| is_rare &= commonness(word) < RARE);
    is_rare
}

fn is_verbal(word: &str) -> bool {
    ["ed", "ing", "ly"].iter().any(|end| word.ends_with(end))
}

/// Adds names that are given along with what they name: `the zbooks project`, `a service called zbooks`.
fn add_mentions(words: &[SentenceWord<'_>], found: &mut Vec<EntityMatch>) {
    let is_mention = |word: &SentenceWord<'_>| {
        word.class == EntityClass::Plain
            && !names_nothing(word)
            && is_rare(word.text)
            && !is_verbal(&word.lower)
    };
    for three in words.windows(3) {
        let [first, second, third] = three else { continue };
        let is_pointed_at = matches!(first.lower.as_str(), "the" | "our" | "my" | "your" | "this");
        if is_pointed_at && NAMED_THINGS.contains(&third.lower) && is_mention(second) {
            found.push((second.at, second.text.to_owned()));
        }
        let is_called = matches!(second.lower.as_str(), "called" | "named");
        if NAMED_THINGS.contains(&first.lower)
            && is_called
            && third.class == EntityClass::Plain
            && !names_nothing(third)
        {
            found.push((third.at, third.text.to_owned()));
        }
    }
}

/// Returns the positions of file paths: runs without blanks, brackets and quotes that contain a slash and begin, or end, as
/// only a path does.
fn paths(text: &str) -> Vec<Range<usize>> {
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';')
    };
    let mut paths = Vec::new();
    for run in text.split(ends) {
        let path = run.trim_end_matches(['.', ':', '!', '?']);
        // Without the line number in `main.rs:12`.
        let path = path.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix(':').unwrap_or(path);
        if is_path(path) {
            let start = path.as_ptr() as usize - text.as_ptr() as usize;
            paths.push(start..start + path.len());
        }
    }
    paths
}

fn is_path(run: &str) -> bool {
    let is_address = run.contains("://") || run.starts_with("www.") || run.contains('@');
    let has_parts = run.split(is_separator).any(|part| part.chars().any(char::is_alphabetic));
    let is_rooted = ["/", "./", "../", "~/", "C:\\"].iter().any(|root| run.starts_with(root));
    let is_file = run.rsplit(is_separator).next().is_some_and(is_file_name);
    !is_address && has_parts && run.contains(is_separator) && (is_rooted || is_file)
}

fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// Returns the names of a path's folders and its file, without generic ones and without extensions.
fn names_of_path(path: &str) -> Vec<String> {
    let stem = |part: &str| {
        let part = part.trim_start_matches('.');
        part.split('.').next().unwrap_or(part).to_owned()
    };
    let is_telling = |name: &String| {
        (2..=MAX_BYTES).contains(&name.len())
            && name.chars().any(char::is_alphabetic)
            && !name.ends_with(':') // A drive.
            && !GENERIC_FOLDERS.contains(&name.to_lowercase())
    };
    let names: Vec<String> = path.split(is_separator).map(stem).filter(is_telling).collect();
    names[names.len().saturating_sub(MOST_OF_PATH)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, expected: &[&str]) {
        assert_eq!(entities("", content), expected, "{content:?}");
    }

    #[test]
    fn e_proper_nouns_are_entities() {
        check("We moved the cluster to Frankfurt.", &["Frankfurt"]);
        check("Andrew went hiking to Fox Hollow with Pixie.", &["Fox Hollow", "Pixie"]);
        check("Zbooks needs it. Then we asked Zbooks.", &["Zbooks"]);
        check("Anna's laptop is slow.", &["Anna"]);
        check("Emily paints when she can. Fixed her easel. Anna paints.", &["Emily"]);
        check("I work on ProjectName and FileName.", &["ProjectName", "FileName"]);
        check("We use GitHub Actions and AWS Lambda.", &["GitHub Actions", "AWS Lambda"]);
    }

    #[test]
    fn capitals_that_something_asks_for_are_not() {
        check("Fixed it. Added a timeout. Deploys are slow. On Monday I rested.", &[]);
        check("# Auth Design Decision\n\nIt was decided: Sessions stay.", &[]);
        check("NEVER DO THIS AGAIN.", &[]);
        check("I'm OK. I've DIY plans, FYI.", &[]);
        assert_eq!(entities("Auth Design Decision", "a"), [""; 0]);
        assert_eq!(entities("Fixed Redis connection timeouts", "a"), ["Redis"]);
    }

    #[test]
    fn e_technical_terms_are_entities() {
        check(
            "The API checks a JWT and asks PostgreSQL, then Redis.",
            &["API", "JWT", "PostgreSQL", "Redis"],
        );
        check(
            "Added socket_keepalive=True and socket_timeout=300 to Redis connection configuration.",
            &["socket_keepalive", "socket_timeout", "Redis"],
        );
        check(
            "It runs on k8s with Node.js, C++ and nginx.conf in v2.",
            &["k8s", "Node.js", "C++", "nginx.conf"],
        );
        check("Use UTF-8, e.g. at 5 p.m. or on the 2nd.", &["UTF-8"]);
    }

    #[test]
    fn e_paths_give_their_names() {
        check("See src/auth/token.ts for it.", &["auth", "token"]);
        check("It lies in `/home/me/projects/zbooks/src/db/pool.rs:12`.", &["zbooks", "db", "pool"]);
        check("It is [here](src/db/pool.rs), or in \"lib/db/row.rs\".", &["db", "pool", "row"]);
        check("Edit ~/.ssh/config and C:\\tools\\cli.exe.", &["ssh", "config", "tools", "cli"]);
        check("His/her and/or 9/10 on 24/12/2025, TCP/IP.", &["TCP", "IP"]);
        check("Look at https://a.example/src/auth.ts and a/b@c.de.", &[]);
    }

    #[test]
    fn e_explicit_mentions_are_entities() {
        check("I refactored the zbooks project.", &["zbooks"]);
        check("There is a service called ledger, and a bot named piper.", &["ledger", "piper"]);
        check("I stopped the whole project, and our old service.", &[]);
    }

    #[test]
    fn each_entity_is_named_once_and_there_are_few() {
        assert_eq!(entities("Redis timeouts with Redis", "redis, REDIS and Redis: JWT"), ["Redis", "JWT"]);
        let many: Vec<String> = (0..100).map(|n| format!("We asked T{n}x.")).collect();
        assert_eq!(entities("", &many.join(" ")).len(), 16);
    }

    #[test]
    fn a_hostile_text_is_read_in_passing() {
        for text in ["A b ", "a/b.c ", "Tuba Horn ", "/", "the zbooks project ", "猫", "'s ", "\\ . "] {
            assert!(entities(text, &text.repeat(100_000)).len() <= MOST, "{text:?}");
        }
    }
}
