//! Knowledge of English: sentences and what they state, words without content, numbers, topics, and what a message asks for.
//! All functions are pure and build on `text`, which folds and counts words. Word lists are files in `lists/`, except short
//! ones, which stand next to the rules that use them. English times are read by `times`.

pub(crate) mod borrowed;
pub(crate) mod changes;
pub(crate) mod claims;
pub(crate) mod classes;
pub(crate) mod cues;
pub(crate) mod dull_words;
pub(crate) mod fillers;
pub(crate) mod keywords;
pub(crate) mod lessons;
pub(crate) mod lists;
pub(crate) mod moments;
pub(crate) mod numbers;
pub(crate) mod query;
pub(crate) mod sentences;
pub(crate) mod statements;
pub(crate) mod stop_words;
pub(crate) mod whose;
pub(crate) mod wishes;
