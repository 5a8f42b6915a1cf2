//! Operations on text: counting, folding into words, ranking, rendering. Apart from caches, pure functions; no file, no
//! clock.

pub(crate) mod bm25;
pub(crate) mod control;
pub(crate) mod cuts;
pub(crate) mod llm_json;
mod long_text;
mod marker;
pub(crate) mod measure;
pub(crate) mod memo;
pub(crate) mod memory;
pub(crate) mod plain;
mod pretokens;
pub(crate) mod render;
pub(crate) mod subjects;
pub(crate) mod terms;
pub(crate) mod tokens;
pub(crate) mod words;
