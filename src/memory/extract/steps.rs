//! Finds the steps of a procedure in a reply: a numbered list.

use crate::english::{
    lists::{List, list, spaced},
    sentences::{Setting, sentences},
};

/// Words that introduce a list of choices rather than of steps.
static CHOICES: List = list!("choices");

/// Fewer steps are not a procedure.
const LEAST: usize = 3;
/// More are a list of things.
const MOST: usize = 20;
/// A longer step is an essay.
const MAX_STEP_BYTES: usize = 600;

/// A numbered list, and the sentence before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) lead: Option<String>,
    pub(super) listed: Vec<String>,
    /// The list from its first number on, exactly as written.
    pub(super) text: String,
    /// The first step, exactly as written.
    pub(super) quote: String,
}

/// Returns the steps of a reply: its only numbered list of at least 3 steps, if that starts at 1, has no gaps and has at
/// most 20 steps. A reply with a second such list offers alternatives, and nobody knows which one worked.
pub(super) fn steps(reply: &str) -> Option<Steps> {
    let (mut lists, mut lead_end): (Vec<Vec<String>>, _) = (Vec::new(), 0);
    let mut is_code = false;
    for line in reply.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let Some((number, step)) = numbered(trimmed).filter(|_| !is_code && indent < 3) else { continue };
        if number == 1 {
            if lists.is_empty() {
                lead_end = line.as_ptr() as usize - reply.as_ptr() as usize;
            }
            lists.push(Vec::new());
        }
        match lists.last_mut() {
            Some(list) if list.len() + 1 == number => list.push(plain(step)),
            _ => return None,
        }
    }
    lists.retain(|list| list.len() >= LEAST);
    let [steps] = &lists[..] else { return None };
    let is_short = |step: &String| step.len() <= MAX_STEP_BYTES && !step.is_empty();
    if steps.len() > MOST || !steps.iter().all(is_short) {
        return None;
    }
    let before = sentences(&reply[..lead_end]);
    let lead = before.last().filter(|last| last.setting != Setting::Quoted).map(|last| plain(last.text));
    if lead.as_ref().is_some_and(|lead| spaced(lead).split(' ').any(|word| CHOICES.contains(word))) {
        return None;
    }
    let text = &reply[lead_end..];
    let quote = text.lines().next().and_then(|line| numbered(line.trim())).map_or("", |(_, step)| step);
    Some(Steps { lead, listed: steps.clone(), text: text.to_owned(), quote: quote.to_owned() })
}

/// Splits a line such as `2. text` into its number and its text.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let digits = line.find(|c: char| !c.is_ascii_digit())?;
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    let step = rest.strip_prefix([' ', '\t'])?.trim();
    Some((line[..digits].parse().ok()?, step))
}

/// Removes bold markup.
fn plain(step: &str) -> String {
    step.replace("**", "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: Option<(&str, &[&str])>) {
        let found = steps(reply);
        let found = found.as_ref().map(|found| {
            let steps: Vec<&str> = found.listed.iter().map(String::as_str).collect();
            (found.lead.as_deref().unwrap_or_default(), steps)
        });
        assert_eq!(found, expected.map(|(lead, steps)| (lead, steps.to_vec())), "{reply:?}");
    }

    #[test]
    fn three_numbered_lines_are_steps_with_the_sentence_before_them() {
        check(
            "Sure. To bleed a radiator:\n\n1. **Shut** the pump\n2. Open the valve\n   - slowly\n3) Close it\n\nDone.",
            Some(("To bleed a radiator:", &["Shut the pump", "Open the valve", "Close it"])),
        );
        check("1. a\n2. b\n3. c", Some(("", &["a", "b", "c"])));
    }

    #[test]
    fn two_lines_two_lists_gaps_and_code_are_none() {
        for reply in [
            "1. a\n2. b",
            "1. a\n2. b\n3. c\n\nOr:\n1. d\n2. e\n3. f",
            "1. a\n3. b\n4. c",
            "```\n1. a\n2. b\n3. c\n```",
            "- a\n- b\n- c",
            "In 2024. we met",
            "Here are some ideas:\n1. a\n2. b\n3. c",
        ] {
            check(reply, None);
        }
    }
}
