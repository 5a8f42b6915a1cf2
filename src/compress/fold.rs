//! Folds the statements of turns into the values of an anchor. The fold is a pure function of the statements that exist
//! now, so it does not matter in which order they were added, or what was erased.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use unicode_normalization::UnicodeNormalization;

use crate::model::{
    anchor::{Cardinality, Stance},
    place::Seq,
};

/// One source that says that a value holds, or no longer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueStatement {
    pub(crate) value_key: String,
    /// The value as the source writes it.
    pub(crate) value: String,
    pub(crate) stance: Stance,
    /// The source's place in the user's recording order.
    pub(crate) seq: Seq,
    /// Whether the value was set by hand. It then comes after the turn with the same `seq`.
    pub(crate) by_hand: bool,
    pub(crate) said_at: DateTime<Utc>,
}

/// The state of one value after all statements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueState {
    /// The value as it was last written.
    pub(crate) value: String,
    /// How many sources say that the value holds.
    pub(crate) count: u32,
    pub(crate) valid_from: DateTime<Utc>,
    pub(crate) valid_until: Option<DateTime<Utc>>,
    /// The key of the value that replaced it.
    pub(crate) superseded_by: Option<String>,
}

/// For the key of each retracted value, the place in the user's order up to which a person retracted it.
pub(crate) type Retracted = BTreeMap<String, Seq>;

/// Applies all statements about one attribute of one subject, in the user's order, and returns the state of each value.
///
/// With `one`, a new value supersedes the value that held; with `many`, values are independent. Anything said up to a
/// value's retraction does not count.
pub(crate) fn fold(
    cardinality: Cardinality,
    mut statements: Vec<ValueStatement>,
    retracted: &Retracted,
) -> BTreeMap<String, ValueState> {
    statements.sort_by(|a, b| {
        (a.seq, a.by_hand, a.said_at, &a.value_key).cmp(&(b.seq, b.by_hand, b.said_at, &b.value_key))
    });
    let mut states: BTreeMap<String, ValueState> = BTreeMap::new();
    let mut current: Option<String> = None;
    for ValueStatement { value_key, value, stance, seq, said_at, .. } in statements {
        let counts = retracted.get(&value_key).is_none_or(|&until| seq > until);
        let state = states.entry(value_key.clone()).or_insert_with(|| ValueState {
            value: value.clone(),
            count: 0,
            valid_from: said_at,
            valid_until: Some(said_at),
            superseded_by: None,
        });
        if !counts {
            continue;
        }
        match stance {
            Stance::Holds => {
                if state.valid_until.is_some() {
                    (state.valid_from, state.valid_until, state.superseded_by) = (said_at, None, None);
                }
                state.value = value;
                state.count += 1;
                if cardinality == Cardinality::One {
                    if let Some(old) = current.take().filter(|old| *old != value_key)
                        && let Some(old) = states.get_mut(&old)
                    {
                        (old.valid_until, old.superseded_by) = (Some(said_at), Some(value_key.clone()));
                    }
                    current = Some(value_key);
                }
            }
            Stance::Ends => {
                state.valid_until.get_or_insert(said_at);
                current = current.filter(|current| *current != value_key);
            }
        }
    }
    states
}

/// `1 - 0.5^n` for n sources (design of the project, section 2): 0.5, 0.75, 0.875 ...
pub(crate) fn strength(count: u32) -> f64 {
    1.0 - 0.5_f64.powi(i32::try_from(count.min(1_000)).unwrap_or(1_000))
}

/// The most bytes of a key: index entries of other databases hold at most about twice that.
const MAX_KEY_BYTES: usize = 1_024;

