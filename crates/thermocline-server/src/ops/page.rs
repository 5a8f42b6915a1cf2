//! Pages of lists: their length, and where the next one begins.

use std::{fmt::Display, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::ErrorKind;

use crate::ops::{Result, problem::Problem};

/// The default number of entries on a page.
const DEFAULT_LIMIT: u32 = 50;
/// The maximum number of entries on a page.
const MAX_LIMIT: u32 = 200;

/// How many entries at most, from 1 to 200. Default: 50.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("minimum" = 1, "maximum" = MAX_LIMIT))]
pub struct Limit(u32);

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

impl Limit {
    /// The number of entries. Errors: `Code::InvalidInput` if it is out of range.
    pub fn checked(self) -> Result<u32> {
        match self.0 {
            1..=MAX_LIMIT => Ok(self.0),
            _ => Err(Problem::invalid("limit", format!("a page has 1 to {MAX_LIMIT} entries"))),
        }
    }
}

/// Where a page begins: the `next_cursor` of the previous page. Opaque.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Cursor(String);

/// A page of a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "PageOf{T}")]
pub struct Page<T> {
    /// Its entries.
    pub items: Vec<T>,
    /// Where the next page begins; null if this is the last one.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A complete list as one page.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }
}

/// A requested page: of which list, how long, and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<K> {
    list: &'static str,
    limit: u32,
    /// The key of the last entry that was seen; `None` for the first page.
    pub after: Option<K>,
}

impl<K: FromStr + Display> PageRequest<K> {
    /// A page of this list. Errors: a cursor of another list is refused.
    pub fn new(list: &'static str, limit: Option<Limit>, cursor: Option<&Cursor>) -> Result<Self> {
        let limit = limit.unwrap_or_default().checked()?;
        let after = cursor.map(|cursor| key(list, cursor).ok_or_else(wrong)).transpose()?;
        Ok(Self { list, limit, after })
    }

    /// How many entries to read: one more than the page has, to see whether there is another page.
    pub fn to_read(&self) -> u32 {
        self.limit + 1
    }

    /// The page, made of the entries that were read.
    pub fn page<T>(&self, mut items: Vec<T>, key: impl Fn(&T) -> K) -> Page<T> {
        let limit = self.limit as usize;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| has_more);
        let next_cursor = last.map(|last| URL_SAFE_NO_PAD.encode(format!("{}\n{}", self.list, key(last))));
        Page { items, next_cursor }
    }

    /// The problem for a failed read: if the entry to start after is gone, the cursor is invalid.
    pub fn failed(&self, error: thermocline::Error) -> Problem {
        match error.kind() {
            ErrorKind::NotFound if self.after.is_some() => wrong(),
            _ => error.into(),
        }
    }

    /// The problem if the entry to start after is gone.
    pub fn gone() -> Problem {
        wrong()
    }
}

fn key<K: FromStr>(list: &str, cursor: &Cursor) -> Option<K> {
    let bytes = URL_SAFE_NO_PAD.decode(&cursor.0).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.strip_prefix(list)?.strip_prefix('\n')?.parse().ok()
}

fn wrong() -> Problem {
    Problem::invalid(
        "cursor",
        "the cursor does not belong to this list, or its place is gone; begin without one",
    )
}
