-- For people with sqlite3: ids as text, times readable, sizes in bytes. They name only our own tables, since
-- a view over a column that a backend's table lacks would stop the backend from altering its tables.

CREATE VIEW v_users AS
SELECT u.user_no,
       lower(substr(hex(u.user_id), 1, 8) || '-' || substr(hex(u.user_id), 9, 4) || '-' || substr(hex(u.user_id), 13, 4)
         || '-' || substr(hex(u.user_id), 17, 4) || '-' || substr(hex(u.user_id), 21)) AS user_id,
       (SELECT count(*) FROM conversation_sessions AS s WHERE s.user_id = u.user_id) AS sessions,
       (SELECT coalesce(sum(s.turn_count), 0) FROM conversation_sessions AS s WHERE s.user_id = u.user_id) AS turns,
       u.epoch
FROM user_scopes AS u;

CREATE VIEW v_sessions AS
SELECT s.session_no,
       lower(substr(hex(s.id), 1, 8) || '-' || substr(hex(s.id), 9, 4) || '-' || substr(hex(s.id), 13, 4)
         || '-' || substr(hex(s.id), 17, 4) || '-' || substr(hex(s.id), 21)) AS session_id,
       u.user_no,
       s.caller_id AS session, s.part, s.project, s.memory_tier,
       CASE WHEN s.ended_at IS NULL THEN 'open' ELSE 'ended by ' || s.end_reason END AS state,
       replace(substr(s.started_at, 1, 19), 'T', ' ') AS started,
       replace(substr(s.ended_at, 1, 19), 'T', ' ') AS ended,
       replace(substr(s.last_active_at, 1, 19), 'T', ' ') AS last_active,
       s.turn_count, s.total_tokens
FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id;

CREATE VIEW v_turns AS
SELECT lower(substr(hex(t.id), 1, 8) || '-' || substr(hex(t.id), 9, 4) || '-' || substr(hex(t.id), 13, 4)
         || '-' || substr(hex(t.id), 17, 4) || '-' || substr(hex(t.id), 21)) AS turn_id,
       u.user_no, s.session_no, s.caller_id AS session, t.turn_number, t.seq, t.caller_id,
       replace(substr(t.timestamp, 1, 19), 'T', ' ') AS said,
       t.memory_tier, t.is_identity_critical AS critical, t.critical_rule,
       t.total_tokens, t.piece_tokens, t.counted_by,
       length(CAST(t.user_message AS BLOB)) + length(CAST(t.ai_response AS BLOB)) AS text_bytes,
       t.user_name, t.user_origin, t.user_message, t.assistant_name, t.assistant_origin, t.ai_response
FROM conversation_turns AS t
JOIN conversation_sessions AS s ON s.id = t.session_id
JOIN user_scopes AS u ON u.user_id = t.user_id;

CREATE VIEW v_tiers AS
SELECT u.user_no, s.session_no, s.caller_id AS session, t.memory_tier,
       count(*) AS turns, sum(t.total_tokens) AS tokens,
       sum(length(CAST(t.user_message AS BLOB)) + length(CAST(t.ai_response AS BLOB))) AS text_bytes,
       min(t.turn_number) AS first_turn, max(t.turn_number) AS last_turn
FROM conversation_turns AS t
JOIN conversation_sessions AS s ON s.id = t.session_id
JOIN user_scopes AS u ON u.user_id = t.user_id
GROUP BY u.user_no, s.session_no, t.memory_tier;

CREATE VIEW v_transitions AS
SELECT m.user_no, m.session_no, s.caller_id AS session, m.turn_number, m.move_number,
       m.from_tier, m.to_tier, m.reason, replace(substr(m.moved_at, 1, 19), 'T', ' ') AS moved
FROM memory_tier_transitions AS m JOIN conversation_sessions AS s ON s.session_no = m.session_no;
