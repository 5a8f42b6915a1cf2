-- What is hot now?
--
--   sqlite3 -readonly memory.db < sql/hot_now.sql
--
-- The newest turns of each open session, which every context of it starts with; in the order they were said.
--   user_no       whose it is (users_by_size.sql says who that is)
--   session_no, session   where; session is the caller's key, empty if it has none
--   turn_number   its place in the session, from 1
--   said          when, UTC
--   tokens        of both sides: what the hot tier's budget counts
--   begins        the first words of the user's side
.mode box

SELECT user_no, session_no, session, turn_number, said, total_tokens AS tokens,
       replace(replace(replace(substr(user_message, 1, 48), char(10), ' '), char(13), ' '), char(27), '?')
         AS begins
FROM v_turns
WHERE memory_tier = 'hot'
ORDER BY user_no, session_no, turn_number;
