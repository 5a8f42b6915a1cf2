//! Finds themes in memories, and tags that several projects share. Writes them as the page `REFLECTION.md` (cognitive
//! paper), together with the most used memories, insights and merges.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::memory::page::{LineNames, preview, tidy_tag};

/// The maximum number of pairs of tags on the page, and of titles for each pair (cognitive paper).
const PAIRS: usize = 8;
pub(crate) const TITLES: usize = 3;
/// The minimum number of projects that a tag spans (cognitive paper).
const PROJECTS: usize = 2;
/// The maximum number of tags that span projects, the most used first.
const TAGS: usize = 20;
/// How many tags of a memory are paired.
const TAGS_OF_ONE: usize = 16;
/// The number of most used memories (cognitive paper).
pub(crate) const MOST_USED: usize = 10;
/// The characters that are shown of an insight, and the number of insights, the newest first (cognitive paper).
const INSIGHT_CHARACTERS: usize = 80;
pub(crate) const INSIGHTS: usize = 10;
/// The characters that are shown of a title among the themes.
const TITLE_CHARACTERS: usize = 40;

/// Two tags that occur together: the tags, the number of memories that have both, and the indices of the first of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    pub(crate) tags: [String; 2],
    pub(crate) memories: u64,
    pub(crate) first: Vec<usize>,
}

/// A tag, and its number of memories per project, the highest first.
pub(crate) type Spanning = (String, Vec<(String, u64)>);

/// Returns the pairs of tags that occur together in several memories, the most frequent first, and equally frequent ones in
/// alphabetical order. `memories` are the tags of each memory; a theme names the first memories that have both.
pub(crate) fn themes(memories: &[Vec<String>]) -> Vec<Theme> {
    let mut pairs: BTreeMap<[&str; 2], (u64, Vec<usize>)> = BTreeMap::new();
    for (at, tags) in memories.iter().enumerate() {
        let tags = &tags[..tags.len().min(TAGS_OF_ONE)];
        for (n, one) in tags.iter().enumerate() {
            for other in &tags[n + 1..] {
                let pair = if one < other { [one.as_str(), other] } else { [other.as_str(), one] };
                let (count, first) = pairs.entry(pair).or_default();
                *count += 1;
                if first.len() < TITLES {
                    first.push(at);
                }
            }
        }
    }
    let mut themes: Vec<_> = pairs.into_iter().filter(|(_, (count, _))| *count > 1).collect();
    themes.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count)); // Stable: ties stay in order.
    themes.truncate(PAIRS);
    let theme =
        |(tags, (memories, first)): ([&str; 2], _)| Theme { tags: tags.map(str::to_owned), memories, first };
    themes.into_iter().map(theme).collect()
}

/// Returns the tags of memories in several projects, the most used first. `memories` are the project and the tags of each.
pub(crate) fn spanning<'m>(memories: impl Iterator<Item = (&'m str, &'m [String])>) -> Vec<Spanning> {
    let mut tags: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for (project, of_one) in memories {
        for tag in of_one {
            *tags.entry(tag).or_default().entry(project).or_default() += 1;
        }
    }
    tags.retain(|_, projects| projects.len() >= PROJECTS);
    let mut found: Vec<Spanning> = tags
        .into_iter()
        .map(|(tag, projects)| {
            let mut projects: Vec<_> =
                projects.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
            projects.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            (tag.to_owned(), projects)
        })
        .collect();
    found
        .sort_by_key(|(_, projects)| std::cmp::Reverse(projects.iter().map(|(_, count)| count).sum::<u64>()));
    found.truncate(TAGS);
    found
}

/// The content of the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReflectionPage {
    pub(crate) on: NaiveDate,
    pub(crate) last: Option<NaiveDate>,
    pub(crate) reflections: u64,
    /// Two tags, the number of memories, and the titles of some of them.
    pub(crate) themes: Vec<([String; 2], u64, Vec<String>)>,
    pub(crate) spanning: Vec<Spanning>,
    pub(crate) most_used: Vec<(LineNames, u32)>,
    /// Insights, with their texts.
    pub(crate) insights: Vec<(LineNames, String)>,
    pub(crate) merges: u64,
}

/// Joins the lines of a section; says so if there are none.
fn listed(lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.collect();
    if lines.is_empty() { "None yet.\n".to_owned() } else { lines }
}

