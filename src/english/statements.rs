//! Finds what people state in their own voice. What they ask, quote, paste, imagine or report about others is left out.

use std::{collections::HashMap, iter::successors, ops::Range, sync::LazyLock};

use crate::{
    english::{
        lists::{List, is_in, list, spaced},
        sentences::{Sentence, Setting, sentences},
    },
    text::terms::for_each_term,
};

/// A stated part of one sentence, as words and marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement<'a> {
    /// The text of the sentence, to which the positions of the tokens refer.
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<StatementToken<'a>>,
    /// Whether the statement begins its sentence.
    pub(crate) starts_sentence: bool,
    /// Whether the sentence is in a list item.
    pub(crate) is_item: bool,
}

/// A word, a part of a contraction, or a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementToken<'a> {
    /// The word in lower case. `don't` is the two tokens `do` and `not`, `I'm` is `i` and `am`.
    pub(crate) lower: String,
    /// The word as in the text. Each half of a contraction has the whole contraction here.
    pub(crate) text: &'a str,
    /// Its position in the statement's text, in bytes.
    pub(crate) start: usize,
    /// Whether it is an adverb that does not change a claim.
    pub(crate) is_passed_over: bool,
}

impl<'a> Statement<'a> {
    /// Returns the part of the text from the first token to the last.
    pub(crate) fn stated(&self) -> &'a str {
        let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) else { return "" };
        &self.text[first.start..last.end()]
    }
}

impl StatementToken<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_mark(&self) -> bool {
        !self.lower.starts_with(|c: char| c.is_alphanumeric() || c == '\'')
    }

    pub(crate) fn is_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }
}

/// Only this much of a message's start and end is examined: nobody tells who they are in the middle of a book.
const HEAD_BYTES: usize = 16 * 1_024;
const TAIL_BYTES: usize = 2 * 1_024;

static FICTION: List = list!("fiction");
static REQUESTING: List = list!("requesting");
static PASTED: List = list!("pasted");
static ASKING: List = list!("asking");
static REPORTING: List = list!("reporting");
/// Adverbs that do not change what is claimed.
static ADVERBS: List = list!("adverbs");
static LAUGHS: List = list!("laughs");
/// Phrases that ask to work on a pasted text; `_` for a blank.
static WORKED_ON: List = list!("worked_on");
static LETTER_HEADS: List = list!("letter_heads");
static CLOSINGS: List = list!("closings");
static GREETINGS: List = list!("salutations");
static ROLES: List = list!("role_tags");
static UNREAL: List = list!("unreal");

/// Contractions and other short forms, with the words that they stand for.
static CONTRACTIONS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    static LINES: List = list!("contractions");
    LINES.lines().filter_map(|line| line.split_once(": ")).collect()
});

/// Whether a text contains one of these phrases.
fn has_phrase(list: &List, text: &str) -> bool {
    list.phrases().iter().any(|phrase| text.contains(phrase))
}

/// Which parts of a message count as stated.
#[derive(Clone, Copy)]
struct Counts<'c> {
    sentence: &'c dyn Fn(&str) -> bool,
    /// Whether a report by somebody else counts if it is about the author: `the vet says that my horse is ill`.
    is_own_report_told: bool,
}

/// Returns the statements of a message, in order.
pub(crate) fn statements(text: &str) -> Vec<Statement<'_>> {
    statements_that(text, Counts { sentence: &|_| true, is_own_report_told: false })
}

/// Returns the statements in the sentences that `wanted` selects, including what others report about the author. Other
/// sentences are not examined.
pub(crate) fn told<'a>(text: &'a str, wanted: &dyn Fn(&str) -> bool) -> Vec<Statement<'a>> {
    statements_that(text, Counts { sentence: wanted, is_own_report_told: true })
}

fn statements_that<'a>(text: &'a str, counts: Counts<'_>) -> Vec<Statement<'a>> {
    let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES)).max(head.len())..];
    let mut found = Vec::new();
    for part in [head, tail] {
        if !is_fiction(part) {
            add_statements(part, counts, &mut found);
        }
    }
    found
}

/// Returns the sentences of a message in order, each with all its words, including questions: for reading what a message
/// asks rather than what it states. Only the first `most_bytes` are examined.
pub(crate) fn spoken(text: &str, most_bytes: usize) -> Vec<Statement<'_>> {
    let text = &text[..text.floor_char_boundary(most_bytes)];
    let is_own =
        |sentence: &Sentence<'_>| sentence.setting != Setting::Quoted && !has_role_tag(sentence.text);
    let statement =
        |text| Statement { text, tokens: tokens(text, |_| false), starts_sentence: true, is_item: false };
    sentences(text).into_iter().filter(is_own).map(|sentence| statement(sentence.text)).collect()
}

