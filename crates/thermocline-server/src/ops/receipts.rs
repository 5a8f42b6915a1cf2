//! Receipts: why a recall or a context returned what it did.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{Receipt, ReceiptId, ReceiptWithTexts};

use crate::ops::{
    Operation, Result, Row,
    call::{self, Call},
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Route, Spec, Tool},
};

/// The maximum number of a user's receipts that a list goes through.
const MOST: u32 = 100_000;
/// The value of `receipt` that selects the newest one.
const LAST: &str = "last";

/// Returns the receipt operations.
pub fn rows() -> Vec<Row> {
    vec![row::<ReceiptList>(), row::<ReceiptShow>()]
}

/// Which page of the user's receipts to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiptListRequest {
    /// Maximum number of receipts, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Where a page of receipts begins: after the receipt `last`, which was about number `seen` of the list.
#[derive(Clone, Copy, Debug)]
struct ReceiptCursor {
    seen: u32,
    last: ReceiptId,
}

impl FromStr for ReceiptCursor {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (seen, last) = text.split_once(' ').ok_or(())?;
        Ok(Self { seen: seen.parse().map_err(|_| ())?, last: last.parse().map_err(|_| ())? })
    }
}

impl std::fmt::Display for ReceiptCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.seen, self.last)
    }
}

/// Lists receipts.
#[derive(Debug)]
pub struct ReceiptList;

impl Operation for ReceiptList {
    const SPEC: Spec = Spec::reads(
        "receipt_list",
        "The receipts of recalls and contexts, newest first, without their items.",
        Route::get("/v1/users/{user}/receipts"),
    );
    type Request = ReceiptListRequest;
    type Response = Page<Receipt>;

    fn run(call: Call, request: ReceiptListRequest) -> Result<Page<Receipt>> {
        let asked: PageRequest<ReceiptCursor> =
            PageRequest::new("receipt_list", request.limit, request.cursor.as_ref())?;
        let user = call.user()?;
        let Some(after) = asked.after else {
            let receipts = user.receipts(asked.to_read())?;
            let limit = asked.to_read() - 1;
            return Ok(asked.page(receipts, |receipt| ReceiptCursor { seen: limit, last: receipt.id }));
        };
        // New receipts since the last page have moved its last receipt further down the list.
        let reach = after.seen.saturating_mul(2).saturating_add(asked.to_read() + 1_000).min(MOST);
        let mut receipts = user.receipts(reach)?;
        let at = receipts
            .iter()
            .position(|receipt| receipt.id == after.last)
            .ok_or_else(PageRequest::<ReceiptCursor>::gone)?;
        receipts.drain(..=at);
        receipts.truncate(asked.to_read() as usize);
        let seen = u32::try_from(at).unwrap_or(MOST).saturating_add(asked.to_read());
        Ok(asked.page(receipts, |receipt| ReceiptCursor { seen, last: receipt.id }))
    }
}

/// Names a receipt.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfReceipt {
    /// The receipt's id, or `last`.
    pub receipt: String,
}

/// A receipt, and its explanation in words.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The receipt. For each item that can still be read, it says where the item is and how it begins.
    pub receipt: ReceiptWithTexts,
    /// The explanation, in words, for people.
    pub text: String,
}

/// Shows a receipt.
#[derive(Debug)]
pub struct ReceiptShow;

impl Operation for ReceiptShow {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_why", title: "Why" }),
        ..Spec::reads(
            "receipt_show",
            "Why a recall or context showed what it did: all candidates, scores, what was left out and why.",
            Route::get("/v1/users/{user}/receipts/{receipt}"),
        )
    };
    type Request = OfReceipt;
    type Response = Explained;

    fn run(call: Call, request: OfReceipt) -> Result<Explained> {
        let user = call.user()?;
        let id = match request.receipt.as_str() {
            LAST => user.receipts(1)?.first().ok_or_else(call::not_found)?.id,
            id => id.parse()?,
        };
        let receipt = user.receipt_with_texts(id)?;
        let text = receipt.explain();
        Ok(Explained { receipt, text })
    }
}