impl ReflectionPage {
    /// Returns the page as text.
    pub(crate) fn text(&self) -> String {
        let Self { on, reflections, merges, .. } = self;
        let last = self.last.map_or_else(|| "never".to_owned(), |day| day.to_string());
        let themes = self.themes.iter().map(|([one, other], count, titles)| {
            let titles: Vec<_> =
                titles.iter().map(|title| format!("\"{}\"", preview(title, TITLE_CHARACTERS))).collect();
            let (one, other) = (tidy_tag(one), tidy_tag(other));
            format!("- **{one} + {other}**: {count} memories ({})\n", titles.join(", "))
        });
        let spanning = self.spanning.iter().map(|(tag, projects)| {
            let projects: Vec<_> =
                projects.iter().map(|(name, count)| format!("{} ({count})", tidy_tag(name))).collect();
            format!("- **{}**: appears in {}\n", tidy_tag(tag), projects.join(", "))
        });
        let most_used = (1..)
            .zip(&self.most_used)
            .map(|(n, (named, accesses)): (u32, _)| format!("{n}. {} - {accesses} accesses\n", named.link()));
        let insights = self
            .insights
            .iter()
            .map(|(named, text)| format!("- {} - {}\n", named.link(), preview(text, INSIGHT_CHARACTERS)));
        format!(
            "# Reflection Summary (auto-generated)\n\
             > Last updated: {on} | Last reflection: {last} | Total reflections: {reflections}\n\
             ## Themes\nTop tag co-occurrences revealing recurring themes:\n{}\
             ## Cross-Project Patterns\nTags that span multiple projects:\n{}\
             ## Most Accessed\nTop 10 memories by access count:\n{}\
             ## Recent Insights\nInsight-type memories:\n{}\
             ## Consolidation History\n- Total merges performed: {merges}\n",
            listed(themes),
            listed(spanning),
            listed(most_used),
            listed(insights),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::memory::words::MemoryKind;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn g_themes_are_pairs_of_tags_that_stand_together() {
        let memories = ["python fix", "fix python s3", "redis", "s3 fix"].map(words);
        let found: Vec<_> =
            themes(&memories).into_iter().map(|it| (it.tags.join("+"), it.memories, it.first)).collect();
        assert_eq!(found, [("fix+python".to_owned(), 2, vec![0, 1]), ("fix+s3".to_owned(), 2, vec![1, 3])]);
    }

    #[test]
    fn g_a_tag_of_two_projects_spans_them() {
        let tags = ["fix redis", "fix", "fix redis"].map(words);
        let projects = ["dice", "cards", "cards"];
        let found = spanning(projects.into_iter().zip(tags.iter().map(Vec::as_slice)));
        let both = [("cards".to_owned(), 2), ("dice".to_owned(), 1)].to_vec();
        let one_each = [("cards".to_owned(), 1), ("dice".to_owned(), 1)].to_vec();
        assert_eq!(found, [("fix".to_owned(), both), ("redis".to_owned(), one_each)]);
    }

    #[test]
    fn of_nothing_it_says_so() {
        let on = "2025-12-13".parse().unwrap();
        let nothing = ReflectionPage {
            on,
            last: None,
            reflections: 0,
            themes: Vec::new(),
            spanning: Vec::new(),
            most_used: Vec::new(),
            insights: Vec::new(),
            merges: 0,
        };
        assert_eq!(nothing.text().matches("None yet.\n").count(), 4);
    }

    #[test]
    fn g_it_looks_as_the_paper_has_it() {
        let named = |kind, title: &str| LineNames {
            id: "mem_a1b2c3d4-e5f6-7890-abcd-ef1234567890".parse().unwrap(),
            kind,
            pinned: false,
            title: title.to_owned(),
        };
        let day = |text: &str| text.parse().unwrap();
        let page = ReflectionPage {
            on: day("2026-02-13"),
            last: Some(day("2026-02-12")),
            reflections: 2,
            themes: vec![(["fix".into(), "python".into()], 52, words("S3 cards"))],
            spanning: vec![("fix".into(), vec![("major-domo".into(), 38), ("vagabond-rpg".into(), 22)])],
            most_used: vec![(named(MemoryKind::Fix, "Title"), 7)],
            insights: vec![(named(MemoryKind::Insight, "Caches"), "x".repeat(81))],
            merges: 1,
        };
        let expected = format!(
            "# Reflection Summary (auto-generated)\n\
             > Last updated: 2026-02-13 | Last reflection: 2026-02-12 | Total reflections: 2\n\
             ## Themes\n\
             Top tag co-occurrences revealing recurring themes:\n\
             - **fix + python**: 52 memories (\"S3\", \"cards\")\n\
             ## Cross-Project Patterns\n\
             Tags that span multiple projects:\n\
             - **fix**: appears in major-domo (38), vagabond-rpg (22)\n\
             ## Most Accessed\n\
             Top 10 memories by access count:\n\
             1. [Title](graph/fixes/title-567890.md) - 7 accesses\n\
             ## Recent Insights\n\
             Insight-type memories:\n\
             - [Caches](graph/insights/caches-567890.md) - {}...\n\
             ## Consolidation History\n\
             - Total merges performed: 1\n",
            "x".repeat(80)
        );
        assert_eq!(page.text(), expected);
    }
}
