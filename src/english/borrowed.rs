//! Decides whether what a pattern matched counts as the author's own statement. What the author reports, quotes, makes up or
//! takes back does not count, nor does what tells a secret, such as a password.

use crate::english::{
    cues::CueMatch,
    lists::{List, list, spaced},
    statements::{Statement, StatementToken},
};

/// How many tokens after a word that names a secret (`password`) are searched for the secret.
const SECRET_WITHIN: usize = 3;

/// Whether the match is somebody else's (after a label such as `The article: ...`, in single quotes, or next to reporting
/// words such as `said Bob`), is taken back, or tells a secret.
pub(crate) fn is_borrowed(statement: &Statement<'_>, found: CueMatch) -> bool {
    is_introduced(&statement.tokens[..found.start])
        || is_reported_behind(&statement.tokens[found.end..])
        || is_quoted(statement, found)
        || is_taken_back(statement, found)
        || tells_a_secret(&statement.tokens[found.end..])
}

/// Whether the words before a match introduce it as somebody else's: `He told me, ` and `Example: ` do, `Note: ` and
/// `I am tired of it: ` do not.
fn is_introduced(before: &[StatementToken<'_>]) -> bool {
    static OWN_LABELS: List = list!("own_labels");
    // Connectives (`so`, `then`) may come in between.
    let Some(mark) = before.iter().rposition(StatementToken::is_mark) else { return false };
    let clause = clause_before(&before[..mark]);
    let is_own = clause.iter().any(|token| matches!(&*token.lower, "i" | "we" | "my" | "our"));
    if reports(clause) {
        return true;
    }
    let is_labelled = before[mark].lower == ":";
    is_labelled && !is_own && !clause.last().is_some_and(|last| OWN_LABELS.contains(&last.lower))
}

/// Whether the words after a match say that it is somebody else's: `..., said Bob`, `... (from the article)`, but not
/// `..., as I said`.
fn is_reported_behind(behind: &[StatementToken<'_>]) -> bool {
    let Some(mark) = behind.iter().position(StatementToken::is_mark) else { return false };
    behind[mark..].split(StatementToken::is_mark).any(|clause| {
        let is_own = clause.iter().any(|token| matches!(&*token.lower, "i" | "we"));
        !is_own && (reports(clause) || is_had_by_another(clause))
    })
}

/// Whether a clause refers to another source: `so the wiki has it`.
fn is_had_by_another(clause: &[StatementToken<'_>]) -> bool {
    clause.windows(2).any(|pair| pair[0].lower == "has" && pair[1].lower == "it")
}

fn reports(clause: &[StatementToken<'_>]) -> bool {
    static INTRODUCING: List = list!("introducing");
    let next = |at: usize| clause.get(at + 1).map_or("", |token| &*token.lower);
    // `said to be` reports nothing: `a parser, said to be the fastest`.
    let is_hearsay = |at: usize| clause[at].lower == "said" && next(at) == "to";
    (0..clause.len()).any(|at| INTRODUCING.contains(&clause[at].lower) && !is_hearsay(at))
}

/// Returns the tokens after the last mark.
fn clause_before<'t, 'a>(tokens: &'t [StatementToken<'a>]) -> &'t [StatementToken<'a>] {
    let start = tokens.iter().rposition(StatementToken::is_mark).map_or(0, |mark| mark + 1);
    &tokens[start..]
}

/// Whether the match is inside an open single quote. Text in double quotes is never a statement.
fn is_quoted(statement: &Statement<'_>, found: CueMatch) -> bool {
    let text = statement.text;
    let begins = statement.tokens.get(found.start).map_or(0, |token| token.start);
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut opened, mut closed) = (0, 0);
    for (at, c) in text[..begins].char_indices().filter(|(_, c)| matches!(c, '\'' | '\u{2018}' | '\u{2019}'))
    {
        let before = is_letter(text[..at].chars().next_back());
        let behind = is_letter(text[at + c.len_utf8()..].chars().next());
        opened += usize::from(!before && behind);
        closed += usize::from(before && !behind);
    }
    opened > closed
}

fn is_taken_back(statement: &Statement<'_>, found: CueMatch) -> bool {
    static TAKEN_BACK: List = list!("taken_back");
    let behind = statement.tokens.get(found.end).map_or("", |token| &statement.text[token.start..]);
    TAKEN_BACK.is_part_of(&spaced(behind))
}

/// Whether the words after a match tell a secret: `the password hunter2`, `the token is ...`; not
/// `rotate the passwords monthly`.
fn tells_a_secret(behind: &[StatementToken<'_>]) -> bool {
    static SECRETS: List = list!("secrets");
    let is_one = |token: &StatementToken<'_>| {
        matches!(&*token.lower, "is" | "was" | ":" | "=")
            || token.lower.contains(|c: char| c.is_ascii_digit())
    };
    behind.iter().enumerate().any(|(at, token)| {
        SECRETS.contains(&token.lower) && behind[at + 1..].iter().take(SECRET_WITHIN).any(is_one)
    })
}
