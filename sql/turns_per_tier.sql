-- How much lies in each tier of each session?
--
--   sqlite3 -readonly memory.db < sql/turns_per_tier.sql
--
-- Reads every text once, to count its bytes.
--   user_no               whose it is (users_by_size.sql says who that is)
--   session_no, session   where; session is the caller's key, empty if it has none
--   tier                  hot, warm or cold; a tier without turns has no row
--   kept_as               verbatim, or summary: then the originals are archived or deleted
--   turns                 how many; first and last are their places in the session
--   tokens                of both sides together, as they were said
--   text_bytes            of both sides together; of summaries, of theirs
.mode box

WITH summarized AS (
  SELECT s.session_no, count(*) AS turns, min(m.turn_number) AS first_turn, max(m.turn_number) AS last_turn,
         -- What the session ever had, but for what is still in its turns.
         s.total_tokens - (SELECT coalesce(sum(t.total_tokens), 0) FROM conversation_turns AS t
                           WHERE t.session_id = s.id) AS tokens,
         sum(length(CAST(m.summary_text AS BLOB))) AS text_bytes
  FROM conversation_summaries AS m JOIN conversation_sessions AS s ON s.id = m.session_id
  GROUP BY s.session_no
), verbatim AS (
  SELECT u.user_no, s.session_no, s.caller_id AS session, t.memory_tier AS tier, count(*) AS turns,
         min(t.turn_number) AS first_turn, max(t.turn_number) AS last_turn, sum(t.total_tokens) AS tokens,
         sum(length(CAST(t.user_message AS BLOB)) + length(CAST(t.ai_response AS BLOB))) AS text_bytes
  FROM conversation_turns AS t
  JOIN conversation_sessions AS s ON s.id = t.session_id
  JOIN user_scopes AS u ON u.user_id = t.user_id
  GROUP BY s.session_no, t.memory_tier
), listed AS (
  SELECT user_no, session_no, session, tier, 'verbatim' AS kept_as, turns,
         first_turn AS first, last_turn AS last, tokens, text_bytes
  FROM verbatim
  UNION ALL
  SELECT s.user_no, s.session_no, s.session, 'cold', 'summary', m.turns, m.first_turn, m.last_turn, m.tokens,
         m.text_bytes
  FROM summarized AS m JOIN v_sessions AS s ON s.session_no = m.session_no
)
SELECT user_no, session_no, session, tier, kept_as, turns, first, last, tokens, text_bytes
FROM listed
ORDER BY user_no, session_no, CASE tier WHEN 'hot' THEN 1 WHEN 'warm' THEN 2 ELSE 3 END, kept_as DESC;
