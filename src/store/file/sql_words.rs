//! The words of a statement in a file's schema, as SQLite would read them: without comments, and without quotes around names.

/// Returns the words, quoted names, texts and other characters of a statement, in order. Words keep their case.
///
/// A text in single quotes counts as a name, because SQLite takes it for one where only a name fits.
pub(super) fn words(sql: &str) -> Vec<String> {
    let mut left = sql.chars().peekable();
    let mut words = Vec::new();
    while let Some(first) = left.next() {
        match (first, left.peek()) {
            (space, _) if space.is_ascii_whitespace() => {}
            ('-', Some('-')) => while left.next().is_some_and(|next| next != '\n') {},
            ('/', Some('*')) => {
                left.next();
                let mut last = ' ';
                while let Some(next) = left.next().filter(|&next| (last, next) != ('*', '/')) {
                    last = next;
                }
            }
            ('"' | '\'' | '`' | '[', _) => {
                let (end, mut word) = (if first == '[' { ']' } else { first }, String::new());
                while let Some(next) = left.next() {
                    if next == end && (end == ']' || left.next_if_eq(&end).is_none()) {
                        break;
                    }
                    word.push(next);
                }
                words.push(word);
            }
            _ => {
                let mut word = String::from(first);
                while let Some(next) = left.next_if(|&next| is_of_word(first) && is_of_word(next)) {
                    word.push(next);
                }
                words.push(word);
            }
        }
    }
    words
}

/// Returns whether SQLite allows the character in a name without quotes.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// What a statement of a file's schema creates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Created {
    /// `table`, `index`, `view` or `trigger`, as in the column `type` of `sqlite_schema`.
    pub(super) kind: String,
    pub(super) name: String,
    /// The words after the name.
    pub(super) rest: Vec<String>,
}

/// Reads a statement as SQLite writes it into `sqlite_schema`. `None` if it is another statement.
pub(super) fn created(sql: &str) -> Option<Created> {
    let mut words = words(sql).into_iter();
    let mut next = || words.next().map(|word| word.to_ascii_lowercase());
    if next()? != "create" {
        return None;
    }
    let kind = match next()?.as_str() {
        "unique" => next().filter(|kind| kind == "index")?,
        "virtual" => next().filter(|kind| kind == "table")?,
        kind => kind.to_owned(),
    };
    if !matches!(kind.as_str(), "table" | "index" | "view" | "trigger") {
        return None;
    }
    Some(Created { kind, name: words.next()?, rest: words.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sql: &str, expected: &[&str]) {
        assert_eq!(words(sql), expected, "{sql}");
    }

    #[test]
    fn a_name_is_found_in_whatever_quotes_it_stands_and_in_no_comment() {
        check("a -- jobs\nb", &["a", "b"]);
        check("a/* jobs **/b/*", &["a", "b"]);
        check("/**/a /*/ jobs */ b", &["a", "b"]);
        check(r#"'it''s' "say ""so""" `a``b` [a]b"#, &["it's", "say \"so\"", "a`b", "a", "b"]);
        check("main.jobs(x,é$1)", &["main", ".", "jobs", "(", "x", ",", "é$1", ")"]);
        check("x'00' '--' '", &["x", "00", "--", ""]);
    }

    #[test]
    fn a_statement_says_what_it_creates() {
        let created = |sql| created(sql).map(|created| (created.kind, created.name));
        let of = |kind: &str, name: &str| Some((kind.to_owned(), name.to_owned()));
        assert_eq!(created("CREATE UNIQUE INDEX \"a b\" ON t(x)"), of("index", "a b"));
        assert_eq!(created("create virtual /* x */ table F using fts5(x)"), of("table", "F"));
        assert_eq!(created("CREATE TRIGGER t AFTER INSERT ON u BEGIN SELECT 1; END"), of("trigger", "t"));
        assert_eq!(created("CREATE TEMP TABLE t(x)"), None);
        assert_eq!(created("DROP TABLE t"), None);
        assert_eq!(created(""), None);
    }
}
