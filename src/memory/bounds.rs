//! Checks what callers state about memories, edges, notes and uses: maximum lengths, ranges of numbers, and which fields
//! fit together.

use std::time::Duration;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::{
    error::{Error, Result},
    memory::{frequency::most_settled, slot::tidy_slot, terms},
    model::{
        edge::NewEdge,
        episode::{NewNote, Use},
        memory::{
            edit::Edit,
            filter::MemoryFilter,
            new::{Birth, NewMemory, NewSource},
            procedure::Procedure,
            trust::Trust,
            words::{Frequency, MemoryKind, Volatility},
        },
        metadata,
        stored_time::StoredTime,
    },
    text::{
        measure::{check_name, check_text},
        render::is_hidden,
    },
};

/// The maximum length of a memory's or a note's title, in bytes: a line of a list.
pub(crate) const MAX_TITLE_BYTES: usize = 200;
/// The maximum length of a memory's content and an edge's description, in bytes.
pub(crate) const MAX_CONTENT_BYTES: usize = 64 << 10;
/// The maximum length of a summary, step, condition, trigger or context, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 1_024;
/// The maximum length of a quote from a turn, in bytes.
pub(crate) const MAX_QUOTE_BYTES: usize = 4_096;
/// The maximum number of steps and conditions of a procedure, together.
pub(crate) const MAX_STEPS: usize = 100;
/// The maximum number of tags, of entities and of sources of a memory.
pub(crate) const MAX_TERMS: usize = 64;
/// The maximum length of a tag or an entity, in bytes.
pub(crate) const MAX_TERM_BYTES: usize = 100;

impl NewMemory {
    /// The longest time for which a check may hold: a hundred years of 366 days.
    pub const MAX_WINDOW: Duration = Duration::from_hours(100 * 366 * 24);

    /// Makes the checks of saving that need neither the file nor the clock, for callers that must know before they save
    /// whether the memory would be refused.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the memory exceeds a bound, or if its fields
    /// do not fit together.
    pub fn check(&self) -> Result<()> {
        check_title("title", &self.title)?;
        check_content(&self.content)?;
        check_line("summary", &self.summary)?;
        self.procedure.as_ref().map_or(Ok(()), check_procedure)?;
        check_terms("tag", &self.tags)?;
        self.entities.as_ref().map_or(Ok(()), |entities| check_terms("entity", entities))?;
        check_share("importance", self.importance)?;
        check_share("confidence", self.confidence)?;
        check_share("reliability", self.reliability)?;
        check_share("consolidation threshold", self.consolidation_threshold)?;
        self.validity_window.map_or(Ok(()), check_window)?;
        check_name("project", self.project.as_deref())?;
        check_slot(self.goal_signature.as_deref())?;
        check_name("memory's caller id", self.caller_id.as_deref())?;
        StoredTime::stated("said_at", self.said_at)?;
        check_sources(&self.sources)?;
        check_extra(&self.extra)?;
        self.birth.check()?;
        let trust = Trust::of(self.origin);
        check_together(self.kind, self.procedure.as_ref())?;
        check_settled(self.initial_frequency(), self.initial_volatility(), trust)
    }
}

impl Birth {
    fn check(&self) -> Result<()> {
        check_name("task id", self.task_id.as_deref())?;
        check_name("task name", self.task_name.as_deref())?;
        check_line("trigger", self.trigger.as_deref().unwrap_or_default())
    }
}

impl Edit {
    /// Makes the checks of editing that need only the edit, not the memory that it is for.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a field exceeds a bound.
    pub fn check(&self) -> Result<()> {
        self.title.as_ref().map_or(Ok(()), |title| check_title("title", title))?;
        self.content.as_ref().map_or(Ok(()), |content| check_content(content))?;
        check_line("summary", self.summary.as_deref().unwrap_or_default())?;
        self.procedure.iter().flatten().try_for_each(check_procedure)?;
        self.tags.as_ref().map_or(Ok(()), |tags| check_terms("tag", tags))?;
        self.entities.as_ref().map_or(Ok(()), |entities| check_terms("entity", entities))?;
        check_share("importance", self.importance)?;
        check_share("confidence", self.confidence)?;
        check_share("reliability", self.reliability.flatten())?;
        check_share("consolidation threshold", self.consolidation_threshold.flatten())?;
        self.validity_window.flatten().map_or(Ok(()), check_window)?;
        check_name("project", self.project.as_ref().and_then(Option::as_deref))?;
        self.extra.as_ref().map_or(Ok(()), check_extra)?;
        check_slot(self.goal_signature.as_ref().and_then(Option::as_deref))
    }
}

