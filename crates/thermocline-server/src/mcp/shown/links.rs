//! Links in the pages about memories: they point to files of a vault, and are replaced by links to resources.

use std::fmt::Write as _;

/// The number of digits of a memory's id at the end of its file's name.
const DIGITS: usize = 6;

/// Replaces each link to a file, such as `[Berth](graph/decisions/berth-9e3b42.md)`, by one to a resource,
/// `[Berth](memory://memories/mem_9e3b42)`. A client can read the resource, and its URI ends with a name that every tool
/// accepts. Titles in the page contain no brackets.
pub(in super::super) fn followed(page: &str) -> String {
    let mut parts = page.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let link = part.split_once(')').and_then(|(path, rest)| Some((digits(path)?, rest)));
        // Writing to a `String` cannot fail.
        let _ = match link {
            Some((digits, rest)) => write!(text, "](memory://memories/mem_{digits}){rest}"),
            None => write!(text, "]({part}"),
        };
    }
    text
}

/// Returns the last digits of the id of the memory that this file belongs to.
fn digits(path: &str) -> Option<&str> {
    let (_, end) = path.strip_suffix(".md")?.rsplit_once('-')?;
    (end.len() == DIGITS && end.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_file_of_a_memory_leads_to_the_memory_and_others_stay() {
        for (page, expected) in [
            (
                "- [Berth](graph/decisions/berth-013f73.md) (boat)\n- [A (b) c](vault/a-b-c-9e3b42.md)\n",
                "- [Berth](memory://memories/mem_013f73) (boat)\n- [A (b) c](memory://memories/mem_9e3b42)\n",
            ),
            ("none [a] (b) [c](http://d/e-f.md) [g](h", "none [a] (b) [c](http://d/e-f.md) [g](h"),
            ("", ""),
        ] {
            assert_eq!(followed(page), expected);
        }
    }
}
