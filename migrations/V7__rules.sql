-- By which rules what is kept of a user's turns was derived (src/compress/derived.rs). NULL: by version 1. n: by
-- version n or newer, all of it. -n: partly by older ones; a job ('derive', a kind of jobs) brings it to version n.

ALTER TABLE user_scopes ADD COLUMN words_rules    INTEGER /* Of the words, and what else ranking reads of a turn. */;
ALTER TABLE user_scopes ADD COLUMN critical_rules INTEGER /* Of why turns are kept verbatim. */;
ALTER TABLE user_scopes ADD COLUMN anchor_rules   INTEGER /* Of the anchors that rules find. */;
