//! The summarizer that is always available: no LLM, no key, no network.

use crate::{
    compress::{Summarizer, Summarizing, Verdict, anchors, critical, sketch::sketch},
    english::statements::statements,
    model::turn::Turn,
    text::tokens::Tokenizer,
};

/// The built-in summarizer. It quotes the first meaningful sentence, cut if it is long, and invents nothing; 50 turns take a
/// few milliseconds.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a value without fields stays one")]
pub struct Extractive;

impl Extractive {
    /// The summarizer's name, as stored with its summaries; `extractive-fallback` is stored where it stood in for another.
    pub const NAME: &str = "extractive";
}

impl Summarizer for Extractive {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        Box::pin(async move { Ok(turns.iter().map(verdict).collect()) })
    }
}

fn verdict(turn: &Turn) -> Verdict {
    let said = &turn.said;
    let sketch = sketch(said, tokenizer_of(turn));
    let heard = statements(&said.user_message);
    let anchors = anchors::find(said, &heard);
    let is_critical = !critical::by_text(said, &heard, &anchors).is_empty();
    Verdict {
        turn_id: turn.id,
        is_critical,
        summary_text: sketch.summary_text,
        topic_keywords: sketch.topic_keywords,
        anchors,
    }
}

/// Returns the tokenizer that counted the turn, because its tables are already loaded.
fn tokenizer_of(turn: &Turn) -> Tokenizer {
    let counted_by = &turn.tokens.counted_by;
    Tokenizer::ALL
        .into_iter()
        .find(|tokenizer| counted_by.split('/').next() == Some(tokenizer.as_str()))
        .unwrap_or(Tokenizer::DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_turn_gets_a_verdict_with_a_summary() {
        let turns = [Turn::sample(1, "The boat sank.", 5), Turn::sample(2, "Nice", 1)];
        let verdicts = Extractive.summarize(&turns).await.unwrap();
        let found: Vec<_> = verdicts.iter().map(|v| (v.turn_id, v.summary_text.as_str())).collect();
        assert_eq!(
            found,
            [(turns[0].id, "User said \"The boat sank.\""), (turns[1].id, "User said \"Nice\".")]
        );
        assert_eq!(verdicts[0].topic_keywords, ["boat sank"]);
        assert_eq!(Extractive.name(), "extractive");
        assert!(verdicts.iter().all(|verdict| !verdict.is_critical && verdict.anchors.is_empty()));
    }

    #[tokio::test]
    async fn what_users_tell_of_themselves_is_critical_and_an_anchor() {
        let told = Turn::sample(2, "My sister Anna lives with us.", 5);
        let mut pasted = told.clone();
        pasted.said.user_origin = crate::Origin::Document;
        let verdicts = Extractive.summarize(&[told, pasted]).await.unwrap();
        assert!(verdicts[0].is_critical && !verdicts[1].is_critical);
        let values: Vec<_> = verdicts[0].anchors.iter().map(|anchor| anchor.value.as_str()).collect();
        assert_eq!((values.as_slice(), verdicts[1].anchors.len()), (["sister Anna"].as_slice(), 0));
    }

    #[test]
    fn tokens_are_counted_as_the_turn_was() {
        let mut turn = Turn::sample(1, "a", 1);
        assert_eq!(tokenizer_of(&turn), Tokenizer::O200kBase);
        turn.tokens.counted_by = "cl100k_base/1".to_owned();
        assert_eq!(tokenizer_of(&turn), Tokenizer::Cl100kBase);
        turn.tokens.counted_by = String::new();
        assert_eq!(tokenizer_of(&turn), Tokenizer::O200kBase);
    }
}