impl NewEdge {
    /// Makes the checks of adding an edge that need only the edge, not its two memories.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a field exceeds a bound.
    pub fn check(&self) -> Result<()> {
        check_share("strength", self.strength)?;
        check_line("context", &self.context)?;
        check_text("description", &self.description, MAX_CONTENT_BYTES)
    }
}

impl NewNote {
    /// Makes the checks of taking a note that need only the note, not the file.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a field exceeds a bound.
    pub fn check(&self) -> Result<()> {
        check_title("note's title", &self.title)?;
        check_line("summary", &self.summary)?;
        check_terms("tag", &self.tags)?;
        check_name("project", self.project.as_deref())?;
        check_name("task id", self.task_id.as_deref())?;
        check_name("task name", self.task_name.as_deref())?;
        check_line("trigger", self.trigger.as_deref().unwrap_or_default())?;
        check_name("note's caller id", self.caller_id.as_deref())?;
        StoredTime::stated("happened_at", self.happened_at).map(drop)
    }
}

impl Use {
    /// Makes the checks of reporting a use that need only the report, not the file.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a field exceeds a bound.
    pub fn check(&self) -> Result<()> {
        check_name("project", self.project.as_deref())?;
        check_name("task id", self.task_id.as_deref())?;
        check_name("task name", self.task_name.as_deref())?;
        check_line("trigger", self.trigger.as_deref().unwrap_or_default())?;
        check_name("report's caller id", self.caller_id.as_deref())
    }
}

impl MemoryFilter {
    /// Checks that the filter's fields are within the bounds for a memory's fields.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a field exceeds a bound.
    pub fn check(&self) -> Result<()> {
        check_share("least confidence", self.min_confidence)?;
        check_name("project", self.project.as_deref())?;
        check_terms("tag", &self.tags)
    }
}

/// Checks what must hold for a memory after any change: only a procedure has steps.
pub(crate) fn check_together(kind: MemoryKind, procedure: Option<&Procedure>) -> Result<()> {
    if procedure.is_none() || kind == MemoryKind::Procedure {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "only a memory of the kind procedure has steps; this one is a {}",
        kind.as_str()
    )))
}

/// Checks that a memory is not settled further than its volatility and its trust allow.
pub(crate) fn check_settled(frequency: Frequency, volatility: Volatility, trust: Trust) -> Result<()> {
    let most = most_settled(volatility, trust);
    if frequency <= most {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "a memory of {} volatility and trust {} settles no further than {}, but {} was stated",
        volatility.as_str(),
        trust.number(),
        most.as_str(),
        frequency.as_str()
    )))
}

/// Checks a slot, as given and as compared.
fn check_slot(slot: Option<&str>) -> Result<()> {
    let what = "goal signature";
    check_name(what, slot)?;
    slot.map_or(Ok(()), |slot| check_visible(what, &tidy_slot(slot)))?;
    check_name(what, slot.map(tidy_slot).as_deref())
}

/// Checks uninterpreted fields: at most as large as a text, and nested at most 8 levels deep.
fn check_extra(extra: &serde_json::Map<String, serde_json::Value>) -> Result<()> {
    const MAX_DEPTH: usize = 8;
    if metadata::fits(extra, MAX_DEPTH, MAX_CONTENT_BYTES) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the uninterpreted fields are nested too deep, or larger than {MAX_CONTENT_BYTES} bytes"
    )))
}

fn check_title(what: &str, title: &str) -> Result<()> {
    check_text(what, title, MAX_TITLE_BYTES)?;
    check_visible(what, title)
}

fn check_content(content: &str) -> Result<()> {
    check_text("content", content, MAX_CONTENT_BYTES)?;
    check_visible("content", content)
}

