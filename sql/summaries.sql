-- What do the latest summaries say?
--
--   sqlite3 -readonly memory.db < sql/summaries.sql
--
-- The 20 of the turns that were said last, the latest at the bottom.
--   said                             when the turn was said, UTC
--   user_no                          whose it is (users_by_size.sql says who that is)
--   session_no, session, turn_number the turn; session is the caller's key, empty if it has none
--   original                         archived: the turn is in the archive; deleted: this is what is left of it
--   summarizer                       who wrote it: the name of LLM#1; extractive (built in), or extractive-fallback
--                                    (built in, since LLM#1 failed or gave no usable answer)
--   tokens                           of the summary
--   summary, topics                  the first of its words, and what the turn is about
.mode box

WITH latest AS (
  -- From the tables: the view's time has no milliseconds to order by.
  SELECT m.timestamp, m.seq, u.user_no, s.session_no, s.caller_id AS session, m.turn_number, m.original, m.summarizer,
         m.summary_tokens AS tokens, m.summary_text, m.topic_keywords
  FROM conversation_summaries AS m
  JOIN conversation_sessions AS s ON s.id = m.session_id
  JOIN user_scopes AS u ON u.user_id = m.user_id
  ORDER BY m.timestamp DESC, m.seq DESC
  LIMIT 20
)
SELECT replace(substr(timestamp, 1, 16), 'T', ' ') AS said, user_no, session_no, session, turn_number, original,
       summarizer, tokens,
       replace(replace(replace(substr(summary_text, 1, 80), char(10), ' '), char(13), ' '), char(27), '?') AS summary,
       replace(replace(replace(
         substr((SELECT group_concat(value, ', ') FROM json_each(topic_keywords)), 1, 40),
         char(10), ' '), char(13), ' '), char(27), '?') AS topics
FROM latest
ORDER BY timestamp, seq;
