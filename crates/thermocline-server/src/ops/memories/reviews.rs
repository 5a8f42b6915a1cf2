//! Reviews: questions about memories, which a person decides. There is no MCP tool for that, so that no model can decide.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Decided, Decision, Review, ReviewFilter, ReviewId, ReviewKind};

use crate::ops::{
    Operation, Result, Row,
    call::{Call, set},
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Again, Route, Spec},
};

pub(super) fn rows() -> Vec<Row> {
    vec![row::<ReviewList>(), row::<ReviewShow>(), row::<ReviewDecide>()]
}

/// Selects reviews; all conditions must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewListRequest {
    /// Only reviews of this kind. Default: any.
    pub kind: Option<ReviewKind>,
    /// Whether to list decided and withdrawn reviews instead of open ones. Default: no.
    #[serde(default)]
    pub decided: bool,
    /// Maximum number of reviews, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists reviews.
#[derive(Debug)]
pub struct ReviewList;

impl Operation for ReviewList {
    const SPEC: Spec = Spec::reads(
        "review_list",
        "The questions about memories that wait for a person, oldest first.",
        Route::get("/v1/users/{user}/reviews"),
    );
    type Request = ReviewListRequest;
    type Response = Page<Review>;

    fn run(call: Call, request: ReviewListRequest) -> Result<Page<Review>> {
        let asked: PageRequest<ReviewId> =
            PageRequest::new("review_list", request.limit, request.cursor.as_ref())?;
        let filter = ReviewFilter::default().decided(request.decided);
        let filter = set(filter, request.kind, |filter, kind| filter.kinds([kind]));
        let reviews = call.memories()?.reviews(filter, asked.after, asked.to_read());
        Ok(asked.page(reviews.map_err(|error| asked.failed(error))?, |review| review.id))
    }
}

/// Names a review.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfReview {
    /// The review's id.
    pub review: ReviewId,
}

/// Shows a review.
#[derive(Debug)]
pub struct ReviewShow;

impl Operation for ReviewShow {
    const SPEC: Spec = Spec::reads(
        "review_show",
        "One question about a memory, open or decided.",
        Route::get("/v1/users/{user}/reviews/{review}"),
    );
    type Request = OfReview;
    type Response = Review;

    fn run(call: Call, request: OfReview) -> Result<Review> {
        Ok(call.memories()?.review(request.review)?)
    }
}

/// A person's decision.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideRequest {
    /// The review's id.
    pub review: ReviewId,
    /// `approved` or `rejected`.
    pub decision: Decision,
    /// The name of the person who decides, at most 256 bytes.
    #[schemars(length(min = 1))]
    pub by: String,
}

/// Decides a review.
#[derive(Debug)]
pub struct ReviewDecide;

impl Operation for ReviewDecide {
    const SPEC: Spec = Spec {
        again: Again::Another,
        ..Spec::changes(
            "review_decide",
            "Decide a question about a memory, once, as a person: needs a key with the origin user.",
            Route::post("/v1/users/{user}/reviews/{review}/decide"),
        )
    };
    type Request = DecideRequest;
    type Response = Decided;

    fn run(call: Call, request: DecideRequest) -> Result<Decided> {
        Ok(call.memories()?.decide(request.review, request.decision, &request.by)?)
    }
}