fn add_statements<'a>(text: &'a str, counts: Counts<'_>, found: &mut Vec<Statement<'a>>) {
    let quoted = quoted_spans(text);
    let end = paste_start(text, &quoted).unwrap_or(text.len());
    for sentence in sentences(text) {
        let at = sentence.text.as_ptr() as usize - text.as_ptr() as usize;
        let is_own = matches!(sentence.setting, Setting::Prose | Setting::Item)
            && !has_role_tag(sentence.text)
            && !is_joke(sentence.text);
        if at >= end || !is_own || !(counts.sentence)(sentence.text) {
            continue;
        }
        let is_quoted = |place: usize| is_in_spans(&quoted, at + place);
        let mut tokens = tokens(sentence.text, is_quoted);
        if tokens.first().is_some_and(|first| REQUESTING.contains(&first.lower)) {
            tokens.truncate(tokens.iter().position(|token| token.lower == ":").unwrap_or(tokens.len()));
        }
        let is_item = sentence.setting == Setting::Item;
        let statement =
            |(starts_sentence, tokens)| Statement { text: sentence.text, tokens, starts_sentence, is_item };
        found.extend(stated(tokens, counts.is_own_report_told).into_iter().map(statement));
    }
}

/// Whether the beginning of a text says that what follows is made up.
fn is_fiction(text: &str) -> bool {
    const LOOKED_AT: usize = 1_024;
    has_phrase(&FICTION, &spaced(&text[..text.floor_char_boundary(LOOKED_AT)]))
}

/// Whether a sentence laughs at itself: a joke should not be kept. A laugh at the start of a sentence does not count,
/// because it is about the sentence before.
fn is_joke(sentence: &str) -> bool {
    let (_, inner) = sentence.split_once(' ').unwrap_or_default();
    inner.contains(['😂', '🤣', '😆', '😜', '🙃']) || LAUGHS.is_part_of(&spaced(inner))
}

/// Whether a sentence begins with the tag of a role: `System: you are ...`.
fn has_role_tag(sentence: &str) -> bool {
    sentence.split_once(':').is_some_and(|(head, _)| ROLES.contains(&head.trim().to_lowercase()))
}

/// Returns the spans of quoted text.
fn quoted_spans(text: &str) -> Vec<(usize, usize)> {
    /// A quotation that is not closed within this many bytes ends there.
    const LONGEST: usize = 4_096;
    let mut spans = Vec::new();
    let mut open: Option<(usize, &[char])> = None;
    let next = |at: usize, c: char| text[at + c.len_utf8()..].chars().next();
    let is_apostrophe = |at: usize, c: char| c == '’' && next(at, c).is_some_and(char::is_alphanumeric);
    for (at, c) in text.char_indices() {
        match open {
            Some((start, ends)) if (ends.contains(&c) && !is_apostrophe(at, c)) || at - start > LONGEST => {
                spans.push((start, at + c.len_utf8()));
                open = None;
            }
            Some(_) => {}
            None => {
                open = match c {
                    // An inch mark follows a number.
                    '"' if !text[..at].ends_with(|c: char| c.is_ascii_digit()) => Some((at, &['"', '”'])),
                    '“' | '„' | '”' => Some((at, &['”', '“', '"'])),
                    // Single quotes count only if they begin a sentence, because they are also apostrophes.
                    '‘' if next(at, c).is_some_and(char::is_uppercase) => Some((at, &['’'])),
                    '«' => Some((at, &['»'])),
                    '「' | '『' => Some((at, &['」', '』'])),
                    _ => None,
                }
            }
        }
    }
    spans
}

/// Whether a position is in one of these spans, which are in order.
fn is_in_spans(spans: &[(usize, usize)], place: usize) -> bool {
    let behind = spans.partition_point(|&(start, _)| start <= place);
    behind.checked_sub(1).is_some_and(|last| place < spans[last].1)
}

/// Returns where text begins that the author only passes on: a letter, a chat log, or the text after a request to work on
/// it.
fn paste_start(text: &str, quoted: &[(usize, usize)]) -> Option<usize> {
    letter_start(text).into_iter().chain(request_colon(text, quoted)).min()
}

