//! Reads the head of a file in linear time: the fields between two lines `---`, in a subset of YAML. Also writes single
//! values so that they read back the same.
//!
//! The subset has single values, and lists and fields with little nesting. A file with anchors, aliases, tags, merges or
//! block scalars is refused, and the error names the line: nothing in a file is ever evaluated.

use std::fmt;

use serde_json::{Number, Value as Json};

pub(crate) use crate::vault::guard::quoted;

/// The maximum number of top-level fields.
const MAX_KEYS: usize = 64;
/// The maximum number of values in all lists together.
const MAX_ITEMS: usize = 1_000;
/// The maximum number of fields in one value of a list.
const MAX_NAMES: usize = 16;
/// The maximum nesting of brackets.
const MAX_DEPTH: usize = 2;

/// Why a file cannot be read. Contains nothing from the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrontmatterError {
    /// The number of the line, from 1.
    pub(crate) line: usize,
    pub(crate) why: &'static str,
}

/// Refuses the whole file.
pub(super) fn refused(why: &'static str) -> FrontmatterError {
    FrontmatterError { line: 0, why }
}

impl fmt::Display for FrontmatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldValue {
    /// A quoted value, which is always a text.
    Text(String),
    /// An unquoted value: a text, or a number, `true`, `false` or `null` as in JSON.
    Plain(String),
    List(Vec<FieldValue>),
    Map(Vec<(String, FieldValue)>),
}

/// A top-level field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: FieldValue,
    pub(crate) line: usize,
}

/// The two parts of a file: the fields of its head, and the text after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileParts<'f> {
    pub(crate) fields: Vec<Field>,
    pub(crate) body: &'f str,
}

/// Reads a file. A file without a head has no fields, only text.
pub(crate) fn read(file: &str) -> Result<FileParts<'_>, FrontmatterError> {
    let file = file.strip_prefix('\u{feff}').unwrap_or(file);
    if file.contains('\0') {
        return Err(FrontmatterError { line: 1, why: "it has a NUL, so it is not text" });
    }
    let Some(head) = first_line(file).filter(|(line, _)| is_delimiter(line)).map(|(_, rest)| rest) else {
        return Ok(FileParts { fields: Vec::new(), body: file });
    };
    let (mut lines, mut rest) = (Vec::new(), head);
    loop {
        let Some((line, behind)) = first_line(rest) else {
            return Err(FrontmatterError {
                line: 1,
                why: "the head that begins here lacks its end, a line ---",
            });
        };
        rest = behind;
        if is_delimiter(line) {
            break;
        }
        lines.push(line);
    }
    Ok(FileParts { fields: fields(&lines)?, body: rest })
}

/// Whether a file begins with a head.
pub(crate) fn has_head(file: &str) -> bool {
    first_line(file.strip_prefix('\u{feff}').unwrap_or(file)).is_some_and(|(line, _)| is_delimiter(line))
}

/// Whether a line ends or begins a head. Blanks after it are allowed, because editors leave them.
fn is_delimiter(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Splits a text into its first line, without the line end, and the rest; `None` if the text is empty.
fn first_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    Some((line.strip_suffix('\r').unwrap_or(line), rest))
}

/// Reads the lines of a head, the first of which is the second line of its file.
pub(crate) fn fields(lines: &[&str]) -> Result<Vec<Field>, FrontmatterError> {
    let mut reader = HeadReader { lines, at: 0, items: 0 };
    let mut fields: Vec<Field> = Vec::new();
    while let Some((indent, text)) = reader.peek() {
        let line = reader.line();
        if indent > 0 {
            return Err(FrontmatterError { line, why: "it is indented, and belongs to no name" });
        }
        let (name, value) = name_of(text)
            .ok_or(FrontmatterError { line, why: "it is not a name with a value, like name: value" })?;
        if fields.iter().any(|field| field.name == name) {
            return Err(FrontmatterError { line, why: "the name occurs twice in the head" });
        }
        if fields.len() == MAX_KEYS {
            return Err(FrontmatterError { line, why: "the head has more than 64 names" });
        }
        reader.at += 1;
        let value =
            if value.is_empty() { reader.block(name == "relations")? } else { reader.value(value, line)? };
        fields.push(Field { name: name.to_owned(), value, line });
    }
    Ok(fields)
}

