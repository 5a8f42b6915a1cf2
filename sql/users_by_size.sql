-- Who has how much memory here?
--
--   sqlite3 -readonly memory.db < sql/users_by_size.sql
--
-- All users, the one with the most bytes first. Reads every text once, to count its bytes.
--   user_no, user_id   the short number used by the other questions, and the id
--   name               if the file's users table has names; in a backend's own database it may have none
--   sessions, turns    ever started, ever recorded
--   tokens, text_bytes of the turns' texts, both sides
--   last_said          when the user's latest turn was said, UTC
.mode box

WITH size AS (
  SELECT user_no, sum(tokens) AS tokens, sum(text_bytes) AS text_bytes FROM v_tiers GROUP BY user_no
), spoken AS (
  SELECT user_no, max(said_at) AS last_said FROM recall_units WHERE kind = 'turn' GROUP BY user_no
)
SELECT u.user_no, u.user_id,
       -- A users table without this column leaves the word to no_names below: then it is NULL, and no error.
       (SELECT name FROM users WHERE users.id = scope.user_id) AS name,
       u.sessions, u.turns, coalesce(size.tokens, 0) AS tokens, coalesce(size.text_bytes, 0) AS text_bytes,
       replace(substr(spoken.last_said, 1, 16), 'T', ' ') AS last_said
FROM v_users AS u
JOIN user_scopes AS scope ON scope.user_no = u.user_no
LEFT JOIN size ON size.user_no = u.user_no
LEFT JOIN spoken ON spoken.user_no = u.user_no
CROSS JOIN (SELECT NULL AS name) AS no_names
ORDER BY size.text_bytes DESC, u.user_no;
