//! LLM#2's request to remember a turn: a marker in its reply, which marks the turn and is removed from the text.

use crate::model::turn::{NewTurn, Origin};

/// The longest run of blanks examined around a marker.
const GAP_BYTES: usize = 64;

impl NewTurn {
    /// Removes this marker from the reply and, if it was there, marks the turn. A reply by a tool, a document or the backend
    /// cannot mark a turn, and neither can a user's message.
    pub(crate) fn heeding(mut self, marker: Option<&str>) -> Self {
        let is_own = self.said.assistant_origin == Origin::Assistant;
        let marker = marker.filter(|_| is_own);
        if let Some(rest) = marker.and_then(|marker| without(&self.said.ai_response, marker)) {
            self.said.ai_response = rest;
            self.critical = true;
        }
        self
    }
}

/// Returns the text without the marker, wherever it occurs, and without the gap in the blanks around it. `None` if the text
/// does not contain it. The marker must not be empty, or begin or end with a blank.
fn without(text: &str, marker: &str) -> Option<String> {
    if !text.contains(marker) {
        return None;
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        kept.push(c);
        rest = &rest[c.len_utf8()..];
        // Checked after each character: removing one marker may form another.
        if kept.ends_with(marker) {
            kept.truncate(kept.len() - marker.len());
            rest = close(&mut kept, rest);
        }
    }
    Some(kept)
}

/// Closes the gap between what is kept and the rest: of the blanks on both sides, only those with more line breaks stay.
/// Returns the remaining rest.
fn close<'t>(kept: &mut String, rest: &'t str) -> &'t str {
    let near = kept.ceil_char_boundary(kept.len().saturating_sub(GAP_BYTES));
    let body = near + kept[near..].trim_end().len();
    let near = &rest[..rest.floor_char_boundary(GAP_BYTES)];
    let (right, behind) = rest.split_at(near.len() - near.trim_start().len());
    let left = &kept[body..];
    let lines = |blanks: &str| blanks.matches('\n').count();
    let closes = right.is_empty() && behind.starts_with(['.', ',', ';', ':', '!', '?', ')']);
    let gap = if body == 0 || behind.is_empty() || closes {
        ""
    } else if right.is_empty() || (!left.is_empty() && lines(left) > lines(right)) {
        left
    } else {
        right
    };
    let gap = gap.to_owned();
    kept.truncate(body);
    kept.push_str(&gap);
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "[[remember]]";

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = without(text, MARKER).expect("the marker is there");
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(without(&found, MARKER), None, "none is left");
    }

    #[test]
    fn a_marker_goes_with_the_hole_that_it_leaves() {
        check("[[remember]] Congratulations!", "Congratulations!");
        check("Congratulations! [[remember]]", "Congratulations!");
        check("Congratulations!\n\n[[remember]]\n", "Congratulations!");
        check("Sure. [[remember]] I will.", "Sure. I will.");
        check("Noted [[remember]].", "Noted.");
        check("Well [[remember]](so)", "Well (so)");
        check("One.\n[[remember]]\nTwo.", "One.\nTwo.");
        check("One.\n\n[[remember]] Two.", "One.\n\nTwo.");
        check("One:\n[[remember]]\n    let two;", "One:\n    let two;");
        check("re[[remember]]member", "remember");
        check("[[remember]]", "");
        check(" [[remember]]\n[[remember]] ", "");
        check("a [[remember]] [[remember]] b[[remember]]", "a b");
        check("黒[[remember]]猫", "黒猫");
    }

    #[test]
    fn what_is_left_around_a_marker_makes_up_no_other() {
        check("[[rem[[remember]]ember]] Yes.", "Yes.");
        check("[[rem[[rem[[remember]]ember]]ember]]", "");
        let many = format!("a{}{}b", "\n".repeat(200_000), "[[remember]]\n".repeat(20_000));
        assert!(without(&many, MARKER).unwrap().ends_with("\nb"));
    }

    #[test]
    fn only_what_llm_2_says_is_a_wish() {
        let turn = || NewTurn::new("[[remember]] this", "So [[remember]] it is.");
        let heard = turn().heeding(Some(MARKER));
        assert!(heard.critical);
        assert_eq!((&*heard.said.user_message, &*heard.said.ai_response), ("[[remember]] this", "So it is."));
        for said in [turn().heeding(None), turn().heeding(Some("[[keep]]"))] {
            assert_eq!((said.critical, said.said), (false, turn().said));
        }
        for origin in [Origin::User, Origin::Tool, Origin::Document, Origin::System] {
            let said = turn().assistant_origin(origin).heeding(Some(MARKER));
            assert!(!said.critical && said.said.ai_response == turn().said.ai_response, "{origin:?}");
        }
        assert!(NewTurn::new("a", "b").critical().heeding(Some(MARKER)).critical);
    }
}
