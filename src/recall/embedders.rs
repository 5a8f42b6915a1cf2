//! Asks the caller's embedders what a query means. The built-in one needs no asking: it never fails and takes
//! microseconds.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use crate::{
    clock::Stopwatch,
    config::Config,
    embed::{self, EmbeddingPurpose, SILENT_REST, quantize::Vector},
    model::turn::Turn,
    recall::message::{Message, QueryVector},
    tier::hot::HotTier,
};

/// Embedders that did not answer in time, by their places, since when, and what was said of it. They are not asked for a
/// while: every recall would wait, and leave another call behind that nobody waits for.
#[derive(Debug, Default)]
pub(crate) struct Silent(Mutex<HashMap<usize, (Stopwatch, String)>>);

impl Silent {
    /// Why this one is not to be asked now.
    fn why(&self, place: usize) -> Option<String> {
        let silent = self.0.lock().expect("no one panics while holding it");
        silent.get(&place).filter(|(since, _)| since.elapsed() < SILENT_REST).map(|(_, why)| why.clone())
    }

    fn note(&self, place: usize, why: &str) {
        let mut silent = self.0.lock().expect("no one panics while holding it");
        silent.insert(place, (Stopwatch::start(), why.to_owned()));
    }
}

/// Asks the embedders what a message means, in their order, until one answers; the last turns are considered where it needs
/// them. Those that failed before are in the answer too.
pub(crate) async fn ask(
    config: &Config,
    silent: &Silent,
    message: &Message,
    hot: Option<&HotTier>,
) -> Vec<QueryVector> {
    let last_turns: Vec<&Turn> = hot.into_iter().flat_map(HotTier::turns).collect();
    let texts = [message.meaning(&last_turns)];
    let mut asked = Vec::new();
    let limit = Duration::from_millis(config.embed_timeout_ms);
    for (place, embedder) in config.embedders.iter().enumerate() {
        let vector = if let Some(why) = silent.why(place) {
            Err(why)
        } else {
            let watch = Stopwatch::start();
            let vectors = embed::ask(embedder.as_ref(), &texts, EmbeddingPurpose::Query, limit).await;
            vectors.map(|vectors| Vector::of(&vectors[0])).map_err(|error| {
                let why = error.to_string();
                if watch.elapsed() >= limit {
                    silent.note(place, &why);
                }
                why
            })
        };
        let is_answered = vector.is_ok();
        asked.push(QueryVector { space: embedder.space(), vector });
        if is_answered {
            break;
        }
    }
    asked
}