/// Splits a line into a name and what follows its colon.
fn name_of(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    if !is_name(name) || !(value.is_empty() || value.starts_with([' ', '\t'])) {
        return None;
    }
    Some((name, unless_comment(value)))
}

/// Whether a head can contain a name as it is: 1 to 100 characters of `[A-Za-z0-9_-]`.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Returns a value without surrounding blanks; empty if it is a comment.
fn unless_comment(value: &str) -> &str {
    let value = value.trim();
    if value.starts_with('#') { "" } else { value }
}

struct HeadReader<'l, 's> {
    lines: &'l [&'s str],
    at: usize,
    items: usize,
}

impl<'s> HeadReader<'_, 's> {
    /// Returns the next line with content: its indentation and text.
    fn peek(&mut self) -> Option<(usize, &'s str)> {
        while let Some(line) = self.lines.get(self.at) {
            let text = line.trim_start_matches(' ');
            if !text.trim().is_empty() && !text.starts_with('#') {
                return Some((line.len() - text.len(), text.trim_end()));
            }
            self.at += 1;
        }
        None
    }

    /// Returns the number of the current line in the file.
    fn line(&self) -> usize {
        self.at + 2
    }

    fn count_item(&mut self, line: usize) -> Result<(), FrontmatterError> {
        self.items += 1;
        if self.items > MAX_ITEMS {
            return Err(FrontmatterError { line, why: "the head has more than 1,000 values in its lists" });
        }
        Ok(())
    }

    /// Reads what is below a name: a list, fields one level deeper, or nothing. `is_flat`: the fields of a list's values
    /// need not be indented, because the cognitive paper prints relations without indentation.
    fn block(&mut self, is_flat: bool) -> Result<FieldValue, FrontmatterError> {
        match self.peek() {
            Some((_, text)) if text == "-" || text.starts_with("- ") => self.list(is_flat),
            Some((indent, _)) if indent > 0 => self.map(indent).map(FieldValue::Map),
            _ => Ok(FieldValue::Plain(String::new())),
        }
    }

    fn list(&mut self, is_flat: bool) -> Result<FieldValue, FrontmatterError> {
        let mut values = Vec::new();
        let left = self.peek().map_or(0, |(indent, _)| indent);
        while let Some((indent, text)) = self.peek() {
            let line = self.line();
            let Some(first) =
                text.strip_prefix("- ").or((text == "-").then_some("")).filter(|_| indent == left)
            else {
                if indent > left {
                    return Err(FrontmatterError { line, why: "it is indented deeper than its list" });
                }
                break;
            };
            self.count_item(line)?;
            self.at += 1;
            let first = first.trim();
            match name_of(first).filter(|_| !first.starts_with(['"', '\'', '[', '{'])) {
                Some((name, value)) => {
                    let mut map = vec![(name.to_owned(), self.value(value, line)?)];
                    map.extend(self.names_of_item(left, is_flat)?);
                    values.push(FieldValue::Map(map));
                }
                None => values.push(self.value(unless_comment(first), line)?),
            }
        }
        Ok(FieldValue::List(values))
    }

    /// Reads the fields of a list's value after the first: indented ones or, in a flat list, those that relations have.
    fn names_of_item(
        &mut self,
        left: usize,
        is_flat: bool,
    ) -> Result<Vec<(String, FieldValue)>, FrontmatterError> {
        const OF_RELATIONS: [&str; 5] = ["type", "direction", "strength", "context", "edge_id"];
        let mut names: Vec<(String, FieldValue)> = Vec::new();
        while let Some((indent, text)) = self.peek() {
            let line = self.line();
            if text == "-" || text.starts_with("- ") {
                break;
            }
            let found = name_of(text);
            let is_flat_name =
                is_flat && indent == left && found.is_some_and(|(name, _)| OF_RELATIONS.contains(&name));
            if indent <= left && !is_flat_name {
                break;
            }
            let (name, value) = found
                .ok_or(FrontmatterError { line, why: "it is not a name with a value, like name: value" })?;
            if names.len() + 1 == MAX_NAMES {
                return Err(FrontmatterError { line, why: "a value of a list has more than 16 names" });
            }
            self.at += 1;
            names.push((name.to_owned(), self.value(value, line)?));
        }
        Ok(names)
    }

    fn map(&mut self, left: usize) -> Result<Vec<(String, FieldValue)>, FrontmatterError> {
        let mut names = Vec::new();
        while let Some((indent, text)) = self.peek() {
            let line = self.line();
            if indent < left {
                break;
            }
            if indent > left {
                return Err(FrontmatterError { line, why: "names are nested too deep" });
            }
            let (name, value) = name_of(text)
                .ok_or(FrontmatterError { line, why: "it is not a name with a value, like name: value" })?;
            self.count_item(line)?;
            self.at += 1;
            let value = if value.is_empty() {
                match self.peek() {
                    Some((deeper, text)) if deeper >= left && text.starts_with("- ") => self.list(false)?,
                    _ => FieldValue::Plain(String::new()),
                }
            } else {
                self.value(value, line)?
            };
            names.push((name.to_owned(), value));
        }
        Ok(names)
    }

    /// Reads a value on one line.
    fn value(&mut self, text: &str, line: usize) -> Result<FieldValue, FrontmatterError> {
        let mut inline = Inline { text, line, reader: self };
        let value = inline.value(0)?;
        let rest = inline.text.trim_start();
        if rest.is_empty() || rest.starts_with('#') {
            return Ok(value);
        }
        Err(FrontmatterError { line, why: "there is something after the end of the value" })
    }
}

