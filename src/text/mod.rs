//! What is done to text: counted, folded into words, ranked, rendered. Pure functions; no file, no clock.

pub(crate) mod bm25;
pub(crate) mod measure;
pub(crate) mod memo;
mod pretokens;
pub(crate) mod render;
pub(crate) mod stop_words;
pub(crate) mod tokens;
pub(crate) mod words;
