//! Anchors: facts about the user, and about others who speak in the user's sessions.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Anchor, AnchorId, Attribute};

use crate::ops::{
    MaybeNew, Operation, OperationOutcome, Result, Row,
    call::Call,
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Replaces, Route, Spec, Tool},
};

/// Returns the anchor operations.
pub fn rows() -> Vec<Row> {
    vec![
        row::<AnchorList>(),
        row::<AnchorShow>(),
        row::<AnchorSet>(),
        row::<AnchorReplace>(),
        row::<AnchorRetract>(),
    ]
}

/// Names an anchor.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfAnchor {
    /// The anchor's id.
    pub anchor: AnchorId,
}

/// Asks for a page of the user's anchors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnchorListRequest {
    /// Maximum number of anchors, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists anchors.
#[derive(Debug)]
pub struct AnchorList;

impl Operation for AnchorList {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_facts", title: "Facts" }),
        ..Spec::reads(
            "anchor_list",
            "Every fact about the user and those who speak with them, current and past, with evidence.",
            Route::get("/v1/users/{user}/anchors"),
        )
    };
    type Request = AnchorListRequest;
    type Response = Page<Anchor>;

    fn run(call: Call, request: AnchorListRequest) -> Result<Page<Anchor>> {
        let asked: PageRequest<AnchorId> =
            PageRequest::new("anchor_list", request.limit, request.cursor.as_ref())?;
        let anchors = call.user()?.anchors(asked.after, asked.to_read());
        Ok(asked.page(anchors.map_err(|error| asked.failed(error))?, |anchor| anchor.id))
    }
}

/// Shows an anchor.
#[derive(Debug)]
pub struct AnchorShow;

impl Operation for AnchorShow {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_fact", title: "A fact" }),
        ..Spec::reads(
            "anchor_show",
            "One fact with its evidence, quotes and history.",
            Route::get("/v1/users/{user}/anchors/{anchor}"),
        )
    };
    type Request = OfAnchor;
    type Response = Anchor;

    fn run(call: Call, request: OfAnchor) -> Result<Anchor> {
        Ok(call.user()?.anchor(request.anchor)?)
    }
}

/// A fact to set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnchorSetRequest {
    /// The subject of the fact: `user`, `assistant`, or a name of at most 256 bytes. Default: user.
    pub subject: Option<String>,
    /// The kind of fact.
    pub attribute: Attribute,
    /// The value, at most 256 bytes: a name, a place or a thing; a sentence only for `note`.
    #[schemars(length(min = 1))]
    pub value: String,
}

/// Sets an anchor.
#[derive(Debug)]
pub struct AnchorSet;

impl Operation for AnchorSet {
    const SPEC: Spec = Spec {
        replaces: Replaces::Something,
        ..Spec::adds(
            "anchor_set",
            "Set a fact by hand; if its attribute has one value, it supersedes the current one, which is kept.",
            Route::post("/v1/users/{user}/anchors"),
        )
    };
    type Request = AnchorSetRequest;
    type Response = MaybeNew<Anchor>;

    fn run(call: Call, request: AnchorSetRequest) -> Result<MaybeNew<Anchor>> {
        call.check_may_state()?;
        let subject = request.subject.as_deref().unwrap_or("user");
        Anchor::check(subject, &request.value)?;
        let user = call.user_or_new()?;
        let stated = user.set_anchor_by(subject, request.attribute, &request.value, &call.made_by())?;
        Ok(MaybeNew { value: user.anchor(stated.id)?, is_new: stated.is_new })
    }

    fn outcome(set: &MaybeNew<Anchor>) -> OperationOutcome {
        set.outcome()
    }
}

/// An anchor, and its new value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnchorReplaceRequest {
    /// The anchor's id.
    pub anchor: AnchorId,
    /// The new value, at most 256 bytes.
    #[schemars(length(min = 1))]
    pub value: String,
}

/// Replaces the value of an anchor that holds.
#[derive(Debug)]
pub struct AnchorReplace;

impl Operation for AnchorReplace {
    const SPEC: Spec = Spec::changes(
        "anchor_replace",
        "Correct the value of one current fact; the old one is kept with its dates.",
        Route::put("/v1/users/{user}/anchors/{anchor}"),
    );
    type Request = AnchorReplaceRequest;
    type Response = Anchor;

    fn run(call: Call, request: AnchorReplaceRequest) -> Result<Anchor> {
        call.check_may_state()?;
        let user = call.user()?;
        let id = user.replace_anchor(request.anchor, &request.value, &call.made_by())?;
        Ok(user.anchor(id)?)
    }
}

/// Retracts an anchor.
#[derive(Debug)]
pub struct AnchorRetract;

impl Operation for AnchorRetract {
    const SPEC: Spec = Spec::changes(
        "anchor_retract",
        "Retract one fact: what it had superseded holds again, and it can be set again.",
        Route::delete("/v1/users/{user}/anchors/{anchor}"),
    );
    type Request = OfAnchor;
    type Response = Anchor;

    fn run(call: Call, request: OfAnchor) -> Result<Anchor> {
        call.check_may_state()?;
        let user = call.user()?;
        user.retract_anchor(request.anchor)?;
        Ok(user.anchor(request.anchor)?)
    }
}
