//! How recalls and contexts are answered. For a context, LLM#1 plans what to recall, if a planner is configured; the
//! evidence is gathered on another thread; a reranker reorders it, if one is configured; and the answer is finished on
//! another thread.

use std::sync::Arc;

use crate::{
    error::Result,
    handles::{off_thread, open::Open},
    model::ids::SessionId,
    recall::{
        answer::{self, Gathered},
        context::{self, Context},
        context_options::ContextOptions,
        message::Message,
        plans::PlanBackground,
        recalled::Recall,
        rerank::{self, RerankMode, RerankTarget},
    },
    store::scope::Scope,
};

/// Asks the planner what the recall for a message needs, if it should be asked. The session is `None` if it has not
/// begun.
pub(super) async fn plan(
    open: &Arc<Open>,
    (scope, session): (Scope, Option<SessionId>),
    message: &mut Message,
    options: &ContextOptions,
) {
    if open.config().planner.is_none() {
        return;
    }
    let (own, options) = (Arc::clone(open), options.clone());
    let behind = off_thread(move || PlanBackground::read(&own, &own.indexes, (&scope, session), &options));
    // Boxed because the future is large, and most setups have no planner.
    message.plan = Box::pin(open.plans.ask(open.config(), open.cooldowns(), &scope, behind, message)).await;
}

/// Recalls at most `k` things from a user's whole history for this query. A receipt is written afterwards.
pub(super) async fn recall(
    open: &Arc<Open>,
    scope: Scope,
    message: Arc<Message>,
    k: Option<usize>,
) -> Result<Recall> {
    let gather = move |open: &Open, message: &Message, depth| {
        answer::gather(open, &open.indexes, &scope, message, (k, depth))
    };
    let finish = move |open: &Open, message: &Message, found: answer::RecallFindings| {
        let (recall, receipt) = found.answer(message);
        open.keep_receipt(scope, receipt);
        recall
    };
    answered(open, scope, message, gather, finish).await
}

/// Builds the context for a message, and also returns the session that the message belongs to now. A receipt is written
/// afterwards.
pub(super) async fn context(
    open: &Arc<Open>,
    scope: Scope,
    session: Option<SessionId>,
    message: Arc<Message>,
    options: ContextOptions,
) -> Result<(Context, Option<SessionId>)> {
    let options = Arc::new(options);
    let of_gathering = Arc::clone(&options);
    let gather = move |open: &Open, message: &Message, depth| {
        context::gather(open, &open.indexes, &scope, session, (message, &of_gathering), depth)
    };
    let finish = move |open: &Open, message: &Message, gathered| {
        let (context, receipt) = context::pack(open.config(), message, &options, gathered);
        let session = receipt.receipt.session_id;
        open.keep_receipt(scope, receipt);
        (context, session)
    };
    answered(open, scope, message, gather, finish).await
}

/// Gathers the evidence as deep as the reranker needs, has it reordered, and finishes the answer. Without a reranker, or
/// if its order cannot be used, the evidence is gathered as deep as the answer needs (depth 0). Without a reranker this
/// takes one hop to another thread. While the reranker is asked, no snapshot of the file is open.
async fn answered<T: Gathered + Send + 'static, A: Send + 'static>(
    open: &Arc<Open>,
    scope: Scope,
    message: Arc<Message>,
    gather: impl Fn(&Open, &Message, usize) -> Result<T> + Clone + Send + 'static,
    finish: impl FnOnce(&Open, &Message, T) -> A + Send + 'static,
) -> Result<A> {
    let open = Arc::clone(open);
    let mut reranking = RerankMode::of(open.config(), open.cooldowns(), &message);
    let mut reranked = None;
    if let RerankMode::Wanted(wish) = reranking {
        let (deep, depth) = (gather.clone(), wish.depth());
        let (own, asked) = (Arc::clone(&open), Arc::clone(&message));
        let read = move || {
            let mut gathered = deep(&own, &asked, depth)?;
            let read = RerankTarget::reads(gathered.searched(), depth);
            Ok((gathered, read))
        };
        let (mut gathered, read) = off_thread(read).await?;
        // Boxed because the future is large, and most setups have no reranker.
        reranking = Box::pin(wish.grant(gathered.searched(), read)).await;
        reranked = Some(gathered);
    }
    let own = Arc::clone(&open);
    let mut missed = reranking.missed();
    off_thread(move || {
        if let Some(gathered) = &mut reranked
            && missed.is_none()
        {
            missed = rerank::overtaken(&own, &scope, gathered.searched())?;
        }
        let reranked = reranked.filter(|_| missed.is_none());
        let mut gathered = reranked.map_or_else(|| gather(&own, &message, 0), Ok)?;
        gathered.missing().extend(missed);
        Ok(finish(&own, &message, gathered))
    })
    .await
}
