//! Doctor: checks the file's pages, references, rows, counts, texts, memories and index for damage.

use serde::Serialize;

use crate::{
    compress::archive,
    error::Result,
    model::{ids::TurnId, place::SessionNo, turn::Turn},
    store::{
        acts::{derive, mend},
        checks::{index_checks, memory_checks, unreadable_rows::UnreadableRows},
        file::facts::Soundness,
        rows::{
            aside::{self, Aside},
            checks,
            memories::checks as memory_counts,
            sessions, summaries,
            turn_row::NOT_COUNTED,
        },
        sql::Sql,
    },
    text::{
        measure::{self, ContentHash},
        words::WordCounts,
    },
};

/// The result of [`Thermocline::doctor`](crate::Thermocline::doctor).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Diagnosis {
    /// Every check that was run, in order.
    pub checks: Vec<Check>,
    /// The names and values of the file's settings, as a new connection sees them. Settings that cannot be read are omitted.
    pub settings: Vec<(String, String)>,
}

/// One check by doctor, and the problems that it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The condition that must hold, as a sentence.
    pub holds: String,
    /// How many times the condition does not hold. If damage ends a check early, this is at least 1.
    pub problems: u64,
    /// Where the condition does not hold, if known: rows, named so that `sqlite3` can find them, at most 20 of each table.
    pub places: Vec<String>,
    /// Whether the problems are in tables that can be computed again from other rows.
    #[serde(skip)]
    pub(crate) is_of_index: bool,
}

impl Diagnosis {
    /// Returns `true` if every check holds.
    pub fn is_healthy(&self) -> bool {
        self.checks.iter().all(|check| check.problems == 0)
    }

    /// Returns whether there are damaged rows that can be computed again from others.
    pub(crate) fn has_damaged_index(&self) -> bool {
        self.checks.iter().any(|check| check.is_of_index && check.problems > 0)
    }
}

/// How many differences of the schema are named.
const MOST_OBJECTS: usize = 20;

/// Runs every check. Reads all rows, which takes minutes for gigabytes. `file` has the results of the checks of pages,
/// references and row checksums.
///
/// Damage is not an error here, because the caller wants to know what is damaged. A check that damage stops has at least one
/// problem.
pub(crate) fn diagnose(sql: &dyn Sql, file: Soundness) -> Diagnosis {
    let counted = |holds, statement| check(holds, sql.scalar(statement, &[]).unwrap_or(1));
    let mut checks = vec![
        check("the pages of the file are sound", file.page_problems),
        Check {
            places: file.schema.iter().take(MOST_OBJECTS).cloned().collect(),
            ..check(
                "tables, indexes, views and triggers are as this version makes them, and nothing of another program acts on them",
                file.schema.len() as u64,
            )
        },
        counted("no erase is unfinished (running the jobs finishes it)", checks::UNFINISHED_ERASES),
        check("references between tables point to rows that exist", file.reference_problems),
    ];
    let counts = checks::COUNTS.iter().chain(memory_counts::COUNTS);
    checks.extend(counts.map(|(holds, statement)| counted(holds, statement)));
    let (problems, places) = checks::misplaced_turns(sql).unwrap_or((1, Vec::new()));
    let one_place =
        "every recorded turn is in one place: a row, the archive, or deleted with a summary in its place";
    checks.push(Check { places, ..check(one_place, problems) });
    checks.push(Check {
        is_of_index: mend::TABLES.iter().any(|&table| file.damage.tables.contains(table)),
        places: file.damage.places,
        ..check("every row is what was written", file.damage.rows)
    });
    checks.push(unreadable_sessions(sql));
    checks.extend(turn_checks(sql));
    checks.push(check(
        "every archived turn can be read, and is the one that was recorded",
        archive_problems(sql).unwrap_or(1),
    ));
    checks.push(check(
        "every turn beside the memory can be read, and is the one that was recorded",
        problems_aside(sql).unwrap_or(1),
    ));
    checks.push(check("every summary can be read", unreadable_summaries(sql).unwrap_or(1)));
    checks.extend(memory_checks(sql));
    checks.extend(index_checks(sql));
    let mut settings = file.settings;
    settings.extend(checks::settings(sql));
    Diagnosis { checks, settings }
}

fn check(holds: &str, problems: u64) -> Check {
    Check { holds: holds.to_owned(), problems, places: Vec::new(), is_of_index: false }
}

fn check_unreadable(holds: &str, found: UnreadableRows) -> Check {
    Check { places: found.places, ..check(holds, found.count) }
}

/// Finds the sessions that cannot be read. Another check reports sessions without a user.
fn unreadable_sessions(sql: &dyn Sql) -> Check {
    let mut found = UnreadableRows::default();
    let read = sessions::each_of_all(sql, &mut |SessionNo(no), session| {
        if session.is_err() {
            found.add(Some(format!("conversation_sessions where session_no = {no}")));
        }
    });
    if read.is_err() {
        found.add(None);
    }
    check_unreadable("every session can be read", found)
}