/// A value on one line, read from left to right.
struct Inline<'i, 'r, 'l, 's> {
    text: &'i str,
    line: usize,
    reader: &'r mut HeadReader<'l, 's>,
}

impl Inline<'_, '_, '_, '_> {
    fn refused(&self, why: &'static str) -> FrontmatterError {
        FrontmatterError { line: self.line, why }
    }

    fn value(&mut self, depth: usize) -> Result<FieldValue, FrontmatterError> {
        self.text = self.text.trim_start();
        match self.text.chars().next() {
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some('"') => self.double_quoted().map(FieldValue::Text),
            Some('\'') => self.single_quoted().map(FieldValue::Text),
            Some('&' | '*') => {
                Err(self.refused("anchors and aliases are not supported; put the text in double quotes"))
            }
            Some('!') => Err(self.refused("tags are not supported; put the text in double quotes")),
            Some('|' | '>') => {
                Err(self.refused("blocks of text are not supported; put the text in double quotes"))
            }
            _ => Ok(FieldValue::Plain(self.plain(depth))),
        }
    }

    /// Reads an unquoted value, up to the end or a comment or, inside brackets, up to a comma or a closing bracket.
    fn plain(&mut self, depth: usize) -> String {
        let end = if depth == 0 {
            self.text.find(" #").or_else(|| self.text.find("\t#"))
        } else {
            self.text.find([',', ']', '}'])
        };
        let end = end.unwrap_or(self.text.len());
        let (text, rest) = self.text.split_at(end);
        self.text = rest;
        text.trim().to_owned()
    }

    fn list(&mut self, depth: usize) -> Result<FieldValue, FrontmatterError> {
        let mut values = Vec::new();
        self.open(depth)?;
        while !self.closes(']', !values.is_empty())? {
            self.reader.count_item(self.line)?;
            values.push(self.value(depth + 1)?);
        }
        Ok(FieldValue::List(values))
    }

