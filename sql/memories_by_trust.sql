-- How far is what is known trusted?
--
--   sqlite3 -readonly memory.db < sql/memories_by_trust.sql
--
-- The active and archived memories of each user, by whose words they have.
--   user_no      whose they are (users_by_size.sql says who that is)
--   trust        1: a tool or a document says so; 2: the assistant; 3: the user; 4: a person approved it
--   origin       whose words they have
--   made_by      who made them: caller, import, rules, or an LLM's name
--   memories     how many
--   contradicted   of these, in how many a person is asked which of two holds
--   oldest, newest   when they were said, UTC
.mode box

SELECT user_no, trust, origin,
       replace(replace(replace(made_by, char(10), ' '), char(13), ' '), char(27), '?') AS made_by,
       count(*) AS memories,
       sum(EXISTS (SELECT 1 FROM memory_reviews AS r WHERE r.kind = 'contradiction' AND r.decision IS NULL
                   AND (r.memory_no = m.memory_no OR r.other_no = m.memory_no))) AS contradicted,
       substr(min(said), 1, 10) AS oldest, substr(max(said), 1, 10) AS newest
FROM v_memories AS m
WHERE status IN ('active', 'archived')
GROUP BY user_no, trust, origin, made_by
ORDER BY user_no, trust DESC, origin, made_by;
