//! Counts and ranges of turns, formatted for people; and how long some work takes.

use std::time::Instant;

use indicatif::HumanCount;

/// Returns a number with its noun: `1 turn`, `1,200 turns`; `1 memory`, `2 memories`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let number = HumanCount(count as u64);
    match what.strip_suffix('y') {
        _ if count == 1 => format!("{number} {what}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {what}s"),
    }
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
    fn one_is_singular() {
        assert_eq!([counted(1, "memory"), counted(0, "turn")], ["1 memory", "0 turns"]);
        assert_eq!([counted(1_200, "memory"), counted(1, "turn")], ["1,200 memories", "1 turn"]);
    }

    #[test]
    fn places_that_follow_one_another_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3, 5, 7-8");
        assert_eq!(ranges(&[]), "");
    }
}
