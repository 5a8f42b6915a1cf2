//! Counts, places and durations, formatted for people.

use std::time::Instant;

use indicatif::HumanCount;

/// Returns a number with its noun: `1 turn`, `1,200 turns`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", HumanCount(count as u64))
}

/// Joins consecutive numbers of turns, which must be in order: `1-7, 9, 12-13`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    numbers
        .chunk_by(|&before, &number| number == before + 1)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            one => one.iter().map(u32::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the result of some work, and the microseconds that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    #[expect(clippy::disallowed_methods, reason = "durations are monotonic, and start here only")]
    let started = Instant::now();
    let done = work();
    (done, u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_follow_one_another_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3, 5, 7-8");
        assert_eq!(ranges(&[]), "");
    }
}
