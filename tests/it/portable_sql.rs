//! Every statement about rows is one text that both SQLite and `PostgreSQL` accept. Each is prepared here against a file,
//! and checked, as far as possible without a server, for what the two treat differently.

use std::{collections::HashMap, fs, path::Path};

use crate::{dump, support::Fixture};

/// The last terms that lists are ordered by, so that their order is never left to chance: each identifies one row of the
/// list.
const KEYS: &[&str] = &[
    "block_no",
    "change_no",
    "edge_no",
    "episode_no",
    "first_seq",
    "frame_no",
    "id",
    "id_hash",
    "job_no",
    "key",
    "memory_no",
    "move_number",
    "name",
    "part",
    "position",
    "rank",
    "receipt_no",
    "review_no",
    "seq",
    "session_no",
    "source_id",
    "space_no",
    "stance",
    "turn_key",
    "turn_number",
    "user_no",
    "value_key",
];

/// Syntax that only SQLite knows.
const SQLITES_OWN: &[&str] =
    &["rowid", "last_insert_rowid", "glob", "pragma", "sqlite_schema", "dbstat", "ifnull"];

/// A statement, with the file that contains it.
struct Statement {
    file: String,
    sql: String,
}

/// Returns every statement of `rows/`.
fn statements() -> Vec<Statement> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/rows");
    let (mut folders, mut sources) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let code = code.lines().filter(is_code).collect::<Vec<_>>().join("\n");
            sources.push((path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), code));
        }
    }
    let shared = sources.iter().fold(HashMap::new(), |all, (_, code)| lists(code, &all));
    let mut found = Vec::new();
    for (file, code) in &sources {
        let known = lists(code, &shared); // A file's own name for its columns takes precedence.
        for sql in texts(code, &known) {
            let verb = sql.trim_start().split(char::is_whitespace).next().unwrap_or_default().to_owned();
            if ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(&verb.as_str()) && sql.contains(' ')
            {
                found.push(Statement { file: file.clone(), sql });
            }
        }
    }
    assert!(found.len() > 150, "the statements are found: {}", found.len());
    found
}

/// Returns the statements that read the entries of a page, or something about these entries.
pub fn statements_of_pages() -> Vec<String> {
    let is_of_page = |Statement { file, sql }: &Statement| match file.as_str() {
        "history.rs" | "memories/lists.rs" => true,
        "memories/changes.rs" => sql.contains("change_no < ?3"),
        "memories/episodes.rs" => sql.contains("LIKE"),
        "memories/terms.rs" => sql.contains("GROUP BY"),
        "summaries.rs" | "anchor_reads.rs" => sql.contains("LIMIT"),
        "turns.rs" => sql.contains("move_number) > "),
        "sessions.rs" => sql.contains("session_no < ?2"),
        "jobs.rs" => sql.contains("job_no > ?1 ORDER BY"),
        "all_users.rs" => sql.contains("user_no > ?1") || sql.contains("count(*)"),
        _ => false,
    };
    statements().into_iter().filter(is_of_page).map(|statement| statement.sql).collect()
}

/// Returns the column lists that a file names, added to the shared ones or in their place.
fn lists(code: &str, shared: &HashMap<String, String>) -> HashMap<String, String> {
    let mut found = shared.clone();
    for part in code.split("macro_rules! ").skip(1) {
        let name = part.split([' ', '{']).next().unwrap().to_owned();
        let body = part.split("=>").nth(1).unwrap_or_default();
        let text = match body.split_once("concat!(") {
            Some((before, inside)) if !before.contains('"') => concatenated(inside, &found).0,
            _ => texts(body, &found).into_iter().next().unwrap_or_default(),
        };
        found.insert(name, text);
    }
    found
}

/// The placeholder for a list's argument.
const GIVEN: char = '\u{1}';

/// Returns the texts in some code: literals, `concat!` of literals and lists, and lists with an argument.
fn texts(code: &str, lists: &HashMap<String, String>) -> Vec<String> {
    // `unread` is the code after the last text.
    let (mut found, mut rest, mut unread) = (Vec::new(), code, code);
    while let Some(at) = rest.find(['"', 'c', '\'']) {
        rest = &rest[at..];
        let before = unread[..unread.len() - rest.len()].trim_end();
        if let Some(inside) = rest.strip_prefix("concat!(") {
            let (text, behind) = concatenated(inside, lists);
            found.push(text);
            (rest, unread) = (behind, behind);
        } else if rest.starts_with('"') {
            let (text, behind) = literal(rest);
            let list =
                before.strip_suffix("!(").and_then(|name| lists.get(name.rsplit([' ', '(', '=']).next()?));
            found.push(list.map_or(text.clone(), |list| list.replace(GIVEN, &text)));
            (rest, unread) = (behind, behind);
        } else if rest.starts_with("'\"'") {
            rest = &rest[3..];
        } else {
            rest = &rest[1..];
        }
    }
    found.retain(|text| !text.contains(GIVEN)); // Not complete by itself.
    found
}

