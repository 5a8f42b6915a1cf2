-- What holds in each slot, and what held before?
--
--   sqlite3 -readonly memory.db < sql/memory_slots.sql
--
-- Every memory that has a slot (goal_signature), by slot, the newest version of each first. Of one kind and project at most
-- one is active; what waits for a person is archived.
--   user_no      whose they are (users_by_size.sql says who that is)
--   slot         its name
--   kind, project   of which it is the slot; project empty: all of them
--   session_no   of a volatile memory: the session that it goes with
--   version      one more than that of what it superseded
--   status       active, archived, superseded, forgotten, quarantined
--   by_no        what took its place
--   trust        1: a tool or a document says so; 2: the assistant; 3: the user; 4: a person approved it
--   said         when it was so, UTC
--   memory_no, content   the memory, and how it begins
.mode box

SELECT user_no,
       replace(replace(replace(slot, char(10), ' '), char(13), ' '), char(27), '?') AS slot,
       kind,
       replace(replace(replace(project, char(10), ' '), char(13), ' '), char(27), '?') AS project,
       session_no, version, status, superseded_by AS by_no, trust, substr(said, 1, 16) AS said, memory_no,
       replace(replace(replace(substr(content, 1, 60), char(10), ' '), char(13), ' '), char(27), '?') AS content
FROM v_memories
WHERE slot IS NOT NULL
ORDER BY user_no, slot, kind, project, session_no, version DESC, memory_no DESC;
