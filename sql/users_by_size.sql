-- Who has how much memory here?
--
--   sqlite3 -readonly memory.db < sql/users_by_size.sql
--
-- All users, the one with the most bytes first. Reads every text once, to count its bytes.
--   user_no, user_id   the short number used by the other questions, and the id
--   name               if the file's users table has names; in a backend's own database it may have none
--   sessions, turns    ever started, ever recorded
--   tokens             of the turns' texts, both sides, as they were said
--   text_bytes         of the turns that are verbatim, both sides
--   summary_bytes      of the summaries that stand for the others
--   archive_bytes      of their originals, compressed
--   last_said          when the user's latest turn was said, UTC
.mode box

WITH said AS (
  SELECT user_no, sum(total_tokens) AS tokens FROM v_sessions GROUP BY user_no
), verbatim AS (
  SELECT user_no, sum(text_bytes) AS bytes FROM v_tiers GROUP BY user_no
), summaries AS (
  SELECT user_no, sum(length(CAST(summary_text AS BLOB))) AS bytes FROM v_summaries GROUP BY user_no
), archive AS (
  SELECT user_no, sum(bytes) AS bytes FROM v_archive GROUP BY user_no
), spoken AS (
  SELECT user_no, max(said_at) AS last_said FROM recall_units WHERE kind = 'turn' GROUP BY user_no
)
SELECT u.user_no, u.user_id,
       -- A users table without this column leaves the word to no_names below: then it is NULL, and no error.
       (SELECT name FROM users WHERE users.id = scope.user_id) AS name,
       u.sessions, u.turns, coalesce(said.tokens, 0) AS tokens, coalesce(verbatim.bytes, 0) AS text_bytes,
       coalesce(summaries.bytes, 0) AS summary_bytes, coalesce(archive.bytes, 0) AS archive_bytes,
       replace(substr(spoken.last_said, 1, 16), 'T', ' ') AS last_said
FROM v_users AS u
JOIN user_scopes AS scope ON scope.user_no = u.user_no
LEFT JOIN said ON said.user_no = u.user_no
LEFT JOIN verbatim ON verbatim.user_no = u.user_no
LEFT JOIN summaries ON summaries.user_no = u.user_no
LEFT JOIN archive ON archive.user_no = u.user_no
LEFT JOIN spoken ON spoken.user_no = u.user_no
CROSS JOIN (SELECT NULL AS name) AS no_names
ORDER BY coalesce(verbatim.bytes, 0) + coalesce(summaries.bytes, 0) + coalesce(archive.bytes, 0) DESC, u.user_no;
