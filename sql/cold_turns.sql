-- Which turns are cold, by when they were said?
--
--   sqlite3 -readonly memory.db < sql/cold_turns.sql
--   sqlite3 -readonly -cmd ".parameter set :before \"'2026-03-01 12:00'\"" memory.db < sql/cold_turns.sql
--
-- The 20 that were said last, the latest at the bottom; with :before (UTC) the last before that, which is how to go on.
--   said                             when the turn was said, UTC
--   user_no                          whose it is (users_by_size.sql says who that is)
--   session_no, session, turn_number the turn; session is the caller's key, empty if it has none
--   kept_as                          verbatim; archived: thermocline turn show has it; deleted: only its summary is left
--   why                              of one that is kept verbatim, the rule that says so
--   tokens                           of both sides together, as they were said
--   text                             the first of the user's words, or of the summary's
.mode box

WITH wanted AS (
  SELECT coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', :before), '9999') AS before
), cold AS (
  SELECT t.timestamp, t.turn_key, t.user_id, t.session_id, t.turn_number, 'verbatim' AS kept_as, t.critical_rule AS why,
         t.total_tokens AS tokens, t.user_message AS text
  FROM conversation_turns AS t WHERE t.memory_tier = 'cold' AND t.timestamp < (SELECT before FROM wanted)
  UNION ALL
  SELECT m.timestamp, m.turn_key, m.user_id, m.session_id, m.turn_number, m.original, NULL, m.original_tokens,
         m.summary_text
  FROM conversation_summaries AS m WHERE m.timestamp < (SELECT before FROM wanted)
), latest AS (
  SELECT timestamp, turn_key, user_id, session_id, turn_number, kept_as, why, tokens, text
  FROM cold ORDER BY timestamp DESC, turn_key DESC LIMIT 20
)
SELECT replace(substr(c.timestamp, 1, 16), 'T', ' ') AS said, u.user_no, s.session_no, s.caller_id AS session,
       c.turn_number, c.kept_as, c.why, c.tokens,
       replace(replace(replace(substr(c.text, 1, 60), char(10), ' '), char(13), ' '), char(27), '?') AS text
FROM latest AS c
JOIN conversation_sessions AS s ON s.id = c.session_id
JOIN user_scopes AS u ON u.user_id = c.user_id
ORDER BY c.timestamp, c.turn_key;
