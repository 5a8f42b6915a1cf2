//! Rows of `recall_receipts`: what recalls considered; and of `promotions`: units that are warm in a session because they
//! were of use there.

use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeSeq as _};
use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::{MemoryId, ReceiptId},
        memory::recalled::MemoryFlags,
        place::{Seq, SessionNo},
        profile::{Parts, Profile, Weights},
        receipt::{
            ItemKind, ItemOutcome, MOST_PROMOTED, Newer, PackedAs, Receipt, ReceiptItem, SameSource,
            Understood,
        },
        stored_time::StoredTime,
        tier::MemoryTier,
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, missing, text, values},
    },
};

/// Writes a receipt. `at_hand` are the units to promote once its context was of use.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, receipt: &Receipt, at_hand: &[Seq]) -> Result<()> {
    let items: Vec<KeptItem> = receipt.items.iter().map(KeptItem::of).collect();
    sql.put(
        "INSERT INTO recall_receipts
           (user_no, session_no, id, asked_at, now, query, profile, weights, understood, missing, items, at_hand,
            budget_tokens, tokens, took_us)
         SELECT u.user_no, s.session_no, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
         FROM user_scopes AS u LEFT JOIN conversation_sessions AS s ON s.id = ?2 AND s.user_id = u.user_id
         WHERE u.user_no = ?1",
        values![
            scope.user_no,
            receipt.session_id,
            receipt.id,
            StoredTime::try_from(receipt.asked_at)?,
            StoredTime::try_from(receipt.now)?,
            receipt.query,
            receipt.profile.as_str(),
            numbers(&receipt.profile)?,
            json(&KeptUnderstood { understood: receipt.understood.clone(), confidence: receipt.confidence })?,
            json(&receipt.missing)?,
            json(&items)?,
            json(&at_hand.iter().map(|seq| seq.0).collect::<Vec<_>>())?,
            receipt.budget_tokens,
            receipt.tokens,
            u64::try_from(receipt.took.as_micros()).unwrap_or(u64::MAX),
        ],
        RowExpectation::One(missing),
    )
}

/// An item as the row stores it: a JSON array of these fields, truncated where the rest are defaults. Its rank is its
/// position.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeptItem {
    /// The unit.
    seq: Option<i64>,
    /// Its tokens in the context.
    tokens: u32,
    score: f64,
    /// Also an array, in the order of [`Parts::named`].
    parts: Parts,
    unusual: Unusual,
}

/// The values that differ from [`Usual`].
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Unusual {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ItemKind>,
    /// The anchor's id, if the item is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_tier: Option<MemoryTier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packed_as: Option<PackedAs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<ItemOutcome>,
    /// The reranker's score. `None` if no reranker was asked about the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_score: Option<f64>,
    /// The unit of the latest statement about the same thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<i64>,
    /// The memory's id, if the item is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Uuid>,
    #[serde(skip_serializing_if = "MemoryFlags::is_empty")]
    flags: MemoryFlags,
    /// What is one piece of knowledge with the item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same_source: Vec<KeptSameSource>,
}

/// Something that is one piece of knowledge with an item: its unit and, for a memory, its id.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct KeptSameSource {
    seq: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<ItemKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<Uuid>,
}

impl KeptSameSource {
    fn of(of: &SameSource) -> Self {
        Self {
            seq: of.seq,
            kind: (of.kind != ItemKind::Turn).then_some(of.kind),
            memory: (of.kind == ItemKind::Memory).then_some(of.owner_id),
        }
    }
}

/// The default values of an item: a turn, shown completely if it has tokens in the context.
struct Usual {
    memory_tier: MemoryTier,
    packed_as: Option<PackedAs>,
    outcome: ItemOutcome,
}

impl Usual {
    /// By default, an item with a score is cold. One without a score is warm, because it is shown for its place in the
    /// session.
    fn of(tokens: u32, score: f64) -> Self {
        let memory_tier = if score > 0.0 { MemoryTier::Cold } else { MemoryTier::Warm };
        let (packed_as, outcome) = match tokens {
            0 => (None, ItemOutcome::BelowFloor),
            _ => (Some(PackedAs::Whole), ItemOutcome::Packed),
        };
        Self { memory_tier, packed_as, outcome }
    }
}

