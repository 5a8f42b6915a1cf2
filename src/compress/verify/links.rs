//! Finds links, e-mail addresses and `@names` in a claim, and looks them up in its source.

use crate::compress::verify::flaw::Flaw;

/// Returns what looks like a link or an address in a lower-case text, and the flaw if the source lacks it.
pub(super) fn claimed(text: &str) -> impl Iterator<Item = (&str, Flaw)> {
    text.split([' ', '<', '>', '(', ')', '[', ']', '{', '}', '"', '\u{201c}', '\u{201d}', '|', ',', ';'])
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '@' | '/')))
        .filter_map(|word| {
            if word.len() > 1 && word.contains('@') {
                Some((word.trim_matches('/'), Flaw::ForeignEmail))
            } else if let Some((scheme, rest)) = word.split_once("://") {
                // A summary may add the scheme, but only a web scheme.
                let is_web = matches!(scheme, "http" | "https");
                Some((if is_web { rest.trim_end_matches('/') } else { word }, Flaw::ForeignLink))
            } else if has_scheme(word) || has_domain(word) {
                Some((word.trim_matches('/'), Flaw::ForeignLink))
            } else {
                None
            }
        })
        .filter(|(link, _)| !link.is_empty())
}

/// Whether a word has a scheme that needs no slashes: `javascript:alert`, `tel:555`.
fn has_scheme(word: &str) -> bool {
    const SCHEMES: [&str; 8] = ["javascript", "data", "mailto", "tel", "file", "vbscript", "ftp", "magnet"];
    word.split_once(':').is_some_and(|(scheme, rest)| SCHEMES.contains(&scheme) && !rest.is_empty())
}

/// Whether a word has a domain: labels and dots, as in `shop.example/sale`. The last label has two letters or more, as in
/// every top-level domain. The ideographic full stop between Latin labels is a dot to a browser.
fn has_domain(word: &str) -> bool {
    let host = word.split(['/', ':', '?', '#']).next().unwrap_or(word);
    let Some((before, last)) = host.rsplit_once(['.', '\u{3002}', '\u{ff61}']) else { return false };
    let mark_is_ideographic = !host.contains('.');
    !before.is_empty()
        && before.ends_with(char::is_alphanumeric)
        && last.chars().count() >= 2
        && last.chars().all(char::is_alphabetic)
        && (!mark_is_ideographic || host.replace(['\u{3002}', '\u{ff61}'], ".").is_ascii())
}

/// Whether a lower-case text contains a link as a whole, not as part of another one.
pub(super) fn stands_in(text: &str, link: &str) -> bool {
    text.match_indices(link).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut behind = text[at + link.len()..].chars();
        let next = behind.next();
        let goes_on = match next {
            Some('.') => behind.next().is_some_and(char::is_alphanumeric),
            Some(c) => c.is_alphanumeric() || matches!(c, '-' | '_' | '@'),
            None => false,
        };
        let is_inside = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@'));
        !goes_on && (!is_inside || before.is_some_and(|c| c == '.' && text[..at].ends_with("www.")))
    })
}
