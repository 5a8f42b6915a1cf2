-- What is known now?
--
--   sqlite3 -readonly memory.db < sql/memories_now.sql
--
-- The active memories of all users, each user's together, what was changed last at the top.
--   user_no      whose it is (users_by_size.sql says who that is)
--   memory_no    its number in this file, which the other questions name
--   kind         what sort of memory it is
--   frequency    how settled it is: high, mid, low, ultra_low
--   trust        1: a tool or a document says so; 2: the assistant; 3: the user; 4: a person approved it
--   importance, confidence   from 0 to 1
--   uses         how often it was of use
--   pinned       1: it does not fade
--   project      what it is filed under; empty: all of them
--   tags         in their order
--   updated      when it was changed last, UTC
--   title        what it is called
.mode box

SELECT user_no, memory_no, kind, frequency, trust, importance, confidence, accesses AS uses, pinned,
       replace(replace(replace(project, char(10), ' '), char(13), ' '), char(27), '?') AS project,
       replace(replace(replace(tags, char(10), ' '), char(13), ' '), char(27), '?') AS tags,
       substr(updated, 1, 16) AS updated,
       replace(replace(replace(title, char(10), ' '), char(13), ' '), char(27), '?') AS title
FROM v_memories
WHERE status = 'active'
ORDER BY user_no, updated DESC, memory_no DESC;