/// Checks a text that should be one line, and may be empty. Only its length is checked; line breaks are kept.
pub(crate) fn check_line(what: &str, text: &str) -> Result<()> {
    check_text(what, text, MAX_LINE_BYTES)
}

fn check_visible(what: &str, text: &str) -> Result<()> {
    if text.chars().any(is_visible) {
        return Ok(());
    }
    Err(Error::invalid(format!("the {what} has no visible character")))
}

/// Whether a character is visible by itself.
fn is_visible(c: char) -> bool {
    use GeneralCategoryGroup::{Letter, Number, Punctuation, Symbol};
    /// Letters and a symbol that are blank: the fillers of Hangul, and the Braille pattern without dots.
    const BLANK: [char; 5] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}', '\u{2800}'];
    matches!(c.general_category_group(), Letter | Number | Punctuation | Symbol)
        && !is_hidden(c)
        && !BLANK.contains(&c)
}

fn check_procedure(procedure: &Procedure) -> Result<()> {
    check_count("steps and conditions", procedure.lines().count(), MAX_STEPS)?;
    procedure.lines().try_for_each(|line| {
        check_text("step or condition", line, MAX_LINE_BYTES)?;
        check_visible("step or condition", line)
    })
}

/// Checks tags or entities: few, short, and none of them blank.
pub(crate) fn check_terms(what: &str, names: &[String]) -> Result<()> {
    let many = if what == "tag" { "tags" } else { "entities" };
    check_count(many, names.len(), MAX_TERMS)?;
    names.iter().try_for_each(|name| {
        check_text(what, name, MAX_TERM_BYTES)?;
        check_visible(what, &terms::folded(name))
    })
}

fn check_sources(sources: &[NewSource]) -> Result<()> {
    check_count("sources", sources.len(), MAX_TERMS)?;
    sources.iter().try_for_each(|source| check_text("quote", &source.quote, MAX_QUOTE_BYTES))
}

fn check_count(what: &str, count: usize, most: usize) -> Result<()> {
    if count <= most {
        return Ok(());
    }
    Err(Error::invalid(format!("there are {count} {what}; {most} are allowed")))
}

/// Checks a share, if given: 0 to 1.
pub(crate) fn check_share(what: &str, share: Option<f64>) -> Result<()> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(Error::invalid(format!("the {what} is {share}; it must be from 0 to 1")))
        }
        _ => Ok(()),
    }
}

