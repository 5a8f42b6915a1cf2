-- What was said last?
--
--   sqlite3 -readonly memory.db < sql/last_turns.sql
--
-- The 20 latest turns of all users, a line each, the latest at the bottom.
--   said                      when, UTC
--   user_no                   whose it is (users_by_size.sql says who that is)
--   session_no, turn_number   where
--   user_message, ai_response how each side begins, and who speaks; empty if nobody did. Of a turn that was
--                             summarized: how its summary begins
.mode box

-- From the tables: the views' times have no milliseconds to order by.
WITH latest_turns AS (
  SELECT t.timestamp, t.seq, u.user_no, s.session_no, t.turn_number,
         coalesce(t.user_name, t.user_origin) || ': ' || nullif(t.user_message, '') AS user_message,
         coalesce(t.assistant_name, t.assistant_origin) || ': ' || nullif(t.ai_response, '') AS ai_response
  FROM conversation_turns AS t
  JOIN conversation_sessions AS s ON s.id = t.session_id
  JOIN user_scopes AS u ON u.user_id = t.user_id
  ORDER BY t.timestamp DESC, t.seq DESC
  LIMIT 20
), latest_summaries AS (
  SELECT m.timestamp, m.seq, u.user_no, s.session_no, m.turn_number, '(summary): ' || m.summary_text AS user_message,
         NULL AS ai_response
  FROM conversation_summaries AS m
  JOIN conversation_sessions AS s ON s.id = m.session_id
  JOIN user_scopes AS u ON u.user_id = m.user_id
  ORDER BY m.timestamp DESC, m.seq DESC
  LIMIT 20
), latest AS (
  SELECT timestamp, seq, user_no, session_no, turn_number, user_message, ai_response FROM latest_turns
  UNION ALL
  SELECT timestamp, seq, user_no, session_no, turn_number, user_message, ai_response FROM latest_summaries
  ORDER BY timestamp DESC, seq DESC
  LIMIT 20
)
SELECT replace(substr(timestamp, 1, 16), 'T', ' ') AS said, user_no, session_no, turn_number,
       replace(replace(replace(substr(user_message, 1, 48), char(10), ' '), char(13), ' '), char(27), '?')
         AS user_message,
       replace(replace(replace(substr(ai_response, 1, 48), char(10), ' '), char(13), ' '), char(27), '?')
         AS ai_response
FROM latest
ORDER BY timestamp, seq;