/// Returns the key that all spellings of a value share: case, width, blanks and surrounding punctuation are ignored.
pub(crate) fn value_key(value: &str) -> String {
    let folded: String = value.nfkc().flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = folded.split_whitespace().collect();
    let joined = words.join(" ");
    let trimmed = joined.trim_matches(|c: char| !c.is_alphanumeric() && c != '+' && c != '#');
    let key = if trimmed.is_empty() { &joined } else { trimmed };
    key[..key.floor_char_boundary(MAX_KEY_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(day: u32) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + chrono::TimeDelta::days(day.into())
    }

    /// Parses `"holds berlin 3"`: said in turn 3, on day 3. `"hand ..."` is set by hand after that turn.
    fn statement(line: &str) -> ValueStatement {
        let mut words = line.split(' ').peekable();
        let by_hand = words.next_if_eq(&"hand").is_some();
        let stance = Stance::from_word(words.next().unwrap()).unwrap();
        let value = words.next().unwrap();
        let seq: u32 = words.next().unwrap().parse().unwrap();
        ValueStatement {
            value_key: value_key(value),
            value: value.to_owned(),
            stance,
            seq: Seq(seq),
            by_hand,
            said_at: day(seq),
        }
    }

    /// Compares the states, each written as `key count from-until>superseded_by`, in days.
    #[track_caller]
    fn check(cardinality: Cardinality, lines: &[&str], retracted: &[(&str, u32)], expected: &[&str]) {
        let retracted = retracted.iter().map(|&(key, seq)| (key.to_owned(), Seq(seq))).collect();
        let days = |at: DateTime<Utc>| (at - DateTime::UNIX_EPOCH).num_days();
        let show = |(key, state): (&String, &ValueState)| {
            let until = state.valid_until.map_or(String::new(), |at| days(at).to_string());
            let by = state.superseded_by.as_ref().map_or(String::new(), |by| format!(">{by}"));
            format!("{key} {} {}-{until}{by}", state.count, days(state.valid_from))
        };
        for order in [false, true] {
            let mut statements: Vec<ValueStatement> = lines.iter().map(|line| statement(line)).collect();
            if order {
                statements.reverse(); // The order of arrival does not matter.
            }
            let states = fold(cardinality, statements, &retracted);
            assert_eq!(states.iter().map(show).collect::<Vec<_>>(), expected, "{lines:?}");
        }
    }

    #[test]
    fn under_one_a_new_value_supersedes_the_old() {
        let lines = ["holds Berlin 1", "holds berlin 2", "holds Lisbon 5"];
        check(Cardinality::One, &lines, &[], &["berlin 2 1-5>lisbon", "lisbon 1 5-"]);
        let back = ["holds Berlin 1", "holds Lisbon 5", "holds Berlin 9"];
        check(Cardinality::One, &back, &[], &["berlin 2 9-", "lisbon 1 5-9>berlin"]);
    }

    #[test]
    fn under_many_values_do_not_touch_each_other() {
        let lines = ["holds tea 1", "holds coffee 2", "ends tea 3"];
        check(Cardinality::Many, &lines, &[], &["coffee 1 2-", "tea 1 1-3"]);
        check(Cardinality::Many, &["ends tea 3", "holds tea 4"], &[], &["tea 1 4-"]);
    }

    #[test]
    fn what_ends_leaves_the_place_empty() {
        check(Cardinality::One, &["holds acme 1", "ends acme 2"], &[], &["acme 1 1-2"]);
        check(Cardinality::One, &["holds acme 1", "ends other 2"], &[], &["acme 1 1-", "other 0 2-2"]);
    }

    #[test]
    fn what_was_taken_back_does_not_count_until_it_is_said_again() {
        let lines = ["holds alex 1", "holds bob 2"];
        check(Cardinality::One, &lines, &[("bob", 2)], &["alex 1 1-", "bob 0 2-2"]);
        let again = ["holds alex 1", "holds bob 2", "holds bob 7"];
        check(Cardinality::One, &again, &[("bob", 2)], &["alex 1 1-7>bob", "bob 1 7-"]);
    }

    #[test]
    fn what_is_set_by_hand_comes_behind_the_turn_of_its_time() {
        check(Cardinality::One, &["hand holds bob 2", "holds alex 2"], &[], &["alex 1 2-2>bob", "bob 1 2-"]);
    }

    #[test]
    fn strength_grows_with_each_turn() {
        let eighths = [0, 1, 2, 3].map(|count| (strength(count) * 8.0).to_string());
        assert_eq!(eighths, ["0", "4", "6", "7"]);
        assert!(strength(u32::MAX) <= 1.0);
    }

    #[test]
    fn spellings_are_one_value() {
        for (a, b) in [("Berlin", " berlin. "), ("New  York", "new york"), ("ＡＢＣ", "abc"), ("C++", "c++")]
        {
            assert_eq!(value_key(a), value_key(b));
        }
        assert_ne!(value_key("C++"), value_key("C"));
        assert_eq!(value_key("!"), "!");
    }

    #[test]
    fn a_key_is_bounded_however_long_a_value_grows_when_it_is_folded() {
        // One letter of three bytes that compatibility folding turns into 18.
        let key = value_key(&"\u{fdfa}".repeat(200));
        assert!((MAX_KEY_BYTES - 3..=MAX_KEY_BYTES).contains(&key.len()), "{}", key.len());
    }
}
