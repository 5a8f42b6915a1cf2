-- What was erased does not come back as a new memory from a file that somebody kept elsewhere.

CREATE TABLE erased_memories (
  -- Memories that were erased: a file that still has the id of one is refused.
  user_no   INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  id_hash   BLOB NOT NULL CHECK (length(id_hash) = 16), -- First 16 bytes of SHA-256 of the id, which is random: it says nothing of what was said.
  row_check BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  PRIMARY KEY (user_no, id_hash)
) STRICT, WITHOUT ROWID;