/// Returns the text of `concat!`, after its opening parenthesis, and the rest.
fn concatenated<'a>(mut rest: &'a str, lists: &HashMap<String, String>) -> (String, &'a str) {
    let mut text = String::new();
    loop {
        rest = rest.trim_start_matches([' ', '\n', ',']);
        if let Some(behind) = rest.strip_prefix(')') {
            return (text, behind);
        }
        if rest.starts_with('"') {
            let (part, behind) = literal(rest);
            text.push_str(&part);
            rest = behind;
        } else if let Some(given) = rest.strip_prefix('$') {
            text.push(GIVEN);
            rest = given.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        } else if let Some((name, behind)) = rest.split_once("!()") {
            text.push_str(lists.get(name.trim()).map_or("", String::as_str));
            rest = behind;
        } else {
            return (text, ""); // No such text.
        }
    }
}

/// Returns a literal's text, and the rest.
fn literal(quoted: &str) -> (String, &str) {
    let (mut text, mut chars) = (String::new(), quoted[1..].char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, &quoted[1 + at + 1..]),
            '\\' => match chars.next() {
                Some((_, '\n')) => {
                    let behind = chars.as_str().trim_start();
                    while chars.as_str().len() > behind.len() {
                        chars.next();
                    }
                }
                Some((_, 'n')) => text.push('\n'),
                Some((_, c)) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    (text, "")
}

/// Returns the words, numbers, parameters and marks of a statement; a string literal is one token, `'`.
fn tokens(sql: &str) -> Vec<String> {
    let (mut found, chars): (Vec<String>, Vec<char>) = (Vec::new(), sql.chars().collect());
    let mut at = 0;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while at < chars.len() {
        let start = at;
        match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '-' if chars.get(at + 1) == Some(&'-') => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
                continue;
            }
            '\'' => {
                at += 1;
                while at < chars.len() && chars[at] != '\'' {
                    at += 1;
                }
                at += 1;
                found.push("'".to_owned());
                continue;
            }
            '?' => {
                at += 1;
                while at < chars.len() && chars[at].is_ascii_digit() {
                    at += 1;
                }
            }
            c if is_word(c) => {
                while at < chars.len() && is_word(chars[at]) {
                    at += 1;
                }
            }
            _ => {
                at += 1;
                let two: String = chars[start..(at + 1).min(chars.len())].iter().collect();
                if ["<<", ">>", "<>", "<=", ">=", "||"].contains(&two.as_str()) {
                    at += 1;
                }
            }
        }
        found.push(chars[start..at].iter().collect());
    }
    found
}

fn is(token: Option<&String>, word: &str) -> bool {
    token.is_some_and(|token| token.eq_ignore_ascii_case(word))
}