impl KeptItem {
    fn of(item: &ReceiptItem) -> Self {
        let score = rounded(item.score);
        let usual = Usual::of(item.tokens, score);
        let unusual = Unusual {
            kind: (item.kind != ItemKind::Turn).then_some(item.kind),
            anchor: item.seq.is_none().then_some(item.owner_id),
            memory_tier: item.memory_tier.filter(|&tier| tier != usual.memory_tier),
            packed_as: item.packed_as.filter(|&packed_as| Some(packed_as) != usual.packed_as),
            outcome: (item.outcome != usual.outcome).then_some(item.outcome),
            rerank_score: item.rerank_score.map(rounded),
            newer: item.newer.map(|newer| newer.seq),
            memory: (item.kind == ItemKind::Memory).then_some(item.owner_id),
            flags: item.flags.clone(),
            same_source: item.same_source.iter().map(KeptSameSource::of).collect(),
        };
        Self { seq: item.seq, tokens: item.tokens, score, parts: item.parts, unusual }
    }

    fn kind(&self) -> ItemKind {
        self.unusual.kind.unwrap_or(ItemKind::Turn)
    }

    /// Anchors, wishes and memories have no tier.
    fn memory_tier(&self) -> Option<MemoryTier> {
        self.seq
            .filter(|_| !matches!(self.kind(), ItemKind::Wish | ItemKind::Memory))
            .map(|_| self.unusual.memory_tier.unwrap_or(self.usual().memory_tier))
    }

    fn packed_as(&self) -> Option<PackedAs> {
        self.unusual.packed_as.or(self.usual().packed_as)
    }

    fn outcome(&self) -> ItemOutcome {
        self.unusual.outcome.unwrap_or(self.usual().outcome)
    }

    fn usual(&self) -> Usual {
        Usual::of(self.tokens, self.score)
    }
}

impl Serialize for KeptItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let parts = self.parts.named().map(|(_, part)| rounded(part));
        let parts = &parts[..parts.iter().rposition(|part| *part != 0.0).map_or(0, |last| last + 1)];
        let is_unusual = self.unusual != Unusual::default();
        let has_score = is_unusual || self.score != 0.0 || !parts.is_empty();
        let mut array = serializer.serialize_seq(None)?;
        array.serialize_element(&self.seq)?;
        array.serialize_element(&self.tokens)?;
        if has_score {
            array.serialize_element(&self.score)?;
            array.serialize_element(parts)?;
        }
        if is_unusual {
            array.serialize_element(&self.unusual)?;
        }
        array.end()
    }
}

/// Rounds to seven decimal places, which is enough to recompute a score, and takes half as many digits.
fn rounded(number: f64) -> f64 {
    (number * 1e7).round() / 1e7
}

/// Deletes all receipts of a user except the newest `keep`.
pub(crate) fn prune(sql: &dyn Sql, scope: &Scope, keep: u32) -> Result<()> {
    sql.put(
        "DELETE FROM recall_receipts WHERE user_no = ?1 AND receipt_no <=
           (SELECT receipt_no FROM recall_receipts WHERE user_no = ?1 ORDER BY receipt_no DESC LIMIT 1 OFFSET ?2)",
        values![scope.user_no, keep],
        RowExpectation::Any,
    )
}

/// Selects the columns covered by a row's checksum, in the table's order, then the checksum, then the session's id.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT r.receipt_no, r.id, r.user_no, r.session_no, r.asked_at, r.now, r.query, r.profile, r.weights,
                    r.understood, r.missing, r.items, r.at_hand, r.budget_tokens, r.tokens, r.took_us, r.used_at,
                    r.row_check, s.id
             FROM recall_receipts AS r LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no
             WHERE r.user_no = ?1 ",
            $which
        )
    };
}
/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 17;

/// A receipt by its id.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: ReceiptId) -> Result<Option<Receipt>> {
    let found = sql.one(select!("AND r.id = ?2"), values![scope.user_no, id], |row| {
        Ok((read(row)?, row.json::<Vec<KeptItem>>(11)?))
    })?;
    let Some((receipt, kept)) = found else { return Ok(None) };
    let mut items = Vec::with_capacity(kept.len());
    for (rank, item) in (1..).zip(kept) {
        let owner_id = match (item.unusual.anchor.or(item.unusual.memory), item.seq) {
            (Some(anchor), _) => Some(anchor),
            (None, Some(seq)) => owner_of(sql, scope, seq)?,
            (None, None) => None,
        };
        // Items erased since then are no longer named.
        let Some(owner_id) = owner_id else { continue };
        items.push(ReceiptItem {
            rank,
            kind: item.kind(),
            seq: item.seq,
            owner_id,
            memory_tier: item.memory_tier(),
            score: item.score,
            confidence: receipt
                .confidence
                .filter(|_| item.kind() != ItemKind::Wish)
                .map(|_| item.kind().confidence(item.score, &item.parts)),
            parts: item.parts,
            rerank_score: item.unusual.rerank_score,
            newer: item.unusual.newer.map_or(Ok(None), |seq| newer(sql, scope, seq))?,
            same_source: same_source(sql, scope, &item.unusual.same_source)?,
            flags: item.unusual.flags.clone(),
            packed_as: item.packed_as(),
            outcome: item.outcome(),
            tokens: item.tokens,
        });
    }
    Ok(Some(Receipt { items, ..receipt }))
}

