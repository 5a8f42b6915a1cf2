-- What are memories made of?
--
--   sqlite3 -readonly memory.db < sql/memory_sources.sql
--
-- Every source of every memory that holds or is archived. No memory is trusted farther than the least of them, unless a
-- person rewrote or approved it.
--   user_no     whose memory it is (users_by_size.sql says who that is)
--   memory_no, title   the memory
--   source      turn, memory, caller (somebody saved it), import
--   session_no, turn   of a turn: where it stands, as the other questions name it
--   origin      whose words they are
--   made_by     who found it: caller, import, rules, or an LLM's name
--   said        when it was said, UTC
--   quote       the words that prove it
.mode box

SELECT m.user_no, m.memory_no,
       replace(replace(replace(substr(m.title, 1, 40), char(10), ' '), char(13), ' '), char(27), '?') AS title,
       s.source_kind AS source, u.session_no, u.turn_number AS turn, s.origin,
       replace(replace(replace(s.made_by, char(10), ' '), char(13), ' '), char(27), '?') AS made_by,
       replace(substr(s.said_at, 1, 16), 'T', ' ') AS said,
       replace(replace(replace(substr(s.quote, 1, 60), char(10), ' '), char(13), ' '), char(27), '?') AS quote
FROM memory_sources AS s
JOIN user_memories AS m ON m.user_no = s.user_no AND m.memory_no = s.memory_no
LEFT JOIN recall_units AS u ON u.user_no = s.user_no AND u.seq = s.seq
WHERE m.status IN ('active', 'archived')
ORDER BY m.user_no, m.memory_no, s.source_kind, s.source_id;
