//! Folds the statements of turns into the values of an anchor. The fold is a pure function of the statements that exist
//! now, so it does not matter in which order they were added, or what was erased.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use unicode_normalization::UnicodeNormalization;

use crate::model::{
    anchor::{Cardinality, Stance},
    memory::trust::Trust,
    place::Seq,
};

/// One source that says that a value holds, or no longer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueStatement {
    pub(crate) value_key: String,
    /// The value as the source writes it.
    pub(crate) value: String,
    pub(crate) stance: Stance,
    /// How far the source is trusted.
    pub(crate) trust: Trust,
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
    /// How far the most trusted source of the value is trusted.
    pub(crate) trust: Trust,
    /// How many sources of that trust say that the value holds.
    pub(crate) count: u32,
    pub(crate) valid_from: DateTime<Utc>,
    pub(crate) valid_until: Option<DateTime<Utc>>,
    /// The key of the value that replaced it.
    pub(crate) superseded_by: Option<String>,
    /// The key of the value that holds and is trusted more, beside which this one was said.
    pub(crate) contests: Option<String>,
}

/// Up to which place in the user's order a value was retracted, and how far who retracted it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retraction {
    pub(crate) until: Seq,
    pub(crate) trust: Trust,
}

/// The retraction of each retracted value, by its key.
pub(crate) type Retracted = BTreeMap<String, Retraction>;

/// Applies all statements about one attribute of one subject, in the user's order, and returns the state of each value.
///
/// With `one`, a new value supersedes the value that held; with `many`, values are independent. Anything said up to a
/// value's retraction does not count.
///
/// What is trusted less changes nothing that is trusted more. A source that is trusted less than another source of the same
/// value, or than who retracted it, has no effect on the value. A value whose source is trusted less than the value that
/// holds does not supersede it, but contests it, until somebody who is trusted as much says which of them holds. So the
/// states of the user's values are the same whether or not anything was said that is trusted less.
pub(crate) fn fold(
    cardinality: Cardinality,
    mut statements: Vec<ValueStatement>,
    retracted: &Retracted,
) -> BTreeMap<String, ValueState> {
    statements.sort_by(|a, b| {
        (a.seq, a.by_hand, a.said_at, &a.value_key).cmp(&(b.seq, b.by_hand, b.said_at, &b.value_key))
    });
    let mut fold = Folding::default();
    for said in statements {
        let counts = |by: &Retraction| said.seq > by.until && said.trust.may_change(by.trust);
        let counts = retracted.get(&said.value_key).is_none_or(counts);
        if !fold.hear(&said) || !counts {
            continue;
        }
        match said.stance {
            Stance::Holds => fold.hold(cardinality, said),
            Stance::Ends => fold.end(&said),
        }
    }
    fold.states
}

/// The states so far.
#[derive(Default)]
struct Folding {
    states: BTreeMap<String, ValueState>,
    /// The key of the value that holds, under an attribute with one value.
    current: Option<String>,
}

impl Folding {
    /// Makes room for a value. A source that is trusted more than all before it begins the value anew. Returns `false` if
    /// the source is trusted less than another one.
    fn hear(&mut self, said: &ValueStatement) -> bool {
        let new = || ValueState {
            value: said.value.clone(),
            trust: said.trust,
            count: 0,
            valid_from: said.said_at,
            valid_until: Some(said.said_at),
            superseded_by: None,
            contests: None,
        };
        let state = self.states.entry(said.value_key.clone()).or_insert_with(new);
        if said.trust > state.trust {
            *state = new();
        }
        said.trust == state.trust
    }

    fn hold(&mut self, cardinality: Cardinality, said: ValueStatement) {
        let ValueStatement { value_key, value, trust, said_at, .. } = said;
        let Some(state) = self.states.get_mut(&value_key) else { return };
        if state.valid_until.is_some() && state.contests.is_none() {
            (state.valid_from, state.superseded_by) = (said_at, None);
        }
        (state.value, state.valid_until, state.contests) = (value, None, None);
        state.count += 1;
        if cardinality == Cardinality::Many {
            return;
        }
        let valid_from = state.valid_from;
        let held = self.current.clone().filter(|held| *held != value_key);
        let is_trusted_more = |held: &String| self.states.get(held).is_some_and(|held| held.trust > trust);
        if let Some(held) = held.filter(is_trusted_more) {
            if let Some(state) = self.states.get_mut(&value_key) {
                (state.valid_until, state.contests) = (Some(valid_from), Some(held));
            }
            return;
        }
        // The value that held gives way, and so do those that contested it: now it is decided.
        for (other, state) in &mut self.states {
            let gives_way = Some(other) == self.current.as_ref() || state.contests.is_some();
            if gives_way && *other != value_key && state.trust <= trust {
                (state.valid_until, state.contests) = (Some(said_at), None);
                state.superseded_by = Some(value_key.clone());
            }
        }
        self.current = Some(value_key);
    }

    fn end(&mut self, said: &ValueStatement) {
        let Some(state) = self.states.get_mut(&said.value_key) else { return };
        state.valid_until.get_or_insert(said.said_at);
        state.contests = None;
        self.current.take_if(|current| *current == said.value_key);
    }
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

