//! Pages of lists: their length, and the cursor at which the next one begins.

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

/// Maximum number of entries on a page, from 1 to 200. Default: 50.
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
    /// Returns the number of entries. Errors: `Code::InvalidInput` if it is not 1 to 200.
    pub fn checked(self) -> Result<u32> {
        match self.0 {
            1..=MAX_LIMIT => Ok(self.0),
            _ => Err(Problem::invalid("limit", format!("a page has 1 to {MAX_LIMIT} entries"))),
        }
    }
}

/// Where a page begins: the `next_cursor` of the previous page, an opaque text.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Cursor(String);

/// A page of a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "PageOf{T}")]
pub struct Page<T> {
    /// The entries of this page.
    pub items: Vec<T>,
    /// The cursor for the next page; null if this is the last one.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Returns a complete list as one page.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }
}

/// A requested page: its list, its length, and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<K> {
    list: &'static str,
    limit: u32,
    /// The key of the last entry of the previous page; `None` for the first page.
    pub after: Option<K>,
}

impl<K: FromStr + Display> PageRequest<K> {
    /// Reads the request for a page of this list. Errors: the limit is out of range, or the cursor is not one of this
    /// list.
    pub fn new(list: &'static str, limit: Option<Limit>, cursor: Option<&Cursor>) -> Result<Self> {
        let limit = limit.unwrap_or_default().checked()?;
        let after = cursor.map(|cursor| key(list, cursor).ok_or_else(wrong)).transpose()?;
        Ok(Self { list, limit, after })
    }

    /// Returns the number of entries to read: one more than a page may have, to see whether there is another page.
    pub fn to_read(&self) -> u32 {
        self.limit + 1
    }

    /// Makes the page from the entries that were read.
    pub fn page<T>(&self, mut items: Vec<T>, key: impl Fn(&T) -> K) -> Page<T> {
        let limit = self.limit as usize;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| has_more);
        let next_cursor = last.map(|last| URL_SAFE_NO_PAD.encode(format!("{}\n{}", self.list, key(last))));
        Page { items, next_cursor }
    }

    /// Returns the problem for a failed read. If the entry at the cursor no longer exists, the problem says that the cursor
    /// is invalid.
    pub fn failed(&self, error: thermocline::Error) -> Problem {
        match error.kind() {
            ErrorKind::NotFound if self.after.is_some() => wrong(),
            _ => error.into(),
        }
    }

    /// Returns the problem for a cursor whose entry no longer exists.
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