fn check_window(window: Duration) -> Result<()> {
    if window <= NewMemory::MAX_WINDOW {
        return Ok(());
    }
    Err(Error::invalid("the window for which a check holds is longer than a hundred years"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::ErrorKind, model::turn::Origin};

    fn memory() -> NewMemory {
        NewMemory::new(MemoryKind::General, "Title", "Content")
    }

    /// Checks why saving refuses the memory; `None` if it may be saved.
    #[track_caller]
    fn check(memory: &NewMemory, refusal: Option<&str>) {
        let told = memory.check().err().map(|error| error.to_string());
        assert_eq!(told.as_deref(), refusal);
    }

    fn titled(title: &str) -> NewMemory {
        NewMemory { title: title.to_owned(), ..memory() }
    }

    fn saying(content: &str) -> NewMemory {
        NewMemory { content: content.to_owned(), ..memory() }
    }

    #[test]
    fn a_title_that_is_too_long_is_refused_and_not_cut() {
        check(&titled(&"x".repeat(200)), None);
        check(&titled(&"x".repeat(201)), Some("the title has 201 bytes; 200 are allowed"));
        check(&titled(&"ü".repeat(101)), Some("the title has 202 bytes; 200 are allowed"));
        check(&titled("a\0b"), Some("the title has a NUL character at byte 1"));
    }

    #[test]
    fn a_title_has_something_to_be_seen() {
        let unseen = Some("the title has no visible character");
        for title in
            ["", " \n\t", "\u{200b}\u{ad}", "\u{200d}", "\u{301}", "\u{3164}", "\u{2800} ", "\u{202e}"]
        {
            check(&titled(title), unseen);
        }
        for title in ["x", "7", "?", "京", "🦀", " é "] {
            check(&titled(title), None);
        }
    }

    #[test]
    fn content_has_at_most_64_kib_and_more_than_blanks() {
        check(&saying(&"x".repeat(64 << 10)), None);
        check(&saying(&"x".repeat((64 << 10) + 1)), Some("the content has 65537 bytes; 65536 are allowed"));
        check(&saying("  \n "), Some("the content has no visible character"));
    }

    #[test]
    fn only_a_procedure_has_steps() {
        let steps = |count| Procedure::new(vec!["Push"; count]);
        let of = |kind, procedure| NewMemory { kind, ..memory() }.procedure(procedure);
        check(&of(MemoryKind::Procedure, steps(100)), None);
        check(
            &of(MemoryKind::Decision, steps(1)),
            Some("only a memory of the kind procedure has steps; this one is a decision"),
        );
        check(
            &of(MemoryKind::Procedure, steps(100).postconditions(["Up"])),
            Some("there are 101 steps and conditions; 100 are allowed"),
        );
        check(
            &of(MemoryKind::Procedure, Procedure::new([" "])),
            Some("the step or condition has no visible character"),
        );
    }

    #[test]
    fn tags_are_few_short_and_name_something() {
        check(&memory().tags(vec!["a"; 64]), None);
        check(&memory().tags(vec!["a"; 65]), Some("there are 65 tags; 64 are allowed"));
        check(&memory().tags(["#"]), Some("the tag has no visible character"));
        check(&memory().entities(["x".repeat(101)]), Some("the entity has 101 bytes; 100 are allowed"));
    }

    #[test]
    fn shares_are_from_0_to_1() {
        check(&memory().importance(0.0).confidence(1.0), None);
        check(&memory().importance(1.1), Some("the importance is 1.1; it must be from 0 to 1"));
        check(&memory().confidence(f64::NAN), Some("the confidence is NaN; it must be from 0 to 1"));
        check(&memory().reliability(-0.1), Some("the reliability is -0.1; it must be from 0 to 1"));
    }

    #[test]
    fn a_window_has_an_end() {
        check(&memory().validity_window(Duration::ZERO), None);
        check(
            &memory().validity_window(Duration::MAX),
            Some("the window for which a check holds is longer than a hundred years"),
        );
    }

    #[test]
    fn what_is_volatile_or_of_little_trust_does_not_settle() {
        let of = |frequency, volatility, origin| {
            memory().frequency(frequency).volatility(volatility).origin(origin)
        };
        check(&of(Frequency::UltraLow, Volatility::Low, Origin::User), None);
        check(
            &of(Frequency::UltraLow, Volatility::Low, Origin::Assistant),
            Some(
                "a memory of low volatility and trust 2 settles no further than low, but ultra_low was stated",
            ),
        );
        check(
            &of(Frequency::Low, Volatility::Low, Origin::Tool),
            Some("a memory of low volatility and trust 1 settles no further than mid, but low was stated"),
        );
        check(
            &of(Frequency::Low, Volatility::High, Origin::User),
            Some("a memory of high volatility and trust 3 settles no further than mid, but low was stated"),
        );
        check(
            &of(Frequency::Mid, Volatility::Ephemeral, Origin::User),
            Some(
                "a memory of ephemeral volatility and trust 3 settles no further than high, but mid was stated",
            ),
        );
        check(&memory().volatility(Volatility::Ephemeral), None);
    }

    #[test]
    fn names_of_the_callers_have_their_bounds() {
        check(&memory().project(""), Some("the project is empty; leave it out instead"));
        check(
            &memory().caller_id("x".repeat(257)),
            Some("the memory's caller id has 257 bytes; 256 are allowed"),
        );
        check(&memory().trigger("x".repeat(1_025)), Some("the trigger has 1025 bytes; 1024 are allowed"));
    }

    #[test]
    fn an_edit_is_held_to_the_same_bounds() {
        let told = |edit: Edit| edit.check().err().map(|error| error.to_string());
        assert_eq!(told(Edit::default().summary("").reliability(None).project(None)), None);
        assert_eq!(told(Edit::default().title(" ")).as_deref(), Some("the title has no visible character"));
        assert_eq!(
            told(Edit::default().reliability(Some(2.0))).as_deref(),
            Some("the reliability is 2; it must be from 0 to 1")
        );
        assert_eq!(Edit::default().project(Some("")).check().unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
