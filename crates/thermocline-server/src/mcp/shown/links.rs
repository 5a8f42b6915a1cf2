//! Links of the pages about memories: they lead to files of a vault, and to resources where there is none.

use std::fmt::Write as _;

/// Digits of a memory's id at the end of its file's name.
const DIGITS: usize = 6;

/// A page with `[Berth](memory://memories/mem_9e3b42)` in the place of `[Berth](graph/decisions/berth-9e3b42.md)`: what it leads
/// to can be read as a resource, and ends with a name that every tool takes. In the page no title has a bracket.
pub(in super::super) fn followed(page: &str) -> String {
    let mut parts = page.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let link = part.split_once(')').and_then(|(path, rest)| Some((digits(path)?, rest)));
        // To a String, which takes all.
        let _ = match link {
            Some((digits, rest)) => write!(text, "](memory://memories/mem_{digits}){rest}"),
            None => write!(text, "]({part}"),
        };
    }
    text
}

/// The end of the id of the memory whose file this is.
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
