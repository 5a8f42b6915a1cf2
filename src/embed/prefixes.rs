//! Prefixes for texts: a model that was trained on questions and passages expects one before each text.

use sha2::{Digest, Sha256};

use super::EmbeddingPurpose;
use crate::model::hex::hex;

/// The prefixes for texts of each purpose; usually empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefixes {
    pub(crate) query: String,
    pub(crate) document: String,
}

impl Prefixes {
    pub(crate) fn of(&self, purpose: EmbeddingPurpose) -> &str {
        match purpose {
            EmbeddingPurpose::Query => &self.query,
            EmbeddingPurpose::Document => &self.document,
        }
    }

    /// Returns the revision of a model whose stored vectors are made with these prefixes. It depends on the prefix of
    /// documents, not on that of queries.
    pub(crate) fn revision(&self, model: &str) -> String {
        const SHOWN: usize = 16;
        if self.document.is_empty() {
            return model.to_owned();
        }
        let hash = hex(&Sha256::digest(&self.document));
        format!("{model}+{}", &hash[..SHOWN])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_tells_what_stands_before_documents_and_not_what_stands_before_queries() {
        let revision = |query: &str, document: &str| {
            Prefixes { query: query.into(), document: document.into() }.revision("7")
        };
        assert_eq!(revision("", ""), "7");
        assert_eq!(revision("query: ", ""), "7");
        assert_eq!(revision("query: ", "a"), revision("", "a"));
        assert!(revision("", "a").starts_with("7+") && revision("", "a") != revision("", "b"));
    }
}
