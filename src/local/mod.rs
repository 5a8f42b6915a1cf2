//! Models read from a folder in the layout of model hubs: embedders and rerankers of BERT's family, and their forward pass.

mod arithmetic;
mod embedder;
mod files;
mod inputs;
mod modules;
mod prompts;
mod reranker;
mod safetensors;
mod shape;
mod tokens;
mod transformer;
mod wordpieces;

pub use self::{embedder::LocalEmbedder, reranker::LocalReranker};

#[cfg(test)]
mod tests;
