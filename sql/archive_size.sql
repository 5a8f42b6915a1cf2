-- How much does the archive save?
--
--   sqlite3 -readonly memory.db < sql/archive_size.sql
--
-- Each session with turns in the archive, the largest first; at the end all of them together.
--   user_no               whose it is (users_by_size.sql says who that is)
--   session_no, session   which; session is the caller's key, empty if it has none
--   frames, turns         in how many compressed pieces, how many turns
--   raw_bytes             before they were compressed: a line of JSON for each turn
--   bytes                 after
--   percent               of the bytes before
.mode box

WITH of_session AS (
  SELECT user_no, session_no, session, count(*) AS frames, sum(turns) AS turns, sum(raw_bytes) AS raw_bytes,
         sum(bytes) AS bytes
  FROM v_archive GROUP BY session_no
), listed AS (
  SELECT 1 AS part, user_no, session_no, session, frames, turns, raw_bytes, bytes FROM of_session
  UNION ALL
  SELECT 2, NULL, NULL, 'all of them', total(frames), total(turns), total(raw_bytes), total(bytes) FROM of_session
)
SELECT user_no, session_no, session, CAST(frames AS INTEGER) AS frames, CAST(turns AS INTEGER) AS turns,
       CAST(raw_bytes AS INTEGER) AS raw_bytes, CAST(bytes AS INTEGER) AS bytes,
       CASE WHEN raw_bytes > 0 THEN printf('%.1f', 100.0 * bytes / raw_bytes) END AS percent
FROM listed
ORDER BY part, listed.bytes DESC, session_no;
