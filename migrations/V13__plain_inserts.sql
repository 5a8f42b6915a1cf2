-- Other programs insert sessions and turns as the tiering paper prints its tables: what they do not say has a default, or
-- is filled in by a trigger. The program takes such rows over when it next writes for their user (src/store/acts/inserted.rs).

-- A default is a word of the schema alone, and no row changes with it (sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql =
  replace(replace(replace(replace(replace(sql,
    'seq                  INTEGER NOT NULL, ', 'seq                  INTEGER NOT NULL DEFAULT 0, '),
    'timestamp            TEXT NOT NULL, ',
    'timestamp            TEXT NOT NULL DEFAULT (strftime(''%Y-%m-%dT%H:%M:%fZ'', ''now'')), '),
    'piece_tokens         INTEGER NOT NULL, ', 'piece_tokens         INTEGER NOT NULL DEFAULT 0, '),
    'counted_by           TEXT NOT NULL, ', 'counted_by           TEXT NOT NULL DEFAULT '''', '),
    'words                BLOB NOT NULL, ', 'words                BLOB NOT NULL DEFAULT x'''', ')
WHERE type = 'table' AND name = 'conversation_turns';
UPDATE sqlite_schema SET sql =
  replace(replace(sql,
    'started_at     TEXT NOT NULL, ',
    'started_at     TEXT NOT NULL DEFAULT (strftime(''%Y-%m-%dT%H:%M:%fZ'', ''now'')), '),
    'last_active_at TEXT NOT NULL, ', 'last_active_at TEXT NOT NULL DEFAULT '''', ')
WHERE type = 'table' AND name = 'conversation_sessions';
PRAGMA writable_schema = RESET;

ALTER TABLE user_scopes ADD COLUMN inserted_seq INTEGER /* The first unit that another program inserted and that is not taken over; NULL: none. */;
-- The users of whom something is to be taken over.
CREATE INDEX idx_scopes_inserted ON user_scopes(user_no) WHERE inserted_seq IS NOT NULL;

-- INSERT OR REPLACE must take away nothing that is known, and INSERT OR IGNORE may be said again.
CREATE TRIGGER known_session BEFORE INSERT ON conversation_sessions WHEN NEW.last_active_at = '' BEGIN
  SELECT CASE WHEN user_id = NEW.user_id THEN RAISE(IGNORE)
              ELSE RAISE(ABORT, 'a session of another user has this id') END
  FROM conversation_sessions WHERE id = NEW.id;
  SELECT RAISE(ABORT, 'another session has this session_no, or this caller_id and part') WHERE EXISTS
    (SELECT 1 FROM conversation_sessions WHERE session_no = NEW.session_no)
    OR EXISTS (SELECT 1 FROM conversation_sessions
               WHERE user_id = NEW.user_id AND caller_id = NEW.caller_id AND part = NEW.part);
END;

CREATE TRIGGER known_turn BEFORE INSERT ON conversation_turns WHEN NEW.seq = 0 BEGIN
  SELECT RAISE(ABORT, 'another turn has this id') WHERE EXISTS
    (SELECT 1 FROM conversation_turns WHERE id = NEW.id
     AND (session_id <> NEW.session_id OR turn_number <> NEW.turn_number))
    OR EXISTS (SELECT 1 FROM conversation_summaries WHERE original_turn_id = NEW.id)
    OR EXISTS (SELECT 1 FROM turns_aside WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'another turn has this turn_key') WHERE EXISTS
    (SELECT 1 FROM conversation_turns WHERE turn_key = NEW.turn_key AND id <> NEW.id);
  SELECT RAISE(ABORT, 'another turn of this user has this caller_id') WHERE EXISTS
    (SELECT 1 FROM user_scopes AS u JOIN recall_units AS r ON r.user_no = u.user_no
     WHERE u.user_id = NEW.user_id AND r.caller_id = NEW.caller_id AND r.owner_id <> NEW.id);
END;

CREATE TRIGGER inserted_session AFTER INSERT ON conversation_sessions WHEN NEW.last_active_at = '' BEGIN
  -- Ours gives last_active_at.
  SELECT CASE
    WHEN length(NEW.id) <> 16
      THEN RAISE(ABORT, 'conversation_sessions.id must be a UUID as a BLOB of 16 bytes')
    WHEN NEW.ended_at IS NOT NULL OR NEW.memory_tier <> 'hot' OR NEW.turn_count <> 0 OR NEW.total_tokens <> 0
      OR NEW.part <> 1 OR NEW.successor_id IS NOT NULL
      THEN RAISE(ABORT, 'a new session is open and empty: leave out its end, its tier and its counts')
    WHEN coalesce(strftime('%Y-%m-%d', NEW.started_at), '') NOT BETWEEN '0001-01-01' AND '9999-12-31'
      THEN RAISE(ABORT, 'conversation_sessions.started_at must be a time of the years 1 to 9999 that SQLite''s date functions read')
    WHEN NEW.metadata IS NOT NULL AND (NOT json_valid(NEW.metadata) OR json_type(NEW.metadata) <> 'object'
      OR length(CAST(NEW.metadata AS BLOB)) > 16384)
      THEN RAISE(ABORT, 'metadata must be a JSON object of at most 16 KiB')
    WHEN max(length(CAST(coalesce(NEW.caller_id, 'x') AS BLOB)), length(CAST(coalesce(NEW.project, 'x') AS BLOB)),
             length(CAST(coalesce(NEW.title, 'x') AS BLOB))) > 256
      OR '' IN (coalesce(NEW.caller_id, 'x'), coalesce(NEW.project, 'x'), coalesce(NEW.title, 'x'))
      THEN RAISE(ABORT, 'caller_id, project and title have 1 to 256 bytes')
    WHEN EXISTS (SELECT 1 FROM jobs WHERE kind = 'erase' AND user_id = NEW.user_id AND subject_id IS NULL)
      THEN RAISE(ABORT, 'this user is being erased')
  END;
  INSERT INTO user_scopes (user_id)
  SELECT NEW.user_id WHERE NOT EXISTS (SELECT 1 FROM user_scopes WHERE user_id = NEW.user_id);
  UPDATE user_scopes SET inserted_seq = coalesce(inserted_seq, last_seq + 1), row_check = x'00000000'
  WHERE user_id = NEW.user_id;
  UPDATE conversation_sessions
  SET started_at = strftime('%Y-%m-%dT%H:%M:%fZ', NEW.started_at),
      last_active_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), row_check = x'00000000'
  WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER inserted_turn AFTER INSERT ON conversation_turns WHEN NEW.seq = 0 BEGIN
  -- Ours gives seq.
  SELECT CASE
    WHEN length(NEW.id) <> 16
      THEN RAISE(ABORT, 'conversation_turns.id must be a UUID as a BLOB of 16 bytes')
    WHEN NEW.memory_tier <> 'hot'
      THEN RAISE(ABORT, 'a new turn is hot: leave out memory_tier')
    WHEN coalesce(strftime('%Y-%m-%d', NEW.timestamp), '') NOT BETWEEN '0001-01-01' AND '9999-12-31'
      THEN RAISE(ABORT, 'conversation_turns.timestamp must be a time of the years 1 to 9999 that SQLite''s date functions read')
    WHEN NEW.user_message = '' AND NEW.ai_response = ''
      THEN RAISE(ABORT, 'a turn has a text on one side at least')
    WHEN instr(NEW.user_message || NEW.ai_response, char(0)) > 0
      THEN RAISE(ABORT, 'a text has a NUL character')
    WHEN NEW.metadata IS NOT NULL AND (NOT json_valid(NEW.metadata) OR json_type(NEW.metadata) <> 'object'
      OR length(CAST(NEW.metadata AS BLOB)) > 16384)
      THEN RAISE(ABORT, 'metadata must be a JSON object of at most 16 KiB')
    WHEN max(length(CAST(coalesce(NEW.caller_id, 'x') AS BLOB)), length(CAST(coalesce(NEW.user_name, 'x') AS BLOB)),
             length(CAST(coalesce(NEW.assistant_name, 'x') AS BLOB))) > 256
      OR '' IN (coalesce(NEW.caller_id, 'x'), coalesce(NEW.user_name, 'x'), coalesce(NEW.assistant_name, 'x'))
      THEN RAISE(ABORT, 'caller_id, user_name and assistant_name have 1 to 256 bytes')
    WHEN min(NEW.user_message_tokens, NEW.ai_response_tokens, NEW.total_tokens) < 0
      OR max(NEW.user_message_tokens, NEW.ai_response_tokens, NEW.total_tokens) > 2147483647
      THEN RAISE(ABORT, 'the token counts of a turn must be from 0 to 2147483647')
    WHEN NEW.user_origin NOT IN ('user', 'assistant', 'tool', 'document', 'system')
      OR NEW.assistant_origin NOT IN ('user', 'assistant', 'tool', 'document', 'system')
      THEN RAISE(ABORT, 'an origin is user, assistant, tool, document or system')
    WHEN NOT EXISTS (SELECT 1 FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
                     WHERE s.id = NEW.session_id AND s.user_id = NEW.user_id AND s.ended_at IS NULL)
      THEN RAISE(ABORT, 'no open session of this user_id has this session_id')
    WHEN EXISTS (SELECT 1 FROM turns_aside WHERE session_id = NEW.session_id AND replaced_by IS NULL)
      THEN RAISE(ABORT, 'a message of this session waits for its reply, which comes first')
    WHEN EXISTS (SELECT 1 FROM turns_aside WHERE user_id = NEW.user_id AND caller_id = NEW.caller_id)
      THEN RAISE(ABORT, 'another turn of this user has this caller_id')
    WHEN NEW.turn_number <> (SELECT turn_count + 1 FROM conversation_sessions WHERE id = NEW.session_id)
      THEN RAISE(ABORT, 'turn_number must be the turn_count of its session plus 1')
  END;
  UPDATE user_scopes
  SET last_seq = last_seq + 1, inserted_seq = coalesce(inserted_seq, last_seq + 1), row_check = x'00000000'
  WHERE user_id = NEW.user_id;
  INSERT INTO recall_units
    (user_no, seq, kind, owner_id, session_no, turn_number, caller_id, content_hash, said_at)
  SELECT u.user_no, u.last_seq, 'turn', NEW.id, s.session_no, NEW.turn_number, NEW.caller_id, zeroblob(16),
         strftime('%Y-%m-%dT%H:%M:%fZ', NEW.timestamp)
  FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id WHERE s.id = NEW.session_id;
  UPDATE conversation_turns
  SET turn_key = (SELECT session_no << 24 | NEW.turn_number FROM conversation_sessions WHERE id = NEW.session_id),
      seq = (SELECT last_seq FROM user_scopes WHERE user_id = NEW.user_id),
      timestamp = strftime('%Y-%m-%dT%H:%M:%fZ', NEW.timestamp),
      tier_pad = 'x', piece_tokens = 0, counted_by = '', words = x'', row_check = x'00000000',
      critical_rule = CASE WHEN NEW.is_identity_critical = 1 THEN 'caller' END
  WHERE id = NEW.id;
  UPDATE conversation_sessions
  SET started_at = CASE WHEN turn_count = 0 THEN strftime('%Y-%m-%dT%H:%M:%fZ', NEW.timestamp) ELSE started_at END,
      turn_count = turn_count + 1, total_tokens = total_tokens + NEW.total_tokens,
      last_active_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), row_check = x'00000000'
  WHERE id = NEW.session_id;
END;

-- What is warm, of any session. Short entries: every eviction adds one.
CREATE INDEX idx_turns_warm ON conversation_turns(memory_tier) WHERE memory_tier = 'warm';
-- What is kept verbatim in cold, of a user, by time.
CREATE INDEX idx_turns_cold ON conversation_turns(user_id, timestamp) WHERE memory_tier = 'cold';
-- The summaries of a user, by time; idx_summaries_user has them in the order of their turns.
CREATE INDEX idx_summaries_time ON conversation_summaries(user_id, timestamp);

DROP VIEW v_tiers;
CREATE VIEW v_tiers AS
-- Turns by tier. An archived turn, or one that only its summary is left of, is cold; its text is in no row.
SELECT u.user_no, s.session_no, s.caller_id AS session, t.memory_tier,
       count(*) AS turns, sum(t.total_tokens) AS tokens, sum(t.text_bytes) AS text_bytes, sum(t.archived) AS archived,
       min(t.turn_number) AS first_turn, max(t.turn_number) AS last_turn
FROM (SELECT session_id, memory_tier, turn_number, total_tokens, 0 AS archived,
             length(CAST(user_message AS BLOB)) + length(CAST(ai_response AS BLOB)) AS text_bytes
      FROM conversation_turns
      UNION ALL
      SELECT session_id, 'cold', turn_number, original_tokens, original = 'archived', 0 FROM conversation_summaries) AS t
JOIN conversation_sessions AS s ON s.id = t.session_id
JOIN user_scopes AS u ON u.user_id = s.user_id
GROUP BY u.user_no, s.session_no, t.memory_tier;
