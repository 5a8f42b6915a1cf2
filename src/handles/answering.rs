//! How recalls and contexts are answered: planned by LLM#1 if configured, gathered off the thread, reordered by a reranker
//! if configured, finished off the thread.

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

/// Has LLM#1 plan the recall for a message in a session, if it should be asked. `None`: in a session that has not begun.
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
    // Boxed: it is large, and most setups have no planner.
    message.plan = Box::pin(open.plans.ask(open.config(), open.cooldowns(), &scope, behind, message)).await;
}

/// What a user's whole history has for this query, at most `k` things; a receipt is written afterwards.
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

/// The context for a message, and the session it now belongs to; a receipt is written afterwards.
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

/// Gathers to the requested depth (0: as deep as the answer needs), and finishes. One hop if no reranker is asked; while one
/// is asked, nothing of the file is held.
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
        // Boxed: it is large, and most setups have no reranker.
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
