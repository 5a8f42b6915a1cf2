-- Which turns are kept verbatim for ever, and why?
--
--   sqlite3 -readonly memory.db < sql/critical_turns.sql
--
-- All critical turns, each session's together.
--   user_no               whose it is (users_by_size.sql says who that is)
--   session_no, session   where; session is the caller's key, empty if it has none
--   turn_number           its place in the session, from 1
--   said                  when, UTC
--   tier                  hot, warm or cold
--   critical_rule         why it is critical; caller: the caller said so; personal_fact, decision ...: what the turn
--                         shows (why_critical.sql has them all, and how frequent they are)
--   begins                the first words of the user's side
.mode box

SELECT user_no, session_no, session, turn_number, said, memory_tier AS tier, critical_rule,
       replace(replace(replace(substr(user_message, 1, 48), char(10), ' '), char(13), ' '), char(27), '?')
         AS begins
FROM v_turns
WHERE critical = 1
ORDER BY user_no, session_no, turn_number;
