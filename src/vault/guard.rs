//! Makes text inert: what Obsidian, its plugins and other viewers of Markdown would load, run or open is broken up by an
//! invisible character, the word joiner, so that it is only text. The text reads the same, and [`unguarded`] returns it
//! byte for byte.
//!
//! Broken up are images and embeds; HTML and the commands of Templater; the language of fenced code, because plugins run
//! some of them; inline queries and buttons; links that lead anywhere but to the web, to a mail address or into the folder;
//! and what Jekyll, kramdown or Pandoc would interpret.

use std::{borrow::Cow, fmt::Write as _};

use serde_json::Value as Json;

/// The word joiner: invisible, without width, and not a blank. A text's own joiners are doubled.
const JOINER: char = '\u{2060}';

/// Schemes whose addresses run or open something, besides all that have `//` behind them and are not of the web. The last
/// two are also words, and count only if something follows at once.
const SCHEMES: [&str; 5] = ["javascript", "vbscript", "obsidian", "data", "file"];
/// Beginnings of inline code that a plugin interprets.
const INLINE: [&str; 6] = ["=", "$", "INPUT[", "VIEW[", "BUTTON[", "button-"];

/// Returns the text with everything active broken up.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    let breaks = breaks(text);
    if breaks.is_empty() && !text.contains(JOINER) {
        return Cow::Borrowed(text);
    }
    let mut guarded = String::with_capacity(text.len() + 3 * breaks.len());
    let mut breaks = breaks.into_iter().peekable();
    for (at, c) in text.char_indices() {
        if breaks.next_if_eq(&at).is_some() {
            guarded.push(JOINER);
        }
        guarded.push(c);
        if c == JOINER {
            guarded.push(JOINER);
        }
    }
    Cow::Owned(guarded)
}

/// Returns the text that [`guarded`] got. Of a run of joiners, half were the text's own.
pub(crate) fn unguarded(text: &str) -> String {
    let (mut own, mut is_second) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        is_second = c == JOINER && !is_second;
        if !is_second {
            own.push(c);
        }
    }
    own
}

/// Writes a text in double quotes, with JSON's escapes. One of them breaks up what is active.
pub(crate) fn quoted(text: &str) -> String {
    let (mut quoted, mut from) = ("\"".to_owned(), 0);
    for at in breaks(text) {
        let Some(c) = text[at..].chars().next() else { break };
        let part = Json::from(&text[from..at]).to_string();
        quoted.push_str(&part[1..part.len() - 1]);
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(quoted, "\\u{unit:04x}");
        }
        from = at + c.len_utf8();
    }
    let rest = Json::from(&text[from..]).to_string();
    quoted + &rest[1..]
}

/// Whether something in a text would be broken up.
pub(crate) fn is_active(text: &str) -> bool {
    !breaks(text).is_empty()
}

/// Whether a plugin may act on a name in the head of a file: it has an address, or styles or replaces the page.
pub(crate) fn is_active_name(name: &str, value: &str) -> bool {
    value.contains("//") || name.starts_with("css") || name.ends_with("-plugin")
}

/// Returns the places, ascending, in front of which something active is to be broken.
fn breaks(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut breaks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
        let rest = text.get(at + 1..).unwrap_or_default();
        let is_active = match bytes[at] {
            b'!' => next == b'[',
            b'<' => next.is_ascii_alphabetic() || b"/!?%".contains(&next),
            b'{' => b"{%:=#".contains(&next),
            b']' => match next {
                b'(' | b':' => !is_harmless_target(rest.get(1..).unwrap_or_default()),
                _ => false,
            },
            b':' => is_active_scheme(&text[..at], rest),
            mark @ (b'`' | b'~') => {
                let run = bytes[at..].iter().take_while(|byte| **byte == mark).count();
                at += run - 1;
                is_active_code(mark, run, &text[at + 1..])
            }
            _ => false,
        };
        // A scheme is broken before its colon, everything else behind its first mark.
        if is_active {
            breaks.push(if bytes[at] == b':' { at } else { at + 1 });
        }
        at += 1;
    }
    breaks
}

/// Whether a link to this target opens at most a page of the web, a mail, or a file of the folder. A viewer decodes the
/// target before it interprets it, so what is encoded may be anything.
fn is_harmless_target(text: &str) -> bool {
    /// Longer targets count as harmful, so that many of them in one text do not take long.
    const MOST_BYTES: usize = 2_048;
    let target = &text[..text.floor_char_boundary(MOST_BYTES)];
    let target = target.trim_start_matches(|c: char| c.is_whitespace() || c == '<');
    let target = target.split(|c: char| c.is_whitespace() || c == ')').next().unwrap_or_default();
    let is_of = |scheme: &str| target.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    let is_of_the_web = is_of("http://") || is_of("https://") || is_of("mailto:");
    is_of_the_web || (target.len() < MOST_BYTES && !target.contains([':', '&', '\\']))
}

