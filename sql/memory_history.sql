-- What was done to memories lately?
--
--   sqlite3 -readonly memory.db < sql/memory_history.sql
--
-- The 50 latest changes of memories of all users, the latest at the bottom. Use is no change.
--   made            when, by the system clock, UTC
--   user_no         whose memory it is (users_by_size.sql says who that is)
--   memory_no       the memory
--   change          its place in that memory's history, from 1
--   op              save, edit, frequency, status, supersede, merge, check, trust, resurface, undo
--   old, new        of what has one value: before and since
--   made_by         user, assistant, a job's name, or a sensor's
--   undone          1: it was taken back
--   reason          numbers and names of rules
--   title           what the memory is called now
.mode box

WITH latest AS (
  SELECT * FROM v_memory_changes ORDER BY made DESC, memory_no DESC, change_no DESC LIMIT 50
)
SELECT made, user_no, memory_no, change_no AS change, op, old_value AS old, new_value AS new,
       replace(replace(replace(made_by, char(10), ' '), char(13), ' '), char(27), '?') AS made_by,
       undone,
       replace(replace(replace(reason, char(10), ' '), char(13), ' '), char(27), '?') AS reason,
       replace(replace(replace(substr(title, 1, 40), char(10), ' '), char(13), ' '), char(27), '?') AS title
FROM latest
ORDER BY made, memory_no, change_no;
