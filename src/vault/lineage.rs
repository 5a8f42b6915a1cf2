//! Which version of a memory's file follows which, for folders that several machines share, for example by git.
//!
//! The head of a file counts the changes that each copy of the folder made to the memory: a version vector. So two versions
//! are ordered whatever the clocks say, and two that were made apart from each other are recognized as such. The lineage
//! ends in a checksum of what the file said when it was written: a file that says something else was edited since.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The most copies of a folder whose changes a lineage counts. Beyond that, those with the fewest changes are left out: at
/// worst, a version is taken for one that was made apart.
const MOST_COPIES: usize = 32;
/// The largest number of changes that a file may claim.
const MOST_CHANGES: u64 = 1 << 48;

/// How many changes each copy of the folder made to a file, and a checksum of the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Lineage {
    changes: BTreeMap<String, u64>,
    checksum: String,
}

/// How one version of a file relates to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descent {
    Same,
    /// It was made from the other one.
    Newer,
    /// The other one was made from it.
    Older,
    /// Neither was made from the other.
    Apart,
}

impl Lineage {
    /// Whether it tells nothing: the file was not written by a vault, or its head was edited.
    pub(crate) fn is_unknown(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns how the version with this lineage relates to the one with the other.
    pub(crate) fn descent(&self, other: &Self) -> Descent {
        match (self.has_all_of(other), other.has_all_of(self)) {
            (true, true) if self.checksum == other.checksum => Descent::Same,
            (true, false) => Descent::Newer,
            (false, true) => Descent::Older,
            // Two folders that count as one, because one was copied with its state, may write the same count.
            (true, true) | (false, false) => Descent::Apart,
        }
    }

    fn has_all_of(&self, other: &Self) -> bool {
        other.changes.iter().all(|(copy, count)| self.changes.get(copy).is_some_and(|own| own >= count))
    }

    /// Of two versions that were made apart, every copy chooses the same: the one with more changes. Returns whether it is
    /// this one.
    pub(crate) fn stands_before(&self, other: &Self) -> bool {
        let rank = |lineage: &Self| (lineage.changes.values().sum::<u64>(), lineage.checksum.clone());
        rank(self) > rank(other)
    }

    /// Returns the lineage of what is made from both versions, and says what this one says.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        let mut joined = if self.is_unknown() { other.clone() } else { self.clone() };
        for (copy, count) in &other.changes {
            let own = joined.changes.entry(copy.clone()).or_default();
            *own = (*own).max(*count);
        }
        joined
    }

    /// Returns the lineage after one more change by a copy.
    pub(crate) fn changed(&self, copy: &str, checksum: String) -> Self {
        let mut changes = self.changes.clone();
        let count = changes.entry(copy.to_owned()).or_default();
        *count = (*count + 1).min(MOST_CHANGES);
        while changes.len() > MOST_COPIES {
            let fewest = changes.iter().filter(|(name, _)| *name != copy).min_by_key(|(_, count)| **count);
            let Some(fewest) = fewest.map(|(name, _)| name.clone()) else { break };
            changes.remove(&fewest);
        }
        Self { changes, checksum }
    }

    /// Returns the same lineage without the checksum: that of a file that is gone.
    pub(crate) fn bare(self) -> Self {
        Self { checksum: "0".to_owned(), ..self }
    }

    /// Whether this is the checksum of what the file said when it was written.
    pub(crate) fn is_of(&self, checksum: &str) -> bool {
        self.checksum == checksum
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown() {
            return Ok(());
        }
        for (copy, count) in &self.changes {
            write!(f, "{copy}.{count} ")?;
        }
        f.write_str(&self.checksum)
    }
}

impl From<Lineage> for String {
    fn from(lineage: Lineage) -> Self {
        lineage.to_string()
    }
}

impl TryFrom<String> for Lineage {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for Lineage {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = "it is not a lineage, which vaults write";
        let Some((changes, checksum)) = text.rsplit_once(' ') else {
            return if text.is_empty() { Ok(Self::default()) } else { Err(refused) };
        };
        let is_word = |text: &str| {
            (1..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let change = |text: &str| {
            let (copy, count) = text.split_once('.').filter(|(copy, _)| is_word(copy))?;
            let count = count.parse().ok().filter(|count| (1..=MOST_CHANGES).contains(count))?;
            Some((copy.to_owned(), count))
        };
        let changes: Option<BTreeMap<String, u64>> = changes.split(' ').map(change).collect();
        let changes = changes.filter(|changes| changes.len() <= MOST_COPIES && is_word(checksum));
        Ok(Self { changes: changes.ok_or(refused)?, checksum: checksum.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_what_they_were_made_from() {
        let first = Lineage::default().changed("a", "x1".to_owned());
        let second = first.changed("a", "x2".to_owned());
        let other = first.changed("b", "x3".to_owned());
        assert_eq!(second.descent(&first), Descent::Newer);
        assert_eq!(first.descent(&second), Descent::Older);
        assert_eq!(second.descent(&other), Descent::Apart);
        assert_ne!(second.stands_before(&other), other.stands_before(&second));
        let both = second.joined(&other);
        assert_eq!(both, Lineage { checksum: "x2".to_owned(), ..other.joined(&second) });
        assert!([&second, &other].into_iter().all(|one| both.descent(one) == Descent::Newer));
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let mut lineage = Lineage::default();
        for copy in 0..40 {
            lineage = lineage.changed(&format!("c{copy}"), "0f".to_owned());
        }
        assert_eq!(lineage.changes.len(), MOST_COPIES);
        assert_eq!(lineage.to_string().parse(), Ok(lineage));
        for not in
            ["1.2", "a.1", "a.0 x", "a.-1 x", "a.999999999999999999 x", "a.1  x", "a.1 b.1", " x", "a.1 ü"]
        {
            assert!(not.parse::<Lineage>().is_err(), "{not}");
        }
    }
}
