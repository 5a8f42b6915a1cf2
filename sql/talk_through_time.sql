-- When did each user talk, and how long were the gaps?
--
--   sqlite3 -readonly memory.db < sql/talk_through_time.sql
--
-- Each user's sessions with turns, in the order they began.
--   user_no               whose it is (users_by_size.sql says who that is)
--   gap                   since the user's last turn in any earlier session: days, hours:minutes; empty for the
--                         first session; overlaps: an earlier one was still going on
--   session_no, session   which; session is the caller's key, empty if it has none
--   first_said, last_said when its first and its last turn were said, UTC
--   turns                 ever recorded in it
--   state                 open, or how it ended
.mode box

WITH spoken AS (
  -- recall_units keeps a turn's time even when the turn itself is archived.
  SELECT user_no, session_no, min(said_at) AS first_said, max(said_at) AS last_said
  FROM recall_units WHERE kind = 'turn' GROUP BY user_no, session_no
), gaps AS (
  SELECT user_no, session_no, first_said, last_said,
         unixepoch(first_said) - unixepoch(max(last_said) OVER earlier) AS seconds
  FROM spoken
  WINDOW earlier AS (PARTITION BY user_no ORDER BY first_said, session_no
                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT g.user_no,
       CASE WHEN seconds < 0 THEN 'overlaps'
            WHEN seconds >= 0
              THEN printf('%d d %02d:%02d', seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60)
       END AS gap,
       g.session_no, s.session,
       replace(substr(g.first_said, 1, 16), 'T', ' ') AS first_said,
       replace(substr(g.last_said, 1, 16), 'T', ' ') AS last_said,
       s.turn_count AS turns, s.state
FROM gaps AS g JOIN v_sessions AS s ON s.session_no = g.session_no
ORDER BY g.user_no, g.first_said, g.session_no;
