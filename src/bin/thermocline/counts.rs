//! Counts and places, as people read them.

use indicatif::HumanCount;

/// `1 turn`, `1,200 turns`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", HumanCount(count as u64))
}

/// `1-7, 9, 12-13`: places of turns, in order.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_follow_one_another_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3, 5, 7-8");
        assert_eq!(ranges(&[]), "");
    }
}