/// Whether the word before a colon, together with what follows, is an address that a click would run or open.
fn is_active_scheme(before: &str, after: &str) -> bool {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let start = before.trim_end_matches(is_of_scheme).len();
    let scheme = &before[start..];
    let schemes = if after.starts_with(char::is_whitespace) { &SCHEMES[..3] } else { &SCHEMES[..] };
    let is_listed = schemes.iter().any(|listed| scheme.eq_ignore_ascii_case(listed));
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_listed || (after.starts_with("//") && !scheme.is_empty() && !is_web)
}

/// Whether a viewer or a plugin would interpret the code after a run of marks: code that names its language, or an inline
/// query.
fn is_active_code(mark: u8, run: usize, after: &str) -> bool {
    let info = after.trim_start_matches([' ', '\t']);
    let is_named = run >= 3 && !info.is_empty() && !info.starts_with(['\n', '\r']);
    let code = after.trim_start();
    is_named || (mark == b'`' && INLINE.iter().any(|begins| code.starts_with(begins)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts that do something in some viewer, with the part that must not stay whole.
    const ACTIVE: [(&str, &str); 30] = [
        ("![x](http://evil/x.png)", "!["),
        ("![[http://evil/x.png]]", "!["),
        ("![x][ref]", "!["),
        ("<img src=x onerror=alert(1)>", "<img"),
        ("</div>", "</"),
        ("<!-- x -->", "<!--"),
        ("<% tp.file.title %>", "<%"),
        ("<https://evil>", "<h"),
        ("```dataviewjs\nx\n```", "`dataviewjs"),
        ("> - ```  dataview\nx\n```", "`  dataview"),
        ("~~~tracker\nx\n~~~", "~tracker"),
        ("`$= dv.pages()`", "`$="),
        ("`= this.file`", "`="),
        ("`` = this.file``", "` ="),
        ("`\n= this.file`", "`\n="),
        ("`INPUT[text:x]`", "`INPUT"),
        ("`button-x`", "`button"),
        ("[x](javascript:alert(1))", "javascript:"),
        ("[x](java&#115;cript:alert(1))", "]("),
        ("[x](java\\script:alert(1))", "]("),
        ("[x](\n  JavaScript:alert(1))", "JavaScript:"),
        ("[x](<file:///etc/passwd>)", "file:"),
        ("[x]: vbscript:x", "vbscript:"),
        ("[x]: &#106;avascript:x", "]:"),
        ("obsidian://open?vault=x", "obsidian:"),
        ("see zotero://select/1", "zotero:"),
        ("[x](http://a){: onclick=x}", "{:"),
        ("{% include x %}", "{%"),
        ("{{{ x }}}", "{{"),
        ("`x`{=html}", "{="),
    ];

    #[test]
    fn what_is_active_is_broken_up() {
        for (text, whole) in ACTIVE {
            let guarded = guarded(text);
            assert!(!guarded.contains(whole), "{text}: {guarded:?}");
            assert_eq!(guarded.replace(JOINER, ""), text, "it reads the same");
            assert_eq!(unguarded(&guarded), text);
        }
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        for text in [
            "See [the page](https://example.org/a?b=c) and [mine](notes/a.md), at 12:30: a < b && c > d!",
            "```\ncode\n```\nand `let x = 1;` and [[a link|b]] and - [ ] a task\n    ~ about",
            "mailto:a@b.c, http://example.org, [x](mailto:a@b.c), C:\\temp, std::vec, {a: 1}",
        ] {
            assert_eq!(guarded(text), text);
        }
    }

    proptest! {
        #[test]
        fn every_text_is_returned_and_nothing_in_it_is_active(
            text in "(\u{2060}|!|\\[|\\]|\\(|<|>|/|%|`|```|~~~|\n| |=|\\$|:|//|javascript|file|http|\\{|&|\\\\|x|\\PC){0,40}",
        ) {
            let guarded = guarded(&text);
            prop_assert_eq!(unguarded(&guarded), text.as_str());
            for active in ["![", "<x", "</", "<%", "<!", "{{", "{%", "{:", "```x", "~~~x", "`=", "`$"] {
                prop_assert!(!guarded.contains(active), "{:?}: {:?}", active, guarded);
            }
        }
    }
}
