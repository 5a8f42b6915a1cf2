//! Recall: what was said is found, wherever it is by now, with a score that can be recomputed, or the answer says what was
//! missing. The texts in these tests are made from lists of words.

mod context;
mod degradation;
pub mod embedders;
mod erasing;
mod filters;
mod fuzz;
mod isolation;
mod memories;
mod memories_graph;
mod messages;
mod models;
mod no_gap;
mod planning;
mod profiles;
mod queries;
mod receipt_texts;
mod receipts;
mod reranking;
mod same_answers;
mod teaching;
mod times;
mod uses;

pub use models::{child_embeds, child_recalls};

use chrono::{DateTime, TimeDelta, Utc};
use thermocline::{
    NewTurn, Parts, Profile, Recall, RecallOptions, Recalled, RecalledItem,
    blocking::{Session, User},
};

use crate::support::at;

const WHO: [&str; 11] = [
    "My sister",
    "The neighbour",
    "Our teacher",
    "Grandfather",
    "The plumber",
    "My boss",
    "Aunt Wilma",
    "The gardener",
    "A colleague",
    "The ferryman",
    "My cousin",
];
const DID: [&str; 13] = [
    "repaired",
    "painted",
    "sold",
    "lost",
    "borrowed",
    "photographed",
    "cleaned",
    "bought",
    "hid",
    "measured",
    "admired",
    "carried",
    "sketched",
];
const WHAT: [&str; 17] = [
    "bicycle",
    "violin",
    "greenhouse",
    "telescope",
    "canoe",
    "typewriter",
    "accordion",
    "beehive",
    "kayak",
    "loom",
    "sundial",
    "weathervane",
    "harmonium",
    "wheelbarrow",
    "chandelier",
    "lighthouse",
    "trampoline",
];
const WHERE: [&str; 7] = [
    "in Porto",
    "near Tallinn",
    "behind the mill",
    "on the island",
    "at the station",
    "under the bridge",
    "in Valdivia",
];
const MORE: [&str; 5] = [
    "It took the whole afternoon, and in the end everybody was content with how it had turned out.",
    "Nobody had expected that, least of all the people who were standing around and giving advice.",
    "There was soup afterwards, with dark bread and far too much pepper for the younger ones.",
    "The weather held until the evening, when a short storm drove all of us back into the kitchen.",
    "I wrote it down in the blue notebook so that the date would not be forgotten again.",
];

/// Returns the n-th story; no two of the first 17,017 are equal. Every third is long enough to be summarized.
pub fn story(n: usize) -> NewTurn {
    let what = WHAT[n % WHAT.len()];
    let mut user =
        format!("{} {} the {what} {}.", WHO[n % WHO.len()], DID[n % DID.len()], WHERE[n % WHERE.len()]);
    if n.is_multiple_of(3) {
        for at in 0..4 {
            user.push(' ');
            user.push_str(MORE[(n + at) % MORE.len()]);
        }
    }
    let reply = format!("So the {what} is number {n} on the list.");
    let said_at = start() + TimeDelta::hours(8 * i64::try_from(n).unwrap());
    NewTurn::new(user, reply).said_at(said_at).caller_id(format!("s{n}"))
}

/// Returns when the first story was told; each follows eight hours after the previous one.
pub fn start() -> DateTime<Utc> {
    at("2025-09-01T09:00:00Z")
}

/// Tells stories.
pub fn tell(session: &Session, stories: impl IntoIterator<Item = usize>) {
    for n in stories {
        session.record(story(n)).unwrap();
    }
}

/// Tells the first `count` stories, 25 per session, and ends all sessions but the last.
pub fn tell_all(user: &User, count: usize) {
    for (number, first) in (0..count).step_by(25).enumerate() {
        let session = user.session_named(&format!("talk {number}")).unwrap();
        tell(&session, first..count.min(first + 25));
        if first + 25 < count {
            session.end().unwrap();
        }
    }
}

/// Questions of all kinds about the stories.
pub const QUESTIONS: &[&str] = &[
    "Who repaired the violin?",
    "What did the ferryman carry near Tallinn?",
    "What happened behind the mill in October?",
    "telescope",
    "How was the soup, and who liked the pepper?",
    "number 77 on the list",
    "What did we talk about last week?",
    "boats and other things that swim",
    "Did my sister ever sell the chandelier or the lighthouse in Valdivia, and what did the neighbour say?",
    "something that nobody ever said: quetzalcoatlus",
    "",
];

/// Returns the time at which the questions are asked.
pub fn asked_at() -> DateTime<Utc> {
    at("2025-12-12T12:00:00Z")
}

pub fn options() -> RecallOptions {
    RecallOptions::default().now(asked_at())
}

/// Recalls, and checks that nothing was missing.
#[track_caller]
pub fn recall(user: &User, query: &str) -> Recall {
    let recall = user.recall(query, options()).unwrap();
    assert_eq!(recall.missing, Vec::<String>::new(), "{query:?}");
    recall
}

/// Returns a line for each result: what it is, its score, and the parts of the score. Random ids are omitted.
pub fn lines(recall: &Recall) -> Vec<String> {
    recall.items.iter().map(line).collect()
}

fn line(recalled: &Recalled) -> String {
    let what = match &recalled.item {
        RecalledItem::Turn(turn) => format!("turn {}", turn.caller_id.as_deref().unwrap_or("?")),
        RecalledItem::Summary { caller_id, .. } => format!("summary {}", caller_id.as_deref().unwrap_or("?")),
        RecalledItem::Anchor(anchor) => format!("anchor {} {}", anchor.key(), anchor.value),
        other => panic!("{other:?}"),
    };
    format!("{what} {:?} {}", recalled.score, serde_json::to_string(&recalled.parts).unwrap())
}

/// Returns the answers to all questions.
#[track_caller]
pub fn answers(user: &User) -> Vec<(String, Vec<String>)> {
    let answer = |query: &&str| ((*query).to_owned(), lines(&recall(user, query)));
    QUESTIONS.iter().map(answer).collect()
}

/// Returns the callers' ids of the turns and summaries, best first.
pub fn ids(recall: &Recall) -> Vec<String> {
    let id = |recalled: &Recalled| match &recalled.item {
        RecalledItem::Turn(turn) => turn.caller_id.clone(),
        RecalledItem::Summary { caller_id, .. } => caller_id.clone(),
        _ => None,
    };
    recall.items.iter().filter_map(id).collect()
}

/// Returns the result to which the caller gave this id, if words of the query found it, not only meaning or neighbours.
pub fn found_by_words<'a>(recall: &'a Recall, id: &str) -> Option<&'a Recalled> {
    let found = recall.items.iter().zip(ids(recall)).find(|(_, of)| of == id)?.0;
    (found.parts.words > 0.0).then_some(found)
}

/// Checks that every score follows from its parts.
#[track_caller]
pub fn check_scores(recall: &Recall, profile: &Profile) {
    for recalled in &recall.items {
        let worked_out = match &recalled.item {
            RecalledItem::Anchor(_) => recalled.parts.anchors,
            _ => Parts::score(&recalled.parts, profile),
        };
        assert!((worked_out - recalled.score).abs() < 1e-12, "{worked_out}: {recalled:?}");
    }
    assert!(recall.items.is_sorted_by(|a, b| a.score >= b.score), "best first");
}
