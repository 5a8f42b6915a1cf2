-- How many turns does each rule keep verbatim?
--
--   sqlite3 -readonly memory.db < sql/why_critical.sql
--
-- All cold turns, by what became of them when their sessions were compressed; the most frequent first.
--   kept_as    verbatim: as they were said; summary: their originals are archived or deleted
--   why        of critical turns the rule: caller: the caller marked it; stage_change, correction, personal_fact,
--              decision, commitment, preference, emotion: what the turn shows; first_turn: of its session;
--              used: the best of three contexts; summarizer: LLM#1 said so. short: not critical, but its own summary. long: neither.
--   turns      how many, and in how many sessions
--   percent    of all cold turns
.mode box

WITH cold AS (
  SELECT 'verbatim' AS kept_as, CASE WHEN is_identity_critical = 1 THEN coalesce(critical_rule, 'unknown')
                                     ELSE 'short' END AS why, session_id
  FROM conversation_turns WHERE memory_tier = 'cold'
  UNION ALL
  SELECT 'summary', 'long', session_id FROM conversation_summaries
)
SELECT kept_as, why, count(*) AS turns, count(DISTINCT session_id) AS sessions,
       printf('%.1f', 100.0 * count(*) / sum(count(*)) OVER ()) AS percent
FROM cold
GROUP BY kept_as, why
ORDER BY turns DESC, kept_as, why;
