-- How do memories stand to each other?
--
--   sqlite3 -readonly memory.db < sql/memory_edges.sql
--
-- All edges of all users, each user's together, the strongest first.
--   user_no            whose they are (users_by_size.sql says who that is)
--   from_no, from_title   where the edge begins
--   type               how that stands to the other; alternative_to, related_to, similar_to, contradicts hold both ways
--   to_no, to_title    where it ends
--   strength           from 0 to 1
--   status             accepted, or proposed by a job
--   origin             who says so
--   context            why, in one line
.mode box

SELECT user_no, from_no,
       replace(replace(replace(substr(from_title, 1, 40), char(10), ' '), char(13), ' '), char(27), '?') AS from_title,
       type, to_no,
       replace(replace(replace(substr(to_title, 1, 40), char(10), ' '), char(13), ' '), char(27), '?') AS to_title,
       strength, status, origin,
       replace(replace(replace(substr(context, 1, 60), char(10), ' '), char(13), ' '), char(27), '?') AS context
FROM v_memory_edges
ORDER BY user_no, strength DESC, edge_no;
