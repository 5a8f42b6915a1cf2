//! `thermocline anchor`: facts about who the user is, with their evidence; a person can set and retract them.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;
use thermocline::{Anchor, AnchorId, Attribute, Evidence, blocking::User};

use crate::{
    args::{AnchorListArgs, AnchorRetractArgs, AnchorSetArgs, AnchorShowArgs},
    exit::Failure,
    find::{self, Db},
    output::Output,
    pages, places, plain,
};

/// An anchor, with its key and its state in the words of the view `v_anchors`.
#[derive(Debug, Serialize)]
struct ShownAnchor {
    key: String,
    state: &'static str,
    #[serde(flatten)]
    anchor: Anchor,
}

/// An anchor that was set or retracted, and the anchors that now hold under its key.
#[derive(Debug, Serialize)]
struct ChangedAnchor {
    anchor: ShownAnchor,
    current: Vec<ShownAnchor>,
}

/// How the command line names anchors.
enum AnchorNaming<'a> {
    Id(AnchorId),
    Key { subject: &'a str, attribute: Attribute, value: Option<&'a str> },
}

pub(crate) fn list(db: &Db, args: &AnchorListArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let mut anchors = pages::anchors_after(&find::user(&memory, &args.user)?, args.after)?;
    if let Some(subject) = &args.subject {
        anchors.retain(|anchor| anchor.is_about(subject));
    }
    anchors.retain(|anchor| args.all || anchor.is_current());
    anchors.truncate(args.limit.limit.map_or(usize::MAX, |limit| limit as usize));
    if anchors.is_empty() && !out.is_json() {
        out.talk(if args.all { "no anchor is known" } else { "no anchor is current; --all shows past ones" });
        return Ok(());
    }
    let anchors: Vec<ShownAnchor> = anchors.into_iter().map(shown).collect();
    out.answer(&anchors, |anchors| listed(anchors, args.all))
}

pub(crate) fn show(db: &Db, args: &AnchorShowArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    let anchors: Vec<ShownAnchor> = matching(&user, &args.anchor)?.into_iter().map(shown).collect();
    if anchors.is_empty() {
        return Err(no_anchor());
    }
    let mut places: Vec<Vec<String>> = Vec::new();
    if !out.is_json() {
        for anchor in &anchors {
            places.push(anchor.anchor.evidence.iter().map(|of| place(&user, of)).collect::<Result<_, _>>()?);
        }
    }
    out.answer(&anchors, |anchors| {
        let whole: Vec<String> = anchors.iter().zip(&places).map(|(of, places)| whole(of, places)).collect();
        whole.join("\n")
    })
}

pub(crate) fn set(db: &Db, args: &AnchorSetArgs, out: &Output) -> Result<(), Failure> {
    let (subject, attribute) = key(&args.key)?;
    let memory = find::writable(db)?;
    let user = find::user(&memory, &args.user)?;
    let id = user.set_anchor(subject, attribute, &args.value)?;
    out.answer(&changed(&user, id)?, |changed| format!("set\n{}", listed(&changed.current, false)))
}

pub(crate) fn retract(db: &Db, args: &AnchorRetractArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable(db)?;
    let user = find::user(&memory, &args.user)?;
    let mut anchors = matching(&user, &args.anchor)?;
    // An id selects exactly this anchor; a key selects the anchors that hold under it.
    if args.anchor.parse::<AnchorId>().is_err() {
        anchors.retain(Anchor::is_current);
    }
    let id = match anchors.as_slice() {
        [] => return Err(no_anchor()),
        [one] => one.id,
        several => return Err(ambiguous(several)),
    };
    user.retract_anchor(id)?;
    out.answer(&changed(&user, id)?, |changed| match changed.current.as_slice() {
        [] => "retracted; this key has no current value\n".to_owned(),
        current => format!("retracted; current under this key:\n{}", listed(current, false)),
    })
}

/// Returns the user's anchors with this name, current ones before past ones.
fn matching(user: &User, name: &str) -> Result<Vec<Anchor>, Failure> {
    let named = named(name)?;
    let is_meant = |anchor: &Anchor| match &named {
        AnchorNaming::Id(id) => anchor.id == *id,
        AnchorNaming::Key { subject, attribute, value } => {
            anchor.attribute == *attribute
                && anchor.is_about(subject)
                && value.is_none_or(|value| anchor.has_value(value))
        }
    };
    let mut anchors: Vec<Anchor> = pages::anchors(user)?.into_iter().filter(is_meant).collect();
    anchors.sort_by_key(|anchor| (!anchor.is_current(), std::cmp::Reverse(anchor.valid_from)));
    Ok(anchors)
}

fn named(name: &str) -> Result<AnchorNaming<'_>, Failure> {
    if let Ok(id) = name.parse() {
        return Ok(AnchorNaming::Id(id));
    }
    let (key_part, value) = match name.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (name, None),
    };
    let (subject, attribute) = key(key_part)?;
    Ok(AnchorNaming::Key { subject, attribute, value })
}

