//! Enums that are stored as words: each variant is declared with its word.

/// Declares an enum from its variants and their words: `Compress = "compress"`.
///
/// Words may be added: the enum is `#[non_exhaustive]`. The word is what the file, JSON and the command line show. `EVERY`
/// lists the variants as they are declared.
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        $shown:vis enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)*
        }
        $reads:vis fn from_word;
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        $shown enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            pub(crate) const EVERY: [Self; [$($word),*].len()] = [$(Self::$variant,)*];

            /// Returns the variant's word, as in the file and in JSON.
            $shown const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Returns the variant with this word; `None` if there is none.
            $reads fn from_word(word: &str) -> Option<Self> {
                Self::EVERY.into_iter().find(|each| each.as_str() == word)
            }
        }
    };
}

pub(crate) use word_enum;

#[cfg(test)]
mod tests {
    use std::fs;

    use serde::Serialize;

    use crate::model::{
        anchor::{Attribute, Cardinality, Stance},
        critical::CriticalRule,
        edge::{EdgeStatus, EdgeType},
        episode::EpisodeRole,
        job::{JobKind, JobState},
        memory::words::{
            Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, Outcome, Resurfacing,
            TaskType, Volatility,
        },
        profile::{Profile, Weights},
        receipt::{ItemKind, ItemOutcome, PackedAs},
        review::Decision,
        session::EndReason,
        summary::Original,
        tier::{MemoryTier, MoveReason},
        turn::Origin,
    };

    fn read(path: &str) -> String {
        fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    /// Returns the words as they are in JSON.
    fn words<T: Serialize>(every: &[T]) -> Vec<String> {
        every.iter().map(|each| serde_json::to_value(each).unwrap().as_str().unwrap().to_owned()).collect()
    }

    /// Returns every column that a migration restricts to certain words, with these words.
    fn checked_columns() -> Vec<(String, Vec<String>)> {
        let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
        let files = folder.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        let columns =
            |sql: String| sql.split("CHECK (").skip(1).filter_map(checked_column).collect::<Vec<_>>();
        files.flat_map(columns).collect()
    }

    /// Parses what follows `CHECK (`, on one line or several.
    fn checked_column(check: &str) -> Option<(String, Vec<String>)> {
        let (column, rest) = check.split_once(" IN (")?;
        let is_name = column.chars().all(|c| c == '_' || c.is_ascii_lowercase());
        let word = |word: &str| Some(word.trim().strip_prefix('\'')?.strip_suffix('\'')?.to_owned());
        let words = rest.split_once(')')?.0.split(',').map(word).collect::<Option<_>>();
        words.filter(|_| is_name).map(|words| (column.to_owned(), words))
    }

    #[test]
    fn columns_are_held_to_the_words_of_their_enums() {
        let columns = checked_columns();
        assert!(columns.len() >= 29, "{columns:?}");
        for (column, held_to) in columns {
            let expected = match column.as_str() {
                "end_reason" => words(&EndReason::EVERY),
                "memory_tier" | "from_tier" | "to_tier" => words(&MemoryTier::EVERY),
                "state" => words(&JobState::EVERY),
                "original" => words(&Original::EVERY),
                "stance" => words(&Stance::EVERY),
                "cardinality" => words(&[Cardinality::One, Cardinality::Many]),
                "source_kind" if held_to.len() == 2 => words(&["turn", "caller"]),
                "source_kind" => words(&["turn", "memory", "caller", "import"]),
                "kind" if held_to.len() == 2 => words(&["tag", "entity"]),
                "kind" if held_to.len() == 3 => words(&ItemKind::EVERY[..3]), // Of a dropped table.
                "kind" => words(&MemoryKind::EVERY),
                "status" if held_to.len() == 2 => words(&EdgeStatus::EVERY),
                "status" => words(&MemoryStatus::EVERY),
                "frequency" => words(&Frequency::EVERY),
                "information_type" => words(&InformationType::EVERY),
                "volatility" => words(&Volatility::EVERY),
                "origin" | "recorded_by" => words(&Origin::EVERY),
                "learning_source" => words(&LearningSource::EVERY),
                "task_type" => words(&TaskType::EVERY),
                "resurfacing" => words(&Resurfacing::EVERY),
                "type" => words(&EdgeType::EVERY),
                "decision" => words(&Decision::EVERY),
                "role" => words(&EpisodeRole::EVERY[..3]), // V22 adds the last.
                "outcome" => words(&Outcome::EVERY),
                _ => panic!("say here what the words of {column} are"),
            };
            assert_eq!(held_to, expected, "{column}");
        }
    }

    #[track_caller]
    fn check_names(document: &str, words: &[String]) {
        let text = read(document);
        let named: Vec<&str> = text.split(|c: char| c != '_' && !c.is_ascii_alphabetic()).collect();
        let missing: Vec<_> = words.iter().filter(|word| !named.contains(&word.as_str())).collect();
        assert!(missing.is_empty(), "{document} does not name {missing:?}");
    }

    #[test]
    fn documents_name_every_word() {
        check_names("sql/jobs.sql", &words(&JobKind::EVERY));
        check_names("crates/thermocline-cli/src/cli.rs", &words(&JobKind::EVERY));
        check_names("sql/why_critical.sql", &words(&CriticalRule::EVERY));
        check_names("sql/why_it_moved.sql", &words(&MoveReason::EVERY));
        check_names("sql/why_recalled.sql", &words(&ItemKind::EVERY));
        check_names("sql/why_recalled.sql", &words(&ItemOutcome::EVERY));
        check_names("sql/why_recalled.sql", &words(&PackedAs::EVERY));
        let custom = Profile::Custom(Weights::default());
        let profiles = [Profile::Default, Profile::paper(), Profile::Recency, custom, Profile::Continuum];
        check_names("sql/receipts.sql", &profiles.map(|profile| profile.as_str().to_owned()));
        check_names("ARCHITECTURE.md", &words(&MoveReason::EVERY));
        check_names("ARCHITECTURE.md", &words(&Attribute::EVERY));
        check_names("ARCHITECTURE.md", &words(&Origin::EVERY));
    }
}
