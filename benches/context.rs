//! How long does the context for a message take, at the default budget of 4,400 tokens?
//!
//! The context contains the hot and warm tiers, and what is recalled. The sessions are random ones of the file, and none
//! is in memory. One message refers to nothing; another refers back, so that the session is searched.
//!
//! Target: none yet; the times are only reported. Plain alternative: none, because none keeps within a budget.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use support::{
    corpus::Corpus,
    lengths,
    rounds::{Plan, alone, timed_on},
    runtime, sizes,
    table::{Report, Target},
    text::{Rng, Writer},
};
use thermocline::ContextOptions;

fn main() {
    let mut report = Report::with_usual_columns("context");
    for (size, length) in sizes().into_iter().flat_map(|size| lengths().into_iter().map(move |l| (size, l))) {
        let corpus = Corpus::of(size, length);
        let runtime = runtime();
        let memory = runtime.block_on(corpus.open_forgetful());
        let (mut rng, mut writer) = (Rng::new(1), Writer::new(3));
        for (question, message) in
            [("context", "Tell me about"), ("context, referring back", "What did you say earlier about")]
        {
            let measured = alone(Plan::by_round(200), || {
                let session = runtime.block_on(corpus.session(&memory, rng.below(corpus.sessions())));
                let message = format!("{message} {}?", writer.common_words().join(" "));
                timed_on(&runtime, async {
                    session.context(&message, ContextOptions::default()).await.unwrap()
                })
            });
            report.row(question, &corpus.size(), length, &measured, Target::None);
        }
    }
    report.save();
}
