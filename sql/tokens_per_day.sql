-- How many tokens are said each day?
--
--   sqlite3 -readonly memory.db < sql/tokens_per_day.sql
--
-- Every day with a turn, oldest first.
--   day                       by the time when it was said, UTC
--   users, sessions, turns    how many took part, and how much was said
--   user_tokens, ai_tokens    of the users' messages, and of the replies
--   tokens                    of both
.mode box

SELECT substr(timestamp, 1, 10) AS day,
       count(DISTINCT user_id) AS users, count(DISTINCT session_id) AS sessions, count(*) AS turns,
       sum(user_message_tokens) AS user_tokens, sum(ai_response_tokens) AS ai_tokens,
       sum(total_tokens) AS tokens
FROM conversation_turns
GROUP BY day
ORDER BY day;