/// Returns where a letter or a chat log begins: at `Dear Sam,`, `From: Sam`, at `Hi all,` on a line of its own, or at the
/// first of two lines that begin with their speaker. If the last line asks to work on the text, all of it is pasted.
fn letter_start(text: &str) -> Option<usize> {
    /// The most words of a line that asks to work on a text.
    const MOST_WORDS: usize = 16;
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(|line| (line.as_ptr() as usize - text.as_ptr() as usize, line.trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let asks =
        |line: &str| line.split_whitespace().count() <= MOST_WORDS && has_phrase(&WORKED_ON, &spaced(line));
    let greets = |line: &str| {
        line.ends_with(',')
            && line.split(' ').count() <= 4
            && GREETINGS.contains(&line.split(' ').next().unwrap_or_default().to_lowercase())
    };
    let heads = |line: &str| {
        let line = line.to_lowercase();
        LETTER_HEADS.phrases().iter().any(|head| line.starts_with(head))
    };
    let speaks = |line: &str| {
        let said = line.split_once("] ").map_or(line, |(_, said)| said);
        said.split_once(": ")
            .is_some_and(|(who, _)| who.starts_with(char::is_uppercase) && !who.contains(' '))
    };
    let [(_, first), .., (_, last)] = lines[..] else { return None };
    if asks(last) {
        return Some(0);
    }
    if asks(first) && !first.ends_with(':') {
        return Some(lines[1].0);
    }
    let is_log = lines.iter().filter(|(_, line)| speaks(line)).count() > 1;
    let is_head = |line: &str| {
        heads(line)
            || (is_log && speaks(line))
            || (greets(line)
                && lines.len() > 2
                && lines
                    .iter()
                    .any(|(_, line)| CLOSINGS.contains(&line.trim_end_matches(',').to_lowercase())))
    };
    lines.iter().find(|(_, line)| is_head(line)).map(|(at, _)| *at)
}

/// Returns where the text begins after a colon that ends a request to work on it, or that introduces what somebody else
/// says.
fn request_colon(text: &str, quoted: &[(usize, usize)]) -> Option<usize> {
    /// How many bytes before the colon are examined: a request is short, and anything before it is another sentence.
    const LOOK_BACK: usize = 200;
    let ends_request = |colon: &usize| {
        let before = &text[text.ceil_char_boundary(colon.saturating_sub(LOOK_BACK))..=*colon];
        let request = before.rsplit(['\n', '!', '?']).next().unwrap_or(before).to_lowercase();
        let ends_line = text[colon + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let verb = request.trim_end_matches(':').rsplit(' ').next().unwrap_or_default();
        let is_told = REPORTING.contains(verb) && !spaced(&request).contains(" i ");
        !is_in_spans(quoted, *colon) && (is_told || ends_line && has_phrase(&PASTED, &request))
    };
    let colon = text.match_indices(':').map(|(colon, _)| colon).find(ends_request)?;
    let start = text.len() - text[colon + 1..].trim_start().len();
    // Quoted text is already excluded, and more of the author's own may follow it.
    (!is_in_spans(quoted, start)).then_some(start)
}

/// How many tokens of a sentence are read, besides the marks at its end: nobody tells who they are in more words.
const MAX_TOKENS: usize = 400;

/// Splits a sentence into words and marks, without quoted text or text in square brackets.
fn tokens(sentence: &str, is_quoted: impl Fn(usize) -> bool) -> Vec<StatementToken<'_>> {
    let mut found: Vec<StatementToken<'_>> = Vec::new();
    let mut last_end = 0;
    let mut depth = 0_usize;
    for_each_term(sentence, |term| {
        let between = last_end..term.at;
        last_end = term.at + term.text.len();
        if found.len() >= MAX_TOKENS {
            return;
        }
        let brackets = |bracket: char| sentence[between.clone()].matches(bracket).count();
        depth = (depth + brackets('[')).saturating_sub(brackets(']'));
        add_marks(sentence, between, &mut found);
        if depth == 0 && !is_quoted(term.at) {
            let token = |lower: String| StatementToken {
                is_passed_over: ADVERBS.contains(&lower),
                lower,
                text: term.text,
                start: term.at,
            };
            found.extend(expanded(term.text).into_iter().map(token));
        }
    });
    add_marks(sentence, last_end..sentence.len(), &mut found);
    found
}

/// Adds the marks in this part of a sentence, but not those of Markdown, prices and the like.
fn add_marks<'a>(sentence: &'a str, part: Range<usize>, found: &mut Vec<StatementToken<'a>>) {
    /// The most marks that are read between two words; more of them are a drawing.
    const MOST: usize = 8;
    let start = part.start;
    let is_mark = |c: &char| !c.is_whitespace() && !"*_`'\u{2019}@#~%$€£".contains(*c);
    for (at, c) in sentence[part].char_indices().filter(|(_, c)| is_mark(c)).take(MOST) {
        let at = start + at;
        let text = &sentence[at..at + c.len_utf8()];
        found.push(StatementToken { lower: mark(c).to_owned(), text, start: at, is_passed_over: false });
    }
}

/// Returns one mark for all marks that separate in the same way.
fn mark(c: char) -> &'static str {
    match c {
        ',' | '，' | '、' => ",",
        '?' | '？' => "?",
        '!' | '！' => "!",
        '-' | '–' | '—' => "-",
        ':' | '：' => ":",
        ';' | '；' => ";",
        '(' => "(",
        ')' => ")",
        '/' => "/",
        '&' => "&",
        '.' | '。' | '…' => ".",
        _ => "\"",
    }
}

