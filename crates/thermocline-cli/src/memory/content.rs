//! The text and the fields of a memory, from the command line or a file.

use std::{fs, io, path::Path};

use thermocline::{MemoryKind, NewMemory, Origin, Procedure, TurnId, blocking::User};

use crate::{
    exit::{Exit, Failure},
    find,
    memory::args::ContentArgs,
    plain, turn,
};

/// The maximum length of a title, in bytes.
const MAX_TITLE_BYTES: usize = 200;
/// The maximum length, in characters, of a title that is taken from a text.
const TITLE_CHARS: usize = 100;

/// Returns the memory that the command line describes, with its sources. `kind` is the default for its kind.
pub(super) fn new(
    user: &User,
    args: &ContentArgs,
    (kind, origin): (MemoryKind, Origin),
    text: (String, String),
) -> Result<NewMemory, Failure> {
    let mut new = described(args, (kind_of(args, kind), origin), text);
    for name in &args.source {
        new = new.source(source(user, name)?, "");
    }
    if let Some(session) = &args.session {
        new = new.session(find::session(user, session)?.id());
    }
    Ok(new)
}

/// Returns the given kind; otherwise `procedure` if there are steps; otherwise the default.
pub(super) fn kind_of(args: &ContentArgs, default: MemoryKind) -> MemoryKind {
    args.kind.unwrap_or(if args.step.is_empty() { default } else { MemoryKind::Procedure })
}

/// Returns the title and the text. Called before the file is opened, because an empty memory must not create a database.
pub(super) fn title_and_content(args: &ContentArgs) -> Result<(String, String), Failure> {
    let file = args.content_file.as_deref().map(read).transpose()?;
    match (&args.title, args.content.clone().or(file)) {
        (Some(title), Some(content)) => Ok((title.clone(), content)),
        (Some(text), None) => Ok((title_of(text), text.clone())),
        (None, Some(content)) => Ok((title_of(&content), content)),
        (None, None) => Err(Failure::refused(
            "nothing to save: give a title and a text, --content-file FILE, or (memory save only) \
             --batch FILE",
        )),
    }
}

/// Returns a memory with this title and text, and with everything else from the command line except sources and session.
pub(super) fn described(
    args: &ContentArgs,
    (kind, origin): (MemoryKind, Origin),
    (title, content): (String, String),
) -> NewMemory {
    let mut new = NewMemory::new(kind, title, content).origin(origin);
    if !args.step.is_empty() {
        new = new.procedure(Procedure::new(args.step.iter().cloned()));
    }
    if !args.tag.is_empty() {
        new = new.tags(args.tag.iter().cloned());
    }
    if !args.entity.is_empty() {
        new = new.entities(args.entity.iter().cloned());
    }
    if args.pin {
        new = new.pinned();
    }
    if let Some(summary) = &args.summary {
        new = new.summary(summary.as_str());
    }
    if let Some(information) = args.information {
        new = new.information_type(information);
    }
    let new = set(new, args.importance, NewMemory::importance);
    let new = set(new, args.confidence, NewMemory::confidence);
    let new = set(new, args.reliability, NewMemory::reliability);
    let new = set(new, args.frequency, NewMemory::frequency);
    let new = set(new, args.volatility, NewMemory::volatility);
    let new = set(new, args.window.and_then(|window| window.0), NewMemory::validity_window);
    let new = set(new, args.slot.as_deref(), NewMemory::goal_signature);
    let new = set(new, args.project.as_deref(), NewMemory::project);
    let new = set(new, args.task_type, NewMemory::task_type);
    let new = set(new, args.outcome, NewMemory::outcome);
    let new = set(new, args.caller_id.as_deref(), NewMemory::caller_id);
    set(new, args.said_at, NewMemory::said_at)
}

/// Returns `add(built, value)` if there is a value, and `built` otherwise.
pub(super) fn set<B, T>(built: B, value: Option<T>, add: impl FnOnce(B, T) -> B) -> B {
    match value {
        Some(value) => add(built, value),
        None => built,
    }
}

/// Returns the turn from which a memory comes.
pub(super) fn source(user: &User, name: &str) -> Result<TurnId, Failure> {
    Ok(turn::named(user, name)?.0)
}

/// Reads the text of a file; `-` is stdin.
pub(super) fn read(file: &Path) -> Result<String, Failure> {
    let text =
        if file == Path::new("-") { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
    text.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::no_file("file", file, error),
        io::ErrorKind::InvalidData => Failure::refused("the file is not UTF-8 text"),
        _ => Failure::caused(Exit::FileUnusable, "the file cannot be read", error),
    })
}

/// Returns the first sentence of a text, cut if it is too long for a title.
pub(super) fn title_of(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = line.trim_start_matches(['#', ' ']);
    let mut sentence = String::new();
    for part in line.split_inclusive(['.', '!', '?']) {
        if !sentence.is_empty() && part.starts_with(char::is_whitespace) && !ends_short(&sentence) {
            break;
        }
        sentence += part;
    }
    let sentence = sentence.trim().trim_end_matches('.');
    let mut chars = TITLE_CHARS;
    loop {
        let title = plain::line(sentence, chars);
        if title.len() <= MAX_TITLE_BYTES {
            return title;
        }
        chars /= 2;
    }
}

/// Whether the full stop at the end only shortens a word, as in `Dr. Smith` or `J. Smith`.
fn ends_short(text: &str) -> bool {
    const SHORTENED: [&str; 17] = [
        "dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "vs", "no", "nr", "e.g", "i.e", "approx", "ca",
        "cf", "inc",
    ];
    let Some(text) = text.strip_suffix('.') else { return false };
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '"', '\'']);
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    is_initial || SHORTENED.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, title: &str) {
        assert_eq!(title_of(text), title, "{text:?}");
    }

    #[test]
    fn the_first_sentence_of_a_text_is_its_title() {
        check("The API runs on port 8443. It did not.", "The API runs on port 8443");
        check("Use v1.2 here. Not v1.3.", "Use v1.2 here");
        check("\n\n# Notes\nAnd more.", "Notes");
        check("Why? Because.", "Why?");
        check("Dr. Smith is my dentist. He is in Porto.", "Dr. Smith is my dentist");
        check("Ask J. Doe, e.g. by mail. Not by phone.", "Ask J. Doe, e.g. by mail");
        check("So do I. He does not.", "So do I");
        check("one line", "one line");
        check(&"word ".repeat(60), &(["word "; 20].concat()[..99].trim_end().to_owned() + "…"));
        assert!(title_of(&"鍵".repeat(300)).len() <= MAX_TITLE_BYTES);
    }
}
