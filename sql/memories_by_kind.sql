-- How many memories are there of each kind?
--
--   sqlite3 -readonly memory.db < sql/memories_by_kind.sql
--
-- All memories of all users, by kind, those with the most active ones first.
--   kind         what sort of memories they are
--   active       those that hold
--   archived     those that were put away
--   other        superseded, forgotten, quarantined
--   settled      active ones that are low or ultra_low: knowledge, no longer episodes
--   importance, confidence   of the active ones, on average
--   uses         how often they were of use, together
.mode box

SELECT kind, sum(status = 'active') AS active, sum(status = 'archived') AS archived,
       sum(status NOT IN ('active', 'archived')) AS other,
       sum(status = 'active' AND frequency IN ('low', 'ultra_low')) AS settled,
       printf('%.2f', avg(CASE WHEN status = 'active' THEN importance END)) AS importance,
       printf('%.2f', avg(CASE WHEN status = 'active' THEN confidence END)) AS confidence,
       sum(coalesce(accesses, 0)) AS uses
FROM v_memories
GROUP BY kind
ORDER BY active DESC, kind;