/// Returns a word in lower case, or the words of a contraction.
fn expanded(word: &str) -> Vec<String> {
    let lower = word.to_lowercase().replace('\u{2019}', "'");
    let two = |first: &str, second: &str| vec![first.to_owned(), second.to_owned()];
    if let Some(words) = CONTRACTIONS.get(&*lower) {
        return words.split(' ').map(str::to_owned).collect();
    }
    for (ending, second) in
        [("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would")]
    {
        if let Some(first) = lower.strip_suffix(ending).filter(|first| !first.is_empty()) {
            return two(first, second);
        }
    }
    if let Some(first) = lower.strip_suffix("'s").filter(|first| !first.is_empty()) {
        let is_pronoun = is_in("it that he she there here what who where how let", first);
        return two(first, if is_pronoun { "is" } else { "'s" });
    }
    vec![lower]
}

/// Returns the stated parts of a sentence, each with whether it begins the sentence.
fn stated(tokens: Vec<StatementToken<'_>>, is_own_report_told: bool) -> Vec<(bool, Vec<StatementToken<'_>>)> {
    let end = question_start(&tokens).unwrap_or(tokens.len());
    let tells_own = |at: usize| {
        let next = tokens[at + 1..].iter().find(|token| !is_in("that me us", &token.lower));
        is_own_report_told && next.is_some_and(|next| is_in("i my we our", &next.lower))
    };
    let tells_own: Vec<bool> = tokens
        .iter()
        .enumerate()
        .map(|(at, token)| REPORTING.contains(&token.lower) && tells_own(at))
        .collect();
    let mut parts: Vec<(bool, Vec<StatementToken<'_>>)> = vec![(true, Vec::new())];
    let mut is_left_out = false;
    for (token, tells_own) in tokens.into_iter().zip(tells_own).take(end) {
        let is_break = matches!(&*token.lower, "," | ";" | "-" | "." | "then" | "but");
        if is_left_out && is_break {
            is_left_out = false;
            parts.push((false, Vec::new()));
        }
        let Some((_, part)) = parts.last_mut() else { break };
        is_left_out |= UNREAL.contains(&token.lower) || (reports(&token, part) && !tells_own);
        if !is_left_out {
            part.push(token);
        }
    }
    parts.retain(|(_, part)| part.iter().any(|token| !token.is_mark()));
    parts
}

/// Whether this verb makes the following words somebody else's: `my boss says I am`, not `I said`.
fn reports(token: &StatementToken<'_>, before: &[StatementToken<'_>]) -> bool {
    REPORTING.contains(&token.lower)
        && before.iter().rev().take(3).all(|word| !matches!(&*word.lower, "i" | "we"))
        && before.last().is_some_and(|last| !last.is_mark())
}

