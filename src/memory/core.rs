//! What matters most, in the form of `CORE.md` (cognitive paper): sections by kind, the best first, within a token limit.

use chrono::NaiveDate;

use crate::{
    memory::page::{LineNames, tidy_tag},
    model::memory::words::MemoryKind,
};

/// A memory with a score below this does not count as active on the page, and is not shown there (cognitive paper).
pub(crate) const ACTIVE: f64 = 0.2;

/// The sections, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CoreSection {
    Solutions,
    Decisions,
    Fixes,
    Configurations,
    Patterns,
}

impl CoreSection {
    pub(crate) const EVERY: [Self; 5] =
        [Self::Solutions, Self::Decisions, Self::Fixes, Self::Configurations, Self::Patterns];

    /// Returns the section of a kind. A kind without a section is shown only if pinned.
    pub(crate) fn of(kind: MemoryKind, pinned: bool) -> Option<Self> {
        match kind {
            MemoryKind::Solution => Some(Self::Solutions),
            MemoryKind::Decision => Some(Self::Decisions),
            MemoryKind::Fix => Some(Self::Fixes),
            MemoryKind::Configuration => Some(Self::Configurations),
            MemoryKind::Procedure | MemoryKind::Workflow | MemoryKind::CodePattern | MemoryKind::Insight => {
                Some(Self::Patterns)
            }
            MemoryKind::Problem | MemoryKind::Error | MemoryKind::General => pinned.then_some(Self::Patterns),
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Solutions => "## Critical Solutions",
            Self::Decisions => "## Active Decisions",
            Self::Fixes => "## Key Fixes",
            Self::Configurations => "## Configurations",
            Self::Patterns => "## Patterns & Workflows",
        }
    }
}

/// A memory in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CoreEntry {
    pub(crate) section: CoreSection,
    pub(crate) score: f64,
    /// Breaks ties between equal scores: the higher, which was saved later, goes first.
    pub(crate) number: i64,
    pub(crate) named: LineNames,
    pub(crate) tags: Vec<String>,
    pub(crate) is_stale: bool,
}

impl CoreEntry {
    fn line(&self) -> String {
        let tags: Vec<String> =
            self.tags.iter().map(|tag| tidy_tag(tag)).filter(|tag| !tag.is_empty()).collect();
        let tags = if tags.is_empty() { String::new() } else { format!(" ({})", tags.join(", ")) };
        let stale = if self.is_stale { " (stale)" } else { "" };
        format!("- {}{tags}{stale}\n", self.named.link())
    }
}

/// The header above the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoreHead {
    pub(crate) on: NaiveDate,
    /// The number of memories with a score of [`ACTIVE`] or more, and of all.
    pub(crate) active: u64,
    pub(crate) all: u64,
}

/// Returns the text of as many entries as fit, and these entries in the order of the text. If not all fit, the lowest score
/// is dropped first, and the older of equal ones. `count` counts tokens.
pub(crate) fn fitted(
    head: CoreHead,
    mut entries: Vec<CoreEntry>,
    max_tokens: u32,
    count: impl Fn(&str) -> u32,
) -> (String, Vec<CoreEntry>) {
    entries.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.number.cmp(&a.number)));
    // More entries never have fewer tokens, so binary search finds the most that fit.
    let (mut fit, mut too_many) = (0, entries.len() + 1);
    while too_many - fit > 1 {
        let half = usize::midpoint(fit, too_many);
        if count(&text(head, &entries[..half])) <= max_tokens {
            fit = half;
        } else {
            too_many = half;
        }
    }
    entries.truncate(fit);
    let text = text(head, &entries);
    entries.sort_by_key(|entry| entry.section); // Stable: the best first in each.
    (text, entries)
}

/// Returns the text of these entries, which are sorted by score.
fn text(head: CoreHead, entries: &[CoreEntry]) -> String {
    let CoreHead { on, active, all } = head;
    let mut text = format!(
        "# Memory Core (auto-generated)\n> Last updated: {on} | Active memories: {active}/{all} | Next refresh: daily\n"
    );
    for section in CoreSection::EVERY {
        let mut lines =
            entries.iter().filter(|entry| entry.section == section).map(CoreEntry::line).peekable();
        if lines.peek().is_some() {
            text.push_str(section.heading());
            text.push('\n');
            text.extend(lines);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: MemoryKind, title: &str, score: f64) -> CoreEntry {
        let id = "mem_a1b2c3d4-e5f6-7890-abcd-ef1234567890".parse().unwrap();
        CoreEntry {
            section: CoreSection::of(kind, false).unwrap(),
            score,
            number: 1,
            named: LineNames { id, kind, pinned: false, title: title.to_owned() },
            tags: Vec::new(),
            is_stale: false,
        }
    }

    fn head() -> CoreHead {
        CoreHead { on: "2025-12-13".parse().unwrap(), active: 2, all: 3 }
    }

    #[test]
    fn g_it_looks_as_the_paper_has_it() {
        let fixed = CoreEntry {
            tags: ["redis", "timeout", "production", "homelab"].map(str::to_owned).to_vec(),
            ..entry(MemoryKind::Solution, "Fixed Redis connection timeouts", 0.5)
        };
        let mut chose = CoreEntry {
            tags: ["major-domo", "architecture"].map(str::to_owned).to_vec(),
            is_stale: true,
            ..entry(MemoryKind::Decision, "Chose websocket over polling", 0.9)
        };
        chose.named.id = "mem_d4e5f6a1-0000-4000-8000-000000e5f601".parse().unwrap();
        let (text, shown) =
            fitted(head(), vec![chose, fixed], 3_000, |text| u32::try_from(text.len()).unwrap());
        assert_eq!(
            text,
            "# Memory Core (auto-generated)\n\
             > Last updated: 2025-12-13 | Active memories: 2/3 | Next refresh: daily\n\
             ## Critical Solutions\n\
             - [Fixed Redis connection timeouts](graph/solutions/fixed-redis-connection-timeouts-567890.md) \
             (redis, timeout, production, homelab)\n\
             ## Active Decisions\n\
             - [Chose websocket over polling](graph/decisions/chose-websocket-over-polling-e5f601.md) \
             (major-domo, architecture) (stale)\n"
        );
        assert_eq!(shown.len(), 2);
        assert_eq!(shown[0].named.title, "Fixed Redis connection timeouts");
    }

    #[test]
    fn the_least_score_of_all_goes_until_it_fits() {
        let of = |n: u32| entry(MemoryKind::Fix, &format!("fix {n}"), f64::from(n) / 10.0);
        let count = |text: &str| u32::try_from(text.lines().count()).unwrap();
        let (text, shown) = fitted(head(), (1..=9).map(of).collect(), 5, count);
        assert_eq!(count(&text), 5);
        assert_eq!(
            shown.iter().map(|entry| entry.named.title.as_str()).collect::<Vec<_>>(),
            ["fix 9", "fix 8"]
        );
        let (text, shown) = fitted(head(), vec![of(1)], 2, count);
        assert_eq!((count(&text), shown.len()), (2, 0), "a section without a line has no heading");
    }
}
