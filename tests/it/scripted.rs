//! LLM#1 for tests: it gives scripted answers, and counts how often it was asked.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use thermocline::{Attribute, Error, FoundAnchor, Result, SessionId, Summarizer, Summarizing, Turn, Verdict};

type Answer = dyn Fn(usize, &[Turn]) -> Result<Vec<Verdict>> + Send + Sync;

/// A summarizer with the name `scripted`.
pub struct Scripted {
    answer: Box<Answer>,
    calls: AtomicUsize,
}

impl Scripted {
    /// Returns a summarizer that answers the n-th question, from 1, with what `answer` returns for the question's turns.
    pub fn new(answer: impl Fn(usize, &[Turn]) -> Result<Vec<Verdict>> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { answer: Box::new(answer), calls: AtomicUsize::new(0) })
    }

    /// Returns a summarizer that answers with one verdict for each turn.
    pub fn each(verdict: impl Fn(&Turn) -> Verdict + Send + Sync + 'static) -> Arc<Self> {
        Self::new(move |_, turns| Ok(turns.iter().map(&verdict).collect()))
    }

    /// Returns how often it was asked.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Summarizer for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        Box::pin(async move { (self.answer)(call, turns) })
    }
}

/// Returns a true sentence about a turn: the first words of what the user said.
pub fn first_words(turn: &Turn) -> Verdict {
    let words: Vec<&str> = turn.said.user_message.split_whitespace().take(12).collect();
    Verdict::summary(turn.id, format!("The user said {}", words.join(" ")))
}

/// Reads anchors from explicit sentences: `name is Alex.`, `likes is no longer tea.`
pub fn stated_anchors(turn: &Turn) -> Vec<FoundAnchor> {
    let said = &turn.said;
    let subject = said.user_name.as_deref().map_or("user".to_owned(), str::to_lowercase);
    let sides = [(subject, &said.user_message), ("assistant".to_owned(), &said.ai_response)];
    sides
        .iter()
        .flat_map(|(subject, text)| text.split_inclusive('.').filter_map(move |s| stated(subject, s.trim())))
        .collect()
}

fn stated(subject: &str, sentence: &str) -> Option<FoundAnchor> {
    let (before, value) = sentence.trim_end_matches('.').split_once(" is ")?;
    let attribute = Attribute::from_word(before.rsplit(' ').next()?)?;
    Some(match value.strip_prefix("no longer ") {
        Some(value) => FoundAnchor::new(subject, attribute, value, sentence).ends(),
        None => FoundAnchor::new(subject, attribute, value, sentence),
    })
}

/// Returns a true sentence, and every anchor that is stated explicitly.
pub fn reads_anchors(turn: &Turn) -> Verdict {
    stated_anchors(turn).into_iter().fold(first_words(turn), Verdict::anchor)
}

/// Returns an error of any kind.
pub fn failure() -> Error {
    "no id".parse::<SessionId>().unwrap_err()
}