/// What is one piece of knowledge with an item, except what was erased since.
fn same_source(sql: &dyn Sql, scope: &Scope, kept: &[KeptSameSource]) -> Result<Vec<SameSource>> {
    let mut named = Vec::with_capacity(kept.len());
    for &KeptSameSource { seq, kind, memory } in kept {
        let owner_id = if memory.is_some() { memory } else { owner_of(sql, scope, seq)? };
        let kind = kind.unwrap_or(ItemKind::Turn);
        named.extend(owner_id.map(|owner_id| SameSource { kind, owner_id, seq }));
    }
    Ok(named)
}

/// The later statement that an item names, unless it was erased since.
fn newer(sql: &dyn Sql, scope: &Scope, seq: i64) -> Result<Option<Newer>> {
    sql.one(
        "SELECT said_at FROM recall_units WHERE user_no = ?1 AND seq = ?2",
        values![scope.user_no, seq],
        |row| Ok(Newer { seq, said_at: row.get(0)? }),
    )
}

/// The id of the turn or memory that a unit stands for.
fn owner_of(sql: &dyn Sql, scope: &Scope, seq: i64) -> Result<Option<Uuid>> {
    sql.one(
        "SELECT owner_id FROM recall_units WHERE user_no = ?1 AND seq = ?2",
        values![scope.user_no, seq],
        |row| Ok(Uuid::from_bytes(row.get(0)?)),
    )
}

/// The receipt's item for a turn that matches too badly to be read: what it is and in which tier. The caller sets its score.
pub(crate) fn unread_line(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<Option<ReceiptItem>> {
    sql.one(
        "SELECT u.owner_id, t.memory_tier, EXISTS
           (SELECT 1 FROM archived_turns AS a
            WHERE a.turn_key = (u.session_no << 24 | u.turn_number) AND a.user_no = u.user_no)
         FROM recall_units AS u
         LEFT JOIN conversation_turns AS t
           ON t.turn_key = (u.session_no << 24 | u.turn_number) AND t.user_id = ?3
         WHERE u.user_no = ?1 AND u.seq = ?2 AND u.turn_number IS NOT NULL",
        values![scope.user_no, seq, scope.user_id],
        |row| {
            let (tier, is_archived): (Option<MemoryTier>, bool) = (row.get(1)?, row.get(2)?);
            let is_there = tier.is_some() || is_archived;
            let kind = if is_there { ItemKind::Turn } else { ItemKind::Summary };
            Ok(ReceiptItem {
                memory_tier: Some(tier.unwrap_or(MemoryTier::Cold)),
                ..ReceiptItem::unread(kind, seq, Uuid::from_bytes(row.get(0)?))
            })
        },
    )
}

/// The newest receipts of a user, newest first, without their items.
pub(crate) fn newest(sql: &dyn Sql, scope: &Scope, limit: u32) -> Result<Vec<Receipt>> {
    sql.list(select!("ORDER BY r.receipt_no DESC LIMIT ?2"), values![scope.user_no, limit], read)
}

/// The numbers of [`Profile::Paper`], as a receipt keeps them.
#[derive(Serialize, Deserialize)]
struct Paper {
    lambda: f64,
}

/// The numbers that a profile ranks by, as JSON.
fn numbers(profile: &Profile) -> Result<String> {
    match profile {
        Profile::Paper { lambda } => json(&Paper { lambda: *lambda }),
        profile => json(&profile.weights()),
    }
}

/// How a query was understood, and the confidence of its answer, which older rows lack.
#[derive(Serialize, Deserialize)]
struct KeptUnderstood {
    #[serde(flatten)]
    understood: Understood,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
}

fn read(row: &SqlRow<'_>) -> Result<Receipt> {
    let id: ReceiptId = row.get(1)?;
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        return Err(row_check::damaged(format_args!("receipt {id}")));
    }
    let profile = match text(row.value(7)?) {
        // Older rows store no lambda; they were ranked by the paper's own.
        Some("paper") => Profile::Paper {
            lambda: row.json::<Option<Paper>>(8)?.map_or(Profile::LAMBDA, |paper| paper.lambda),
        },
        Some("recency") => Profile::Recency,
        Some("continuum") => Profile::Continuum,
        Some("custom") => Profile::Custom(row.json(8)?),
        // The row has the default's weights at the time of ranking. If the default has changed since, they are custom.
        _ => match row.json::<Option<Weights>>(8)? {
            Some(weights) if weights != Weights::default() => Profile::Custom(weights),
            _ => Profile::Default,
        },
    };
    let KeptUnderstood { understood, confidence } = row.json(9)?;
    Ok(Receipt {
        id,
        session_id: row.get(18)?,
        asked_at: row.get(4)?,
        now: row.get(5)?,
        query: row.get(6)?,
        profile,
        understood,
        missing: row.json(10)?,
        budget_tokens: row.get(13)?,
        tokens: row.get(14)?,
        took: Duration::from_micros(row.get(15)?),
        used_at: row.get(16)?,
        confidence,
        items: Vec::new(),
    })
}

