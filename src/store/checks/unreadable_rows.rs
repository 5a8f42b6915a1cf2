//! The rows that a check of doctor could not read.

/// How many rows of a table are named.
const MOST_PLACES: usize = 20;

#[derive(Debug, Default)]
pub(super) struct UnreadableRows {
    pub(super) count: u64,
    /// The first of them, named so that `sqlite3` can find them.
    pub(super) places: Vec<String>,
}

impl UnreadableRows {
    /// Counts a row by its place; `None` if damage ended the pass over the rows.
    pub(super) fn add(&mut self, place: Option<String>) {
        self.count += 1;
        self.places.extend(place.filter(|_| self.places.len() < MOST_PLACES));
    }
}
