//! Asks the caller's embedders for the vectors of a query. The built-in embedder is not asked here: it never fails and
//! takes microseconds.

use crate::{
    clock::Stopwatch,
    config::Config,
    cooldown::Cooldowns,
    embed::{self, EmbeddingPurpose, quantize::Vector},
    event::{Event, ProviderRole},
    model::turn::Turn,
    recall::message::{Message, QueryVector},
    tier::hot::HotTier,
};

/// Asks the embedders in order for the vectors of a message and of each additional query, until one answers. Includes the
/// last turns if the message needs them to be understood. The message also receives the errors of the embedders that failed.
/// An embedder that timed out or is misconfigured is not asked again for a while: otherwise every recall would wait, and
/// leave an abandoned call running.
pub(crate) async fn ask(
    config: &Config,
    cooldowns: &Cooldowns,
    message: &mut Message,
    hot: Option<&HotTier>,
) {
    let last_turns = hot.map_or_else(Vec::new, |hot| hot.before(&message.text));
    let meanings = |of: &Message, last_turns: &[&Turn]| -> Vec<String> {
        of.sought(last_turns).into_iter().map(|sought| sought.meaning).collect()
    };
    let mut of_each = vec![meanings(message, &last_turns)];
    of_each.extend(message.also.iter().chain(message.plan.queries()).map(|query| meanings(query, &[])));
    let counts: Vec<usize> = of_each.iter().map(Vec::len).collect();
    let texts = of_each.concat();
    let limit = config.query_embed_timeout;
    for (embedder, cooldown) in config.embedders.iter().zip(&cooldowns.queries) {
        let vectors = if let Some(why) = cooldown.why(config.clock.now()) {
            Err(why.to_string())
        } else {
            let watch = Stopwatch::start();
            let found = embed::ask(embedder.as_ref(), &texts, EmbeddingPurpose::Query, limit).await;
            found.map_err(|error| {
                if error.is_misconfiguration() || watch.elapsed() >= limit {
                    cooldown.begin(config.clock.now(), &error);
                }
                let (provider, name) = (ProviderRole::Embedder, embedder.space().model);
                config.on_event.emit(&Event::ProviderFailed { provider, name, why: error.kind() });
                error.to_string()
            })
        };
        let space = embedder.space();
        let mut rest = vectors.as_deref().map_err(Clone::clone);
        for (asked, count) in vectors_of(message).zip(&counts) {
            let own = rest.as_mut().map(|rest| {
                let (own, behind) = rest.split_at(*count);
                *rest = behind;
                own.iter().map(|numbers| Vector::of(numbers)).collect()
            });
            asked.push(QueryVector { space: space.clone(), vectors: own.map_err(|why| why.clone()) });
        }
        if vectors.is_ok() {
            break;
        }
    }
}

/// The vectors of the message, then those of the additional queries.
fn vectors_of(message: &mut Message) -> impl Iterator<Item = &mut Vec<QueryVector>> {
    let beside = message.also.iter_mut().chain(message.plan.queries_mut());
    [&mut message.vectors].into_iter().chain(beside.map(|query| &mut query.vectors))
}
