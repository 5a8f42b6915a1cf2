//! The cues of the rules that judge by text: phrases in the first person, a file for each rule.

pub(crate) mod commitments;
pub(crate) mod corrections;
pub(crate) mod decisions;
pub(crate) mod emotions;
pub(crate) mod facts;
pub(crate) mod preferences;