/// The problems that one pass over the turns found. Data derived from a text is checked only if the text can be read and is
/// the recorded one.
#[derive(Default)]
struct TurnProblems {
    unreadable: UnreadableRows,
    text: u64,
    words: u64,
    tokens: u64,
}

fn turn_checks(sql: &dyn Sql) -> [Check; 4] {
    let mut found = TurnProblems::default();
    if look_at_turns(sql, &mut found).is_err() {
        found.unreadable.add(None);
    }
    if matches!(derive::has_stale(sql), Ok(true)) {
        found.words = 0; // Older rules wrote them; a job rewrites them.
    }
    [
        check_unreadable("every turn can be read", found.unreadable),
        check("every text is the one that was recorded", found.text),
        check("the words of a turn match its text", found.words),
        check("the token counts of a turn match its text", found.tokens),
    ]
}

/// The result of comparing a turn's row with the turn's own text.
struct Judged {
    id: TurnId,
    seq: i64,
    hash: ContentHash,
    has_its_words: bool,
    has_its_tokens: bool,
}

impl Judged {
    fn of(turn: &Turn, words: &[u8]) -> Self {
        Self {
            id: turn.id,
            seq: turn.seq,
            hash: measure::content_hash(&turn.said.user_message, &turn.said.ai_response),
            has_its_words: words == WordCounts::of(&turn.said).encode(),
            has_its_tokens: measure::has_its_counts(turn),
        }
    }

    fn count(&self, sql: &dyn Sql, found: &mut TurnProblems) {
        // Another check reports turns without a unit.
        let is_as_recorded = match checks::recorded_hash(sql, self.id, self.seq) {
            Ok(Some(hash)) => hash == self.hash,
            Ok(None) => true,
            Err(_) => false,
        };
        if is_as_recorded {
            found.words += u64::from(!self.has_its_words);
            found.tokens += u64::from(!self.has_its_tokens);
        } else {
            found.text += 1;
        }
    }
}

fn look_at_turns(sql: &dyn Sql, found: &mut TurnProblems) -> Result<()> {
    let mut after = i64::MIN;
    loop {
        let (mut judged, mut last) = (Vec::new(), after);
        let read = checks::each_turn(sql, after, &mut |key, turn| {
            last = key;
            match turn {
                Ok((turn, _)) if turn.tokens.counted_by == NOT_COUNTED => {} // Inserted, not taken over yet.
                Ok((turn, words)) => judged.push(Judged::of(&turn, &words)),
                Err(_) => found.unreadable.add(Some(format!("conversation_turns where turn_key = {key}"))),
            }
        });
        for turn in &judged {
            turn.count(sql, found);
        }
        read?;
        if last <= after {
            return Ok(());
        }
        after = last;
    }
}

/// Counts the archived turns that are not in their frame as they were recorded.
fn archive_problems(sql: &dyn Sql) -> Result<u64> {
    let mut problems = 0;
    for (frame_no, turn_count) in checks::frames(sql)? {
        let body = checks::frame_body(sql, frame_no)?;
        let turns = body.and_then(|body| archive::unpack(&body).ok()).unwrap_or_default();
        let is_found = |&(position, id, hash): &(usize, TurnId, ContentHash)| {
            turns.get(position).is_some_and(|turn| {
                let said = &turn.said;
                turn.id == id && measure::content_hash(&said.user_message, &said.ai_response) == hash
            })
        };
        let found = checks::places_in_frame(sql, frame_no)?.iter().filter(|place| is_found(place)).count();
        problems += turn_count.saturating_sub(found as u64);
    }
    Ok(problems)
}

/// Counts the incomplete and replaced turns that cannot be read or are not as they were recorded.
fn problems_aside(sql: &dyn Sql) -> Result<u64> {
    let mut problems = 0;
    aside::each_of_all(sql, &mut |aside| {
        let is_it = aside.is_ok_and(|Aside { turn, content_hash, .. }| {
            measure::content_hash(&turn.said.user_message, &turn.said.ai_response) == content_hash
        });
        problems += u64::from(!is_it);
    })?;
    Ok(problems)
}

fn unreadable_summaries(sql: &dyn Sql) -> Result<u64> {
    let mut problems = 0;
    summaries::each_of_all(sql, &mut |summary| problems += u64::from(summary.is_err()))?;
    Ok(problems)
}

fn memory_checks(sql: &dyn Sql) -> [Check; 5] {
    let found = memory_checks::problems(sql);
    [
        check_unreadable("every memory can be read", found.unreadable),
        check("every memory says what was saved", found.text),
        check("the tags and entities of a memory are counted, and folded as they were written", found.terms),
        check("the words of a memory's unit match its text", found.words),
        check("the successor of a memory is another memory of its user", found.successors),
    ]
}

fn index_checks(sql: &dyn Sql) -> [Check; 3] {
    let found = index_checks::problems(sql);
    [
        check(
            "the index has the words of every turn that is indexed, and no others",
            found.words + found.unread,
        ),
        check("the index knows where, when and how long every indexed turn is", found.facts + found.unread),
        check("every vector belongs to a turn of its user", found.vectors + found.unread),
    ]
}