/// Parses a key such as `user.name`. A subject may contain dots, an attribute may not.
fn key(text: &str) -> Result<(&str, Attribute), Failure> {
    let Some((subject, attribute)) = text.rsplit_once('.') else {
        return Err(Failure::refused("expected an anchor's id or SUBJECT.ATTRIBUTE, like user.name"));
    };
    let Some(attribute) = Attribute::from_word(&attribute.trim().to_lowercase()) else {
        let known: Vec<&str> = Attribute::ALL.iter().map(|attribute| attribute.as_str()).collect();
        return Err(Failure::refused(format!(
            "there is no such attribute; the attributes are {}",
            known.join(", ")
        )));
    };
    Ok((subject, attribute))
}

fn no_anchor() -> Failure {
    Failure::not_found("this user has no such anchor; anchor list shows them, with --all past ones too")
}

/// Lists the ids of the candidates, and not their values, because those are what users said.
fn ambiguous(anchors: &[Anchor]) -> Failure {
    let ids: Vec<String> = anchors.iter().map(|anchor| anchor.id.to_string()).collect();
    Failure::refused(format!(
        "{} anchors match this name; add =VALUE, or name one by its id: {}",
        ids.len(),
        ids.join(", ")
    ))
}

fn shown(anchor: Anchor) -> ShownAnchor {
    ShownAnchor { key: anchor.key(), state: state(&anchor), anchor }
}

fn state(anchor: &Anchor) -> &'static str {
    match anchor {
        anchor if anchor.retracted_at.is_some() => "retracted",
        anchor if anchor.superseded_by.is_some() => "superseded",
        anchor if anchor.contests.is_some() => "contested",
        anchor if anchor.valid_until.is_some() => "ended",
        _ => "holds",
    }
}

fn changed(user: &User, id: AnchorId) -> Result<ChangedAnchor, Failure> {
    let anchors = pages::anchors(user)?;
    let anchor = anchors.iter().find(|anchor| anchor.id == id).cloned().ok_or_else(no_anchor)?;
    let is_current = |other: &&Anchor| {
        other.is_current() && (&other.subject, other.attribute) == (&anchor.subject, anchor.attribute)
    };
    let current = anchors.iter().filter(is_current).cloned().map(shown).collect();
    Ok(ChangedAnchor { anchor: shown(anchor), current })
}

/// Returns a table of anchors; if `all`, with the state of past ones.
fn listed(anchors: &[ShownAnchor], all: bool) -> String {
    /// The maximum width of a column. Longer values are cut; longer keys make their line wider.
    const WIDEST: usize = 40;
    let key = |of: &ShownAnchor| plain::line(&of.key, usize::MAX);
    let value = |of: &ShownAnchor| plain::line(&of.anchor.value, WIDEST);
    let width = |cell: &dyn Fn(&ShownAnchor) -> String| {
        anchors.iter().map(|of| cell(of).chars().count()).max().unwrap_or(0).clamp(5, WIDEST)
    };
    let (keys, values) = (width(&key), width(&value));
    let mut text = format!("{:<keys$}  {:<values$}  {:>8}  {:<10}  ", "key", "value", "strength", "since");
    if all {
        let _ = write!(text, "{:<10}  {:<10}  ", "until", "state");
    }
    text += "id\n";
    for of in anchors {
        let anchor = &of.anchor;
        let _ = write!(
            text,
            "{:<keys$}  {:<values$}  {:>8.3}  {:<10}  ",
            key(of),
            value(of),
            anchor.strength,
            day(anchor.valid_from)
        );
        if all {
            let _ = write!(text, "{:<10}  {:<10}  ", until(anchor), of.state);
        }
        let _ = writeln!(text, "{}", anchor.id);
    }
    text
}

fn day(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d").to_string()
}

/// Returns the day on which the fact ceased to hold or was retracted.
fn until(anchor: &Anchor) -> String {
    anchor.valid_until.or(anchor.retracted_at).map(day).unwrap_or_default()
}

/// Returns an anchor with its evidence, as text.
fn whole(of: &ShownAnchor, places: &[String]) -> String {
    let anchor = &of.anchor;
    let mut text = format!(
        "{} = {}\nid          {}\nstate       {}\nstrength    {:.3}\nsince       {}\n",
        plain::line(&of.key, usize::MAX),
        plain::line(&anchor.value, usize::MAX),
        anchor.id,
        of.state,
        anchor.strength,
        day(anchor.valid_from),
    );
    for (what, is) in [
        ("until", anchor.valid_until.map(day)),
        ("superseded", anchor.superseded_by.map(|by| format!("by {by}"))),
        ("retracted", anchor.retracted_at.map(day)),
    ] {
        if let Some(is) = is {
            let _ = writeln!(text, "{what:<10}  {is}");
        }
    }
    text += "evidence\n";
    for (evidence, place) in anchor.evidence.iter().zip(places) {
        let _ = write!(text, "  {}  {}  {place}", day(evidence.said_at), evidence.stance.as_str());
        match plain::line(&evidence.quote, usize::MAX).as_str() {
            "" => text.push('\n'),
            quote => {
                let _ = writeln!(text, "\n    \"{quote}\"");
            }
        }
    }
    text
}

/// Returns the place of the evidence, in the form that `turn show` accepts, and who found it.
fn place(user: &User, evidence: &Evidence) -> Result<String, Failure> {
    let Some(id) = evidence.turn_id else { return Ok("set by hand".to_owned()) };
    let by = plain::line(&evidence.made_by, 40);
    Ok(format!("{}, found by {by}", places::of_turn(user, id)?))
}
