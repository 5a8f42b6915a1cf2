-- How many tokens are said each day?
--
--   sqlite3 -readonly memory.db < sql/tokens_per_day.sql
--
-- Every day with a turn, oldest first.
--   day                       by the time when it was said, UTC
--   users, sessions, turns    how many took part, and how much was said
--   summarized                how many of these turns are in the archive or deleted: their tokens are not counted here
--                             (by session they are: turns_per_tier.sql)
--   user_tokens, ai_tokens    of the users' messages, and of the replies, in the other turns
--   tokens                    of both
.mode box

-- recall_units keeps a turn's time even when the turn itself is archived.
SELECT substr(r.said_at, 1, 10) AS day,
       count(DISTINCT r.user_no) AS users, count(DISTINCT r.session_no) AS sessions, count(*) AS turns,
       count(*) - count(t.turn_key) AS summarized,
       coalesce(sum(t.user_message_tokens), 0) AS user_tokens, coalesce(sum(t.ai_response_tokens), 0) AS ai_tokens,
       coalesce(sum(t.total_tokens), 0) AS tokens
FROM recall_units AS r
LEFT JOIN conversation_turns AS t ON t.turn_key = (r.session_no << 24 | r.turn_number)
WHERE r.kind = 'turn'
GROUP BY day
ORDER BY day;
