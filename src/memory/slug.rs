//! Computes where a memory's file is: from its kind, whether it is pinned, its title and its id.

use crate::{
    model::{ids::MemoryId, memory::words::MemoryKind},
    text::words::fold,
};

/// The maximum length of a title in a file name.
const MAX_BYTES: usize = 80;

/// Returns a title as part of a file name: letters and digits, folded, with single hyphens between words. A title without
/// any is `untitled`.
pub(crate) fn slug(title: &str) -> String {
    let folded = fold(title).to_lowercase();
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words {
        let hyphen = usize::from(!slug.is_empty());
        if slug.len() + hyphen + word.len() > MAX_BYTES {
            if slug.is_empty() {
                slug.push_str(&word[..word.floor_char_boundary(MAX_BYTES)]);
            }
            break;
        }
        if hyphen > 0 {
            slug.push('-');
        }
        slug.push_str(word);
    }
    if slug.is_empty() { "untitled".to_owned() } else { slug }
}

/// Returns the folder of a kind in `graph` (cognitive paper).
pub(crate) fn folder(kind: MemoryKind) -> &'static str {
    match kind {
        MemoryKind::Solution => "solutions",
        MemoryKind::Fix => "fixes",
        MemoryKind::Decision => "decisions",
        MemoryKind::Configuration => "configurations",
        MemoryKind::Problem => "problems",
        MemoryKind::Workflow => "workflows",
        MemoryKind::CodePattern => "code-patterns",
        MemoryKind::Error => "errors",
        MemoryKind::General => "general",
        MemoryKind::Procedure => "procedures",
        MemoryKind::Insight => "insights",
    }
}

/// Returns the path of a memory's file (cognitive paper). The last six digits of the id distinguish equal titles: the first
/// ones come from the clock.
pub(crate) fn path((kind, pinned): (MemoryKind, bool), title: &str, id: MemoryId) -> String {
    let digits = id.as_uuid().simple().to_string();
    let name = format!("{}-{}.md", slug(title), &digits[digits.len() - 6..]);
    if pinned { format!("vault/{name}") } else { format!("graph/{}/{name}", folder(kind)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(title: &str, expected: &str) {
        assert_eq!(slug(title), expected, "{title:?}");
    }

    #[test]
    fn a_title_is_words_and_hyphens() {
        check("Fixed Redis connection timeouts", "fixed-redis-connection-timeouts");
        check("  ../../etc/passwd\n", "etc-passwd");
        check("Café — déjà vu!", "cafe-deja-vu");
        check("日本語", "日本語");
        check("[]()`", "untitled");
        check(&"x".repeat(200), &"x".repeat(80));
        check(&format!("{} end", "word ".repeat(40)), &["word"; 16].join("-"));
    }

    #[test]
    fn a_path_names_kind_title_and_the_end_of_the_id() {
        let id: MemoryId = "mem_a1b2c3d4-e5f6-7890-abcd-ef1234567890".parse().unwrap();
        let title = "Fixed Redis connection timeouts";
        assert_eq!(
            path((MemoryKind::Solution, false), title, id),
            "graph/solutions/fixed-redis-connection-timeouts-567890.md"
        );
        assert_eq!(
            path((MemoryKind::Error, true), title, id),
            "vault/fixed-redis-connection-timeouts-567890.md"
        );
    }
}