/// What is counted of a receipt whose context was of use.
pub(crate) struct UsedReceipt {
    pub(crate) profile: String,
    /// Whether the context showed hot turns.
    pub(crate) shows_hot: bool,
    /// What the context recalled, shown or not. Excludes wishes, and what was shown for its place in the session or because
    /// it had been of use there before, since that says nothing about use.
    pub(crate) considered: Vec<Considered>,
    /// Units to promote.
    pub(crate) at_hand: Vec<Seq>,
}

/// Something that was recalled for a context.
pub(crate) struct Considered {
    /// The unit. `None` for an anchor.
    pub(crate) seq: Option<i64>,
    /// The memory's id, if this is one.
    pub(crate) memory: Option<MemoryId>,
    pub(crate) memory_tier: Option<MemoryTier>,
    /// How much of it the context showed. `None` if it was not shown.
    pub(crate) shown_as: Option<PackedAs>,
}

/// Records that a receipt's context was of use. `None` if that was already recorded, or the receipt is gone.
pub(crate) fn set_used(
    sql: &dyn Sql,
    scope: &Scope,
    id: ReceiptId,
    now: StoredTime,
) -> Result<Option<UsedReceipt>> {
    sql.one(
        "UPDATE recall_receipts SET used_at = ?3 WHERE id = ?2 AND user_no = ?1 AND used_at IS NULL
         RETURNING profile, items, at_hand",
        values![scope.user_no, id, now],
        |row| {
            let kept = row.json::<Vec<KeptItem>>(1)?;
            let is_hot = |item: &KeptItem| item.memory_tier() == Some(MemoryTier::Hot);
            let shows_hot = kept.iter().any(|item| is_hot(item) && item.packed_as().is_some());
            // A wish is shown because it should hold, not because it answers.
            let recalled = kept.iter().filter(|item| {
                item.score > 0.0 && item.outcome() != ItemOutcome::Promoted && item.kind() != ItemKind::Wish
            });
            let considered = recalled.map(|item| Considered {
                seq: item.seq,
                memory: item.unusual.memory.map(MemoryId::from),
                memory_tier: item.memory_tier(),
                shown_as: item.packed_as(),
            });
            let considered = considered.collect();
            let at_hand = row.json::<Vec<u32>>(2)?.into_iter().map(Seq).collect();
            Ok(UsedReceipt { profile: row.get(0)?, shows_hot, considered, at_hand })
        },
    )
}

/// Makes a unit warm in a session that used it, as the most recently used one there. Does nothing if it was erased since.
pub(crate) fn promote(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    seq: Seq,
    now: StoredTime,
) -> Result<()> {
    sql.put(
        "INSERT INTO promotions (user_no, session_no, seq, promoted_at)
         SELECT user_no, ?2, seq, ?4 FROM recall_units WHERE user_no = ?1 AND seq = ?3
         ON CONFLICT (user_no, session_no, seq) DO UPDATE SET promoted_at = excluded.promoted_at",
        values![scope.user_no, session_no, seq, now],
        RowExpectation::Any,
    )
}

/// Removes a session's promotions except the [`MOST_PROMOTED`] most recently used.
pub(crate) fn prune_promotions(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<()> {
    sql.put(
        "DELETE FROM promotions WHERE user_no = ?1 AND session_no = ?2 AND seq NOT IN
           (SELECT seq FROM promotions WHERE user_no = ?1 AND session_no = ?2
            ORDER BY promoted_at DESC, seq DESC LIMIT ?3)",
        values![scope.user_no, session_no, MOST_PROMOTED as u64],
        RowExpectation::Any,
    )
}

/// The turns that are warm in a session because they were of use in it, the most recently used first.
pub(crate) fn promoted(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<Seq>> {
    sql.list(
        "SELECT seq FROM promotions WHERE user_no = ?1 AND session_no = ?2 ORDER BY promoted_at DESC, seq DESC",
        values![scope.user_no, session_no],
        |row| row.get(0),
    )
}

/// Removes all promotions of a session.
pub(crate) fn remove_promotions(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<()> {
    sql.put(
        "DELETE FROM promotions WHERE user_no = ?1 AND session_no = ?2",
        values![scope.user_no, session_no],
        RowExpectation::Any,
    )
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::caused(ErrorKind::Io, "a receipt could not be written", error))
}