/// Returns the position of the parenthesis that closes the one at `open`.
fn closing(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" => depth += 1,
            ")" if depth == 1 => return at,
            ")" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Returns the rules that a statement breaks.
fn broken_rules(sql: &str) -> Vec<String> {
    let tokens = tokens(sql);
    let mut broken = Vec::new();
    let mut numbers = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let (before, next) = (at.checked_sub(1).map(|at| &tokens[at]), tokens.get(at + 1));
        if SQLITES_OWN.contains(&token.to_ascii_lowercase().as_str()) {
            broken.push(format!("{token} is SQLite's own"));
        }
        if token.starts_with("0x") || is(Some(token), "x") && is(next, "'") {
            broken.push("a hexadecimal literal".to_owned());
        }
        if let Some(number) = token.strip_prefix('?') {
            match number.parse::<usize>() {
                Ok(number) => numbers.push(number),
                Err(_) => broken.push("a parameter without a number".to_owned()),
            }
            let arithmetic = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "||"];
            let is_arithmetic =
                |mark: Option<&String>| mark.is_some_and(|mark| arithmetic.contains(&mark.as_str()));
            // Next to a column, an operand has the column's type.
            let is_column = |at: Option<usize>| {
                let operand = at.and_then(|at| tokens.get(at));
                operand.is_some_and(|operand| operand.starts_with(|c: char| c.is_ascii_alphabetic()))
            };
            if is_arithmetic(before) && !is_column(at.checked_sub(2))
                || is_arithmetic(next) && !is_column(Some(at + 2))
            {
                broken.push(format!("arithmetic on {token}"));
            }
            if is(next, "is") {
                broken.push(format!("{token} has no type beside IS"));
            }
        }
        if is(Some(token), "is") {
            let behind = if is(next, "not") { at + 2 } else { at + 1 };
            let is_portable = ["null", "distinct", "true", "false"];
            if !is_portable.iter().any(|word| is(tokens.get(behind), word)) {
                broken.push("IS as a comparison; write IS [NOT] DISTINCT FROM".to_owned());
            }
        }
        if ["min", "max"].iter().any(|name| is(Some(token), name)) && is(next, "(") {
            let mut depth = 0;
            for token in &tokens[at + 1..closing(&tokens, at + 1)] {
                match token.as_str() {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    "," if depth == 1 => broken.push(format!("{} of one row; write CASE", tokens[at])),
                    _ => {}
                }
            }
        }
        if is(Some(token), "sum") && is(next, "(") {
            // A sum that is only compared may be of any type.
            let is_shown =
                !tokens[..at].iter().any(|token| is(Some(token), "cast") || is(Some(token), "where"));
            if is_shown {
                broken.push("a sum without a CAST is numeric elsewhere".to_owned());
            }
        }
        let begins_subquery = ["from", "join"].iter().any(|word| is(Some(token), word))
            && !is(before, "distinct")
            && is(next, "(");
        if begins_subquery && !is(tokens.get(closing(&tokens, at + 1) + 1), "as") {
            broken.push("a subquery without a name".to_owned());
        }
        if is(Some(token), "order") && is(next, "by") {
            broken.extend(unordered(&tokens[at + 2..]));
        }
        if is(Some(token), "set") && is(before, "update") {
            broken.extend(unqualified(&tokens[at + 1..]));
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    if numbers != (1..=numbers.len()).collect::<Vec<_>>() {
        broken.push(format!("its parameters are {numbers:?}"));
    }
    broken
}

/// Returns what an ORDER BY lacks: its last term must identify one row.
fn unordered(terms: &[String]) -> Option<String> {
    let (mut depth, mut last) = (0, String::new());
    for token in terms {
        match token.as_str() {
            "(" => depth += 1,
            ")" if depth == 0 => break,
            ")" => depth -= 1,
            _ if is(Some(token), "limit") || is(Some(token), "returning") => break,
            _ if is(Some(token), "asc") || is(Some(token), "desc") => {}
            _ if depth == 0 => last.clone_from(token),
            _ => {}
        }
    }
    (!KEYS.contains(&last.as_str())).then(|| format!("ORDER BY ends in {last}, which is no key"))
}

/// Finds a bare column in an upsert, which is ambiguous in other databases.
fn unqualified(assignments: &[String]) -> Option<String> {
    const WORDS: &[&str] = &[
        "case", "when", "then", "else", "end", "and", "or", "not", "null", "is", "distinct", "from", "where",
        "coalesce",
    ];
    let mut is_value = false;
    for (at, token) in assignments.iter().enumerate() {
        match token.as_str() {
            "=" if !is_value => is_value = true,
            "," => is_value = false,
            _ if is(Some(token), "where") || is(Some(token), "returning") => return None,
            _ => {}
        }
        let is_column = token.starts_with(|c: char| c.is_ascii_alphabetic())
            && !WORDS.iter().any(|word| is(Some(token), word))
            && !is(assignments.get(at + 1), ".")
            && !is(assignments.get(at + 1), "(")
            && at.checked_sub(1).is_none_or(|before| assignments[before] != ".");
        if is_value && is_column {
            return Some(format!("{token} is ambiguous in an upsert"));
        }
    }
    None
}

#[test]
fn every_statement_keeps_the_rules_of_both_dialects() {
    let tell = |Statement { file, sql }: Statement| {
        let broken = broken_rules(&sql).into_iter();
        broken.map(move |rule| format!("rows/{file}: {rule}\n    {sql}\n")).collect::<Vec<_>>().concat()
    };
    let told: String = statements().into_iter().map(tell).collect();
    assert!(told.is_empty(), "\n{told}");
}

#[test]
fn every_statement_can_be_prepared() {
    let fixture = Fixture::new();
    drop(fixture.open());
    let conn = dump::reader(&fixture.path());
    for Statement { file, sql } in statements() {
        let prepared = conn.prepare(&sql);
        assert!(prepared.is_ok(), "rows/{file}: {}\n{sql}", prepared.err().unwrap());
    }
}

/// A join that visits all rows of a user to find a few takes seconds if there are very many; recalls once had one.
#[test]
fn no_join_goes_by_all_rows_of_a_user() {
    let fixture = Fixture::new();
    drop(fixture.open());
    let conn = dump::reader(&fixture.path());
    let mut told = Vec::new();
    // Doctor and the work on all users read all rows anyway.
    let of_all = |file: &str| file.contains("checks") || file == "all_users.rs";
    for Statement { file, sql } in statements().into_iter().filter(|of| !of_all(&of.file)) {
        let mut stmt = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let (mut rows, mut plan) = (stmt.raw_query(), Vec::<String>::new());
        while let Some(row) = rows.next().unwrap() {
            plan.push(row.get("detail").unwrap());
        }
        let is_join = sql.contains("JOIN") && !plan.iter().any(|step| step.contains("SUBQUERY"));
        let searched = plan.iter().filter(|step| step.starts_with("SEARCH")).skip(1);
        let by_all = |step: &String| {
            step.contains("INDEX") && (step.ends_with("(user_no=?)") || step.contains("(user_no=? AND seq<?"))
        };
        let goes_by_all = is_join && searched.into_iter().any(by_all);
        if goes_by_all || plan.iter().any(|step| step.contains("AUTOMATIC")) {
            told.push(format!("{file}: {sql}\n{plan:#?}"));
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn every_statement_about_a_users_rows_names_the_user() {
    // Jobs belong to the file: a process that runs them is not a user.
    const TABLES: [&str; 30] = [
        "conversation_sessions",
        "conversation_turns",
        "recall_units",
        "memory_tier_transitions",
        "conversation_summaries",
        "archived_frames",
        "archived_turns",
        "identity_anchors",
        "derivations",
        "postings",
        "unit_blocks",
        "user_spaces",
        "vector_blocks",
        "vector_gaps",
        "recall_receipts",
        "unit_uses",
        "use_counts",
        "promotions",
        "user_memories",
        "memory_state",
        "memory_units",
        "memory_terms",
        "memory_edges",
        "memory_sources",
        "memory_changes",
        "memory_sensors",
        "memory_reviews",
        "memory_episodes",
        "extracted_sessions",
        "erased_memories",
    ];
    // Doctor and stats read the whole file, and return nothing of what anybody said.
    const OF_ALL: [&str; 3] = ["checks.rs", "stats.rs", "memories/checks.rs"];
    const BY_DOCTOR: &str = "FROM conversation_summaries";
    let mut seen = 0;
    for Statement { file, sql } in statements() {
        let is_of_all = OF_ALL.contains(&file.as_str()) || sql.ends_with(BY_DOCTOR);
        if !is_of_all && TABLES.iter().any(|table| sql.contains(table)) {
            seen += 1;
            assert!(sql.contains("user_id") || sql.contains("user_no"), "in rows/{file}: {sql}");
        }
    }
    assert!(seen > 100, "the statements are found");
}

#[track_caller]
fn check(sql: &str, rule: &str) {
    let broken = broken_rules(sql);
    assert!(broken.iter().any(|found| found.contains(rule)), "{sql}: {broken:?}");
}

#[test]
fn the_rules_can_be_broken() {
    check("SELECT 1 FROM t WHERE a = ?1 AND b = ?3", "its parameters are [1, 3]");
    check("SELECT 1 FROM t WHERE a = ?", "without a number");
    check("SELECT a FROM t WHERE rowid = ?1", "SQLite's own");
    check("SELECT a FROM t WHERE a IS ?1", "IS as a comparison");
    check("SELECT a FROM t WHERE a IS NOT b", "IS as a comparison");
    check("SELECT a FROM t WHERE ?1 IS NULL OR a = ?1", "has no type");
    check("SELECT a FROM t WHERE a = ?1 - 1", "arithmetic on ?1");
    check("SELECT a & 0xff FROM t", "hexadecimal");
    check("SELECT x'00' FROM t", "hexadecimal");
    check("SELECT min(a, b) FROM t", "write CASE");
    check("SELECT coalesce(sum(a), 0) FROM t", "numeric");
    check("SELECT count(*) FROM (SELECT 1 FROM t)", "without a name");
    check("SELECT a FROM t ORDER BY seq, said_at DESC LIMIT 1", "is no key");
    check("INSERT INTO t (a) VALUES (?1) ON CONFLICT (a) DO UPDATE SET hits = hits + 1", "ambiguous");
    let sound =
        "INSERT INTO t (a) VALUES (?1) ON CONFLICT (a) DO UPDATE SET hits = t.hits + 1, b = excluded.b
                 WHERE t.c IS NOT NULL AND t.d IS DISTINCT FROM ?2 RETURNING a";
    assert_eq!(broken_rules(sound), Vec::<String>::new());
    let sound = "SELECT max(a), CAST(coalesce(sum(b), 0) AS BIGINT) FROM (SELECT a, b FROM t) AS x ORDER BY c, x.seq DESC";
    assert_eq!(broken_rules(sound), Vec::<String>::new());
}
