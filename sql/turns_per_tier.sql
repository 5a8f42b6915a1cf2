-- How much lies in each tier of each session?
--
--   sqlite3 -readonly memory.db < sql/turns_per_tier.sql
--
-- Reads every text once, to count its bytes.
--   user_no               whose it is (users_by_size.sql says who that is)
--   session_no, session   where; session is the caller's key, empty if it has none
--   tier                  hot, warm or cold; a tier without turns has no row
--   turns                 how many; first and last are their places in the session
--   tokens, text_bytes    of both sides together
.mode box

SELECT user_no, session_no, session, memory_tier AS tier, turns,
       first_turn AS first, last_turn AS last, tokens, text_bytes
FROM v_tiers
ORDER BY user_no, session_no, CASE memory_tier WHEN 'hot' THEN 1 WHEN 'warm' THEN 2 ELSE 3 END;