    fn map(&mut self, depth: usize) -> Result<FieldValue, FrontmatterError> {
        let mut names = Vec::new();
        self.open(depth)?;
        while !self.closes('}', !names.is_empty())? {
            self.reader.count_item(self.line)?;
            let Some((name, rest)) = self.text.split_once(':') else {
                return Err(self.refused("a name in braces has no value"));
            };
            let name = name.trim().trim_matches('"').to_owned();
            self.text = rest;
            names.push((name, self.value(depth + 1)?));
        }
        Ok(FieldValue::Map(names))
    }

    fn open(&mut self, depth: usize) -> Result<(), FrontmatterError> {
        if depth == MAX_DEPTH {
            return Err(self.refused("values are nested too deep"));
        }
        self.text = &self.text[1..];
        Ok(())
    }

    /// Returns whether the list ends here. Otherwise moves to its next value, past a comma if a value came before.
    fn closes(&mut self, end: char, is_behind_one: bool) -> Result<bool, FrontmatterError> {
        self.text = self.text.trim_start();
        if let Some(rest) = self.text.strip_prefix(end) {
            self.text = rest;
            return Ok(true);
        }
        if is_behind_one {
            let rest =
                self.text.strip_prefix(',').ok_or_else(|| self.refused("a list does not end on its line"))?;
            self.text = rest.trim_start();
            if let Some(rest) = self.text.strip_prefix(end) {
                self.text = rest;
                return Ok(true);
            }
        }
        if self.text.is_empty() {
            return Err(self.refused("a list does not end on its line"));
        }
        Ok(false)
    }

    fn double_quoted(&mut self) -> Result<String, FrontmatterError> {
        let mut is_escaped = false;
        let end = self.text.char_indices().skip(1).find(|(_, c)| {
            let is_end = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_end
        });
        let Some((end, _)) = end else {
            return Err(self.refused("a text in double quotes does not end on its line"));
        };
        let (quoted, rest) = self.text.split_at(end + 1);
        self.text = rest;
        // The escapes of YAML that are supported are those of JSON; YAML also allows an unescaped tab.
        serde_json::from_str(&quoted.replace('\t', "\\t"))
            .map_err(|_| self.refused("a text in double quotes has an escape that JSON does not have"))
    }

    fn single_quoted(&mut self) -> Result<String, FrontmatterError> {
        let (mut text, mut rest) = (String::new(), &self.text[1..]);
        loop {
            let Some((part, behind)) = rest.split_once('\'') else {
                return Err(self.refused("a text in single quotes does not end on its line"));
            };
            text.push_str(part);
            let Some(more) = behind.strip_prefix('\'') else {
                self.text = behind;
                return Ok(text);
            };
            text.push('\'');
            rest = more;
        }
    }
}

impl FieldValue {
    /// Returns the text; `None` for a list or a map.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Plain(text) => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns the texts of a list, or a single text as a list; `None` if there is anything else.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::Text(text) | Self::Plain(text) if text.is_empty() => Some(Vec::new()),
            Self::Text(text) | Self::Plain(text) => Some(vec![text.clone()]),
            Self::List(values) => values.iter().map(|value| value.text().map(str::to_owned)).collect(),
            Self::Map(_) => None,
        }
    }

    /// Returns the value of one of a map's fields.
    pub(crate) fn named(&self, name: &str) -> Option<&FieldValue> {
        match self {
            Self::Map(names) => names.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            Self::Text(_) | Self::Plain(_) | Self::List(_) => None,
        }
    }

    /// Converts the value to JSON.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => text.clone().into(),
            Self::Plain(text) => scalar(text),
            Self::List(values) => values.iter().map(Self::to_json).collect(),
            Self::Map(names) => {
                Json::Object(names.iter().map(|(name, value)| (name.clone(), value.to_json())).collect())
            }
        }
    }
}

/// Writes a word as it is if it is unambiguous, otherwise in quotes.
pub(crate) fn word(text: &str) -> String {
    let is_bare = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-');
    if is_bare { text.to_owned() } else { quoted(text) }
}

