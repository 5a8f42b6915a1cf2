-- A text in quarantine is recognized by its letters and digits, however it is written.

ALTER TABLE user_memories ADD COLUMN hidden_hash BLOB /* Of a memory in quarantine: first 16 bytes of SHA-256 over its folded letters and digits. NULL: it is in none, or was hidden by an older version. No checksum covers it. */;
-- What is in quarantine: its text does not come back.
CREATE INDEX idx_user_memories_hidden ON user_memories(user_no, hidden_hash) WHERE status = 'quarantined';