    /// Parses `"holds berlin 3"`: said in turn 3, on day 3. `"hand ..."` is set by hand after that turn. `"reported ..."` is
    /// trusted like the assistant.
    fn statement(line: &str) -> ValueStatement {
        let mut words = line.split(' ').peekable();
        let trust = words.next_if_eq(&"reported").map_or(Trust::User, |_| Trust::Assistant);
        let by_hand = words.next_if_eq(&"hand").is_some();
        let stance = Stance::from_word(words.next().unwrap()).unwrap();
        let value = words.next().unwrap();
        let seq: u32 = words.next().unwrap().parse().unwrap();
        ValueStatement {
            value_key: value_key(value),
            value: value.to_owned(),
            stance,
            trust,
            seq: Seq(seq),
            by_hand,
            said_at: day(seq),
        }
    }

    /// Compares the states, each written as `key count from-until>superseded_by?contests`, in days.
    #[track_caller]
    fn check(cardinality: Cardinality, lines: &[&str], retracted: &[(&str, u32)], expected: &[&str]) {
        let by = |seq| Retraction { until: Seq(seq), trust: Trust::User };
        let retracted = retracted.iter().map(|&(key, seq)| (key.to_owned(), by(seq))).collect();
        let days = |at: DateTime<Utc>| (at - DateTime::UNIX_EPOCH).num_days();
        let show = |(key, state): (&String, &ValueState)| {
            let until = state.valid_until.map_or(String::new(), |at| days(at).to_string());
            let by = state.superseded_by.as_ref().map_or(String::new(), |by| format!(">{by}"));
            let contests = state.contests.as_ref().map_or(String::new(), |held| format!("?{held}"));
            format!("{key} {} {}-{until}{by}{contests}", state.count, days(state.valid_from))
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
    fn what_is_reported_contests_what_the_user_said_and_holds_where_the_user_said_nothing() {
        let lines = ["holds lisbon 1", "reported holds minsk 5"];
        check(Cardinality::One, &lines, &[], &["lisbon 1 1-", "minsk 1 5-5?lisbon"]);
        let again = [lines[0], lines[1], "reported holds minsk 7", "reported ends lisbon 8"];
        check(Cardinality::One, &again, &[], &["lisbon 1 1-", "minsk 2 5-5?lisbon"]);
        check(Cardinality::One, &["reported holds minsk 5"], &[], &["minsk 1 5-"]);
        let later = ["reported holds minsk 1", "reported holds bonn 2", "holds lisbon 5"];
        check(Cardinality::One, &later, &[], &["bonn 1 2-5>lisbon", "lisbon 1 5-", "minsk 1 1-2>bonn"]);
        check(Cardinality::Many, &["holds tea 1", "reported ends tea 2"], &[], &["tea 1 1-"]);
        check(
            Cardinality::Many,
            &["holds tea 1", "reported holds coffee 2"],
            &[],
            &["coffee 1 2-", "tea 1 1-"],
        );
    }

    #[test]
    fn the_users_later_words_decide_what_was_contested() {
        let lines = ["holds lisbon 1", "reported holds minsk 5"];
        let confirmed = [lines[0], lines[1], "holds minsk 7"];
        check(Cardinality::One, &confirmed, &[], &["lisbon 1 1-7>minsk", "minsk 1 7-"]);
        let left = [lines[0], lines[1], "holds lisbon 7"];
        check(Cardinality::One, &left, &[], &["lisbon 2 1-", "minsk 1 5-7>lisbon"]);
        check(Cardinality::One, &lines, &[("lisbon", 9)], &["lisbon 0 1-1", "minsk 1 5-"]);
    }

    #[test]
    fn what_the_user_ended_or_retracted_nobody_less_trusted_brings_back() {
        let ended = ["holds acme 1", "ends acme 2", "reported holds acme 3"];
        check(Cardinality::One, &ended, &[], &["acme 1 1-2"]);
        check(Cardinality::One, &["reported holds bob 7"], &[("bob", 2)], &["bob 0 7-7"]);
        check(Cardinality::One, &["holds bob 7"], &[("bob", 2)], &["bob 1 7-"]);
    }

    #[test]
    fn the_users_values_are_the_same_whatever_else_was_reported() {
        let users = ["holds bonn 2", "holds lisbon 4", "ends lisbon 6", "holds bonn 8"];
        let reported: Vec<String> = [1, 3, 5, 7, 9]
            .iter()
            .flat_map(|at| ["bonn", "lisbon", "minsk"].map(|value| (at, value)))
            .flat_map(|(at, value)| ["holds", "ends"].map(|stance| format!("reported {stance} {value} {at}")))
            .collect();
        for cardinality in [Cardinality::One, Cardinality::Many] {
            let said = |lines: &[&str]| lines.iter().map(|line| statement(line)).collect();
            let alone = fold(cardinality, said(&users), &Retracted::new());
            for mask in 0..1_u32 << reported.len().min(12) {
                let chosen = (0..).zip(&reported).filter(|(bit, _)| (mask >> (bit % 12)) & 1 == 1);
                let all: Vec<&str> = users.into_iter().chain(chosen.map(|(_, line)| &**line)).collect();
                let mut states = fold(cardinality, said(&all), &Retracted::new());
                states.retain(|_, state| state.trust == Trust::User);
                assert_eq!(states, alone, "{all:?}");
            }
        }
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
