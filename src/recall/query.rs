//! What a query says before anything is searched.

use chrono::{DateTime, Utc};

use crate::{
    model::anchor::Anchor,
    recall::words_leg::QueryWord,
    text::{
        times::{self, TimeSpan},
        words,
    },
};

/// A query, understood.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) words: Vec<QueryWord>,
    pub(crate) spans: Vec<TimeSpan>,
    pub(crate) is_only_time: bool,
}

impl Query {
    pub(crate) fn understand(message: &str, now: DateTime<Utc>) -> Self {
        let spans = times::find(message, now);
        let is_only_time = times::is_only_time(message, &spans);
        let words = words::query_words(message).into_iter().map(|word| (word, 1.0)).collect();
        Self { words, spans, is_only_time }
    }

    pub(crate) fn matching<'a>(&self, _anchors: &'a [Anchor]) -> Vec<(&'a Anchor, f64)> {
        Vec::new()
    }
}
