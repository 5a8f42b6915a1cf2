//! stub
use crate::{model::turn::Said, text::tokens::Tokenizer};
pub(crate) struct Sketch {
    pub(crate) summary_text: String,
    pub(crate) topic_keywords: Vec<String>,
}
pub(crate) fn sketch(said: &Said, _t: Tokenizer) -> Sketch {
    let words: Vec<&str> = said.user_message.split_whitespace().take(8).collect();
    Sketch { summary_text: words.join(" "), topic_keywords: vec![] }
}
