-- Which sessions are open, and how long have they been silent?
--
--   sqlite3 -readonly memory.db < sql/open_sessions.sql
--
-- The longest silence first. Silence (24 h by default) ends a session, but that is written down only when the
-- session is next asked for: until then it stands here. A session without turns waits for its first one.
--   user_no       whose it is (users_by_size.sql says who that is)
--   session_no, session_id, session   which; session is the caller's key, empty if it has none
--   project       what the caller files it under
--   turns, tokens so far
--   last_active   system clock of the last record, UTC: silence counts from here
--   silent        until now: days, hours:minutes
--
-- To read an old copy as of its own day, set the present (UTC), with both kinds of quotes:
--
--   sqlite3 -readonly -cmd ".parameter set :now \"'2026-03-01 12:00'\"" copy.db < sql/open_sessions.sql
.mode box

WITH silence AS (
  SELECT session_no, max(0, unixepoch(coalesce(:now, 'now')) - unixepoch(last_active)) AS seconds
  FROM v_sessions WHERE state = 'open'
)
SELECT s.user_no, s.session_no, s.session_id, s.session, s.project,
       s.turn_count AS turns, s.total_tokens AS tokens, s.last_active,
       printf('%d d %02d:%02d', seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60) AS silent
FROM silence JOIN v_sessions AS s ON s.session_no = silence.session_no
ORDER BY s.last_active, s.session_no;
