-- Turns that stand beside the memory: a message that waits for its reply, and turns that others replaced. They have no unit:
-- nothing of them is indexed, recalled or compressed.

CREATE TABLE turns_aside (
  id           BLOB NOT NULL PRIMARY KEY, -- The turn's UUIDv7, 16 bytes.
  user_id      BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  session_id   BLOB NOT NULL REFERENCES conversation_sessions(id) ON DELETE CASCADE,
  turn_number  INTEGER NOT NULL,          -- Its place in the session; another turn may stand there by now.
  caller_id    TEXT,                      -- The caller's own id for it: what is recorded again is known by it.
  content_hash BLOB NOT NULL,             -- As in recall_units.
  replaced_by  BLOB,                      -- The turn that replaced it, or a turn before it. NULL: it waits for its reply.
  replaced_at  TEXT,                      -- System clock; ISO-8601 UTC, milliseconds.
  turn         TEXT NOT NULL CHECK (json_valid(turn)), -- The turn, as a line of the archive.
  row_check    BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  CHECK ((replaced_by IS NULL) = (replaced_at IS NULL))
) STRICT;
-- The message of a session that waits for its reply: one at most.
CREATE UNIQUE INDEX idx_aside_incomplete ON turns_aside(session_id) WHERE replaced_by IS NULL;
-- What stood at a place of a session before.
CREATE INDEX idx_aside_session ON turns_aside(session_id, turn_number);
-- All of a user's.
CREATE INDEX idx_aside_user ON turns_aside(user_id);
-- The turn with the caller's id.
CREATE UNIQUE INDEX idx_aside_caller ON turns_aside(user_id, caller_id) WHERE caller_id IS NOT NULL;

ALTER TABLE conversation_sessions ADD COLUMN erased_turns INTEGER /* Of turn_count, those erased one by one. NULL: none. */;

CREATE VIEW v_turns_aside AS
SELECT lower(substr(hex(a.id), 1, 8) || '-' || substr(hex(a.id), 9, 4) || '-' || substr(hex(a.id), 13, 4)
         || '-' || substr(hex(a.id), 17, 4) || '-' || substr(hex(a.id), 21)) AS turn_id,
       u.user_no, s.session_no, s.caller_id AS session, a.turn_number, a.caller_id,
       CASE WHEN a.replaced_by IS NULL THEN 'incomplete' ELSE 'replaced' END AS state,
       replace(substr(a.replaced_at, 1, 19), 'T', ' ') AS replaced,
       lower(substr(hex(a.replaced_by), 1, 8) || '-' || substr(hex(a.replaced_by), 9, 4) || '-'
         || substr(hex(a.replaced_by), 13, 4) || '-' || substr(hex(a.replaced_by), 17, 4) || '-'
         || substr(hex(a.replaced_by), 21)) AS replaced_by,
       json_extract(a.turn, '$.user_message') AS user_message, json_extract(a.turn, '$.ai_response') AS ai_response
FROM turns_aside AS a
JOIN conversation_sessions AS s ON s.id = a.session_id
JOIN user_scopes AS u ON u.user_id = a.user_id;
