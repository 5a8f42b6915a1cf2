-- What callers keep beside turns and sessions: titles for lists, and JSON of their own. NULL changes no checksum, so
-- rows that are there stay as they are.

ALTER TABLE conversation_turns ADD COLUMN metadata TEXT /* The caller's own JSON object; NULL: none. Goes into the archive with the turn. */;
ALTER TABLE conversation_sessions ADD COLUMN title TEXT /* How the caller shows the session in a list; NULL: none. */;
ALTER TABLE conversation_sessions ADD COLUMN metadata TEXT /* The caller's own JSON object; NULL: none. */;

DROP VIEW v_sessions;
CREATE VIEW v_sessions AS
SELECT s.session_no,
       lower(substr(hex(s.id), 1, 8) || '-' || substr(hex(s.id), 9, 4) || '-' || substr(hex(s.id), 13, 4)
         || '-' || substr(hex(s.id), 17, 4) || '-' || substr(hex(s.id), 21)) AS session_id,
       u.user_no,
       s.caller_id AS session, s.part, s.title, s.project, s.memory_tier,
       CASE WHEN s.ended_at IS NULL THEN 'open' ELSE 'ended by ' || s.end_reason END AS state,
       replace(substr(s.started_at, 1, 19), 'T', ' ') AS started,
       replace(substr(s.ended_at, 1, 19), 'T', ' ') AS ended,
       replace(substr(s.last_active_at, 1, 19), 'T', ' ') AS last_active,
       s.turn_count, s.total_tokens, s.metadata
FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id;

DROP VIEW v_turns;
CREATE VIEW v_turns AS
SELECT lower(substr(hex(t.id), 1, 8) || '-' || substr(hex(t.id), 9, 4) || '-' || substr(hex(t.id), 13, 4)
         || '-' || substr(hex(t.id), 17, 4) || '-' || substr(hex(t.id), 21)) AS turn_id,
       u.user_no, s.session_no, s.caller_id AS session, t.turn_number, t.seq, t.caller_id,
       replace(substr(t.timestamp, 1, 19), 'T', ' ') AS said,
       t.memory_tier, t.is_identity_critical AS critical, t.critical_rule,
       t.total_tokens, t.piece_tokens, t.counted_by,
       length(CAST(t.user_message AS BLOB)) + length(CAST(t.ai_response AS BLOB)) AS text_bytes,
       t.user_name, t.user_origin, t.user_message, t.assistant_name, t.assistant_origin, t.ai_response, t.metadata
FROM conversation_turns AS t
JOIN conversation_sessions AS s ON s.id = t.session_id
JOIN user_scopes AS u ON u.user_id = t.user_id;
