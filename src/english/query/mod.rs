//! Interprets a message before anything is searched: what it asks, and the times, people, attributes and earlier turns that
//! it points to. Pure functions. They understand English. In other languages they find times, the words to search for,
//! sentences with a question mark, and a few words by which users speak about themselves.

mod about_many;
mod asked;
mod asks;
mod courtesy;
mod follow_up;
mod names;
mod pronouns;
mod reading;
mod refers_to_self;

use std::borrow::Cow;

use chrono::{DateTime, Utc};

use crate::{
    english::{
        dull_words::is_dull,
        lists::is_in,
        query::{asks::Asks, reading::MessageReading},
    },
    text::words::{self, MAX_QUERY_BYTES, Word},
    times::{self, TimeSpan},
};

pub(crate) use asked::{AskedAttribute, Whom};

/// An interpreted message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own; none excludes another"
)]
pub(crate) struct Query {
    /// The sentences that ask, each a separate search; empty if the message is searched as a whole.
    pub(crate) asks: Vec<String>,
    /// What a message that asks also tells, one piece per line.
    pub(crate) told: String,
    /// Whether it asks for many turns: a summary, an order of events, everything said in a period.
    pub(crate) asks_for_many: bool,
    /// The words of the interpreted text: folded, stemmed, without stop words, each once, at most 64.
    pub(crate) words: Vec<Word>,
    /// Words of the message that name no topic: `say`, `think`.
    pub(crate) vague_words: Vec<Word>,
    /// The times that it names; two readings of one date are two entries.
    pub(crate) spans: Vec<TimeSpan>,
    /// The future times that it names: when something that was said may happen.
    pub(crate) ahead: Vec<TimeSpan>,
    /// Whether it asks what happened in these times, rather than what was said then.
    pub(crate) asks_of_events: bool,
    /// Whether it asks when something was, or will be.
    pub(crate) asks_when: bool,
    /// Whether it asks only for what was said in these times.
    pub(crate) is_only_time: bool,
    /// Whether the user speaks about themself: `I`, `my`, `remember when we ...`. Not `how do I sort a list`.
    pub(crate) refers_to_self: bool,
    /// Whether it refers to something said earlier: `you mentioned`.
    pub(crate) refers_back: bool,
    /// Whether it contains nothing that could be answered: `ok`, `nice!`, `thanks a lot`.
    pub(crate) is_small_talk: bool,
    /// Whether it needs the previous turns to be understood: `and what did he say about it?`
    pub(crate) is_follow_up: bool,
    /// The names in it, folded like subjects of anchors, each once, at most 16.
    pub(crate) names: Vec<String>,
    /// Which attributes it asks for, and of whom.
    pub(crate) asked: Vec<AskedAttribute>,
    /// Whether it asks how things used to be, so that values that no longer hold are wanted too.
    pub(crate) asks_of_past: bool,
    /// Whether it asks how things are, not how they were, so that the latest statement counts.
    pub(crate) asks_of_now: bool,
}

impl Query {
    /// Interprets a message at the moment `now`. Of a long message that asks something, only the questions are interpreted.
    pub(crate) fn understand(message: &str, now: DateTime<Utc>) -> Self {
        /// A message up to this size is read whole: what it tells belongs to what it asks.
        const SHORT_BYTES: usize = 240;
        let Asks { asks, told } = Asks::of(message);
        let asks: Vec<String> = asks.into_iter().map(str::to_owned).collect();
        let told = if asks.is_empty() { String::new() } else { told.join("\n") };
        let is_read_whole = asks.is_empty() || message.len() <= SHORT_BYTES;
        let message = if is_read_whole { Cow::Borrowed(message) } else { Cow::Owned(asks.join("\n")) };
        let message = &*message;
        let spans = times::find(message, now);
        let is_only_time = times::is_only_time(message, &spans);
        let reading = MessageReading::of(message, &spans);
        let names = names::names(&reading);
        let refers_to_self = refers_to_self::refers_to_self(&reading);
        let (asked, asks_of_past) = asked::asked(&reading, !refers_to_self && !names.is_empty());
        let refers_back = follow_up::refers_back(message);
        let is_follow_up = message.len() <= MAX_QUERY_BYTES
            && follow_up::is_follow_up(&reading, is_only_time, refers_back, &asked);
        let is_over = |span: &TimeSpan| span.until <= now;
        let topics: Vec<Option<String>> = asks.iter().map(|ask| about_many::topic(ask)).collect();
        let asks_for_many = topics.iter().any(Option::is_some);
        let asks_when = times::asks_when(message);
        let ahead = times::find_ahead(message, now);
        let asks_of_past = asks_of_past || (!asked.is_empty() && spans.iter().any(is_over));
        let is_past = asks_of_past || reading.words().any(|word| is_in("did was were had", word));
        let asks_of_now = !asks.is_empty() && !is_only_time && !is_past && !asks_for_many;
        let points = is_follow_up || refers_back || refers_to_self || !spans.is_empty() || !asked.is_empty();
        let is_small_talk = !points && names.is_empty() && told.is_empty() && reading::says_nothing(message);
        let says_topic = |topic: &String| !words::query_words(topic).is_empty();
        let topics = topics.into_iter().zip(asks).map(|(topic, ask)| {
            topic.filter(says_topic).unwrap_or_else(|| courtesy::without_courtesy(&ask).to_owned())
        });
        Self {
            is_small_talk,
            asks: few(topics),
            told,
            asks_for_many,
            words: words::query_words(message),
            vague_words: reading.words().filter(|word| is_dull(word)).flat_map(words::query_words).collect(),
            ahead,
            asks_of_events: times::asks_of_events(message),
            asks_when,
            is_only_time,
            refers_to_self,
            refers_back,
            is_follow_up,
            names,
            asks_of_past,
            asks_of_now,
            asked,
            spans,
        }
    }
}

/// How many questions of a message are searched separately.
const MOST_ASKS: usize = 4;

/// Returns the questions. If there are more than [`MOST_ASKS`], the first ones are joined into one.
fn few(asks: impl Iterator<Item = String>) -> Vec<String> {
    let mut asks: Vec<String> = asks.collect();
    if let Some(first) = asks.len().checked_sub(MOST_ASKS).filter(|first| *first > 0) {
        let earlier = asks.drain(..=first).collect::<Vec<_>>().join(" ");
        asks.insert(0, earlier);
    }
    asks
}

impl Query {
    /// Whether the message seems to ask for anything, or refers to something that was said.
    pub(crate) fn needs_memory(&self) -> bool {
        let has_time = !self.spans.is_empty() || !self.ahead.is_empty() || self.asks_when;
        let asks = !self.asks.is_empty() || !self.asked.is_empty();
        asks || has_time || self.refers_back || self.is_follow_up
    }
}

#[cfg(test)]
mod tests;