/// Writes an id as it is if it consists of letters, digits, dots, underscores and hyphens, as in the papers; otherwise in
/// quotes.
pub(crate) fn id(text: &str) -> String {
    let is_bare = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if is_bare { text.to_owned() } else { quoted(text) }
}

/// Writes words as a list on one line.
pub(crate) fn words<'w>(words: impl IntoIterator<Item = &'w String>) -> String {
    let words: Vec<String> = words.into_iter().map(|text| word(text)).collect();
    format!("[{}]", words.join(", "))
}

/// Converts an unquoted text to JSON. A number that JSON would write differently stays a text, so that nothing is lost.
fn scalar(text: &str) -> Json {
    let number = match text {
        "null" => return Json::Null,
        "true" | "false" => return Json::Bool(text == "true"),
        _ => text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok(),
    };
    let number = number.or_else(|| Number::from_f64(text.parse().ok()?));
    number.filter(|number| number.to_string() == text).map_or_else(|| text.into(), Json::Number)
}

/// Writes JSON as a value on one line that reads back the same, and counts the values in its lists. `None` if a head cannot
/// express it.
pub(crate) fn inline(value: &Json) -> Option<(String, usize)> {
    inline_at(value, 0)
}

fn inline_at(value: &Json, depth: usize) -> Option<(String, usize)> {
    let mut items = 0;
    let text = match value {
        Json::Array(_) | Json::Object(_) if depth == MAX_DEPTH => return None,
        Json::Array(values) => {
            let mut texts = Vec::with_capacity(values.len());
            for value in values {
                let (text, inner) = inline_at(value, depth + 1)?;
                items += 1 + inner;
                texts.push(text);
            }
            format!("[{}]", texts.join(", "))
        }
        Json::Object(names) => {
            let mut texts = Vec::with_capacity(names.len());
            for (name, value) in names {
                let (text, inner) = inline_at(value, depth + 1).filter(|_| is_name(name))?;
                items += 1 + inner;
                texts.push(format!("{name}: {text}"));
            }
            format!("{{{}}}", texts.join(", "))
        }
        Json::String(text) => quoted(text),
        other => other.to_string(),
    };
    Some((text, items))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> FieldValue {
        FieldValue::Text(text.to_owned())
    }

    fn plain(text: &str) -> FieldValue {
        FieldValue::Plain(text.to_owned())
    }

    #[track_caller]
    fn check(head: &str, expected: &[(&str, FieldValue)]) {
        let file = format!("---\n{head}\n---\nBody.\n");
        let read = read(&file).unwrap();
        let found: Vec<(&str, FieldValue)> =
            read.fields.iter().map(|field| (field.name.as_str(), field.value.clone())).collect();
        assert_eq!(found, expected, "{head}");
        assert_eq!(read.body, "Body.\n");
    }

    #[track_caller]
    fn refuse(head: &str, line: usize, why: &str) {
        let refused = read(&format!("---\n{head}\n---\n")).unwrap_err();
        assert_eq!((refused.line, refused.why.contains(why)), (line, true), "{head}: {refused}");
    }

    #[test]
    fn names_have_texts_lists_and_names() {
        check(
            "type: fix\ntitle: \"A: \\\"b\\\" # c\"",
            &[("type", plain("fix")), ("title", text("A: \"b\" # c"))],
        );
        check("title: 'it''s' # so", &[("title", text("it's"))]);
        check(
            "a: plain: with colon  # comment\n# a line\n\nb:",
            &[("a", plain("plain: with colon")), ("b", plain(""))],
        );
        check(
            "tags: [redis, \"home, lab\", 'x', \"issue #5\"] # these",
            &[(
                "tags",
                FieldValue::List(vec![plain("redis"), text("home, lab"), text("x"), text("issue #5")]),
            )],
        );
        check(
            "tags:\n  - redis\n  - \"b: c\"",
            &[("tags", FieldValue::List(vec![plain("redis"), text("b: c")]))],
        );
        check(
            "steps:\n- \"Run tests\"\n- Push",
            &[("steps", FieldValue::List(vec![text("Run tests"), plain("Push")]))],
        );
        let map = |names: &[(&str, &str)]| {
            FieldValue::Map(names.iter().map(|(name, value)| ((*name).to_owned(), plain(value))).collect())
        };
        check(
            "validation:\n  validated_by: fs\n  reliability: 0.8",
            &[("validation", map(&[("validated_by", "fs"), ("reliability", "0.8")]))],
        );
        let relation = map(&[("target", "x"), ("type", "SOLVES")]);
        for relations in
            ["relations:\n  - target: x\n    type: SOLVES", "relations:\n- target: x\ntype: SOLVES"]
        {
            check(
                &format!("{relations}\nnext: 1"),
                &[("relations", FieldValue::List(vec![relation.clone()])), ("next", plain("1"))],
            );
        }
        check(
            "links: [{to: a, type: b}]",
            &[("links", FieldValue::List(vec![map(&[("to", "a"), ("type", "b")])]))],
        );
    }

    #[test]
    fn what_yaml_has_besides_is_refused_by_its_line() {
        refuse("a: 1\na: 2", 3, "twice");
        refuse("a: &x 1", 2, "anchors");
        refuse("a: *x", 2, "aliases");
        refuse("a: !!str 1", 2, "tags");
        refuse("a: |\n  text", 2, "blocks");
        refuse("no name", 2, "name");
        refuse("  a: 1", 2, "indented");
        refuse("a: [1, 2", 2, "does not end");
        refuse("a: \"x", 2, "does not end");
        refuse("a: [[[1]]]", 2, "too deep");
        refuse("a: \"x\" y", 2, "after the end");
        let many: Vec<String> = (0..65).map(|n| format!("k{n}: 1")).collect();
        refuse(&many.join("\n"), 66, "64 names");
        refuse(&format!("a: [{}]", "1, ".repeat(1_001)), 2, "1,000");
        assert!(read("---\na: 1\n").unwrap_err().why.contains("lacks its end"));
        assert!(read("a\0b").is_err());
    }

    #[test]
    fn line_ends_and_byte_order_marks_of_other_systems_are_read() {
        let parts = read("\u{feff}---\r\na: 1\r\n---\r\nBody\r\n").unwrap();
        assert_eq!((parts.fields[0].value.text(), parts.body), (Some("1"), "Body\r\n"));
        let plain = read("no head\n---\n").unwrap();
        assert_eq!((plain.fields.len(), plain.body), (0, "no head\n---\n"));
    }

    #[test]
    fn a_text_without_quotes_is_what_json_says_of_it_and_nothing_is_lost() {
        for (text, expected) in [
            ("45", Json::from(45)),
            ("-0.5", Json::from(-0.5)),
            ("1e+30", Json::from(1e30)),
            ("18446744073709551615", Json::from(u64::MAX)),
            ("true", Json::from(true)),
            ("null", Json::Null),
            ("0.70", Json::from("0.70")),
            ("007", Json::from("007")),
            ("NaN", Json::from("NaN")),
            ("99999999999999999999999", Json::from("99999999999999999999999")),
        ] {
            assert_eq!(FieldValue::Plain(text.to_owned()).to_json(), expected);
        }
        assert_eq!(FieldValue::Text("45".to_owned()).to_json(), Json::from("45"));
    }

    proptest! {
        #[test]
        fn whatever_a_file_says_it_is_read_or_refused(file in "(---\n)?(\\PC|\n|:|- |\\[|\\{|\"|'|#|  )*(---\n)?") {
            let _ = read(&file);
        }

        #[test]
        fn a_quoted_text_and_words_are_read_as_they_were(title in "\\PC*", tags in prop::collection::vec("\\PC{1,8}", 0..5)) {
            let file = format!("---\ntitle: {}\ntags: {}\n---\n", quoted(&title), words(&tags));
            let parts = read(&file).unwrap();
            prop_assert_eq!(parts.fields[0].value.text(), Some(title.as_str()));
            prop_assert_eq!(parts.fields[1].value.texts(), Some(tags));
        }
    }
}
