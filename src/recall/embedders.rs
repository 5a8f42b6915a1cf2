//! Asks the caller's embedders what a query means. The built-in one needs no asking: it never fails and takes
//! microseconds.

use crate::{
    clock::Stopwatch,
    config::Config,
    cooldown::Cooldowns,
    embed::{self, EmbeddingPurpose, quantize::Vector},
    event::{Event, ProviderRole},
    recall::message::{Message, QueryVector},
    tier::hot::HotTier,
};

/// Asks the embedders what a message means, in their order, until one answers; the last turns are considered where it needs
/// them. Those that failed before are in the answer too. One that is silent is not asked again for a while: every recall
/// would wait, and leave another call behind that nobody waits for.
pub(crate) async fn ask(
    config: &Config,
    cooldowns: &Cooldowns,
    message: &Message,
    hot: Option<&HotTier>,
) -> Vec<QueryVector> {
    let last_turns = hot.map_or_else(Vec::new, |hot| hot.before(&message.text));
    let texts: Vec<String> = message.sought(&last_turns).into_iter().map(|sought| sought.meaning).collect();
    let mut asked = Vec::new();
    let limit = config.query_embed_timeout;
    for (embedder, cooldown) in config.embedders.iter().zip(&cooldowns.queries) {
        let vectors = if let Some(why) = cooldown.why(config.clock.now()) {
            Err(why.to_string())
        } else {
            let watch = Stopwatch::start();
            let found = embed::ask(embedder.as_ref(), &texts, EmbeddingPurpose::Query, limit).await;
            found.map(|found| found.iter().filter_map(|of| Vector::of(of)).collect()).map_err(|error| {
                if error.is_misconfiguration() || watch.elapsed() >= limit {
                    cooldown.begin(config.clock.now(), &error);
                }
                let (provider, name) = (ProviderRole::Embedder, embedder.space().model);
                config.on_event.emit(&Event::ProviderFailed { provider, name, why: error.kind() });
                error.to_string()
            })
        };
        let is_answered = vectors.is_ok();
        asked.push(QueryVector { space: embedder.space(), vectors });
        if is_answered {
            break;
        }
    }
    asked
}
