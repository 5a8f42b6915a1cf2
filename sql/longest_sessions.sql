-- Which sessions are the longest?
--
--   sqlite3 -readonly memory.db < sql/longest_sessions.sql
--
-- The 20 with the most turns, longest first.
--   user_no               whose it is (users_by_size.sql says who that is)
--   session_no, session   which; session is the caller's key, empty if it has none
--   turns, tokens         ever recorded in it
--   first_said            when its first turn was said, UTC
--   lasted                from there to its last turn: days, hours:minutes
--   state                 open, or how it ended
.mode box

WITH spoken AS (
  -- recall_units keeps a turn's time even when the turn itself is archived.
  SELECT session_no, min(said_at) AS first_said, max(said_at) AS last_said,
         unixepoch(max(said_at)) - unixepoch(min(said_at)) AS seconds
  FROM recall_units WHERE kind = 'turn' GROUP BY session_no
)
SELECT s.user_no, s.session_no, s.session, s.turn_count AS turns, s.total_tokens AS tokens,
       replace(substr(spoken.first_said, 1, 16), 'T', ' ') AS first_said,
       printf('%d d %02d:%02d', seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60) AS lasted,
       s.state
FROM v_sessions AS s JOIN spoken ON spoken.session_no = s.session_no
ORDER BY s.turn_count DESC, s.total_tokens DESC, s.session_no
LIMIT 20;