/// Returns where a sentence's final question starts, if it has one: at the last question word that begins a clause.
fn question_start(tokens: &[StatementToken<'_>]) -> Option<usize> {
    let ends_asking = tokens.iter().rev().take(3).any(|token| token.lower == "?");
    let begins_clause = |at: usize| {
        at == 0
            || tokens[at - 1].is_mark()
            || matches!(&*tokens[at - 1].lower, "and" | "but" | "so" | "or" | "also" | "please" | "now")
    };
    if ends_asking {
        let asks = |at: &usize| begins_clause(*at) && ASKING.contains(&tokens[*at].lower);
        // If one asking clause follows another, the question begins with the first, unless `I`, `my` or `we` comes between
        // them.
        let speaks = |places: Range<usize>| tokens[places].iter().any(|token| is_in("i my we", &token.lower));
        let earlier = |start: &usize| (0..*start).rev().find(asks).filter(|&at| !speaks(at..*start));
        return successors((0..tokens.len()).rev().find(asks), earlier).last().or(Some(0));
    }
    // `can you help me with that` without a question mark.
    (0..tokens.len()).find(|&at| {
        begins_clause(at)
            && matches!(&*tokens[at].lower, "can" | "could" | "would" | "will" | "do")
            && tokens.get(at + 1).is_some_and(|next| next.lower == "you")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the words of the statements, joined for each statement.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = statements(text)
            .iter()
            .map(|statement| {
                let words = statement.tokens.iter().filter(|token| !token.is_mark());
                words.map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn contractions_are_two_words() {
        check("I'm here and don't care.", &["i am here and do not care"]);
        check("Ive won, can\u{2019}t stop, won't go", &["i have won can not stop will not go"]);
        check("Anna's dog, that's it, she'd know", &["anna 's dog that is it she would know"]);
        check("im gonna go, u see", &["i am going to go you see"]);
    }

    #[test]
    fn questions_are_not_stated() {
        check("Do you like dogs?", &[]);
        check("I live in Bonn, can you help me?", &["i live in bonn"]);
        check("I live in Bonn. What now?", &["i live in bonn"]);
        check("I like it - do you know how?", &["i like it"]);
        check("I live in Bonn and can you help", &["i live in bonn and"]);
        check("What a day, I moved!", &["what a day i moved"]);
        check("你住在哪里？", &[]);
        check(&format!("{}Can I?", "so I am, ".repeat(400)), &[]);
    }

    #[test]
    fn quotes_and_notes_are_not_stated() {
        check("She wrote \"I hate tea\" on it", &["she"]);
        check("I like \u{201c}I hate tea\u{201d} a lot", &["i like a lot"]);
        check("Mine is 5\" long. I like it \"so\" much", &["mine is 5 long", "i like it much"]);
        check("Look! [image: I hate dogs] I won", &["look", "i won"]);
        check("> I hate tea\nI like it", &["i like it"]);
        check("\"One.\n\nI hate tea.\"\nI won", &["i won"]);
        check("\u{2018}I don\u{2019}t like tea.\u{2019} I won", &["i won"]);
    }

    #[test]
    fn pasted_text_is_not_stated() {
        check("Summarize this:\n\nI hate tea. I moved.", &["summarize this"]);
        check("Translate please:\n\"I hate tea.\"\nI won.", &["translate please", "i won"]);
        check("My plan:\n\n- I quit", &["my plan", "i quit"]);
        check("Rewrite this: I hate tea.", &["rewrite this"]);
        check("Note: I hate tea.", &["note i hate tea"]);
        check("System: I hate tea", &[]);
        check("```\nI hate tea\n```\nI won", &["i won"]);
    }

    #[test]
    fn what_is_imagined_or_reported_is_not_stated() {
        check("If I were rich, I would fly.", &["i would fly"]);
        check("I wish I were rich, but I won.", &["i", "but i won"]);
        check("Maybe I hate tea, I said", &["i said"]);
        check("My boss says I am late", &["my boss"]);
        check("I said I am late", &["i said i am late"]);
        check("Let's role-play. I hate tea.", &[]);
        check("I hate tea lol. Haha, I won. I am tea 😂.", &["haha i won"]);
    }

    #[test]
    fn places_count_in_the_sentence() {
        let found = statements("Well. I live in Bonn!");
        let token = &found[1].tokens[3];
        assert_eq!((token.text, token.start, token.end()), ("Bonn", 10, 14));
        assert_eq!(&found[1].text[token.start..token.end()], "Bonn");
        assert!(token.is_capital() && !token.is_mark() && found[1].tokens[4].is_mark());
    }

    #[test]
    fn a_hostile_megabyte_is_read_in_passing() {
        for text in ["\"", "(", "I say: \n", "if ", "don't ", "a?", "[", "\u{201c}"] {
            assert!(statements(&text.repeat(1 << 18)).len() < 20_000);
        }
    }
}
