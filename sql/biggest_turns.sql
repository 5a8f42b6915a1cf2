-- Which turns are the biggest?
--
--   sqlite3 -readonly memory.db < sql/biggest_turns.sql
--
-- The 20 with the most tokens, biggest first; what they say is not shown. Turns that were summarized are not among
-- them: their originals are compressed, or deleted (turns_per_tier.sql counts them).
--   user_no               whose it is (users_by_size.sql says who that is)
--   session_no, session   where; session is the caller's key, empty if it has none
--   turn_number, turn_id  its place in the session, from 1, and its id
--   said                  when, UTC
--   tier                  hot, warm or cold
--   tokens, text_bytes    of both sides together
.mode box

SELECT user_no, session_no, session, turn_number, turn_id, said, memory_tier AS tier,
       total_tokens AS tokens, text_bytes
FROM v_turns
ORDER BY total_tokens DESC, text_bytes DESC, session_no, turn_number
LIMIT 20;
